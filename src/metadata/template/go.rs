//! Templates in Go's language, as Argo CD reads them, with bounds.

use std::fmt::Display;
use std::sync::LazyLock;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use go_template::{Effects, Functions, Limits, Parsed, Runtime, Set, Value};

use super::{OUTPUT_BYTES_MAX, STEPS_MAX};

/// How many bytes a template may make in all, those of values that are thrown away included.
const BYTES_MAX: u64 = 16 << 20;
/// How deep templates, calls and control structures may nest.
const DEPTH_MAX: u32 = 100;

/// A template that compiles.
///
/// What is random or asks the clock is refused, since a hydrated commit is the same on every machine. Like Argo CD it
/// prints `<no value>` for a key that does not exist.
///
/// Reference: argo-cd `37ee0097` util/hydrator/template.go `Render`, commitserver/commit/hydratorhelper.go `writeReadme`.
#[derive(Debug)]
pub(in crate::metadata) struct Go {
    name: &'static str,
    text: String,
}

impl Go {
    /// Compiles the text of the settings file `name`.
    pub(crate) fn new(name: &'static str, text: &str) -> Result<Self, Diagnostic> {
        let template = Self { name, text: text.to_owned() };
        template.parse()?;
        Ok(template)
    }

    /// The text that the template makes of `dot`.
    pub(crate) fn render(&self, dot: Value) -> Result<String, Diagnostic> {
        let mut set = Set::new(self.name);
        set.put(&self.parse()?);
        let limits = Limits { steps: STEPS_MAX, bytes: BYTES_MAX, depth: DEPTH_MAX };
        let output = Runtime::new(limits, Effects::Refuse).execute(&set, self.name, dot);
        let output = output.map_err(|failure| {
            let line = failure.levels().last().map(|level| level.place.line);
            self.diagnose(&failure, line)
        })?;
        if output.len() > OUTPUT_BYTES_MAX {
            return Err(self.diagnose(&format_args!("its output has more than {OUTPUT_BYTES_MAX} bytes"), None));
        }
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// A parsed template belongs to one thread; a README takes microseconds.
    fn parse(&self) -> Result<Parsed, Diagnostic> {
        static FUNCTIONS: LazyLock<Functions> = LazyLock::new(Functions::sprig);
        Parsed::new(self.name, self.text.as_str(), &FUNCTIONS)
            .map_err(|error| self.diagnose(&error.message, Some(error.line)))
    }

    fn diagnose(&self, reason: &dyn Display, line: Option<u32>) -> Diagnostic {
        let diagnostic = Diagnostic::error(format!("the template {} of the settings: {reason}", self.name));
        match (line, RepoPath::new(self.name)) {
            (Some(line), Ok(path)) => diagnostic.at(Span { line, ..Span::file(path) }.quoting(&self.text)),
            _ => diagnostic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_template::Map;

    #[test]
    fn templates() {
        let dot = || {
            let map = Map::new();
            map.set("name", "<web>");
            Value::Map(map)
        };
        let rows = [
            ("{{ .name }}\n", Ok("<web>\n")),
            ("{{ .name | trunc 2 | upper }}", Ok("<W")),
            ("{{ .nme }}", Ok("<no value>")),
            ("{{- if .x }}\na{{ end -}}\nb", Ok("b")),
            ("a\n{{ .name.first }}", Err("README.tmpl:2")),
            ("{{ if }}", Err("missing value for if")),
            ("{{ now }}", Err("`now` reads the clock")),
            ("{{ randAlpha 5 }}", Err("`randAlpha` is random")),
            ("{{ env \"HOME\" }}", Err("function \"env\" not defined")),
            ("{{ repeat 9999999 \"a\" }}", Err("16777216 bytes")),
            ("{{ repeat 2000000 \"a\" }}", Err("1048576 bytes")),
            ("{{ $l := until 2000 }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}", Err("1000000")),
            ("{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}", Err("100")),
        ];
        for (text, expected) in rows {
            let rendered = Go::new("README.tmpl", text).and_then(|template| template.render(dot()));
            match (rendered.map_err(|error| error.to_string()), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}\n{found}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
