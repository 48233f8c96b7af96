//! `sortOptions`.

use std::cmp::Ordering;

use crate::config::{ORDER_FIRST, ORDER_LAST};
use crate::error::{Error, Result};
use crate::id::{OwnedResId, ResId};
use crate::kustomization::SortOptions;
use crate::resource;
use crate::resources::Resources;
use crate::session::Session;
use crate::version::Difference;

/// Puts the resources in the order of `sortOptions`; without any, in the fixed order of kinds.
pub(crate) fn sort(session: &Session<'_>, resources: &mut Resources, options: Option<&SortOptions>) -> Result<()> {
    let (first, last) = match options {
        None => (None, None),
        Some(options) => match (options.order.as_str(), &options.legacy) {
            ("fifo", None) => return Ok(()),
            ("fifo", Some(_)) => {
                return Err(Error::new(
                    "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not \
                     'legacy'",
                ));
            }
            ("legacy", None) => (None, None),
            ("legacy", Some(legacy)) => {
                (Some(legacy.first.clone().unwrap_or_default()), Some(legacy.last.clone().unwrap_or_default()))
            }
            _ => return Err(Error::new("the field 'sortOptions.order' must be one of [fifo, legacy]")),
        },
    };
    let owned = |list: &[&str]| list.iter().map(|kind| (*kind).to_owned()).collect::<Vec<String>>();
    let ranks =
        Ranks { first: first.unwrap_or_else(|| owned(&ORDER_FIRST)), last: last.unwrap_or_else(|| owned(&ORDER_LAST)) };
    let tree = &session.tree;
    let list = resources.take();
    let mut keyed: Vec<(Key, _)> = list
        .into_iter()
        .map(|resource| (ranks.key(resource::current_id(tree, &session.schema, resource.root)), resource))
        .collect();
    let core_last = session.has(Difference::NamespaceOrder);
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b, core_last));
    let sorted = keyed.into_iter().map(|(_, resource)| resource).collect();
    resources
        .rebuild(tree, &session.schema, sorted)
        .map_err(|error| error.prefix("SortOrderTransformer: Failed to append to resources"))
}

struct Ranks {
    first: Vec<String>,
    last: Vec<String>,
}

/// What a resource is sorted by.
struct Key {
    rank: i64,
    /// Namespaces of the core group come after those of other groups, where `core_last` says so.
    namespace: bool,
    gvk: String,
    id: OwnedResId,
    text: String,
}

impl Ranks {
    fn key(&self, id: ResId<'_>) -> Key {
        let or = |text, none| if str::is_empty(text) { none } else { text };
        let gvk = id.gvk;
        Key {
            rank: self.rank(gvk.kind),
            namespace: gvk.kind == "Namespace",
            gvk: format!("{}_{}_{}", or(gvk.group, "~G"), or(gvk.version, "~V"), or(gvk.kind, "~K")),
            text: format!("{gvk}|{}|{}", or(id.namespace, "~X"), or(id.name, "~N")),
            id: id.into(),
        }
    }

    fn rank(&self, kind: &str) -> i64 {
        // A kind that occurs twice has its last place; one of both lists that of the second.
        let at = |list: &[String]| list.iter().rposition(|other| other == kind).and_then(|at| i64::try_from(at).ok());
        match (at(&self.last), at(&self.first)) {
            (Some(last), _) => last + 1,
            (None, Some(first)) => first - i64::try_from(self.first.len()).unwrap_or(0),
            (None, None) => 0,
        }
    }
}

impl Key {
    fn cmp(&self, other: &Key, core_last: bool) -> Ordering {
        if self.id.gvk == other.id.gvk {
            return self.text.cmp(&other.text);
        }
        let core = self.id.gvk.group.is_empty() || other.id.gvk.group.is_empty();
        let by_gvk = match core_last && self.namespace && other.namespace && core {
            true => other.gvk.cmp(&self.gvk),
            false => self.gvk.cmp(&other.gvk),
        };
        self.rank.cmp(&other.rank).then(by_gvk)
    }
}
