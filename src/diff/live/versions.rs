//! Two versions of an object that git has, compared as the API server would read them.

use go_yaml::Value;

use super::{Cluster, is_built_in, settled};
use crate::manifest::Manifest;

/// Two versions of an object as the API server reads them: what only one of them has goes from it where that is a
/// default or nothing, and a quantity is written as in the other.
///
/// What a cluster fills in with a value that nothing says is a difference here.
pub(in crate::diff) fn as_read(old: &Manifest, new: &Manifest) -> [Manifest; 2] {
    let [old, new] = [old, new].map(without_nulls);
    let once = settled((&old, &new), &Cluster::default(), false);
    let twice = settled((&once.rendered, &once.running), &Cluster::default(), false);
    [twice.rendered, twice.running]
}

/// An object of a built-in kind without fields that are null: the API server reads them as fields that are not there.
fn without_nulls(manifest: &Manifest) -> Manifest {
    fn strip(value: &mut Value) {
        match value {
            Value::Mapping(fields) => {
                fields.retain(|_, value| !value.is_null());
                fields.values_mut().for_each(strip);
            }
            Value::Sequence(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut object = manifest.object().clone();
    if is_built_in(manifest) {
        strip(&mut object);
    }
    Manifest::new(object).unwrap_or_else(|_| manifest.clone())
}
