//! `*time.Location`: where a time is shown, as a value of its own.

use std::rc::Rc;
use std::sync::LazyLock;

use super::super::function::{Functions, Param, Type};
use super::super::list::{List, ListType};
use super::super::operand::Operand;
use super::super::structure::{Field, Stringer, Struct, StructType};
use super::super::text::Text;
use super::super::value::{Methods, Value};
use super::Zone;

static LOCATION: StructType = StructType {
    name: "time.Location",
    pointer: Some("*time.Location"),
    fields: &[
        Field::hidden("name"),
        Field::hidden("zone"),
        Field::hidden("tx"),
        Field::hidden("extend"),
        Field::hidden("cacheStart"),
        Field::hidden("cacheEnd"),
        Field::hidden("cacheZone"),
    ],
    methods: Methods::of(|| &METHODS),
    string: Some(Stringer { run: name, on_pointer: false }),
    is_same: Some(is_same_zone),
    ..StructType::PLAIN
};

static METHODS: LazyLock<Functions> = LazyLock::new(methods);

fn methods() -> Functions {
    let mut methods = Functions::new();
    methods.add("String", |location: Location| location.0.map_or("UTC".into(), |location| name(&location)));
    methods
}

fn is_same_zone(one: &Struct, two: &Struct) -> bool {
    one.inner::<Zone>().zip(two.inner::<Zone>()).is_some_and(|(one, two)| one.is_same(two))
}

fn name(location: &Struct) -> Text {
    location.field("name").and_then(|(_, name)| name.as_text().cloned()).unwrap_or_default()
}

/// The location of a zone.
pub(super) fn location(zone: Zone) -> Value {
    let none = || Value::List(List::nil(&ListType::ANY));
    let fields = vec![zone.name().into(), none(), none(), "".into(), Value::int64(0), Value::int64(0), Value::int64(0)];
    Struct::new(&LOCATION, fields).with_inner(Rc::new(zone)).into()
}

/// A location as a receiver or an argument; `None` for nil.
pub(super) struct Location(Option<Rc<Struct>>);

impl Location {
    /// `None` for nil; a copy that `deepCopy` made has lost its zone.
    pub(super) fn zone(&self) -> Option<Option<Zone>> {
        self.0.as_ref().map(|location| location.inner::<Zone>().cloned())
    }
}

impl Param for Location {
    const TYPE: Type = Type::Location;

    fn take(args: &mut std::vec::IntoIter<Operand>) -> Self {
        match args.next().map(Operand::into_value) {
            Some(Value::Struct(location)) => Location(Some(location)),
            _ => Location(None),
        }
    }
}
