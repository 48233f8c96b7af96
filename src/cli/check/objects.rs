//! `git hydrate check --objects`: Kubernetes objects of a file, judged as an API server would judge them.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dry_files::diag::printable;
use go_yaml::{Dialect, Limits, Value};
use kube_validate::{Crds, Effort, Finding, Judge, Verdict, WARNINGS};
use serde::Serialize;

use super::{Outcome, WrongUse, counted, output};
use crate::versions::Kubernetes;

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Judge the Kubernetes objects of a file as an API server would, YAML or a line of JSON each; `-` for standard input.
    ///
    /// Exit code: 1 when a server would refuse one. With --json a line for each, in order.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["what", "worktree", "sarif"])]
    objects: Option<PathBuf>,
    /// The Kubernetes of the cluster: 1.37 shows what an upgrade to it would refuse, which is an error then.
    ///
    /// Unless given, that of each cluster as the list of clusters or the setting `kubernetes` says it, else the newest that is
    /// known; for --objects the newest.
    #[arg(long, value_name = "1.MINOR")]
    kubernetes: Option<String>,
    /// A directory with all CRDs of the cluster, so that what none of them serves is refused.
    #[arg(long, value_name = "DIR", requires = "objects")]
    crds: Option<PathBuf>,
    /// Leave out a warning, by its name; may be given more than once.
    #[arg(long, value_name = "WARNING", requires = "objects")]
    without: Vec<String>,
}

impl Arguments {
    pub(super) fn is_given(&self) -> bool {
        self.objects.is_some()
    }

    /// The version that is asked for; none unless given.
    pub(super) fn kubernetes(&self) -> anyhow::Result<Option<Kubernetes>> {
        let Some(text) = &self.kubernetes else { return Ok(None) };
        let known = text.parse::<Kubernetes>().ok().filter(|version| version.judged_as().is_some());
        let wrong = || WrongUse(format!("--kubernetes: {}", Kubernetes::unknown(text)));
        known.map(Some).ok_or_else(|| wrong().into())
    }
}

/// Far more than all objects of a cluster.
const BYTES_MAX: u64 = 1 << 30;

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    if let Some(name) = arguments.without.iter().find(|name| !WARNINGS.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = WARNINGS.iter().map(|(name, _)| *name).collect();
        bail!(WrongUse(format!("--without {name}: is none of {}", known.join(", "))));
    }
    let judge = judge(arguments)?;
    let path = arguments.objects.as_deref().unwrap_or(Path::new("-"));
    let objects = objects(&read(path)?).with_context(|| path.display().to_string())?;
    let mut tally = Tally::default();
    let mut text = String::new();
    for object in &objects {
        let mut verdict = judge.judge(object);
        verdict.findings.retain(|finding| !arguments.without.iter().any(|name| name == finding.rule));
        tally.add(&verdict);
        if json {
            text.push_str(&serde_json::to_string(&Answer::of(&verdict))?);
            text.push('\n');
        } else {
            tell(object, &verdict, &mut text);
        }
    }
    if json {
        output::print_content(text)?;
    } else {
        output::print(text + &tally.text(objects.len()))?;
    }
    Ok(if tally.refused == 0 { Outcome::Done } else { Outcome::Found })
}

fn judge(arguments: &Arguments) -> anyhow::Result<Judge> {
    let mut crds = Crds::new();
    if let Some(dir) = &arguments.crds {
        for entry in dir.read_dir().with_context(|| dir.display().to_string())? {
            let path = entry?.path();
            if path.is_file() {
                crds.add(std::fs::read(&path).with_context(|| path.display().to_string())?);
            }
        }
        crds.and_no_others();
    }
    let version = arguments.kubernetes()?.unwrap_or(Kubernetes::NEWEST);
    let judge = version.judged_as().and_then(|minor| Judge::new(minor, crds));
    // However many there are: a person can stop it.
    judge.map(|judge| judge.with(&Effort::steps(u64::MAX))).context("a version that is known")
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(BYTES_MAX).read_to_end(&mut text).context("reading standard input")?;
    } else {
        text = std::fs::read(path).with_context(|| path.display().to_string())?;
    }
    Ok(text)
}

/// The documents of YAML, or a line of JSON each; empty documents are none.
fn objects(text: &[u8]) -> anyhow::Result<Vec<Value>> {
    let limits = Limits::default();
    let lines = || text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    if lines()
        .next()
        .is_some_and(|line| go_yaml::json::decode(line, &limits).is_ok_and(|value| value.as_mapping().is_some()))
    {
        return lines()
            .enumerate()
            .map(|(index, line)| go_yaml::json::decode(line, &limits).with_context(|| format!("line {}", index + 1)))
            .collect();
    }
    let mut all = go_yaml::decode(text, Dialect::V2, &limits)?;
    all.retain(|value| !value.is_null());
    Ok(all)
}

#[derive(Serialize)]
struct Answer<'v> {
    refused: bool,
    /// What a server refuses the object for.
    findings: Vec<Shown<'v>>,
    /// What it lets pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Shown<'v>>,
    /// No schema of the kind is known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unknown_kind: bool,
    /// How many expressions of CEL were not judged.
    #[serde(skip_serializing_if = "is_zero")]
    unjudged: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct Shown<'f> {
    field: &'f str,
    rule: &'f str,
    reason: &'f str,
    message: &'f str,
}

impl<'v> Answer<'v> {
    fn of(verdict: &'v Verdict) -> Self {
        let shown = |is_refused: bool| {
            let some = verdict.findings.iter().filter(move |finding| finding.is_refusal() == is_refused);
            some.map(|finding| Shown {
                field: &finding.field,
                rule: finding.rule,
                reason: finding.reason.name(),
                message: &finding.message,
            })
            .collect()
        };
        Self {
            refused: verdict.is_refused(),
            findings: shown(true),
            warnings: shown(false),
            unknown_kind: verdict.is_unknown_kind,
            unjudged: verdict.expressions_unjudged,
        }
    }
}

fn tell(object: &Value, verdict: &Verdict, text: &mut String) {
    let field = |keys: &[&str]| object.at(keys).and_then(Value::as_str).unwrap_or_default();
    let name = match (field(&["metadata", "name"]), field(&["metadata", "generateName"])) {
        ("", generate) => generate,
        (name, _) => name,
    };
    for finding @ Finding { field: at, rule, message, .. } in &verdict.findings {
        let severity = if finding.is_refusal() { "error" } else { "warning" };
        let at = if at.is_empty() { String::new() } else { format!("{}: ", printable(at)) };
        let object = format!("{} {}", printable(field(&["kind"])), printable(name));
        let _ = writeln!(text, "{object}: {severity}: {at}{} [{rule}]", printable(message));
    }
}

/// What was judged of all objects.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    warned: usize,
    unknown: usize,
    expressions: usize,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        let has_warning = verdict.findings.iter().any(|finding| !finding.is_refusal());
        self.refused += usize::from(verdict.is_refused());
        self.warned += usize::from(has_warning);
        self.unknown += usize::from(verdict.is_unknown_kind);
        self.expressions += verdict.expressions_unjudged;
    }

    fn text(&self, count: usize) -> String {
        let mut text = format!("{}: {} refused, {} with warnings", counted(count, "object"), self.refused, self.warned);
        if self.unknown > 0 {
            let _ = write!(text, "; not judged, since no schema is known: {}", counted(self.unknown, "object"));
        }
        if self.expressions > 0 {
            let _ = write!(text, "; not judged: {} of CEL", counted(self.expressions, "expression"));
        }
        text.push('\n');
        text
    }
}
