//! Renders every text of a document: of an Application, or of a generator.
//!
//! Reference: argo-cd `37ee0097` applicationset/utils/utils.go `deeplyReplaceWithFilter`.

use dry_files::diag::Refusal;
use go_yaml::{Mapping, Value};

use super::fault::{Fault, Result};
use super::language::{Language, Missing};
use super::params::Params;
use super::shape::{Field, Shape};

/// Renders the texts of a value that was read as `shape`, keys of maps too.
///
/// JSON that is kept as it is loses entries that are null, as upstream's does; its numbers become floats.
pub(super) fn render(language: &mut Language, value: &Value, shape: &Shape, params: &Params) -> Result<Value> {
    match (shape, value) {
        (Shape::Text | Shape::NumberOrText, Value::String(text)) => {
            language.render(text, params, Missing::AsSet).map(Value::String)
        }
        (Shape::Raw, value) => render_json(language, value, params)
            .map_err(|fault| fault.within("failed to deeply replace JSON field contents")),
        (Shape::Struct(of), Value::Mapping(entries)) => {
            let mut rendered = Mapping::new();
            for field in of.fields {
                let Some(value) = entries.get(field.name) else { continue };
                let value = match field.is_values {
                    true => render_values(language, value, params),
                    false => render_field(language, value, field, params),
                };
                rendered.insert(field.name.to_owned(), value.map_err(|fault| fault.below(field.name))?);
            }
            Ok(Value::Mapping(rendered))
        }
        (Shape::Map(of), Value::Mapping(entries)) => {
            render_entries(language, entries, params, |language, value| render(language, value, of, params))
        }
        (Shape::List(of), Value::Sequence(items)) => {
            let render = |(index, item)| render(language, item, of, params).map_err(|fault: Fault| fault.below(index));
            items.iter().enumerate().map(render).collect::<Result<_>>().map(Value::Sequence)
        }
        _ => Ok(value.clone()),
    }
}

fn render_field(language: &mut Language, value: &Value, field: &Field, params: &Params) -> Result<Value> {
    render(language, value, &field.shape, params)
}

fn render_entries(
    language: &mut Language,
    entries: &Mapping,
    params: &Params,
    mut render: impl FnMut(&mut Language, &Value) -> Result<Value>,
) -> Result<Value> {
    let mut rendered = Mapping::new();
    for (key, value) in entries {
        let value = render(language, value).map_err(|fault| fault.below(key))?;
        let new_key = language.render(key, params, Missing::AsSet).map_err(|fault| fault.below(key))?;
        if rendered.contains_key(&new_key) {
            return Err(Fault::refused(
                format!("two keys of one map render to `{new_key}`: which one wins differs from run to run"),
                Refusal::Nondeterministic,
                "make the keys render differently",
            )
            .below(key));
        }
        rendered.insert(new_key, value);
    }
    Ok(Value::Mapping(rendered))
}

fn render_json(language: &mut Language, value: &Value, params: &Params) -> Result<Value> {
    match value {
        Value::String(text) => language.render(text, params, Missing::AsSet).map(Value::String),
        Value::Mapping(entries) => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            let entries: Mapping = entries.map(|(key, value)| (key.clone(), value.clone())).collect();
            render_entries(language, &entries, params, |language, value| render_json(language, value, params))
        }
        Value::Sequence(items) => {
            let render = |(index, item)| render_json(language, item, params).map_err(|fault: Fault| fault.below(index));
            items.iter().enumerate().map(render).collect::<Result<_>>().map(Value::Sequence)
        }
        Value::Int(number) if *number as f64 as i128 != i128::from(*number) => Ok(Value::Float(*number as f64)),
        Value::Uint(number) => Ok(Value::Float(*number as f64)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(value.clone()),
    }
}

/// Renders the `values` of a generator as far as they can be: one that misses a key stays a template, for the params of
/// the generator itself.
///
/// Reference: argo-cd `37ee0097` applicationset/utils/utils.go `RenderGeneratorParams`.
fn render_values(language: &mut Language, values: &Value, params: &Params) -> Result<Value> {
    let mut rendered = Mapping::new();
    for (key, value) in values.as_mapping().into_iter().flatten() {
        let template = value.as_str().unwrap_or_default();
        let text = match language.render(template, params, Missing::Fails) {
            Ok(text) => text,
            Err(fault) if fault.is_missing_key => template.to_owned(),
            Err(fault) => {
                let words = format!("failed to pre-resolve Values key {}", go_yaml::quote(key));
                return Err(fault.within(words).below(key));
            }
        };
        rendered.insert(key.clone(), Value::String(text));
    }
    Ok(Value::Mapping(rendered))
}
