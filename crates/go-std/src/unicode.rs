//! Go's `unicode`: classes of characters and one-to-one case mappings.
//!
//! Go 1.26 has Unicode 15: what was assigned later is unassigned here, and no character of another case.

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use unicode_general_category::{GeneralCategory, get_general_category};

/// What Unicode 15 has assigned. Noncharacters have an age, too.
pub(super) static ASSIGNED: LazyLock<ClassUnicode> = LazyLock::new(|| {
    let [mut class, unassigned] =
        ["age=15.0", "gc=Unassigned"].map(|name| property(name).expect("the tables of Unicode are built in"));
    class.difference(&unassigned);
    class
});

/// The class of a property as `regex-syntax` names it.
pub(super) fn property(name: &str) -> Option<ClassUnicode> {
    let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A class of one character, or of none.
        HirKind::Literal(literal) => {
            let only = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(only, only)]))
        }
        _ => None,
    }
}

fn is_assigned(c: char) -> bool {
    c.is_ascii() || contains(&ASSIGNED, c)
}

fn contains(class: &ClassUnicode, c: char) -> bool {
    let side = |range: &ClassUnicodeRange| match (range.end() < c, range.start() > c) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    };
    class.ranges().binary_search_by(side).is_ok()
}

fn category(c: char) -> GeneralCategory {
    if is_assigned(c) { get_general_category(c) } else { GeneralCategory::Unassigned }
}

/// Go's `unicode.IsLetter`.
pub fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    use GeneralCategory::*;
    matches!(category(c), UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter)
}

/// Go's `unicode.IsDigit`.
pub fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { category(c) == GeneralCategory::DecimalNumber }
}

/// Go's `unicode.IsNumber`.
pub fn is_number(c: char) -> bool {
    use GeneralCategory::*;
    matches!(category(c), DecimalNumber | LetterNumber | OtherNumber)
}

/// Go's `unicode.IsUpper`.
pub fn is_upper(c: char) -> bool {
    category(c) == GeneralCategory::UppercaseLetter
}

/// Go's `unicode.IsLower`.
pub fn is_lower(c: char) -> bool {
    category(c) == GeneralCategory::LowercaseLetter
}

/// Go's `unicode.IsTitle`.
pub fn is_title(c: char) -> bool {
    category(c) == GeneralCategory::TitlecaseLetter
}

/// Go's `unicode.IsPunct`.
pub fn is_punct(c: char) -> bool {
    use GeneralCategory::*;
    matches!(
        category(c),
        ConnectorPunctuation
            | DashPunctuation
            | OpenPunctuation
            | ClosePunctuation
            | InitialPunctuation
            | FinalPunctuation
            | OtherPunctuation
    )
}

/// Go's `unicode.IsSpace`.
pub fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and the ASCII blank.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    use GeneralCategory::*;
    !matches!(
        category(c),
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | SpaceSeparator | Surrogate | Unassigned
    )
}

/// Go's `unicode.ToUpper`: one character for one, so `ß` stays.
pub fn to_upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => known(c, only),
        _ => iota_subscript(c).unwrap_or(c),
    }
}

/// Go's `unicode.ToLower`.
pub fn to_lower(c: char) -> char {
    // The dot of İ goes where there is room for one character only.
    known(c, c.to_lowercase().next().unwrap_or(c))
}

/// A character in another case, unless one of the two is too new.
fn known(c: char, other: char) -> char {
    if c == other || (is_assigned(c) && is_assigned(other)) { other } else { c }
}

/// Go's `unicode.ToTitle`.
pub fn to_title(c: char) -> char {
    match c {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        '\u{10d0}'..='\u{10ff}' => c,
        c => to_upper(c),
    }
}

/// Greek letters whose capital has two characters, or one with the iota beside it.
fn iota_subscript(c: char) -> Option<char> {
    let step = match c {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => return None,
    };
    char::from_u32(c as u32 + step)
}

#[cfg(test)]
mod tests {
    use super::super::regexp::class;
    use super::*;

    const RECORDED: &str = include_str!("../../../tests/cases/go/unicode.txt");

    /// What Go answers for every character: 0 but for the ranges of a line, which have 1 or how far they are mapped.
    fn recorded(name: &str) -> impl Fn(char) -> i64 {
        let line = RECORDED.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).expect("recorded");
        let hex = |text: &str| u32::from_str_radix(text, 16).expect("a code");
        let range = |text: &str| {
            let (range, by) = text.split_once(':').unwrap_or((text, "1"));
            let (low, high) = range.split_once('-').expect("a range");
            (hex(low), hex(high), by.parse::<i64>().expect("a number"))
        };
        let ranges: Vec<_> = line.split(' ').map(range).collect();
        move |c| {
            let at = ranges.partition_point(|(_, high, _)| *high < u32::from(c));
            ranges.get(at).filter(|(low, ..)| *low <= u32::from(c)).map_or(0, |(.., by)| *by)
        }
    }

    fn assert_as_recorded(name: &str, ours: impl Fn(char) -> i64) {
        let theirs = recorded(name);
        let wrong: Vec<char> = ('\0'..=char::MAX).filter(|c| ours(*c) != theirs(*c)).collect();
        assert!(wrong.is_empty(), "{name}: {} differ: {:?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    }

    #[test]
    fn every_character_is_of_the_classes_that_go_gives_it() {
        type Class = (&'static str, fn(char) -> bool);
        let classes: [Class; 9] = [
            ("IsLetter", is_letter),
            ("IsDigit", is_digit),
            ("IsNumber", is_number),
            ("IsUpper", is_upper),
            ("IsLower", is_lower),
            ("IsTitle", is_title),
            ("IsPunct", is_punct),
            ("IsSpace", is_space),
            ("IsPrint", is_print),
        ];
        for (name, is) in classes {
            assert_as_recorded(name, |c| i64::from(is(c)));
        }
    }

    #[test]
    fn every_character_has_the_cases_that_go_gives_it() {
        type Mapping = (&'static str, fn(char) -> char);
        let mappings: [Mapping; 3] = [("ToUpper", to_upper), ("ToLower", to_lower), ("ToTitle", to_title)];
        for (name, to) in mappings {
            assert_as_recorded(name, |c| i64::from(u32::from(to(c))) - i64::from(u32::from(c)));
        }
    }

    #[test]
    fn every_character_folds_as_in_go() {
        let by = recorded("SimpleFold");
        let next = |c: char| {
            char::from_u32(u32::try_from(i64::from(u32::from(c)) + by(c)).expect("a code")).expect("a character")
        };
        let mut wrong = Vec::new();
        for c in ('\0'..=char::MAX).filter(|c| contains(&class::CASED, *c) || by(*c) != 0) {
            let mut orbit = vec![c];
            while let Some(other) = orbit.last().map(|c| next(*c)).filter(|other| *other != c) {
                orbit.push(other);
            }
            orbit.sort_unstable();
            let (folded, _) = class::folded(class::of(&[(c, c)]));
            let found: Vec<char> = folded.iter().flat_map(|range| range.start()..=range.end()).collect();
            if found != orbit {
                wrong.push((c, found, orbit));
            }
        }
        assert!(wrong.is_empty(), "{} differ: {:?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    }
}
