//! The value that a template takes in place of a call: `.Values.id` in `{{ .Values.id | default (randAlphaNum 8) }}`.

/// The value, as a path without `.Values.`, that is taken in place of a call at a byte of a line, if the text of the line says so; of
/// `default` only.
pub(super) fn value_in_place(line: &str, call: usize) -> Option<&str> {
    let before = line.get(..call)?;
    let start = before.rfind("{{").map_or(0, |at| at + 2);
    let default = start + before.get(start..)?.rfind("default")?;
    let open = default + "default".len();
    // The call is all of its argument, or a part of it.
    let argument = open + before.get(open..)?.find(|c: char| !c.is_whitespace())?;
    if line.get(argument..)?.starts_with('(') {
        let end = closed(line.get(argument..)?)? + argument;
        if end < call {
            return None;
        }
        piped(line.get(start..default)?).or_else(|| value_at(line.get(end..)?.trim_start()))
    } else {
        None
    }
}

/// The value at the end of `… | `.
fn piped(text: &str) -> Option<&str> {
    let text = text.trim_end().strip_suffix('|')?.trim_end();
    let at = text.rfind(|c: char| c.is_whitespace() || "({|,".contains(c)).map_or(0, |at| at + 1);
    let path = value_at(text.get(at..)?)?;
    text.ends_with(path).then_some(path)
}

/// The value that a text begins with.
fn value_at(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('$').unwrap_or(text).strip_prefix(".Values.")?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
    rest.get(..end).filter(|path| !path.is_empty() && !path.ends_with('.'))
}

/// Where the bracket that a text begins with is closed.
fn closed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_value_stands_in() {
        let rows = [
            ("id: {{ .Values.instanceId | default (randAlphaNum 8) }}", Some("instanceId")),
            ("id: {{ $.Values.a.b | default (randAlphaNum 8 | b64enc) | quote }}", Some("a.b")),
            ("id: {{ default (randAlphaNum 8) .Values.id | quote }}", Some("id")),
            ("id: {{ default (printf \"%s-x\" (randAlphaNum 8)) .Values.id }}", Some("id")),
            ("id: {{ .Values.x }}{{ .Values.id | default (randAlphaNum 8) }}", Some("id")),
            ("id: {{ quote (.Values.id | default (randAlphaNum 8)) }}", Some("id")),
            ("id: {{ randAlphaNum 8 }}", None),
            ("id: {{ .Values.x | default \"a\" | printf \"%s-%s\" (randAlphaNum 8) }}", None),
            ("id: {{ .Values.x | default (.Values.y) | printf \"%s-%s\" (randAlphaNum 8) }}", None),
            ("id: {{ $x | default (randAlphaNum 8) }}", None),
            ("id: {{ index .Values \"a\" | default (randAlphaNum 8) }}", None),
            ("id: {{ .Values. | default (randAlphaNum 8 }}", None),
        ];
        for (line, expected) in rows {
            let call = line.find("randAlphaNum").expect("there");
            assert_eq!(value_in_place(line, call), expected, "{line}");
        }
        assert_eq!(value_in_place("short", 99), None);
    }
}
