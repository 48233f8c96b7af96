//! Renders Argo CD Applications into environment branches, inside the git server.
//!
//! `docs/architecture.md` is a page to begin with; the other pages of `docs/` are for those who use it.
//!
//! # One push
//!
//! `hydrate/pipeline.rs` leads through steps 3 to 10.
//!
//! 1. git runs the script of `hooks/pre-receive`: [`tell::hook::pre_receive`] refuses what must not go in, such as a push to a
//!    branch that hydration owns ([`hydrate::guard()`]), in strict mode also what does not hydrate ([`hydrate::judge`]). Then it
//!    runs `hooks/post-receive`, which hands its lines to [`tell::hook::post_receive`]. They say only that something happened.
//!    What strict mode hydrated already is taken over (`hydrate/gate/foreseen.rs`).
//! 2. Under the lock of the repository, [`hydrate::hydrate`] reads refs, settings ([`settings::Settings`]), notes,
//!    recorded failures and the records of branches ([`owners::branch_records`]) as they are now
//!    ([`owners::snapshot`]).
//!    What the server fetched for them joins the trees of dry commits ([`owners::recorded`]). A run that needs more of what may
//!    be fetched ends without a trace: [`tell::fetch`] brings it, and the run begins again.
//! 3. For each dry branch, [`discover::Discovery`] finds the Applications of its tree ([`argo::read`]); directories that
//!    it knows are not read again. ApplicationSets among them are expanded from the same tree
//!    ([`argo::set`]), and Applications that may make others are rendered for it ([`argo::parent`]), each again
//!    only when something differs that it looked at.
//! 4. [`argo::validate`] judges them together: every mistake at once, each with its place.
//! 5. For each environment branch, [`owners::standing`] says who made it and from which dry commit it was hydrated
//!    last. The first-parent commits since then are hydrated in order, or the tip alone where the setting `history` says so.
//!    [`discover::removals`] finds what left the dry tree, with proof and within a limit.
//! 6. Each dry commit becomes a [`Plan`](hydrate::plan::Plan): what is rendered and why, what is known, and what is removed.
//!    `git hydrate plan` ends here.
//! 7. [`render::Renderers`] renders all Applications on all cores: [`helm_template`], [`kustomize_build`],
//!    [`render::directory`], [`render::jsonnet`], [`confine`]. Native engines read files through a
//!    [`View`](dry_files::view::View) only, which notes what they read. Programs (plugins, Jsonnet, the official tools) get a
//!    checkout that is made through one (`render/checkout.rs`).
//! 8. `hydrate/make/output.rs` encodes each manifest on the thread that rendered it ([`manifest::encode`]), and keeps its
//!    blob in a [`repo::ObjectBuffer`], in memory. [`metadata::Writer`] makes the other bytes of the branch:
//!    `hydrator.metadata`, `README.md`, the commit message and the note.
//! 9. `hydrate/make/commits.rs` makes the commits, for which [`repo::publish`] turns blobs into trees. What an API server would
//!    refuse of objects that change ([`apiserver`]) is reported by `hydrate/make/refused.rs`.
//!    Last is the branch of copies (`hydrate/copies.rs`), where the setting `applicationsTo` asks for one.
//! 10. Objects become durable, then all refs move at once ([`repo::Transaction`], begun early); a lost race starts again at
//!     2, a few times. The run goes to the log (`show/log.rs`), [`show::summary`] answers the pusher, [`tell::forge`] tells the
//!     forge which branches moved, what was hydrated for another repository is pushed there ([`tell::outbox`]), and the
//!     command of `hydrate.notify` gets the report ([`tell::notify`]).
//!
//! A preview is the same up to step 9, compared with what the branches have ([`preview`], [`diff`], `show/changes.rs`).
//!
//! # How it stays fast
//!
//! Where the branches are as the last run left them, steps 3 to 6 look at what changed since only
//! (`hydrate/plan/by_changes.rs`): [`discover::Changes`] compares the two dry trees, [`known::State`] knows whose renders looked
//! at what differs, [`View::confirms`](dry_files::view::View::confirms) finds by content ids whether a result is still true, and
//! only Applications whose results are not are rendered. Whatever is not plain is left to the steps above, which look at
//! everything (`hydrate/plan/by_everything.rs`). Both make plans only; what a plan becomes does not depend on which of them made
//! it, so with the cache or without it the commits are the same.
//!
//! # How it survives
//!
//! What renders is a process that may die, by memory, by its stack, by time, and its parent goes on: the script of
//! `hooks/post-receive`, else [`wall::supervise`]. Once more then, with [`render::Isolation::Apart`]: `render/process/apart.rs`
//! renders each Application, and expands each set, in a process of its own, and the one that dies there is named.
//! Both tries share the time of a run.
//!
//! A hook that waited for the lock as long as it may ends, and another one, which no pusher waits for, goes on with its input
//! (`tell/hook/successor.rs`).
//!
//! # Without a server
//!
//! [`tell::worker`] does the same in a clone, on a copy of the refs of a remote whose host runs no hooks, and pushes what came of
//! it.
//!
//! # Rooms
//!
//! The crates of `crates/` are the ground; their arrows are in their manifests. A room of this one uses what is in lines below its
//! own, and in its own line what the arrows show. `tests/layers.rs` reads this map, and finds circles of files inside rooms too.
//!
//! ```text
//! edge        bin main
//!             testing
//!             cli remote tell show        cli -> remote tell show, remote -> show, tell -> show
//! operation   install
//!             history
//!             preview
//!             hydrate
//!             inspect
//! state       owners
//! stage       discover render             discover -> render
//! domain      apiserver argo diff known manifest metadata settings      known -> argo manifest,
//!             apiserver -> argo diff manifest settings, argo -> manifest, diff -> manifest, metadata -> argo manifest,
//!             settings -> argo metadata
//! format      repo
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
//! | a template function | `crates/go-template/src/funcs` | its cost in `crates/go-template/src/expense.rs`; one that charts alone have is named in `funcs/strict.rs` too; one that needs a chart is in `crates/helm-template/src/functions.rs`, with rows in `tests/rows` there |
//! | a transformer | `crates/kustomize-build/src/transform` | |
//! | a field of a kustomization | `crates/kustomize-build/src/kustomization.rs` | its use in `transform` there |
//! | a field of an Application | `argo/options.rs`, `argo/decode.rs` | `render/engines.rs` |
//! | a mistake of an Application | `argo/mistake.rs` | |
//! | a generator of ApplicationSets | `argo/set/generators.rs` | its shapes in `argo/set/types.rs`, `argo/set/origin.rs` |
//! | an engine | `render/engines.rs` | `argo/source.rs`, `render/command.rs` |
//! | a kind of input | [`inputs`] | `crates/git-hydrate-fetch`, [`render::needs`] |
//! | a setting | [`settings`] | its shape in `settings/shape.rs` |
//! | what an API server refuses | [`kube_validate`], [`apiserver`] | its rules in `crates/kube-validate/src/rules` |
//! | a danger of the preview | one rule a file of `diff/danger`, called in `diff/danger.rs` | its words by `Danger::said`; its rows in `tests/cases/dangers`; `docs/user.md`, "Dangers" |
//! | a forge that is told of branches | `tell/forge/script.rs` | |
//! | a check of the doctor | `install/doctor` | |
//! | a subcommand | `cli`, over an operation of [`inspect`], [`history`], [`preview`], [`install`] or [`tell::worker`] | |
//! | why a push would render an Application | `git hydrate plan`, and [`Why`](hydrate::plan::Why) | of a past push, `git hydrate explain` names the dry commit that changed it |
//! | what a hydrated branch says of itself | [`metadata::Writer`] | |
#![forbid(unsafe_code)]

mod apiserver;
mod argo;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod cli;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod diff;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod discover;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod history;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod hydrate;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod inspect;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod install;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod known;
mod manifest;
mod metadata;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod owners;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod preview;
mod remote;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod render;
mod repo;
mod settings;
#[expect(clippy::indexing_slicing, reason = "indexes are those of lists that are made there")]
mod show;
mod tell;
#[doc(hidden)]
pub mod testing;
mod versions;

use std::process::ExitCode;

use render::jsonnet::evaluate;
use render::process::wall;

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
    if args.next_if(|arg| arg == render::process::ARGUMENT).is_some() {
        return render::process::main(args);
    }
    cli::run(pages)
}
