//! What Applications make by rendering others.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::super::super::reader::too_many_applications;
use super::super::Discovered;
use super::sets::LIMITS;
use super::{Expansion, Expansions, Key, ParentFailure, Refused, RenderedParent, Site, Unanswered};
use crate::argo::Application;
use crate::argo::parent::{Makes, Origins, Parent, Written};
use crate::argo::set::Limits;
use dry_files::diag::Diagnostic;
use dry_files::diag::more::and_more_in_brackets;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Reads, Seen, View};

/// A parent, and the Application that is rendered for it.
pub(super) struct Asked {
    pub parent: Parent,
    pub application: Application,
}

/// How large the files may be together that are searched for where rendered Applications come from.
const ORIGIN_BYTES_MAX: usize = 16 << 20;

impl Asked {
    fn key(&self) -> Key {
        let mut hash = Sha256::new();
        hash.update(self.application.fingerprint().as_bytes());
        hash.update(self.application.placement().as_bytes());
        hash.update(serde_json::to_vec(&self.parent).expect("texts and numbers are JSON"));
        (self.parent.file.clone(), ContentId::new(&hash.finalize()), self.parent.ordinal())
    }
}

impl Expansions {
    /// The Applications and sets that parents make of a tree, in the order of parents. Parents without a known answer
    /// are rendered at once.
    ///
    /// Errors: the world failed.
    pub(super) fn of_parents(
        &mut self,
        asked: &[Asked],
        discovered: &Discovered,
        site: &Site<'_>,
    ) -> Result<Vec<Arc<Expansion>>, String> {
        let view = View::new(site.files);
        let confirmed = |expansion: &Expansion| view.confirms(&expansion.reads).unwrap_or(false);
        let mut known: Vec<Option<Arc<Expansion>>> =
            asked.iter().map(|asked| self.known(&asked.key(), confirmed)).collect();
        let unknown = || asked.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(asked, _)| asked);
        let applications: Vec<&Application> = unknown().map(|asked| &asked.application).collect();
        let rendered = match applications.is_empty() {
            true => Vec::new(),
            false => site.renders.render(&applications, site.files),
        };
        let mut rendered = rendered.into_iter();
        for (asked, known) in asked.iter().zip(&mut known) {
            if known.is_none() {
                let rendered = rendered.next().ok_or("a render has no result")?;
                let expansion = Arc::new(expansion(asked, rendered, &view, site)?);
                self.keep(asked.key(), &expansion, discovered);
                *known = Some(expansion);
            }
        }
        Ok(known.into_iter().flatten().collect())
    }
}

pub(super) fn expansion(
    asked: &Asked,
    rendered: RenderedParent,
    view: &View<'_>,
    site: &Site<'_>,
) -> Result<Expansion, String> {
    let RenderedParent { objects, reads, repeats } = rendered;
    let (parent, makers) = (&asked.parent, site.makers);
    let max = makers.limits.applications;
    let made = match objects {
        Ok(objects) if objects.is_empty() => Ok(Makes::default()),
        // Before they become Applications, of which each takes several times as much memory.
        Ok(objects) if objects.len() > max => {
            let diagnostic = Diagnostic::error(too_many_applications(max)).at(parent.place.clone());
            Err(Refused { diagnostic: asked.application.tells(diagnostic), is_limit: false })
        }
        Ok(objects) => {
            let written = Written::of(&reads, view, &makers.rules, &makers.applications);
            Ok(parent.makes(objects, (&origins(&reads, view), &written), &makers.rules))
        }
        Err(unrendered) => Err(refused(parent, &asked.application, unrendered)?),
    };
    let nothing = Limits { applications: 0, params: 0, bytes: 0, template: LIMITS.template };
    let used = Limits { template: go_template::Limits { steps: 0, ..nothing.template }, ..nothing };
    let cost = made.as_ref().map_or(0, Makes::cost);
    Ok(Expansion { made, reads: Arc::new(reads), repeats, clusters: None, used, cost })
}

impl Unanswered {
    /// Why the Applications of a parent are unknown after it was rendered; none when they are known.
    ///
    /// Errors: the world failed.
    pub fn of(application: &Application, rendered: RenderedParent) -> Result<Option<Self>, String> {
        let Err(unrendered) = rendered.objects else { return Ok(None) };
        let parent = Parent::of(application);
        let Refused { diagnostic, is_limit } = refused(&parent, application, unrendered)?;
        Ok(Some(Self {
            by: parent.by,
            file: parent.file,
            diagnostic,
            is_limit,
            is_reported: true,
            asks_for_clusters: false,
        }))
    }
}

fn refused(parent: &Parent, application: &Application, unrendered: ParentFailure) -> Result<Refused, String> {
    let because = |reason: &str| format!("{} makes no Applications: {reason}", parent.by);
    match unrendered {
        ParentFailure::World(why) => Err(why),
        ParentFailure::Mistakes(mistakes) => {
            let more = and_more_in_brackets(mistakes.len().saturating_sub(1));
            let first = mistakes.into_iter().find(Diagnostic::is_error);
            let first = first.unwrap_or_else(|| Diagnostic::error("it fails to render").at(parent.place.clone()));
            let message = because(&(first.message.clone() + &more));
            Ok(Refused { diagnostic: Diagnostic { message, ..application.tells(first) }, is_limit: false })
        }
        ParentFailure::Limit(limit) => {
            let diagnostic = Diagnostic::error(because(&limit)).at(parent.place.clone());
            Ok(Refused { diagnostic: application.tells(diagnostic), is_limit: true })
        }
    }
}

/// The files that were read and may contain what was rendered.
fn origins(reads: &Reads, view: &View<'_>) -> Origins {
    let mut origins = Origins::default();
    let mut left = ORIGIN_BYTES_MAX;
    for path in contents(reads) {
        let Ok(blob) = view.read(path) else { continue };
        if Origins::takes(&blob.data) {
            left = left.saturating_sub(blob.data.len());
            if left == 0 {
                break;
            }
            origins.add(path, &blob.data);
        }
    }
    origins
}

/// The files whose contents were read.
pub(super) fn contents(reads: &Reads) -> impl Iterator<Item = &RepoPath> {
    reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_))).map(|((path, _), _)| path)
}
