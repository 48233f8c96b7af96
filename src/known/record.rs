//! What the cache keeps of one render: the manifests by id or the failure, and what was read for it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::codec::{Decoder, Encoder};
use crate::argo::{AppName, Application, BranchName, Drawn, Identity, Keeps, SeedIdentity};
use crate::manifest::Key;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Reads, Seen};
use inputs::Wanted;

/// Recorded inputs: the file of each in the tree of a dry commit, and the id of what is in it, in hexadecimal.
pub(crate) type UsedInputs = BTreeMap<RepoPath, String>;

/// Those that a render looked at.
pub(crate) fn used_inputs(reads: &Reads) -> UsedInputs {
    inputs::used(reads).map(|(path, id)| (path.clone(), id.to_string())).collect()
}

/// Why an Application has no manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FailureKind {
    /// Mistakes of the dry commit.
    Mistakes,
    /// It renders without objects that its branch has, and it is not proved that they left. That follows from what the branch
    /// has, too.
    LostObjects,
    /// It reached a limit of this machine.
    Limit,
    /// All Applications of the dry commit together reached one.
    LimitOfCommit,
    /// What it renders to found no room beside what else its dry branch added to the repository in that run.
    NoRoom,
    /// The caller had no time left.
    CutOff,
}

/// What an Application failed by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// Why it has no manifests.
    pub kind: FailureKind,
    /// What was said of it.
    pub diagnostics: Vec<Diagnostic>,
    /// The inputs that it waits for.
    #[serde(default)]
    pub waits: Vec<Wanted>,
}

/// What a [`Record`] is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum About {
    /// An Application that is in its file.
    #[default]
    Written,
    /// An Application that something in its file makes, as [`Application::made`] has it.
    Made(String),
    /// No Application, but something that makes some or says something of all: its `reads` are all that that follows from.
    Maker(Used),
}

/// What the expansion of a set used up of what all sets of a tree may use up together; nothing for other makers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Used {
    /// Params sets.
    pub params: u64,
    /// Bytes of texts and values.
    pub bytes: u64,
    /// Steps of templates.
    pub steps: u64,
}

impl About {
    /// What a record of an Application is about.
    pub(crate) fn of(application: &Application) -> Self {
        application.made().map_or(Self::Written, |made| Self::Made(made.to_owned()))
    }

    /// What an Application is that something in its file makes.
    pub(crate) fn made(&self) -> Option<&str> {
        match self {
            Self::Made(text) => Some(text),
            Self::Written | Self::Maker(_) => None,
        }
    }
}

/// One Application of a dry tree, and what it rendered to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// What it is about.
    pub about: About,
    /// The file that contains it.
    pub file: RepoPath,
    /// Which Application of the file it is.
    pub index: usize,
    /// `metadata.namespace`.
    pub namespace: Option<AppName>,
    /// `metadata.name`.
    pub name: AppName,
    /// The directory that it writes on its branch.
    pub sync_path: RepoPath,
    /// Whether a cluster keeps the Application, or its objects, when its maker makes it no more.
    pub is_kept: bool,
    /// [`Application::fingerprint`].
    pub fingerprint: ContentId,
    /// [`Application::placement`].
    pub placement: ContentId,
    /// The directory of its sources.
    pub dry_path: RepoPath,
    /// The environment branch that it writes.
    pub branch: BranchName,
    /// The cluster that its objects go to.
    pub cluster: Option<String>,
    /// Everything of the dry tree that its render looked at.
    pub reads: Reads,
    /// Whether its result names the dry commit, and so is another one each time.
    pub names_the_commit: bool,
    /// The blob of `manifest.yaml`.
    pub manifest: ContentId,
    /// The commands that render the same with the official tools.
    pub commands: Vec<String>,
    /// What the API server will know its objects by.
    pub objects: Vec<Key>,
    /// That it has random values; none when no function drew any.
    pub drawn: Option<Drawn>,
    /// Why it has no manifest, commands or objects; none when it rendered.
    pub failure: Option<Failure>,
}

/// A [`Record`] as bytes, and the hashes that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) hashes: Vec<u64>,
}

/// What may lead to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way<'a> {
    /// The file that contains the Application.
    File(&'a RepoPath),
    /// The file, and which of its Applications: a file with a set has as many as the set makes.
    One(&'a RepoPath, usize),
    /// The name of the Application.
    Name(&'a AppName),
    /// Something that its render looked at, or the directory of its sources.
    Read(&'a RepoPath),
    /// One of its objects.
    Object(&'a BranchName, Option<&'a str>, &'a Key),
    /// One of its objects defines kinds of this API group.
    Definitions(&'a BranchName, &'a str),
    /// Something whose content its render looked at: a file, or all of a directory.
    Content(&'a RepoPath),
    /// A directory of which only the directories were listed.
    Directories(&'a RepoPath),
    /// Its result names the dry commit.
    NamesTheCommit,
    /// No record: a kustomization names the file as a patch.
    Patch(&'a RepoPath),
}

impl<'a> Way<'a> {
    /// The way to a record whose result looked at a path.
    fn of_read(path: &'a RepoPath, seen: Seen) -> Self {
        match seen {
            Seen::Directories(_) => Self::Directories(path),
            Seen::Content(_) => Self::Content(path),
            Seen::Absent | Seen::Present(_) | Seen::Listed(_) | Seen::Link(_) => Self::Read(path),
        }
    }

    /// FNV-1a, 64 bits. Two ways with one hash lead to a record too many, which then turns out to be none.
    pub(super) fn hash(self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |text: &str| hash = fnv(hash, text);
        match self {
            Way::File(path) => ["file", path.as_str()].iter().for_each(|text| add(text)),
            Way::One(path, index) => {
                ["one", path.as_str(), &index.to_string()].iter().for_each(|text| add(text));
            }
            Way::Name(name) => ["name", name.as_str()].iter().for_each(|text| add(text)),
            Way::Read(path) => ["read", path.as_str()].iter().for_each(|text| add(text)),
            Way::Content(path) => ["content", path.as_str()].iter().for_each(|text| add(text)),
            Way::Directories(path) => ["directories", path.as_str()].iter().for_each(|text| add(text)),
            Way::Patch(path) => ["patch", path.as_str()].iter().for_each(|text| add(text)),
            Way::NamesTheCommit => add("commit"),
            Way::Definitions(branch, group) => ["defines", branch.as_str(), group].iter().for_each(|text| add(text)),
            Way::Object(branch, cluster, key) => {
                let Key { group, kind, namespace, name } = key;
                let parts = ["object", branch.as_str(), cluster.unwrap_or("\0"), group, kind, namespace, name];
                parts.iter().for_each(|text| add(text));
            }
        }
        // The last bytes of a text reach the high bits, by which pages are chosen, only so.
        (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The hash of what `hash` is of and of a text behind it, and of where that text ends.
fn fnv(mut hash: u64, text: &str) -> u64 {
    for byte in text.bytes().chain([0xff]) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

impl Encoded {
    /// The record; none when it is damaged.
    pub(crate) fn decode(&self) -> Option<Record> {
        Record::decode(&self.bytes)
    }

    /// The file of its Application, and which of the file it is; none when it is damaged.
    pub(super) fn identity(&self) -> Option<(RepoPath, usize)> {
        let mut bytes = Decoder(&self.bytes);
        Some((bytes.path()?, usize::try_from(bytes.number()?).ok()?))
    }

    pub(super) fn write(&self, bytes: &mut Encoder) {
        bytes.bytes(&self.bytes);
        bytes.list(self.hashes.iter(), |bytes, hash| bytes.number(*hash));
    }

    pub(super) fn read(bytes: &mut Decoder<'_>) -> Option<Self> {
        Some(Self { bytes: bytes.bytes()?.to_vec(), hashes: bytes.list(Decoder::number)? })
    }
}

impl Record {
    /// That of an Application whose render looked at `reads`, without anything that it rendered to.
    pub(crate) fn of(application: &Application, reads: Reads) -> Self {
        let none = ContentId::new(&[]);
        let keeps = application.maker.as_ref().map(|maker| maker.keeps).unwrap_or_default();
        Self {
            about: About::of(application),
            file: application.file.clone(),
            index: application.index,
            namespace: application.namespace.clone(),
            name: application.name.clone(),
            sync_path: application.sync_path.clone(),
            is_kept: keeps != Keeps::Nothing,
            fingerprint: application.fingerprint(),
            placement: application.placement(),
            dry_path: application.dry.path.clone(),
            branch: application.environment_branch().clone(),
            cluster: application.object_cluster().map(Cow::into_owned),
            reads,
            names_the_commit: false,
            manifest: none,
            commands: Vec::new(),
            objects: Vec::new(),
            drawn: None,
            failure: None,
        }
    }

    /// The record of something that makes Applications, or says something of all: its place in its file, and what it
    /// was made from.
    pub(crate) fn of_maker(file: RepoPath, ordinal: usize, reads: Reads, used: Used) -> Self {
        let none = ContentId::new(&[]);
        Self {
            about: About::Maker(used),
            index: Self::index_of_maker(ordinal),
            namespace: None,
            name: AppName::new("none").expect("a name"),
            sync_path: file.clone(),
            is_kept: false,
            fingerprint: none,
            placement: none,
            dry_path: file.clone(),
            file,
            branch: BranchName::new("none").expect("a branch name"),
            cluster: None,
            reads,
            names_the_commit: false,
            manifest: none,
            commands: Vec::new(),
            objects: Vec::new(),
            drawn: None,
            failure: None,
        }
    }

    /// The `index` of a maker by which one of its file it is: never that of an Application that is written there.
    pub(crate) fn index_of_maker(ordinal: usize) -> usize {
        usize::MAX - ordinal.min(usize::MAX >> 1)
    }

    /// Whether it is about an Application.
    pub(crate) fn is_of_application(&self) -> bool {
        !matches!(self.about, About::Maker(_))
    }

    /// What [`Application::identity`] is of the Application; that of a maker is of none.
    pub(crate) fn identity(&self) -> Identity {
        (self.file.clone(), self.index)
    }

    /// Whether it is about this Application.
    pub(crate) fn is_of(&self, application: &Application) -> bool {
        self.is_of_application() && self.file == application.file && self.index == application.index
    }

    /// The record as bytes.
    pub(crate) fn encode(&self) -> Encoded {
        let mut bytes = Encoder::default();
        bytes.text(self.file.as_str());
        bytes.number(self.index as u64);
        bytes.optional(self.namespace.as_ref().map(AppName::as_str));
        bytes.text(self.name.as_str());
        bytes.text(self.sync_path.as_str());
        bytes.number(u64::from(self.is_kept));
        bytes.bytes(self.fingerprint.as_bytes());
        bytes.bytes(self.placement.as_bytes());
        bytes.text(self.dry_path.as_str());
        bytes.text(self.branch.as_str());
        bytes.optional(self.cluster.as_deref());
        bytes.number(u64::from(self.names_the_commit));
        bytes.bytes(self.manifest.as_bytes());
        bytes.list(self.commands.iter(), |bytes, command| bytes.text(command));
        bytes.list(self.objects.iter(), |bytes, Key { group, kind, namespace, name }| {
            [group, kind, namespace, name].iter().for_each(|text| bytes.text(text));
        });
        write_reads(&mut bytes, &self.reads);
        bytes.optional(self.drawn.as_ref().map(|drawn| drawn.identity.as_str()));
        let objects = self.drawn.iter().flat_map(|drawn| &drawn.objects);
        bytes.list(objects.collect::<Vec<_>>().into_iter(), |bytes, object| bytes.text(object));
        let failure = self.failure.as_ref().map(serde_json::to_string);
        let failure = failure.map(|text| text.expect("texts and numbers are JSON"));
        bytes.optional(failure.as_deref());
        bytes.number(match self.about {
            About::Written => 0,
            About::Made(_) => 1,
            About::Maker(_) => 2,
        });
        match &self.about {
            About::Written => {}
            About::Made(text) => bytes.text(text),
            About::Maker(Used { params, bytes: used, steps }) => {
                [params, used, steps].into_iter().for_each(|number| bytes.number(*number));
            }
        }
        // Of each Application one is kept until the end of a run.
        bytes.0.shrink_to_fit();
        Encoded { bytes: bytes.0, hashes: self.ways().map(Way::hash).collect() }
    }

    /// What leads to the record.
    pub(super) fn ways(&self) -> impl Iterator<Item = Way<'_>> {
        let reads = self.reads.iter().map(|((path, _), seen)| Way::of_read(path, *seen));
        let objects = self.objects.iter().map(|key| Way::Object(&self.branch, self.cluster.as_deref(), key));
        let groups = self.objects.iter().filter_map(Key::defined_group);
        let definitions = groups.map(|group| Way::Definitions(&self.branch, group));
        let commit = self.names_the_commit.then_some(Way::NamesTheCommit);
        let own = [Way::File(&self.file), Way::One(&self.file, self.index), Way::Read(&self.dry_path)];
        let name = self.is_of_application().then_some(Way::Name(&self.name));
        own.into_iter().chain(name).chain(reads).chain(objects).chain(definitions).chain(commit)
    }

    /// Reads a record; none when the bytes are not one.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Decoder(bytes);
        let mut record = Self {
            about: About::Written,
            file: bytes.path()?,
            index: usize::try_from(bytes.number()?).ok()?,
            namespace: match bytes.optional()? {
                Some(text) => Some(AppName::new(&text).ok()?),
                None => None,
            },
            name: AppName::new(&bytes.text()?).ok()?,
            sync_path: bytes.path()?,
            is_kept: bytes.number()? == 1,
            fingerprint: bytes.id()?,
            placement: bytes.id()?,
            dry_path: bytes.path()?,
            branch: BranchName::read(&bytes.text()?).ok()?,
            cluster: bytes.optional()?,
            names_the_commit: bytes.number()? == 1,
            manifest: bytes.id()?,
            commands: bytes.list(Decoder::text)?,
            objects: bytes.list(|bytes| {
                let [group, kind, namespace, name] = [bytes.text()?, bytes.text()?, bytes.text()?, bytes.text()?];
                Some(Key { group, kind, namespace, name })
            })?,
            reads: read_reads(&mut bytes)?,
            drawn: {
                let identity = bytes.optional()?;
                let objects = bytes.list(Decoder::text)?;
                match identity {
                    Some(identity) => Some(Drawn { identity: SeedIdentity::read(&identity)?, objects }),
                    None => None,
                }
            },
            failure: match bytes.optional()? {
                Some(text) => Some(serde_json::from_str(&text).ok()?),
                None => None,
            },
        };
        record.about = match bytes.number()? {
            0 => About::Written,
            1 => About::Made(bytes.text()?),
            2 => About::Maker(Used { params: bytes.number()?, bytes: bytes.number()?, steps: bytes.number()? }),
            _ => return None,
        };
        Some(record)
    }
}

pub(super) fn write_reads(bytes: &mut Encoder, reads: &Reads) {
    bytes.list(reads.iter(), |bytes, ((path, way), seen)| bytes.read(path, *way, *seen));
}

impl Encoder {
    fn read(&mut self, path: &RepoPath, way: u8, seen: Seen) {
        self.text(path.as_str());
        self.number(u64::from(way));
        self.seen(seen);
    }
}

pub(super) fn read_reads(bytes: &mut Decoder<'_>) -> Option<Reads> {
    let read = |bytes: &mut Decoder<'_>| {
        let (path, way) = (bytes.path()?, u8::try_from(bytes.number()?).ok()?);
        Some(((path, way), bytes.seen()?))
    };
    Some(bytes.list(read)?.into_iter().collect())
}
