//! `images`.

pub(super) mod places;

use std::collections::BTreeSet;

use super::set_text;
use crate::error::{Error, Result};
use crate::field_spec::FieldSpec;
use crate::kustomization::Image;
use crate::pattern::Pattern;
use crate::resources::Resources;
use crate::session::Session;
use crate::tree::{Kind, NodeId, Tree};

use places::Places;

/// How many images are named to someone who names none of them.
const NAMES_MAX: usize = 5;

/// Changes the name, tag or digest of an image wherever it is used.
#[derive(Debug)]
pub(crate) struct Images {
    image: Image,
    specs: Vec<FieldSpec>,
    name: Name,
}

/// How the name of an image is compared: it is a regular expression, but nearly always a name with points, each of
/// which matches any character.
#[derive(Debug)]
enum Name {
    Plain,
    /// Compiled only while it is needed: that takes much more than the text.
    Pattern(String),
}

impl Images {
    pub(crate) fn new(image: Image, specs: Vec<FieldSpec>) -> Result<Self> {
        let plain = image.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_/:@.".contains(c));
        let name = if plain {
            Name::Plain
        } else {
            let pattern = format!("^{}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", image.name);
            Pattern::check(&pattern)?;
            Name::Pattern(pattern)
        };
        Ok(Self { image, specs, name })
    }

    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        let places = match session.images.take() {
            Some(places) if places.specs == self.specs => places,
            _ => Places::find(&mut session.tree, resources, &self.specs)?,
        };
        let tree = &mut session.tree;
        let pattern = match &self.name {
            Name::Pattern(pattern) if !places.nodes.is_empty() => Some(Pattern::search(pattern)?),
            Name::Plain | Name::Pattern(_) => None,
        };
        tree.work(pattern.as_ref().map_or(0, Pattern::cost))?;
        let mut is_used = false;
        let mut names = BTreeSet::new();
        for node in &places.nodes {
            tree.spend(1);
            if names.len() < NAMES_MAX && tree.kind(*node) == Kind::Scalar {
                names.insert(split(tree.text(*node)).0.to_owned());
            }
            is_used |= self.set(tree, *node, pattern.as_ref())?;
        }
        session.missed.extend((!is_used).then(|| self.unused(names)));
        session.images = Some(places);
        session.tree.check()
    }

    fn unused(&self, names: BTreeSet<String>) -> Error {
        let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
        let error = Error::new(format!("no object has an image `{}`, so nothing is changed", self.image.name));
        match names.is_empty() {
            true => error.hint("take it away"),
            false => error.hint(format!("write one that is there: {}", names.join(", "))),
        }
    }

    /// Changes one image, if it is meant; answers whether it is.
    fn set(&self, tree: &mut Tree, node: NodeId, pattern: Option<&Pattern>) -> Result<bool> {
        tree.expect(node, Kind::Scalar)?;
        if !self.matches(tree, tree.text(node), pattern)? {
            return Ok(false);
        }
        let (name, tag, digest) = split(tree.text(node));
        let image = &self.image;
        let mut new = if image.new_name.is_empty() { name.to_owned() } else { image.new_name.clone() };
        let (tag, digest) = match (image.new_tag.as_str(), image.digest.as_str(), image.tag_suffix.as_str()) {
            ("", "", "") => (tag.to_owned(), digest.to_owned()),
            ("", "", suffix) => (format!("{tag}{suffix}"), String::new()),
            (new_tag, new_digest, _) => (new_tag.to_owned(), new_digest.to_owned()),
        };
        for (mark, part) in [(':', tag), ('@', digest)] {
            if !part.is_empty() {
                new.push(mark);
                new.push_str(&part);
            }
        }
        set_text(tree, node, &new)?;
        Ok(true)
    }

    fn matches(&self, tree: &Tree, value: &str, pattern: Option<&Pattern>) -> Result<bool> {
        Ok(match pattern {
            Some(pattern) => {
                tree.work(1)?;
                pattern.is_match(value, |work| tree.work(work))?
            }
            None => {
                let mut rest = value.chars();
                let same =
                    self.image.name.chars().all(|wanted| {
                        rest.next().is_some_and(|found| found == wanted || (wanted == '.' && found != '\n'))
                    });
                same && is_tag_and_digest(rest.as_str())
            }
        })
    }
}

/// Whether nothing but a tag and a digest follows the name of an image.
fn is_tag_and_digest(rest: &str) -> bool {
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.{}-".contains(&byte));
    let (tag, digest) = match rest.split_once("@sha256:") {
        Some((tag, digest)) => (tag, digest),
        None => (rest, ""),
    };
    is_word(digest) && (tag.is_empty() || tag.strip_prefix(':').is_some_and(is_word))
}

/// Name, tag and digest of an image; a port of the registry belongs to the name.
fn split(image: &str) -> (&str, &str, &str) {
    let host = image.find('/').unwrap_or(0);
    let find = |mark: char| image.get(host..).and_then(|rest| rest.find(mark)).map(|at| at + host);
    let part = |from: usize, to: usize| image.get(from..to).unwrap_or_default();
    match (find(':'), find('@')) {
        (None, None) => (image, "", ""),
        (colon, Some(at)) if colon.is_none_or(|colon| at < colon) => (part(0, at), "", part(at + 1, image.len())),
        (Some(colon), Some(at)) => (part(0, colon), part(colon + 1, at), part(at + 1, image.len())),
        (Some(colon), None) => (part(0, colon), part(colon + 1, image.len()), ""),
        (None, Some(at)) => (part(0, at), "", part(at + 1, image.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_tag_and_digest, split};

    #[test]
    fn parts() {
        let rows = [
            ("nginx", ("nginx", "", "")),
            ("nginx:1.2", ("nginx", "1.2", "")),
            ("host:5000/nginx", ("host:5000/nginx", "", "")),
            ("host:5000/nginx:1", ("host:5000/nginx", "1", "")),
            ("a/nginx@sha256:12", ("a/nginx", "", "sha256:12")),
            ("a/nginx:1@sha256:12", ("a/nginx", "1", "sha256:12")),
            ("nginx@sha256:12", ("nginx", "", "sha256:12")),
        ];
        for (image, expected) in rows {
            assert_eq!(split(image), expected, "{image}");
        }
    }

    #[test]
    fn rests() {
        for (rest, expected) in [
            ("", true),
            (":1.0", true),
            (":", true),
            ("@sha256:ab", true),
            (":1@sha256:ab", true),
            ("2", false),
            ("@md5:1", false),
            (":a:b", false),
        ] {
            assert_eq!(is_tag_and_digest(rest), expected, "{rest:?}");
        }
    }
}
