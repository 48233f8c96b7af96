//! Go's `unicode`: classes of characters and one-to-one case mappings.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Go's `unicode.IsLetter`.
pub fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    use GeneralCategory::*;
    matches!(
        get_general_category(c),
        UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter
    )
}

/// Go's `unicode.IsDigit`.
pub fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { get_general_category(c) == GeneralCategory::DecimalNumber }
}

/// Go's `unicode.IsNumber`.
pub fn is_number(c: char) -> bool {
    use GeneralCategory::*;
    matches!(get_general_category(c), DecimalNumber | LetterNumber | OtherNumber)
}

/// Go's `unicode.IsUpper`.
pub fn is_upper(c: char) -> bool {
    get_general_category(c) == GeneralCategory::UppercaseLetter
}

/// Go's `unicode.IsLower`.
pub fn is_lower(c: char) -> bool {
    get_general_category(c) == GeneralCategory::LowercaseLetter
}

/// Go's `unicode.IsTitle`.
pub fn is_title(c: char) -> bool {
    get_general_category(c) == GeneralCategory::TitlecaseLetter
}

/// Go's `unicode.IsPunct`.
pub fn is_punct(c: char) -> bool {
    use GeneralCategory::*;
    matches!(
        get_general_category(c),
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
        get_general_category(c),
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | SpaceSeparator | Surrogate | Unassigned
    )
}

/// Go's `unicode.ToUpper`: one character for one, so `ß` stays.
pub fn to_upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => only,
        _ => iota_subscript(c).unwrap_or(c),
    }
}

/// Go's `unicode.ToLower`.
pub fn to_lower(c: char) -> char {
    // The dot of İ goes where there is room for one character only.
    c.to_lowercase().next().unwrap_or(c)
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
