//! The setting `kustomize.plugins`: config management plugins that are `kustomize build` and nothing else, as the repository
//! defines them for its Argo CD.

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::{self as yaml, Dialect, Limits, Value};
use inputs::InputsDir;

use super::super::check::{Judged, Tree};
use super::{Draft, walk};
use crate::owners::error::HydrateError;
use crate::settings::{BuildOptions, Value as Setting};

/// The setting.
pub(super) const KEY: &str = "kustomize.plugins";

/// How large a file may be.
const FILE_BYTES_MAX: usize = 1 << 20;

/// How many definitions may be inside of each other: a file, a text in it, a text in that.
const TEXTS_MAX: u32 = 2;

/// Proposes the plugins of the repository that are `kustomize build`; answers whether it did.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(draft: &mut Draft, judged: &Judged, tree: &Tree<'_>) -> Result<bool, HydrateError> {
    if draft.is_set(KEY)? {
        return Ok(false);
    }
    let view = View::new(tree.files);
    let mut found = defined(&view, judged.policy.plain.inputs());
    found.sort();
    found.dedup_by(|(one, _), (other, _)| one == other);
    let Some((_, file)) = found.first() else { return Ok(false) };
    let why = format!("they are `kustomize build`, by {file}");
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    draft.set(KEY, Setting::of(&names)?, why)?;
    Ok(true)
}

/// The names of plugins that are `kustomize build`, with the file that defines each.
fn defined(view: &View<'_>, inputs: &InputsDir) -> Vec<(String, RepoPath)> {
    let is_yaml = |name: &str| [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    let mut found = Vec::new();
    for path in walk::files(view, inputs, is_yaml) {
        let Ok(blob) = view.read(&path) else { continue };
        if blob.data.len() <= FILE_BYTES_MAX {
            found.extend(of_text(&String::from_utf8_lossy(&blob.data)).into_iter().map(|name| (name, path.clone())));
        }
    }
    found
}

fn of_text(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    look_in_text(text, TEXTS_MAX, &mut found);
    found
}

fn look_in_text(text: &str, texts: u32, found: &mut Vec<String>) {
    if texts > 0 && text.contains("generate:") && text.contains("kustomize") {
        let documents = yaml::decode(text.as_bytes(), Dialect::V2, &Limits::default()).unwrap_or_default();
        documents.iter().for_each(|document| look(document, None, texts, found));
    }
}

/// Looks for definitions in a value, which has this key in what it is in.
fn look(value: &Value, key: Option<&str>, texts: u32, found: &mut Vec<String>) {
    match value {
        Value::Mapping(entries) => {
            found.extend(name_of(value, key));
            entries.iter().for_each(|(key, entry)| look(entry, Some(key), texts, found));
        }
        Value::Sequence(items) => items.iter().for_each(|item| look(item, None, texts, found)),
        Value::String(text) => look_in_text(text, texts - 1, found),
        _ => {}
    }
}

/// The name by which Applications ask for what a mapping defines, if that is a plugin which is `kustomize build`.
///
/// Reference: Argo CD docs/operator-manual/config-management-plugins.md: a `ConfigManagementPlugin` with a version is asked for as
/// `name-version`. The chart of Argo CD has them below `configs.cmp.plugins` by name, `argocd-cm` once had a list of them.
fn name_of(value: &Value, key: Option<&str>) -> Option<String> {
    let text = |keys: &[&str]| value.at(keys).and_then(Value::as_str).map(str::to_owned);
    if text(&["kind"]).as_deref() == Some("ConfigManagementPlugin") {
        let version = text(&["spec", "version"]);
        let name = text(&["metadata", "name"])?;
        let name = version.map_or_else(|| name.clone(), |version| format!("{name}-{version}"));
        return is_kustomize(value.get("spec")?).then_some(name);
    }
    // The specification of one with a kind has no name but by that.
    let name = text(&["name"]).or_else(|| key.filter(|key| *key != "spec").map(str::to_owned))?;
    is_kustomize(value).then_some(name)
}

/// Whether a plugin builds the kustomization of its directory, with options that change nothing here, and does nothing else.
fn is_kustomize(plugin: &Value) -> bool {
    let Some(generate) = plugin.get("generate") else { return false };
    let words_of = |field: &str| -> Vec<&str> {
        let items = generate.get(field).and_then(Value::as_sequence).unwrap_or_default();
        items.iter().filter_map(Value::as_str).collect()
    };
    let mut words = [words_of("command"), words_of("args")].concat();
    if let [shell, "-c", script] = words[..]
        && ["sh", "bash", "ash"].contains(&file_name(shell))
    {
        let is_plain = script.trim().chars().all(|letter| letter.is_ascii_alphanumeric() || " -_./=".contains(letter));
        words = if is_plain { script.split_whitespace().collect() } else { Vec::new() };
    }
    let [program, "build", options @ ..] = &words[..] else { return false };
    let options: Vec<&str> = options.iter().copied().filter(|word| !matches!(*word, "." | "./")).collect();
    let has_no_effect = BuildOptions::try_from(options.join(" ")).is_ok_and(|options| !options.has_effect());
    file_name(program) == "kustomize" && plugin.get("init").is_none() && has_no_effect
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_known_wherever_it_is_defined() {
        let rows: [(&str, &[&str]); 9] = [
            (
                "cmp:\n  plugins:\n    k:\n      generate:\n        command: [sh, -c]\n        args: [kustomize build --enable-helm]\n",
                &["k"],
            ),
            (
                "kind: ConfigManagementPlugin\nmetadata: {name: k}\nspec: {version: v1, generate: {command: [kustomize, build, .]}}\n",
                &["k-v1"],
            ),
            (
                "data:\n  plugin.yaml: |\n    kind: ConfigManagementPlugin\n    metadata: {name: k}\n    spec:\n      generate: {command: [/bin/kustomize, build]}\n",
                &["k"],
            ),
            (
                "data:\n  configManagementPlugins: |\n    - name: k\n      generate: {command: [sh, -c], args: ['kustomize build .']}\n",
                &["k"],
            ),
            ("k: {init: {command: [helm]}, generate: {command: [kustomize, build]}}\n", &[]),
            ("k: {generate: {command: [sh, -c], args: ['kustomize build . | envsubst']}}\n", &[]),
            ("k: {generate: {command: [sh, -c], args: ['kustomize build $X']}}\n", &[]),
            ("k: {generate: {command: [kustomize, build, --load-restrictor, LoadRestrictionsNone]}}\n", &[]),
            ("k: {generate: {command: [kustomize, build, ../other]}}\n", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(of_text(text), expected, "{text}");
        }
    }
}
