//! Files to settings, and what is checked of all of them together.

use std::collections::BTreeMap;

use super::{
    FILE_BYTES_MAX, HOLD_FILE, Holds, SECRET_FILES, SETTINGS_FILE, Seeds, Settings, SettingsError, SettingsFiles,
    is_settings_file, reader, shape,
};
use crate::argo::{AppName, has_password, may_be_url, without_credentials};
use crate::metadata::{
    COMMIT_MESSAGE_GO_TEMPLATE, COMMIT_MESSAGE_TEMPLATE, README_GO_TEMPLATE, README_TEMPLATE, TemplateFile,
};

impl Settings {
    /// Reads the files of a settings folder.
    pub(crate) fn read(files: &SettingsFiles) -> Result<Self, SettingsError> {
        let mut texts = BTreeMap::new();
        for (name, content) in files {
            if !is_settings_file(name) {
                return Err(SettingsError::UnknownFile(name.clone()));
            }
            if content.len() as u64 > FILE_BYTES_MAX {
                return Err(SettingsError::TooLarge(name.clone()));
            }
            if SECRET_FILES.contains(&name.as_str()) {
                continue;
            }
            let text = String::from_utf8(content.clone()).map_err(|_| SettingsError::NotUtf8(name.clone()))?;
            texts.insert(name.as_str(), text);
        }
        let text = texts.remove(SETTINGS_FILE).unwrap_or_default();
        let document = reader::read(&text)?;
        shape::check(&document)?;
        let mut settings = document.decode::<Option<Settings>>()?.unwrap_or_default();
        let limit = settings.removal_limit;
        for (key, share) in [("share", limit.share), ("objectShare", limit.object_share)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(SettingsError::Wrong(format!("removalLimit.{key}: must be between 0 and 1")));
            }
        }
        settings.check_made()?;
        settings.check_copies()?;
        settings.check_destinations()?;
        settings.on_failure.check()?;
        settings.frozen.check()?;
        settings.check_warnings()?;
        texts.remove(HOLD_FILE);
        Holds::read(files)?;
        settings.seeds = Seeds::read(files)?;
        settings.readme_template = template(&mut texts, README_TEMPLATE, README_GO_TEMPLATE)?;
        settings.commit_message_template = template(&mut texts, COMMIT_MESSAGE_TEMPLATE, COMMIT_MESSAGE_GO_TEMPLATE)?;
        Ok(settings)
    }

    /// URLs say something, roots have names of their own, and the namespace of Argo CD is one.
    fn check_made(&self) -> Result<(), SettingsError> {
        if self.repo_urls.iter().any(|url| url.trim().is_empty()) {
            return Err(SettingsError::Wrong("repoURL: a URL must not be empty".to_owned()));
        }
        let mut names: Vec<&AppName> = self.roots.iter().map(|root| &root.name).collect();
        names.sort_unstable();
        if let Some((twice, _)) = names.iter().zip(names.iter().skip(1)).find(|(name, next)| name == next) {
            return Err(SettingsError::Wrong(format!("roots: two have the name `{twice}`")));
        }
        match self.argocd_namespace.as_deref().map(AppName::new) {
            Some(Err(error)) => Err(SettingsError::Wrong(format!("argocdNamespace: {error}"))),
            _ => Ok(()),
        }
    }

    /// No URL has a password: settings are read by all who may fetch, and copied to branches. Those that there are already go on.
    ///
    /// Errors: [`SettingsError::Wrong`].
    pub(crate) fn check_passwords(&self) -> Result<(), SettingsError> {
        let of_destinations = self.destinations.iter().map(|(_, url)| ("destinations", url));
        let mut urls = self.repo_urls.iter().map(|url| ("repoURL", url.as_str())).chain(of_destinations);
        if let Some((key, url)) = urls.find(|(_, url)| has_password(url)) {
            let what = format!("{key}: a URL must not contain a password: write `{}`", without_credentials(url));
            return Err(SettingsError::Wrong(what));
        }
        Ok(())
    }

    /// Each `repoURL` may be a URL; destinations are checked as they are read. Those that there are already go on.
    ///
    /// Errors: [`SettingsError::Wrong`].
    pub(crate) fn check_urls(&self) -> Result<(), SettingsError> {
        match self.repo_urls.iter().find(|url| !may_be_url(url)) {
            Some(url) => {
                let what = format!("repoURL: `{url}` is not a URL, such as https://git.example.com/team/dry.git");
                Err(SettingsError::Wrong(what))
            }
            None => Ok(()),
        }
    }

    /// Copies are written by hydration, and dry branches are not.
    fn check_copies(&self) -> Result<(), SettingsError> {
        match self.applications_to.as_ref().filter(|branch| self.dry_branches.contains(branch)) {
            Some(branch) => Err(SettingsError::Wrong(format!("applicationsTo: `{branch}` is one of `dryBranches`"))),
            None => Ok(()),
        }
    }

    /// Each destination is a repository of its own, and rules lead to no other ones.
    fn check_destinations(&self) -> Result<(), SettingsError> {
        if let Some(mistake) = self.destinations.mistake(&self.repo_urls) {
            return Err(SettingsError::Wrong(format!("destinations: {mistake}")));
        }
        let unknown = |url: &str| self.destinations.of_url(url).is_none();
        let urls = self.rules.iter().enumerate().filter_map(|(index, rule)| Some((index, rule.repo_url()?)));
        match urls.into_iter().find(|(_, url)| unknown(url)) {
            Some((index, url)) => Err(SettingsError::Wrong(format!(
                "rules.{index}.repoURL: `{url}` is not one of `destinations`; add it: destinations: {{NAME: {url}}}"
            ))),
            None => Ok(()),
        }
    }
}

/// The one template of a text that there is.
fn template(
    texts: &mut BTreeMap<&str, String>,
    jinja: &'static str,
    go: &'static str,
) -> Result<Option<TemplateFile>, SettingsError> {
    match (texts.remove(jinja), texts.remove(go)) {
        (Some(_), Some(_)) => Err(SettingsError::TwoTemplates(jinja, go)),
        (Some(text), None) => Ok(Some(TemplateFile { name: jinja, text })),
        (None, Some(text)) => Ok(Some(TemplateFile { name: go, text })),
        (None, None) => Ok(None),
    }
}
