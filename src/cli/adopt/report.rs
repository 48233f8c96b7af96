//! What `git hydrate adopt` prints for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dry_files::diag::more::{line_of_more, listed as list};
use dry_files::diag::{Diagnostic, printable, shell_word};

use crate::argo::BranchName;
use crate::inspect::{AdoptedApplication, Adoption, Cause};
use crate::settings::{Mapping, Settings, Value};

/// What the lines to run next depend on.
#[derive(Debug, Default)]
pub(in super::super) struct Ask {
    /// The branch patterns that were given.
    pub patterns: Vec<String>,
    /// The options that were given beside it and decide what is written, as they are typed; each with a space before it.
    pub options: String,
    /// The name of the remote.
    pub remote: Option<String>,
    /// The dry branch that the checked out branch tracks; none where no branch is checked out.
    pub branch: Option<BranchName>,
    /// The branches that there are, at the remote or here.
    pub branches: BTreeSet<String>,
    /// Whether there are settings, as a server has them once hydration is installed there.
    pub has_settings: bool,
}

impl Ask {
    /// The patterns that were given, else the first that fits, and one for what it has no branch for.
    fn patterns_or<'a>(&'a self, adoption: &'a Adoption) -> Vec<&'a str> {
        if !self.patterns.is_empty() {
            return self.patterns.iter().map(String::as_str).collect();
        }
        let Some(first) = adoption.branch_patterns.first() else { return Vec::new() };
        let rest = adoption.branch_patterns.iter().find(|found| found.without == 0 && found.branches.len() == 1);
        let rest = rest.filter(|rest| first.without > 0 && rest.pattern != first.pattern);
        [Some(first), rest].into_iter().flatten().map(|found| found.pattern.as_str()).collect()
    }

    /// ` --branch DRY`, for a command that would take the branch here for the dry branch that was judged.
    fn branch_option(&self, adoption: &Adoption) -> String {
        match self.branch.as_ref().filter(|branch| branch.as_str() != adoption.dry_branch) {
            Some(_) => format!(" --branch {}", shell_word(&adoption.dry_branch)),
            None => String::new(),
        }
    }
}

/// How many Applications of one reason, and how many reasons of one cause, are named; `--json` has all.
const NAMED_MAX: usize = 8;
const REASONS_MAX: usize = 12;

/// What was found, what is proposed, and what to run next.
pub(in super::super) fn report(adoption: &Adoption, ask: &Ask, written: bool) -> String {
    let mut text = String::new();
    let has_root = adoption.settings.iter().any(|setting| setting.key == "roots");
    if adoption.applications.is_empty() && adoption.unknown.is_empty() && adoption.notes.is_empty() && !has_root {
        return "there is no Argo CD Application here\nhint: where a directory renders them, as Jsonnet does: git hydrate adopt --root DIR; \
                `git hydrate init` writes a small example\n"
            .to_owned();
    }
    settings(&mut text, adoption, written);
    patterns(&mut text, adoption);
    causes(&mut text, adoption);
    others(&mut text, adoption);
    clusters(&mut text, adoption);
    numbers(&mut text, adoption);
    judged_as(&mut text, adoption, ask);
    holding(&mut text, adoption);
    next(&mut text, adoption, ask, written);
    text
}

/// The settings that were written, and why each.
pub(super) fn settings_written(adoption: &Adoption, written: bool) -> String {
    let mut text = String::new();
    settings(&mut text, adoption, written);
    text
}

fn settings(text: &mut String, adoption: &Adoption, written: bool) {
    if adoption.settings.is_empty() {
        return;
    }
    *text += if written { "settings, written\n" } else { "settings to write\n" };
    for setting in &adoption.settings {
        let pair = Mapping::from_iter([(setting.key, setting.value.clone())]);
        let yaml = Value::from(pair).to_yaml();
        let why = printable(&setting.why);
        for (index, line) in yaml.lines().enumerate() {
            let comment = if index == 0 { format!("  # {why}") } else { String::new() };
            let _ = writeln!(text, "  {}{comment}", printable(line));
        }
    }
    *text += "\n";
}

fn patterns(text: &mut String, adoption: &Adoption) {
    if adoption.branch_patterns.is_empty() {
        return;
    }
    *text += "where Applications go is not known; patterns that fit, for --branch-pattern\n";
    for found in &adoption.branch_patterns {
        let names: Vec<String> = found.branches.iter().take(4).map(|name| printable(name)).collect();
        let more = if found.branches.len() > 4 { ", …" } else { "" };
        let without = match found.without {
            0 => String::new(),
            1 => "; 1 Application has none".to_owned(),
            count => format!("; {count} Applications have none"),
        };
        let alike = match found.alike {
            0 => String::new(),
            count => format!("; {count} Applications would write over one another"),
        };
        let _ = writeln!(text, "  {}", shell_word(&printable(&found.pattern)));
        let count = found.branches.len();
        let branches = if count == 1 { "1 branch".to_owned() } else { format!("{count} branches") };
        let _ = writeln!(text, "      {branches}: {}{more}{without}{alike}", names.join(", "));
    }
    *text += "\n";
}

/// What keeps Applications from being hydrated, most of them first.
fn causes(text: &mut String, adoption: &Adoption) {
    let mut causes: BTreeMap<Cause, Vec<&AdoptedApplication>> = BTreeMap::new();
    for application in &adoption.applications {
        if let Some(cause) = application.cause {
            causes.entry(cause).or_default().push(application);
        }
    }
    let mut causes: Vec<(Cause, Vec<&AdoptedApplication>)> = causes.into_iter().collect();
    causes.sort_by_key(|(cause, applications)| (std::cmp::Reverse(applications.len()), *cause));
    for (cause, applications) in causes {
        let _ = writeln!(text, "{}", counted(cause, applications.len()));
        if cause == Cause::Input {
            inputs(text, adoption, &applications);
        } else {
            reasons(text, &applications);
        }
        if cause == Cause::OtherBranch {
            other_branches(text, adoption);
        }
    }
}

/// A number of Applications, and what is with them.
fn counted(cause: Cause, count: usize) -> String {
    let (one, many) = match cause {
        Cause::Input => ("needs what is not in this repository", "need what is not in this repository"),
        Cause::Nondeterministic => ("uses random functions or the clock", "use random functions or the clock"),
        Cause::NoRule => ("has no rule", "have no rule"),
        Cause::OtherBranch => ("is of another branch", "are of other branches"),
        Cause::Pinned => ("is pinned, and not hydrated on push", "are pinned, and not hydrated on push"),
        Cause::OtherRepository => ("is of another repository", "are of other repositories"),
        Cause::Document => ("is not right as it is written", "are not right as they are written"),
        Cause::Destination => ("cannot go where it would", "cannot go where they would"),
        Cause::ObjectConflict => {
            ("renders what another one of its branch renders", "render what others of their branch render")
        }
        Cause::Elsewhere => {
            ("needs files that this repository has no content of", "need files that this repository has no content of")
        }
        Cause::Unsupported => ("asks for what is not supported", "ask for what is not supported"),
        Cause::Render => ("does not render", "do not render"),
        Cause::KeptBack => {
            ("waits for another one of its branch, which fails", "wait for others of their branches, which fail")
        }
    };
    let todo = if cause == Cause::Input { ": git hydrate vendor" } else { "" };
    match count {
        1 => format!("1 Application {one}{todo}"),
        count => format!("{count} Applications {many}{todo}"),
    }
}

/// What hydrates from the trees of other branches.
fn other_branches(text: &mut String, adoption: &Adoption) {
    // Those that a proposal leaves out are named with the reason.
    let is_proposed = adoption.settings.iter().any(|setting| setting.key == "dryBranches");
    for other in &adoption.other_branches {
        let branch = printable(&other.branch);
        let _ = match other.hydrate {
            Some(hydrate) if other.left_out => writeln!(
                text,
                "  {hydrate} of {} would hydrate from the tree of `{branch}`, which is not a dry branch",
                other.applications
            ),
            Some(hydrate) => {
                writeln!(text, "  {hydrate} of {} hydrate from the tree of `{branch}`", other.applications)
            }
            None => writeln!(text, "  `{branch}` is not in this clone: git fetch"),
        };
        if other.left_out && !is_proposed && other.hydrate.is_some_and(|hydrate| hydrate > 0) {
            let _ = writeln!(text, "      hint: git hydrate config add dryBranches {}", shell_word(&branch));
        }
    }
}

fn inputs(text: &mut String, adoption: &Adoption, applications: &[&AdoptedApplication]) {
    let is_named = |name: &&String| applications.iter().any(|application| application.name == **name);
    let mut shown = 0;
    for need in &adoption.inputs {
        let names: Vec<&str> = need.applications.iter().filter(is_named).map(String::as_str).collect();
        if names.is_empty() {
            continue;
        }
        shown += 1;
        if shown <= REASONS_MAX {
            let _ = writeln!(text, "  {}\n      {}", printable(&need.input), listed(&names));
        }
    }
    more(text, shown);
    let others: Vec<&&AdoptedApplication> = applications.iter().filter(|one| one.inputs.is_empty()).collect();
    reasons(text, &others.into_iter().copied().collect::<Vec<_>>());
}

fn more(text: &mut String, count: usize) {
    if let Some(more) = line_of_more(count, REASONS_MAX, "; --json lists all") {
        let _ = writeln!(text, "  {more}");
    }
}

/// Each reason once, with those that have it.
fn reasons(text: &mut String, applications: &[&AdoptedApplication]) {
    let mut reasons: Vec<(String, Option<&Diagnostic>, Vec<&str>)> = Vec::new();
    for application in applications {
        let mistake = application.mistakes.first();
        let message = mistake.map(|mistake| printable(mistake.message.lines().next().unwrap_or_default()));
        let message = message.unwrap_or_default();
        match reasons.iter_mut().find(|(known, _, _)| *known == message) {
            Some((_, _, names)) => names.push(named(application)),
            None => reasons.push((message, mistake, vec![named(application)])),
        }
    }
    reasons.sort_by_key(|(_, _, names)| std::cmp::Reverse(names.len()));
    for (message, mistake, names) in reasons.iter().take(REASONS_MAX) {
        let place = mistake.and_then(|mistake| mistake.span.as_ref()).map(|span| format!("{span}: "));
        if !message.is_empty() {
            let _ = writeln!(text, "  {}{message}", place.unwrap_or_default());
        }
        let _ = writeln!(text, "      {}", listed(names));
        if let Some(hint) = mistake.and_then(|mistake| mistake.hint.as_ref()) {
            let _ = writeln!(text, "      hint: {}", printable(hint));
        }
    }
    more(text, reasons.len());
}

/// Its name; its file where that cannot be read.
fn named(application: &AdoptedApplication) -> &str {
    if application.name.is_empty() { &application.file } else { &application.name }
}

fn listed(names: &[&str]) -> String {
    list(names.iter().map(|name| printable(name)), NAMED_MAX)
}

/// What is not known, and what is worth a look.
fn others(text: &mut String, adoption: &Adoption) {
    if !adoption.unknown.is_empty() {
        *text += "not known is what these make or hold\n";
    }
    let mut hints: Vec<(Option<&String>, Vec<&Diagnostic>)> = Vec::new();
    for diagnostic in adoption.unknown.iter().chain(&adoption.notes) {
        match hints.iter_mut().find(|(hint, _)| *hint == diagnostic.hint.as_ref()) {
            Some((_, of_hint)) => of_hint.push(diagnostic),
            None => hints.push((diagnostic.hint.as_ref(), vec![diagnostic])),
        }
    }
    for (hint, diagnostics) in hints {
        for diagnostic in diagnostics.iter().take(REASONS_MAX) {
            let place = diagnostic.span.as_ref().map(|span| format!("{span}: ")).unwrap_or_default();
            let message = printable(diagnostic.message.lines().next().unwrap_or_default());
            let _ = writeln!(text, "  {place}{message}");
        }
        more(text, diagnostics.len());
        if let Some(hint) = hint {
            let _ = writeln!(text, "      hint: {}", printable(hint));
        }
    }
}

/// What only Argo CD knows of clusters.
fn clusters(text: &mut String, adoption: &Adoption) {
    let Some(unknown) = &adoption.clusters else { return };
    if !unknown.sets.is_empty() {
        let names: Vec<&str> = unknown.sets.iter().map(String::as_str).collect();
        let _ = writeln!(
            text,
            "only Argo CD knows the clusters that these ApplicationSets ask for\n      {}",
            listed(&names)
        );
    }
    if !unknown.destinations.is_empty() {
        let all = unknown.destinations.iter().map(|(cluster, count)| format!("{cluster} ({count})"));
        let all: Vec<String> = all.collect();
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        let _ = writeln!(
            text,
            "clusters that Applications deploy to, and of which nothing is known\n      {}",
            listed(&names)
        );
    }
}

fn numbers(text: &mut String, adoption: &Adoption) {
    let mut branches: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for application in &adoption.applications {
        let Some(branch) = &application.branch else { continue };
        let (hydrate, all) = branches.entry(branch).or_default();
        *hydrate += usize::from(application.hydrates);
        *all += 1;
    }
    if !text.is_empty() && !text.ends_with("\n\n") {
        *text += "\n";
    }
    let width = branches.keys().map(|branch| branch.chars().count()).max().unwrap_or_default();
    for (branch, (hydrate, all)) in &branches {
        let _ = writeln!(text, "{:width$}  {hydrate} of {all} Applications hydrate", printable(branch));
    }
    let all = adoption.applications.len();
    let made = adoption.applications.iter().filter(|application| application.made_by.is_some()).count();
    let made = match made {
        0 => String::new(),
        1 => format!(" (of the {all}, 1 is made by an ApplicationSet or another Application)"),
        made => format!(" (of the {all}, {made} are made by ApplicationSets and other Applications)"),
    };
    let word = if adoption.needs_rules { "would hydrate" } else { "hydrate" };
    let plural = if all == 1 { "Application" } else { "Applications" };
    let _ = writeln!(text, "{} of {all} {plural} {word}{made}", adoption.hydrate);
}

/// The branch that the tree was judged as the tip of, where that is not the one that is checked out.
fn judged_as(text: &mut String, adoption: &Adoption, ask: &Ask) {
    let Some(branch) = ask.branch.as_ref().filter(|branch| branch.as_str() != adoption.dry_branch) else { return };
    let (dry, branch) = (printable(&adoption.dry_branch), printable(branch.as_str()));
    let _ = writeln!(
        text,
        "judged as the tip of `{dry}`, which most Applications name; as that of the branch here: --branch {}",
        shell_word(&branch)
    );
    if !ask.branches.contains(&adoption.dry_branch) {
        let _ = writeln!(text, "`{dry}` does not exist: nothing is hydrated from it until it is pushed");
    }
}

/// The Applications that keep whole branches as they are.
fn holding(text: &mut String, adoption: &Adoption) {
    let names: Vec<&str> =
        adoption.applications.iter().filter(|one| one.holds_branch).map(|one| one.name.as_str()).collect();
    if names.is_empty() {
        return;
    }
    let verb = if names.len() == 1 { "keeps its branch" } else { "keep their branches" };
    let _ = writeln!(
        text,
        "{} {verb} as a whole from moving until corrected, whatever `onFailure` is; a rule with `hydrate: false` before the \
         others leaves out what it names",
        listed(&names)
    );
}

/// Whether Applications wait for others that would stay behind alone if the settings said so.
fn waits(adoption: &Adoption) -> bool {
    let branches = |is_it: fn(&&AdoptedApplication) -> bool| {
        let found = adoption.applications.iter().filter(is_it);
        found.filter_map(|one| one.branch.as_ref()).collect::<BTreeSet<_>>()
    };
    let waiting = branches(|one| one.cause == Some(Cause::KeptBack));
    waiting.difference(&branches(|one| one.holds_branch)).next().is_some()
}

/// Whether random functions are allowed, and there is nothing secret that they draw from.
fn lacks_seed(adoption: &Adoption) -> bool {
    let settings = Settings::read(&adoption.files).unwrap_or_default();
    !settings.nondeterministic.is_empty() && !settings.seeds.is_set()
}

fn next(text: &mut String, adoption: &Adoption, ask: &Ask, written: bool) {
    let mut lines: Vec<(String, &str)> = Vec::new();
    let branch = ask.branch_option(adoption);
    let is_to_write = !adoption.settings.is_empty() && !written;
    if is_to_write && ask.remote.is_some() && !ask.has_settings {
        let install = "git hydrate install --server REPO.git".to_owned();
        lines.push((install, "on the server, first: it makes settings, which those of this clone go on top of"));
    }
    if adoption.applications.iter().any(|one| one.cause == Some(Cause::OtherRepository)) {
        let line = "git hydrate adopt --repo-url URL".to_owned();
        lines.push((line, "the URL by which Applications know this repository"));
    }
    let patterns = ask.patterns_or(adoption);
    if is_to_write && (!adoption.needs_rules || !patterns.is_empty()) {
        let why = match (adoption.needs_rules, adoption.inputs.is_empty()) {
            (true, true) => "or another pattern; writes the settings",
            (false, true) => "writes the settings",
            (true, false) => {
                "or another pattern; writes the settings, brings and commits what is needed from elsewhere"
            }
            (false, false) => "writes the settings, brings and commits what is needed from elsewhere",
        };
        let patterns: String =
            patterns.iter().map(|pattern| format!(" --branch-pattern {}", shell_word(pattern))).collect();
        let vendor = if adoption.inputs.is_empty() { "" } else { " --vendor" };
        lines.push((format!("git hydrate adopt{patterns}{} --write{vendor}", ask.options), why));
    }
    if let Some(unknown) = &adoption.clusters {
        if unknown.asks_versions {
            let line = "(kubectl version; kubectl api-versions) > CLUSTER.txt".to_owned();
            lines.push((line, "what a cluster serves; for `--versions CLUSTER=CLUSTER.txt` of the next line"));
        }
        let secrets = format!(
            "kubectl get secret -n {} -l argocd.argoproj.io/secret-type=cluster -o yaml",
            shell_word(&unknown.namespace)
        );
        let line = format!("{secrets} | git hydrate clusters import > clusters.yaml");
        lines.push((line, "lists the clusters that Argo CD knows"));
        let commit = "git add clusters.yaml && git commit -m 'List the clusters'".to_owned();
        lines.push((commit, "commits the list, for the server; then run git hydrate adopt again"));
    }
    if !adoption.inputs.is_empty() && !is_to_write {
        let vendor = format!("git hydrate vendor{branch} --commit");
        lines.push((vendor, "brings what is needed from elsewhere, and commits it for the push below"));
    }
    if waits(adoption) {
        let set = "git hydrate config set onFailure application".to_owned();
        lines.push((set, "hydrates a branch although some of its Applications fail"));
    }
    let is_ready = !adoption.needs_rules && !is_to_write;
    if is_ready {
        lines.push((format!("git hydrate diff --worktree{branch}"), "what each branch would get"));
    }
    if lacks_seed(adoption) && is_ready {
        let set = "git hydrate config set seeds new".to_owned();
        lines.push((set, "makes the seed that random values are drawn from, which is never shown"));
    }
    let settings = Settings::read(&adoption.files).unwrap_or_default();
    if !settings.rules.is_empty() && settings.applications_to.is_none() && (is_ready || is_to_write) {
        let set = "git hydrate config set applicationsTo BRANCH".to_owned();
        lines.push((set, "keeps copies of the Applications on a branch, for Argo CD to follow"));
    }
    if let Some(remote) = ask.remote.as_ref().filter(|_| is_ready || is_to_write) {
        let is_here = ask.branch.as_ref().is_some_and(|branch| branch.as_str() == adoption.dry_branch);
        let dry = Some(format!("HEAD:{} ", shell_word(&adoption.dry_branch))).filter(|_| is_here).unwrap_or_default();
        let push = format!("git push {} {dry}refs/hydrate/config", shell_word(remote));
        lines.push((push, "gives the server commits and settings, and has it hydrate"));
        if is_ready && !ask.has_settings {
            let rebase = "git hydrate config rebase".to_owned();
            lines.push((rebase, "if the server rejects them: takes what it has set meanwhile; then push again"));
        }
        if settings.applications_to.is_some() {
            let root = "kubectl apply -f applications.yaml".to_owned();
            lines.push((
                root,
                "the Application of that branch, as docs/migrate.md has it: Argo CD deploys what is hydrated",
            ));
        }
    }
    if lines.is_empty() {
        return;
    }
    *text += "\nnext\n";
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default();
    for (line, why) in lines {
        let _ = writeln!(text, "  {line:width$}  {why}");
    }
}
