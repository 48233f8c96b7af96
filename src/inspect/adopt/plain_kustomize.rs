//! The setting `kustomize.plugins`: config management plugins that are plain Kustomize, by their definitions in the tree.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::{self as yaml, Limits, Node};
use inputs::InputsDir;

use super::super::check::{Judged, Tree};
use super::units::plugin;
use super::{Draft, walk};
use crate::owners::error::HydrateError;
use crate::settings::BuildOptions;
use crate::settings::argocd_cm::BUILD_OPTIONS;

/// The key of the setting.
const PLUGINS: &str = "kustomize.plugins";

/// How large a file may be.
const FILE_BYTES_MAX: usize = 1 << 20;

/// How deep a definition may be, texts that are YAML themselves included.
const DEPTH_MAX: usize = 16;

/// Proposes the plugins of Applications that only run `kustomize build`, as far as no command is set for them here; answers whether
/// it did. Options by which a build differs are proposed with them, while the settings have none.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(draft: &mut Draft, judged: &Judged, tree: &Tree<'_>) -> Result<bool, HydrateError> {
    let all = judged.discovered.applications.iter().filter_map(|application| plugin(application));
    let used: BTreeSet<&str> = all.filter(|name| !has_command(tree, name)).collect();
    if used.is_empty() {
        return Ok(false);
    }
    let known = draft.settings()?.kustomize;
    let mut options = known.build_options.clone();
    let mut plugins = known.plugins.clone();
    let mut found: Option<RepoPath> = None;
    for (name, (own, file)) in defined(&View::new(tree.files), judged.policy.plain.inputs(), &used) {
        let is_first = !draft.is_set(BUILD_OPTIONS)? && found.is_none() && own.is_only_unrestricted();
        if own.words() == options.words() || is_first {
            if is_first {
                options = own;
            }
            plugins.push(name);
            found.get_or_insert(file);
        }
    }
    let Some(file) = found else { return Ok(false) };
    if options != known.build_options {
        draft.set(BUILD_OPTIONS, String::from(options).into(), format!("of a plugin, by {file}"))?;
    }
    draft.set(PLUGINS, plugins.into(), format!("they run `kustomize build` alone, by {file}"))?;
    Ok(true)
}

/// Whether a command is set for a plugin on this machine.
fn has_command(tree: &Tree<'_>, name: &str) -> bool {
    tree.repository
        .is_some_and(|(repository, _)| repository.config(&format!("hydrate-plugin.{name}.command")).is_some())
}

/// The plugins that YAML files define as plain Kustomize, by name, each with its options. One of which files say different
/// things is left out.
fn defined(view: &View<'_>, inputs: &InputsDir, used: &BTreeSet<&str>) -> BTreeMap<String, (BuildOptions, RepoPath)> {
    let is_yaml = |name: &str| [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    let mut found: BTreeMap<String, (Option<BuildOptions>, RepoPath)> = BTreeMap::new();
    for path in walk::files(view, inputs, is_yaml) {
        let Ok(blob) = view.read(&path) else { continue };
        let has = |text: &str| memchr::memmem::find(&blob.data, text.as_bytes()).is_some();
        if blob.data.len() > FILE_BYTES_MAX || !has("generate") || !used.iter().any(|name| has(name)) {
            continue;
        }
        let mut definitions = Vec::new();
        for document in yaml::parse(&blob.data, &Limits::default()).unwrap_or_default() {
            definitions_of(&document, None, 0, &mut definitions);
        }
        for (name, options) in definitions.into_iter().filter(|(name, _)| used.contains(name.as_str())) {
            let known = found.entry(name).or_insert_with(|| (options.clone(), path.clone()));
            if known.0 != options {
                known.0 = None;
            }
        }
    }
    found.into_iter().filter_map(|(name, (options, file))| Some((name, (options?, file)))).collect()
}

/// The plugins that a part of a document defines, each with the options of the `kustomize build` that it is: a manifest
/// `ConfigManagementPlugin`, an entry of `configs.cmp.plugins` of Argo CD's chart, or one of the former `configManagementPlugins`.
fn definitions_of(node: &Node, key: Option<&str>, depth: usize, found: &mut Vec<(String, Option<BuildOptions>)>) {
    if depth > DEPTH_MAX {
        return;
    }
    if let Some(text) = node.as_str().filter(|text| text.contains("generate:") && text.contains('\n')) {
        for document in yaml::parse(text.as_bytes(), &Limits::default()).unwrap_or_default() {
            definitions_of(&document, None, depth + 1, found);
        }
    }
    let text = |path: &[&str]| node.at(path).and_then(Node::as_str);
    let definition = match text(&["kind"]) {
        Some("ConfigManagementPlugin") => {
            let version = text(&["spec", "version"]).map(|version| format!("-{version}")).unwrap_or_default();
            text(&["metadata", "name"]).map(|name| format!("{name}{version}")).zip(node.get("spec"))
        }
        _ => text(&["name"]).or(key).map(str::to_owned).zip(Some(node)),
    };
    if let Some((name, spec)) = definition.filter(|(_, spec)| spec.get("generate").is_some()) {
        found.push((name, options(spec)));
        return;
    }
    for item in node.as_sequence().unwrap_or_default() {
        definitions_of(item, None, depth + 1, found);
    }
    for (key, value) in node.as_mapping().unwrap_or_default() {
        definitions_of(value, key.as_str(), depth + 1, found);
    }
}

/// The options of the `kustomize build` that a plugin is; none of one that does anything else.
fn options(spec: &Node) -> Option<BuildOptions> {
    if spec.get("init").is_some() {
        return None;
    }
    let words = |key: &str| -> Option<Vec<&str>> {
        match spec.at(&["generate", key]) {
            Some(list) => list.as_sequence()?.iter().map(Node::as_str).collect(),
            None => Some(Vec::new()),
        }
    };
    let words = [words("command")?, words("args")?].concat();
    let words: Vec<&str> = match words[..] {
        ["sh" | "bash" | "/bin/sh" | "/bin/bash", "-c", script] => {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_=./".contains(letter);
            let script = script.trim();
            script.chars().all(is_plain).then(|| script.split_whitespace().collect())?
        }
        _ => words,
    };
    let ["kustomize", "build", options @ ..] = &words[..] else { return None };
    let options: Vec<&str> = options.iter().copied().filter(|word| !matches!(*word, "." | "./")).collect();
    BuildOptions::try_from(options.join(" ")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plain_kustomize() {
        let rows = [
            ("generate: {command: [sh, -c], args: [kustomize build --enable-helm]}", Some("--enable-helm")),
            ("generate: {command: [kustomize, build, ., --enable-helm]}", Some("--enable-helm")),
            ("generate: {command: [kustomize], args: [build, .]}", Some("")),
            ("generate: {command: [sh, -c, 'kustomize build . | envsubst']}", None),
            ("generate: {command: [sh, -c, kustomize build $DIR]}", None),
            ("generate: {command: [kustomize, build, other]}", None),
            (
                "generate: {command: [kustomize, build, --enable-alpha-plugins, --enable-exec]}",
                Some("--enable-alpha-plugins --enable-exec"),
            ),
            ("{init: {command: [kustomize, edit]}, generate: {command: [kustomize, build]}}", None),
            ("generate: {command: [helm, template, .]}", None),
        ];
        for (text, expected) in rows {
            let node = yaml::parse(text.as_bytes(), &Limits::default()).expect(text).remove(0);
            assert_eq!(options(&node).map(String::from).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn where_plugins_are_defined() {
        let spec = "generate: {command: [kustomize, build]}";
        let rows = [
            format!("kind: ConfigManagementPlugin\nmetadata: {{name: built}}\nspec: {{{spec}}}\n"),
            format!("kind: ConfigManagementPlugin\nmetadata: {{name: built}}\nspec: {{version: v1, {spec}}}\n"),
            format!("configs: {{cmp: {{create: true, plugins: {{built: {{{spec}}}}}}}}}\n"),
            format!("data:\n  configManagementPlugins: |\n    - name: built\n      {spec}\n"),
            format!(
                "data:\n  plugin.yaml: |\n    kind: ConfigManagementPlugin\n    metadata: {{name: built}}\n    spec:\n      {spec}\n"
            ),
        ];
        for text in rows {
            let mut found = Vec::new();
            let node = yaml::parse(text.as_bytes(), &Limits::default()).expect(&text).remove(0);
            definitions_of(&node, None, 0, &mut found);
            let name = if text.contains("version") { "built-v1" } else { "built" };
            assert_eq!(found, [(name.to_owned(), Some(BuildOptions::default()))], "{text}");
        }
    }
}
