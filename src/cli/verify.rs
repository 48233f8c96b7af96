//! `git hydrate verify [RANGE]`: an audit of hydrated history.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::bail;
use dry_files::diag::printable;

use super::clone::{self, Clone};
use super::config::identity;
use super::{NO_BRANCH, Outcome, WrongUse, commit_of, output};
use crate::history;
use crate::history::Verified;
use crate::owners::acknowledged::{self, acknowledged};
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::ObjectBuffer;
use crate::settings::RendererName;
use crate::show::Progress;

/// Re-render hydrated commits and check that their ids match.
///
/// A hydrated commit follows from its parent, its dry commit, the settings that it names and the engine. Each is made
/// again in memory and compared; every difference is reported, and so are notes that do not match and commits that
/// are missing. Nothing is written.
///
/// Exit code: 0 when every commit is what hydration makes, 1 when one is not or cannot be checked, 2 after wrong use.
/// A commit that an admin acknowledged is listed and does not count.
/// Commits of another engine revision that this one would make differently cannot be checked and are reported as
/// such. Manifests that `git hydrate commit` took from another renderer cannot be made again and are reported as
/// different.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// An environment branch, a hydrated commit with all below it, or FROM..TO; unless given, every branch that hydration
    /// recorded or that Applications name.
    range: Option<String>,
    /// Render with this instead of the renderer in the settings: `exec` compares with the official tools.
    #[arg(long, value_name = "NAME")]
    renderer: Option<Renderer>,
    /// Record that a commit with findings is known, so that it does not count any more; on the server.
    #[arg(long, value_name = "COMMIT", requires = "reason", conflicts_with_all = ["range", "renderer"])]
    acknowledge: Option<String>,
    /// Why it is as it is, for those who read the findings later.
    #[arg(long, value_name = "TEXT", requires = "acknowledge")]
    reason: Option<String>,
    #[command(flatten)]
    clone: clone::Arguments,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Renderer {
    /// The engines of git-hydrate.
    Native,
    /// helm and kustomize themselves.
    Exec,
}

impl From<Renderer> for RendererName {
    fn from(renderer: Renderer) -> Self {
        match renderer {
            Renderer::Native => Self::Native,
            Renderer::Exec => Self::Exec,
        }
    }
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let clone = Clone::open(&arguments.clone)?;
    let renderers = Renderers::from_config(&clone.repository, &super::machine()?)?.without_run_limit();
    let progress = Progress::new();
    let setup = Setup {
        observer: &progress,
        ..Setup::new(&clone.repository, clone.place.clone(), Wake::Pushed(Vec::new()), &renderers, wall::now())
    };
    let lines = match &arguments.range {
        Some(range) => vec![clone.line(range)?],
        None => history::audited(&Setup { place: clone.place.clone(), wake: Wake::Everything, ..setup })?,
    };
    let renderer = arguments.renderer.map(RendererName::from);
    let mut verified = progress.during(|| history::verify(&setup, lines, renderer))?;
    if arguments.range.is_none() {
        for strayed in history::strayed(&Setup { wake: Wake::Everything, ..setup })? {
            match verified.iter_mut().find(|line| line.branch == strayed.branch) {
                Some(line) => line.findings.extend(strayed.findings),
                None => verified.push(strayed),
            }
        }
    }
    if let Some(range) = &arguments.range
        && verified.iter().all(|line| line.equal + line.inheriting + line.findings.len() == 0)
    {
        bail!(WrongUse(format!("there is no hydrated commit in `{range}`")));
    }
    let is_server = !clone.place.is_of_clone();
    if let Some(commit) = &arguments.acknowledge {
        return acknowledge(&clone, &verified, commit, arguments.reason.as_deref().unwrap_or_default());
    }
    if is_server {
        let known = acknowledged(&clone.repository.refs()?, &ObjectBuffer::new(&clone.repository))?;
        verified.iter_mut().for_each(|line| line.acknowledge(&known));
    }
    let problems = match verified.is_empty() {
        true => history::problems(&Setup { place: clone.place.clone(), wake: Wake::Everything, ..setup })?,
        false => Vec::new(),
    };
    if json {
        output::print_json_list("branches", &verified)?;
    } else if !problems.is_empty() {
        output::print(problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())?;
    } else if verified.is_empty() {
        output::print(NO_BRANCH)?;
    } else {
        output::print(text(&verified))?;
    }
    Ok(if !problems.is_empty() {
        Outcome::Found
    } else if verified.iter().all(Verified::is_success) {
        Outcome::Done
    } else {
        Outcome::Found
    })
}

/// Takes down that a commit is known. Errors: there is nothing to acknowledge.
fn acknowledge(clone: &Clone, verified: &[Verified], commit: &str, reason: &str) -> anyhow::Result<Outcome> {
    let repository = &clone.repository;
    if clone.place.is_of_clone() {
        bail!(WrongUse(
            "`--acknowledge` is for the server: what a clone has of refs/hydrate/* counts nowhere else".to_owned()
        ));
    }
    let id = commit_of(repository, commit)?;
    let name = id.to_string();
    let findings = || verified.iter().flat_map(|line| &line.findings).filter(|finding| finding.commit == name);
    if findings().next().is_none() {
        bail!(WrongUse(format!("there is nothing to acknowledge: `verify` finds nothing wrong with {commit}")));
    }
    let reason = reason.trim();
    if reason.is_empty() || reason.contains('\n') {
        bail!(WrongUse("`--reason` takes one line".to_owned()));
    }
    acknowledged::acknowledge(repository, id, &identity(repository, "GIT_COMMITTER_IDENT")?, reason)?;
    for finding in findings() {
        output::print(format!(
            "acknowledged: {}: {}\n",
            short(&finding.commit),
            printable(&finding.fault.to_string())
        ))?;
    }
    Ok(Outcome::Done)
}

fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}

fn text(verified: &[Verified]) -> String {
    let width = verified.iter().map(|line| line.branch.len()).max().unwrap_or_default();
    let mut text = String::new();
    for line in verified {
        let commits = |is_known: bool| {
            let of = line.findings.iter().filter(|one| one.acknowledged.is_some() == is_known);
            of.map(|one| one.commit.as_str()).collect::<BTreeSet<_>>().len()
        };
        let _ = write!(text, "{:width$}  {} equal", printable(&line.branch), line.equal);
        for (count, what) in [
            (commits(false), "with findings"),
            (commits(true), "acknowledged"),
            (line.inheriting, "on top of one with findings"),
            (line.others, "not made by hydration"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {count} {what}");
            }
        }
        text.push('\n');
        for finding in &line.findings {
            let mark = match &finding.acknowledged {
                Some(_) => "note",
                None if finding.fault.is_unknown() => "warning",
                None => "error",
            };
            let of = finding.dry_sha.as_deref().map(|dry| format!(" of dry {}", short(dry))).unwrap_or_default();
            let _ =
                writeln!(text, "  {mark}: {}{of}: {}", short(&finding.commit), printable(&finding.fault.to_string()));
            if let Some(known) = &finding.acknowledged {
                let _ = writeln!(text, "    acknowledged by {}: {}", printable(&known.by), printable(&known.reason));
            }
        }
    }
    text
}
