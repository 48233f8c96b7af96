use super::*;

/// A document as a hydrator writes it: `apps/v1 Deployment shop/web`, and what is in it.
fn document(object: &str, content: &str) -> String {
    let words: Vec<&str> = object.split(' ').collect();
    let [version, kind, place] = words[..] else { panic!("{object}") };
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let namespace = if namespace.is_empty() { String::new() } else { format!("  namespace: {namespace}\n") };
    format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}spec:\n  a: {content}\n")
}

/// `path: object = content; object = content`, with `path:` for a path that has nothing.
fn tree(text: &str) -> BTreeMap<RepoPath, String> {
    let mut tree = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (path, objects) = line.split_once(':').expect("a path");
        let objects = objects.split(';').filter_map(|object| object.split_once('='));
        let documents: Vec<String> = objects.map(|(object, content)| document(object.trim(), content.trim())).collect();
        tree.insert(RepoPath::new(path).expect("plain"), documents.join("---\n"));
    }
    tree
}

fn compared(old: &BTreeMap<RepoPath, String>, new: &BTreeMap<RepoPath, String>) -> ChangedObjects {
    let mut tally = Tally::default();
    for path in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
        let text = |tree: &BTreeMap<RepoPath, String>| tree.get(path).cloned().unwrap_or_default();
        assert!(tally.add(path, text(old).as_bytes(), text(new).as_bytes()));
    }
    tally.finish()
}

fn told(changed: &ChangedObjects) -> String {
    let gone: Vec<String> = changed.gone.iter().map(ToString::to_string).collect();
    [vec![changed.counts.to_string()], gone].concat().join("; ")
}

#[test]
fn an_object_without_a_namespace_is_in_that_of_its_application() {
    let (with, without) = (document("v1 Service shop/web", "1"), document("v1 Service web", "1"));
    let rows = [
        (Some("shop"), "1 object changed"),
        (Some("other"), "1 object added, 1 removed; removed Service shop/web"),
        (None, "1 object added, 1 removed; removed Service shop/web"),
    ];
    let path = RepoPath::new("web").expect("plain");
    for (namespace, expected) in rows {
        let mut tally = Tally::default();
        assert!(tally.add_within(&path, namespace, with.as_bytes(), without.as_bytes()));
        assert_eq!(told(&tally.finish()), expected, "{namespace:?}");
    }
    let mut tally = Tally::default();
    tally.add_within(&path, Some("shop"), without.as_bytes(), b"");
    assert_eq!(told(&tally.finish()), "1 object removed; removed Service web", "as it was written");
}

#[test]
fn what_counts_as_one_object() {
    let rows = [
        ("nothing", "web: v1 Service a/b = 1", "web: v1 Service a/b = 1", ""),
        ("content", "web: v1 Service a/b = 1", "web: v1 Service a/b = 2", "1 object changed"),
        ("order", "web: v1 Pod a = 1; v1 Pod b = 1", "web: v1 Pod b = 1; v1 Pod a = 1", ""),
        ("a new path", "", "web: v1 Pod a = 1; v1 Pod b = 1", "2 objects added"),
        ("a path that goes", "web: v1 Pod a = 1", "", "1 object removed; removed Pod a"),
        (
            "all three",
            "web: v1 Pod a = 1; v1 Pod b = 1",
            "web: v1 Pod b = 2; v1 Pod c = 1",
            "1 object changed, 1 added, 1 removed; removed Pod a",
        ),
        ("another name", "web: v1 Pod a = 1", "web: v1 Pod b = 1", "1 object added, 1 removed; removed Pod a"),
        (
            "another namespace",
            "web: v1 Pod a/web = 1; v1 Pod b/web = 1",
            "web: v1 Pod b/web = 1; v1 Pod c/web = 1",
            "1 object added, 1 removed; removed Pod a/web",
        ),
        (
            "another kind",
            "web: apps/v1 Deployment a = 1",
            "web: apps/v1 StatefulSet a = 1",
            "1 object added, 1 removed; removed Deployment a",
        ),
        (
            "another group",
            "web: a.io/v1 Gateway a = 1",
            "web: b.io/v1 Gateway a = 1",
            "1 object added, 1 removed; removed Gateway a",
        ),
        ("another version", "web: apps/v1beta1 Deployment a = 1", "web: apps/v1 Deployment a = 1", "1 object changed"),
        (
            "a CRD",
            "web: apiextensions.k8s.io/v1 CustomResourceDefinition as.b.io = 1",
            "web:",
            "1 object removed; removed CustomResourceDefinition as.b.io",
        ),
        (
            "of the cluster, with a namespace",
            "web: rbac.authorization.k8s.io/v1 ClusterRole a/web = 1",
            "web: rbac.authorization.k8s.io/v1 ClusterRole web = 1",
            "1 object changed",
        ),
        (
            "of another Application",
            "web: v1 Pod a = 1; v1 Pod b = 1\napi: v1 Pod c = 1",
            "web: v1 Pod a = 1\napi: v1 Pod c = 1; v1 Pod b = 1",
            "",
        ),
        ("of another path, changed", "web: v1 Pod a = 1", "new: v1 Pod a = 2", "1 object changed"),
        (
            "of two Applications, of which one goes",
            "web: v1 Pod a = 1\napi: v1 Pod a = 1",
            "web: v1 Pod a = 1",
            "1 object removed; removed Pod a",
        ),
        ("twice in a path, then once", "web: v1 Pod a = 1; v1 Pod a = 2", "web: v1 Pod a = 2", "1 object changed"),
        ("once, then twice", "web: v1 Pod a = 1", "web: v1 Pod a = 1; v1 Pod a = 2", "1 object changed"),
        ("twice from the beginning", "", "web: v1 Pod a = 1; v1 Pod a = 2", "1 object added"),
        (
            "Kustomize's hash",
            "web: v1 ConfigMap a/web-2k9mf2hc4b = 1",
            "web: v1 ConfigMap a/web-8h7bk5hc4b = 2",
            "1 object changed; renamed ConfigMap a/web-2k9mf2hc4b to web-8h7bk5hc4b",
        ),
        (
            "a hash of two that go",
            "web: v1 ConfigMap web-2k9mf2hc4b = 1; v1 ConfigMap web-2k9mf2hc5b = 1",
            "web: v1 ConfigMap web-8h7bk5hc4b = 2",
            "1 object added, 2 removed; removed ConfigMap web-2k9mf2hc4b; removed ConfigMap web-2k9mf2hc5b",
        ),
    ];
    for (rule, old, new, expected) in rows {
        assert_eq!(told(&compared(&tree(old), &tree(new))), expected, "{rule}");
    }
}

#[test]
fn what_is_not_written_as_hydrators_write_is_read_as_it_is_meant() {
    let plain = document("v1 Pod shop/a", "1");
    let rows = [
        (
            "a list and its items",
            "kind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {a: 1}}\n",
            plain.as_str(),
            "",
        ),
        (
            "another style",
            "{apiVersion: v1, kind: Pod, metadata: {name: \"a\", namespace: 'shop'}, spec: {a: 1}}",
            &plain,
            "",
        ),
        (
            "an item of a list goes",
            "kind: ConfigMapList\nitems:\n- {kind: ConfigMap, metadata: {name: a}}\n- {kind: ConfigMap, metadata: {name: b}}\n",
            "kind: ConfigMapList\nitems:\n- {kind: ConfigMap, metadata: {name: a}}\n",
            "1 object removed; removed ConfigMap b",
        ),
        (
            "a name that looks like a number",
            "kind: Pod\nmetadata:\n  name: \"7\"\n",
            "kind: Pod\nmetadata:\n  name: \"8\"\n",
            "1 object added, 1 removed; removed Pod 7",
        ),
        (
            "a name that the API server completes",
            "kind: Job\nmetadata:\n  generateName: run-\na: 1\n---\nkind: Job\nmetadata:\n  generateName: run-\na: 2\n",
            "kind: Job\nmetadata:\n  generateName: run-\na: 3\n---\nkind: Job\nmetadata:\n  generateName: run-\na: 2\n",
            "1 object added, 1 removed; removed Job run-*",
        ),
        (
            "a field called name in a text",
            "kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n    metadata:\n      name: b\n",
            "kind: ConfigMap\nmetadata:\n  name: a\n",
            "1 object changed",
        ),
        ("comments and nothing", "# a\n---\nnull\n", "---\n{}\n", ""),
    ];
    let path = RepoPath::new("web").expect("plain");
    for (rule, old, new, expected) in rows {
        let mut tally = Tally::default();
        assert!(tally.add(&path, old.as_bytes(), new.as_bytes()), "{rule}");
        assert_eq!(told(&tally.finish()), expected, "{rule}");
    }
    let mut tally = Tally::default();
    assert!(!tally.add(&path, b"a: [", b"kind: Pod\nmetadata:\n  name: a\n"));
    assert_eq!(told(&tally.finish()), "1 object added");
}

#[test]
fn paths_add_up_to_the_branch() {
    let old = tree("api: v1 Pod a = 1; v1 Pod b = 1\nweb: v1 Pod c = 1");
    let new = tree("api: v1 Pod a = 2\nweb: v1 Pod b = 2; v1 Pod d = 1");
    let changed = compared(&old, &new);
    let paths: Vec<String> = changed.paths.iter().map(|(path, counts)| format!("{path}: {counts}")).collect();
    assert_eq!(paths, ["api: 1 object changed", "web: 1 object changed, 1 added, 1 removed"]);
    assert_eq!(changed.counts.to_string(), "2 objects changed, 1 added, 1 removed");
    let json = serde_json::to_value(&changed).expect("JSON");
    let gone = serde_json::json!([{"kind": "Pod", "name": "c", "path": "web"}]);
    assert_eq!((&json["added"], &json["paths"]["web"]["removed"], &json["gone"]), (&1.into(), &1.into(), &gone));
    assert_eq!(serde_json::from_value::<ChangedObjects>(json).ok(), Some(changed));
}

#[test]
fn of_many_that_go_some_are_named_and_all_counted() {
    let object = |n: usize| document(&format!("v1 Pod p{n}"), "1");
    let many: Vec<String> = (0..150).map(object).collect();
    let path = RepoPath::new("web").expect("plain");
    let mut tally = Tally::default();
    tally.add(&path, many.join("---\n").as_bytes(), b"");
    let changed = tally.finish();
    assert_eq!((changed.gone.len(), changed.gone_count(), changed.counts.removed), (GONE_MAX, 150, 150));
}

#[test]
fn plain_secrets_of_a_manifest() {
    let secret = |name: &str, rest: &str| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n{rest}\n");
    let text =
        [secret("a", "data:\n  x: eQ=="), secret("b", "data:\n  x: <path:a#b>"), document("v1 ConfigMap Secret", "1")];
    let found = plain_secrets(text.join("---\n").as_bytes());
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["Secret a"]);
}
