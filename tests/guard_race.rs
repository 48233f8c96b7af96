//! A push says where each branch is that it moves, and git looks whether that is so only after our hook has judged it.
//! Whoever knows where a branch will be can say that.
//!
//! `cargo test` tries each way at the worst moment. In `tests/long/races SEED ATTEMPTS` nobody chooses the moment: pushes
//! by hand run beside honest ones as often as one likes.

use std::collections::BTreeMap;
use std::process::Stdio;

use crate::crashes::Random;
use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const NULL: &str = "0000000000000000000000000000000000000000";
const BACKENDS: [&[&str]; 2] = [&[], &["--ref-format=reftable"]];
const ATOMIC: [&str; 2] = ["", "atomic"];

/// An update by hand, of where a branch is now and where it will be then.
type Update = fn(&str, &str) -> String;

fn server(lab: &Lab, args: &[&str]) -> (Repo, Repo) {
    let server = lab.bare(args);
    // No repack of git's own takes packs away while the repository is checked.
    server.git(&["config", "receive.autogc", "false"]);
    server.install_without_settings();
    // What nobody may push is hidden, which git itself sees to; branches may be younger than the installation.
    server.git(&["config", "--unset-all", "receive.hideRefs"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    (server, clone)
}

/// The honest commits that are pushed while the other push is between our hook and its refs.
struct Moment<'a> {
    server: &'a Repo,
    clone: &'a Repo,
}

impl Moment<'_> {
    /// Where branches will be once the clone is pushed: the same push to a copy makes the same commits.
    fn foresee(&self) -> Repo {
        let copy = self.server.copy_to("foreseen.git");
        self.clone.git(&["push", "-q", copy.path.to_str().expect("UTF-8"), "main"]);
        copy
    }

    /// Pushes the updates by hand. After our hook has let them in, and before git looks at the refs, the clone is pushed;
    /// also when they are refused. True when they were refused.
    fn attack(&self, updates: &[String], capabilities: &str) -> bool {
        let main = tip(self.server, "main");
        let (clone, wait) = (self.clone.path.display(), format!("{NULL} {main} refs/heads/wait"));
        let honest = format!("unset $(git rev-parse --local-env-vars); git -C {clone} push -q origin main");
        let script = format!("#!/bin/sh\n[ $1 != refs/heads/wait ] || ({honest}) >/dev/null 2>&1\n");
        self.server.hook("hooks/update", &script);
        let updates = [&[wait][..], updates].concat();
        let told = self.server.receive_pack(&updates, capabilities);
        std::fs::remove_file(self.server.path.join("hooks/update")).expect("removed");
        let refused = told.stdout.contains("ng refs/heads/wait pre-receive hook declined");
        self.clone.push().success();
        drop(self.server.run("git", &["update-ref", "-d", "refs/heads/wait"]));
        refused
    }
}

#[test]
fn a_push_that_foresees_where_a_branch_will_be_takes_nothing_back() {
    for (args, capabilities) in BACKENDS.into_iter().flat_map(|args| ATOMIC.map(|atomic| (args, atomic))) {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args);
        let moment = Moment { server: &server, clone: &clone };
        let rows: [(&str, Update); 4] = [
            ("a rewind", |now, then| format!("{then} {now} refs/heads/environments/dev")),
            ("a deletion", |_, then| format!("{then} {NULL} refs/heads/environments/dev")),
            ("a deletion from nowhere", |_, _| format!("{NULL} {NULL} refs/heads/environments/dev")),
            ("a rewind through a link", |now, then| format!("{then} {now} refs/heads/link")),
        ];
        server.git(&["symbolic-ref", "refs/heads/link", "refs/heads/environments/dev"]);
        for (name, update) in rows {
            clone.commit(name, &[("apps/web/dev/config.yaml", &config_map("web", &name.replace(' ', "-")))]);
            let (now, then) = (tip(&server, DEV), tip(&moment.foresee(), DEV));
            assert_ne!(now, then);
            let refused = moment.attack(&[update(&now, &then)], capabilities);
            assert_eq!(tip(&server, DEV), then, "{args:?} {capabilities} {name}");
            assert!(refused, "{args:?} {capabilities} {name}");
            assert_eq!(note(&server, DEV), note_of(&tip(&clone, "main")));
        }
        healthy(&server);
    }
}

#[test]
fn a_branch_that_is_made_meanwhile_stays_as_it_was_made() {
    for (args, capabilities) in BACKENDS.into_iter().flat_map(|args| ATOMIC.map(|atomic| (args, atomic))) {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args);
        let moment = Moment { server: &server, clone: &clone };
        let main = tip(&server, "main");
        let rows: [(&str, &str, Update); 3] = [
            ("one", "moved", |main, then| format!("{then} {main} refs/heads/environments/one")),
            ("two", "deleted", |_, then| format!("{then} {NULL} refs/heads/environments/two")),
            ("three", "deleted from nowhere", |_, _| format!("{NULL} {NULL} refs/heads/environments/three")),
        ];
        for (env, name, update) in rows {
            let (file, text) = application("web", env);
            let content = config_map("web", env);
            clone.commit(name, &[(&file, &text), (&format!("apps/web/{env}/config.yaml"), &content)]);
            let branch = format!("environments/{env}");
            let then = tip(&moment.foresee(), &branch);
            assert!(moment.attack(&[update(&main, &then)], capabilities), "{args:?} {capabilities} {name}");
            assert_eq!(tip(&server, &branch), then, "{args:?} {capabilities} {name}");
        }
        healthy(&server);
    }
}

#[test]
fn a_promoter_adds_to_what_git_will_find_there() {
    for (args, capabilities) in BACKENDS.into_iter().flat_map(|args| ATOMIC.map(|atomic| (args, atomic))) {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args);
        server.allow("hydrate.promoter");
        let moment = Moment { server: &server, clone: &clone };
        let promote = |text: &str| {
            clone.git(&["fetch", "-q", "origin"]);
            clone.git(&["checkout", "-q", "-B", "promote", "origin/environments/dev"]);
            let id = clone.commit(text, &[("OWNERS", text)]);
            clone.git(&["push", "-q", "-f", "origin", "HEAD:refs/heads/mine"]);
            clone.git(&["checkout", "-q", "main"]);
            id
        };
        // It adds to what is there now, and would take away what is there then.
        let added = promote("us");
        clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
        let (now, then) = (tip(&server, DEV), tip(&moment.foresee(), DEV));
        for new in [&added, &now] {
            let refused = moment.attack(&[format!("{then} {new} refs/heads/{DEV}")], capabilities);
            assert!(refused, "{args:?} {capabilities}");
            assert_eq!(tip(&server, DEV), then, "{args:?} {capabilities}");
        }
        // An honest one that comes too late is refused by git, one that does not goes in.
        let late = server.receive_pack(&[format!("{now} {added} refs/heads/{DEV}")], capabilities);
        assert!(late.stdout.contains("ng refs/heads/environments/dev"), "{late:?}");
        assert_eq!(tip(&server, DEV), then);
        let added = promote("them");
        let told = server.receive_pack(&[format!("{then} {added} refs/heads/{DEV}")], capabilities);
        assert!(told.stdout.contains("ok refs/heads/environments/dev"), "{told:?}");
        assert_eq!(server.git(&["rev-parse", &format!("{DEV}^{{/them}}")]), added);
        healthy(&server);
    }
}

#[test]
fn strict_mode_judges_what_git_will_move() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[]);
    server.git(&["config", "hydrate.guard", "false"]);
    server.git(&["config", "hydrate.strict", "touched"]);
    let main = tip(&server, "main");
    let next = clone.commit("next", &[("NOTES", "next")]);
    clone.git(&["push", "-q", "origin", "main:refs/heads/topic"]);
    clone.commit("another", &[("NOTES", "another")]);
    let then = clone.git(&["rev-parse", "HEAD"]);
    let told = server.receive_pack(&[format!("{then} {next} refs/heads/main")], "");
    assert!(told.stdout.contains("ng refs/heads/main pre-receive hook declined"), "{told:?}");
    assert!(told.stderr.contains("error: `main` has changed since this push began"), "{told:?}");
    let told = server.receive_pack(&[format!("{main} {next} refs/heads/main")], "");
    assert!(told.stdout.contains("ok refs/heads/main"), "{told:?}");
}

/// The seed and the number of attempts of a long run, or those of a short one.
fn size() -> (u64, usize) {
    let given = std::env::var("RACES").ok();
    let mut words = given.as_deref().unwrap_or("1 3").split(' ').map(|word| word.parse().expect("SEED ATTEMPTS"));
    (words.next().expect("a seed"), words.next().expect("a number of attempts") as usize)
}

fn campaign(args: &[&str]) {
    let (seed, attempts) = size();
    let lab = Lab::new();
    let (server, clone) = server(&lab, args);
    let mut random = Random(seed);
    let first = tip(&server, "main");
    let commits: Vec<String> = (0..attempts)
        .map(|n| clone.commit("honest", &[("apps/web/dev/config.yaml", &config_map("web", &format!("n{n}")))]))
        .collect();
    // Where the branch will be after each of them.
    let copy = server.copy_to("foreseen.git");
    clone.git(&["push", "-q", copy.path.to_str().expect("UTF-8"), "main"]);
    copy.run(crate::support::BINARY, &["catch-up"]).success();
    let line = copy.git(&["rev-list", "--first-parent", "--reverse", DEV]);
    let line: Vec<&str> = line.lines().collect();
    let line = &line[line.len() - attempts - 1..];
    let mut figures: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, commit) in commits.iter().enumerate() {
        let (now, then) = (line[n], line[n + 1]);
        assert_eq!(tip(&server, DEV), now);
        // Refs that keep the hook busy for a while.
        let ballast = |n| format!("{NULL} {first} refs/heads/ballast/{n}");
        let mut updates: Vec<String> = (0..random.below(200)).map(ballast).collect();
        let new = if random.below(4) == 0 { NULL } else { now };
        let old = if new == NULL && random.below(2) == 0 { NULL } else { then };
        updates.insert(random.below(updates.len() as u64 + 1) as usize, format!("{old} {new} refs/heads/{DEV}"));
        let capabilities = ATOMIC[random.below(2) as usize];
        let mut push = clone.command("git");
        push.args(["push", "-q", "origin", &format!("{commit}:refs/heads/main")]).stderr(Stdio::null());
        let pushing = push.spawn();
        let told = server.receive_pack(&updates, capabilities);
        assert!(pushing.expect("starts").wait().expect("ends").success());
        let took = told.stdout.contains(&format!("ok refs/heads/{DEV}"));
        *figures.entry(if took { "taken" } else { "refused" }).or_default() += 1;
        if server.run("git", &["rev-parse", "--verify", &format!("refs/heads/{DEV}")]).stdout.trim() != then {
            *figures.entry("lost").or_default() += 1;
            server.git(&["update-ref", &format!("refs/heads/{DEV}"), then]);
        }
    }
    println!("{args:?} seed {seed}, {attempts} attempts: {figures:?}");
    assert_eq!(figures, BTreeMap::from([("refused", attempts)]));
    healthy(&server);
}

#[test]
fn pushes_by_hand_beside_honest_ones_with_refs_in_files() {
    campaign(&[]);
}

#[test]
fn pushes_by_hand_beside_honest_ones_with_refs_in_tables() {
    campaign(&["--ref-format=reftable"]);
}
