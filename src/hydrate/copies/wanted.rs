//! The copies that there shall be: a function of the commits that they follow, the dry commits that these show, and the settings.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use dry_files::diag::more::and_more_in_brackets;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::{Dialect, Limits, Value, decode};

use super::astray::Astray;
use super::branch::{APPLICATIONS, Copy, SETS};
use crate::argo::parent::{Parent, is_made};
use crate::argo::set::{ARGOCD_NAMESPACE, ApplicationSet};
use crate::argo::{self, AppName, Application, BranchName, By, Maker};
use crate::hydrate::dry_tree::DryTree;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::manifest::Manifest;
use crate::metadata::{Behind, Followed, Hydrated};
use crate::owners::copier::{Copies, EXPAND_IT, LET_IT_INSERT};
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::heads::DryHead;
use crate::owners::standing::{metadata_dir, provenance};
use crate::repo::{Mode, ObjectId};

/// How many sets without a copy are named.
const SETS_TOLD: usize = 5;

/// How many Applications of files are kept parsed.
const OBJECTS_MAX: usize = 20_000;

/// The copies that there shall be, by their directories.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub copies: BTreeMap<RepoPath, Copy>,
    /// The copies of sets that stay as they are for now: not all Applications of such a set are hydrated alike yet.
    pub unsettled: BTreeSet<RepoPath>,
    /// The copies of Applications that deploy an earlier dry commit than the branch shows. A copy that is there stays.
    pub earlier: BTreeSet<RepoPath>,
    /// Whether several Applications have one copy.
    pub is_contested: bool,
    /// What hydrated Applications render: their manifests contain the copy.
    pub rendered: BTreeSet<RepoPath>,
    /// The copies that several Applications of one name would have, which lead to several places.
    rivals: BTreeMap<RepoPath, Vec<Copy>>,
    /// That they do, for each dry branch of theirs.
    contests: Vec<Contest>,
    /// Sets whose template cannot lead to what is hydrated.
    pub warnings: Vec<Diagnostic>,
}

impl Wanted {
    /// Whether others contain or lead to all that a copy leads to: it has another name now, or it was that of a set, or of what a
    /// set makes.
    pub(super) fn replaces(&self, dir: &RepoPath, leads_to: &[Hydrated]) -> bool {
        let is_elsewhere = |hydrated: &Hydrated| self.copies.values().any(|copy| copy.leads_to.contains(hydrated));
        self.rendered.contains(dir) || (!leads_to.is_empty() && leads_to.iter().all(is_elsewhere))
    }

    /// Leaves as they are those among `there` of which an earlier dry commit is deployed: which one their document is of, the
    /// commit does not say.
    ///
    /// A name that several Applications have stays with the one that had it first; where none had it, none has.
    pub(super) fn keep(&mut self, there: &BTreeMap<RepoPath, Vec<Hydrated>>) {
        for (dir, rivals) in std::mem::take(&mut self.rivals) {
            match rivals.into_iter().find(|copy| there.get(&dir) == Some(&copy.leads_to)) {
                Some(first) => drop(self.copies.insert(dir, first)),
                None => self.hold(&dir),
            }
        }
        for dir in &self.earlier {
            if self.copies.get(dir).is_some_and(|copy| there.get(dir) == Some(&copy.leads_to)) {
                self.copies.remove(dir);
                self.unsettled.insert(dir.clone());
            }
        }
    }
}

impl Wanted {
    /// What is wrong with copies that several Applications would have, each with the dry branch whose pushers read it; `there` are the
    /// copies that there were.
    pub(super) fn mistakes(
        &self,
        there: &BTreeMap<RepoPath, Vec<Hydrated>>,
    ) -> impl Iterator<Item = (Diagnostic, BranchName)> {
        self.contests.iter().map(|Contest { dir, mistake, dry_branch }| {
            let leads_to = self.copies.get(dir).and_then(|copy| copy.leads_to.first());
            let until = match (leads_to, there.contains_key(dir)) {
                (Some((branch, _)), _) => format!("the copy leads to `{branch}`"),
                (None, true) => "the copy stays as it is".to_owned(),
                (None, false) => "there is no copy".to_owned(),
            };
            let hint = format!("give them names or namespaces of their own; until then {until}");
            (mistake.clone().hint(hint), dry_branch.clone())
        })
    }

    /// Leaves a copy as it is.
    pub(super) fn hold(&mut self, dir: &RepoPath) {
        self.copies.remove(dir);
        self.unsettled.insert(dir.clone());
    }

    /// The copies that would lead elsewhere than `there`, each with where it would.
    pub(super) fn moving<'w>(
        &'w self,
        there: &'w BTreeMap<RepoPath, Vec<Hydrated>>,
    ) -> impl Iterator<Item = (&'w RepoPath, &'w [Hydrated], &'w [Hydrated])> {
        let both =
            there.iter().filter_map(|(dir, before)| Some((dir, &before[..], &self.copies.get(dir)?.leads_to[..])));
        both.filter(|(_, before, after)| before != after)
    }
}

/// What the pushers of a dry branch read of two Applications that would have one copy.
#[derive(Debug)]
struct Contest {
    dir: RepoPath,
    mistake: Diagnostic,
    dry_branch: BranchName,
}

/// An Application, and the dry branch that has it.
type Rival<'r> = (&'r BranchName, &'r Arc<Application>);

impl Contest {
    /// One for each dry branch. Of the other one it has names and a place, and quotes nothing.
    fn between(dir: &RepoPath, one: Rival<'_>, other: Rival<'_>) -> Vec<Self> {
        let told = |(dry_branch, here): Rival<'_>, (their_dry_branch, there): Rival<'_>| {
            let of = if their_dry_branch == dry_branch { String::new() } else { format!(" of `{their_dry_branch}`") };
            let text = format!(
                "the Application `{}` is hydrated to `{}`, and one of that name{of} to `{}`: one copy cannot lead to both",
                here.name, here.sync_branch, there.sync_branch
            );
            let beside = format!("the other one is at {}{of}", there.places.name);
            let mistake = Diagnostic::error(text).at(here.places.name.clone()).label(beside);
            Self { dir: dir.clone(), mistake: here.tells(mistake), dry_branch: dry_branch.clone() }
        };
        let mut all = vec![told(one, other)];
        if one.0 != other.0 {
            all.push(told(other, one));
        }
        all
    }
}

/// An Application that is deployed, with its dry tree and the blob of its manifests.
type Deployed = (Arc<Application>, Rc<DryTree>, ObjectId);

/// A dry commit, and the branch that shows it.
type Shown = (Rc<DryTree>, BranchName);

/// A set that makes Applications, as it was at the dry commits that these show.
#[derive(Default)]
struct OfSet {
    manifests: BTreeSet<Vec<u8>>,
    leads_to: BTreeSet<Hydrated>,
}

/// A set whose template cannot lead to what is hydrated, why, and where the set is.
type Unled = (By, String, Span);

/// The directory of the copy of an Application.
pub(super) fn directory_of(application: &Application, namespace: &str) -> Option<RepoPath> {
    let own = application.namespace.as_ref().map(AppName::as_str);
    directory((application.instance.as_ref(), APPLICATIONS), own, application.name.as_str(), namespace)
}

/// The directory of the copy of the set that makes an Application; none where no set does.
pub(super) fn directory_of_set(application: &Application, default: &str) -> Option<RepoPath> {
    match &application.maker.as_ref()?.by {
        By::ApplicationSet { namespace, name } => {
            directory((application.instance.as_ref(), SETS), namespace.as_deref(), name, default)
        }
        By::Application { .. } | By::Root { .. } => None,
    }
}

/// The directory of a copy. What an instance has is below a directory of its name, so that it follows nothing else.
fn directory(
    (instance, kind): (Option<&AppName>, &str),
    namespace: Option<&str>,
    name: &str,
    default: &str,
) -> Option<RepoPath> {
    let namespace = namespace.filter(|namespace| !namespace.is_empty()).unwrap_or(default);
    let is_plain = |part: &str| !part.is_empty() && !part.contains('/');
    let above = instance.map_or_else(String::new, |instance| format!("{}/", instance.as_str()));
    let path = RepoPath::new(&format!("{above}{kind}/{namespace}/{name}")).ok();
    path.filter(|_| is_plain(namespace) && is_plain(name))
}

/// The copies of all that is hydrated and deployed at these commits.
pub(super) fn wanted(run: &mut Run<'_>, followed: &[Followed], heads: &[DryHead]) -> Result<Wanted, Stopped> {
    let namespace = run.found.policy.settings.argocd_namespace.clone().unwrap_or_else(|| ARGOCD_NAMESPACE.to_owned());
    let mut search = Search {
        run,
        followed,
        heads,
        namespace,
        wanted: Wanted::default(),
        sets: BTreeMap::new(),
        unled: Vec::new(),
        astray: Astray::default(),
        left: BTreeMap::new(),
        parents: BTreeMap::new(),
        unexpanded: BTreeMap::new(),
        expanded: BTreeMap::new(),
        shown: BTreeMap::new(),
        objects: HashMap::new(),
        kept: 0,
    };
    for one in followed {
        if let Some((dry_branch, dry)) = &one.dry {
            search.branch(one, dry_branch, *dry)?;
        }
    }
    Ok(search.finish())
}

struct Search<'s, 'a> {
    run: &'s mut Run<'a>,
    followed: &'s [Followed],
    heads: &'s [DryHead],
    /// The namespace of what names none.
    namespace: String,
    wanted: Wanted,
    sets: BTreeMap<RepoPath, OfSet>,
    /// The sets whose template cannot lead to what is hydrated, and why.
    unled: Vec<(RepoPath, Unled)>,
    /// What hydrated Applications render that leads nowhere.
    astray: Astray,
    /// The sets that hydrated Applications render, and why the template of each cannot lead to what is hydrated; none
    /// where it can.
    left: BTreeMap<By, Option<(Unled, String)>>,
    /// What renders what is rendered, by the directories of copies.
    parents: BTreeMap<RepoPath, String>,
    /// The sets that a hydrated Application renders although `expand` of a rule names them.
    unexpanded: BTreeMap<By, Span>,
    /// The sets of files that `expand` of a rule names, by their directories, and the copies of what they make.
    expanded: BTreeMap<RepoPath, (By, Span, Vec<RepoPath>)>,
    /// Which dry commit and environment branch each copy is of.
    shown: BTreeMap<RepoPath, Shown>,
    /// The Applications of files, by the tree and the path.
    objects: HashMap<(ObjectId, RepoPath), Vec<Value>>,
    /// How many they are together.
    kept: usize,
}

impl Search<'_, '_> {
    /// Takes in what a branch shows that hydration writes.
    fn branch(&mut self, one: &Followed, dry_branch: &BranchName, dry: ObjectId) -> Result<(), Stopped> {
        let head = DryHead { branch: dry_branch.clone(), tip: dry };
        let tree = self.run.tree(dry, &head, self.heads)?;
        let buffer = &self.run.found.buffer;
        let recorded = provenance(buffer, buffer.commit(one.commit)?.tree, METADATA)?;
        let behind = recorded.map(|recorded| recorded.behind).unwrap_or_default();
        let is_there = |app: &&Arc<Application>| behind.iter().all(|behind| behind.path != app.sync_path);
        let applications: Vec<Arc<Application>> = tree.applications(&one.branch).filter(is_there).cloned().collect();
        for application in applications {
            self.application(application, tree.clone(), one, &head)?;
        }
        for Behind { path, dry_commit } in behind {
            let Some(dry) = dry_commit.filter(|dry| self.run.found.setup.repository.has(*dry)) else { continue };
            let then = self.run.tree(dry, &head, self.heads)?;
            let at = then.applications(&one.branch).find(|app| app.sync_path == path).cloned();
            if let Some(application) = at {
                self.application(application, then, one, &head)?;
            }
        }
        Ok(())
    }

    /// Takes in an Application that a branch shows, as far as it is deployed.
    fn application(
        &mut self,
        application: Arc<Application>,
        tree: Rc<DryTree>,
        one: &Followed,
        head: &DryHead,
    ) -> Result<(), Stopped> {
        let dry = head.tip;
        match self.deployed(application.clone(), tree, one, head)? {
            Some((application, tree, manifest)) => {
                if tree.commit.id != dry {
                    self.wanted.earlier.extend(directory_of(&application, &self.namespace));
                }
                self.take(&application, &tree, manifest)
            }
            None => {
                self.leave_set(&application);
                Ok(())
            }
        }
    }

    /// An Application as the branch shows it that is deployed, with its dry tree and the blob of its manifests there; none where
    /// its path is not there yet.
    fn deployed(
        &mut self,
        application: Arc<Application>,
        tree: Rc<DryTree>,
        one: &Followed,
        head: &DryHead,
    ) -> Result<Option<Deployed>, Stopped> {
        let found = &self.run.found;
        let (sync, path) = (&application.sync_branch, &application.sync_path);
        let Some(tip) = self.followed.iter().find(|followed| followed.branch == *sync) else { return Ok(None) };
        let root = found.buffer.commit(tip.commit)?.tree;
        let deployed = found.tree_of(root);
        let manifest = path.child(MANIFEST).ok().map(|manifest| deployed.entry(&manifest)).transpose()?.flatten();
        let Some((Mode::File | Mode::Executable, manifest)) = manifest else { return Ok(None) };
        let made = found.tree_of(found.buffer.commit(one.commit)?.tree);
        if *sync == one.branch || deployed.entry(path)? == made.entry(path)? {
            return Ok(Some((application, tree, manifest)));
        }
        // It is not promoted yet: what is deployed shows which dry commit it is of.
        let dir = metadata_dir(&found.policy.settings, sync, path);
        let file = dir.child(METADATA).map(|file| file.to_string()).unwrap_or_default();
        let Some(recorded) = provenance(&found.buffer, root, &file)? else { return Ok(None) };
        let behind = recorded.behind.iter().find(|behind| behind.path == *path);
        let dry = behind.map_or(recorded.dry_commit, |behind| behind.dry_commit);
        let repository = found.setup.repository;
        let is_earlier = |dry: &ObjectId| repository.has(*dry) && repository.is_ancestor(*dry, head.tip);
        let Some(dry) = dry.filter(is_earlier) else { return Ok(None) };
        let tree = self.run.tree(dry, head, self.heads)?;
        let then = tree.applications(&one.branch).find(|app| app.sync_path == *path && app.sync_branch == *sync);
        Ok(then.cloned().map(|application| (application, tree, manifest)))
    }

    fn take(&mut self, application: &Arc<Application>, tree: &Rc<DryTree>, manifest: ObjectId) -> Result<(), Stopped> {
        if tree.is_parent(application) {
            self.note_rendered((application, tree), manifest)?;
        }
        if application.is_of_application() {
            self.note_left(application, tree);
            return Ok(());
        }
        let leads_to = (application.sync_branch.clone(), application.sync_path.clone());
        let set = self.copied_set(application);
        if let (Some(maker), Some(dir)) = (&application.maker, set) {
            return self.take_set(application, maker, dir, tree, leads_to);
        }
        let Some(dir) = directory_of(application, &self.namespace) else { return Ok(()) };
        self.note_expanded(application, &dir);
        let Some(object) = application.made_object().or_else(|| self.written(application, tree)) else {
            return Ok(());
        };
        let copies = Copies::of(&self.run.found, tree.branch());
        let Some(manifest) = application.copy(object, &copies.copier()).and_then(|copy| self.bytes(copy)) else {
            return Ok(());
        };
        let copy = Copy { manifest, leads_to: vec![leads_to] };
        self.wanted.is_contested |= self.wanted.copies.contains_key(&dir);
        let other = self.wanted.copies.get(&dir).filter(|other| other.leads_to != copy.leads_to);
        let shown = (tree.clone(), application.environment_branch().clone());
        if let (Some(other), Some(theirs)) = (other, self.shown.get(&dir)) {
            if self.has_left(&dir, &shown, theirs) {
                return Ok(());
            }
            if self.has_left(&dir, theirs, &shown) {
                self.shown.insert(dir.clone(), shown);
                self.wanted.copies.insert(dir, copy);
                return Ok(());
            }
            let mut others = theirs.0.applications(&theirs.1);
            let is_it = |other: &&Arc<Application>| directory_of(other, &self.namespace).as_ref() == Some(&dir);
            if let Some(other) = others.find(is_it) {
                let [here, there] = [(tree.branch(), application), (theirs.0.branch(), other)];
                self.wanted.contests.extend(Contest::between(&dir, here, there));
            }
            let rivals = self.wanted.rivals.entry(dir.clone()).or_insert_with(|| vec![other.clone()]);
            rivals.push(copy.clone());
        }
        self.shown.insert(dir.clone(), shown);
        self.wanted.copies.insert(dir, copy);
        Ok(())
    }

    /// Whether what a branch still shows of an earlier dry commit is hydrated elsewhere since: a later one, by which it is there,
    /// does not have it on that branch any more.
    fn has_left(&self, dir: &RepoPath, (earlier, branch): &Shown, (later, _): &Shown) -> bool {
        let (then, now) = (earlier.commit.id, later.commit.id);
        let is_later = then != now && earlier.branch() == later.branch();
        let is_its = |application: &Arc<Application>| directory_of(application, &self.namespace).as_ref() == Some(dir);
        is_later && self.run.found.setup.repository.is_ancestor(then, now) && !later.applications(branch).any(is_its)
    }

    /// The directory of the set that makes an Application, if the set is copied.
    fn copied_set(&self, application: &Application) -> Option<RepoPath> {
        let is_copied = !self.run.found.policy.plain.expands(application.maker.as_ref()?.by.name());
        directory_of_set(application, &self.namespace).filter(|_| is_copied)
    }

    /// Notes that a set which a hydrated Application renders stays in its manifests as it is, where its template cannot lead to what
    /// is hydrated.
    fn note_left(&mut self, application: &Application, tree: &DryTree) {
        let Some(maker) = &application.maker else { return };
        let is_set = matches!(maker.by, By::ApplicationSet { .. });
        if is_set && self.run.found.policy.plain.expands(maker.by.name()) {
            let place = || application.places.name.clone();
            let at = application.rendered_set().map_or_else(place, |set| set.span());
            self.unexpanded.entry(maker.by.clone()).or_insert(at);
        }
        if self.copied_set(application).is_none() {
            return;
        }
        if self.left.contains_key(&maker.by) {
            return;
        }
        let copies = Copies::of(&self.run.found, tree.branch());
        let why = application.rendered_set().and_then(|set| Some((set.copy(&copies.copier()).err()?, set.span())));
        let parent = || maker.above.first().map(ToString::to_string).unwrap_or_default();
        let left = why.map(|(why, at)| ((maker.by.clone(), why, at), parent()));
        self.left.insert(maker.by.clone(), left);
    }

    /// Notes the copy of what a set makes that `expand` of a rule names.
    fn note_expanded(&mut self, application: &Application, copy: &RepoPath) {
        let maker = application.maker.as_ref();
        let of_set = maker.and_then(|maker| Some((maker, directory_of_set(application, &self.namespace)?)));
        if let Some((maker, dir)) = of_set {
            let at = application.places.name.clone();
            let (_, _, copies) = self.expanded.entry(dir).or_insert_with(|| (maker.by.clone(), at, Vec::new()));
            copies.push(copy.clone());
        }
    }

    /// A set stays as it is while something that it makes is not deployed.
    fn leave_set(&mut self, application: &Application) {
        let dir = self.copied_set(application);
        self.wanted.unsettled.extend(dir);
    }

    fn take_set(
        &mut self,
        application: &Application,
        maker: &Maker,
        dir: RepoPath,
        tree: &DryTree,
        leads_to: Hydrated,
    ) -> Result<(), Stopped> {
        let is_followed =
            |branch: &BranchName| self.followed.iter().any(|one| one.branch == *branch && one.dry.is_some());
        if !self.sets.contains_key(&dir) {
            let same = |other: &&Arc<Application>| other.maker.as_ref().is_some_and(|other| other.by == maker.by);
            if !tree.hydrated().filter(same).all(|other| is_followed(other.environment_branch())) {
                self.wanted.unsettled.insert(dir.clone());
            }
        }
        let rendered: Option<ApplicationSet> = application.rendered_set();
        let copies = Copies::of(&self.run.found, tree.branch());
        let copy = rendered.as_ref().or(tree.written_set(maker)).map(|set| (set, set.copy(&copies.copier())));
        let (manifest, unled) = match copy {
            Some((_, Ok(copy))) => (self.bytes(copy), None),
            Some((set, Err(why))) => (None, Some((dir.clone(), (maker.by.clone(), why, set.span())))),
            None => (None, None),
        };
        let of_set = self.sets.entry(dir.clone()).or_default();
        of_set.leads_to.insert(leads_to);
        match manifest {
            Some(manifest) => drop(of_set.manifests.insert(manifest)),
            None => drop(self.wanted.unsettled.insert(dir)),
        }
        if let Some(unled) = unled.filter(|unled| !self.unled.contains(unled)) {
            self.unled.push(unled);
        }
        Ok(())
    }

    /// Notes what a hydrated Application renders.
    fn note_rendered(&mut self, parent: (&Arc<Application>, &Rc<DryTree>), manifest: ObjectId) -> Result<(), Stopped> {
        let text = self.run.found.buffer.blob(manifest)?;
        let limits = Limits { bytes: usize::MAX, nodes: usize::MAX, ..Limits::default() };
        let mut objects = decode(&text, Dialect::V3, &limits).unwrap_or_default();
        objects.retain(is_made);
        self.astray.look(self.run, (parent.0, parent.1), &objects)?;
        for object in &objects {
            let text = |path: &[&str]| object.at(path).and_then(Value::as_str);
            let kind = if text(&["kind"]) == Some("ApplicationSet") { SETS } else { APPLICATIONS };
            let name = text(&["metadata", "name"]).unwrap_or_default();
            let namespace = text(&["metadata", "namespace"]);
            let kind_there = (parent.0.instance.as_ref(), kind);
            let Some(dir) = directory(kind_there, namespace, name, &self.namespace) else { continue };
            if kind == SETS {
                self.parents.entry(dir.clone()).or_insert_with(|| Parent::of(parent.0).by.to_string());
            }
            self.wanted.rendered.insert(dir);
        }
        Ok(())
    }

    /// An Application as its file has it.
    fn written(&mut self, application: &Application, tree: &DryTree) -> Option<Value> {
        let key = (tree.tree, application.file.clone());
        if !self.objects.contains_key(&key) {
            let files = self.run.files(tree.tree);
            let blob = View::new(&*files).read(&application.file).ok()?;
            let objects = argo::objects(&application.file, &blob.data, &self.run.found.policy.plain);
            if self.kept + objects.len() > OBJECTS_MAX {
                self.objects.clear();
                self.kept = 0;
            }
            self.kept += objects.len();
            self.objects.insert(key.clone(), objects);
        }
        self.objects.get(&key)?.get(application.index).cloned()
    }

    fn bytes(&self, object: Value) -> Option<Vec<u8>> {
        Some(self.run.found.policy.writer.manifest(vec![Manifest::new(object).ok()?]))
    }

    fn finish(self) -> Wanted {
        let mut wanted = self.wanted;
        for (dir, OfSet { manifests, leads_to }) in self.sets {
            let mut manifests = manifests.into_iter();
            match (manifests.next(), manifests.next()) {
                (Some(manifest), None) if !wanted.unsettled.contains(&dir) => {
                    let leads_to = leads_to.into_iter().collect();
                    wanted.copies.insert(dir, Copy { manifest, leads_to });
                }
                _ => drop(wanted.unsettled.insert(dir)),
            }
        }
        wanted.copies.retain(|dir, _| !wanted.rendered.contains(dir));
        let (rendered, unled): (Vec<_>, Vec<_>) =
            self.unled.into_iter().partition(|(dir, _)| wanted.rendered.contains(dir));
        let unled: Vec<Unled> = unled.into_iter().map(|(_, unled)| unled).collect();
        wanted.warnings.extend(warning_of(&unled));
        let parents = self.parents;
        let parent = |dir: &RepoPath| parents.get(dir).cloned().unwrap_or_default();
        let rendered = rendered.into_iter().map(|(dir, unled)| (unled, parent(&dir)));
        wanted.warnings.extend(warning_of_left(self.left.into_values().flatten().chain(rendered).collect()));
        wanted.warnings.extend(self.astray.warning());
        let mut unexpanded = self.unexpanded;
        for (_, (by, at, copies)) in self.expanded.into_iter().filter(|(dir, _)| wanted.rendered.contains(dir)) {
            copies.iter().for_each(|copy| drop(wanted.copies.remove(copy)));
            unexpanded.insert(by, at);
        }
        wanted.warnings.extend(unexpanded.into_iter().map(|(by, at)| not_expanded(&by, at)));
        wanted
    }
}

/// One warning of all sets that have no copy, since each push has it.
fn warning_of(unled: &[Unled]) -> Option<Diagnostic> {
    let (by, why, at) = unled.first()?;
    let (text, hint) = match unled.len() {
        1 => (format!("{by} has no copy that leads to what is hydrated: {why}"), EXPAND_IT),
        count => {
            let names: Vec<String> = unled.iter().take(SETS_TOLD).map(|(by, ..)| format!("`{}`", by.name())).collect();
            let (names, more) = (names.join(", "), if count > SETS_TOLD { ", …" } else { "" });
            let text = format!("{count} ApplicationSets have no copies that lead to what is hydrated: {names}{more}");
            let them = "name them in `expand` of a rule of the settings: what they make is copied then";
            (format!("{text}; of the first, {why}"), them)
        }
    };
    Some(Diagnostic::warning(text).hint(hint).at(at.clone()))
}

/// One warning of all sets that stay in manifests as they are.
fn warning_of_left(left: Vec<(Unled, String)>) -> Option<Diagnostic> {
    let more = and_more_in_brackets(left.len().saturating_sub(1));
    let ((by, why, at), parent) = left.into_iter().next()?;
    let text = format!("{by} stays in the manifests of {parent} as it is{more}: {why}");
    Some(Diagnostic::warning(text).hint(LET_IT_INSERT).at(at))
}

/// What `expand` of a rule names, and a hydrated Application renders: it is in the manifests of that one.
fn not_expanded(by: &By, at: Span) -> Diagnostic {
    let text = format!(
        "`expand` of a rule names {by}, which a hydrated Application renders: what it makes is not copied to the branch of copies"
    );
    let hint = "take it out of `expand`, or let no hydrated Application render it";
    Diagnostic::warning(text).hint(hint).at(at)
}
