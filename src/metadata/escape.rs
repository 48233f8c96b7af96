//! Text of a dry commit inside of text that is read as something else: Markdown, a block of code, a shell.
//!
//! What is ordinary stays as it is, so that a README reads the same as its source.

use dry_files::diag::is_replaced;

/// The text as Markdown that shows it on one line and does nothing: no HTML, no link, no image, no emphasis, no list.
///
/// An email address in angle brackets stays: it links to nothing else than what it shows. So does a bare URL, which GitHub
/// makes a link of. Characters that turn the direction of text or control a terminal become U+FFFD.
///
/// Reference: CommonMark 0.31.2, 2.4 "Backslash escapes", 6.5 "Autolinks"; GitHub Flavored Markdown 0.29, 6.5.
pub(super) fn markdown(text: &str) -> String {
    let text = printable(&text.replace(['\n', '\r'], " "));
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let address = email_autolink_len(rest);
        let (this, after) = rest.split_at(address.max(c.len_utf8()));
        let next = after.chars().next().unwrap_or(' ');
        let is_first = escaped.is_empty();
        match c {
            '<' if address > 0 => escaped.push_str(this),
            '<' => escaped.push_str("&lt;"),
            '&' if starts_like_entity(after) => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '[' | '~' => escaped.extend(['\\', c]),
            // Inside of a word it is nothing but an underscore.
            '_' if !(before.is_alphanumeric() && next.is_alphanumeric()) => escaped.push_str("\\_"),
            '#' | '>' | '+' | '-' | '=' | '|' if is_first => escaped.extend(['\\', c]),
            '.' | ')' if !is_first && escaped.bytes().all(|b| b.is_ascii_digit()) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
        before = c;
        rest = after;
    }
    escaped
}

/// Text inside of a fence of backticks, which it cannot end.
pub(super) fn code(text: &str) -> String {
    let keep = |c: char| c == '\n' || c == '\t' || !is_replaced(c);
    let text: String = text.chars().map(|c| if keep(c) { c } else { char::REPLACEMENT_CHARACTER }).collect();
    let line = |line: &str| {
        let start = line.trim_start();
        if start.starts_with("```") { line.replacen("```", "\\`\\`\\`", 1) } else { line.to_owned() }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The text as one word of a POSIX shell, and [`code`]: in quotes only where it needs them.
pub(super) fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@+%=,".contains(c);
    let text = printable(text);
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('~') {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The text on one line, as far as bytes of hydrated commits have it so.
fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => ' ',
        c if is_replaced(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}

/// How long the email address in angle brackets is that a text starts with, in bytes; 0 when it starts with another thing.
fn email_autolink_len(text: &str) -> usize {
    let Some(end) = text.strip_prefix('<').and_then(|rest| rest.find('>')) else { return 0 };
    let is_word = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let is_address =
        text[1..=end].split_once('@').is_some_and(|(name, host)| is_word(name, ".+-_%") && is_word(host, ".-"));
    if is_address { end + 2 } else { 0 }
}

fn starts_like_entity(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(text.len());
    end > 0 && text[end..].starts_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_markdown_is_nothing_but_text() {
        let rows = [
            ("ordinary", "fix(web): scale to 3 -> 5 (#12), snake_case & \"more\"! 50%", None),
            ("an author", "Jörg Doe <joerg.doe+x@example.com>", None),
            ("HTML", "<script>alert(1)</script>", Some("&lt;script>alert(1)&lt;/script>")),
            ("a link", "[x](javascript:alert(1))", Some("\\[x](javascript:alert(1))")),
            ("an image", "![x](https://example.com/x.png)", Some("!\\[x](https://example.com/x.png)")),
            ("an autolink", "<javascript:alert(1)>", Some("&lt;javascript:alert(1)>")),
            ("an address with a script", "<a@b\"onclick=x>", Some("&lt;a@b\"onclick=x>")),
            ("an entity", "&lt;b&gt; &#x202e; a&b", Some("&amp;lt;b&amp;gt; &amp;#x202e; a&b")),
            ("emphasis", "*a* _b_ `c` ~~d~~ \\[e]", Some("\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~ \\\\\\[e]")),
            ("blocks", "# a", Some("\\# a")),
            ("a list", "12. a.", Some("12\\. a.")),
            ("several lines", "a\r\n\n# b", Some("a   # b")),
            ("controls", "\u{1b}[2J\u{202e}a", Some("\u{fffd}\\[2J\u{fffd}a")),
        ];
        for (name, text, expected) in rows {
            assert_eq!(markdown(text), expected.unwrap_or(text), "{name}");
        }
    }

    #[test]
    fn code_stays_in_its_block() {
        let rows = [
            ("helm template . --set 'a=`b`'", "helm template . --set 'a=`b`'"),
            ("a\n  ```\n<b>", "a\n  \\`\\`\\`\n<b>"),
            ("a\u{1b}\u{202e}", "a\u{fffd}\u{fffd}"),
        ];
        for (text, expected) in rows {
            assert_eq!(code(text), expected, "{text:?}");
        }
    }

    #[test]
    fn words_of_a_shell() {
        let rows = [
            ("https://git.example.com/~team/dry.git", "https://git.example.com/~team/dry.git"),
            ("git@example.com:dry.git", "git@example.com:dry.git"),
            ("https://x/$(touch y);z", "'https://x/$(touch y);z'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
        ];
        for (text, expected) in rows {
            assert_eq!(shell(text), expected, "{text:?}");
        }
    }
}
