//! Strategic merge: a patch into a resource, list items by their merge keys.
//!
//! Not the merge of the Kubernetes API server but kyaml's, with its own rules: all of the target is walked, not only what
//! the patch names, so a field without any value (`key:`) is dropped everywhere, and items of a keyed list that share
//! their key become one. New items come before the old ones.
//!
//! Reference: kyaml 0.21.1 yaml/merge2 and yaml/walk.

mod index;
mod list;

use go_yaml::Tag;

use super::error::{Error, Result};
use super::resource;
use super::schema::{Schema, SchemaNode};
use super::text;
use super::tree::{Kind, Node, NodeId, SetOptions, Style, Tree, check_depth};

/// Where new items of a keyed list go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewItems {
    /// As patches do.
    First,
    /// As the merge of chart values does.
    Last,
}

/// Merges `patch` into `target`, in place. Whether anything is left of it.
///
/// Nodes of the patch become part of the target: a patch that is used for more than one target must be copied.
pub(crate) fn merge(
    tree: &mut Tree,
    schema: &Schema,
    patch: NodeId,
    target: NodeId,
    new_items: NewItems,
) -> Result<bool> {
    let mut merger = Merger { tree, schema, new_items, depth: 0 };
    Ok(merger.walk(Sources { target: Some(target), patch: Some(patch) }, None)?.is_some())
}

struct Merger<'m> {
    tree: &'m mut Tree,
    schema: &'m Schema,
    new_items: NewItems,
    depth: usize,
}

/// What is at one place of both documents.
#[derive(Debug, Clone, Copy)]
struct Sources {
    target: Option<NodeId>,
    patch: Option<NodeId>,
}

/// What the place becomes. `keep_null` for a null that was written out in the target.
#[derive(Debug, Clone, Copy)]
struct Merged {
    node: NodeId,
    keep_null: bool,
}

impl Merged {
    fn new(node: NodeId) -> Self {
        Self { node, keep_null: false }
    }
}

/// What a patch says with `$patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

const DIRECTIVE: &str = "$patch";

impl Merger<'_> {
    fn present(&self, node: Option<NodeId>) -> Option<NodeId> {
        node.filter(|node| !self.tree.node(*node).is_null())
    }

    fn walk(&mut self, sources: Sources, schema: Option<SchemaNode>) -> Result<Option<Merged>> {
        check_depth(self.depth)?;
        self.tree.check()?;
        self.tree.spend(1);
        self.depth += 1;
        let schema = self.schema_of(sources, schema);
        let both = [sources.target, sources.patch];
        let first = both.into_iter().find_map(|node| self.present(node));
        let kind = first.map_or(Kind::Mapping, |node| self.tree.kind(node));
        both.into_iter().flatten().try_for_each(|node| self.tree.expect(node, kind))?;
        let merged = match kind {
            Kind::Mapping => self.mapping(sources, schema.as_ref()),
            Kind::Sequence => match schema.as_ref().and_then(|schema| self.schema.merge_keys(schema)) {
                Some(keys) => self.keyed_list(sources, schema.as_ref(), &keys),
                None => {
                    self.note_comments_and_style(sources);
                    Ok(sources.patch.or(sources.target).map(Merged::new))
                }
            },
            Kind::Scalar => {
                self.note_comments_and_style(sources);
                Ok(sources.patch.or(sources.target).map(Merged::new))
            }
            Kind::None | Kind::Alias => Ok(None),
        };
        self.depth -= 1;
        merged
    }

    /// The schema of a place: from a comment, from the parent, or from the type that the node itself names.
    fn schema_of(&self, sources: Sources, inherited: Option<SchemaNode>) -> Option<SchemaNode> {
        let present = || [sources.target, sources.patch].into_iter().filter_map(|node| self.present(node));
        let known = present().find_map(|node| self.comment_schema(node)).or(inherited);
        known.or_else(|| present().find_map(|node| self.schema_of_type(node)))
    }

    /// The schema of the type that a node names itself.
    fn schema_of_type(&self, node: NodeId) -> Option<SchemaNode> {
        let (kind, api_version) = (resource::kind(self.tree, node), resource::api_version(self.tree, node));
        if kind.is_empty() || api_version.is_empty() || self.tree.kind(node) != Kind::Mapping {
            return None;
        }
        self.schema.of_resource(api_version, kind)
    }

    /// The schema that a comment on a node carries as JSON. Only its first comment is looked at.
    fn comment_schema(&self, node: NodeId) -> Option<SchemaNode> {
        let comments = &self.tree.node(node).comments;
        if comments.is_empty() {
            return None;
        }
        let comment = [comments.line(), comments.head()].into_iter().find(|comment| !comment.is_empty())?;
        let json = comment.trim_start_matches('#').trim();
        if !json.starts_with('{') {
            return None;
        }
        self.schema.of_comment(&text::json(json).ok()?)
    }

    fn mapping(&mut self, sources: Sources, schema: Option<&SchemaNode>) -> Result<Option<Merged>> {
        let Some(merged) = self.visit_mapping(sources)? else { return Ok(None) };
        let dest = merged.node;
        let mut names: Vec<String> = Vec::new();
        for node in [Some(dest), sources.patch].into_iter().flatten() {
            if self.tree.kind(node) == Kind::Mapping {
                names.extend(self.tree.pairs(node).map(|(key, _)| self.tree.text(key).to_owned()));
            }
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            let target = self.tree.entry(dest, &name);
            let patch = sources.patch.and_then(|patch| self.tree.entry(patch, &name));
            let own = [target, patch]
                .into_iter()
                .flatten()
                .find_map(|(key, value)| self.comment_schema(value).or_else(|| self.comment_schema(key)));
            let schema = own.or_else(|| schema.and_then(|schema| self.schema.field(schema, &name)));
            let value = |entry: Option<(NodeId, NodeId)>| entry.map(|(_, value)| value);
            let merged = self.walk(Sources { target: value(target), patch: value(patch) }, schema)?;
            let from_patch = patch.filter(|(_, value)| merged.is_some_and(|merged| merged.node == *value));
            let options = SetOptions {
                keep_null: merged.is_some_and(|merged| merged.keep_null),
                key_style: from_patch.map_or(Style::PLAIN, |(key, _)| self.tree.node(key).style),
            };
            self.tree.set_field(dest, &name, merged.map(|merged| merged.node), options)?;
        }
        Ok(Some(merged))
    }

    /// What a mapping, or a place without any value, becomes before its fields are merged.
    fn visit_mapping(&mut self, sources: Sources) -> Result<Option<Merged>> {
        self.note_comments_and_style(sources);
        let Some(target) = self.present(sources.target) else {
            if self.directive(sources.patch).is_ok_and(|directive| directive == Directive::Delete) {
                return Ok(None);
            }
            return Ok(match (sources.target, sources.patch) {
                (Some(null), None) if !self.tree.text(null).is_empty() => {
                    let text = self.tree.text(null).to_owned();
                    let node = self.tree.add(Node::scalar(text).tagged(Tag::Null));
                    Some(Merged { node, keep_null: true })
                }
                (_, patch) => patch.map(Merged::new),
            });
        };
        self.visit(target, sources.patch)
    }

    /// What becomes of a node that is there, by what the patch says.
    fn visit(&mut self, target: NodeId, patch: Option<NodeId>) -> Result<Option<Merged>> {
        if patch.is_some_and(|patch| self.tree.node(patch).is_null()) {
            return Ok(None);
        }
        Ok(match self.directive(patch)? {
            Directive::Delete => None,
            Directive::Replace => patch.map(Merged::new),
            Directive::Merge => Some(Merged::new(target)),
        })
    }

    /// Reads `$patch` and removes it.
    fn directive(&mut self, patch: Option<NodeId>) -> Result<Directive> {
        let Some(patch) = patch else { return Ok(Directive::Merge) };
        match self.tree.kind(patch) {
            Kind::Mapping => {
                let Some(value) = self.tree.value_of(patch, DIRECTIVE) else { return Ok(Directive::Merge) };
                let directive = self.named_directive(value)?;
                self.tree.clear(patch, DIRECTIVE)?;
                Ok(directive)
            }
            Kind::Sequence => {
                let is_directive = |item: &NodeId| self.tree.value_of(*item, DIRECTIVE).is_some();
                let Some(item) = self.tree.content(patch).iter().copied().find(is_directive) else {
                    return Ok(Directive::Merge);
                };
                let Some(value) = self.tree.value_of(item, DIRECTIVE) else { return Ok(Directive::Merge) };
                if self.tree.content(item).len() > 2 {
                    return Ok(Directive::Merge);
                }
                let directive = self.named_directive(value)?;
                let text = self.tree.text(value).to_owned();
                list::set_element(self.tree, patch, None, &[DIRECTIVE.to_owned()], &[text])?;
                Ok(directive)
            }
            Kind::None | Kind::Scalar | Kind::Alias => {
                let node = self.tree.node(patch);
                let tag = node.tag.as_ref().map_or("", Tag::as_str);
                let text = text::of(self.tree, patch).unwrap_or_default();
                Err(Error::new(format!("no implemented strategic merge patch strategy for '{tag}' ('{text}')")))
            }
        }
    }

    fn named_directive(&self, value: NodeId) -> Result<Directive> {
        match self.tree.text(value) {
            "delete" => Ok(Directive::Delete),
            "replace" => Ok(Directive::Replace),
            "merge" => Ok(Directive::Merge),
            other => Err(Error::new(format!("unknown patch strategy '{other}'"))),
        }
    }

    /// The target takes the comments of the patch, and its style where it is empty.
    fn note_comments_and_style(&mut self, sources: Sources) {
        let (Some(target), Some(patch)) = (sources.target, sources.patch) else { return };
        let patch = self.tree.node(patch);
        let (comments, style) = (patch.comments.clone(), patch.style);
        let target = self.tree.node_mut(target);
        if !comments.is_empty() {
            if !comments.foot().is_empty() {
                target.comments.set_foot(comments.foot());
            }
            if !comments.head().is_empty() {
                target.comments.set_head(comments.head());
            }
            if !comments.line().is_empty() {
                target.comments.set_line(comments.line());
            }
        }
        if target.kind != Kind::Scalar && target.content.is_empty() {
            target.style = style;
        }
    }
}
