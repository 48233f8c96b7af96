//! The Applications that ApplicationSets of a dry tree make.
//!
//! What a set makes is a function of its document and of what its generators read of the same tree, so a set is expanded
//! again only where one of these is another. Each makes all of its Applications or none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Discovered;
use super::reader::too_many_applications;
use crate::application::set::{ARGOCD_NAMESPACE, ApplicationSet, Cluster, Clusters, Home, Limits, Sources};
use crate::application::{Application, By, Document};
use crate::diag::Diagnostic;
use crate::path::RepoPath;
use crate::template;
use crate::view::{ContentId, Files, Reads, View};

/// What all sets of a tree may use up together.
const LIMITS: Limits = Limits {
    applications: usize::MAX,
    params: 500_000,
    bytes: 512 << 20,
    template: template::Limits { steps: 100_000_000, bytes: 64 << 20, depth: 10_000 },
};

/// How many expansions of one set are kept: a run looks at two trees at a time.
const KEPT_MAX: usize = 4;

/// What sets are told beside the dry tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Makers {
    /// Whether Applications that others make are looked for; none when no setting tells, and so not.
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
}

/// An ApplicationSet of a dry tree that mentions `sourceHydrator`.
#[derive(Debug, Clone)]
pub struct FoundSet {
    /// The file that it stands in, and its content.
    pub file: (RepoPath, ContentId),
    /// Which set of the file it is, from 0.
    pub ordinal: usize,
    /// The set.
    pub set: Arc<ApplicationSet>,
}

/// A set of which it is not known what it makes.
#[derive(Debug, Clone)]
pub struct Unanswered {
    /// The set.
    pub by: By,
    /// The file that it stands in.
    pub file: RepoPath,
    /// Why, as an error.
    pub diagnostic: Diagnostic,
}

/// What makers were expanded from.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The file that the maker stands in.
    pub file: RepoPath,
    /// Which of the file it is.
    pub ordinal: usize,
    /// Everything of the dry tree that was looked at.
    pub reads: Arc<Reads>,
}

/// Expansions that were made, also of other dry trees.
#[derive(Debug, Default)]
pub struct Expansions {
    /// What they were made with, beside their trees.
    makers: Makers,
    kept: HashMap<(RepoPath, ContentId, usize), Vec<Arc<Expansion>>>,
}

/// What one set makes, or why that is not known.
#[derive(Debug)]
struct Expansion {
    made: Result<(Vec<Document>, Vec<Diagnostic>), Diagnostic>,
    reads: Arc<Reads>,
    /// The files with Secrets of clusters, if it asked for clusters.
    clusters: Option<Vec<(RepoPath, ContentId)>>,
    /// What it used up, of all but Applications.
    used: Limits,
}

impl Expansions {
    /// Adds to what was found the Applications that its sets make, up to so many in all, and what lists say of clusters.
    ///
    /// Errors: a repository that cannot be read.
    pub fn make(&mut self, discovered: &mut Discovered, files: &dyn Files, makers: &Makers, applications_max: usize) {
        let makers = with_urls(makers, discovered);
        if self.makers != makers {
            self.kept.clear();
            self.makers = makers.clone();
        }
        let view = View::new(files);
        let secrets = &discovered.clusters;
        let clusters =
            Clusters::of_files(&view, ARGOCD_NAMESPACE, secrets.iter().map(|(path, _)| path), &makers.clusters);
        let clusters = Arc::new(clusters);
        if makers.is_on == Some(true) {
            self.expand(discovered, files, &makers, &clusters, applications_max);
        }
        if !makers.clusters.is_empty() {
            discovered.unlisted = clusters.unlisted();
            let reads = clusters.reads().iter().filter(|((path, _), _)| makers.clusters.contains(path));
            let reads = Arc::new(reads.map(|(place, seen)| (place.clone(), *seen)).collect());
            discovered.expanded.push(Expanded { file: makers.clusters[0].clone(), ordinal: LISTS, reads });
            let lists = Lists(Some(clusters));
            for application in &mut discovered.applications {
                if let Some(cluster) = lists.of(application) {
                    Arc::make_mut(application).cluster = Some(cluster);
                }
            }
        }
    }

    fn expand(
        &mut self,
        discovered: &mut Discovered,
        files: &dyn Files,
        makers: &Makers,
        clusters: &Arc<Clusters>,
        applications_max: usize,
    ) {
        let mut left = LIMITS;
        for found in discovered.sets.clone() {
            let applications_left = applications_max.saturating_sub(discovered.applications.len());
            let expansion = self.expansion(&found, discovered, files, makers, clusters, &left);
            take_off(&mut left, &expansion.used);
            discovered.expanded.push(Expanded {
                file: found.file.0.clone(),
                ordinal: found.ordinal,
                reads: expansion.reads.clone(),
            });
            let unanswered = |diagnostic| Unanswered { by: found.set.by(), file: found.file.0.clone(), diagnostic };
            match &expansion.made {
                Ok((documents, _)) if documents.len() > applications_left => {
                    let diagnostic = Diagnostic::error(too_many_applications(applications_max)).at(found.set.span());
                    discovered.unanswered.push(unanswered(diagnostic));
                }
                Ok((documents, warnings)) => {
                    discovered.mistakes.extend(warnings.iter().map(|warning| (None, warning.clone())));
                    for document in documents {
                        discovered.take(document);
                    }
                }
                Err(diagnostic) => discovered.unanswered.push(unanswered(diagnostic.clone())),
            }
        }
    }

    /// What one set makes of a tree.
    fn expansion(
        &mut self,
        found: &FoundSet,
        discovered: &Discovered,
        files: &dyn Files,
        makers: &Makers,
        clusters: &Arc<Clusters>,
        left: &Limits,
    ) -> Arc<Expansion> {
        let key = (found.file.0.clone(), found.file.1, found.ordinal);
        let kept = self.kept.entry(key).or_default();
        let view = View::new(files);
        let holds = |expansion: &&Arc<Expansion>| {
            expansion.clusters.as_ref().is_none_or(|clusters| *clusters == discovered.clusters)
                && fits(&expansion.used, left)
                && view.confirms(&expansion.reads).unwrap_or(false)
        };
        if let Some(known) = kept.iter().find(holds) {
            return known.clone();
        }
        let home = Home {
            repo_urls: makers.repo_urls.clone(),
            revisions: makers.revisions.clone(),
            is_beside_head: makers.is_beside_head,
        };
        let sources =
            Sources::new(&view, home).with_recorded_files(makers.parameters.clone()).with_clusters(clusters.clone());
        let of_set = Limits::default();
        let mut limits = Limits {
            applications: of_set.applications,
            params: of_set.params.min(left.params),
            bytes: of_set.bytes.min(left.bytes),
            template: template::Limits { steps: of_set.template.steps.min(left.template.steps), ..of_set.template },
        };
        let before = limits;
        let made = found.set.expand_within(&sources, &mut limits);
        let made = made.map(|expanded| (found.set.documents(&expanded), expanded.warnings));
        let expansion = Arc::new(Expansion {
            made: made.map_err(|diagnostic| {
                let what = format!("{} makes no Applications: {}", found.set.by(), diagnostic.message);
                Diagnostic { message: what, ..diagnostic }
            }),
            reads: Arc::new(view.reads()),
            clusters: sources.used_clusters().then(|| discovered.clusters.clone()),
            used: Limits {
                applications: 0,
                params: before.params - limits.params,
                bytes: before.bytes - limits.bytes,
                template: template::Limits { steps: before.template.steps - limits.template.steps, ..before.template },
            },
        });
        kept.truncate(KEPT_MAX - 1);
        kept.insert(0, expansion.clone());
        expansion
    }
}

/// What lists of clusters say.
#[derive(Debug)]
pub struct Lists(Option<Arc<Clusters>>);

impl Lists {
    /// Reads the lists; nothing is said where one of them cannot be read.
    pub fn read(view: &View<'_>, lists: &[RepoPath]) -> Self {
        let read = || Arc::new(Clusters::of_files(view, ARGOCD_NAMESPACE, std::iter::empty(), lists));
        Self((!lists.is_empty()).then(read))
    }

    /// An Application with what is known of its cluster.
    pub fn known(&self, application: &Application) -> Application {
        Application { cluster: self.of(application), ..application.clone() }
    }

    /// What renders of an Application are told of its cluster; none when that is nothing.
    fn of(&self, application: &Application) -> Option<Arc<Cluster>> {
        let cluster = self.0.as_ref()?.listed(application.destination_cluster.as_deref()?)?;
        (cluster.kube_version.is_some() || !cluster.api_versions.is_empty()).then(|| Arc::new(cluster.clone()))
    }
}

/// The ordinal of the lists of clusters among makers.
const LISTS: usize = usize::MAX;

fn fits(used: &Limits, left: &Limits) -> bool {
    used.params <= left.params && used.bytes <= left.bytes && used.template.steps <= left.template.steps
}

fn take_off(left: &mut Limits, used: &Limits) {
    left.params = left.params.saturating_sub(used.params);
    left.bytes = left.bytes.saturating_sub(used.bytes);
    left.template.steps = left.template.steps.saturating_sub(used.template.steps);
}

/// The same with the URLs that Applications and templates of sets have for this repository, when no setting names any. Whether
/// they are right is judged with the Applications.
fn with_urls(makers: &Makers, discovered: &Discovered) -> Makers {
    let mut makers = makers.clone();
    if makers.repo_urls.is_empty() {
        let of_application = |application: &Arc<Application>| application.dry.repo_url.clone();
        let of_set = |found: &FoundSet| found.set.repo_url().map(str::to_owned);
        let all: BTreeSet<String> = discovered.applications.iter().map(of_application).collect();
        let all: BTreeSet<String> = all.into_iter().chain(discovered.sets.iter().filter_map(of_set)).collect();
        makers.repo_urls = all.into_iter().collect();
    }
    makers
}
