//! Renders Argo CD Applications into environment branches, inside the git server.
//!
//! `docs/architecture.md` is a page to begin with; the other pages of `docs/` are for those who use it.
//!
//! # One push
//!
//! `hydrate/run/pipeline.rs` leads through steps 3 to 10.
//!
//! 1. git runs the script of `hooks/pre-receive`: [`hook::pre_receive`] refuses what must not go in, such as a push to a
//!    branch that hydration owns ([`hydrate::guard()`]), in strict mode also what does not hydrate ([`hydrate::judge`]). Then it runs `hooks/post-receive`, which hands its lines to
//!    [`hook::post_receive`]. They say only that something happened. What strict mode hydrated already is taken over
//!    (`hydrate/gate/foreseen.rs`).
//! 2. Under the lock of the repository, [`hydrate::hydrate`] reads refs, settings ([`settings::Settings`]), notes,
//!    recorded failures and the records of branches ([`hydrate::BranchRecords`]) as they are now
//!    (`hydrate/snapshot.rs`).
//! 3. For each dry branch, [`plan::Discovery`] finds the Applications of its tree ([`application::read`]); directories that
//!    it knows are not read again. ApplicationSets among them are expanded from the same tree
//!    ([`application::set`]), and Applications that may make others are rendered for it ([`application::parent`]), each again
//!    only when something differs that it looked at.
//! 4. [`application::validate`] judges them together: every mistake at once, each with its place.
//! 5. For each environment branch, `Standing` (`hydrate/standing.rs`) says who made it and from which dry commit it was hydrated
//!    last. The first-parent commits since then are hydrated in order, or the tip alone where the setting `history` says so.
//!    [`plan::removals`] finds what left the dry tree, with proof and within a limit.
//! 6. Each dry commit becomes a `Plan` (`hydrate/run/plan.rs`): what is rendered and why, what is known, and what is removed.
//!    `git hydrate plan` ends here.
//! 7. [`render::Renderers`] renders all Applications on all cores: [`helm_template`], [`kustomize_build`], [`directory`], [`jsonnet`],
//!    [`confine`]. Native engines read files through a [`View`](dry_files::view::View) only, which notes what they read. Programs (plugins, Jsonnet,
//!    the official tools) get a checkout that is made through one (`render/checkout.rs`).
//! 8. `hydrate/run/output.rs` encodes each manifest on the thread that rendered it ([`manifest::encode`]), and keeps its
//!    blob in a [`git::ObjectBuffer`], in memory. [`metadata::Writer`] makes the other bytes of the branch:
//!    `hydrator.metadata`, `README.md`, the commit message and the note.
//! 9. `hydrate/run/commits.rs` makes the commits, for which [`publish`] turns blobs into trees.
//!    Last is the branch of copies (`hydrate/run/copies.rs`), where the setting `applicationsTo` asks for one.
//! 10. Objects become durable, then all refs move at once ([`git::Transaction`], begun early); a lost race starts again at
//!     2, a few times. The run goes to the log (`report/log.rs`), [`report::summary`] answers the pusher, [`hook::tell()`] tells the
//!     forge which branches moved, what was hydrated for another repository is pushed there ([`worker`],
//!     `worker/outbox.rs`), and the command of `hydrate.notify` gets the report (`hook/notify.rs`).
//!
//! A preview is the same up to step 9, compared with what the branches have (`hydrate/ask/preview.rs`, [`diff`],
//! `report/changes.rs`).
//!
//! # How it stays fast
//!
//! Where the branches are as the last run left them, steps 3 to 6 look at what changed since only
//! (`hydrate/run/by_changes.rs`): [`plan::Changes`] compares the two dry trees, [`cache::State`] knows whose renders looked
//! at what differs, [`View::confirms`](dry_files::view::View::confirms) finds by content ids whether a result is still true, and only Applications whose
//! results are not are rendered. Whatever is not plain is left to the steps above, which look at everything
//! (`hydrate/run/by_everything.rs`). Both make plans only; what a plan becomes does not depend on which of them made it, so
//! with the cache or without it the commits are the same.
//!
//! # How it survives
//!
//! What renders is a process that may die, by memory, by its stack, by time, and its parent goes on: the script of
//! `hooks/post-receive`, else [`wall::supervise`]. Once more then, with [`render::Isolation::Apart`]: `render/apart.rs`
//! renders each Application, and expands each set, in a process of its own, and the one that dies there is named.
//! Both tries share the time of a run.
//!
//! # Without a server
//!
//! [`worker`] does the same in a clone, on a copy of the refs of a remote whose host runs no hooks, and pushes what came of
//! it.
//!
//! # Layers
//!
//! The crates of `crates/` are the ground; their arrows are in their manifests. A module of this one uses what is in lines below its
//! own, and in its own line what the arrows show. `tests/layers.rs` reads this map, and finds circles of files inside modules too.
//!
//! ```text
//! edge        bin main
//!             testing
//!             cli hook remote report      cli -> hook remote report, hook -> report, remote -> report
//! operation   install wall worker
//!             hydrate
//! stage       plan publish render
//! engine      directory jsonnet
//! domain      application cache diff manifest metadata settings      cache -> application manifest,
//!             application -> manifest, diff -> manifest, metadata -> application manifest,
//!             settings -> application metadata
//! format      git jinja needs shares      git -> shares
//! ground      versions
//! ```
//!
//! # Never
//!
//! - A branch moves although one of its Applications failed, unless a setting leaves that one behind; it is reported then.
//! - A hydrated commit depends on anything but its parent, its dry commit and branch, the settings and the engine.
//! - A file that others put on a branch is touched.
//! - A ref points at an object that is not written.
//! - A native engine opens a file, a connection or a program, or reads the clock or the environment.
//!
//! # Where to start
//!
//! | for | begin with | and |
//! |---|---|---|
//! | a template function | `crates/go-template/src/funcs` | its cost in `expense.rs` there; if only charts have it, `crates/helm-template/src/functions.rs`; rows in `tests/rows` there |
//! | a transformer | `crates/kustomize-build/src/transform` | |
//! | a field of a kustomization | `crates/kustomize-build/src/kustomization.rs` | its use in `transform` there |
//! | a field of an Application | `application/options.rs`, `application/decode.rs` | `render/engines.rs` |
//! | a mistake of an Application | `application/mistake.rs` | |
//! | a generator of ApplicationSets | `application/set/generators.rs` | its shapes in `application/set/types.rs`, `application/set/origin.rs` |
//! | an engine | `render/engines.rs` | `application/source.rs`, `render/command.rs` |
//! | a kind of input | [`inputs`] | `crates/git-hydrate-fetch`, [`needs`] |
//! | a setting | [`settings`] | its shape in `settings/shape.rs` |
//! | a danger of the preview | `diff/danger` | its rows in `tests/cases/dangers` |
//! | a forge that is told of branches | `hook/tell/forge.rs` | |
//! | a check of the doctor | `install/doctor` | |
//! | a subcommand | `cli`, over an operation of `hydrate/ask`, `install` or `worker` | |
//! | why a push would render an Application | `git hydrate plan`, and `Why` in `hydrate/run/plan.rs` | of a past push, `git hydrate explain` names the dry commit that changed it |
//! | what a hydrated branch says of itself | [`metadata::Writer`] | |
#![forbid(unsafe_code)]

mod application;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod cache;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod cli;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod diff;
mod directory;
mod git;
mod hook;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod hydrate;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod install;
mod jinja;
mod jsonnet;
mod manifest;
mod metadata;
mod needs;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod plan;
mod publish;
mod remote;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod render;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod report;
mod settings;
mod shares;
#[doc(hidden)]
pub mod testing;
mod versions;
mod wall;
mod worker;

use std::process::ExitCode;

use jsonnet::evaluate;

/// Runs the command that this process's arguments name, and returns its exit code. `pages` are those of the documentation,
/// by name, for `git hydrate help`.
///
/// The first argument may also name what a process that we start of ourselves does: confine a program, evaluate Jsonnet,
/// render one Application.
pub fn run(pages: &[(&str, &str)]) -> ExitCode {
    wall::panic_plainly();
    let mut args = std::env::args_os().skip(1).peekable();
    if args.next_if(|arg| arg == confine::ARGUMENT).is_some() {
        return confine::main(args);
    }
    if args.next_if(|arg| arg == evaluate::ARGUMENT).is_some() {
        return confine::to_current_directory(|| evaluate::main(args));
    }
    if args.next_if(|arg| arg == render::ARGUMENT).is_some() {
        return render::main(args);
    }
    cli::run(pages)
}
