//! Templates that know each other.

use std::collections::BTreeMap;
use std::collections::HashMap;
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

    /// The names of the templates in it, sorted.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.trees.keys()
    }
}

/// All templates that can execute each other. Cloning is cheap; what is added to a clone stays there.
#[derive(Debug, Clone)]
pub struct Set {
    name: Arc<str>,
    trees: Arc<HashMap<Arc<str>, Arc<Tree>>>,
}

impl Set {
    /// An empty set; the name shows in messages about templates that are missing (Helm's is `gotpl`).
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), trees: Arc::default() }
    }

    /// Adds the templates of a text; they replace those of the same names, except by a blank one.
    pub fn add(&mut self, parsed: &Parsed) {
        let trees = Arc::make_mut(&mut self.trees);
        for (name, tree) in parsed.trees.iter() {
            if !tree.root.is_blank() || !trees.contains_key(name) {
                trees.insert(Arc::clone(name), Arc::clone(tree));
            }
        }
    }

    /// Adds the templates of a text that is to be executed itself: the template of the text's own name is replaced even
    /// when it is blank.
    pub fn put(&mut self, parsed: &Parsed) {
        self.add(parsed);
        if let Some(tree) = parsed.trees.get(&self.name) {
            Arc::make_mut(&mut self.trees).insert(Arc::clone(&self.name), Arc::clone(tree));
        }
    }

    /// Whether there is a template `name`.
    pub fn has(&self, name: &str) -> bool {
        self.trees.contains_key(name)
    }

    /// The name of the set itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<Tree>> {
        self.trees.get(name)
    }
}
