//! Go-compatible YAML and JSON: every byte that is read or written goes through here.
//!
//! Three forms of a document, each made from the one before it:
//!
//! 1. Text. [`parse()`] reads it, [`emit_nodes`] writes nodes, [`emit_v2`] and [`emit_v3`] write values.
//! 2. [`Node`]: what is written, with places, order, styles, comments and anchors. For who reports on a place, or
//!    edits a document.
//! 3. [`Value`]: what it means as JSON. [`Node::to_value`] makes it, in one of two [`Dialect`]s.
//!
//! Which Go library is behind which tool: Helm's `fromYaml` and `toYaml`, Argo CD's sources and the output of
//! `kustomize build` go through sigs.k8s.io/yaml ([`sigs`]), that is go-yaml v2; Argo CD's `manifest.yaml` and Helm's
//! `toYamlPretty` are written by go-yaml v3 ([`emit_v3`], sequences indented); Kustomize works on go-yaml v3's nodes.
//!
//! Guarantees: no text makes it panic or run without end; [`Limits`] bound size, depth and what aliases blow up. What
//! walks a [`Value`] or a [`Node`] recurses as deep as it is nested: who builds one has to keep to [`Limits::depth`].
//!
//! Where it differs from go-yaml on purpose: v3 hangs on some comments between a key and a broken sequence, here that
//! is an error; an alias can't refer to another document of the stream; a byte order mark inside a text is never skipped
//! (v3 and v2 skip one where a chunk of their input starts); keys for whose order v2 is undecided always have the same one.

mod alias;
mod comments;
mod compose;
mod convert;
mod emit;
mod error;
mod extent;
mod input;
pub mod json;
mod node;
mod parse;
mod quote;
mod resolve;
mod scan;
pub mod sigs;
mod size;
mod sort;
mod tag;
mod timestamp;
mod value;

#[cfg(test)]
mod tests;

pub use alias::resolve_aliases;
pub use comments::Comments;
pub use emit::emit_v3_documents;
pub use emit::{GoValue, Sequences, emit_go, emit_node, emit_nodes, emit_v2, emit_v3};
pub use error::Error;
pub use error::Mark;
pub use extent::Extents;
pub use input::lossy;
pub use node::from_value;
pub use node::{Data, Node, Style};
pub use resolve::Dialect;
pub use resolve::{Plain, plain};
pub use size::{Size, sizes};
pub use tag::Tag;
pub use value::Mapping;
pub use value::Value;

pub use go_std::strconv::{format_shortest as format_float, quote};

/// How much a text may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The size of the text; also that of all scalars together that its aliases bring in.
    pub bytes: usize,
    /// Collections inside each other.
    pub depth: u32,
    /// Scalars and collections of the whole stream; in a value, those of aliases count each time.
    pub nodes: usize,
}

impl Default for Limits {
    /// Far more than any manifest needs: 32 MiB, 200 levels, 2 million nodes.
    fn default() -> Self {
        Self { bytes: 32 << 20, depth: 200, nodes: 2_000_000 }
    }
}

/// Reads all documents of `text`, as go-yaml v3 does.
///
/// One node for each document; an empty document is a null scalar, a text without any document gives none. UTF-8, or
/// UTF-16 with a byte order mark.
///
/// # Errors
///
/// The text is not YAML, an alias has no anchor, or a limit is passed.
pub fn parse(text: &[u8], limits: &Limits) -> Result<Vec<Node>, Error> {
    compose::compose(text, Dialect::V3, limits, usize::MAX)
}

/// Reads the first document of `text`, as go-yaml's `Unmarshal` does: what follows it is not even looked at.
///
/// # Errors
///
/// As [`parse()`].
pub fn parse_first(text: &[u8], limits: &Limits) -> Result<Option<Node>, Error> {
    Ok(compose::compose(text, Dialect::V3, limits, 1)?.pop())
}

/// Reads all documents of `text` and gives what each means.
///
/// # Errors
///
/// As [`parse()`] and [`Node::to_value`], in the words of `dialect`.
pub fn decode(text: &[u8], dialect: Dialect, limits: &Limits) -> Result<Vec<Value>, Error> {
    compose::compose(text, dialect, limits, usize::MAX)?.iter().map(|node| node.to_value(dialect, limits)).collect()
}

impl Node {
    /// What this document means as JSON: aliases and merge keys resolved, keys as strings.
    ///
    /// V2 is what sigs.k8s.io/yaml gives: of duplicate keys the last one wins, numbers and booleans become string keys.
    /// V3 is what kyaml's `MarshalJSON` gives: timestamps are written out, a key below the outermost mapping has to be
    /// a string.
    ///
    /// # Errors
    ///
    /// A key or a tagged scalar can't be what it should, a float is not a number, an alias contains itself, in V3 a key is
    /// there twice; or a limit is passed.
    pub fn to_value(&self, dialect: Dialect, limits: &Limits) -> Result<Value, Error> {
        convert::to_value(self, dialect, limits)
    }
}
