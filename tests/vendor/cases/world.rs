//! Repositories, registries and files that inputs come from, on this machine.

use std::fs;
use std::path::Path;

use super::{MAP, map};
use super::{files_of, packed, sha256, vendor};
use crate::servers::{Liar, git_server};
use crate::support::{Answer, Lab, Repo};

/// What the servers have.
pub(super) struct World {
    pub(super) lab: Lab,
    pub(super) dry: Repo,
    pub(super) charts: Liar,
    pub(super) git: Liar,
    pub(super) commit: String,
}

pub(super) fn chart(name: &str, version: &str) -> Vec<(String, String)> {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Name }}\n  namespace: {{ \
                  .Release.Namespace }}\ndata:\n  version: {{ .Chart.Version | quote }}\n  word: {{ .Values.word }}\n";
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}\n";
    [
        ("Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: {version}\n")),
        ("values.yaml", "word: plain\nexports: {data: {imported: yes}}\n".to_owned()),
        (".helmignore", "hidden.yaml\n".to_owned()),
        ("crds/crd.yaml", crd.to_owned()),
        ("templates/object.yaml", object.to_owned()),
        ("templates/hidden.yaml", map("hidden")),
    ]
    .map(|(path, text)| (format!("{name}/{path}"), text))
    .to_vec()
}

const WEB_VERSIONS: &[&str] = &["1.2.3", "1.3.0+b1", "1.3.0+b2", "v1.2.4", "2.0.0-rc.1"];

/// With what is odd about the archive of some charts: a byte order mark in each file, a directory of another name.
fn odd(name: &str, mut files: Vec<(String, String)>) -> Vec<(String, String)> {
    for (path, text) in &mut files {
        match name {
            "marked" => text.insert(0, '\u{feff}'),
            "moved" => *path = path.replacen("moved/", "elsewhere/", 1),
            _ => {}
        }
    }
    files
}

pub(super) fn world() -> World {
    let lab = Lab::new();
    let root = lab.path("charts");
    fs::create_dir_all(root.join("dir")).expect("made");
    let mut index = "apiVersion: v1\nentries:\n".to_owned();
    for (name, versions) in
        [("web", WEB_VERSIONS), ("ignoring", &["1.0.0"]), ("marked", &["1.0.0"]), ("moved", &["1.0.0"])]
    {
        index += &format!("  {name}:\n");
        for version in versions {
            let (file, archive) = (format!("{name}-{version}.tgz"), packed(&odd(name, chart(name, version))));
            index +=
                &format!("  - {{name: {name}, version: {version}, urls: [{file}], digest: {}}}\n", sha256(&archive));
            fs::write(root.join(file), archive).expect("written");
        }
    }
    fs::write(root.join("index.yaml"), index).expect("written");
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"json\"}}\n";
    let replacement = "source: {kind: ConfigMap, name: file, fieldPath: data.word}\ntargets: [{select: {name: map}, fieldPaths: [data.here]}]\n";
    let transformer = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: t-\nfieldSpecs: [{path: metadata/name}]\n";
    for (path, text) in [
        ("map.yaml", map("file").as_str()),
        ("dir/map.yaml", &map("below")),
        ("map.json", json),
        ("two.yaml", &format!("{}---\n{}", map("one"), map("two"))),
        ("patch.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {more: here}\n"),
        ("ops.yaml", "- {op: add, path: /data/op, value: done}\n"),
        ("plain.txt", "some text\n"),
        ("words.env", "A=b\nC=d\n"),
        ("replacement.yaml", replacement),
        ("configuration.yaml", "namePrefix: [{path: metadata/name}]\n"),
        ("transformer.yaml", transformer),
        ("values.yaml", "word: served\n"),
    ] {
        fs::write(root.join(path), text).expect("written");
    }
    let charts = files_of(root);
    fs::create_dir_all(lab.path("git/org")).expect("made");
    let git = git_server(&lab.path("git"));
    let clone = |name: &str| {
        let bare = Repo::at(&lab, &format!("git/org/{name}.git"));
        fs::create_dir(&bare.path).expect("made");
        bare.git(&["init", "-q", "--bare"]);
        let clone = bare.clone_to(name);
        clone.git(&["checkout", "-q", "-b", "main"]);
        clone
    };
    let up = clone("up");
    let nested = format!("resources: [map.yaml, '{}/org/small.git?ref=v1']\n", git.url());
    let with_file = format!("resources: ['{}/map.yaml']\n", charts.url());
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -c\n";
    let commit = up.commit(
        "Begin",
        &[
            ("base/kustomization.yaml", "resources: [map.yaml, ../shared]\n"),
            ("base/map.yaml", &map("base")),
            ("shared/kustomization.yaml", "resources: [map.yaml]\n"),
            ("shared/map.yaml", &map("shared")),
            ("other/kustomization.yaml", "resources: [map.yaml]\n"),
            ("other/map.yaml", &map("other")),
            ("deep/a/b/kustomization.yaml", "resources: [../../../base]\nnamePrefix: deep-\n"),
            ("nested/kustomization.yaml", &nested),
            ("nested/map.yaml", &map("nested")),
            ("with-file/kustomization.yaml", &with_file),
            ("component/kustomization.yaml", component),
            ("envs/prod.yaml", "word: prod\n"),
            ("chart/Chart.yaml", "apiVersion: v2\nname: own\nversion: 0.1.0\n"),
            ("chart/values.yaml", "word: plain\n"),
            ("chart/templates/map.yaml", &map("chart").replace("word: chart", "word: {{ .Values.word }}")),
        ],
    );
    up.git(&["tag", "v1"]);
    up.git(&["checkout", "-q", "-b", "feature/x"]);
    up.commit("Feature", &[("base/map.yaml", &map("feature"))]);
    up.git(&["checkout", "-q", "main"]);
    up.commit("Go on", &[("base/map.yaml", &map("second"))]);
    up.git(&["tag", "-a", "-m", "Second", "v2"]);
    up.commit("Go on", &[("base/map.yaml", &map("third"))]);
    up.git(&["push", "-q", "origin", "main", "feature/x", "v1", "v2"]);
    std::os::unix::fs::symlink("up.git", lab.path("git/org/up")).expect("made");
    Repo::at(&lab, "git/org/up.git").git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let small = clone("small");
    small.commit("Begin", &[("kustomization.yaml", "resources: [map.yaml]\n"), ("map.yaml", &map("small"))]);
    small.git(&["tag", "v1"]);
    small.git(&["push", "-q", "origin", "main", "v1"]);
    lab.server().clone_to("dry");
    let dry = Repo::at(&lab, "dry");
    dry.git(&["checkout", "-q", "-b", "main"]);
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {imported: '{{ .Values.imported }}'}\n";
    dry.commit(
        "Begin",
        &[
            ("web/map.yaml", MAP),
            ("charts/app/templates/own.yaml", own),
            ("charts/app/values.yaml", "web: {enabled: false}\ntags: {off: false}\n"),
        ],
    );
    World { lab, dry, charts, git, commit }
}

impl World {
    pub(super) fn filled(&self, text: &str) -> String {
        let text = text.replace("@GIT@", &self.git.url()).replace("@COMMIT@", &self.commit);
        text.replace("@FILES@", &self.charts.url()).replace("@CHARTS@", &self.charts.url())
    }

    /// Writes the files of a case over those of the one before.
    pub(super) fn prepare(&self, files: &[(&str, &str)]) {
        self.dry.git(&["reset", "-q", "--hard", "HEAD"]);
        self.dry.git(&["clean", "-q", "-fdx"]);
        for (path, text) in files {
            let path = self.dry.path.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, self.filled(text)).expect("written");
        }
    }

    /// What an official tool prints of the files as they are, all in a copy.
    pub(super) fn official(&self, commands: &[&[&str]]) -> Answer {
        let copy = self.lab.path("official");
        drop(fs::remove_dir_all(&copy));
        self.dry.copy_to("official");
        let mut last = None;
        for command in commands {
            let mut run = self.lab.command(command[0], &copy);
            let answer = Answer::new(run.args(&command[1..]).output().expect("installed"));
            if answer.code != Some(0) {
                return answer;
            }
            last = Some(answer);
        }
        last.expect("a command")
    }

    pub(super) fn judge(&self, case: &Path, official: &[&[&str]], ours: &[&str], wrong: &mut Vec<String>) {
        let expected = case.with_extension("yaml");
        let refused = case.with_extension("refused");
        let recorded = std::env::var_os("VENDOR_RECORD").map(|_| self.official(official));
        let vendored = vendor(&self.dry, &[]);
        let rendered = if vendored.code == Some(0) { self.render(ours) } else { vendored };
        let error = self
            .masked(rendered.stderr.lines().filter(|line| !line.starts_with("warning")).collect::<Vec<_>>().join("\n"));
        if let Some(answer) = recorded {
            fs::create_dir_all(case.parent().expect("a directory")).expect("made");
            if rendered.code == Some(0) && answer.code == Some(0) {
                fs::write(&expected, self.masked(answer.stdout)).expect("written");
            } else {
                let says = if answer.code == Some(0) { "take another one" } else { "refuse it too" };
                fs::write(&refused, format!("The official tools {says}.\n{error}\n")).expect("written");
            }
        }
        let found = match (fs::read_to_string(&expected), fs::read_to_string(&refused)) {
            (Ok(expected), _) => rendered.code == Some(0) && self.masked(rendered.stdout.clone()) == expected,
            (_, Ok(refused)) => {
                rendered.code != Some(0) && refused.split_once('\n').is_some_and(|(_, text)| text.trim_end() == error)
            }
            _ => false,
        };
        if !found {
            wrong.push(format!("{}:\n{}{error}", case.display(), rendered.stdout));
        }
    }

    /// What is rendered here; `@KEPT-KIND@` is where the input of that kind is kept.
    pub(super) fn render(&self, words: &[&str]) -> Answer {
        let word = |word: &&str| match word.split_once("@KEPT-").and_then(|(_, rest)| rest.split_once('@')) {
            Some((kind, below)) => self.kept(kind) + below,
            None => (*word).to_owned(),
        };
        let words: Vec<String> = words.iter().map(word).collect();
        self.dry.hydrate(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The directory of an input, whose name has its version; the path of a file.
    pub(super) fn kept(&self, kind: &str) -> String {
        let listed = self.dry.git(&["ls-files", &format!(".hydrate/inputs/{kind}/*")]);
        let first = listed.lines().next().unwrap_or_default();
        match first.split_once('@').filter(|_| kind != "file") {
            Some((name, rest)) => format!("{name}@{}", rest.split('/').next().unwrap_or_default()),
            None => first.to_owned(),
        }
    }

    /// Without what differs from run to run.
    pub(super) fn masked(&self, text: String) -> String {
        let text = text.replace(&self.git.url(), "@GIT@").replace(&self.charts.url(), "@CHARTS@");
        text.replace(&self.commit, "@COMMIT@").replace(&self.lab.path("").display().to_string(), "@LAB@/")
    }
}
