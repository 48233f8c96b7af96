//! What Argo CD's own templates see.

use go_template::{Element, Field, List, ListType, Map, Methods, Struct, StructType, Text, Value};

use super::json::Json;
use super::values::{self, Origin, PathContent};

/// Reference: argo-cd `37ee0097` util/hydrator/hydrator.go `HydratorCommitMetadata`.
static METADATA: StructType = StructType {
    name: "hydrator.HydratorCommitMetadata",
    fields: &[
        Field::plain("RepoURL"),
        Field::plain("DrySHA"),
        Field::plain("Commands"),
        Field::plain("Author"),
        Field::plain("Date"),
        Field::plain("Subject"),
        Field::plain("Body"),
        Field::plain("References"),
    ],
    ..StructType::PLAIN
};

static REFERENCES: ListType =
    ListType { name: "[]v1alpha1.RevisionReference", element: Element::Any, methods: Methods::NONE };

/// The values of `README.tmpl`: of the commit, Argo CD hands the repository, the id and the commands to a path and
/// leaves everything else empty.
pub(super) fn readme(content: &PathContent<'_>, origin: &Origin<'_>) -> Value {
    let commands = match content.commands {
        [] => List::nil(&ListType::STRINGS),
        commands => List::strings(commands.iter().map(String::as_str)),
    };
    let [repo_url, dry_sha] = [origin.repo_url.to_owned(), origin.commit.id.to_string()].map(Value::from);
    let [author, date, subject, body] = [""; 4].map(Value::from);
    let references = Value::List(List::nil(&REFERENCES));
    let fields = vec![repo_url, dry_sha, Value::List(commands), author, date, subject, body, references];
    Value::Struct(Struct::new(&METADATA, fields).into())
}

/// The values of `commit-message.tmpl`: `metadata`, the `hydrator.metadata` at the root as a map.
pub(super) fn message(origin: &Origin<'_>) -> Value {
    let metadata = Json::Object(values::argocd_metadata(origin)).without_empty();
    map([("metadata", value(&metadata))])
}

fn value(json: &Json) -> Value {
    match json {
        Json::Text(text) => Value::from(text.as_str()),
        Json::List(items) => Value::List(List::new(items.iter().map(value).collect())),
        Json::Object(entries) => map(entries.iter().map(|(key, json)| (*key, value(json)))),
    }
}

fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    let map = Map::new();
    for (key, value) in entries {
        map.set(Text::from(key), value);
    }
    Value::Map(map)
}
