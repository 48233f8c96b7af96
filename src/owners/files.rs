//! The files that hydration writes into a branch.

/// The objects of a destination path.
pub(crate) const MANIFEST: &str = "manifest.yaml";

/// Where the objects come from.
pub(crate) const METADATA: &str = "hydrator.metadata";

/// For people: where the objects of a destination path come from.
pub(crate) const README: &str = "README.md";

/// What git does with the files of the branch, at its root.
pub(crate) const ATTRIBUTES: &str = ".gitattributes";

/// The files of a destination path.
pub(crate) const PATH_FILES: [&str; 3] = [MANIFEST, METADATA, README];
