//! An object against the types of Kubernetes' own API, as a server decodes it under strict field validation.
//!
//! A null is a field that is not set. Rules of [`crate::rules`] are asked at each type that they are of.

use go_yaml::{Mapping, Value};

use crate::fields;
use crate::finding::{Findings, Reason, shown};
use crate::nearest::nearest;
use crate::quantity::Quantity;
use crate::rules::{self, Context};
use crate::schemas::{Definition, Field, Schemas, Type};

pub(crate) struct Walk<'w> {
    pub(crate) schemas: &'static Schemas,
    pub(crate) context: Context<'w>,
}

impl Walk<'_> {
    /// Judges an object of a type. What is of `status` is decoded only: a server drops it.
    pub(crate) fn object(&self, definition: &Definition, object: &Mapping, is_status: bool, out: &mut Findings) {
        for (key, value) in object {
            match definition.field(key) {
                Some(field) => out.within_field(key, |out| self.field(definition, field, value, is_status, out)),
                None if definition.name == "meta.v1.LabelSelector" && value.as_str().is_some() => {
                    let text = "is not a field of a selector; labels are below `matchLabels`";
                    out.refuse(&format!(".{key}"), "unknown-field", Reason::Unknown, text);
                }
                None => unknown(definition.fields.iter().map(|field| field.name), key, out),
            }
        }
        if is_status {
            return;
        }
        for name in &definition.required {
            let value = object.get(*name);
            if value.is_none_or(|value| value.is_null() || value.as_str() == Some("")) {
                out.required(&format!(".{name}"), "must be set");
            }
        }
        for (name, index) in &definition.objects {
            if object.get(*name).is_none_or(Value::is_null) && !self.takes_nothing(*index, out) {
                out.required(&format!(".{name}"), "must be set");
            }
        }
        rules::judge(definition.rules, &self.context, object, out);
    }

    /// Whether a server takes an object of a type without fields.
    fn takes_nothing(&self, index: usize, out: &mut Findings) -> bool {
        let Some(definition) = self.schemas.definition(index) else { return true };
        out.is_clean(|out| self.object(definition, &Mapping::new(), false, out))
    }

    fn field(&self, owner: &Definition, field: &Field, value: &Value, is_status: bool, out: &mut Findings) {
        let is_status = is_status || (field.name == "status" && owner.field("metadata").is_some());
        self.value(&field.types, value, is_status, out);
        if !is_status
            && !field.one_of.is_empty()
            && let Some(text) = value.as_str()
            && !text.is_empty()
            && !field.one_of.contains(&text)
            && !rules::ANY_TEXT.contains(&(owner.name, field.name))
        {
            not_one_of(&field.one_of, text, out);
        }
    }

    fn value(&self, types: &[Type], value: &Value, is_status: bool, out: &mut Findings) {
        let Some((first, rest)) = types.split_first() else { return };
        // YAML's 2.0 is the number 2 when it gets to a server.
        let whole =
            matches!(first, Type::Int32 | Type::Int64 | Type::IntOrText).then(|| fields::whole(value)).flatten();
        let whole = whole.map(Value::Int);
        let value = whole.as_ref().unwrap_or(value);
        match (first, value) {
            (_, Value::Null)
            | (Type::Any, _)
            | (Type::Text, Value::String(_))
            | (Type::Bool | Type::BoolOr, Value::Bool(_)) => {}
            (Type::BoolOr, value) => self.value(rest, value, is_status, out),
            (Type::Object(index), Value::Mapping(object)) => {
                if let Some(definition) = self.schemas.definition(*index) {
                    self.object(definition, object, is_status, out);
                }
            }
            (Type::List, Value::Sequence(items)) => {
                for (index, item) in items.iter().enumerate() {
                    out.within_item(index, |out| self.item(rest, item, is_status, out));
                }
            }
            (Type::Map, Value::Mapping(entries)) => {
                let is_of_texts = matches!(rest.first(), Some(Type::Text));
                for (key, entry) in entries {
                    if is_of_texts && key == "matchLabels" && entry.as_mapping().is_some() {
                        let text = "must be a string, not a mapping; labels are not below `matchLabels` here";
                        out.refuse("[matchLabels]", "type", Reason::Type, text);
                        continue;
                    }
                    out.within(format_args!("[{key}]"), |out| self.value(rest, entry, is_status, out));
                }
            }
            (scalar, value) => scalar_value(*scalar, value, out),
        }
    }

    /// An item that is null is an object without fields.
    fn item(&self, types: &[Type], item: &Value, is_status: bool, out: &mut Findings) {
        match (types.first(), item) {
            (Some(Type::Object(_)), Value::Null) => {
                self.value(types, &Value::Mapping(Mapping::new()), is_status, out);
            }
            _ => self.value(types, item, is_status, out),
        }
    }
}

fn scalar_value(kind: Type, value: &Value, out: &mut Findings) {
    let wanted = match (kind, value) {
        (Type::Int32 | Type::IntOrText, Value::Int(number)) if i32::try_from(*number).is_ok() => return,
        (Type::Int32 | Type::IntOrText, Value::Int(_) | Value::Uint(_)) => "an integer of 32 bits",
        (Type::IntOrText, Value::String(_))
        | (Type::Int64, Value::Int(_))
        | (Type::Number, Value::Int(_) | Value::Uint(_) | Value::Float(_)) => return,
        (Type::Bytes, Value::String(text)) => match bytes(text) {
            Some(_) => return,
            None => return out.invalid("", "base64", "must be base64; a Secret takes plain text as `stringData`"),
        },
        (Type::Time, Value::String(text)) => match go_std::time::parse("2006-01-02T15:04:05Z07:00", text.as_bytes()) {
            Ok(_) => return,
            Err(_) => return out.invalid("", "time", "must be a time such as 2026-01-31T12:00:00Z"),
        },
        (Type::Quantity, value @ (Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_))) => {
            match Quantity::of(value) {
                Some(_) => return,
                None => return out.invalid("", "quantity", "must be an amount such as 100m, 1.5 or 2Gi"),
            }
        }
        (Type::Text, _) => "a string",
        (Type::Int32 | Type::Int64, _) => "an integer",
        (Type::Number, _) => "a number",
        (Type::Bool | Type::BoolOr, _) => "true or false",
        (Type::Bytes, _) => "a string of base64",
        (Type::Time, _) => "a string with a time",
        (Type::Quantity, _) => "an amount such as 100m or 2Gi",
        (Type::IntOrText, _) => "an integer or a string",
        (Type::List, _) => "a list",
        (Type::Map | Type::Object(_), _) => "a mapping",
        (Type::Any, _) => return,
    };
    mistyped(wanted, value, out);
}

/// What base64 says, line breaks left out as Go does.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let plain: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    data_encoding::BASE64.decode(&plain).ok()
}

pub(crate) fn mistyped(wanted: &str, value: &Value, out: &mut Findings) {
    let what = match value {
        Value::String(text) => format!("the string {}", shown(text)),
        Value::Bool(value) => format!("`{value}`"),
        Value::Int(number) => format!("`{number}`"),
        Value::Uint(number) => format!("`{number}`"),
        Value::Float(number) => format!("`{number}`"),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "a mapping".to_owned(),
        Value::Null => "null".to_owned(),
    };
    let is_bare = matches!(value, Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_));
    let hint = if wanted == "a string" && is_bare { "; quote it, in a template by `| quote`" } else { "" };
    out.refuse("", "type", Reason::Type, format!("must be {wanted}, not {what}{hint}"));
}

/// A field that no type has.
pub(crate) fn unknown<'n>(names: impl Iterator<Item = &'n str> + Clone, key: &str, out: &mut Findings) {
    // As many as are compared with it, letter by letter.
    if !out.take(names.clone().map(|name| (name.len().min(80) * key.len().min(80)) as u64 / 8).sum()) {
        return;
    }
    out.unknown(key, nearest(names, key));
}

pub(crate) fn not_one_of(all: &[&str], text: &str, out: &mut Findings) {
    let hint = nearest(all.iter().copied(), text).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    let list = all.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    out.refuse("", "enum", Reason::NotSupported, format!("is {}, and must be one of {list}{hint}", shown(text)));
}
