//! Which values nothing reads.

use dry_files::view::MemoryFiles;

use super::super::*;

/// The paths of the values that nothing reads, with a star behind those of the chart itself.
fn found(files: &[(&str, &str)], values: &str) -> Vec<String> {
    let chart = MemoryFiles::new().file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    let files = files.iter().fold(chart, |files, (path, text)| files.file(&format!("c/{path}"), *text));
    let values = ValuesSource::Text { name: "given".to_owned(), text: values.to_owned() };
    let options = Options { values: vec![values], ..Options::default() };
    let path = RepoPath::new("c").expect("plain");
    let unread = unread(&Charts::default(), &View::new(&files), &path, &options).expect("a good chart");
    unread.iter().map(|one| one.path.join(".") + if one.is_default { "*" } else { "" }).collect()
}

#[test]
fn a_value_is_read_however_a_template_comes_by_it() {
    // A template, values, and which of them are not read.
    let rows: &[(&str, &str, &[&str])] = &[
        ("{{ .Values.a }}", "{a: 1, b: 2}", &["b"]),
        ("{{ if .Values.a }}{{ .Values.b }}{{ end }}", "{a: false, b: 2, c: 3}", &["c"]),
        ("{{ toYaml .Values }}", "{b: 2}", &[]),
        ("{{ toYaml .Values.a }}", "{a: {x: {q: 1}}, b: 2}", &["b"]),
        ("{{ .Values.a.x }}", "{a: {x: 1, q: 2}}", &["a.q"]),
        ("{{ with .Values.a }}{{ .x }}{{ end }}", "{a: {x: 1, q: 2}}", &["a.q"]),
        ("{{ with .Values.a }}{{ toYaml . }}{{ end }}", "{a: {x: 1, q: 2}, b: 1}", &["b"]),
        ("{{ range .Values.a }}{{ .x }}{{ end }}", "{a: [{x: 1}, {x: 1, q: 2}]}", &["a.1.q"]),
        ("{{ range $k, $v := .Values.a }}{{ $k }}{{ $v.x }}{{ end }}", "{a: {one: {x: 1, q: 2}}}", &["a.one.q"]),
        ("{{ $v := .Values }}{{ $v.a }}", "{a: 1, b: 2}", &["b"]),
        (
            "{{ $v := dict }}{{ if .Values.z }}{{ $v = .Values.a }}{{ end }}{{ $v.x }}",
            "{a: {x: 1, q: 2}, z: 1}",
            &["a.q"],
        ),
        ("{{ index .Values \"a\" \"x\" }}", "{a: {x: 1, q: 2}, b: 2}", &["a.q", "b"]),
        ("{{ index .Values .Values.key }}", "{key: a, a: 1, b: 2}", &[]),
        ("{{ get .Values.a \"x\" }}{{ hasKey .Values \"b\" }}", "{a: {x: 1, q: 2}, b: 2, c: 3}", &["a.q", "c"]),
        ("{{ dig \"a\" \"x\" 1 .Values }}", "{a: {x: 1, q: 2}, b: 2}", &["a.q", "b"]),
        ("{{ pick .Values.a \"x\" | toYaml }}", "{a: {x: {z: 1}, q: 2}}", &["a.q"]),
        ("{{ .Values.a.x | default .Values.b.x }}", "{a: {x: 1, q: 2}, b: {x: 1, q: 2}}", &["a.q", "b.q"]),
        ("{{ (merge .Values.a .Values.b).x }}", "{a: {q: 2}, b: {x: 1}}", &["a.q"]),
        ("{{ include \"d\" . }}", "{a: 1, in: 2, b: 3}", &["a", "b"]),
        ("{{ include \"e\" (dict \"of\" .Values.a) }}", "{a: {x: 1, q: 2}}", &["a.q"]),
        ("{{ include .Values.name . }}{{ .Values.a }}", "{name: d, a: 1, in: 2, b: 3}", &["b"]),
        ("{{ include \"not there\" .Values.a }}", "{a: {x: 1}, b: 2}", &["b"]),
        ("{{ tpl .Values.text . }}", "{text: '{{ .Values.a }}', a: 1, b: 2}", &["b"]),
        ("{{ tpl .Values.text (dict \"x\" .Values.a) }}", "{text: '{{ .x.q }}', a: {q: 1}, b: 2}", &["b"]),
        ("{{ tpl (.Files.Get \"t.txt\") . }}", "{file: 1, b: 2}", &["b"]),
        ("{{ .Values.a }}", "{a: 1, global: {x: 1}, n: null}", &[]),
        ("{{ .Values.a }}{{ if .Values.m }}{{ end }}", "{a: 1, m: {x: 1}}", &[]),
    ];
    for (template, values, expected) in rows {
        let helpers = "{{ define \"d\" }}{{ .Values.in }}{{ end }}{{ define \"e\" }}{{ .of.x }}{{ end }}";
        let files = [("templates/t.yaml", *template), ("templates/_h.tpl", helpers), ("t.txt", "{{ .Values.file }}")];
        assert_eq!(found(&files, values), *expected, "{template}");
    }
}

#[test]
fn subcharts_read_what_is_below_their_names() {
    let files = [
        ("values.yaml", "redis: {enabled: true, size: 1, dead: 1, own: 2}\nold: 1\n"),
        (
            "Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n- {name: redis, alias: cache, condition: cache.enabled}\n- {name: redis, condition: redis.enabled, tags: [t]}\n",
        ),
        ("templates/t.yaml", "{{ .Values.top }}{{ .Subcharts.cache.Values.seen }}"),
        ("charts/redis/Chart.yaml", "apiVersion: v2\nname: redis\nversion: 1.0.0\n"),
        ("charts/redis/values.yaml", "dead: 1\n"),
        ("charts/redis/templates/t.yaml", "{{ .Values.size }}{{ .Values.global.zone }}"),
    ];
    let values = "{top: 1, tags: {t: true}, global: {zone: a}, cache: {enabled: true, size: 1, seen: 1, sise: 2}, cash: 1, old: 2}";
    assert_eq!(found(&files, values), ["cache.sise", "cash", "old*", "redis.own"]);
}
