//! `git hydrate config`: shows and changes the settings in `refs/hydrate/config`.
//!
//! Every change is a commit by whoever makes it, and is checked before it is made: down to the templates, as hydration
//! itself would read it. On a server it takes effect at once, in a clone with a push.

mod rebase;
mod vendor_directory;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, anyhow, bail};

use super::clone::{FETCH, is_server, remote_of};
use super::unpushed::{self, UNPUSHED_REF};
use super::{Outcome, WrongUse, catch_up, output};
use crate::application::BranchName;
use crate::diag::{printable, shell_word};
use crate::git::{
    Expected, Mode, NewCommit, ObjectBuffer, ObjectId, RefEdit, Repository, Signature, TransactionError, TreeEdit,
    regular, update_refs,
};
use crate::hydrate::{HydrateError, Outcome as Hydrated, Report, check_settings, dry_remote, settings_files};
use crate::metadata::{
    COMMIT_MESSAGE_GO_TEMPLATE, COMMIT_MESSAGE_TEMPLATE, DEFAULT_COMMIT_MESSAGE, DEFAULT_GO_COMMIT_MESSAGE, GO_README,
    PROPOSAL_README, README_GO_TEMPLATE, README_TEMPLATE,
};
use crate::report::{Wording, summary};
use crate::settings::{
    Data, FILE_BYTES_MAX, FILES, SETTINGS_FILE, SETTINGS_REF, Settings, SettingsError, SettingsFiles as Files, Value,
    argocd_cm, edit, reader, unknown_key,
};
use crate::wall;

/// Show or change the settings of the repository.
///
/// Settings are files in the tree of `refs/hydrate/config`, with history. `git hydrate config edit` lists every key
/// with its default.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The commit message of the change.
    #[arg(long, short, global = true, value_name = "TEXT")]
    message: Option<String>,
    /// In a clone: use the last fetched settings; do not fetch.
    #[arg(id = "known", long = "offline", global = true)]
    offline: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print the value of a key; a list is printed one value per line.
    Get {
        /// A key such as `profile` or `tools.helm`, or the name of a settings file.
        key: String,
    },
    /// Set a key; several values make a list.
    Set {
        /// A key such as `profile` or `tools.helm`.
        key: String,
        /// The value.
        #[arg(required = true)]
        values: Vec<String>,
    },
    /// Add a value to a list.
    Add {
        /// The key of the list.
        key: String,
        /// The value.
        value: String,
    },
    /// Remove a key, one value of a list, or a settings file.
    Unset {
        /// A key such as `profile` or `tools.helm`, or the name of a settings file.
        key: String,
        /// The value of the list to remove.
        value: Option<String>,
    },
    /// Change a settings file in your editor.
    Edit {
        /// The file: settings.yaml, or a template: README.md.j2, README.tmpl, commit-message.j2 or commit-message.tmpl.
        #[arg(default_value = SETTINGS_FILE)]
        file: String,
    },
    /// Write the settings files into a directory.
    Export {
        /// The directory.
        directory: PathBuf,
    },
    /// Replace all settings with those of a directory, or import what Argo CD's ConfigMap `argocd-cm` sets for its
    /// hydrator.
    Import {
        /// The directory, or a file with the ConfigMap as `kubectl get configmap argocd-cm -o yaml` prints it.
        #[arg(value_name = "DIRECTORY|FILE")]
        from: PathBuf,
    },
    /// In a clone: put settings that are not pushed yet on top of those of the server, as after a push that was rejected.
    Rebase {
        /// Where both sides changed the same, take the value of this clone.
        #[arg(long)]
        mine: bool,
    },
}

/// What `settings.yaml` says to who edits it for the first time.
const NEW_SETTINGS: &str = include_str!("config/settings.yaml");

/// What is above the keys for who edits it again.
const NOT_SET: &str = "# Every key, with its default: copy a line without its `#`, or take the `#` away. Comments from here on are not saved.";

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None)?;
    let reads = matches!(arguments.action, None | Some(Action::Get { .. } | Action::Export { .. }));
    if let Some(remote) = dry_remote(&repository).filter(|_| !is_server(&repository)) {
        let kept = unpushed::keep(&repository, &remote)?;
        // Who changes settings reads at the end how they are pushed.
        warn(kept.filter(|_| reads || arguments.offline));
    }
    if !reads {
        super::check_owner(&repository, "config …")?;
        server_of(&repository)?;
    }
    if let Some(Action::Rebase { mine }) = arguments.action {
        return rebase::rebase(&repository, mine, json);
    }
    match (arguments.offline, reads) {
        (true, _) => {}
        (false, false) => drop(fetch(&repository)?),
        (false, true) => match fetch(&repository) {
            Ok(kept) => warn(kept),
            Err(error) => output::warn(&format!("warning: {error:#}")),
        },
    }
    let files = read(&repository)?;
    let (new, message) = match &arguments.action {
        None => return show(&repository, &files, json),
        Some(Action::Get { key }) => return get(&files, key, json),
        Some(Action::Export { directory }) => return export(&files, directory, json),
        Some(Action::Set { key, values }) => (set(&files, key, values)?, format!("set {key}")),
        Some(Action::Add { key, value }) => (add(&files, key, value)?, format!("add {value} to {key}")),
        Some(Action::Unset { key, value: None }) => (unset(&files, key)?, format!("unset {key}")),
        Some(Action::Unset { key, value: Some(value) }) => {
            (take(&files, key, value)?, format!("take {value} from {key}"))
        }
        Some(Action::Edit { file }) => (edit_file(&repository, &files, file)?, format!("edit {file}")),
        Some(Action::Import { from }) if from.is_file() => {
            (import_argocd_cm(&files, from)?, "import argocd-cm".to_owned())
        }
        Some(Action::Import { from }) => (import(from)?, "import all settings".to_owned()),
        Some(Action::Rebase { .. }) => unreachable!("it is done above"),
    };
    match &arguments.action {
        Some(Action::Import { from }) => checked_in(from, &new)?,
        _ => checked(&new)?,
    }
    vendor_directory::check(&repository, &files, &new)?;
    let message = arguments.message.clone().unwrap_or_else(|| format!("settings: {message}"));
    if !write(&repository, &new, &message)? {
        match json {
            true => output::print_json(&serde_json::json!({ "changed": false }))?,
            false => output::print("nothing changed\n")?,
        }
        return Ok(Outcome::Done);
    }
    warn_of_changes(&repository, &files, &new)?;
    apply(&repository, &way_back(&arguments.action, &files)?, json)
}

/// What brings the settings back that there were.
fn way_back(action: &Option<Action>, before: &Files) -> anyhow::Result<String> {
    let key = match action {
        Some(Action::Set { key, .. } | Action::Add { key, .. } | Action::Unset { key, .. }) => key,
        _ => return Ok("git hydrate config edit".to_owned()),
    };
    if FILES.contains(&key.as_str()) {
        return Ok(format!("git hydrate config edit {key}"));
    }
    let key_word = shell_word(key);
    let Some(value) = edit::get(&yaml(before)?, key)? else {
        return Ok(format!("git hydrate config unset {key_word}"));
    };
    let texts = match &value.data {
        Data::Text(text) => Some(vec![text.as_str()]),
        Data::List(values) => values.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let words = match texts {
        Some(texts) => texts.into_iter().map(shell_word).collect::<Vec<_>>().join(" "),
        None => shell_word(&serde_json::to_string(&value)?),
    };
    Ok(format!("git hydrate config set {key_word} {words}"))
}

/// Warns of what was set just now and does nothing.
fn warn_of_changes(repository: &Repository, before: &Files, new: &Files) -> anyhow::Result<()> {
    let (Ok(before), Ok(new)) = (Settings::read(before), Settings::read(new)) else { return Ok(()) };
    let now = wall::now();
    for (glob, until) in new.frozen.over(now).filter(|over| before.frozen.over(now).all(|known| known != *over)) {
        output::warn(&format!(
            "warning: the freeze of `{}` ended at {}, so nothing is frozen by it\nhint: set a later `until`, or none",
            printable(glob),
            printable(until)
        ));
    }
    // A server says it of all that there are, with what it hydrates.
    let Some(remote) = server_of(repository)? else { return Ok(()) };
    let refs = repository.refs()?;
    let below = format!("refs/remotes/{remote}/");
    let is_there = |branch: &BranchName| refs.get(&format!("{below}{branch}")).is_some();
    let is_fetched = refs.below(&below).next().is_some();
    for branch in new.dry_branches.iter().filter(|branch| !before.dry_branches.contains(branch) && is_fetched) {
        if !is_there(branch) {
            output::warn(&format!("warning: `{branch}` of the setting `dryBranches` does not exist at `{remote}`"));
        }
    }
    Ok(())
}

/// Refuses settings that hydration cannot work with, as one says it who does not see the file.
fn checked(files: &Files) -> anyhow::Result<()> {
    check_settings(files).map_err(|error| match error {
        HydrateError::Settings(error) => anyhow!(error.without_place()),
        error => error.into(),
    })
}

/// The same of the files of a directory.
fn checked_in(from: &Path, files: &Files) -> anyhow::Result<()> {
    check_settings(files).map_err(|error| match error {
        HydrateError::Settings(error @ (SettingsError::Wrong(_) | SettingsError::At { .. })) if from.is_dir() => {
            anyhow!("{}/{error}", from.display())
        }
        HydrateError::Settings(error) => anyhow!(error.without_place()),
        error => error.into(),
    })
}

/// Adds a URL under which Applications know the repository; answers whether it is new.
pub(super) fn add_repo_url(repository: &Repository, url: &str) -> anyhow::Result<bool> {
    let new = add(&read(repository)?, "repoURL", url)?;
    write(repository, &new, &format!("settings: add {url} to repoURL"))
}

/// Lets hydration take these branches over; answers whether any is new.
pub(super) fn adopt(repository: &Repository, branches: &[BranchName]) -> anyhow::Result<bool> {
    let mut files = read(repository)?;
    for branch in branches {
        files = add(&files, "adopt", branch.as_str())?;
    }
    let names = branches.iter().map(BranchName::as_str).collect::<Vec<_>>().join(", ");
    write(repository, &files, &format!("settings: hand {names} over to hydration"))
}

/// Whether Applications are told by which URLs they may know the repository.
pub(super) fn has_repo_url(repository: &Repository) -> anyhow::Result<bool> {
    Ok(!list(&read(repository)?, "repoURL")?.is_empty())
}

/// Brings the settings of a clone up to date, and answers what to tell of those that are not pushed yet. Never by force:
/// they stay.
fn fetch(repository: &Repository) -> anyhow::Result<Option<String>> {
    let Some(remote) = server_of(repository)? else { return Ok(None) };
    let unpushed = repository.refs()?.get(UNPUSHED_REF);
    // What this clone remembers comes back afterwards. A glob, since a fetch fails that names a ref which the remote does
    // not have.
    let force = if unpushed.is_some() { "+" } else { "" };
    let refspec = format!("{force}{SETTINGS_REF}*:{SETTINGS_REF}*");
    let doing = || format!("fetching the settings from `{remote}`; to use the last fetched ones: --offline");
    repository.git().output(&[&FETCH[..], &["--", &remote, &refspec]].concat()).with_context(doing)?;
    let there = repository.refs()?.get(SETTINGS_REF);
    let kept = unpushed::keep(repository, &remote)?;
    if let (Some(ours), Some(there)) = (unpushed, there)
        && !repository.is_ancestor(there, ours)
        && !repository.is_ancestor(ours, there)
    {
        let hint = "to put those of this clone on top: git hydrate config rebase";
        bail!("the settings were changed in this clone and on the server\nhint: {hint}");
    }
    Ok(kept)
}

fn warn(text: Option<String>) {
    text.into_iter().for_each(|text| output::warn(&text));
}

/// The remote that a clone gets its settings from; none on a server.
pub(super) fn server_of(repository: &Repository) -> anyhow::Result<Option<String>> {
    if is_server(repository) { Ok(None) } else { remote_of(repository, "") }
}

/// Makes new settings count: on a server by hydrating anew, in a clone by telling how.
///
/// `way_back` is the command that brings the earlier ones back.
fn apply(repository: &Repository, way_back: &str, json: bool) -> anyhow::Result<Outcome> {
    if let Some(remote) = server_of(repository)? {
        let push = format!("git push {} {SETTINGS_REF}", shell_word(&remote));
        match json {
            true => output::print_json(&serde_json::json!({ "changed": true, "next": push }))?,
            false => output::print(format!("to apply them on the server: {push}\n"))?,
        }
        return Ok(Outcome::Done);
    }
    let report = match catch_up::all(repository) {
        Ok(report) => report,
        Err(error) => {
            output::complain(&format!(
                "the settings are saved, but hydration fails with them: {error:#}\nhint: to go back: {way_back}"
            ));
            return Ok(Outcome::Found);
        }
    };
    if json {
        output::print_json(&serde_json::json!({ "changed": true, "report": report }))?;
    } else {
        output::print(summary(&report, Wording::Terminal) + &saved(&report, way_back))?;
    }
    Ok(if report.is_success() { Outcome::Done } else { Outcome::Found })
}

/// Which branches settings stop that are saved all the same.
fn saved(report: &Report, way_back: &str) -> String {
    let is_failed = |outcome: &Hydrated| matches!(outcome, Hydrated::Failed { unnamed: false, .. });
    let failed = report.branches.iter().filter(|branch| is_failed(&branch.outcome));
    let names: Vec<String> = failed.map(|branch| printable(&branch.branch)).collect();
    let what = match &names[..] {
        [] => return String::new(),
        [name] => format!("{name} stays as it is"),
        names => format!("{} branches stay as they are: {}", names.len(), names.join(", ")),
    };
    format!("the settings are saved, and with them {what}\nhint: to go back: {way_back}\n")
}

fn show(repository: &Repository, files: &Files, json: bool) -> anyhow::Result<Outcome> {
    let commit = repository.refs()?.get(SETTINGS_REF);
    if json {
        let files: BTreeMap<_, _> = files.iter().map(|(name, text)| (name, String::from_utf8_lossy(text))).collect();
        let commit = commit.map(|commit| commit.to_string());
        output::print_json(&serde_json::json!({"commit": commit, "files": files}))?;
    } else if files.is_empty() && commit.is_none() && server_of(repository)?.is_some() {
        output::print("no settings were fetched: those of the server are not known here, if it has any\n")?;
    } else if files.is_empty() {
        output::print("no settings: the defaults apply; to see them: git hydrate config edit\n")?;
    } else {
        output::print_content(files.get(SETTINGS_FILE).map_or(&[][..], Vec::as_slice))?;
        for name in files.keys().filter(|name| *name != SETTINGS_FILE) {
            output::print(format!("# {name} is set too; to show it: git hydrate config get {name}\n"))?;
        }
    }
    Ok(Outcome::Done)
}

fn get(files: &Files, key: &str, json: bool) -> anyhow::Result<Outcome> {
    if let Some(content) = files.get(key) {
        match json {
            true => output::print_json(&serde_json::json!({"key": key, "value": String::from_utf8_lossy(content)}))?,
            false => output::print_content(content)?,
        }
        return Ok(Outcome::Done);
    }
    let value = edit::get(&yaml(files)?, key)?;
    if let Some(unknown) = unknown_key(key).filter(|_| value.is_none() && !FILES.contains(&key)) {
        bail!(WrongUse(unknown));
    }
    if json {
        let outcome = if value.is_some() { Outcome::Done } else { Outcome::Found };
        output::print_json(&serde_json::json!({ "key": key, "value": value }))?;
        return Ok(outcome);
    }
    let Some(value) = value else { return Ok(Outcome::Found) };
    for value in value.as_list().unwrap_or(std::slice::from_ref(&value)) {
        output::print(value.to_yaml())?;
    }
    Ok(Outcome::Done)
}

fn export(files: &Files, directory: &Path, json: bool) -> anyhow::Result<Outcome> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    for (name, content) in files {
        let path = directory.join(name);
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
    }
    if json {
        output::print_json_list("written", &files.keys().collect::<Vec<_>>())?;
    }
    Ok(Outcome::Done)
}

/// The settings in a directory.
pub(super) fn import(directory: &Path) -> anyhow::Result<Files> {
    let reading = || format!("reading {}", directory.display());
    let mut files = Files::new();
    for entry in fs::read_dir(directory).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let content = regular::read_linked(&entry.path(), FILE_BYTES_MAX)
            .with_context(|| format!("reading {}", entry.path().display()))?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), content);
    }
    Ok(files)
}

fn import_argocd_cm(files: &Files, path: &Path) -> anyhow::Result<Files> {
    let reading = || format!("reading {}", path.display());
    let content = regular::read_linked(path, FILE_BYTES_MAX).with_context(reading)?;
    let text = String::from_utf8(content).with_context(reading)?;
    Ok(argocd_cm::import(files, &text)?)
}

/// Sets a key to what the words may mean there: a list where a word is one in YAML, else a text, a list of texts, or YAML,
/// whichever is allowed first.
fn set(files: &Files, key: &str, words: &[String]) -> anyhow::Result<Files> {
    key_of_yaml(key)?;
    let list = Value::from(words.to_vec());
    let meanings = match words {
        [word] => {
            let yaml = reader::read(word).unwrap_or_else(|_| word.as_str().into());
            // No URL and no branch is written like a list.
            if yaml.as_list().is_some() { vec![yaml] } else { vec![word.as_str().into(), list, yaml] }
        }
        _ => vec![list],
    };
    let mut refused = None;
    for meaning in meanings {
        let new = with_key(files, key, Some(meaning))?;
        match checked(&new) {
            Ok(()) => return Ok(new),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.expect("there is at least one meaning"))
}

fn add(files: &Files, key: &str, value: &str) -> anyhow::Result<Files> {
    let mut list = list(files, key)?;
    if list.iter().any(|there| there.as_str() == Some(value)) {
        return Ok(files.clone());
    }
    list.push(value.into());
    with_key(files, key, Some(list.into()))
}

fn take(files: &Files, key: &str, value: &str) -> anyhow::Result<Files> {
    let mut list = list(files, key)?;
    let before = list.len();
    list.retain(|there| there.as_str() != Some(value));
    if list.len() == before {
        bail!("`{value}` is not in `{key}`");
    }
    with_key(files, key, (!list.is_empty()).then(|| list.into()))
}

fn unset(files: &Files, key: &str) -> anyhow::Result<Files> {
    let mut new = files.clone();
    if new.remove(key).is_some() {
        return Ok(new);
    }
    if edit::get(&yaml(files)?, key)?.is_none() {
        match unknown_key(key) {
            Some(unknown) => bail!(WrongUse(unknown)),
            None => bail!("`{key}` is not set"),
        }
    }
    with_key(files, key, None)
}

/// The values of a key that holds a list; one value stands for a list of one.
fn list(files: &Files, key: &str) -> anyhow::Result<Vec<Value>> {
    key_of_yaml(key)?;
    Ok(match edit::get(&yaml(files)?, key)? {
        None => Vec::new(),
        Some(value) => value.as_list().map_or_else(|| vec![value.clone()], <[Value]>::to_vec),
    })
}

fn with_key(files: &Files, key: &str, value: Option<Value>) -> anyhow::Result<Files> {
    let mut new = files.clone();
    let text = edit::set(&yaml(files)?, key, value).map_err(|error| anyhow!(error.without_place()))?;
    new.insert(SETTINGS_FILE.to_owned(), text.into_bytes());
    Ok(new)
}

fn key_of_yaml(key: &str) -> anyhow::Result<()> {
    if FILES.contains(&key) {
        bail!(WrongUse(format!("{key} is a file: git hydrate config edit {key}")));
    }
    Ok(())
}

fn yaml(files: &Files) -> anyhow::Result<String> {
    let content = files.get(SETTINGS_FILE).cloned().unwrap_or_default();
    String::from_utf8(content).context("settings.yaml is not UTF-8")
}

/// Has the user's editor change one file. What cannot be used is kept for the next try.
fn edit_file(repository: &Repository, files: &Files, name: &str) -> anyhow::Result<Files> {
    let new = match name {
        SETTINGS_FILE => NEW_SETTINGS,
        README_TEMPLATE => PROPOSAL_README,
        README_GO_TEMPLATE => GO_README,
        COMMIT_MESSAGE_TEMPLATE => DEFAULT_COMMIT_MESSAGE,
        COMMIT_MESSAGE_GO_TEMPLATE => DEFAULT_GO_COMMIT_MESSAGE,
        _ => bail!(WrongUse(format!("`{name}` is not a settings file; the settings files are: {}", FILES.join(", ")))),
    };
    // Every key, whatever is set: below what is, and gone again unless it was used.
    let help = format!("\n{NOT_SET}\n{NEW_SETTINGS}");
    let before = match files.get(name) {
        text if name == SETTINGS_FILE => [text.map_or(&[][..], Vec::as_slice), help.as_bytes()].concat(),
        Some(text) => text.clone(),
        None => new.as_bytes().to_vec(),
    };
    let temp_dir = std::env::temp_dir();
    let directory = regular::scratch_dir("edit", &[&temp_dir, repository.common_dir()])?;
    let path = directory.path().join(name);
    fs::write(&path, &before).with_context(|| format!("writing {}", path.display()))?;
    let editor = repository.git().output(&["var", "GIT_EDITOR"])?;
    let editor = String::from_utf8_lossy(&editor).trim_end().to_owned();
    // As git runs it: the editor may have arguments of its own.
    let status = Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(&path).status();
    if !status.with_context(|| format!("starting {editor}"))?.success() {
        bail!("the editor failed: {editor}");
    }
    let after = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut edited = files.clone();
    if after == before {
        return Ok(edited);
    }
    edited.insert(name.to_owned(), after.clone());
    // With the help, so that lines are those of the file that is kept.
    if let Err(error) = check_settings(&edited) {
        let error = match error {
            HydrateError::Settings(error) => anyhow!(error),
            error => error.into(),
        };
        let kept = directory.keep().join(name);
        return Err(error.context(format!("not saved; the edited file is {}", kept.display())));
    }
    edited.insert(name.to_owned(), if name == SETTINGS_FILE { without_help(after) } else { after });
    Ok(edited)
}

/// What of an edited `settings.yaml` is the user's: all but the help that still is below [`NOT_SET`].
fn without_help(edited: Vec<u8>) -> Vec<u8> {
    let Ok(text) = String::from_utf8(edited.clone()) else { return edited };
    let Some((own, rest)) = text.split_once(&format!("\n{NOT_SET}\n")) else { return edited };
    let is_help = |line: &&str| line.is_empty() || NEW_SETTINGS.lines().any(|help| help == *line);
    let mut own = own.to_owned();
    for line in rest.lines().filter(|line| !is_help(line)) {
        if !own.is_empty() && !own.ends_with('\n') {
            own.push('\n');
        }
        own += line;
        own.push('\n');
    }
    own.into_bytes()
}

fn read(repository: &Repository) -> anyhow::Result<Files> {
    let buffer = ObjectBuffer::new(repository);
    Ok(settings_files(&repository.refs()?, &buffer)?.1)
}

/// Commits the settings, when they are right and differ from those there are; answers whether they do.
pub(super) fn write(repository: &Repository, files: &Files, message: &str) -> anyhow::Result<bool> {
    check_settings(files)?;
    let buffer = ObjectBuffer::new(repository);
    let old = repository.refs()?.get(SETTINGS_REF);
    let tree = tree_of(&buffer, files)?;
    let unchanged = old.map(|old| buffer.commit(old)).transpose()?.map_or(buffer.empty_tree_id(), |commit| commit.tree);
    if tree == unchanged {
        return Ok(false);
    }
    let commit = NewCommit {
        tree,
        parents: old.into_iter().collect(),
        author: identity(repository, "GIT_AUTHOR_IDENT")?,
        committer: identity(repository, "GIT_COMMITTER_IDENT")?,
        message: format!("{}\n", message.trim_end()),
    };
    let new = buffer.write_commit(&commit)?;
    let _kept = buffer.flush()?;
    move_ref(repository, new, old, message)?;
    if server_of(repository)?.is_some() {
        let known = repository.refs()?.get(UNPUSHED_REF);
        let edit = RefEdit { name: UNPUSHED_REF.to_owned(), new: Some(new), expected: Expected::from(known) };
        update_refs(repository, &[edit], message.lines().next().unwrap_or_default())?;
    }
    Ok(true)
}

fn tree_of(buffer: &ObjectBuffer<'_>, files: &Files) -> anyhow::Result<ObjectId> {
    let mut edits = BTreeMap::new();
    for (name, content) in files.iter().filter(|(_, content)| !content.is_empty()) {
        edits.insert(name.clone(), TreeEdit::Put(Mode::File, buffer.write_blob(content)?));
    }
    Ok(buffer.edit_tree(buffer.empty_tree_id(), &edits)?)
}

fn move_ref(repository: &Repository, new: ObjectId, old: Option<ObjectId>, message: &str) -> anyhow::Result<()> {
    let edit = RefEdit { name: SETTINGS_REF.to_owned(), new: Some(new), expected: Expected::from(old) };
    let subject = message.lines().next().unwrap_or_default();
    match update_refs(repository, &[edit], subject) {
        Err(TransactionError::Raced(_)) => {
            bail!("the settings were changed meanwhile: review them and try again")
        }
        result => Ok(result?),
    }
}

/// Who git says the user is.
fn identity(repository: &Repository, variable: &str) -> anyhow::Result<Signature> {
    let git = repository.git();
    let answer = match git.output(&["var", variable]) {
        // The account of a server often has no name of its own.
        Err(_) if server_of(repository)?.is_none() => {
            git.output(&["-c", "user.name=git-hydrate", "-c", "user.email=git-hydrate@localhost", "var", variable])
        }
        answer => answer,
    }
    .context("who you are is unknown; to say it: git config user.name NAME; git config user.email ADDRESS")?;
    let answer = String::from_utf8_lossy(&answer).trim_end().to_owned();
    signature(&answer).with_context(|| format!("git var {variable}: {answer}"))
}

/// Reads `Name <email> seconds +hhmm`.
fn signature(text: &str) -> Option<Signature> {
    let (name, rest) = text.split_once(" <")?;
    let (email, time) = rest.rsplit_once("> ")?;
    let (seconds, zone) = time.split_once(' ')?;
    let zone: i32 = zone.parse().ok()?;
    let offset = (zone / 100 * 60 + zone % 100) * 60;
    Some(Signature { name: name.to_owned(), email: email.to_owned(), seconds: seconds.parse().ok()?, offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn identities_are_read_as_git_prints_them() {
        for text in ["Some Body <some@example.com> 1700000000 -0330", "A <B> <a@example.com> 0 +0000"] {
            assert_eq!(signature(text).expect(text).to_string(), text);
        }
        assert_eq!(signature("nobody"), None);
    }

    #[test]
    fn of_an_edited_file_what_the_user_wrote_is_kept() {
        let help = format!("\n{NOT_SET}\n{NEW_SETTINGS}");
        let rows = [
            ("profile: argocd\n".to_owned() + &help, "profile: argocd\n"),
            (help.clone(), ""),
            (help.replace("#history: every", "history: tip"), "history: tip\n"),
            ("a: 1\n".to_owned() + &help + "# mine\nb:\n- 2\n", "a: 1\n# mine\nb:\n- 2\n"),
            ("a: 1\n".to_owned(), "a: 1\n"),
        ];
        for (edited, expected) in rows {
            assert_eq!(without_help(edited.clone().into_bytes()), expected.as_bytes(), "{edited}");
        }
    }

    #[test]
    fn the_reference_lists_every_key() {
        let reference = include_str!("../../.github/REFERENCE.md");
        let keys = NEW_SETTINGS.lines().filter_map(|line| line.strip_prefix('#')?.split_once(": ").map(|(key, _)| key));
        for key in keys.filter(|key| key.chars().all(char::is_alphanumeric)) {
            assert!(reference.contains(&format!("\n| `{key}` | ")), "{key}");
        }
    }

    #[test]
    fn new_settings_name_every_key_and_change_nothing() {
        let read = |text: &str| Settings::read(&Files::from([(SETTINGS_FILE.to_owned(), text.as_bytes().to_vec())]));
        assert_eq!(read(NEW_SETTINGS), Ok(Settings::default()));
        let text = NEW_SETTINGS.replace("\n#", "\n");
        let set: Vec<_> = text.lines().filter(|line| !line.starts_with([' ', '#'])).collect();
        read(&set.join("\n")).expect("good settings");
        let names: Vec<_> = set.iter().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
        assert_eq!(names, crate::settings::keys().collect::<Vec<_>>());
    }
}
