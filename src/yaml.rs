//! Go-compatible YAML and JSON.

mod value;

pub use value::{Mapping, Value};
