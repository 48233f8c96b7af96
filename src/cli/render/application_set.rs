//! `git hydrate render applicationset`: what the ApplicationSets of a file make.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Parser;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, DiskFiles, Entry, Files, Kind, Unreadable, View};
use go_yaml as yaml;

use super::super::{Outcome, WrongUse, output};
use super::{below_root, flags, tell};
use crate::argo::set::{self, Home, Limits, Recorded, Sources};
use crate::discover::Makers;
use crate::inspect;
use crate::repo::{Location, Repository};

/// Prints the Applications that the ApplicationSets of a file make, without a cluster and without a network.
///
/// `git` generators read the files of the tree as they are on disk, when they name this repository and its `HEAD` or the
/// branch that is checked out. `clusters` generators read the Secrets of clusters in the tree. In a repository, its settings
/// hold: `clusters`, `applicationSets`, `argocdNamespace`, `vendorDirectory`, whose paths count from the tree.
#[derive(Debug, Parser)]
#[command(
    name = "git hydrate render applicationset",
    disable_version_flag = true,
    no_binary_name = true,
    after_help = "\
git hydrate render applicationset sets/apps.yaml
git hydrate render applicationset sets/apps.yaml --tree ../dry --repo-url https://git.example.com/shop/config.git"
)]
struct Flags {
    /// The file with the sets, or `-` for standard input.
    file: PathBuf,
    /// The directory that `git` generators read; by default the repository that holds the file.
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// A URL of the repository that the tree is from; by default those of its remotes and of the setting `repoURL`. May be
    /// given more than once.
    #[arg(long, value_name = "URL")]
    repo_url: Vec<String>,
    /// Another name of the tree's revision, such as a branch. May be given more than once.
    #[arg(long, value_name = "NAME")]
    revision: Vec<String>,
    /// The namespace of Argo CD, in which the Secrets of its clusters are; by default the setting `argocdNamespace`, else
    /// `argocd`.
    #[arg(long, value_name = "NAME")]
    argocd_namespace: Option<String>,
    /// Params of generators that git cannot answer: a YAML mapping of the generator's name (`pullRequest`, `plugin`,
    /// `scmProvider`, `clusterDecisionResource`) to the list of its params; by default what the setting `applicationSets`
    /// names for each set.
    #[arg(long, value_name = "FILE")]
    recorded: Option<PathBuf>,
}

pub(super) fn run(arguments: &[&str]) -> anyhow::Result<Outcome> {
    let Some(flags) = flags::<Flags>(arguments)? else { return Ok(Outcome::Done) };
    let (file, bytes) = read(&flags.file)?;
    let sets = match set::read_sets(&file, &bytes) {
        Ok(sets) => sets,
        Err(diagnostic) => return Ok(failed(diagnostic, &below_root)),
    };
    if sets.is_empty() {
        bail!("{} has no ApplicationSet", flags.file.display());
    }
    let tree = tree(&flags)?;
    let files = WithoutEmpty(DiskFiles::new(&tree));
    let view = View::new(&files);
    let around = Repository::open(&tree, Location::Discover).ok();
    let makers = around.as_ref().map(inspect::settings_of_makers).transpose()?.unwrap_or_default();
    let of_settings = around.as_ref().map(|_| makers.argocd_namespace.as_str());
    let namespace = flags.argocd_namespace.as_deref().or(of_settings).unwrap_or(set::ARGOCD_NAMESPACE);
    let sources = Sources::new(&view, home(&flags, around.as_ref(), &makers))
        .in_namespace(namespace)
        .with_lists(makers.clusters.clone())
        .with_inputs_in(makers.rules.inputs().clone());
    let sources = match flags.recorded.as_deref() {
        Some(file) => sources.with_recorded(recorded(file)?),
        None => sources.with_recorded_files(makers.parameters.clone()),
    };
    let tree_path = RepoPath::clean(tree.to_string_lossy().trim_start_matches('/'))?;
    // A place in a file of the tree, or in the file of the sets.
    let place = |span: Span| {
        below_root(if span.path == file { span } else { Span { path: tree_path.join(&span.path), ..span } })
    };
    let mut outcome = Outcome::Done;
    let mut printed = 0;
    for set in &sets {
        match set.expand(&sources, &Limits::default()) {
            Ok(expanded) => {
                for warning in expanded.warnings {
                    failed(warning, &place);
                }
                for application in &expanded.applications {
                    if printed > 0 {
                        output::print("---\n")?;
                    }
                    output::print(yaml::sigs::marshal(&application.object)?)?;
                    printed += 1;
                }
            }
            Err(diagnostic) => outcome = failed(diagnostic, &place),
        }
    }
    Ok(outcome)
}

/// Says what is wrong, at a place as it is named from here.
fn failed(mut diagnostic: Diagnostic, place: &impl Fn(Span) -> Span) -> Outcome {
    diagnostic.span = diagnostic.span.map(place);
    tell(&diagnostic);
    Outcome::Found
}

/// The path of a file below the root of this machine, and its bytes.
fn read(file: &Path) -> anyhow::Result<(RepoPath, Vec<u8>)> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).context("reading standard input")?;
        return Ok((RepoPath::clean("standard input")?, bytes));
    }
    let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let absolute = std::path::absolute(file).with_context(|| file.display().to_string())?;
    let text = absolute.to_str().with_context(|| format!("{}: not UTF-8", file.display()))?;
    Ok((RepoPath::clean(text.trim_start_matches('/'))?, bytes))
}

/// The tree that was named, or the work tree of the repository that the file is in, or the directory of the file.
fn tree(flags: &Flags) -> anyhow::Result<PathBuf> {
    let beside = match flags.file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && flags.file != Path::new("-") => parent,
        _ => Path::new("."),
    };
    let dir = match &flags.tree {
        Some(dir) => dir.clone(),
        None => {
            let around = Repository::open(beside, Location::Discover).ok().and_then(|repository| repository.worktree());
            around.unwrap_or_else(|| beside.to_path_buf())
        }
    };
    let tree = dir.canonicalize().with_context(|| format!("reading the tree {}", dir.display()))?;
    match tree.is_dir() {
        true => Ok(tree),
        false => bail!(WrongUse(format!("the tree {} is not a directory", dir.display()))),
    }
}

/// Where the tree is from: what was named, and what the repository around it says.
fn home(flags: &Flags, around: Option<&Repository>, makers: &Makers) -> Home {
    let mut home = Home { repo_urls: flags.repo_url.clone(), revisions: flags.revision.clone(), is_beside_head: false };
    let Some(repository) = around else { return home };
    if home.repo_urls.is_empty() {
        let url = |remote: String| repository.config(&format!("remote.{remote}.url"));
        home.repo_urls = repository.remotes().into_iter().filter_map(url).collect();
        home.repo_urls.extend(makers.repo_urls.iter().cloned());
    }
    let head = repository.refs().ok().and_then(|refs| refs.head_branch().map(str::to_owned));
    if let Some(branch) = head {
        home.revisions.push(format!("refs/heads/{branch}"));
        home.revisions.insert(0, branch);
    }
    home.revisions.extend(repository.rev_parse("HEAD").ok().map(|commit| commit.to_string()));
    home
}

/// Params that were recorded, by the names of generators.
fn recorded(file: &Path) -> anyhow::Result<Recorded> {
    let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    Ok(set::read_recorded(&bytes).map_err(|reason| WrongUse(format!("{}: {reason}", file.display())))?)
}

/// Files of a directory as git would have them: without directories that contain no file.
struct WithoutEmpty(DiskFiles);

impl WithoutEmpty {
    fn is_in_git(&self, dir: &RepoPath, entry: &Entry) -> bool {
        entry.kind != Kind::Directory || dir.child(&entry.name).is_ok_and(|path| self.has_files(&path, entry.id))
    }

    fn has_files(&self, dir: &RepoPath, id: ContentId) -> bool {
        let entries = self.0.list(dir, id).unwrap_or_default();
        entries.iter().any(|entry| self.is_in_git(dir, entry))
    }
}

impl Files for WithoutEmpty {
    fn list(&self, dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, String> {
        let entries = self.0.list(dir, id)?;
        Ok(entries.iter().filter(|entry| self.is_in_git(dir, entry)).cloned().collect())
    }

    fn read(&self, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
        self.0.read(path, id)
    }

    fn size(&self, path: &RepoPath, id: ContentId) -> Result<u64, Unreadable> {
        self.0.size(path, id)
    }

    fn root(&self) -> ContentId {
        self.0.root()
    }
}
