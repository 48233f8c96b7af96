//! What a push leaves to the background is not its pusher's where others brought it.

use super::{gitea, heard, push, settle, until};
use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::Lab;

#[test]
fn what_others_brought_is_not_told_in_the_name_of_who_pushed_when_it_was_begun() {
    let lab = Lab::new();
    let host = gitea(&lab);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    push(&clone);
    heard(&host);
    host.git(&["config", "hydrate.budget", "0"]);
    host.git(&["config", "hydrate.forgePusher", "12:hydration"]);
    // As long is waited for the hook of who brought what nobody is known to have pushed.
    host.git(&["config", "hydrate.tellTimeLimit", "5"]);
    // The first commit is what the hook has time for. None of these two has a pusher.
    for value in ["one", "two"] {
        clone.commit(value, &[("apps/web/dev/config.yaml", &config_map("web", value))]);
    }
    let past_hooks = "--receive-pack=git -c core.hooksPath=nowhere receive-pack";
    clone.git(&["push", "-q", "--no-verify", past_hooks, "origin", "HEAD"]);
    let last = clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    push(&clone);
    until(|| note(&host, "environments/prod") == note_of(&last));
    settle(&host);
    let heard = heard(&host);
    let who = |branch: &str| -> Vec<&str> {
        let of_branch = heard.iter().filter(|(_, line)| line[2].ends_with(branch));
        of_branch.map(|(who, _)| who.split(' ').next().unwrap_or_default()).collect()
    };
    assert_eq!(who("environments/prod"), ["7:dev"], "{heard:?}");
    assert!(who("environments/dev").iter().all(|who| *who == "12:hydration"), "{heard:?}");
    let told = heard.iter().rfind(|(_, line)| line[2].ends_with("environments/dev")).map(|(_, line)| line[1].clone());
    assert_eq!(told, Some(tip(&host, "environments/dev")), "{heard:?}");
}
