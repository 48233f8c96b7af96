use super::{Accumulator, Target, add_origins};
use crate::kustomize::error::{Error, Result};
use crate::kustomize::generate::helm::Chart;
use crate::kustomize::generate::{self, Generated};
use crate::kustomize::kustomization::{GeneratorArgs, HelmChart, HelmGlobals};
use crate::kustomize::origin::Origin;
use crate::kustomize::read::{self, Source};
use crate::kustomize::resource::{self, annotation};
use crate::kustomize::resources::{Resource, Resources};
use crate::kustomize::session::Session;
use crate::kustomize::tree::NodeId;

/// A generator, configured and ready to run.
#[derive(Debug)]
pub(super) enum Generator {
    Data(Generated, GeneratorArgs),
    Chart(Chart),
    /// An object that was made when the generator was configured.
    Object(NodeId),
}

impl Generator {
    fn generate(&self, session: &mut Session<'_>, target: &Target) -> Result<Resources> {
        let roots = match self {
            Generator::Data(what, args) => vec![generate::generate(session, &target.loader, *what, args)?],
            Generator::Object(root) => vec![*root],
            Generator::Chart(chart) => {
                let manifests = chart.render(session)?;
                let roots = read::resources(&mut session.tree, manifests.as_bytes(), Source::INLINE)?;
                for root in &roots {
                    resource::set_annotation(&mut session.tree, *root, annotation::HELM_GENERATED, "true")?;
                }
                roots
            }
        };
        let mut generated = Resources::default();
        for root in roots {
            generated.append(&session.tree, &session.schema, Resource::new(root))?;
        }
        Ok(generated)
    }
}

impl Target {
    pub(super) fn run_generators(&mut self, session: &mut Session<'_>, gathered: &mut Accumulator) -> Result<()> {
        let mut generators = self.builtin_generators(session)?;
        let external = self
            .external_generators(session)
            .map_err(|error| if error.is_final() { error } else { error.prefix("loading generator plugins") })?;
        generators.extend(external);
        for (generator, origin) in &generators {
            let generated = generator.generate(session, self)?;
            add_origins(session, &generated, origin.as_ref())?;
            let Session { tree, schema, .. } = session;
            gathered
                .resources
                .absorb_all(tree, schema, generated)
                .map_err(|error| error.prefix("merging from generator"))?;
            gathered.resources.changed();
            session.tree.check()?;
        }
        Ok(())
    }

    /// Those of the kustomization's own fields, with the origin of what they make.
    fn builtin_generators(&self, session: &mut Session<'_>) -> Result<Vec<(Generator, Option<Origin>)>> {
        let origin = |kind: &str| self.origin.as_ref().map(|origin| origin.builtin(self.file_name, kind));
        let kustomization = &self.kustomization;
        let global = kustomization.generator_options.as_deref();
        let mut generators = Vec::new();
        let lists = [
            (Generated::ConfigMap, "ConfigMapGenerator", &kustomization.config_map_generator),
            (Generated::Secret, "SecretGenerator", &kustomization.secret_generator),
        ];
        for (what, kind, list) in lists {
            for args in list.iter().flatten() {
                let mut args = args.clone();
                args.options = generate::merge_options(args.options.take(), global);
                generators.push((Generator::Data(what, args), origin(kind)));
            }
        }
        for chart in kustomization.helm_charts.iter().flatten() {
            let globals = kustomization.helm_globals.as_deref().cloned().unwrap_or_default();
            let chart = self.configure_chart(session, &globals, chart.clone()).map_err(|error| {
                if error.is_final() {
                    return error;
                }
                error.prefix(format!(
                    "trouble configuring builtin HelmChartInflationGenerator with config: `\nname: {}\n`",
                    chart.name
                ))
            })?;
            generators.push((Generator::Chart(chart), origin("HelmChartInflationGenerator")));
        }
        Ok(generators)
    }

    fn configure_chart(&self, session: &mut Session<'_>, globals: &HelmGlobals, mut chart: HelmChart) -> Result<Chart> {
        if chart.namespace.is_empty() {
            let own = &self.kustomization.namespace;
            chart.namespace.clone_from(if own.is_empty() { &self.helm_namespace } else { own });
        }
        Chart::configure(session, &self.loader, globals, chart)
    }

    fn external_generators(&mut self, session: &mut Session<'_>) -> Result<Vec<(Generator, Option<Origin>)>> {
        let entries = self.kustomization.generators.clone().unwrap_or_default();
        let plugins = self.plugin_objects(session, &entries, "configuring external generator")?;
        let mut generators = Vec::new();
        for root in plugins {
            let generator = self.configure_generator(session, root).map_err(|error: Error| {
                if error.is_final() { error } else { error.prefix("failed to load generator") }
            })?;
            generators.push((generator, Origin::of_plugin(&session.tree, root)));
        }
        Ok(generators)
    }
}
