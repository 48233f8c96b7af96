//! What Jsonnet expressions are, compared with what go-jsonnet answered: the rows of `tests/cases/jsonnet`, written by
//! `tests/record/jsonnet/record`.

use std::path::Path;

use git_hydrate::testing::jsonnet::parse_yaml;
use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::interner::InternedStr;
use rsjsonnet_lang::program::{Callbacks, EvalStackTraceItem, ImportError, NativeError, Program, Thunk, Value};
use rsjsonnet_lang::span::SpanId;

/// Rows that differ, each with a word of why; docs/differences.md has them among the known differences.
const DIFFERENT: &[(&str, &str)] = &[
    ("local f(a, a) = 1; f(1, 2)", "a parameter that is named twice"),
    ("std.format(['a',1], [])", "a list of characters as a format"),
    ("std.sin(1e22)", "the last digit of the C library"),
    ("std.sum([1e308,1e308])==1", "a sum that is no number is an error where it is made"),
];

/// Expressions alone: there is nothing to import.
struct Alone;

impl<'p> Callbacks<'p> for Alone {
    fn import(&mut self, _: &mut Program<'p>, _: SpanId, _: &str) -> Result<Thunk<'p>, ImportError> {
        Err(ImportError)
    }

    fn import_str(&mut self, _: &mut Program<'p>, _: SpanId, _: &str) -> Result<String, ImportError> {
        Err(ImportError)
    }

    fn import_bin(&mut self, _: &mut Program<'p>, _: SpanId, _: &str) -> Result<Vec<u8>, ImportError> {
        Err(ImportError)
    }

    fn trace(&mut self, _: &mut Program<'p>, _: &str, _: &[EvalStackTraceItem]) {}

    fn native_call(
        &mut self,
        _: &mut Program<'p>,
        _: InternedStr<'p>,
        _: &[Value<'p>],
    ) -> Result<Value<'p>, NativeError> {
        Err(NativeError)
    }
}

fn evaluate(expression: &str) -> Option<String> {
    let arena = Arena::new();
    let mut program = Program::new(&arena);
    program.set_yaml_reader(parse_yaml);
    let (context, _) = program.span_manager_mut().insert_source_context(expression.len());
    let thunk = program.load_source(context, expression.as_bytes(), true, "a.jsonnet").ok()?;
    let mut value = program.eval_value(&thunk, &mut Alone).ok()?;
    if value.is_function() {
        value = program.eval_call(&thunk, &[], &[], &mut Alone).ok()?;
    }
    program.manifest_json(&value, false).ok()
}

/// Whether two texts are one value in JSON, whatever the white space.
fn are_equal(one: &str, other: &str) -> bool {
    let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}

fn rows_differ_from_go_jsonnet(name: &str, at_least: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/jsonnet").join(format!("{name}.tsv"));
    let text = std::fs::read_to_string(path).expect("rows");
    let rows: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(rows.len() >= at_least, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for (expression, expected) in rows {
        let found = evaluate(expression);
        let is_equal = match &found {
            Some(json) => are_equal(json, expected),
            None => expected == "fails",
        };
        let is_known = DIFFERENT.iter().any(|(known, _)| *known == expression);
        if is_equal == is_known {
            let found = found.unwrap_or_else(|| "fails".to_owned());
            wrong.push(format!("{expression}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn numbers_are_computed_and_written_as_in_go_jsonnet() {
    rows_differ_from_go_jsonnet("numbers", 200);
}

#[test]
fn formats_are_those_of_go_jsonnet() {
    rows_differ_from_go_jsonnet("format", 150);
}

#[test]
fn functions_of_strings_are_those_of_go_jsonnet() {
    rows_differ_from_go_jsonnet("strings", 150);
}

#[test]
fn functions_of_arrays_and_sets_are_those_of_go_jsonnet() {
    rows_differ_from_go_jsonnet("arrays", 200);
}

#[test]
fn functions_of_objects_are_those_of_go_jsonnet() {
    rows_differ_from_go_jsonnet("objects", 80);
}

#[test]
fn yaml_and_json_are_read_as_in_go_jsonnet() {
    rows_differ_from_go_jsonnet("parse", 200);
}

#[test]
fn other_formats_are_written_as_in_go_jsonnet() {
    rows_differ_from_go_jsonnet("manifest", 150);
}

#[test]
fn the_language_is_that_of_go_jsonnet() {
    rows_differ_from_go_jsonnet("language", 100);
}

#[test]
fn what_never_ends_is_an_error_and_not_a_hang() {
    for expression in [
        "std.prune({a: {b: $.a}})",
        "std.mergePatch({}, {a: {b: $.a}})",
        "std.mergePatch({a: {b: $.a}}, {a: {b: {}}})",
        "std.flattenDeepArray({a: [$.a]}.a)",
        "std.deepJoin({a: [$.a]}.a)",
        "std.manifestXmlJsonml({a: ['t', $.a]}.a)",
        "std.manifestYamlDoc({a: {b: $.a}})",
        "std.manifestTomlEx({a: {b: $.a}}, '')",
        "std.manifestTomlEx({a: [[$.a]]}, '')",
        "std.manifestPython({a: [$.a]})",
        "std.manifestJsonEx({a: [$.a]}, '')",
        "std.toString({a: [$.a]})",
        "{a: [$.a]} == {a: [$.a]}",
        "{a: [$.a]}.a < {a: [$.a]}.a",
        "std.sort([{a: [$.a]}.a, {a: [$.a]}.a])",
        "'%1000000000d' % 1",
        "'%*d' % [1e300, 1]",
        "local f(x) = f(x + 1); f(0)",
    ] {
        assert_eq!(evaluate(expression), None, "{expression}");
    }
}
