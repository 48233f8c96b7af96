//! A `targetRevision` that names no branch: the full id of a commit, a tag, or a range of versions that tags have.
//!
//! Reference: Argo CD 3 util/git/client.go `lsRemote`, util/versions/tags.go `MaxVersion`: a full id, then the highest version in a
//! range, then the exact name. A text that is a version is a name, and no range. Short ids are refused here: a push can make them
//! ambiguous.

use std::fmt;

use go_std::semver::{Range, Version};

/// What a revision leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LedTo<'t> {
    /// The commit of this full id.
    Commit(&'t str),
    /// This tag.
    Tag(&'t str),
    /// No tag is named so, and no version of a tag is in the range.
    Nothing,
}

/// A revision that names no branch.
#[derive(Debug, Clone)]
pub(crate) enum Revision<'t> {
    /// The full id of a commit.
    Commit(&'t str),
    /// A range of versions; a tag may be named so, too.
    Range(&'t str, Range),
    /// The name of a tag.
    Tag(&'t str),
}

impl<'t> Revision<'t> {
    /// Reads what an Application names.
    pub(crate) fn read(text: &'t str) -> Self {
        if is_full_id(text) {
            return Self::Commit(text);
        }
        if let Some(name) = text.strip_prefix("refs/tags/") {
            return Self::Tag(name);
        }
        match Range::new(text) {
            Ok(range) if Version::new(text).is_err() => Self::Range(text, range),
            Ok(_) | Err(_) => Self::Tag(text),
        }
    }

    /// Where it leads among these tags.
    pub(crate) fn among<'n>(&self, tags: impl Iterator<Item = &'n str> + Clone) -> LedTo<'n>
    where
        't: 'n,
    {
        let named = |name: &str| tags.clone().find(|tag| *tag == name).map_or(LedTo::Nothing, LedTo::Tag);
        match self {
            Self::Commit(id) => LedTo::Commit(id),
            Self::Tag(name) => named(name),
            Self::Range(name, range) => match highest(range, tags.clone()) {
                Some(tag) => LedTo::Tag(tag),
                None => named(name),
            },
        }
    }

    /// Whether it can lead to what was `resolved`: a tag, or the id of a commit.
    pub(crate) fn admits(&self, resolved: &str) -> bool {
        match self {
            Self::Commit(id) => *id == resolved,
            Self::Tag(name) => *name == resolved,
            Self::Range(name, range) => *name == resolved || version(resolved).is_some_and(|it| range.has(&it)),
        }
    }

    /// Whether it is a range that led to `shown` before, a tag whose version is above that of `now`.
    pub(crate) fn falls_back(&self, shown: &str, now: &str) -> bool {
        let Self::Range(_, range) = self else { return false };
        let (Some(shown), Some(now)) = (version(shown), version(now)) else { return false };
        range.has(&shown) && now < shown
    }
}

/// `tag \`prod\``, for a sentence.
impl fmt::Display for Revision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit(id) => write!(f, "commit {id}"),
            Self::Range(text, _) => write!(f, "range `{text}`"),
            Self::Tag(name) => write!(f, "tag `{name}`"),
        }
    }
}

/// Whether a text may be an id that was cut short, which no tag is named.
pub(crate) fn is_short_id(text: &str) -> bool {
    (7..40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_full_id(text: &str) -> bool {
    let is_lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    [40, 64].contains(&text.len()) && text.bytes().all(is_lower_hex)
}

fn version(tag: &str) -> Option<Version> {
    Version::new(tag).ok()
}

/// The tag with the highest version above that of the tag `shown`. Versions before a release count where that has one.
pub(crate) fn newest_above<'n>(shown: &str, tags: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let (shown, releases) = (version(shown)?, Range::new("*").ok()?);
    let counts = |other: &Version| releases.has(other) || !releases.has(&shown);
    highest_of(tags, |other| *other > shown && counts(other))
}

/// The tag with the highest version in a range; of equal ones the first.
fn highest<'n>(range: &Range, tags: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    highest_of(tags, |version| range.has(version))
}

/// The tag with the highest version of those that count; of equal ones the first.
fn highest_of<'n>(tags: impl Iterator<Item = &'n str>, counts: impl Fn(&Version) -> bool) -> Option<&'n str> {
    let mut best: Option<(Version, &str)> = None;
    for tag in tags {
        let Some(version) = version(tag).filter(|version| counts(version)) else { continue };
        if best.as_ref().is_none_or(|(highest, _)| version > *highest) {
            best = Some((version, tag));
        }
    }
    best.map(|(_, tag)| tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    fn led<'t>(revision: &'t str, tags: &[&'t str]) -> Option<&'t str> {
        match Revision::read(revision).among(tags.iter().copied()) {
            LedTo::Commit(id) => Some(id),
            LedTo::Tag(tag) => Some(tag),
            LedTo::Nothing => None,
        }
    }

    /// Argo CD's own rows (util/versions/tags_test.go), and ours.
    #[test]
    fn where_revisions_lead() {
        let tags = ["0.5.0", "0.5.1", "0.5.2", "0.5.3", "0.5.4", "0.7.1", "0.7.2", "2024.03-LTS-RC19", "prod"];
        let rows = [
            ("0.5.3", Some("0.5.3")),
            ("2024.03-LTS-RC19", Some("2024.03-LTS-RC19")),
            ("99.99", None),
            ("> 0.5.3", Some("0.7.2")),
            ("> 0.0.0", Some("0.7.2")),
            (">0.5.0,<0.7.0", Some("0.5.4")),
            ("0.7.*", Some("0.7.2")),
            ("*", Some("0.7.2")),
            ("0.8.*", None),
            ("= 0.5.3", Some("0.5.3")),
            ("prod", Some("prod")),
            ("refs/tags/prod", Some("prod")),
            ("refs/tags/0.7.*", None),
            ("stage", None),
            (ID, Some(ID)),
        ];
        for (revision, expected) in rows {
            assert_eq!(led(revision, &tags), expected, "{revision}");
        }
        assert_eq!(led("v1.*", &["v1.2.0", "v1.10.0", "v1.9.0"]), Some("v1.10.0"));
        assert_eq!(led("1.x", &["v1.2.0", "v1.3.0-rc.1"]), Some("v1.2.0"), "no version before a release");
        assert_eq!(led("1.x-0", &["v1.2.0", "v1.3.0-rc.1"]), Some("v1.3.0-rc.1"), "unless the range names one");
        assert_eq!(led("1.x", &["1.2.0", "v1.2.0"]), Some("1.2.0"), "of equal ones the first");
        assert_eq!(led("2.x", &["2.x", "v1.2.0"]), Some("2.x"), "a tag may be named as a range");
    }

    #[test]
    fn what_a_commit_may_say_it_was_resolved_to() {
        for (revision, resolved, expected) in [
            ("prod", "prod", true),
            ("prod", "stage", false),
            ("refs/tags/prod", "prod", true),
            ("~1.4", "v1.4.2", true),
            ("~1.4", "v1.5.0", false),
            ("~1.4", "prod", false),
            (ID, ID, true),
            (ID, "prod", false),
        ] {
            assert_eq!(Revision::read(revision).admits(resolved), expected, "{revision} {resolved}");
        }
    }

    #[test]
    fn newer_tags() {
        for (shown, tags, expected) in [
            ("v1.4.2", &["v1.4.1", "v1.4.3", "v1.5.0", "latest"] as &[&str], Some("v1.5.0")),
            ("v1.4.2", &["v1.4.2", "v1.5.0-rc.1"], None),
            ("v1.5.0-rc.1", &["v1.4.2", "v1.5.0-rc.2"], Some("v1.5.0-rc.2")),
            ("prod", &["v1.4.2"], None),
        ] {
            assert_eq!(newest_above(shown, tags.iter().copied()), expected, "{shown} {tags:?}");
        }
    }

    #[test]
    fn ranges_that_fall_back() {
        for (revision, shown, now, expected) in [
            ("~1.4", "v1.4.2", "v1.4.1", true),
            ("~1.4", "v1.4.1", "v1.4.2", false),
            ("~1.4", "v1.4.2", "v1.4.2", false),
            ("~1.3", "v1.4.2", "v1.3.9", false),
            ("v1.4.1", "v1.4.2", "v1.4.1", false),
        ] {
            assert_eq!(Revision::read(revision).falls_back(shown, now), expected, "{revision} {shown} {now}");
        }
    }
}
