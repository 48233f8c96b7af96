//! What a hydrated commit says of itself: `hydrator.metadata`, `README.md`, the commit message, the note.
//!
//! [`DryCommit`] is the commit that was rendered, as git shows it; [`Settings`] is what an admin may choose.
//!
//! Pure: no file, clock, environment or repository is touched, so equal arguments give equal bytes on every machine.
//! Never panics on what was pushed, and never fails on it either, except where a template of the settings does.

mod back_trailer;
mod behind;
pub(crate) mod contract;
mod copied;
mod cut;
mod dry;
mod escape;
mod json;
mod message;
mod read;
mod reference;
mod removal_trailer;
mod restored;
mod rollback;
mod settings;
mod template;
mod time;
mod trailers;
mod url;
mod values;
mod values_of_argocd;
mod writer;

pub(crate) use back_trailer::{back_to, went_back};
pub(crate) use behind::Behind;
pub(crate) use copied::{Followed, Hydrated, copies_readme, copies_readme_with, copy_metadata, read_copy_metadata};
pub use dry::DryCommit;
pub(crate) use dry::Message;
pub use go_std::mail::Address;
pub use message::Trailers;
pub(crate) use message::{Rollback, Source};
pub(crate) use read::NOTES_REF;
pub use read::{Note, Provenance, note, read_note};
pub use removal_trailer::allowed_removals;
pub(crate) use removal_trailer::{KEY as REMOVAL_TRAILER, misspelt_removal, unknown_removal};
pub(crate) use restored::{PROMOTIONS_REF, restored_from, restoring_message, restoring_note, reverted};
pub(crate) use rollback::{Wanted, reason_of};
pub(crate) use settings::{Identity, Settings, TemplateFile};
pub use time::Time;
pub(crate) use values::{Origin, PathContent, tools_run_by};
pub(crate) use writer::{
    COMMIT_MESSAGE_GO_TEMPLATE, COMMIT_MESSAGE_TEMPLATE, DEFAULT_COMMIT_MESSAGE, DEFAULT_GO_COMMIT_MESSAGE, Files,
    GO_README, PROPOSAL_README, README_GO_TEMPLATE, README_TEMPLATE, Stated, Writer,
};

/// The revision of the code that makes the bytes of a hydrated commit: the trailer `Hydrate-Engine`.
///
/// Raise it by one in the commit that changes a byte of what is written for some dry commit: a manifest as an engine
/// renders it, a file of this module, a commit message. Leave it when only speed, errors or reports change, or when
/// what used to be refused is now rendered. A raised revision alone makes no hydrated commit; `verify` uses it to tell
/// "made by revision N" from tampering.
pub(crate) const ENGINE_REVISION: u32 = 5;
