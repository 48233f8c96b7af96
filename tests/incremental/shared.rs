//! Several dry branches that share environment branches, by the setting `activePaths`: a random history of them, with
//! directories that change hands, comes to the same commits with what is remembered and from scratch, and verifies.

use std::collections::BTreeMap;

use super::super::support::Repo;
use super::made::{Twins, moved};
use super::{Dry, ObjectId, Random};

const DRY_BRANCHES: [&str; 3] = ["main", "other", "third"];
const DIRECTORIES: [&str; 4] = ["a", "b", "c", "d"];

/// A dry branch, and the directory of the shared branches that it asks for.
struct Tenant {
    branch: &'static str,
    dry: Dry,
    directory: &'static str,
    tip: Option<ObjectId>,
    /// What it was at earlier commits.
    older: Vec<(Option<ObjectId>, Dry)>,
}

impl Tenant {
    fn new(branch: &'static str, directory: &'static str) -> Self {
        Self { branch, dry: Dry::start(), directory, tip: None, older: Vec::new() }
    }

    /// Its files: the Applications are named after it, write to its directory and none of another dry branch's.
    fn files(&self) -> BTreeMap<String, String> {
        let Self { branch, directory, .. } = self;
        let of = |(path, text): (&String, &String)| {
            let text = text
                .replace("targetRevision: main", &format!("targetRevision: {branch}"))
                .replace("  name: app-", &format!("  name: {branch}-"))
                .replace("namespace: ns-", &format!("namespace: {branch}-"))
                .replace("      path: app-", &format!("      path: {directory}/app-"))
                .replace("      path: moved/", &format!("      path: {directory}/moved-"));
            (path.clone(), text)
        };
        self.dry.0.iter().map(of).collect()
    }
}

fn settings(dry_branches: &[&str], more: &str) -> String {
    let shared = DIRECTORIES.join(", ");
    format!(
        "repoURL: https://git.example.com/dry.git\ndryBranches: [{}]\nactivePaths:\n  environments/dev: [{shared}]\n  \
         environments/prod: [{shared}]\nremovalLimit: {{share: 1, objectShare: 1}}\n{more}",
        dry_branches.join(", ")
    )
}

/// Random pushes of one to three dry branches at a time. Answers how often a branch moved that more than one of them
/// writes, and how often one was refused another's directory.
fn shared(seed: u64, rounds: usize) -> (usize, usize) {
    let mut twins = Twins::new();
    let mut random = Random(seed);
    let mut seconds = 1_700_000_000;
    twins.settings(&settings(&DRY_BRANCHES, ""), seconds);
    let mut tenants: Vec<Tenant> =
        DRY_BRANCHES.into_iter().zip(DIRECTORIES).map(|(branch, directory)| Tenant::new(branch, directory)).collect();
    let (mut moves, mut refused) = (0, 0);
    for round in 0..rounds {
        let mut pushed = Vec::new();
        for tenant in &mut tenants {
            if round > 0 && random.below(2) == 0 {
                continue;
            }
            pushed.push(tenant.branch);
            for _ in 0..[1, 1, 2, 3][random.below(4)] {
                match random.below(8) {
                    _ if round == 0 => {}
                    0 => tenant.directory = DIRECTORIES[random.below(4)],
                    1 => {
                        let at = DRY_BRANCHES.iter().position(|branch| *branch == tenant.branch).unwrap_or(0);
                        tenant.directory = DIRECTORIES[at];
                    }
                    2 if tenant.older.len() > 2 => {
                        let (tip, dry) = tenant.older[tenant.older.len() - 3].clone();
                        (tenant.tip, tenant.dry) = (tip, dry);
                    }
                    _ => tenant.dry.edit(&mut random),
                }
                seconds += 60;
                tenant.tip = twins.push_to(tenant.branch, tenant.tip, &tenant.files(), seconds);
                tenant.older.push((tenant.tip, tenant.dry.clone()));
            }
        }
        match random.below(12) {
            // One dry branch is none for a while; what it wrote is for others to take.
            0 => twins.settings(&settings(&DRY_BRANCHES[..2], ""), seconds),
            1 => twins.settings(&settings(&["third", "main", "other"], ""), seconds),
            2 | 3 => twins.settings(&settings(&DRY_BRANCHES, ""), seconds),
            4 => twins.settings(&settings(&DRY_BRANCHES, "profile: argocd\n"), seconds),
            _ => {}
        }
        let report = twins.hydrate_pushed(&pushed, round, &mut random);
        moves += moved(&report);
        refused += format!("{report:?}").matches("is hydrated from").count().min(1);
    }
    let verified = Repo::at(&twins.lab, "cold.git").hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "seed {seed}: {verified:?}");
    twins.rendered();
    (moves, refused)
}

#[test]
fn dry_branches_that_share_a_branch_are_the_same_with_what_is_remembered_and_from_scratch() {
    let seed = std::env::var("SHARED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(31);
    let (moves, refused) = shared(seed, 40);
    assert!(moves > 15 && refused > 5, "{moves} times a branch moved, {refused} times a directory was refused");
}
