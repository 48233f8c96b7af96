//! The files of the dry tree in which Applications are as their parent renders them.
//!
//! Such an Application is that of its file: hydration takes it from there, and rules look at that file. What a parent renders
//! otherwise is in no file, so it has that of its maker.

use std::collections::HashMap;

use dry_files::path::RepoPath;
use dry_files::view::{Reads, Seen, View};
use go_yaml::Value;

use super::super::field::{Content, Field};
use super::super::located;
use super::super::read::may_be_plain;
use super::super::rules::RuleSet;
use super::super::search::{Patterns, is_inside_chart, may_hold_applications};
use super::is_made;
use crate::manifest::{Key, Manifest};

/// How large the files may be together that are looked into.
const BYTES_MAX: usize = 16 << 20;

/// How deep lists may be nested.
const LIST_DEPTH_MAX: u32 = 8;

/// Applications and ApplicationSets as files have them, each with its file.
#[derive(Debug, Default)]
pub(crate) struct Written(HashMap<Key, Vec<(RepoPath, Manifest)>>);

impl Written {
    /// Those in the files that a parent read and that are searched for Applications: `applications` says which. Empty where no rule
    /// asks for files.
    pub(crate) fn of(reads: &Reads, view: &View<'_>, rules: &RuleSet, applications: &Patterns) -> Self {
        let mut written = Self::default();
        if !rules.ask_for_files() {
            return written;
        }
        let is_chart = |dir: &RepoPath| dir.child("Chart.yaml").is_ok_and(|chart| view.read(&chart).is_ok());
        let is_searched = |path: &RepoPath| {
            let is_input = rules.inputs().has(path);
            may_hold_applications(path) && applications.matches(path.as_str()) && !is_input
        };
        let contents = reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_))).map(|((path, _), _)| path);
        let mut left = BYTES_MAX;
        for path in contents.filter(|path| is_searched(path) && !is_inside_chart(path, is_chart)) {
            let Ok(blob) = view.read(path) else { continue };
            if !may_be_plain(&blob.data) {
                continue;
            }
            left = left.saturating_sub(blob.data.len());
            if left == 0 {
                break;
            }
            for document in located::parse(path, &blob.data).unwrap_or_default() {
                written.add(path, &document, 0);
            }
        }
        written
    }

    fn add(&mut self, path: &RepoPath, field: &Field, depth: u32) {
        let kind = field.get("kind").and_then(Field::as_str).unwrap_or_default();
        let items = field.get("items").filter(|_| kind.ends_with("List") && depth < LIST_DEPTH_MAX);
        if let Some(Content::List(items)) = items.map(|items| &items.content) {
            return items.iter().for_each(|item| self.add(path, item, depth + 1));
        }
        let object = Some(field.to_value()).filter(is_made);
        let Some(manifest) = object.and_then(|object| Manifest::new(object).ok()) else { return };
        if let Some(key) = manifest.key() {
            self.0.entry(key).or_default().push((path.clone(), manifest));
        }
    }

    /// The file that has a rendered object as it is; none where none has.
    pub(crate) fn file_of(&self, object: &Value) -> Option<&RepoPath> {
        if self.0.is_empty() {
            return None;
        }
        let manifest = Manifest::new(object.clone()).ok()?;
        let same = self.0.get(&manifest.key()?)?.iter().find(|(_, written)| *written == manifest);
        same.map(|(path, _)| path)
    }
}
