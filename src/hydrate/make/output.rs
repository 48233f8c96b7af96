//! The manifests of a rendered Application, encoded.

use std::collections::BTreeSet;

use crate::apiserver::{Answer, Server, own_crds};
use crate::argo::{AppName, Application, Drawn, Variable};
use crate::known::{Encoded, Record, UsedInputs, used_inputs};
use crate::manifest::{self, Key};
use crate::metadata::Writer;
use crate::render::{self, Rendered, Unrendered};
use crate::repo::{ObjectBuffer, ObjectId};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::ContentId;

/// What is kept of a rendered Application: its manifests are bytes in the buffer by now.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// The blob of `manifest.yaml`.
    pub manifest: ObjectId,
    /// The commands that render the same with the official tools.
    pub commands: Vec<String>,
    /// What the API server will know its objects by.
    pub objects: Vec<Key>,
    /// How many objects there are, where they were rendered now.
    pub count: Option<usize>,
    /// Of what was rendered now, the Secrets that everybody who can read the branch can read.
    pub plain_secrets: BTreeSet<Key>,
    /// The keys of the files of what was rendered now that are there twice, so that a value is lost.
    pub lost_keys: Vec<Diagnostic>,
    /// What an API server says of objects that were rendered now; of those whose kinds it does not know, that.
    pub answers: Vec<Answer>,
    /// An object that was rendered now and cannot be read again, and where it has what makes it so.
    pub unreadable: Option<(Key, String)>,
    /// Whether it is a chart that was rendered now, as a release that nothing names.
    pub is_unnamed_release: bool,
    /// That it has random values.
    pub drawn: Option<Drawn>,
    /// Whether it was rendered now.
    pub is_fresh: bool,
    /// The recorded inputs that it used.
    pub inputs: UsedInputs,
    /// All of it, and what it rests on, for the cache.
    pub record: Encoded,
}

impl Output {
    /// Encodes what an Application renders to, and keeps the bytes, within `limits`. `server` judges the objects, where one shall.
    pub(crate) fn new(
        application: &Application,
        rendered: Rendered,
        server: Option<Server<'_>>,
        writer: &Writer,
        (buffer, limits): (&ObjectBuffer<'_>, &render::Limits),
    ) -> Result<Self, Unrendered> {
        let Rendered { manifests, commands, lost_keys, reads, variables, is_unnamed_release, drawn, .. } = rendered;
        let objects = render::objects(application, &manifests);
        let (count, plain_secrets) = (Some(manifest::count(&manifests)), manifest::plain_secrets_in(&manifests));
        let answers =
            server.map(|server| server.answers(&server.judge(own_crds(&manifests)), &manifests)).unwrap_or_default();
        let unreadable = manifests.iter().find_map(|one| Some((one.key()?, manifest::unreadable(one)?)));
        let manifest = match hold(application, writer.manifest(manifests), (buffer, limits)) {
            Ok(manifest) => manifest,
            Err(error) => {
                let repeats = error.is_limit() && !error.is_limit_of_commit();
                return Err(Unrendered { failure: error.into(), reads, repeats, follows: false });
            }
        };
        let record = Record {
            names_the_commit: variables.into_iter().any(Variable::names_the_commit),
            manifest: ContentId::new(manifest.as_bytes()),
            commands,
            objects,
            drawn,
            ..Record::of(application, reads)
        };
        Ok(Self {
            count,
            plain_secrets,
            lost_keys,
            answers,
            unreadable,
            is_unnamed_release,
            is_fresh: true,
            ..Self::known(record, manifest)
        })
    }

    /// What an earlier run made. The blob of its manifest is in the branch.
    pub(crate) fn known(record: Record, manifest: ObjectId) -> Self {
        let (encoded, inputs) = (record.encode(), used_inputs(&record.reads));
        let (commands, objects, drawn) = (record.commands, record.objects, record.drawn);
        Self {
            manifest,
            commands,
            objects,
            count: None,
            plain_secrets: BTreeSet::new(),
            lost_keys: Vec::new(),
            answers: Vec::new(),
            unreadable: None,
            is_unnamed_release: false,
            drawn,
            is_fresh: false,
            inputs,
            record: encoded,
        }
    }

    /// A warning of an object of `application` that cannot be read again; none where there is none, and of what was not
    /// rendered now.
    pub(crate) fn warning(&self, application: &Application) -> Option<Diagnostic> {
        let (object, field) = self.unreadable.as_ref()?;
        let text = format!(
            "`{}` renders {object} with `{field}` beginning with a tab: Argo CD and kubectl cannot read its manifest",
            application.name
        );
        let warning = Diagnostic::warning(text).at(application.places.dry_path.clone());
        Some(application.tells(warning.hint("begin it with a line that has no tab in front")))
    }

    /// What is written for `application`.
    pub(crate) fn at<'o>(&'o self, application: &'o Application) -> PathOutput<'o> {
        PathOutput {
            dir: &application.sync_path,
            applications: vec![(&application.name, application.namespace.as_ref())],
            manifest: self.manifest,
            count: self.count,
            commands: &self.commands,
            readme: None,
            application: Some(application),
            record: Some(&self.record),
            drawn: self.drawn.as_ref(),
        }
    }
}

/// Keeps the bytes of a manifest, if they are not too many.
fn hold(
    application: &Application,
    manifest: Vec<u8>,
    (buffer, limits): (&ObjectBuffer<'_>, &render::Limits),
) -> Result<ObjectId, render::Error> {
    let (bytes, output_max, run_max) = (manifest.len() as u64, limits.output_bytes_max, limits.run_output_bytes_max);
    if output_max > 0 && bytes > output_max {
        return Err(render::Error::of_output(application, output_max));
    }
    match buffer.hold_blob_within(manifest, run_max).map_err(render::Error::Store)? {
        Some(id) => Ok(id),
        None if bytes > run_max => Err(render::Error::of_run_output(application, run_max)),
        None => Err(render::Error::NoRoom { limit: run_max }),
    }
}

/// What is written into one destination path.
pub(crate) struct PathOutput<'a> {
    pub dir: &'a RepoPath,
    /// The Applications that are rendered into it, each with its namespace.
    pub applications: Vec<(&'a AppName, Option<&'a AppName>)>,
    /// The blob of `manifest.yaml`, which the buffer has.
    pub manifest: ObjectId,
    /// How many objects it has, where they were rendered now.
    pub count: Option<usize>,
    /// The commands that render the same with the official tools.
    pub commands: &'a [String],
    /// A README that somebody else wrote; none to make it from the template.
    pub readme: Option<&'a str>,
    /// The Application, where hydration rendered it, and the record of its render.
    pub application: Option<&'a Application>,
    /// See [`PathOutput::application`].
    pub record: Option<&'a Encoded>,
    /// That it has random values.
    pub drawn: Option<&'a Drawn>,
}
