//! `--compare`: what would be hydrated beside what runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dry_files::diag::more::{line_of_more, listed as list};
use dry_files::diag::printable;
use go_yaml::{Value, json};

use super::super::check::Site;
use super::super::screen::Screen;
use super::super::{Outcome, WrongUse, output};
use crate::diff::{Change, FieldPath, ObjectDiff, Place, live::Addition};
use crate::inspect::{ComparedApplication, Running, RunningComparison, RunningResult};
use crate::manifest::{self, Key, Manifest, Source};
use crate::show::changes::rows;

/// How many files are read, how deep directories may nest, and how large all files may be together.
const FILES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 32;
const BYTES_MAX: u64 = 512 << 20;

/// How many objects of one Application, and how many lines of one object, are shown; `--json` has all.
const OBJECTS_MAX: usize = 20;
const LINES_MAX: usize = 40;

/// Reads what runs: a file, or all files of a directory that are YAML or JSON. Symbolic links are not followed.
pub(super) fn read(what: &Path) -> anyhow::Result<Vec<Running>> {
    let mut files = Vec::new();
    let reading = || format!("reading {}", what.display());
    if fs::metadata(what).with_context(reading)?.is_dir() {
        gather(what, 0, &mut files)?;
        if files.is_empty() {
            bail!(WrongUse(format!("{}: there is no `.yaml`, `.yml` or `.json` file", what.display())));
        }
    } else {
        files.push(what.to_owned());
    }
    let mut bytes_left = BYTES_MAX;
    let mut running = Vec::new();
    let mut seen: BTreeMap<Key, (String, Value)> = BTreeMap::new();
    for file in files {
        let reading = || format!("reading {}", file.display());
        let metadata = fs::metadata(&file).with_context(reading)?;
        if !metadata.is_file() {
            bail!(WrongUse(format!(
                "{}: not a file\nhint: save the output of kubectl to a file first",
                file.display()
            )));
        }
        bytes_left = bytes_left.checked_sub(metadata.len()).ok_or_else(|| {
            WrongUse(format!("the files have more than {} MiB together: compare them in parts", BYTES_MAX >> 20))
        })?;
        let text = fs::read(&file).with_context(reading)?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name = file.display().to_string();
        let manifests = manifest::read(&text, Source::Output(&name))
            .map_err(|unreadable| no_manifests(&unreadable.diagnostic.message))?;
        if manifests.is_empty() {
            bail!(WrongUse(format!(
                "{}: there is no object in it\nhint: see whether the command that wrote it failed; if nothing runs, remove the file",
                file.display()
            )));
        }
        for manifest in &manifests {
            let Some(key) = manifest.key() else { continue };
            let object = settled(manifest);
            match seen.get(&key) {
                Some((other, known)) if *known != object => bail!(WrongUse(format!(
                    "{other} and {name} hold {} `{}`, and not alike\nhint: of two clusters, compare each by itself, with a directory of its own; of one, keep the file that shows what runs now",
                    printable(manifest.kind()),
                    printable(manifest.name())
                ))),
                Some(_) => {}
                None => drop(seen.insert(key, (name.clone(), object))),
            }
        }
        running.extend(manifests.into_iter().map(|manifest| Running { file: stem.clone(), manifest }));
    }
    Ok(running)
}

/// An object without what changes while it runs.
fn settled(manifest: &Manifest) -> Value {
    let mut object = manifest.object().clone();
    if let Value::Mapping(fields) = &mut object {
        fields.remove("status");
        if let Some(Value::Mapping(metadata)) = fields.get_mut("metadata") {
            for key in ["resourceVersion", "managedFields", "generation"] {
                metadata.remove(key);
            }
        }
    }
    object
}

fn gather(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let reading = || format!("reading {}", dir.display());
    let entries = fs::read_dir(dir).with_context(reading)?.collect::<Result<Vec<_>, _>>().with_context(reading)?;
    let mut entries: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let kind = fs::symlink_metadata(&path).with_context(reading)?.file_type();
        let is_objects = path.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known));
        if kind.is_dir() && depth < DEPTH_MAX {
            gather(&path, depth + 1, files)?;
        } else if kind.is_file() && is_objects {
            files.push(path);
        }
        if files.len() > FILES_MAX {
            bail!(WrongUse(format!("there are more than {FILES_MAX} files: compare them in parts")));
        }
    }
    Ok(())
}

/// Shows what came of it.
pub(super) fn show(site: &Site, found: &RunningComparison, json_wanted: bool) -> anyhow::Result<Outcome> {
    if !found.owned.is_empty() {
        bail!(WrongUse(owned(found)));
    }
    if found.compared() == 0 && found.counts().failing == 0 {
        bail!(WrongUse(nothing(found)));
    }
    if json_wanted {
        output::print_json(&as_json(found))?;
    } else {
        Screen::new(site.repository()).show(&text(found))?;
    }
    Ok(if found.is_same() { Outcome::Done } else { Outcome::Found })
}

fn owned(found: &RunningComparison) -> String {
    let mut text = "ApplicationSets own live Applications that they would take along when they go\n".to_owned();
    for owner in &found.owned {
        let _ = writeln!(text, "  {}: {}", printable(&owner.application), printable(&owner.why));
    }
    text + "hint: set `preserveResourcesOnDeletion: true` in `syncPolicy` of the set, delete it with `kubectl delete applicationset \
            --cascade=orphan`, and compare again once the Applications have no `ownerReferences`"
}

fn nothing(found: &RunningComparison) -> String {
    let names: Vec<String> = found.elsewhere.keys().take(5).map(|name| printable(name)).collect();
    let elsewhere = if names.is_empty() { String::new() } else { format!("; they are of {}", names.join(", ")) };
    format!(
        "no object of the files belongs to an Application of this repository{elsewhere}\nhint: name each file after its \
         Application: argocd app manifests web > live/web.yaml"
    )
}

fn text(found: &RunningComparison) -> String {
    let mut text = String::new();
    for application in &found.applications {
        let RunningResult::Compared { differences, .. } = &application.result else { continue };
        if !differences.is_empty() {
            different(&mut text, application, differences);
        }
    }
    for application in &found.applications {
        if let RunningResult::Fails(mistake) = &application.result {
            let message = mistake.message.lines().next().unwrap_or_default();
            let place = mistake.span.as_ref().map(|span| format!("{span}: ")).unwrap_or_default();
            let _ =
                writeln!(text, "{} does not render\n  {place}{}\n", printable(&application.name), printable(message));
        }
    }
    let names = |wanted: fn(&RunningResult) -> bool| {
        let of = found.applications.iter().filter(|one| wanted(&one.result)).map(|one| one.name.as_str());
        of.collect::<Vec<_>>()
    };
    let is_same = |result: &RunningResult| matches!(result, RunningResult::Compared { differences, .. } if differences.is_empty());
    listed(&mut text, "same as what runs", &names(is_same));
    listed(&mut text, "not in the files", &names(|result| matches!(result, RunningResult::NotRunning)));
    let elsewhere: Vec<&str> = found.elsewhere.keys().map(String::as_str).collect();
    listed(&mut text, "runs, but does not hydrate from here", &elsewhere);
    additions(&mut text, found);
    listed(
        &mut text,
        "no file has an object of kind",
        &found.missing_kinds.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    if !found.missing_kinds.is_empty() {
        text += "hint: `kubectl get all` leaves kinds out: name them, or use `argocd app manifests`\n";
    }
    let counts = found.counts();
    let all = counts.same + counts.different + counts.failing;
    let are = if all == 1 { "that runs is" } else { "that run are" };
    let _ = writeln!(text, "{} of {} {are} the same", counts.same, applications(all));
    text
}

fn applications(count: usize) -> String {
    if count == 1 { "1 Application".to_owned() } else { format!("{count} Applications") }
}

/// How many names are listed.
const NAMED_MAX: usize = 8;

fn listed(text: &mut String, what: &str, names: &[&str]) {
    if names.is_empty() {
        return;
    }
    let _ = writeln!(text, "{what}: {}", list(names.iter().map(|name| printable(name)), NAMED_MAX));
}

fn different(text: &mut String, application: &ComparedApplication, differences: &[ObjectDiff]) {
    let place = application.place.as_ref().map(|(branch, path)| format!(" ({branch}, {path})")).unwrap_or_default();
    let _ = writeln!(text, "{}{}", printable(&application.name), printable(&place));
    for object in differences.iter().take(OBJECTS_MAX) {
        let name = printable(&object.object.to_string());
        match object.change {
            Change::Added => {
                let _ = writeln!(text, "  {name}  only rendered: the files do not have it");
            }
            Change::Removed => {
                let _ = writeln!(text, "  {name}  only runs: it is not rendered");
            }
            Change::Changed => {
                let _ = writeln!(text, "  {name}");
                fields(text, object);
            }
        }
    }
    if let Some(more) = line_of_more(differences.len(), OBJECTS_MAX, " objects; --json lists all") {
        let _ = writeln!(text, "  {more}");
    }
    text.push('\n');
}

/// The fields that differ: `-` what runs, `+` what is rendered.
fn fields(text: &mut String, object: &ObjectDiff) {
    if let Some(old) = &object.old_name {
        let _ = writeln!(text, "    runs as {}", printable(old));
    }
    let rows = rows(object, true);
    for row in rows.iter().take(LINES_MAX) {
        let _ = writeln!(text, "    {} {:indent$}{}", row.mark.sign(), "", printable(&row.text), indent = row.indent);
    }
    if let Some(more) = line_of_more(rows.len(), LINES_MAX, " lines; --json lists all") {
        let _ = writeln!(text, "      {more}");
    }
}

/// Leaves out the line of the file that was not understood, which may be one of a Secret.
fn no_manifests(reason: &str) -> WrongUse {
    let first = reason.lines().next().unwrap_or_default();
    WrongUse(format!("{first}\nhint: give what `kubectl get … -o yaml` or `argocd app manifests` printed"))
}

/// What was no difference, in one line.
fn additions(text: &mut String, found: &RunningComparison) {
    let mut counts: BTreeMap<Addition, usize> = BTreeMap::new();
    let mut hooks_left_out = 0;
    for application in &found.applications {
        let RunningResult::Compared { additions, hooks, .. } = &application.result else { continue };
        additions.iter().for_each(|(addition, count)| *counts.entry(*addition).or_default() += count);
        hooks_left_out += hooks;
    }
    let mut parts: Vec<String> =
        counts.iter().map(|(addition, count)| format!("{count} {}", describe(*addition))).collect();
    if let Some(first) = parts.first_mut() {
        *first = first.replacen(' ', " fields ", 1);
    }
    match hooks_left_out {
        0 => {}
        1 => parts.push("1 hook, which does not stay".to_owned()),
        count => parts.push(format!("{count} hooks, which do not stay")),
    }
    match found.others {
        0 => {}
        1 => parts.push("1 object of no Application".to_owned()),
        count => parts.push(format!("{count} objects of no Application")),
    }
    if !parts.is_empty() {
        let _ = writeln!(text, "not counted: {}", parts.join("; "));
    }
}

fn describe(addition: Addition) -> &'static str {
    match addition {
        Addition::Server => "that the API server keeps",
        Addition::Applied => "added when they were applied",
        Addition::Default => "with their defaults",
        Addition::Since => "added after they were applied (last-applied-configuration lacks them)",
        Addition::Written => "written otherwise",
    }
}

fn as_json(found: &RunningComparison) -> serde_json::Value {
    serde_json::json!({
        "counts": found.counts(),
        "applications": found.applications.iter().map(application_json).collect::<Vec<_>>(),
        "elsewhere": found.elsewhere,
        "missingKinds": found.missing_kinds,
        "objectsOfNoApplication": found.others,
    })
}

fn application_json(application: &ComparedApplication) -> serde_json::Value {
    let (branch, path) = application.place.clone().unzip();
    let mut fields = serde_json::json!({ "name": application.name, "branch": branch, "path": path });
    let rest = match &application.result {
        RunningResult::NotRunning => serde_json::json!({ "result": "not-running" }),
        RunningResult::Fails(mistake) => serde_json::json!({ "result": "fails", "mistake": mistake }),
        RunningResult::Compared { objects, hooks, additions, differences } => serde_json::json!({
            "result": if differences.is_empty() { "same" } else { "different" },
            "objects": objects,
            "hooks": hooks,
            "additions": additions.iter().map(|(addition, count)| (addition.name(), *count)).collect::<BTreeMap<_, _>>(),
            "differences": differences.iter().map(object_json).collect::<Vec<_>>(),
        }),
    };
    if let (serde_json::Value::Object(fields), serde_json::Value::Object(rest)) = (&mut fields, rest) {
        fields.extend(rest);
    }
    fields
}

fn field_json(path: &FieldPath, place: Place<'_>) -> serde_json::Value {
    match place {
        Place::Leaf(leaf) => serde_json::json!({
            "path": path.to_string(), "running": value_json(leaf.old.as_ref()), "rendered": value_json(leaf.new.as_ref()),
        }),
        Place::Moved(from, to) => serde_json::json!({ "path": path.to_string(), "movedFrom": from, "movedTo": to }),
    }
}

fn value_json(value: Option<&Value>) -> Option<serde_json::Value> {
    serde_json::from_str(&json::encode(value?, json::Options::default())).ok()
}

fn object_json(object: &ObjectDiff) -> serde_json::Value {
    let mut fields = Vec::new();
    if object.change == Change::Changed {
        object.difference.visit(&mut |path, place| fields.push(field_json(path, place)));
    }
    serde_json::json!({
        "apiVersion": object.object.api_version,
        "kind": object.object.kind,
        "namespace": object.object.namespace,
        "name": object.object.name,
        "change": match object.change {
            Change::Added => "only-rendered",
            Change::Removed => "only-runs",
            Change::Changed => "different",
        },
        "fields": fields,
    })
}
