//! Reads `helm`, `kustomize`, `directory` and `plugin` of a drySource, or of what override files made of it, into options.

use go_yaml::Value;

use super::field::{Content, Field, Place};
use super::mistake::Mistake;
use super::object::{Object, UNKNOWN_MAX};
use super::{
    Directory, FileParameter, Helm, HelmParameter, Jsonnet, JsonnetVariable, Kustomize, Options, Patch, PatchTarget,
    Plugin, PluginParameter, PluginVariable, Replicas,
};

/// Reads the four option objects of `source`. More than one is a mistake.
///
/// Reference: Argo CD 3 pkg/apis/application/v1alpha1 types.go, `ExplicitType` and the option types.
pub(super) fn options(source: &Object<'_>) -> Options {
    let options = Options {
        helm: read(source, "helm", helm),
        kustomize: read(source, "kustomize", kustomize),
        directory: read(source, "directory", directory),
        plugin: read(source, "plugin", plugin),
    };
    let given = [
        ("Kustomize", "kustomize", options.kustomize.is_some()),
        ("Helm", "helm", options.helm.is_some()),
        ("Directory", "directory", options.directory.is_some()),
        ("Plugin", "plugin", options.plugin.is_some()),
    ];
    let names: Vec<_> = given.iter().filter(|(_, _, given)| *given).map(|(name, ..)| *name).collect();
    if names.len() > 1 {
        // The last one is the one to point at; those of override files come after the Application's.
        let entries = given.iter().filter(|(_, _, given)| *given).filter_map(|(_, key, _)| source.entry(key));
        let position = |place: &&Place| (place.file.path != source.place().file.path, place.line, place.column);
        if let Some(place) = entries.map(|entry| &entry.key_place).max_by_key(position) {
            source.add(Mistake::ManyTools(names.join(",")), place);
        }
    }
    options
}

fn read<T>(source: &Object<'_>, key: &'static str, read: fn(&Object<'_>) -> T) -> Option<T> {
    let entry = source.entry(key)?;
    // The name of an option object is alone in messages: it may be in the Application or in an override file.
    let object = source.object_called(entry, key)?;
    let value = read(&object);
    object.finish();
    Some(value)
}

fn helm(object: &Object<'_>) -> Helm {
    Helm {
        value_files: object.texts("valueFiles"),
        parameters: object.objects("parameters", helm_parameter),
        file_parameters: object.objects("fileParameters", file_parameter),
        release_name: object.text("releaseName"),
        values: object.text("values"),
        values_object: values_object(object),
        version: object.text("version"),
        pass_credentials: object.flag("passCredentials"),
        ignore_missing_value_files: object.flag("ignoreMissingValueFiles"),
        skip_crds: object.flag("skipCrds"),
        skip_tests: object.flag("skipTests"),
        skip_schema_validation: object.flag("skipSchemaValidation"),
        namespace: object.text("namespace"),
        kube_version: object.text("kubeVersion"),
        api_versions: object.texts("apiVersions"),
    }
}

fn helm_parameter(object: &Object<'_>) -> HelmParameter {
    HelmParameter {
        name: required(object, "name"),
        value: object.text("value").unwrap_or_default(),
        force_string: object.flag("forceString"),
    }
}

fn file_parameter(object: &Object<'_>) -> FileParameter {
    FileParameter { name: required(object, "name"), path: required(object, "path") }
}

fn values_object(object: &Object<'_>) -> Option<Value> {
    let field = &object.entry("valuesObject")?.field;
    match &field.content {
        Content::Mapping(_) => {
            lost_values(object, field);
            Some(field.to_value())
        }
        Content::Scalar(_) | Content::List(_) => {
            object.wrong_type(field, object.called("valuesObject"), "a mapping");
            None
        }
    }
}

/// Warns of keys that are there twice below `valuesObject`, which has no fields of its own. The last one counts.
fn lost_values(object: &Object<'_>, values: &Field) {
    let (mut todo, mut lost) = (vec![values], Vec::new());
    while let Some(field) = todo.pop() {
        match &field.content {
            Content::Mapping(entries) => {
                lost.extend(entries.iter().filter(|entry| entry.twice));
                todo.extend(entries.iter().map(|entry| &entry.field));
            }
            Content::List(items) => todo.extend(items),
            Content::Scalar(_) => {}
        }
    }
    for entry in lost.into_iter().take(UNKNOWN_MAX) {
        object.add(Mistake::LostValue { key: entry.key.clone() }, &entry.key_place);
    }
}

fn kustomize(object: &Object<'_>) -> Kustomize {
    Kustomize {
        name_prefix: object.text("namePrefix"),
        name_suffix: object.text("nameSuffix"),
        images: object.texts("images"),
        replicas: object.objects("replicas", replicas),
        common_labels: object.map("commonLabels", Object::as_text),
        common_annotations: object.map("commonAnnotations", Object::as_text),
        force_common_labels: object.flag("forceCommonLabels"),
        force_common_annotations: object.flag("forceCommonAnnotations"),
        label_without_selector: object.flag("labelWithoutSelector"),
        label_include_templates: object.flag("labelIncludeTemplates"),
        common_annotations_envsubst: object.flag("commonAnnotationsEnvsubst"),
        namespace: object.text("namespace"),
        patches: object.objects("patches", patch),
        components: object.texts("components"),
        ignore_missing_components: object.flag("ignoreMissingComponents"),
        version: object.text("version"),
        kube_version: object.text("kubeVersion"),
        api_versions: object.texts("apiVersions"),
    }
}

fn replicas(object: &Object<'_>) -> Replicas {
    Replicas {
        name: required(object, "name"),
        count: object.required("count").and_then(|entry| count(object, &entry.field)).unwrap_or_default(),
    }
}

fn patch(object: &Object<'_>) -> Patch {
    Patch {
        path: object.text("path"),
        patch: object.text("patch"),
        target: object.read("target", patch_target),
        options: object.map("options", Object::as_flag),
    }
}

fn patch_target(object: &Object<'_>) -> PatchTarget {
    PatchTarget {
        group: object.text("group"),
        version: object.text("version"),
        kind: object.text("kind"),
        name: object.text("name"),
        namespace: object.text("namespace"),
        annotation_selector: object.text("annotationSelector"),
        label_selector: object.text("labelSelector"),
    }
}

/// A number, or the same as text.
fn count(object: &Object<'_>, field: &Field) -> Option<i64> {
    match &field.content {
        Content::Scalar(Value::Int(count)) => Some(*count),
        // `3.0` is written as `3` in JSON.
        Content::Scalar(Value::Float(count)) if count.fract() == 0.0 && count.abs() < 1e15 => Some(*count as i64),
        Content::Scalar(Value::String(text)) if text.parse::<i64>().is_ok() => text.parse().ok(),
        _ => {
            object.wrong_type(field, object.called("count"), "a whole number");
            None
        }
    }
}

fn directory(object: &Object<'_>) -> Directory {
    Directory {
        recurse: object.flag("recurse"),
        include: object.text("include"),
        exclude: object.text("exclude"),
        disable_extension_filter: object.flag("disableExtensionFilter"),
        jsonnet: object.read("jsonnet", jsonnet).unwrap_or_default(),
    }
}

fn jsonnet(object: &Object<'_>) -> Jsonnet {
    Jsonnet {
        ext_vars: object.objects("extVars", jsonnet_variable),
        tlas: object.objects("tlas", jsonnet_variable),
        libs: object.texts("libs"),
    }
}

fn jsonnet_variable(object: &Object<'_>) -> JsonnetVariable {
    JsonnetVariable {
        name: required(object, "name"),
        value: object.required_text("value").map(|(text, _)| text).unwrap_or_default(),
        code: object.flag("code"),
    }
}

fn plugin(object: &Object<'_>) -> Plugin {
    Plugin {
        name: object.text("name"),
        is_kustomize: false,
        env: object.objects("env", plugin_variable),
        parameters: object.objects("parameters", plugin_parameter),
    }
}

fn plugin_variable(object: &Object<'_>) -> PluginVariable {
    PluginVariable {
        name: required(object, "name"),
        value: object.required_text("value").map(|(text, _)| text).unwrap_or_default(),
    }
}

fn plugin_parameter(object: &Object<'_>) -> PluginParameter {
    PluginParameter {
        name: required(object, "name"),
        string: object.entry("string").and_then(|entry| object.as_text(&entry.field, object.called("string"))),
        map: object.entry("map").map(|_| object.map("map", Object::as_text)),
        array: object.entry("array").map(|_| object.texts("array")),
    }
}

/// A name that must be there; a mistake was noted when the result is empty.
fn required(object: &Object<'_>, key: &'static str) -> String {
    object.required_name(key).map(|(text, _)| text).unwrap_or_default()
}
