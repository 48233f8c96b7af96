//! Go's `text/template` with the Sprig functions, as Helm's charts use them.
//!
//! A text is parsed once into [`Parsed`], which any number of threads may share; parsed texts make up a [`Set`], and a
//! [`Runtime`] executes templates of a set on [`Value`]s: Go's values, with Go's number kinds, shared mutable maps and
//! printing. Behaviour, messages included, is that of Go 1.26 and Sprig 3.3.0, byte for byte.
//!
//! Executing touches nothing outside: no file, clock, random device, environment or network. What Go would take from
//! there is refused, derived from a seed, or handed in ([`Effects`]). Everything that template code can make large or
//! endless is counted against [`Limits`], and a deep or cyclic value ends in an error.
//!
//! [`Functions::standard`] has what charts call; [`Functions::sprig`] has what a program gets that adds nothing to Sprig.
//!
//! Functions that need a chart (`include`, `tpl`, `lookup`, `required`, `fail`) are `helm`'s; it adds them to
//! [`Functions`] and reaches its own state through [`Call::host`].

mod call;
mod convert;
#[cfg(any(test, feature = "cost"))]
#[doc(hidden)]
pub mod cost;
mod effects;
mod error;
mod exec;
mod expense;
mod funcs;
mod go_error;
mod json;
mod lex;
mod limits;
mod node;
mod number;
mod origin;
mod parse;
mod print;
mod reads;
mod seed;
mod set;
mod source;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod trail;
mod value;

pub use call::{Call, MissingKey, Runtime};
pub use effects::{Calls, Effects};
pub use error::{Cause, Failure, Level, Limit, ParseError, Refused, RefusedCall};
pub use funcs::{TomlVersion, marshal_yaml};
pub use function::{Functions, NoWriter, Rest};
pub use go_error::GoError;
pub use json::WrongBytes;
pub use limits::Limits;
pub use list::{List, ListType};
pub use map::{Entries, Map, MapType};
pub use operand::Operand;
pub use origin::Trace;
pub use print::printed;
pub use reads::{Reads, Spot};
pub use seed::SEED_BYTES;
pub use seed::{Drew, SecretSeed, Seed};
pub use set::{Parsed, Set};
pub use source::{Place, Site};
pub use structure::{Field, Stringer, Struct, StructType};
pub use text::Text;
pub use value::{Element, IntType, Methods, Value};
use value::{function, list, map, operand, structure};
