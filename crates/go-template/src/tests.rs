//! Whole templates against what Go 1.26 and Helm 4.2.3 make of them.

mod hostile;
mod mutation;
mod seeded;

use go_yaml as yaml;

use super::*;

const DATA: &str = include_str!("tests/rows/data.json");

/// Renders a text named `t` on data, with the standard functions.
fn render(text: impl Into<Text>, data: Value) -> Result<Vec<u8>, Failure> {
    run(text, data, Limits::default(), Effects::Refuse)
}

fn run(text: impl Into<Text>, data: Value, limits: Limits, effects: Effects) -> Result<Vec<u8>, Failure> {
    let parsed = Parsed::new("t", text, &Functions::standard())?;
    let mut set = Set::new("t");
    set.add(&parsed);
    Runtime::new(limits, effects).execute(&set, "t", data)
}

fn data() -> Value {
    Value::from_yaml(&yaml::json::decode(DATA.as_bytes(), &yaml::Limits::default()).expect("good"))
}

/// The bytes that a line of a table represents.
fn unescaped(line: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '⏎' => out.push(b'\n'),
            '‹' => {
                let (code, after) = rest.split_once('›').expect("closed");
                rest = after;
                match code.strip_prefix('u') {
                    Some(code) => {
                        let c = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).expect("a character");
                        text::push_char(&mut out, c);
                    }
                    None => out.push(u8::from_str_radix(code, 16).expect("a byte")),
                }
            }
            c => text::push_char(&mut out, c),
        }
    }
    out
}

/// Renders each template of a table and compares it with the line behind it.
fn check(table: &str) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let mut lines = table.lines().filter(|line| !line.starts_with("# "));
    while let (Some(template), Some(expected)) = (lines.next(), lines.next()) {
        count += 1;
        let found = match render(unescaped(template), data()) {
            Ok(out) => [b"= ", out.as_slice()].concat(),
            Err(failure) => format!("! {failure}").into_bytes(),
        };
        if found != unescaped(expected) {
            let found = String::from_utf8_lossy(&found).into_owned();
            wrong.push(format!("{template}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(count > 10, "the table is empty");
    assert!(wrong.is_empty(), "{} of {count} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

macro_rules! tables {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("tests/rows/", stringify!($name), ".txt")));
        }
    )*};
}

/// Tries those of the functions whose names are `chosen`.
fn check_cost(chosen: impl Fn(&str) -> bool) {
    let is_tried = |name: &str| chosen(name) && !matches!(name, "and" | "or" | "call");
    cost::check(&Functions::standard().with_durations(), is_tried);
}

// In two halves, which two processors share.
#[test]
fn functions_up_to_m_are_charged_for_the_time_that_they_take() {
    check_cost(|name| name < "n");
}

#[test]
fn functions_from_n_on_are_charged_for_the_time_that_they_take() {
    check_cost(|name| name >= "n");
}

tables! { language fmt strings collections semver regex formats helm }
