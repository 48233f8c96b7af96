//! Go's regular expression syntax in terms of the `regex-syntax` crate's.

/// Rewrites a pattern so that `regex-syntax` reads it as Go's `regexp` does.
///
/// `\d`, `\s`, `\w` and `\b` are ASCII in Go; a `{` that starts no repetition and a `[` inside of a class are literals;
/// `\Q…\E` quotes; sets have no operators. What Go rejects is mostly rejected as well; what stays different is syntax
/// that only one of them knows (`\C`, `\x{10FFFF}` forms), which is then an error.
pub(super) fn translate(pattern: &str) -> String {
    let mut rest = pattern;
    let mut out = String::with_capacity(pattern.len() + 8);
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = match character {
            '\\' => escape(after, &mut out),
            '[' => class(after, &mut out),
            '{' if !is_repetition(after) => {
                out.push_str("\\{");
                after
            }
            '*' | '+' | '?' | '}' if after.starts_with(['*', '+']) => {
                // Go: "invalid nested repetition operator". A group without its end makes it an error here, too.
                out.push('(');
                after
            }
            other => {
                out.push(other);
                after
            }
        };
    }
    out
}

fn escape<'a>(after: &'a str, out: &mut String) -> &'a str {
    let Some(character) = after.chars().next() else {
        out.push('\\');
        return after;
    };
    let rest = &after[character.len_utf8()..];
    match character {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        's' => out.push_str("[\\t\\n\\x0C\\r ]"),
        'S' => out.push_str("[^\\t\\n\\x0C\\r ]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        'b' => out.push_str("(?-u:\\b)"),
        'B' => out.push_str("(?-u:\\B)"),
        'Q' => {
            let (quoted, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
            out.push_str(&regex_syntax::escape(quoted));
            return rest;
        }
        other => {
            out.push('\\');
            out.push(other);
        }
    }
    rest
}

/// The inside of `[…]`, up to and with its end.
fn class<'a>(after: &'a str, out: &mut String) -> &'a str {
    out.push('[');
    let mut rest = after;
    if let Some(negated) = rest.strip_prefix('^') {
        out.push('^');
        rest = negated;
    }
    if let Some(literal) = rest.strip_prefix(']') {
        out.push_str("\\]");
        rest = literal;
    }
    while let Some(character) = rest.chars().next() {
        let next = &rest[character.len_utf8()..];
        match character {
            ']' => {
                out.push(']');
                return next;
            }
            '[' if next.starts_with(':') && next.contains(":]") => {
                let end = next.find(":]").map_or(next.len(), |end| end + 2);
                out.push('[');
                out.push_str(&next[..end]);
                rest = &next[end..];
                continue;
            }
            '[' | '&' | '~' => {
                out.push('\\');
                out.push(character);
            }
            '\\' => {
                let Some(escaped) = next.chars().next() else { return next };
                match escaped {
                    'd' => out.push_str("0-9"),
                    's' => out.push_str("\\t\\n\\x0C\\r "),
                    'w' => out.push_str("0-9A-Za-z_"),
                    'D' => out.push_str("[^0-9]"),
                    'S' => out.push_str("[^\\t\\n\\x0C\\r ]"),
                    'W' => out.push_str("[^0-9A-Za-z_]"),
                    other => {
                        out.push('\\');
                        out.push(other);
                    }
                }
                rest = &next[escaped.len_utf8()..];
                continue;
            }
            other => out.push(other),
        }
        rest = next;
    }
    rest
}

/// Whether the text after a `{` makes it a repetition: `n}`, `n,}`, `n,m}`.
fn is_repetition(after: &str) -> bool {
    let Some((inside, _)) = after.split_once('}') else { return false };
    let (from, to) = inside.split_once(',').unwrap_or((inside, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !from.is_empty() && digits(from) && digits(to)
}
