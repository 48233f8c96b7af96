//! An object as a cluster has it beside the one that was rendered: what of it only the cluster added.
//!
//! | the cluster has | taken for |
//! |---|---|
//! | `status`, `managedFields`, `uid`, `resourceVersion` … | what the API server keeps of each object |
//! | the tracking id or label of Argo CD, what was applied last | what was added when it was applied |
//! | a field with the value of a built-in kind's default, or of the schema of a custom resource | a default |
//! | `clusterIP`, `volumeName` … | filled in by the cluster |
//! | a field that what was applied last lacks | added since, by a controller or a webhook |
//! | `1` for `1000m` | the same quantity |
//! | no field for `{}`, `[]`, `""` or `false` of a field that is left out when it is empty | the same |
//!
//! All else stays for [`super::compare`]. Where it is not certain, it is a difference.

mod defaults;
mod quantity;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use go_yaml::{self as yaml, Limits, Mapping, Value};

use super::align::identities;
use crate::manifest::Manifest;
use defaults::{DROPPED, Kind, METADATA, Type, WRITTEN, of_kind};
pub(super) use versions::{as_read, selects_by_default};

/// Why a field that only the cluster has, or has otherwise, does not count as a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Addition {
    /// The API server keeps it of each object.
    Server,
    /// Argo CD or kubectl added it when they applied the object.
    Applied,
    /// The default of a field.
    Default,
    /// A controller or a webhook added it: what was applied last lacks it.
    Since,
    /// What was applied, written otherwise.
    Written,
}

impl Addition {
    /// Its name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Addition::Server => "server",
            Addition::Applied => "applied",
            Addition::Default => "default",
            Addition::Since => "notApplied",
            Addition::Written => "normalized",
        }
    }
}

/// What is known around an object.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cluster<'a> {
    /// The name of the Application, as the label of Argo CD has it.
    pub application: &'a str,
    /// Whether what was applied last is what Argo CD applied: not where the server applies.
    pub trusts_last_applied: bool,
    /// The schema of a custom resource (`openAPIV3Schema`), where its definition is known.
    pub schema: Option<&'a Value>,
}

impl Cluster<'_> {
    /// What wrote a label or an annotation into a live object, other than the manifest.
    fn addition(&self, map: &str, (key, value): (&str, &Value), is_rendered: bool) -> Option<Addition> {
        let is_instance = || INSTANCES.contains(&key) && value.as_str() == Some(self.application);
        match key {
            LAST_APPLIED => Some(Addition::Applied),
            key if TRACKING.contains(&key) => Some(Addition::Applied),
            _ if is_rendered => None,
            _ if map == "labels" && is_instance() => Some(Addition::Applied),
            key => is_written(key).then_some(Addition::Server),
        }
    }
}

/// An object on both sides without what only the cluster added.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    /// As the cluster has it.
    pub running: Manifest,
    /// As it was rendered.
    pub rendered: Manifest,
    /// How many fields were taken for what.
    pub additions: BTreeMap<Addition, usize>,
}

/// What `kubectl apply`, and Argo CD with it, keep of what they applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// What Argo CD knows by which objects are its own.
const TRACKING: [&str; 2] = ["argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id"];
const INSTANCES: [&str; 2] = ["app.kubernetes.io/instance", "argocd.argoproj.io/instance"];

/// The limits of what was applied last, a text in an annotation of at most 256 KiB.
const LAST_LIMITS: Limits = Limits { bytes: 1 << 20, depth: 200, nodes: 100_000 };

/// Removes from both sides what does not count as a difference.
pub(crate) fn settle(running: &Manifest, rendered: &Manifest, cluster: &Cluster<'_>) -> Settled {
    settled((running, rendered), cluster, true)
}

fn settled((running, rendered): (&Manifest, &Manifest), cluster: &Cluster<'_>, fills: bool) -> Settled {
    let (mut live, mut ours) = (running.object().clone(), rendered.object().clone());
    let last = live.at(&["metadata", "annotations", LAST_APPLIED]).and_then(Value::as_str);
    let last = last.filter(|_| cluster.trusts_last_applied);
    let last = last.and_then(|text| yaml::json::decode(text.as_bytes(), &LAST_LIMITS).ok());
    let mut settling =
        Settling { additions: BTreeMap::new(), is_built_in: is_built_in(rendered), fills, path: Vec::new() };
    if rendered.kind() == "Secret" && rendered.home_group().is_empty() {
        // What `argocd app manifests` prints of git is as it was rendered.
        [&mut live, &mut ours].into_iter().for_each(as_data);
    }
    settling.object(&mut live, &mut ours, cluster);
    let shape = match cluster.schema {
        Some(schema) => Shape::Schema(schema),
        None => of_kind(rendered.home_group(), rendered.kind()).map_or(Shape::Unknown, Shape::Type),
    };
    settling.value(&mut live, &mut ours, last.as_ref(), shape);
    let manifest = |value: Value, before: &Manifest| Manifest::new(value).unwrap_or_else(|_| before.clone());
    Settled { running: manifest(live, running), rendered: manifest(ours, rendered), additions: settling.additions }
}

/// Whether the API server knows the fields of the kind.
fn is_built_in(manifest: &Manifest) -> bool {
    let group = manifest.home_group();
    group.is_empty() || group.ends_with(".k8s.io") || !group.contains('.')
}

/// `stringData` is written into `data`.
fn as_data(secret: &mut Value) {
    let Value::Mapping(secret) = secret else { return };
    let Some(Value::Mapping(texts)) = secret.remove("stringData") else { return };
    let data = secret.entry("data".to_owned()).or_insert_with(|| Value::Mapping(Mapping::new()));
    if let Value::Mapping(data) = data {
        let encoded = texts.into_iter().filter_map(|(key, text)| {
            Some((key, Value::from(data_encoding::BASE64.encode(text.as_str()?.as_bytes()))))
        });
        data.extend(encoded);
    }
}

/// What is known of the fields of a mapping.
#[derive(Clone, Copy)]
enum Shape<'s> {
    Unknown,
    Type(Type),
    Schema(&'s Value),
}

/// What is known of one field.
#[derive(Clone, Copy)]
enum Known<'s> {
    Nothing,
    Kind(Kind),
    Schema(&'s Value),
}

impl<'s> Shape<'s> {
    fn field(self, key: &str) -> Known<'s> {
        match self {
            Shape::Unknown => Known::Nothing,
            Shape::Type(fields) => {
                fields.iter().find(|(name, _)| *name == key).map_or(Known::Nothing, |(_, kind)| Known::Kind(*kind))
            }
            Shape::Schema(schema) => {
                let field = schema.at(&["properties", key]).or_else(|| schema.get("additionalProperties"));
                field.map_or(Known::Nothing, Known::Schema)
            }
        }
    }
}

impl<'s> Known<'s> {
    fn shape(self) -> Shape<'s> {
        match self {
            Known::Kind(Kind::Of(fields)) => Shape::Type(fields),
            Known::Schema(schema) => Shape::Schema(schema.get("items").unwrap_or(schema)),
            Known::Nothing | Known::Kind(_) => Shape::Unknown,
        }
    }
}

struct Settling {
    additions: BTreeMap<Addition, usize>,
    is_built_in: bool,
    /// Whether one side has what a cluster filled in.
    fills: bool,
    path: Vec<String>,
}

impl Settling {
    fn count(&mut self, addition: Addition) {
        *self.additions.entry(addition).or_default() += 1;
    }

    /// What the API server, Argo CD and kubectl write into any object.
    fn object(&mut self, live: &mut Value, ours: &mut Value, cluster: &Cluster<'_>) {
        let (Value::Mapping(live), Value::Mapping(ours)) = (live, ours) else { return };
        ours.remove("status");
        if live.remove("status").is_some() {
            self.count(Addition::Server);
        }
        let (Some(Value::Mapping(live)), ours) = (live.get_mut("metadata"), ours.get_mut("metadata")) else { return };
        let mut nothing = Value::Mapping(Mapping::new());
        let Value::Mapping(ours) = ours.unwrap_or(&mut nothing) else { return };
        for key in METADATA {
            ours.remove(key);
            if live.remove(key).is_some() {
                self.count(Addition::Server);
            }
        }
        // Where the object is named by its Application's destination, or is in no namespace.
        if !ours.contains_key("namespace") && live.remove("namespace").is_some() {
            self.count(Addition::Applied);
        }
        for map in ["annotations", "labels"] {
            self.entries(live, ours, map, cluster);
        }
        self.finalizers(live, ours);
    }

    fn entries(&mut self, live: &mut Mapping, ours: &mut Mapping, map: &str, cluster: &Cluster<'_>) {
        let Some(Value::Mapping(entries)) = live.get_mut(map) else { return };
        let rendered = |key: &str| ours.get(map).is_some_and(|entries| entries.get(key).is_some());
        entries.retain(|key, value| {
            let addition = cluster.addition(map, (key, value), rendered(key));
            addition.inspect(|addition| self.count(*addition)).is_none()
        });
        if entries.is_empty() && ours.get(map).is_none() {
            live.remove(map);
        }
    }

    fn finalizers(&mut self, live: &mut Mapping, ours: &Mapping) {
        let Some(Value::Sequence(finalizers)) = live.get_mut("finalizers") else { return };
        let rendered = ours.get("finalizers").and_then(Value::as_sequence).unwrap_or_default();
        let before = finalizers.len();
        finalizers.retain(|name| rendered.contains(name) || !name.as_str().is_some_and(is_written));
        let added = before - finalizers.len();
        if finalizers.is_empty() && rendered.is_empty() {
            live.remove("finalizers");
        }
        (0..added).for_each(|_| self.count(Addition::Server));
    }

    fn value(&mut self, live: &mut Value, ours: &mut Value, last: Option<&Value>, shape: Shape<'_>) {
        match (live, ours) {
            (Value::Mapping(live), Value::Mapping(ours)) => self.mapping(live, ours, last, shape),
            (Value::Sequence(live), Value::Sequence(ours)) => self.sequence(live, ours, last, shape),
            (live, ours) => {
                let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
                if live != ours && quantity::is_quantity(&path) && quantity::are_equal(live, ours) {
                    *live = ours.clone();
                    self.count(Addition::Written);
                }
            }
        }
    }

    fn mapping(&mut self, live: &mut Mapping, ours: &mut Mapping, last: Option<&Value>, shape: Shape<'_>) {
        let keys: Vec<String> = live.keys().cloned().collect();
        for key in keys {
            let below = last.and_then(|last| last.get(&key));
            let known = shape.field(&key);
            self.path.push(key.clone());
            let is_rendered = ours.contains_key(&key);
            if let (Some(live), Some(ours)) = (live.get_mut(&key), ours.get_mut(&key)) {
                self.value(live, ours, below, known.shape());
            }
            let addition = match is_rendered {
                true => None,
                false if self.is_default((live, ours), &key, known) => Some(Addition::Default),
                // An object that was applied has what is beside the field.
                false if last.is_some_and(|last| last.as_mapping().is_some()) && below.is_none() => {
                    Some(Addition::Since)
                }
                false => None,
            };
            if let Some(addition) = addition {
                live.remove(&key);
                self.count(addition);
            }
            self.path.pop();
        }
        let dropped: Vec<String> = ours
            .iter()
            .filter(|(key, value)| !live.contains_key(*key) && self.is_dropped(key, value))
            .map(|(key, _)| key.clone())
            .collect();
        for key in dropped {
            ours.remove(&key);
            self.count(Addition::Written);
        }
    }

    /// Whether the API server does not keep a value that was applied.
    fn is_dropped(&self, key: &str, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Sequence(items) => self.is_built_in && items.is_empty(),
            Value::Mapping(entries) => self.is_built_in && DROPPED.contains(&key) && entries.is_empty(),
            Value::Bool(false) | Value::Int(0) => self.is_built_in && DROPPED.contains(&key),
            Value::String(text) => self.is_built_in && DROPPED.contains(&key) && text.is_empty(),
            Value::Bool(true) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => false,
        }
    }

    fn sequence(&mut self, live: &mut Vec<Value>, ours: &mut [Value], last: Option<&Value>, shape: Shape<'_>) {
        let applied = applied(live, last.and_then(Value::as_sequence));
        let pairs = partners(live, ours);
        let mut gone = BTreeSet::new();
        for (index, partner) in pairs.iter().enumerate() {
            let Some(item) = live.get_mut(index) else { continue };
            let applied = applied.as_ref().map(|applied| applied.get(index).copied().flatten());
            match partner.and_then(|partner| ours.get_mut(partner)) {
                Some(ours) => self.value(item, ours, applied.flatten(), shape),
                // A container that a webhook put there: all that was applied has names, and none has this one.
                None if applied == Some(None) => {
                    gone.insert(index);
                }
                None => {}
            }
        }
        let mut index = 0..;
        live.retain(|_| index.next().is_none_or(|index| !gone.contains(&index)));
        gone.iter().for_each(|_| self.count(Addition::Since));
    }
}

/// For each item of the cluster that which was applied last; none when nothing identifies them.
fn applied<'l>(live: &[Value], last: Option<&'l [Value]>) -> Option<Vec<Option<&'l Value>>> {
    let last = last?;
    let [of_last, of_live] = identities(last, live)?;
    let places: BTreeMap<_, _> = of_last.iter().zip(last).collect();
    Some(of_live.iter().map(|name| places.get(name).copied()).collect())
}

/// For each item of the cluster that which was rendered: by what identifies them, else by their places.
fn partners(live: &[Value], ours: &[Value]) -> Vec<Option<usize>> {
    match identities(live, ours) {
        Some([live, ours]) => {
            let places: BTreeMap<_, _> = ours.iter().enumerate().map(|(index, name)| (name, index)).collect();
            live.iter().map(|name| places.get(name).copied()).collect()
        }
        None if live.len() == ours.len() => (0..live.len()).map(Some).collect(),
        None => vec![None; live.len()],
    }
}

fn is_written(key: &str) -> bool {
    WRITTEN.iter().any(|known| key == *known || (known.ends_with(['/', '.']) && key.starts_with(known)))
}

impl Settling {
    /// Whether a field that was not rendered has the value that it has when nothing is said.
    fn is_default(&self, (live, ours): (&Mapping, &Mapping), key: &str, known: Known<'_>) -> bool {
        let Some(value) = live.get(key) else { return false };
        match known {
            Known::Nothing => false,
            Known::Schema(schema) => is_schema_default(value, schema),
            Known::Kind(kind) => match kind {
                Kind::Is(default) => is_json(value, default),
                Kind::IsWithout(default, other) => is_json(value, default) && !ours.contains_key(other),
                Kind::Filled => self.fills,
                Kind::FilledBut(meant) => self.fills && !is_json(value, meant),
                Kind::As(other) => live.get(other) == Some(value) || ours.get(other) == Some(value),
                Kind::PullPolicy => ours.get("image").and_then(Value::as_str).map(pull_policy) == value.as_str(),
                Kind::Of(fields) => self.is_all_default(value, fields),
            },
        }
    }

    /// Whether all fields of a mapping have their defaults, so that it is one that the API server made.
    fn is_all_default(&self, value: &Value, fields: Type) -> bool {
        let Some(entries) = value.as_mapping() else { return false };
        let nothing = Mapping::new();
        entries.keys().all(|key| self.is_default((entries, &nothing), key, Shape::Type(fields).field(key)))
    }
}

fn is_schema_default(value: &Value, schema: &Value) -> bool {
    if schema.get("default") == Some(value) {
        return true;
    }
    // A default of a mapping gets those of its fields.
    match (value, schema.get("default")) {
        (Value::Mapping(entries), Some(Value::Mapping(default))) => entries.iter().all(|(key, value)| {
            let of_field = || schema.at(&["properties", key]).is_some_and(|field| is_schema_default(value, field));
            default.get(key) == Some(value) || of_field()
        }),
        _ => false,
    }
}

fn is_json(value: &Value, default: &str) -> bool {
    yaml::json::decode(default.as_bytes(), &Limits::default()).is_ok_and(|default| default == *value)
}

/// Reference: kubernetes 1.34 pkg/apis/core/v1/defaults.go `SetDefaults_Container`, pkg/util/parsers `ParseImageName`.
fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or_default();
    let is_latest = match (name.contains('@'), name.split_once(':')) {
        (true, _) => false,
        (false, None) => true,
        (false, Some((_, tag))) => tag == "latest",
    };
    if is_latest { "Always" } else { "IfNotPresent" }
}

#[cfg(test)]
mod tests;
