//! `git hydrate diff`: what it says of a change is what the push then does, and it leaves no trace.

use std::fs::File;
use std::path::Path;

use serde_json::Value;

use crate::push::{config_map, dry};
use crate::support::{Lab, Repo};

mod argocd;
mod commits;
mod dangers;
mod moves;
mod not_compared;
mod once;
mod same_names;

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
    let refs = clone.git(&["for-each-ref"]);
    refs.lines().filter(|line| !line.contains("\trefs/remotes/origin/")).map(|line| format!("{line}\n")).collect()
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
fn a_large_application_leaves_room_for_the_others_and_for_each_environment() {
    let clone = dry(&Lab::new().server(), &["aaa", "web"], &["dev", "prod"]);
    clone.push().success();
    let large = |env: &str| {
        let values: String = (0..2000).map(|n| format!("  key{n}: {env}\n")).collect();
        config_map("aaa", env) + &values
    };
    let files = [
        ("apps/aaa/dev/config.yaml", large("new")),
        ("apps/web/dev/config.yaml", config_map("web", "small-dev")),
        ("apps/aaa/prod/config.yaml", large("other")),
        ("apps/web/prod/config.yaml", config_map("web", "small-prod")),
    ];
    clone.commit("much", &files.each_ref().map(|(path, text)| (*path, text.as_str())));
    let cut = clone.hydrate(&["diff", "--markdown", "--limit", "20000"]).exits(1).stdout;
    assert!(cut.len() <= 20_000 && cut.len() > 18_000, "{}", cut.len());
    for shown in ["+   key0: new", "+   value: small-dev", "+   key0: other", "+   value: small-prod"] {
        assert!(cut.contains(shown), "{shown}: {cut}");
    }
    assert_eq!(cut.matches(" more lines._\n").count(), 2, "{cut}");
    let fences = cut.lines().filter(|line| line.starts_with("```")).count();
    assert_eq!(fences % 2, 0, "each block is closed: {cut}");
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
