//! Sprig's functions as they are, without what Helm puts in their place.

use super::super::call::Call;
use super::super::error::{Cause, Failure};
use super::super::function::Functions;
use super::super::list::{List, ListType};
use super::super::map::Map;
use super::super::text::Text;
use super::super::value::Value;
use super::formats;

/// What only Helm has.
const HELMS: [&str; 7] =
    ["fromJsonArray", "fromToml", "mustToToml", "mustToYaml", "toToml", "toYamlPretty", "getHostByName"];

impl Functions {
    /// Go's own functions and Sprig's `GenericFuncMap`, without those that ask the world: `env`, `expandenv`,
    /// `getHostByName`.
    ///
    /// Beside them `toYaml`, `fromYaml` and `fromYamlArray`, which fail where Helm's of the same names swallow an error.
    ///
    /// Reference: Sprig 3.3.0 functions.go; argo-cd `37ee0097` applicationset/utils/template_functions.go.
    pub fn sprig() -> Self {
        let standard = Self::standard();
        let mut table = Self::new();
        for name in standard.names().filter(|name| !HELMS.contains(name)) {
            if let Some(function) = standard.get(name) {
                table.insert((**function).clone());
            }
        }
        table
            .add("fail", |message: Text| Err::<Text, _>(Failure::new(Cause::Raised(message.to_str().into_owned()))))
            .add("fromJson", |call: &mut Call<'_>, text: Text| {
                Ok::<_, Failure>(formats::from_json(call, &text)?.unwrap_or_default())
            })
            .add("toYaml", |call: &mut Call<'_>, value: Value| formats::to_yaml(call, &value))
            .add("fromYaml", from_yaml)
            .add("fromYamlArray", from_yaml_array);
        table
    }
}

fn from_yaml(call: &mut Call<'_>, text: Text) -> Result<Map, Failure> {
    match formats::from_yaml(call, &text)?.map_err(Failure::message)? {
        Value::Map(map) => Ok(map),
        Value::Nil => Ok(Map::new()),
        other => Err(wrong_kind(&other, "map[string]interface {}")),
    }
}

fn from_yaml_array(call: &mut Call<'_>, text: Text) -> Result<List, Failure> {
    match formats::from_yaml(call, &text)?.map_err(Failure::message)? {
        Value::List(list) => Ok(list),
        Value::Nil => Ok(List::nil(&ListType::ANY)),
        other => Err(wrong_kind(&other, "[]interface {}")),
    }
}

fn wrong_kind(found: &Value, wanted: &str) -> Failure {
    Failure::message(formats::IN_YAML.to_owned() + &formats::not_decoded(found, wanted))
}
