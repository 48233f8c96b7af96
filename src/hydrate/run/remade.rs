//! A set that looked at something which changed may make the same all the same: a new file lies where it lists directories.

use std::collections::BTreeMap;

use super::stopped::Stopped;
use crate::application::{self, Application};
use crate::cache::{About, Record, State};
use crate::git::ObjectId;
use crate::hydrate::heads::DryHead;
use crate::hydrate::snapshot::Snapshot;
use crate::plan::{FoundSet, Lists, expand_again};
use crate::view::{TreeFiles, View};

/// Expands the set of a record once more; answers the Applications of it that may render to something else. Errors: it
/// makes others, or more is to be looked at than this set.
pub fn made_again(
    state: &mut State,
    maker: &Record,
    clusters: &Lists,
    new: &TreeFiles<'_>,
    found: &Snapshot<'_>,
    (head, dry): (&DryHead, ObjectId),
) -> Result<Vec<Application>, Stopped> {
    let content = View::new(new).read(&maker.file).map_err(|_| Stopped::Unknown)?;
    let file = application::read_by(&maker.file, &content.data, &found.rules.plain);
    let ordinal = usize::MAX - maker.index;
    // Of one that shares its file, it is not known which records are its.
    let alone = file.documents.is_empty() && file.sets.len() == 1;
    let set = file.sets.get(ordinal).filter(|_| alone).ok_or(Stopped::Unknown)?.clone();
    let found_set = FoundSet { file: (maker.file.clone(), content.id), ordinal, set };
    let makers = found.rules.makers(Some(&head.branch), found.default_branch());
    let id = dry.to_string();
    let making = found.rules.making(found.setup.renderers, &id);
    let (made, reads) = expand_again(&found_set, new, &makers, &making).ok_or(Stopped::Unknown)?;
    let records = state.of_file(&maker.file)?.into_iter().filter(|record| record.about != About::Maker);
    let mut records: BTreeMap<usize, Record> = records.map(|record| (record.index, record)).collect();
    let mut touched = Vec::new();
    for application in made {
        let application = clusters.known(&application);
        let record = records.remove(&application.index).ok_or(Stopped::Unknown)?;
        let is_same = record.fingerprint == application.fingerprint();
        let about = application.made().map(|made| About::Made(made.to_owned()));
        if record.placement != application.placement() || (is_same && Some(&record.about) != about.as_ref()) {
            return Err(Stopped::Unknown);
        }
        if !is_same {
            touched.push(application);
        }
    }
    if !records.is_empty() {
        return Err(Stopped::Unknown);
    }
    state.put(Record::of_maker(maker.file.clone(), ordinal, (*reads).clone()).encode())?;
    Ok(touched)
}
