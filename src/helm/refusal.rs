//! What depends on calls of random and clock functions that are refused, found out by rendering with several sources of
//! chance, always the same ones, and comparing what is printed.

use std::sync::Arc;

use super::chart::Chart;
use super::error::Error;
use super::options::Options;
use super::output::{self, RenderedFile};
use super::{Files, files, render_here};
use crate::template::{self, Probe};
use crate::yaml::Mapping;

/// How many calls of a render are looked at.
const CALLS_MAX: u64 = 100;
/// The sources of chance beside the first one.
const OTHERS: [u8; 2] = [1, 2];

/// What becomes of a chart that calls random or clock functions.
///
/// Its files when nothing in them comes from such a call, as in `.Values.password | default (randAlphaNum 10)` with a
/// password. Its error when it fails whatever such calls give, because then Helm fails too. None when its files depend on
/// them.
pub fn unaffected(chart: &Arc<Chart>, values: &Mapping, options: &Options) -> Option<Result<Files, Error>> {
    // Most charts print what they draw: those are found out without a good key, which takes a second to make.
    let sketch = |number| printed(chart, values, options, None, Probe::Draw(number));
    if let (Ok(one), Ok(other)) = (sketch(0), sketch(1))
        && one != other
    {
        return None;
    }
    let probe = |number| files_with(chart, values, options, options.effects.probe(None, Probe::Draw(number), false));
    let first = probe(0);
    let is_same = |other: Result<Files, Error>| match (&first, other) {
        (Ok(first), Ok(other)) => first.rendered == other.rendered,
        (Err(first), Err(other)) => !first.is_refusal() && first.is_alike(&other),
        _ => false,
    };
    OTHERS.iter().all(|number| is_same(probe(*number))).then_some(first)
}

/// The refused calls that what the chart prints depends on.
pub fn survey(chart: &Arc<Chart>, values: &Mapping, options: &Options) -> Result<Vec<Error>, Error> {
    let first = match render_here(chart, values, options) {
        Ok(_) => return Ok(Vec::new()),
        Err(error) if error.is_refusal() => error,
        Err(error) => return Err(error),
    };
    let plain = match printed(chart, values, options, None, Probe::Draw(0)) {
        Err(error) if error.is_refusal() => return Ok(vec![error]),
        printed => printed?,
    };
    let mut found: Vec<Error> = Vec::new();
    for call in (0..CALLS_MAX).map(Some) {
        let refused = match printed(chart, values, options, call, Probe::Refuse) {
            Err(error) if error.is_refusal() => error,
            _ => break,
        };
        let depends = |number: &u8| {
            printed(chart, values, options, call, Probe::Draw(*number)).map_or(true, |files| files != plain)
        };
        if !found.iter().any(|other| other.is_alike(&refused)) && OTHERS.iter().any(depends) {
            found.push(refused);
        }
    }
    Ok(if found.is_empty() { vec![first] } else { found })
}

/// What is printed as far as it tells what depends on what: keys in it are good for nothing.
fn printed(
    chart: &Arc<Chart>,
    values: &Mapping,
    options: &Options,
    call: Option<u64>,
    probe: Probe,
) -> Result<Vec<RenderedFile>, Error> {
    files_with(chart, values, options, options.effects.probe(call, probe, true)).map(|files| files.rendered)
}

/// The files that are printed.
fn files_with(
    chart: &Arc<Chart>,
    values: &Mapping,
    options: &Options,
    effects: template::Effects,
) -> Result<Files, Error> {
    let mut files = files(chart, values, options, effects, &mut Vec::new())?;
    files.rendered.retain(|file| output::is_printed(&file.name));
    Ok(files)
}
