//! The process that renders: reads what to do on standard input, and says on standard output what comes of it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dry_files::path::RepoPath;
use dry_files::stack;
use dry_files::view::{ContentId, Entry, Files, Seen, Unreadable};
use rustix::process::getppid;

use super::super::fence;
use super::Instructions;
use super::asked::Asked;
use super::documents::Documents;
use super::frame::{self, Said};
use super::rendered::Answer;
use crate::known::Decoder;
use crate::render::machine::Isolation;
use crate::render::pool::text_of;
use crate::render::{Commit, Context, Renderers};
use confine::Runner;

/// The first argument that `main` looks for, like that of the confining process.
pub(crate) const ARGUMENT: &str = "__render";

/// How many bytes of files are kept: those of a chart are asked for again by each Application of it.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// Takes the arguments after `__render`: the process that must be alive for this one to be. Only we write them.
pub(crate) fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let parent = arguments.next().and_then(|id| id.into_string().ok()?.parse::<i32>().ok());
    end_with_parent();
    // The parent process may be gone by now.
    if parent.is_none() || getppid().map(|id| id.as_raw_nonzero().get()) != parent {
        return ExitCode::FAILURE;
    }
    // A panic is an answer, and what it prints would fill a pipe that is read at our end only.
    std::panic::set_hook(Box::new(|_| ()));
    match stack::on_deep_stack("render", serve) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(target_os = "linux")]
fn end_with_parent() {
    // It ends by itself as well when its pipe is closed, only later.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent() {}

/// Renders one Application after the other until no more are asked for.
fn serve() -> io::Result<()> {
    let from = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let to = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let pipes = Pipes { from, to };
    let mut begin = &pipes.from;
    let instructions: Instructions = serde_json::from_slice(&frame::read(&mut begin, u64::MAX)?)?;
    let root = ContentId::new(&frame::read(&mut begin, u64::MAX)?);
    let Instructions { settings, tools, limits, profile, dry_commit, renderer, nondeterministic, .. } = instructions;
    fence::limit(limits.application_memory, 1);
    let renderers = Renderers::new(Runner::new(settings), tools, limits).isolated(Isolation::Alone);
    #[cfg(debug_assertions)]
    let renderers = Renderers { rehearsed: instructions.rehearsed, ..renderers };
    let files = AskedFiles { pipes: Mutex::new(pipes), root, kept: Mutex::default() };
    let identities = instructions.identities.into_iter().collect();
    let context = Context {
        files: &files,
        profile,
        dry_commit: &dry_commit,
        renderer,
        build_options: &instructions.build_options,
        nondeterministic: &nondeterministic,
        seeds: &instructions.seeds,
        identities: &identities,
        limits: instructions.limits_of_settings,
        rules: instructions.rules,
    };
    let commit = Commit::new(&renderers, &context);
    let documents = Documents::default();
    loop {
        let asked = frame::read(&mut &files.pipes().from, u64::MAX);
        let asked = match asked {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            asked => Asked::decode(&asked?).ok_or(io::ErrorKind::InvalidData)?,
        };
        let answer = catch_unwind(AssertUnwindSafe(|| documents.answer(&commit, &asked)));
        let answer = answer.unwrap_or_else(|panic| Answer::Panic(text_of(&*panic)));
        frame::write(&mut &files.pipes().to, &Said::done(&answer))?;
    }
}

struct Pipes {
    from: File,
    to: File,
}

/// The files of a dry tree that the parent process reads for us, each once.
struct AskedFiles {
    pipes: Mutex<Pipes>,
    root: ContentId,
    kept: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    listings: HashMap<ContentId, Arc<[Entry]>>,
    contents: HashMap<ContentId, Arc<[u8]>>,
    sizes: HashMap<ContentId, u64>,
    bytes: usize,
}

impl AskedFiles {
    fn pipes(&self) -> MutexGuard<'_, Pipes> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Answers> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(&self, question: &[u8], decode: impl FnOnce(&mut Decoder<'_>) -> Option<T>) -> Result<T, Unreadable> {
        let pipes = self.pipes();
        let answer = frame::write(&mut &pipes.to, question).and_then(|()| frame::read(&mut &pipes.from, u64::MAX));
        let frame = answer.map_err(|error| error.to_string())?;
        let mut frame = Decoder(&frame);
        let answer = match frame.number() {
            Some(1) => decode(&mut frame).map(Ok),
            Some(2) => frame.text().map(|what| Err(Unreadable::NoFile(what))),
            _ => frame.text().map(|why| Err(Unreadable::Backend(why))),
        };
        answer.unwrap_or_else(|| Err(Unreadable::Backend("the answer cannot be read".to_owned())))
    }
}

impl Files for AskedFiles {
    fn list(&self, dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, String> {
        if let Some(entries) = self.kept().listings.get(&id) {
            return Ok(entries.clone());
        }
        let entries = self.ask(&Said::question(0, dir, id), frame::entries).map_err(|why| why.to_string())?;
        let entries: Arc<[Entry]> = entries.into();
        self.kept().listings.insert(id, entries.clone());
        Ok(entries)
    }

    fn read(&self, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
        if let Some(content) = self.kept().contents.get(&id) {
            return Ok(content.clone());
        }
        let content: Arc<[u8]> = self.ask(&Said::question(1, path, id), |frame| Some(frame.0.into()))?;
        let mut kept = self.kept();
        kept.bytes += content.len();
        if kept.bytes > KEPT_BYTES_MAX {
            kept.contents.clear();
            kept.bytes = content.len();
        }
        kept.contents.insert(id, content.clone());
        Ok(content)
    }

    fn size(&self, path: &RepoPath, id: ContentId) -> Result<u64, Unreadable> {
        if let Some(size) = self.kept().sizes.get(&id) {
            return Ok(*size);
        }
        let size = self.ask(&Said::question(2, path, id), |frame| frame.number())?;
        self.kept().sizes.insert(id, size);
        Ok(size)
    }

    fn root(&self) -> ContentId {
        self.root
    }

    fn noted(&self, path: &RepoPath, seen: Seen) {
        // If the other end is closed, the next question finds that out.
        drop(frame::write(&mut &self.pipes().to, &Said::note(path, seen)));
    }
}
