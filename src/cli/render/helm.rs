//! `git hydrate render helm`: what `helm template` prints, for a chart on disk.

mod borrowed;

use std::path::Path;

use anyhow::{Context as _, bail};
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use dry_files::diag::clipped;
use dry_files::path::RepoPath;
use dry_files::view::{DiskFiles, View};

use super::super::entropy::entropy;
use super::super::{Outcome, WrongUse, output};
use super::{parsed, string_slice};
use crate::render::needs::Vendored;
use crate::versions::Helm;
use helm_template::{self as helm, Effects, ValuesSource};

/// Prints what `helm template` prints, without a cluster, a network or a plugin.
#[derive(Debug, Parser)]
#[command(
    name = "git hydrate render helm",
    disable_version_flag = true,
    no_binary_name = true,
    args_override_self = true
)]
struct Flags {
    /// The name of the release, then the chart; or the chart alone.
    #[arg(value_name = "[NAME] CHART", num_args = 1..=2, required = true)]
    operands: Vec<String>,
    /// The name of the release.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    name_template: Option<String>,
    /// The namespace of the release.
    #[arg(long, short, default_value = "default", allow_hyphen_values = true)]
    namespace: String,
    /// Values files, separated by commas; may be given more than once, later ones win.
    #[arg(long, short = 'f', value_name = "FILES", allow_hyphen_values = true)]
    values: Vec<String>,
    /// Values, as `a.b=c,d[0]=e`.
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Values, all of them texts, as `a.b=c,d[0]=e`.
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_string: Vec<String>,
    /// Values in JSON, as `a.b=[1]`, or one JSON object.
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_json: Vec<String>,
    /// Values that are the contents of files, as `a.b=FILE`.
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_file: Vec<String>,
    /// One value that is taken as it is written.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    set_literal: Vec<String>,
    /// The version of Helm to render as: an exact one, from 3.17 to 4.3.
    #[arg(long, value_name = "VERSION", default_value_t)]
    helm_version: Helm,
    /// The version of Kubernetes that templates see.
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true)]
    kube_version: Option<String>,
    /// API versions that templates see besides the usual ones.
    #[arg(long, short, value_name = "LIST", allow_hyphen_values = true)]
    api_versions: Vec<String>,
    /// Print custom resource definitions too.
    #[arg(long)]
    include_crds: bool,
    /// Changes nothing, as in Helm.
    #[arg(long)]
    skip_crds: bool,
    /// Leave tests out.
    #[arg(long)]
    skip_tests: bool,
    /// Leave hooks out.
    #[arg(long)]
    no_hooks: bool,
    /// Let templates see an upgrade.
    #[arg(long)]
    is_upgrade: bool,
    /// Do not check values against the chart's schema.
    #[arg(long)]
    skip_schema_validation: bool,
    /// Print only the manifests of these templates.
    #[arg(long, short, value_name = "TEMPLATE", allow_hyphen_values = true)]
    show_only: Vec<String>,
    /// Where a manifest is not YAML, print what the templates gave.
    #[arg(long)]
    debug: bool,
    /// Let random and clock functions run: no two outputs are the same then.
    #[arg(long)]
    allow_nondeterministic: bool,
}

pub(super) fn run(arguments: &[&str]) -> anyhow::Result<Outcome> {
    let Some(given) = parsed(borrowed::with(Flags::command()), arguments)? else { return Ok(Outcome::Done) };
    borrowed::check(&given)?;
    let flags = Flags::from_arg_matches(&given)?;
    let (name, chart) = match &flags.operands[..] {
        [name, chart] => (Some(name.clone()), chart),
        [chart] => (None, chart),
        _ => bail!(WrongUse("name one chart".to_owned())),
    };
    if name.is_some() && flags.name_template.is_some() {
        bail!(WrongUse("cannot set --name-template and also specify a name".to_owned()));
    }
    let defaults = helm::Options::default();
    let options = helm::Options {
        release_name: name.or(flags.name_template).filter(|name| !name.is_empty()).unwrap_or(defaults.release_name),
        namespace: flags.namespace,
        values: string_slice::split("values", &flags.values)?
            .iter()
            .map(|file| Ok(ValuesSource::File(on_disk(file)?)))
            .collect::<anyhow::Result<_>>()?,
        set_json: flags.set_json,
        set: flags.set,
        set_string: flags.set_string,
        set_file: flags.set_file,
        set_literal: flags.set_literal,
        base: on_disk(".")?,
        kube_version: flags.kube_version,
        api_versions: string_slice::split("api-versions", &flags.api_versions)?,
        include_crds: flags.include_crds,
        skip_tests: flags.skip_tests,
        no_hooks: flags.no_hooks,
        is_upgrade: flags.is_upgrade,
        skip_schema_validation: flags.skip_schema_validation,
        show_only: flags.show_only,
        helm: flags.helm_version,
        inputs: &Vendored,
        effects: if flags.allow_nondeterministic { chance()? } else { Effects::Refuse },
        ..helm::Options::default()
    };
    let files = DiskFiles::new("/");
    let chart = on_disk(chart)?;
    match helm::render(&View::new(&files), &chart, &options) {
        Ok(rendered) => {
            for warning in &rendered.warnings {
                output::warn(&format!("warning: {warning}"));
            }
            output::print_content(rendered.text)?;
            Ok(Outcome::Done)
        }
        Err(error) => {
            if flags.debug && !error.is_refusal() {
                // As far as there is anything: what is told is the error.
                output::print_content(helm::unsorted(&View::new(&files), &chart, &options).unwrap_or_default())?;
            }
            // Helm's own words, so that the two can be compared. What only we refuse has its cure with it.
            let refusals =
                if error.is_refusal() { helm::refusals(&View::new(&files), &chart, &options)? } else { vec![error] };
            for error in refusals {
                // As it was named, from the root of the machine.
                let text = error.helm_text().replace(&format!("\"{chart}"), &format!("\"/{chart}"));
                output::warn(&format!("Error: {}", clipped(text)));
                if let Some(hint) = error.diagnostic().hint.filter(|_| error.is_refusal()) {
                    output::warn(&format!("hint: {hint}"));
                }
            }
            Ok(Outcome::Found)
        }
    }
}

/// The path of a file below the root of this machine, without looking whether it is there.
fn on_disk(path: &str) -> anyhow::Result<RepoPath> {
    let absolute = std::path::absolute(Path::new(path)).with_context(|| path.to_owned())?;
    let text = absolute.to_str().with_context(|| format!("{path}: not UTF-8"))?;
    Ok(RepoPath::clean(text.trim_start_matches('/'))?)
}

fn chance() -> anyhow::Result<Effects> {
    Ok(Effects::Live { entropy: entropy()?, now: jiff::Timestamp::now() })
}
