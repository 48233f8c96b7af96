//! The template functions that need a chart: `include`, `tpl`, `required`, `fail`, `lookup`.
//!
//! Reference: helm 4.2.3 pkg/engine/engine.go and funcs.go. Cases `include-*`, `tpl-*`, `required-*`, `fail-*`.
#![expect(clippy::indexing_slicing, reason = "there is a table for each value of the switches")]

use std::sync::OnceLock;

use go_template::{Call, Cause, Failure, Functions, Map, Parsed, Text, TomlVersion, Value, WrongBytes};
use go_yaml::quote;

use super::engine::host::Host;
use crate::version::Helm;
use crate::version::differences::{Functions as Names, JsonBytes, Switch, Switches, Toml};

/// How many calls of one template by `include` may be open when it is called again.
const OPEN_MAX: u32 = 1000;
/// How many texts of `tpl` are kept parsed.
const PARSED_MAX: usize = 1000;
/// How long these may be together.
const PARSED_BYTES_MAX: usize = 4 << 20;
/// How much memory parsing an action takes.
const ACTION_BYTES: usize = 512;
/// How many steps it takes.
const STEPS_PER_ACTION: usize = 8;
/// The name of the template set; what `tpl` parses gets it too.
pub(super) const SET_NAME: &str = "gotpl";

/// All functions that charts may call in a Helm.
pub(super) fn functions(helm: Helm) -> &'static Functions {
    static TABLES: [[[OnceLock<Functions>; JsonBytes::COUNT]; Toml::COUNT]; Names::COUNT] =
        [const { [const { [const { OnceLock::new() }; JsonBytes::COUNT] }; Toml::COUNT] }; Names::COUNT];
    let Switches { functions, toml, json_bytes, .. } = helm.switches();
    TABLES[functions as usize][toml as usize][json_bytes as usize].get_or_init(|| table(functions, toml, json_bytes))
}

fn table(names: Names, toml: Toml, json_bytes: JsonBytes) -> Functions {
    let functions = Functions::standard().with_json(match json_bytes {
        JsonBytes::Escaped => WrongBytes::Escaped,
        JsonBytes::Replaced => WrongBytes::Replaced,
    });
    let mut functions = functions.with_toml(match toml {
        Toml::V1_4 => TomlVersion::V1_4,
        Toml::V1_5 => TomlVersion::V1_5,
        Toml::V1_6 => TomlVersion::V1_6,
    });
    match names {
        Names::Oldest => {
            functions.remove("mustToYaml").remove("mustToToml");
        }
        Names::MustToYaml => {
            functions.remove("mustToToml");
        }
        Names::MustToToml => {}
        Names::Durations => functions = functions.with_durations(),
    }
    functions.add("include", include).add("tpl", tpl).add("required", required).add("fail", fail);
    functions.add("lookup", |_: Text, _: Text, _: Text, _: Text| Map::new());
    functions
}

fn include(call: &mut Call<'_>, name: Text, data: Value) -> Result<Text, Failure> {
    let open = call.host::<Host>()?.open.entry(name.clone()).or_default();
    if *open > OPEN_MAX {
        let name = name.to_str();
        return Err(Failure::message(format!(
            "rendering template has a nested reference name: {name}: unable to execute template"
        )));
    }
    *open += 1;
    let result = call.execute(&name.to_str(), data);
    if let Some(open) = call.host::<Host>()?.open.get_mut(&name) {
        *open -= 1;
    }
    result
}

/// Executes a text in a copy of the calling template's set, so that what it defines vanishes with it.
fn tpl(call: &mut Call<'_>, text: Text, data: Value) -> Result<Text, Failure> {
    call.charge(text.len())?;
    let parsed = parse(call, &text)
        .map_err(|failure| failure.within_made(|| format!("cannot parse template {}: ", quote(&text.to_str()))))?;
    let mut set = call.set().clone();
    set.put(&parsed);
    let rendered = call.execute_in(&set, SET_NAME, data).map_err(|failure| {
        failure.within_made(|| format!("error during tpl function execution for {}: ", quote(&text.to_str())))
    })?;
    Ok(without_no_value(rendered))
}

fn parse(call: &mut Call<'_>, text: &Text) -> Result<Parsed, Failure> {
    let host = call.host::<Host>()?;
    if let Some(parsed) = host.parsed.get(text) {
        return Ok(parsed.clone());
    }
    // Each action is some nodes, for a while beside its tokens.
    let actions = memchr::memmem::find_iter(text, b"{{").count();
    call.charge(actions.saturating_mul(STEPS_PER_ACTION))?;
    call.reserve(text.len().saturating_add(actions.saturating_mul(ACTION_BYTES)))?;
    let functions = functions(call.host::<Host>()?.helm);
    let parsed = Parsed::new(SET_NAME, text.clone(), functions)?;
    let host = call.host::<Host>()?;
    if host.parsed.len() < PARSED_MAX && host.parsed_bytes + text.len() <= PARSED_BYTES_MAX {
        host.parsed_bytes += text.len();
        host.parsed.insert(text.clone(), parsed.clone());
    }
    Ok(parsed)
}

fn required(warning: Text, value: Value) -> Result<Value, Failure> {
    match &value {
        Value::Nil => Err(raise(&warning)),
        Value::String(text) if text.is_empty() => Err(raise(&warning)),
        _ => Ok(value),
    }
}

fn fail(message: Text) -> Result<Text, Failure> {
    Err(raise(&message))
}

fn raise(message: &Text) -> Failure {
    Failure::new(Cause::Raised(message.to_str().into_owned()))
}

/// What is printed, without what Go prints for a missing value, wherever it comes from.
pub(super) fn without_no_value(text: Text) -> Text {
    const NO_VALUE: &[u8] = b"<no value>";
    if memchr::memmem::find(&text, NO_VALUE).is_none() {
        return text;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest: &[u8] = &text;
    while let Some((first, after)) = rest.split_first() {
        rest = rest.strip_prefix(NO_VALUE).unwrap_or_else(|| {
            out.push(*first);
            after
        });
    }
    out.into()
}
