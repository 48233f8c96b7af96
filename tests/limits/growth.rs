//! What one push may add to the repository.

use crate::push::{application, config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo};

/// A text that hardly compresses.
fn noise(mut state: u32, len: usize) -> String {
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'A' + (state >> 27) as u8)
    };
    std::iter::repeat_with(next).take(len).collect()
}

const TOGETHER: &str = "the Applications of one dry branch add more than 102400 bytes to the repository in one run; git config \
                        hydrate.runOutputLimit sets the limit";

/// Noise in a ConfigMap; another `seed` makes another one.
fn noisy(seed: u32, len: usize) -> String {
    config_map("web", &noise(seed, len))
}

/// Writes noise of these lengths for Applications of one branch.
fn fill(clone: &Repo, branch: &str, seed: u32, lens: &[usize]) -> String {
    let names: Vec<String> = (0..lens.len()).map(|n| format!("app{n}")).collect();
    let apps: Vec<(String, String)> = names.iter().map(|name| application(name, branch)).collect();
    let config = |n: usize| (format!("apps/app{n}/{branch}/config.yaml"), noisy(seed + n as u32, lens[n]));
    let files: Vec<(String, String)> = apps.into_iter().chain((0..lens.len()).map(config)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    clone.commit(&format!("noise {seed}"), &files)
}

#[test]
fn a_branch_of_more_than_one_push_may_add_is_there_after_some_pushes_whatever_they_change() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.runOutputLimit", "100k"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let all = fill(&clone, "prod", 1, &[90_000, 90_000, 90_000]);
    let heard = clone.push().success().remote().join("\n");
    assert!(heard.contains(TOGETHER) && heard.contains("the next push has room for as much again"), "{heard}");
    // A push that has nothing to do with it.
    for n in 0..4 {
        if !server.git(&["branch", "--list", "environments/prod"]).is_empty() {
            break;
        }
        clone.git(&["push", "-q", "origin", &format!("HEAD:refs/heads/topic{n}")]);
    }
    assert_eq!(note(&server, "environments/prod"), note_of(&all));
    server.hydrate(&["status"]).success();
}

#[test]
fn a_push_that_was_too_much_goes_in_once_it_is_corrected() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.runOutputLimit", "100k"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.commit("too much", &[("apps/web/dev/config.yaml", &noisy(1, 150_000))]);
    let heard = clone.push().success().remote().join("\n");
    assert!(heard.contains("`web-dev` alone adds more than 102400 bytes"), "{heard}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    for said in ["held on this server", "`web-dev` alone adds more than 102400 bytes"] {
        assert!(status.contains(said) && !status.contains("nothing says why"), "{status}");
    }
    let last = clone.commit("corrected", &[("apps/web/dev/config.yaml", &config_map("web", "small"))]);
    let heard = clone.push().success().remote().join("\n");
    assert_eq!(note(&server, "environments/dev"), note_of(&last), "{heard}");
    assert!(!heard.contains("alone adds more"), "{heard}");
}

#[test]
fn what_one_dry_branch_adds_takes_no_room_of_another_in_the_same_push() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    server.git(&["config", "hydrate.runOutputLimit", "100k"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    fill(&clone, "dev", 1, &[90_000, 90_000, 90_000]);
    clone.git(&["checkout", "-q", "--orphan", "other"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    let (file, text) = application("b", "prod");
    let text = text.replace("targetRevision: main", "targetRevision: other");
    let fix = clone.commit("other", &[(&file, &text), ("apps/b/prod/config.yaml", &noisy(9, 80_000))]);
    let heard = clone.run("git", &["push", "-q", "origin", "main", "other"]).success().remote().join("\n");
    assert!(heard.contains(TOGETHER), "{heard}");
    assert_eq!(note(&server, "environments/prod"), note_of(&fix), "{heard}");
}

#[test]
fn plain_manifests_of_more_than_one_application_may_render_to_are_held_back() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.outputLimit", "20000"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.commit("much", &[("apps/web/dev/config.yaml", &noisy(1, 30_000))]);
    let heard = clone.push().success().remote().join("\n");
    assert!(heard.contains("`web-dev` renders more than 20000 bytes; git config hydrate.outputLimit sets"), "{heard}");
    let last = clone.commit("less", &[("apps/web/dev/config.yaml", &noisy(1, 10_000))]);
    clone.push().success();
    assert_eq!(note(&server, "environments/dev"), note_of(&last));
}

#[test]
fn a_push_of_more_than_the_disk_shall_take_holds_back_the_large_ones_alone() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.runOutputLimit", "100k"]);
    let clone = dry(&server, &["web"], &["dev"]);
    let names = ["large", "second", "third"];
    let apps = names.map(|name| application(name, name));
    let paths = names.map(|name| format!("apps/{name}/{name}/config.yaml"));
    let texts = [120_000, 70_000, 60_000].map(|len| config_map("c", &noise(len as u32, len)));
    let mut files: Vec<(&str, &str)> = apps.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    files.extend(paths.iter().zip(&texts).map(|(path, text)| (path.as_str(), text.as_str())));
    let all = clone.commit("more than the disk shall take", &files);
    let heard = clone.push().success().remote().join("\n");
    let alone = "`large-large` alone adds more than 102400 bytes to the repository; git config hydrate.runOutputLimit sets \
                 the limit";
    assert!(heard.contains(alone) && heard.contains(TOGETHER), "{heard}");
    assert!(heard.contains("applications/large/large.yaml"), "it names who is held back: {heard}");
    assert_eq!(note(&server, "environments/dev"), note_of(&all), "one that is small goes in: {heard}");
    assert!(server.git(&["branch", "--list", "environments/large"]).is_empty(), "{heard}");
    let made = ["second", "third"]
        .iter()
        .filter(|name| !server.git(&["branch", "--list", &format!("environments/{name}")]).is_empty());
    assert_eq!(made.count(), 1, "there is room for one of them: {heard}");

    // What is in counts no more, so the next push has room for the other one, and one that needs too much alone stays out.
    let next = clone.commit("an edit", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let heard = clone.push().success().remote().join("\n");
    for name in ["environments/second", "environments/third", "environments/dev"] {
        assert_eq!(note(&server, name), note_of(&next), "{heard}");
    }
    assert!(heard.contains(alone) && heard.contains("applications/large/large.yaml"), "{heard}");

    server.git(&["config", "hydrate.runOutputLimit", "0"]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(note(&server, "environments/large"), note_of(&tip(&server, "main")));
}
