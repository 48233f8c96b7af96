//! `git hydrate check`: lint for people, editors and CI.

mod objects;
mod sarif;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, Span, printable};
use dry_files::view::DiskFiles;

use super::clone::{self, Clone, most_named};
use super::screen::Screen;
use super::{Outcome, WrongUse, output};
use crate::argo::BranchName;
use crate::inspect;
use crate::inspect::{CheckFinding, Checked, Tree, settings_of_makers};
use crate::owners::error;
use crate::owners::place::Place;
use crate::owners::recorded::dry_tree;
use crate::owners::settings_named;
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::preview::Against;
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::TreeFiles;
use crate::repo::{ObjectId, Repository};
use crate::show::{Paint, Progress, Style};

/// Find all errors in the Applications of a dry tree, and render all of them.
///
/// Each finding starts with its place, as FILE:LINE:COLUMN. The tree is treated as the tip of the dry branch that
/// most of its Applications name, unless --branch names another. Exit code: 0 when nothing stops an environment
/// branch, 1 when something does, 2 after wrong use.
#[derive(Debug, clap::Args)]
#[command(mut_arg("branch", most_named))]
#[command(after_help = "\
git hydrate check                 HEAD
git hydrate check --worktree      the working tree as it is
git hydrate check --sarif         for code scanning
git hydrate check --kubernetes 1.37  what an upgrade of the clusters would refuse
git hydrate check --objects FILE  objects as an API server would judge them")]
pub(super) struct Arguments {
    /// A dry commit, or a directory of files; HEAD unless given.
    #[arg(value_name = "REV|DIR")]
    what: Option<String>,
    /// Use the working tree, including edits and unignored untracked files.
    #[arg(long, conflicts_with = "what")]
    worktree: bool,
    /// Print SARIF 2.1.0.
    #[arg(long)]
    sarif: bool,
    #[command(flatten)]
    objects: objects::Arguments,
    #[command(flatten)]
    clone: clone::Arguments,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    if arguments.sarif && json {
        bail!(WrongUse("`--json` cannot be used with `--sarif`".to_owned()));
    }
    if arguments.objects.is_given() {
        return objects::run(&arguments.objects, json);
    }
    let kubernetes = arguments.objects.kubernetes()?;
    let branch = arguments.clone.branch.as_deref().map(BranchName::new).transpose();
    let branch = branch.map_err(|error| WrongUse(format!("--branch: {error}")))?;
    let site = Site::of(arguments.what.as_deref(), arguments.worktree, &arguments.clone, "git hydrate check")?;
    let progress = Progress::new();
    let check = |site: &Site| {
        let checked =
            site.with_tree(branch.clone(), |tree, renderers| inspect::check(tree, kubernetes, renderers, &progress));
        progress.clear();
        checked
    };
    let mut checked = check(&site)?;
    let mut is_more = false;
    for other in site.by_settings_of_branches(checked.is_nothing())? {
        is_more |= checked.add(check(&other)?);
    }
    if is_more {
        output::warn(&settings_named::warning_of_more());
    }
    site.check_branches(&mut checked)?;
    if arguments.sarif {
        output::print_document(&sarif::log(&checked.findings))?;
    } else if json {
        output::print_json(&checked)?;
    } else {
        // What is edited here is not looked at, as far as there are edits.
        let is_committed = arguments.what.is_none() && !arguments.worktree;
        let has_worktree = is_committed && site.repository().is_some_and(|repository| repository.worktree().is_some());
        show(&site, &checked.findings, &summary(&checked, has_worktree))?;
    }
    Ok(if checked.is_success() { Outcome::Done } else { Outcome::Found })
}

fn show(site: &Site, findings: &[CheckFinding], summary: &str) -> anyhow::Result<()> {
    let screen = Screen::new(site.repository());
    let paint = screen.paint();
    let text: String = findings.iter().map(|finding| finding_text(finding, paint)).collect();
    screen.show(&(text + summary))
}

/// Where the files are of which something is asked.
pub(super) enum Site {
    /// A commit of a repository, and where that keeps its branches.
    Commit(Box<(Repository, Place, ObjectId)>),
    /// A directory.
    Disk(PathBuf),
}

impl Site {
    /// The commit or directory that is named, or the working tree.
    pub(super) fn of(
        what: Option<&str>,
        worktree: bool,
        clone: &clone::Arguments,
        command: &str,
    ) -> anyhow::Result<Self> {
        if let Some(dir) = what.filter(|what| Path::new(what).is_dir() && !is_revision(what)) {
            return Ok(Site::Disk(canonical(Path::new(dir))?));
        }
        let clone = Clone::open(clone)?;
        if worktree {
            return Self::of_worktree(clone, command);
        }
        let commit = super::dry_commit_of(&clone.repository, what.unwrap_or("HEAD"), command)?;
        Ok(Site::Commit(Box::new((clone.repository, clone.place, commit))))
    }

    /// The working tree of a clone.
    pub(super) fn of_worktree(clone: Clone, command: &str) -> anyhow::Result<Self> {
        let commit = super::snapshot_of(&clone.repository, command)?;
        Ok(Site::Commit(Box::new((clone.repository, clone.place, commit))))
    }

    /// The commit by the settings that branches were hydrated with, where no branch was hydrated with the settings of
    /// now; `is_nothing` says whether these find anything.
    pub(super) fn by_settings_of_branches(&self, is_nothing: bool) -> anyhow::Result<Vec<Self>> {
        let Site::Commit(site) = self else { return Ok(Vec::new()) };
        let (repository, names, commit) = &**site;
        let all = settings_named::by_settings_of_branches(repository, names, is_nothing)?;
        Ok(all.into_iter().map(|other| Site::Commit(Box::new((other, names.clone(), *commit)))).collect())
    }

    pub(super) fn repository(&self) -> Option<&Repository> {
        match self {
            Site::Commit(site) => Some(&site.0),
            Site::Disk(_) => None,
        }
    }

    /// Adds what an environment branch as it is now has against the commit: too much would leave it, or hydration did not
    /// make it.
    fn check_branches(&self, checked: &mut Checked) -> anyhow::Result<()> {
        let (Site::Commit(site), Ok(branch)) = (self, BranchName::new(&checked.dry_branch)) else { return Ok(()) };
        let (repository, names, commit) = &**site;
        let renderers = Renderers::from_config(repository, &super::machine()?)?;
        let progress = Progress::new();
        let setup = Setup {
            observer: &progress,
            ..Setup::new(repository, names.clone(), Wake::Commit { branch, tip: *commit }, &renderers, wall::now())
        };
        let preview = preview::preview(&setup, &Against::Branches);
        progress.clear();
        let preview = preview?;
        preview.departures.into_iter().for_each(|warning| checked.add_of_branch(warning));
        // What a freeze holds back is judged when it ends.
        for environment in preview.environments.into_iter().filter(|environment| environment.frozen.is_none()) {
            environment
                .mistakes
                .into_iter()
                .chain(environment.failures)
                .for_each(|mistake| checked.add_of_branch(mistake));
        }
        Ok(())
    }

    pub(super) fn with_tree<T>(
        &self,
        dry_branch: Option<BranchName>,
        work: impl FnOnce(&Tree<'_>, &Renderers) -> Result<T, error::HydrateError>,
    ) -> anyhow::Result<T> {
        let machine = super::machine()?;
        Ok(match self {
            Site::Commit(site) => {
                let (repository, names, commit) = &**site;
                let makers = settings_of_makers(repository)?;
                let tree = dry_tree(repository, names, makers.rules.inputs(), *commit)?;
                let files = TreeFiles::new(repository, tree);
                let repository = Some((repository, names));
                let tree = Tree { files: &files, repository, dry_branch, dry_commit: commit.to_string() };
                work(&tree, &Renderers::from_config(&site.0, &machine)?)?
            }
            Site::Disk(dir) => {
                let files = DiskFiles::new(dir);
                // There is no commit, but a variable may ask for one.
                let tree = Tree { files: &files, repository: None, dry_branch, dry_commit: "0".repeat(40) };
                work(&tree, &Renderers::of_machine(&machine))?
            }
        })
    }
}

fn is_revision(text: &str) -> bool {
    super::repository(None).is_ok_and(|repository| repository.rev_parse(text).is_ok())
}

fn canonical(dir: &Path) -> anyhow::Result<PathBuf> {
    dir.canonicalize().with_context(|| dir.display().to_string())
}

/// How many places of a finding that several share are named.
const NAMED_MAX: usize = 4;

/// A finding as compilers tell it.
fn finding_text(finding: &CheckFinding, paint: Paint) -> String {
    let CheckFinding { rule, diagnostic, found_in } = finding;
    let Diagnostic { severity, message, span, label, hint, made_by, .. } = diagnostic;
    let style = if diagnostic.is_error() { Style::Error } else { Style::Warning };
    let mut text = String::new();
    if let Some(span) = span {
        let _ = write!(text, "{}: ", paint.by(Style::Heading, &span.to_string()));
    }
    let mut lines = message.lines();
    let severity = severity.to_string();
    let first = printable(lines.next().unwrap_or_default());
    let _ = writeln!(text, "{}: {first} [{}]", paint.by(style, &severity), rule.name());
    for line in lines {
        let _ = writeln!(text, "  {}", printable(line));
    }
    if let Some(span @ Span { line, column, text: Some(source), .. }) = span {
        let number = line.to_string();
        let _ = writeln!(text, "  {number} | {}", printable(source.trim_end()));
        if *column > 0 {
            let (margin, marker) = (" ".repeat(number.len()), span.marker());
            let (before, marker) = (" ".repeat(marker.start), "^".repeat(marker.len()));
            let line = format!("  {margin} | {before}{marker} {}", printable(label));
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if !found_in.is_empty() {
        let shown = |name: &String| if name.is_empty() { ".".to_owned() } else { printable(name) };
        let _ = writeln!(text, "  in: {}", listed(found_in.iter().map(shown), NAMED_MAX));
    }
    if let Some(maker) = made_by {
        let _ = writeln!(text, "  made by {maker}");
    }
    if let Some(hint) = hint {
        let _ = writeln!(text, "  hint: {}", printable(hint));
    }
    text
}

fn counts(findings: &[CheckFinding]) -> String {
    let errors = findings.iter().filter(|finding| finding.diagnostic.is_error()).count();
    format!("{}, {}", counted(errors, "error"), counted(findings.len() - errors, "warning"))
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

fn summary(checked: &Checked, has_worktree: bool) -> String {
    let Checked { dry_branch, applications, hydrated, rendered, unknown_kinds, kinds_without_schema, findings } =
        checked;
    if *applications == 0 && findings.is_empty() {
        let (place, edits) = if has_worktree { (" in HEAD", NOT_COMMITTED) } else { ("", "") };
        return format!("there is no Application with `spec.sourceHydrator`{place}\n{edits}{NOTHING}");
    }
    let others = applications - hydrated;
    let others = if others > 0 { format!(", {others} not hydrated from there") } else { String::new() };
    let unknown = match unknown_kinds {
        0 => String::new(),
        count => {
            let kinds = listed(kinds_without_schema.iter().map(|kind| printable(kind)), NAMED_MAX);
            format!("; not judged, since no schema is known: {} of {kinds}", counted(*count, "object"))
        }
    };
    format!("{}: {rendered} of {hydrated} Applications of {dry_branch} render{others}{unknown}\n", counts(findings))
}

const NOT_COMMITTED: &str = "hint: to check files that are not committed: git hydrate check --worktree\n";

const NOTHING: &str = "\
hint: `git hydrate init` writes a small example; `git hydrate adopt` finds what could be hydrated
";
