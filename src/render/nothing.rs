//! Why an Application that renders has no object.

use crate::argo::{self, Application, Profile, Source, Tool};
use crate::render::directory;
use dry_files::diag::Diagnostic;
use dry_files::view::{Kind, View};

/// What is shown of an Application without objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nothing {
    /// Why it has none.
    pub reason: String,
    /// What to do about it, where that is plain.
    pub cure: Option<String>,
}

/// Why nothing is rendered from the files of a view.
pub(crate) fn why_nothing(application: &Application, view: &View<'_>, profile: Profile) -> Nothing {
    let mut all: Vec<Nothing> = Vec::new();
    for part in application.parts() {
        // What cannot be read would have failed.
        let Ok(source) = argo::source(view, &part, profile) else { continue };
        let is_named = part.dry.options.names_a_tool();
        all.push(of_source(&source, is_named, view));
    }
    let [first, others @ ..] = &all[..] else {
        return Nothing { reason: "it renders no object".to_owned(), cure: None };
    };
    match others {
        [] => first.clone(),
        _ => Nothing { reason: "none of its sources renders an object".to_owned(), cure: first.cure.clone() },
    }
}

/// Why one source renders no object; `is_named`: its options say which tool it is for.
fn of_source(source: &Source, is_named: bool, view: &View<'_>) -> Nothing {
    let path = &source.path;
    match &source.tool {
        Tool::Directory(options) => {
            let (reason, cure) = directory::why_nothing(view, path, options);
            Nothing { reason, cure }
        }
        Tool::Helm(_) => {
            let has_templates = path.child("templates").is_ok_and(|dir| view.kind(&dir) == Ok(Some(Kind::Directory)));
            let what = if has_templates { "whose templates give no object" } else { "which has no templates" };
            match is_named {
                true => Nothing { reason: format!("it is a chart {what}"), cure: None },
                false => Nothing {
                    reason: format!("it is a chart, since `Chart.yaml` is there, {what}"),
                    cure: Some(
                        "if it is not a chart, remove `Chart.yaml`, or set `directory: {}` in the drySource".to_owned(),
                    ),
                },
            }
        }
        Tool::Kustomize(_) => Nothing { reason: "its kustomization gives no object".to_owned(), cure: None },
        Tool::Plugin(_) => Nothing { reason: "its plugin prints no object".to_owned(), cure: None },
    }
}

impl Nothing {
    /// The warning of an Application that has no object from the beginning.
    pub(crate) fn warning(self, application: &Application) -> Diagnostic {
        let text = format!("`{}` renders no object", application.name);
        let hint = self.cure.unwrap_or_else(|| "correct `path`, or remove the Application".to_owned());
        let warning = Diagnostic::warning(text).at(application.places.dry_path.clone()).label(self.reason).hint(hint);
        application.tells(Diagnostic { is_refused_strictly: true, ..warning })
    }
}
