//! One pass over all makers of a tree, from those in files to what they make, and on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::super::super::reader::{PARSED_BYTES_MAX, TooMuch, too_many_applications};
use super::super::Discovered;
use super::parents::{Asked, contents};
use super::sets::{LIMITS, take_off};
use super::{Expansion, Expansions, FoundSet, Refused, Site, Unanswered};
use crate::argo::parent::{Makes, Parent};
use crate::argo::set::{ApplicationSet, Limits};
use crate::argo::{AppName, Application, By, Document, FullName, is_kustomization};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// The namespace and the name of an Application.
type Name = (Option<AppName>, AppName);

/// Where a pass is.
struct Pass {
    /// What sets have left.
    left: Limits,
    /// Sets that are to be expanded.
    sets: Vec<FoundSet>,
    /// How many of the Applications were looked at already.
    looked_at: usize,
    /// Their names.
    names: BTreeSet<FullName>,
    /// Those that are in files.
    written: HashMap<Name, Vec<Arc<Application>>>,
    /// The sets that do.
    written_sets: Vec<FoundSet>,
    /// What was made, but for what another maker makes just so.
    made: HashMap<Name, Vec<Arc<Application>>>,
    /// The files that parents read as part of a kustomization, and that contain what they render otherwise.
    inputs: BTreeSet<RepoPath>,
    /// The files with an Application of which a set makes the Application of that name.
    parameters: BTreeMap<RepoPath, By>,
}

/// Files whose content counts only as what something else is made of.
pub(super) struct Inputs {
    /// Those of kustomizations.
    pub built: BTreeSet<RepoPath>,
    /// Those that sets read as parameters, each with the set.
    pub parameters: BTreeMap<RepoPath, By>,
}

impl Expansions {
    /// Adds what all makers make. Answers the files that have no Applications of their own.
    pub(super) fn pass(&mut self, discovered: &mut Discovered, site: &Site<'_>) -> Result<Inputs, String> {
        let mut pass = Pass::new(discovered);
        let mut roots = roots(site);
        let mut rendered = 0;
        for depth in 0..=site.makers.limits.depth {
            for found in std::mem::take(&mut pass.sets) {
                let expansion = self.of_set(&found, discovered, site, &pass.left);
                take_off(&mut pass.left, &expansion.used);
                pass.take_set(discovered, &found, &expansion, site);
            }
            let mut asked = std::mem::take(&mut roots);
            asked.extend(self.parents(discovered, &mut pass, site));
            if asked.is_empty() {
                break;
            }
            let limits = &site.makers.limits;
            rendered += asked.len();
            let makers = limits.makers;
            let why = if depth == limits.depth {
                Some(format!(
                    "Applications that make each other are nested {depth} deep; the setting limits.madeDepth sets \
                    the limit"
                ))
            } else if rendered > makers {
                Some(format!(
                    "a dry tree has more than {makers} Applications that may make others; the setting \
                    limits.makers sets the limit"
                ))
            } else {
                None
            };
            if let Some(why) = why {
                discovered.unanswered.extend(asked.iter().map(|asked| too_much(asked, &why)));
                break;
            }
            let expansions = self.of_parents(&asked, discovered, site)?;
            for (asked, expansion) in asked.iter().zip(expansions) {
                pass.take_parent(discovered, asked, &expansion, site);
            }
        }
        Ok(Inputs { built: pass.inputs, parameters: pass.parameters })
    }

    /// The Applications that were not looked at yet and may render others.
    fn parents(&mut self, discovered: &Discovered, pass: &mut Pass, site: &Site<'_>) -> Vec<Asked> {
        let home = site.home();
        let mut asked = Vec::new();
        for application in discovered.applications.iter().skip(pass.looked_at) {
            let is_root = site.makers.roots.iter().any(|root| root.name == application.name);
            // One of each name: what makes itself is not asked for ever.
            if is_root || !pass.names.insert(application.full_name()) {
                continue;
            }
            let is_here = match application.has_own_source() {
                true => home.is_here(&application.dry.repo_url, application.revision_name()),
                false => !home.is_beside_head,
            };
            if is_here && self.reach.may_make(application, site.files) {
                asked.push(Asked { parent: Parent::of(application), application: site.lists.known(application) });
            }
        }
        pass.looked_at = discovered.applications.len();
        asked
    }
}

fn roots(site: &Site<'_>) -> Vec<Asked> {
    let root = |application| Asked { parent: Parent::root(&application), application };
    site.makers.root_applications().into_iter().map(root).collect()
}

fn too_much(asked: &Asked, why: &str) -> Unanswered {
    let Parent { by, file, place, .. } = &asked.parent;
    let text = format!("{by} makes no Applications: {why}");
    let diagnostic = asked.application.tells(Diagnostic::error(text).at(place.clone()));
    Unanswered {
        by: by.clone(),
        file: file.clone(),
        diagnostic,
        is_limit: false,
        is_reported: false,
        asks_for_clusters: false,
    }
}

impl Pass {
    fn new(discovered: &Discovered) -> Self {
        let mut written: HashMap<Name, Vec<Arc<Application>>> = HashMap::new();
        for application in &discovered.applications {
            let name = (application.namespace.clone(), application.name.clone());
            written.entry(name).or_default().push(application.clone());
        }
        Self {
            left: LIMITS,
            sets: discovered.sets.clone(),
            looked_at: 0,
            names: BTreeSet::new(),
            written,
            written_sets: discovered.sets.clone(),
            made: HashMap::new(),
            inputs: BTreeSet::new(),
            parameters: BTreeMap::new(),
        }
    }

    /// Takes in what a maker makes: what several make alike is one Application, as it is in the cluster.
    fn take(&mut self, discovered: &mut Discovered, document: &Document) {
        if let Some(application) = &document.application {
            let made = self.made.entry((application.namespace.clone(), application.name.clone())).or_default();
            if let Some(first) = made.iter().find(|first| first.is_made_alike(application)) {
                return discovered.note_other_maker(first, application);
            }
            made.push(application.clone());
        }
        discovered.take(document);
    }

    fn take_set(&mut self, discovered: &mut Discovered, found: &FoundSet, expansion: &Expansion, site: &Site<'_>) {
        let (file, ordinal) = (found.file.0.clone(), found.ordinal);
        discovered.expanded.push(expansion.noted(file.clone(), ordinal));
        match fitting(expansion, discovered, site, || Diagnostic::error("").at(found.set.span())) {
            Err(Refused { diagnostic, is_limit }) => {
                let (by, asks_for_clusters) = (found.set.by(), found.set.asks_for_clusters());
                let unanswered = Unanswered { by, file, diagnostic, is_limit, is_reported: false, asks_for_clusters };
                discovered.unanswered.push(unanswered);
            }
            Ok(makes) => {
                discovered.cost += expansion.cost;
                discovered.take_odd(makes);
                self.note_parameters(makes);
                makes.documents.iter().for_each(|document| self.take(discovered, document));
            }
        }
    }

    /// A file of which a set makes an Application is a parameter of the set: the Application of that name in the file is applied by
    /// nothing.
    fn note_parameters(&mut self, makes: &Makes) {
        for application in makes.documents.iter().filter_map(|document| document.application.as_ref()) {
            let Some(maker) = &application.maker else { continue };
            let read = &maker.element.place.path;
            let names = [application.namespace.clone(), None].map(|namespace| (namespace, application.name.clone()));
            let mut written = names.iter().filter_map(|name| self.written.get(name)).flatten();
            if *read != application.file && written.any(|written| written.file == *read) {
                self.parameters.insert(read.clone(), maker.by.clone());
            }
        }
    }

    fn take_parent(&mut self, discovered: &mut Discovered, asked: &Asked, expansion: &Expansion, site: &Site<'_>) {
        let Parent { by, file, place, .. } = &asked.parent;
        discovered.expanded.push(expansion.noted(file.clone(), asked.parent.ordinal()));
        let is_reported = !matches!(by, By::Root { .. });
        let unanswered = |Refused { diagnostic, is_limit }, is_reported| {
            let (by, file) = (by.clone(), file.clone());
            Unanswered { by, file, diagnostic, is_limit, is_reported, asks_for_clusters: false }
        };
        let makes = match fitting(expansion, discovered, site, || Diagnostic::error("").at(place.clone())) {
            Ok(makes) => makes,
            Err(refused) => {
                let is_reported = is_reported && expansion.made.is_err();
                return discovered.unanswered.push(unanswered(refused, is_reported));
            }
        };
        discovered.cost += expansion.cost;
        discovered.take_odd(makes);
        let read: BTreeSet<&RepoPath> = contents(&expansion.reads).collect();
        if is_built(&asked.application, &read) && !makes.is_empty() {
            self.note_inputs(discovered, makes, &read);
        }
        for document in &makes.documents {
            let is_loose = document.application.is_none() && document.environment_branch.is_none();
            // It is unknown which branch it is for: it may be any that this parent fed.
            if let Some(mistake) = document.diagnostics.iter().find(|mistake| mistake.is_error() && is_loose) {
                let refused = Refused { diagnostic: mistake.clone(), is_limit: false };
                discovered.unanswered.push(unanswered(refused, true));
            }
            if !self.is_written(document, &read) {
                self.take(discovered, document);
            }
        }
        for set in &makes.sets {
            if !self.is_written_set(set, &read) {
                let ordinal = asked.parent.index_of(set.name().unwrap_or_default()) >> 1;
                self.sets.push(FoundSet { file: (file.clone(), set.id()), ordinal, set: set.clone() });
            }
        }
    }

    /// Whether the same is in one of these files.
    fn is_written(&self, document: &Document, read: &BTreeSet<&RepoPath>) -> bool {
        let Some(application) = &document.application else { return false };
        let name = (application.namespace.clone(), application.name.clone());
        let same = self.written.get(&name).into_iter().flatten();
        same.filter(|written| read.contains(&written.file)).any(|written| written.is_same(application))
    }

    fn is_written_set(&self, set: &ApplicationSet, read: &BTreeSet<&RepoPath>) -> bool {
        self.written_sets.iter().any(|written| read.contains(&written.file.0) && written.set.is_same(set))
    }

    /// Files of a kustomization with something that it renders otherwise contain nothing that is applied as it is.
    fn note_inputs(&mut self, discovered: &Discovered, makes: &Makes, read: &BTreeSet<&RepoPath>) {
        let rendered: Vec<&Arc<Application>> =
            makes.documents.iter().filter_map(|document| document.application.as_ref()).collect();
        let all = self.written.values().flatten().filter(|written| read.contains(&written.file));
        let is_changed = |written: &&Arc<Application>| !rendered.iter().any(|one| one.is_same(written));
        let changed = all.filter(is_changed).map(|written| written.file.clone());
        let sets = self.written_sets.iter().filter(|written| read.contains(&written.file.0));
        let changed_sets = sets.filter(|written| !makes.sets.iter().any(|set| set.is_same(&written.set)));
        let mistakes =
            discovered.mistakes.iter().filter(|(_, mistake)| mistake.is_error() && mistake.made_by.is_none());
        let wrong = mistakes.filter_map(|(_, mistake)| mistake.span.as_ref()).map(|span| span.path.clone());
        let wrong = wrong.filter(|path| read.contains(path));
        let found: Vec<RepoPath> =
            changed.chain(changed_sets.map(|written| written.file.0.clone())).chain(wrong).collect();
        self.inputs.extend(found);
    }
}

/// Whether an Application is a kustomization, by the files that were read for it.
pub(super) fn is_built(application: &Application, read: &BTreeSet<&RepoPath>) -> bool {
    let directories: BTreeSet<&RepoPath> = application.all_sources().map(|source| &source.path).collect();
    let is_top = |path: &RepoPath| path.parent().is_some_and(|parent| directories.contains(&parent));
    read.iter().any(|path| is_kustomization(path) && is_top(path))
}

/// Whether a tree may have what costs so much beside what was found in it.
pub(super) fn has_room(discovered: &Discovered, cost: u64) -> bool {
    discovered.cost.saturating_add(cost) <= PARSED_BYTES_MAX
}

/// What an expansion makes, if there is room for so many Applications and for what they cost. `place` is that of the maker.
fn fitting<'e>(
    expansion: &'e Expansion,
    discovered: &Discovered,
    site: &Site<'_>,
    place: impl FnOnce() -> Diagnostic,
) -> Result<&'e Makes, Refused> {
    let makes = expansion.made.as_ref().map_err(Clone::clone)?;
    let max = site.makers.limits.applications;
    if makes.documents.len() > max.saturating_sub(discovered.applications.len()) {
        let diagnostic = Diagnostic { message: too_many_applications(max), ..place() };
        return Err(Refused { diagnostic, is_limit: false });
    }
    if !has_room(discovered, expansion.cost) {
        let Diagnostic { message, hint, .. } = TooMuch::Made(PARSED_BYTES_MAX).tell(None);
        return Err(Refused { diagnostic: Diagnostic { message, hint, ..place() }, is_limit: false });
    }
    Ok(makes)
}
