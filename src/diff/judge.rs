//! What may do harm in the changes of an environment, all of them together.
//!
//! An object is judged as a sync applies it: fields that Argo CD leaves as they are keep their values, and of an object that the API
//! server refuses nothing is applied. What is beside it is judged by what the cluster has of it then.

use std::collections::HashMap;

use super::danger::{Around, Danger, dangers, is_refused, outlives};
use super::model::{Beside, Model, Placed, Side};
use super::pair::Pair;
use super::{ObjectName, Pruning, Sides, renamed, restart};
use crate::manifest::Manifest;
use crate::repo::shares::in_shares;

/// What the change of an object does.
pub(super) struct Judged {
    pub dangers: Vec<Danger>,
    /// Whether its Pods are replaced.
    pub restarts: bool,
    /// Whether the cluster keeps what it has of it.
    is_refused: bool,
}

/// What the cluster has in place of a manifest, by where that is.
type InPlace<'m> = HashMap<*const Manifest, Placed<'m>>;

/// Judges all pairs of all paths, in their order.
pub(super) fn judged(paths: &[Sides], pairs: &[Vec<Pair<'_>>], beside: &Beside) -> Vec<Vec<Judged>> {
    let of_path = |(path, pairs): (&Sides, &Vec<Pair<'_>>)| pairs.iter().map(|pair| kept(pair, path)).collect();
    let kept: Vec<Vec<Option<Manifest>>> = paths.iter().zip(pairs).map(of_path).collect();
    let mut in_place = InPlace::new();
    let mut asked: Vec<Vec<Pair<'_>>> = Vec::with_capacity(pairs.len());
    for ((path, pairs), kept) in paths.iter().zip(pairs).zip(&kept) {
        let of_path = pairs.iter().zip(kept).map(|(pair, kept)| Pair { new: kept.as_ref().or(pair.new), ..*pair });
        asked.push(of_path.collect());
        let replaced = pairs.iter().zip(kept).filter_map(|(pair, kept)| Some((pair.new?, kept.as_ref()?)));
        in_place.extend(
            replaced.map(|(new, kept)| (std::ptr::from_ref(new), Placed::new(kept, path.options.namespaces()[1]))),
        );
    }
    let first = judge(paths, &asked, &model(paths, beside, &in_place));
    let mut has_refused = false;
    for ((path, pairs), judged) in paths.iter().zip(pairs).zip(&first) {
        for (pair, _) in pairs.iter().zip(judged).filter(|(_, judged)| judged.is_refused) {
            if let (Some(old), Some(new)) = (pair.old, pair.new) {
                in_place.insert(new, Placed::new(old, path.options.namespaces()[0]));
                has_refused = true;
            }
        }
    }
    if !has_refused {
        return first;
    }
    let second = judge(paths, &asked, &model(paths, beside, &in_place));
    let last = |(first, second): (Judged, Judged)| if first.is_refused { first } else { second };
    first.into_iter().zip(second).map(|(first, second)| first.into_iter().zip(second).map(last).collect()).collect()
}

/// The object of a pair as a sync applies it, where that is not as git has it.
fn kept(pair: &Pair<'_>, path: &Sides) -> Option<Manifest> {
    let (old, new) = (pair.old?, pair.new.filter(|_| !pair.is_recreated)?);
    let namespace = Placed::new(new, path.options.namespaces()[1]).namespace;
    path.options.syncs.applied((old, new), namespace)
}

/// The environment, as far as it is known.
fn model<'a>(paths: &'a [Sides], beside: &'a Beside, in_place: &InPlace<'a>) -> Model<'a> {
    let before = paths
        .iter()
        .flat_map(|path| path.old.iter().map(move |manifest| Placed::new(manifest, path.options.namespaces()[0])));
    let after = paths.iter().flat_map(|path| {
        let placed = |manifest: &'a Manifest| match in_place.get(&std::ptr::from_ref(manifest)) {
            Some(placed) => *placed,
            None => Placed::new(manifest, path.options.namespaces()[1]),
        };
        path.new.iter().map(placed).collect::<Vec<_>>()
    });
    Model { before: Side::new(before, beside), after: Side::new(after, beside), is_whole: !beside.is_cut() }
}

/// Judges each pair in an environment, on all cores.
fn judge<'a>(paths: &'a [Sides], pairs: &[Vec<Pair<'a>>], model: &'a Model<'a>) -> Vec<Vec<Judged>> {
    let pruning = |path: usize| paths.get(path).map_or(Pruning::Unknown, |path| path.options.pruning);
    let namespaces = |path: usize| paths.get(path).map_or([None, None], |path| path.options.namespaces());
    let numbered: Vec<(usize, (&'a Sides, &Vec<Pair<'a>>))> = paths.iter().zip(pairs).enumerate().collect();
    in_shares(&numbered, |(number, (path, pairs))| {
        let counterparts = renamed::counterparts(pairs);
        let counterpart = |one: Option<&'a Manifest>| counterparts.get(&std::ptr::from_ref(one?)).copied();
        let of_pair = |pair: &Pair<'a>| {
            let from = pair.moved_from.unwrap_or(*number);
            let around = Around {
                pruning: pruning(from),
                is_new: path.old.is_empty(),
                is_handed_over: path.options.handed_over || pair.moved_from.is_some(),
                defaults: [namespaces(from)[0], namespaces(*number)[1]],
                syncs: &path.options.syncs,
                siblings: &path.new,
                rendered: rendered(pair, path),
                counterpart: counterpart(pair.old.or(pair.new)),
                model,
            };
            let mut dangers = dangers(pair, &around);
            if path.options.goes && pair.new.is_none() && pair.old.is_some_and(outlives) {
                // Where it is not known whether Argo CD deletes the Application, the object stays all the same.
                dangers.retain(|danger| danger.pruning != Some(Pruning::Unknown));
            }
            dangers.iter_mut().for_each(|danger| danger.is_with_application = path.options.goes);
            let is_named = pair.new.is_some_and(|new| path.options.refused.contains(&ObjectName::of(new)));
            let is_refused = is_refused(&dangers, pair.new);
            let restarts = !is_refused && restart::restarts(pair.old, pair.new);
            Judged { restarts, dangers, is_refused: is_refused || is_named }
        };
        pairs.iter().map(of_pair).collect()
    })
}

/// What an Application rendered before, where a pair is that one.
fn rendered<'a>(pair: &Pair<'a>, path: &'a Sides) -> Option<&'a [Manifest]> {
    let (application, rendered) = path.old.split_last().filter(|_| path.options.has_application)?;
    pair.old.is_some_and(|old| std::ptr::eq(old, application)).then_some(rendered)
}
