//! How many objects differ between two states of a branch: the one count that every report gives.
//!
//! An object is what its group, kind, namespace and name are, as they are written; those of kinds that are of the whole cluster
//! have no namespace. Documents that are byte-equal are not looked into, and of most others the lines are read that say which
//! object it is: a `manifest.yaml` is written by a hydrator, and what is not (lists, quoted names) is parsed.
//!
//! | what happens | counts as |
//! |---|---|
//! | another kind, namespace or name | one removed, one added |
//! | another path of the same branch has the object now | changed if its text differs, else nothing |
//! | Kustomize's hash in the name of a ConfigMap or Secret differs | changed; its old name is [listed](ChangedObjects::gone) |
//! | an object whose name the API server completes has other content | one removed, one added |
//! | a path has an object twice, and then once | changed |
//! | the line of a namespace comes or goes that is the one of the Application anyway, where that is known | changed |

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::{Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

use super::{Exposed, Key, Manifest, Source, documents, encode, exposed, is_cluster_scoped, read, without_hash};
use dry_files::path::RepoPath;
use go_yaml::Value;

/// How many objects that are gone are named.
const GONE_MAX: usize = 100;

/// How many objects differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ObjectCounts {
    /// New ones.
    pub added: usize,
    /// Those that are gone.
    pub removed: usize,
    /// Those with other content.
    pub changed: usize,
}

impl ObjectCounts {
    /// Whether nothing differs.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// `3 objects changed, 1 added, 1 removed`; empty when nothing differs.
impl fmt::Display for ObjectCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.changed, "changed"), (self.added, "added"), (self.removed, "removed")];
        for (index, (count, what)) in counts.into_iter().filter(|(count, _)| *count > 0).enumerate() {
            match (index, count) {
                (0, 1) => write!(f, "1 object {what}")?,
                (0, _) => write!(f, "{count} objects {what}")?,
                _ => write!(f, ", {count} {what}")?,
            }
        }
        Ok(())
    }
}

/// Which objects differ between two states of a branch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChangedObjects {
    /// How many in all.
    #[serde(flatten)]
    pub counts: ObjectCounts,
    /// How many objects differ at each destination path whose manifests differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paths: BTreeMap<RepoPath, ObjectCounts>,
    /// The objects that are not there any more, and then those that only have another name: the first hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<GoneObject>,
    /// How many objects have another name only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub renamed: usize,
    /// The Applications that have another name, and write to the path that they wrote to.
    #[serde(default, rename = "renamedApplications", skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<RenamedApplication>,
}

/// An Application that has another name than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedApplication {
    /// The destination path that both write to.
    pub path: RepoPath,
    /// Its name before; of several, all.
    pub from: Vec<String>,
    /// Its name now.
    pub to: Vec<String>,
}

impl fmt::Display for RenamedApplication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has another name now: {}", self.from.join(", "), self.to.join(", "))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ChangedObjects {
    /// Those of a branch that had none before, by how many each path has now.
    pub(crate) fn all_added(paths: &BTreeMap<RepoPath, usize>) -> Self {
        let added = |added: usize| ObjectCounts { added, ..ObjectCounts::default() };
        let counts = added(paths.values().sum());
        let paths = paths.iter().map(|(path, count)| (path.clone(), added(*count))).collect();
        Self { counts, paths, ..Self::default() }
    }

    /// How many objects [`Self::gone`] is about, whether or not they are named.
    pub(crate) fn gone_count(&self) -> usize {
        self.counts.removed + self.renamed
    }
}

/// An object that is not there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoneObject {
    /// The API group, empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace as it was written, empty when it had none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name; one that the API server completes ends in `*`.
    pub name: String,
    /// The destination path that had it.
    pub path: RepoPath,
    /// The name that it has now, when only the hash of its content in it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
}

/// `removed Deployment shop/web`, `renamed ConfigMap shop/web-2k9mf2hc4b to web-8h7bk5hc4b`
impl fmt::Display for GoneObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        let object = format!("{} {}{slash}{}", self.kind, self.namespace, self.name);
        match &self.renamed_to {
            None => write!(f, "removed {object}"),
            Some(now) => write!(f, "renamed {object} to {now}"),
        }
    }
}

/// What of two states of a branch was compared so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    paths: Vec<(RepoPath, ObjectCounts)>,
    old: Vec<Sighting>,
    new: Vec<Sighting>,
}

/// An object that one of the two states has at a path, and that the other one has not, or not so.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sighting {
    /// By its number.
    path: usize,
    identity: Identity,
    /// Of its text.
    digest: u64,
    /// Whether its namespace is that of its Application: none is written.
    is_placed: bool,
}

/// What makes two sightings one object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Identity {
    key: Key,
    /// Of an object whose name the API server completes: that of its text, so that others are other objects.
    content: Option<u64>,
}

impl Tally {
    /// Compares `manifest.yaml` of a path before and after, empty where there is none. Answers whether both are objects; what
    /// is not counts for nothing.
    pub(crate) fn add(&mut self, path: &RepoPath, old: &[u8], new: &[u8]) -> bool {
        self.add_within(path, None, old, new)
    }

    /// [`Tally::add`] of a path whose objects without a namespace go to that of their Application.
    pub(crate) fn add_within(&mut self, path: &RepoPath, namespace: Option<&str>, old: &[u8], new: &[u8]) -> bool {
        let number = (self.paths.len(), namespace);
        let [old_only, new_only] = without_equal(old, new).map(|documents| seen(&documents, number));
        let is_readable = old_only.is_some() && new_only.is_some();
        let (was, is) = (old_only.unwrap_or_default(), new_only.unwrap_or_default());
        let mut changed = 0;
        let (mut was, mut is) = paired(was, is, |_, differs| changed += usize::from(differs));
        // A second one of what both have.
        for (left, others) in [(&mut was, new), (&mut is, old)] {
            if !left.is_empty() && !others.is_empty() {
                let (there, before) = (identities(others, number), left.len());
                left.retain(|one| one.identity.content.is_some() || !there.contains(&one.identity));
                changed += before - left.len();
            }
        }
        self.paths.push((path.clone(), ObjectCounts { changed, ..ObjectCounts::default() }));
        // Between Applications, objects are what they are called as they are written.
        self.old.extend(was.into_iter().map(Sighting::written));
        self.new.extend(is.into_iter().map(Sighting::written));
        is_readable
    }

    /// Whether the path that was added last has an object with other content, whatever the other paths have.
    pub(crate) fn has_changed(&self) -> bool {
        self.paths.last().is_some_and(|(_, counts)| counts.changed > 0)
    }

    /// What came of it.
    pub(crate) fn finish(self) -> ChangedObjects {
        let Self { paths, old, new } = self;
        let mut by_path: Vec<ObjectCounts> = paths.iter().map(|(_, counts)| *counts).collect();
        let (old, new) = paired(old, new, |path, differs| by_path[path].changed += usize::from(differs));
        let (old, new, renamed) = without_renamed(old, new);
        renamed.iter().for_each(|(_, now)| by_path[now.path].changed += 1);
        old.iter().for_each(|gone| by_path[gone.path].removed += 1);
        new.iter().for_each(|added| by_path[added.path].added += 1);
        let mut counts = ObjectCounts::default();
        for of_path in &by_path {
            counts.added += of_path.added;
            counts.removed += of_path.removed;
            counts.changed += of_path.changed;
        }
        let renamed_count = renamed.len();
        let named = |gone: Sighting, now| gone.named(&paths, now);
        let renamed = renamed.into_iter().map(|(was, now)| named(was, Some(now.identity.key.name)));
        let gone = old.into_iter().map(|gone| named(gone, None)).chain(renamed).take(GONE_MAX).collect();
        let paths = paths.iter().map(|(path, _)| path.clone()).zip(by_path).collect();
        ChangedObjects { counts, gone, renamed: renamed_count, paths, applications: Vec::new() }
    }
}

impl Sighting {
    fn name(&self) -> (usize, &Identity) {
        (self.path, &self.identity)
    }

    /// In the namespace of its Application, where it has none of its own and is of one.
    fn placed(mut self, namespace: Option<&str>) -> Self {
        let key = &mut self.identity.key;
        if let Some(namespace) =
            namespace.filter(|_| key.namespace.is_empty() && is_cluster_scoped(&key.group, &key.kind) != Some(true))
        {
            namespace.clone_into(&mut key.namespace);
            self.is_placed = true;
        }
        self
    }

    /// With the namespace that is written, or none.
    fn written(mut self) -> Self {
        if std::mem::take(&mut self.is_placed) {
            self.identity.key.namespace.clear();
        }
        self
    }

    fn named(self, paths: &[(RepoPath, ObjectCounts)], renamed_to: Option<String>) -> GoneObject {
        let Key { group, kind, namespace, name } = self.identity.key;
        GoneObject { group, kind, namespace, name, path: paths[self.path].0.clone(), renamed_to }
    }
}

/// The documents that only one of two texts has.
fn without_equal<'t>(old: &'t [u8], new: &'t [u8]) -> [Vec<&'t [u8]>; 2] {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    for document in documents(old) {
        *left.entry(document).or_default() += 1;
    }
    let new_only = documents(new).filter(|document| !take_one(&mut left, document)).collect();
    [documents(old).filter(|document| take_one(&mut left, document)).collect(), new_only]
}

/// Takes one of these documents away, if there is one.
fn take_one(left: &mut HashMap<&[u8], usize>, document: &[u8]) -> bool {
    let one = left.get_mut(document).filter(|count| **count > 0);
    one.map(|count| *count -= 1).is_some()
}

/// A path by its number, and the namespace of its objects that name none.
type Where<'n> = (usize, Option<&'n str>);

/// The objects of some documents; none when one of them is not an object.
fn seen(documents: &[&[u8]], path: Where<'_>) -> Option<Vec<Sighting>> {
    let seen: Option<Vec<Vec<Sighting>>> = documents.iter().map(|document| sightings(document, path)).collect();
    Some(each_once(seen?.into_iter().flatten()))
}

/// Of those that are one object the last, as in a cluster; in their order. The API server makes an object of each whose name it completes.
fn each_once(seen: impl Iterator<Item = Sighting>) -> Vec<Sighting> {
    let mut last: Vec<Option<Sighting>> = Vec::new();
    let mut known: HashMap<Identity, usize> = HashMap::new();
    for one in seen {
        if one.identity.content.is_none()
            && let Some(earlier) = known.insert(one.identity.clone(), last.len()).and_then(|index| last.get_mut(index))
        {
            *earlier = None;
        }
        last.push(Some(one));
    }
    last.into_iter().flatten().collect()
}

/// Takes out what both sides have; `both` gets the path where it is now, and whether its text differs.
fn paired(old: Vec<Sighting>, new: Vec<Sighting>, mut both: impl FnMut(usize, bool)) -> (Vec<Sighting>, Vec<Sighting>) {
    let mut waiting: HashMap<&Identity, VecDeque<usize>> = HashMap::new();
    for (index, one) in old.iter().enumerate() {
        waiting.entry(&one.identity).or_default().push_back(index);
    }
    let mut is_there = vec![false; old.len()];
    let mut left = Vec::new();
    for one in new {
        let before = waiting.get_mut(&one.identity).and_then(VecDeque::pop_front);
        match before.and_then(|index| Some((is_there.get_mut(index)?, old.get(index)?))) {
            Some((is_there, before)) => {
                *is_there = true;
                both(one.path, before.digest != one.digest);
            }
            None => left.push(one),
        }
    }
    let old = old.into_iter().zip(is_there).filter(|(_, is_there)| !is_there).map(|(one, _)| one).collect();
    (old, left)
}

/// Takes out what has another hash of Kustomize in its name, where a path has one of that name before and after.
fn without_renamed(
    old: Vec<Sighting>,
    new: Vec<Sighting>,
) -> (Vec<Sighting>, Vec<Sighting>, Vec<(Sighting, Sighting)>) {
    let [was, is] = [by_stem(&old), by_stem(&new)];
    let mut renamed = Vec::new();
    for (stem, was) in was {
        if let ([was], Some([is])) = (&was[..], is.get(&stem).map(Vec::as_slice)) {
            renamed.push(((*was).clone(), (*is).clone()));
        }
    }
    let names: HashSet<(usize, &Identity)> =
        renamed.iter().flat_map(|(was, is)| [was, is]).map(Sighting::name).collect();
    let is_renamed = |one: &Sighting| names.contains(&one.name());
    let [old, new] = [&old, &new].map(|all| all.iter().filter(|one| !is_renamed(one)).cloned().collect());
    (old, new, renamed)
}

fn by_stem(all: &[Sighting]) -> BTreeMap<Stem<'_>, Vec<&Sighting>> {
    let mut stems: BTreeMap<Stem<'_>, Vec<&Sighting>> = BTreeMap::new();
    for one in all {
        if let Some(stem) = stem(one) {
            stems.entry(stem).or_default().push(one);
        }
    }
    stems
}

/// The path, kind, namespace and name of what has a hash in its name, without the hash.
type Stem<'a> = (usize, &'a str, &'a str, &'a str);

fn stem(one: &Sighting) -> Option<Stem<'_>> {
    let Key { group, kind, namespace, name } = &one.identity.key;
    Some((one.path, kind, namespace, without_hash(group, kind, name)?))
}

/// What a text has, whether or not anything of it differs.
fn identities(text: &[u8], path: Where<'_>) -> BTreeSet<Identity> {
    let seen = documents(text).filter_map(|document| sightings(document, path));
    seen.flatten().map(|one| one.identity).collect()
}

/// The objects of a document: one but for a list; none when it is not an object.
fn sightings(document: &[u8], (path, namespace): Where<'_>) -> Option<Vec<Sighting>> {
    if let Some(key) = plain_key(document) {
        let identity = Identity { key, content: None };
        let plain = Sighting { path, identity, digest: digest(document), is_placed: false };
        return Some(vec![plain.placed(namespace)]);
    }
    let manifests = read(document, Source::Output("manifest.yaml")).ok()?;
    Some(manifests.iter().map(|manifest| sighting(manifest, path).placed(namespace)).collect())
}

fn sighting(manifest: &Manifest, path: usize) -> Sighting {
    let digest = digest(encode(std::slice::from_ref(manifest)).trim_ascii_end());
    let (key, content) = match manifest.key() {
        Some(key) => (key, None),
        None => (unnamed(manifest), Some(digest)),
    };
    Sighting { path, identity: Identity { key: in_scope(key), content }, digest, is_placed: false }
}

/// What an object is called whose name the API server completes.
fn unnamed(manifest: &Manifest) -> Key {
    let begins = manifest.object().at(&["metadata", "generateName"]).and_then(Value::as_str).unwrap_or_default();
    Key {
        group: manifest.group().to_owned(),
        kind: manifest.kind().to_owned(),
        namespace: manifest.namespace().to_owned(),
        name: format!("{begins}*"),
    }
}

fn in_scope(key: Key) -> Key {
    match is_cluster_scoped(&key.group, &key.kind) == Some(true) {
        true => Key { namespace: String::new(), ..key },
        false => key,
    }
}

fn digest(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Which object a document is that is written as hydrators write, from the lines that say it; none when it has to be parsed.
fn plain_key(document: &[u8]) -> Option<Key> {
    let (mut api_version, mut kind, mut namespace, mut name) = ("", "", "", "");
    let mut is_metadata = false;
    for line in document.split(|&b| b == b'\n') {
        let is_top = line.first().is_some_and(|first| *first != b' ');
        if is_top {
            let line = std::str::from_utf8(line).ok()?;
            let (key, value) = line.split_once(':')?;
            is_metadata = key == "metadata";
            match key {
                "apiVersion" => api_version = plain(value)?,
                "kind" => kind = plain(value)?,
                "metadata" if !value.is_empty() => return None,
                _ => {}
            }
        } else if is_metadata && let Some(field) = line.strip_prefix(b"  ") {
            if let Some(value) = field.strip_prefix(b"name:") {
                name = plain(std::str::from_utf8(value).ok()?)?;
            } else if let Some(value) = field.strip_prefix(b"namespace:") {
                namespace = plain(std::str::from_utf8(value).ok()?)?;
            }
        }
    }
    if name.is_empty() || kind.is_empty() || kind.ends_with("List") {
        return None;
    }
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let [group, kind, namespace, name] = [group, kind, namespace, name].map(str::to_owned);
    Some(in_scope(Key { group, kind, namespace, name }))
}

/// A scalar that certainly is the text that it looks like.
fn plain(value: &str) -> Option<&str> {
    let value = value.strip_prefix(' ')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-./_".contains(c);
    let is_text = value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.chars().all(is_word);
    let is_other = matches!(
        value.to_ascii_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "null"
    );
    (is_text && !is_other).then_some(value)
}

/// The Secrets of a `manifest.yaml` that everybody who can read it can read.
pub(crate) fn plain_secrets(text: &[u8]) -> BTreeSet<Key> {
    let is_secret = |document: &&[u8]| memchr::memmem::find(document, b"Secret").is_some();
    let read = |document: &[u8]| read(document, Source::Output("manifest.yaml")).unwrap_or_default();
    plain_secrets_in(&documents(text).filter(is_secret).flat_map(read).collect::<Vec<_>>())
}

/// The Secrets among some objects that everybody who can read the objects can read.
pub(crate) fn plain_secrets_in(manifests: &[Manifest]) -> BTreeSet<Key> {
    let is_plain = |manifest: &&Manifest| manifest.kind() == "Secret" && exposed(manifest).contains(&Exposed::Secret);
    manifests.iter().filter(is_plain).filter_map(Manifest::key).collect()
}

#[cfg(test)]
mod tests;
