//! `git hydrate init`: a start in a repository without Applications.

mod own;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dry_files::diag::{printable, shell_path, shell_word};

use super::{Outcome, WrongUse, output};
use crate::argo::{Patterns, RuleSet, without_credentials};
use crate::discover::Discovery;
use crate::install::Installer;
use crate::owners::heads;
use crate::repo::{Location, Repository, TreeFiles};
use crate::settings::SETTINGS_REF;
use own::Own;

/// Write a small working start: one application in each environment.
///
/// Where the repository has a chart already, its Applications are written in place of an example. Existing files are never
/// overwritten. What is written is meant to be edited and kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate init                            dev and prod, by a Kustomize base with overlays
git hydrate init --chart dev staging prod   three environments, by a Helm chart
git hydrate init --plain --name shop eu us  plain manifests of shop in eu and us
git hydrate init --source charts/shop dev   what charts/shop has, in dev
git hydrate init --promoter                 each environment is deployed once its staging branch is merged")]
pub(super) struct Arguments {
    /// Write a Kustomize base with an overlay for each environment, as without an option.
    #[arg(long)]
    kustomize: bool,
    /// Write a Helm chart with values for each environment.
    #[arg(long, conflicts_with = "kustomize")]
    chart: bool,
    /// Write plain manifests for each environment.
    #[arg(long, conflicts_with_all = ["kustomize", "chart"])]
    plain: bool,
    /// Hydrate each environment to a staging branch, environments/ENVIRONMENT-next, which a promoter merges: GitOps Promoter, or who
    /// merges pull requests.
    #[arg(long)]
    promoter: bool,
    /// Write no example, but the Applications of what this directory has: a chart, a kustomization or manifests.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kustomize", "chart", "plain"])]
    source: Option<String>,
    /// The name of the application; by default `hello`, or that of the chart which is there.
    #[arg(long, value_parser = label)]
    name: Option<String>,
    /// The environments in the order of promotion, production last.
    #[arg(value_name = "ENVIRONMENT", default_values = ["dev", "prod"], value_parser = label)]
    environments: Vec<String>,
}

/// A file of a start: its path and its text, with placeholders. One with `ENVIRONMENT` in its path is written for each.
type Template = (&'static str, &'static str);

macro_rules! templates {
    ($dir:literal: $($path:literal = $file:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("init/", $dir, "/", $file)))),*]
    };
}

const KUSTOMIZE: &[Template] = templates!("kustomize":
    "applications/ENVIRONMENT.yaml" = "application.yaml",
    "NAME/base/deployment.yaml" = "base/deployment.yaml",
    "NAME/base/kustomization.yaml" = "base/kustomization.yaml",
    "NAME/base/service.yaml" = "base/service.yaml",
    "NAME/ENVIRONMENT/kustomization.yaml" = "overlay.yaml",
);

const CHART: &[Template] = templates!("chart":
    "applications/ENVIRONMENT.yaml" = "application.yaml",
    "NAME/Chart.yaml" = "Chart.yaml",
    "NAME/templates/deployment.yaml" = "deployment.yaml",
    "NAME/templates/service.yaml" = "service.yaml",
    "NAME/values-ENVIRONMENT.yaml" = "values-environment.yaml",
    "NAME/values.yaml" = "values.yaml",
);

const PLAIN: &[Template] = templates!("plain":
    "applications/ENVIRONMENT.yaml" = "application.yaml",
    "NAME/ENVIRONMENT/deployment.yaml" = "deployment.yaml",
    "NAME/ENVIRONMENT/service.yaml" = "service.yaml",
);

/// The longest name of an application or environment: with both, an Application has one of at most 63 characters.
const LABEL_MAX: usize = 31;

/// A name that is one of Kubernetes, a directory and a part of a branch alike.
fn label(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = text.chars().all(is_plain) && !text.is_empty() && !text.starts_with('-') && !text.ends_with('-');
    if !is_label || text.len() > LABEL_MAX {
        return Err(format!("it must have lower case letters, digits and `-` only, and at most {LABEL_MAX} of them"));
    }
    Ok(text.to_owned())
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None).context("to create a repository here: git init")?;
    let Some(top) = repository.worktree() else {
        bail!(WrongUse("a bare repository has no working tree; run this in a clone of it".to_owned()));
    };
    let remote_url = url(&repository);
    let quoted = remote_url.as_deref().map_or_else(|| EXAMPLE_URL.to_owned(), in_yaml);
    let branch = branch(&repository)?;
    let is_example = arguments.kustomize || arguments.chart || arguments.plain;
    let own = if is_example { None } else { Own::of(&repository, arguments.source.as_deref())? };
    let name = arguments.name.as_deref().or(own.as_ref().map(|own| own.name.as_str())).unwrap_or("hello");
    let files = match &own {
        None => files(arguments, name)?,
        Some(own) => {
            let is_there = |path: &str| top.join(path).symlink_metadata().is_ok();
            own.files(name, &arguments.environments, arguments.promoter, is_there)
        }
    };
    let files = placed(files, &branch, &quoted)?;
    let there: Vec<&str> =
        files.iter().map(|(path, _)| path.as_str()).filter(|path| top.join(path).symlink_metadata().is_ok()).collect();
    if !there.is_empty() {
        bail!(WrongUse(format!("nothing was written: these files exist already: {}", there.join(", "))));
    }
    if let Some(link) = files.iter().find_map(|(path, _)| linked(&top, Path::new(path))) {
        let link = printable(&link.display().to_string());
        bail!(WrongUse(format!("nothing was written: {link} is a symbolic link, and may lead elsewhere")));
    }
    let count = applications(&repository)?;
    if count > 0 {
        let who = if count == 1 { "an Application".to_owned() } else { format!("{count} Applications") };
        bail!(WrongUse(format!(
            "nothing was written: this repository has {who} already\nhint: `git hydrate adopt` tells how to hydrate them"
        )));
    }
    if remote_url.is_none() {
        output::warn(&NO_REMOTE);
    }
    for (path, text) in &files {
        let path = top.join(path);
        create(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    let written: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    if json {
        output::print_json(&serde_json::json!({ "written": written }))?;
        return Ok(Outcome::Done);
    }
    let list: String = written.iter().map(|path| format!("wrote  {path}\n")).collect();
    let environments = match arguments.environments.as_slice() {
        [one] => one.clone(),
        several => format!("{} environments", several.len()),
    };
    let next = NEXT.replace("NAME", name).replace("ENVIRONMENTS", &environments);
    let staged = match (arguments.promoter, arguments.environments.first()) {
        (true, Some(first)) => STAGED.replace("FIRST", first),
        _ => String::new(),
    };
    output::print(list + &next + &staged + &server(&repository, remote_url.as_deref(), &top, &branch))?;
    Ok(Outcome::Done)
}

/// The files of a start, each path with its text. The last environment is behind the others, so that there is something to promote.
fn files(arguments: &Arguments, name: &str) -> anyhow::Result<Vec<(String, String)>> {
    let templates = match arguments {
        Arguments { chart: true, .. } => CHART,
        Arguments { plain: true, .. } => PLAIN,
        _ => KUSTOMIZE,
    };
    let environments = &arguments.environments;
    let mut files = Vec::new();
    for (path, text) in templates {
        let for_each = path.contains("ENVIRONMENT");
        for (at, environment) in environments.iter().enumerate().take(if for_each { usize::MAX } else { 1 }) {
            let is_last = environments.len() > 1 && at + 1 == environments.len();
            let (tag, replicas) = if is_last { ("1.29.2", "3") } else { ("1.29.3", "1") };
            let named = |text: &str| text.replace("NAME", name).replace("ENVIRONMENT", environment);
            let text = if path.starts_with("applications/") {
                application(text, arguments.promoter)
            } else {
                (*text).to_owned()
            };
            files.push((named(path), named(&text).replace("TAG", tag).replace("REPLICAS", replicas)));
        }
    }
    Ok(files)
}

/// The files in order, each with the dry branch and the URL of the repository.
fn placed(mut files: Vec<(String, String)>, branch: &str, url: &str) -> anyhow::Result<Vec<(String, String)>> {
    for (_, text) in &mut files {
        *text = text.replace("DRY_BRANCH", branch).replace("REPO_URL", url);
    }
    files.sort();
    let twice = files.iter().zip(files.iter().skip(1)).find(|((path, _), (next, _))| path == next);
    if let Some(((path, _), _)) = twice {
        bail!(WrongUse(format!("two files would be {path}: name each environment once, and none of them `base`")));
    }
    Ok(files)
}

/// The template of an Application, with a staging branch where a promoter merges it.
fn application(template: &str, is_staged: bool) -> String {
    const DEPLOYED: &str = "environments/ENVIRONMENT, from where it is deployed.";
    const STAGED: &str = "environments/ENVIRONMENT-next.\n# A promoter merges that into environments/ENVIRONMENT, from where it is deployed.";
    match is_staged {
        false => template.to_owned(),
        true => {
            template.replace(DEPLOYED, STAGED) + "    hydrateTo:\n      targetBranch: environments/ENVIRONMENT-next\n"
        }
    }
}

/// The first steps on the server, with the paths of this clone and its remote.
fn server(repository: &Repository, url: Option<&str>, top: &Path, branch: &str) -> String {
    let steps = match url {
        None => {
            let name = top.file_name().map_or_else(|| "config".into(), |name| name.to_string_lossy());
            let path = shell_path(&top.with_file_name(format!("{name}.git")));
            let init = format!("git init --bare --initial-branch {} {path}", shell_word(branch));
            format!("  {init}\n  git hydrate install --server {path}\n  git remote add origin {path}\n")
        }
        Some(url) if runs_no_hooks(url) => JOB.to_owned(),
        Some(url) => match (local(url), over_ssh(url)) {
            (Some(path), _) if is_installed(Path::new(path)) => return String::new(),
            (Some(path), _) => format!("  git hydrate install --server {}\n", shell_word(path)),
            (None, _) if has_settings(repository) => return String::new(),
            (None, Some((host, path))) => {
                let command = format!("git hydrate install --server {}", shell_word(path));
                format!(
                    "  on {}, as an account that logs in there and owns the repository:\n  {command}\n",
                    printable(host)
                )
            }
            (None, None) => ANYWHERE.to_owned(),
        },
    };
    format!("\nonce, so that pushes hydrate\n{steps}")
}

/// Whether the remote shows settings of hydration, which an installation begins with.
fn has_settings(repository: &Repository) -> bool {
    let listed = heads::dry_remote(repository)
        .and_then(|remote| repository.git().output(&["ls-remote", "--refs", "--", &remote, SETTINGS_REF]).ok());
    listed.is_some_and(|listed| !listed.is_empty())
}

/// Whether pushes to the repository of this machine at `path` hydrate, as far as can be seen.
fn is_installed(path: &Path) -> bool {
    let repository = Repository::open(path, Location::Named).ok();
    repository
        .is_some_and(|repository| Installer::new(&repository).is_ok_and(|found| found.is_server().unwrap_or(false)))
}

/// Whether the host of a URL is known to run no hooks of its users.
fn runs_no_hooks(url: &str) -> bool {
    let is_host = |host: &&str| url.contains(&format!("//{host}/")) || url.contains(&format!("@{host}"));
    WITHOUT_HOOKS.iter().any(is_host)
}

/// The path of a repository on this machine.
fn local(url: &str) -> Option<&str> {
    url.strip_prefix("file://").or(Some(url)).filter(|path| path.starts_with('/'))
}

/// The host, with a user, and the path of a URL of ssh without a port.
fn over_ssh(url: &str) -> Option<(&str, &str)> {
    let (host, path) = match url.strip_prefix("ssh://") {
        Some(rest) => rest.find('/').map(|slash| rest.split_at(slash))?,
        None => url.split_once(':').filter(|(host, path)| !host.contains('/') && !path.starts_with("//"))?,
    };
    Some((host, path)).filter(|(host, _)| !host.contains(':') && !host.starts_with('-'))
}

/// The first directory above a file that is a symbolic link: what is tracked may lead out of the working tree.
fn linked(top: &Path, file: &Path) -> Option<PathBuf> {
    let mut above: Vec<&Path> = file.ancestors().skip(1).collect();
    above.reverse();
    let is_link = |dir: &Path| top.join(dir).symlink_metadata().is_ok_and(|found| found.is_symlink());
    above.into_iter().filter(|dir| *dir != Path::new("")).find(|dir| is_link(dir)).map(Path::to_owned)
}

/// Writes a file that must not exist yet, and the directories above it.
fn create(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

const NEXT: &str = "
next
  git hydrate diff --worktree                       what each environment would get
  git add . && git commit -m 'Run NAME in ENVIRONMENTS'
  git push                                          hydrates it, if the server does so

`git hydrate` makes the same commits in this clone, below refs/remotes/hydrate/, with any server or none.
";

/// What follows where environments have staging branches.
const STAGED: &str = "
A push changes environments/ENVIRONMENT-next. A promoter merges that into environments/ENVIRONMENT, by a merge commit or a fast-forward.
  git hydrate diff --from FIRST-next --to FIRST       what a promotion brings
  git hydrate doctor REPO.git                       on the server, after the first push: how to name who promotes
";

/// Hosts that run no hooks of their users.
const WITHOUT_HOOKS: [&str; 6] =
    ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com", "ssh.dev.azure.com"];

/// The first step where the host runs no hooks.
const JOB: &str = "  git hydrate push                                  in a job, since this host runs no hooks
";

/// The first steps on a server whose path is not known.
const ANYWHERE: &str =
    "  git hydrate install --server REPO.git             on the server, as the owner of the repository
  git hydrate push                                  in a job, on a host that runs no hooks
";

/// What is written where there is no remote.
const EXAMPLE_URL: &str = "https://git.example.com/hello.git";

const NO_REMOTE: &str = "warning: this clone has no remote, so `repoURL` in applications/*.yaml is an example: write the URL there \
                         that Argo CD clones this repository by, before the first push";

/// How many Applications are counted at most.
const APPLICATIONS_MAX: usize = 100_000;

/// How many Applications the working tree has.
fn applications(repository: &Repository) -> anyhow::Result<usize> {
    let tree = repository.commit(repository.snapshot()?)?.tree;
    let files = TreeFiles::new(repository, tree);
    let found = Discovery::default().discover(&files, &Patterns::default(), &RuleSet::default(), APPLICATIONS_MAX);
    Ok(found.map_or(0, |found| found.documents))
}

/// The URL of the remote; none without a remote.
fn url(repository: &Repository) -> Option<String> {
    let remote = heads::dry_remote(repository);
    let url = remote.and_then(|remote| repository.config(&format!("remote.{remote}.url")))?;
    // What a clone logs in with is not for those who read the repository.
    // Blanks would not be part of a URL: Argo CD and the server refuse them.
    Some(without_credentials(&url).replace(' ', "%20"))
}

/// A URL in the quotes that YAML needs.
fn in_yaml(url: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@+%".contains(c);
    let is_plain = url.chars().all(plain) && url.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
    if is_plain { url.to_owned() } else { go_yaml::json::encode_string(url, false) }
}

fn branch(repository: &Repository) -> anyhow::Result<String> {
    let refs = repository.refs()?;
    Ok(go_yaml::json::encode_string(refs.head_branch().unwrap_or("main"), false).trim_matches('"').to_owned())
}
