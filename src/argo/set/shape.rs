//! Go's types of a document, as far as they decide what becomes of it.
//!
//! Upstream works on structs: it renders every string of one, merges two field by field, and writes it as JSON. Here a
//! document stays a [`Value`], and a [`Shape`] beside it says what each part is. A [`Value`] that was [read] has
//! known fields only, none of them null: what is left out is Go's zero value.

use go_std::json::{UnmarshalTypeError, find_field};
use go_yaml::{Mapping, Value, json};

/// A type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// `string`
    Text,
    /// `bool`
    Flag,
    /// `int64`
    Number,
    /// `intstr.IntOrString`
    NumberOrText,
    /// JSON that is kept as it is: `runtime.RawExtension`, `apiextensionsv1.JSON`.
    Raw,
    /// A struct of this name, of which nothing is taken.
    Ignored(&'static str),
    /// `map[string]T`
    Map(&'static Shape),
    /// `[]T`
    List(&'static Shape),
    /// A struct.
    Struct(&'static Struct),
}

/// A struct type.
#[derive(Debug)]
pub(super) struct Struct {
    /// As error messages name it.
    pub name: &'static str,
    /// In the order of the Go source, which is the order of rendering.
    pub fields: &'static [Field],
}

/// A field of a struct.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// When it is written.
    pub kept: InJson,
    /// What a patch does to its list.
    pub list: ListPatch,
    /// Whether these are the `values` of a generator, which the other child of a matrix renders as far as it can.
    pub is_values: bool,
}

/// When a field is part of the JSON of its struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InJson {
    /// `omitempty`: unless it is empty.
    Filled,
    /// A pointer with `omitempty`: when it is there, also when it is empty.
    Given,
    /// Always.
    Always,
}

/// What a strategic merge patch does to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListPatch {
    /// Replaces it.
    Replace,
    /// Unites the two.
    Merge,
}

impl Struct {
    /// The field of a name.
    pub(super) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field that Go's `encoding/json` puts a key into: letters may differ in case.
    pub(super) fn field_folded(&self, name: &str) -> Option<&'static Field> {
        self.fields.get(find_field(self.fields.iter().map(|field| field.name), name)?)
    }
}

impl Shape {
    fn go_name(&self) -> String {
        match self {
            Shape::Text => "string".to_owned(),
            Shape::Flag => "bool".to_owned(),
            Shape::Number => "int64".to_owned(),
            // `intstr.IntOrString` reads anything but a string as its number.
            Shape::NumberOrText => "int32".to_owned(),
            Shape::Raw => "interface {}".to_owned(),
            Shape::Map(of) => format!("map[string]{}", of.go_name()),
            Shape::List(Shape::Struct(Struct { name, .. })) => match list_name(name) {
                Some(name) => format!("v1alpha1.{name}"),
                None => format!("[]v1alpha1.{name}"),
            },
            Shape::List(of) => format!("[]{}", of.go_name()),
            Shape::Struct(Struct { name, .. }) | Shape::Ignored(name) => format!("v1alpha1.{name}"),
        }
    }

    /// Whether a value of this type is Go's zero value, or an empty list or map.
    fn is_empty(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Int(value) => *value == 0,
            Value::Uint(_) => false,
            Value::Float(value) => *value == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Sequence(items) => items.is_empty(),
            Value::Mapping(entries) => entries.is_empty(),
        }
    }
}

/// The name of the type of lists of a struct, if it has one.
fn list_name(of: &str) -> Option<&'static str> {
    match of {
        "ApplicationSource" => Some("ApplicationSources"),
        "ApplicationSourcePluginParameter" => Some("ApplicationSourcePluginParameters"),
        "EnvEntry" => Some("Env"),
        "KustomizePatch" => Some("KustomizePatches"),
        "KustomizeReplica" => Some("KustomizeReplicas"),
        "ResourceIgnoreDifferences" => Some("IgnoreDifferences"),
        _ => None,
    }
}

/// A value of another type than its field: what Go's `encoding/json` says, and the way to it.
#[derive(Debug, PartialEq)]
pub(super) struct Mismatch {
    /// `json: cannot unmarshal …`
    pub text: String,
    /// Keys and indexes from the root.
    pub steps: Vec<String>,
    /// Whether it is a number or a boolean where a text belongs: in quotes it is one.
    pub lacks_quotes: bool,
}

/// How keys are matched with fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// As the API server prunes what a CustomResourceDefinition does not name.
    Exact,
    /// As Go's `encoding/json` does.
    Folded,
}

/// Reads a value as a type: unknown fields are dropped, and so is null.
pub(super) fn read(value: &Value, shape: &Shape, keys: Keys) -> Result<Value, Mismatch> {
    Reader { keys, steps: Vec::new(), fields: Vec::new(), structs: Vec::new() }.value(value, shape)
}

struct Reader {
    keys: Keys,
    steps: Vec<String>,
    fields: Vec<&'static str>,
    structs: Vec<&'static str>,
}

impl Reader {
    fn value(&mut self, value: &Value, shape: &Shape) -> Result<Value, Mismatch> {
        match (shape, value) {
            (Shape::Ignored(_), Value::Mapping(_)) => Ok(Value::Null),
            (_, Value::Null) => Ok(Value::Null),
            (Shape::Raw, value) => Ok(value.clone()),
            (Shape::Text, Value::String(_))
            | (Shape::Flag, Value::Bool(_))
            | (Shape::Number, Value::Int(_))
            | (Shape::NumberOrText, Value::String(_)) => Ok(value.clone()),
            (Shape::NumberOrText, Value::Int(number)) if i32::try_from(*number).is_ok() => Ok(value.clone()),
            (Shape::Map(of), Value::Mapping(entries)) => {
                let mut read = Mapping::new();
                for (key, value) in entries {
                    self.steps.push(key.clone());
                    read.insert(key.clone(), zero_for_null(self.value(value, of)?, of));
                    self.steps.pop();
                }
                Ok(Value::Mapping(read))
            }
            (Shape::List(of), Value::Sequence(items)) => {
                let mut read = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    self.steps.push(index.to_string());
                    read.push(zero_for_null(self.value(item, of)?, of));
                    self.steps.pop();
                }
                Ok(Value::Sequence(read))
            }
            (Shape::Struct(of), Value::Mapping(entries)) => self.fields(of, entries),
            _ => Err(self.mismatch(value, shape)),
        }
    }

    fn fields(&mut self, of: &'static Struct, entries: &Mapping) -> Result<Value, Mismatch> {
        let mut read = Mapping::new();
        self.structs.push(of.name);
        for (key, value) in entries {
            let field = match self.keys {
                Keys::Exact => of.field(key),
                Keys::Folded => of.field_folded(key),
            };
            let Some(field) = field else { continue };
            self.steps.push(key.clone());
            self.fields.push(field.name);
            let value = self.value(value, &field.shape)?;
            self.fields.pop();
            self.steps.pop();
            if !value.is_null() {
                read.insert(field.name.to_owned(), value);
            }
        }
        self.structs.pop();
        Ok(Value::Mapping(read))
    }

    fn mismatch(&self, value: &Value, shape: &Shape) -> Mismatch {
        let found = match value {
            Value::Float(_) | Value::Uint(_) | Value::Int(_)
                if matches!(shape, Shape::Number | Shape::NumberOrText) =>
            {
                format!("number {}", json::encode(value, json::Options::default()))
            }
            value => value.json_kind().to_owned(),
        };
        let of = self.structs.last().filter(|_| !self.fields.is_empty());
        let error = UnmarshalTypeError {
            value: found,
            field: of.map(|of| ((*of).to_owned(), self.fields.join("."))),
            go_type: shape.go_name(),
        };
        let is_bare = matches!(value, Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_));
        let lacks_quotes = is_bare && matches!(shape, Shape::Text);
        Mismatch { text: error.to_string(), steps: self.steps.clone(), lacks_quotes }
    }
}

/// What an item that is null is in Go.
fn zero_for_null(value: Value, shape: &Shape) -> Value {
    match (&value, shape) {
        (Value::Null, Shape::Text) => Value::from(""),
        (Value::Null, Shape::Flag) => Value::Bool(false),
        (Value::Null, Shape::Number | Shape::NumberOrText) => Value::Int(0),
        (Value::Null, Shape::Struct(_) | Shape::Map(_)) => Value::Mapping(Mapping::new()),
        (Value::Null, Shape::List(_)) => Value::Sequence(Vec::new()),
        _ => value,
    }
}

/// What `json.Marshal` writes of a value that was read.
pub(super) fn written(value: &Value, shape: &Shape) -> Value {
    match (shape, value) {
        (Shape::Struct(of), Value::Mapping(entries)) => {
            let mut out = Mapping::new();
            for field in of.fields {
                let here = entries.get(field.name).map(|value| written(value, &field.shape));
                let here = match (here, field.kept) {
                    (here, InJson::Given) => here,
                    (here, InJson::Filled) => here.filter(|value| !field.shape.is_empty(value)),
                    (Some(here), InJson::Always) => Some(here),
                    (None, InJson::Always) => Some(match field.shape {
                        Shape::Struct(_) => written(&Value::Mapping(Mapping::new()), &field.shape),
                        Shape::List(_) | Shape::Map(_) => Value::Null,
                        shape => zero_for_null(Value::Null, &shape),
                    }),
                };
                out.extend(here.map(|here| (field.name.to_owned(), here)));
            }
            Value::Mapping(out)
        }
        (Shape::Map(of), Value::Mapping(entries)) => {
            Value::Mapping(entries.iter().map(|(key, value)| (key.clone(), written(value, of))).collect())
        }
        (Shape::List(of), Value::Sequence(items)) => {
            Value::Sequence(items.iter().map(|item| written(item, of)).collect())
        }
        _ => value.clone(),
    }
}

/// Fills what `into` leaves empty from another value of the same type.
///
/// Structs and maps are united, everything else stays as it is unless it is empty, wherever a pointer leads to it: so
/// `false` is replaced by `true`.
///
/// Reference: dario.cat/mergo 1.0.2 `Merge` without options.
pub(super) fn fill(into: &mut Value, from: &Value, shape: &Shape) {
    match (shape, into, from) {
        (Shape::Struct(of), Value::Mapping(into), Value::Mapping(from)) => {
            for (key, from) in from {
                match (into.get_mut(key), of.field(key)) {
                    (Some(into), Some(field)) => fill(into, from, &field.shape),
                    _ => drop(into.insert(key.clone(), from.clone())),
                }
            }
        }
        (Shape::Map(of), Value::Mapping(into), Value::Mapping(from)) => {
            for (key, from) in from {
                if into.get(key).is_none_or(|into| of.is_empty(into)) {
                    into.insert(key.clone(), from.clone());
                }
            }
        }
        (Shape::Raw, ..) => {}
        (shape, into, from) => {
            if shape.is_empty(into) && !shape.is_empty(from) {
                *into = from.clone();
            }
        }
    }
}
