//! Replaces `$(VARIABLE)` in the fields that may have one.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::BASE64;
use go_std::strconv::format_float;
use go_yaml::{self as yaml, Tag};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::field_spec;
use crate::resources::Resources;
use crate::session::Session;
use crate::tree::{Kind, Node, NodeId, Style, Tree};

/// The value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Variable {
    String(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// A list or mapping, which cannot be put into a string: references to it stay as they are.
    Other,
}

impl Variable {
    fn text(&self, name: &str) -> String {
        match self {
            Variable::String(text) => text.clone(),
            Variable::Int(number) => number.to_string(),
            Variable::Float(number) => yaml::format_float(*number),
            Variable::Bool(truth) => truth.to_string(),
            Variable::Other => wrapped(name),
        }
    }
}

fn wrapped(name: &str) -> String {
    format!("$({name})")
}

/// Replaces `$(NAME)` in the fields that the configuration names. Gives the variables that nothing refers to.
pub(crate) fn replace_variables(
    session: &mut Session<'_>,
    resources: &Resources,
    config: &Config,
    variables: &BTreeMap<String, Variable>,
) -> Result<Vec<String>> {
    let mut replacer = Replacer { variables, used: BTreeSet::new() };
    for root in resources.roots() {
        for spec in &config.var_reference {
            field_spec::apply(&mut session.tree, root, spec, None, &mut |tree, node| replacer.set(tree, node))?;
        }
    }
    Ok(variables.keys().filter(|name| !replacer.used.contains(*name)).cloned().collect())
}

struct Replacer<'v> {
    variables: &'v BTreeMap<String, Variable>,
    used: BTreeSet<String>,
}

impl Replacer<'_> {
    fn set(&mut self, tree: &mut Tree, node: NodeId) -> Result<()> {
        let inner = tree.node(node);
        if inner.is_null() {
            return Ok(());
        }
        match inner.kind {
            Kind::Scalar if inner.is_string() => self.replace(tree, node)?,
            Kind::Scalar => {}
            Kind::Mapping => {
                for (key, value) in tree.pairs(node).collect::<Vec<_>>() {
                    if !tree.node(key).is_string() {
                        let tag = tree.node(key).tag.as_ref().map_or("", Tag::as_str);
                        return Err(Error::new(format!("invalid map key: value='{}', tag='{tag}'", tree.text(key))));
                    }
                    if tree.node(value).is_string() {
                        self.replace(tree, value)?;
                    }
                }
            }
            Kind::Sequence => {
                for item in tree.content(node).to_vec() {
                    if !tree.node(item).is_string() {
                        return Err(Error::new("invalid value type expect a string"));
                    }
                    self.replace(tree, item)?;
                }
            }
            Kind::None | Kind::Alias => return Err(Error::new("invalid type encountered 0")),
        }
        Ok(())
    }

    fn replace(&mut self, tree: &mut Tree, node: NodeId) -> Result<()> {
        let (text, tag) = match self.expand(tree.text(node), &|bytes| tree.fits(bytes))? {
            Variable::Int(number) => (number.to_string(), Tag::Int),
            Variable::Bool(truth) => (truth.to_string(), Tag::Bool),
            // Without an exponent, as `strconv.FormatFloat(…, 'f', -1, 64)`.
            Variable::Float(number) => (format_float(number, b'f', None), Tag::Float),
            Variable::String(text) => (text, Tag::Str),
            Variable::Other => return Ok(()),
        };
        tree.set_text(node, text);
        let node: &mut Node = tree.node_mut(node);
        (node.tag, node.style) = (Some(tag), Style::PLAIN);
        tree.check()
    }

    /// The text with its references replaced; a text that is one reference becomes the value itself.
    ///
    /// Kustomize takes the byte behind a lone `$` for a character, so a letter outside of ASCII there is torn apart; what
    /// is no UTF-8 then is written as base64. `fits` is asked before the text grows.
    fn expand(&mut self, text: &str, fits: &dyn Fn(usize) -> Result<()>) -> Result<Variable> {
        let mut expanded: Vec<u8> = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some(at) = rest.iter().position(|byte| *byte == b'$').filter(|at| at + 1 < rest.len()) {
            let (before, from) = rest.split_at(at);
            expanded.extend(before);
            let after = from.get(1..).unwrap_or_default();
            let skipped = match after {
                [b'$', ..] => {
                    expanded.push(b'$');
                    1
                }
                [b'(', inside @ ..] => match inside.iter().position(|byte| *byte == b')') {
                    Some(end) => {
                        let name = String::from_utf8_lossy(inside.get(..end).unwrap_or_default()).into_owned();
                        let value = self.value(&name);
                        if text == wrapped(&name) {
                            return Ok(value);
                        }
                        let value = value.text(&name);
                        fits(expanded.len() + value.len())?;
                        expanded.extend(value.into_bytes());
                        end + 2
                    }
                    None => {
                        expanded.extend(b"$(");
                        1
                    }
                },
                [byte, ..] => {
                    expanded.push(b'$');
                    expanded.extend(char::from(*byte).to_string().into_bytes());
                    1
                }
                [] => 0,
            };
            rest = after.get(skipped..).unwrap_or_default();
        }
        expanded.extend(rest);
        let text = String::from_utf8(expanded);
        Ok(Variable::String(text.unwrap_or_else(|error| BASE64.encode(error.as_bytes()))))
    }

    fn value(&mut self, name: &str) -> Variable {
        match self.variables.get(name) {
            None | Some(Variable::Other) => Variable::String(wrapped(name)),
            Some(value) => {
                self.used.insert(name.to_owned());
                value.clone()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let variables = BTreeMap::from([
            ("A".to_owned(), Variable::String("x".to_owned())),
            ("N".to_owned(), Variable::Int(5)),
            ("L".to_owned(), Variable::Other),
        ]);
        let rows = [
            ("$(A)", Variable::String("x".to_owned())),
            ("$(N)", Variable::Int(5)),
            ("a$(N)b", Variable::String("a5b".to_owned())),
            ("$$(A)", Variable::String("$(A)".to_owned())),
            ("$(B)", Variable::String("$(B)".to_owned())),
            ("$(L)", Variable::String("$(L)".to_owned())),
            ("$(A", Variable::String("$(A".to_owned())),
            ("a$", Variable::String("a$".to_owned())),
            ("$x$(A)", Variable::String("$xx".to_owned())),
            ("$é", Variable::String("JMODqQ==".to_owned())),
        ];
        for (text, expected) in rows {
            let mut replacer = Replacer { variables: &variables, used: BTreeSet::new() };
            assert_eq!(replacer.expand(text, &|_| Ok(())), Ok(expected), "{text:?}");
        }
    }
}
