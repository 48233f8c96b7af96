//! `git hydrate config rebase`: puts the settings that a clone did not push yet on top of those of the server.

use std::collections::BTreeSet;

use anyhow::{anyhow, bail};
use dry_files::diag::shell_word;

use super::super::clone::FETCH;
use super::super::{Outcome, WrongUse, in_the_way, output};
use super::record::{identity, tree_of};
use super::{checked, seeds, server_of};
use crate::owners::policy::files_of;
use crate::repo::{Commit, Expected, NewCommit, ObjectBuffer, ObjectId, RefEdit, Repository, object_id, update_refs};
use crate::settings::{
    Data, Mapping, SECRET_FILES, SETTINGS_FILE, SETTINGS_REF, SettingsFiles as Files, UNPUSHED_REF, Value, edit,
};

/// Fetches the settings of the server and makes the commits that it does not have again, on top of them.
///
/// A commit changes a key as it did here: what else the server has of the settings stays. Of a list of texts and of a mapping, the
/// single entries are taken. Where both sides changed the same, the value of this clone is taken with `mine`.
///
/// Errors: both changed the same; nothing is changed then.
pub(super) fn rebase(repository: &Repository, mine: bool, json: bool) -> anyhow::Result<Outcome> {
    let Some(remote) = server_of(repository)? else {
        bail!(WrongUse("this repository has no remote, so its settings are on top of no others".to_owned()));
    };
    let push = format!("git push {} {SETTINGS_REF}", shell_word(&remote));
    let Some(ours) = repository.refs()?.get(UNPUSHED_REF) else {
        return tell(json, false, "this clone has no settings that are not pushed", None, None);
    };
    let refspec = format!("+{SETTINGS_REF}*:{SETTINGS_REF}*");
    in_the_way::fetch(repository, &remote, (&FETCH, &[&refspec]))?.iter().for_each(output::warn);
    let there = repository.refs()?.get(SETTINGS_REF).unwrap_or(ours);
    if there == ours && is_at(repository, &remote, ours)? || there != ours && repository.is_ancestor(ours, there) {
        update_refs(repository, &[to(UNPUSHED_REF, ours, None)], "hydrate: the settings are pushed")?;
        return tell(json, false, "the server has the settings of this clone", None, None);
    }
    let made = match repository.is_ancestor(there, ours) {
        true => Ok(ours),
        false => on_top(repository, (ours, there), mine),
    };
    // Whatever came of it, the settings of this clone are where they were.
    let new = *made.as_ref().unwrap_or(&ours);
    let edits =
        [to(SETTINGS_REF, there, Some(new)), to(UNPUSHED_REF, ours, (new != there || new == ours).then_some(new))];
    update_refs(repository, &edits, "hydrate: rebase the settings")?;
    made?;
    let changes = new_random_values(repository, (there, new))?;
    match (new == ours, new == there) {
        (true, _) => {
            tell(json, false, "the settings of this clone are on top of those of the server", Some(push), changes)
        }
        (_, true) => tell(json, true, "the server has the settings of this clone", None, changes),
        _ => tell(json, true, "the settings of this clone are on top of those of the server now", Some(push), changes),
    }
}

/// Whether the settings of a remote are a commit of this clone: a remote without any leaves those of the clone where they are.
fn is_at(repository: &Repository, remote: &str, ours: ObjectId) -> anyhow::Result<bool> {
    let listed = repository.git().output(&["ls-remote", "--refs", "--", remote, SETTINGS_REF])?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    Ok(listed.split('\t').next().and_then(object_id) == Some(ours))
}

/// Whose random values these settings change, where they have another seed than those of the server.
fn new_random_values(
    repository: &Repository,
    (there, new): (ObjectId, ObjectId),
) -> anyhow::Result<Option<seeds::Changes>> {
    let buffer = ObjectBuffer::new(repository);
    let seeds_at = |id| anyhow::Ok(seeds::of(&files_of(Some(id), &buffer)?.1));
    let (before, now) = (seeds_at(there)?, seeds_at(new)?);
    if before == now {
        return Ok(None);
    }
    Ok(Some(seeds::changes(seeds::drawn(repository, true)?, &before, &now)))
}

fn tell(
    json: bool,
    changed: bool,
    what: &str,
    next: Option<String>,
    changes: Option<seeds::Changes>,
) -> anyhow::Result<Outcome> {
    if json {
        let mut answer = serde_json::json!({ "changed": changed, "next": next });
        if let (Some(changes), Some(object)) = (&changes, answer.as_object_mut()) {
            object.insert("randomValues".to_owned(), serde_json::to_value(changes)?);
        }
        output::print_json(&answer)?;
    } else {
        changes.iter().try_for_each(|changes| output::print(seeds::text(changes)))?;
        let next = next.map(|push| format!("to apply them on the server: {push}\n")).unwrap_or_default();
        output::print(format!("{what}\n{next}"))?;
    }
    Ok(Outcome::Done)
}

fn to(name: &str, old: ObjectId, new: Option<ObjectId>) -> RefEdit {
    RefEdit { name: name.to_owned(), new, expected: Expected::from(Some(old)) }
}

/// The commits that lead to `ours` and that `there` does not have, made again on top of `there`.
fn on_top(repository: &Repository, (ours, there): (ObjectId, ObjectId), mine: bool) -> anyhow::Result<ObjectId> {
    let buffer = ObjectBuffer::new(repository);
    let mut tip = there;
    let mut files = files_of(Some(there), &buffer)?.1;
    for commit in missing(repository, (ours, there))? {
        let before = files_of(commit.parents.first().copied(), &buffer)?.1;
        let after = files_of(Some(commit.id), &buffer)?.1;
        let new = merged((&before, &after), &files, mine)?;
        if new == files {
            continue;
        }
        files = new;
        let commit = NewCommit {
            tree: tree_of(&buffer, &files)?,
            parents: vec![tip],
            author: commit.author,
            committer: identity(repository, "GIT_COMMITTER_IDENT")?,
            message: commit.message,
        };
        tip = buffer.write_commit(&commit)?;
    }
    checked(&files)?;
    let _kept = buffer.flush()?;
    Ok(tip)
}

/// The commits that lead to `ours` and that `there` does not have, oldest first.
fn missing(repository: &Repository, (ours, there): (ObjectId, ObjectId)) -> anyhow::Result<Vec<Commit>> {
    let mut commits = Vec::new();
    let mut next = Some(ours);
    while let Some(id) = next.filter(|id| !repository.is_ancestor(*id, there)) {
        let commit = repository.commit(id)?;
        next = commit.parents.first().copied();
        commits.push(commit);
    }
    commits.reverse();
    Ok(commits)
}

/// The files of the server with what a commit of this clone changed.
fn merged((before, after): (&Files, &Files), there: &Files, mine: bool) -> anyhow::Result<Files> {
    let mut new = there.clone();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).filter(|name| *name != SETTINGS_FILE).collect();
    for name in names {
        let (before, after, there) = (before.get(name), after.get(name), there.get(name));
        if before == after || after == there {
            continue;
        }
        if before != there && !mine {
            return Err(both(name));
        }
        match after {
            Some(after) => drop(new.insert(name.clone(), after.clone())),
            None => drop(new.remove(name)),
        }
    }
    let text =
        |files: &Files| String::from_utf8_lossy(files.get(SETTINGS_FILE).map_or(&[][..], Vec::as_slice)).into_owned();
    let settings = merged_settings((&text(before), &text(after)), text(there), mine)?;
    if settings != text(there) {
        new.insert(SETTINGS_FILE.to_owned(), settings.into_bytes());
    }
    Ok(new)
}

fn both(key: &str) -> anyhow::Error {
    let effect = if SECRET_FILES.contains(&key) { ", which names the Secrets that get new random values" } else { "" };
    WrongUse(format!(
        "`{key}` was changed here and on the server\nhint: to take the value of this clone: git hydrate config rebase \
         --mine{effect}"
    ))
    .into()
}

/// The `settings.yaml` of the server with what a commit of this clone changed; other lines stay as the server has them.
fn merged_settings((before, after): (&str, &str), there: String, mine: bool) -> anyhow::Result<String> {
    let (before, after) = (edit::read(before)?, edit::read(after)?);
    let mut text = there;
    let keys: BTreeSet<&str> = before.names().chain(after.names()).collect();
    for key in keys {
        let of_server = |error| anyhow!("the settings of the server have to be corrected there: {error}");
        let there = edit::read(&text).map_err(of_server)?;
        let there = there.get(key);
        let value =
            value((before.get(key), after.get(key)), there, mine).map_err(|below| both(&format!("{key}{below}")))?;
        if value.as_ref() != there {
            text = edit::set(&text, key, value)?;
        }
    }
    Ok(text)
}

/// A value of the server with what changed it here. Errors: both changed it; the path of the key below this one.
fn value(
    (before, after): (Option<&Value>, Option<&Value>),
    there: Option<&Value>,
    mine: bool,
) -> Result<Option<Value>, String> {
    if before == after || after == there {
        return Ok(there.cloned());
    }
    if before == there {
        return Ok(after.cloned());
    }
    if let (Some(before), Some(after), Some(there)) = (texts(before), texts(after), texts(there)) {
        let stays = |text: &&Value| !before.contains(text) || after.contains(text);
        let mut all: Vec<Value> = there.iter().filter(stays).cloned().collect();
        all.extend(after.iter().filter(|text| !before.contains(text) && !there.contains(text)).cloned());
        return Ok(Some(all.into()));
    }
    let none = Value::from(Mapping::default());
    let (before, after) = (before.unwrap_or(&none), after.unwrap_or(&none));
    let (Data::Mapping(before), Data::Mapping(after), Some(Data::Mapping(there))) =
        (&before.data, &after.data, there.map(|there| &there.data))
    else {
        return if mine { Ok(Some(after.clone())) } else { Err(String::new()) };
    };
    let mut new = there.clone();
    let names: BTreeSet<&str> = before.names().chain(after.names()).collect();
    for name in names {
        match value((before.get(name), after.get(name)), there.get(name), mine)
            .map_err(|below| format!(".{name}{below}"))?
        {
            Some(value) => new.insert(name, value),
            None => new.remove(name),
        }
    }
    Ok((!new.is_empty()).then(|| new.into()))
}

/// The texts of a list, or of a single text in its place; `None` for anything else.
fn texts(value: Option<&Value>) -> Option<Vec<Value>> {
    // One text on its own may be a word that says how, and not a list.
    let texts = value.map_or(Some(&[][..]), Value::as_list)?;
    texts.iter().all(|text| text.as_str().is_some()).then(|| texts.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::reader;

    #[test]
    fn what_the_server_set_meanwhile_stays() {
        let rows = [
            ("another key", "", "a: 1\n", "b: 2\n", Ok("b: 2\na: 1\n")),
            ("the same value", "", "a: 1\n", "a: 1\n", Ok("a: 1\n")),
            ("comments", "", "a: 1\n", "# why\nb: 2\n", Ok("# why\nb: 2\na: 1\n")),
            ("taken away here", "a: 1\n", "", "a: 1\nb: 2\n", Ok("b: 2\n")),
            ("entries of a list", "", "l: [x]\n", "l: [y]\n", Ok("l:\n- y\n- x\n")),
            ("an entry taken away", "l: [x, y]\n", "l: [x]\n", "l: [x, y, z]\n", Ok("l:\n- x\n- z\n")),
            ("keys of a mapping", "", "m: {x: 1}\n", "m: {y: 2}\n", Ok("m:\n  y: 2\n  x: 1\n")),
            ("both changed it", "", "a: 1\n", "a: 2\n", Err("`a` was changed here and on the server")),
            ("both changed it below", "m: {x: 1}\n", "m: {x: 2}\n", "m: {x: 3}\n", Err("`m.x` was changed here")),
            ("lists of mappings", "", "r: [{a: 1}]\n", "r: [{a: 2}]\n", Err("`r` was changed here")),
        ];
        for (name, before, after, there, expected) in rows {
            let merged = merged_settings((before, after), there.to_owned(), false);
            match (merged, expected) {
                (Ok(merged), Ok(expected)) => assert_eq!(merged, expected, "{name}"),
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().contains(expected), "{name}: {error}");
                    let mine = merged_settings((before, after), there.to_owned(), true).expect(name);
                    let value = |text: &str| reader::read(text).expect("YAML");
                    assert_eq!(value(&mine), value(after), "{name}");
                }
                (merged, expected) => panic!("{name}: {merged:?}, expected {expected:?}"),
            }
        }
    }
}
