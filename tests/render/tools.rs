//! Rendering by official tools, or what takes their place.

use std::collections::BTreeMap;
use std::path::Path;

use git_hydrate::testing::application::Profile;
use git_hydrate::testing::render::{Error, Failure, Tools};
use git_hydrate::testing::settings::RendererName;
use git_hydrate::testing::view::MemoryFiles;

use super::{application, chart, mistake, official, official_tools, render_all, renderers, script, text};

#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn complaints_of_the_tools_do_not_name_our_directories() {
    let dir = official_tools();
    let files = chart()
        .file("broken/Chart.yaml", "apiVersion: v2\nname: broken\nversion: 0.1.0\n")
        .file("broken/templates/a.yaml", "a: {{ fail \"no\" }}\n")
        .file("broken/values.yaml", "a: [\n")
        .file("kust/kustomization.yaml", "resources: [none.yaml]\n")
        .file("kust/lfs.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
        .file("secret/kustomization.yaml", "configMapGenerator:\n- name: x\n  files: [/etc/passwd]\n")
        .file("remote/kustomization.yaml", "resources: ['https://example.com/base?ref=main']\n");
    let rows = [
        ("apps/web", "helm: {releaseName: web, parameters: [{name: 'a[x]', value: b}]}", "failed parsing --set data"),
        ("broken", "helm: {releaseName: web}", "cannot load values.yaml"),
        ("kust", "kustomize: {}", "no such file or directory"),
        ("kust", "kustomize: {namePrefix: a-}", "no such file or directory"),
        ("secret", "kustomize: {}", "file '/etc/passwd' is not in or below 'secret'"),
        ("secret", "kustomize: {namePrefix: a-}", "file '/etc/passwd' is not in or below 'secret'"),
        ("remote", "kustomize: {}", "https://example.com/base?ref=main"),
    ];
    let renderers = renderers(official(&dir), 2);
    for (path, options, expected) in rows {
        let application = application("web", path, options);
        let results = render_all(&renderers, &files, Profile::Proposal, RendererName::Exec, &[&application]);
        let mistake = mistake(results.into_iter().next().expect("one"));
        assert!(mistake.contains(expected), "{path}: {mistake}");
        for ours in ["/tmp", "git-hydrate-"] {
            assert!(!mistake.contains(ours), "{path}: {mistake}");
        }
    }
}

/// A Kustomize and a Helm that say that they ran, and what with.
fn tools_that_tell(dir: &Path) -> Tools {
    let tell = "echo 'kind: Ran'; echo \"words: '$*'\"";
    let tool = |name: &str, version: &str| {
        let text = format!("case $1 in version) echo {version};; *) {tell};; esac");
        vec![script(dir, name, &text).display().to_string()]
    };
    Tools { helm: tool("helm", "v4.2.3"), kustomize: tool("kustomize", "v5.8.1"), plugins: BTreeMap::new() }
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_word_of_the_tree_never_reaches_a_tool_as_an_option() {
    let dir = tempfile::tempdir().expect("a directory");
    let renderers = renderers(tools_that_tell(dir.path()), 1);
    let render = |files: &MemoryFiles, options: &str| {
        let application = application("web", "apps/web", options);
        render_all(&renderers, files, Profile::Proposal, RendererName::Exec, &[&application]).remove(0)
    };
    let rows = [
        (
            "resources: ['https://example.com/a/b?ref=--upload-pack=touch']\n",
            "`--upload-pack=touch` is not a valid name of a branch, tag or commit",
        ),
        ("resources: ['git@example.com:a/b.git?ref=-x']\n", "`-x` is not a valid name of a branch, tag or commit"),
        ("components: ['github.com/a/b?ref=v1']\n", "https://github.com/a/b at v1 is not in this repository"),
        ("helmCharts: [{name: c, releaseName: --post-renderer=x}]\n", "`--post-renderer=x` begins with `-`"),
        ("helmCharts: [{name: c, releaseName: c, repo: '-x', version: '1'}]\n", "`-x` begins with `-`"),
    ];
    for (kustomization, expected) in rows {
        let files = MemoryFiles::new().file("apps/web/kustomization.yaml", kustomization);
        let found = mistake(render(&files, "kustomize: {}"));
        assert!(found.contains(expected) && found.contains("apps/web/kustomization.yaml:1:"), "{found}");
    }
    let files = chart().file("apps/web/f.txt", "x");
    let rows = [
        ("helm: {fileParameters: [{name: 'a=/etc/passwd,b', path: f.txt}]}", "cannot be the name of a file parameter"),
        ("helm: {parameters: [{name: a, value: \"b\\0c\"}]}", "contains a NUL character"),
    ];
    for (options, expected) in rows {
        let found = mistake(render(&files, options));
        assert!(found.contains(expected), "{found}");
    }
    let ran = render(&files, "helm: {releaseName: '-x', apiVersions: [--debug], namespace: -y}").expect("renders");
    let words = text(&ran.manifests);
    for word in ["--name-template=-x", "--api-versions=--debug", "--namespace=-y"] {
        assert!(words.contains(word), "{words}");
    }
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_tool_of_another_version_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let helm = script(dir.path(), "helm", "echo v3.16.1+gabc");
    let kustomize = script(dir.path(), "kustomize", "echo v5.8.0");
    let kubectl = script(dir.path(), "kubectl", "echo 'Client Version: v1.29'; echo 'Kustomize Version: v5.0.4'");
    let tool = |path: &Path| vec![path.display().to_string()];
    let rows = [
        ("helm: {}", tool(&helm), tool(&kustomize), "version v3.16.1, but Helm 4.2.3 is required"),
        ("kustomize: {}", tool(&helm), tool(&kustomize), "version v5.8.0, but Kustomize 5.8.1 is required"),
        (
            "kustomize: {}",
            tool(&helm),
            [tool(&kubectl), vec!["kustomize".to_owned()]].concat(),
            "version v5.0.4, but Kustomize 5.8.1 is required",
        ),
        ("helm: {}", vec!["no-such-helm".to_owned()], tool(&kustomize), "program `no-such-helm` not found on PATH"),
    ];
    for (options, helm, kustomize, expected) in rows {
        let renderers = renderers(Tools { helm, kustomize, plugins: BTreeMap::new() }, 1);
        let files = chart().file("apps/web/kustomization.yaml", "{}");
        let application = application("web", "apps/web", options);
        let results = render_all(&renderers, &files, Profile::Proposal, RendererName::Exec, &[&application]);
        match results.into_iter().next() {
            Some(Err(Failure::World(error @ (Error::Version { .. } | Error::Program(_))))) => {
                assert!(error.to_string().contains(expected), "{error}");
            }
            other => panic!("{options}: {other:?}"),
        }
    }
}
