//! `generators`: those that are built in, configured by documents.

use super::{Accumulator, Target, add_origins};
use crate::error::{Error, Result};
use crate::generate::helm::Chart;
use crate::generate::{self, Generated};
use crate::kustomization::{GeneratorArgs, HelmChart, HelmGlobals};
use crate::origin::Origin;
use crate::read::{self, Source};
use crate::resource::{self, annotation};
use crate::resources::{Resource, Resources};
use crate::session::Session;
use crate::tree::NodeId;
use crate::version::Difference;

/// A generator, configured and ready to run.
#[derive(Debug)]
pub(super) enum Generator {
    Data(Generated, GeneratorArgs),
    Chart(Chart),
    /// An object that was made when the generator was configured.
    Object(NodeId),
}

/// A generator with the place that configures it.
struct Configured {
    generator: Generator,
    /// The origin of what it makes.
    origin: Option<Origin>,
    /// Where it is in the kustomization.
    field: &'static str,
    index: usize,
}

impl Generator {
    fn generate(&self, session: &mut Session<'_>, target: &Target) -> Result<Resources> {
        let roots = match self {
            Generator::Data(what, args) => vec![generate::generate(session, &target.loader, *what, args)?],
            Generator::Object(root) => vec![*root],
            Generator::Chart(chart) => {
                let manifests = chart.render(session)?;
                let roots = read::resources(&mut session.tree, manifests.as_bytes(), Source::INLINE)?;
                let marked = if session.has(Difference::ChartNamespace) { roots.as_slice() } else { &[] };
                for root in marked {
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
        for Configured { generator, origin, field, index } in &generators {
            self.run_generator(session, gathered, generator, origin.as_ref())
                .map_err(|error| error.inside(*index).inside(*field))?;
        }
        Ok(())
    }

    fn run_generator(
        &self,
        session: &mut Session<'_>,
        gathered: &mut Accumulator,
        generator: &Generator,
        origin: Option<&Origin>,
    ) -> Result<()> {
        let generated = generator.generate(session, self)?;
        add_origins(session, &generated, origin)?;
        let Session { tree, schema, .. } = session;
        gathered
            .resources
            .absorb_all(tree, schema, generated)
            .map_err(|error| error.prefix("merging from generator"))?;
        session.tree.check()
    }

    /// Those of the kustomization's own fields.
    fn builtin_generators(&self, session: &mut Session<'_>) -> Result<Vec<Configured>> {
        let origin = |kind: &str| self.origin.as_ref().map(|origin| origin.builtin(self.file_name, kind));
        let kustomization = &self.kustomization;
        let global = kustomization.generator_options.as_deref();
        let mut generators = Vec::new();
        let lists = [
            (Generated::ConfigMap, "ConfigMapGenerator", "configMapGenerator", &kustomization.config_map_generator),
            (Generated::Secret, "SecretGenerator", "secretGenerator", &kustomization.secret_generator),
        ];
        for (what, kind, field, list) in lists {
            for (index, args) in list.iter().flatten().enumerate() {
                let mut args = args.clone();
                args.options = generate::merge_options(args.options.take(), global);
                generators.push(Configured {
                    generator: Generator::Data(what, args),
                    origin: origin(kind),
                    field,
                    index,
                });
            }
        }
        let field = "helmCharts";
        for (index, chart) in kustomization.helm_charts.iter().flatten().enumerate() {
            let globals = kustomization.helm_globals.as_deref().cloned().unwrap_or_default();
            let chart = self
                .configure_chart(session, &globals, chart.clone())
                .map_err(|error| not_configured(error.inside(index).inside(field), &chart.name))?;
            let origin = origin("HelmChartInflationGenerator");
            generators.push(Configured { generator: Generator::Chart(chart), origin, field, index });
        }
        Ok(generators)
    }

    fn configure_chart(&self, session: &mut Session<'_>, globals: &HelmGlobals, mut chart: HelmChart) -> Result<Chart> {
        if chart.namespace.is_empty() && session.has(Difference::ChartNamespace) {
            let own = &self.kustomization.namespace;
            chart.namespace.clone_from(if own.is_empty() { &self.helm_namespace } else { own });
        }
        Chart::configure(session, &self.loader, globals, chart)
    }

    fn external_generators(&mut self, session: &mut Session<'_>) -> Result<Vec<Configured>> {
        let entries = self.kustomization.generators.clone().unwrap_or_default();
        let field = "generators";
        let plugins = self
            .plugin_objects(session, &entries, "configuring external generator")
            .map_err(|error| error.inside(field))?;
        let mut generators = Vec::new();
        for (root, index) in plugins {
            let generator = self.configure_generator(session, root).map_err(|error| {
                let error = error.inside(index).inside(field);
                if error.is_final() { error } else { error.prefix("failed to load generator") }
            })?;
            generators.push(Configured { generator, origin: Origin::of_plugin(&session.tree, root), field, index });
        }
        Ok(generators)
    }
}

fn not_configured(error: Error, chart: &str) -> Error {
    if error.is_final() {
        return error;
    }
    error.prefix(format!("trouble configuring builtin HelmChartInflationGenerator with config: `\nname: {chart}\n`"))
}
