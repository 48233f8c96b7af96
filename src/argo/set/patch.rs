//! `spec.templatePatch`: a strategic merge patch on each Application.
//!
//! Reference: argo-cd `37ee0097` applicationset/controllers/template/patch.go; k8s.io/apimachinery 0.36.1
//! pkg/util/strategicpatch/patch.go.

use go_template::{self as template, printed};
use go_yaml::{Limits, Mapping, Value, json, quote, sigs};

use super::fault::{Fault, Result, quoted_part};
use super::shape::{Field, Keys, ListPatch, Shape, read, written};
use super::types::APPLICATION;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

/// How a patch is written as JSON.
const JSON: json::Options<'_> = json::Options { escape_html: true, indent: None };

/// Applies a rendered patch to an Application; both are as [`read`] gives them. The project stays.
pub(super) fn patched(application: &Value, patch: &str) -> Result<Value> {
    let (text, patch) = as_json(patch)?;
    let invalid = |error: String| Fault::new(format!("invalid templatePatch {}: {error}", quote(&quoted_part(&text))));
    let patch = patch.map_err(invalid)?;
    read(&patch, &APPLICATION, Keys::Folded).map_err(|mismatch| invalid(mismatch.text))?;
    let original = written(application, &APPLICATION);
    let merged = match (as_patched(original), as_patched(patch)) {
        (Value::Mapping(original), Value::Mapping(patch)) => {
            merge(original, patch, &APPLICATION).map_err(|error| not_applied(&text, &error))?
        }
        // A patch of nothing.
        (Value::Mapping(original), _) => original,
        (original, _) => return Ok(original),
    };
    let merged = read(&Value::Mapping(merged), &APPLICATION, Keys::Folded)
        .map_err(|mismatch| Fault::new(format!("error while unmarhsalling patched application: {}", mismatch.text)))?;
    let project = application.at(&["spec", "project"]).cloned();
    Ok(with_project(merged, project))
}

fn not_applied(text: &str, error: &str) -> Fault {
    let text = quote(&quoted_part(text));
    Fault::new(format!("error while applying templatePatch template to json {text}: {error}"))
}

fn with_project(mut application: Value, project: Option<Value>) -> Value {
    if let Value::Mapping(entries) = &mut application {
        let mut spec = entries.remove("spec").unwrap_or_else(|| Value::Mapping(Mapping::new()));
        if let Value::Mapping(spec) = &mut spec {
            spec.remove("project");
            spec.extend(project.map(|project| ("project".to_owned(), project)));
        }
        entries.insert("spec".to_owned(), spec);
    }
    application
}

/// The numbers of JSON as the patch has them: what is beyond `int64` is a float.
fn as_patched(value: Value) -> Value {
    match value {
        Value::Uint(number) => Value::Float(number as f64),
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(as_patched).collect()),
        Value::Mapping(entries) => {
            Value::Mapping(entries.into_iter().map(|(key, value)| (key, as_patched(value))).collect())
        }
        value => value,
    }
}

/// The patch as JSON, and what that says or why it says nothing.
fn as_json(patch: &str) -> Result<(String, std::result::Result<Value, String>)> {
    let limits = Limits::default();
    if patch.trim().starts_with('{') {
        let value = json::decode(patch.as_bytes(), &limits).map_err(|error| error.to_string());
        return Ok((patch.to_owned(), value));
    }
    let value = sigs::yaml_to_json(patch.as_bytes(), &limits).map_err(|error| {
        Fault::new(format!("error while converting template to json {}: {error}", quote(&quoted_part(patch))))
    })?;
    Ok((json::encode(&value, JSON), Ok(value)))
}

type Merged<T> = std::result::Result<T, String>;

fn merge(mut original: Mapping, mut patch: Mapping, shape: &Shape) -> Merged<Mapping> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Mapping::new()),
            _ => {
                let directive = printed("%s", &template::Value::from_yaml(directive));
                let map = printed("%v", &template::Value::from_yaml(&Value::Mapping(patch)));
                Err(format!("unknown patch type: {directive} in map: {map}"))
            }
        };
    }
    retain_keys(&mut original, &mut patch)?;
    if let Some(key) = patch.keys().find(|key| key.starts_with(ELEMENT_ORDER)) {
        return Err(format!("`{key}` is not supported: write the whole list in its order"));
    }
    for (key, value) in patch {
        let deleted_from = match key.strip_prefix(DELETE_FROM_LIST) {
            Some(rest) => Some(rest.strip_prefix('/').ok_or("invalid patch format of primitive list")?),
            None => None,
        };
        let key = deleted_from.unwrap_or(&key);
        if value.is_null() {
            original.remove(key);
            continue;
        }
        let Some(ours) = original.remove(key) else {
            if deleted_from.is_none() {
                original.extend(taken(value).map(|value| (key.to_owned(), value)));
            }
            continue;
        };
        let merged = match (ours, value) {
            (Value::Mapping(ours), Value::Mapping(theirs)) => {
                Some(Value::Mapping(merge(ours, theirs, &field_of(shape, key)?.shape)?))
            }
            (Value::Sequence(ours), Value::Sequence(theirs)) => {
                let list = field_of(shape, key)?.list;
                Some(Value::Sequence(merge_list(ours, theirs, list, deleted_from.is_some())?))
            }
            (ours, theirs) if deleted_from.is_some() && ours.json_kind() != theirs.json_kind() => Some(ours),
            (_, theirs) => taken(theirs),
        };
        original.extend(merged.map(|value| (key.to_owned(), value)));
    }
    Ok(original)
}

/// What the patch adds as it is: without what is null, and without what has a directive.
fn taken(value: Value) -> Option<Value> {
    match value {
        Value::Mapping(entries) if entries.contains_key(DIRECTIVE) => None,
        Value::Mapping(entries) => {
            let entries = entries.into_iter().filter(|(_, value)| !value.is_null());
            Some(Value::Mapping(entries.filter_map(|(key, value)| Some((key, taken(value)?))).collect()))
        }
        Value::Sequence(items) => Some(Value::Sequence(items.into_iter().filter_map(taken).collect())),
        value => Some(value),
    }
}

/// The field of a type that a key is for.
fn field_of(shape: &Shape, key: &str) -> Merged<&'static Field> {
    let name = match shape {
        Shape::Struct(of) => match of.field_folded(key) {
            Some(field) => return Ok(field),
            None => of.name,
        },
        Shape::Raw => "RawExtension",
        Shape::Text
        | Shape::Flag
        | Shape::Number
        | Shape::NumberOrText
        | Shape::Ignored(_)
        | Shape::Map(_)
        | Shape::List(_) => {
            return Err("merging an object in json but data type is not struct, instead is: map".to_owned());
        }
    };
    Err(format!("unable to find api field in struct {name} for the json field {}", quote(key)))
}

/// `$retainKeys`: all other entries go, and the patch may set no other.
fn retain_keys(original: &mut Mapping, patch: &mut Mapping) -> Merged<()> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let wrong = || "invalid patch format of retainKeys".to_owned();
    let Value::Sequence(keys) = keys else { return Err(wrong()) };
    let is_kept = |key: &str| keys.iter().any(|kept| kept.as_str() == Some(key));
    let is_plain = |key: &str| !key.starts_with(DELETE_FROM_LIST) && !key.starts_with(ELEMENT_ORDER);
    if patch.iter().any(|(key, value)| !value.is_null() && is_plain(key) && !is_kept(key)) {
        return Err(wrong());
    }
    original.retain(|key, _| is_kept(key));
    Ok(())
}

fn merge_list(ours: Vec<Value>, theirs: Vec<Value>, patch: ListPatch, is_deletion: bool) -> Merged<Vec<Value>> {
    let is_of_maps = ours.iter().chain(&theirs).any(|item| matches!(item, Value::Mapping(_)));
    match patch {
        _ if is_deletion && is_of_maps => Err("cannot merge lists without merge key for struct".to_owned()),
        _ if is_deletion => Ok(ours.into_iter().filter(|item| !theirs.contains(item)).collect()),
        ListPatch::Replace => Ok(theirs),
        ListPatch::Merge => Ok(united(&ours, &theirs)),
    }
}

/// The items of both: those of the patch first, others where they are before an item of the patch in our own order.
fn united(ours: &[Value], theirs: &[Value]) -> Vec<Value> {
    let place = |item: &Value| ours.iter().position(|own| own == item);
    let mut others = ours.iter().filter(|item| !theirs.contains(item)).peekable();
    let mut united: Vec<Value> = Vec::new();
    for item in theirs {
        while let Some(other) = others.next_if(|other| place(other) < place(item) && place(item).is_some()) {
            add_missing(other, &mut united);
        }
        add_missing(item, &mut united);
    }
    others.for_each(|other| add_missing(other, &mut united));
    united
}

fn add_missing(item: &Value, items: &mut Vec<Value>) {
    if !items.contains(item) {
        items.push(item.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        json::decode(json.as_bytes(), &Limits::default()).expect("JSON")
    }

    /// What k8s.io/apimachinery makes of them.
    #[test]
    fn patches() {
        let rows = [
            (r#"{"spec":{"project":"b"}}"#, r#"{"spec":{"project":"a","source":{"path":"p","repoURL":"r"}}}"#),
            (r#"{"spec":{"source":{"path":null}}}"#, r#"{"spec":{"project":"a","source":{"repoURL":"r"}}}"#),
            (r#"{"spec":{"source":null}}"#, r#"{"spec":{"project":"a"}}"#),
            (r#"{"spec":{"source":{"$patch":"delete"}}}"#, r#"{"spec":{"project":"a","source":{}}}"#),
            (
                r#"{"spec":{"source":{"$patch":"replace","chart":"c"}}}"#,
                r#"{"spec":{"project":"a","source":{"chart":"c"}}}"#,
            ),
            (
                r#"{"spec":{"source":{"$retainKeys":["repoURL","chart"],"chart":"c"}}}"#,
                r#"{"spec":{"project":"a","source":{"chart":"c","repoURL":"r"}}}"#,
            ),
            (
                r#"{"spec":{"syncPolicy":{"automated":{"$patch":"delete"}}}}"#,
                r#"{"spec":{"project":"a","source":{"path":"p","repoURL":"r"},"syncPolicy":{}}}"#,
            ),
            ("", r#"{"spec":{"project":"a","source":{"path":"p","repoURL":"r"}}}"#),
            ("spec: {nothing: 1}", r#"{"spec":{"project":"a","source":{"path":"p","repoURL":"r"}}}"#),
        ];
        for (patch, expected) in rows {
            let application = value(r#"{"metadata":{},"spec":{"project":"a","source":{"path":"p","repoURL":"r"}}}"#);
            let mut patched = patched(&application, patch).expect(patch);
            if let Value::Mapping(entries) = &mut patched {
                entries.remove("metadata");
                if let Some(Value::Mapping(spec)) = entries.get_mut("spec") {
                    spec.remove("destination");
                }
            }
            assert_eq!(json::encode(&patched, JSON), expected, "{patch}");
        }
    }

    /// What Go 1.26 says of the types of `v1alpha1.Application`.
    #[test]
    fn a_patch_of_other_types_is_refused() {
        let rows = [
            ("status: text", "string into Go struct field Application.status of type v1alpha1.ApplicationStatus"),
            ("operation: [a]", "array into Go struct field Application.operation of type v1alpha1.Operation"),
            (
                "spec: {revisionHistoryLimit: 99999999999999999999}",
                "number 100000000000000000000 into Go struct field ApplicationSpec.spec.revisionHistoryLimit of type int64",
            ),
            (
                "spec: {revisionHistoryLimit: 9999999999999999999}",
                "number 9999999999999999999 into Go struct field ApplicationSpec.spec.revisionHistoryLimit of type int64",
            ),
            ("status: null\noperation: {sync: {}}", ""),
            (
                "spec: {sources: {}}",
                "object into Go struct field ApplicationSpec.spec.sources of type v1alpha1.ApplicationSources",
            ),
            (
                "spec: {source: {plugin: {env: [text]}}}",
                "string into Go struct field ApplicationSourcePlugin.spec.source.plugin.env of type v1alpha1.EnvEntry",
            ),
            (
                "spec: {source: {kustomize: {replicas: [{count: 3000000000}]}}}",
                "number 3000000000 into Go struct field KustomizeReplica.spec.source.kustomize.replicas.count of type int32",
            ),
            ("spec: {info: text}", "string into Go struct field ApplicationSpec.spec.info of type []v1alpha1.Info"),
        ];
        for (patch, expected) in rows {
            let application = value(r#"{"metadata":{},"spec":{"project":"a"}}"#);
            let found = patched(&application, patch).err().map(|fault| fault.text).unwrap_or_default();
            let is_right = if expected.is_empty() { found.is_empty() } else { found.ends_with(expected) };
            assert!(is_right, "{patch}: {found}");
        }
    }

    #[test]
    fn lists_of_finalizers_are_united() {
        let texts = |text: &str| text.split_whitespace().map(Value::from).collect::<Vec<_>>();
        let rows = [("a b", "c", "c a b"), ("a b c", "b", "a b c"), ("a b c", "c x", "a b c x"), ("a", "a a", "a")];
        for (ours, theirs, expected) in rows {
            assert_eq!(united(&texts(ours), &texts(theirs)), texts(expected), "{ours} and {theirs}");
        }
    }
}
