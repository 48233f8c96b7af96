//! Tests only: what patterns, charts, schemas, sets and settings cost as they grow. Kustomizations are in `kustomize/tests.rs`,
//! template functions in `template/tests/cost.rs`; Jsonnet has a process of its own, with a limit of time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Files, MemoryFiles, Stop, Unreadable, View};
use go_std::glob::Glob;
use go_std::regexp::Regex;

use crate::argo::set::{self, Home, Sources};
use crate::argo::{Patterns, RuleSet};
use crate::discover::Discovery;
use crate::owners::policy::check_settings;
use crate::settings::SettingsFiles;
use dry_files::growth::{Looks, Row, Work, check};
use helm_template as helm;

/// Files whose directories are listed once, as those of a repository are.
struct Listed {
    files: MemoryFiles,
    root: ContentId,
    lists: Mutex<HashMap<RepoPath, Arc<[Entry]>>>,
}

impl Listed {
    fn new(files: MemoryFiles) -> Self {
        Self { root: files.root(), files, lists: Mutex::default() }
    }
}

impl Files for Listed {
    fn list(&self, dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, String> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = lists.get(dir) {
            return Ok(list.clone());
        }
        let list = self.files.list(dir, id)?;
        lists.insert(dir.clone(), list.clone());
        Ok(list)
    }

    fn read(&self, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
        self.files.read(path, id)
    }

    fn size(&self, path: &RepoPath, id: ContentId) -> Result<u64, Unreadable> {
        self.files.size(path, id)
    }

    fn root(&self) -> ContentId {
        self.root
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        writeln!(text, "{}", line(n)).expect("a string");
        text
    })
}

fn work<T>(work: impl Fn() -> T + 'static) -> Work {
    Box::new(move || {
        black_box(work());
        0.0
    })
}

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

/// Renders a chart of these files; what is too much is an error.
fn render(files: MemoryFiles, options: helm::Options) -> Work {
    let files = Listed::new(files.file("c/Chart.yaml", CHART).file("c/templates/none.yaml", ""));
    Box::new(move || {
        let looks = Looks::begin();
        let stop = stop(&looks);
        let options = helm::Options { stop: stop.clone(), ..options.clone() };
        let rendered = helm::render(&View::new(&files).until(stop), &path("c"), &options);
        let is_fine = |error: &helm::Error| error.to_string().contains("schema");
        assert!(is_large() || rendered.as_ref().err().is_none_or(is_fine), "{:?}", rendered.map(|_| ()));
        looks.longest()
    })
}

fn stop(looks: &Looks) -> Stop {
    let looks = looks.clone();
    Stop::when(move || looks.goes_on())
}

/// Whether inputs are so large that limits refuse some.
fn is_large() -> bool {
    std::env::var_os("COST_BYTES").is_some()
}

fn chart(files: &[(&str, String)]) -> Work {
    let all = files.iter().fold(MemoryFiles::new(), |all, (name, text)| all.file(&format!("c/{name}"), text.as_str()));
    render(all, helm::Options::default())
}

fn schema(schema: &str, values: String) -> Work {
    chart(&[("values.schema.json", schema.to_owned()), ("values.yaml", values)])
}

fn template(text: String) -> Work {
    chart(&[("templates/a.yaml", text)])
}

/// Expands a set with these generators over files `envs/*/config.yaml`.
fn set(generators: String, directories: usize) -> Work {
    let name = match &generators {
        of_git if of_git.contains("directories:") => "path.basename",
        product if product.contains("matrix:") => "name}}-{{other",
        _ => "name",
    };
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  generators:\n{generators}  template:\n    \
         metadata: {{name: 'a-{{{{{name}}}}}'}}\n    spec:\n      sourceHydrator:\n        drySource: {{repoURL: https://e/d.git, \
         targetRevision: main, path: x}}\n        syncSource: {{targetBranch: env/dev, path: '{{{{{name}}}}}'}}\n"
    );
    let files = (0..directories).fold(MemoryFiles::new(), |files, n| {
        files.file(&format!("envs/e{n}/config.yaml"), format!("name: e{n}\nmore: {{a: [1, 2, {n}]}}\n"))
    });
    let files = Listed::new(files);
    Box::new(move || {
        let looks = Looks::begin();
        let home = Home { repo_urls: vec!["https://e/d.git".to_owned()], revisions: Vec::new(), is_beside_head: false };
        let view = View::new(&files).until(stop(&looks));
        let sources = Sources::new(&view, home);
        let sets = set::read_sets(&path("sets.yaml"), set.as_bytes());
        assert!(is_large() || sets.is_ok(), "{:?}", sets.map(|_| ()));
        for set in sets.iter().flatten() {
            let expanded = set.expand(&sources, &set::Limits::default());
            assert!(is_large() || expanded.is_ok(), "{:?}", expanded.map(|_| ()));
        }
        looks.longest()
    })
}

fn elements(count: usize) -> String {
    lines(count, |n| format!("      - {{name: e{n}, other: v{n}}}"))
}

const GIT: &str = "{repoURL: https://e/d.git, revision: HEAD, ";

/// A name, a size, whether it counts twice, and the work.
type Case = (&'static str, usize, bool, fn(usize) -> Work);

const CASES: &[Case] = &[
    ("a glob of stars", 300, true, |n| {
        let (glob, name) = (Glob::new(&"*a".repeat(n)), "a".repeat(n) + "b");
        work(move || glob.as_ref().is_ok_and(|glob| glob.matches(&name)))
    }),
    ("a glob of alternatives", 300, true, |n| {
        let glob = Glob::new(&format!("{{{}}}", lines(n, |n| format!("a{n},")).replace('\n', "")));
        let names: Vec<String> = (0..n).map(|n| format!("b{n}")).collect();
        work(move || names.iter().filter(|name| glob.as_ref().is_ok_and(|glob| glob.matches(name))).count())
    }),
    ("a regular expression on a text", 300, true, |n| {
        let (pattern, text) = ("(a|aa)*x?".repeat(n.min(500)) + "c", "a".repeat(n));
        work(move || {
            let pattern = Regex::new(pattern.as_bytes()).expect("an expression");
            pattern.is_match(text.as_bytes(), |_| Ok::<_, Infallible>(()))
        })
    }),
    ("patterns of Applications on files", 60, true, |n| {
        let patterns: Vec<String> = (0..n).map(|n| format!("none{n}/**/*.yaml")).collect();
        let files = (0..n).fold(MemoryFiles::new(), |files, n| files.file(&format!("a/f{n}.yaml"), "a: b\n"));
        let files = Listed::new(files);
        work(move || {
            let patterns = Patterns::new(&patterns).expect("patterns");
            Discovery::default().discover(&files, &patterns, &RuleSet::default(), 1000).is_ok()
        })
    }),
    ("keys of values", 3000, false, |n| {
        chart(&[
            ("values.yaml", lines(n, |n| format!("k{n}: v"))),
            ("templates/a.yaml", "a: {{ .Values | len }}\n".to_owned()),
        ])
    }),
    ("values that override values", 2000, false, |n| {
        let inner = lines(n, |n| format!("  k{n}: {{a: b}}"));
        let files = [
            ("charts/s/Chart.yaml", "apiVersion: v2\nname: s\nversion: 1.0.0\n".to_owned()),
            ("charts/s/values.yaml", lines(n, |n| format!("k{n}: {{c: d}}"))),
            ("values.yaml", format!("s:\n{inner}")),
        ];
        chart(&files)
    }),
    ("values that are set one by one", 1000, false, |n| {
        let set = lines(n, |n| format!("a.k{n}=v,")).replace('\n', "");
        render(MemoryFiles::new(), helm::Options { set: vec![set], ..helm::Options::default() })
    }),
    ("items that are set one by one", 500, false, |n| {
        let set = lines(n, |n| format!("a[{n}].b=v,")).replace('\n', "");
        render(MemoryFiles::new(), helm::Options { set: vec![set], ..helm::Options::default() })
    }),
    ("subcharts", 30, false, |n| {
        let files: Vec<(String, String)> = (0..n)
            .map(|n| (format!("charts/s{n}/Chart.yaml"), format!("apiVersion: v2\nname: s{n}\nversion: 1.0.0\n")))
            .collect();
        let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        chart(&files)
    }),
    ("lines of .helmignore on files", 60, true, |n| {
        let files = (0..n).fold(MemoryFiles::new(), |files, n| files.file(&format!("c/files/f{n}"), "text"));
        render(files.file("c/.helmignore", lines(n, |n| format!("none{n}*x"))), helm::Options::default())
    }),
    (".Files.Glob on files", 60, true, |n| {
        let files = (0..n).fold(MemoryFiles::new(), |files, n| files.file(&format!("c/files/f{n}"), "text"));
        let template = format!(
            "{{{{ range $n := until {n} }}}}{{{{ $_ := $.Files.Glob (printf \"files/none%d*\" $n) }}}}{{{{ end }}}}"
        );
        render(files.file("c/templates/a.yaml", template), helm::Options::default())
    }),
    ("a text for tpl", 500, false, |n| template(format!("{{{{ $_ := tpl (repeat {n} \"a{{{{ 1 }}}}\") . }}}}"))),
    ("tpl, often", 300, false, |n| {
        template(format!(
            "{{{{ range $n := until {n} }}}}{{{{ $_ := tpl (print \"{{{{ \" $n \" }}}}\") . }}}}{{{{ end }}}}"
        ))
    }),
    ("include, often", 1000, false, |n| {
        template(format!(
            "{{{{ define \"x\" }}}}a{{{{ end }}}}{{{{ range until {n} }}}}{{{{ $_ := include \"x\" . }}}}{{{{ end }}}}"
        ))
    }),
    ("include of a large text", 100_000, false, |n| {
        template(format!(
            "{{{{ define \"x\" }}}}a{{{{ . }}}}{{{{ end }}}}{{{{ $_ := include \"x\" (repeat {n} \"a\") | include \"x\" }}}}"
        ))
    }),
    ("tpl on a large value", 100_000, false, |n| {
        let text = "{{ .a }}{{ .a }}";
        template(format!("{{{{ $_ := tpl `{text}` (dict \"Template\" .Template \"a\" (repeat {n} \"a\")) }}}}"))
    }),
    ("required and lookup, often", 1000, false, |n| {
        template(format!(
            "{{{{ $s := repeat {n} \"a\" }}}}{{{{ range until {n} }}}}{{{{ $_ := required $s $s }}}}{{{{ $_ := lookup $s $s $s $s }}}}{{{{ end }}}}"
        ))
    }),
    ("a text of the values", 100_000, false, |n| {
        chart(&[
            ("values.yaml", format!("a: {}", "a".repeat(n))),
            ("templates/a.yaml", "a: {{ .Values.a | quote }}".to_owned()),
        ])
    }),
    ("documents of one template", 1000, false, |n| {
        template(format!(
            "{{{{ range until {n} }}}}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{{{{ . }}}}}}\n{{{{ end }}}}"
        ))
    }),
    ("templates", 100, false, |n| {
        let template = "a: {{ .Release.Name }}";
        let files = (0..n).fold(MemoryFiles::new(), |files, n| files.file(&format!("c/templates/t{n}.yaml"), template));
        render(files, helm::Options::default())
    }),
    ("methods of .Files", 2000, false, |n| {
        let calls = "{{ $f := .Files }}{{ $_ := $f.Get \"f\" }}{{ $_ := $f.GetBytes \"f\" }}{{ $_ := $f.Lines \"f\" }}{{ $_ := $f.AsConfig }}\
                     {{ $_ := $f.AsSecrets }}";
        chart(&[("f", lines(n, |n| format!("line {n}"))), ("templates/a.yaml", calls.to_owned())])
    }),
    ("a schema of many properties", 1000, false, |n| {
        let properties = lines(n, |n| format!("\"k{n}\": {{\"type\": \"string\"}},"));
        let required = lines(n, |n| format!("\"k{n}\",")).replace('\n', "");
        let text = format!(
            "{{\"properties\": {{{properties}\"x\": {{}}}}, \"required\": [{}]}}",
            required.trim_end_matches(',')
        );
        schema(&text, lines(n, |n| format!("k{n}: v")))
    }),
    ("a schema of patterns on keys", 40, true, |n| {
        let patterns = lines(n, |n| format!("\"^(a|b)+{n}$\": {{\"type\": \"string\"}},"));
        schema(&format!("{{\"patternProperties\": {{{patterns}\"^x$\": {{}}}}}}"), lines(n, |n| format!("k{n}: v")))
    }),
    ("a schema of unique items", 500, false, |n| {
        schema(
            "{\"properties\": {\"a\": {\"uniqueItems\": true}}}",
            format!("a:\n{}", lines(n, |n| format!("- {{k: {n}}}"))),
        )
    }),
    ("a schema of alternatives on items", 40, true, |n| {
        let any = lines(n, |n| format!("{{\"const\": {{\"k\": -{n}}}}},"));
        let text = format!("{{\"properties\": {{\"a\": {{\"items\": {{\"anyOf\": [{any}true]}}}}}}}}");
        schema(&text, format!("a:\n{}", lines(n, |n| format!("- {{k: {n}}}"))))
    }),
    ("a schema of values on items", 100, true, |n| {
        let values = lines(n, |n| format!("{{\"k\": -{n}}},"));
        let text = format!("{{\"properties\": {{\"a\": {{\"items\": {{\"enum\": [{values}1]}}}}}}}}");
        schema(&text, format!("a:\n{}", lines(n, |n| format!("- {{k: {n}}}"))))
    }),
    ("a schema of references", 300, false, |n| {
        let all = lines(n, |n| format!("\"d{n}\": {{\"$ref\": \"#/$defs/d{}\"}},", n + 1));
        let text = format!("{{\"$ref\": \"#/$defs/d0\", \"$defs\": {{{all}\"d{n}\": {{}}}}}}");
        schema(&text, "a: b\n".to_owned())
    }),
    ("a schema that no document fulfils", 500, false, |n| {
        let text = "{\"properties\": {\"a\": {\"items\": {\"type\": \"string\"}}}}";
        schema(text, format!("a:\n{}", lines(n, |n| format!("- {n}"))))
    }),
    ("a list of elements", 500, false, |n| set(format!("  - list:\n      elements:\n{}", elements(n)), 0)),
    ("a matrix of lists", 20, true, |n| {
        let list = |n: usize, key: &str| lines(n, |n| format!("          - {{{key}: e{n}}}"));
        let (one, two) = (list(n, "name"), list(n, "other"));
        set(
            format!(
                "  - matrix:\n      generators:\n      - list:\n          elements:\n{one}      - list:\n          elements:\n{two}"
            ),
            0,
        )
    }),
    ("a merge of lists", 200, false, |n| {
        let list = |value: &str| lines(n, |n| format!("          - {{name: e{n}, value: {value}}}"));
        let (one, two) = (list("a"), list("b"));
        set(
            format!(
                "  - merge:\n      mergeKeys: [name]\n      generators:\n      - list:\n          elements:\n{one}      - list:\n          elements:\n{two}"
            ),
            0,
        )
    }),
    ("files of git", 200, false, |n| set(format!("  - git: {GIT}files: [{{path: 'envs/*/config.yaml'}}]}}\n"), n)),
    ("directories of git", 200, false, |n| set(format!("  - git: {GIT}directories: [{{path: 'envs/*'}}]}}\n"), n)),
    ("patterns of git on directories", 40, true, |n| {
        let patterns = lines(n, |n| format!("{{path: 'envs/none{n}*'}},")).replace('\n', "");
        set(format!("  - git: {GIT}directories: [{patterns} {{path: 'envs/*'}}]}}\n"), n)
    }),
    ("a template of the settings", 1000, false, |n| {
        let text = lines(n, |n| format!("{{% if metadata.subject == '{n}' %}}a{{% endif %}}"));
        let files = SettingsFiles::from([("README.md.j2".to_owned(), text.into_bytes())]);
        work(move || check_settings(&files).is_ok())
    }),
    ("rules of the settings", 100, false, |n| {
        let rules = lines(n, |n| format!("- {{name: 'n{n}-*', branch: 'env/{{{{ name }}}}', path: '{{{{ name }}}}'}}"));
        let files = SettingsFiles::from([("settings.yaml".to_owned(), format!("rules:\n{rules}").into_bytes())]);
        work(move || check_settings(&files).is_ok())
    }),
];

#[test]
fn the_cost_of_work_is_in_proportion_to_what_it_is_done_on() {
    check(
        CASES.iter().map(|(name, size, is_product, work)| (Row { name, size: *size, is_product: *is_product }, *work)),
    );
}
