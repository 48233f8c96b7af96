use std::collections::HashMap;
use std::sync::LazyLock;

use super::Gvk;

/// What a field holds.
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

/// A definition: its fields, sorted by name.
#[derive(Debug)]
pub(crate) struct Type {
    name: &'static str,
    fields: Vec<Field>,
}

impl Type {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let index = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.fields.get(index)
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
    scopes: HashMap<ResourceKey, Scope>,
    resources: HashMap<ResourceKey, usize>,
}

/// The table, read at its first use.
pub(super) fn get() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("kubernetes-v1.21.2.txt")));
    &TABLE
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let mut table = Table::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix(':') {
                table.types.push(Type { name, fields: Vec::new() });
            } else if let Some(resource) = line.strip_prefix('@') {
                table.add_resource(resource);
            } else if let Some(kind) = table.types.last_mut() {
                kind.fields.extend(field(line));
            }
        }
        table
    }

    fn add_resource(&mut self, line: &'static str) {
        let mut words = line.split(' ');
        let (Some(api_version), Some(kind), Some(scope), Some(number)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return;
        };
        let Gvk { group, version, kind } = Gvk::new(api_version, kind);
        match scope {
            "n" => self.scopes.insert((group, version, kind), Scope::Namespaced),
            "c" => self.scopes.insert((group, version, kind), Scope::Cluster),
            _ => None,
        };
        if let Ok(number) = number.parse() {
            self.resources.insert((group, version, kind), number);
        }
    }

    pub(super) fn scope(&self, gvk: Gvk<'_>) -> Option<Scope> {
        self.scopes.get(&(gvk.group, gvk.version, gvk.kind)).copied()
    }

    pub(super) fn of_resource(&self, gvk: Gvk<'_>) -> Option<&Type> {
        self.numbered(*self.resources.get(&(gvk.group, gvk.version, gvk.kind))?)
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
