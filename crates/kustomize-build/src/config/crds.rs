//! `crds`: what definitions of custom resources say of names and references.

use std::collections::BTreeMap;

use dry_files::path::RepoPath;
use dry_files::view::Blob;
use go_yaml::{Mapping, Value};

use super::{Config, NameReference};
use crate::decode::{self, Mode, record};
use crate::error::{Error, Result};
use crate::field_spec::{self, FieldSpec};
use crate::id::OwnedGvk;
use crate::place;
use crate::text;

record! {
    /// One type of a file that `crds` names.
    Definition: "OpenAPIDefinition" {
        schema: Value = "Schema",
        dependencies: Value = "Dependencies",
    }
}

type Definitions = BTreeMap<String, Definition>;

/// How deep the references of a definition may lead.
const REFERENCES_MAX: usize = 32;

/// The field specs that the definitions of custom resources ask for by their `x-kubernetes-…` extensions.
pub(crate) fn of_crds(files: impl Iterator<Item = (String, Result<(RepoPath, Blob)>)>) -> Result<Config> {
    let mut config = Config::default();
    for (index, (path, file)) in files.enumerate() {
        let (file, blob) = file.map_err(|error| error.inside(index))?;
        let definitions = definitions(&blob.data).map_err(|error| {
            let error = error.prefix(format!("unable to parse open API definition from '{path}'"));
            place::locate(error, &file, &blob.data)
        })?;
        for name in definitions.keys() {
            let Some(properties) = properties(&definitions, name) else { continue };
            if !["kind", "apiVersion", "metadata"].iter().all(|field| properties.contains_key(*field)) {
                continue;
            }
            let mut own = Config::default();
            let kind = name.rsplit('.').next().unwrap_or(name);
            let mut reader = Reader { definitions: &definitions, gvk: OwnedGvk::new("", "", kind), config: &mut own };
            reader.read(name, &mut Vec::new())?;
            config = config.merge(&own)?;
        }
    }
    Ok(config)
}

fn definitions(content: &[u8]) -> Result<Definitions> {
    // What begins as JSON must be JSON; anything else is YAML.
    let value = match content.first() {
        None => return Err(Error::new("the file is empty")),
        Some(b'{') => text::json_bytes(content)?,
        Some(_) => text::value(content)?,
    };
    let map: Option<Definitions> = decode::decode(&value, Mode::Plugin)?;
    Ok(map.unwrap_or_default())
}

fn properties<'d>(definitions: &'d Definitions, name: &str) -> Option<&'d Mapping> {
    definitions.get(name)?.schema.get("properties")?.as_mapping()
}

struct Reader<'d> {
    definitions: &'d Definitions,
    gvk: OwnedGvk,
    config: &'d mut Config,
}

impl Reader<'_> {
    fn read(&mut self, name: &str, path: &mut Vec<String>) -> Result<()> {
        if path.len() > REFERENCES_MAX {
            return Err(Error::new(format!("the definition of {} refers to itself", self.gvk.kind)));
        }
        let Some(properties) = properties(self.definitions, name) else { return Ok(()) };
        for (property, schema) in properties {
            let extension = |key: &str| schema.get(key).and_then(Value::as_str);
            path.push(property.clone());
            let spec = self.spec(path);
            if extension("x-kubernetes-annotation").is_some() {
                field_spec::merge_one(&mut self.config.common_annotations, &spec)?;
            }
            if extension("x-kubernetes-label-selector").is_some() {
                field_spec::merge_one(&mut self.config.common_labels, &spec)?;
            }
            if extension("x-kubernetes-identity").is_some() {
                field_spec::merge_one(&mut self.config.name_prefix, &spec)?;
            }
            if let Some((version, kind)) =
                extension("x-kubernetes-object-ref-api-version").zip(extension("x-kubernetes-object-ref-kind"))
            {
                path.push(extension("x-kubernetes-object-ref-name-key").unwrap_or("name").to_owned());
                let referrers = vec![self.spec(path)];
                path.pop();
                let gvk = OwnedGvk::new("", version, kind);
                self.config.merge_reference(NameReference { gvk, referrers })?;
            }
            if let Some(reference) = extension("$ref") {
                self.read(reference, path)?;
            }
            path.pop();
        }
        Ok(())
    }

    fn spec(&self, path: &[String]) -> FieldSpec {
        FieldSpec::new(self.gvk.clone(), path.join("/"), false)
    }
}
