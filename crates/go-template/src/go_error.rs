//! Go's `error` values: what methods with an `error` as their only result give to templates.
//!
//! A method with a value and an `error` is another thing: there an error ends the template.

use std::sync::LazyLock;

use go_std::json::UnmarshalTypeError;

use super::error::Failure;
use super::function::Functions;
use super::operand::{Held, Operand};
use super::structure::{Field, Stringer, Struct, StructType};
use super::text::Text;
use super::value::{Methods, Value};

/// An error by the type that Go has for it.
#[derive(Debug, Clone)]
pub enum GoError {
    /// `errors.New`, and `fmt.Errorf` without `%w`.
    Plain(String),
    /// `fmt.Errorf` with `%w`: the whole text, and what it is about.
    Wrapped(String, Box<GoError>),
    /// `strconv.ParseUint` of a text.
    Number {
        /// The text that is not a number.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// `json.Unmarshal` of a text that is not JSON.
    JsonSyntax(String),
    /// `json.Unmarshal` of a value that is not a string, such as `number`, into one.
    JsonNoString(&'static str),
    /// `json.Marshal` of a number that JSON lacks, as Go prints it.
    JsonNumber(String),
    /// `json.Marshal` of a time that JSON lacks.
    JsonTime(Box<GoError>),
}

impl GoError {
    /// What a method returns: an `error`, nil for success.
    pub fn result(error: Option<Self>) -> Operand {
        Operand::Held(Held::Error, error.map_or(Value::Nil, Value::from))
    }
}

impl From<GoError> for Value {
    fn from(error: GoError) -> Self {
        let (ty, fields) = match error {
            GoError::Plain(text) => (&PLAIN, vec![text.into()]),
            GoError::Wrapped(text, inner) => (&WRAPPED, vec![text.into(), (*inner).into()]),
            GoError::Number { text, reason } => {
                (&NUMBER, vec!["ParseUint".into(), text.into(), GoError::Plain(reason.to_owned()).into()])
            }
            GoError::JsonSyntax(text) => (&JSON_SYNTAX, vec![text.into()]),
            GoError::JsonNoString(found) => (&JSON_TYPE, vec![found.into()]),
            GoError::JsonNumber(shown) => (&JSON_VALUE, vec![shown.into()]),
            GoError::JsonTime(inner) => (&JSON_TIME, vec![(*inner).into()]),
        };
        Struct::new(ty, fields).into()
    }
}

const fn text_by(run: fn(&Struct) -> Text) -> Option<Stringer> {
    Some(Stringer { run, on_pointer: false })
}

static PLAIN: StructType = StructType {
    name: "errors.errorString",
    pointer: Some("*errors.errorString"),
    fields: &[Field::hidden("s")],
    methods: Methods::of(|| &ERROR),
    string: text_by(|error| text(error, "s")),
    is_same: Some(|one, two| {
        let said = text(one, "s");
        KEPT.iter().any(|kept| said == *kept) && said == text(two, "s")
    }),
    ..StructType::PLAIN
};

/// What the errors say that Go makes once: `semver.ErrInvalidSemVer` and `ErrSegmentStartsZero`, `strconv.ErrRange`.
const KEPT: [&str; 3] = ["invalid semantic version", "version segment starts with 0", "value out of range"];

static WRAPPED: StructType = StructType {
    name: "fmt.wrapError",
    pointer: Some("*fmt.wrapError"),
    fields: &[Field::hidden("msg"), Field { held: Some(Held::Error), ..Field::hidden("err") }],
    methods: Methods::of(|| &ERROR_AND_UNWRAP),
    string: text_by(|error| text(error, "msg")),
    ..StructType::PLAIN
};

static NUMBER: StructType = StructType {
    name: "strconv.NumError",
    pointer: Some("*strconv.NumError"),
    fields: &[Field::plain("Func"), Field::plain("Num"), Field { held: Some(Held::Error), ..Field::plain("Err") }],
    methods: Methods::of(|| &ERROR_AND_UNWRAP),
    string: text_by(|error| {
        let (function, number) = (text(error, "Func"), go_yaml::quote(&text(error, "Num").to_str()));
        format!("strconv.{}: parsing {number}: {}", function.to_str(), text(error, "Err").to_str()).into()
    }),
    ..StructType::PLAIN
};

// The fields of the next four that are missing here are offsets and types of Go; a template that asks for one fails.

static JSON_SYNTAX: StructType = StructType {
    name: "json.SyntaxError",
    pointer: Some("*json.SyntaxError"),
    fields: &[Field::hidden("msg")],
    methods: Methods::of(|| &ERROR),
    string: text_by(|error| text(error, "msg")),
    ..StructType::PLAIN
};

static JSON_TYPE: StructType = StructType {
    name: "json.UnmarshalTypeError",
    pointer: Some("*json.UnmarshalTypeError"),
    fields: &[Field::plain("Value")],
    methods: Methods::of(|| &ERROR),
    string: text_by(|error| UnmarshalTypeError::of_value(text(error, "Value").to_str(), "string").to_string().into()),
    ..StructType::PLAIN
};

static JSON_VALUE: StructType = StructType {
    name: "json.UnsupportedValueError",
    pointer: Some("*json.UnsupportedValueError"),
    fields: &[Field::plain("Str")],
    methods: Methods::of(|| &ERROR),
    string: text_by(|error| format!("json: unsupported value: {}", text(error, "Str").to_str()).into()),
    ..StructType::PLAIN
};

static JSON_TIME: StructType = StructType {
    name: "json.MarshalerError",
    pointer: Some("*json.MarshalerError"),
    fields: &[Field { held: Some(Held::Error), ..Field::plain("Err") }],
    methods: Methods::of(|| &ERROR_AND_UNWRAP),
    string: text_by(|error| {
        format!("json: error calling MarshalJSON for type time.Time: {}", text(error, "Err").to_str()).into()
    }),
    ..StructType::PLAIN
};

static ERROR: LazyLock<Functions> = LazyLock::new(with_error);

static ERROR_AND_UNWRAP: LazyLock<Functions> = LazyLock::new(with_error_and_unwrap);

fn with_error() -> Functions {
    let mut methods = Functions::new();
    methods.add("Error", |error: Value| text_of(&error));
    methods
}

fn with_error_and_unwrap() -> Functions {
    let mut methods = with_error();
    methods.add("Unwrap", unwrap);
    methods
}

/// The error that an error wraps.
fn unwrap(error: Value) -> Operand {
    let Value::Struct(error) = &error else { return Operand::Held(Held::Error, Value::Nil) };
    let inner = error.fields().find(|(field, _)| field.held.is_some());
    Operand::Held(Held::Error, inner.map_or(Value::Nil, |(_, inner)| inner))
}

/// A field as text: a string as it is, an error by what it says.
fn text(error: &Struct, field: &str) -> Text {
    error.field(field).map(|(_, value)| text_of(&value)).unwrap_or_default()
}

fn text_of(value: &Value) -> Text {
    match value {
        Value::String(text) => text.clone(),
        Value::Struct(error) => error.ty().string.map(|stringer| (stringer.run)(error)).unwrap_or_default(),
        _ => Text::default(),
    }
}

impl GoError {
    /// The error of `yaml.Marshal`, of which `failure` says what JSON lacks; a failure that is not an error of Go, such as a
    /// limit, comes back.
    pub fn of_marshal(failure: Failure) -> Result<Self, Failure> {
        let super::error::Cause::Function(what) = failure.cause() else { return Err(failure) };
        let whole = failure.to_string();
        let inner = if let Some(shown) = what.strip_prefix("json: unsupported value: ") {
            GoError::JsonNumber(shown.to_owned())
        } else if let Some(reason) = what.strip_prefix("json: error calling MarshalJSON for type time.Time: ") {
            GoError::JsonTime(Box::new(GoError::Plain(reason.to_owned())))
        } else {
            return Ok(GoError::Plain(whole));
        };
        Ok(GoError::Wrapped(whole, Box::new(inner)))
    }
}
