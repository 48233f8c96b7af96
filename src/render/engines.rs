//! One Application, one engine.

use super::charts::inflates_charts;
use super::exec::{Exec, Site};
use super::failure::{Error, Failure};
use super::kustomization::Edits;
use super::release::Release;
use super::{Application, Commit, command};
use crate::application::{Directory, Environment, Helm, Kustomize, Plugin, Source};
use crate::diag::{Diagnostic, Span};
use crate::directory;
use crate::jsonnet;
use crate::kustomize;
use crate::manifest::{self, Manifest};
use crate::settings::RendererName;
use crate::view::View;

/// One Application while it is rendered.
pub(super) struct One<'a, 'c> {
    pub commit: &'a Commit<'c>,
    pub application: &'a Application,
    pub source: &'a Source,
    pub view: &'a View<'a>,
    pub warnings: Vec<Diagnostic>,
}

type Made = Result<(Vec<Manifest>, Vec<String>), Failure>;

impl One<'_, '_> {
    pub fn helm(&mut self, helm: &Helm) -> Made {
        let profile = self.commit.context.profile;
        let at = |path: &[&str]| self.source.span(path);
        let (release, warnings) = Release::new(self.view, profile, self.application, &self.source.path, helm, &at)?;
        self.warnings.extend(warnings);
        let text = match self.commit.context.renderer {
            RendererName::Native => return Err(self.not_native("Helm charts")),
            RendererName::Exec => self.exec().helm(&self.site(self.place())?, &release)?,
        };
        Ok((self.objects(&text, "helm template")?, command::helm(&release, profile)))
    }

    pub fn kustomize(&mut self, kustomize: &Kustomize) -> Made {
        let dir = &self.source.path;
        let edits = Edits::new(self.view, dir, kustomize, &|path: &[&str]| self.source.span(path))?;
        let charts = inflates_charts(self.view, dir, &edits.components);
        let text = match self.commit.context.renderer {
            RendererName::Native => self.build(&edits)?.into_bytes(),
            RendererName::Exec => self.exec().kustomize(&self.site(self.place())?, dir, &edits, charts)?,
        };
        let commands = command::kustomize(dir, &edits, charts, self.commit.context.profile);
        Ok((self.objects(&text, "kustomize build")?, commands))
    }

    /// What our own Kustomize prints.
    fn build(&mut self, edits: &Edits) -> Result<String, Failure> {
        let dir = &self.source.path;
        let edited = match edits.is_empty() {
            true => None,
            false => Some(edits.apply(self.view, dir)?.1.into_bytes()),
        };
        let options = kustomize::Options {
            helm_kube_version: edits.kube_version.clone().unwrap_or_default(),
            helm_api_versions: edits.api_versions.clone(),
            kustomization: edited,
            ..kustomize::Options::default()
        };
        let build = kustomize::build(self.view, dir, &options, None).map_err(|error| self.wrong(&error))?;
        let warning = |text: &String| Diagnostic::warning(text.as_str()).at(self.place().clone());
        let warnings: Vec<Diagnostic> = build.warnings.iter().map(warning).collect();
        self.warnings.extend(warnings);
        build.to_yaml().map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &kustomize::Error) -> Failure {
        if let Some(error) = error.world() {
            return Failure::World(Error::View(error.clone()));
        }
        let diagnostic = error.diagnostic();
        let placed = diagnostic.span.is_some();
        Failure::mistake(if placed { diagnostic } else { diagnostic.at(self.place().clone()) })
    }

    pub fn directory(&mut self, options: &Directory) -> Result<Vec<Manifest>, Failure> {
        let (view, dir) = (self.view, &self.source.path);
        let bytes_max = self.commit.renderers.limits.directory_bytes_max;
        let mut warnings = std::mem::take(&mut self.warnings);
        let manifests = directory::render(view, dir, options, bytes_max, &mut warnings, |file| {
            let libraries = jsonnet::libraries(dir, &options.jsonnet)?;
            let place = Span::file(file.clone());
            let json = self.exec().jsonnet(&self.site(&place)?, file, &libraries, &options.jsonnet)?;
            jsonnet::objects(file, &json).map_err(Failure::mistake)
        });
        self.warnings = warnings;
        manifests
    }

    pub fn plugin(&mut self, plugin: &Plugin, environment: &Environment) -> Result<Vec<Manifest>, Failure> {
        let place = self.source.span(&["plugin"]);
        let text = self.exec().plugin(&self.site(&place)?, &self.source.path, plugin, environment)?;
        self.objects(&text, plugin.name.as_deref().unwrap_or("the plugin"))
    }

    /// The objects of a text that `tool` printed.
    fn objects(&self, text: &[u8], tool: &str) -> Result<Vec<Manifest>, Failure> {
        let limit = self.commit.renderers.limits.output_bytes_max;
        if limit > 0 && text.len() as u64 > limit {
            let text = format!("`{}` renders more than {limit} bytes", self.application.name);
            return Err(Error::Limit(text).into());
        }
        let read = manifest::read(text, manifest::Source::Output(tool));
        read.map_err(|unreadable| {
            let diagnostic = Diagnostic::from(unreadable);
            let placed = diagnostic.span.is_some();
            Failure::mistake(if placed { diagnostic } else { diagnostic.at(self.place().clone()) })
        })
    }

    fn site<'s>(&'s self, place: &'s Span) -> Result<Site<'s>, Failure> {
        Ok(Site { checkout: self.commit.checkout()?, view: self.view, place, cancel: self.commit.cancel() })
    }

    fn exec(&self) -> &Exec {
        &self.commit.renderers.exec
    }

    /// Where the Application names its sources.
    fn place(&self) -> &Span {
        &self.application.places.dry_path
    }

    fn not_native(&self, what: &str) -> Failure {
        let text = format!("{what} are not rendered natively yet");
        let mistake = Diagnostic::error(text).at(self.place().clone());
        Failure::mistake(mistake.hint("git hydrate config renderer exec: the official tools render them"))
    }
}
