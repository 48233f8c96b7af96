//! `common.Values`, in Helm 3 `chartutil.Values`: the type of `.`, `.Values` and `.Template`, with methods that templates may call.
//!
//! The maps inside are `map[string]interface {}`, which has none; what `Table` gives is `common.Values` again.
//!
//! Reference: helm 4.2.3 pkg/chart/common/values.go and errors.go. Cases `helm-methods`.

use std::sync::LazyLock;

use go_template::{
    Call, Element, Failure, Functions, GoError, Map, MapType, Methods, NoWriter, Operand, Text, Value, marshal_yaml,
};
use go_yaml::quote;

use super::engine::host::Host;
use crate::version::Helm;
use crate::version::differences::GoTypes;

/// The type of a Helm. Its methods win over keys of their names.
pub(super) fn values_type(helm: Helm) -> &'static MapType {
    match helm.switches().go_types {
        GoTypes::Structs => &VALUES_3,
        GoTypes::Maps => &VALUES,
    }
}

static VALUES: MapType = values("common.Values");
static VALUES_3: MapType = values("chartutil.Values");

const fn values(name: &'static str) -> MapType {
    MapType { name, element: Element::Any, methods: Methods::of(|| &METHODS) }
}

static METHODS: LazyLock<Functions> = LazyLock::new(methods);

fn methods() -> Functions {
    let mut methods = Functions::new();
    methods
        .add("AsMap", as_map)
        .add("YAML", yaml)
        .add("Table", |call: &mut Call<'_>, values: Map, path: Text| table(&values, &path, type_of(call)?));
    methods.add("PathValue", path_value).add("Encode", encode);
    methods
}

/// The map itself, so that changes are shared; a new map when it is empty.
fn as_map(values: Map) -> Map {
    if values.is_empty() { Map::new() } else { values }
}

fn yaml(call: &mut Call<'_>, values: Value) -> Result<String, Failure> {
    marshal_yaml(call, &values)
}

/// Writes to an `io.Writer`, of which templates have none but nil.
fn encode(call: &mut Call<'_>, values: Value, _: NoWriter) -> Result<Operand, Failure> {
    match marshal_yaml(call, &values) {
        Ok(_) => Err(Failure::message("runtime error: invalid memory address or nil pointer dereference")),
        Err(failure) => Ok(GoError::result(Some(GoError::of_marshal(failure)?))),
    }
}

/// The type of the Helm that renders.
fn type_of(call: &mut Call<'_>) -> Result<&'static MapType, Failure> {
    Ok(values_type(call.host::<Host>()?.helm))
}

/// The map at a path of keys with points between them.
fn table(values: &Map, path: &[u8], ty: &'static MapType) -> Result<Map, Failure> {
    let mut table = values.clone();
    for key in path.split(|byte| *byte == b'.') {
        table = match table.get(key) {
            Some(Value::Map(found)) if is_table(&found) || found.ty().name == ty.name => found,
            _ => return Err(Failure::message(format!("{} is not a table", quoted(key)))),
        };
    }
    Ok(table.cast(ty))
}

/// What is at a path of keys with points between them, unless it is a table.
fn path_value(call: &mut Call<'_>, values: Map, path: Text) -> Result<Value, Failure> {
    if path.is_empty() {
        return Err(Failure::message("YAML path cannot be empty"));
    }
    let point = path.iter().rposition(|byte| *byte == b'.');
    let (tables, key) = match point {
        Some(at) => (path.get(..at), path.get(at + 1..).unwrap_or_default()),
        None => (None, &*path),
    };
    let found = match tables {
        Some(tables) => table(&values, tables, type_of(call)?).ok().and_then(|table| table.get(key)),
        None => values.get(key),
    };
    match found {
        Some(value) if !value.as_map().is_some_and(is_table) => Ok(value),
        _ => Err(Failure::message(format!("{} is not a value", quoted(key)))),
    }
}

/// Whether a map is a table to Helm: of the plain type.
fn is_table(map: &Map) -> bool {
    map.ty().name == MapType::ANY.name
}

fn quoted(key: &[u8]) -> String {
    quote(&Text::from(key).to_str())
}
