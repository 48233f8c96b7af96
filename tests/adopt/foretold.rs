//! What `adopt` foretells is what the server does.

use super::{URL, adopt, application, causes, here, numbers, plain};
use crate::made_applications::{config, files};
use crate::support::{Lab, Repo};

/// What `adopt` foretells by application and by branch, and how many the server has hydrated after the same commit.
fn foretold(lab: &Lab, files: &[(&str, &str)], settings: &[&[&str]]) -> (u64, usize, String) {
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    clone.commit("as it is", files);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/main"]);
    for words in settings {
        clone.hydrate(&[&["config", "set"], *words].concat()).success();
    }
    let said = adopt(&clone, &["--branch-pattern", "environments/one", "--write"]).exits(1).stdout;
    let (hydrate, ..) = numbers(&clone, &[]);
    clone.git(&["push", "-q", "origin", "refs/hydrate/config"]);
    let is_there = !server.git(&["for-each-ref", "refs/heads/environments/one"]).is_empty();
    let files = if is_there { files_of_branch(&server) } else { 0 };
    (hydrate, files, said)
}

fn files_of_branch(server: &Repo) -> usize {
    files(server, "environments/one").split(' ').filter(|file| file.ends_with("/manifest.yaml")).count()
}

#[test]
fn of_two_applications_that_write_one_path_adopt_counts_none_as_the_server_hydrates_none() {
    let lab = Lab::new();
    let [(first, a), (second, b), (third, c)] = [plain("web", "a"), plain("web", "b"), plain("other", "c")];
    let files: [(&str, &str); 6] = [
        ("clusters/one/web.yaml", &first),
        ("clusters/two/web.yaml", &second),
        ("clusters/other.yaml", &third),
        ("a/object.yaml", &a),
        ("b/object.yaml", &b),
        ("c/object.yaml", &c),
    ];
    let (hydrate, made, said) = foretold(&lab, &files, &[]);
    assert_eq!((hydrate, made), (1, 1), "{said}");
    assert!(said.contains("2 Applications cannot go where they would\n"), "{said}");
    assert!(said.contains("  onFailure: application  # else 1 Application waits for another one"), "{said}");
}

#[test]
fn what_waits_for_an_application_that_lacks_an_input_is_counted_by_what_the_settings_say() {
    let lab = Lab::new();
    let (first, a) = plain("web", "a");
    let chart = "repoURL: 'https://charts.example.com', chart: db, targetRevision: 1.0.0";
    let lacking = application("db", "env: dev", chart);
    let files: [(&str, &str); 3] = [("web.yaml", &first), ("db.yaml", &lacking), ("a/object.yaml", &a)];
    let (hydrate, made, said) = foretold(&lab, &files, &[]);
    assert_eq!((hydrate, made), (1, 1), "{said}");
    assert!(said.contains("  onFailure: application  # else 1 Application waits for another one"), "{said}");

    // What an admin has set stays, with what comes of it.
    let lab = Lab::new();
    let (hydrate, made, said) = foretold(&lab, &files, &[&["onFailure", "branch"]]);
    assert_eq!((hydrate, made), (0, 0), "{said}");
    assert!(said.contains("1 Application waits for another one of its branch, which fails\n      web\n"), "{said}");
    assert!(said.contains("  git hydrate config set onFailure application"), "{said}");
}

#[test]
fn what_vendor_cannot_mend_is_not_led_there() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n\
                 - {name: db, version: 1.0.0, repository: 'https://charts.example.com'}\n";
    let values = here("web").replace("path: web", "path: web, helm: {valueFiles: [values-dev.yaml]}");
    let files = [("web.yaml", &*application("web", "env: dev", &values)), ("web/Chart.yaml", chart)];
    clone.commit("a file that is not there", &files);
    assert_eq!(numbers(&clone, &[]).2, causes(&[("render", 1)]));
    clone.commit("a file", &[("web/values-dev.yaml", "a: b\n")]);
    assert_eq!(numbers(&clone, &[]).2, causes(&[("input", 1)]));
}

#[test]
fn an_application_that_a_directory_applies_as_it_is_counts_once_where_the_proposed_rule_names_its_file() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let root = application("root", "", &format!("{}, directory: {{recurse: true}}", here("argocd")));
    let mut files = vec![("argocd/root.yaml".to_owned(), root)];
    for (name, environment) in [("shop", "dev"), ("shop", "prod"), ("api", "dev"), ("api", "prod")] {
        let app = application(&format!("{name}-{environment}"), "", &here(&format!("{name}/{environment}")));
        files.push((format!("argocd/apps/{environment}/{name}.yaml"), app));
        files.push((format!("{name}/{environment}/config.yaml"), crate::push::config_map(name, environment)));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("app of apps", &files);
    let told = clone.hydrate(&["adopt", "--offline"]);
    assert!(!told.stdout.contains("there is another Application"), "{told:?}");
    assert!(told.stdout.contains("5 of 5 Applications would hydrate"), "{told:?}");
}

#[test]
fn applications_of_another_branch_are_counted_from_its_tree() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (path, text) = config("web", "dev", "one");
    let main = application("main", "env: dev", &here("apps/web/dev"));
    let later = |name: &str| application(name, "env: dev", &here("apps/web/dev").replace("HEAD", "develop"));
    let (one, two) = (later("one"), later("two"));
    clone.commit("main", &[("main.yaml", &main), ("one.yaml", &one), ("two.yaml", &two), (&path, &text)]);
    let args = ["--repo-url", URL, "--branch-pattern", "environments/{{ name }}", "--branch", "main"];
    clone.git(&["checkout", "-qb", "develop"]);
    clone.git(&["rm", "-q", "two.yaml"]);
    clone.commit("only one", &[]);
    clone.git(&["push", "-q", "origin", "main", "develop"]);
    clone.git(&["checkout", "-q", "main"]);
    let told = adopt(&clone, &args).exits(1).stdout;
    assert!(told.contains("  1 of 2 hydrate from the tree of `develop`\n"), "{told}");
    assert!(told.contains("  dryBranches:  # the branches that Applications name\n  - main\n  - develop\n"), "{told}");
    let judged =
        "judged as the tip of `develop`, which most Applications name; as that of the branch here: --branch main\n";
    assert!(!told.contains("judged as"), "{told}");
    assert!(told.contains(" --branch main --write"), "{told}");
    let told = adopt(&clone, &args[..4]).stdout;
    assert!(told.contains(judged), "{told}");
    assert!(told.contains("  dryBranches:  # the branches that Applications name\n  - develop\n  - main\n"), "{told}");
    assert!(told.contains("  1 of 1 hydrate from the tree of `main`\n"), "HEAD is `main`: {told}");
    // What comes next looks at the branch that was judged.
    assert!(!told.contains("does not exist"), "{told}");
    adopt(&clone, &[&args[..4], &["--write"]].concat());
    let told = adopt(&clone, &[]).stdout;
    assert!(told.contains("  git hydrate diff --worktree --branch develop  what each branch would get\n"), "{told}");
    // One that was not pushed is named.
    clone.git(&["branch", "-D", "develop"]);
    clone.git(&["push", "-q", "origin", "--delete", "develop"]);
    let told = adopt(&clone, &args[..4]).stdout;
    assert!(told.contains("`develop` does not exist: nothing is hydrated from it until it is pushed\n"), "{told}");
}
