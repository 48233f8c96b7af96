//! What Argo CD does in the cluster about an Application that goes or gets another name.

use crate::diff::{Change, ObjectDiff, Pruning, is_same_cluster};
use crate::preview::{End, FormerApplication, PreviewedPath};

/// What an object is, or has, that stays when its Application is deleted.
const OUTLIVES: &str = "a definition, `Delete=false` or Helm's `keep`";

/// In a sentence; none for a path that the same Application writes to, or where nothing is known. `before` is how many objects
/// it had.
///
/// Reference: argo-cd 3.4 docs/user-guide/app_deletion.md, resource_tracking.md; of August 2026, util/app/path/path.go `Path`.
pub(super) fn of(path: &PreviewedPath, objects: &[ObjectDiff], before: usize) -> Option<String> {
    let former = path.former.as_ref()?;
    let leaves = path.deployed.as_ref().is_some_and(|[old, new]| !is_same_cluster(old, new));
    match (&path.application, &path.new) {
        // Nothing of it was there.
        (Some(_), Some(_)) if before == 0 => None,
        (Some(now), Some(_)) if leaves => Some(left(former, now.as_str(), path.pruning)),
        (Some(now), Some(_)) => Some(renamed(former, now.as_str(), (path.pruning, before))),
        _ => {
            let removed = objects.iter().filter(|object| object.change == Change::Removed);
            let (kept, gone): (Vec<_>, Vec<_>) = removed.partition(|object| object.outlives);
            removed_text(former, path.pruning, (gone.len(), kept.len()))
        }
    }
}

/// What becomes of the Application itself, to be followed by what becomes of its objects.
fn start(former: &FormerApplication) -> String {
    let name = &former.name;
    match &former.end {
        End::DeletedBySet => format!("its ApplicationSet deletes {name}: "),
        End::PrunedBy(parent) => format!("{parent} prunes {name}: "),
        End::PrunedByHand(parent) => format!("{name} stays until somebody syncs {parent} with pruning; then "),
        End::Deleted | End::KeptBySet(_) | End::Moves(..) | End::Stays => {
            format!("once {name} is deleted in the cluster, ")
        }
    }
}

/// What keeps a former Application; none for one that is deleted.
fn kept(former: &FormerApplication) -> Option<String> {
    let name = &former.name;
    match &former.end {
        End::KeptBySet(policy) => Some(format!(
            "its ApplicationSet keeps {name} and its objects in the cluster (`applicationsSync: {policy}`)"
        )),
        End::Moves(branch, path) => Some(format!("{name} is hydrated to {path} on {branch} now")),
        End::Stays => Some(format!("{name} stays in git, but is no longer hydrated")),
        End::Deleted | End::DeletedBySet | End::PrunedBy(_) | End::PrunedByHand(_) => None,
    }
}

/// What becomes of the objects that go in git: so many, beside those that stay by what they say themselves.
fn removed_text(former: &FormerApplication, pruning: Pruning, (removed, kept_alone): (usize, usize)) -> Option<String> {
    if let Some(kept) = kept(former) {
        return Some(match former.end {
            End::Stays => format!("{kept}: Argo CD says that its path does not exist, and leaves what runs as it is"),
            _ => kept,
        });
    }
    // Where all stay by what the Application says, it is not said that some of them say so too.
    let deletes = matches!(pruning, Pruning::Cascade | Pruning::Confirmed);
    let (removed, beside) = match (removed, kept_alone) {
        (removed, kept) if !deletes => (removed + kept, String::new()),
        (removed, 0) => (removed, String::new()),
        (0, 1) => return Some(format!("{}its object stays and is no longer managed ({OUTLIVES})", start(former))),
        (0, kept) => {
            return Some(format!("{}its {kept} objects stay and are no longer managed ({OUTLIVES})", start(former)));
        }
        (removed, 1) => (removed, format!("; another one stays ({OUTLIVES})")),
        (removed, kept) => (removed, format!("; {kept} others stay ({OUTLIVES})")),
    };
    let (objects, stay, are) = match removed {
        0 => return None,
        1 => ("its object".to_owned(), "stays", "is"),
        count => (format!("its {count} objects"), "stay", "are"),
    };
    let what = match pruning {
        Pruning::Cascade => format!("{objects} {are} deleted with it, by its resources finalizer"),
        Pruning::Orphaned => format!("{objects} {stay} and {are} no longer managed: it has no resources finalizer"),
        Pruning::Off => format!("{objects} {stay} and {are} no longer managed, by the sync option `Delete=false`"),
        Pruning::Confirmed => format!("{objects} {are} deleted when somebody confirms it (`Delete=confirm`)"),
        Pruning::Automatic | Pruning::Manual | Pruning::Left | Pruning::Unknown => return None,
    };
    Some(format!("{}{what}{beside}", start(former)))
}

/// What becomes of objects in the cluster where an Application of another name does not deploy to.
fn left(former: &FormerApplication, now: &str, pruning: Pruning) -> String {
    let creates = format!("{now} creates its own in another cluster");
    if let Some(kept) = kept(former) {
        return format!("{kept}; {creates}");
    }
    let what = match pruning {
        Pruning::Cascade => "its objects are deleted with it",
        Pruning::Confirmed => "its objects are deleted when somebody confirms it (`Delete=confirm`)",
        _ => "its objects stay and are no longer managed",
    };
    format!("{}{what}; {creates}", start(former))
}

fn renamed(former: &FormerApplication, now: &str, (pruning, before): (Pruning, usize)) -> String {
    if let Some(kept) = kept(former) {
        return format!("{kept}; {now} takes over the objects that it applies");
    }
    let (objects, stay, them) = match before {
        1 => ("its object".to_owned(), "stays", "it"),
        count => (format!("its {count} objects"), "stay", "them"),
    };
    let takes_over =
        format!("{now} takes {them} over with its first sync, with tracking labels or annotations of its own");
    let what = match pruning {
        Pruning::Cascade => {
            format!(
                "what {now} has not applied by then of {objects} is deleted by its resources finalizer, and created again by {now}"
            )
        }
        Pruning::Confirmed => {
            format!(
                "what {now} has not applied by then of {objects} is deleted when somebody confirms it (`Delete=confirm`)"
            )
        }
        Pruning::Off => format!("{objects} {stay} (`Delete=false`), and {takes_over}"),
        Pruning::Orphaned => format!("{objects} {stay}, since it has no resources finalizer, and {takes_over}"),
        Pruning::Automatic | Pruning::Manual | Pruning::Left | Pruning::Unknown => takes_over,
    };
    format!("{}{what}", start(former))
}
