//! What an API server would refuse of all objects that render, and what it would let pass though people would want to hear of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Rule};
use crate::apiserver::{Answer, Answers, One, Server, own_crds};
use crate::argo::{Application, BranchName};
use crate::manifest::Manifest;
use crate::owners::policy::Policy;
use crate::render::places::{Places, Wanted};
use crate::render::{self, Rendered, Renderers};
use crate::versions::Kubernetes;
use dry_files::diag::Diagnostic;
use kube_validate::{Crds, Judge};

/// What renders, and by what it is judged.
pub(super) struct Asked<'a> {
    pub rendered: &'a [(&'a Application, Rendered)],
    pub policy: &'a Policy,
    pub context: &'a render::Context<'a>,
    /// The version that all clusters shall have; none for that of each.
    pub kubernetes: Option<Kubernetes>,
}

impl Asked<'_> {
    /// Takes down what is refused and warned of. Answers how many objects there are of each kind that nothing is known
    /// to define.
    pub(super) fn find(&self, renderers: &Renderers, found: &mut Findings) -> BTreeMap<String, usize> {
        let mut answers = Answers::default();
        let mut definitions = BTreeMap::new();
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        let mut count = |kind: &str| *unknown.entry(kind.to_owned()).or_default() += 1;
        for (application, result) in self.rendered {
            let settings = &self.policy.settings;
            let server = match self.kubernetes {
                Some(kubernetes) => Server::running(kubernetes, settings).map(|one| one.for_objects_of(application)),
                None => Server::of(application, settings),
            };
            let Some(server) = server else { continue };
            let plain = server.answers(&server.judge(own_crds(&result.manifests)), &result.manifests);
            let (custom, mut said): (Vec<Answer>, Vec<Answer>) =
                plain.into_iter().partition(|answer| answer.is_unknown_kind);
            for group in custom.iter().map(Answer::group).collect::<BTreeSet<_>>() {
                let key = (application.environment_branch(), server.name(), group.to_owned());
                let judge = definitions.entry(key).or_insert_with(|| self.judge(&server, application, group));
                let of_group = result.manifests.iter().filter(|manifest| manifest.group() == group);
                match judge {
                    Some(judge) => {
                        let answers = server.answers(judge, of_group);
                        let unjudged = answers.iter().filter(|answer| answer.is_unknown_kind);
                        unjudged.for_each(|answer| count(&answer.object.kind));
                        said.extend(answers);
                    }
                    None => of_group.for_each(|manifest| count(manifest.kind())),
                }
            }
            said.retain(|answer| !answer.findings.is_empty());
            answers.add(&server, application, said);
        }
        self.tell(answers, renderers, found);
        unknown
    }

    /// What judges objects of an API group beside those of an Application; none where nothing is known to define its kinds.
    fn judge(&self, server: &Server<'_>, application: &Application, group: &str) -> Option<Judge> {
        let (mut texts, _) = self.policy.crds(self.context.files, group);
        let branch: &BranchName = application.environment_branch();
        let here = self.rendered.iter().filter(|(other, _)| other.environment_branch() == branch);
        let manifests = here.flat_map(|(_, result)| &result.manifests);
        let defines = |manifest: &&Manifest| manifest.key().is_some_and(|key| key.defined_group() == Some(group));
        texts.extend(manifests.filter(defines).map(|crd| crate::manifest::encode(std::slice::from_ref(crd))));
        (!texts.is_empty()).then(|| {
            let mut crds = Crds::new();
            texts.into_iter().for_each(|text| crds.add(text));
            server.judge(crds)
        })
    }

    fn tell(&self, answers: Answers<'_>, renderers: &Renderers, found: &mut Findings) {
        let mut places = Places::new(renderers, self.context);
        let mut place = |one: &One<'_>| {
            let is_it = |application: &Application| std::ptr::eq(application, one.application);
            let (application, result) = self.rendered.iter().find(|(application, _)| is_it(application))?;
            let (object, is_value) = (&one.object, one.is_of_value());
            let field = &one.field();
            places.find(Wanted {
                application,
                reads: &result.reads,
                object,
                field,
                is_value,
                is_unknown: one.is_of_unknown(),
            })
        };
        for sentence in answers.sentences(&mut place) {
            let rule = if sentence.is_refusal { Rule::Refused } else { Rule::Doubtful };
            let is_error = sentence.diagnostic.is_refused_strictly;
            let diagnostic = if is_error { sentence.diagnostic.as_error() } else { sentence.diagnostic.clone() };
            // They are listed beside it.
            let diagnostic = Diagnostic { application: None, other_applications: None, ..diagnostic };
            let mut names: Vec<Option<&str>> =
                sentence.applications.iter().map(|one| Some(one.name.as_str())).collect();
            if names.is_empty() {
                names.push(None);
            }
            for name in names {
                found.add(rule, diagnostic.clone(), name);
            }
        }
    }
}
