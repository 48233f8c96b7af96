//! What a process is asked to do, as bytes and back.

use dry_files::path::RepoPath;
use dry_files::view::ContentId;

use crate::argo::Application;
use crate::argo::set::Question;
use crate::known::{Decoder, Encoder};
use crate::render::expand::Set;

/// What is to be done.
pub(super) enum Asked {
    Render(AskedApplication),
    /// Which file each object of an Application is made of.
    Trace(AskedApplication),
    Expand(AskedSet),
}

/// An Application that is to be rendered or traced.
pub(super) struct AskedApplication {
    pub file: RepoPath,
    pub index: usize,
    pub fingerprint: ContentId,
    /// What [`Application::remade`] reads; none for one that is in its file.
    pub made: Option<String>,
    /// What its file says, when that is no file of the dry tree.
    pub text: Option<String>,
    pub kube_version: Option<String>,
    pub api_versions: Vec<String>,
}

/// An ApplicationSet that is to be expanded.
pub(super) struct AskedSet {
    pub file: RepoPath,
    pub ordinal: usize,
    pub id: ContentId,
    /// What `ApplicationSet::remade` reads; none for one that is in its file.
    pub kept: Option<String>,
    pub question: Question,
}

impl AskedApplication {
    /// `brings_text` is for one whose file is not in the dry tree.
    pub(super) fn new(application: &Application, brings_text: bool) -> Self {
        Self {
            file: application.file.clone(),
            index: application.index,
            fingerprint: application.fingerprint(),
            made: application.made().map(str::to_owned),
            text: brings_text.then(|| application.text().to_owned()),
            kube_version: application.kube_version().map(str::to_owned),
            api_versions: application.api_versions().to_vec(),
        }
    }

    fn encode(&self, frame: &mut Encoder) {
        frame.text(self.file.as_str());
        frame.number(self.index as u64);
        frame.bytes(self.fingerprint.as_bytes());
        frame.optional(self.made.as_deref());
        frame.optional(self.text.as_deref());
        frame.optional(self.kube_version.as_deref());
        frame.list(self.api_versions.iter(), |frame, version| frame.text(version));
    }

    fn decode(frame: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            file: frame.path()?,
            index: usize::try_from(frame.number()?).ok()?,
            fingerprint: frame.id()?,
            made: frame.optional()?,
            text: frame.optional()?,
            kube_version: frame.optional()?,
            api_versions: frame.list(Decoder::text)?,
        })
    }
}

impl AskedSet {
    pub(super) fn new(asked: &Set<'_>) -> Self {
        Self {
            file: asked.file.clone(),
            ordinal: asked.ordinal,
            id: asked.set.id(),
            kept: asked.set.rendered_text(),
            question: asked.question.clone(),
        }
    }

    fn encode(&self, frame: &mut Encoder) {
        frame.text(self.file.as_str());
        frame.number(self.ordinal as u64);
        frame.bytes(self.id.as_bytes());
        frame.optional(self.kept.as_deref());
        frame.bytes(&serde_json::to_vec(&self.question).expect("texts and numbers are JSON"));
    }

    fn decode(frame: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            file: frame.path()?,
            ordinal: usize::try_from(frame.number()?).ok()?,
            id: frame.id()?,
            kept: frame.optional()?,
            question: serde_json::from_slice(frame.bytes()?).ok()?,
        })
    }
}

impl Asked {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut frame = Encoder::default();
        match self {
            Self::Render(application) => {
                frame.number(0);
                application.encode(&mut frame);
            }
            Self::Expand(set) => {
                frame.number(1);
                set.encode(&mut frame);
            }
            Self::Trace(application) => {
                frame.number(2);
                application.encode(&mut frame);
            }
        }
        frame.0
    }

    pub(super) fn decode(frame: &[u8]) -> Option<Self> {
        let mut frame = Decoder(frame);
        match frame.number()? {
            0 => AskedApplication::decode(&mut frame).map(Self::Render),
            1 => AskedSet::decode(&mut frame).map(Self::Expand),
            2 => AskedApplication::decode(&mut frame).map(Self::Trace),
            _ => None,
        }
    }
}
