//! `git hydrate verify [RANGE]`: an audit of hydrated history.

use std::fmt::Write as _;

use anyhow::bail;
use dry_files::diag::printable;

use super::clone::{self, Clone};
use super::{NO_BRANCH, Outcome, WrongUse, output};
use crate::history;
use crate::history::Verified;
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::settings::RendererName;
use crate::show::Progress;

/// Re-render hydrated commits and check that their ids match.
///
/// A hydrated commit follows from its parent, its dry commit, the settings that it names and the engine. Each is made
/// again in memory and compared; every difference is reported, and so are notes that do not match and commits that
/// are missing. Nothing is written.
///
/// Exit code: 0 when every commit is what hydration makes, 1 when one is not or cannot be checked, 2 after wrong use.
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

fn text(verified: &[Verified]) -> String {
    let width = verified.iter().map(|line| line.branch.len()).max().unwrap_or_default();
    let short = |id: &str| id.get(..7).unwrap_or(id).to_owned();
    let mut text = String::new();
    for line in verified {
        let wrong: std::collections::BTreeSet<&str> = line.findings.iter().map(|one| one.commit.as_str()).collect();
        let _ = write!(text, "{:width$}  {} equal", printable(&line.branch), line.equal);
        for (count, what) in [
            (wrong.len(), "with findings"),
            (line.inheriting, "on top of one with findings"),
            (line.others, "not made by hydration"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {count} {what}");
            }
        }
        text.push('\n');
        for finding in &line.findings {
            let mark = if finding.fault.is_unknown() { "warning" } else { "error" };
            let of = finding.dry_sha.as_deref().map(|dry| format!(" of dry {}", short(dry))).unwrap_or_default();
            let _ =
                writeln!(text, "  {mark}: {}{of}: {}", short(&finding.commit), printable(&finding.fault.to_string()));
        }
    }
    text
}
