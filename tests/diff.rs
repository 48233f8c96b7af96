//! `git hydrate diff`: what it says of a change is what the push then does, and it leaves no trace.

use std::fs::File;
use std::path::Path;

use serde_json::Value;

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

const SLIP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n";

/// A clone of a hydrated repository with the Applications `web` and `api` in two environments.
fn clone() -> Repo {
    let clone = dry(&Lab::new().server(), &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    clone
}

fn json(clone: &Repo, args: &[&str], code: i32) -> Value {
    let answer = clone.hydrate(&[&["diff", "--json"], args].concat()).exits(code);
    serde_json::from_str(&answer.stdout).expect("JSON")
}

/// Every ref of the clone but those that a fetch moves.
fn refs(clone: &Repo) -> String {
    clone.git(&["for-each-ref", "--exclude=refs/remotes/origin"])
}

#[test]
fn a_commit_is_compared_with_the_environment_branches() {
    let clone = clone();
    assert_eq!(clone.hydrate(&["diff"]).success().stdout, "no change in environments/dev, environments/prod\n");
    clone.commit("change", &[("apps/web/prod/config.yaml", &config_map("web", "new"))]);
    let before = refs(&clone);
    let answer = clone.hydrate(&["diff"]).exits(1);
    assert_eq!(
        answer.stdout,
        "environments/prod  1 object changed in 1 of 2 Applications

  web-prod  web
    ~ ConfigMap web
        data
      -   value: prod
      +   value: new

no change in environments/dev
"
    );
    assert_eq!(refs(&clone), before);
    clone.push().success();
    assert_eq!(clone.hydrate(&["diff"]).success().stderr, "");
}

#[test]
fn the_working_tree_stands_for_a_commit() {
    let clone = clone();
    assert_eq!(json(&clone, &["--worktree"], 0)["environments"][0]["drySha"], clone.git(&["rev-parse", "HEAD"]));
    let write = |path: &str, text: &str| std::fs::write(clone.path.join(path), text).expect("written");
    write("apps/web/dev/config.yaml", &config_map("web", "staged"));
    clone.git(&["add", "."]);
    write("apps/web/dev/config.yaml", &config_map("web", "edited"));
    write("apps/api/dev/more.yaml", &config_map("more", "untracked"));
    write(".git/info/exclude", "ignored.yaml\n");
    write("apps/api/dev/ignored.yaml", &config_map("ignored", "no"));
    std::fs::remove_file(clone.path.join("apps/api/prod/config.yaml")).expect("removed");
    write("apps/api/prod/other.yaml", &config_map("other", "untracked"));
    let (refs_before, status) = (refs(&clone), clone.git(&["status", "--porcelain=v2"]));
    let shown = json(&clone, &["--worktree"], 1);
    let told: Vec<String> = shown["environments"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|environment| environment["applications"].as_array().expect("a list"))
        .flat_map(|application| application["objects"].as_array().expect("a list"))
        .map(|object| format!("{} {} {}", object["change"], object["name"], object["differences"][0]["new"]))
        .collect();
    assert!(told.len() == 4, "{shown:#}");
    assert_eq!(told[1..3], [r#""changed" "web" "edited""#, r#""removed" "api" null"#]);
    assert!(told[3].starts_with(r#""added" "other" {"#), "{told:?}");
    assert!(told[0].starts_with(r#""added" "more" {"#), "{told:?}");
    assert_eq!((refs(&clone), clone.git(&["status", "--porcelain=v2"])), (refs_before, status));
    assert_eq!(json(&clone, &["--worktree"], 1), shown, "the same files give the same commit");
    assert_eq!(json(&clone, &[], 0)["environments"][0]["applications"], Value::Array(Vec::new()));
    clone.hydrate(&["diff", "--worktree", "HEAD"]).exits(2);
}

/// Git looks at the content of a file that changed within the second in which its index was written: times do not tell.
#[test]
fn an_edit_of_the_same_size_in_the_second_of_a_commit_is_seen() {
    let clone = clone();
    // The time of the last change of the inode cannot be set.
    clone.git(&["config", "core.trustctime", "false"]);
    let file = clone.path.join("apps/web/dev/config.yaml");
    let edited = std::fs::read_to_string(&file).expect("there").replace("name: web", "name: wob");
    let second = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let set = |path: &Path| File::options().write(true).open(path).and_then(|file| file.set_modified(second));
    set(&file).expect("set");
    clone.git(&["update-index", "--refresh"]);
    set(&clone.path.join(".git/index")).expect("set");
    std::fs::write(&file, edited).expect("written");
    set(&file).expect("set");
    assert_eq!(json(&clone, &["--worktree"], 1)["environments"][0]["applications"][0]["objects"][0]["name"], "web");
}

#[test]
fn what_fails_in_one_environment_hides_no_other() {
    let clone = clone();
    clone.commit(
        "slip",
        &[("apps/web/dev/config.yaml", SLIP), ("apps/web/prod/config.yaml", &config_map("web", "new"))],
    );
    let answer = clone.hydrate(&["diff", "--stat"]).exits(1);
    assert_eq!(
        answer.stdout,
        "environments/dev   fails, so it stays as it is
environments/prod  1 object changed in 1 of 2 Applications

  web-prod  web
    ~ ConfigMap web

error: not valid YAML: did not find expected node content
  --> apps/web/dev/config.yaml:4:1
  = application: web-dev
  = hint: correct the YAML; a file without manifests is left out by a comment `+argocd:skip-file-rendering`
"
    );
    let shown = json(&clone, &[], 1);
    assert_eq!(shown["environments"][0]["mistakes"][0]["span"]["line"], 4);
}

#[test]
fn other_commits_can_be_compared() {
    let clone = clone();
    let first = clone.git(&["rev-parse", "HEAD"]);
    clone.commit("second", &[("apps/web/dev/config.yaml", &config_map("web", "second"))]);
    clone.push().success();
    clone.commit("third", &[("apps/web/prod/config.yaml", &config_map("web", "third"))]);
    let changed = |args: &[&str], code| -> Vec<String> {
        let shown = json(&clone, args, code);
        let environments = shown["environments"].as_array().expect("a list").clone();
        let named = |environment: Value| {
            let of = environment["applications"].as_array().expect("a list").len();
            format!("{} {of}", environment["branch"].as_str().expect("a name"))
        };
        environments.into_iter().map(named).collect()
    };
    assert_eq!(changed(&[], 1), ["environments/dev 0", "environments/prod 1"]);
    assert_eq!(changed(&["--against", &first], 1), ["environments/dev 1", "environments/prod 1"]);
    assert_eq!(changed(&["HEAD~", "--against", &first], 1), ["environments/dev 1", "environments/prod 0"]);
    assert_eq!(changed(&["--against", "environments/dev"], 0), ["environments/dev 0"]);
    assert_eq!(changed(&["--against", "origin/environments/dev~"], 1), ["environments/dev 1"]);
    clone.hydrate(&["diff", "--against", "no-such-ref"]).exits(2);
    clone.hydrate(&["diff", "no-such-ref"]).exits(2);
}

#[test]
fn a_branch_that_is_not_hydrated_is_taken_for_one_to_be_merged() {
    let clone = clone();
    clone.git(&["checkout", "-q", "-b", "topic"]);
    clone.commit("change", &[("apps/web/prod/config.yaml", &config_map("web", "new"))]);
    assert_eq!(json(&clone, &[], 1)["environments"][1]["dryBranch"], "main");
    clone.git(&["push", "-q", "-u", "origin", "topic"]);
    assert_eq!(json(&clone, &[], 1)["environments"][1]["dryBranch"], "main");
    let nothing = clone.hydrate(&["diff", "--branch", "topic"]).success().stdout;
    assert!(nothing.starts_with("no Application of this commit is hydrated from this branch\n"), "{nothing}");
    clone.git(&["checkout", "-q", "--detach"]);
    assert_eq!(json(&clone, &[], 1)["environments"][1]["dryBranch"], "main");
}

#[test]
fn applications_come_go_and_move() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let (new_file, new_text) = application("extra", "dev");
    let api = application("api", "dev").0;
    clone.commit(
        "move web, remove api, add extra\n\nHydrate-Allow-Removal: environments/dev",
        &[
            (&file, &text.replace("path: web", "path: elsewhere")),
            (&new_file, &new_text),
            ("apps/extra/dev/config.yaml", &config_map("extra", "x")),
            (&api, ""),
        ],
    );
    assert_eq!(
        clone.hydrate(&["diff"]).exits(1).stdout,
        "environments/dev   1 object added, 1 removed in 3 of 3 Applications

  api-dev  api  removed
    once api-dev is deleted in the cluster, its object stays and is no longer managed: it has no resources finalizer
    - ConfigMap api  6 lines

  web-dev  elsewhere  moved from web

  extra-dev  extra  new
    + ConfigMap extra
      + apiVersion: v1
      + data:
      +   value: x
      + kind: ConfigMap
      + metadata:
      +   name: extra

no change in environments/prod
"
    );
}

#[test]
fn what_is_long_is_folded_and_what_is_secret_hidden() {
    let clone = clone();
    let text = |port: u32, token: &str| {
        let lines: String = (0..20).map(|n| format!("    line {n}\n")).collect();
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: nginx\ndata:\n  nginx.conf: |\n{lines}    listen {port};\n\
             {lines}---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: token\nstringData:\n  token: {token}\n"
        )
    };
    for env in ["dev", "prod"] {
        clone.commit("first", &[(&format!("apps/web/{env}/config.yaml"), &text(80, "geheim"))]);
    }
    clone.push().success();
    for env in ["dev", "prod"] {
        clone.commit("second", &[(&format!("apps/web/{env}/config.yaml"), &text(8080, "geheimer"))]);
    }
    let answer = clone.hydrate(&["diff"]).exits(1);
    assert_eq!(
        answer.stdout,
        "4 objects changed in 2 of 2 environments

environments/dev   2 objects changed in 1 of 2 Applications

  web-dev  web
    ~ ConfigMap nginx
        data
          nginx.conf: |
      …     17 unchanged lines
            line 17
            line 18
            line 19
      -     listen 80;
      +     listen 8080;
            line 0
            line 1
            line 2
      …     17 unchanged lines
    ~ Secret token
        stringData
      ~   token: changed

environments/prod  as environments/dev: 2 objects changed in 1 of 2 Applications
"
    );
    assert!(!json(&clone, &[], 1).to_string().contains("geheim"));
    assert!(clone.hydrate(&["diff", "--secrets"]).exits(1).stdout.contains("+   token: geheimer"));
}

#[test]
fn markdown_tells_what_matters_first_and_is_cut_to_its_limit() {
    let names: Vec<String> = (0..20).map(|n| format!("app{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let clone = dry(&Lab::new().server(), &names, &["dev"]);
    clone.push().success();
    let files: Vec<(String, String)> = names
        .iter()
        .map(|name| (format!("apps/{name}/dev/config.yaml"), config_map(name, &format!("'```</details>|<b>{name}'"))))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("all", &files);
    let whole = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    assert!(
        whole.starts_with(
            "<!-- git-hydrate diff -->
| environment | Applications | changed | added | removed | noise | restarts | dangers |
|---|---|---:|---:|---:|---:|---:|---:|
| `environments/dev` | 20 of 20 | 20 | 0 | 0 | 0 | 0 | 0 |

<details><summary><b>environments/dev</b>: 20 objects changed</summary>

`app00-dev` in `app00`

````diff
@@ ConfigMap app00 @@
  data
-   value: dev
+   value: '```</details>|<b>app00'
````
"
        ),
        "{whole}"
    );
    assert!(whole.contains("`app19-dev` in `app19`\n") && whole.ends_with("\n</details>\n"), "{whole}");
    let cut = clone.hydrate(&["diff", "--markdown", "--limit", "1500"]).exits(1).stdout;
    assert!(cut.len() <= 1500, "{}", cut.len());
    let shown = cut.matches("````diff").count();
    let note =
        format!("\n_Cut: the fields of {} Applications are not shown; `git hydrate diff` shows them._\n", 20 - shown);
    assert!(shown > 1 && cut.ends_with(&format!("\n</details>\n{note}")), "{cut}");
    let short = clone.hydrate(&["diff", "--markdown", "--limit", "150"]).exits(1).stdout;
    let line = "- `environments/dev`: 20 objects changed\n";
    assert_eq!(short, format!("<!-- git-hydrate diff -->\n{line}\n_Cut: `git hydrate diff` shows all._\n"));
    for limit in ["0", "10", "40"] {
        let cut = clone.hydrate(&["diff", "--markdown", "--limit", limit]).exits(1).stdout;
        assert!(cut.len() <= limit.parse().expect("a number"), "{limit}: {cut}");
    }
}

#[test]
fn a_page_stands_alone_and_runs_nothing_that_was_pushed() {
    let clone = clone();
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  '\"><b>{hostile}': '{hostile}'\n  text: |\n    \
         {hostile}\n    more\n"
    );
    clone.commit("hostile", &[("apps/web/dev/config.yaml", &text), ("apps/web/prod/config.yaml", SLIP)]);
    let answer = clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    assert!(
        answer.stdout.starts_with("environments/dev   1 object changed in 1 of 2 Applications\n"),
        "{}",
        answer.stdout
    );
    let page = clone.file("page.html").expect("written");
    for what in ["alert(1)</script>", "<img", "<b>\"", "\"><b>", "http:", "https:", "url("] {
        assert!(!page.contains(what), "{what}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"), "what was pushed is shown as text");
    assert!(page.contains("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"));
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(page.contains("apps&#x2f;web&#x2f;prod&#x2f;config.yaml:4:1"));
}

/// Commits the objects of `web` in dev.
fn commit_web(clone: &Repo, objects: &[String]) {
    clone.commit("web", &[("apps/web/dev/config.yaml", &objects.join("---\n"))]);
}

fn job(name: &str, annotations: &str, version: u32) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\nspec:\n  template:\n    \
         spec:\n      restartPolicy: Never\n      containers: [{{name: a, image: 'app:{version}'}}]\n"
    )
}

const CLAIM: &str =
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {storageClassName: fast}\n";

#[test]
fn dangers_are_sorted_and_say_what_argo_cd_prunes() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let with_policy = |policy: &str| text.replace("spec:\n", &format!("spec:\n  syncPolicy: {policy}\n"));
    let deployment = |replicas: u32| {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{replicas: {replicas}}}\n")
    };
    let jobs = |version| {
        let plain = (0..7).map(move |n| job(&format!("job{n}"), "", version));
        plain.chain([job("hook", "helm.sh/hook: pre-upgrade", version)]).collect::<Vec<_>>()
    };
    clone.commit("policy", &[(&file, &with_policy("{automated: {prune: true}}"))]);
    commit_web(&clone, &[vec![deployment(3), CLAIM.to_owned()], jobs(1)].concat());
    clone.push().success();
    commit_web(&clone, &[vec![deployment(0)], jobs(2)].concat());
    let stat = clone.hydrate(&["diff", "--stat"]).exits(1).stdout;
    let head = "environments/dev   9 objects changed, 1 removed in 1 of 2 Applications
  image app 1 → 2 (8 times)
  data loss PersistentVolumeClaim data: removed, with its volume and data, unless the volume is retained
    Argo CD prunes it with the next sync; to keep it, set the sync option `Prune=false` on it in a commit before this one
  outage Deployment web: replicas 3 → 0: nothing runs
    if an autoscaler sets the replicas, leave the field out
  danger 7 Jobs: `spec.template` cannot be changed: the sync fails unless the object is deleted first
    job0, job1, job2, job3, job4 and 2 more
    give it a new name, delete the old one by hand, or set the sync options `Force=true,Replace=true`

";
    assert!(stat.starts_with(head), "{stat}");
    let shown = json(&clone, &[], 1);
    let dangers = &shown["environments"][0]["dangers"];
    assert_eq!((&dangers[0]["severity"], &dangers[0]["pruning"]), (&"data-loss".into(), &"automatic".into()));
    assert_eq!(dangers[2]["objects"].as_array().map(Vec::len), Some(7), "{dangers:#}");
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    let line = "- **data loss** `environments/dev`: `PersistentVolumeClaim data`: removed";
    assert!(markdown.contains(line), "{markdown}");
    clone.commit("keep", &[(&file, &with_policy("{syncOptions: [Prune=false]}"))]);
    let kept = json(&clone, &[], 1);
    assert_eq!(kept["environments"][0]["dangers"][0]["kind"], "scaledToZero", "{kept:#}");
    clone.commit("by hand", &[(&file, &text)]);
    assert_eq!(json(&clone, &[], 1)["environments"][0]["dangers"][0]["pruning"], "manual");
}

#[test]
fn an_application_that_goes_takes_its_objects_by_its_finalizer() {
    for (finalizers, expected) in [("[resources-finalizer.argocd.argoproj.io]", Some("cascade")), ("[]", None)] {
        let clone = clone();
        let (file, text) = application("web", "dev");
        let text = text.replace("metadata:\n", &format!("metadata:\n  finalizers: {finalizers}\n"));
        clone.commit("finalizer", &[(&file, &text)]);
        commit_web(&clone, &[CLAIM.to_owned()]);
        clone.push().success();
        clone.commit("remove\n\nHydrate-Allow-Removal: environments/dev", &[(&file, "")]);
        let shown = json(&clone, &[], 1);
        assert_eq!(shown["environments"][0]["dangers"][0]["pruning"].as_str(), expected, "{shown:#}");
    }
}

#[test]
fn no_severe_danger_is_cut() {
    let clone = clone();
    let ingress = |hosts: std::ops::Range<u32>| {
        let rules: Vec<String> = hosts.map(|n| format!("{{host: host{n}.example.com}}")).collect();
        let rules = rules.join(", ");
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: web}}\nspec: {{rules: [{rules}]}}\n"
        )
    };
    commit_web(&clone, &[ingress(0..100)]);
    clone.push().success();
    commit_web(&clone, &[ingress(0..40)]);
    let count = |args: &[&str], what: &str| clone.hydrate(args).exits(1).stdout.matches(what).count();
    assert_eq!(count(&["diff"], "  outage Ingress web: host"), 60);
    assert_eq!(count(&["diff", "--markdown"], "- **outage** "), 60);
    let cut = clone.hydrate(&["diff", "--markdown", "--limit", "3000"]).exits(1).stdout;
    assert!(cut.len() <= 3000 && cut.contains("- **outage**: `hostGone` 60 times\n"), "{cut}");
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written");
    assert_eq!(page.matches("<li class=\"outage\">").count(), 60);
}

#[test]
fn workloads_that_restart_are_counted_though_only_a_checksum_changed() {
    let clone = clone();
    let deployment = |name: &str, checksum: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  template:\n    metadata:\n      \
             annotations: {{checksum/config: {checksum}}}\n"
        )
    };
    commit_web(&clone, &[deployment("one", "a1"), deployment("two", "a1"), config_map("web", "1")]);
    clone.push().success();
    commit_web(&clone, &[deployment("one", "b2"), deployment("two", "b2"), config_map("web", "1")]);
    let answer = clone.hydrate(&["diff"]).exits(1).stdout;
    let expected = "environments/dev   only generated fields in 1 of 2 Applications
  restarts 2 workloads
  2 objects differ only in generated fields: checksums (2)

  web-dev  web
    ~ 2 Deployments one, two  restart their Pods
      … also checksums (1)
";
    assert!(answer.starts_with(expected), "{answer}");
    assert_eq!(json(&clone, &[], 1)["environments"][0]["summary"]["restarts"], 2);
    assert!(
        clone
            .hydrate(&["diff", "--markdown"])
            .exits(1)
            .stdout
            .contains("@@ 2 Deployments one, two @@ restart their Pods")
    );
}

#[test]
fn a_branch_behind_main_is_compared_where_they_parted() {
    let clone = clone();
    clone.git(&["checkout", "-q", "-b", "topic"]);
    clone.commit("mine", &[("apps/web/prod/config.yaml", &config_map("web", "mine"))]);
    clone.git(&["checkout", "-q", "main"]);
    let base = clone.git(&["rev-parse", "HEAD"]);
    for value in ["theirs", "newer"] {
        clone.commit(value, &[("apps/api/dev/config.yaml", &config_map("api", value))]);
    }
    clone.push().success();
    clone.git(&["checkout", "-q", "topic"]);
    let line = format!("compared at the merge base {}: main has 2 commits that this one lacks\n", &base[..7]);
    let own = "environments/prod  1 object changed in 1 of 2 Applications

  web-prod  web
    ~ ConfigMap web
        data
      -   value: prod
      +   value: mine

no change in environments/dev
";
    assert_eq!(clone.hydrate(&["diff"]).exits(1).stdout, format!("{line}{own}"));
    let shown = json(&clone, &[], 1);
    assert_eq!((&shown["mergeBase"]["commit"], &shown["mergeBase"]["behind"]), (&base.as_str().into(), &2.into()));
    assert!(clone.hydrate(&["diff", "--markdown"]).exits(1).stdout.contains("diff -->\n_compared at the merge base"));
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    assert!(clone.file("page.html").expect("written").contains("main has 2 commits that this one lacks"));
    let edited = config_map("web", "edited");
    std::fs::write(clone.path.join("apps/web/prod/config.yaml"), edited).expect("written");
    let worktree = clone.hydrate(&["diff", "--worktree"]).exits(1).stdout;
    assert_eq!(worktree, format!("{line}{}", own.replace("mine", "edited")));
    clone.git(&["checkout", "-q", "-f", "main"]);
    assert_eq!(clone.hydrate(&["diff"]).success().stdout, "no change in environments/dev, environments/prod\n");
    clone.git(&["reset", "-q", "--hard", &base]);
    assert!(clone.hydrate(&["diff"]).success().stdout.starts_with(&line), "behind, with nothing of its own");
}

#[test]
fn objects_that_another_application_takes_over_are_not_removed() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let (new_file, new_text) = application("shop", "dev");
    let finalizer = "metadata:\n  finalizers: [resources-finalizer.argocd.argoproj.io]\n";
    clone.commit("finalizer", &[(&file, &text.replace("metadata:\n", finalizer))]);
    let objects = |namespace: &str| CLAIM.replace("name: data", &format!("name: data{namespace}"));
    let config = config_map("web", "1").replace("name: web", "name: web\n  namespace: web");
    commit_web(&clone, &[objects(", namespace: web"), config.clone()]);
    clone.push().success();
    let moved = [objects(", namespace: web"), config.replace("value: 1", "value: 2")].join("---\n");
    clone.commit(
        "rename\n\nHydrate-Allow-Removal: environments/dev",
        &[(&file, ""), (&new_file, &new_text), ("apps/shop/dev/config.yaml", &moved)],
    );
    let expected = "environments/dev   1 object changed, 1 moved in 2 of 3 Applications
  data loss PersistentVolumeClaim web/data: moves to another Application: if the old one removes it first, it goes with its volume and data, unless the volume is retained
    Argo CD deletes it together with its Application; set the sync options `Prune=false,Delete=false` on it in a commit before this one, and sync the new Application first

  shop-dev  shop  new
    ~ PersistentVolumeClaim web/data  moved from web-dev
    ~ ConfigMap web/web  moved from web-dev
        data
      -   value: 1
      +   value: 2

  web-dev  web  removed
    objects move to shop-dev: Argo CD deletes what shop-dev has not applied by the time that web-dev is deleted
";
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.starts_with(expected), "{shown}");
    let shown = json(&clone, &[], 1);
    assert_eq!(shown["environments"][0]["applications"][0]["objects"][0]["movedFrom"], "web-dev", "{shown:#}");
}

#[test]
fn one_fact_in_many_objects_is_told_once_and_production_comes_last() {
    let clone = dry(&Lab::new().server(), &["web"], &["dev", "prod", "qa"]);
    let alerts = |time: &str| {
        let rule = |n: usize| format!("    - {{alert: Alert{n}, expr: up, for: {time}}}\n");
        let rules: String = (0..8).map(rule).collect();
        let of = |name: &str| {
            format!(
                "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {{name: {name}}}\nspec:\n  groups:\n  \
                 - name: all\n    rules:\n{rules}---\n"
            )
        };
        [of("api"), of("web")].concat()
    };
    let commit = |time: &str| {
        for env in ["dev", "prod", "qa"] {
            clone.commit(time, &[(&format!("apps/web/{env}/config.yaml"), &alerts(time))]);
        }
    };
    commit("10m");
    clone.push().success();
    commit("15m");
    assert_eq!(
        clone.hydrate(&["diff"]).exits(1).stdout,
        "6 objects changed in 3 of 3 environments
  for: 10m → 15m in 6 objects in 3 environments

environments/dev   2 objects changed in 1 of 1 Applications

  web-dev  web
    ~ 2 PrometheusRules api, web
        spec.groups[name=all].rules[alert=Alert0]
      -   for: 10m
      +   for: 15m
      …   the same in 7 more places: spec.groups[name=all].rules[alert=Alert1], \
             spec.groups[name=all].rules[alert=Alert2], spec.groups[name=all].rules[alert=Alert3], \
             spec.groups[name=all].rules[alert=Alert4], spec.groups[name=all].rules[alert=Alert5], …

environments/qa    as environments/dev: 2 objects changed in 1 of 1 Applications
environments/prod  as environments/dev: 2 objects changed in 1 of 1 Applications
"
    );
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    assert_eq!(markdown.matches("for: 10m").count(), 2, "{markdown}");
    let shown = json(&clone, &[], 1);
    assert_eq!(shown["commonChanges"][0]["objects"], 6);
    assert_eq!(shown["environments"][2]["applications"][0]["objects"][1]["differences"][7]["new"], "15m");
    assert_eq!(clone.hydrate(&["diff", "--noise"]).exits(1).stdout.matches("for: 15m").count(), 8);
}

#[test]
fn a_custom_resource_definition_is_told_by_version_and_field() {
    let clone = clone();
    let definition = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: shops.example.com}}\n\
             spec:\n  group: example.com\n  names: {{kind: Shop, plural: shops}}\n  scope: Namespaced\n  versions:\n{versions}"
        )
    };
    let version = |name: &str, fields: &str| {
        format!(
            "  - name: {name}\n    served: true\n    storage: {}\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
             properties: {{spec: {{type: object, properties: {{{fields}}}}}}}\n",
            name == "v1"
        )
    };
    commit_web(&clone, &[definition(&version("v1", "size: {type: integer}, old: {type: string}"))]);
    clone.push().success();
    let ports = "ports: {type: array, items: {type: object, properties: {name: {type: string}}}}";
    let fields = format!("size: {{type: string}}, {ports}");
    commit_web(&clone, &[definition(&(version("v1", &fields) + &version("v2", &fields)))]);
    let answer = clone.hydrate(&["diff"]).exits(1).stdout;
    let (_, fields) = answer.split_once("~ CustomResourceDefinition shops.example.com\n").expect("the definition");
    assert_eq!(
        fields.split("\n\n").next(),
        Some(
            "        v1: spec
      -   old: string
      +   ports: array with 1 field
        v1: spec.size
      -   type: integer
      +   type: string
        spec.versions
      +   v2: served, 4 fields"
        )
    );
}

#[test]
fn what_would_be_deployed_is_written_as_files_for_other_tools() {
    let clone = clone();
    let manifest =
        |branch: &str, path: &str| clone.git(&["show", &format!("origin/{branch}:{path}/manifest.yaml")]) + "\n";
    let all = clone.hydrate(&["render", "--all", "out"]).success();
    assert_eq!(all.stdout, "4 manifests in out\n");
    for (branch, path) in [("environments/dev", "web"), ("environments/prod", "api")] {
        let file = clone.file(&format!("out/{branch}/{path}/manifest.yaml"));
        assert_eq!(file.as_deref(), Some(manifest(branch, path).as_str()), "{branch} {path}");
    }
    let full = clone.hydrate(&["render", "--all", "out"]).exits(2);
    let hint = "out is not empty\nhint: name another directory, or remove it first: rm -r out";
    assert!(full.stderr.contains(hint), "{full:?}");
    std::fs::remove_dir_all(clone.path.join("out")).expect("removed");
    clone.commit(
        "change",
        &[("apps/web/prod/config.yaml", &config_map("web", "new")), ("apps/api/dev/config.yaml", SLIP)],
    );
    let changed = clone.hydrate(&["render", "--all", "out", "--changed"]).exits(1);
    assert_eq!(changed.stdout, "1 manifest in out\n");
    assert!(changed.stderr.contains("apps/api/dev/config.yaml:4:1"), "{changed:?}");
    let file = clone.file("out/environments/prod/web/manifest.yaml");
    assert!(file.is_some_and(|text| text.contains("value: new")));
    clone.hydrate(&["render", "--every", "out2"]).exits(2);
}

/// Gives an Application the finalizer by which its objects are deleted with it.
fn with_finalizer(text: &str) -> String {
    text.replace("metadata:\n", "metadata:\n  finalizers: [resources-finalizer.argocd.argoproj.io]\n")
}

#[test]
fn an_application_that_goes_says_what_becomes_of_its_objects() {
    let rows = [
        (false, "its 2 objects stay and are no longer managed: it has no resources finalizer"),
        (true, "its 2 objects are deleted with it, by its resources finalizer"),
    ];
    for (cascades, expected) in rows {
        let clone = clone();
        let (file, text) = application("web", "dev");
        clone.commit("finalizer", &[(&file, &if cascades { with_finalizer(&text) } else { text })]);
        commit_web(&clone, &[CLAIM.to_owned(), config_map("web", "1")]);
        clone.push().success();
        clone.commit("remove\n\nHydrate-Allow-Removal: environments/dev", &[(&file, "")]);
        let shown = clone.hydrate(&["diff"]).exits(1).stdout;
        let note = format!("  web-dev  web  removed\n    once web-dev is deleted in the cluster, {expected}\n");
        assert!(shown.contains(&note), "{shown}");
        assert_eq!(shown.contains("data loss PersistentVolumeClaim data: removed"), cascades, "{shown}");
        let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
        assert!(markdown.contains("once web-dev is deleted in the cluster"), "{markdown}");
        let effect = &json(&clone, &[], 1)["environments"][0]["applications"][0]["effect"];
        assert!(effect.as_str().is_some_and(|text| text.ends_with(expected)), "{effect}");
    }
}

#[test]
fn an_application_with_another_name_on_its_path_is_renamed() {
    let rows = [
        (
            false,
            "its object stays, since it has no resources finalizer, and shop-dev takes it over with its first sync",
            0,
        ),
        (true, "what shop-dev has not applied by then of its object is deleted by its resources finalizer", 1),
    ];
    for (cascades, expected, dangers) in rows {
        let clone = clone();
        let (file, text) = application("web", "dev");
        let text = if cascades { with_finalizer(&text) } else { text };
        clone.commit("finalizer", &[(&file, &text)]);
        commit_web(&clone, &[CLAIM.to_owned()]);
        clone.push().success();
        clone.commit("rename", &[(&file, &text.replace("web-dev", "shop-dev"))]);
        let shown = clone.hydrate(&["diff"]).exits(1).stdout;
        let head = "environments/dev   1 of 2 Applications renamed, no object changes\n";
        assert!(shown.starts_with(head), "{shown}");
        let note = format!("  shop-dev  web  was web-dev\n    once web-dev is deleted in the cluster, {expected}");
        assert!(shown.contains(&note), "{shown}");
        assert_eq!(
            shown.matches("data loss PersistentVolumeClaim data: moves to another Application").count(),
            dangers
        );
        let shown = json(&clone, &[], 1);
        assert_eq!(shown["environments"][0]["applications"][0]["renamedFrom"], "web-dev", "{shown:#}");
    }
}

#[test]
fn an_application_that_moves_says_where_from() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    clone.commit("path", &[(&file, &text.replace("path: web\n", "path: front/web\n"))]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    let expected =
        "environments/dev   1 of 2 Applications moved, no object changes\n\n  web-dev  front/web  moved from web\n";
    assert!(shown.starts_with(expected), "{shown}");
    let moved = text.replace("environments/dev", "environments/prod").replace("path: web\n", "path: front/web\n");
    clone.commit("branch\n\nHydrate-Allow-Removal: environments/dev", &[(&file, &moved)]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(
        shown.contains("  web-dev  web  removed\n    web-dev is hydrated to front/web on environments/prod now\n"),
        "{shown}"
    );
    assert!(shown.contains("  web-dev  front/web  moved from web on environments/dev\n"), "{shown}");
}

#[test]
fn an_object_goes_to_another_application_and_namespace_at_once() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    clone.commit("finalizer", &[(&file, &with_finalizer(&text))]);
    let (new_file, new_text) = application("shop", "dev");
    let deployment = |namespace: &str, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: {namespace}}}\nspec:\n  replicas: 2\n  \
             template: {{spec: {{containers: [{{name: web, image: 'web:{image}', ports: [{{containerPort: 80}}]}}]}}}}\n"
        )
    };
    commit_web(&clone, &[deployment("web", "1")]);
    clone.push().success();
    clone.commit(
        "both\n\nHydrate-Allow-Removal: environments/dev",
        &[(&file, ""), (&new_file, &new_text), ("apps/shop/dev/config.yaml", &deployment("shop", "2"))],
    );
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    for expected in [
        "environments/dev   1 object changed in 2 of 3 Applications\n  image web 1 → 2\n",
        "  outage Deployment shop/web: namespace web → shop: new Pods start there, the old ones go\n",
        "    ~ Deployment shop/web  moved from web-dev  restarts its Pods\n",
        "      -   namespace: web\n      +   namespace: shop\n",
        "    objects come in another namespace with shop-dev\n",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    let other = deployment("shop", "2").replace("kind: Deployment", "kind: StatefulSet");
    clone.commit("another kind", &[("apps/shop/dev/config.yaml", &other)]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.starts_with("environments/dev   1 object added, 1 removed in 2 of 3 Applications\n"), "{shown}");
}

#[test]
fn a_new_environment_is_shown_by_what_differs_from_the_one_that_it_is_like() {
    let clone = dry(&Lab::new().server(), &["web", "api"], &["dev", "staging"]);
    for env in ["dev", "staging"] {
        let host = config_map("web", &format!("web.{env}.example.com"));
        clone.commit("hosts", &[(&format!("apps/web/{env}/config.yaml"), &host)]);
    }
    clone.push().success();
    let of = |name: &str| application(name, "qa");
    let (web, api) = (of("web"), of("api"));
    clone.commit(
        "qa",
        &[
            (&web.0, &web.1),
            (&api.0, &api.1),
            ("apps/web/qa/config.yaml", &config_map("web", "web.qa.example.com")),
            ("apps/api/qa/config.yaml", &config_map("api", "other")),
        ],
    );
    let expected =
        "environments/qa       new, like environments/dev with qa for dev: 2 objects added in 2 of 2 Applications
  1 Application differs from environments/dev:

  api-qa  api
    ~ ConfigMap api
        data
      -   value: qa
      +   value: other

no change in environments/dev, environments/staging
";
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert_eq!(shown, expected);
    let shown = json(&clone, &[], 1);
    let like = &shown["environments"][1]["like"];
    assert_eq!((&like["branch"], like["applications"].as_array().map(Vec::len)), (&"environments/dev".into(), Some(1)));
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    assert!(markdown.contains("Like `environments/dev` with qa for dev, except for what follows."), "{markdown}");
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written").replace("&#x2f;", "/");
    let differs = "What differs from <a href=\"#branch:environments/dev\">environments/dev</a></p>\n<details class=\"application\" \
                   id=\"like:environments/qa:api\" open>";
    assert!(page.contains(differs), "{page}");
    let all = page.split_once("<details class=\"alike\"><summary>All that is new</summary>").expect("closed").1;
    assert_eq!(all.matches("<details class=\"application\" id=\"branch:environments/qa:").count(), 2);
}

#[test]
fn environments_that_change_alike_but_for_their_name_are_shown_once() {
    let clone = dry(&Lab::new().server(), &["web"], &["dev", "prod", "qa"]);
    let commit = |replicas: u32| {
        for env in ["dev", "prod", "qa"] {
            let deployment = format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{env}}}\nspec: {{replicas: {replicas}}}\n"
            );
            clone.commit("replicas", &[(&format!("apps/web/{env}/config.yaml"), &deployment)]);
        }
    };
    commit(3);
    clone.push().success();
    commit(0);
    assert_eq!(
        clone.hydrate(&["diff"]).exits(1).stdout,
        "3 objects changed in 3 of 3 environments; 3 outages
  replicas: 3 → 0 in 3 objects in 3 environments

environments/dev   1 object changed in 1 of 1 Applications
  outage Deployment web-dev: replicas 3 → 0: nothing runs
    if an autoscaler sets the replicas, leave the field out

  web-dev  web
    ~ Deployment web-dev
        spec
      -   replicas: 3
      +   replicas: 0

environments/qa    as environments/dev with qa for dev: 1 object changed in 1 of 1 Applications; 1 outage
environments/prod  as environments/dev with prod for dev: 1 object changed in 1 of 1 Applications; 1 outage
"
    );
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written").replace("&#x2f;", "/");
    for env in ["qa", "prod"] {
        let alike = format!(
            "<p class=\"facts\">Changes as <a href=\"#branch:environments/dev\">environments/dev</a> with {env} for dev <span \
             class=\"tag danger\">1 outage</span></p>\n<details class=\"alike\"><summary>All of its changes</summary>\n"
        );
        assert!(page.contains(&alike), "{alike}\n{page}");
    }
    clone.commit("less", &[("apps/web/prod/config.yaml", &config_map("web", "1"))]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.contains("environments/prod  1 object added, 1 removed in 1 of 1 Applications\n"), "{shown}");
}

#[test]
fn what_to_do_about_several_dangers_is_said_once() {
    let clone = clone();
    let objects = |namespace: &str| {
        [("v1", "ConfigMap"), ("v1", "ServiceAccount"), ("policy/v1", "PodDisruptionBudget")].map(|(version, kind)| {
            format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: web, namespace: {namespace}}}\n")
        })
    };
    commit_web(&clone, &objects("old"));
    clone.push().success();
    commit_web(&clone, &objects("new"));
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    let expected = "  danger ConfigMap new/web, PodDisruptionBudget new/web, ServiceAccount new/web: namespace old → new: a new one is created, the old one goes
    the old one stays until somebody syncs with pruning: the Application does not prune by itself; check that what refers to it is in the new namespace too

  web-dev  web
    ~ 3 objects: ConfigMap new/web, PodDisruptionBudget new/web, ServiceAccount new/web
        metadata
      -   namespace: old
      +   namespace: new
";
    assert!(shown.contains(expected), "{shown}");
}

/// Tools that install from a registry, with the arguments that README gives for the directory `out`.
const CHECKERS: [(&str, &str); 2] = [
    ("kubernetes-validate", "find out -name manifest.yaml -exec kubernetes-validate --strict {} +"),
    ("checkov", "checkov --directory out --framework kubernetes --check CKV_K8S_16 --compact --quiet"),
];

#[test]
#[ignore = "needs kubernetes-validate and checkov of PyPI"]
fn checkers_read_what_would_be_deployed() {
    let clone = clone();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README");
    let deployment = |replicas: &str, privileged: bool| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: \
             {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers: \
             [{{name: web, image: 'web:1', securityContext: {{privileged: {privileged}}}}}]\n"
        )
    };
    let rows = [(deployment("2", false), true), (deployment("text", true), false)];
    for (number, (objects, is_good)) in rows.into_iter().enumerate() {
        commit_web(&clone, &[objects]);
        let out = format!("out{number}");
        clone.hydrate(&["render", "--all", &out]).success();
        for (tool, line) in CHECKERS {
            assert!(readme.contains(line), "{line}");
            // Without the question for a newer version.
            let line = line.replace("out", &out).replace("--quiet", "--quiet --skip-download");
            clone.run("sh", &["-c", &format!("command -v {tool}")]).success();
            let answer = clone.command("sh").args(["-c", &line]).output().expect("sh runs");
            assert_eq!(answer.status.success(), is_good, "{line}: {answer:?}");
        }
    }
}

#[test]
fn a_watched_working_tree_is_shown_again_after_a_save() {
    use std::io::{BufRead as _, BufReader};
    let clone = clone();
    let mut child = clone
        .command(crate::support::BINARY)
        .args(["diff", "--watch"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("git-hydrate runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    let mut shown =
        || lines.by_ref().take_while(|line| !line.starts_with("waiting for the next save")).collect::<Vec<_>>();
    assert_eq!(shown()[0], "no change in environments/dev, environments/prod");
    for value in ["one", "two"] {
        std::fs::write(clone.path.join("apps/web/dev/config.yaml"), config_map("web", value)).expect("written");
        assert!(shown().contains(&format!("      +   value: {value}")), "{value}");
    }
    child.kill().expect("it runs until it is ended");
    child.wait().expect("it ends");
}
