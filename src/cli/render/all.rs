//! `git hydrate render --all`: the manifests that would be deployed as files, for tools that check manifests.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Parser;
use dry_files::diag::shell_word;

use super::super::clone::{self, Clone};
use super::super::diff::Dry;
use super::super::{Outcome, output};
use super::flags;
use crate::preview::{Against, Preview};

/// Writes what hydrating a commit would deploy: DIR/BRANCH/PATH/manifest.yaml for each Application.
///
/// For tools that check manifests, such as kubeconform, conftest, kyverno and kube-linter. The files are those of the environment
/// branches, byte for byte. No ref is written.
///
/// Exit code: 0 when everything renders, 1 when something does not (the rest is written), 2 after an error.
#[derive(Debug, Parser)]
#[command(
    name = "git hydrate render --all",
    disable_version_flag = true,
    no_binary_name = true,
    after_help = "\
git hydrate render --all out && kubeconform -summary out
git hydrate render --all out --changed && conftest test --policy policy out"
)]
struct Flags {
    /// The directory to write to: empty, or not there yet.
    dir: PathBuf,
    /// Only the manifests that are not the same on the environment branches; for a commit that lacks some of its dry branch,
    /// those that it changes itself.
    #[arg(long)]
    changed: bool,
    /// The dry commit.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// Use the working tree, including edits and unignored untracked files.
    #[arg(long, conflicts_with = "rev")]
    worktree: bool,
    #[command(flatten)]
    clone: clone::Arguments,
}

pub(super) fn run(arguments: &[&str]) -> anyhow::Result<Outcome> {
    let Some(flags) = flags::<Flags>(arguments)? else { return Ok(Outcome::Done) };
    make_empty(&flags.dir)?;
    let clone = Clone::open(&flags.clone)?;
    let dry = Dry::of(&clone, (&flags.rev, flags.worktree), "git hydrate render --all")?;
    let preview = match flags.changed {
        true => dry.preview(&clone, &dry.against_branches(&clone)?)?,
        false => dry.preview(&clone, &|_| Against::Nothing)?,
    };
    let count = write(&preview, &flags.dir)?;
    let manifests = if count == 1 { "1 manifest".to_owned() } else { format!("{count} manifests") };
    output::print(format!("{manifests} in {}\n", flags.dir.display()))?;
    let branches = &preview.environments;
    let mistakes = branches.iter().flat_map(|branch| branch.mistakes.iter().chain(&branch.failures));
    let mut outcome = Outcome::Done;
    for mistake in mistakes.chain(&preview.problems) {
        output::warn(mistake);
        outcome = Outcome::Found;
    }
    preview.warnings.iter().for_each(output::warn);
    Ok(outcome)
}

/// Makes the directory, unless it is there and empty: what is left of another run would be checked too.
fn make_empty(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    let mut entries = std::fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))?;
    if entries.next().is_some() {
        let dir = dir.display();
        let word = shell_word(&dir.to_string());
        bail!("{dir} is not empty\nhint: name another directory, or remove it first: rm -r {word}");
    }
    Ok(())
}

/// Writes the manifests that are new or different, and answers how many.
fn write(preview: &Preview, dir: &Path) -> anyhow::Result<usize> {
    let mut count = 0;
    for environment in &preview.environments {
        let below = dir.join(environment.branch.as_str());
        for path in &environment.paths {
            // An Application may change although its manifests do not.
            let Some(manifest) = path.new.as_ref().filter(|_| path.new != path.old) else { continue };
            let file = below.join(path.path.as_str()).join("manifest.yaml");
            let parent = file.parent().unwrap_or(dir);
            std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
            std::fs::write(&file, manifest).with_context(|| format!("writing {}", file.display()))?;
            count += 1;
        }
    }
    Ok(count)
}
