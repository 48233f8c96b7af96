//! The build environment: the variables that a source's options may name.
//!
//! Only what is tied to the dry commit and the Application is there. Which variables were used is reported, because the
//! commit's id changes with every commit, and so does what was made with it.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;

use super::mistake::{Mistake, Mistakes};
use super::{Application, Jsonnet, Profile, Source, Tool};

/// A variable of the build environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// `ARGOCD_APP_NAME`, in the profile `argocd` only.
    AppName,
    /// `ARGOCD_APP_NAMESPACE`: where the Application deploys to; in the profile `argocd` only.
    AppNamespace,
    /// `ARGOCD_APP_PROJECT_NAME`, in the profile `argocd` only.
    ProjectName,
    /// `ARGOCD_APP_REVISION`: the full id of the dry commit.
    Revision,
    /// `ARGOCD_APP_REVISION_SHORT`: its first 7 digits.
    RevisionShort,
    /// `ARGOCD_APP_REVISION_SHORT_8`: its first 8 digits; in the profile `argocd` only.
    RevisionShort8,
    /// `ARGOCD_APP_SOURCE_PATH`, as written in the Application.
    SourcePath,
    /// `ARGOCD_APP_SOURCE_REPO_URL`, as written in the Application.
    SourceRepoUrl,
    /// `ARGOCD_APP_SOURCE_TARGET_REVISION`, as written in the Application.
    SourceTargetRevision,
}

impl Variable {
    const PROPOSAL: &[Variable] = &[
        Variable::Revision,
        Variable::RevisionShort,
        Variable::SourcePath,
        Variable::SourceRepoUrl,
        Variable::SourceTargetRevision,
    ];
    const ARGOCD: &[Variable] = &[
        Variable::AppName,
        Variable::AppNamespace,
        Variable::ProjectName,
        Variable::Revision,
        Variable::RevisionShort,
        Variable::RevisionShort8,
        Variable::SourceRepoUrl,
        Variable::SourcePath,
        Variable::SourceTargetRevision,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Variable::AppName => "ARGOCD_APP_NAME",
            Variable::AppNamespace => "ARGOCD_APP_NAMESPACE",
            Variable::ProjectName => "ARGOCD_APP_PROJECT_NAME",
            Variable::Revision => "ARGOCD_APP_REVISION",
            Variable::RevisionShort => "ARGOCD_APP_REVISION_SHORT",
            Variable::RevisionShort8 => "ARGOCD_APP_REVISION_SHORT_8",
            Variable::SourcePath => "ARGOCD_APP_SOURCE_PATH",
            Variable::SourceRepoUrl => "ARGOCD_APP_SOURCE_REPO_URL",
            Variable::SourceTargetRevision => "ARGOCD_APP_SOURCE_TARGET_REVISION",
        }
    }

    /// The variable of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ARGOCD.iter().copied().find(|variable| variable.name() == name)
    }

    /// Whether its value is another one in every dry commit, so that no earlier result can be used.
    pub fn names_the_commit(self) -> bool {
        matches!(self, Variable::Revision | Variable::RevisionShort | Variable::RevisionShort8)
    }

    /// Its value for an Application at a dry commit.
    fn value(self, application: &Application, dry_commit: &str) -> String {
        let short = |len: usize| dry_commit.get(..len).unwrap_or(dry_commit).to_owned();
        let dry = &application.dry;
        match self {
            Variable::AppName => application.name.to_string(),
            Variable::AppNamespace => application.destination_namespace.clone().unwrap_or_default(),
            Variable::ProjectName => application.project.clone(),
            Variable::Revision => dry_commit.to_owned(),
            Variable::RevisionShort => short(7),
            Variable::RevisionShort8 => short(8),
            Variable::SourcePath => dry.path_text.clone(),
            Variable::SourceRepoUrl => dry.repo_url.clone(),
            Variable::SourceTargetRevision => dry.target_revision.clone(),
        }
    }
}

/// The variables of one Application at one dry commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    values: Vec<(Variable, String)>,
    /// Whether files may begin with `$name/`, the name of a source.
    has_refs: bool,
}

/// A source whose options name no variable any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Substituted {
    /// The source, ready for its engine.
    pub source: Source,
    /// The variables that its options named.
    pub used: BTreeSet<Variable>,
    /// Warnings only.
    pub diagnostics: Vec<Diagnostic>,
}

impl Environment {
    /// The variables that a profile has.
    ///
    /// `dry_commit` is the full id, in hexadecimal.
    ///
    /// Reference: the Manifest Hydrator proposal, "Build Environment Support"; Argo CD 3 reposerver/repository
    /// `newEnv`.
    pub fn new(profile: Profile, application: &Application, dry_commit: &str) -> Self {
        let variables = match application.profile(profile) {
            Profile::Proposal => Variable::PROPOSAL,
            Profile::Argocd => Variable::ARGOCD,
        };
        let values = variables.iter().map(|&variable| (variable, variable.value(application, dry_commit))).collect();
        Self { values, has_refs: !application.sources.is_empty() }
    }

    /// All variables, for what runs with them as its environment. Who asks has used them all.
    pub fn variables(&self) -> impl Iterator<Item = (Variable, &str)> {
        self.values.iter().map(|(variable, value)| (*variable, value.as_str()))
    }

    /// Replaces the variables in the options that Argo CD replaces them in, and in no other.
    ///
    /// These are `helm.parameters[].value`, `helm.valueFiles[]`, `helm.fileParameters[].path`, `kustomize.images[]`,
    /// the values of `kustomize.commonLabels` and, with `commonAnnotationsEnvsubst`, of `commonAnnotations`, the
    /// values of Jsonnet's `extVars` and `tlas`, and `plugin.env[].value`.
    ///
    /// Errors: every `ARGOCD_…` or `KUBE_…` that is not there. Any other name is replaced by nothing, as in
    /// Argo CD, with a warning.
    pub fn substitute(&self, source: &Source) -> Result<Substituted, Vec<Diagnostic>> {
        let mut result = source.clone();
        let mut substitution = Substitution {
            environment: self,
            source,
            used: BTreeSet::new(),
            mistakes: Mistakes::default(),
            bytes_left: GROWTH_BYTES_MAX,
        };
        match &mut result.tool {
            Tool::Helm(helm) => {
                for (index, file) in helm.value_files.iter_mut().enumerate() {
                    substitution.file(&["helm", "valueFiles", &index.to_string()], file);
                }
                for (index, parameter) in helm.parameters.iter_mut().enumerate() {
                    substitution.replace(&["helm", "parameters", &index.to_string(), "value"], &mut parameter.value);
                }
                for (index, parameter) in helm.file_parameters.iter_mut().enumerate() {
                    substitution.file(&["helm", "fileParameters", &index.to_string(), "path"], &mut parameter.path);
                }
            }
            Tool::Kustomize(kustomize) => {
                substitution.list(&["kustomize", "images"], &mut kustomize.images);
                for (label, value) in &mut kustomize.common_labels {
                    substitution.replace(&["kustomize", "commonLabels", label], value);
                }
                if kustomize.common_annotations_envsubst {
                    for (annotation, value) in &mut kustomize.common_annotations {
                        substitution.replace(&["kustomize", "commonAnnotations", annotation], value);
                    }
                }
            }
            Tool::Directory(directory) => {
                let Jsonnet { ext_vars, tlas, libs: _ } = &mut directory.jsonnet;
                for (field, variables) in [("extVars", ext_vars), ("tlas", tlas)] {
                    for (index, variable) in variables.iter_mut().enumerate() {
                        let path = ["directory", "jsonnet", field, &index.to_string(), "value"];
                        substitution.replace(&path, &mut variable.value);
                    }
                }
            }
            Tool::Plugin(plugin) => {
                for (index, variable) in plugin.env.iter_mut().enumerate() {
                    substitution.replace(&["plugin", "env", &index.to_string(), "value"], &mut variable.value);
                }
            }
        }
        let Substitution { used, mistakes, .. } = substitution;
        if mistakes.is_error() {
            return Err(mistakes.into_diagnostics());
        }
        Ok(Substituted { source: result, used, diagnostics: mistakes.into_diagnostics() })
    }

    /// A file's name with its variables replaced, for looking for the file without rendering: unknown variables become
    /// empty.
    pub fn file(&self, text: &str) -> String {
        let is_ref = self.has_refs && text.starts_with('$');
        let (name, rest) = text.split_at(if is_ref { text.find('/').unwrap_or(text.len()) } else { 0 });
        format!("{name}{}", expand(rest, |name| self.value_or_empty(name)))
    }

    fn value_or_empty(&self, name: &str) -> String {
        match name {
            "$" => "$".to_owned(),
            name => self.get(name).map(|(_, value)| value.to_owned()).unwrap_or_default(),
        }
    }

    fn get(&self, name: &str) -> Option<(Variable, &str)> {
        self.variables().find(|(variable, _)| variable.name() == name)
    }
}

/// How much the values of variables may add to a source's options, in bytes.
const GROWTH_BYTES_MAX: usize = 1 << 20;

/// One pass over the options of a source.
struct Substitution<'a> {
    environment: &'a Environment,
    source: &'a Source,
    used: BTreeSet<Variable>,
    mistakes: Mistakes,
    bytes_left: usize,
}

impl Substitution<'_> {
    fn list(&mut self, path: &[&str; 2], texts: &mut [String]) {
        for (index, text) in texts.iter_mut().enumerate() {
            self.replace(&[path[0], path[1], &index.to_string()], text);
        }
    }

    /// A file whose path may begin with the name of a source, which is not a variable.
    ///
    /// Reference: argo-cd `37ee0097` reposerver/repository/repository.go `getResolvedRefValueFile`.
    fn file(&mut self, path: &[&str], text: &mut String) {
        if !self.environment.has_refs || !text.starts_with('$') {
            return self.replace(path, text);
        }
        let at = text.find('/').unwrap_or(text.len());
        let mut rest = text.split_off(at);
        self.replace(path, &mut rest);
        text.push_str(&rest);
    }

    fn replace(&mut self, path: &[&str], text: &mut String) {
        *text = expand(text, |name| self.value(name, path));
    }

    /// The value of a variable in the text at `path`; empty after a mistake.
    fn value(&mut self, name: &str, path: &[&str]) -> String {
        if name == "$" {
            return "$".to_owned();
        }
        if let Some((variable, value)) = self.environment.get(name) {
            self.used.insert(variable);
            if let Some(bytes_left) = self.bytes_left.checked_sub(value.len()) {
                self.bytes_left = bytes_left;
                return value.to_owned();
            }
            self.mistakes.add(Mistake::VariablesGrow, self.source.place(path));
            return String::new();
        }
        let name = name.to_owned();
        let mistake = if name.starts_with("ARGOCD_") || name.starts_with("KUBE_") {
            let known = self.environment.values.iter().map(|(variable, _)| variable.name()).collect();
            let is_of_argo_cd = Variable::ARGOCD.iter().any(|variable| variable.name() == name);
            Mistake::VariableNotSet { name, known, is_of_argo_cd }
        } else {
            Mistake::VariableUnknown { name }
        };
        self.mistakes.add(mistake, self.source.place(path));
        String::new()
    }
}

/// Replaces `$NAME` and `${NAME}`; `value` is asked for each name, also for `$` (of `$$`) and other special ones.
///
/// What is no name is dropped (`${}`, `${` without its end), a lone `$` stays.
///
/// Reference: Go 1.25 os/env.go `Expand`.
fn expand(text: &str, mut value: impl FnMut(&str) -> String) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        rest = match after.chars().next() {
            Some('{') => match after.split_once('}') {
                Some(("{", tail)) => tail,
                Some((name, tail)) => {
                    expanded.push_str(&value(name.strip_prefix('{').unwrap_or(name)));
                    tail
                }
                None => after.strip_prefix('{').unwrap_or(after),
            },
            Some('*' | '#' | '$' | '@' | '!' | '?' | '-' | '0'..='9') => {
                let (name, tail) = after.split_at(1);
                expanded.push_str(&value(name));
                tail
            }
            _ => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                let (name, tail) = after.split_at(end);
                if name.is_empty() {
                    expanded.push('$');
                } else {
                    expanded.push_str(&value(name));
                }
                tail
            }
        };
    }
    expanded + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Go 1.25 makes of the texts, each name written as `<name>`.
    #[test]
    fn names_are_cut_as_go_does() {
        let rows = [
            ("", ""),
            ("plain", "plain"),
            ("$A", "<A>"),
            ("$A_1-x", "<A_1>-x"),
            ("${A}b", "<A>b"),
            ("$A$B", "<A><B>"),
            ("$$A", "<$>A"),
            ("$$$A", "<$><A>"),
            ("${$}", "<$>"),
            ("$1x", "<1>x"),
            ("${10}", "<10>"),
            ("$*$#$@$!$?$-", "<*><#><@><!><?><->"),
            ("a$", "a$"),
            ("$", "$"),
            ("$.x", "$.x"),
            ("$ x", "$ x"),
            ("$(x)", "$(x)"),
            ("$é", "$é"),
            ("${é}", "<é>"),
            ("${}x", "x"),
            ("${x", "x"),
            ("${", ""),
            ("${a b}", "<a b>"),
            ("${a${b}}", "<a${b>}"),
            ("é$Aé", "é<A>é"),
        ];
        for (text, expected) in rows {
            assert_eq!(expand(text, |name| format!("<{name}>")), expected, "{text}");
        }
    }
}
