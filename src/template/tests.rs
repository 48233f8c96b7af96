//! Whole templates against what Go 1.26 and Helm 4.2.3 make of them.

mod engine;

use super::*;

/// Renders a text named `t` on data, with the standard functions.
fn render(text: &str, data: Value) -> Result<String, Failure> {
    let functions = Functions::standard();
    let parsed = Parsed::new("t", text, &functions)?;
    let mut set = Set::new("t");
    set.add(&parsed);
    let mut runtime = Runtime::new(Limits::default(), Effects::Refuse);
    runtime.execute(&set, "t", data).map(|out| text::to_str(&out).into_owned())
}

/// Rows of name, template, and what it prints or the error that it ends with.
type Row = (&'static str, &'static str, Result<&'static str, &'static str>);

fn check(table: &[Row], data: &Value) {
    let mut wrong = Vec::new();
    for (name, text, expected) in table {
        let found = render(text, data.clone()).map_err(|failure| failure.to_string());
        let found = found.as_deref().map_err(String::as_str);
        if found != expected.as_deref().map_err(|error| &**error) {
            wrong.push(format!("{name}: {text}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows differ:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}
