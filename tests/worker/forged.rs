//! What may be pushed by who may not push what is deployed.

use super::host_with_settings;
use crate::support::{Lab, Repo};

/// What a writer may push who may not push to dry branches and environment branches: shell, in a clone that has fetched all.
const FORGERIES: [(&str, &str); 10] = [
    ("nothing", ""),
    ("no settings", "git push -q origin :refs/hydrate/config"),
    ("no records", "git push -q origin :refs/hydrate/branches"),
    ("no notes", "git push -q origin :refs/notes/hydrator.metadata"),
    (
        "other settings",
        "blob=$(echo 'dryBranches: [evil]' | git hash-object -w --stdin)
         tree=$(printf '100644 blob %s\\tsettings.yaml\\n' $blob | git mktree)
         git push -q origin +$(git commit-tree -m evil $tree):refs/hydrate/config",
    ),
    (
        "a note of the newest dry commit",
        "for env in dev prod; do
             git notes --ref=hydrator.metadata add -f -m \"{\\\"drySha\\\":\\\"$(git rev-parse origin/main)\\\"}\" origin/environments/$env
         done
         git push -q origin +refs/notes/hydrator.metadata",
    ),
    (
        "a note of a dry commit of somebody else",
        "git notes --ref=hydrator.metadata add -f -m \"{\\\"drySha\\\":\\\"$(git commit-tree -m evil origin/main^{tree})\\\"}\" \\
             origin/environments/dev
         git push -q origin +refs/notes/hydrator.metadata",
    ),
    (
        "records of other dry commits and branches",
        "for env in dev prod; do
             blob=$(git show refs/hydrate/branches:environments%2F$env.json | sed \"s/\\\"dryBranch\\\": \\\"main/\\\"dryBranch\\\": \\\"evil/;
                 s/\\\"drySha\\\": \\\".*\\\"/\\\"drySha\\\": \\\"$(git rev-parse origin/main)\\\"/\" | git hash-object -w --stdin)
             printf '100644 blob %s\\tenvironments%%2F%s.json\\n' $blob $env
         done >entries
         git push -q origin +$(git commit-tree -m evil $(git mktree <entries)):refs/hydrate/branches",
    ),
    (
        "failures",
        "printf '[{\"drySha\":\"%s\",\"dryBranch\":\"main\",\"engine\":4,\"settings\":\"%s\",\"diagnostics\":[]}]' \\
             $(git rev-parse origin/main refs/hydrate/config) >failures
         blob=$(git hash-object -w failures)
         printf '100644 blob %s\\tenvironments%%2Fdev.json\\n' $blob >entries
         git push -q origin +$(git commit-tree -m evil $(git mktree <entries)):refs/hydrate/failures",
    ),
    (
        "a branch that says it is hydrated, from a dry branch of the writer",
        "git switch -q -c evil origin/main
         sed -i 's/value: .*/value: evil/' apps/web/prod/config.yaml
         git commit -qam evil
         git push -q origin evil
         git log -1 --format=%B origin/environments/dev |
             sed 's/^Hydrate-Branch: .*/Hydrate-Branch: topic/; s/^Hydrate-Dry-Branch: .*/Hydrate-Dry-Branch: evil/' >message
         git push -q origin $(git commit-tree -F message origin/environments/dev^{tree}):refs/heads/topic",
    ),
];

#[test]
fn who_may_not_push_what_is_deployed_does_not_change_it_by_other_refs() {
    let lab = Lab::new();
    let (host, _) = host_with_settings(&lab);
    let environments = |host: &Repo| {
        let format = "--format=%(refname) %(objectname)";
        host.git(&["for-each-ref", format, "refs/heads/environments", "refs/hydrate/config"])
    };
    let mut expected = None;
    for (number, (name, script)) in FORGERIES.iter().enumerate() {
        let host = host.copy_to(&format!("host{number}.git"));
        let writer = host.clone_to(&format!("writer{number}"));
        writer.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
        writer.run("sh", &["-ec", script]).success();
        let job = host.clone_to(&format!("job{number}"));
        let before = environments(&host);
        job.hydrate(&["push", "--settings-ref", "settings"]).success();
        let after = environments(&host);
        assert_ne!(after, before, "{name}");
        assert_eq!(&after, expected.get_or_insert(after.clone()), "{name}");
        assert!(!host.git(&["ls-tree", "-r", "--name-only", "environments/prod"]).contains("job/"), "{name}");
        let again = job.hydrate(&["push", "--settings-ref", "settings"]).success();
        assert!(again.stdout.ends_with("origin is up to date\n"), "{name}: {}", again.stdout);
    }
}
