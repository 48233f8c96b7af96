//! One repository of several Argo CDs: what each has is compared with its own alone. Real pushes.

use crate::made_applications::{URL, files, manifest};
use crate::push::{both, config_map, tip, verified};
use crate::rules::rule;
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";

/// The rules without instances, and with them.
fn rules(instance: bool) -> String {
    let of = |cluster: &str| {
        let instance = if instance { format!(", instance: {cluster}") } else { String::new() };
        format!(
            "- {{match: {{file: clusters/{cluster}/}}, branch: {DEV}, path: '{cluster}/{{{{ name }}}}'{instance}}}\n"
        )
    };
    of("east") + &of("west")
}

/// The ApplicationSet `apps` of a cluster.
fn set(cluster: &str, apps: &[&str]) -> String {
    let elements: Vec<String> = apps.iter().map(|app| format!("{{app: {app}}}")).collect();
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: apps, namespace: argocd}}\nspec:\n  generators:\n  \
         - list: {{elements: [{}]}}\n  template:\n    metadata: {{name: '{{{{app}}}}'}}\n    spec:\n      project: default\n      \
         source: {{repoURL: {URL}, targetRevision: HEAD, path: 'clusters/{cluster}/{{{{app}}}}'}}\n      \
         destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n",
        elements.join(", ")
    )
}

const CLUSTERS: [&str; 2] = ["east", "west"];

/// A clone with both clusters, each with an ApplicationSet `apps` that makes `web` and `api`; nothing is pushed yet.
fn clusters(server: &Repo) -> Repo {
    let clone = server.clone_to("clone");
    let mut all = Vec::new();
    for cluster in CLUSTERS {
        all.push((format!("clusters/{cluster}/apps.yaml"), set(cluster, &["web", "api"])));
        for app in ["web", "api"] {
            all.push((format!("clusters/{cluster}/{app}/config.yaml"), config_map(app, cluster)));
        }
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("two clusters", &all);
    clone
}

#[test]
fn sets_of_one_name_make_applications_of_one_name_for_two_argo_cds() {
    both(|server| {
        server.hydrate(&["config", "set", "madeApplications", "true"]);
        rule(server, &rules(false));
        let clone = clusters(server);
        let told = clone.push().success().remote().concat();
        assert!(told.contains("there is another Application of that name"), "{told}");
        rule(server, &rules(true));
        let there = files(server, DEV);
        for path in ["east/web", "east/api", "west/web", "west/api"] {
            assert!(there.contains(&format!("{path}/manifest.yaml")), "{there}");
        }
        assert!(manifest(server, DEV, "west/web").contains("value: west"));
        // What changes beside the others goes by itself, and a set that makes one no more takes that of its own cluster.
        clone.commit("west", &[("clusters/west/web/config.yaml", &config_map("web", "new"))]);
        let told = clone.push().success().remote().concat();
        assert!(told.contains("1 of 4 manifests changed") && !told.contains("error"), "{told}");
        assert!(manifest(server, DEV, "east/web").contains("value: east"));
        clone.commit("east without api", &[("clusters/east/apps.yaml", &set("east", &["web"]))]);
        let told = clone.push().success().remote().concat();
        assert!(!told.contains("error"), "{told}");
        let there = files(server, DEV);
        assert!(!there.contains("east/api/") && there.contains("west/api/manifest.yaml"), "{there}");
        verified(server);
    });
}

#[test]
fn giving_an_instance_changes_nothing_that_is_hydrated() {
    both(|server| {
        server.hydrate(&["config", "set", "madeApplications", "true"]);
        rule(server, &rules(false).replace("east", "one"));
        let clone = clusters(server);
        let told = clone.push().success().remote().concat();
        assert!(told.contains("2 of 2 manifests changed"), "{told}");
        let before = tip(server, DEV);
        let told = rule(server, &rules(true).replace("east", "one")).success();
        assert!(!told.stdout.contains("removed") && !told.stderr.contains("error"), "{told:?}");
        assert_eq!(server.git(&["diff", "--name-only", &before, DEV, "--", "*manifest.yaml"]), "");
        // The other cluster comes, with an instance of its own.
        let told = rule(server, &rules(true)).success();
        assert!(told.stdout.contains("2 of 4 manifests changed"), "{told:?}");
        assert_eq!(server.git(&["diff", "--name-only", &before, DEV, "--", "west"]), "");
        verified(server);
    });
}

#[test]
fn objects_are_compared_within_an_instance() {
    both(|server| {
        server.hydrate(&["config", "set", "madeApplications", "true"]);
        rule(server, &rules(true));
        let clone = clusters(server);
        clone.push().success();
        // Both clusters have a ConfigMap `web` already; a second one within a cluster is a mistake.
        clone.commit("twice", &[("clusters/west/api/config.yaml", &config_map("web", "twice"))]);
        let told = clone.push().success().remote().concat();
        assert!(told.contains("both render ConfigMap shop/web") && !told.contains("east"), "{told}");
        clone.commit("once", &[("clusters/west/api/config.yaml", &config_map("api", "once"))]);
        let told = clone.push().success().remote().concat();
        assert!(!told.contains("error"), "{told}");
        verified(server);
    });
}

#[test]
fn applications_of_one_name_draw_random_values_on_branches_of_their_own() {
    let lab = Lab::new();
    let server = &lab.server();
    server.hydrate(&["config", "set", "madeApplications", "true"]);
    server.hydrate(&["config", "set", "nondeterministic", "randAlphaNum"]);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    rule(server, &rules(true));
    let clone = server.clone_to("clone");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: {{ randAlphaNum 30 }}}\n";
    let mut all = Vec::new();
    for cluster in CLUSTERS {
        all.push((format!("clusters/{cluster}/apps.yaml"), set(cluster, &["web"])));
        all.push((
            format!("clusters/{cluster}/web/Chart.yaml"),
            "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned(),
        ));
        all.push((format!("clusters/{cluster}/web/templates/secret.yaml"), secret.to_owned()));
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("passwords", &all);
    let told = clone.push().success().remote().concat();
    assert!(told.contains("`web` would have the random values of another Application of that name"), "{told}");
    // The hint: a branch for each.
    let apart = |cluster: &str| format!("file: clusters/{cluster}/}}, branch: environments/{cluster}");
    let of_both = |cluster: &str| format!("file: clusters/{cluster}/}}, branch: {DEV}");
    let rules = CLUSTERS.iter().fold(rules(true), |all, cluster| all.replace(&of_both(cluster), &apart(cluster)));
    rule(server, &rules).success();
    let web = |cluster| manifest(server, &format!("environments/{cluster}"), &format!("{cluster}/web"));
    let [east, west] = CLUSTERS.map(web);
    assert!(east != west && east.contains("password:"), "{east}");
    // They stay, whatever else changes.
    clone.commit(
        "more",
        &[
            ("clusters/west/apps.yaml", &set("west", &["api", "web"])),
            ("clusters/west/api/c.yaml", &config_map("api", "1")),
        ],
    );
    clone.push().success();
    assert_eq!(CLUSTERS.map(web), [east, west]);
    verified(server);
}

#[test]
fn each_instance_follows_copies_of_its_own() {
    both(|server| {
        server.hydrate(&["config", "set", "madeApplications", "true"]);
        server.hydrate(&["config", "set", "applicationsTo", "applications"]);
        rule(server, &rules(true));
        let clone = clusters(server);
        let told = clone.push().success().remote().concat();
        assert!(!told.contains("error") && !told.contains("warning"), "{told}");
        for cluster in CLUSTERS {
            let copy = manifest(server, "applications", &format!("{cluster}/applicationsets/argocd/apps"));
            assert!(copy.contains(&format!("path: {cluster}/{{{{app}}}}")), "{copy}");
        }
        // One goes, and its copy with it; the other stays.
        clone.git(&["rm", "-q", "-r", "clusters/east"]);
        clone.git(&["commit", "-q", "-m", "no east", "-m", &format!("Hydrate-Allow-Removal: {DEV}")]);
        clone.push().success();
        server.hydrate(&["catch-up"]);
        let there = files(server, "applications");
        assert!(
            !there.contains("east/") && there.contains("west/applicationsets/argocd/apps/manifest.yaml"),
            "{there}"
        );
        verified(server);
    });
}

#[test]
fn what_a_root_renders_has_the_instance_of_the_root() {
    both(|server| {
        server.hydrate(&["config", "set", "madeApplications", "true"]);
        let roots =
            "[{name: east, path: bootstrap/east, instance: east}, {name: west, path: bootstrap/west, instance: west}]";
        server.hydrate(&["config", "set", "roots", roots]).success();
        rule(server, &format!("- {{branch: {DEV}, path: '{{{{ labels.cluster }}}}/{{{{ name }}}}'}}\n"));
        let clone = server.clone_to("clone");
        let mut all = Vec::new();
        for cluster in CLUSTERS {
            all.push((
                format!("bootstrap/{cluster}/Chart.yaml"),
                format!("apiVersion: v2\nname: {cluster}\nversion: 1.0.0\n"),
            ));
            let application = format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd, labels: {{cluster: \
                 {cluster}}}}}\nspec:\n  project: default\n  source: {{repoURL: {URL}, targetRevision: HEAD, path: apps/{cluster}}}\n  \
                 destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n"
            );
            all.push((format!("bootstrap/{cluster}/templates/web.yaml"), application));
            all.push((format!("apps/{cluster}/config.yaml"), config_map("web", cluster)));
        }
        let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit("two roots", &all);
        let told = clone.push().success().remote().concat();
        assert!(told.contains("2 of 2 manifests changed") && !told.contains("error"), "{told}");
        clone.commit("west", &[("apps/west/config.yaml", &config_map("web", "new"))]);
        let told = clone.push().success().remote().concat();
        assert!(told.contains("1 of 2 manifests changed") && !told.contains("error"), "{told}");
        // Without instances they are one Application twice.
        let told = server.hydrate(&["config", "set", "roots", &roots.replace(", instance: west", ", instance: east")]);
        assert!((told.stdout + &told.stderr).contains("there is another Application of that name"));
    });
}

#[test]
fn adopt_takes_sets_of_one_name_for_those_of_several_argo_cds() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = clusters(&server);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/main"]);
    let told = clone.hydrate(&["adopt", "--repo-url", URL, "--branch-pattern", DEV, "--write"]).success().stdout;
    assert!(told.contains("of several Argo CDs: `east`, `west`\n"), "{told}");
    clone.git(&["push", "-q", "origin", "refs/hydrate/config"]);
    assert_eq!(files(&server, DEV).matches("/manifest.yaml").count(), 4, "{told}");
    assert_eq!(files(&server, "applications").matches("/manifest.yaml").count(), 2);
}

#[test]
fn an_instance_without_a_proper_name_is_refused() {
    let lab = Lab::new();
    let server = lab.server();
    for (name, why) in [("Prod", "the character 'P'"), ("applications", "the name of a directory of copies")] {
        let refused = rule(&server, &rules(true).replace("instance: east", &format!("instance: {name}"))).exits(2);
        assert!(refused.stderr.contains("instance") && refused.stderr.contains(why), "{refused:?}");
        let roots = format!("[{{name: root, path: bootstrap, instance: {name}}}]");
        let refused = server.hydrate(&["config", "set", "roots", &roots]).exits(2);
        assert!(
            refused.stderr.contains("the root `root`: `instance` is not valid") && refused.stderr.contains(why),
            "{refused:?}"
        );
    }
}
