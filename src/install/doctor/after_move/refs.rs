//! The refs of the former place, and the settings that are among them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Doctor;
use super::{Former, shown};
use crate::install::Error;
use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::owners::policy::files_of;
use crate::repo::{ObjectBuffer, ObjectId, Refs, Repository, object_id};
use crate::settings::{SETTINGS_REF, Settings};
use dry_files::diag::more::listed;
use dry_files::diag::{shell_path, shell_word};

/// How many refs one command names.
const NAMED_MAX: usize = 100;

/// How many URLs a line names.
const URLS_MAX: usize = 8;

/// What is lost without the refs of hydration.
const OWN: &str = "settings, records and notes, without which hydration does not know its own branches";

/// What is lost without branches and tags.
const PUSHED: &str = "what was pushed";

/// Where the refs are of which hydration reads each.
const DIRECTORIES: [&str; 4] = ["refs/hydrate/", "refs/notes/", "refs/heads/", "refs/tags/"];

/// The refs of both places.
struct Compared<'a> {
    former: Former<'a>,
    theirs: BTreeMap<String, ObjectId>,
    here: Refs,
    /// The branches that hydration made, by the records of both; those of a former place on another machine are not known.
    hydrated: BTreeSet<String>,
    /// Where the records of this place say that hydration left a branch.
    recorded: BTreeMap<String, ObjectId>,
}

impl Doctor<'_> {
    /// Whether each ref of the former place is here, and nothing was pushed there since.
    ///
    /// A branch of hydration comes with its record and its note, or is made again: without them hydration would not know it.
    pub(super) fn former_refs(&mut self, former: Former<'_>) -> Result<(), Error> {
        let compared = self.compared(former)?;
        let Compared { theirs, here, hydrated, recorded, .. } = &compared;
        let has_records = here.get(RECORDS_REF).is_some();
        let is_missing = |name: &&str| here.get(name).is_none();
        let is_own = |name: &&str| name.starts_with("refs/hydrate/") || name.starts_with("refs/notes/hydrator.");
        let names = || theirs.keys().map(String::as_str);
        let mut own: Vec<&str> = names().filter(is_own).filter(is_missing).collect();
        if !has_records {
            own.extend(names().filter(|name| hydrated.contains(*name) && compared.is_behind(name)));
        }
        self.missing_refs(&compared, &own, OWN);
        self.former_settings(&compared);
        let comes_alone = |name: &&str| !hydrated.contains(*name) || recorded.get(*name) == theirs.get(*name);
        let pushed = |name: &&str| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
        let missing: Vec<&str> = names().filter(pushed).filter(is_missing).filter(|name| !own.contains(name)).collect();
        let (pushed, made): (Vec<&str>, Vec<&str>) = missing.into_iter().partition(comes_alone);
        self.missing_refs(&compared, &pushed, PUSHED);
        // What hydration wrote there follows here from what was pushed.
        for name in names().filter(|name| name.starts_with("refs/heads/") && !hydrated.contains(*name)) {
            self.moved_on(&compared, name);
        }
        if !made.is_empty() {
            let are = if made.len() == 1 { "is" } else { "are" };
            let what = format!("{} {are} not here: hydration makes that again", shown(&made));
            self.bad(what, format!("{} hydrate catch-up", self.git_command()));
        }
        Ok(())
    }

    fn compared<'a>(&self, former: Former<'a>) -> Result<Compared<'a>, Error> {
        let listing = self.repository.git().output(&["ls-remote", "--refs", "--", former.address])?;
        let listing = String::from_utf8_lossy(&listing).into_owned();
        let lines = listing.lines().filter_map(|line| line.split_once('\t'));
        let theirs = lines.filter_map(|(id, name)| Some((name.to_owned(), object_id(id)?))).collect();
        let here = self.repository.refs()?;
        let recorded = made_by_hydration(self.repository, &here);
        let mut hydrated: BTreeSet<String> = recorded.keys().cloned().collect();
        if let Some(repository) = former.repository {
            hydrated.extend(made_by_hydration(repository, &repository.refs()?).into_keys());
        }
        Ok(Compared { former, theirs, here, hydrated, recorded })
    }

    fn missing_refs(&mut self, compared: &Compared<'_>, names: &[&str], means: &str) {
        if names.is_empty() {
            return;
        }
        let mut refspecs = compared.refspecs(names);
        let first = match refspecs.len() > NAMED_MAX {
            true => format!("; this brings the first {NAMED_MAX}"),
            false => String::new(),
        };
        refspecs.truncate(NAMED_MAX);
        let what = match names {
            [name] => format!("{name} is not here: {means}"),
            names => format!("{} refs are not here, {}: {means}{first}", names.len(), shown(names)),
        };
        let (git, address) = (self.git_command(), shell_word(compared.former.address));
        self.bad(what, format!("{git} fetch {address} {}", refspecs.join(" ")));
    }

    /// Whether the settings here have those of the former place. While they do not, nothing is advised that deploys: it would do so
    /// without what they freeze and hold.
    fn former_settings(&mut self, compared: &Compared<'_>) {
        let Compared { former, theirs, here, .. } = compared;
        let Some(theirs) = theirs.get(SETTINGS_REF).copied() else { return };
        let unsettled = Some(former.address.to_owned());
        let Some(ours) = here.get(SETTINGS_REF) else {
            self.unsettled = unsettled;
            return;
        };
        let repository = self.repository;
        if ours == theirs || (repository.has(theirs) && repository.is_ancestor(theirs, ours)) {
            return;
        }
        self.unsettled = unsettled;
        let (git, address) = (self.git_command(), shell_word(former.address));
        let install =
            self.as_owner(format!("git hydrate install --server {}", shell_path(self.repository.common_dir())));
        let remedy = match compared.is_behind(SETTINGS_REF) {
            true => format!("{git} fetch {address} {SETTINGS_REF}:{SETTINGS_REF} && {install}"),
            false => format!(
                "{git} fetch {address} +{SETTINGS_REF}:{SETTINGS_REF} && {install}; that takes the settings of there in place of those \
                 of here. What is set here alone has to be set again after it. To see that before: {git} fetch {address} \
                 {SETTINGS_REF} && {git} log -p FETCH_HEAD..{SETTINGS_REF}"
            ),
        };
        self.bad(moved(compared, SETTINGS_REF, (ours, theirs)), remedy);
    }

    /// A branch that was pushed to at the former place after the move.
    fn moved_on(&mut self, compared: &Compared<'_>, name: &str) {
        let (Some(theirs), Some(ours)) = (compared.theirs.get(name).copied(), compared.here.get(name)) else { return };
        let is_here = self.repository.has(theirs) && self.repository.is_ancestor(theirs, ours);
        if ours == theirs || is_here {
            return;
        }
        let (git, address, plain, name) =
            (self.git_command(), shell_word(compared.former.address), name, shell_word(name));
        let deploy = if self.unsettled.is_none() { format!(" && {git} hydrate catch-up") } else { String::new() };
        let bring = format!("{git} fetch {address} {}{deploy}", shell_word(&format!("{plain}:{plain}")));
        let look = format!("{git} fetch {address} {name} && {git} log --oneline --left-right {name}...FETCH_HEAD");
        let remedy = format!("{bring}; if git rejects that, both were pushed to: {look}");
        self.bad(moved(compared, plain, (ours, theirs)), remedy);
    }

    /// Whether a URL was added to the settings by which Applications may name the new place.
    pub(super) fn urls(&mut self, former: Former<'_>) -> Result<(), Error> {
        let here = urls_of(self.repository, &self.repository.refs()?);
        let there = match former.repository {
            Some(repository) => urls_of(repository, &repository.refs()?),
            None => vec![former.address.to_owned()],
        };
        match here.len() > 1 || here.iter().any(|url| !there.contains(url)) {
            true => self.good(format!("Applications may name {}", listed(here.iter(), URLS_MAX))),
            false => {
                let what = "Applications name a repository by its URL, which is another one after a move";
                self.advise(what, format!("{} hydrate config add repoURL URL", self.git_command()));
            }
        }
        Ok(())
    }

    /// Takes back what deploys, while the settings are not those of the former place.
    pub(in super::super) fn settings_first(&mut self) {
        let Some(address) = &self.unsettled else { return };
        let (address, dir) = (shell_word(address), shell_path(self.repository.common_dir()));
        let again = format!("git hydrate doctor --after-move {address} {dir}, once the settings of there are here");
        let deploys = |remedy: &&mut String| {
            [" hydrate catch-up", " hydrate adopt ", " hydrate config "].iter().any(|command| remedy.contains(command))
        };
        for remedy in self.findings.iter_mut().filter_map(|finding| finding.remedy.as_mut()).filter(deploys) {
            remedy.clone_from(&again);
        }
    }
}

impl Compared<'_> {
    /// Whether a ref is not here, or at an earlier commit for all that is known.
    fn is_behind(&self, name: &str) -> bool {
        let Some(theirs) = self.theirs.get(name).copied() else { return false };
        let is_earlier = |ours: ObjectId| {
            let knows = |repository: &Repository| repository.has(ours) && repository.is_ancestor(ours, theirs);
            ours != theirs && self.former.repository.is_some_and(knows)
        };
        self.here.get(name).is_none_or(is_earlier)
    }

    /// What fetches some refs and no other one: a whole directory only where nothing of it is here, and all of it shall come.
    fn refspecs(&self, names: &[&str]) -> Vec<String> {
        let mut refspecs = Vec::new();
        for dir in DIRECTORIES {
            let wanted: Vec<&str> = names.iter().copied().filter(|name| name.starts_with(dir)).collect();
            let all = self.theirs.keys().filter(|name| name.starts_with(dir)).count();
            let is_empty = self.here.below(dir).next().is_none();
            match is_empty && wanted.len() == all && all > 1 {
                true => refspecs.push(shell_word(&format!("{dir}*:{dir}*"))),
                false => refspecs.extend(wanted.iter().map(|name| shell_word(&format!("{name}:{name}")))),
            }
        }
        refspecs
    }
}

fn moved(compared: &Compared<'_>, name: &str, (ours, theirs): (ObjectId, ObjectId)) -> String {
    let at = |id: ObjectId| id.to_string()[..7].to_owned();
    let address = compared.former.address;
    format!("{name} is at {} here, and at {} in {address}, which is not behind it", at(ours), at(theirs))
}

/// The branches that hydration made by the records of a repository, each with where it left the branch.
fn made_by_hydration(repository: &Repository, refs: &Refs) -> BTreeMap<String, ObjectId> {
    let buffer = ObjectBuffer::new(repository);
    let records = refs.get(RECORDS_REF).and_then(|tip| BranchRecords::read(tip, &buffer).ok()).unwrap_or_default();
    let made = records.iter().filter(|(_, record)| !record.initial);
    made.map(|(branch, record)| (branch.ref_name(), record.tip)).collect()
}

/// The URLs of a repository by its settings; none where they cannot be read.
fn urls_of(repository: &Repository, refs: &Refs) -> Vec<String> {
    let files = files_of(refs.get(SETTINGS_REF), &ObjectBuffer::new(repository));
    let settings = files.ok().and_then(|(_, files)| Settings::read(&files).ok());
    settings.map(|settings| settings.repo_urls).unwrap_or_default()
}
