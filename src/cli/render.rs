//! `git hydrate render …`: manifests to standard output, and nothing else.

mod all;
mod application_set;
mod directory;
mod helm;
mod string_slice;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::clone::refs_of;
use super::{Outcome, WrongUse, output};
use crate::inspect::{Single, render_named};
use crate::owners::settings_named::{SETTINGS_REF_KEY, with_settings_of};
use crate::render::Renderers;
use crate::render::needs::Vendored;
use crate::repo::Repository;
use crate::versions::{ARGO_CD, Helm, Kustomize};
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{DiskFiles, View};
use inputs::LOCK;
use kustomize_build as kustomize;

/// Print the manifests of an Application, or of a chart, kustomization or directory on disk.
#[derive(Debug, clap::Args)]
#[command(after_help = forms())]
pub(super) struct Arguments {
    /// The name of an Application; `helm`, `kustomize`, `directory` or `applicationset` for files on disk; or `--all` for all
    /// that would be deployed.
    #[arg(allow_hyphen_values = true)]
    what: String,
    /// For an Application: `--rev REV`; else the arguments of the tool.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// How each form is called, and what it does the same as.
fn forms() -> String {
    format!(
        "\
git hydrate render web                     the Application `web` of HEAD, as its manifest.yaml
git hydrate render web --rev main~3        … of another commit
git hydrate render --all DIR [FLAGS]       what would be deployed, as files below DIR,
                                           the flags: `git hydrate render --all DIR --help`
git hydrate render helm [NAME] CHART [FLAGS]  what `helm template` prints
git hydrate render kustomize DIR [FLAGS]   what `kustomize build DIR` prints
git hydrate render directory DIR [FLAGS]   the manifests and the Jsonnet of a directory,
                                           the flags: `git hydrate render directory DIR --help`
git hydrate render applicationset FILE [FLAGS]  the Applications that the ApplicationSets of a file make,
                                           the flags: `git hydrate render applicationset - --help`

Renders as Helm {} or, by `--helm-version`, another from {} to {},
as Kustomize {} or, by `--kustomize-version`, another from {}, and as Argo CD {ARGO_CD} do.",
        Helm::default(),
        Helm::oldest(),
        Helm::newest(),
        Kustomize::default(),
        Kustomize::ALL[0],
    )
}

/// The forms that print what a tool prints, for files on disk.
const FORMS: [&str; 5] = ["--all", "helm", "kustomize", "directory", "applicationset"];

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    if json && FORMS.contains(&arguments.what.as_str()) {
        let text = format!("`render {}` has no JSON; `--json` is for an Application", arguments.what);
        bail!(WrongUse(text));
    }
    let rest: Vec<&str> = arguments.arguments.iter().map(String::as_str).collect();
    match arguments.what.as_str() {
        "helm" => helm::run(&rest),
        "kustomize" => kustomization(&rest),
        "directory" => directory::run(&rest),
        "applicationset" => application_set::run(&rest),
        "--all" => all::run(&rest),
        flag if flag.starts_with('-') => bail!(WrongUse(format!("unexpected argument `{flag}`"))),
        name => application(name, &rest, json),
    }
}

/// The flags of a form; none when its help was asked for, which is printed.
fn flags<T: clap::Parser>(arguments: &[&str]) -> anyhow::Result<Option<T>> {
    Ok(parsed(T::command(), arguments)?.map(|given| T::from_arg_matches(&given)).transpose()?)
}

fn parsed(command: clap::Command, arguments: &[&str]) -> anyhow::Result<Option<clap::ArgMatches>> {
    match command.try_get_matches_from(arguments) {
        Ok(given) => Ok(Some(given)),
        Err(error) if !error.use_stderr() => {
            output::print(error.to_string())?;
            Ok(None)
        }
        Err(error) => bail!(WrongUse(error.to_string().trim_start_matches("error: ").trim_end().to_owned())),
    }
}

/// The repository with the settings that count, in a clone of a host where jobs hydrate.
fn with_settings(repository: Repository) -> anyhow::Result<Repository> {
    let Some(name) = repository.config(SETTINGS_REF_KEY) else { return Ok(repository) };
    let names = refs_of(&repository)?;
    Ok(if names.is_of_clone() { with_settings_of(repository, names, &name)?.0 } else { repository })
}

fn application(name: &str, arguments: &[&str], json: bool) -> anyhow::Result<Outcome> {
    // After a name, every option belongs to the form.
    let (json, arguments) = (json || arguments.contains(&"--json"), without(arguments, "--json"));
    let rev = match &arguments[..] {
        [] => "HEAD",
        ["--rev", rev] => rev,
        [rev] if rev.starts_with("--rev=") => &rev["--rev=".len()..],
        _ => bail!(WrongUse(format!("an Application takes `--rev REV`, not `{}`", arguments.join(" ")))),
    };
    let repository = with_settings(super::repository(None)?)?;
    let commit = super::commit_of(&repository, rev)?;
    let renderers = Renderers::from_config(&repository, &super::machine()?)?;
    let found = render_named(&repository, &renderers, commit, name)?;
    if found.is_empty() {
        bail!(
            "{rev} has no Application named `{name}`; `helm`, `kustomize`, `directory` and `applicationset` render files on disk"
        );
    }
    if json {
        output::print_json_list("applications", &found.iter().map(as_json).collect::<Vec<_>>())?;
        let renders = found.iter().all(|single| single.manifest.is_ok());
        return Ok(if renders { Outcome::Done } else { Outcome::Found });
    }
    let mut outcome = Outcome::Done;
    for (index, single) in found.iter().enumerate() {
        single.warnings.iter().for_each(output::warn);
        match &single.manifest {
            Ok(manifest) => {
                if index > 0 && !manifest.is_empty() {
                    output::print_content("---\n")?;
                }
                output::print_content(manifest)?;
            }
            Err(mistakes) => {
                mistakes.iter().for_each(output::warn);
                outcome = Outcome::Found;
            }
        }
    }
    Ok(outcome)
}

fn as_json(single: &Single) -> serde_json::Value {
    let name = single.application.name.as_str();
    match &single.manifest {
        Ok(manifest) => serde_json::json!({
            "name": name, "manifest": String::from_utf8_lossy(manifest), "warnings": single.warnings
        }),
        Err(mistakes) => {
            serde_json::json!({ "name": name, "mistakes": mistakes, "warnings": single.warnings })
        }
    }
}

fn without<'a>(arguments: &[&'a str], left_out: &str) -> Vec<&'a str> {
    arguments.iter().copied().filter(|argument| *argument != left_out).collect()
}

fn kustomization(arguments: &[&str]) -> anyhow::Result<Outcome> {
    let (mut options, operands) = kustomize::Options::parse(arguments.iter().copied()).map_err(WrongUse)?;
    options.inputs = &Vendored;
    let Place { top, files, dir } = on_disk(match operands[..] {
        [] => ".",
        [dir] => dir,
        _ => bail!(WrongUse("specify one path to a kustomization directory".to_owned())),
    })?;
    let charts = kustomize::NativeCharts { helm: options.helm, ..kustomize::NativeCharts::default() };
    let build = match kustomize::build(&View::new(&files), &dir, &options, Some(&charts)) {
        Ok(build) => build,
        Err(error) => {
            let mut diagnostic = error.diagnostic();
            if top == Path::new("/") {
                diagnostic.message = from_root(&diagnostic.message, &dir);
            }
            diagnostic.span = diagnostic.span.map(|span| below_here(span, &top));
            tell(&diagnostic);
            return Ok(Outcome::Found);
        }
    };
    for warning in &build.warnings {
        output::warn(warning);
    }
    output::print_content(build.to_yaml()?)?;
    Ok(Outcome::Done)
}

/// A place by its path from the root of this machine, as it is named from the current directory when it lies below
/// that.
fn below_root(span: Span) -> Span {
    below_here(span, Path::new("/"))
}

/// A place among the files of this machine, as it is named from the current directory when it lies below that.
fn below_here(span: Span, top: &Path) -> Span {
    let here = std::env::current_dir().ok();
    let here = here.as_deref().and_then(|here| here.strip_prefix(top).ok()?.to_str());
    let here = here.and_then(|here| RepoPath::clean(here).ok());
    match here.and_then(|here| span.path.strip_prefix(&here)) {
        Some(path) => Span { path, ..span },
        None => span,
    }
}

/// A text with the paths that begin as the directory does, by at least two names, written from the root, as Kustomize writes them.
fn from_root(text: &str, dir: &RepoPath) -> String {
    let names: Vec<&str> = dir.components().take(2).collect();
    let start = names.join("/");
    if names.len() < 2 {
        return text.to_owned();
    }
    let is_inside = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || "/._-".contains(c));
    let mut parts = text.split(&start);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if !is_inside(&whole) {
            whole.push('/');
        }
        whole.push_str(&start);
        whole.push_str(part);
    }
    whole
}

/// Says what is wrong, in a file that is below the current directory, or by its path from the root.
fn tell(diagnostic: &Diagnostic) {
    let text = diagnostic.to_string();
    let Some(path) = diagnostic.span.as_ref().map(|span| span.path.as_str()) else { return output::warn(&text) };
    let is_of_root = !Path::new(path).exists() && Path::new("/").join(path).exists();
    match is_of_root {
        true => output::warn(&text.replacen(&format!("--> {path}"), &format!("--> /{path}"), 1)),
        false => output::warn(&text),
    }
}

/// Where a directory is.
struct Place {
    /// What all paths are below.
    top: PathBuf,
    files: DiskFiles,
    dir: RepoPath,
}

/// The files of this machine and the path of `dir` among them: what lies above a kustomization can be one of its bases. Where
/// inputs are kept, only what is beside them.
fn on_disk(dir: &str) -> anyhow::Result<Place> {
    let path = Path::new(dir).canonicalize().with_context(|| dir.to_owned())?;
    let top = path.ancestors().find(|above| above.join(LOCK).is_file()).unwrap_or(Path::new("/"));
    let below = path.strip_prefix(top).ok().and_then(Path::to_str).context("the path is not UTF-8")?;
    Ok(Place { top: top.to_owned(), files: DiskFiles::new(top), dir: RepoPath::clean(below)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_machine_are_written_from_its_root() {
        let dir = RepoPath::clean("srv/repo/overlay").expect("a path");
        let rows = [
            (
                "failure on 'srv/repo/base/a.yaml' : lstat srv/repo/base",
                "failure on '/srv/repo/base/a.yaml' : lstat /srv/repo/base",
            ),
            ("'/srv/repo/a' and a/srv/repo/b", "'/srv/repo/a' and a/srv/repo/b"),
            ("no path", "no path"),
        ];
        for (text, expected) in rows {
            assert_eq!(from_root(text, &dir), expected);
        }
    }
}
