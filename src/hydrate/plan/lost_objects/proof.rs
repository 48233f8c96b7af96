//! Whether it is proved that an object left: by what became of the file that gave it.
//!
//! It is, when the file is gone or empty, when the object's text left it or says another object, when something else decides
//! (values, globs, a kustomization that names the file no more), or with another version of a chart or an input that comes from
//! elsewhere. It is not, when the file's own text makes it give nothing, or when it got a name or a place that is not read; nor
//! when a value only got a name or a place that nothing asks for. Where a directory moved, its files are compared with those of the
//! new place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::fixed_names;
use super::places::Places;
use super::renames::{self, Renamed, Renames};
use super::text::{count_of_kind, first_difference, is_blank, text};
use super::values;
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
    places: Places,
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
        let mut renames = Renames::default();
        let moved = renames.moves((&old, &new));
        let given = before.iter().filter_map(|(_, file)| file.as_ref());
        let places = Places::of(self.before.application, self.now.application, given, moved, &new);
        let renames = RefCell::new(renames);
        let (before_files, now_files) = (by_file(&before), by_file(&now));
        let files = Files { comparison: self, before: before_files, now: now_files, old, new, reads, renames, places };
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
                None => match files.helped_away(file.as_ref(), &lost)? {
                    Some(mistake) => Some(mistake),
                    None => files.lost_value(&lost),
                },
            });
        }
        Ok((mistakes, files.new.reads()))
    }

    /// What a file of a fixed name made of these objects, which has nearly that name now.
    fn fixed_name(&self, lost: &[Key], views: (&View<'_>, &View<'_>)) -> Option<Diagnostic> {
        let dirs = |application: &Application| -> Vec<RepoPath> {
            let own = application.all_sources().filter(|source| source.input.is_none());
            own.map(|source| source.path.clone()).collect()
        };
        let mut pairs = dirs(self.before.application).into_iter().zip(dirs(self.now.application));
        let (former, there, now) = pairs.find_map(|(before, now)| fixed_names::renamed((&before, &now), views))?;
        let content: Arc<[u8]> = Arc::from(text(views.0, &former)?.as_bytes());
        let lost: Vec<&Key> = lost.iter().collect();
        if !self.returns(BTreeMap::from([(there, content)]), &lost) {
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
        let there = self.places.now(file);
        let Some(new) = text(&self.new, &there) else { return Ok(self.not_there(file, &there, &old, lost)) };
        // What was there before the directory moved is another file.
        if there != *file && !self.places.is_new(&there) {
            return Ok(None);
        }
        let is_as_it_was = self.old.content_id(file).ok() == self.new.content_id(&there).ok();
        let is_left_out = is_as_it_was || is_blank(&new) || new.contains(SKIP_MARKER) || !self.is_read(&there);
        if is_left_out || self.is_of_new_version(file) {
            return Ok(None);
        }
        let (before, now) = (given(&self.before, file), given(&self.now, &there));
        let unnamed = |given: &[Option<Key>]| given.iter().filter(|key| key.is_none()).count();
        let left = without_renamed(lost, came(before, now));
        let (at, said) = if unnamed(now) > unnamed(before) {
            (left, "has no `apiVersion`, `kind` or name any more")
        } else if now.is_empty() {
            (left, "gives no object now")
        } else {
            (still_written(&old, &new, left), "gives it no more, although its text is still there")
        };
        if at.is_empty() || self.are_asked_anew(&there, &old, &new) {
            return Ok(None);
        }
        let said = format!("{} gave {} and {said}", called(file, &there), listed(&at));
        let content: Arc<[u8]> = Arc::from(old.as_bytes());
        if !self.comparison.returns(BTreeMap::from([(there.clone(), content)]), lost) {
            return Ok(None);
        }
        let hint = self.comparison.hint("correct what changed there, or delete the file or the whole document");
        Ok(Some(Diagnostic::error(said).at(place(&there, &old, &new)).hint(hint)))
    }

    fn is_read(&self, file: &RepoPath) -> bool {
        self.reads.iter().any(|((path, _), seen)| path == file && matches!(seen, Seen::Content(_)))
    }

    /// A file that is not where it would be and was not deleted: something else has its name, or it has another name or place, which
    /// is not read or gives nothing.
    fn not_there(&self, file: &RepoPath, there: &RepoPath, old: &str, lost: &[&Key]) -> Option<Diagnostic> {
        let is_kustomization = |path: &RepoPath| path.file_name().is_some_and(|name| FILE_NAMES.contains(&name));
        let mut read = self.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_)));
        if read.any(|((path, _), _)| is_kustomization(path)) {
            return None;
        }
        let mut renames = self.renames.borrow_mut();
        let views = (&self.old, &self.new);
        let instead = match renames.kind_of(there, views) {
            Some(Kind::Link) => Some("a symbolic link that leads to no file"),
            Some(Kind::Submodule) => Some("a submodule"),
            Some(Kind::Directory) => Some("a directory"),
            Some(Kind::File) | None => None,
        };
        if let Some(what) = instead {
            let said =
                format!("{} gave {} and is {what} now, which gives no object", called(file, there), listed(lost));
            let hint = self.comparison.hint("commit the file itself, or delete it");
            return Some(Diagnostic::error(said).at(Span::file(there.clone())).hint(hint));
        }
        let (said, at) = match renames.of(there, old, views) {
            Some(Renamed::To(path)) => (format!("is `{path}` now, which is not read"), path),
            Some(Renamed::Maybe(path)) => {
                (format!("is gone, unless it is `{path}` now: too many files there have names that are not read"), path)
            }
            None => {
                let elsewhere = self.replaced(there).or_else(|| {
                    renames.moved((file, old), views, |path| self.gives_nothing(path).filter(|_| self.is_own(path)))
                });
                let (path, why) = elsewhere?;
                // The answer holds as long as that has this content.
                self.new.content_id(&path).ok()?;
                (format!("is `{path}` now, which {why}"), path)
            }
        };
        let said = format!("`{file}` gave {} and {said}", listed(lost));
        let name = file.file_name().unwrap_or_default();
        let hint = match at.parent() == there.parent() {
            true => format!("name it `{name}` again, or delete it"),
            false => format!("move it to where it is read, or delete it: `{there}`"),
        };
        Some(Diagnostic::error(said).at(Span::file(at)).hint(self.comparison.hint(&hint)))
    }

    /// A new file in place of one that is gone, with its name but for the extension, that gives nothing.
    fn replaced(&self, file: &RepoPath) -> Option<(RepoPath, &'static str)> {
        let stem = |path: &RepoPath| {
            let name = path.file_name().unwrap_or_default();
            name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
        };
        let dir = file.parent().unwrap_or_default();
        let is_other = |path: &&RepoPath| {
            stem(path) == stem(file) && path.file_name().is_some_and(renames::is_read) && self.is_read(path)
        };
        let mut others = self.places.new_in(&dir).filter(is_other);
        let is_empty = |path: &RepoPath| given(&self.now, path).is_empty();
        let other = others.find(|path| is_empty(path) && text(&self.new, path).is_some_and(|text| !is_blank(&text)))?;
        Some((other.clone(), "gives no object"))
    }

    /// Why a file gives no object; none when it does, or is not meant to.
    fn gives_nothing(&self, file: &RepoPath) -> Option<&'static str> {
        let is_part = file.file_name().is_some_and(|name| name.starts_with('_'));
        match self.is_read(file) {
            false => Some("is not read"),
            true => (given(&self.now, file).is_empty() && !is_part).then_some("gives no object"),
        }
    }

    /// Whether a file is in a directory of the Application.
    fn is_own(&self, file: &RepoPath) -> bool {
        let mut own = self.comparison.now.application.all_sources().filter(|source| source.input.is_none());
        own.any(|source| source.path.is_root() || file.starts_with(&source.path))
    }

    /// What templates of a chart that give no objects themselves have taken away from these.
    fn helped_away(&self, file: Option<&RepoPath>, lost: &[&Key]) -> Result<Option<Diagnostic>, Failure> {
        let there = file.map(|file| self.places.now(file));
        let contents = self.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_)));
        let mut changed = BTreeMap::new();
        for ((path, _), _) in contents.filter(|((path, _), _)| Some(path) != there.as_ref()) {
            let before = self.places.before(path);
            if !self.is_template(&before) || self.is_of_new_version(&before) {
                continue;
            }
            let (Some(old), Some(new)) = (text(&self.old, &before), text(&self.new, path)) else { continue };
            if old != new && !is_blank(&new) && !self.are_asked_anew(path, &old, &new) {
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

    /// A value of a chart without which these objects are not rendered, and that has another name or place by a slip.
    fn lost_value(&self, lost: &[&Key]) -> Option<Diagnostic> {
        self.changed_values().into_iter().find_map(|(path, old, new)| {
            let before = values::read(&old)?;
            let values::Astray { key, now } = values::astray((&old, &before), (&new, values::read(&new).as_ref()))?;
            if !self.comparison.returns(BTreeMap::from([(path.clone(), Arc::from(old.as_bytes()))]), lost) {
                return None;
            }
            let (said, hint) = match now {
                Some(now) => (format!("`{now}` in place of `{key}`"), format!("write `{key}`")),
                None => (format!("`{key}` at another place"), format!("put `{key}` back to where it was")),
            };
            let said = format!("{} is not rendered since `{path}` has {said}", listed(lost));
            let hint = self.comparison.hint(&hint);
            Some(Diagnostic::error(said).at(place(&path, &old, &new)).hint(hint))
        })
    }

    /// The files of values that differ, with their texts.
    fn changed_values(&self) -> Vec<(RepoPath, String, String)> {
        let is_values = |path: &RepoPath| {
            let name = path.file_name().unwrap_or_default();
            let is_chart = matches!(name, "Chart.yaml" | "Chart.lock") || FILE_NAMES.contains(&name);
            [".yaml", ".yml"].iter().any(|end| name.ends_with(end)) && !is_chart
        };
        let contents = self.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_)));
        let mut changed = BTreeMap::new();
        for ((path, _), _) in contents.filter(|((path, _), _)| is_values(path)) {
            let before = self.places.before(path);
            let is_given = !given(&self.before, &before).is_empty() || !given(&self.now, path).is_empty();
            if is_given || self.is_template(&before) || self.chart_of(&before).is_none() && !self.is_chart() {
                continue;
            }
            let (Some(old), Some(new)) = (text(&self.old, &before), text(&self.new, path)) else { continue };
            if old != new {
                changed.insert(path.clone(), (old, new));
            }
        }
        changed.into_iter().map(|(path, (old, new))| (path, old, new)).collect()
    }

    /// Whether a directory of the Application is a chart.
    fn is_chart(&self) -> bool {
        let mut own = self.comparison.before.application.all_sources().filter(|source| source.input.is_none());
        let is_file = |path: &RepoPath| matches!(self.old.kind(path), Ok(Some(Kind::File)));
        own.any(|source| source.path.child("Chart.yaml").is_ok_and(|chart| is_file(&chart)))
    }

    /// Whether a template asks for a value that came with it: then the value decides.
    fn are_asked_anew(&self, file: &RepoPath, old: &str, new: &str) -> bool {
        if !self.is_template(&self.places.before(file)) {
            return false;
        }
        let values = self.changed_values();
        let values = values.iter().filter_map(|(_, old, new)| Some((values::read(old), values::read(new)?)));
        values::are_asked_anew(old, new, &values.collect::<Vec<_>>())
    }

    /// Whether a file comes with another version of its chart, or of the input that it belongs to, from elsewhere.
    fn is_of_new_version(&self, file: &RepoPath) -> bool {
        let is_input = file.starts_with(self.comparison.now.context.rules.inputs().path());
        if is_input && text(&self.old, &lock_path()) != text(&self.new, &lock_path()) {
            return true;
        }
        let Some(chart) = self.chart_of(file).filter(|chart| is_input || self.is_brought(chart)) else { return false };
        let version = |view: &View<'_>, chart: &RepoPath| text(view, chart).and_then(|text| version(&text));
        version(&self.old, &chart) != version(&self.new, &self.places.now(&chart))
    }

    /// Whether a chart was brought from elsewhere: another one, or a kustomization, names the repository that has it.
    fn is_brought(&self, chart: &RepoPath) -> bool {
        let Some(dir) = chart.parent() else { return false };
        let name = dir.file_name().unwrap_or_default();
        let is_named = |path: &RepoPath, list: &str, url: &str| {
            let documents = text(&self.old, path).and_then(|text| decoded(&text));
            let items = documents.as_ref().and_then(|it| it.get(list)).and_then(Value::as_sequence).unwrap_or_default();
            items.iter().any(|item| {
                let says = |key: &str| item.get(key).and_then(Value::as_str);
                let is_it = says("name") == Some(name) || says("alias") == Some(name);
                is_it && says(url).is_some_and(|url| !url.is_empty() && !url.starts_with("file:"))
            })
        };
        let owner = dir.parent().filter(|charts| charts.file_name() == Some("charts"));
        let owner = owner.map(|charts| charts.parent().unwrap_or_default());
        if owner
            .and_then(|owner| owner.child("Chart.yaml").ok())
            .is_some_and(|it| is_named(&it, "dependencies", "repository"))
        {
            return true;
        }
        let read = self.reads.keys().map(|(path, _)| path);
        let mut kustomizations = read.filter(|path| path.file_name().is_some_and(|name| FILE_NAMES.contains(&name)));
        kustomizations.any(|path| is_named(&self.places.before(path), "helmCharts", "repo"))
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
    decoded(chart)?.get("version").cloned()
}

fn decoded(text: &str) -> Option<Value> {
    yaml::decode(text.as_bytes(), yaml::Dialect::V2, &yaml::Limits::default()).ok()?.into_iter().next()
}

/// What a file is called, with its former place.
fn called(file: &RepoPath, there: &RepoPath) -> String {
    match file == there {
        true => format!("`{file}`"),
        false => format!("`{there}`, which was `{file}`,"),
    }
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
