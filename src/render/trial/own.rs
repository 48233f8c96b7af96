//! Values of Helm that an Application sets in its own document, each with another one in its place.

use dry_files::diag::Span;
use go_yaml::{self as yaml, Extents, Limits, Value};

use super::{File, Substitution, instead_of};
use crate::argo::{Application, Helm};
use crate::diff::{FieldPath, Step};

/// An Application with another value, and where that is set.
pub(super) struct Own {
    pub application: Application,
    pub span: Span,
    pub field: String,
    pub value: String,
    pub tried: String,
}

/// The values of the one source of an Application which are `value`, or a part of it.
pub(super) fn substitutions(application: &Application, value: &str) -> Vec<Own> {
    let Some(helm) = application.dry.options.helm.as_ref().filter(|_| application.sources.is_empty()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let is_part = |text: &str| !text.is_empty() && value.contains(text);
    let mut add = |path: &[&str], line: Option<u32>, value: &str, tried: String, set: &dyn Fn(&mut Helm)| {
        let mut changed = application.clone();
        changed.dry.options.helm.as_mut().into_iter().for_each(set);
        let span = application.dry.span(path, line);
        found.push(Own { application: changed, span, field: path.join("."), value: value.to_owned(), tried });
    };
    for (index, parameter) in helm.parameters.iter().enumerate().filter(|(_, one)| is_part(&one.value)) {
        let tried = instead_of(&parameter.value);
        let set = |helm: &mut Helm| {
            if let Some(parameter) = helm.parameters.get_mut(index) {
                parameter.value.clone_from(&tried);
            }
        };
        add(&["helm", "parameters", &index.to_string(), "value"], None, &parameter.value, tried.clone(), &set);
    }
    if let Some(object) = &helm.values_object {
        let mut scalars = Vec::new();
        gather(object, &mut FieldPath::root(), &is_part, &mut scalars);
        for (path, text) in scalars {
            let tried = instead_of(&text);
            let set = |helm: &mut Helm| {
                if let Some(place) = helm.values_object.as_mut().and_then(|object| at(object, &path)) {
                    *place = like(place, &tried);
                }
            };
            let steps: Vec<String> = path.steps().iter().map(step_text).collect();
            let steps: Vec<&str> =
                ["helm", "valuesObject"].into_iter().chain(steps.iter().map(String::as_str)).collect();
            add(&steps, None, &text, tried.clone(), &set);
        }
    } else if let Some(text) = &helm.values
        && let Ok(documents) = yaml::parse(text.as_bytes(), &Limits::default())
        && let Ok(extents) = Extents::of(text, &Limits::default())
    {
        let mut inner = Vec::new();
        let mut file = File { path: &application.file, text, extents, value, found: &mut inner };
        documents.iter().for_each(|document| file.search(document, &mut FieldPath::root()));
        for Substitution { line, value, tried, text, .. } in inner {
            add(&["helm", "values"], Some(line), &value, tried, &|helm| helm.values = Some(text.clone()));
        }
    }
    found
}

/// The scalars below a value which `is_part` takes, as text.
fn gather(value: &Value, path: &mut FieldPath, is_part: &dyn Fn(&str) -> bool, found: &mut Vec<(FieldPath, String)>) {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::Float(_) => return,
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                gather(item, path, is_part, found);
                path.pop();
            }
            return;
        }
        Value::Mapping(entries) => {
            for (key, entry) in entries {
                path.push(Step::Key(key.clone()));
                gather(entry, path, is_part, found);
                path.pop();
            }
            return;
        }
    };
    if is_part(&text) {
        found.push((path.clone(), text));
    }
}

fn at<'v>(mut value: &'v mut Value, path: &FieldPath) -> Option<&'v mut Value> {
    for step in path.steps() {
        value = match (value, step) {
            (Value::Mapping(entries), Step::Key(key)) => entries.get_mut(key)?,
            (Value::Sequence(items), Step::Index(index)) => items.get_mut(*index)?,
            _ => return None,
        };
    }
    Some(value)
}

/// A text as a value of the same type as another one.
fn like(value: &Value, text: &str) -> Value {
    let same = match value {
        Value::Int(_) | Value::Uint(_) => text.parse().ok().map(Value::Int),
        Value::Bool(_) => text.parse().ok().map(Value::Bool),
        Value::Null | Value::Float(_) | Value::String(_) | Value::Sequence(_) | Value::Mapping(_) => None,
    };
    same.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn step_text(step: &Step) -> String {
    match step {
        Step::Key(key) => key.clone(),
        Step::Index(index) => index.to_string(),
        Step::Item(_) => String::new(),
    }
}
