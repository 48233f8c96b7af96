//! Where the data of generated ConfigMaps and Secrets comes from: files, env files, literals.

use dry_files::view::View;

use crate::error::{Error, Result};
use crate::kustomization::GeneratorArgs;
use crate::loader::Loader;
use crate::tree::Tree;

/// How many bytes are copied in the time of a unit of work.
const BYTES_PER_WORK: usize = 256;

type Pairs = Vec<(String, Vec<u8>)>;

/// Reads the entries: of files of variables, then literals, then files.
///
/// Fails before more is copied than the build may still keep.
pub(super) fn load(view: &View<'_>, tree: &Tree, loader: &Loader, args: &GeneratorArgs) -> Result<Pairs> {
    let mut pairs = Pairs::new();
    let mut taken = Taken { tree, bytes: 0 };
    let list = |sources: &Option<Vec<String>>| {
        format!("[{}]", sources.iter().flatten().cloned().collect::<Vec<_>>().join(" "))
    };
    for (index, path) in args.envs.iter().flatten().enumerate() {
        variables(view, loader, path, &mut pairs, &mut taken).map_err(|error| {
            error.prefix(format!("env source files: {}", list(&args.envs))).inside(index).inside("envs")
        })?;
    }
    for (index, source) in args.literals.iter().flatten().enumerate() {
        taken.add(source.len())?;
        let pair = literal(source).map_err(|error| {
            error.prefix(format!("literal sources {}", list(&args.literals))).inside(index).inside("literals")
        })?;
        pairs.push(pair);
    }
    for (index, source) in args.files.iter().flatten().enumerate() {
        let pair = file(view, loader, source, &mut taken).map_err(|error| {
            error.prefix(format!("file sources: {}", list(&args.files))).inside(index).inside("files")
        })?;
        pairs.push(pair);
    }
    Ok(pairs)
}

fn literal(source: &str) -> Result<(String, Vec<u8>)> {
    let (key, value) = source
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| Error::new(format!("invalid literal source {source}, expected key=value")))?;
    let unquoted = ['"', '\''].iter().find_map(|quote| {
        let inner = value.strip_prefix(*quote)?.strip_suffix(*quote)?;
        Some(inner)
    });
    Ok((key.to_owned(), unquoted.unwrap_or(value).as_bytes().to_vec()))
}

/// How much of what the build may keep is taken.
struct Taken<'t> {
    tree: &'t Tree,
    bytes: usize,
}

impl Taken<'_> {
    fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        self.tree.work(1 + bytes / BYTES_PER_WORK)?;
        self.tree.fits(self.bytes)
    }
}

fn file(view: &View<'_>, loader: &Loader, source: &str, taken: &mut Taken<'_>) -> Result<(String, Vec<u8>)> {
    let (key, path) = file_source(source)?;
    let blob = loader.load(view, path)?;
    taken.add(blob.data.len())?;
    Ok((key.to_owned(), blob.data.to_vec()))
}

/// `path`, whose last part is the key, or `key=path`.
fn file_source(source: &str) -> Result<(&str, &str)> {
    let mut parts = source.split('=');
    let (Some(first), second, third) = (parts.next(), parts.next(), parts.next()) else {
        return Ok((source, source));
    };
    match (first, second, third) {
        (path, None, _) => Ok((base_name(path), path)),
        (_, Some(_), Some(_)) => Err(Error::new(format!("source {source:?} key name or file path contains '='"))),
        ("", Some(path), None) => {
            Err(Error::new(format!("missing key name for file path {path:?} in source {source:?}")))
        }
        (key, Some(""), None) => {
            Err(Error::new(format!("missing file path for key name {key:?} in source {source:?}")))
        }
        (key, Some(path), None) => Ok((key, path)),
    }
}

/// Go's `path.Base`.
fn base_name(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}

/// The longest line that Go's `bufio.Scanner` takes; it silently stops at a longer one.
const LINE_BYTES_MAX: usize = 64 * 1024 - 1;

/// Reads a file of `KEY=value` lines. Blank lines and those that start with `#` are left out.
fn variables(view: &View<'_>, loader: &Loader, path: &str, pairs: &mut Pairs, taken: &mut Taken<'_>) -> Result<()> {
    let blob = loader.load(view, path)?;
    taken.add(blob.data.len())?;
    let mut rest: &[u8] = &blob.data;
    let mut first = true;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
        if line.len() > LINE_BYTES_MAX {
            return Err(Error::new(format!("a line of '{path}' is longer than {LINE_BYTES_MAX} bytes"))
                .hint("Kustomize would silently leave out this line and all that follow: use `files` for this value"));
        }
        rest = after.get(1..).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| {
            let lossy = String::from_utf8_lossy(line);
            Error::new(format!("line {line:?} has invalid utf8 bytes : {lossy}"))
        })?;
        let text = if first { text.strip_prefix('\u{FEFF}').unwrap_or(text) } else { text };
        first = false;
        let text = text.trim_start_matches(is_space);
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        if !key.is_empty() {
            pairs.push((key.to_owned(), value.as_bytes().to_vec()));
        }
    }
    Ok(())
}

/// Go's `unicode.IsSpace`.
fn is_space(character: char) -> bool {
    character.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::{base_name, file_source, literal};

    #[test]
    fn literals() {
        let rows = [
            ("a=b", Some(("a", "b"))),
            ("a=b=c", Some(("a", "b=c"))),
            ("a='b c'", Some(("a", "b c"))),
            ("a=\"b\"", Some(("a", "b"))),
            ("a='b\"", Some(("a", "'b\""))),
            ("a='", Some(("a", "'"))),
            ("a=", Some(("a", ""))),
            ("=b", None),
            ("a", None),
        ];
        for (source, expected) in rows {
            let found = literal(source).ok().map(|(key, value)| (key, String::from_utf8(value).expect("text")));
            let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn files() {
        let rows = [
            ("dir/a.txt", Some(("a.txt", "dir/a.txt"))),
            ("key=dir/a.txt", Some(("key", "dir/a.txt"))),
            ("=a", None),
            ("a=", None),
            ("a=b=c", None),
        ];
        for (source, expected) in rows {
            assert_eq!(file_source(source).ok(), expected, "{source}");
        }
        for (path, expected) in [("", "."), ("/", "/"), ("a/", "a"), ("a/b", "b")] {
            assert_eq!(base_name(path), expected, "{path}");
        }
    }
}
