//! Templates in minijinja, without any way out, and with bounds.
//!
//! What a template makes depends on its values alone: there is no way to a file, the clock or another template. A line that
//! has nothing but a tag leaves no line behind, and a value that does not exist is an error.

use std::collections::BTreeSet;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};

pub(crate) use minijinja::Value;

/// How deep macros may call each other.
const DEPTH_MAX: usize = 50;

/// The functions that templates have, which are not values.
const FUNCTIONS: [&str; 3] = ["dict", "namespace", "range"];

/// What one template may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Instructions.
    pub steps: u64,
    /// The length of what it makes, in bytes.
    pub bytes: usize,
}

/// A filter that templates have beside the usual ones.
pub(crate) type Filter = (&'static str, fn(&str) -> String);

/// A template that compiles. Values are inserted as they are.
#[derive(Debug)]
pub(crate) struct Template {
    environment: Environment<'static>,
    name: String,
    bounds: Bounds,
}

/// Why a template does not compile, or makes nothing of its values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct TemplateError {
    /// The line of the template, 1-based, when it is known.
    pub line: Option<u32>,
    /// Why, in one line.
    pub reason: String,
}

impl Template {
    /// Compiles a text.
    pub(crate) fn new(name: &str, text: &str, bounds: Bounds, filters: &[Filter]) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // Places of errors are known all the same; what there was at each place is not kept.
        environment.set_debug(false);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        for (name, filter) in filters {
            environment.add_filter(*name, *filter);
        }
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        environment.set_syntax(syntax.build().expect("the usual delimiters are valid"));
        environment.set_fuel(Some(bounds.steps));
        environment.set_recursion_limit(DEPTH_MAX);
        let mut template = Self { environment, name: name.to_owned(), bounds };
        match template.environment.add_template_owned(name.to_owned(), text.to_owned()) {
            Ok(()) => Ok(template),
            Err(error) => Err(template.error(&error)),
        }
    }

    /// The text that the template makes of a mapping of values.
    pub(crate) fn render(&self, values: Value) -> Result<String, TemplateError> {
        let mut output = Bounded { text: Vec::new(), bytes_max: self.bounds.bytes };
        let template = self.environment.get_template(&self.name).map_err(|error| self.error(&error))?;
        template.render_captured_to(values, &mut output).map_err(|error| self.error(&error))?;
        Ok(String::from_utf8_lossy(&output.text).into_owned())
    }

    /// The values that it may ask for, with dots where it asks for one inside of another: `destination.server`.
    pub(crate) fn variables(&self) -> BTreeSet<String> {
        let Ok(template) = self.environment.get_template(&self.name) else { return BTreeSet::new() };
        let is_value = |name: &String| !FUNCTIONS.contains(&name.as_str());
        template.undeclared_variables(true).into_iter().filter(is_value).collect()
    }

    fn error(&self, error: &minijinja::Error) -> TemplateError {
        let Bounds { steps, bytes } = self.bounds;
        let reason = match (error.kind(), error.detail()) {
            (ErrorKind::WriteFailure, _) => format!("its output has more than {bytes} bytes"),
            (ErrorKind::OutOfFuel, _) => format!("it takes more than {steps} steps"),
            (ErrorKind::UndefinedError, None) => match self.expression(error) {
                Some(expression) => format!("it uses a value that does not exist: `{expression}`"),
                None => "it uses a value that does not exist".to_owned(),
            },
            (kind, None) => kind.to_string(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
        };
        TemplateError { line: error.line().and_then(|line| u32::try_from(line).ok()), reason }
    }

    /// What the template says at the place of an error, if that is on one line and short enough to be read.
    fn expression(&self, error: &minijinja::Error) -> Option<String> {
        const CHARS_MAX: usize = 80;
        let template = self.environment.get_template(&self.name).ok()?;
        let text = template.source().get(error.range()?)?.trim();
        let is_short = !text.is_empty() && text.chars().count() <= CHARS_MAX && !text.contains('\n');
        is_short.then(|| text.to_owned())
    }
}

/// A buffer that refuses to grow without end.
struct Bounded {
    text: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_that_a_template_asks_for() {
        let bounds = Bounds { steps: 100, bytes: 100 };
        let text = "{{ name }}{% for x in range(3) %}{{ x }}{% endfor %}{{ destination.server }}{{ labels['a.b/c'] }}";
        let template = Template::new("path", text, bounds, &[]).expect("it compiles");
        let variables: Vec<String> = template.variables().into_iter().collect();
        assert_eq!(variables, ["destination.server", "labels", "name"]);
    }
}
