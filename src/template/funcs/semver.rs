//! Versions in templates.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::LazyLock;

use super::super::error::Failure;
use super::super::function::{Functions, Int, Methods, Param, Type};
use super::super::operand::Operand;
use super::super::semver::{Range, Version};
use super::super::structure::{Field, Stringer, Struct, StructType};
use super::super::text::Text;
use super::super::value::Value;

pub(super) fn add(table: &mut Functions) {
    table.add("semver", |text: Text| version(&text).map(|version| to_value(version, &POINTER))).add(
        "semverCompare",
        |range: Text, text: Text| {
            let range = Range::new(&range.to_str()).map_err(|error| Failure::message(error.to_string()))?;
            Ok::<_, Failure>(range.has(&version(&text)?))
        },
    );
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
};

fn to_value(version: Version, ty: &'static StructType) -> Value {
    let fields = vec![
        version.major.into(),
        version.minor.into(),
        version.patch.into(),
        version.pre.clone().into(),
        version.metadata.clone().into(),
        version.original.clone().into(),
    ];
    Struct::new(ty, fields).with_inner(Rc::new(version)).into()
}

fn version_of(value: &Struct) -> &Version {
    value.inner().expect("only `to_value` makes values of these types")
}

/// A receiver or argument.
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

/// What both types have.
fn value_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(|| {
        let mut table = Functions::new();
        add_value_methods(&mut table);
        table
    });
    &TABLE
}

fn pointer_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(|| {
        let compared = |is_wanted: fn(Ordering) -> bool| {
            move |one: Receiver, two: Receiver| is_wanted(version_of(&one.0).cmp(version_of(&two.0)))
        };
        let mut table = Functions::new();
        add_value_methods(&mut table);
        table
            .add("Original", |one: Receiver| version_of(&one.0).original.clone())
            .add("Compare", |one: Receiver, two: Receiver| Int(version_of(&one.0).cmp(version_of(&two.0)) as i64))
            .add("Equal", compared(Ordering::is_eq))
            .add("LessThan", compared(Ordering::is_lt))
            .add("LessThanEqual", compared(Ordering::is_le))
            .add("GreaterThan", compared(Ordering::is_gt))
            .add("GreaterThanEqual", compared(Ordering::is_ge));
        table
    });
    &TABLE
}

fn add_value_methods(table: &mut Functions) {
    table
        .add("Major", |one: Receiver| version_of(&one.0).major)
        .add("Minor", |one: Receiver| version_of(&one.0).minor)
        .add("Patch", |one: Receiver| version_of(&one.0).patch)
        .add("Prerelease", |one: Receiver| version_of(&one.0).pre.clone())
        .add("Metadata", |one: Receiver| version_of(&one.0).metadata.clone())
        .add("String", |one: Receiver| version_of(&one.0).to_string())
        .add("IncMajor", |one: Receiver| next(&one, |version| (version.major.checked_add(1), Some(0), Some(0))))
        .add("IncMinor", |one: Receiver| {
            next(&one, |version| (Some(version.major), version.minor.checked_add(1), Some(0)))
        })
        .add("IncPatch", |one: Receiver| {
            next(&one, |version| {
                let patch = if version.pre.is_empty() { version.patch.checked_add(1) } else { Some(version.patch) };
                (Some(version.major), Some(version.minor), patch)
            })
        });
}

/// The release that follows, with a `v` when there was one.
fn next(
    of: &Receiver,
    numbers: impl Fn(&Version) -> (Option<u64>, Option<u64>, Option<u64>),
) -> Result<Value, Failure> {
    let version = version_of(&of.0);
    let (Some(major), Some(minor), Some(patch)) = numbers(version) else {
        return Err(Failure::message("version increment would overflow uint64"));
    };
    let v = if version.original.starts_with('v') { "v" } else { "" };
    let original = format!("{v}{major}.{minor}.{patch}");
    let next = Version { major, minor, patch, pre: String::new(), metadata: String::new(), original };
    Ok(to_value(next, &VALUE))
}
