//! Where the kustomizations that a render read say a field themselves: in a patch, inline or in a file, or in a generator.
//!
//! A patch counts whose kind and name are those of the object, or that has a target of its kind, and that has the very field. Whether
//! another patch takes it back is not looked at.

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::view::{Reads, View};
use go_yaml::{self as yaml, Data, Limits, Node, Style, Value};
use kustomize_build::FILE_NAMES;

use super::{below, text_at};
use crate::diff::{FieldPath, Step};
use crate::manifest::Manifest;

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) struct Field<'f> {
    pub manifest: &'f Manifest,
    /// Its name in its file, empty where that is not known: what is said of it has that name, or one that is made of it.
    pub name: &'f str,
    /// The file that the object is made of: that of its generator, if it has one.
    pub file: Option<&'f RepoPath>,
    pub path: &'f FieldPath,
    /// Whether the value must be the object's.
    pub is_value: bool,
}

/// The line that says the field; none where no kustomization does.
pub(super) fn place(view: &View<'_>, reads: &Reads, field: Field<'_>) -> Option<Span> {
    let is_kustomization = |path: &&RepoPath| path.file_name().is_some_and(|name| FILE_NAMES.contains(&name));
    let mut files: Vec<&RepoPath> = reads.keys().map(|(path, _)| path).filter(is_kustomization).collect();
    files.dedup();
    files.into_iter().find_map(|path| {
        let text = text_of(view, path)?;
        let documents = yaml::parse(text.as_bytes(), &Limits::default()).ok()?;
        let root = documents.first()?;
        let here = |line| Span { line, ..Span::file(path.clone()) }.quoting(&text);
        let generator = || (field.file == Some(path)).then(|| generator_of(root, field.manifest)).flatten();
        let patches = || Patches { view, path, text: &text, field }.place(root);
        common(root, field).map(here).or_else(patches).or_else(|| {
            let item = generator()?;
            in_env_file(view, path, item, field).or_else(|| generated(item, field).map(here))
        })
    })
}

fn text_of(view: &View<'_>, path: &RepoPath) -> Option<String> {
    String::from_utf8(view.read(path).ok()?.data.to_vec()).ok()
}

/// The line of a label or an annotation that a kustomization gives to all objects.
fn common(root: &Node, field: Field<'_>) -> Option<u32> {
    let [.., Step::Key(mapping), Step::Key(key)] = field.path.steps() else { return None };
    let is_it = |(name, value): &&(Node, Node)| {
        let has_value = || value.as_str().map(str::to_owned) == text_at(field.manifest.object(), field.path);
        name.as_str() == Some(key) && (!field.is_value || has_value())
    };
    let line = |pairs: &Node| pairs.as_mapping()?.iter().find(is_it).map(|(name, _)| name.mark.line);
    match mapping.as_str() {
        "annotations" => line(root.get("commonAnnotations")?),
        "labels" | "selector" | "matchLabels" => {
            let pairs = root.get("labels").and_then(Node::as_sequence).unwrap_or_default().iter();
            let pairs = pairs.filter_map(|item| item.get("pairs"));
            root.get("commonLabels").into_iter().chain(pairs).find_map(line)
        }
        _ => None,
    }
}

/// The generator that makes an object.
fn generator_of<'n>(root: &'n Node, manifest: &Manifest) -> Option<&'n Node> {
    let generator = match manifest.kind() {
        "ConfigMap" => "configMapGenerator",
        "Secret" => "secretGenerator",
        _ => return None,
    };
    let is_it = |item: &&Node| word(item, "name").is_some_and(|name| manifest.name().contains(name));
    root.get(generator)?.as_sequence()?.iter().filter(is_it).max_by_key(|item| word(item, "name").map(str::len))
}

/// The key of the data that a generator makes.
fn data_key(path: &FieldPath) -> Option<&str> {
    match path.steps() {
        [Step::Key(data), Step::Key(key), ..] if matches!(data.as_str(), "data" | "stringData" | "binaryData") => {
            Some(key)
        }
        _ => None,
    }
}

/// The line of a file of variables that a generator reads which has a key.
fn in_env_file(view: &View<'_>, kustomization: &RepoPath, item: &Node, field: Field<'_>) -> Option<Span> {
    let key = data_key(field.path)?;
    let several = item.get("envs").and_then(Node::as_sequence).unwrap_or_default().iter();
    let names = several.chain(item.get("env")).filter_map(Node::as_str);
    names.filter_map(|name| kustomization.parent().unwrap_or_default().resolve(name).ok()).find_map(|path| {
        let text = text_of(view, &path)?;
        let is_it = |line: &str| line.trim_start().split('=').next() == Some(key);
        let line = text.lines().zip(1_u32..).find(|(line, _)| is_it(line))?.1;
        Some(Span { line, ..Span::file(path) }.quoting(&text))
    })
}

/// The line of a generator: that of the key where a literal or a file has it, else of its name.
fn generated(item: &Node, Field { path, .. }: Field<'_>) -> Option<u32> {
    let Some(key) = data_key(path) else { return item.get("name").map(|name| name.mark.line) };
    let sources = ["literals", "files"].into_iter().filter_map(|field| item.get(field)?.as_sequence()).flatten();
    let mut sources = sources.filter_map(|node| Some((node.as_str()?, node.mark.line)));
    let says = |source: &str| match source.split_once('=') {
        Some((name, _)) => name.trim_matches(['"', '\'']) == key,
        None => source.rsplit('/').next() == Some(key),
    };
    let named = sources.find(|(source, _)| says(source)).map(|(_, line)| line);
    named.or_else(|| item.get("name").map(|name| name.mark.line))
}

/// The patches of a kustomization.
struct Patches<'p> {
    view: &'p View<'p>,
    path: &'p RepoPath,
    text: &'p str,
    field: Field<'p>,
}

impl Patches<'_> {
    /// The line of the last one that says the field.
    fn place(&self, root: &Node) -> Option<Span> {
        let all = ["patches", "patchesStrategicMerge", "patchesJson6902"].into_iter();
        let items = all.filter_map(|key| root.get(key)?.as_sequence()).flatten();
        items.filter_map(|item| self.of_item(item)).next_back()
    }

    fn of_item(&self, item: &Node) -> Option<Span> {
        let has_target = item.get("target").is_some();
        if !item.get("target").is_none_or(|target| self.is_meant(target)) {
            return None;
        }
        if let Some(inline) = item.get("patch").or(Some(item).filter(|item| item.as_str().is_some_and(is_inline))) {
            let number = self.line_in(inline.as_str()?, has_target)?;
            let line = match inline.style {
                Style::Literal | Style::Folded => inline.mark.line + number,
                _ => inline.mark.line,
            };
            return Some(Span { line, ..Span::file(self.path.clone()) }.quoting(self.text));
        }
        let name = item.get("path").unwrap_or(item).as_str()?;
        let path = self.path.parent().unwrap_or_default().resolve(name).ok()?;
        let text = text_of(self.view, &path)?;
        let line = self.line_in(&text, has_target)?;
        Some(Span { line, ..Span::file(path) }.quoting(&text))
    }

    /// Whether a target may select the object. Names are patterns: one that is no part of the object's is taken for one that selects it.
    fn is_meant(&self, target: &Node) -> bool {
        let name = word(target, "name").filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '-'));
        word(target, "kind").is_none_or(|kind| kind == self.field.manifest.kind())
            && name.is_none_or(|name| self.field.manifest.name().contains(name))
    }

    /// The line of a patch that says the field.
    fn line_in(&self, text: &str, has_target: bool) -> Option<u32> {
        let documents = yaml::parse(text.as_bytes(), &Limits::default()).ok()?;
        documents.iter().filter_map(|document| self.line_of(document, has_target)).next_back()
    }

    fn line_of(&self, document: &Node, has_target: bool) -> Option<u32> {
        let Field { manifest, name: own, path, .. } = self.field;
        let steps = path.steps();
        if let Data::Sequence(operations) = &document.data {
            return operations.iter().filter_map(|operation| self.line_of_operation(operation)).next_back();
        }
        let is_named = word(document, "kind") == Some(manifest.kind())
            && document
                .get("metadata")
                .and_then(|metadata| word(metadata, "name"))
                .is_some_and(|name| manifest.name().contains(name) && name.contains(own));
        (is_named || has_target).then(|| self.line_below(document, manifest.object(), steps)).flatten()
    }

    /// The line of an operation of JSON 6902 that sets the field, or something around it.
    fn line_of_operation(&self, operation: &Node) -> Option<u32> {
        let steps = self.field.path.steps();
        let pointer = operation.get("path")?;
        let tokens: Vec<String> =
            pointer.as_str()?.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
        let is_step = |(token, step): (&String, &Step)| match step {
            Step::Key(key) => token == key,
            Step::Index(index) => token == "-" || *token == index.to_string(),
            Step::Item(_) => false,
        };
        let rest = steps.get(tokens.len()..)?;
        if !tokens.iter().zip(steps).all(is_step) || !matches!(word(operation, "op"), Some("add" | "replace")) {
            return None;
        }
        let value = operation.get("value")?;
        if rest.is_empty() {
            let line = if self.field.is_value { value.mark.line } else { pointer.mark.line };
            return self.is_right(value).then_some(line);
        }
        self.line_below(value, &Value::Null, rest)
    }

    /// The line of what steps lead to from a node of a patch; `value` is what the object has there. Items of lists are known by their
    /// names.
    fn line_below(&self, mut node: &Node, mut value: &Value, steps: &[Step]) -> Option<u32> {
        let mut line = None;
        for step in steps {
            let (number, next) = match step {
                Step::Index(index) => {
                    let item = value.as_sequence().and_then(|items| items.get(*index)).unwrap_or(&Value::Null);
                    value = item;
                    let name = item.get("name").and_then(Value::as_str);
                    match name.and_then(|name| node.as_sequence()?.iter().find(|item| word(item, "name") == Some(name)))
                    {
                        Some(item) => (item.mark.line, item),
                        None if name.is_some() => return None,
                        None => below(node, step)?,
                    }
                }
                Step::Key(key) => {
                    value = value.get(key).unwrap_or(&Value::Null);
                    below(node, step)?
                }
                Step::Item(_) => return None,
            };
            (line, node) = (Some(number), next);
        }
        line.filter(|_| self.is_right(node))
    }

    /// Whether a value that a patch has is the object's, where that counts.
    fn is_right(&self, node: &Node) -> bool {
        let Field { manifest, path, is_value, .. } = self.field;
        !is_value || node.as_str().map(str::to_owned) == text_at(manifest.object(), path)
    }
}

/// Whether an entry of `patchesStrategicMerge` is a patch, and not the path of one.
fn is_inline(text: &str) -> bool {
    text.contains('\n') || text.contains(": ")
}

fn word<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use dry_files::view::MemoryFiles;
    use go_yaml::sigs;

    use super::*;

    /// Where a kustomization that is `text` says a field of an object.
    fn found(text: &str, object: &str, steps: &[&str], is_value: bool) -> Option<(String, u32)> {
        let patch = "- op: replace\n  path: /spec/paused\n  value: 1\n";
        let files = MemoryFiles::new()
            .file("a/kustomization.yaml", text)
            .file("a/patch.yaml", patch)
            .file("a/web.env", "a=1\nb b=2\n");
        let view = View::new(&files);
        view.read(&RepoPath::new("a/kustomization.yaml").expect("a path")).expect("there");
        let manifest =
            Manifest::new(sigs::unmarshal(object.as_bytes(), &Limits::default()).expect("YAML")).expect("an object");
        let step = |step: &&str| step.parse().map_or_else(|_| Step::Key((*step).to_owned()), Step::Index);
        let path: FieldPath = steps.iter().map(step).collect();
        let file = RepoPath::new("a/kustomization.yaml").expect("a path");
        let name = if manifest.kind() == "Deployment" { "web" } else { "" };
        let field = Field { manifest: &manifest, name, file: Some(&file), path: &path, is_value };
        let span = place(&View::new(&files), &view.reads(), field)?;
        Some((span.path.to_string(), span.line))
    }

    #[test]
    fn patches_and_generators_have_the_line_of_what_they_say() {
        let web = "kind: Deployment\nmetadata: {name: dev-web}\nspec: {replica: 3, paused: 1, template: {spec: {containers: [{name: a}, \
                   {name: b, image: x}]}}}\n";
        let strategic = "patches:\n- patch: |-\n    kind: Deployment\n    metadata: {name: web}\n    spec:\n      replica: 3\n      \
                         template:\n        spec:\n          containers:\n          - name: b\n            image: x\n";
        let json = "patches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: add\n      path: /spec/replica\n      value: 3\n- target: \
                    {kind: Service}\n  patch: '[{op: add, path: /spec/replica, value: 3}]'\n- path: patch.yaml\n  target: {name: web}\n";
        let generators =
            "configMapGenerator:\n- name: cfg\n  literals:\n  - a=1\n  - 'b b=2'\n  files: [x=y, dir/z.txt]\n";
        let common = "commonAnnotations:\n  a b: x\nlabels:\n- pairs: {d: e}\n";
        let envs = "configMapGenerator:\n- name: cfg\n  envs: [web.env]\n";
        let map = "kind: ConfigMap\nmetadata: {name: cfg-hash}\ndata: {b b: 2}\n";
        type Row<'r> = (&'r str, &'r str, &'r [&'r str], bool, Option<(&'r str, u32)>);
        let here = "a/kustomization.yaml";
        let rows: &[Row<'_>] = &[
            (strategic, web, &["spec", "replica"], false, Some((here, 6))),
            (strategic, web, &["spec", "template", "spec", "containers", "1", "image"], true, Some((here, 11))),
            (strategic, web, &["spec", "template", "spec", "containers", "0", "image"], false, None),
            (
                strategic,
                &web.replace("image: x", "image: y"),
                &["spec", "template", "spec", "containers", "1", "image"],
                true,
                None,
            ),
            (strategic, &web.replace("Deployment", "Job"), &["spec", "replica"], false, None),
            (&strategic.replace("name: web}", "name: w}"), web, &["spec", "replica"], false, None),
            (json, web, &["spec", "replica"], false, Some((here, 5))),
            (json, web, &["spec", "replica"], true, Some((here, 6))),
            (json, web, &["spec", "paused"], true, Some(("a/patch.yaml", 3))),
            (common, web, &["metadata", "annotations", "a b"], false, Some((here, 2))),
            (common, web, &["metadata", "annotations", "c"], false, None),
            (common, web, &["spec", "template", "metadata", "labels", "d"], false, Some((here, 4))),
            (envs, map, &["data", "b b"], false, Some(("a/web.env", 2))),
            (envs, map, &["data", "c"], false, Some((here, 2))),
            (generators, map, &["data", "b b"], false, Some((here, 5))),
            (generators, map, &["data", "z.txt"], false, Some((here, 6))),
            (generators, map, &["data", "c"], false, Some((here, 2))),
            (generators, &map.replace("cfg", "other"), &["data", "b b"], false, None),
        ];
        for (text, object, steps, is_value, expected) in rows {
            let expected = expected.map(|(path, line)| (path.to_owned(), line));
            assert_eq!(found(text, object, steps, *is_value), expected, "{steps:?} in {text}");
        }
    }
}
