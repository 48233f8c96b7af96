//! Where a resource, or a change of it, comes from: what `buildMetadata` writes into annotations.

use go_std::path;
use go_yaml::{self as yaml, Node, Sequences, Value};

use super::error::Result;
use super::remote::Remote;
use super::resource::{self, StringMap, annotation};
use super::text;
use super::tree::{NodeId, Tree};

/// What Kustomize calls the directory of a clone before there is one.
const NOT_CLONED: &str = "notCloned";

/// A file, or the entry of a kustomization that made something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// From the directory that is built, or in the repository.
    pub path: String,
    /// The other repository that it is of, as git clones it.
    pub repo: String,
    /// The branch, tag or commit there.
    pub reference: String,
    pub configured_in: String,
    pub configured_by: Configuration,
}

/// The object that configures a generator or transformer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Configuration {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub namespace: String,
}

impl Origin {
    /// The origin of what a kustomization here names.
    ///
    /// Reference: kustomize 5.8.1 api/resource/origin.go `Append`, where the root of a repository has the name of a clone
    /// that was not made yet.
    pub(crate) fn append(&self, path: &str) -> Self {
        if let Some(remote) = Remote::parse(path) {
            let below = path::clean(&remote.directory);
            let path = if remote.directory.is_empty() { NOT_CLONED.to_owned() } else { below };
            return Self { path, repo: remote.clone_url(), reference: remote.reference, ..self.clone() };
        }
        let joined = if self.path.is_empty() { path.to_owned() } else { format!("{}/{path}", self.path) };
        Self { path: path::clean(&joined), ..self.clone() }
    }

    /// The origin of what a built-in generator or transformer of this kustomization does.
    pub(crate) fn builtin(&self, file: &str, kind: &str) -> Self {
        Self {
            path: String::new(),
            configured_in: self.append(file).path,
            configured_by: Configuration {
                api_version: "builtin".to_owned(),
                kind: kind.to_owned(),
                ..Configuration::default()
            },
            ..self.clone()
        }
    }

    /// The origin of what a generator or transformer does that is configured by an object with an origin.
    pub(crate) fn of_plugin(tree: &Tree, root: NodeId) -> Option<Self> {
        let own = parse(resource::annotation_of(tree, root, annotation::ORIGIN)?);
        Some(Self {
            path: String::new(),
            configured_in: own.path.clone(),
            configured_by: Configuration {
                api_version: resource::api_version(tree, root).to_owned(),
                kind: resource::kind(tree, root).to_owned(),
                name: resource::name(tree, root).to_owned(),
                namespace: resource::namespace(tree, root).to_owned(),
            },
            ..own
        })
    }

    fn node(&self) -> Node {
        let by = &self.configured_by;
        let mut fields = entries([
            ("path", &self.path),
            ("repo", &self.repo),
            ("ref", &self.reference),
            ("configuredIn", &self.configured_in),
        ]);
        let by = entries([
            ("apiVersion", &by.api_version),
            ("kind", &by.kind),
            ("name", &by.name),
            ("namespace", &by.namespace),
        ]);
        if !by.is_empty() {
            fields.push((Node::scalar("configuredBy"), Node::mapping(by)));
        }
        Node::mapping(fields)
    }

    /// The text of the annotation.
    pub(crate) fn text(&self) -> String {
        yaml::emit_node(&self.node(), Sequences::Compact)
    }
}

fn entries<const N: usize>(fields: [(&str, &String); N]) -> Vec<(Node, Node)> {
    let filled = fields.into_iter().filter(|(_, value)| !value.is_empty());
    filled.map(|(key, value)| (Node::scalar(key), string(value))).collect()
}

fn string(text: &str) -> Node {
    let mut node = Node::string(text);
    node.style = text::string_style(text).form;
    node
}

fn of_value(value: &Value) -> Origin {
    let text = |path: &[&str]| value.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    Origin {
        path: text(&["path"]),
        repo: text(&["repo"]),
        reference: text(&["ref"]),
        configured_in: text(&["configuredIn"]),
        configured_by: Configuration {
            api_version: text(&["configuredBy", "apiVersion"]),
            kind: text(&["configuredBy", "kind"]),
            name: text(&["configuredBy", "name"]),
            namespace: text(&["configuredBy", "namespace"]),
        },
    }
}

fn parse(annotation: &str) -> Origin {
    text::value(annotation.as_bytes()).map(|value| of_value(&value)).unwrap_or_default()
}

/// The file that a resource is taken from, or that configures what made it; none in another repository, or without an origin.
pub(crate) fn file(tree: &Tree, root: NodeId) -> Option<String> {
    let origin = parse(resource::annotation_of(tree, root, annotation::ORIGIN)?);
    let file = if origin.path.is_empty() { origin.configured_in } else { origin.path };
    Some(file).filter(|file| origin.repo.is_empty() && !file.is_empty())
}

/// Notes the origin of a resource.
pub(crate) fn set(tree: &mut Tree, root: NodeId, origin: &Origin) -> Result<()> {
    let mut annotations = resource::annotations(tree, root);
    annotations.insert(annotation::ORIGIN.to_owned(), origin.text());
    resource::set_annotations(tree, root, &annotations)
}

/// Notes that a transformer changed a resource; one without an origin was made by it.
pub(crate) fn add_transformation(tree: &mut Tree, root: NodeId, origin: &Origin) -> Result<()> {
    if resource::annotation_of(tree, root, annotation::ORIGIN).is_none() {
        return set(tree, root, origin);
    }
    let mut annotations = resource::annotations(tree, root);
    let before = annotations.get(annotation::TRANSFORMATIONS);
    let mut list: Vec<Node> = match before.map(|text| text::value(text.as_bytes())) {
        Some(Ok(Value::Sequence(items))) => items.iter().map(|item| of_value(item).node()).collect(),
        _ => Vec::new(),
    };
    list.push(origin.node());
    let text = yaml::emit_node(&Node::sequence(list), Sequences::Compact);
    annotations.insert(annotation::TRANSFORMATIONS.to_owned(), text);
    resource::set_annotations(tree, root, &annotations)
}

/// Removes Kustomize's notes from a finished resource; the two sorts of origins stay when they are wanted.
pub(crate) fn clean(tree: &mut Tree, root: NodeId, keep_origin: bool, keep_transformations: bool) -> Result<()> {
    let mut annotations: StringMap = resource::annotations(tree, root);
    if keep_origin && keep_transformations && annotations.is_empty() {
        // Kustomize then leaves an empty field as it is.
        return Ok(());
    }
    for key in annotation::BUILD {
        annotations.remove(key);
    }
    if !keep_origin {
        annotations.remove(annotation::ORIGIN);
    }
    if !keep_transformations {
        annotations.remove(annotation::TRANSFORMATIONS);
    }
    resource::set_annotations(tree, root, &annotations)
}
