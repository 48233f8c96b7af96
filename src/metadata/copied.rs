//! What the branch of copies says of them: the commits that they follow, and where each leads to.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;

use super::escape::markdown;
use super::json::{Fields, Json, full_id};
use crate::argo::BranchName;
use crate::repo::{ObjectId, object_id};

/// A commit of a hydrated branch that copies follow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Followed {
    /// The branch.
    pub branch: BranchName,
    /// Its commit.
    pub commit: ObjectId,
    /// The dry branch and the dry commit that it shows; none for a branch that a promoter writes.
    pub dry: Option<(BranchName, ObjectId)>,
}

/// What a copy leads to: a directory of a branch that is deployed.
pub(crate) type Hydrated = (BranchName, RepoPath);

/// The keys of the lists, at the root of a branch and in the directory of a copy.
pub(super) const FOLLOWED: &str = "copiedFrom";
const HYDRATED: &str = "leadsTo";

pub(super) fn written(followed: &[Followed]) -> Json {
    Json::List(followed.iter().map(Followed::written).collect())
}

impl Followed {
    /// Reads the list at the root of a branch of copies; none when the file has no such list.
    pub(crate) fn read(text: &[u8]) -> Option<Vec<Self>> {
        let fields = Fields::parse(text).ok()?;
        fields.get(FOLLOWED)?.as_array()?.iter().map(Self::read_one).collect()
    }

    fn read_one(value: &serde_json::Value) -> Option<Self> {
        let fields = Fields::of(value)?;
        let dry = match fields.text("drySha").ok()? {
            "" => None,
            id => Some((BranchName::new(fields.text("dryBranch").ok()?).ok()?, full_id(id)?)),
        };
        let branch = BranchName::read(fields.text("branch").ok()?).ok()?;
        Some(Self { branch, commit: object_id(fields.text("commit").ok()?)?, dry })
    }

    fn written(&self) -> Json {
        let dry = self.dry.as_ref().map(|(branch, id)| (branch.to_string(), id.to_string())).unwrap_or_default();
        Json::Object(vec![
            ("branch", Json::text(self.branch.as_str())),
            ("commit", Json::text(self.commit.to_string())),
            ("dryBranch", Json::text(dry.0)),
            ("drySha", Json::text(dry.1)),
        ])
    }
}

/// The `hydrator.metadata` in the directory of a copy.
pub(crate) fn copy_metadata(leads_to: &[Hydrated]) -> Vec<u8> {
    let one = |(branch, path): &Hydrated| {
        Json::Object(vec![("branch", Json::text(branch.as_str())), ("path", Json::text(path.as_str()))])
    };
    Json::Object(vec![(HYDRATED, Json::List(leads_to.iter().map(one).collect()))]).pretty()
}

/// What it says. What cannot be read is left out.
pub(crate) fn read_copy_metadata(text: &[u8]) -> Vec<Hydrated> {
    let Ok(fields) = Fields::parse(text) else { return Vec::new() };
    let list = fields.get(HYDRATED).and_then(|list| list.as_array());
    list.into_iter().flatten().filter_map(read_hydrated).collect()
}

fn read_hydrated(value: &serde_json::Value) -> Option<Hydrated> {
    let fields = Fields::of(value)?;
    let path = RepoPath::new(fields.text("path").ok()?).ok()?;
    Some((BranchName::read(fields.text("branch").ok()?).ok()?, path))
}

const README_HEAD: &str = "# Applications\n\nCopies of Applications that lead to what is hydrated of them. git-hydrate writes \
                           this branch: change the\nApplications on the dry branch.\n\n\
                           | Copy | Branch | Path |\n|---|---|---|\n";

/// The `README.md` of a branch of copies, by their directories.
pub(crate) fn copies_readme(copies: &BTreeMap<RepoPath, Vec<Hydrated>>) -> Vec<u8> {
    let rows = copies.iter().map(|(dir, leads_to)| rows(dir, leads_to));
    [README_HEAD.to_owned()].into_iter().chain(rows).collect::<String>().into_bytes()
}

/// [`copies_readme`] of the copies of `text` and those that come; none where the text is not that of copies in the directories
/// `there`.
pub(crate) fn copies_readme_with(
    text: &[u8],
    there: &BTreeSet<RepoPath>,
    coming: &BTreeMap<RepoPath, Vec<Hydrated>>,
) -> Option<Vec<u8>> {
    let mut text = str::from_utf8(text).ok().filter(|text| text.starts_with(README_HEAD))?.to_owned();
    for (dir, leads_to) in coming {
        let at = match there.range::<RepoPath, _>(dir..).next() {
            Some(next) => text.find(&format!("\n| {} | ", cell(next.as_str())))? + 1,
            None => text.len(),
        };
        text.insert_str(at, &rows(dir, leads_to));
    }
    Some(text.into_bytes())
}

fn rows(dir: &RepoPath, leads_to: &[Hydrated]) -> String {
    let row = |(branch, path): &Hydrated| [dir.as_str(), branch.as_str(), path.as_str()].map(cell).join(" | ");
    leads_to.iter().map(|hydrated| format!("| {} |\n", row(hydrated))).collect()
}

fn cell(text: &str) -> String {
    markdown(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let id = object_id(&"12".repeat(20)).expect("an id");
        let branch = |name: &str| BranchName::new(name).expect("a branch");
        let followed = vec![
            Followed { branch: branch("environments/dev"), commit: id, dry: Some((branch("main"), id)) },
            Followed { branch: branch("environments/prod"), commit: id, dry: None },
        ];
        let text = Json::Object(vec![(FOLLOWED, written(&followed))]).without_empty().pretty();
        assert_eq!(Followed::read(&text), Some(followed));
        assert_eq!(Followed::read(b"{}"), None);
        let leads_to = vec![(branch("environments/dev"), RepoPath::new("web/a").expect("a path"))];
        assert_eq!(read_copy_metadata(&copy_metadata(&leads_to)), leads_to);
        assert!(read_copy_metadata(b"{").is_empty());
    }

    #[test]
    fn a_copy_that_comes_is_listed_where_a_new_list_has_it() {
        let path = |text: &str| RepoPath::new(text).expect("a path");
        let copies = |dirs: &[&str]| -> BTreeMap<RepoPath, Vec<Hydrated>> {
            let leads_to = |dir: &&str| vec![(BranchName::new("environments/dev").expect("a branch"), path(dir))];
            dirs.iter().map(|dir| (path(dir), leads_to(dir))).collect()
        };
        let all = ["applications/a/web", "applications/a/web-1", "applications/a/x_y", "applicationsets/a/web"];
        for come in 0_usize..16 {
            let (coming, there): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|index| (come >> *index) & 1 == 1);
            let [coming, there] =
                [coming, there].map(|part| copies(&part.iter().map(|index| all[*index]).collect::<Vec<_>>()));
            let text = copies_readme(&there);
            let with = copies_readme_with(&text, &there.keys().cloned().collect(), &coming);
            assert_eq!(with, Some(copies_readme(&copies(&all))), "{coming:?}");
        }
        let there = [path("applications/b")].into();
        assert_eq!(copies_readme_with(README_HEAD.as_bytes(), &there, &copies(&["applications/a"])), None);
        assert_eq!(copies_readme_with(b"", &BTreeSet::new(), &copies(&["applications/a"])), None);
    }
}
