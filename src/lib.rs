//! Renders Argo CD Applications into environment branches, inside the git server.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![deny(rustdoc::broken_intra_doc_links)]
// Modules tell their design, private parts included; the name of such a part is shown without a link.
#![allow(rustdoc::private_intra_doc_links)]

pub mod application;
pub mod cli;
pub mod diag;
pub mod diff;
pub mod directory;
pub mod git;
pub mod glob;
pub mod helm;
pub mod hook;
pub mod hydrate;
pub mod install;
pub mod jsonnet;
pub mod kustomize;
pub mod manifest;
pub mod metadata;
pub mod path;
pub mod plan;
pub mod plugin;
pub mod publish;
pub mod remote;
pub mod render;
pub mod report;
pub mod settings;
pub mod template;
pub mod view;
pub mod yaml;
