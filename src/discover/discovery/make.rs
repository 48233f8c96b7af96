//! The Applications that others make: ApplicationSets of a dry tree, and Applications that render more of them.
//!
//! What a maker makes is a function of its document and of what is read of the tree for it, so a maker is expanded
//! again only if one of these changed. Each makes all of its Applications or none.
//!
//! Sets are expanded here. Applications are rendered by what [`Renders`], and only those whose sources have the word
//! `sourceHydrator`, or may contain what a rule is for ([`Reach`]). What they render may make Applications again; [`MadeLimits`]
//! ends that.

mod again;
mod parents;
mod pass;
mod sets;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Files, Reads, View};
use go_yaml::Value;

use super::Discovered;
use crate::argo::parent::{Makes, Reach, Root};
use crate::argo::set::{Answer, ApplicationSet, Cluster, Clusters, Home, Limits, Only, Question};
use crate::argo::{Application, By, Patterns, RuleSet};
use crate::known::Used;
use crate::manifest::as_known;

pub(crate) use again::{Again, expand_again, render_again};
use pass::has_room;

/// How many expansions of one maker are kept: a run looks at two trees at a time.
const KEPT_MAX: usize = 4;

/// What makers are given beside the dry tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Makers {
    /// Whether Applications that others make are looked for; none when no setting says so, and so not.
    pub is_on: Option<bool>,
    /// The URLs of the repository; empty when no setting names any.
    pub repo_urls: Vec<String>,
    /// What the dry branch can be named by.
    pub revisions: Vec<String>,
    /// Whether `HEAD` is another branch.
    pub is_beside_head: bool,
    /// The files with lists of clusters.
    pub clusters: Vec<RepoPath>,
    /// The files with recorded parameters, by the name of the set.
    pub parameters: BTreeMap<String, RepoPath>,
    /// The namespace of Argo CD.
    pub argocd_namespace: String,
    /// The Applications that live in the cluster only.
    pub roots: Vec<Root>,
    /// Which plain Applications are hydrated.
    pub rules: RuleSet,
    /// The files that are searched for Applications.
    pub applications: Patterns,
    /// How much may be made.
    pub limits: MadeLimits,
}

impl Makers {
    /// The Applications of the setting `roots`, in its order.
    pub fn root_applications(&self) -> Vec<Application> {
        let url = self.repo_urls.first().map_or("", String::as_str);
        let revision = self.revisions.first().map_or("HEAD", String::as_str);
        self.roots.iter().filter_map(|root| root.application(url, revision, &self.rules)).collect()
    }
}

/// How much may be made of one dry tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MadeLimits {
    /// Applications in all, those in files included.
    pub applications: usize,
    /// How many Applications may render one another in a row.
    pub depth: usize,
    /// How many Applications may be rendered for what they make.
    pub makers: usize,
}

/// Renders Applications and expands sets for what they make, within the limits of this machine.
pub trait Renders {
    /// What Applications render of a tree, in their order.
    fn render(&self, parents: &[&Application], files: &dyn Files) -> Vec<RenderedParent>;

    /// What a set makes of a tree, whose clusters are these.
    fn expand(&self, found: &FoundSet, question: &Question, clusters: &Arc<Clusters>, files: &dyn Files) -> Answered;
}

/// What expanding a set came to.
#[derive(Debug)]
pub struct Answered {
    /// What it makes, or the limit of this machine that it reached, with its key.
    pub answer: Result<Answer, String>,
    /// Everything of the dry tree that was looked at until then.
    pub reads: Reads,
    /// Whether it comes to the same wherever `reads` are confirmed.
    pub repeats: bool,
}

/// What rendering a parent came to.
#[derive(Debug)]
pub struct RenderedParent {
    /// The Applications and ApplicationSets among its objects, in their order.
    pub objects: Result<Vec<Value>, ParentFailure>,
    /// Everything of the dry tree that was looked at.
    pub reads: Reads,
    /// Whether it comes to the same wherever `reads` are confirmed.
    pub repeats: bool,
}

/// Why a parent was not rendered.
#[derive(Debug)]
pub enum ParentFailure {
    /// Mistakes of the dry commit.
    Mistakes(Vec<Diagnostic>),
    /// A limit of this machine.
    Limit(String),
    /// The world failed.
    World(String),
}

/// An ApplicationSet of a dry tree that mentions `sourceHydrator`, or falls under a rule.
#[derive(Debug, Clone)]
pub struct FoundSet {
    /// The file that it is in, and its content; of one that is rendered, the file of what renders it, and an id of the
    /// set.
    pub file: (RepoPath, ContentId),
    /// Which set of the file it is, from 0; of one that is rendered, a number that follows from its name.
    pub ordinal: usize,
    /// The set.
    pub set: Arc<ApplicationSet>,
}

/// A maker whose Applications are unknown.
#[derive(Debug, Clone)]
pub struct Unanswered {
    /// The maker.
    pub by: By,
    /// The file that it is in.
    pub file: RepoPath,
    /// Why, as an error.
    pub diagnostic: Diagnostic,
    /// Whether a limit of this machine is the reason, which says nothing about the dry commit.
    pub is_limit: bool,
    /// Whether the same is said of the maker itself, as of an Application that does not render.
    pub is_reported: bool,
    /// Whether it is a set that asks for the clusters of Argo CD.
    pub asks_for_clusters: bool,
}

/// What makers were expanded from.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The file that the maker is in.
    pub file: RepoPath,
    /// Which of the file it is.
    pub ordinal: usize,
    /// Everything of the dry tree that was looked at.
    pub reads: Arc<Reads>,
    /// Whether it makes the same wherever `reads` are confirmed.
    pub repeats: bool,
    /// What it used up, of all but Applications.
    pub used: Used,
}

/// Expansions that were made, also of other dry trees.
#[derive(Debug, Default)]
pub(super) struct Expansions {
    /// What they were made with, beside their trees.
    makers: Makers,
    kept: HashMap<Key, Vec<Arc<Expansion>>>,
    reach: Reach,
}

/// The file of a maker, an id of the maker, and which of the file it is.
type Key = (RepoPath, ContentId, usize);

/// What one maker makes, or why that is not known.
#[derive(Debug)]
struct Expansion {
    made: Result<Makes, Refused>,
    reads: Arc<Reads>,
    repeats: bool,
    /// The files with Secrets of clusters, if it asked for clusters.
    clusters: Option<Vec<(RepoPath, ContentId)>>,
    /// What it used up, of all but Applications.
    used: Limits,
    /// What the Applications cost that it makes.
    cost: u64,
}

impl Expansion {
    /// What decides whether it is still the same.
    fn noted(&self, file: RepoPath, ordinal: usize) -> Expanded {
        let Limits { params, bytes, template, .. } = self.used;
        let used = Used { params: params as u64, bytes: bytes as u64, steps: template.steps };
        Expanded { file, ordinal, reads: self.reads.clone(), repeats: self.repeats, used }
    }
}

/// Why the Applications of a maker are unknown.
#[derive(Debug, Clone)]
struct Refused {
    diagnostic: Diagnostic,
    is_limit: bool,
}

/// The ordinal of the lists of clusters among makers.
const LISTS: usize = usize::MAX;

impl Expansions {
    /// Adds to what was found the Applications that others make, and what lists say of clusters.
    ///
    /// Errors: a repository that cannot be read, or tools that cannot be run.
    pub(super) fn make(
        &mut self,
        discovered: &mut Discovered,
        files: &dyn Files,
        makers: &Makers,
        renders: &dyn Renders,
    ) -> Result<(), String> {
        let makers = with_urls(makers, discovered);
        if self.makers != makers {
            self.kept.clear();
            self.reach = Reach::new(!makers.rules.is_empty(), makers.rules.inputs());
            self.makers = makers.clone();
        }
        let view = View::new(files);
        let secrets = discovered.clusters.iter().map(|(path, _)| path);
        let clusters = Arc::new(Clusters::of_files(&view, &makers.argocd_namespace, secrets, &makers.clusters));
        let lists = Lists((!makers.clusters.is_empty()).then(|| clusters.clone()));
        if makers.is_on == Some(true) {
            let site = Site { files, makers: &makers, clusters: &clusters, lists: &lists, renders, only: None };
            self.expand(discovered, &site)?;
        }
        if !makers.clusters.is_empty() {
            discovered.unlisted = clusters.unlisted();
            let reads = clusters.reads().iter().filter(|((path, _), _)| makers.clusters.contains(path));
            let reads = Arc::new(reads.map(|(place, seen)| (place.clone(), *seen)).collect());
            let file = makers.clusters[0].clone();
            discovered.expanded.push(Expanded { file, ordinal: LISTS, reads, repeats: true, used: Used::default() });
            for application in &mut discovered.applications {
                if lists.knows(application) {
                    *application = Arc::new(lists.known(application));
                }
            }
        }
        Ok(())
    }

    /// Where a written file turns out to be what a kustomization of a parent or an Application of a set is made of, what it
    /// contains is not an Application of its own: everything is expanded once more without it. What was expanded is kept, so that costs little.
    fn expand(&mut self, discovered: &mut Discovered, site: &Site<'_>) -> Result<(), String> {
        let written = discovered.clone();
        let (mut inputs, mut parameters) = (BTreeSet::new(), BTreeMap::new());
        for _ in 0..=site.makers.limits.depth {
            let found = self.pass(discovered, site)?;
            if found.built.is_empty() && found.parameters.is_empty() {
                break;
            }
            inputs.extend(found.built);
            inputs.extend(found.parameters.keys().cloned());
            parameters.extend(found.parameters);
            *discovered = written.clone();
            discovered.leave_out(&inputs);
        }
        discovered.parameters = parameters;
        Ok(())
    }

    fn known(&mut self, key: &Key, is_valid: impl Fn(&Expansion) -> bool) -> Option<Arc<Expansion>> {
        self.kept.get(key)?.iter().find(|expansion| is_valid(expansion)).cloned()
    }

    /// Keeps an expansion for other trees. What a tree has no room for would only take memory.
    fn keep(&mut self, key: Key, expansion: &Arc<Expansion>, discovered: &Discovered) {
        if expansion.repeats && has_room(discovered, expansion.cost) {
            let kept = self.kept.entry(key).or_default();
            kept.truncate(KEPT_MAX - 1);
            kept.insert(0, expansion.clone());
        }
    }
}

/// What all makers of a tree are expanded with.
struct Site<'a> {
    files: &'a dyn Files,
    makers: &'a Makers,
    clusters: &'a Arc<Clusters>,
    lists: &'a Lists,
    renders: &'a dyn Renders,
    /// The part of the tree that `git` generators look at; all of it without one.
    only: Option<&'a Only>,
}

impl Site<'_> {
    fn home(&self) -> Home {
        Home {
            repo_urls: self.makers.repo_urls.clone(),
            revisions: self.makers.revisions.clone(),
            is_beside_head: self.makers.is_beside_head,
        }
    }
}

/// What lists of clusters say.
#[derive(Debug)]
pub(crate) struct Lists(Option<Arc<Clusters>>);

impl Lists {
    /// Reads the lists; nothing is said where one of them cannot be read.
    pub(crate) fn read(view: &View<'_>, lists: &[RepoPath]) -> Self {
        // Only Secrets have a namespace.
        let read = || Arc::new(Clusters::of_files(view, "", std::iter::empty(), lists));
        Self((!lists.is_empty()).then(read))
    }

    /// An Application with what is known of its cluster.
    pub(crate) fn known(&self, application: &Application) -> Application {
        let destination_cluster = self.server_of(application).or_else(|| application.destination_cluster.clone());
        Application { cluster: self.of(application), destination_cluster, ..application.clone() }
    }

    fn knows(&self, application: &Application) -> bool {
        self.of(application).is_some() || self.server_of(application).is_some()
    }

    /// The server of the cluster that an Application names by its name: one that names the server deploys to the same cluster.
    fn server_of(&self, application: &Application) -> Option<String> {
        let destination = application.destination_cluster.as_deref()?;
        let server = as_known(&self.0.as_ref()?.listed(destination)?.server);
        (server != destination && !server.is_empty()).then_some(server)
    }

    /// What renders of an Application are given of its cluster; none when that is nothing.
    fn of(&self, application: &Application) -> Option<Arc<Cluster>> {
        let cluster = self.0.as_ref()?.listed(application.destination_cluster.as_deref()?)?;
        (cluster.kube_version.is_some() || !cluster.api_versions.is_empty()).then(|| Arc::new(cluster.clone()))
    }
}

/// The makers with the URLs that Applications and templates of sets have for this repository, when no setting names
/// any. Whether they are right is judged with the Applications.
fn with_urls(makers: &Makers, discovered: &Discovered) -> Makers {
    let mut makers = makers.clone();
    if makers.repo_urls.is_empty() {
        let of_application =
            |application: &Arc<Application>| application.has_own_source().then(|| application.dry.repo_url.clone());
        let of_set = |found: &FoundSet| found.set.repo_url().map(str::to_owned);
        let all: BTreeSet<String> = discovered.applications.iter().filter_map(of_application).collect();
        let all: BTreeSet<String> = all.into_iter().chain(discovered.sets.iter().filter_map(of_set)).collect();
        makers.repo_urls = all.into_iter().collect();
    }
    makers
}
