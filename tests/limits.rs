//! What reaches a limit says so and holds up nobody else; a limit of the machine is tried again, one that decides what
//! renders is a setting.

mod growth;
mod searches;

use std::fs;

use crate::push::{application, config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo};

const CHART: &str = "apiVersion: v2\nname: slow\nversion: 1.0.0\n";

/// A template that takes longer than any limit of time, on a server that counts steps as [`without_steps`] has it.
pub(crate) fn forever() -> String {
    format!("{{{{ $all := until 1000 }}}}{}{}", "{{ range $all }}".repeat(5), "{{ end }}".repeat(5))
}

/// Lets no template end by its steps: how many of them a second has is another matter on each machine.
pub(crate) fn without_steps(server: &Repo) {
    server.hydrate(&["config", "set", "limits.templateSteps", "1000000000000000"]).success();
}

#[test]
fn a_render_without_end_holds_up_its_own_branch_only() {
    let lab = Lab::new();
    let server = lab.server();
    without_steps(&server);
    server.git(&["config", "hydrate.renderTimeLimit", "3"]);
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("slow", "prod");
    clone.commit(
        "a chart",
        &[(&file, &text), ("apps/slow/prod/Chart.yaml", CHART), ("apps/slow/prod/templates/a.yaml", &forever())],
    );
    let told = clone.push().success().remote().join(" ");
    let expected = "error: `slow-prod` takes more than 3 seconds to render; git config hydrate.renderTimeLimit sets";
    assert!(told.contains(expected), "{told}");
    assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")));
    assert_eq!(server.git(&["for-each-ref", "refs/hydrate/failures"]), "", "it may go well another time");
    let last = clone.commit("an end", &[("apps/slow/prod/templates/a.yaml", &config_map("slow", "no more"))]);
    clone.push().success();
    assert_eq!(note(&server, "environments/prod"), note_of(&last));
}

/// Commits Applications `slow0`, `slow1` … of `prod`, whose renders do not end; answers the templates of their charts.
fn slow_charts(clone: &Repo, count: usize) -> Vec<String> {
    let slow: Vec<(String, String)> = (0..count).map(|n| application(&format!("slow{n}"), "prod")).collect();
    let forever = forever();
    let mut files: Vec<(&str, &str)> = slow.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let below = |name: &str| (0..count).map(|n| format!("apps/slow{n}/prod/{name}")).collect::<Vec<_>>();
    let (charts, templates) = (below("Chart.yaml"), below("templates/a.yaml"));
    files.extend(charts.iter().map(|chart| (chart.as_str(), CHART)));
    files.extend(templates.iter().map(|template| (template.as_str(), forever.as_str())));
    clone.commit("slow charts", &files);
    templates
}

#[test]
fn all_renders_of_a_dry_commit_have_a_limit_together() {
    let lab = Lab::new();
    let server = lab.server();
    without_steps(&server);
    server.git(&["config", "hydrate.commitTimeLimit", "2"]);
    server.git(&["config", "hydrate.jobs", "1"]);
    let clone = dry(&server, &["web"], &["dev"]);
    let templates = slow_charts(&clone, 4);
    let told = clone.push().success().remote().join(" ");
    let expected = "error: the Applications of one dry commit take more than 2 seconds to render; git config \
                    hydrate.commitTimeLimit sets";
    assert!(told.contains(expected), "{told}");
    assert_eq!(server.git(&["for-each-ref", "refs/hydrate/failures"]), "", "it may go well another time");
    server.git(&["config", "--unset", "hydrate.commitTimeLimit"]);
    let ends: Vec<(&str, &str)> = templates.iter().map(|template| (template.as_str(), "")).collect();
    let last = clone.commit("no slow charts", &ends);
    let told = clone.push().success().remote().join(" ");
    assert_eq!(note(&server, "environments/prod"), note_of(&last), "{told}");
}

#[test]
fn what_was_not_begun_in_time_is_tried_again_when_any_file_changes() {
    let lab = Lab::new();
    let server = lab.server();
    without_steps(&server);
    for (key, value) in [("jobs", "1"), ("renderTimeLimit", "3"), ("commitTimeLimit", "5")] {
        server.git(&["config", &format!("hydrate.{key}"), value]);
    }
    // The last one has no time: its own files are not read.
    let clone = dry(&server, &["web"], &["staging"]);
    slow_charts(&clone, 2);
    let said = clone.push().success().remote().join(" ");
    assert!(said.contains("`slow0-prod` takes more than 3 seconds"), "{said}");
    assert!(said.contains("--> applications/staging/web.yaml"), "{said}");
    let last = clone.commit("more", &[("apps/web/staging/config.yaml", &config_map("web", "more"))]);
    let told = clone.push().success().remote().join(" ");
    assert_eq!(note(&server, "environments/staging"), note_of(&last), "{told}");
}

#[test]
fn what_was_not_begun_in_time_is_begun_first_by_the_next_run() {
    let lab = Lab::new();
    let server = lab.server();
    without_steps(&server);
    // The slow one never ends, and is not ended alone.
    for (key, value) in [("jobs", "1"), ("renderTimeLimit", "60"), ("commitTimeLimit", "2")] {
        server.git(&["config", &format!("hydrate.{key}"), value]);
    }
    let clone = dry(&server, &["web"], &["staging"]);
    let templates = slow_charts(&clone, 1);
    let said = clone.push().success().remote().join(" ");
    assert!(said.contains("--> applications/staging/web.yaml") && said.contains("it was not begun"), "{said}");
    // The next push changes the slow one again.
    let slower = forever() + "\n";
    let last = clone.commit("slower", &[(&templates[0], &slower)]);
    let told = clone.push().success().remote().join(" ");
    assert_eq!(note(&server, "environments/staging"), note_of(&last), "{told}");
}

#[test]
fn a_limit_that_an_admin_raises_is_none_any_more() {
    let lab = Lab::new();
    let server = lab.server();
    let rows = [
        ("hydrate.fileLimit", "60", "bytes, more than the limit of 60 for one file"),
        ("hydrate.objectLimit", "0", "`web-dev` renders more than 0 objects"),
    ];
    let clone = dry(&server, &["web"], &["dev"]);
    for (key, value, expected) in rows {
        server.git(&["config", key, value]);
        clone.commit(key, &[("apps/web/dev/config.yaml", &config_map("web", key))]);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(&format!("{expected}; git config {key} sets the limit")), "{told}");
        server.git(&["config", "--unset", key]);
        server.hydrate(&["catch-up"]).success();
        assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")));
    }
}

#[test]
fn a_file_over_several_limits_is_named_once_with_the_one_that_would_refuse_it_last() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.git(&["config", "hydrate.fileLimit", "60"]);
    let text = config_map("web", &"x".repeat(100));
    let large = |message: &str, files: &[(&str, &str)]| -> Vec<String> {
        clone.commit(message, files);
        let told = clone.push().success();
        told.remote().into_iter().filter(|line| line.contains(" bytes")).map(str::to_owned).collect()
    };
    let (api, api_text) = application("api", "dev");
    let files = [
        ("shared/kustomization.yaml", "resources: [web.yaml]\n"),
        ("shared/web.yaml", &text),
        ("apps/web/dev/kustomization.yaml", "resources: [../../../shared]\n"),
        (&api, &api_text),
        ("apps/api/dev/kustomization.yaml", "resources: [../../../shared]\nnameSuffix: -api\n"),
    ];
    let lines = large("two read one file", &files);
    let [line] = &lines[..] else { panic!("said once: {lines:?}") };
    assert!(line.contains("hydrate.fileLimit"), "{line}");
    server.git(&["config", "hydrate.directoryLimit", "80"]);
    let lines = large("a directory", &[("apps/web/dev/kustomization.yaml", ""), ("apps/web/dev/config.yaml", &text)]);
    let named = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(
        named("`apps/web/dev` have more than 80 bytes in total"),
        "a higher `hydrate.fileLimit` would not help: {lines:?}"
    );
}

#[test]
fn a_branch_that_cannot_be_named_is_the_only_complaint() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let (file, text) = application("web", "dev");
    clone.commit("a slip", &[(&file, &text.replace("targetBranch: environments/dev", "targetBranch: a..b"))]);
    let told = clone.push().success();
    let errors: Vec<_> = told.remote().into_iter().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{told:?}");
    assert!(!errors[0].contains("empty"), "{told:?}");
    assert_eq!(tip(&server, "environments/dev"), before);
}

#[test]
fn a_branch_that_looks_like_another_is_not_made() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    for character in ["034F", "115F", "17B4", "180B", "206A", "3164", "FE0F", "FFA0", "1D173", "E0041"] {
        let (file, text) = application("api", "dev");
        let branch = format!("targetBranch: \"environments/dev\\U{character:0>8}\"");
        clone.commit("a twin", &[(&file, &text.replace("targetBranch: environments/dev", &branch))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(&format!("it contains the invisible character U+{character}")), "{told}");
        let branches = server.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        assert_eq!(branches.lines().collect::<Vec<_>>(), ["environments/dev", "main"]);
    }
}

/// Makes a commit `bomb` with trees that hold one another twice: thirty objects.
const BOMB: &str = "id=$(printf 'kind: ConfigMap\\n' | git hash-object -w --stdin)
    tree=$(printf '100644 blob %s\\ta.yaml\\n' $id | git mktree)
    for n in $(seq 30); do tree=$(printf '040000 tree %s\\ta\\n040000 tree %s\\tb\\n' $tree $tree | git mktree); done
    tree=$( { git ls-tree HEAD; printf '040000 tree %s\\tbomb\\n' $tree; } | git mktree)
    git branch bomb $(git commit-tree -p HEAD -m bomb $tree)";

#[test]
fn a_tree_of_a_billion_files_holds_up_nothing_after_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let told = clone
        .run("sh", &["-c", &format!("{BOMB} && git reset -q --soft bomb && git push -q origin HEAD")])
        .success()
        .remote()
        .join(" ");
    assert!(told.contains("error: a dry tree has more files than are searched for Applications"), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before);
    let last =
        clone.commit("what was there before, and more", &[("apps/web/dev/config.yaml", &config_map("web", "on"))]);
    let told = clone.push().success().remote().join(" ");
    assert_eq!(note(&server, "environments/dev"), note_of(&last), "{told}");
}

/// Whether a tree was searched is seen by an object of it that is gone: who searches misses it.
#[test]
fn a_tree_of_a_billion_files_is_searched_by_one_push_and_not_by_those_after_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let why = "error: a dry tree has more files than are searched for Applications";
    let told =
        clone.run("sh", &["-c", &format!("{BOMB} && git push -q origin bomb:main")]).success().remote().join(" ");
    assert!(told.contains(why), "{told}");
    let bomb = server.git(&["rev-parse", "main:bomb"]);
    fs::remove_file(server.path.join("objects").join(&bomb[..2]).join(&bomb[2..])).expect("is loose");
    let push_topic = |name: &str| {
        let to = format!("HEAD:refs/heads/{name}");
        clone.run("git", &["push", "-q", "origin", &to])
    };
    let told = push_topic("topic").success();
    assert!(!told.stderr.contains(&bomb) && !told.stderr.contains("fail"), "{told:?}");
    server.git(&["config", "hydrate.cache", "false"]);
    let told = push_topic("another");
    assert!(told.stderr.contains(&bomb), "without the cache it is searched again: {told:?}");
}

#[test]
fn limits_that_decide_about_results_are_settings() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["plain"], &["dev"]);
    let (chart, overlay) = (application("chart", "dev"), application("overlay", "dev"));
    let config = config_map("x", "on");
    clone.commit(
        "a chart and an overlay",
        &[
            (&chart.0, &chart.1),
            ("apps/chart/dev/Chart.yaml", CHART),
            ("apps/chart/dev/templates/a.yaml", &config),
            (&overlay.0, &overlay.1),
            ("apps/overlay/dev/kustomization.yaml", "resources: [a.yaml]\nnamePrefix: x-\n"),
            ("apps/overlay/dev/a.yaml", &config),
        ],
    );
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let rows = [
        (
            "applications",
            "2",
            "a dry tree has more than 2 Applications; the setting limits.applications sets the limit",
        ),
        ("templateSteps", "0", "to raise the limit: the setting limits.templateSteps"),
        ("templateBytes", "1", "to raise the limit: the setting limits.templateBytes"),
        ("kustomizationNodes", "1", "have an admin raise the setting limits.kustomizationNodes"),
        ("kustomizationBytes", "1", "have an admin raise the setting limits.kustomizationBytes"),
    ];
    for (key, value, expected) in rows {
        let told = server.hydrate(&["config", "set", &format!("limits.{key}"), value]);
        let told = told.stdout + &told.stderr;
        assert!(told.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected), "{key}: {told}");
        assert_eq!(tip(&server, "environments/dev"), before, "{key}");
        server.hydrate(&["config", "unset", &format!("limits.{key}")]).success();
    }
    let last = clone.commit("on", &[("apps/plain/dev/config.yaml", &config_map("plain", "on"))]);
    clone.push().success();
    assert_eq!(note(&server, "environments/dev"), note_of(&last));
}
