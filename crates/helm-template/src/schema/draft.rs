//! The drafts of JSON Schema: how they are named, and where their keywords have schemas.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use go_yaml::Value;

/// A draft, older ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Draft {
    /// draft-04
    V4,
    /// draft-06
    V6,
    /// draft-07
    V7,
    /// 2019-09
    V2019,
    /// 2020-12
    V2020,
}

/// Where in the value of a keyword the schemas are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subschemas {
    /// It is one.
    One,
    /// Each item of its list is one.
    Items,
    /// It is one, or each item of its list.
    OneOrItems,
    /// Each value of its map is one.
    Values,
}

const V4_KEYWORDS: &[(&str, Subschemas)] = &[
    ("definitions", Subschemas::Values),
    ("not", Subschemas::One),
    ("allOf", Subschemas::Items),
    ("anyOf", Subschemas::Items),
    ("oneOf", Subschemas::Items),
    ("properties", Subschemas::Values),
    ("additionalProperties", Subschemas::One),
    ("patternProperties", Subschemas::Values),
    ("items", Subschemas::OneOrItems),
    ("additionalItems", Subschemas::One),
    ("dependencies", Subschemas::Values),
];
const V6_KEYWORDS: &[(&str, Subschemas)] = &[("propertyNames", Subschemas::One), ("contains", Subschemas::One)];
const V7_KEYWORDS: &[(&str, Subschemas)] =
    &[("if", Subschemas::One), ("then", Subschemas::One), ("else", Subschemas::One)];
const V2019_KEYWORDS: &[(&str, Subschemas)] = &[
    ("$defs", Subschemas::Values),
    ("dependentSchemas", Subschemas::Values),
    ("unevaluatedProperties", Subschemas::One),
    ("unevaluatedItems", Subschemas::One),
    ("contentSchema", Subschemas::One),
];
const V2020_KEYWORDS: &[(&str, Subschemas)] = &[("prefixItems", Subschemas::Items)];

impl Draft {
    /// The newest: what a schema is that doesn't say.
    pub(super) const LATEST: Draft = Draft::V2020;

    /// The draft that `$schema` names; `None` for any other URL.
    pub(super) fn from_url(url: &str) -> Option<Self> {
        let url = url.strip_suffix('#').unwrap_or(url);
        let url = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
        Some(match url.strip_prefix("json-schema.org/")? {
            "schema" => Self::LATEST,
            "draft/2020-12/schema" => Draft::V2020,
            "draft/2019-09/schema" => Draft::V2019,
            "draft-07/schema" => Draft::V7,
            "draft-06/schema" => Draft::V6,
            "draft-04/schema" => Draft::V4,
            _ => return None,
        })
    }

    /// The URL of the metaschema.
    pub(super) fn url(self) -> &'static str {
        match self {
            Draft::V4 => "http://json-schema.org/draft-04/schema",
            Draft::V6 => "http://json-schema.org/draft-06/schema",
            Draft::V7 => "http://json-schema.org/draft-07/schema",
            Draft::V2019 => "https://json-schema.org/draft/2019-09/schema",
            Draft::V2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The keyword that gives a schema a URL.
    pub(super) fn id_keyword(self) -> &'static str {
        if self == Draft::V4 { "id" } else { "$id" }
    }

    /// The keywords whose values contain schemas.
    pub(super) fn keywords(self) -> impl Iterator<Item = (&'static str, Subschemas)> {
        let since = [
            (Draft::V4, V4_KEYWORDS),
            (Draft::V6, V6_KEYWORDS),
            (Draft::V7, V7_KEYWORDS),
            (Draft::V2019, V2019_KEYWORDS),
            (Draft::V2020, V2020_KEYWORDS),
        ];
        since.into_iter().filter(move |(draft, _)| *draft <= self).flat_map(|(_, keywords)| keywords.iter().copied())
    }
}

/// The metaschema at a URL without fragment.
pub(super) fn metaschema(url: &str) -> Option<&'static Value> {
    static ALL: LazyLock<BTreeMap<String, Value>> = LazyLock::new(metaschemas);
    let known = |url: &str| ALL.get(url);
    let rest = url.strip_prefix("https://json-schema.org/").or_else(|| url.strip_prefix("http://json-schema.org/"))?;
    if rest == "schema" {
        return known(Draft::LATEST.url());
    }
    known(&format!("http://json-schema.org/{rest}")).or_else(|| known(&format!("https://json-schema.org/{rest}")))
}

/// Only what is of use to validation: titles, defaults and comments are left out.
fn metaschemas() -> BTreeMap<String, Value> {
    match crate::values::parse_json(include_str!("metaschemas.json")) {
        Ok(Value::Mapping(all)) => all,
        _ => unreachable!("the file is part of the program"),
    }
}
