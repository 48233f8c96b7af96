//! Copies of ApplicationSets.

use super::{TO, copied, copy, names, plain_set, push, root, with_set};
use crate::made_applications::{config, dry, manifest};
use crate::push::{both, tip, verified};
use crate::rules::{BY_LABEL, directory};
use crate::support::Lab;

#[test]
fn a_set_is_copied_with_a_template_that_leads_to_what_is_hydrated() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = with_set(server, &plain_set(""));
        let told = push(&clone);
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert_eq!(names(server), ["applicationsets/argocd/shop"]);
        let set = manifest(server, TO, "applicationsets/argocd/shop");
        for line in
            ["path: '{{app}}-{{environment}}'", "targetRevision: environments/{{environment}}", "recurse: false"]
        {
            assert!(set.contains(line), "{line}: {set}");
        }
        assert!(!set.contains("targetRevision: HEAD") && set.contains("- app: web\n"), "{set}");
        verified(server);

        // It moves when all that it makes is hydrated.
        let before = tip(server, TO);
        let set = plain_set("").replace(
            "- {app: web, environment: prod}",
            "- {app: web, environment: prod}\n      - {app: api, environment: dev}",
        );
        clone.commit("one more", &[("sets/shop.yaml", &set)]);
        push(&clone);
        assert_eq!(tip(server, TO), before);
        let (path, text) = config("api", "dev", "one");
        clone.commit("its source", &[(&path, &text)]);
        push(&clone);
        assert!(manifest(server, TO, "applicationsets/argocd/shop").contains("- app: api\n"));
        verified(server);
    });
}

/// An object with the annotation that names files of the dry tree.
fn looking_at_dry_files(object: &str) -> String {
    let annotations = "annotations: {argocd.argoproj.io/manifest-generate-paths: /apps/web;/base}";
    object.replace("labels: {env:", &format!("{annotations}, labels: {{env:"))
}

#[test]
fn argo_cd_looks_for_changes_below_the_hydrated_path_of_a_copy_and_not_at_paths_of_the_dry_tree() {
    both(|server| {
        copied(server, BY_LABEL);
        let (path, text) = config("web", "dev", "one");
        let (_, of_prod) = config("web", "prod", "one");
        let clone = dry(
            server,
            &[
                ("applications/dev.yaml", &looking_at_dry_files(&directory("web", "dev"))),
                ("bootstrap/root.yaml", &root()),
                (
                    "sets/shop.yaml",
                    &looking_at_dry_files(
                        &plain_set("").replace("{app: web, environment: dev}", "{app: api, environment: prod}"),
                    ),
                ),
                (&path, &text),
                ("apps/api/prod/config.yaml", &of_prod),
                ("apps/web/prod/config.yaml", &of_prod.replace("web", "other")),
            ],
        );
        push(&clone);
        let set = manifest(server, TO, "applicationsets/argocd/shop");
        for copies in [manifest(server, "environments/root", "root"), set] {
            assert!(copies.contains("argocd.argoproj.io/manifest-generate-paths: .\n"), "{copies}");
        }
        verified(server);
    });
}

#[test]
fn a_rule_of_one_application_by_its_name_takes_no_copy_from_a_set_that_cannot_make_it() {
    let lab = Lab::new();
    let server = lab.server();
    let rule = "- {match: {name: infrastructure}, branch: environments/infrastructure, path: infrastructure}\n";
    copied(&server, &format!("{rule}{BY_LABEL}"));
    let clone = with_set(&server, &plain_set(""));
    let told = push(&clone);
    assert!(!told.contains("warning"), "{told}");
    assert_eq!(names(&server), ["applicationsets/argocd/shop"]);
}

#[test]
fn a_set_that_a_rule_expands_is_copied_as_what_it_makes() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, &BY_LABEL.replace("branch:", "expand: shop, branch:"));
    let clone = with_set(&server, &plain_set(""));
    push(&clone);
    assert_eq!(names(&server), ["applications/argocd/web-dev", "applications/argocd/web-prod"]);
    let copy = copy(&server, "web-dev");
    assert!(copy.contains("path: web-dev\n") && copy.contains("targetRevision: environments/dev"), "{copy}");
    verified(&server);
}

#[test]
fn a_set_that_a_rule_expands_and_a_hydrated_application_renders_is_told() {
    for kustomization in [None, Some("resources: [shop.yaml]\ncommonAnnotations: {team: a}\n")] {
        let lab = Lab::new();
        let server = lab.server();
        copied(&server, &BY_LABEL.replace("branch:", "expand: shop, branch:"));
        let [dev, prod] = ["dev", "prod"].map(|environment| config("web", environment, "one"));
        let (root, set) = (root(), plain_set(""));
        let mut files: Vec<(&str, &str)> = vec![
            ("bootstrap/root.yaml", &root),
            ("applications/shop.yaml", &set),
            (&dev.0, &dev.1),
            (&prod.0, &prod.1),
        ];
        files.extend(kustomization.map(|text| ("applications/kustomization.yaml", text)));
        let clone = dry(&server, &files);
        let text = "warning: `expand` of a rule names ApplicationSet `shop`, which a hydrated Application renders: what it \
                    makes is not copied to the branch of copies";
        let told = push(&clone);
        assert!(told.contains(text), "{kustomization:?}: {told}");
        assert_eq!(names(&server), ["applications/argocd/root"], "{kustomization:?}");
        // Also when nothing of it changes.
        clone.commit("elsewhere", &[("docs/a.txt", "a")]);
        assert!(push(&clone).contains(text), "{kustomization:?}");
        verified(&server);
    }
}

#[test]
fn a_set_whose_template_cannot_lead_there_is_told() {
    let patch = "  templatePatch: '{}'\n";
    let upper = BY_LABEL.replace("{{ name }}", "{{ name | lower }}");
    let rows = [
        (patch, BY_LABEL, "it has a `templatePatch`"),
        ("", &upper, "rule 1 of the settings does more with values than to insert them"),
    ];
    for (more, rules, reason) in rows {
        let lab = Lab::new();
        let server = lab.server();
        copied(&server, rules);
        let clone = with_set(
            &server,
            &plain_set(more)
                .replacen("spec:\n", "spec:\n  goTemplate: true\n", 1)
                .replace("{{app}}", "{{.app}}")
                .replace("{{environment}}", "{{.environment}}"),
        );
        let told = push(&clone);
        let text = format!("warning: ApplicationSet `shop` has no copy that leads to what is hydrated: {reason}");
        assert!(told.contains(&text) && told.contains("sets/shop.yaml:3") && told.contains("`expand`"), "{told}");
        assert!(!server.git(&["branch", "--list"]).contains(" applications"), "{told}");
    }
}

#[test]
fn many_sets_without_copies_are_one_warning_of_a_push() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, BY_LABEL);
    let patch = plain_set("  templatePatch: '{}'\n").replacen("spec:\n", "spec:\n  goTemplate: true\n", 1);
    let patch = patch.replace("{{app}}", "{{.app}}").replace("{{environment}}", "{{.environment}}");
    let clone = with_set(&server, &patch);
    for name in ["one", "two", "three"] {
        let set = patch
            .replacen("name: shop", &format!("name: {name}"), 1)
            .replace("name: '{{.app}}", &format!("name: '{name}-{{{{.app}}}}"));
        clone.commit("more", &[(&format!("sets/{name}.yaml"), &set)]);
    }
    let told = push(&clone);
    assert!(told.contains("warning: 4 ApplicationSets have no copies that lead to what is hydrated: `"), "{told}");
    assert_eq!(told.matches("to what is hydrated").count(), 1, "{told}");
}

#[test]
fn what_a_set_in_a_root_makes_is_led_by_its_template() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, BY_LABEL);
    let [dev, prod] = ["dev", "prod"].map(|environment| config("web", environment, "one"));
    let (root, set) = (root(), plain_set(""));
    let clone = dry(
        &server,
        &[("bootstrap/root.yaml", &root), ("applications/shop.yaml", &set), (&dev.0, &dev.1), (&prod.0, &prod.1)],
    );
    let told = push(&clone);
    assert!(!told.contains("warning") && !told.contains("error"), "{told}");
    assert_eq!(names(&server), ["applications/argocd/root"]);
    let set = manifest(&server, "environments/root", "root");
    assert!(set.contains("targetRevision: environments/{{environment}}"), "{set}");
    verified(&server);
}

#[test]
fn a_set_in_a_root_whose_template_cannot_lead_there_is_told() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, BY_LABEL);
    let set = plain_set("  templatePatch: '{}'\n").replacen("spec:\n", "spec:\n  goTemplate: true\n", 1);
    let set = set.replace("{{app}}", "{{.app}}").replace("{{environment}}", "{{.environment}}");
    let [dev, prod] = ["dev", "prod"].map(|environment| config("web", environment, "one"));
    let root = root();
    let clone = dry(
        &server,
        &[
            ("bootstrap/root.yaml", &root),
            ("applications/kustomization.yaml", "resources: [shop.yaml]\ncommonAnnotations: {team: a}\n"),
            ("applications/shop.yaml", &set),
            (&dev.0, &dev.1),
            (&prod.0, &prod.1),
        ],
    );
    let text = "warning: ApplicationSet `shop` stays in the manifests of Application `root` as it is: it has a `templatePatch`";
    let told = push(&clone);
    assert!(told.contains(text), "{told}");
    // Each time, whatever is remembered.
    clone.commit("notes", &[("NOTES", "x")]);
    let told = push(&clone);
    assert!(told.contains(text), "{told}");
}
