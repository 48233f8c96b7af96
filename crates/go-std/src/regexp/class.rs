//! Classes of characters.

use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::super::unicode::{ASSIGNED, property};

/// The class of some ranges.
pub(in super::super) fn of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(low, high)| ClassUnicodeRange::new(*low, *high)))
}

/// Every character; without line breaks unless they are wanted.
pub(super) fn any(with_line_breaks: bool) -> ClassUnicode {
    if with_line_breaks { of(&[('\0', char::MAX)]) } else { of(&[('\0', '\x09'), ('\x0b', char::MAX)]) }
}

/// With all characters that differ from its own only by case; and how many were looked at for it.
pub(in super::super) fn folded(mut class: ClassUnicode) -> (ClassUnicode, usize) {
    // Most characters have no case, and folding looks at each.
    let mut cased = class.clone();
    cased.intersect(&CASED);
    let count = cased.ranges().iter().map(ClassUnicodeRange::len).sum();
    // Fails only without Unicode tables, which are built in.
    let _ = cased.try_case_fold_simple();
    cased.intersect(&ASSIGNED);
    class.union(&cased);
    (class, count)
}

/// At least the characters that differ from another only by case.
pub(in super::super) static CASED: LazyLock<ClassUnicode> = LazyLock::new(cased);

fn cased() -> ClassUnicode {
    let mut all = ClassUnicode::empty();
    for part in ["Changes_When_Casemapped", "Changes_When_Casefolded", "Cased"].into_iter().filter_map(property) {
        all.union(&part);
    }
    all.intersect(&ASSIGNED);
    all.difference(&of(&LATER_ALIKE));
    all
}

/// Three pairs that differ only by case since Unicode 15.1.
const LATER_ALIKE: [(char, char); 5] = [
    ('\u{390}', '\u{390}'),
    ('\u{3b0}', '\u{3b0}'),
    ('\u{1fd3}', '\u{1fd3}'),
    ('\u{1fe3}', '\u{1fe3}'),
    ('\u{fb05}', '\u{fb06}'),
];

/// `\d`, `\s` and `\w`, of ASCII only, by their letter.
pub(super) fn perl(letter: u8) -> Option<ClassUnicode> {
    Some(match letter {
        b'd' => of(&[('0', '9')]),
        b's' => of(&[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')]),
        b'w' => of(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        _ => return None,
    })
}

/// The classes that are between `[:` and `:]`.
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

/// A category or script of Unicode, by its name in `\p{…}`: letter case, `_`, `-` and blanks don't count.
///
/// What Unicode assigned after version 15, which Go 1.26 has, is as unassigned as in Go. Scripts of several words cannot be
/// named, as Go looks for `Oldpersian` among names like `Old_Persian`.
///
/// Reference: Go 1.26 regexp/syntax/parse.go `unicodeTable`, `canonicalName`; unicode/tables.go.
pub(super) fn unicode(name: &str) -> Option<ClassUnicode> {
    let name = canonical(name);
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, category)| category);
    match name {
        "Any" => return Some(any(true)),
        "Ascii" => return Some(of(&[('\0', '\x7f')])),
        // No text has surrogates.
        "Cs" => return Some(ClassUnicode::empty()),
        "Assigned" => return Some(ASSIGNED.clone()),
        "Cn" => return Some(negated(ASSIGNED.clone())),
        _ => {}
    }
    let property_of = |key: &str| property(&format!("{key}={name}"));
    let mut class = match name {
        // The unassigned are among them.
        "C" => ["Cc", "Cf", "Co", "Cn"].iter().filter_map(|part| unicode(part)).fold(
            ClassUnicode::empty(),
            |mut all, part| {
                all.union(&part);
                all
            },
        ),
        "Lc" => property_of("gc")?,
        _ if CATEGORIES.contains(&name) => property_of("gc")?,
        _ if SCRIPTS.binary_search(&name).is_ok() => property_of("sc")?,
        _ => return None,
    };
    if name != "C" {
        class.intersect(&ASSIGNED);
    }
    Some(class)
}

fn negated(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}

/// The first letter in upper case, the others in lower case, without `_`, `-` and blanks.
fn canonical(name: &str) -> String {
    // The first byte counts as the first letter unless it is left out.
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.enumerate().map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect()
}

/// Go's `unicode.Categories`.
const CATEGORIES: &[&str] = &[
    "Cc", "Cf", "Co", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd",
    "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
];

/// Go's `unicode.CategoryAliases`, by their canonical names.
const ALIASES: &[(&str, &str)] = &[
    ("Casedletter", "Lc"),
    ("Closepunctuation", "Pe"),
    ("Cntrl", "Cc"),
    ("Combiningmark", "M"),
    ("Connectorpunctuation", "Pc"),
    ("Control", "Cc"),
    ("Currencysymbol", "Sc"),
    ("Dashpunctuation", "Pd"),
    ("Decimalnumber", "Nd"),
    ("Digit", "Nd"),
    ("Enclosingmark", "Me"),
    ("Finalpunctuation", "Pf"),
    ("Format", "Cf"),
    ("Initialpunctuation", "Pi"),
    ("Letter", "L"),
    ("Letternumber", "Nl"),
    ("Lineseparator", "Zl"),
    ("Lowercaseletter", "Ll"),
    ("Mark", "M"),
    ("Mathsymbol", "Sm"),
    ("Modifierletter", "Lm"),
    ("Modifiersymbol", "Sk"),
    ("Nonspacingmark", "Mn"),
    ("Number", "N"),
    ("Openpunctuation", "Ps"),
    ("Other", "C"),
    ("Otherletter", "Lo"),
    ("Othernumber", "No"),
    ("Otherpunctuation", "Po"),
    ("Othersymbol", "So"),
    ("Paragraphseparator", "Zp"),
    ("Privateuse", "Co"),
    ("Punct", "P"),
    ("Punctuation", "P"),
    ("Separator", "Z"),
    ("Spaceseparator", "Zs"),
    ("Spacingmark", "Mc"),
    ("Surrogate", "Cs"),
    ("Symbol", "S"),
    ("Titlecaseletter", "Lt"),
    ("Unassigned", "Cn"),
    ("Uppercaseletter", "Lu"),
];

/// Those of Go's `unicode.Scripts` that can be named, in the order of their bytes.
const SCRIPTS: &[&str] = &[
    "Adlam",
    "Ahom",
    "Arabic",
    "Armenian",
    "Avestan",
    "Balinese",
    "Bamum",
    "Batak",
    "Bengali",
    "Bhaiksuki",
    "Bopomofo",
    "Brahmi",
    "Braille",
    "Buginese",
    "Buhid",
    "Carian",
    "Chakma",
    "Cham",
    "Cherokee",
    "Chorasmian",
    "Common",
    "Coptic",
    "Cuneiform",
    "Cypriot",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Dogra",
    "Duployan",
    "Elbasan",
    "Elymaic",
    "Ethiopic",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Grantha",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hanunoo",
    "Hatran",
    "Hebrew",
    "Hiragana",
    "Inherited",
    "Javanese",
    "Kaithi",
    "Kannada",
    "Katakana",
    "Kawi",
    "Kharoshthi",
    "Khmer",
    "Khojki",
    "Khudawadi",
    "Lao",
    "Latin",
    "Lepcha",
    "Limbu",
    "Lisu",
    "Lycian",
    "Lydian",
    "Mahajani",
    "Makasar",
    "Malayalam",
    "Mandaic",
    "Manichaean",
    "Marchen",
    "Medefaidrin",
    "Miao",
    "Modi",
    "Mongolian",
    "Mro",
    "Multani",
    "Myanmar",
    "Nabataean",
    "Nandinagari",
    "Newa",
    "Nko",
    "Nushu",
    "Ogham",
    "Oriya",
    "Osage",
    "Osmanya",
    "Palmyrene",
    "Phoenician",
    "Rejang",
    "Runic",
    "Samaritan",
    "Saurashtra",
    "Sharada",
    "Shavian",
    "Siddham",
    "Sinhala",
    "Sogdian",
    "Soyombo",
    "Sundanese",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Takri",
    "Tamil",
    "Tangsa",
    "Tangut",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Tirhuta",
    "Toto",
    "Ugaritic",
    "Vai",
    "Vithkuqi",
    "Wancho",
    "Yezidi",
    "Yi",
];
