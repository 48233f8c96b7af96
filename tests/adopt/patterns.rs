//! The patterns of branches that are proposed.

use super::{BY_LABEL, URL, adopt, application, causes, here, numbers, plain};
use crate::made_applications::config;
use crate::support::Lab;

#[test]
fn the_directories_of_roots_are_a_pattern_that_fits() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let root = |env: &str| {
        let text = format!("resources: [../../base]\nnameSuffix: -{env}\n");
        (format!("clusters/{env}/kustomization.yaml"), text)
    };
    let app = application("web", "", &here("apps/web/dev"));
    let all = [
        root("dev"),
        root("prod"),
        ("base/kustomization.yaml".to_owned(), "resources: [app.yaml]\n".to_owned()),
        ("base/app.yaml".to_owned(), app),
        config("web", "dev", "one"),
    ];
    clone.commit("two clusters", &all.each_ref().map(|(path, text)| (path.as_str(), text.as_str())));
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    let first = "for --branch-pattern\n  'environments/{{ (file | split('\\''/'\\''))[1] }}'\n      2 branches: environments/dev, \
                 environments/prod\n";
    assert!(told.contains(first), "{told}");
    let told = adopt(&clone, &["--repo-url", URL, "--branch-pattern", "environments/{{ (file | split('/'))[1] }}"]);
    assert!(told.exits(0).stdout.contains("2 of 2 Applications hydrate"));
}

#[test]
fn the_first_pattern_is_the_one_by_which_the_most_applications_hydrate() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let mut all = Vec::new();
    for (index, directory) in ["", "", "", "dev/", "dev/", "dev/", "prod/", "prod/"].iter().enumerate() {
        let (text, object) = plain(&format!("a{index}"), &format!("m{index}"));
        all.push((format!("apps/{directory}a{index}.yaml"), text.replace("  labels: {env: dev}\n", "")));
        all.push((format!("m{index}/config.yaml"), object));
    }
    clone.commit("eight", &all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    let first = "for --branch-pattern\n  environments/main\n      1 branch: environments/main\n  \
                 'environments/{{ (directory | split('\\''/'\\''))[1] }}'\n      2 branches: environments/dev, \
                 environments/prod; 3 Applications have none\n";
    assert!(told.contains(first), "{told}");
    assert!(told.contains("  git hydrate adopt --branch-pattern environments/main --repo-url"), "{told}");
    // What two of them render holds a branch: they are better apart.
    clone.commit("shared", &[("m3/shared.yaml", &plain("", "shared").1), ("m6/shared.yaml", &plain("", "shared").1)]);
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(told.contains("for --branch-pattern\n  'environments/{{ (directory"), "{told}");
}

#[test]
fn a_pattern_that_puts_environments_of_one_application_onto_one_branch_loses() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let mut all = Vec::new();
    for (app, env) in ["api", "web", "shop", "pay"].into_iter().flat_map(|app| [(app, "dev"), (app, "prod")]) {
        let name = format!("{app}-{env}");
        let text = application(&name, &format!("env: {env}"), &here(&format!("apps/{app}/{env}")));
        all.push((format!("argocd/{name}.yaml"), text));
        all.push((format!("apps/{app}/{env}/config.yaml"), plain("", &name).1));
    }
    // It fails wherever it goes, and keeps back whatever is there.
    let plugin = here("apps/api/prod") + ", plugin: {name: ytt}";
    all.push(("argocd/broken-prod.yaml".to_owned(), application("broken-prod", "env: prod", &plugin)));
    clone
        .commit("two environments", &all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let said = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(said.contains(&format!("for --branch-pattern\n  '{BY_LABEL}'\n")), "{said}");
    assert!(said.contains("  the git config of this clone decides here whether plugins render: `ytt`\n"), "{said}");
}

#[test]
fn an_app_of_apps_without_a_rule_is_named_with_the_rule_for_it() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let (web, object) = plain("web", "a");
    let (root, alone) = (application("root", "team: x", &here("argocd")), application("alone", "team: x", &here("a")));
    let files = [("argocd/web.yaml", &web), ("a/config.yaml", &object), ("root.yaml", &root), ("alone.yaml", &alone)];
    clone.commit("a root", &files.map(|(path, text)| (path, text.as_str())));
    let rules = "- {match: {labels: {env: '*'}}, branch: 'environments/{{ labels.env }}', path: '{{ name }}'}\n";
    clone.hydrate(&["config", "set", "rules", "--", rules]).success();
    let said = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    let named = "2 Applications have no rule\n      alone\n      hint: add a rule for it: git hydrate config edit; without one it is \
                 deployed as before\n  it renders other Applications\n      root\n      hint: an app of apps is led to a branch of its \
                 own, by a rule before the others: {match: {name: root}, branch: environments/root, path: '{{ name }}'}: git hydrate \
                 config edit\n";
    assert!(said.contains(named), "{said}");
    // As it says: copies of what the root renders are on that branch.
    let all = format!("- {{match: {{name: root}}, branch: environments/root, path: '{{{{ name }}}}'}}\n{rules}");
    clone.hydrate(&["config", "set", "rules", "--", &all]).success();
    assert_eq!(numbers(&clone, &["--repo-url", URL]), (2, 3, causes(&[("no-rule", 1)])));
    let said = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(said.contains("  git hydrate config set applicationsTo BRANCH "), "{said}");
}

#[test]
fn copies_are_proposed_with_the_first_rules_and_sets_that_have_none_are_named() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let template = application("'{{app}}'", "env: dev", &here("'{{app}}'")).replace('\n', "\n    ");
    let (_, template) = template.split_once("metadata:").expect("there");
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  \
         generators: [{{list: {{elements: [{{app: a}}]}}}}]\n  template:\n    metadata:{}\n",
        template.trim_end()
    );
    clone.commit("a set", &[("set.yaml", &set), ("a/config.yaml", &plain("", "a").1)]);
    let proposed = "  applicationsTo: applications  # copies of the Applications, for Argo CD to follow\n";
    let args = ["--repo-url", URL, "--branch-pattern", "environments/dev"];
    let said = adopt(&clone, &args).exits(0).stdout;
    assert!(said.contains(proposed) && !said.contains("has no copy"), "{said}");
    assert!(
        said.contains("next\n  git hydrate install --server REPO.git ") && said.contains("  kubectl apply -f "),
        "{said}"
    );
    let said = adopt(&clone, &[&args[..], &["--path-pattern", "{{ name | lower }}"]].concat()).exits(0).stdout;
    let without = "set.yaml:3:18: ApplicationSet `all` has no copy that leads to what is hydrated: rule 1 of the settings does more \
                   with values than to insert them\n";
    assert!(said.contains(without) && said.contains("`expand`"), "{said}");
    // A branch of that name is somebody's.
    clone.git(&["push", "-q", "origin", "HEAD:applications"]);
    clone.git(&["fetch", "-q"]);
    let said = adopt(&clone, &args).exits(0).stdout;
    assert!(!said.contains(proposed), "{said}");
}

#[test]
fn a_placeholder_in_place_of_a_url_is_not_proposed_and_the_rest_is_written() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let (first, a) = plain("web", "a");
    let template = application("web", "env: dev", "repoURL: REPO_URL, targetRevision: main, path: a");
    clone.commit("x", &[("web.yaml", &first), ("template.yaml", &template), ("a/object.yaml", &a)]);
    let said = adopt(&clone, &["--branch-pattern", "environments/one", "--write"]).exits(1).stdout;
    assert!(said.contains("settings, written\n") && !said.contains("  - REPO_URL"), "{said}");
    assert!(said.contains(": `REPO_URL` is not an `https://` URL\n"), "{said}");
}

#[test]
fn a_copied_repository_whose_url_is_unclear_says_so_in_place_of_no_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = crate::push::dry(&server, &["web", "api"], &["dev"]);
    let (file, text) = crate::push::application("web", "dev");
    let mirror = "https://mirror.example.com/dry.git";
    clone.commit("mirror", &[(&file, &text.replace("https://git.example.com/dry.git", mirror))]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git", mirror]).success();
    clone.push().success();
    // As `git clone --bare` copies it.
    for name in server.git(&["for-each-ref", "--format=%(refname)", "refs/hydrate", "refs/notes"]).lines() {
        server.git(&["update-ref", "-d", name]);
    }
    for args in [&["adopt"][..], &["verify"]] {
        let told = server.hydrate(args).exits(1).stdout;
        assert!(
            told.contains("error: the URL of this repository is not set, and Applications name several"),
            "{args:?}: {told}"
        );
        assert!(!told.contains("no branch to hand over") && !told.contains("no environment branch"), "{told}");
    }
}

#[test]
fn dry_branches_whose_applications_go_where_those_of_another_go_are_left_out() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let of = |name: &str, env: &str, branch: &str| {
        application(name, &format!("env: {env}"), &here("apps/web/dev").replace("HEAD", branch))
    };
    let (path, text) = config("web", "dev", "one");
    let all = [
        ("main.yaml", of("main", "dev", "HEAD")),
        ("later.yaml", of("later", "dev", "develop")),
        ("prod.yaml", of("prod", "prod", "release")),
        (path.as_str(), text),
    ];
    clone.commit("three branches", &all.each_ref().map(|(path, text)| (*path, text.as_str())));
    clone.git(&["push", "-q", "origin", "main", "main:develop", "main:release"]);
    clone.git(&["fetch", "-q"]);
    let args = ["--repo-url", URL, "--branch-pattern", BY_LABEL, "--branch", "main"];
    let told = adopt(&clone, &args).exits(1).stdout;
    for expected in [
        "  dryBranches:  # the branches that Applications name\n  - main\n  - release\n",
        "  1 of 1 would hydrate from the tree of `develop`, which is not a dry branch\n",
        "  1 of 1 hydrate from the tree of `release`\n",
        "  `develop` is left out of `dryBranches`: its Applications would go to `environments/dev` too, which `main` is \
         hydrated to\n",
        "by the setting `activePaths`; then: git hydrate config add dryBranches develop\n",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    // Where an admin set the dry branches, it names the line that adds one.
    clone.hydrate(&["config", "set", "dryBranches", "main"]).exits(0);
    let told = adopt(&clone, &args).exits(1).stdout;
    let hint = "`release`, which is not a dry branch\n      hint: git hydrate config add dryBranches release\n";
    assert!(told.contains(hint), "{told}");
    clone.hydrate(&["config", "unset", "dryBranches"]).exits(0);

    // Each goes to branches of its own.
    let own = [args[0], args[1], args[2], "environments/{{ source.targetRevision }}", args[4], args[5]];
    let told = adopt(&clone, &own).exits(1).stdout;
    assert!(told.contains("  - main\n  - develop\n  - release\n") && !told.contains("left out"), "{told}");

    // Settings that name them all.
    clone.hydrate(&["config", "set", "dryBranches", "[main, develop, release]"]).success();
    let told = adopt(&clone, &args).exits(1).stdout;
    let expected = "  `develop` is in `dryBranches`, but nothing is hydrated from there: its Applications would go to `environments/dev` \
                    too, which `main` is hydrated to\n";
    assert!(told.contains(expected), "{told}");
}
