//! Templates that know each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::error::ParseError;
use super::function::Functions;
use super::node::Tree;
use super::parse::parse;
use super::text::Text;

/// A parsed text: the template of its own name and all that it defines.
///
/// Immutable and shareable between threads: a text is parsed once, whatever the number of renders.
#[derive(Debug, Clone)]
pub struct Parsed {
    trees: Arc<BTreeMap<Arc<str>, Arc<Tree>>>,
}

impl Parsed {
    /// Parses a text under a name, which messages show and by which the text itself can be executed.
    ///
    /// Function names are bound here, to `functions`.
    pub fn new(name: &str, text: impl Into<Text>, functions: &Functions) -> Result<Self, ParseError> {
        Ok(Self { trees: Arc::new(parse(name, text.into(), functions)?) })
    }
}

/// All templates that can execute each other. Cloning is cheap; what is added to a clone stays there.
#[derive(Debug, Clone)]
pub struct Set {
    name: Arc<str>,
    trees: Arc<HashMap<Arc<str>, Arc<Tree>>>,
    /// What was added while others shared `trees`: it wins.
    added: BTreeMap<Arc<str>, Arc<Tree>>,
}

impl Set {
    /// An empty set; the name shows in messages about templates that are missing (Helm's is `gotpl`).
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), trees: Arc::default(), added: BTreeMap::new() }
    }

    /// Adds the templates of a text; they replace those of the same names, except by a blank one.
    pub fn add(&mut self, parsed: &Parsed) {
        for (name, tree) in parsed.trees.iter() {
            if !tree.root.is_blank() || !self.has(name) {
                self.insert(name, tree);
            }
        }
    }

    /// Adds the templates of a text that is to be executed itself: the template of the text's own name is replaced even
    /// when it is blank.
    pub fn put(&mut self, parsed: &Parsed) {
        self.add(parsed);
        if let Some(tree) = parsed.trees.get(&self.name) {
            self.insert(&Arc::clone(&self.name), tree);
        }
    }

    fn insert(&mut self, name: &Arc<str>, tree: &Arc<Tree>) {
        let (name, tree) = (Arc::clone(name), Arc::clone(tree));
        match Arc::get_mut(&mut self.trees).filter(|_| self.added.is_empty()) {
            Some(trees) => drop(trees.insert(name, tree)),
            None => drop(self.added.insert(name, tree)),
        }
    }

    /// Whether there is a template `name`.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The name of the set itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of all its templates.
    pub(super) fn names(&self) -> BTreeSet<Arc<str>> {
        self.trees.keys().chain(self.added.keys()).cloned().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<Tree>> {
        self.added.get(name).or_else(|| self.trees.get(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_to_a_clone_stays_there() {
        let parsed = |text: &str| Parsed::new("set", text, &Functions::standard()).expect("parses");
        let mut set = Set::new("set");
        set.add(&parsed("{{define \"a\"}}1{{end}}{{define \"b\"}}2{{end}}"));
        let mut clone = set.clone();
        clone.put(&parsed("{{define \"a\"}}3{{end}}{{define \"c\"}}4{{end}}"));
        let mut clone_of_clone = clone.clone();
        clone_of_clone.add(&parsed("{{define \"a\"}} {{end}}{{define \"d\"}}{{end}}"));
        let a = |set: &Set| set.get("a").map(Arc::as_ptr);
        assert_ne!(a(&set), a(&clone));
        assert_eq!(a(&clone), a(&clone_of_clone), "a blank one replaces none");
        let has = |set: &Set| ["b", "c", "d", "set"].map(|name| set.has(name));
        assert_eq!(has(&set), [true, false, false, true]);
        assert_eq!(has(&clone), [true, true, false, true]);
        assert_eq!(has(&clone_of_clone), [true, true, true, true]);
    }
}
