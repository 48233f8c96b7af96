//! Expressions of CEL in the schemas of custom resources, `x-kubernetes-validations`, and what is wrong with those that CRDs and
//! admission policies have.
//!
//! Judged are those that the crate `cel` evaluates; those on how a value may change where the value before is known. What it has no
//! function for, and what is too long or could take too long, is left out, and counted: nothing is guessed.
//!
//! Reference: apiextensions-apiserver 0.36 pkg/apiserver/schema/cel/validation.go.

mod check;
mod cost;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) use check::Names;

use cel::objects::{Key, Map};
use cel::{Context, ExecutionError, Program};
use go_yaml::{Mapping, Value};

use crate::custom::{self, is_as_before, item_before, keys};
use crate::fields::{is_true, items, map, text};
use crate::finding::{Findings, Reason, shown};

/// Longer expressions, and those with more brackets inside each other, are not judged.
const LENGTH_MAX: usize = 2_000;
const BRACKETS_MAX: usize = 16;
/// What one may take.
const STEPS_MAX: u64 = 1_000_000;
/// What it takes to compile a byte of one.
const COMPILE: u64 = 32;

/// Expressions that were compiled already.
#[derive(Debug, Default)]
pub(crate) struct Expressions {
    programs: RefCell<HashMap<String, Option<Rc<Program>>>>,
}

impl Expressions {
    fn program(&self, source: &str, out: &mut Findings) -> Option<Rc<Program>> {
        let mut programs = self.programs.borrow_mut();
        if let Some(known) = programs.get(source) {
            return known.clone();
        }
        if !out.take(COMPILE * source.len() as u64) {
            return None;
        }
        let compiled = || Program::compile(source).ok().map(Rc::new);
        let program = if is_judged(source) { unless_it_panics(compiled).flatten() } else { None };
        programs.insert(source.to_owned(), program.clone());
        program
    }

    /// Judges the rules of a schema, and those of its parts, where the value is not what it was; gives how many could not be.
    pub(crate) fn judge(&self, schema: &Mapping, value: &Value, old: Option<&Value>, out: &mut Findings) -> usize {
        if value.is_null() || is_as_before(value, old, out) {
            return 0;
        }
        let mut unjudged = self.rules(schema, value, old, out);
        match value {
            Value::Mapping(entries) => {
                let properties = map(schema, "properties");
                let others = map(schema, "additionalProperties");
                for (key, entry) in entries {
                    if let Some(schema) = properties.and_then(|all| map(all, key)).or(others) {
                        let old = old.and_then(|old| old.get(key));
                        out.within(format_args!(".{key}"), |out| unjudged += self.judge(schema, entry, old, out));
                    }
                }
            }
            Value::Sequence(values) => {
                let keys = keys(schema);
                if let Some(schema) = map(schema, "items") {
                    for (index, item) in values.iter().enumerate() {
                        let old = item_before(&keys, item, old, out);
                        out.within_item(index, |out| unjudged += self.judge(schema, item, old, out));
                    }
                }
            }
            _ => {}
        }
        unjudged
    }

    fn rules(&self, schema: &Mapping, value: &Value, old: Option<&Value>, out: &mut Findings) -> usize {
        let mut unjudged = 0;
        let mut own = None;
        let mut before = None;
        for (_, rule) in items(schema, "x-kubernetes-validations") {
            let source = text(rule, "rule");
            if !out.take(1) {
                break;
            }
            // A rule on how a value may change holds for one that is new.
            let is_of_change = source.contains("oldSelf") && !is_true(rule, "optionalOldSelf");
            if is_of_change && old.is_none_or(Value::is_null) {
                continue;
            }
            if own.is_none() {
                if !out.take(custom::size([value].into_iter())) {
                    break;
                }
                let mut left_out = Vec::new();
                own = Some((converted(schema, value, &mut left_out), left_out));
            }
            let (own, left_out) = own.as_ref().map_or((None, &[][..]), |(own, left_out)| (own.as_ref(), &left_out[..]));
            if !out.take(left_out.len() as u64) {
                break;
            }
            if let Some(old) = old.filter(|_| is_of_change && before.is_none()) {
                if !out.take(custom::size([old].into_iter())) {
                    break;
                }
                let mut left_out = Vec::new();
                before = Some((converted(schema, old, &mut left_out), left_out));
            }
            let of_change = before.as_ref().filter(|_| is_of_change);
            let is_named = |name: &String| source.contains(name.as_str());
            let is_whole =
                !left_out.iter().any(is_named) && !of_change.is_some_and(|(_, out)| out.iter().any(is_named));
            let before = of_change.map(|(before, _)| before.as_ref());
            let known = own.filter(|_| is_whole && before != Some(None));
            match known.and_then(|own| self.is_met(source, own, before.flatten(), out)) {
                Some(true) => {}
                Some(false) => {
                    let message = match text(rule, "message") {
                        "" => format!("must meet {}", shown(source)),
                        message => message.to_owned(),
                    };
                    out.refuse(text(rule, "fieldPath"), "cel", Reason::Invalid, message);
                }
                None => unjudged += 1,
            }
        }
        unjudged
    }

    /// Whether a rule is met; `None` if that is not known.
    fn is_met(&self, source: &str, own: &cel::Value, old: Option<&cel::Value>, out: &mut Findings) -> Option<bool> {
        let program = self.program(source, out)?;
        let variables: Vec<(&'static str, &cel::Value)> =
            [Some(("self", own)), old.map(|old| ("oldSelf", old))].into_iter().flatten().collect();
        let (steps, taken) = cost::steps(program.expression(), &variables);
        if !out.take(taken) || !out.take(steps.filter(|steps| *steps <= STEPS_MAX.min(out.left()))?) {
            return None;
        }
        let mut context = Context::default();
        for (name, value) in variables {
            context.add_variable_from_value(name, value.clone());
        }
        match unless_it_panics(|| program.execute(&context))? {
            Ok(cel::Value::Bool(is_met)) => Some(is_met),
            Err(ExecutionError::NoSuchKey(_)) => Some(false),
            Err(ExecutionError::FunctionError { function, .. })
                if matches!(function.as_str(), "duration" | "timestamp" | "int") =>
            {
                Some(false)
            }
            _ => None,
        }
    }
}

/// What the crate `cel` answers; none where it has a fault: such an expression is not judged.
fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok()
}

/// Whether an expression is short and flat enough to be read at all.
fn is_judged(source: &str) -> bool {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    let marks = source.bytes().filter(|byte| matches!(byte, b'!' | b'-' | b'?')).count();
    source.len() <= LENGTH_MAX && deepest <= BRACKETS_MAX && marks <= 100
}

/// Words that no name may be, in expressions of CEL.
pub(crate) const KEYWORDS: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The name of a field in an expression.
fn escaped(name: &str) -> String {
    if KEYWORDS.contains(&name) {
        return format!("__{name}__");
    }
    if !name.contains(['.', '-', '/']) && !name.contains("__") {
        return name.to_owned();
    }
    name.replace("__", "__underscores__").replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__")
}

/// A value as an expression sees it; `None` if it is of a type that is not known here. Fields of such types are left out, and
/// their names are kept: what names them is not judged.
fn converted(schema: &Mapping, value: &Value, left_out: &mut Vec<String>) -> Option<cel::Value> {
    Some(match value {
        Value::Null => cel::Value::Null,
        Value::Bool(value) => cel::Value::Bool(*value),
        Value::Int(number) if text(schema, "type") == "number" => {
            #[expect(clippy::cast_precision_loss, reason = "numbers of such a field are floats")]
            let number = *number as f64;
            cel::Value::Float(number)
        }
        Value::Int(number) => cel::Value::Int(*number),
        Value::Uint(number) => cel::Value::UInt(*number),
        // An integer with a fraction of nothing is one that a server cannot convert.
        Value::Float(_) if text(schema, "type") == "integer" => return None,
        Value::Float(number) => cel::Value::Float(*number),
        Value::String(value) if !matches!(text(schema, "format"), "date" | "date-time" | "duration" | "byte") => {
            cel::Value::String(value.clone().into())
        }
        Value::String(_) => return None,
        Value::Sequence(values) => {
            let empty = Mapping::new();
            let schema = map(schema, "items").unwrap_or(&empty);
            cel::Value::from(values.iter().map(|value| converted(schema, value, left_out)).collect::<Option<Vec<_>>>()?)
        }
        Value::Mapping(entries) => fields(schema, entries, left_out),
    })
}

fn fields(schema: &Mapping, entries: &Mapping, left_out: &mut Vec<String>) -> cel::Value {
    let empty = Mapping::new();
    let properties = map(schema, "properties");
    let mut all: HashMap<Key, cel::Value> = HashMap::new();
    for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
        let property = properties.and_then(|all| map(all, key));
        let name = if property.is_some() { escaped(key) } else { key.clone() };
        let schema = property.or_else(|| map(schema, "additionalProperties")).unwrap_or(&empty);
        match converted(schema, value, left_out) {
            Some(value) => {
                // Public CRDs name a field such as `namespace` as it is too.
                if name != *key {
                    all.insert(key.clone().into(), value.clone());
                }
                all.insert(name.into(), value);
            }
            None => left_out.push(name),
        }
    }
    cel::Value::Map(Map { map: all.into() })
}
