//! The files that hydration writes into a branch.

/// The objects of a destination path.
pub(super) const MANIFEST: &str = "manifest.yaml";

/// Where they come from.
pub(super) const METADATA: &str = "hydrator.metadata";

/// The same for people.
pub(super) const README: &str = "README.md";

/// The files of a destination path.
pub(super) const PATH_FILES: [&str; 3] = [MANIFEST, METADATA, README];
