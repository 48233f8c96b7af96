//! Commit messages: cleaned as git cleans them, with a trailer block of our own at the end.

use std::fmt;

use crate::argo::{BranchName, HeldIdentity, SeedIdentity};
use crate::repo::{ObjectId, object_id};
use dry_files::diag::is_replaced;

use super::trailers::{self, Divider, SCISSORS, WHITE_SPACE};

/// What a hydrated commit says of how it was made: the last lines of its message.
///
/// They are written in the order of the fields, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailers {
    /// `Hydrate-Branch`: the branch that the commit was made on, so that no two branches ever share a commit.
    pub branch: BranchName,
    /// `Hydrate-Dry`: the dry commit.
    pub dry_commit: ObjectId,
    /// `Hydrate-Defined-At` and `Hydrate-Resolved`, where the dry commit is that of a tag, a range or an id.
    pub defined: Option<Defined>,
    /// `Hydrate-Dry-Branch`: the branch of the dry commit; where it is that of a tag, a range or an id, the branch that has the
    /// Applications.
    pub dry_branch: BranchName,
    /// `Hydrate-Settings`: the commit of `refs/hydrate/config` with the settings, when there are any.
    pub settings_commit: Option<ObjectId>,
    /// `Hydrate-Identity`, one for each Application that draws for something else than its name on this branch: it moved here from
    /// the branch where it had its first random values, or another one had the name there before it. Where the branch is shared,
    /// the dry branch follows if it is another one.
    pub identities: Vec<HeldIdentity>,
    /// `Hydrate-Inputs`: the tree of those recorded inputs that its Applications use, when there are any.
    pub inputs: Option<ObjectId>,
    /// `Hydrate-Rollback-To` and `Hydrate-Held-By`, where the files were copied from an earlier commit of the branch.
    pub rollback: Option<Rollback>,
    /// `Hydrate-Held`, one for each Application that stays as it is because of the setting `hold`.
    pub held: Vec<String>,
    /// `Hydrate-Rolled-Back`, one for each of those whose files were copied, where more than those are held; where the whole branch
    /// went back, one for each that was gone and came back with it.
    pub copied: Vec<String>,
    /// `Hydrate-Engine`: [`ENGINE_REVISION`](super::ENGINE_REVISION) of the hydrator.
    pub engine: u32,
}

/// What a dry commit is that no branch led to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Defined {
    /// `Hydrate-Defined-At`: the commit of the dry branch that has the Applications.
    pub at: ObjectId,
    /// `Hydrate-Resolved`: the tag that led to the dry commit, else the id by which Applications name it.
    pub resolved: String,
}

/// Where the files of a commit come from that hydration copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollback {
    /// `Hydrate-Rollback-To`: the hydrated commit that has them.
    pub to: ObjectId,
    /// `Hydrate-Held-By`: the dry commit that the branch showed before, which it is held against.
    pub held_by: ObjectId,
}

const BRANCH: &str = "Hydrate-Branch";
const DRY: &str = "Hydrate-Dry";
const DEFINED_AT: &str = "Hydrate-Defined-At";
const RESOLVED: &str = "Hydrate-Resolved";
const DRY_BRANCH: &str = "Hydrate-Dry-Branch";
const SETTINGS: &str = "Hydrate-Settings";
const IDENTITY: &str = "Hydrate-Identity";
const INPUTS: &str = "Hydrate-Inputs";
const ROLLBACK_TO: &str = "Hydrate-Rollback-To";
const HELD_BY: &str = "Hydrate-Held-By";
const HELD: &str = "Hydrate-Held";
const COPIED: &str = "Hydrate-Rolled-Back";
const ENGINE: &str = "Hydrate-Engine";

impl Trailers {
    /// Reads the trailers of a commit message; none unless its trailer block has all that are always there.
    ///
    /// The trailer block is git's: the last paragraph, so that text above it counts for nothing. Of a key that is
    /// repeated the last one counts, but for `Hydrate-Identity`, `Hydrate-Held` and `Hydrate-Rolled-Back`.
    pub fn read(message: &str) -> Option<Self> {
        let trailers = trailers::parse(message, Divider::IsText);
        let value = |key| {
            let named = trailers.iter().rev().find(|trailer| trailer.key == key);
            named.map(|trailer| trailer.value.as_str())
        };
        let identities = trailers.iter().filter(|trailer| trailer.key == IDENTITY);
        let all = |key| trailers.iter().filter(move |one| one.key == key).map(|one| one.value.clone()).collect();
        let dry_branch = BranchName::new(value(DRY_BRANCH)?).ok()?;
        Some(Self {
            branch: BranchName::read(value(BRANCH)?).ok()?,
            dry_commit: object_id(value(DRY)?)?,
            defined: match (value(DEFINED_AT), value(RESOLVED)) {
                (Some(at), Some(resolved)) => Some(Defined { at: object_id(at)?, resolved: resolved.to_owned() }),
                _ => None,
            },
            identities: identities.filter_map(|trailer| held(&trailer.value, &dry_branch)).collect(),
            dry_branch,
            inputs: value(INPUTS).map(|id| object_id(id).ok_or(())).transpose().ok()?,
            rollback: match (value(ROLLBACK_TO), value(HELD_BY)) {
                (Some(to), Some(held_by)) => Some(Rollback { to: object_id(to)?, held_by: object_id(held_by)? }),
                _ => None,
            },
            held: all(HELD),
            copied: all(COPIED),
            settings_commit: value(SETTINGS).map(|id| object_id(id).ok_or(())).transpose().ok()?,
            engine: value(ENGINE)?.parse().ok()?,
        })
    }

    /// The commit of the dry branch that has the Applications: the dry commit itself, unless a tag, a range or an id led to that.
    pub fn definition(&self) -> ObjectId {
        self.defined.as_ref().map_or(self.dry_commit, |defined| defined.at)
    }

    /// The dry commit, where a tag, a range or an id led to it.
    pub(crate) fn source(&self) -> Option<Source> {
        Source::of(self.dry_commit, self.defined.as_ref())
    }

    /// Where all files of the branch were copied from; none of a commit that was hydrated, or of single Applications.
    pub fn whole_rollback(&self) -> Option<Rollback> {
        self.rollback.filter(|_| self.held.is_empty())
    }

    /// The Applications that a rollback copied the files of; none where it was of the whole branch.
    pub fn copied(&self) -> &[String] {
        if self.copied.is_empty() || self.held.is_empty() { &self.held } else { &self.copied }
    }

    /// The Applications that were gone and that a rollback of the whole branch brought back.
    pub fn brought_back(&self) -> &[String] {
        if self.held.is_empty() { &self.copied } else { &[] }
    }
}

/// A dry commit that no branch led to, as a branch shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    /// The dry commit.
    pub commit: ObjectId,
    /// [`Defined::resolved`].
    pub resolved: String,
}

impl Source {
    /// `commit` as what `defined` says; none where a branch led to it.
    pub(crate) fn of(commit: ObjectId, defined: Option<&Defined>) -> Option<Self> {
        defined.map(|defined| Self { commit, resolved: defined.resolved.clone() })
    }
}

/// Reads an identity of `dry_branch`, or of the one that follows it.
fn held(text: &str, dry_branch: &BranchName) -> Option<HeldIdentity> {
    let (identity, other) = text.split_once(' ').unwrap_or((text, dry_branch.as_str()));
    Some(HeldIdentity { dry_branch: BranchName::new(other).ok()?, identity: SeedIdentity::read(identity)? })
}

/// The lines of the trailers, each with its newline.
impl fmt::Display for Trailers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{BRANCH}: {}", self.branch.as_str())?;
        writeln!(f, "{DRY}: {}", self.dry_commit)?;
        if let Some(Defined { at, resolved }) = &self.defined {
            writeln!(f, "{DEFINED_AT}: {at}")?;
            writeln!(f, "{RESOLVED}: {resolved}")?;
        }
        writeln!(f, "{DRY_BRANCH}: {}", self.dry_branch.as_str())?;
        if let Some(settings_commit) = self.settings_commit {
            writeln!(f, "{SETTINGS}: {settings_commit}")?;
        }
        for HeldIdentity { dry_branch, identity } in &self.identities {
            match *dry_branch == self.dry_branch {
                true => writeln!(f, "{IDENTITY}: {identity}")?,
                false => writeln!(f, "{IDENTITY}: {identity} {dry_branch}")?,
            }
        }
        if let Some(inputs) = self.inputs {
            writeln!(f, "{INPUTS}: {inputs}")?;
        }
        if let Some(Rollback { to, held_by }) = self.rollback {
            writeln!(f, "{ROLLBACK_TO}: {to}")?;
            writeln!(f, "{HELD_BY}: {held_by}")?;
        }
        self.held.iter().try_for_each(|held| writeln!(f, "{HELD}: {held}"))?;
        self.copied.iter().try_for_each(|copied| writeln!(f, "{COPIED}: {copied}"))?;
        writeln!(f, "{ENGINE}: {}", self.engine)
    }
}

/// Strips white space from the ends of lines and the text, and makes one of several blank lines; a final newline.
///
/// Empty for a text without a line. What is [replaced](is_replaced) becomes U+FFFD, a tab stays: pagers show a commit
/// message as it is, and git's strings end at a NUL.
///
/// Reference: `git commit --cleanup=whitespace`, git 2.47 strbuf.c `strbuf_stripspace`.
pub(super) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut blank_before = false;
    for line in text.split('\n').map(|line| line.trim_end_matches(WHITE_SPACE)) {
        if line.is_empty() {
            blank_before = true;
            continue;
        }
        if blank_before && !cleaned.is_empty() {
            cleaned.push('\n');
        }
        blank_before = false;
        let shown = |c: char| if c != '\t' && is_replaced(c) { char::REPLACEMENT_CHARACTER } else { c };
        cleaned.extend(line.chars().map(shown));
        cleaned.push('\n');
    }
    cleaned
}

/// A cleaned text with `trailers` at its end: in its own trailer block, if it has one, so that `Co-authored-by` stays
/// a trailer, else in a paragraph of their own.
///
/// Lines of the text that would be read as one of ours, as a promoter's, or as the end of the message are quoted.
pub(super) fn with_trailers(text: &str, trailers: &Trailers) -> String {
    let mut message = String::with_capacity(text.len() + 512);
    for line in text.lines() {
        if is_reserved(line) {
            message.push_str("> ");
        }
        message.push_str(line);
        message.push('\n');
    }
    let block = trailers::block(&message, Divider::IsText);
    if block.is_empty() || block.end != message.len() {
        message.push('\n');
    }
    message + &trailers.to_string()
}

/// Whether git, a promoter or we would take a line for something that no template may write.
fn is_reserved(line: &str) -> bool {
    let ends_message = line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with(WHITE_SPACE));
    ends_message || line == SCISSORS || trailers::key_and_value(line).is_some_and(|(key, _)| is_reserved_key(key))
}

/// Ours, and those by which GitOps Promoter tells what it promoted. Keys match in any case.
///
/// Reference: GitOps Promoter 7456cfed api/v1alpha1/constants.go.
fn is_reserved_key(key: &str) -> bool {
    const PREFIXES: [&str; 3] = ["hydrate-", "commit-status-active-", "commit-status-proposed-"];
    const KEYS: [&str; 10] = [
        "pull-request-id",
        "pull-request-url",
        "pull-request-source-branch",
        "pull-request-target-branch",
        "pull-request-creation-time",
        "pull-request-merge-time",
        "sha-dry-active",
        "sha-dry-proposed",
        "sha-hydrated-active",
        "sha-hydrated-proposed",
    ];
    let key = key.to_ascii_lowercase();
    PREFIXES.iter().any(|prefix| key.starts_with(prefix)) || KEYS.contains(&key.as_str())
}
