//! What all steps of one build share.

use dry_files::view::View;

use super::error::Error;
use super::generate::helm::request::RenderChart;
use super::options::Options;
use super::schema::Schema;
use super::transform::ImagePlaces;
use super::tree::Tree;
use super::version::{Difference, Switches};

pub(crate) struct Session<'s> {
    pub view: &'s View<'s>,
    pub options: &'s Options,
    pub charts: Option<&'s dyn RenderChart>,
    pub tree: Tree,
    pub schema: Schema,
    /// Where the images of the resources are that are being changed, from one who changes images to the next.
    pub images: Option<ImagePlaces>,
    pub warnings: Vec<String>,
    /// What the transformer that runs asks for and does not find.
    pub missed: Vec<Error>,
    /// What the kustomization that is built asks for and changes nothing, each with its place.
    pub unmatched: Vec<Error>,
    /// How many kustomizations were read.
    pub kustomizations: usize,
}

impl<'s> Session<'s> {
    pub(crate) fn new(
        view: &'s View<'s>,
        options: &'s Options,
        switches: Switches,
        charts: Option<&'s dyn RenderChart>,
    ) -> Self {
        Self {
            view,
            options,
            charts,
            tree: Tree::new(options.limits, view.stop().clone(), switches),
            schema: Schema::default(),
            images: None,
            warnings: Vec::new(),
            missed: Vec::new(),
            unmatched: Vec::new(),
            kustomizations: 0,
        }
    }

    /// Whether the Kustomize that is built as does so.
    pub(crate) fn has(&self, difference: Difference) -> bool {
        self.tree.switches.has(difference)
    }
}
