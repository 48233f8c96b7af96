//! What the last run left: per branch its head and the results that it was hydrated with.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use inputs::Wanted;
use serde::{Deserialize, Serialize};

use super::codec::{Decoder, Encoder, check, checked};
use super::record::{Encoded, Record, Used, UsedInputs, Way};
use super::table::{Damaged, Place, Table};
use crate::argo::set::Only;
use crate::argo::{AppName, BranchName};
use crate::manifest::Key;

/// The first bytes of an overlay; the last of them is the version of the format. Before 3, what is remembered may have
/// been made of replaced objects; before 4, links and files of the same bytes were one, and records did not say what they
/// are about; before 5, they did not say where Applications are written to; before 6, nothing was known where something is wrong;
/// before 7, nothing led to those that define kinds; before 8, nothing led to those that look at all of a directory; before 9,
/// Applications without a record had no name.
const MAGIC: &[u8; 16] = b"hydrate state\0\0\x09";

/// How many records an overlay may have, and one more for so many of the table: it is read and written by every push.
const CHANGED_MAX: usize = 128;
const CHANGED_SHARE: usize = 64;

/// How many paths a branch that stays where it is may lack for one more to be judged beside them. Beyond that they are not kept: each
/// push in which an Application comes to such a branch looks at everything, until the branch moves.
pub(crate) const LACKING_MAX: usize = 64;

/// The cache cannot say: it is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cache is damaged")]
pub struct Unusable;

impl From<Damaged> for Unusable {
    fn from(_: Damaged) -> Self {
        Unusable
    }
}

/// What a state says as a whole. Ids are in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The dry commit whose tree it is of.
    pub dry_commit: String,
    /// An id of all that results depend on beside Applications and dry trees: another one, and nothing here is valid.
    pub context: String,
    /// An id of what else decides which Applications are hydrated, and whether anything is wrong with them.
    pub facts: String,
    /// The environment branches that were hydrated from that commit. None when something is wrong that does not show in
    /// `stuck`, and the records are only those of Applications that were rendered.
    pub branches: Option<Vec<Branch>>,
    /// The environment branches that could not be hydrated from that commit because an Application does not render.
    pub stuck: Vec<Stuck>,
    /// The environment branches that were frozen at that commit.
    #[serde(default)]
    pub frozen: Vec<Frozen>,
    /// The branches that Applications are hydrated from, and what else they have for a revision.
    pub revisions: BTreeSet<String>,
    /// The branches that Applications name to be written. What other branches there are matters for these two alone.
    pub destinations: BTreeSet<String>,
    /// What is odd, and repeated each time.
    pub warnings: Vec<Diagnostic>,
    /// What is wrong and belongs to no environment branch, repeated each time too.
    pub problems: Vec<Diagnostic>,
    /// The files that something is wrong with, and those of Applications that stay as they are: what follows from them was
    /// found out by a look at everything, and holds until one of them changes or Applications come or go.
    pub wrong_files: BTreeSet<RepoPath>,
    /// The files of sets that are not answered, where nothing else is wrong.
    pub unanswered: BTreeSet<RepoPath>,
    /// The names of Applications that have no record: those of branches that are frozen or stay behind, and those that
    /// such a branch shows still, with what made them.
    pub unrecorded: BTreeSet<AppName>,
    /// The names of those that such a branch shows still and that are hydrated to another one.
    pub moved: BTreeSet<AppName>,
    /// How many Applications the dry tree has, those that are not hydrated and those that others make among them.
    pub applications: usize,
    /// How many documents all of its files have that are Applications, whether or not they count.
    pub documents: usize,
    /// Whether the Applications of some maker are unknown.
    pub is_open: bool,
    /// Whether several makers make one of the Applications.
    #[serde(default)]
    pub has_shared: bool,
    /// What all sets together used up.
    pub used: Used,
    /// What was recorded of inputs then.
    #[serde(default)]
    pub inputs: Option<String>,
}

impl Head {
    /// Whether something is wrong, or stays as it is: whether that is still so once Applications come or go is not known here.
    pub(crate) fn is_wrong(&self) -> bool {
        let stays = self.branches.iter().flatten().any(|branch| branch.left.is_some());
        stays || !self.wrong_files.is_empty() || self.stuck.iter().any(|stuck| stuck.of_documents)
    }

    /// Whether what it says was found by this record of inputs, or rests on none: what renders goes by what it read.
    pub(crate) fn is_by(&self, inputs: Option<&str>) -> bool {
        let is_whole = self.stuck.is_empty() && !self.is_wrong() && !self.is_open;
        is_whole || self.inputs.as_deref() == inputs
    }

    /// Whether a branch stays behind by its documents, so that no Application of it is rendered.
    pub(crate) fn is_held(&self, branch: &BranchName) -> bool {
        self.stuck.iter().any(|stuck| stuck.of_documents && stuck.name == branch.as_str())
    }

    /// A branch that stays where it is, if one more Application changes nothing of that.
    pub(crate) fn staying(&self, name: &BranchName) -> Option<Staying<'_>> {
        let frozen = self.frozen.iter().find(|frozen| frozen.name == name.as_str());
        let stuck = self.stuck.iter().find(|stuck| stuck.name == name.as_str());
        let frozen = frozen.map(|frozen| (&frozen.sync, frozen.applications, &frozen.lacking, false));
        let stuck = stuck.map(|stuck| (&stuck.sync, stuck.applications, &stuck.lacking, !stuck.of_documents));
        let (sync, applications, lacking, is_rendered) = frozen.or(stuck)?;
        Some(Staying { sync, applications, lacking: lacking.as_ref()?, is_rendered })
    }

    /// Notes that an Application came to such a branch.
    pub(crate) fn note_lacking(&mut self, name: &BranchName, path: &RepoPath) {
        let frozen = self.frozen.iter_mut().filter(|frozen| frozen.name == name.as_str());
        let stuck = self.stuck.iter_mut().filter(|stuck| stuck.name == name.as_str());
        for lacking in frozen.map(|frozen| &mut frozen.lacking).chain(stuck.map(|stuck| &mut stuck.lacking)) {
            lacking.iter_mut().for_each(|lacking| lacking.extend([path.clone()]));
            lacking.take_if(|lacking| lacking.len() > LACKING_MAX);
        }
    }

    /// Notes how many Applications a branch has, whether it goes on or stays where it is.
    pub(crate) fn note_count(&mut self, name: &BranchName, applications: usize) {
        let goes_on = self.branches.iter_mut().flatten().map(|one| (&one.name, &mut one.applications));
        let frozen = self.frozen.iter_mut().map(|one| (&one.name, &mut one.applications));
        let stuck = self.stuck.iter_mut().map(|one| (&one.name, &mut one.applications));
        for (_, count) in goes_on.chain(frozen).chain(stuck).filter(|(one, _)| *one == name.as_str()) {
            *count = applications;
        }
    }

    /// Whether a path of a branch stays at an earlier dry commit.
    pub(crate) fn leaves(&self, branch: &BranchName, path: &RepoPath) -> bool {
        let known = self.branches.iter().flatten().find(|known| known.name == branch.as_str());
        let left = known.and_then(|known| known.left.as_ref());
        left.is_some_and(|left| left.paths.iter().any(|left| left.path == *path))
    }

    /// What is wrong or odd as long as nothing changes that it rests on.
    pub(crate) fn as_before(&self) -> impl Iterator<Item = &Diagnostic> {
        let stuck = self.stuck.iter().flat_map(|stuck| &stuck.mistakes);
        let left = self.branches.iter().flatten().filter_map(|branch| branch.left.as_ref());
        let left = left.flat_map(|left| left.mistakes.iter().chain(left.renders.iter().flatten()));
        self.warnings.iter().chain(&self.problems).chain(stuck).chain(left)
    }
}

/// An environment branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Branch {
    /// Its name.
    pub name: String,
    /// The branch that is deployed.
    pub sync: String,
    /// The commit that it was left at, whose tree is just what hydration makes.
    pub tip: String,
    /// How many Applications write to it.
    pub applications: usize,
    /// The repository, as the first Application names it.
    pub repo_url: String,
    /// Whether all Applications name the repository by this URL.
    pub has_one_url: bool,
    /// What of it stays at an earlier dry commit.
    pub left: Option<Left>,
    /// The recorded inputs that its Applications use.
    #[serde(default)]
    pub inputs: UsedInputs,
}

/// What a failure follows from, beside the Applications that do not render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Basis {
    /// Nothing: it is the same whatever others render.
    Nothing,
    /// The objects of the others: those that an Application lost may turn up there.
    Objects,
    /// All that the others are, and what they render to.
    #[default]
    All,
}

/// What of an environment branch stays as it is while the others go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    /// Where, in the order of paths.
    pub paths: Vec<LeftPath>,
    /// What is wrong beside renders.
    pub mistakes: Vec<Diagnostic>,
    /// What is wrong with each Application that does not render.
    pub renders: Vec<Vec<Diagnostic>>,
    /// What that follows from beside them.
    #[serde(default)]
    pub basis: Basis,
}

/// A path that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeftPath {
    /// The path.
    pub path: RepoPath,
    /// The dry commit that it shows; none when nothing was hydrated into it yet.
    pub dry_commit: Option<String>,
    /// The Application.
    pub application: AppName,
    /// Whether somebody wants it so.
    pub is_paused: bool,
    /// Where the Application says so.
    #[serde(default)]
    pub paused_at: Option<Span>,
    /// The Application that stays and has this one among its objects, where the dry commit has this one no more.
    #[serde(default)]
    pub parent: Option<AppName>,
    /// Whether the dry commit has the Application; else it does not say what became of it.
    pub is_read: bool,
    /// The cluster that its objects go to.
    pub cluster: Option<String>,
    /// What the API server knows its objects by.
    pub objects: Vec<Key>,
}

/// An environment branch that stays behind. It does so until something changes that its Applications rest on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stuck {
    /// Its name.
    pub name: String,
    /// The branch that is deployed.
    pub sync: String,
    /// The commit that it stays at; none when it was never made.
    pub tip: Option<String>,
    /// The dry commit that it was hydrated from last.
    pub dry: Option<String>,
    /// How many Applications write to it.
    pub applications: usize,
    /// What is wrong with the dry commit.
    pub mistakes: Vec<Diagnostic>,
    /// The limits of this machine that were reached.
    pub limits: Vec<Diagnostic>,
    /// Whether one of them is that of all Applications together, so that others may be the reason.
    pub of_commit: bool,
    /// Whether one of them was being rendered when the time for all of them was over.
    #[serde(default)]
    pub was_late: bool,
    /// Whether something found no room in that run: the next one has as much again.
    #[serde(default)]
    pub no_room: bool,
    /// Whether the mistakes are those of documents, found before anything is rendered.
    pub of_documents: bool,
    /// What the mistakes and limits follow from beside the Applications that they are of.
    #[serde(default)]
    pub basis: Basis,
    /// The inputs that its Applications wait for.
    #[serde(default)]
    pub waits: Vec<Wanted>,
    /// The paths that Applications write to it and that it does not show; none where one more may change why it stays.
    #[serde(default)]
    pub lacking: Option<BTreeSet<RepoPath>>,
}

impl Stuck {
    /// The files that its documents are wrong in.
    pub(crate) fn files_of_documents(&self) -> impl Iterator<Item = RepoPath> {
        let spans = self.mistakes.iter().filter(|_| self.of_documents).filter_map(|mistake| mistake.span.as_ref());
        spans.map(|span| span.path.clone())
    }
}

/// An environment branch that was frozen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Frozen {
    /// Its name.
    pub name: String,
    /// The branch that is deployed.
    pub sync: String,
    /// How many Applications write to it.
    pub applications: usize,
    /// The paths that Applications write to it and that it does not show; none where that is not known.
    #[serde(default)]
    pub lacking: Option<BTreeSet<RepoPath>>,
    /// Whether there is a record of each of its Applications, found by the one directory that its sources are in.
    #[serde(default)]
    pub is_recorded: bool,
}

/// An environment branch that stays where it is, whatever the dry commit has for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staying<'h> {
    /// The branch that is deployed.
    pub sync: &'h str,
    /// How many Applications write to it.
    pub applications: usize,
    /// The paths of them that it does not show.
    pub lacking: &'h BTreeSet<RepoPath>,
    /// Whether its Applications are rendered.
    pub is_rendered: bool,
}

/// All Applications of a dry tree, and what each of them rendered to.
#[derive(Debug)]
pub(crate) struct State {
    /// What it says as a whole.
    pub head: Head,
    table: Table,
    table_name: String,
    table_len: usize,
    superseded: BTreeSet<Place>,
    changed: BTreeMap<(RepoPath, usize), Encoded>,
    /// Where each hash leads to among `changed`, or led to before it changed again: a push of several dry commits may
    /// change every record.
    leads: HashMap<u64, BTreeSet<Arc<(RepoPath, usize)>>>,
    patches: BTreeSet<RepoPath>,
}

impl State {
    /// Reads an overlay and opens the table that it names; none when anything is missing or damaged.
    pub(super) fn read(dir: &Path, overlay: &[u8]) -> Option<Self> {
        let mut bytes = Decoder(checked(overlay)?.strip_prefix(MAGIC)?);
        let table_name = bytes.text()?;
        let head = serde_json::from_slice(bytes.bytes()?).ok()?;
        let table_len = usize::try_from(bytes.number()?).ok()?;
        let superseded = bytes.list(Decoder::number)?.into_iter().collect();
        let patches = bytes.list(Decoder::path)?.into_iter().collect();
        let changed = bytes.list(|bytes| {
            let record = Encoded::read(bytes)?;
            Some((record.identity()?, record))
        })?;
        let table = Table::open(dir, &table_name)?;
        let (leads, none) = (HashMap::new(), BTreeMap::new());
        let mut state = Self { head, table, table_name, table_len, superseded, changed: none, leads, patches };
        for (identity, record) in changed {
            state.insert(identity, record);
        }
        Some(state)
    }

    /// The name of the table that an overlay needs.
    pub(super) fn table_of(overlay: &[u8]) -> Option<String> {
        Decoder(checked(overlay)?.strip_prefix(MAGIC)?).text()
    }

    /// The bytes of an overlay over a table as it is.
    pub(super) fn plain_overlay(head: &Head, table_name: &str, table_len: usize) -> Vec<u8> {
        overlay(head, table_name, table_len, &BTreeSet::new(), &BTreeSet::new(), std::iter::empty())
    }

    /// The bytes of the overlay.
    pub(super) fn overlay(&self) -> Vec<u8> {
        let Self { head, table_name, table_len, superseded, patches, changed, .. } = self;
        overlay(head, table_name, *table_len, superseded, patches, changed.values())
    }

    /// Whether the overlay has grown so large that a new table is worth its while.
    pub(super) fn is_heavy(&self) -> bool {
        self.changed.len() + self.superseded.len() + self.patches.len() > CHANGED_MAX + self.table_len / CHANGED_SHARE
    }

    /// All records, those of the table first.
    pub(crate) fn records(&self) -> impl Iterator<Item = Result<Record, Unusable>> {
        let old = self.table.records().filter_map(|record| self.unless_superseded(record));
        old.chain(self.changed.values().map(|record| record.decode().ok_or(Unusable)))
    }

    fn unless_superseded(&self, record: Result<(Place, Vec<u8>), Damaged>) -> Option<Result<Record, Unusable>> {
        match record {
            Ok((place, _)) if self.superseded.contains(&place) => None,
            Ok((_, bytes)) => Some(Record::decode(&bytes).ok_or(Unusable)),
            Err(Damaged) => Some(Err(Unusable)),
        }
    }

    /// The Applications of a file.
    pub(crate) fn of_file(&self, file: &RepoPath) -> Result<Vec<Record>, Unusable> {
        let mut found = self.in_table(&BTreeSet::from([Way::File(file).hash()]))?;
        found.retain(|record| record.file == *file);
        let changed = self.changed.range((file.clone(), 0)..).take_while(|((of, _), _)| of == file);
        for (_, record) in changed {
            found.push(record.decode().ok_or(Unusable)?);
        }
        Ok(found)
    }

    /// One Application of a file; none when there is none.
    pub(crate) fn one(&self, file: &RepoPath, index: usize) -> Result<Option<Record>, Unusable> {
        if let Some(record) = self.changed.get(&(file.clone(), index)) {
            return record.decode().ok_or(Unusable).map(Some);
        }
        let found = self.in_table(&BTreeSet::from([Way::One(file, index).hash()]))?;
        Ok(found.into_iter().find(|record| record.file == *file && record.index == index))
    }

    /// The Applications whose renders looked at one of these paths, at all of a directory above one, or only at the directories in
    /// one of `directories`, and those whose results name the dry commit.
    pub(crate) fn readers<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p RepoPath>,
        directories: impl IntoIterator<Item = &'p RepoPath>,
    ) -> Result<Vec<Record>, Unusable> {
        let paths: BTreeSet<&RepoPath> = paths.into_iter().collect();
        let above = Only::new(paths.iter().copied());
        let mut ways = vec![Way::NamesTheCommit];
        for path in &paths {
            ways.push(Way::Read(path));
        }
        for directory in directories {
            ways.push(Way::Directories(directory));
        }
        ways.extend(above.paths().map(Way::Content));
        self.along(ways)
    }

    /// The Applications that write one of these objects to a branch.
    pub(crate) fn owners(
        &self,
        branch: &BranchName,
        cluster: Option<&str>,
        keys: &[Key],
    ) -> Result<Vec<Record>, Unusable> {
        self.along(keys.iter().map(|key| Way::Object(branch, cluster, key)))
    }

    /// The Applications that define kinds of an API group on a branch.
    pub(crate) fn definers(&self, branch: &BranchName, group: &str) -> Result<Vec<Record>, Unusable> {
        self.along([Way::Definitions(branch, group)])
    }

    /// The Applications of this name.
    pub(crate) fn named(&self, name: &AppName) -> Result<Vec<Record>, Unusable> {
        self.along([Way::Name(name)])
    }

    /// Whether a kustomization names this file as a patch.
    pub(crate) fn is_patch(&self, path: &RepoPath) -> Result<bool, Unusable> {
        Ok(self.patches.contains(path) || !self.table.find(Way::Patch(path).hash())?.is_empty())
    }

    /// Notes that a kustomization names this file as a patch.
    pub(crate) fn add_patch(&mut self, path: RepoPath) {
        self.patches.insert(path);
    }

    /// Replaces the record of an Application.
    pub(crate) fn put(&mut self, record: Encoded) -> Result<(), Unusable> {
        let (file, index) = record.identity().ok_or(Unusable)?;
        self.remove(&file, index)?;
        self.insert((file, index), record);
        Ok(())
    }

    /// Takes out the record of an Application, if there is one.
    pub(crate) fn remove(&mut self, file: &RepoPath, index: usize) -> Result<(), Unusable> {
        for place in self.table.find(Way::One(file, index).hash())? {
            let old = Record::decode(&self.table.record(place)?).ok_or(Unusable)?;
            if old.file == *file && old.index == index {
                self.superseded.insert(place);
            }
        }
        self.changed.remove(&(file.clone(), index));
        Ok(())
    }

    fn insert(&mut self, identity: (RepoPath, usize), record: Encoded) {
        let shared = Arc::new(identity.clone());
        for hash in &record.hashes {
            self.leads.entry(*hash).or_default().insert(shared.clone());
        }
        self.changed.insert(identity, record);
    }

    /// The records that at least one of the ways leads to, each once.
    fn along<'w>(&self, ways: impl IntoIterator<Item = Way<'w>>) -> Result<Vec<Record>, Unusable> {
        let ways: BTreeSet<Way<'w>> = ways.into_iter().collect();
        let hashes: BTreeSet<u64> = ways.iter().map(|way| way.hash()).collect();
        let mut found = self.in_table(&hashes)?;
        let led: BTreeSet<&Arc<_>> = hashes.iter().filter_map(|hash| self.leads.get(hash)).flatten().collect();
        for record in led.into_iter().filter_map(|identity| self.changed.get(&**identity)) {
            found.push(record.decode().ok_or(Unusable)?);
        }
        found.retain(|record| record.ways().any(|way| ways.contains(&way)));
        Ok(found)
    }

    /// The records of the table that still count and that one of the hashes leads to.
    fn in_table(&self, hashes: &BTreeSet<u64>) -> Result<Vec<Record>, Unusable> {
        let mut places = BTreeSet::new();
        for hash in hashes {
            places.extend(self.table.find(*hash)?.into_iter().filter(|place| *place > 0));
        }
        let places = places.difference(&self.superseded);
        places.map(|place| Record::decode(&self.table.record(*place)?).ok_or(Unusable)).collect()
    }

    /// What a new table needs to say all of this: records, and the hashes of patches.
    pub(super) fn flatten(&self) -> Result<(Vec<Encoded>, Vec<u64>), Unusable> {
        let records = self.records().map(|record| record.map(|record| record.encode()));
        let mut marks = self.table.marks()?;
        marks.extend(self.patches.iter().map(|path| Way::Patch(path).hash()));
        Ok((records.collect::<Result<_, _>>()?, marks))
    }
}

fn overlay<'r>(
    head: &Head,
    table_name: &str,
    table_len: usize,
    superseded: &BTreeSet<Place>,
    patches: &BTreeSet<RepoPath>,
    changed: impl ExactSizeIterator<Item = &'r Encoded>,
) -> Vec<u8> {
    let mut bytes = Encoder(MAGIC.to_vec());
    bytes.text(table_name);
    bytes.bytes(&serde_json::to_vec(head).expect("texts and numbers are JSON"));
    bytes.number(table_len as u64);
    bytes.list(superseded.iter(), |bytes, place| bytes.number(*place));
    bytes.list(patches.iter(), |bytes, path| bytes.text(path.as_str()));
    bytes.list(changed, |bytes, record| record.write(bytes));
    let mut bytes = bytes.0;
    bytes.extend(check(&bytes));
    bytes
}
