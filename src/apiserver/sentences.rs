//! What is reported of answers: those that are alike together, the refusals first.

use std::collections::{BTreeSet, HashMap};

use dry_files::diag::{Diagnostic, Span};
use kube_validate::{Finding, Reason};

use super::{Answer, NO_NAMESPACE, Said, SaidWhere, Server};
use crate::argo::Application;
use crate::diff::ObjectName;
use crate::settings::Validate;

/// How many different ones are reported.
const SENTENCES_MAX: usize = 50;

/// What makes a template choose a version that is served: without them, as in `helm template`, no kind is there, and the version
/// is one of Helm's.
const CHOSEN: &str = "a template that asks `.Capabilities` knows nothing of the cluster unless you say it: name its kinds, such as \
                      `networking.k8s.io/v1/Ingress`, in `helm.apiVersions` of the Application and its version in \
                      `helm.kubeVersion`, or both in the setting `clusters` (git hydrate clusters import --help)";

/// The rule that an object says its type.
const UNTYPED: &str = "untyped";

/// What objects without a namespace lack.
const NAMESPACE_FOR_ALL: &str = "set `namespace` there, or in each object: until then Argo CD syncs nothing of the Application (`InvalidSpecError`)";

/// What is said of objects of several Applications.
#[derive(Debug, Default)]
pub(crate) struct Answers<'a> {
    all: Vec<Alike<'a>>,
    /// Where in `all` what is said alike is: a push may bring a thousand mistakes in one object.
    places: HashMap<Likeness, usize>,
}

/// What makes two answers alike.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Likeness {
    server: String,
    is_strict: bool,
    was_before: bool,
    kind: String,
    said: SaidWhere,
}

/// What is said alike of objects of one kind.
#[derive(Debug)]
struct Alike<'a> {
    /// `Kubernetes 1.36`
    server: String,
    is_strict: bool,
    first: One<'a>,
    /// How many others there are.
    others: usize,
    /// In how many fields it shows that have one cause.
    fields: usize,
    /// All of them, with their Applications.
    objects: Vec<(&'a Application, ObjectName)>,
    /// The Applications of all of them, each once.
    applications: Vec<&'a Application>,
}

/// One thing that is said of an object of an Application.
#[derive(Debug)]
pub(crate) struct One<'a> {
    /// The Application.
    pub application: &'a Application,
    /// The object.
    pub object: ObjectName,
    /// What is said.
    pub said: Said,
}

impl One<'_> {
    /// Whether it is the value of a field that counts, and not that the field is there.
    pub(crate) fn is_of_value(&self) -> bool {
        let finding = &self.said.finding;
        finding.key.is_none() && !matches!(finding.reason, Reason::Unknown | Reason::Required | Reason::NotServed)
    }

    /// Whether the field does not exist.
    pub(crate) fn is_of_unknown(&self) -> bool {
        self.said.finding.reason == Reason::Unknown
    }

    /// The field, with the key that it is said of.
    pub(crate) fn field(&self) -> String {
        let Finding { field, key, .. } = &self.said.finding;
        key.as_ref().map_or_else(|| field.clone(), |key| format!("{field}[{key}]"))
    }

    /// Whether it is that nothing says the namespace of the object.
    fn is_without_namespace(&self) -> bool {
        self.said.finding.rule == NO_NAMESPACE
    }
}

/// The sentence for one thing that is said.
#[derive(Debug)]
pub(crate) struct Sentence<'a> {
    /// A warning, with its place.
    pub diagnostic: Diagnostic,
    /// Whether a server refuses the objects.
    pub is_refusal: bool,
    /// Whether it did so before a change.
    pub was_before: bool,
    /// Whose objects it is said of; none for what only counts others.
    pub applications: Vec<&'a Application>,
    /// What is said, without the objects: `Kubernetes 1.36 refuses it: …`.
    pub what: String,
    /// The objects that it is said of.
    pub objects: Vec<(&'a Application, ObjectName)>,
}

impl<'a> Answers<'a> {
    /// Adds what a server says of objects of an Application.
    pub(crate) fn add(&mut self, server: &Server<'_>, application: &'a Application, answers: Vec<Answer>) {
        for Answer { object, findings, .. } in answers {
            for said in findings {
                let is_strict = server.validate == Validate::Refuse && said.finding.is_refusal() && !said.was_before;
                self.add_one(server.name(), is_strict, One { application, object: object.clone(), said });
            }
        }
    }

    fn add_one(&mut self, server: String, is_strict: bool, one: One<'a>) {
        let likeness = Likeness {
            server: server.clone(),
            is_strict,
            was_before: one.said.was_before,
            // That is one mistake, of the Application.
            kind: if one.is_without_namespace() { String::new() } else { one.object.kind.clone() },
            said: SaidWhere::of(&one.said.finding),
        };
        match self.places.get(&likeness).and_then(|place| self.all.get_mut(*place)) {
            Some(alike) => {
                let is_known = alike.applications.iter().any(|known| std::ptr::eq(*known, one.application));
                alike.applications.extend((!is_known).then_some(one.application));
                alike.others += usize::from(alike.first.object != one.object);
                alike.objects.push((one.application, one.object));
            }
            None => {
                let (applications, objects) = (vec![one.application], vec![(one.application, one.object.clone())]);
                self.places.insert(likeness, self.all.len());
                self.all.push(Alike { server, is_strict, first: one, others: 0, fields: 1, objects, applications });
            }
        }
    }

    /// The sentences, those first that a push is refused for. `place` finds the line of the first object of each.
    pub(crate) fn sentences(mut self, place: &mut dyn FnMut(&One<'a>) -> Option<Span>) -> Vec<Sentence<'a>> {
        self.all.sort_by_key(|alike| (!alike.is_strict, !alike.first.said.finding.is_refusal()));
        let more = self.all.split_off(self.all.len().min(SENTENCES_MAX));
        let placed = self.all.into_iter().map(|alike| {
            let first = &alike.first;
            let span = match first.is_without_namespace() {
                true => first.application.places.destination.clone(),
                false => place(first),
            };
            (alike, span)
        });
        let mut folded: Vec<(Alike<'a>, Option<Span>)> = Vec::new();
        for (alike, span) in placed {
            let is_cause = |(known, at): &&mut (Alike<'a>, Option<Span>)| {
                is_same_line(at.as_ref(), span.as_ref()) && known.says_as(&alike)
            };
            match folded.iter_mut().find(is_cause) {
                Some((known, _)) => known.take(alike),
                None => folded.push((alike, span)),
            }
        }
        let mut sentences: Vec<Sentence<'a>> = folded.into_iter().map(|(alike, span)| alike.sentence(span)).collect();
        if let Some(first) = more.first() {
            let text = format!("{} more of what an API server refuses or warns of", more.len());
            let warning = Diagnostic::warning(text).hint("git hydrate check shows all of it");
            let diagnostic = Diagnostic { is_refused_strictly: first.is_strict, ..warning };
            let (is_refusal, was_before) = (first.first.said.finding.is_refusal(), first.first.said.was_before);
            let (what, applications, objects) = (String::new(), Vec::new(), Vec::new());
            sentences.push(Sentence { diagnostic, is_refusal, was_before, applications, what, objects });
        }
        sentences
    }
}

/// Whether two places are one line.
fn is_same_line(one: Option<&Span>, other: Option<&Span>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.line > 0 && one.line == other.line && one.path == other.path)
}

impl<'a> Alike<'a> {
    /// Whether it says what another one says, of another field or kind.
    fn says_as(&self, other: &Self) -> bool {
        let (one, two) = (&self.first.said, &other.first.said);
        (&self.server, self.is_strict, one.was_before) == (&other.server, other.is_strict, two.was_before)
            && (one.finding.rule, &one.finding.message) == (two.finding.rule, &two.finding.message)
    }

    /// Takes another one that has the same cause.
    fn take(&mut self, other: Self) {
        self.fields += other.fields;
        for application in other.applications {
            if !self.applications.iter().any(|known| std::ptr::eq(*known, application)) {
                self.applications.push(application);
            }
        }
        self.objects.extend(other.objects);
        self.others = self.objects.iter().map(|(_, object)| object).collect::<BTreeSet<_>>().len() - 1;
    }

    fn sentence(self, span: Option<Span>) -> Sentence<'a> {
        let One { application, object, said } = &self.first;
        let finding = &said.finding;
        let objects = match self.others {
            0 => object.to_string(),
            others => format!("{object} and {others} more"),
        };
        let what = match finding.field.as_str() {
            "" => finding.message.clone(),
            field => format!("`{field}` {}", finding.message),
        };
        let what = match self.fields {
            0 | 1 => what,
            2 => format!("{what} (and in another field)"),
            fields => format!("{what} (and in {} other fields)", fields - 1),
        };
        let who = if self.first.is_without_namespace() { "Argo CD" } else { &self.server };
        let text = match finding.is_refusal() {
            true => format!("{who} refuses {objects}: {what}"),
            false => format!("{objects}: {what} [{}]", finding.rule),
        };
        let what = format!("{who} refuses it, so the sync fails: {what}");
        let is_of_template =
            span.as_ref().is_some_and(|span| span.path.components().any(|directory| directory == "templates"));
        let diagnostic = Diagnostic::warning(text).at(span.unwrap_or_else(|| application.places.name.clone()));
        let others = self.applications.iter().skip(1).map(|other| other.name.to_string());
        let diagnostic = diagnostic.of(application.name.as_str()).also_of(others.collect::<BTreeSet<_>>());
        let diagnostic = application.tells(diagnostic);
        let diagnostic = match (self.first.is_without_namespace(), finding.reason) {
            (true, _) => diagnostic.hint(NAMESPACE_FOR_ALL),
            (false, Reason::NotServed) if is_of_template && is_of_version(finding) => diagnostic.hint(CHOSEN),
            (false, _) => diagnostic,
        };
        Sentence {
            diagnostic: Diagnostic { is_refused_strictly: self.is_strict, ..diagnostic },
            is_refusal: finding.is_refusal(),
            was_before: said.was_before,
            applications: self.applications,
            what,
            objects: self.objects,
        }
    }
}

/// Whether a type is refused for its version, which a template may choose, and not for a kind that is a slip or missing.
fn is_of_version(finding: &Finding) -> bool {
    finding.rule != UNTYPED && !finding.field.ends_with("kind")
}
