//! Renders texts of a set: in Go's template language, or in the plain one.

use std::collections::HashMap;

use dry_files::view::Stop;
use go_template::{self as template, Effects, Map, MissingKey, Parsed, Runtime, Set, Value, printed};
use go_yaml::quote;

use super::Limits;
use super::fasttemplate;
use super::fault::{Fault, Result, quoted_part};
use super::functions::functions;

/// The name that Argo CD gives every template.
const NAME: &str = "base";
/// How many texts are kept parsed.
const PARSED_MAX: usize = 10_000;

/// The language of one set, with what is left of its limits.
pub(super) struct Language {
    /// `goTemplate`
    pub is_go: bool,
    /// `goTemplateOptions`
    options: Vec<String>,
    runtime: Runtime,
    parsed: HashMap<String, Parsed>,
    bytes_left: usize,
    sets_left: usize,
    stop: Stop,
}

/// What a template does about a key that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// What the set's options say.
    AsSet,
    /// It fails.
    Fails,
}

impl Language {
    pub(super) fn new(is_go: bool, options: Vec<String>, limits: &Limits, stop: Stop) -> Self {
        let over = stop.clone();
        let runtime = Runtime::new(limits.template, Effects::Refuse).with_deadline(move || over.is_set());
        let (bytes_left, sets_left) = (limits.bytes, limits.params);
        Self { is_go, options, runtime, parsed: HashMap::new(), bytes_left, sets_left, stop }
    }

    /// Renders one text.
    ///
    /// Reference: argo-cd `37ee0097` applicationset/utils/utils.go `Replace`.
    pub(super) fn render(&mut self, text: &str, params: &Map, missing: Missing) -> Result<String> {
        if !self.is_go {
            let rendered = fasttemplate::render(text, params, self.bytes_left);
            let rendered = rendered.map_err(|error| Fault::new(error.to_string()))?;
            self.charge(rendered.len())?;
            return Ok(rendered);
        }
        let missing_key = self.missing_key(missing)?;
        if !text.contains("{{") {
            self.charge(text.len())?;
            return Ok(text.to_owned());
        }
        let parsed = self.parse(text)?;
        let mut set = Set::new(NAME);
        set.put(&parsed);
        self.runtime.set_missing_key(missing_key);
        let rendered = self.runtime.execute(&set, NAME, Value::Map(params.clone())).map_err(|failure| {
            Fault::of_template(format_args!("failed to execute go template {}: ", quoted_part(text)), &failure)
        })?;
        self.charge(rendered.len())?;
        Ok(String::from_utf8(rendered).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn parse(&mut self, text: &str) -> Result<Parsed> {
        if let Some(parsed) = self.parsed.get(text) {
            return Ok(parsed.clone());
        }
        let parsed = Parsed::new(NAME, text, functions())
            .map_err(|error| Fault::new(format!("failed to parse template {}: {error}", quoted_part(text))))?;
        if self.parsed.len() < PARSED_MAX {
            self.parsed.insert(text.to_owned(), parsed.clone());
        }
        Ok(parsed)
    }

    fn missing_key(&self, missing: Missing) -> Result<MissingKey> {
        let mut chosen = MissingKey::Invalid;
        for option in &self.options {
            if missing == Missing::Fails && option.starts_with("missingkey=") {
                continue;
            }
            chosen = match option.as_str() {
                "missingkey=default" | "missingkey=invalid" => MissingKey::Invalid,
                "missingkey=zero" => MissingKey::Zero,
                "missingkey=error" => MissingKey::Error,
                "" => return Err(Fault::new("empty option string").in_options()),
                option => return Err(Fault::new(format!("unrecognized option: {option}")).in_options()),
            };
        }
        Ok(if missing == Missing::Fails { MissingKey::Error } else { chosen })
    }

    /// What Go's `%v` prints of a value.
    pub(super) fn print(&mut self, value: &Value) -> Result<String> {
        let text = match value {
            Value::String(text) => text.to_str().into_owned(),
            Value::List(_) | Value::Map(_) | Value::Struct(_) => {
                // As an action prints it, which counts what it makes.
                let parsed = self.parse("{{ . }}")?;
                let mut set = Set::new(NAME);
                set.put(&parsed);
                let text = self.runtime.execute(&set, NAME, value.clone());
                let text = text.map_err(|failure| Fault::of_template("", &failure))?;
                String::from_utf8_lossy(&text).into_owned()
            }
            scalar => printed("%v", scalar),
        };
        self.charge(text.len())?;
        Ok(text)
    }

    /// Takes bytes of what the set may make. An error when the time is over, too.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        if self.stop.is_set() {
            return Err(Fault::new("the time limit was reached"));
        }
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(|| too_much("bytes"))?;
        Ok(())
    }

    /// Takes params sets of those that the generators may make.
    pub(super) fn charge_sets(&mut self, count: usize) -> Result<()> {
        self.sets_left = self.sets_left.checked_sub(count).ok_or_else(|| too_much("params sets"))?;
        Ok(())
    }

    /// Takes steps of work that makes nothing, such as comparing: a byte for sixteen of them.
    pub(super) fn charge_steps(&mut self, steps: usize) -> Result<()> {
        self.charge(steps / 16)
    }

    /// Takes what was used up off the limits that all sets of a tree share.
    pub(super) fn take_off(&self, limits: &mut Limits) {
        limits.bytes = limits.bytes.min(self.bytes_left);
        limits.params = limits.params.min(self.sets_left);
        limits.template.steps = limits.template.steps.saturating_sub(self.runtime.steps());
    }

    /// How many bytes are left.
    pub(super) fn bytes_left(&self) -> usize {
        self.bytes_left
    }
}

fn too_much(what: &str) -> Fault {
    Fault::new(format!("the set makes more {what} than the limit"))
        .hint("split it into several sets, or narrow its generators")
}

impl Fault {
    fn in_options(self) -> Self {
        self.hint(format!(
            "the valid options are {}",
            ["default", "invalid", "zero", "error"].map(|word| quote(&format!("missingkey={word}"))).join(", ")
        ))
    }
}

/// How much the templates of a set may take together.
pub(super) const TEMPLATE_LIMITS: template::Limits =
    template::Limits { steps: 50_000_000, bytes: 64 << 20, depth: 10_000 };
