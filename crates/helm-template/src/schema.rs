//! `values.schema.json`: JSON Schema, drafts 4 to 2020-12, as far as it needs no network.
//!
//! A validator of our own, because the reference's messages are part of what Helm prints and no library has them; it
//! adds no crate. What it leaves out, as the reference does in Helm's use: content keywords and vocabularies.
//!
//! Helm before 3.18.5 had another library: [`older`].
//!
//! Reference: helm 4.2.3 pkg/chart/common/util/jsonschema.go over santhosh-tekuri/jsonschema 6.0.2. Cases `schema-*`.

mod compile;
mod decimal;
mod document;
mod draft;
mod format;
mod older;
mod report;
mod url;
mod validate;

use std::sync::LazyLock;

use dry_files::view::Stop;
use go_yaml::Value;

use crate::version::Helm;
use crate::version::differences::{Schemas, Switches, Urns};
use compile::Compiled;
use decimal::Decimal;
use draft::Draft;
use older::Older;
use report::Problem;

/// How many schemas one file may contain or refer to.
const SCHEMAS_MAX: usize = 200_000;
/// How much the regular expressions of a schema may take together, in bytes. `\p{L}` takes 50 kB.
const PATTERNS_BYTES_MAX: usize = 32 << 20;
/// How many times schemas may be applied in one validation.
const STEPS_MAX: u64 = 20_000_000;
/// How many problems are noted, those of alternatives with them: each takes memory.
const PROBLEMS_MAX: u64 = 200_000;
/// How deep schemas may be applied inside each other.
const DEPTH_MAX: u32 = 400;

/// The URL that Helm gives the file.
const URL: &str = "file:///values.schema.json";

/// A schema that is ready to be applied. Immutable, so that renders may share it.
#[derive(Debug)]
pub(super) struct Schema(Library);

#[derive(Debug)]
enum Library {
    EachDraft(Compiled),
    DraftsUpTo7(Older),
}

/// Why a schema can't be used. Reads as the reference's own message, except that nothing is ever fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CompileError {
    #[error("{0}")]
    Json(String),
    /// Of the library before: a schema that it does not take.
    #[error("{0}")]
    Older(String),
    #[error("failing loading {}: rendering opens no connection", go_yaml::quote(.0))]
    Load(String),
    #[error("error in parsing {}: {reason}", go_yaml::quote(.url))]
    BadUrl { url: String, reason: String },
    #[error("json-pointer in {} not found", go_yaml::quote(.0))]
    NoPointer(String),
    #[error("anchor in {} not found in schema {}", go_yaml::quote(.reference), go_yaml::quote(.url))]
    NoAnchor { reference: String, url: String },
    #[error("duplicate id {} in {} at {} and {}", go_yaml::quote(.id), go_yaml::quote(.url), go_yaml::quote(.first), go_yaml::quote(.second))]
    DuplicateId { id: String, url: String, first: String, second: String },
    #[error("duplicate anchor {} in {} at {} and {}", go_yaml::quote(.anchor), go_yaml::quote(.url), go_yaml::quote(.first), go_yaml::quote(.second))]
    DuplicateAnchor { anchor: String, url: String, first: String, second: String },
    #[error("invalid regex {} at {}: {reason}", go_yaml::quote(.regex), go_yaml::quote(.at))]
    Regex { regex: String, at: String, reason: String },
    #[error("{} is not valid against metaschema: jsonschema validation failed with {}{problems}", go_yaml::quote(.url), report::quote(&format!("{metaschema}#")))]
    Metaschema { url: String, metaschema: &'static str, problems: String },
    #[error("the schema has more than {SCHEMAS_MAX} schemas")]
    TooLarge,
    #[error("the patterns of the schema take more than {PATTERNS_BYTES_MAX} bytes")]
    Patterns,
    #[error("there was no time left to compile the schema")]
    Stopped,
}

impl Schema {
    /// Reads and compiles the text of a `values.schema.json`. Once `stop` is set, what it answers counts for nothing.
    pub(super) fn new(text: &str, helm: Helm, stop: &Stop) -> Result<Self, CompileError> {
        let Switches { schemas, urns, .. } = helm.switches();
        if schemas == Schemas::DraftsUpTo7 {
            return Older::new(text).map(|older| Self(Library::DraftsUpTo7(older)));
        }
        let value = super::values::parse_json(text).map_err(CompileError::Json)?;
        let asked = compile::Asked { checks_formats: false, urns };
        compile::compile(URL, value, asked, stop).map(|compiled| Self(Library::EachDraft(compiled)))
    }

    /// URNs that the schema refers to and that are not resolved; anything is valid against them.
    pub(super) fn unresolved(&self) -> &[String] {
        match &self.0 {
            Library::EachDraft(compiled) => &compiled.unresolved,
            Library::DraftsUpTo7(_) => &[],
        }
    }

    /// What the schema says against the values, a line for each problem; `Ok` when nothing. It ends early once `stop` is
    /// set, and what it answers counts for nothing then.
    pub(super) fn validate(&self, values: &Value, stop: &Stop) -> Result<(), String> {
        let compiled = match &self.0 {
            Library::EachDraft(compiled) => compiled,
            Library::DraftsUpTo7(older) => return older.validate(values, stop),
        };
        validate::validate(compiled, values, stop).map_err(|problems| {
            let lines = shown(&problems);
            format!("{}\n", lines.strip_prefix('\n').unwrap_or(&lines))
        })
    }
}

/// Checks a schema by the metaschema of its draft, formats too.
fn check_against_metaschema(draft: Draft, schema: &Value, url: &str, stop: &Stop) -> Result<(), CompileError> {
    static METASCHEMAS: LazyLock<[Compiled; 5]> =
        LazyLock::new(|| [Draft::V4, Draft::V6, Draft::V7, Draft::V2019, Draft::V2020].map(metaschema_of));
    let [v4, v6, v7, v2019, v2020] = &*METASCHEMAS;
    let metaschema = match draft {
        Draft::V4 => v4,
        Draft::V6 => v6,
        Draft::V7 => v7,
        Draft::V2019 => v2019,
        Draft::V2020 => v2020,
    };
    let Err(problems) = validate::validate(metaschema, schema, stop) else { return Ok(()) };
    let problems = shown(&problems);
    Err(CompileError::Metaschema { url: url.to_owned(), metaschema: draft.url(), problems })
}

fn metaschema_of(draft: Draft) -> Compiled {
    let value = draft::metaschema(draft.url()).cloned().unwrap_or(Value::Bool(true));
    let never = Stop::default();
    compile::compile(draft.url(), value, compile::Asked { checks_formats: true, urns: Urns::AcceptAll }, &never)
        .expect("the metaschemas are part of the program")
}

fn shown(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect()
}

/// The part of a document that a JSON pointer leads to.
fn lookup<'a>(document: &'a Value, pointer: &str) -> Option<&'a Value> {
    let mut value = document;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        value = match value {
            Value::Mapping(entries) => entries.get(&token)?,
            Value::Sequence(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

#[expect(clippy::cast_precision_loss, reason = "it is what the reference prints")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Uint(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// A number without loss.
fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Int(number) => Some(Decimal::integer(*number < 0, number.unsigned_abs())),
        Value::Uint(number) => Some(Decimal::integer(false, *number)),
        Value::Float(number) => Some(Decimal::float(*number)),
        _ => None,
    }
}
