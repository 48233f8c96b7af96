//! Go's string: bytes that are usually, but not necessarily, UTF-8.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

pub(crate) use go_std::utf8::{Rune, decode, decode_last, push_char, runes, to_str};

/// A string as Go has it: immutable bytes, cheap to clone, shareable between threads.
///
/// `trunc` and `substr` cut characters in half, and what is left must survive until it is printed, so this is not
/// a `str`. The order is that of the bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<[u8]>);

impl Text {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As UTF-8, each wrong byte replaced by U+FFFD as Go's conversion to runes does.
    pub fn to_str(&self) -> Cow<'_, str> {
        to_str(&self.0)
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Default for Text {
    fn default() -> Self {
        Self(Arc::from(&[][..]))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_str())
    }
}

impl std::borrow::Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Arc::from(text.as_bytes()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Arc::from(text.into_bytes()))
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        Self::from(&*text)
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Self(Arc::from(bytes))
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::from(bytes))
    }
}

impl From<Arc<[u8]>> for Text {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(bytes)
    }
}

impl From<Text> for Arc<[u8]> {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}
