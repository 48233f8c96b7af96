//! `git hydrate vendor`: what Applications need from elsewhere, brought into the working tree.

mod session;
mod worktree;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::bail;
use dry_files::path::RepoPath;
use serde::Serialize;

use super::clone::{self, Clone};
use super::{Outcome, WrongUse, output};
use crate::argo::BranchName;
use crate::inspect::Inputs;
use crate::render::Renderers;
use crate::render::needs::Need;
use crate::repo::TreeChange;
use crate::tell::fetch::fetcher::{Credentials, Fetchers, Terms};
use inputs::wire::Rules;
use inputs::{Entry, LOCK};
use session::{Deed, Session};

/// Copy external charts, bases and files into the working tree, pinned by a lock file.
///
/// Finds what the Applications of the working tree name that is not in this repository: dependencies of charts,
/// `helmCharts`, remote bases and remote files of kustomizations. Fetches what is missing with `git-hydrate-fetch`,
/// puts it where Helm and Kustomize look for it, else below .hydrate/inputs (or the setting vendorDirectory: after a
/// change of that, what is elsewhere moves), and writes .hydrate/inputs.lock with a digest of each. The files are staged
/// for the next commit.
///
/// What the lock file pins stays as it is until --update, ranges and branches too. Before anything is written, all
/// Applications are rendered with and without it: those that rendered before and name nothing that changed must
/// render the same.
///
/// Credentials come from `git credential`, those of registries also from what `helm registry login` and `docker login`
/// keep in a file, and are sent only to the host that asks for them, over TLS. Hosts with private addresses must be
/// allowed by name.
///
/// An input that cannot be fetched keeps all others from being written, unless --keep-going is given.
///
/// Exit code: 0 when everything is here, 1 when --check or --verify finds something or --keep-going left something out, 2 after
/// an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate vendor                          fetch what is missing
git hydrate vendor --commit                 and commit it
git hydrate vendor --keep-going             fetch what can be fetched, although a server is gone
git hydrate vendor --update web             choose the version of the chart web anew
git hydrate vendor --check                  compare the files with the lock file, without any connection
git hydrate vendor --check main             the same for a commit
git hydrate vendor --allow charts.internal  fetch from a host with a private address")]
pub(super) struct Arguments {
    /// With --check, --verify or --dry-run: look at this commit, not at the working tree.
    #[arg(value_name = "REV")]
    rev: Option<String>,
    /// Update the pinned versions: of all inputs, or of one chart or URL.
    #[arg(long, value_name = "KEY", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["check", "verify"])]
    update: Option<String>,
    /// Compare the files with the lock file, without any connection: find what is missing or not needed.
    #[arg(long, conflicts_with_all = ["verify", "prune", "dry_run"])]
    check: bool,
    /// Fetch everything again, and compare.
    #[arg(long, conflicts_with_all = ["prune", "dry_run"])]
    verify: bool,
    /// Remove inputs that are no longer needed.
    #[arg(long)]
    prune: bool,
    /// Show what would be done, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Commit what was brought, and nothing else, as `Keep inputs`.
    #[arg(long, conflicts_with_all = ["check", "verify", "dry_run"])]
    commit: bool,
    /// Write what can be fetched, although something cannot.
    #[arg(long, conflicts_with_all = ["check", "verify"])]
    keep_going: bool,
    /// A host that may have a private address; with `http://` before it, that may be asked without TLS too; with `ssh://`
    /// before it, that git may ask by your own ssh. Adds to `hydrate.vendorAllow` of git config.
    #[arg(long, value_name = "HOST[:PORT]")]
    allow: Vec<String>,
    /// Accept an archive with this digest although the index has another.
    #[arg(long, value_name = "DIGEST")]
    accept: Vec<String>,
    /// The time limit of one request.
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT_SECONDS)]
    timeout: u64,
    /// Treat the working tree as the tip of this dry branch; by default the one that this branch tracks.
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
}

impl Arguments {
    /// To bring and commit what can be fetched, for a dry branch.
    pub(super) fn to_commit(branch: Option<String>) -> Self {
        Self {
            rev: None,
            update: None,
            check: false,
            verify: false,
            prune: false,
            dry_run: false,
            commit: true,
            keep_going: true,
            allow: Vec::new(),
            accept: Vec::new(),
            timeout: TIMEOUT_SECONDS,
            branch,
        }
    }
}

/// The time limit of one request where none is given.
const TIMEOUT_SECONDS: u64 = 120;

/// One input, as JSON shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct VendoredInput {
    kind: &'static str,
    url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    want: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    content: String,
    paths: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    used_by: Vec<String>,
}

impl VendoredInput {
    fn new(entry: &Entry, places: &[RepoPath], used_by: Vec<String>) -> Self {
        Self {
            kind: entry.key.kind.word(),
            url: entry.key.url.clone(),
            name: entry.key.name.clone(),
            want: entry.key.want.clone(),
            version: entry.version.clone(),
            content: entry.content.clone(),
            paths: places.iter().map(ToString::to_string).collect(),
            used_by,
        }
    }
}

/// What `--json` prints.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    added: Vec<VendoredInput>,
    changed: Vec<VendoredInput>,
    removed: Vec<VendoredInput>,
    unused: Vec<String>,
    faults: Vec<String>,
    warnings: Vec<String>,
    written: bool,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let branch = arguments.branch.as_deref().map(BranchName::new).transpose();
    let branch = branch.map_err(|error| WrongUse(format!("--branch: {error}")))?;
    let clone = Clone::offline(&clone::Arguments::of_branch(arguments.branch.clone()))?;
    let renderers = Renderers::from_config(&clone.repository, &super::machine()?)?;
    let commit = match &arguments.rev {
        None => clone.repository.snapshot()?,
        Some(rev) if arguments.check || arguments.verify || arguments.dry_run => {
            super::commit_of(&clone.repository, rev)?
        }
        Some(rev) => bail!(WrongUse(format!(
            "`{rev}`: what is fetched goes into the working tree; of a commit, --check, --verify and --dry-run say what it needs"
        ))),
    };
    let mut session = {
        let resolves = !arguments.check && !arguments.verify;
        Session::new((&clone.repository, &clone.place), branch, &renderers, commit, resolves)?
    };
    if arguments.check {
        return check(&session, json);
    }
    let mut allow = clone.repository.config_list("hydrate.vendorAllow");
    allow.extend(arguments.allow.iter().cloned());
    let (only, accept) = (Vec::new(), arguments.accept.clone());
    let rules = Rules { allow, only, accept, timeout_seconds: arguments.timeout };
    if arguments.verify {
        return verify(&session, &clone, rules, json);
    }
    session.keeps_going = arguments.keep_going;
    session.relocate()?;
    if let Some(key) = &arguments.update {
        session.unpin(Some(key.as_str()).filter(|key| !key.is_empty()))?;
    }
    let mut fetchers = Fetchers::new(&clone.repository, terms(rules));
    let inputs = session.complete(&mut |wanted| Ok(fetchers.fetch(wanted, &progress(wanted.len()))?));
    warn_of_unconfined(&fetchers);
    drop(fetchers);
    let inputs = inputs?;
    if !inputs.found.mistakes.is_empty() {
        inputs.found.mistakes.iter().for_each(output::warn);
        if !arguments.keep_going {
            bail!("nothing was changed");
        }
    }
    if arguments.prune {
        session.prune(&inputs)?;
    }
    let changes = session.changes()?;
    if !changes.is_empty() && !arguments.dry_run {
        let disturbed = session.disturbed(&inputs)?;
        if !disturbed.is_empty() {
            bail!(
                "nothing was written: these Applications would render differently, although none of their inputs \
                changes\n  {}",
                disturbed.join("\n  ")
            );
        }
        let top = session.top()?;
        worktree::check(&top, &session.buffer, &changes, &|path| session.wrote(path))?;
        worktree::write(&top, &session.buffer, &changes)?;
        stage(&clone, &top, &changes)?;
        if arguments.commit {
            commit_only(&clone, &top, &changes)?;
        }
    }
    report(&session, &inputs, (arguments.dry_run, arguments.commit), json)
}

/// A user's own fetch.
fn terms(rules: Rules) -> Terms {
    Terms { rules, credentials: Credentials::OfUser, allows_unconfined: true, until: None }
}

fn warn_of_unconfined(fetchers: &Fetchers<'_>) {
    for part in &fetchers.unconfined {
        output::warn(&format!("warning: this system cannot restrict {part} of git-hydrate-fetch"));
    }
}

/// Shows on a terminal how many inputs have come.
fn progress(total: usize) -> impl Fn(usize) {
    let last = Cell::new(usize::MAX);
    move |done| print_progress(last.replace(done), done, total)
}

fn print_progress(before: usize, done: usize, total: usize) {
    if before != done && std::io::stderr().is_terminal() {
        eprint!("\rfetching: {done} of {total}{}", if done == total { "\r\x1b[K" } else { "" });
    }
}

/// Stages what was written, also where a `.gitignore` would leave it out.
fn stage(clone: &Clone, top: &Path, changes: &[TreeChange]) -> anyhow::Result<()> {
    match with_paths(clone, top, changes, &["-c", "core.safecrlf=false", "add", "--force", "--all"])? {
        true => Ok(()),
        false => bail!("git add failed; the files are written: git add --force .hydrate"),
    }
}

/// Commits what was written. What else is staged stays so.
fn commit_only(clone: &Clone, top: &Path, changes: &[TreeChange]) -> anyhow::Result<()> {
    match with_paths(clone, top, changes, &["commit", "--quiet", "--message", "Keep inputs"])? {
        true => Ok(()),
        false => bail!("git commit failed; the files are staged: git commit -m 'Keep inputs'"),
    }
}

/// Has git do something with the paths that were written; answers whether it did.
fn with_paths(clone: &Clone, top: &Path, changes: &[TreeChange], words: &[&str]) -> anyhow::Result<bool> {
    let paths: Vec<u8> = changes.iter().flat_map(|change| [change.path.as_bytes(), b"\0"].concat()).collect();
    let mut command = clone.repository.git().command();
    command.current_dir(top).arg("--work-tree").arg(top).arg("--literal-pathspecs");
    command.args(words).args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
    let mut child = command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::inherit()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, &paths)?;
    }
    Ok(child.wait()?.success())
}

fn check(session: &Session<'_>, json: bool) -> anyhow::Result<Outcome> {
    let inputs = session.inputs()?;
    let faults = session.faults(&inputs)?;
    let mut report = Report::default();
    report.faults.extend(inputs.found.mistakes.iter().map(|mistake| mistake.message.clone()));
    report.faults.extend(faults.iter().map(|(fault, _)| fault.clone()));
    report.unused =
        if inputs.is_partial { Vec::new() } else { session.unused(&inputs).keys().map(ToString::to_string).collect() };
    report.warnings = inputs.warnings.iter().map(|warning| warning.message.clone()).collect();
    let is_good = report.faults.is_empty() && report.unused.is_empty();
    if json {
        output::print_json(&report)?;
    } else {
        inputs.found.mistakes.iter().chain(&inputs.warnings).for_each(output::warn);
        let mut text = String::new();
        for (fault, hint) in faults {
            let _ = writeln!(text, "{fault}\n  hint: {hint}");
        }
        for unused in &report.unused {
            let _ = writeln!(text, "{unused}: not needed\n  hint: run `git hydrate vendor --prune`");
        }
        if is_good {
            let _ = writeln!(text, "{} here, each as in the lock file", inputs_count(session.lock().entries().count()));
        }
        output::print(text)?;
    }
    Ok(if is_good { Outcome::Done } else { Outcome::Found })
}

fn verify(session: &Session<'_>, clone: &Clone, rules: Rules, json: bool) -> anyhow::Result<Outcome> {
    let count = session.lock().entries().count();
    let mut report = Report::default();
    if count > 0 {
        let mut fetchers = Fetchers::new(&clone.repository, terms(rules));
        for (key, reason) in session.verify(&mut fetchers, &progress(count))? {
            let names_key = reason.starts_with(&key.to_string());
            report.faults.push(if names_key { reason } else { format!("{key}: {reason}") });
        }
    }
    // Files that were changed here are not those of the source either.
    let inputs = session.inputs()?;
    report.faults.extend(session.faults(&inputs)?.into_iter().map(|(fault, _)| fault));
    let is_good = report.faults.is_empty();
    if json {
        output::print_json(&report)?;
    } else if is_good {
        output::print(format!("{} unchanged, here and at the source\n", inputs_count(count)))?;
    } else {
        output::print(report.faults.iter().map(|fault| format!("{fault}\n")).collect::<String>())?;
    }
    Ok(if is_good { Outcome::Done } else { Outcome::Found })
}

fn inputs_count(count: usize) -> String {
    if count == 1 { "1 input is".to_owned() } else { format!("{count} inputs are") }
}

/// What was brought, and what is left; of what was written, whether it is committed too.
fn report(
    session: &Session<'_>,
    inputs: &Inputs,
    (dry_run, commits): (bool, bool),
    json: bool,
) -> anyhow::Result<Outcome> {
    let mut users: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (need, uses) in &inputs.found.needs {
        let key = match need {
            Need::Chart(key, _) | Need::Directory(key, _) | Need::File(key) | Need::Either(key, ..) => key,
        };
        let names = users.entry(key.clone()).or_default();
        names.extend(uses.iter().map(|used| used.application.clone()));
        names.sort();
        names.dedup();
    }
    let mut report = Report { written: !dry_run && !session.changes()?.is_empty(), ..Report::default() };
    let mut text = String::new();
    for (deed, entry) in session.deeds() {
        let (sign, list) = match deed {
            Deed::Added => ('+', &mut report.added),
            Deed::Changed => ('~', &mut report.changed),
            Deed::Removed => ('-', &mut report.removed),
        };
        let version = Some(&entry.version).filter(|version| !version.is_empty() && **version != entry.key.want);
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        let _ = writeln!(text, "{sign} {}{version}", entry.key);
        let places = session.lock().places(&entry);
        for place in places.iter().filter(|_| deed != Deed::Removed) {
            let _ = writeln!(text, "    {place}");
        }
        list.push(VendoredInput::new(&entry, &places, users.get(&entry.key).cloned().unwrap_or_default()));
    }
    report.unused =
        if inputs.is_partial { Vec::new() } else { session.unused(inputs).keys().map(ToString::to_string).collect() };
    report.faults.extend(inputs.found.mistakes.iter().map(|mistake| mistake.message.clone()));
    report.faults.extend(session.failed.iter().map(|(key, reason)| format!("{key}: {reason}")));
    let outcome = if report.faults.is_empty() { Outcome::Done } else { Outcome::Found };
    report.warnings.extend(session.warnings.iter().cloned());
    report.warnings.extend(inputs.warnings.iter().map(|warning| warning.message.clone()));
    if json {
        output::print_json(&report)?;
        return Ok(outcome);
    }
    session.failed.iter().for_each(|(key, reason)| output::warn(&format!("error: {key}: {reason}")));
    session.warnings.iter().for_each(|warning| output::warn(&format!("warning: {warning}")));
    if !session.changes()?.is_empty() {
        inputs.warnings.iter().for_each(output::warn);
    }
    for unused in &report.unused {
        let _ = writeln!(text, "  {unused}: not needed (git hydrate vendor --prune)");
    }
    let count = session.lock().entries().count();
    text += &match (dry_run, text.is_empty()) {
        (true, false) => "nothing written (--dry-run)\n".to_owned(),
        (false, false) if report.written && commits => format!("{} in {LOCK}; committed\n", inputs_count(count)),
        (false, false) if report.written => format!("{} in {LOCK}; staged for the next commit\n", inputs_count(count)),
        _ if count == 0 && outcome == Outcome::Found => "nothing could be fetched\n".to_owned(),
        _ if count == 0 && inputs.lacks_rules => "nothing is needed from elsewhere: no Application has \
            `sourceHydrator`, and there are no rules for others\nhint: git hydrate adopt\n"
            .to_owned(),
        _ if count == 0 => "nothing is needed from elsewhere\n".to_owned(),
        _ => format!("{} here already\n", inputs_count(count)),
    };
    output::print(text)?;
    Ok(outcome)
}
