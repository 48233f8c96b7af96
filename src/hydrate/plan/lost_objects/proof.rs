//! Whether it is proved that an object left: by what became of the file that gave it.
//!
//! It is, when the file is gone or empty, when the object's text left it or says another object, when something else decides
//! (values, globs, a kustomization that names the file no more), or with another version of a chart or an input. It is not, when
//! the file's own text makes it give nothing, or when it got a name that is not read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::fixed_names;
use super::renames::{Renamed, Renames};
use super::text::{count_of_kind, first_difference, is_blank, text};
use crate::argo::{Application, BranchName};
use crate::manifest::{Key, Manifest};
use crate::render::directory::SKIP_MARKER;
use crate::render::{self, Failure, Renderers};
use dry_files::diag::more::and_more;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, Overlay, Reads, Seen, View};
use go_yaml::{self as yaml, Value};
use inputs::lock_path;
use kustomize_build::FILE_NAMES;

/// An Application at a dry commit.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The Application.
    pub application: &'a Application,
    /// The dry commit.
    pub context: &'a render::Context<'a>,
}

/// An Application when it made what its branch has, and now.
pub struct Comparison<'a> {
    /// What renders it.
    pub renderers: &'a Renderers,
    /// When it made what its branch has.
    pub before: Side<'a>,
    /// As it would go on.
    pub now: Side<'a>,
    /// The branch.
    pub branch: &'a BranchName,
}

/// The objects that each file gives; none for one without a name.
type Given = BTreeMap<RepoPath, Vec<Option<Key>>>;

/// What is compared, rendered.
struct Files<'c> {
    comparison: &'c Comparison<'c>,
    before: Given,
    now: Given,
    old: View<'c>,
    new: View<'c>,
    /// What the render of now looked at.
    reads: &'c Reads,
    renames: RefCell<Renames>,
}

impl Comparison<'_> {
    /// Why the Application may not go on without these objects, by file; nothing where each object is proved to have
    /// left. `reads` is what the render without them looked at. Also answers what else of the tree of now was looked at.
    ///
    /// Errors: the world failed, or what it was made of does not render any more.
    pub fn mistakes(&self, lost: &[Key], reads: &Reads) -> Result<(Vec<Diagnostic>, Reads), Failure> {
        let (old, new) = (View::new(self.before.context.files), View::new(self.now.context.files));
        if let Some(mistake) = self.fixed_name(lost, (&old, &new)) {
            return Ok((vec![mistake], new.reads()));
        }
        let (before, now) = (self.given(&self.before)?, self.given(&self.now)?);
        let renames = RefCell::default();
        let files = Files { comparison: self, before: by_file(&before), now: by_file(&now), old, new, reads, renames };
        let mut file_of: BTreeMap<Key, &Option<RepoPath>> = BTreeMap::new();
        for (manifest, file) in &before {
            if let Some(key) = manifest.typed_identity() {
                file_of.entry(key).or_insert(file);
            }
        }
        let mut by_file: BTreeMap<Option<RepoPath>, Vec<&Key>> = BTreeMap::new();
        for lost in lost {
            let file = file_of.get(lost).and_then(|file| (*file).clone());
            by_file.entry(file).or_default().push(lost);
        }
        let mut mistakes = Vec::new();
        for (file, lost) in by_file {
            let of_file = match &file {
                Some(file) => files.mistake(file, &lost)?,
                None => None,
            };
            mistakes.extend(match of_file {
                Some(mistake) => Some(mistake),
                None => files.helped_away(file.as_ref(), &lost)?,
            });
        }
        Ok((mistakes, files.new.reads()))
    }

    /// What a file of a fixed name made of these objects, which has nearly that name now.
    fn fixed_name(&self, lost: &[Key], views: (&View<'_>, &View<'_>)) -> Option<Diagnostic> {
        let dirs =
            self.before.application.all_sources().filter(|source| source.input.is_none()).map(|source| &source.path);
        let (former, now) = dirs.into_iter().find_map(|dir| fixed_names::renamed(dir, views))?;
        let content: Arc<[u8]> = Arc::from(text(views.0, &former)?.as_bytes());
        let lost: Vec<&Key> = lost.iter().collect();
        if !self.returns(BTreeMap::from([(former.clone(), content)]), &lost) {
            return None;
        }
        let said = format!("{} came by `{former}`, which is `{now}` now, a name that is not looked for", listed(&lost));
        let name = former.file_name().unwrap_or_default();
        let hint = self.hint(&format!("name it `{name}` again, or delete it"));
        Some(Diagnostic::error(said).at(Span::file(now)).hint(hint))
    }

    fn given(&self, side: &Side<'_>) -> Result<Vec<(Manifest, Option<RepoPath>)>, Failure> {
        self.renderers.origins(side.application, side.context)
    }

    /// Whether one of these objects is there when files have the content that they had.
    fn returns(&self, contents: BTreeMap<RepoPath, Arc<[u8]>>, lost: &[&Key]) -> bool {
        let Side { application, context } = self.now;
        let files = Overlay::new(context.files, contents);
        let context = render::Context { files: &files, rules: context.rules.clone(), ..*context };
        // Without an answer, nothing else is known to be why.
        let Ok(given) = self.renderers.origins(application, &context) else { return true };
        given.iter().filter_map(|(manifest, _)| manifest.typed_identity()).any(|key| lost.contains(&&key))
    }

    fn hint(&self, what: &str) -> String {
        let branch = self.branch;
        format!(
            "{what}; if this is intended, push a commit whose message ends with the line `Hydrate-Allow-Removal: {branch}`"
        )
    }
}

fn by_file(given: &[(Manifest, Option<RepoPath>)]) -> Given {
    let mut files = Given::new();
    for (manifest, file) in given {
        if let Some(file) = file {
            files.entry(file.clone()).or_default().push(manifest.typed_identity());
        }
    }
    files
}

impl Files<'_> {
    /// What is wrong with a file that gave these objects; none when it is proved that they left.
    fn mistake(&self, file: &RepoPath, lost: &[&Key]) -> Result<Option<Diagnostic>, Failure> {
        let Some(old) = text(&self.old, file) else { return Ok(None) };
        let Some(new) = text(&self.new, file) else { return Ok(self.not_there(file, &old, lost)) };
        let is_read = self.reads.iter().any(|((path, _), seen)| path == file && matches!(seen, Seen::Content(_)));
        let is_as_it_was = self.old.content_id(file).ok() == self.new.content_id(file).ok();
        let is_left_out = is_as_it_was || is_blank(&new) || new.contains(SKIP_MARKER) || !is_read;
        if is_left_out || self.is_of_new_version(file) {
            return Ok(None);
        }
        let (before, now) = (given(&self.before, file), given(&self.now, file));
        let unnamed = |given: &[Option<Key>]| given.iter().filter(|key| key.is_none()).count();
        let left = without_renamed(lost, came(before, now));
        let (at, said) = if unnamed(now) > unnamed(before) {
            (left, "has no `apiVersion`, `kind` or name any more")
        } else if now.is_empty() {
            (left, "gives no object now")
        } else {
            (still_written(&old, &new, left), "gives it no more, although its text is still there")
        };
        if at.is_empty() {
            return Ok(None);
        }
        let said = format!("`{file}` gave {} and {said}", listed(&at));
        let content: Arc<[u8]> = Arc::from(old.as_bytes());
        if !self.comparison.returns(BTreeMap::from([(file.clone(), content)]), lost) {
            return Ok(None);
        }
        let hint = self.comparison.hint("correct what changed there, or delete the file or the whole document");
        Ok(Some(Diagnostic::error(said).at(place(file, &old, &new)).hint(hint)))
    }

    /// A file that is none any more and was not deleted: something else has its name, or it has another name, which is nearly
    /// one that is read.
    fn not_there(&self, file: &RepoPath, old: &str, lost: &[&Key]) -> Option<Diagnostic> {
        let is_kustomization = |path: &RepoPath| path.file_name().is_some_and(|name| FILE_NAMES.contains(&name));
        let mut read = self.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_)));
        if read.any(|((path, _), _)| is_kustomization(path)) {
            return None;
        }
        let mut renames = self.renames.borrow_mut();
        let views = (&self.old, &self.new);
        let instead = match renames.kind_of(file, views) {
            Some(Kind::Link) => Some("a symbolic link that leads to no file"),
            Some(Kind::Submodule) => Some("a submodule"),
            Some(Kind::File | Kind::Directory) | None => None,
        };
        if let Some(what) = instead {
            let said = format!("`{file}` gave {} and is {what} now, which gives no object", listed(lost));
            let hint = self.comparison.hint("commit the file itself, or delete it");
            return Some(Diagnostic::error(said).at(Span::file(file.clone())).hint(hint));
        }
        let (said, at) = match renames.of(file, old, views)? {
            Renamed::To(path) => (format!("is `{path}` now, which is not read"), path),
            Renamed::Maybe(path) => {
                (format!("is gone, unless it is `{path}` now: too many files there have names that are not read"), path)
            }
        };
        let said = format!("`{file}` gave {} and {said}", listed(lost));
        let name = file.file_name().unwrap_or_default();
        let hint = self.comparison.hint(&format!("name it `{name}` again, or delete it"));
        Some(Diagnostic::error(said).at(Span::file(at)).hint(hint))
    }

    /// What templates of a chart that give no objects themselves have taken away from these.
    fn helped_away(&self, file: Option<&RepoPath>, lost: &[&Key]) -> Result<Option<Diagnostic>, Failure> {
        let contents = self.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_)));
        let mut changed = BTreeMap::new();
        for ((path, _), _) in contents.filter(|((path, _), _)| Some(path) != file) {
            if !self.is_template(path) || self.is_of_new_version(path) {
                continue;
            }
            let (Some(old), Some(new)) = (text(&self.old, path), text(&self.new, path)) else { continue };
            if old != new && !is_blank(&new) {
                changed.insert(path.clone(), (old, new));
            }
        }
        let Some((first, (old, new))) = changed.first_key_value() else { return Ok(None) };
        let contents = changed.iter().map(|(path, (old, _))| (path.clone(), Arc::from(old.as_bytes())));
        if !self.comparison.returns(contents.collect(), lost) {
            return Ok(None);
        }
        let said = format!("{} is not rendered since `{first}` changed", listed(lost));
        let hint = self.comparison.hint("correct what changed there");
        Ok(Some(Diagnostic::error(said).at(place(first, old, new)).hint(hint)))
    }

    /// Whether a file comes with another version of its chart, or of the input that it belongs to.
    fn is_of_new_version(&self, file: &RepoPath) -> bool {
        let is_input = file.starts_with(self.comparison.now.context.rules.inputs().path());
        if is_input && text(&self.old, &lock_path()) != text(&self.new, &lock_path()) {
            return true;
        }
        let Some(chart) = self.chart_of(file) else { return false };
        let version = |view: &View<'_>| text(view, &chart).and_then(|text| version(&text));
        version(&self.old) != version(&self.new)
    }

    /// Whether it is a template of a chart.
    fn is_template(&self, file: &RepoPath) -> bool {
        let dir = self.chart_of(file).and_then(|chart| chart.parent());
        dir.is_some_and(|dir| file.strip_prefix(&dir).is_some_and(|below| below.as_str().starts_with("templates/")))
    }

    /// The `Chart.yaml` of the chart that a file is in.
    fn chart_of(&self, file: &RepoPath) -> Option<RepoPath> {
        let mut dir = file.parent();
        while let Some(at) = dir {
            if let Ok(chart) = at.child("Chart.yaml")
                && matches!(self.old.kind(&chart), Ok(Some(Kind::File)))
            {
                return Some(chart);
            }
            dir = if at.is_root() { None } else { Some(at.parent().unwrap_or_default()) };
        }
        None
    }
}

fn given<'g>(given: &'g Given, file: &RepoPath) -> &'g [Option<Key>] {
    given.get(file).map_or(&[], Vec::as_slice)
}

/// The objects that a file gives now and did not give before.
fn came<'g>(before: &[Option<Key>], now: &'g [Option<Key>]) -> Vec<&'g Key> {
    now.iter().filter(|key| !before.contains(key)).flatten().collect()
}

/// The lost objects in whose place no other one came: one of the same kind or name.
fn without_renamed<'k>(lost: &[&'k Key], mut came: Vec<&Key>) -> Vec<&'k Key> {
    let mut left = Vec::new();
    for lost in lost {
        let is_it = |came: &&Key| came.kind == lost.kind || came.name == lost.name;
        match came.iter().position(is_it) {
            Some(at) => drop(came.remove(at)),
            None => left.push(*lost),
        }
    }
    left
}

/// Those of the objects whose text did not leave a file: it says as often as before that something is of their kind. What does
/// not say it in one word may say it of any kind.
fn still_written<'k>(old: &str, new: &str, lost: Vec<&'k Key>) -> Vec<&'k Key> {
    let mut gone: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut left = Vec::new();
    for lost in lost {
        let kind = Some(lost.kind.as_str()).filter(|kind| count_of_kind(old, Some(kind)) > 0);
        let before = count_of_kind(old, kind);
        let gone = gone.entry(kind).or_insert_with(|| before.saturating_sub(count_of_kind(new, kind)));
        match gone.checked_sub(1) {
            Some(others) => *gone = others,
            None if before == 0 => {}
            None => left.push(lost),
        }
    }
    left
}

fn version(chart: &str) -> Option<Value> {
    let documents = yaml::decode(chart.as_bytes(), yaml::Dialect::V2, &yaml::Limits::default()).ok()?;
    documents.first()?.get("version").cloned()
}

fn place(file: &RepoPath, old: &str, new: &str) -> Span {
    let (line, column) = first_difference(old, new);
    Span::at(file.clone(), line, column).quoting(new)
}

/// `ConfigMap web and 2 more`
fn listed(lost: &[&Key]) -> String {
    let first = lost.first().map(ToString::to_string).unwrap_or_default();
    format!("{first}{}", and_more(lost.len().saturating_sub(1)))
}
