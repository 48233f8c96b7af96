//! What a clone takes over of the renders of its remote.
//!
//! The remote [published](super::publication) what each render looked at. That counts where it agrees with what the clone has
//! itself: the dry tree, the Application's document, and the manifest that is on the environment branch, which is what
//! counts in the end. Only a path that was left out of what a render looked at would not show; so it is for previews alone, and
//! nothing that is hydrated, verified or pushed rests on it.

use dry_files::view::{ContentId, Reads, View};

use super::output::Output;
use super::publication::{FILE, is_wanted, ref_name};
use crate::application::Application;
use crate::cache::{PUBLISHED_BYTES_MAX, Published, Record};
use crate::git::{Mode, ObjectBuffer, ObjectId};
use crate::hydrate::heads::DryHead;
use crate::hydrate::snapshot::Snapshot;
use crate::manifest::{self, Source};
use crate::render;
use crate::settings::SETTINGS_REF;

/// How large the commit and the tree may be that lead there, in bytes: they are small.
const OBJECT_BYTES_MAX: u64 = 64 << 10;

/// Where settings are taken from where anyone may write the refs that are no branches: nothing below `refs/hydrate/` counts
/// there.
const SETTINGS_ELSEWHERE: &str = "hydrate.settingsRef";

/// What the remote of a clone published of a dry branch; none when it is nothing that can be used.
pub(super) fn published(found: &Snapshot<'_>, head: &DryHead) -> Option<Published> {
    let (refs, repository) = (&found.setup.refs, found.setup.repository);
    // Who may write the one may write the other.
    let is_trusted = refs.believes_records
        && found.refs.get(SETTINGS_REF).is_some()
        && repository.config(SETTINGS_ELSEWHERE).is_none();
    if !refs.is_of_clone() || !is_trusted || !is_wanted(repository, found) {
        return None;
    }
    let buffer = &found.buffer;
    let commit = found.refs.get(&ref_name(&head.branch)).filter(|id| is_at_most(*id, OBJECT_BYTES_MAX, buffer))?;
    let tree = buffer.commit(commit).ok()?.tree;
    let tree = Some(tree).filter(|id| is_at_most(*id, OBJECT_BYTES_MAX, buffer))?;
    let (mode, blob) = buffer.entry(tree, FILE).ok()??;
    let is_it = mode == Mode::File && is_at_most(blob, PUBLISHED_BYTES_MAX, buffer);
    let bytes = is_it.then(|| buffer.blob(blob).ok())??;
    Published::read(bytes, &found.policy.shared_context(&head.branch))
}

fn is_at_most(id: ObjectId, bytes_max: u64, buffer: &ObjectBuffer<'_>) -> bool {
    buffer.size(id).is_ok_and(|bytes| bytes <= bytes_max)
}

/// What an Application renders to, as it was published and as it is on its branch; none where they do not agree.
pub(super) fn taken_over(
    application: &Application,
    manifest: ObjectId,
    published: &Published,
    view: &View<'_>,
    buffer: &ObjectBuffer<'_>,
) -> Option<Output> {
    // What a program of another machine made may be something else here.
    if application.all_sources().any(|source| source.options.plugin.is_some()) {
        return None;
    }
    let record = Record { manifest: ContentId::new(manifest.as_bytes()), ..Record::of(application, Reads::new()) };
    let record = published.confirmed(record, |path, way| view.look(path, way).ok().flatten())?;
    let manifests = manifest::read(&buffer.blob(manifest).ok()?, Source::Output(FILE)).ok()?;
    let objects = render::objects(application, &manifests);
    Some(Output::known(Record { objects, ..record }, manifest))
}
