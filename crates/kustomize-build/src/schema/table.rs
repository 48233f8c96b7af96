//! The schema that is built in.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use super::Gvk;

/// The shape of the value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    /// A mapping of which nothing is known.
    Object,
    /// The definition of this number.
    Ref(usize),
    List(Box<Shape>),
    Map(Box<Shape>),
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) strategy: Option<&'static str>,
    pub(super) keys: Vec<&'static str>,
}

/// A definition.
#[derive(Debug)]
pub(crate) struct Type {
    name: &'static str,
    /// A line for each field.
    lines: &'static str,
    /// Sorted by name. Taken apart at the first need: a build asks for few of the types.
    fields: OnceLock<Vec<Field>>,
}

impl Type {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let fields = self.fields.get_or_init(|| self.lines.lines().filter_map(field).collect());
        let index = fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        fields.get(index)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Namespaced,
    Cluster,
}

type ResourceKey = (&'static str, &'static str, &'static str);

#[derive(Debug, Default)]
pub(super) struct Table {
    /// Sorted by name.
    types: Vec<Type>,
    /// The scope and the definition of each, as far as they are known.
    resources: HashMap<ResourceKey, (Option<Scope>, Option<usize>)>,
}

/// The table, read at its first use.
pub(super) fn get() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("kubernetes-v1.21.2.txt")));
    &TABLE
}

impl Table {
    /// Comments, then definitions, each with its fields, then resources.
    fn parse(text: &'static str) -> Self {
        let (types, resources) = text.split_once("\n@").unwrap_or((text, ""));
        let types = types.split("\n:").skip(1).map(|definition| {
            let (name, lines) = definition.split_once('\n').unwrap_or((definition, ""));
            Type { name, lines, fields: OnceLock::new() }
        });
        let mut table = Table { types: types.collect(), resources: HashMap::new() };
        resources.split("\n@").for_each(|line| table.add_resource(line));
        table
    }

    fn add_resource(&mut self, line: &'static str) {
        let mut words = line.split_whitespace();
        let (Some(api_version), Some(kind), Some(scope), Some(number)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return;
        };
        let Gvk { group, version, kind } = Gvk::new(api_version, kind);
        let scope = match scope {
            "n" => Some(Scope::Namespaced),
            "c" => Some(Scope::Cluster),
            _ => None,
        };
        self.resources.insert((group, version, kind), (scope, number.parse().ok()));
    }

    pub(super) fn scope(&self, gvk: Gvk<'_>) -> Option<Scope> {
        self.resources.get(&(gvk.group, gvk.version, gvk.kind))?.0
    }

    pub(super) fn of_resource(&self, gvk: Gvk<'_>) -> Option<&Type> {
        self.numbered(self.resources.get(&(gvk.group, gvk.version, gvk.kind))?.1?)
    }

    pub(super) fn definition(&self, name: &str) -> Option<&Type> {
        let index = self.types.binary_search_by(|kind| kind.name.cmp(name)).ok()?;
        self.types.get(index)
    }

    pub(super) fn numbered(&self, number: usize) -> Option<&Type> {
        self.types.get(number)
    }
}

fn field(line: &'static str) -> Option<Field> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let shape = shape(words.next()?);
    let strategy = words.next();
    let keys = words.next().map_or_else(Vec::new, |keys| keys.split(',').collect());
    Some(Field { name, shape, strategy, keys })
}

fn shape(text: &str) -> Shape {
    match text.as_bytes() {
        [b'[', ..] => Shape::List(Box::new(shape(&text[1..]))),
        [b'{', ..] => Shape::Map(Box::new(shape(&text[1..]))),
        b"." => Shape::Scalar,
        _ => text.parse().map_or(Shape::Object, Shape::Ref),
    }
}
