//! What is wrong with an expression where it is written, before there is a value: its syntax, a name that nothing has, a pattern.
//!
//! A server compiles the expressions of CRDs and of admission policies, with the types of all that they name, and estimates what
//! they cost. Only what is certain without types is said here.
//!
//! Reference: apiserver 0.36 pkg/cel/environment/base.go, pkg/admission/plugin/cel/compile.go.

use cel::Program;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators};
use go_std::regexp::Regex;
use go_yaml::Mapping;

use super::{COMPILE, escaped, is_judged, unless_it_panics};
use crate::fields::{is_true, map, text};
use crate::finding::{Findings, shown};

/// Names of types, and what they are below.
const TYPES: &[&str] = &[
    "Object",
    "bool",
    "bytes",
    "double",
    "dyn",
    "google",
    "int",
    "kubernetes",
    "list",
    "map",
    "net",
    "null_type",
    "optional_type",
    "string",
    "type",
    "uint",
];
/// Functions whose first arguments are names that they give to values.
const BINDING: &[&str] =
    &["all", "bind", "exists", "existsOne", "exists_one", "filter", "map", "optFlatMap", "optMap", "sortBy"];

/// What an expression may name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names<'n> {
    /// The variables, each with its schema where that is known.
    known: Vec<(String, Option<&'n Mapping>)>,
    /// What `variables` has, where that is known.
    variables: Option<Vec<&'n str>>,
}

impl<'n> Names<'n> {
    /// These variables, of any types.
    pub(crate) fn new(names: &[&str]) -> Self {
        Self { known: names.iter().map(|name| ((*name).to_owned(), None)).collect(), variables: None }
    }

    /// A value of a custom resource, and the one before.
    pub(crate) fn of_schema(schema: &'n Mapping) -> Self {
        let known = ["self", "oldSelf"].map(|name| (name.to_owned(), Some(schema)));
        Self { known: known.into(), variables: None }
    }

    /// The names, with these in `variables`.
    pub(crate) fn with_variables(&self, variables: &[&'n str]) -> Self {
        Self { variables: Some(variables.to_vec()), ..self.clone() }
    }

    /// Says what is wrong with an expression at `at`, and counts it where nothing is: its types are not judged.
    pub(crate) fn check(&self, source: &str, at: &str, out: &mut Findings) {
        if source.is_empty() {
            return;
        }
        match self.fault(source, out) {
            Some(fault) => out.invalid(at, "cel", fault),
            None => out.unjudged += 1,
        }
    }

    fn fault(&self, source: &str, out: &mut Findings) -> Option<String> {
        // Optional fields and items are what the crate does not read.
        let is_read = ![".?", "[?", "{?"].iter().any(|optional| source.contains(optional));
        if !is_read || !is_judged(source) || !out.take(COMPILE * source.len() as u64) {
            return None;
        }
        match unless_it_panics(|| Program::compile(source))? {
            Ok(program) => self.clone().expression(program.expression()),
            Err(_) => Some(format!("is {}, which is not an expression of CEL", shown(source))),
        }
    }

    fn expression(&mut self, expression: &IdedExpr) -> Option<String> {
        match &expression.expr {
            Expr::Ident(name) if self.is_known(name) => None,
            Expr::Ident(name) => Some(format!("names {}, which is not a variable here", shown(name))),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(all) => self.comprehension(all),
            Expr::List(list) => list.elements.iter().find_map(|each| self.expression(each)),
            Expr::Map(entries) => entries.entries.iter().find_map(|each| self.entry(&each.expr)),
            Expr::Struct(fields) => fields.entries.iter().find_map(|each| self.entry(&each.expr)),
            Expr::Literal(_) | Expr::Unspecified => None,
        }
    }

    fn is_known(&self, name: &str) -> bool {
        name.starts_with('@') || TYPES.contains(&name) || self.known.iter().any(|(known, _)| known == name)
    }

    fn entry(&mut self, entry: &EntryExpr) -> Option<String> {
        match entry {
            EntryExpr::MapEntry(entry) => self.expression(&entry.key).or_else(|| self.expression(&entry.value)),
            EntryExpr::StructField(field) => self.expression(&field.value),
        }
    }

    fn select(&mut self, select: &SelectExpr) -> Option<String> {
        let is_of_variables = matches!(&select.operand.expr, Expr::Ident(name) if name == "variables");
        let has = |variables: &Vec<&str>| variables.contains(&select.field.as_str());
        if is_of_variables && self.variables.as_ref().is_some_and(|variables| !has(variables)) {
            return Some(format!(
                "names {}, which is not a variable here",
                shown(&format!("variables.{}", select.field))
            ));
        }
        if let Some(schema) = self.schema(&select.operand)
            && is_closed(schema)
            && property(schema, &select.field).is_none()
        {
            return Some(format!("names the field {}, which the schema has not", shown(&select.field)));
        }
        self.expression(&select.operand)
    }

    /// The schema of what an expression gives, where that is known.
    fn schema(&self, expression: &IdedExpr) -> Option<&'n Mapping> {
        match &expression.expr {
            Expr::Ident(name) => {
                self.known.iter().rev().find(|(known, _)| known == name).and_then(|(_, schema)| *schema)
            }
            Expr::Select(select) if !select.test => property(self.schema(&select.operand)?, &select.field),
            Expr::Call(call) if call.func_name == operators::INDEX => map(self.schema(call.args.first()?)?, "items"),
            _ => None,
        }
    }

    fn call(&mut self, call: &CallExpr) -> Option<String> {
        let count = self.known.len();
        let found = self.called(call);
        self.known.truncate(count);
        found
    }

    fn called(&mut self, call: &CallExpr) -> Option<String> {
        // A name that no variable has is that of a library: `math.greatest(1, 2)`.
        let target = call.target.as_deref().filter(|target| !matches!(target.expr, Expr::Ident(_)));
        if let Some(fault) = target.and_then(|target| self.expression(target)) {
            return Some(fault);
        }
        let is_binding = BINDING.contains(&call.func_name.as_str()) || call.func_name.starts_with("transform");
        let mut names = call.args.len().saturating_sub(1);
        for argument in &call.args {
            match &argument.expr {
                Expr::Ident(name) if is_binding && names > 0 => self.known.push((name.clone(), None)),
                _ => names = 0,
            }
            if let Some(fault) = self.expression(argument) {
                return Some(fault);
            }
        }
        match call.args.last().map(|last| &last.expr) {
            Some(Expr::Literal(LiteralValue::String(pattern)))
                if call.func_name == "matches" && Regex::check(pattern.inner().as_bytes()).is_err() =>
            {
                Some(format!("has the pattern {}, which is not a regular expression of RE2", shown(pattern.inner())))
            }
            _ => None,
        }
    }

    fn comprehension(&mut self, all: &ComprehensionExpr) -> Option<String> {
        if let Some(fault) = self.expression(&all.iter_range) {
            return Some(fault);
        }
        let count = self.known.len();
        let item = self.schema(&all.iter_range).and_then(|list| map(list, "items"));
        match &all.iter_var2 {
            None => self.known.push((all.iter_var.clone(), item)),
            Some(second) => self.known.extend([(all.iter_var.clone(), None), (second.clone(), item)]),
        }
        self.known.push((all.accu_var.clone(), None));
        let parts = [&all.accu_init, &all.loop_cond, &all.loop_step, &all.result];
        let found = parts.into_iter().find_map(|part| self.expression(part));
        self.known.truncate(count);
        found
    }
}

/// Whether an object has the fields of its schema alone.
fn is_closed(schema: &Mapping) -> bool {
    text(schema, "type") == "object"
        && map(schema, "properties").is_some_and(|all| !all.is_empty())
        && !is_true(schema, "x-kubernetes-preserve-unknown-fields")
        && !is_true(schema, "x-kubernetes-embedded-resource")
}

/// The schema of a field by its name in expressions. Fields of every object have one that says nothing.
fn property<'n>(schema: &'n Mapping, name: &str) -> Option<&'n Mapping> {
    static ANY: std::sync::LazyLock<Mapping> = std::sync::LazyLock::new(Mapping::new);
    let mut all = map(schema, "properties").into_iter().flatten();
    let found = all.find(|(key, _)| *key == name || escaped(key) == name).and_then(|(_, schema)| schema.as_mapping());
    found.or(matches!(name, "apiVersion" | "kind" | "metadata").then_some(&*ANY))
}
