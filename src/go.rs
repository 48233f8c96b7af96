//! What Go's standard library does, where the tools that we replace let it decide: one port of each.
//!
//! The lowest layer: it knows nothing of Kubernetes, templates, YAML or git, so any module may use it. What an engine
//! does with it (a limit, a charge, words around an error) is the engine's own.
//!
//! | module | package |
//! |---|---|
//! | [`doublestar`], [`glob`] | `bmatcuk/doublestar`, `gobwas/glob`: not Go's own, but shared in the same way |
//! | [`json`] | `encoding/json`: numbers |
//! | [`mail`] | `net/mail`: addresses |
//! | [`path`] | `path`, `path/filepath`: `Match`, `Clean` |
//! | [`regexp`] | `regexp`, `regexp/syntax` |
//! | [`strconv`] | `strconv` |
//! | [`time`] | `time`: layouts, durations, zones |
//! | [`unicode`] | `unicode` |
//! | [`url`] | `net/url`, addresses of `net/netip` |
//! | [`utf8`] | `unicode/utf8` |
//!
//! Reference: Go 1.26, with which helm 4.2.3 and kubectl 1.36 are built. What real Go answers is recorded in `tests/cases/go`.

pub(crate) mod doublestar;
pub(crate) mod glob;
pub(crate) mod json;
pub(crate) mod mail;
pub(crate) mod path;
pub(crate) mod regexp;
pub(crate) mod strconv;
pub(crate) mod time;
pub(crate) mod unicode;
pub(crate) mod url;
pub(crate) mod utf8;
