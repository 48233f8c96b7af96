//! Tags that are made, moved and deleted at random, and what the Applications of a branch name of them.

use std::collections::BTreeMap;

use git_hydrate::testing::git::ObjectId;

use super::{Dry, Random, Server};
use crate::support::{Lab, Repo};

/// Tags, and the `targetRevision` of the Applications of one branch.
pub(super) struct Tags {
    /// `main`, a tag, a range or the id of a commit.
    pub(super) revision: String,
    /// The branch.
    branch: &'static str,
    /// The tags that there are.
    names: Vec<String>,
    /// The dry commits that were pushed, with their files.
    commits: Vec<(ObjectId, Dry)>,
}

/// The revisions that are no ids.
const REVISIONS: [&str; 6] = ["prod", "~1.1", ">=1.0 <2", "main", "refs/tags/v1.1.0", "prod"];

impl Tags {
    pub(super) fn of(branch: &'static str) -> Self {
        Self { revision: REVISIONS[0].to_owned(), branch, names: Vec::new(), commits: Vec::new() }
    }

    /// Files whose Applications of the branch name the revision.
    pub(super) fn named_in(&self, files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let target = format!("targetBranch: {}\n", self.branch);
        let named = |text: &String| match text.contains(&target) {
            true => text.replace("targetRevision: main", &format!("targetRevision: '{}'", self.revision)),
            false => text.clone(),
        };
        files.iter().map(|(path, text)| (path.clone(), named(text))).collect()
    }

    pub(super) fn pushed(&mut self, commit: Option<ObjectId>, files: &Dry) {
        self.commits.extend(commit.map(|commit| (commit, files.clone())));
    }

    /// One change of tags, or of what the Applications name from the next commit on.
    pub(super) fn change(&mut self, servers: &[&Server], lab: &Lab, seconds: i64, random: &mut Random) {
        let recent = self.commits.len().min(6);
        let (id, mut files) = self.commits[self.commits.len() - 1 - random.below(recent)].clone();
        let commit = id.to_string();
        let is_annotated = random.below(3) == 0;
        match random.below(9) {
            0 | 1 => self.put(lab, servers, ("prod", &commit), is_annotated),
            2..=4 => {
                let name = format!("v1.{}.{}", random.below(3), random.below(4));
                self.put(lab, servers, (&name, &commit), is_annotated);
            }
            5 if !self.names.is_empty() => {
                let name = self.names.remove(random.below(self.names.len()));
                each(lab, servers, &["tag", "-d", &name]);
            }
            // A commit that no branch has.
            6 => {
                let name = if random.below(2) == 0 { "prod" } else { "v1.1.9" };
                files.edit(random);
                for server in servers {
                    server.commit(&format!("refs/tags/{name}"), Some(id), &files.0, seconds + 7);
                }
                self.note(name);
            }
            7 => self.revision = REVISIONS[random.below(REVISIONS.len())].to_owned(),
            8 if random.below(3) == 0 => self.revision = commit,
            _ => {}
        }
    }

    /// Puts a tag on a commit.
    pub(super) fn put(&mut self, lab: &Lab, servers: &[&Server], (name, commit): (&str, &str), is_annotated: bool) {
        let annotation: &[&str] = if is_annotated { &["-a", "-m", "a tag"] } else { &[] };
        each(lab, servers, &[&["tag", "-f"], annotation, &[name, commit]].concat());
        self.note(name);
    }

    /// Names something that can lead to a commit that is still to come.
    pub(super) fn name_a_name(&mut self) {
        if !REVISIONS.contains(&self.revision.as_str()) {
            self.revision = REVISIONS[1].to_owned();
        }
    }

    /// Lets the branch show the newest commit of all.
    pub(super) fn move_to_newest(&mut self, lab: &Lab, servers: &[&Server], commit: &str) {
        for name in ["prod", "v1.1.0", "v1.1.99", "v1.99.0"] {
            self.put(lab, servers, (name, commit), false);
        }
    }

    fn note(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }
}

fn each(lab: &Lab, servers: &[&Server], args: &[&str]) {
    for server in servers {
        let name = server.path.file_name().and_then(|name| name.to_str()).expect("a name");
        Repo::at(lab, name).git(args);
    }
}
