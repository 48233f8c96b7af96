//! Comments, kept out of the way of nodes that have none.

/// The comments around a node, with their `#`; several lines are joined by LF. Empty text is not a comment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comments(Option<Box<Texts>>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Texts {
    head: String,
    line: String,
    foot: String,
    document_head: String,
    document_foot: String,
}

macro_rules! comment {
    ($get:ident, $set:ident, $what:literal) => {
        #[doc = $what]
        pub fn $get(&self) -> &str {
            self.0.as_ref().map_or("", |texts| &texts.$get)
        }

        #[doc = concat!("Sets the comment: ", $what)]
        pub fn $set(&mut self, text: impl Into<String>) {
            let text = text.into();
            if self.0.is_some() || !text.is_empty() {
                self.0.get_or_insert_default().$get = text;
            }
        }
    };
}

impl Comments {
    comment!(head, set_head, "The lines above the node.");
    comment!(line, set_line, "The end of the node's line.");
    comment!(foot, set_foot, "The lines below the node, before an empty line.");
    comment!(document_head, set_document_head, "On the root: the first lines of the document.");
    comment!(document_foot, set_document_foot, "On the root: the last lines of the document.");

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|texts| **texts == Texts::default())
    }
}
