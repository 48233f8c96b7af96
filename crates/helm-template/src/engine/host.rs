//! What functions keep from call to call.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use go_template::{Parsed, Text};

use crate::version::Helm;

/// What functions keep during a render.
#[derive(Default)]
pub(crate) struct Host {
    /// The Helm to render as.
    pub helm: Helm,
    /// How many calls of a template by `include` are open.
    pub open: HashMap<Text, u32>,
    /// What `tpl` parsed.
    pub parsed: HashMap<Text, Parsed>,
    /// How long these texts are together.
    pub parsed_bytes: usize,
    /// Files that can't be read, of the chart whose template is executed.
    pub unreadable: Unreadable,
}

/// The files of a chart that can't be read, by path, with what to say when a template asks for one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unreadable(pub Rc<BTreeMap<Text, String>>);
