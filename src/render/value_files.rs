//! Which files of the repository `helm.valueFiles` and `helm.fileParameters` name.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::{PathError, RepoPath};
use dry_files::view::{Kind, View, ViewError};
use go_std::url::Url;

use super::failure::Failure;
use super::pattern::{expand, is_pattern};
use crate::argo::{Application, Helm, Referenced};
use crate::manifest::encrypted;
use inputs::{KeptInputs, Key, Unusable};

mod missing;

/// Where an option of the source is: keys and indexes from the option object down.
pub(super) type Place<'a> = &'a dyn Fn(&[&str]) -> Span;

/// How many files all patterns together may name.
const FILES_MAX: usize = 10_000;

/// What finds the files that a chart's options name.
pub(super) struct ValueFiles<'a> {
    pub view: &'a View<'a>,
    pub application: &'a Application,
    pub chart: &'a RepoPath,
}

impl ValueFiles<'_> {
    /// The values files in the order in which Helm reads them: a later one wins.
    ///
    /// A file can be there twice when it is named twice. Patterns (`*`, `?`, `[…]`, `**`, `{a,b}`) give the files of a
    /// directory before those of its subdirectories, each in the order of their names' bytes, without the files that are
    /// named elsewhere in the list.
    ///
    /// A URL names the file that is kept of it.
    ///
    /// Errors: a URL of which nothing is kept, a path out of the repository, a pattern or name without a file (unless `ignoreMissingValueFiles`).
    ///
    /// Reference: Argo CD 3 reposerver/repository `getResolvedValueFiles`; where one file is named twice, it drops the second,
    /// and so do we in what a rule hydrates.
    pub(super) fn all(&self, helm: &Helm, at: Place<'_>) -> Result<Vec<RepoPath>, Failure> {
        let span = |index: usize| at(&["helm", "valueFiles", &index.to_string()]);
        let mut all = Vec::new();
        for (index, text) in helm.value_files.iter().enumerate() {
            all.push((index, text, self.resolve(text, &span(index))?));
        }
        let explicit: Vec<&RepoPath> =
            all.iter().map(|(_, _, path)| path).filter(|path| !is_pattern(path.as_str())).collect();
        let mut files = Vec::new();
        for (index, text, path) in &all {
            if is_pattern(path.as_str()) {
                let found = expand(self.view, path, Kind::File, span(*index))?;
                if found.is_empty() && !helm.ignore_missing_value_files {
                    let mistake = Diagnostic::error(format!("`{text}` matches no values file")).at(span(*index));
                    return Err(Failure::mistake(mistake.hint(missing::NONE_NEAR)));
                }
                files.extend(found.into_iter().filter(|file| !explicit.contains(&file)));
            } else if let Some(file) = existing(self.view, path, text, span(*index), helm.ignore_missing_value_files)? {
                files.push(file);
            }
            if files.len() > FILES_MAX {
                let mistake = Diagnostic::error(format!("`valueFiles` names more than {FILES_MAX} files"));
                return Err(Failure::mistake(mistake.at(span(*index))));
            }
        }
        if self.application.rule.is_some() {
            let mut seen = BTreeSet::new();
            files.retain(|file| seen.insert(file.clone()));
        }
        Ok(files)
    }

    /// The file of one parameter, by the same rules without patterns.
    pub(super) fn parameter(&self, text: &str, span: Span) -> Result<RepoPath, Failure> {
        let path = self.resolve(text, &span)?;
        Ok(existing(self.view, &path, text, span, false)?.unwrap_or(path))
    }

    /// The path that `text` names: of another source when it begins with `$`.
    fn resolve(&self, text: &str, span: &Span) -> Result<RepoPath, Failure> {
        let Some(referenced) = self.application.referenced(text, span) else {
            return resolve(self.view, self.chart, &self.top(), text).map_err(|mistake| mistake.failure(span.clone()));
        };
        let Referenced { root, path, input } = referenced.map_err(Failure::mistake)?;
        if let Some(key) = input {
            let found =
                KeptInputs::read(self.view).and_then(|kept| kept.check_source(&key, &root, &directory_of(&path)));
            found.map_err(|unusable| Failure::unusable(&unusable, span))?;
        }
        Ok(path)
    }

    /// The root of the repository that the chart is of, in the dry tree.
    fn top(&self) -> RepoPath {
        self.application.dry.root.clone()
    }
}

/// Notes every file that the options of a chart name, whether or not the chart is here.
pub(crate) fn note_named(view: &View<'_>, application: &Application, helm: &Helm) {
    let files = ValueFiles { view, application, chart: &application.dry.path };
    let parameters = helm.file_parameters.iter().map(|parameter| &parameter.path);
    for text in helm.value_files.iter().chain(parameters) {
        let Ok(path) = files.resolve(text, &application.places.dry_path) else { continue };
        // What is not there is noted as that.
        let _ = view.content_id(&if is_pattern(path.as_str()) { directory_of(&path) } else { path });
    }
}

/// The directory that a file, or whatever a pattern matches, is below.
pub(crate) fn directory_of(pattern: &RepoPath) -> RepoPath {
    std::iter::successors(pattern.parent(), RepoPath::parent).find(|dir| !is_pattern(dir.as_str())).unwrap_or_default()
}

/// Why a text names no file.
enum NoPath {
    Mistake(Diagnostic),
    World(ViewError),
}

impl NoPath {
    fn failure(self, span: Span) -> Failure {
        match self {
            Self::Mistake(mistake) if mistake.span.is_some() => Failure::mistake(mistake),
            Self::Mistake(mistake) => Failure::mistake(mistake.at(span)),
            Self::World(error) => Failure::unreadable(error, span),
        }
    }
}

impl From<Unusable> for NoPath {
    fn from(unusable: Unusable) -> Self {
        match unusable.world() {
            Some(world) => Self::World(world.clone()),
            None => Self::Mistake(unusable.diagnostic()),
        }
    }
}

/// The path that `text` names for a chart of the repository at `top`.
fn resolve(view: &View<'_>, chart: &RepoPath, top: &RepoPath, text: &str) -> Result<RepoPath, NoPath> {
    if let Some(scheme) = scheme(text) {
        if matches!(scheme.as_str(), "http" | "https") {
            return kept(view, text);
        }
        if scheme == "secrets" || scheme.starts_with("secrets+") {
            let mistake = format!("`{text}` asks helm-secrets to decrypt a file");
            return Err(NoPath::Mistake(Diagnostic::error(mistake).hint(encrypted::INSTEAD)));
        }
        let mistake =
            Diagnostic::error(format!("`{text}` is a URL of scheme `{scheme}`: rendering opens no connection"));
        return Err(NoPath::Mistake(mistake.hint("copy the file into this repository")));
    }
    let path = match text.strip_prefix('/') {
        Some(from_root) => RepoPath::clean(from_root.trim_start_matches('/')).map(|path| top.join(&path)),
        None => chart.resolve(text),
    };
    // A chart from elsewhere names no file of this repository.
    path.and_then(|path| inside(path, top))
        .map_err(|reason| NoPath::Mistake(Diagnostic::error(format!("`{text}` cannot be a values file: {reason}"))))
}

fn inside(path: RepoPath, top: &RepoPath) -> Result<RepoPath, PathError> {
    match path != *top && path.starts_with(top) {
        true => Ok(path),
        false => Err(PathError::Escapes),
    }
}

/// The file that is kept of a URL.
fn kept(view: &View<'_>, url: &str) -> Result<RepoPath, NoPath> {
    let key = Key::file(url).map_err(|error| NoPath::Mistake(Diagnostic::error(format!("`{url}`: {error}"))))?;
    KeptInputs::read(view).and_then(|kept| kept.find(&key)).map_err(NoPath::from)
}

/// The scheme of a text that Go takes for a URL.
fn scheme(text: &str) -> Option<String> {
    let url = Url::parse(text.as_bytes()).ok().filter(Url::is_absolute)?;
    Some(String::from_utf8_lossy(&url.scheme).into_owned())
}

/// The file at `path`, or none when it is missing and may be.
fn existing(
    view: &View<'_>,
    path: &RepoPath,
    text: &str,
    span: Span,
    may_miss: bool,
) -> Result<Option<RepoPath>, Failure> {
    match view.kind(path).map_err(|error| Failure::unreadable(error, span.clone()))? {
        Some(Kind::File) => {
            let content = view.read(path).map_err(|error| Failure::unreadable(error, span.clone()))?;
            if encrypted::is_sops_file(&content.data) {
                let mistake = Diagnostic::error(format!("`{text}` is encrypted with SOPS"));
                return Err(Failure::mistake(mistake.at(span).hint(encrypted::INSTEAD)));
            }
            Ok(Some(path.clone()))
        }
        None if may_miss => Ok(None),
        None => {
            let mistake = Diagnostic::error(format!("`{text}` does not exist: no file `{path}`"));
            let hint = missing::hint(view, path, text).map_err(|error| Failure::unreadable(error, span.clone()))?;
            Err(Failure::mistake(mistake.at(span).hint(hint)))
        }
        Some(Kind::Directory | Kind::Link | Kind::Submodule) => {
            Err(Failure::mistake(Diagnostic::error(format!("`{text}` is not a file")).at(span)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    fn files() -> MemoryFiles {
        MemoryFiles::new()
            .file("apps/web/Chart.yaml", "name: web\n")
            .file("apps/web/values.yaml", "")
            .file("apps/web/values-prod.yaml", "")
            .file("apps/web/sops.yaml", "a: ENC[AES256_GCM,data:x]\nsops:\n  mac: ENC[AES256_GCM,data:y]\n")
            .file("apps/web/env/b.yaml", "")
            .file("apps/web/env/a/z.yaml", "")
            .file("apps/web/env/a/deep/x.yaml", "")
            .file("apps/web/env/c.yaml", "")
            .file("shared/base.yaml", "")
            .link("apps/web/linked.yaml", "../../shared/base.yaml")
            .link("apps/web/out.yaml", "/etc/passwd")
            .file("loops/a/v.yaml", "")
            .link("loops/a/again", "..")
    }

    fn resolved(texts: &[&str], ignore_missing: bool) -> Result<Vec<String>, String> {
        let files = files();
        let view = View::new(&files);
        let chart = RepoPath::new("apps/web").expect("plain");
        let helm = Helm {
            value_files: texts.iter().map(|text| (*text).to_owned()).collect(),
            ignore_missing_value_files: ignore_missing,
            ..Helm::default()
        };
        let at = |_: &[&str]| Span::file(RepoPath::root());
        let text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec: {sourceHydrator: \
                    {drySource: {repoURL: u, targetRevision: main, path: a}, syncSource: {targetBranch: b, path: p}}}\n";
        let file = crate::argo::read(&RepoPath::new("web.yaml").expect("plain"), text.as_bytes());
        let application = file.applications().next().expect("right");
        match (ValueFiles { view: &view, application, chart: &chart }).all(&helm, &at) {
            Ok(files) => Ok(files.iter().map(|file| file.as_str().to_owned()).collect()),
            Err(Failure::Mistakes(mistakes)) => Err(mistakes[0].message.clone()),
            Err(Failure::World(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn files_by_name() {
        let rows: &[(&[&str], &[&str])] = &[
            (&["values-prod.yaml"], &["apps/web/values-prod.yaml"]),
            (&["./env/../values.yaml"], &["apps/web/values.yaml"]),
            (&["../../shared/base.yaml"], &["shared/base.yaml"]),
            (&["/shared/base.yaml"], &["shared/base.yaml"]),
            (&["linked.yaml"], &["apps/web/linked.yaml"]),
            (
                &["values.yaml", "values-prod.yaml", "values.yaml"],
                &["apps/web/values.yaml", "apps/web/values-prod.yaml", "apps/web/values.yaml"],
            ),
        ];
        for (texts, expected) in rows {
            assert_eq!(resolved(texts, false).expect("all there"), *expected, "{texts:?}");
        }
    }

    #[test]
    fn files_by_pattern() {
        let rows: &[(&[&str], &[&str])] = &[
            (&["values*.yaml"], &["apps/web/values-prod.yaml", "apps/web/values.yaml"]),
            (&["values*.yaml", "values.yaml"], &["apps/web/values-prod.yaml", "apps/web/values.yaml"]),
            (&["env/*.yaml"], &["apps/web/env/b.yaml", "apps/web/env/c.yaml"]),
            (&["env/*/*.yaml"], &["apps/web/env/a/z.yaml"]),
            (
                &["env/**/*.yaml"],
                &["apps/web/env/b.yaml", "apps/web/env/c.yaml", "apps/web/env/a/z.yaml", "apps/web/env/a/deep/x.yaml"],
            ),
            (&["li*.yaml"], &["apps/web/linked.yaml"]),
            (&["/loops/**/*.yaml"], &["loops/a/v.yaml"]),
            (&["/shared/[ab]ase.yaml"], &["shared/base.yaml"]),
            (&["/shared/b?se.yaml"], &["shared/base.yaml"]),
        ];
        for (texts, expected) in rows {
            assert_eq!(resolved(texts, false).expect("all there"), *expected, "{texts:?}");
        }
    }

    #[test]
    fn what_cannot_be_a_values_file() {
        let rows = [
            ("https://example.com/values.yaml", "https://example.com/values.yaml is not in this repository"),
            (
                "https://user:word@example.com/values.yaml",
                "`https://user:word@example.com/values.yaml`: the URL contains a user name or password: remove it and set up \
                 a git credential helper",
            ),
            (
                "ftp://example.com/values.yaml",
                "`ftp://example.com/values.yaml` is a URL of scheme `ftp`: rendering opens no connection",
            ),
            (
                "../../../etc/passwd",
                "`../../../etc/passwd` cannot be a values file: the path leads out of the repository",
            ),
            ("/", "`/` cannot be a values file: the path leads out of the repository"),
            ("out.yaml", "apps/web/out.yaml: the symbolic link to `/etc/passwd` leads out of the repository"),
            ("env", "`env` is not a file"),
            ("secrets://secrets.yaml", "`secrets://secrets.yaml` asks helm-secrets to decrypt a file"),
            ("secrets+age-import://k?s.yaml", "`secrets+age-import://k?s.yaml` asks helm-secrets to decrypt a file"),
            ("sops.yaml", "`sops.yaml` is encrypted with SOPS"),
            ("none.yaml", "`none.yaml` does not exist: no file `apps/web/none.yaml`"),
            ("none*.yaml", "`none*.yaml` matches no values file"),
            ("[.yaml", "`apps/web/[.yaml` is not a valid pattern"),
        ];
        for (text, expected) in rows {
            assert_eq!(resolved(&[text], false).expect_err(text), expected);
        }
    }

    #[test]
    fn missing_files_may_be_ignored() {
        assert_eq!(
            resolved(&["none.yaml", "none*.yaml", "values.yaml"], true).expect("fine"),
            ["apps/web/values.yaml"]
        );
    }
}
