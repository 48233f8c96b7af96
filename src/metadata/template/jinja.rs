//! Templates in minijinja, without any way out, and with bounds.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value};

use crate::diag::{Diagnostic, Span};
use crate::path::RepoPath;

use super::{OUTPUT_BYTES_MAX, STEPS_MAX};
use crate::metadata::escape;
use crate::metadata::json::Json;

/// How deep macros may call each other.
const DEPTH_MAX: usize = 50;

/// A template that compiles.
///
/// A line that holds nothing but a tag leaves no line behind. A value that does not exist is an error. There is no way
/// to a file, the clock or another template, and what a template makes depends on its values alone. Values are inserted as
/// they are, since only the author of a template knows what it makes; the filters `markdown`, `code` and `shell` make one
/// harmless in Markdown, in a block of code, and as a word of a shell.
#[derive(Debug)]
pub(in crate::metadata) struct Jinja {
    environment: Environment<'static>,
    name: &'static str,
    text: String,
}

impl Jinja {
    /// Compiles the text of the settings file `name`.
    pub fn new(name: &'static str, text: &str) -> Result<Self, Diagnostic> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.add_filter("markdown", |text: &str| escape::markdown(text));
        environment.add_filter("code", |text: &str| escape::code(text));
        environment.add_filter("shell", |text: &str| escape::shell(text));
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        environment.set_syntax(syntax.build().expect("the usual delimiters are valid"));
        environment.set_fuel(Some(STEPS_MAX));
        environment.set_recursion_limit(DEPTH_MAX);
        let mut template = Self { environment, name, text: text.to_owned() };
        match template.environment.add_template_owned(name, text.to_owned()) {
            Ok(()) => Ok(template),
            Err(error) => Err(template.diagnose(&error)),
        }
    }

    /// The text that the template makes of `values`, which is an object.
    pub fn render(&self, values: &Json) -> Result<String, Diagnostic> {
        let mut output = Bounded(Vec::new());
        let template = self.environment.get_template(self.name).map_err(|error| self.diagnose(&error))?;
        template.render_captured_to(value(values), &mut output).map_err(|error| self.diagnose(&error))?;
        Ok(String::from_utf8_lossy(&output.0).into_owned())
    }

    fn diagnose(&self, error: &minijinja::Error) -> Diagnostic {
        let reason = match (error.kind(), error.detail()) {
            (ErrorKind::WriteFailure, _) => format!("its output has more than {OUTPUT_BYTES_MAX} bytes"),
            (ErrorKind::OutOfFuel, _) => format!("it takes more than {STEPS_MAX} steps"),
            (ErrorKind::UndefinedError, None) => "it uses a value that does not exist".to_owned(),
            (kind, None) => kind.to_string(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
        };
        let diagnostic = Diagnostic::error(format!("the template {} of the settings: {reason}", self.name));
        let line = error.line().and_then(|line| u32::try_from(line).ok());
        match (line, RepoPath::new(self.name)) {
            (Some(line), Ok(path)) => diagnostic.at(Span { line, ..Span::file(path) }.quoting(&self.text)),
            _ => diagnostic,
        }
    }
}

fn value(json: &Json) -> Value {
    match json {
        Json::Text(text) => Value::from(text.as_str()),
        Json::List(items) => items.iter().map(value).collect(),
        Json::Object(entries) => Value::from_pairs(entries.iter().map(|(key, json)| (*key, value(json)))),
    }
}

/// A buffer that refuses to grow without end.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > OUTPUT_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
            ("a\n{{ nme }}", Err("it uses a value that does not exist\n  --> README.md.j2:2\n   |\n 2 | {{ nme }}")),
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
