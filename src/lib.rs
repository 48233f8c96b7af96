//! Renders Argo CD Applications into environment branches, inside the git server.
//!
//! # One push
//!
//! 1. git runs the script of `hooks/pre-receive`: [`hook::pre_receive`] refuses what must not go in, such as a push to a
//!    branch that hydration owns ([`hydrate::guard()`]), in strict mode also what does not hydrate ([`hydrate::judge`]). Then it runs `hooks/post-receive`, which hands its lines to
//!    [`hook::post_receive`]. They say only that something happened.
//! 2. Under the lock of the repository, [`hydrate::hydrate`] reads refs, settings ([`settings::Settings`]), notes,
//!    recorded failures and the records of branches ([`hydrate::BranchRecords`]) as they are now
//!    ([`git::Repository::refs`]).
//! 3. For each dry branch, [`plan::Discovery`] finds the Applications of its tree ([`application::read`]); directories that
//!    it knows are not read again. ApplicationSets among them are expanded from the same tree
//!    ([`application::set`]), and Applications that may make others are rendered for it ([`application::parent`]), each again
//!    only when something differs that it looked at.
//! 4. [`application::validate`] judges them together: every mistake at once, each with its place.
//! 5. For each environment branch, [`hydrate::Standing`] tells who made it and from which dry commit it was hydrated
//!    last. The first-parent commits since then are hydrated in order.
//! 6. [`plan::removals`] tells what left the dry tree, with proof and within a limit.
//! 7. [`render::Renderers`] renders all Applications on all cores: [`helm`], [`kustomize`], [`directory`], [`jsonnet`],
//!    [`plugin`]. Each sees files through a [`view::View`] only, which notes what it read.
//! 8. [`metadata::Writer`] makes every byte of the branch: manifests ([`manifest::encode`]), `hydrator.metadata`,
//!    `README.md`, the commit message and the note.
//! 9. [`publish`] turns files into trees in a [`git::ObjectBuffer`], in memory.
//! 10. Objects become durable, then all refs move at once ([`git::Transaction`], begun early); a lost race starts again at
//!     2. [`report::summary`] tells the pusher.
//!
//! # How it stays fast
//!
//! Where the branches stand as the last run left them, steps 3 to 8 are taken for what changed since only:
//! [`plan::Changes`] compares the two dry trees, [`cache::State`] tells whose renders looked at what differs,
//! [`view::View::confirms`] tells by content ids whether a result still holds, and only Applications whose do not are
//! rendered. Whatever is not plain is left to the steps above, which look at everything. The way through the cache makes
//! no byte of its own, so with it or without it the commits are the same.
//!
//! # How it survives
//!
//! What renders is a process that may die, by memory, by its stack, by time, and somebody goes on: the script of
//! `hooks/post-receive`, else [`wall::supervise`]. Once more then, with [`render::Isolation::Apart`]: `render/apart.rs`
//! renders each Application in a process of its own, and whoever dies there is the one to be named.
//!
//! # Layers
//!
//! Arrows point down only, which `tests/layers.rs` checks: `main`; `cli`, `hook`, `report`; [`wall`]; [`hydrate`]; [`plan`],
//! [`render`], [`publish`]; the engines; [`application`], [`cache`], [`manifest`], [`metadata`], [`settings`], [`view`]; [`yaml`],
//! [`template`], [`git`], `shares`, `stack`; [`path`], [`diag`]; and as the ground [`go`], what Go's standard
//! library does.
//!
//! # Never
//!
//! - A branch moves although one of its Applications failed.
//! - A hydrated commit depends on anything but its parent, its dry commit and branch, the settings and the engine.
//! - A file that somebody else put on a branch is touched.
//! - A ref points at an object that is not written.
//! - A native engine opens a file, a connection or a program, or reads the clock or the environment.
//!
//! # Where to start
//!
//! A new transformer: `kustomize/transform`. A new template function: `template/funcs`. A new engine: `render/engines.rs`.
//! A new subcommand: `cli`. A new generator of ApplicationSets: `application/set`. A new mistake of an Application: `application/mistake.rs`. What a hydrated branch says of
//! itself: [`metadata::Writer`].
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![deny(rustdoc::broken_intra_doc_links)]
// Modules tell their design, private parts included; the name of such a part is shown without a link.
#![allow(rustdoc::private_intra_doc_links)]

pub mod application;
pub mod cache;
pub mod cli;
pub mod diag;
pub mod diff;
pub mod directory;
pub mod git;
pub mod go;
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
mod shares;
mod stack;
pub mod template;
pub mod view;
pub mod wall;
pub mod yaml;
