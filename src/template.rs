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
mod effects;
mod error;
mod exec;
mod expense;
mod funcs;
mod go_error;
mod json;
mod lex;
mod limits;
mod mentions;
mod node;
mod number;
mod parse;
mod print;
mod seed;
pub(crate) mod semver;
mod set;
mod source;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod time;
mod trail;
mod value;

pub(crate) use call::{Call, MissingKey, Runtime};
pub(crate) use effects::{Calls, Effects};
pub(crate) use error::{Cause, Failure, Level, Limit, ParseError, Refused, RefusedCall};
pub(crate) use funcs::marshal_yaml;
pub(crate) use function::{Functions, NoWriter, Rest};
pub(crate) use go_error::GoError;
pub use limits::Limits;
pub(crate) use list::{List, ListType};
pub(crate) use map::{Entries, Map, MapType};
pub(crate) use mentions::{Mentions, Surroundings};
pub(crate) use operand::Operand;
pub(crate) use print::printed;
pub(crate) use seed::SEED_BYTES;
pub use seed::{Drew, SecretSeed, Seed};
pub(crate) use set::{Parsed, Set};
pub(crate) use source::{Place, Site};
pub(crate) use structure::{Field, Stringer, Struct, StructType};
pub(crate) use text::Text;
pub(crate) use value::{Element, IntType, Methods, Value};
use value::{function, list, map, operand, structure};
