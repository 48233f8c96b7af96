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
//! | [`semver`] | `Masterminds/semver`: versions and ranges of charts |
//! | [`slices`] | the runtime's `growslice` |
//! | [`strconv`] | `strconv` |
//! | [`time`] | `time`: layouts, durations, zones |
//! | [`unicode`] | `unicode` |
//! | [`url`] | `net/url`, addresses of `net/netip` |
//! | [`utf8`] | `unicode/utf8` |
//!
//! Reference: Go 1.26, with which helm 4.2.3 and kubectl 1.36 are built. What real Go answers is recorded in `tests/cases/go`.

pub mod doublestar;
pub mod glob;
pub mod json;
pub mod mail;
pub mod path;
pub mod regexp;
pub mod semver;
pub mod slices;
pub mod strconv;
pub mod time;
pub mod unicode;
pub mod url;
pub mod utf8;
