//! Go's `strconv`: numbers and strings as text, and back.

mod float;
mod number;
mod quote;

pub use float::{Decimal, format_float, format_shortest, format_shortest_32};
pub use number::{NumberError, atoi, atoi_clamped, parse_float, parse_int, parse_uint};
pub use quote::{Escape, Unit, can_backquote, escape_char, quote, quote_bytes, quote_with, unquote, unquote_char};
