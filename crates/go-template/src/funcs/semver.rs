//! Versions in templates.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use go_std::semver::{Range, Version, VersionError};
use go_yaml as yaml;

use super::super::error::Failure;
use super::super::function::{Functions, Int, Param, Type};
use super::super::go_error::GoError;
use super::super::operand::{Held, Operand};
use super::super::structure::{Field, Stringer, Struct, StructType};
use super::super::text::Text;
use super::super::value::{Methods, Value};
use super::common::NIL_DEREFERENCE;

pub(super) fn add(table: &mut Functions) {
    table
        .add("semver", |text: Text| version(&text).map(|version| to_value(version, &POINTER)))
        .add("semverCompare", semver_compare);
}

fn semver_compare(range: Text, text: Text) -> Result<bool, Failure> {
    let range = Range::new(&range.to_str()).map_err(|error| Failure::message(error.to_string()))?;
    Ok(range.has(&version(&text)?))
}

fn version(text: &Text) -> Result<Version, Failure> {
    Version::new(&text.to_str()).map_err(|error| Failure::message(error.to_string()))
}

const STRINGER: Stringer = Stringer { run: |value| version_of(value).to_string().into(), on_pointer: false };
const FIELDS: &[Field] = &[
    Field::hidden("major"),
    Field::hidden("minor"),
    Field::hidden("patch"),
    Field::hidden("pre"),
    Field::hidden("metadata"),
    Field::hidden("original"),
];

/// `semver.Version`, what `IncMajor` and the like give.
static VALUE: StructType = PARTS;

/// `*semver.Version`, what `semver` gives.
static POINTER: StructType =
    StructType { pointer: Some("*semver.Version"), methods: Methods::of(pointer_methods), ..PARTS };

const PARTS: StructType = StructType {
    name: "semver.Version",
    pointer: None,
    fields: FIELDS,
    methods: Methods::of(value_methods),
    has_pointer_methods: false,
    string: Some(STRINGER),
    json: Some(|value| version_of(value).to_string().into()),
    is_same: None,
};

fn to_value(version: Version, ty: &'static StructType) -> Value {
    Struct::new(ty, fields(version)).into()
}

fn fields(version: Version) -> Vec<Value> {
    vec![
        version.major.into(),
        version.minor.into(),
        version.patch.into(),
        version.pre.into(),
        version.metadata.into(),
        version.original.into(),
    ]
}

/// The version in a value; 0.0.0 for a copy that `deepCopy` made, whose fields are empty.
fn version_of(value: &Struct) -> Version {
    Version {
        major: number_in(value, "major"),
        minor: number_in(value, "minor"),
        patch: number_in(value, "patch"),
        pre: text_in(value, "pre"),
        metadata: text_in(value, "metadata"),
        original: text_in(value, "original"),
    }
}

fn number_in(value: &Struct, field: &str) -> u64 {
    match value.field(field) {
        Some((_, Value::Uint(_, number))) => number,
        _ => 0,
    }
}

fn text_in(value: &Struct, field: &str) -> String {
    match value.field(field) {
        Some((_, Value::String(text))) => text.to_str().into_owned(),
        _ => String::new(),
    }
}

/// An argument; `None` for nil.
struct Other(Option<Rc<Struct>>);

impl Other {
    /// Fails for nil as Go does, which looks into it.
    fn version(&self) -> Result<Version, Failure> {
        self.0.as_deref().map(version_of).ok_or_else(|| Failure::message(NIL_DEREFERENCE))
    }
}

impl Param for Other {
    const TYPE: Type = Type::Semver;

    fn take(args: &mut std::vec::IntoIter<Operand>) -> Self {
        match args.next().map(Operand::into_value) {
            Some(Value::Struct(value)) => Other(Some(value)),
            _ => Other(None),
        }
    }
}

/// A receiver.
struct Receiver(Rc<Struct>);

impl Param for Receiver {
    const TYPE: Type = Type::Semver;

    fn take(args: &mut std::vec::IntoIter<Operand>) -> Self {
        match args.next().map(Operand::into_value) {
            Some(Value::Struct(value)) => Receiver(value),
            other => unreachable!("{other:?} was checked against *semver.Version"),
        }
    }
}

impl Receiver {
    fn compare(&self, other: &Other) -> Result<Ordering, Failure> {
        Ok(version_of(&self.0).cmp(&other.version()?))
    }
}

/// What both types have.
fn value_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(value_table);
    &TABLE
}

fn pointer_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(pointer_table);
    &TABLE
}

fn pointer_table() -> Functions {
    let mut table = value_table();
    table
        .add("Original", |one: Receiver| version_of(&one.0).original.clone())
        .add("Compare", |one: Receiver, two: Other| one.compare(&two).map(|order| Int(order as i64)))
        .add("Equal", |one: Receiver, two: Other| two.0.is_some_and(|two| version_of(&one.0) == version_of(&two)))
        .add("LessThan", |one: Receiver, two: Other| one.compare(&two).map(Ordering::is_lt))
        .add("LessThanEqual", |one: Receiver, two: Other| one.compare(&two).map(Ordering::is_le))
        .add("GreaterThan", |one: Receiver, two: Other| one.compare(&two).map(Ordering::is_gt))
        .add("GreaterThanEqual", |one: Receiver, two: Other| one.compare(&two).map(Ordering::is_ge))
        .add("Scan", scan)
        .add("UnmarshalText", |one: Receiver, text: Option<Arc<[u8]>>| {
            read_into(&one, &Text::from(text.unwrap_or_default()))
        })
        .add("UnmarshalJSON", |one: Receiver, json: Option<Arc<[u8]>>| unmarshal_json(&one, &json.unwrap_or_default()));
    table
}

fn value_table() -> Functions {
    let mut table = Functions::new();
    table
        .add("Major", |one: Receiver| version_of(&one.0).major)
        .add("Minor", |one: Receiver| version_of(&one.0).minor)
        .add("Patch", |one: Receiver| version_of(&one.0).patch)
        .add("Prerelease", |one: Receiver| version_of(&one.0).pre.clone())
        .add("Metadata", |one: Receiver| version_of(&one.0).metadata.clone())
        .add("String", |one: Receiver| version_of(&one.0).to_string())
        .add("MarshalText", |one: Receiver| Value::Bytes(version_of(&one.0).to_string().into_bytes().into()))
        .add("MarshalJSON", |one: Receiver| Value::Bytes(format!("\"{}\"", version_of(&one.0)).into_bytes().into()))
        .add("Value", |one: Receiver| Operand::Held(Held::DriverValue, version_of(&one.0).to_string().into()))
        .add("SetPrerelease", |one: Receiver, pre: Text| with_text(&one, &pre, &PRERELEASE))
        .add("SetMetadata", |one: Receiver, metadata: Text| with_text(&one, &metadata, &METADATA))
        .add("IncMajor", inc_major)
        .add("IncMinor", inc_minor)
        .add("IncPatch", inc_patch);
    table
}

fn inc_major(one: Receiver) -> Result<Value, Failure> {
    let version = version_of(&one.0);
    Ok(release(&version, incremented(version.major, "major")?, 0, 0))
}

fn inc_minor(one: Receiver) -> Result<Value, Failure> {
    let version = version_of(&one.0);
    Ok(release(&version, version.major, incremented(version.minor, "minor")?, 0))
}

/// Of a pre-release the release itself.
fn inc_patch(one: Receiver) -> Result<Value, Failure> {
    let version = version_of(&one.0);
    let patch = if version.pre.is_empty() { incremented(version.patch, "patch")? } else { version.patch };
    Ok(release(&version, version.major, version.minor, patch))
}

fn incremented(number: u64, part: &str) -> Result<u64, Failure> {
    let overflow = || Failure::message(format!("{part} version increment would overflow uint64"));
    number.checked_add(1).ok_or_else(overflow)
}

/// A release that follows a version, with a `v` when the version has one.
fn release(of: &Version, major: u64, minor: u64, patch: u64) -> Value {
    let original = format!("{}{major}.{minor}.{patch}", v_of(of));
    let release = Version { major, minor, patch, pre: String::new(), metadata: String::new(), original };
    to_value(release, &VALUE)
}

/// The `v` that a version was read with.
fn v_of(version: &Version) -> &'static str {
    if version.original.starts_with('v') { "v" } else { "" }
}

/// A part of a version that is text, and what Go says of a wrong one.
struct Part {
    set: fn(&mut Version, String),
    wrong: &'static str,
    may_start_with_zero: bool,
}

const PRERELEASE: Part =
    Part { set: |version, text| version.pre = text, wrong: "invalid prerelease string", may_start_with_zero: false };
const METADATA: Part =
    Part { set: |version, text| version.metadata = text, wrong: "invalid metadata string", may_start_with_zero: true };

/// The version with another text in a part.
///
/// Reference: semver 3.5.0 `SetPrerelease`, `SetMetadata`.
fn with_text(of: &Receiver, text: &Text, part: &Part) -> Result<Value, Failure> {
    let text = text.to_str();
    for identifier in text.split('.').filter(|_| !text.is_empty()) {
        let is_number = !identifier.is_empty() && identifier.bytes().all(|byte| byte.is_ascii_digit());
        if identifier.is_empty() || !identifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(Failure::message(part.wrong));
        }
        if is_number && identifier.len() > 1 && identifier.starts_with('0') && !part.may_start_with_zero {
            return Err(Failure::message(VersionError::LeadingZero.to_string()));
        }
    }
    let mut version = version_of(&of.0);
    (part.set)(&mut version, text.into_owned());
    version.original = format!("{}{version}", v_of(&version));
    Ok(to_value(version, &VALUE))
}

/// The method of `sql.Scanner`.
fn scan(one: Receiver, value: Value) -> Operand {
    match value {
        Value::String(text) => read_into(&one, &text),
        Value::Bytes(text) => read_into(&one, &Text::from(text)),
        Value::Nil => GoError::result(Some(GoError::Plain("cannot scan nil into Version".to_owned()))),
        other => GoError::result(Some(GoError::Plain(format!("unsupported Scan type {}", other.type_name())))),
    }
}

/// Replaces the receiver's version by the one that a text is.
fn read_into(receiver: &Receiver, text: &Text) -> Operand {
    GoError::result(match Version::new(&text.to_str()) {
        Ok(version) => {
            receiver.0.assign(fields(version));
            None
        }
        Err(VersionError::TooLarge(text)) => {
            let whole = VersionError::TooLarge(text.clone()).to_string();
            Some(GoError::Wrapped(whole, Box::new(GoError::Number { text, reason: "value out of range" })))
        }
        Err(error) => Some(GoError::Plain(error.to_string())),
    })
}

fn unmarshal_json(receiver: &Receiver, json: &[u8]) -> Operand {
    let found = match yaml::json::decode(json, &yaml::Limits::default()) {
        Ok(yaml::Value::String(text)) => return read_into(receiver, &text.into()),
        // Null changes nothing in Go's string, which is empty.
        Ok(yaml::Value::Null) => return read_into(receiver, &Text::default()),
        Ok(other) => other.json_kind(),
        Err(error) => return GoError::result(Some(GoError::JsonSyntax(error.to_string()))),
    };
    GoError::result(Some(GoError::JsonNoString(found)))
}
