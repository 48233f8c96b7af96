//! The template language of sets without `goTemplate`: `{{name}}`.

use go_template::{Map, Value};
use go_yaml::quote;

use super::fault::quoted_part;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// Why a text could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Error {
    /// A `{{` without an end behind it.
    #[error("invalid template: Cannot find end tag={} in the template={} starting from {}", quote(CLOSE), quote(.template), quote(.rest))]
    Open { template: String, rest: String },
    /// The result would be larger than is left.
    #[error("the output of the templates is larger than the limit")]
    TooLong,
}

/// Puts params in place of their names; at most `bytes_max` bytes.
///
/// A name is one flat key, blanks around it left out. One that is unknown, empty, or whose value is no text, stays as it
/// is written. What is put in is not rendered again. A text of which no line has both `{{` and, behind it, `}}` is not
/// looked at.
///
/// Reference: argo-cd `37ee0097` applicationset/utils/utils.go `Replace`; valyala/fasttemplate 1.2.2 `NewTemplate`.
pub(super) fn render(text: &str, params: &Map, bytes_max: usize) -> Result<String, Error> {
    if !is_template(text) {
        return Ok(text.to_owned());
    }
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let Some((tag, after)) = behind.split_once(CLOSE) else {
            return Err(Error::Open {
                template: quoted_part(text).into_owned(),
                rest: quoted_part(behind).into_owned(),
            });
        };
        out.extend_from_slice(before.as_bytes());
        let name = tag.trim();
        match params.get(name.as_bytes()) {
            Some(Value::String(value)) if !name.is_empty() => out.extend_from_slice(&value),
            _ => [OPEN, tag, CLOSE].iter().for_each(|part| out.extend_from_slice(part.as_bytes())),
        }
        rest = after;
        if out.len() > bytes_max {
            return Err(Error::TooLong);
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn is_template(text: &str) -> bool {
    text.split('\n').any(|line| line.split_once(OPEN).is_some_and(|(_, behind)| behind.contains(CLOSE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What upstream's renderer gives.
    #[test]
    fn tags() {
        let params: Map = [("one", "two"), ("three", "four"), ("a.b", "x"), ("path[0]", "p0"), ("", "e"), (" ", "b")]
            .into_iter()
            .map(|(key, value)| (key.into(), Value::from(value)))
            .collect();
        params.set("num", Value::int(1));
        params.set("nested", "{{one}}");
        let rows: &[(&str, &str)] = &[
            ("{{one}}", "two"),
            ("{{ one }}", "two"),
            ("{{\tone }}", "two"),
            ("{{one}}{{three}}", "twofour"),
            ("{{ONE}}", "{{ONE}}"),
            ("}} {{", "}} {{"),
            ("{{ }}", "{{ }}"),
            ("{{}}", "{{}}"),
            ("{{.one}}", "{{.one}}"),
            ("{{ a.b }}", "x"),
            ("{{path[0]}}", "p0"),
            ("{{num}}", "{{num}}"),
            ("{{ missing }}", "{{ missing }}"),
            ("{{nested}}", "{{one}}"),
            ("{{{{one}}}}", "{{{{one}}}}"),
            ("{{{one}}}", "{{{one}}}"),
            ("{{one}", "{{one}"),
            ("a\n{{\none\n}}", "a\n{{\none\n}}"),
            ("{{one}}\n{{\nthree\n}}", "two\nfour"),
        ];
        for (text, expected) in rows {
            assert_eq!(render(text, &params, 1000).as_deref(), Ok(*expected), "{text:?}");
        }
        let open = render("{{one}} {{three}", &params, 1000).map_err(|error| error.to_string());
        let message =
            r#"invalid template: Cannot find end tag="}}" in the template="{{one}} {{three}" starting from "three}""#;
        assert_eq!(open, Err(message.to_owned()));
    }

    #[test]
    fn what_grows_beyond_the_limit_ends() {
        let params: Map = [("a".into(), Value::from("x".repeat(1000)))].into_iter().collect();
        assert_eq!(render(&"{{a}}".repeat(1_000_000), &params, 10_000), Err(Error::TooLong));
    }
}
