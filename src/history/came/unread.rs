//! What runs said of pushes whose own process comes later, kept for those who pushed.
//!
//! The file `hydrate/unread` of the git directory has it: a process that finds its commits hydrated reads there what it would have
//! said of them. It is rewritten under the lock of the repository. Where it is lost, a warning is lost, and nothing else.

use std::io;

use serde::{Deserialize, Serialize};

use super::Pusher;
use crate::hydrate::gate::RefUpdate;
use crate::hydrate::report::Report;
use crate::hydrate::whose::{About, DryPoint};
use crate::repo::{self, Repository, kept};
use crate::settings::SETTINGS_REF;
use dry_files::diag::Diagnostic;

/// The name of the file.
const FILE: &str = "unread";

/// How much is kept, in sentences and in bytes: what was said last. Sentences of a push that is interrupted are not called for.
const SENTENCES_MAX: usize = 500;
const BYTES_MAX: usize = 1 << 20;

/// What a run said of what it had not been pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sentence {
    /// A dry commit, or what was made of one.
    about: About,
    /// The refs that it rests on too, as the run found them, where a change of one of them made it look at that dry commit again.
    rests_on: Vec<(String, String)>,
    said: Said,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Said {
    Warning(Box<Diagnostic>),
    Note(String),
}

/// What earlier runs said of a push.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    warnings: Vec<Diagnostic>,
    notes: Vec<String>,
}

impl Heard {
    /// Adds it to what the pusher is shown, where that does not say so already.
    pub(crate) fn join(self, shown: &mut Report) {
        let warnings = self.warnings.into_iter().filter(|warning| !shown.warnings.contains(warning));
        let warnings: Vec<Diagnostic> = warnings.collect();
        shown.warnings.extend(warnings);
        let notes: Vec<String> = self.notes.into_iter().filter(|note| !shown.notes.contains(note)).collect();
        shown.notes.extend(notes);
    }
}

impl Pusher<'_> {
    /// Takes what earlier runs said of this push, and leaves what this run said of others. The caller has the lock of the
    /// repository.
    ///
    /// Errors: the file cannot be read or written, or the repository.
    pub(crate) fn exchange(&self) -> Result<Heard, repo::Error> {
        let failed = |error| repo::Error::new(format!("hydrate/{FILE}"), error);
        let before = read(self.repository).map_err(failed)?;
        let (mut after, mut heard) = (Vec::new(), Heard::default());
        for sentence in &before {
            let is_his = self.is_of(sentence);
            if is_his || self.concerns(sentence) {
                self.hear(sentence, &mut heard);
            }
            if !is_his {
                after.push(sentence.clone());
            }
        }
        for sentence in self.of_others()? {
            if !after.contains(&sentence) {
                after.push(sentence);
            }
        }
        if after != before {
            write(self.repository, after).map_err(failed)?;
        }
        Ok(heard)
    }

    fn hear(&self, sentence: &Sentence, heard: &mut Heard) {
        match &sentence.said {
            Said::Warning(warning) if self.may_read_of(Some(&sentence.about)) => {
                heard.warnings.push((**warning).clone())
            }
            Said::Warning(warning) => heard.warnings.push((**warning).clone().unquoted()),
            Said::Note(note) => heard.notes.push(note.clone()),
        }
    }

    /// Whether a sentence is about this push, and about no other.
    fn is_of(&self, sentence: &Sentence) -> bool {
        let is_there = |update: &RefUpdate| {
            let new = update.new.map(|id| id.to_string());
            sentence.rests_on.iter().any(|(name, id)| *name == update.name && Some(id) == new.as_ref())
        };
        dry_point(&sentence.about).is_some_and(|dry| self.brings(dry)) || self.updates.iter().any(is_there)
    }

    /// Whether a sentence about a later dry commit is about a file that this push changed and that later one has so.
    fn concerns(&self, sentence: &Sentence) -> bool {
        let (About::Dry(dry), Said::Warning(warning)) = (&sentence.about, &sentence.said) else { return false };
        let is_changed = warning.span.as_ref().is_some_and(|span| self.touches(&span.path));
        is_changed && self.has_it_too(dry, warning)
    }

    /// What this run said that those who pushed it have not read. Where it hydrated commits of others together with the
    /// pusher's, that is all that it said of that dry branch.
    fn of_others(&self) -> Result<Vec<Sentence>, repo::Error> {
        let [_, of_warnings, of_notes] = &self.whose().about;
        let mut found = Vec::new();
        // What an Application is pinned to is said by each run.
        let warnings = self.report.warnings.iter().enumerate().filter(|(_, warning)| !warning.is_pinned());
        for (place, warning) in warnings {
            found.extend(of_warnings.get(&place).map(|about| (about, Said::Warning(Box::new(warning.clone())))));
        }
        for (place, note) in self.report.notes.iter().enumerate() {
            found.extend(of_notes.get(&place).map(|about| (about, Said::Note(note.clone()))));
        }
        found.retain(|(about, _)| dry_point(about).is_some_and(|dry| !(self.owns(dry) && self.is_alone(dry))));
        if found.is_empty() {
            return Ok(Vec::new());
        }
        found.drain(..found.len().saturating_sub(SENTENCES_MAX));
        let settings = self.repository.refs()?.get(SETTINGS_REF).map(|id| (SETTINGS_REF.to_owned(), id.to_string()));
        let sentence = |(about, said): (&About, Said)| {
            let rests_on = self.rests_on(about, settings.as_ref());
            Sentence { about: about.clone(), rests_on, said }
        };
        Ok(found.into_iter().map(sentence).collect())
    }

    /// Whether the run came to a dry branch for this push alone: what the push found there was known before.
    fn is_alone(&self, dry: &DryPoint) -> bool {
        let known = self.whose().known.get(&dry.dry_branch);
        self.update_of(&dry.dry_branch).is_none_or(|(update, _)| {
            update.old.is_none_or(|old| known.is_some_and(|known| known.contains(&old.to_string())))
        })
    }

    /// What a run looked at a dry commit for that was there before: the settings, or what others put on a branch.
    fn rests_on(&self, about: &About, settings: Option<&(String, String)>) -> Vec<(String, String)> {
        let Some(dry) = dry_point(about).filter(|dry| !self.whose().is_news(&dry.dry_branch)) else {
            return Vec::new();
        };
        let branches = self.report.branches.iter().filter(|branch| {
            matches!(about, About::Made(_)) && branch.dry_branch == dry.dry_branch && !branch.commits.is_empty()
        });
        let tip = |name: &str, old: &String| (format!("refs/heads/{name}"), old.clone());
        let tips = branches.filter_map(|branch| Some(tip(&branch.branch, branch.old.as_ref()?)));
        settings.cloned().into_iter().chain(tips).collect()
    }
}

fn dry_point(about: &About) -> Option<&DryPoint> {
    match about {
        About::Dry(dry) | About::Made(dry) => Some(dry),
        About::Branches(_) | About::Push | About::Together => None,
    }
}

/// What is kept, the oldest first. A file that cannot be understood has nothing.
fn read(repository: &Repository) -> io::Result<Vec<Sentence>> {
    Ok(serde_json::from_slice(&kept::read(repository, FILE)?).unwrap_or_default())
}

/// Keeps the last of these sentences; no file where there are none.
fn write(repository: &Repository, sentences: Vec<Sentence>) -> io::Result<()> {
    let texts = sentences.iter().map(|sentence| serde_json::to_string(sentence).expect("texts and numbers are JSON"));
    let last = bounded(texts.collect());
    if last.is_empty() {
        return kept::remove(&kept::directory(repository, None)?.join(FILE)).map(drop);
    }
    kept::write(repository, FILE, format!("[{}]\n", last.join(",\n")).as_bytes())
}

/// The last of these texts that may be kept.
fn bounded(mut texts: Vec<String>) -> Vec<String> {
    let mut bytes = 0;
    let fits = texts.iter().rev().take(SENTENCES_MAX).take_while(|text| {
        bytes += text.len();
        bytes <= BYTES_MAX
    });
    let fitting = fits.count();
    texts.split_off(texts.len() - fitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_was_said_is_kept() {
        let texts = |count: usize, bytes: usize| vec!["x".repeat(bytes); count];
        for (count, bytes, kept) in
            [(0, 1, 0), (3, 1, 3), (SENTENCES_MAX + 1, 1, SENTENCES_MAX), (5, BYTES_MAX / 2, 2), (2, BYTES_MAX + 1, 0)]
        {
            assert_eq!(bounded(texts(count, bytes)).len(), kept, "{count} of {bytes}");
        }
        assert_eq!(bounded([texts(SENTENCES_MAX, 1), vec!["last".to_owned()]].concat()).last().expect("kept"), "last");
    }
}
