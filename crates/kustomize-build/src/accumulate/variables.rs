//! `vars`: the values of the variables, and where they are replaced.

use std::collections::{BTreeMap, HashMap};

use go_yaml::Tag;

use super::{Accumulator, Target};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::id::{Gvk, ResId};
use crate::kustomization::Var;
use crate::path;
use crate::session::Session;
use crate::transform::{self, Variable};
use crate::tree::{Kind, NodeId, Tree};

/// A variable as Go prints it.
fn describe(var: &Var) -> String {
    let object = &var.object;
    let gvk = Gvk { group: &object.group, version: &object.version, kind: &object.kind };
    format!("{{{} {gvk} {{{}}}}}", var.name, var.field.path)
}

/// Takes group and version from `apiVersion`, and the name for the field that is not given.
fn defaulted(var: &Var) -> Var {
    let mut var = var.clone();
    let parts: Vec<&str> = var.object.api_version.split('/').collect();
    match parts[..] {
        [""] => {}
        [version] => var.object.version = version.to_owned(),
        [group, version] => {
            let (group, version) = (group.to_owned(), version.to_owned());
            (var.object.group, var.object.version) = (group, version);
        }
        _ => {}
    }
    if var.field.path.is_empty() {
        "metadata.name".clone_into(&mut var.field.path);
    }
    var
}

impl Target {
    /// Notes on the resources which variables they give a value to.
    pub(super) fn merge_vars(&self, session: &Session<'_>, gathered: &mut Accumulator) -> Result<()> {
        let Some(vars) = self.kustomization.vars.as_ref().filter(|vars| !vars.is_empty()) else { return Ok(()) };
        self.add_vars(session, vars, gathered).map_err(|error| {
            let all: Vec<String> = vars.iter().map(describe).collect();
            error.prefix(format!("merging vars [{}]", all.join(" ")))
        })
    }

    fn add_vars(&self, session: &Session<'_>, vars: &[Var], gathered: &mut Accumulator) -> Result<()> {
        for (index, var) in vars.iter().enumerate() {
            note_source(session, &defaulted(var), gathered).map_err(|error| error.inside(index).inside("vars"))?;
        }
        for (index, var) in vars.iter().enumerate() {
            gathered.add_var(defaulted(var), &self.written, index)?;
        }
        Ok(())
    }
}

/// Notes on the resource that `var` takes its value from that it does.
fn note_source(session: &Session<'_>, var: &Var, gathered: &mut Accumulator) -> Result<()> {
    let object = &var.object;
    let gvk = Gvk { group: &object.group, version: &object.version, kind: &object.kind };
    let wanted = ResId::unscoped(gvk, &object.name, &object.namespace);
    let found = gathered.resources.by_any_id(&session.tree, &session.schema, wanted.name, |id| {
        id.gvk == wanted.gvk && (wanted.namespace.is_empty() || id.same_namespace(&wanted))
    });
    match found[..] {
        [] => Ok(()),
        [index] => {
            if let Some(variables) = gathered.resources.variables_mut(index) {
                variables.push(var.name.clone());
            }
            Ok(())
        }
        _ => {
            let (count, var) = (found.len(), describe(var));
            let text = format!("found {count} resId matches for var {var} (unable to disambiguate)");
            Err(Error::new(text).inside("objref"))
        }
    }
}

/// Replaces the references to all variables by their values.
pub(super) fn resolve(session: &mut Session<'_>, gathered: &Accumulator, config: &Config) -> Result<()> {
    let mut values = BTreeMap::new();
    let mut holders: HashMap<&str, NodeId> = HashMap::new();
    for resource in gathered.resources.iter() {
        for name in &resource.variables {
            holders.entry(name).or_insert(resource.root);
        }
    }
    for (name, (var, written, index)) in &gathered.vars {
        let place = |error: Error, field: &str| written.locate(error.inside(field).inside(*index).inside("vars"));
        let Some(holder) = holders.get(name.as_str()) else {
            let text = format!("var '{}' cannot be mapped to a field in the set of known resources", describe(var));
            return Err(place(Error::new(text), "objref"));
        };
        let value = field_value(&mut session.tree, *holder, &var.field.path);
        let Some(value) = value else {
            let text = format!("field specified in var '{}' not found in corresponding resource", describe(var));
            return Err(place(Error::new(text), "fieldref"));
        };
        values.insert(name.clone(), value);
    }
    if values.is_empty() {
        return Ok(());
    }
    let unused = transform::replace_variables(session, &gathered.resources, config, &values)?;
    if !unused.is_empty() {
        session.warnings.push(format!("well-defined vars that were never replaced: {}", unused.join(",")));
    }
    Ok(())
}

/// The value at a path such as `spec.ports[0].port`, by its tag.
fn field_value(tree: &mut Tree, root: NodeId, path: &str) -> Option<Variable> {
    let mut parts = Vec::new();
    for part in path::split_dots(path) {
        let indexed = part.strip_suffix(']').and_then(|part| part.rsplit_once('['));
        match indexed.filter(|(_, index)| !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((name, index)) => {
                if !name.is_empty() {
                    parts.push(name.to_owned());
                }
                parts.push(index.to_owned());
            }
            None => parts.push(part),
        }
    }
    let id = tree.lookup(root, &parts).ok()??;
    let node = tree.node(id);
    let text = node.value.as_str();
    match (node.kind, &node.tag) {
        (Kind::Mapping | Kind::Sequence, _) => Some(Variable::Other),
        (Kind::Scalar, Some(Tag::Int)) => path::atoi(text).map(Variable::Int),
        (Kind::Scalar, Some(Tag::Float)) => text.parse().ok().map(Variable::Float),
        (Kind::Scalar, Some(Tag::Bool)) => match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(Variable::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(Variable::Bool(false)),
            _ => None,
        },
        (Kind::Scalar, _) => Some(Variable::String(text.to_owned())),
        (Kind::None | Kind::Alias, _) => None,
    }
}
