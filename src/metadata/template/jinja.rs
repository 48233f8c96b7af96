//! The templates of the settings that are minijinja.

use std::borrow::Cow;
use std::sync::OnceLock;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;

use super::{OUTPUT_BYTES_MAX, STEPS_MAX};
use crate::argo::jinja::{Bounds, Filter, Template, TemplateError, Value};
use crate::metadata::escape;
use crate::metadata::json::Json;

/// What makes a value harmless in Markdown, in a block of code, and as a word of a shell.
const FILTERS: [Filter; 3] = [("markdown", escape::markdown), ("code", escape::code), ("shell", escape::shell)];

/// A template that compiles.
///
/// Values are inserted as they are, since only the author of a template knows what it makes.
#[derive(Debug)]
pub(in crate::metadata) struct Jinja {
    template: OnceLock<Result<Template, TemplateError>>,
    name: &'static str,
    text: Cow<'static, str>,
}

impl Jinja {
    /// Compiles the text of the settings file `name`.
    pub(crate) fn new(name: &'static str, text: &str) -> Result<Self, Diagnostic> {
        let compiled = Self { template: OnceLock::new(), name, text: text.to_owned().into() };
        compiled.template()?;
        Ok(compiled)
    }

    /// A template of ours, which is compiled when it is needed first: most pushes need none.
    pub(crate) fn of_ours(name: &'static str, text: &'static str) -> Self {
        Self { template: OnceLock::new(), name, text: text.into() }
    }

    fn template(&self) -> Result<&Template, Diagnostic> {
        let bounds = Bounds { steps: STEPS_MAX, bytes: OUTPUT_BYTES_MAX };
        let compiled = self.template.get_or_init(|| Template::new(self.name, &self.text, bounds, &FILTERS));
        compiled.as_ref().map_err(|error| diagnostic(self.name, &self.text, error))
    }

    /// The text that the template makes of `values`, which is an object.
    pub(crate) fn render(&self, values: &Json) -> Result<String, Diagnostic> {
        self.template()?.render(value(values)).map_err(|error| diagnostic(self.name, &self.text, &error))
    }
}

fn diagnostic(name: &str, text: &str, error: &TemplateError) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!("the template {name} of the settings: {error}"));
    match (error.line, RepoPath::new(name)) {
        (Some(line), Ok(path)) => diagnostic.at(Span { line, ..Span::file(path) }.quoting(text)),
        _ => diagnostic,
    }
}

fn value(json: &Json) -> Value {
    match json {
        Json::Text(text) => Value::from(text.as_str()),
        Json::List(items) => items.iter().map(value).collect(),
        Json::Object(entries) => Value::from_pairs(entries.iter().map(|(key, json)| (*key, value(json)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> Result<String, String> {
        let values = Json::Object(vec![("name", Json::text("<web>")), ("items", Json::List(vec![Json::text("a")]))]);
        let template = Jinja::new("README.md.j2", text).map_err(|diagnostic| diagnostic.to_string())?;
        template.render(&values).map_err(|diagnostic| diagnostic.to_string())
    }

    #[test]
    fn templates() {
        let rows = [
            ("{{ name }}\n", Ok("<web>\n")),
            ("{% for item in items %}\n- {{ item }}\n{% endfor %}\nend", Ok("- a\nend")),
            (
                "a\n{{ nme }}",
                Err("it uses a value that does not exist: `nme`\n  --> README.md.j2:2\n   |\n 2 | {{ nme }}"),
            ),
            ("{% for %}", Err("README.md.j2:1\n")),
            ("{% for i in range(2000) %}{% for j in range(2000) %}{% endfor %}{% endfor %}", Err("1000000 steps")),
            ("{% for i in range(2000) %}{{ 'a' * 1000 }}{% endfor %}", Err("1048576 bytes")),
            ("{{ 'a' * 1000000000 }}", Err("too large")),
            ("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", Err("README.md.j2")),
            ("{% include 'README.md.j2' %}", Err("README.md.j2")),
            ("{% include '/etc/passwd' %}", Err("README.md.j2:1")),
            ("{{ now() }}", Err("README.md.j2:1")),
        ];
        for (text, expected) in rows {
            match (render(text), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}\n{found}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
