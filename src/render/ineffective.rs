//! What is written and changes nothing: values that no template reads, patches, images and replacements for objects that are
//! not there.

use super::engines::ApplicationRender;
use super::failure::Failure;
use super::{Commit, Context, Deeds, Isolation, Renderers, pool};
use crate::argo::{Application, Helm, HelmParameter, Kustomize, Tool, near};
use dry_files::diag::{Diagnostic, Span};
use dry_files::view::View;
use go_yaml::{self as yaml, Limits};
use helm_template as helm;
use kustomize_build as kustomize;

/// Something that is written and changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ineffective {
    /// A warning of it.
    pub diagnostic: Diagnostic,
    /// Whether it is in the `values.yaml` of a chart, which public charts have such things in too.
    pub is_default: bool,
    /// The value that no template reads, where they read one of nearly its name.
    pub misread: Option<Misread>,
}

/// A value that no template reads, with one of nearly its name that they read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Misread {
    /// `image.tag`
    pub value: String,
    /// `image.tagg`
    pub near: String,
}

impl Renderers {
    /// What of each Application is written and changes nothing. Always by our own engines. Of one that does not render, nothing.
    pub(crate) fn ineffective(&self, applications: &[&Application], context: &Context<'_>) -> Vec<Vec<Ineffective>> {
        if self.isolation == Isolation::Apart || applications.is_empty() {
            // It is not worth dying of.
            return vec![Vec::new(); applications.len()];
        }
        let commit = Commit::new(self, context);
        let work = |application: &&Application| commit.ineffective(application).unwrap_or_default();
        // As every render: on stacks of their own, where a panic touches no one else.
        let found = pool::in_order(applications, self.threads(), work, &|_| ()).unwrap_or_default();
        found.into_iter().map(Result::unwrap_or_default).collect()
    }
}

impl Commit<'_> {
    fn ineffective(&self, application: &Application) -> Result<Vec<Ineffective>, Failure> {
        let view = View::with_limit(self.context.files, self.limits().file_bytes_max);
        let mut found = Vec::new();
        for part in application.parts() {
            found.extend(self.with_engine(&part, &view, &Deeds::default(), |one, _, _| one.ineffective())?);
        }
        let told = |one: Ineffective| {
            let diagnostic = application.tells(one.diagnostic.of(application.name.as_str()));
            Ineffective { diagnostic, ..one }
        };
        Ok(found.into_iter().map(told).collect())
    }
}

impl ApplicationRender<'_, '_> {
    /// What of the source changes nothing.
    pub(super) fn ineffective(&mut self) -> Result<Vec<Ineffective>, Failure> {
        match &self.source.tool {
            Tool::Helm(helm) => self.unread(helm),
            Tool::Kustomize(kustomize) => self.unmatched(kustomize),
            Tool::Directory(_) | Tool::Plugin(_) => Ok(Vec::new()),
        }
    }

    fn unmatched(&mut self, kustomize: &Kustomize) -> Result<Vec<Ineffective>, Failure> {
        let edits = self.edits(kustomize)?;
        let unmatched = self.built(&edits, false)?.unmatched;
        let warning = |error: &kustomize::Error| self.placed(error.diagnostic()).as_warning();
        Ok(unmatched
            .iter()
            .map(|error| Ineffective { diagnostic: warning(error), is_default: false, misread: None })
            .collect())
    }

    fn unread(&mut self, helm: &Helm) -> Result<Vec<Ineffective>, Failure> {
        let release = self.release(helm)?;
        let options = self.helm_options(&release);
        let charts = &self.commit.renderers.charts;
        let unread = helm::unread(charts, self.view, &release.chart, &options)
            .map_err(|error| Failure::mistake(self.placed(error.diagnostic())))?;
        Ok(unread.into_iter().filter_map(|one| self.warning(one, helm)).collect())
    }

    /// A warning of a value; none where it is one of a chart that has no name like it.
    fn warning(&self, unread: helm::Unread, options: &Helm) -> Option<Ineffective> {
        let helm::Unread { path, known, span, is_default } = unread;
        let key = path.last()?;
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let near = near(key, &known);
        let misread = near.map(|near| {
            let of_near: Vec<&str> = path.iter().rev().skip(1).rev().map(String::as_str).chain([near]).collect();
            Misread { value: path.join("."), near: of_near.join(".") }
        });
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if is_default => return None,
            None => "take it away, or correct its name: it has no effect".to_owned(),
        };
        let text = format!("nothing in the chart reads the value `{}`", path.join("."));
        let in_application = || {
            let parameter = self.in_parameters(options, &path);
            parameter.or_else(|| options.values_object.as_ref().map(|_| self.in_values_object(&path)))
        };
        let in_application = || in_application().or_else(|| self.in_values(options, &path));
        // Without the text of the line: its value may be a secret.
        let span = span.or_else(in_application).map(Span::unquoted);
        let diagnostic = Diagnostic::warning(text).at(span.unwrap_or_else(|| self.place().clone())).hint(hint);
        Some(Ineffective { diagnostic, is_default, misread })
    }

    /// Where an Application has a value among its `parameters`: the last one that sets it, or a part of it.
    fn in_parameters(&self, options: &Helm, path: &[String]) -> Option<Span> {
        let name = path.join(".");
        let sets = |parameter: &HelmParameter| {
            let rest = parameter.name.strip_prefix(&name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let index = options.parameters.iter().rposition(sets)?.to_string();
        Some(self.source.span(&["helm", "parameters", &index, "name"]))
    }

    /// Where an Application has a value in the text `values`.
    fn in_values(&self, options: &Helm, path: &[String]) -> Option<Span> {
        let documents = yaml::parse(options.values.as_ref()?.as_bytes(), &Limits::default()).ok()?;
        let (mut node, mut line) = (documents.first()?, 0);
        for key in path {
            let (name, below) = node.as_mapping()?.iter().find(|(name, _)| name.as_str() == Some(key))?;
            (node, line) = (below, name.mark.line);
        }
        Some(self.source.span_of_line(&["helm", "values"], line))
    }

    /// Where an Application has a value in its `valuesObject`.
    fn in_values_object(&self, path: &[String]) -> Span {
        let path = ["helm", "valuesObject"].into_iter().chain(path.iter().map(String::as_str));
        self.source.span(&path.collect::<Vec<_>>())
    }
}
