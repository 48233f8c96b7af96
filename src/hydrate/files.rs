//! The files that hydration writes into a branch.

/// The objects of a destination path.
pub(super) const MANIFEST: &str = "manifest.yaml";

/// Where they come from.
pub(super) const METADATA: &str = "hydrator.metadata";

/// The same for people.
pub(super) const README: &str = "README.md";

/// What git does with the files of the branch, at its root.
pub(super) const ATTRIBUTES: &str = ".gitattributes";

/// The files of a destination path.
pub(super) const PATH_FILES: [&str; 3] = [MANIFEST, METADATA, README];
