//! What is written and changes nothing, of the Applications that a dry commit touches. A preview tells all of it, a push what is in
//! files that it changes and was not there before.

use std::collections::BTreeMap;

use super::branch::Branch;
use super::output::Output;
use crate::argo::{Application, BranchName};
use crate::hydrate::plan::{Done, Hydration, Rendered, Step};
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::owners::snapshot::Snapshot;
use crate::render::{Ineffective, Misread};
use crate::repo::{ObjectId, TreeFiles};
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};

/// A warning for each, once for all Applications that have it.
pub(crate) fn warnings(
    rendered: &Rendered,
    found: &Snapshot<'_>,
    branches: &BTreeMap<BranchName, Branch>,
) -> Result<Vec<Diagnostic>, HydrateError> {
    let now = Dry::new(rendered.dry.id, rendered.tree, found);
    let mut warnings: Vec<Diagnostic> = Vec::new();
    for (name, step) in &rendered.branches {
        let Step::Hydrate(hydration) = step else { continue };
        let before = branches.get(name).map(|branch| Dry::before(branch, found)).transpose()?.flatten();
        let touched = hydration.outputs().filter(|(application, output)| {
            let is_as_before = before.as_ref().is_some_and(|before| before.gives_as(&now, application, output));
            !is_as_before
        });
        let touched: Vec<&Application> = touched.map(|(application, _)| application).collect();
        for warning in remarks(&touched, &now, before.as_ref()) {
            let is_same = |known: &Diagnostic| known.message == warning.message && known.span == warning.span;
            if !warnings.iter().any(is_same) {
                warnings.push(warning);
            }
        }
    }
    Ok(warnings)
}

/// How many Applications of a run are looked at: a pusher waits for it.
const LOOKED_AT_MAX: usize = 32;

/// Applications that a run rendered, by branch and path, as the last of its dry commits has them.
#[derive(Debug, Default)]
pub(crate) struct Touched(BTreeMap<(BranchName, RepoPath), Application>);

impl Touched {
    /// Adds what was rendered of a branch.
    pub(super) fn add(&mut self, branch: &BranchName, hydration: &Hydration<Done>) {
        for (application, _) in hydration.outputs().filter(|(_, output)| output.is_fresh) {
            let key = (branch.clone(), application.sync_path.clone());
            if self.0.len() < LOOKED_AT_MAX || self.0.contains_key(&key) {
                self.0.insert(key, application.clone());
            }
        }
    }

    /// A warning of what changes nothing in files that differ from those before the run, by the last dry commit and its tree. What was
    /// there before is left out.
    pub(super) fn warnings(
        &self,
        (dry, tree): (ObjectId, ObjectId),
        branches: &BTreeMap<BranchName, Branch>,
        found: &Snapshot<'_>,
    ) -> Result<Vec<Diagnostic>, HydrateError> {
        let now = Dry::new(dry, tree, found);
        let mut warnings: Vec<Diagnostic> = Vec::new();
        for (name, branch) in branches {
            let of_branch = self.0.iter().filter(|((of, _), _)| of == name);
            let applications: Vec<&Application> = of_branch.map(|(_, application)| application).collect();
            let before = Dry::before(branch, found)?;
            for one in now.new_since(before.as_ref(), &applications) {
                let is_same = |known: &Diagnostic| known.message == one.message && known.span == one.span;
                if !warnings.iter().any(is_same) {
                    warnings.push(one);
                }
            }
        }
        Ok(warnings)
    }
}

/// What is reported of Applications. What charts have by default is reported where they did not have it before.
fn remarks(applications: &[&Application], now: &Dry<'_>, before: Option<&Dry<'_>>) -> Vec<Diagnostic> {
    let mut all: Vec<Ineffective> = now.ineffective(applications);
    let known = match before.filter(|_| all.iter().any(|one| one.is_default)) {
        Some(before) => before.ineffective(applications),
        None => Vec::new(),
    };
    let is_known = |one: &Ineffective| known.iter().any(|known| known.diagnostic.message == one.diagnostic.message);
    all.retain(|one| !one.is_default || (before.is_some() && !is_known(one)));
    all.into_iter().map(|one| one.diagnostic).collect()
}

/// A dry commit to render.
struct Dry<'a> {
    id: String,
    files: TreeFiles<'a>,
    found: &'a Snapshot<'a>,
}

impl<'a> Dry<'a> {
    fn new(id: ObjectId, tree: ObjectId, found: &'a Snapshot<'a>) -> Self {
        Self { id: id.to_string(), files: TreeFiles::new(found.setup.repository, tree), found }
    }

    /// What a branch was hydrated from before the run.
    fn before(branch: &Branch, found: &'a Snapshot<'a>) -> Result<Option<Self>, HydrateError> {
        let dry = branch.sources_before().filter(|dry| found.setup.repository.has(*dry));
        dry.map(|dry| Ok(Self::new(dry, found.buffer.commit(dry)?.tree, found))).transpose()
    }

    /// What of Applications changes nothing, in files that `before` does not have so. What it has with the Applications as they are
    /// now is left out, unless it is in their own documents.
    fn new_since(&self, before: Option<&Self>, applications: &[&Application]) -> Vec<Diagnostic> {
        let all = self.ineffective(applications);
        let Some(before) = before.filter(|_| !all.is_empty()) else {
            return all.into_iter().filter(|one| !one.is_default).map(|one| one.diagnostic).collect();
        };
        let known = before.ineffective(applications);
        let (then, now) = (View::new(&before.files), View::new(&self.files));
        let is_of_document = |path: &RepoPath| applications.iter().any(|application| application.file == *path);
        let is_new = |one: &Diagnostic| {
            let is_known = || known.iter().any(|known| known.diagnostic.message == one.message);
            match &one.span {
                Some(span) if then.content_id(&span.path) == now.content_id(&span.path) => false,
                Some(span) => is_of_document(&span.path) || !is_known(),
                None => !is_known(),
            }
        };
        let is_left = |one: &Ineffective| !known.iter().any(|known| known.diagnostic.message == one.diagnostic.message);
        let mut found = Vec::new();
        for one in all {
            if !one.is_default && is_new(&one.diagnostic) {
                found.push(one.diagnostic);
            } else if let Some(misread) = one.misread.as_ref().filter(|_| is_left(&one)) {
                let place = applications.iter().find_map(|application| reader(misread, application, (&then, &now)));
                found.extend(place.map(|place| no_longer_read(misread, &one.diagnostic, place)));
            }
        }
        found
    }

    fn ineffective(&self, applications: &[&Application]) -> Vec<Ineffective> {
        let context = render_context(&self.found.policy.settings, &self.files, &self.id);
        self.found.setup.renderers.ineffective(applications, &context).into_iter().flatten().collect()
    }

    /// Whether all that an Application of `now` is rendered from is there, and so is its document.
    fn gives_as(&self, now: &Self, application: &Application, output: &Output) -> bool {
        let (view, now) = (View::new(&self.files), View::new(&now.files));
        let reads = output.record.decode().map(|record| record.reads);
        view.content_id(&application.file) == now.content_id(&application.file)
            && reads.is_some_and(|reads| view.confirms(&reads).unwrap_or(false))
    }
}

/// That a value which a template read before is read no more, at the line that reads one of nearly its name.
fn no_longer_read(misread: &Misread, unread: &Diagnostic, place: Span) -> Diagnostic {
    let Misread { value, near } = misread;
    let text = format!("nothing in the chart reads the value `{value}` any more");
    let hint = format!("`.Values.{near}` is read here, and `{value}` is what is set: did you mean that?");
    Diagnostic { application: unread.application.clone(), ..Diagnostic::warning(text).at(place).hint(hint) }
}

/// The line of a template, in a file that differs from `then`, that reads a value of nearly the name of one that is set.
fn reader(misread: &Misread, application: &Application, (then, now): (&View<'_>, &View<'_>)) -> Option<Span> {
    let wanted = format!(".Values.{}", misread.near);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let reads = |line: &str| line.split(&wanted).skip(1).any(|rest| !rest.starts_with(is_name));
    for part in application.parts() {
        let mut dirs = vec![part.dry.path.join(&RepoPath::new("templates").ok()?)];
        while let Some(dir) = dirs.pop() {
            let Ok(entries) = now.list(&dir) else { continue };
            for entry in entries.iter() {
                let Ok(name) = RepoPath::new(&entry.name) else { continue };
                let path = dir.join(&name);
                match entry.kind {
                    Kind::Directory => dirs.push(path),
                    Kind::File if then.content_id(&path) != now.content_id(&path) => {
                        let Ok(file) = now.read(&path) else { continue };
                        let text = String::from_utf8_lossy(&file.data);
                        if let Some((_, line)) = text.lines().zip(1_u32..).find(|(line, _)| reads(line)) {
                            return Some(Span { line, ..Span::file(path) }.quoting(&text));
                        }
                    }
                    Kind::File | Kind::Link | Kind::Submodule => {}
                }
            }
        }
    }
    None
}
