//! `git hydrate config set seeds`: makes the seed that random functions draw from, and says whose values change by that.
//!
//! No seed is printed, by this or any other command.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::super::clone::{self, Clone};
use super::super::entropy::entropy;
use super::super::{WrongUse, output};
use super::{checked, server_of};
use crate::argo::{Patterns, SeedIdentity};
use crate::owners::place::Place;
use crate::owners::setup::{Setup, Wake};
use crate::preview::{RandomValues, random_values};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::Repository;
use crate::settings::{HOLD_FILE, SECRET_FILES, SEED_FILE, Seeds, Settings, SettingsFiles as Files};
use dry_files::diag::more::listed;
use dry_files::diag::printable;
use go_template::SecretSeed;

/// The key of the settings that is not a line of `settings.yaml`.
pub(super) const KEY: &str = "seeds";

/// How many objects a warning names.
const NAMED_MAX: usize = 20;

/// What becomes of the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Applications that draw without one draw from it; it is made if there is none.
    New,
    /// They draw from another one.
    Rotate,
}

/// Whose random values change, by branch.
pub(super) type Changes = Vec<RandomValues>;

/// Makes a seed where there is none.
pub(super) fn add(files: &mut Files) -> anyhow::Result<()> {
    let seeds = Settings::read(files).map(|settings| settings.seeds)?;
    if !seeds.is_set() {
        seeds.with(SecretSeed::new(entropy()?), std::iter::empty(), |_| true).write(files);
    }
    Ok(())
}

/// The settings with another seed for the Applications that `chosen` names, or all; `drawn` are those with random values.
pub(super) fn set(
    files: &Files,
    words: &[String],
    chosen: Option<&str>,
    drawn: &[RandomValues],
) -> anyhow::Result<Files> {
    let change = match words {
        [word] if word == "new" => Change::New,
        [word] if word == "rotate" => Change::Rotate,
        _ => bail!(WrongUse("git hydrate config set seeds new, or rotate; a seed is never given or shown".to_owned())),
    };
    let glob = chosen.map(|glob| Patterns::new([glob])).transpose()?;
    let is_chosen = |identity: &SeedIdentity| glob.as_ref().is_none_or(|glob| names(glob, identity));
    if let Some(glob) = chosen
        && !drawn.iter().any(|values| is_chosen(&values.identity))
    {
        bail!("no Application with random values matches `{}`", printable(glob));
    }
    let seeds = Settings::read(files).map(|settings| settings.seeds)?;
    let others = drawn.iter().map(|values| &values.identity).filter(|identity| !is_chosen(identity));
    let new = match (change, seeds.is_set()) {
        (Change::New, true) => seeds.without_public(is_chosen),
        (Change::New, false) | (Change::Rotate, true) => seeds.with(SecretSeed::new(entropy()?), others, is_chosen),
        (Change::Rotate, false) => bail!("there is no seed yet\nhint: to make one: git hydrate config set seeds new"),
    };
    if new == seeds {
        bail!(
            "there is a seed, and what it is asked for draws from it\n\
             hint: to draw from another one: git hydrate config set seeds rotate"
        );
    }
    let mut files = files.clone();
    new.write(&mut files);
    Ok(files)
}

/// Whether a glob names an Application: by its name, with its namespace, or with its branch too, or by all that it draws for.
fn names(glob: &Patterns, identity: &SeedIdentity) -> bool {
    let application = identity.application();
    let name = application.rsplit_once('/').map_or(application, |(_, name)| name);
    [name, application, identity.plain(), identity.as_str()].into_iter().any(|text| glob.matches(text))
}

/// The Applications of the repository with random values.
pub(super) fn drawn(repository: &Repository, is_offline: bool) -> anyhow::Result<Vec<RandomValues>> {
    let renderers = Renderers::from_config(repository, &super::super::machine()?)?;
    let place = match server_of(repository)? {
        Some(remote) if is_offline => Clone::offline(&clone::Arguments::of_remote(remote))?.place,
        Some(remote) => Clone::open(&clone::Arguments::of_remote(remote))?.place,
        None => Place::server(),
    };
    Ok(random_values(&Setup::new(repository, place, Wake::Everything, &renderers, wall::now()))?)
}

/// Whose values differ between two folders of settings.
pub(super) fn changes(drawn: Vec<RandomValues>, before: &Seeds, now: &Seeds) -> Changes {
    drawn.into_iter().filter(|values| !before.are_same_for(now, &values.identity)).collect()
}

/// The changes, a line for each object.
pub(super) fn text(changes: &Changes) -> String {
    if changes.is_empty() {
        return "nothing that is on a branch has random values that change\n".to_owned();
    }
    let mut text = "new random values in:\n".to_owned();
    for RandomValues { branch, application, objects, .. } in changes {
        for object in objects {
            let (object, application, branch) = (printable(object), printable(application), printable(branch));
            text.push_str(&format!("  {object} of {application} on {branch}\n"));
        }
    }
    text
}

/// The seed of a folder of settings; none that can be read where it cannot.
pub(super) fn of(files: &Files) -> Seeds {
    Seeds::read(files).unwrap_or_default()
}

/// What is said of the seed in place of showing it.
pub(super) fn shown(files: &Files) -> anyhow::Result<String> {
    let seeds = Seeds::read(files)?;
    let public: Vec<String> = seeds.kept_public().map(|identity| format!("  {identity} draws without it\n")).collect();
    Ok(match seeds.is_set() {
        true => format!("a seed is set, and never shown\n{}", public.concat()),
        false => String::new(),
    })
}

/// The files of `new`, with the seed and the holds that there are where they have none.
pub(super) fn kept(files: &Files, mut new: Files) -> Files {
    if !new.contains_key(HOLD_FILE) {
        new.extend(files.get_key_value(HOLD_FILE).map(|(name, content)| (name.clone(), content.clone())));
    }
    if !new.contains_key(SEED_FILE) {
        let own = SECRET_FILES.iter().filter_map(|name| files.get_key_value(*name));
        new.extend(own.map(|(name, content)| (name.clone(), content.clone())));
    }
    new
}

/// Warns of settings that came without their seed, and names what is computed without it.
pub(super) fn warn_without(new: &Files, drawn: &[RandomValues]) {
    let objects = drawn.iter().flat_map(|values| values.objects.iter().map(|object| (object, &values.branch)));
    let objects: Vec<String> = objects.map(|(object, branch)| format!("{object} ({branch})")).collect();
    let asks = Settings::read(new).is_ok_and(|settings| !settings.nondeterministic.is_empty());
    if !asks || of(new).is_set() {
        return;
    }
    let what = match &objects[..] {
        [] => "no new Application may have random values".to_owned(),
        objects => format!("these change if they were made from one: {}", printable(&listed(objects, NAMED_MAX))),
    };
    output::warn(&format!(
        "warning: the settings come without a seed: {what}\nhint: to bring it along: git hydrate config export --with-seed \
         DIRECTORY; to make one: git hydrate config set seeds new"
    ));
}

/// Says what comes with functions that are allowed just now: a seed is needed, and what they give is in git.
pub(super) fn tell_of_allowed(before: &Files, new: &Files) {
    let (Ok(before), Ok(new)) = (Settings::read(before), Settings::read(new)) else { return };
    if new.nondeterministic.iter().all(|function| before.nondeterministic.contains(function)) {
        return;
    }
    output::warn(&"note: what these functions give is in the manifests, so in git, in plain text: also passwords");
    if !new.seeds.is_set() {
        output::warn(
            &"warning: no seed is set, and an Application with random values is refused without one\nhint: git hydrate config \
             set seeds new",
        );
    }
}

/// Gives the folder of settings in a directory another seed; the caller commits it.
pub(super) fn set_in(
    directory: &Path,
    words: &[String],
    chosen: Option<&str>,
    drawn: &[RandomValues],
) -> anyhow::Result<(Files, Files)> {
    let files = super::settings_folder::read(directory)?;
    let new = set(&files, words, chosen, drawn)?;
    checked(&new)?;
    for name in SECRET_FILES {
        match new.get(name) {
            Some(content) => write_secret(&directory.join(name), content)?,
            None if directory.join(name).exists() => fs::remove_file(directory.join(name))?,
            None => {}
        }
    }
    Ok((files, new))
}

/// Writes a file that only its owner may read, whatever was there.
pub(super) fn write_secret(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let doing = || format!("writing {}", path.display());
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error).with_context(doing),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).with_context(doing)?;
    file.write_all(content).with_context(doing)
}
