//! What depends on calls of random and clock functions that are refused.

use go_template::{RefusedCall, Trace};

use super::engine::templates::Templates;
use super::error::Error;
use super::probe::{FIRST, OTHERS, Subject, affordable};
use super::{Files, prepared, render_here, report};

/// How many calls of a render are looked at.
const CALLS_MAX: usize = 100;

/// What becomes of a chart that calls random or clock functions.
///
/// Its files when nothing in them comes from such a call, as in `.Values.password | default (randAlphaNum 10)` with a
/// password. Its error when it fails whatever such calls give, because then Helm fails too. `None` when its files depend on
/// them, or may: `{{ eq (now | date "Jan") "Jul" }}` prints the same in eleven months of twelve.
pub(super) fn unaffected(subject: Subject<'_>) -> Option<Result<Files, Error>> {
    // Most charts print what they draw: those are found out without a good key, which takes long to make.
    let plain = subject.sketch(FIRST);
    let sketches = OTHERS.map(|number| (number, subject.sketch(number)));
    if let (Ok(one), [(_, Ok(other)), ..]) = (&plain, &sketches)
        && !subject.prints_alike(one, other)
    {
        return None;
    }
    let seen: Vec<&Trace> = std::iter::once(&plain)
        .chain(sketches.iter().map(|(_, sketch)| sketch))
        .flatten()
        .map(|files| &files.trace)
        .collect();
    if Trace::loses_chance(&seen) {
        return None;
    }
    let first = subject.files(FIRST);
    let is_same = |other: &Result<Files, Error>| ends_alike(subject, &first, other);
    // What prints the same with a weak key does not depend on good ones either.
    let is_unaffected = |(number, sketch): &(u8, _)| is_same(sketch) || is_same(&subject.files(*number));
    sketches.iter().all(is_unaffected).then_some(first)
}

/// Whether two renders print the same, or fail in the same way for another reason than a refused call.
fn ends_alike(subject: Subject<'_>, one: &Result<Files, Error>, other: &Result<Files, Error>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => subject.prints_alike(one, other),
        (Err(one), Err(other)) => !one.is_refusal() && one.is_alike(other),
        _ => false,
    }
}

/// The refused calls that what the chart prints depends on, each with what can be done about it.
pub(super) fn survey(subject: Subject<'_>) -> Result<Vec<Error>, Error> {
    let plain = match subject.sketch(FIRST) {
        Err(error) => {
            // A call that can't be made to repeat, whatever is asked of it, hides those behind it.
            let Some(call) = error.refused() else { return Err(error) };
            return as_errors(subject, &[vec![call]]);
        }
        Ok(plain) => plain,
    };
    let mut groups: Vec<Vec<&RefusedCall>> = Vec::new();
    for call in plain.probed.iter().take(CALLS_MAX.min(affordable(plain.steps))) {
        if let Some(group) = groups.iter_mut().find(|group| group.iter().any(|other| is_same_text(call, other))) {
            group.push(call);
        } else if subject.depends_on(&[call], &plain) {
            groups.push(vec![call]);
        }
    }
    if groups.is_empty() {
        return match render_here(subject.chart, subject.values, subject.options) {
            Ok(_) => Ok(Vec::new()),
            Err(error) if error.is_refusal() => Ok(vec![error]),
            Err(error) => Err(error),
        };
    }
    as_errors(subject, &groups)
}

/// Whether two calls are one in the text of a file, which another file includes as a whole: to print its checksum.
fn is_same_text(one: &RefusedCall, other: &RefusedCall) -> bool {
    one.places.ends_with(&other.places) || other.places.ends_with(&one.places)
}

/// Calls as errors, each text once.
fn as_errors(subject: Subject<'_>, groups: &[Vec<&RefusedCall>]) -> Result<Vec<Error>, Error> {
    let (tree, _) = prepared(subject.chart, subject.values, subject.options, &mut Vec::new())?;
    let templates = Templates::new(&tree);
    let mut errors: Vec<Error> = Vec::new();
    for call in groups.iter().filter_map(|group| group.first()) {
        let error = report::refused(call, &templates);
        if !errors.iter().any(|other| other.is_alike(&error)) {
            errors.push(error);
        }
    }
    Ok(errors)
}
