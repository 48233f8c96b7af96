//! Refs that git takes for a branch when somebody says its short name.
//!
//! `git show environments/prod` shows the tag `environments/prod` where there is one: who looks at what is deployed looks at
//! something else then. Hydration says full names.

use super::Refs;

/// How a clone names its remote by default.
const REMOTE: &str = "origin";

/// The branches that a ref hides, in a repository and in clones of it, if there are such branches.
///
/// Reference: git 2.47 refs.c `ref_rev_parse_rules`.
pub(crate) fn hidden_by(name: &str) -> Vec<&str> {
    let Some(end) = name.strip_prefix("refs/").filter(|end| !end.starts_with("heads/")) else { return Vec::new() };
    let ends = [Some(end), end.strip_prefix("tags/")].into_iter().flatten();
    ends.flat_map(|end| [Some(end), end.strip_prefix(REMOTE).and_then(|end| end.strip_prefix('/'))]).flatten().collect()
}

/// The refs that hide a branch, here or as the branch of a remote.
pub(crate) fn hiding(branch: &str, remote: Option<&str>, refs: &Refs) -> Vec<String> {
    let of_remote = format!("{}/{branch}", remote.unwrap_or(REMOTE));
    let names = [branch, &of_remote].into_iter().flat_map(|end| [format!("refs/{end}"), format!("refs/tags/{end}")]);
    names.filter(|name| refs.get(name).is_some()).collect()
}

/// What is said of a ref that hides a branch.
pub(crate) fn said_of_hiding(name: &str, branch: &str) -> String {
    format!("`{name}` hides the branch `{branch}`: git takes it for the branch when somebody says the branch's name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_that_hide_a_branch() {
        let rows: [(&str, &[&str]); 7] = [
            ("refs/heads/environments/prod", &[]),
            ("refs/tags/v1", &["tags/v1", "v1"]),
            ("refs/tags/environments/prod", &["tags/environments/prod", "environments/prod"]),
            ("refs/environments/prod", &["environments/prod"]),
            ("refs/tags/origin/prod", &["tags/origin/prod", "origin/prod", "prod"]),
            ("refs/origin/prod", &["origin/prod", "prod"]),
            ("refs/tags/originals/prod", &["tags/originals/prod", "originals/prod"]),
        ];
        for (name, expected) in rows {
            assert_eq!(hidden_by(name), expected, "{name}");
        }
    }
}
