//! Classes of characters.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The class of some ranges.
pub(super) fn of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(low, high)| ClassUnicodeRange::new(*low, *high)))
}

/// Every character; without line breaks unless they are wanted.
pub(super) fn any(with_line_breaks: bool) -> ClassUnicode {
    if with_line_breaks { of(&[('\0', char::MAX)]) } else { of(&[('\0', '\x09'), ('\x0b', char::MAX)]) }
}

/// With all characters that differ from its own only by case.
pub(super) fn folded(mut class: ClassUnicode) -> ClassUnicode {
    // Fails only without Unicode tables, which are built in.
    let _ = class.try_case_fold_simple();
    class
}

/// `\d`, `\s` and `\w`, of ASCII only, by their letter.
pub(super) fn perl(letter: u8) -> Option<ClassUnicode> {
    Some(match letter {
        b'd' => of(&[('0', '9')]),
        b's' => of(&[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')]),
        b'w' => of(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        _ => return None,
    })
}

/// The classes that stand between `[:` and `:]`.
pub(super) fn posix(name: &str) -> Option<ClassUnicode> {
    Some(match name {
        "alnum" => of(&[('0', '9'), ('A', 'Z'), ('a', 'z')]),
        "alpha" => of(&[('A', 'Z'), ('a', 'z')]),
        "ascii" => of(&[('\0', '\x7f')]),
        "blank" => of(&[('\t', '\t'), (' ', ' ')]),
        "cntrl" => of(&[('\0', '\x1f'), ('\x7f', '\x7f')]),
        "digit" => of(&[('0', '9')]),
        "graph" => of(&[('!', '~')]),
        "lower" => of(&[('a', 'z')]),
        "print" => of(&[(' ', '~')]),
        "punct" => of(&[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
        "space" => of(&[('\t', '\r'), (' ', ' ')]),
        "upper" => of(&[('A', 'Z')]),
        "word" => of(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        "xdigit" => of(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        _ => return None,
    })
}

/// A category or script of Unicode, by its name in `\p{…}`.
pub(super) fn unicode(name: &str) -> Option<ClassUnicode> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    ["gc", "sc"].iter().find_map(|property| {
        let hir = regex_syntax::parse(&format!("\\p{{{property}={name}}}")).ok()?;
        match hir.into_kind() {
            HirKind::Class(Class::Unicode(class)) => Some(class),
            // A class of one character, or of none.
            HirKind::Literal(literal) => {
                let only = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
                Some(of(&[(only, only)]))
            }
            _ => None,
        }
    })
}
