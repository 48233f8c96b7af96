//! `git hydrate config`: shows and changes the settings in `refs/hydrate/config`.
//!
//! Every change is a commit by its author, and is checked before it is made: down to the templates, as hydration
//! itself would read it. On a server it takes effect at once, in a clone with a push.

mod apply;
mod change;
mod editor;
mod rebase;
mod record;
mod seeds;
mod vendor_directory;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use dry_files::regular;

use super::clone::{FETCH, is_server, remote_of};
use super::status::cures::to_thaw;
use super::unpushed;
use super::{Outcome, WrongUse, in_the_way, output, settings_folder};
use crate::argo::BranchName;
use crate::metadata::{NOTES_REF, Trailers};
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::error::HydrateError;
use crate::owners::heads::dry_remote;
use crate::owners::policy::check_settings;
use crate::preview::RandomValues;
use crate::render::process::wall;
use crate::repo::{ObjectBuffer, Repository};
use crate::settings::{
    Data, FILE_BYTES_MAX, FILES, SECRET_FILES, SETTINGS_FILE, SETTINGS_REF, Settings, SettingsError,
    SettingsFiles as Files, UNPUSHED_REF, Value, argocd_cm, edit, tools, unknown_key,
};
use apply::{Before, apply};
use change::{add, list, set, take, unset, yaml};
use dry_files::diag::{printable, shell_word};
use editor::edit_file;
use record::{read, read_to_correct};

pub(super) use record::{identity, write};

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
    /// Set a key; several values make a list. `set seeds new` makes the seed that random functions draw from, and `set seeds
    /// rotate` another one; both show what changes, and never the seed.
    Set {
        /// A key such as `profile` or `tools.helm`; or `seeds`.
        key: String,
        /// The value.
        #[arg(required = true)]
        values: Vec<String>,
        /// With `seeds`: only for Applications whose name, NAMESPACE/NAME or NAMESPACE/NAME/BRANCH matches; others keep what they
        /// draw from.
        #[arg(long, value_name = "GLOB")]
        application: Option<String>,
        /// With `seeds`: write it into this folder of settings, such as that of a worker, and leave the repository's alone.
        #[arg(long, value_name = "DIRECTORY")]
        settings: Option<PathBuf>,
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
    /// Write the settings files into a directory, but for the seed.
    Export {
        /// The directory.
        directory: PathBuf,
        /// The seed too, in files that no other user may read.
        #[arg(long)]
        with_seed: bool,
    },
    /// Replace all settings with those of a directory, but for the seed if the directory has none; or import what Argo CD's ConfigMap `argocd-cm` sets for its
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
    let files = read_to_correct(&repository)?;
    let mut drawn = None;
    if let Some(Action::Set { key, values, application, settings }) = &arguments.action {
        if key != seeds::KEY && (application.is_some() || settings.is_some()) {
            bail!(WrongUse(format!("--application and --settings are for: git hydrate config set {} …", seeds::KEY)));
        }
        if let Some(directory) = settings {
            let known = seeds::drawn(&repository, arguments.offline)?;
            return set_seeds_in(directory, values, application.as_deref(), known, json);
        }
        if key == seeds::KEY {
            drawn = Some(seeds::drawn(&repository, arguments.offline)?);
        }
    }
    let known = drawn.as_deref().unwrap_or_default();
    let (new, message) = match &arguments.action {
        None => return show(&repository, &files, json),
        Some(Action::Get { key }) => return get(&files, key, json),
        Some(Action::Export { directory, with_seed }) => return export(&files, directory, *with_seed, json),
        Some(Action::Set { key, values, application, .. }) if key == seeds::KEY => {
            (seeds::set(&files, values, application.as_deref(), known)?, format!("set {key} {}", values.join(" ")))
        }
        Some(Action::Set { key, values, .. }) if are_words_of_tools(key, values) => (
            tools::with_words(&files, values).map_err(|error| anyhow!(error.without_place()))?,
            format!("set {key} {}", values.join(" ")),
        ),
        Some(Action::Set { key, values, .. }) => (set(&files, key, values)?, format!("set {key}")),
        Some(Action::Add { key, value }) => (add(&files, key, value)?, format!("add {value} to {key}")),
        Some(Action::Unset { key, value: None }) => (unset(&files, key)?, format!("unset {key}")),
        Some(Action::Unset { key, value: Some(value) }) => {
            (take(&files, key, value)?, format!("take {value} from {key}"))
        }
        Some(Action::Edit { file }) => (edit_file(&repository, &files, file)?, format!("edit {file}")),
        Some(Action::Import { from }) if from.is_file() => {
            (import_argocd_cm(&files, from)?, "import argocd-cm".to_owned())
        }
        Some(Action::Import { from }) => {
            (seeds::kept(&files, settings_folder::read(from)?), "import all settings".to_owned())
        }
        Some(Action::Rebase { .. }) => unreachable!("it is done above"),
    };
    let new = match &arguments.action {
        Some(Action::Import { from }) => {
            checked_in(from, &new)?;
            new
        }
        _ => {
            checked(&new)?;
            tools::resolved(&files, new).map_err(|error| anyhow!(error.without_place()))?
        }
    };
    vendor_directory::check(&repository, &files, &new)?;
    let changes = match (seeds::of(&files), seeds::of(&new)) {
        (before, now) if before != now => {
            let drawn = drawn.map_or_else(|| seeds::drawn(&repository, arguments.offline), Ok)?;
            let changes = seeds::changes(drawn, &before, &now);
            if !json {
                output::print(seeds::text(&changes))?;
            }
            Some(changes)
        }
        _ => None,
    };
    // By settings that cannot be used, nothing was drawn that is known.
    let is_import = matches!(arguments.action, Some(Action::Import { .. })) && Settings::read(&files).is_ok();
    if is_import && !seeds::of(&new).is_set() {
        seeds::warn_without(&new, &seeds::drawn(&repository, arguments.offline)?);
    }
    seeds::tell_of_allowed(&files, &new);
    let way_back = way_back(&repository, &arguments.action, &files)?;
    let message = arguments.message.clone().unwrap_or_else(|| format!("settings: {message}"));
    let before = Before::read(&repository)?;
    if !write(&repository, &new, &message)? {
        match json {
            true => output::print_json(&serde_json::json!({ "changed": false }))?,
            false => output::print("nothing changed\n")?,
        }
        return Ok(Outcome::Done);
    }
    warn_of_changes(&repository, &files, &new)?;
    apply(&repository, before.as_ref(), &way_back, changes.as_ref(), json)
}

/// Gives a folder of settings that is not the repository's another seed.
fn set_seeds_in(
    directory: &Path,
    words: &[String],
    chosen: Option<&str>,
    drawn: Vec<RandomValues>,
    json: bool,
) -> anyhow::Result<Outcome> {
    let (before, new) = seeds::set_in(directory, words, chosen, &drawn)?;
    let changes = seeds::changes(drawn, &seeds::of(&before), &seeds::of(&new));
    match json {
        true => output::print_json(&serde_json::json!({ "changed": true, "randomValues": changes }))?,
        false => output::print(format!("{}written to {}\n", seeds::text(&changes), directory.display()))?,
    }
    Ok(Outcome::Done)
}

/// What brings the settings back that there were.
fn way_back(repository: &Repository, action: &Option<Action>, before: &Files) -> anyhow::Result<String> {
    let key = match action {
        Some(Action::Set { key, .. }) if key == seeds::KEY => {
            return Ok(match repository.refs()?.get(SETTINGS_REF) {
                Some(old) => format!("git update-ref {SETTINGS_REF} {old}"),
                None => format!("git update-ref -d {SETTINGS_REF}"),
            });
        }
        Some(Action::Set { key, .. } | Action::Add { key, .. } | Action::Unset { key, .. }) => key,
        _ => return Ok("git hydrate config edit".to_owned()),
    };
    // What was there could not be used.
    if Settings::read(before).is_err() {
        return Ok("git hydrate config edit".to_owned());
    }
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
    for (glob, until) in new.frozen.new_since(&before.frozen, now) {
        let (glob, thaw) = (printable(glob), to_thaw(glob));
        output::warn(&match until.map(printable) {
            Some(end) => format!("note: the freeze of `{glob}` ends by itself at {end}; to end it before: {thaw}"),
            None => format!("note: the freeze of `{glob}` lasts until: {thaw}"),
        });
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
    match check_settings(files) {
        Err(HydrateError::Settings(error)) => Err(anyhow!(error.without_place())),
        result => Ok(result?),
    }
}

/// Refuses the settings of a directory that hydration cannot work with.
fn checked_in(from: &Path, files: &Files) -> anyhow::Result<()> {
    match check_settings(files) {
        Err(HydrateError::Settings(error @ (SettingsError::Wrong(_) | SettingsError::At { .. }))) if from.is_dir() => {
            Err(anyhow!("{}/{error}", from.display()))
        }
        Err(HydrateError::Settings(error)) => Err(anyhow!(error.without_place())),
        result => Ok(result?),
    }
}

/// Whether the values of a key are words such as `argocd=3.4`.
fn are_words_of_tools(key: &str, values: &[String]) -> bool {
    key == "tools" && values.iter().all(|value| value.contains('=') && !value.contains(['{', '\n']))
}

/// Sets the newest tools in a repository that is new: no settings are there, and nothing was hydrated. Answers whether it is.
pub(super) fn set_newest_tools(repository: &Repository) -> anyhow::Result<bool> {
    let refs = repository.refs()?;
    let buffer = ObjectBuffer::new(repository);
    // A copy of another repository may have its branches alone.
    let is_hydrated = |tip| buffer.commit(tip).is_ok_and(|commit| Trailers::read(&commit.message).is_some());
    if [SETTINGS_REF, RECORDS_REF, NOTES_REF].iter().any(|name| refs.get(name).is_some())
        || refs.below("refs/heads/").any(|(_, tip)| is_hydrated(tip))
    {
        return Ok(false);
    }
    write(repository, &tools::newest()?, "settings: the newest tools")
}

/// Makes a seed where there is none.
pub(super) fn add_seed(files: &mut Files) -> anyhow::Result<()> {
    seeds::add(files)
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

/// Whether Applications are given the URLs by which they may know the repository.
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
    let warning = in_the_way::fetch(repository, &remote, (&FETCH, &[&refspec])).with_context(doing)?;
    warning.iter().for_each(output::warn);
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

fn show(repository: &Repository, files: &Files, json: bool) -> anyhow::Result<Outcome> {
    let commit = repository.refs()?.get(SETTINGS_REF);
    if json {
        let shown = files.iter().filter(|(name, _)| FILES.contains(&name.as_str()));
        let shown: BTreeMap<_, _> = shown.map(|(name, text)| (name, String::from_utf8_lossy(text))).collect();
        let commit = commit.map(|commit| commit.to_string());
        let has_seed = seeds::of(files).is_set();
        output::print_json(&serde_json::json!({"commit": commit, "files": shown, "hasSeed": has_seed}))?;
    } else if files.is_empty() && commit.is_none() && server_of(repository)?.is_some() {
        output::print("no settings were fetched: those of the server are not known here, if it has any\n")?;
    } else if files.is_empty() {
        output::print("no settings: the defaults apply; to see them: git hydrate config edit\n")?;
    } else {
        output::print_content(files.get(SETTINGS_FILE).map_or(&[][..], Vec::as_slice))?;
        for name in files.keys().filter(|name| *name != SETTINGS_FILE && FILES.contains(&name.as_str())) {
            output::print(format!("# {name} is set too; to show it: git hydrate config get {name}\n"))?;
        }
        for line in seeds::shown(files)?.lines() {
            output::print(format!("# {line}\n"))?;
        }
    }
    Ok(Outcome::Done)
}

fn get(files: &Files, key: &str, json: bool) -> anyhow::Result<Outcome> {
    if SECRET_FILES.contains(&key) || key == seeds::KEY {
        let text = seeds::shown(files)?;
        let outcome = if text.is_empty() { Outcome::Found } else { Outcome::Done };
        match json {
            true => output::print_json(&serde_json::json!({ "key": key, "isSet": !text.is_empty() }))?,
            false => output::print(text)?,
        }
        return Ok(outcome);
    }
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

fn export(files: &Files, directory: &Path, with_seed: bool, json: bool) -> anyhow::Result<Outcome> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let mut written = Vec::new();
    for (name, content) in files {
        let path = directory.join(name);
        match FILES.contains(&name.as_str()) {
            true => fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?,
            false if with_seed => seeds::write_secret(&path, content)?,
            false => continue,
        }
        written.push(name);
    }
    if json {
        output::print_json_list("written", &written)?;
    } else if written.len() < files.len() {
        output::print("the seed stays here: --with-seed writes it too\n")?;
    }
    Ok(Outcome::Done)
}

fn import_argocd_cm(files: &Files, path: &Path) -> anyhow::Result<Files> {
    let reading = || format!("reading {}", path.display());
    let content = regular::read_linked(path, FILE_BYTES_MAX).with_context(reading)?;
    let text = String::from_utf8(content).with_context(reading)?;
    Ok(argocd_cm::import(files, &text)?)
}
