//! Go's `path`: slashes only. `filepath` is the same on the systems that Helm renders for.

use super::super::function::Functions;
use super::super::text::Text;

pub(super) fn add(table: &mut Functions) {
    for name in ["base", "osBase"] {
        table.add(name, |path: Text| base(&path));
    }
    for name in ["dir", "osDir"] {
        table.add(name, |path: Text| {
            let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            clean(path.get(..end).unwrap_or_default())
        });
    }
    for name in ["clean", "osClean"] {
        table.add(name, |path: Text| clean(&path));
    }
    for name in ["ext", "osExt"] {
        table.add(name, |path: Text| {
            let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            let dot = last.iter().rposition(|byte| *byte == b'.');
            Text::from(dot.and_then(|dot| last.get(dot..)).unwrap_or_default())
        });
    }
    for name in ["isAbs", "osIsAbs"] {
        table.add(name, |path: Text| path.starts_with(b"/"));
    }
}

/// The last element; `.` for nothing, `/` for slashes alone.
fn base(path: &[u8]) -> Text {
    if path.is_empty() {
        return ".".into();
    }
    let last = path.split(|byte| *byte == b'/').rfind(|element| !element.is_empty());
    last.map_or_else(|| "/".into(), Text::from)
}

/// The shortest way to say the same: no `.`, no empty elements, `..` only at the start of a relative path.
fn clean(path: &[u8]) -> Text {
    let is_rooted = path.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in path.split(|byte| *byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => drop(kept.pop()),
            b".." if is_rooted => {}
            element => kept.push(element),
        }
    }
    let joined = kept.join(&b'/');
    match (is_rooted, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat().into(),
        (false, true) => ".".into(),
        (false, false) => joined.into(),
    }
}
