//! One Application, one engine.

use std::collections::BTreeSet;

use super::charts::inflates_charts;
use super::exec::{Exec, Site};
use super::failure::{Error, Failure};
use super::kustomization::Edits;
use super::release::{Release, Values, cluster_version};
use super::{Application, Commit, Deeds, Rendered, command, drawn};
use crate::argo::{
    Directory, Drawn, Environment, Helm, Jsonnet, Kustomize, Plugin, SeedIdentity, Source, Tool, Variable,
};
use crate::manifest::{self, Manifest, encrypted};
use crate::render::directory;
use crate::render::jsonnet;
use crate::render::needs::Vendored;
use crate::settings::{Limits, RendererName};
use dry_files::diag::more::and_more;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{View, ViewError};
use go_template::{self as template, Drew, Seed};
use helm_template as helm;
use kustomize_build as kustomize;

/// One Application while it is rendered.
pub(super) struct ApplicationRender<'a, 'c> {
    pub commit: &'a Commit<'c>,
    pub application: &'a Application,
    pub source: &'a Source,
    pub view: &'a View<'a>,
    pub deeds: &'a Deeds,
    pub warnings: Vec<Diagnostic>,
    /// The keys that are there twice in what was read.
    pub lost_keys: Vec<Diagnostic>,
    /// Whether it is a chart whose release nothing names.
    pub is_unnamed_release: bool,
    /// Whether a random function was called.
    pub drew: Drew,
    /// Whether random functions give what is of no use, to find out where it shows.
    pub sketches: bool,
}

type WithCommands = Result<(Vec<Manifest>, Vec<String>), Failure>;

impl ApplicationRender<'_, '_> {
    /// Renders the source; `used` are the variables of `environment` that its options name.
    pub(super) fn render(&mut self, environment: &Environment, used: BTreeSet<Variable>) -> Result<Rendered, Failure> {
        let (manifests, commands) = match &self.source.tool {
            Tool::Helm(helm) => self.helm(helm)?,
            Tool::Kustomize(kustomize) => self.kustomize(kustomize)?,
            Tool::Directory(directory) => (self.directory(directory)?, Vec::new()),
            Tool::Plugin(plugin) => (self.plugin(plugin, environment)?, Vec::new()),
        };
        let variables = match &self.source.tool {
            Tool::Plugin(_) => environment.variables().map(|(variable, _)| variable).collect(),
            Tool::Helm(_) | Tool::Kustomize(_) | Tool::Directory(_) => used,
        };
        #[cfg(debug_assertions)]
        super::rehearsal::rehearse(self.commit.renderers.rehearsed.get(self.application.name.as_str()));
        self.commit.check_count(self.application, manifests.len())?;
        self.warn_of_encrypted(&manifests);
        let drawn = self.drawn(&manifests);
        let [warnings, lost_keys] = [&mut self.warnings, &mut self.lost_keys].map(std::mem::take);
        let (reads, is_unnamed_release) = (self.view.reads(), self.is_unnamed_release);
        Ok(Rendered { manifests, commands, warnings, lost_keys, reads, variables, is_unnamed_release, drawn })
    }

    fn helm(&mut self, helm: &Helm) -> WithCommands {
        let release = self.release(helm)?;
        let text = match self.commit.context.renderer {
            RendererName::Native => self.template(&release)?.text.into_bytes(),
            RendererName::Exec => self.exec().helm(self.application.tools.helm, &self.site(self.place())?, &release)?,
        };
        self.lost_keys = self.lost_values(&release);
        Ok((self.objects(&text, "helm template")?, command::helm(&release, self.commit.context.profile)))
    }

    /// The objects of the source, each with the file that it is made of, where that is known.
    pub(super) fn origins(&mut self) -> Result<Vec<(Manifest, Option<RepoPath>)>, Failure> {
        match &self.source.tool {
            Tool::Helm(helm) => self.templates(helm),
            Tool::Kustomize(kustomize) => self.resources(kustomize),
            Tool::Directory(directory) => {
                let files = self.files(directory)?.into_iter();
                Ok(files
                    .flat_map(|(file, objects)| objects.into_iter().map(move |one| (one, Some(file.clone()))))
                    .collect())
            }
            Tool::Plugin(_) => Ok(Vec::new()),
        }
    }

    fn templates(&mut self, helm: &Helm) -> Result<Vec<(Manifest, Option<RepoPath>)>, Failure> {
        let release = self.release(helm)?;
        let mut found = Vec::new();
        for document in self.template(&release)?.documents {
            let objects = self.objects(document.text.as_bytes(), "helm template")?;
            found.extend(objects.into_iter().map(|object| (object, Some(document.origin.clone()))));
        }
        Ok(found)
    }

    fn resources(&mut self, kustomize: &Kustomize) -> Result<Vec<(Manifest, Option<RepoPath>)>, Failure> {
        let edits = self.edits(kustomize)?;
        let kustomize::Build { resources, origins, .. } = self.built(&edits, true)?;
        let dir = &self.source.path;
        let file = |origin: Option<String>| dir.resolve(&origin?).ok();
        let objects = resources
            .into_iter()
            .zip(origins)
            .filter_map(|(resource, origin)| Some((Manifest::new(resource).ok()?, file(origin))));
        Ok(objects.collect())
    }

    pub(super) fn release(&mut self, helm: &Helm) -> Result<Release, Failure> {
        let profile = self.commit.context.profile;
        let at = |path: &[&str]| self.source.span(path);
        let (release, warnings) = Release::new(self.view, profile, self.application, &self.source.path, helm, &at)?;
        self.warnings.extend(warnings);
        self.is_unnamed_release = release.name.is_none();
        Ok(release)
    }

    pub(super) fn kustomize(&mut self, kustomize: &Kustomize) -> WithCommands {
        let dir = &self.source.path;
        let edits = self.edits(kustomize)?;
        let charts = inflates_charts(self.view, dir, &edits.components);
        let text = match self.commit.context.renderer {
            RendererName::Native => self.build(&edits)?.into_bytes(),
            RendererName::Exec => {
                let options = self.official_options()?;
                self.exec().kustomize(
                    self.application.tools,
                    &self.site(self.place())?,
                    dir,
                    (&edits, &options),
                    charts,
                )?
            }
        };
        self.lost_keys = self.lost_fields();
        let options = self.commit.context.build_options.words();
        let commands = command::kustomize(dir, (&edits, &options), charts, self.commit.context.profile);
        Ok((self.objects(&text, "kustomize build")?, commands))
    }

    /// The options that the official Kustomize gets.
    ///
    /// Errors: it would read files of this machine.
    fn official_options(&self) -> Result<Vec<&'static str>, Failure> {
        let options = self.commit.context.build_options;
        if options.is_unrestricted() {
            let text = "`--load-restrictor LoadRestrictionsNone` is not supported with `renderer: exec`";
            let hint = "the official tool would read files outside of the repository, too: on the server: git hydrate config set renderer native";
            return Err(Failure::mistake(Diagnostic::error(text).at(self.place().clone()).hint(hint)));
        }
        Ok(options.words())
    }

    /// What is changed in the kustomization before it is built.
    pub(super) fn edits(&self, kustomize: &Kustomize) -> Result<Edits, Failure> {
        let dir = &self.source.path;
        let mut edits = Edits::new(self.view, dir, kustomize, &|path: &[&str]| self.source.span(path))?;
        if edits.kube_version.is_none() {
            edits.kube_version = cluster_version(self.application)?;
        }
        if edits.api_versions.is_empty() {
            edits.api_versions = self.application.api_versions().to_vec();
        }
        Ok(edits)
    }

    /// What our own Kustomize prints.
    fn build(&mut self, edits: &Edits) -> Result<String, Failure> {
        self.built(edits, false)?.to_yaml().map_err(|error| self.wrong(&error))
    }

    pub(super) fn built(&mut self, edits: &Edits, note_origins: bool) -> Result<kustomize::Build, Failure> {
        let limits = self.commit.context.limits;
        let edited =
            if edits.is_empty() { None } else { Some(edits.apply(self.view, &self.source.path)?.1.into_bytes()) };
        let options = kustomize::Options {
            version: self.application.tools.kustomize,
            helm_kube_version: edits.kube_version.clone().unwrap_or_default(),
            helm_api_versions: edits.api_versions.clone(),
            kustomization: edited,
            note_origins,
            enable_helm: true,
            limits: kustomize::Limits { nodes: limits.kustomization_nodes, bytes: limits.kustomization_bytes },
            inputs: &Vendored,
            ..self.commit.context.build_options.parsed()
        };
        let charts = self.commit.renderers.charts.clone();
        let (effects, limits) = (self.effects(), self.template_limits());
        let charts =
            kustomize::NativeCharts { helm: self.application.tools.helm, effects, limits, only_objects: true, charts };
        let build = kustomize::build(self.view, &self.source.path, &options, Some(&charts))
            .map_err(|error| self.wrong(&error))?;
        let warning = |text: &String| Diagnostic::warning(text.as_str()).at(self.place().clone());
        let warnings: Vec<Diagnostic> = build.warnings.iter().map(warning).collect();
        self.warnings.extend(warnings);
        Ok(build)
    }

    /// What our own Helm prints.
    fn template(&mut self, release: &Release) -> Result<helm::Rendered, Failure> {
        let options = self.helm_options(release);
        let mut rendered = helm::render_kept(&self.commit.renderers.charts, self.view, &release.chart, &options)
            .map_err(|error| self.no_chart(&error, &release.chart, &options))?;
        let warning = |text: &String| Diagnostic::warning(text.as_str()).at(self.place().clone());
        let warnings: Vec<Diagnostic> = rendered.warnings.drain(..).map(|text| warning(&text)).collect();
        self.warnings.extend(warnings);
        Ok(rendered)
    }

    /// What our own Helm is asked for.
    pub(super) fn helm_options(&self, release: &Release) -> helm::Options {
        let defaults = helm::Options::default();
        let files = release.value_files.iter().cloned().map(helm::ValuesSource::File);
        let own = release.values.iter().map(|values| self.own_values(values));
        helm::Options {
            release_name: release.name.clone().unwrap_or(defaults.release_name),
            namespace: release.namespace.clone().unwrap_or(defaults.namespace),
            values: files.chain(own).collect(),
            set: release.set.clone(),
            set_string: release.set_string.clone(),
            set_file: release.set_file.iter().map(|setting| setting.argument(setting.file.as_str())).collect(),
            kube_version: release.kube_version.clone(),
            api_versions: release.api_versions.clone(),
            include_crds: release.include_crds,
            skip_tests: release.skip_tests,
            skip_schema_validation: release.skip_schema_validation,
            only_objects: true,
            helm: self.application.tools.helm,
            effects: self.effects(),
            limits: self.template_limits(),
            stop: self.view.stop().clone(),
            inputs: &Vendored,
            ..helm::Options::default()
        }
    }

    /// Why a chart does not render. All refusals are reported at once.
    fn no_chart(&self, error: &helm::Error, chart: &RepoPath, options: &helm::Options) -> Failure {
        if error.is_backend() {
            let path = chart.clone();
            return Failure::World(Error::View(ViewError::Backend { path, reason: error.to_string() }));
        }
        let refusals = if error.is_refusal() { helm::refusals(self.view, chart, options) } else { Ok(Vec::new()) };
        match refusals {
            Ok(refusals) if !refusals.is_empty() => {
                Failure::Mistakes(refusals.iter().map(|refusal| self.placed(refusal.diagnostic())).collect())
            }
            _ => Failure::mistake(self.placed(error.diagnostic())),
        }
    }

    /// A diagnostic at the place of the source, unless it has one.
    pub(super) fn placed(&self, diagnostic: Diagnostic) -> Diagnostic {
        let has_place = diagnostic.span.is_some();
        if has_place { diagnostic } else { diagnostic.at(self.place().clone()) }
    }

    /// The values that are in the Application itself.
    fn own_values(&self, values: &Values) -> helm::ValuesSource {
        let name = format!("the values of `{}`", self.application.name);
        helm::ValuesSource::Text { name, text: values.text.clone() }
    }

    /// That random functions were called, and which objects show what they gave: those that are other ones in a render that
    /// draws something else.
    fn drawn(&mut self, manifests: &[Manifest]) -> Option<Drawn> {
        if !self.drew.is_set() {
            return None;
        }
        let warnings = std::mem::take(&mut self.warnings);
        self.sketches = true;
        let sketch = match &self.source.tool {
            Tool::Helm(helm) => self.helm(helm).ok(),
            Tool::Kustomize(kustomize) => self.kustomize(kustomize).ok(),
            Tool::Directory(_) | Tool::Plugin(_) => None,
        };
        self.sketches = false;
        self.warnings = warnings;
        let objects = sketch.map(|(sketch, _)| drawn::differing(manifests, &sketch)).unwrap_or_default();
        Some(Drawn { identity: self.identity(), objects })
    }

    /// What tells the random values of the Application from those of others.
    fn identity(&self) -> SeedIdentity {
        let new = SeedIdentity::of(self.application);
        self.commit.context.identities.get(&new).cloned().unwrap_or(new)
    }

    /// What random and clock functions of charts do: nothing, but for those that an admin allows, and these give the
    /// same for an Application each time.
    fn effects(&self) -> helm::Effects {
        match self.commit.context.nondeterministic {
            [] => helm::Effects::Refuse,
            allowed => helm::Effects::Seeded {
                seed: match self.sketches {
                    true => Seed::Sketch,
                    false => self.commit.context.seeds.seed(&self.identity()),
                },
                allowed: allowed.to_vec(),
                now: jiff::Timestamp::UNIX_EPOCH,
                drew: self.drew.clone(),
            },
        }
    }

    fn template_limits(&self) -> template::Limits {
        let Limits { template_steps: steps, template_bytes: bytes, .. } = self.commit.context.limits;
        template::Limits { steps, bytes, ..template::Limits::default() }
    }

    fn wrong(&self, error: &kustomize::Error) -> Failure {
        if let Some(error) = error.world() {
            return Failure::World(Error::View(error.clone()));
        }
        let diagnostic = error.diagnostic();
        let placed = diagnostic.span.is_some();
        Failure::mistake(if placed { diagnostic } else { diagnostic.at(self.place().clone()) })
    }

    pub(super) fn directory(&mut self, options: &Directory) -> Result<Vec<Manifest>, Failure> {
        let files = self.files(options)?;
        self.lost_keys = self.lost_in(&files);
        Ok(files.into_iter().flat_map(|(_, manifests)| manifests).collect())
    }

    /// The objects of a directory by file.
    fn files(&mut self, options: &Directory) -> Result<Vec<(RepoPath, Vec<Manifest>)>, Failure> {
        let (view, dir) = (self.view, &self.source.path);
        let bytes_max = self.commit.renderers.limits.directory_bytes_max;
        let inputs = self.commit.context.rules.inputs();
        let mut warnings = std::mem::take(&mut self.warnings);
        let manifests = directory::render(view, dir, options, inputs, bytes_max, &mut warnings, |file| {
            self.jsonnet(file, &options.jsonnet)
        });
        self.warnings = warnings;
        manifests
    }

    fn jsonnet(&self, file: &RepoPath, options: &Jsonnet) -> Result<Vec<Manifest>, Failure> {
        let libraries = jsonnet::libraries(&self.source.path, options)?;
        let closure = jsonnet::closure(self.view, file, &libraries, options);
        let closure = closure.map_err(|error| error.or_at(|| self.source.span(&["directory", "jsonnet"])))?;
        let place = Span::file(file.clone());
        let json = self.exec().jsonnet(
            &self.site(&place)?,
            file,
            &libraries,
            &closure,
            (options, self.application.tools.jsonnet),
        )?;
        jsonnet::objects(file, &json).map_err(Failure::mistake)
    }

    pub(super) fn plugin(&mut self, plugin: &Plugin, environment: &Environment) -> Result<Vec<Manifest>, Failure> {
        let place = self.source.span(&["plugin"]);
        if plugin.name.as_deref().unwrap_or_default().is_empty() {
            let mistake = Diagnostic::error("`plugin.name` is missing: plugins are not discovered").at(place);
            return Err(Failure::mistake(mistake.hint("name the plugin")));
        }
        let text = self.exec().plugin(&self.site(&place)?, &self.source.path, plugin, environment)?;
        self.objects(&text, plugin.name.as_deref().unwrap_or("the plugin"))
    }

    /// The objects of a text that `tool` printed.
    fn objects(&self, text: &[u8], tool: &str) -> Result<Vec<Manifest>, Failure> {
        let limit = self.commit.renderers.limits.output_bytes_max;
        if limit > 0 && text.len() as u64 > limit {
            return Err(Error::of_output(self.application, limit).into());
        }
        let read = manifest::read_until(text, manifest::Source::Output(tool), self.view.stop());
        read.map_err(|unreadable| Failure::mistake(self.placed(unreadable.into())))
    }

    /// Warns of objects that SOPS encrypted: who deploys them has to decrypt them.
    pub(super) fn warn_of_encrypted(&mut self, manifests: &[Manifest]) {
        let mut encrypted = manifests.iter().filter(|manifest| encrypted::is_sops_object(manifest));
        let Some(first) = encrypted.next() else { return };
        let (name, more) = (format!("{} {}", first.kind(), first.name()), and_more(encrypted.count()));
        let text = format!("{name}{more}: encrypted with SOPS, and written as it is");
        let hint = "Flux decrypts it when it applies it (`spec.decryption`); Argo CD does not";
        self.warnings.push(Diagnostic::warning(text).at(self.place().clone()).hint(hint));
    }

    fn site<'s>(&'s self, place: &'s Span) -> Result<Site<'s>, Failure> {
        self.deeds.ran_a_program.set(true);
        Ok(Site { checkout: self.commit.checkout()?, view: self.view, place, stop: self.view.stop() })
    }

    fn exec(&self) -> &Exec {
        &self.commit.renderers.exec
    }

    /// Where the Application names its sources.
    pub(super) fn place(&self) -> &Span {
        &self.application.places.dry_path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_setting_the_limits_are_the_engines_own() {
        let Limits { template_steps, template_bytes, kustomization_nodes, kustomization_bytes, .. } = Limits::default();
        let of_templates = template::Limits::default();
        assert_eq!((template_steps, template_bytes), (of_templates.steps, of_templates.bytes));
        let of_kustomizations = kustomize::Limits { nodes: kustomization_nodes, bytes: kustomization_bytes };
        assert_eq!(of_kustomizations, kustomize::Limits::default());
    }
}
