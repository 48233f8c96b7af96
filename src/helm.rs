//! `helm template` in our own process: the output of Helm 4.2.3, to the byte, from the files of a [`View`].
//!
//! [`View`]: crate::view::View

pub mod archive;
mod fields;
pub mod ignore;
pub mod metadata;
pub mod pattern;
pub mod set;
pub mod split;
pub mod values;
