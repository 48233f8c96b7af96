//! Path patterns of `doublestar`, which is not a part of Go, but what Argo CD reads values files with.

use super::path::{BadPattern, Pattern};

/// How many patterns the braces of one may expand to.
const ALTERNATIVES_MAX: usize = 256;

/// A pattern of whole paths: each component as in Go's `filepath.Match`, but `**` matches any number of them; `[!a]` is
/// `[^a]`, and `{a,b}` are alternatives.
#[derive(Debug, Clone)]
pub struct PathPattern(Vec<Vec<Component>>);

#[derive(Debug, Clone)]
enum Component {
    Any,
    One(Pattern),
}

impl PathPattern {
    /// Compiles a pattern.
    pub fn new(text: &str) -> Result<Self, BadPattern> {
        let patterns = alternatives(text)?.into_iter().map(|text| text.split('/').map(Component::new).collect());
        patterns.collect::<Result<_, _>>().map(Self)
    }

    /// Whether the pattern describes the path of these components.
    pub fn matches<'a>(&self, components: impl Iterator<Item = &'a str>) -> bool {
        let names: Vec<&str> = components.collect();
        self.0.iter().any(|components| are_matched(components, &names))
    }
}

impl Component {
    fn new(text: &str) -> Result<Self, BadPattern> {
        match text {
            "**" => Ok(Component::Any),
            text => Pattern::new(&text.replace("[!", "[^")).map(Component::One),
        }
    }
}

fn are_matched(components: &[Component], names: &[&str]) -> bool {
    // Whether the components so far describe this many of the names.
    let mut ends: Vec<bool> = std::iter::once(true).chain(names.iter().map(|_| false)).collect();
    for component in components {
        match component {
            Component::Any => {
                let first = ends.iter().position(|end| *end).unwrap_or(ends.len());
                ends.iter_mut().skip(first).for_each(|end| *end = true);
            }
            Component::One(pattern) => {
                let fits = ends.iter().zip(names).map(|(end, name)| *end && pattern.matches(name));
                ends = std::iter::once(false).chain(fits.collect::<Vec<_>>()).collect();
            }
        }
    }
    ends.last() == Some(&true)
}

/// The patterns without braces that a pattern expands to.
fn alternatives(text: &str) -> Result<Vec<String>, BadPattern> {
    let mut done = Vec::new();
    let mut todo = vec![text.to_owned()];
    while let Some(text) = todo.pop() {
        let Some(Braces { before, inside, after }) = Braces::first(&text)? else {
            done.push(text);
            continue;
        };
        todo.extend(inside.iter().rev().map(|inside| format!("{before}{inside}{after}")));
        if todo.len() + done.len() > ALTERNATIVES_MAX {
            return Err(BadPattern);
        }
    }
    Ok(done)
}

/// What is before, in and after braces; what is inside, at its commas.
struct Braces<'a> {
    before: &'a str,
    inside: Vec<&'a str>,
    after: &'a str,
}

impl<'a> Braces<'a> {
    /// The first braces of a text; braces in them stay.
    fn first(text: &'a str) -> Result<Option<Self>, BadPattern> {
        let (mut depth, mut escaped) = (0_usize, false);
        let (mut open, mut part) = (0, 0);
        let mut inside = Vec::new();
        for (at, c) in text.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '{' => {
                    depth += 1;
                    if depth == 1 {
                        (open, part) = (at, at + 1);
                    }
                }
                ',' if depth == 1 => {
                    inside.extend(text.get(part..at));
                    part = at + 1;
                }
                '}' if depth == 1 => {
                    inside.extend(text.get(part..at));
                    let (before, after) = (text.get(..open), text.get(at + 1..));
                    return Ok(before.zip(after).map(|(before, after)| Self { before, inside, after }));
                }
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth > 0 { Err(BadPattern) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What doublestar v4 `Match` says.
    #[test]
    fn matching() {
        let rows = [
            ("a/*.yaml", "a/b.yaml", true),
            ("a/*.yaml", "a/b/c.yaml", false),
            ("a/**/*.yaml", "a/b.yaml", true),
            ("a/**/*.yaml", "a/b/c/d.yaml", true),
            ("a/**", "a/b/c", true),
            ("**/c", "c", true),
            ("**/c", "a/b/c", true),
            ("a**", "abc", true),
            ("a**", "ab/c", false),
            ("[a-c0-9]x", "5x", true),
            ("[!a]x", "ax", false),
            ("[^a]x", "bx", true),
            ("{a,b}/x", "b/x", true),
            ("{a,b/{c,d}}/x", "b/d/x", true),
            ("a{,-prod}.yaml", "a.yaml", true),
            ("a{,-prod}.yaml", "a-prod.yaml", true),
            ("\\{a", "{a", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
        ];
        for (pattern, path, expected) in rows {
            let matcher = PathPattern::new(pattern).expect(pattern);
            assert_eq!(matcher.matches(path.split('/')), expected, "{pattern:?} on {path:?}");
        }
        for pattern in ["{a", "[a", "a{b,c", &"{a,b}".repeat(9)] {
            assert!(PathPattern::new(pattern).is_err(), "{pattern:?}");
        }
    }
}
