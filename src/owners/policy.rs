//! What the settings of a repository say, read once per run: the document, and the patterns, rules and templates compiled
//! from it.

use sha2::{Digest, Sha256};

use super::branch_records::RECORDS_REF;
use super::error::HydrateError;
use crate::argo::set::ARGOCD_NAMESPACE;
use crate::argo::{self, BranchName, DestinationName, Patterns, RuleSet, SeedIdentities};
use crate::discover::{Discovered, Discovery, Lists, MadeLimits, Makers, Renders};
use crate::metadata::{ENGINE_REVISION, NOTES_REF, Writer};
use crate::render::{self, Renderers};
use crate::repo::{self, ObjectBuffer, ObjectId, Refs, Repository};
use crate::settings::{
    FILE_BYTES_MAX, HOLD_FILE, Holds, SETTINGS_FILE, SETTINGS_REF, Settings, SettingsError, SettingsFiles,
    is_settings_file,
};
use dry_files::diag::Diagnostic;
use dry_files::view::{Files, View};

/// What the admin's settings say, in the form in which hydration asks it.
pub(crate) struct Policy {
    pub settings: Settings,
    /// The commit of [`SETTINGS_REF`] that contains them, below those that change what is held and nothing else; none when
    /// there are none.
    pub id: Option<ObjectId>,
    /// An id of what results depend on of the settings, but for the tools, which each Application has.
    basis: String,
    pub writer: Writer,
    /// The files in which Applications are looked for.
    pub applications: Patterns,
    /// The branches that hydration may write.
    pub allowed: Patterns,
    /// Which plain Applications are hydrated.
    pub plain: RuleSet,
    /// Whether Applications that others make are hydrated; none when nothing says so, and so not.
    pub makes: Option<bool>,
    /// Whether Applications may name tags, ranges and commits.
    pub follows: bool,
}

impl Policy {
    /// Reads the settings of a repository.
    pub(crate) fn read(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<Self, HydrateError> {
        let doing = || format!("reading {SETTINGS_REF}, which `git hydrate doctor` on the server explains how to fix");
        if refs.is_broken(SETTINGS_REF) {
            return Err(repo::Error::message(doing()).into());
        }
        let settled = settled(refs.get(SETTINGS_REF), buffer);
        let policy = match settled.map_err(HydrateError::from).and_then(|id| Self::at(id, buffer)) {
            Err(HydrateError::Git(error)) => return Err(repo::Error::new(doing(), error).into()),
            read => read?,
        };
        let is_new = refs.get(RECORDS_REF).is_none() && refs.get(NOTES_REF).is_none();
        Ok(policy.in_repository(is_new))
    }

    /// The policy in a repository: `is_new` says that nothing was hydrated from it yet.
    pub(crate) fn in_repository(mut self, is_new: bool) -> Self {
        self.makes = self.settings.made_applications.or(is_new.then_some(true));
        self
    }

    /// Whether the same Applications are found in a dry tree, and the same ones of them are hydrated.
    pub(crate) fn finds_as(&self, others: &Self) -> bool {
        self.applications == others.applications
            && self.plain == others.plain
            && self.makes == others.makes
            && self.follows == others.follows
            && self.settings.finds_as(&others.settings)
    }

    /// The policy that hydrates what others make if `others` do, as long as no setting says so.
    pub(crate) fn making_as(self, others: &Self) -> Self {
        Self { makes: self.makes.or(others.makes), ..self }
    }

    /// What lists say of clusters in a tree.
    pub(crate) fn clusters(&self, view: &View<'_>) -> Lists {
        Lists::read(view, &self.settings.clusters)
    }

    /// An id of all that results depend on beside Applications, with the versions of the tools, and dry trees.
    pub(crate) fn context(&self, renderers: &Renderers) -> String {
        let settings = &self.basis;
        let (version, bounds) = (env!("CARGO_PKG_VERSION"), renderers.bounds());
        let digest = Sha256::digest(format!("{version} {ENGINE_REVISION} {settings} {bounds}"));
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Finds the Applications of a dry tree, those that others make included: `making` renders for it which Applications
    /// make others. Without a dry branch it may be any.
    ///
    /// Errors: a repository that cannot be read, or tools that cannot be run.
    pub(crate) fn discover(
        &self,
        discovery: &mut Discovery,
        files: &dyn Files,
        dry_branch: Option<&BranchName>,
        head: Option<&BranchName>,
        making: &dyn Renders,
    ) -> Result<Discovered, String> {
        let limit = self.settings.limits.applications;
        let mut discovered = discovery.discover(files, &self.applications, &self.plain, limit)?;
        let makers = self.makers(dry_branch, head);
        discovery.make(&mut discovered, files, &makers, making)?;
        if let (None, Some(first)) = (self.makes, discovered.sets.first()) {
            let what = match discovered.sets.len() {
                1 => "the Applications of an ApplicationSet are not hydrated".to_owned(),
                count => format!("the Applications of {count} ApplicationSets are not hydrated"),
            };
            let warning = Diagnostic::warning(format!("{what}: this repository was hydrated before that was possible"))
                .hint("on the server: git hydrate config set madeApplications true, or false to silence this")
                .at(first.set.span());
            discovered.mistakes.push((None, warning));
        }
        discovered.silence(&self.settings.known_fields);
        Ok(discovered)
    }

    /// What the makers of a dry branch are given.
    pub(crate) fn makers(&self, dry_branch: Option<&BranchName>, head: Option<&BranchName>) -> Makers {
        let settings = &self.settings;
        let branches = dry_branch.map_or(&settings.dry_branches[..], std::slice::from_ref);
        let revisions = branches.iter().flat_map(|branch| [branch.to_string(), format!("refs/heads/{branch}")]);
        let parameters = settings.application_sets.iter().map(|(set, of)| (set.clone(), of.parameters.clone()));
        Makers {
            is_on: self.makes,
            repo_urls: settings.repo_urls.clone(),
            revisions: revisions.collect(),
            is_beside_head: head.is_some_and(|head| dry_branch.is_some_and(|branch| branch != head)),
            clusters: settings.clusters.clone(),
            parameters: parameters.collect(),
            argocd_namespace: settings.argocd_namespace.clone().unwrap_or_else(|| ARGOCD_NAMESPACE.to_owned()),
            roots: settings.roots.clone(),
            rules: self.plain.clone(),
            applications: self.applications.clone(),
            limits: MadeLimits {
                applications: settings.limits.applications,
                depth: settings.limits.made_depth,
                makers: settings.limits.makers,
            },
        }
    }

    /// Reads the settings in a commit.
    pub(crate) fn at(commit: Option<ObjectId>, buffer: &ObjectBuffer<'_>) -> Result<Self, HydrateError> {
        let (id, files) = files_of(commit, buffer)?;
        Ok(Self { id, ..Self::of(&files)? })
    }

    /// Compiles a folder of settings.
    pub(crate) fn of(files: &SettingsFiles) -> Result<Self, HydrateError> {
        let settings = Settings::read(files)?;
        let wrong = |error: argo::PatternError| SettingsError::Wrong(error.to_string());
        let applications = Patterns::new(&settings.applications).map_err(wrong)?;
        let allowed = Patterns::new(&settings.branches).map_err(wrong)?;
        let writer = Writer::new(settings.metadata()?).map_err(HydrateError::Template)?;
        let (makes, plain) = (settings.made_applications, settings.rule_set());
        let follows = settings.revisions == Some(true);
        let basis = basis(&settings, files);
        Ok(Self { settings, id: None, basis, writer, applications, allowed, plain, makes, follows })
    }
}

/// The other repositories that the settings of a repository name, each with its URL, by name. None where the settings cannot be
/// used, which hydration reports.
///
/// Errors: the repository cannot be read.
pub(crate) fn destinations(repository: &Repository) -> Result<Vec<(DestinationName, String)>, repo::Error> {
    let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
    let policy = Policy::read(&refs, &buffer);
    let found = policy
        .map(|policy| policy.settings.destinations.iter().map(|(name, url)| (name.clone(), url.to_owned())).collect());
    Ok(found.unwrap_or_default())
}

/// The newest commit of settings from `tip` on that changes more than what is held: that alone does not change the settings
/// that hydrated commits name. None where there are no other settings.
fn settled(tip: Option<ObjectId>, buffer: &ObjectBuffer<'_>) -> Result<Option<ObjectId>, repo::Error> {
    let mut here = tip;
    while let Some(id) = here {
        let commit = buffer.commit(id)?;
        let parent = commit.parents.first().copied().filter(|parent| buffer.repository().has(*parent));
        let before = parent.map(|parent| buffer.commit(parent)).transpose()?.map(|parent| parent.tree);
        let (now, before) =
            (without_holds(commit.tree, buffer)?, without_holds(before.unwrap_or(buffer.empty_tree_id()), buffer)?);
        if now.0 != before.0 || now.1 == before.1 {
            break;
        }
        here = parent;
    }
    Ok(here)
}

/// The entries of a tree of settings, but for what is held; and that.
#[expect(clippy::type_complexity, reason = "compared, and nothing else")]
fn without_holds(
    tree: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<(Vec<(Vec<u8>, ObjectId)>, Option<ObjectId>), repo::Error> {
    let mut entries = Vec::new();
    let mut holds = None;
    for entry in buffer.tree(tree)? {
        match entry.name == HOLD_FILE.as_bytes() {
            true => holds = Some(entry.id),
            false => entries.push((entry.name.to_vec(), entry.id)),
        }
    }
    Ok((entries, holds))
}

/// What is held in a repository, and the blob that says so.
///
/// Errors: the settings cannot be used.
pub(crate) fn holds(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<(Holds, Option<ObjectId>), HydrateError> {
    let Some(tip) = refs.get(SETTINGS_REF) else { return Ok((Holds::default(), None)) };
    let Some((_, blob)) = buffer.entry(buffer.commit(tip)?.tree, HOLD_FILE)? else {
        return Ok((Holds::default(), None));
    };
    if buffer.size(blob)? > FILE_BYTES_MAX {
        return Err(SettingsError::TooLarge(HOLD_FILE.to_owned()).into());
    }
    let files = SettingsFiles::from([(HOLD_FILE.to_owned(), buffer.blob(blob)?)]);
    Ok((Holds::read(&files)?, Some(blob)))
}

/// The settings of a repository as files, and the commit that contains them; none when there are none.
pub(crate) fn settings_files(
    refs: &Refs,
    buffer: &ObjectBuffer<'_>,
) -> Result<(Option<ObjectId>, SettingsFiles), HydrateError> {
    files_of(refs.get(SETTINGS_REF), buffer)
}

/// The settings in a commit as files, and the commit; none when there are none.
pub(crate) fn files_of(
    commit: Option<ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> Result<(Option<ObjectId>, SettingsFiles), HydrateError> {
    let commit = commit.map(|commit| buffer.commit(commit)).transpose()?;
    let commit = commit.filter(|commit| commit.tree != buffer.empty_tree_id());
    let (files, left_out) = readable_files(commit.as_ref().map(|commit| commit.tree), buffer)?;
    match left_out {
        Some(why) => Err(why.into()),
        None => Ok((commit.map(|commit| commit.id), files)),
    }
}

/// The settings in a tree as far as their files can be read, whether or not hydration can work with them; and why the first
/// of the others is left out.
pub(crate) fn readable_files(
    tree: Option<ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> Result<(SettingsFiles, Option<SettingsError>), repo::Error> {
    let (mut files, mut left_out) = (SettingsFiles::new(), None);
    for entry in tree.map_or(Ok(Vec::new()), |tree| buffer.tree(tree))? {
        let name = String::from_utf8_lossy(&entry.name).into_owned();
        if !is_settings_file(&name) {
            left_out.get_or_insert(SettingsError::UnknownFile(name));
        } else if buffer.size(entry.id)? > FILE_BYTES_MAX {
            left_out.get_or_insert(SettingsError::TooLarge(name));
        } else {
            files.insert(name, buffer.blob(entry.id)?);
        }
    }
    Ok((files, left_out))
}

/// How many commits of settings are tried for one that can be used.
const TRIED_MAX: usize = 100;

/// The newest commit below the tip of the settings that hydration can work with, where it cannot work with the tip.
///
/// Errors: the repository cannot be read.
pub(crate) fn newest_usable(repository: &Repository) -> Result<Option<ObjectId>, repo::Error> {
    let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
    let mut here = refs.get(SETTINGS_REF);
    for _ in 0..TRIED_MAX {
        let parent = here.map(|id| buffer.commit(id)).transpose()?.and_then(|commit| commit.parents.first().copied());
        here = parent.filter(|parent| repository.has(*parent));
        if here.is_none() || Policy::at(here, &buffer).is_ok() {
            break;
        }
    }
    Ok(here.filter(|id| Policy::at(Some(*id), &buffer).is_ok()))
}

/// Whether a folder of settings may be set: hydration can work with it, down to what its templates make, and it has no password.
pub fn check_settings(files: &SettingsFiles) -> Result<(), HydrateError> {
    let policy = Policy::of(files)?;
    policy.settings.check_passwords()?;
    policy.settings.check_urls()?;
    policy.writer.check().map_err(HydrateError::Template)
}

/// An id of what results depend on of the settings, but for the tools, which each Application has.
fn basis(settings: &Settings, files: &SettingsFiles) -> String {
    let mut hash = Sha256::new_with_prefix(settings.basis());
    for (name, content) in files.iter().filter(|(name, _)| ![SETTINGS_FILE, HOLD_FILE].contains(&name.as_str())) {
        hash.update(format!("\0{name}\0{}\0", content.len()));
        hash.update(content);
    }
    data_encoding::HEXLOWER.encode(&hash.finalize())
}

/// No Application has moved.
static NO_IDENTITIES: SeedIdentities = SeedIdentities::new();

/// What engines are given with the dry commit that they render. No Application counts as moved.
pub(crate) fn render_context<'c>(
    settings: &'c Settings,
    files: &'c dyn Files,
    dry_commit: &'c str,
) -> render::Context<'c> {
    render::Context {
        files,
        profile: settings.profile.into(),
        dry_commit,
        renderer: settings.renderer,
        build_options: &settings.kustomize.build_options,
        nondeterministic: &settings.nondeterministic,
        seeds: &settings.seeds,
        identities: &NO_IDENTITIES,
        limits: settings.limits,
        rules: settings.rule_set(),
    }
}
