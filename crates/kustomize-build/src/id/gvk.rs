//! What type a resource is of.

use std::fmt;

/// Group, version and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Gvk<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub kind: &'a str,
}

/// A group, version and kind that is kept; as a condition, empty parts match everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct OwnedGvk {
    pub group: String,
    pub version: String,
    pub kind: String,
}

impl OwnedGvk {
    pub(crate) fn new(group: &str, version: &str, kind: &str) -> Self {
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    pub(crate) fn borrow(&self) -> Gvk<'_> {
        Gvk { group: &self.group, version: &self.version, kind: &self.kind }
    }
}

impl<'a> Gvk<'a> {
    /// Splits `group/version`; without a slash all of it is the version.
    pub(crate) fn new(api_version: &'a str, kind: &'a str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group, version, kind }
    }

    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Whether it meets the condition `selector` (resid `Gvk.IsSelected`).
    pub(crate) fn is_selected(&self, selector: Gvk<'_>) -> bool {
        let meets = |mine: &str, wanted: &str| wanted.is_empty() || mine == wanted;
        meets(self.group, selector.group) && meets(self.version, selector.version) && meets(self.kind, selector.kind)
    }
}

impl fmt::Display for Gvk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text, none| if str::is_empty(text) { none } else { text };
        let (kind, version) = (or(self.kind, "[noKind]"), or(self.version, "[noVer]"));
        write!(f, "{kind}.{version}.{}", or(self.group, "[noGrp]"))
    }
}
