//! Go's `net/mail`: addresses of people.

use std::fmt::Write as _;

use data_encoding::BASE64;

/// The name and the address of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    name: String,
    address: String,
}

impl Address {
    /// Reads `Name <local@domain>` or `local@domain`, with quotes, comments and encoded words.
    ///
    /// `None` for what Go's `mail.ParseAddress` refuses, and for a group of addresses.
    ///
    /// Reference: RFC 5322 as Go 1.26 net/mail/message.go reads it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = Rest(text);
        rest.skip_blanks();
        let found = match rest.address_spec() {
            Some(address) => {
                rest.skip_blanks();
                let name = if rest.0.starts_with('(') { rest.name_in_comment()? } else { String::new() };
                Self { name, address }
            }
            None => {
                let name = if rest.0.starts_with('<') { String::new() } else { rest.phrase()? };
                rest.skip_blanks();
                rest.take('<')?;
                let address = rest.address_spec()?;
                rest.take('>')?;
                Self { name, address }
            }
        };
        rest.skip_comments()?;
        rest.0.is_empty().then_some(found)
    }

    /// `Name <local@domain>` for people to read, or `local@domain` without a name; one line.
    pub fn plain(&self) -> String {
        let line = |text: &str| -> String { text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect() };
        match line(&self.name).trim() {
            "" => line(&self.address),
            name => format!("{name} <{}>", line(&self.address)),
        }
    }

    /// `"Name" <local@domain>` in ASCII: what Go's `mail.Address.String` prints.
    pub fn rfc5322(&self) -> String {
        let (local, domain) = self.address.rsplit_once('@').unwrap_or((&self.address, ""));
        let plain =
            !local.is_empty() && local.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atom_char));
        let local = if plain { local.to_owned() } else { quoted(local) };
        let address = format!("<{local}@{domain}>");
        if self.name.is_empty() {
            address
        } else if self.name.chars().all(|c| matches!(c, ' '..='~' | '\t')) {
            format!("{} {address}", quoted(&self.name))
        } else if self.name.contains(|c| "\"#$%&'(),.:;<>@[]^`{|}~".contains(c)) {
            format!("{} {address}", encoded_base64(&self.name))
        } else {
            format!("{} {address}", encoded_quoted(&self.name))
        }
    }
}

fn is_visible(c: char) -> bool {
    matches!(c, '!'..='~') || !c.is_ascii()
}

fn is_atom_char(c: char) -> bool {
    is_visible(c) && !"()<>[]:;@\\,\".".contains(c)
}

fn is_quoted_char(c: char) -> bool {
    is_visible(c) && c != '\\' && c != '"'
}

/// What is left of an address. A reader that answers none may have taken a part.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, c: char) -> Option<()> {
        self.0 = self.0.strip_prefix(c)?;
        Some(())
    }

    /// `local@domain`; nothing is taken when there is none.
    fn address_spec(&mut self) -> Option<String> {
        let mut rest = Rest(self.0);
        rest.skip_blanks();
        let local = if rest.0.starts_with('"') { rest.quoted_string() } else { rest.dot_atom().map(str::to_owned) };
        let local = local.filter(|local| !local.is_empty())?;
        rest.take('@')?;
        rest.skip_blanks();
        let domain = if rest.0.starts_with('[') { rest.domain_literal() } else { rest.dot_atom() }?;
        self.0 = rest.0;
        Some(format!("{local}@{domain}"))
    }

    /// `[192.0.2.1]`
    fn domain_literal(&mut self) -> Option<&'a str> {
        let end = self.0.find(']')? + 1;
        let (literal, rest) = self.0.split_at(end);
        literal.strip_prefix('[')?.strip_suffix(']')?.parse::<std::net::IpAddr>().ok()?;
        self.0 = rest;
        Some(literal)
    }

    fn atom(&mut self) -> Option<&'a str> {
        let end = self.0.find(|c| !is_atom_char(c) && c != '.').unwrap_or(self.0.len());
        let (atom, rest) = self.0.split_at(end);
        self.0 = rest;
        (!atom.is_empty()).then_some(atom)
    }

    fn dot_atom(&mut self) -> Option<&'a str> {
        self.atom().filter(|atom| atom.split('.').all(|part| !part.is_empty()))
    }

    fn quoted_string(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.0.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.0 = &self.0[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(chars.next().map(|(_, c)| c).filter(|&c| is_visible(c) || c == ' ' || c == '\t')?),
                c if is_quoted_char(c) || c == ' ' || c == '\t' => text.push(c),
                _ => return None,
            }
        }
        None
    }

    /// A display name: words with blanks or comments between them. Encoded words are decoded, and joined when they
    /// follow each other.
    fn phrase(&mut self) -> Option<String> {
        let mut phrase = String::new();
        let mut words = 0;
        let mut after_encoded = false;
        loop {
            if words > 0 {
                self.skip_comments()?;
            }
            let mut rest = Rest(self.0.trim_start_matches([' ', '\t']));
            let word = if rest.0.starts_with('"') {
                rest.quoted_string().map(|text| (text, false))
            } else {
                rest.atom().and_then(decoded)
            };
            let Some((word, encoded)) = word else { break };
            self.0 = rest.0;
            if words > 0 && !(after_encoded && encoded) {
                phrase.push(' ');
            }
            phrase.push_str(&word);
            words += 1;
            after_encoded = encoded;
        }
        (words > 0).then_some(phrase)
    }

    /// Blanks and comments; `None` when a comment has no end.
    fn skip_comments(&mut self) -> Option<()> {
        self.skip_blanks();
        while self.0.starts_with('(') {
            self.comment()?;
            self.skip_blanks();
        }
        Some(())
    }

    /// The text of a comment, which may contain others.
    fn comment(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut depth = 0_usize;
        let mut chars = self.0.char_indices();
        while let Some((at, mut c)) = chars.next() {
            match c {
                '\\' => c = chars.next().map_or(c, |(_, c)| c),
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.0 = &self.0[at + 1..];
                return Some(text);
            }
            if at > 0 {
                text.push(c);
            }
        }
        None
    }

    /// `local@domain (Name)`
    fn name_in_comment(&mut self) -> Option<String> {
        let comment = self.comment()?;
        let words = comment.split([' ', '\t']).filter(|word| !word.is_empty());
        let words: Option<Vec<String>> = words.map(|word| decoded(word).map(|(word, _)| word)).collect();
        Some(words?.join(" "))
    }
}

/// The word itself, or an encoded word of RFC 2047 decoded; `None` for a charset that Go doesn't know.
fn decoded(word: &str) -> Option<(String, bool)> {
    let as_it_is = || Some((word.to_owned(), false));
    let inner = word.strip_prefix("=?").and_then(|word| word.strip_suffix("?="));
    let Some(parts) = inner.map(|inner| inner.split('?').collect::<Vec<_>>()) else { return as_it_is() };
    let &[charset, encoding, text] = parts.as_slice() else { return as_it_is() };
    if charset.is_empty() {
        return as_it_is();
    }
    let bytes = match encoding {
        "b" | "B" => BASE64.decode(text.as_bytes()).ok(),
        "q" | "Q" => decode_quoted(text),
        _ => None,
    };
    let Some(bytes) = bytes else { return as_it_is() };
    match charset.to_ascii_lowercase().as_str() {
        "utf-8" => Some((String::from_utf8_lossy(&bytes).into_owned(), true)),
        "iso-8859-1" => Some((bytes.iter().map(|&b| char::from(b)).collect(), true)),
        "us-ascii" => {
            let ascii = |&b: &u8| if b.is_ascii() { char::from(b) } else { char::REPLACEMENT_CHARACTER };
            Some((bytes.iter().map(ascii).collect(), true))
        }
        _ => None,
    }
}

fn decode_quoted(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match byte {
            b'_' => bytes.push(b' '),
            b'=' => bytes.push(hex(rest.next()?)? * 16 + hex(rest.next()?)?),
            b' '..=b'~' | b'\n' | b'\r' | b'\t' => bytes.push(byte),
            _ => return None,
        }
    }
    Some(bytes)
}

fn quoted(text: &str) -> String {
    let mut result = String::from("\"");
    for c in text.chars() {
        if is_quoted_char(c) || c == ' ' || c == '\t' {
            result.push(c);
        } else if is_visible(c) {
            result.push('\\');
            result.push(c);
        }
    }
    result.push('"');
    result
}

/// How many bytes an encoded word may have: 75 without `=?utf-8?q?` and `?=`.
const ENCODED_BYTES_MAX: usize = 63;

fn encoded_quoted(text: &str) -> String {
    let mut result = String::from("=?utf-8?q?");
    let mut length = 0;
    for c in text.chars() {
        let literal = matches!(c, ' '..='~') && !matches!(c, '=' | '?' | '_');
        let width = if literal { 1 } else { 3 * c.len_utf8() };
        if length + width > ENCODED_BYTES_MAX {
            result.push_str("?= =?utf-8?q?");
            length = 0;
        }
        length += width;
        match c {
            ' ' => result.push('_'),
            c if literal => result.push(c),
            c => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String never fails.
                    let _ = write!(result, "={byte:02X}");
                }
            }
        }
    }
    result.push_str("?=");
    result
}

fn encoded_base64(text: &str) -> String {
    let bytes_max =
        if BASE64.encode_len(text.len()) <= ENCODED_BYTES_MAX { text.len() } else { ENCODED_BYTES_MAX / 4 * 3 };
    let mut words = vec![String::new()];
    let mut word = String::new();
    for c in text.chars() {
        if word.len() + c.len_utf8() > bytes_max {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let words = words.iter().filter(|word| !word.is_empty());
    words.map(|word| format!("=?utf-8?b?{}?=", BASE64.encode(word.as_bytes()))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_go_reads_and_writes_them() {
        // From Go's net/mail and mime tests and their rules.
        let rows: &[(&str, Option<(&str, &str)>)] = &[
            ("John Doe <j@x>", Some(("\"John Doe\" <j@x>", "John Doe <j@x>"))),
            ("jdoe@machine.example", Some(("<jdoe@machine.example>", "jdoe@machine.example"))),
            ("<j@x>", Some(("<j@x>", "j@x"))),
            (
                "\"Joe Q. Public\" <john.q.public@example.com>",
                Some(("\"Joe Q. Public\" <john.q.public@example.com>", "Joe Q. Public <john.q.public@example.com>")),
            ),
            (
                "John (middle) Doe <jdoe@machine.example>",
                Some(("\"John Doe\" <jdoe@machine.example>", "John Doe <jdoe@machine.example>")),
            ),
            (
                "jdoe@machine.example (John Doe)",
                Some(("\"John Doe\" <jdoe@machine.example>", "John Doe <jdoe@machine.example>")),
            ),
            (
                "Jörg Doe <joerg@example.com>",
                Some(("=?utf-8?q?J=C3=B6rg_Doe?= <joerg@example.com>", "Jörg Doe <joerg@example.com>")),
            ),
            (
                "=?iso-8859-1?q?J=F6rg_Doe?= <joerg@example.com>",
                Some(("=?utf-8?q?J=C3=B6rg_Doe?= <joerg@example.com>", "Jörg Doe <joerg@example.com>")),
            ),
            (
                "=?utf-8?q?J=C3=B6rg?=  =?utf-8?q?Doe?= <joerg@example.com>",
                Some(("=?utf-8?q?J=C3=B6rgDoe?= <joerg@example.com>", "JörgDoe <joerg@example.com>")),
            ),
            (
                "=?utf-8?b?SsO2cmc=?= <joerg@example.com>",
                Some(("=?utf-8?q?J=C3=B6rg?= <joerg@example.com>", "Jörg <joerg@example.com>")),
            ),
            ("\"Jörg, Doe\" <j@x>", Some(("=?utf-8?b?SsO2cmcsIERvZQ==?= <j@x>", "Jörg, Doe <j@x>"))),
            ("\"a \\\" b\" <j@x>", Some(("\"a \\\" b\" <j@x>", "a \" b <j@x>"))),
            ("\"john..doe\"@x", Some(("<\"john..doe\"@x>", "john..doe@x"))),
            ("a@[192.0.2.1]", Some(("<a@[192.0.2.1]>", "a@[192.0.2.1]"))),
            ("dependabot[bot] <d@x>", None),
            (
                "=?utf-8?q?a=0AHydrate-Dry=3A_b?= <j@x>",
                Some(("=?utf-8?b?YQpIeWRyYXRlLURyeTogYg==?= <j@x>", "a Hydrate-Dry: b <j@x>")),
            ),
            ("Argocd-reference-commit-author", None),
            ("John Doe", None),
            ("john.doe@", None),
            ("@x", None),
            ("a..b@x", None),
            ("a@x, b@x", None),
            ("group: a@x;", None),
            ("John <j@x> Doe", None),
            ("John <j@x", None),
            ("a@x (open", None),
            ("=?utf-7?q?a?= <j@x>", None),
            ("", None),
            (" ", None),
            ("\"", None),
            ("(", None),
        ];
        for (text, expected) in rows {
            let address = Address::parse(text);
            let found = address.map(|address| (address.rfc5322(), address.plain()));
            assert_eq!(found.as_ref().map(|(go, plain)| (go.as_str(), plain.as_str())), *expected, "{text:?}");
        }
    }

    #[test]
    fn long_names_are_split_between_characters() {
        let address = Address { name: "ä".repeat(12), address: "a@x".to_owned() };
        let expected = format!("=?utf-8?q?{}?= =?utf-8?q?{}?= <a@x>", "=C3=A4".repeat(10), "=C3=A4".repeat(2));
        assert_eq!(address.rfc5322(), expected);
        let address = Address { name: format!("{},", "ä".repeat(30)), address: "a@x".to_owned() };
        let first = BASE64.encode("ä".repeat(22).as_bytes());
        let second = BASE64.encode(format!("{},", "ä".repeat(8)).as_bytes());
        assert_eq!(address.rfc5322(), format!("=?utf-8?b?{first}?= =?utf-8?b?{second}?= <a@x>"));
    }
}
