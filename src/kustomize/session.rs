//! What all steps of one build share.

use dry_files::view::View;

use super::generate::helm::request::RenderChart;
use super::options::Options;
use super::schema::Schema;
use super::transform::ImagePlaces;
use super::tree::Tree;

pub(crate) struct Session<'s> {
    pub(crate) view: &'s View<'s>,
    pub(crate) options: &'s Options,
    pub(crate) charts: Option<&'s dyn RenderChart>,
    pub(crate) tree: Tree,
    pub(crate) schema: Schema,
    /// Where the images of the resources are that are being changed, from one who changes images to the next.
    pub(crate) images: Option<ImagePlaces>,
    pub(crate) warnings: Vec<String>,
    /// How many kustomizations were read.
    pub(crate) kustomizations: usize,
}

impl<'s> Session<'s> {
    pub(crate) fn new(view: &'s View<'s>, options: &'s Options, charts: Option<&'s dyn RenderChart>) -> Self {
        Self {
            view,
            options,
            charts,
            tree: Tree::new(options.limits, view.stop().clone()),
            schema: Schema::default(),
            images: None,
            warnings: Vec::new(),
            kustomizations: 0,
        }
    }
}
