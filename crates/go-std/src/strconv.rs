//! Go's `strconv`: numbers and strings as text, and back.

mod float;
mod number;
mod quote;

pub use float::Decimal;
pub use float::{format_float, format_shortest, format_shortest_32};
pub use number::atoi_clamped;
pub use number::{NumberError, atoi, parse_float, parse_int, parse_uint};
pub use quote::{Escape, Unit, can_backquote, escape_char, quote_bytes, quote_with, unquote_char};
pub use quote::{quote, unquote};
