//! The commands that a hydrated commit records: how the official tools give the same manifests.
//!
//! They are the same whatever rendered. In the profile `proposal` each can be pasted into a shell at the root of the
//! repository. In `argocd` they are as Argo CD writes them: the chart is `.` in the directory of the Application, other
//! paths start at the root, only white space is quoted, and values that are in the Application are not there.

use dry_files::diag::is_replaced;
use dry_files::path::RepoPath;
use go_yaml as yaml;

use super::kustomization::Edits;
use super::release::Release;
use crate::argo::{Patch, Profile};

/// What Argo CD records in the place of the file that it makes of `values` and `valuesObject`.
const TEMPORARY_FILE: &str = "<temp file with values from source.helm.values/valuesObject>";

/// What Argo CD records in the place of `patches`, which it writes into the file itself.
const PATCHES_BY_HAND: &str = "# kustomization.yaml updated with patches. There is no `kustomize edit` command for adding \
                               patches. In order to generate the manifests in your local environment, you will need to \
                               copy the patches into kustomization.yaml manually.";

/// The command of a Helm chart: `helm template` with every option.
///
/// Reference: Argo CD 3 util/helm/cmd.go `template`; its maps have no order, ours is that of the lists.
pub(super) fn helm(release: &Release, profile: Profile) -> Vec<String> {
    let mut line = Line::new(profile, ["helm", "template"]);
    line.add(match profile {
        Profile::Proposal => local(&release.chart),
        Profile::Argocd => ".".to_owned(),
    });
    match (&release.name, profile) {
        (Some(name), _) => line.flag("--name-template", name),
        (None, Profile::Argocd) => line.flag("--name-template", ""),
        (None, Profile::Proposal) => {}
    }
    line.optional("--namespace", release.namespace.as_deref());
    line.optional("--kube-version", release.kube_version.as_deref());
    release.set.iter().for_each(|setting| line.flag("--set", setting));
    release.set_string.iter().for_each(|setting| line.flag("--set-string", setting));
    release.set_file.iter().for_each(|setting| line.flag("--set-file", &setting.argument(&local(&setting.file))));
    release.value_files.iter().for_each(|file| line.flag("--values", &csv(&local(file))));
    if let Some(values) = &release.values {
        match profile {
            // Read after all files and before `--set`, just like the last file.
            Profile::Proposal => {
                line.flag("--set-json", &yaml::json::encode(&values.object, yaml::json::Options::default()))
            }
            Profile::Argocd => {
                line.add("--values".to_owned());
                line.add_as_is(TEMPORARY_FILE);
            }
        }
    }
    release.api_versions.iter().for_each(|version| line.flag("--api-versions", version));
    line.switch("--include-crds", release.include_crds);
    line.switch("--skip-schema-validation", release.skip_schema_validation);
    line.switch("--skip-tests", release.skip_tests);
    vec![line.text]
}

/// The commands of a kustomization: its edits in Argo CD's order, then the build.
///
/// In `proposal` the edits change to the directory and back, and patches are added by command too where there is one.
///
/// Reference: Argo CD 3 util/kustomize/kustomize.go `Build`.
pub(super) fn kustomize(
    dir: &RepoPath,
    (edits, options): (&Edits, &[&str]),
    inflates_charts: bool,
    profile: Profile,
) -> Vec<String> {
    let mut commands = Vec::new();
    let mut edit = |words: Vec<String>| commands.push(edit_in(dir, words, profile));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    if let Some(prefix) = &edits.name_prefix {
        edit(words(&["set", "nameprefix", "--", prefix]));
    }
    if let Some(suffix) = &edits.name_suffix {
        edit(words(&["set", "namesuffix", "--", suffix]));
    }
    if !edits.images.is_empty() {
        edit([words(&["set", "image"]), edits.images.clone()].concat());
    }
    if !edits.replicas.is_empty() {
        let replicas = edits.replicas.iter().map(|replicas| format!("{}={}", replicas.name, replicas.count));
        edit([words(&["set", "replicas"]), replicas.collect()].concat());
    }
    let pairs = |map: &std::collections::BTreeMap<String, String>| {
        map.iter().map(|(key, value)| format!("{key}:{value}")).collect::<Vec<String>>()
    };
    if !edits.labels.is_empty() {
        let mut all = words(&["add", "label"]);
        all.extend(edits.force_labels.then(|| "--force".to_owned()));
        all.extend(edits.labels_without_selector.then(|| "--without-selector".to_owned()));
        all.extend(edits.labels_include_templates.then(|| "--include-templates".to_owned()));
        edit([all, pairs(&edits.labels)].concat());
    }
    if !edits.annotations.is_empty() {
        let mut all = words(&["add", "annotation"]);
        all.extend(edits.force_annotations.then(|| "--force".to_owned()));
        edit([all, pairs(&edits.annotations)].concat());
    }
    if let Some(namespace) = &edits.namespace {
        edit(words(&["set", "namespace", "--", namespace]));
    }
    if profile == Profile::Proposal {
        edits.patches.iter().filter_map(add_patch).for_each(&mut edit);
    }
    if !edits.components.is_empty() {
        edit([words(&["add", "component"]), edits.components.clone()].concat());
    }
    let by_hand = match profile {
        Profile::Proposal => edits.patches.iter().any(|patch| add_patch(patch).is_none()),
        Profile::Argocd => !edits.patches.is_empty(),
    };
    if by_hand {
        commands.push(PATCHES_BY_HAND.to_owned());
    }
    let mut build = Line::new(profile, ["kustomize", "build"]);
    build.add(local(dir));
    build.switch("--enable-helm", inflates_charts);
    if inflates_charts {
        build.optional("--helm-kube-version", edits.kube_version.as_deref());
        edits.api_versions.iter().for_each(|version| build.flag("--helm-api-versions", version));
    }
    options.iter().for_each(|option| build.add((*option).to_owned()));
    commands.push(build.text);
    commands
}

/// `kustomize edit` with these words, in the directory of a kustomization.
fn edit_in(dir: &RepoPath, words: Vec<String>, profile: Profile) -> String {
    let mut line = Line::new(profile, ["kustomize", "edit"]);
    words.into_iter().for_each(|word| line.add(word));
    match (profile, dir.is_root()) {
        (Profile::Proposal, false) => format!("(cd {} && {})", quote_for_shell(&local(dir)), line.text),
        (Profile::Proposal, true) | (Profile::Argocd, _) => line.text,
    }
}

/// `edit add patch`; none for a patch with options, which that command has no flags for.
fn add_patch(patch: &Patch) -> Option<Vec<String>> {
    if patch.options.values().any(|on| *on) {
        return None;
    }
    let target = patch.target.clone().unwrap_or_default();
    let flags = [
        ("--patch", &patch.patch),
        ("--path", &patch.path),
        ("--group", &target.group),
        ("--version", &target.version),
        ("--kind", &target.kind),
        ("--name", &target.name),
        ("--namespace", &target.namespace),
        ("--annotation-selector", &target.annotation_selector),
        ("--label-selector", &target.label_selector),
    ];
    let flags = flags.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value.clone()?])).flatten();
    Some(["add".to_owned(), "patch".to_owned()].into_iter().chain(flags).collect())
}

/// A path from the root of the repository, in a form that no tool takes for a flag, a URL or a name.
fn local(path: &RepoPath) -> String {
    if path.is_root() { ".".to_owned() } else { format!("./{path}") }
}

/// An argument of a flag that reads its value as a line of CSV, as `--values` does.
pub(super) fn csv(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

/// A command that is being written.
struct Line {
    text: String,
    profile: Profile,
}

impl Line {
    fn new(profile: Profile, words: [&str; 2]) -> Self {
        Self { text: words.join(" "), profile }
    }

    fn add(&mut self, word: String) {
        let quoted = match self.profile {
            Profile::Proposal => quote_for_shell(&word),
            Profile::Argocd => quote_as_argocd(&word),
        };
        self.add_as_is(&quoted);
    }

    fn add_as_is(&mut self, text: &str) {
        self.text.push(' ');
        self.text.push_str(text);
    }

    fn flag(&mut self, flag: &str, value: &str) {
        self.add_as_is(flag);
        self.add(value.to_owned());
    }

    fn optional(&mut self, flag: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.flag(flag, value);
        }
    }

    fn switch(&mut self, flag: &str, on: bool) {
        if on {
            self.add_as_is(flag);
        }
    }
}

/// Quotes a word for a POSIX shell, on one line: `'…'`, or `$'…'` (POSIX 2024) when it has control characters.
fn quote_for_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_replaced) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' => quoted.extend(['\\', c]),
            // Three octal digits a byte: what follows cannot become part of it.
            c if is_replaced(c) => {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().for_each(|byte| quoted.push_str(&format!("\\{byte:03o}")));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Quotes nothing but what is empty or has white space, and that as Go does. Where it differs: characters that a terminal
/// must not show are quoted too.
///
/// Reference: Argo CD 3 util/exec `GetCommandArgsToLog`.
fn quote_as_argocd(word: &str) -> String {
    if word.is_empty() || word.contains(|c: char| c.is_whitespace() || is_replaced(c)) {
        yaml::quote(word)
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::release::{FileSetting, Values};
    use super::*;

    #[test]
    fn quoting_for_a_shell() {
        let rows = [
            ("image.tag=1.2", "image.tag=1.2"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("a\\,b", "'a\\,b'"),
            ("~", "'~'"),
            ("#x", "'#x'"),
            ("*", "'*'"),
            ("a\nb'c\\", "$'a\\nb\\'c\\\\'"),
            ("\u{1b}[2J", "$'\\033[2J'"),
            ("a\u{202e}b", "$'a\\342\\200\\256b'"),
            ("\u{2028}1", "$'\\342\\200\\2501'"),
            ("é", "'é'"),
        ];
        for (word, expected) in rows {
            assert_eq!(quote_for_shell(word), expected, "{word:?}");
        }
    }

    #[test]
    fn quoting_as_argocd() {
        let rows = [
            ("a", "a"),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a\n\"b", "\"a\\n\\\"b\""),
            ("$(x)", "$(x)"),
            ("a'b", "a'b"),
            ("\u{1b}[2J\u{202e}", "\"\\x1b[2J\\u202e\""),
        ];
        for (word, expected) in rows {
            assert_eq!(quote_as_argocd(word), expected, "{word:?}");
        }
    }

    fn release() -> Release {
        let path = |text: &str| RepoPath::new(text).expect("plain");
        Release {
            chart: path("apps/my-chart"),
            name: Some("test-app".to_owned()),
            namespace: Some("test-namespace".to_owned()),
            kube_version: Some("1.2.3".to_owned()),
            set: vec!["test-param-bool-name=false".to_owned()],
            set_string: vec!["test-param-name=test-value-test-app".to_owned()],
            set_file: vec![FileSetting { name: "test-file-param-name".to_owned(), file: path("test-file-param.yaml") }],
            value_files: vec![path("my-chart-values.yaml")],
            values: Some(Values {
                text: "a: it's\n".to_owned(),
                object: yaml::Value::Mapping([("a".to_owned(), "it's".into())].into()),
            }),
            api_versions: vec!["v1/Test".to_owned(), "v2/Test".to_owned()],
            include_crds: false,
            skip_schema_validation: false,
            skip_tests: false,
        }
    }

    /// The lines of `argocd`: argo-cd reposerver/repository/repository_test.go.
    #[test]
    fn helm_commands() {
        let nothing = Release {
            name: None,
            namespace: None,
            kube_version: None,
            set: Vec::new(),
            set_string: Vec::new(),
            set_file: Vec::new(),
            value_files: Vec::new(),
            values: None,
            api_versions: Vec::new(),
            include_crds: true,
            ..release()
        };
        let rows = [
            (
                release(),
                Profile::Argocd,
                "helm template . --name-template test-app --namespace test-namespace --kube-version 1.2.3 \
                 --set test-param-bool-name=false --set-string test-param-name=test-value-test-app \
                 --set-file test-file-param-name=./test-file-param.yaml --values ./my-chart-values.yaml \
                 --values <temp file with values from source.helm.values/valuesObject> \
                 --api-versions v1/Test --api-versions v2/Test",
            ),
            (nothing.clone(), Profile::Argocd, "helm template . --name-template \"\" --include-crds"),
            (
                release(),
                Profile::Proposal,
                "helm template ./apps/my-chart --name-template test-app --namespace test-namespace --kube-version 1.2.3 \
                 --set test-param-bool-name=false --set-string test-param-name=test-value-test-app \
                 --set-file test-file-param-name=./test-file-param.yaml --values ./my-chart-values.yaml \
                 --set-json '{\"a\":\"it'\\''s\"}' --api-versions v1/Test --api-versions v2/Test",
            ),
            (nothing, Profile::Proposal, "helm template ./apps/my-chart --include-crds"),
        ];
        for (release, profile, expected) in rows {
            assert_eq!(helm(&release, profile), [expected], "{profile:?}");
        }
    }
}
