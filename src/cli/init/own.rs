//! A chart that is in the repository already: `git hydrate init` leads to it in place of an example.

use anyhow::bail;
use dry_files::diag::{printable, shell_word};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};

use super::super::WrongUse;
use super::label;
use crate::repo::{Repository, TreeFiles};

/// How deep charts are looked for, and how many directories are looked into.
const DEPTH_MAX: usize = 4;
const DIRECTORIES_MAX: usize = 5_000;

/// How many charts are named.
const NAMED_MAX: usize = 5;

const APPLICATION: &str = include_str!("own/application.yaml");

const HELM: &str = include_str!("own/helm.yaml");

/// A directory that is deployed.
pub(super) struct Own {
    pub dir: RepoPath,
    /// What it is called.
    pub name: String,
    is_chart: bool,
}

impl Own {
    /// The directory that is named, or the only chart of the working tree; none where there is no chart.
    ///
    /// Errors: no such directory, several charts, a repository that cannot be read.
    pub(super) fn of(repository: &Repository, named: Option<&str>) -> anyhow::Result<Option<Self>> {
        let files = TreeFiles::new(repository, repository.commit(repository.snapshot()?)?.tree);
        let view = View::new(&files);
        let dir = match named {
            Some(named) => {
                let wrong = |why: String| WrongUse(format!("--source {}: {why}", printable(named)));
                let dir = RepoPath::clean(named).map_err(|error| wrong(error.to_string()))?;
                if !matches!(view.kind(&dir), Ok(Some(Kind::Directory))) {
                    bail!(wrong("there is no such directory in this repository".to_owned()));
                }
                dir
            }
            None => match &charts(&view)[..] {
                [only] => only.clone(),
                several @ [first, ..] if super::applications(repository)? == 0 => {
                    bail!(WrongUse(several_charts(several, first)))
                }
                _ => return Ok(None),
            },
        };
        let chart = dir.child("Chart.yaml").ok().and_then(|path| view.read(&path).ok());
        let name = chart.as_ref().and_then(|chart| chart_name(&chart.data));
        let name = name.or_else(|| dir.file_name().map(str::to_owned)).and_then(|name| label(&name).ok());
        Ok(Some(Self { is_chart: chart.is_some(), name: name.unwrap_or_else(|| "app".to_owned()), dir }))
    }

    /// The files that deploy it to each environment, each with its text: an Application, and for a chart the values of the environment.
    /// `is_staged`: by a staging branch. `is_there` says which files are there already.
    pub(super) fn files(
        &self,
        name: &str,
        environments: &[String],
        is_staged: bool,
        is_there: impl Fn(&str) -> bool,
    ) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let dir = if self.dir.is_root() { "." } else { self.dir.as_str() };
        for environment in environments {
            let values = format!("values-{environment}.yaml");
            let helm = if self.is_chart { HELM } else { "" };
            let template = super::application(APPLICATION, is_staged);
            let text = template.replace("HELM", helm.trim_end()).replace("\n\n", "\n");
            let text = text.replace("NAME", name).replace("ENVIRONMENT", environment).replace("SOURCE", &in_yaml(dir));
            files.push((format!("applications/{environment}.yaml"), text));
            let values = self.dir.child(&values).ok().filter(|path| self.is_chart && !is_there(path.as_str()));
            let text = format!("# What {environment} has in place of values.yaml.\n");
            files.extend(values.map(|path| (path.as_str().to_owned(), text)));
        }
        files
    }
}

/// A path in the quotes that YAML needs.
fn in_yaml(dir: &str) -> String {
    super::in_yaml(&format!("/{dir}")).replacen('/', "", 1)
}

fn several_charts(charts: &[RepoPath], first: &RepoPath) -> String {
    let names: Vec<String> = charts.iter().take(NAMED_MAX).map(|dir| printable(dir.as_str()).to_string()).collect();
    let more = if charts.len() > NAMED_MAX { ", …" } else { "" };
    format!(
        "nothing was written: this repository has charts already: {}{more}\n\
         hint: to deploy one of them: git hydrate init --source {}\n\
         hint: to write an example beside them: git hydrate init --kustomize",
        names.join(", "),
        shell_word(first.as_str())
    )
}

/// The directories with a chart that is no part of another one, in the order of their names.
fn charts(view: &View<'_>) -> Vec<RepoPath> {
    let (mut found, mut level, mut left) = (Vec::new(), vec![RepoPath::root()], DIRECTORIES_MAX);
    for _ in 0..=DEPTH_MAX {
        let mut below = Vec::new();
        for dir in level {
            let Ok(entries) = view.list(&dir) else { continue };
            if entries.iter().any(|entry| &*entry.name == "Chart.yaml") {
                found.push(dir);
                continue;
            }
            let inner = entries.iter().filter(|entry| entry.kind == Kind::Directory && !entry.name.starts_with('.'));
            let inner: Vec<RepoPath> = inner.filter_map(|entry| dir.child(&entry.name).ok()).take(left).collect();
            left -= inner.len();
            below.extend(inner);
        }
        level = below;
    }
    found.sort();
    found
}

/// The name in a `Chart.yaml`.
fn chart_name(text: &[u8]) -> Option<String> {
    let documents = go_yaml::parse(text, &go_yaml::Limits::default()).ok()?;
    documents.first()?.get("name")?.as_str().map(str::to_owned)
}
