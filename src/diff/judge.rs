//! What may do harm in the changes of an environment, all of them together.
//!
//! An object is judged as a sync applies it: fields that Argo CD leaves as they are keep their values, and of an object that the API
//! server refuses nothing is applied. What is beside it is judged by what the cluster has of it then.

use std::collections::HashMap;

use super::danger::{Around, Danger, dangers, is_refused, not_judged};
use super::model::{Beside, Model, Placed, Side, steps};
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
    /// How many steps that took, or that it was given up.
    steps: Steps,
}

/// How much was looked at for one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    Taken(u64),
    TooMany,
}

/// What the cluster has in place of a manifest, by where that is.
type InPlace<'m> = HashMap<*const Manifest, Placed<'m>>;

/// Judges all pairs of all paths, in their order. That some are not judged is said once, of the first of them.
pub(super) fn judged(paths: &[Sides], pairs: &[Vec<Pair<'_>>], beside: &Beside) -> Vec<Vec<Judged>> {
    let mut judged = all_judged(paths, pairs, beside);
    say_not_judged(&mut judged);
    judged
}

fn say_not_judged(judged: &mut [Vec<Judged>]) {
    let mut left = judged.iter_mut().flatten().filter(|one| one.steps == Steps::TooMany);
    if let Some(first) = left.next() {
        first.dangers.push(not_judged(left.count()));
    }
}

fn all_judged(paths: &[Sides], pairs: &[Vec<Pair<'_>>], beside: &Beside) -> Vec<Vec<Judged>> {
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
    let objects = model.before.count() + model.after.count();
    let limit = steps::limit(pairs.iter().map(Vec::len).sum(), objects);
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
            let (found, taken) = steps::within(limit, || dangers(pair, &around));
            let steps = if found.is_some() { Steps::Taken(taken) } else { Steps::TooMany };
            let mut dangers = found.unwrap_or_default();
            dangers.iter_mut().for_each(|danger| danger.is_with_application = path.options.goes);
            let is_named = pair.new.is_some_and(|new| path.options.refused.contains(&ObjectName::of(new)));
            let is_refused = is_refused(&dangers, pair.new);
            let restarts = !is_refused && restart::restarts(pair.old, pair.new);
            Judged { restarts, dangers, is_refused: is_refused || is_named, steps }
        };
        pairs.iter().map(of_pair).collect()
    })
}

/// What an Application rendered before, where a pair is that one.
fn rendered<'a>(pair: &Pair<'a>, path: &'a Sides) -> Option<&'a [Manifest]> {
    let (application, rendered) = path.old.split_last().filter(|_| path.options.has_application)?;
    pair.old.is_some_and(|old| std::ptr::eq(old, application)).then_some(rendered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::scope::Scopes;
    use crate::diff::{Options, pair};
    use crate::manifest::{self, Source};

    /// Deployments whose labels change, and as many objects that choose all of them before.
    fn objects(count: usize, version: usize, of_each: &str) -> Vec<Manifest> {
        let each = |number: usize| {
            let of_each = of_each.replace("NUMBER", &number.to_string()).replace("VERSION", &version.to_string());
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{number}}}\nspec:\n  \
                 selector: {{matchLabels: {{app: d{number}}}}}\n  template:\n    \
                 metadata: {{labels: {{app: d{number}, v: x{version}}}}}\n    \
                 spec: {{serviceAccountName: sa{number}, containers: [{{name: c, image: 'x:{version}', \
                 envFrom: [{{configMapRef: {{name: c{number}-{version}}}}}]}}]}}\n---\n{of_each}"
            )
        };
        let text: Vec<String> = (0..count).map(each).collect();
        manifest::read(text.join("---\n").as_bytes(), Source::Output("a test")).expect("manifests")
    }

    /// The steps of all changes, and how many are not judged.
    fn steps(count: usize, of_each: &str) -> (u64, usize) {
        let sides =
            [Sides { old: objects(count, 1, of_each), new: objects(count, 2, of_each), options: Options::default() }];
        let beside = Beside::default();
        let scopes = Scopes::new(sides.iter().flat_map(|path| path.old.iter().chain(&path.new)), &beside);
        let pairs = [pair::pairs(&sides[0].old, &sides[0].new, [None, None], &scopes)];
        let all = judged(&sides, &pairs, &beside);
        let taken = |one: &Judged| match one.steps {
            Steps::Taken(steps) => steps,
            Steps::TooMany => 0,
        };
        let left = all.iter().flatten().filter(|one| one.steps == Steps::TooMany).count();
        (all.iter().flatten().map(taken).sum(), left)
    }

    const KINDS: [&str; 6] = [
        "apiVersion: v1\nkind: Service\nmetadata: {name: sNUMBER}\nspec: {selector: {v: x1}, ports: [{port: 80, targetPort: pVERSION}]}\n",
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: nNUMBER}\n\
         spec: {podSelector: {matchExpressions: [{key: v, operator: In, values: [x1]}]}, policyTypes: [Ingress]}\n",
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: pNUMBER}\n\
         spec: {minAvailable: 1, selector: {matchLabels: {v: x1}}}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cNUMBER-VERSION}\ndata: {a: VERSION}\n",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: rNUMBER-VERSION}\n\
         roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: roNUMBER}\n\
         subjects: [{kind: ServiceAccount, name: saNUMBER, namespace: a}]\n",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: hNUMBER}\n\
         spec: {minReplicas: VERSION, maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: dNUMBER}}\n",
    ];

    /// Each object is compared with each other one at most, whatever kinds there are: three times as many are not 27 times as long.
    #[test]
    fn steps_do_not_grow_with_the_third_power() {
        for of_each in KINDS.iter().map(|one| (*one).to_owned()).chain([KINDS.join("---\n")]) {
            let [(few, _), (many, left)] = [20, 60].map(|count| steps(count, &of_each));
            assert_eq!(left, 0, "{of_each}");
            assert!(many <= few * 13, "{few} steps of 20 and {many} of 60: {of_each}");
        }
    }

    /// What is not judged is said once, with how much that is.
    #[test]
    fn what_is_not_judged_is_said_once() {
        let of = |steps| Judged { dangers: Vec::new(), restarts: false, is_refused: false, steps };
        let mut all = vec![vec![of(Steps::Taken(1))], vec![of(Steps::TooMany), of(Steps::TooMany), of(Steps::TooMany)]];
        say_not_judged(&mut all);
        let said: Vec<String> = all.iter().flatten().flat_map(|one| &one.dangers).map(Danger::to_string).collect();
        assert_eq!(
            said,
            [
                "not judged: more objects are beside it than are compared for one change, nor are 2 more objects of this change"
            ]
        );
    }
}
