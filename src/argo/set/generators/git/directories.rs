//! Directories by patterns.

use dry_files::path::RepoPath;
use go_std::path::Pattern;
use go_yaml::Value;

use super::super::super::fault::Result;
use super::super::super::language::Language;
use super::super::super::origin::{Element, Origin, Source};
use super::super::super::params::Params;
use super::{Generator, Item, Path, Sources, Walking, patterns, unreadable};

/// The params of every directory that a pattern includes and none excludes, in the order of a walk: by names, a directory
/// before what is in it.
///
/// A pattern is one of Go's `path.Match` for the whole path; one that is wrong matches nothing. Directories whose name
/// starts with `.` are left out with all that is in them, and so is the root. Links are not followed.
pub(super) fn params(
    language: &mut Language,
    sources: &Sources<'_>,
    generator: &Generator<'_>,
    items: &[Value],
) -> Result<Vec<Element>> {
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    for Item { path, is_exclude, .. } in patterns(items) {
        let Ok(pattern) = Pattern::new(path) else { continue };
        if is_exclude { excluded.push(pattern) } else { included.push(Included::new(path, pattern)) }
    }
    let mut walk = Walk { walking: Walking::new(language), sources, included: &included, found: Vec::new() };
    if !included.is_empty() {
        // Without a pattern that could match, nothing is read.
        walk.directory(&RepoPath::root(), 0)?;
    }
    let mut all = Vec::new();
    let found = walk.found;
    for dir in found {
        language.charge_steps(excluded.len() * dir.as_str().len())?;
        if excluded.iter().any(|pattern| pattern.matches(dir.as_str())) {
            continue;
        }
        let params = Params::new();
        generator.append_path(language, &params, &Path { dir: dir.as_str(), file: None })?;
        generator.append_values(language, &params)?;
        all.push(Element { params, origin: Origin::of(Source::Directory(dir)) });
    }
    Ok(all)
}

/// A pattern with what it says of the directories on the way to those that it matches.
struct Included {
    whole: Pattern,
    /// A pattern for each component; none when one of them may take a `/`, so that nothing is known.
    parts: Option<Vec<Pattern>>,
}

impl Included {
    fn new(text: &str, whole: Pattern) -> Self {
        let is_simple = !text.contains(['[', '\\']);
        let parts = is_simple.then(|| text.split('/').map(|part| Pattern::new(part).ok()).collect()).flatten();
        Self { whole, parts }
    }

    /// Whether it can match something below the directory `name`, which has `depth` components.
    fn leads_into(&self, depth: usize, name: &str) -> bool {
        match &self.parts {
            None => true,
            // Directories above were looked at on the way down, by one pattern or another: exactness is not needed.
            Some(parts) => parts.len() > depth && parts.get(depth - 1).is_some_and(|part| part.matches(name)),
        }
    }
}

struct Walk<'a> {
    walking: Walking<'a>,
    sources: &'a Sources<'a>,
    included: &'a [Included],
    found: Vec<RepoPath>,
}

impl Walk<'_> {
    fn directory(&mut self, dir: &RepoPath, depth: usize) -> Result<()> {
        let entries = self.sources.view.directories(dir);
        let entries = entries.map_err(|error| unreadable(&error).within("error getting directories from repo"))?;
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            if entry.name.starts_with('.') || !self.sources.has(&path) {
                continue;
            }
            self.walking.count(&path, self.included.len())?;
            if self.included.iter().any(|pattern| pattern.whole.matches(path.as_str())) {
                self.found.push(path.clone());
            }
            if self.included.iter().any(|pattern| pattern.leads_into(depth + 1, &entry.name)) {
                // The files of a submodule are not in this tree: its own error says so.
                self.directory(&path, depth + 1)?;
            }
        }
        Ok(())
    }
}
