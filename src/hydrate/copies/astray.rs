//! Applications among what a hydrated Application renders that lead to a directory which no hydrated branch has: Argo CD finds nothing
//! there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use dry_files::diag::more::and_more_in_brackets;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use go_yaml::Value;

use crate::argo::{Application, BranchName, is_same_repository};
use crate::hydrate::dry_tree::DryTree;
use crate::hydrate::state::Run;
use crate::owners::copier::Copies;
use crate::owners::error::HydrateError;
use crate::repo::ObjectId;

/// The Applications that lead nowhere.
#[derive(Default)]
pub(super) struct Astray {
    /// Where the Applications of dry trees are hydrated to.
    targets: HashMap<ObjectId, Rc<Targets>>,
    /// What was found: the parent, where its source is named, and what leads where.
    found: Vec<(String, Span, Lead)>,
}

/// The paths of a dry tree, by branch, and the URLs by which copies name it.
#[derive(Default)]
struct Targets {
    urls: BTreeSet<String>,
    paths: BTreeMap<String, BTreeSet<String>>,
}

/// Where an Application leads to.
struct Lead {
    name: String,
    branch: String,
    path: String,
}

impl Targets {
    fn of(run: &Run<'_>, tree: &DryTree) -> Self {
        let copies = Copies::of(&run.found, tree.branch());
        let mut targets = Self::default();
        for (url, branch, path) in tree.hydrated().filter_map(|application| application.copied_to(&copies.copier())) {
            targets.urls.insert(url);
            targets.paths.entry(branch).or_default().insert(path);
        }
        targets
    }

    /// Where an object leads to, if that is a hydrated branch and not the path of an Application of the tree.
    fn missed_by(&self, object: &Value) -> Option<Lead> {
        let text = |path: &[&str]| object.at(path).and_then(Value::as_str);
        let source = |key| text(&["spec", "source", key]);
        let (url, branch, path) = (source("repoURL")?, source("targetRevision")?, source("path")?);
        let is_missed = self.paths.get(branch).is_some_and(|paths| !paths.contains(path));
        let is_here = || self.urls.iter().any(|own| is_same_repository(own, url));
        let name = text(&["metadata", "name"]).unwrap_or_default().to_owned();
        (is_missed && is_here()).then(|| Lead { name, branch: branch.to_owned(), path: path.to_owned() })
    }
}

impl Astray {
    /// Looks at what a hydrated Application of a tree rendered.
    pub(super) fn look(
        &mut self,
        run: &Run<'_>,
        (parent, tree): (&Arc<Application>, &DryTree),
        objects: &[Value],
    ) -> Result<(), HydrateError> {
        let targets = self.targets.entry(tree.tree).or_insert_with(|| Rc::new(Targets::of(run, tree))).clone();
        let is_application = |object: &&Value| object.get("kind").and_then(Value::as_str) == Some("Application");
        for lead in objects.iter().filter(is_application).filter_map(|object| targets.missed_by(object)) {
            let (Ok(branch), Ok(path)) = (BranchName::new(&lead.branch), RepoPath::new(&lead.path)) else { continue };
            let Some(tip) = run.tip_of(&branch) else { continue };
            let root = run.found.buffer.commit(tip)?.tree;
            if run.found.tree_of(root).entry(&path)?.is_none() {
                self.found.push((parent.name.to_string(), parent.places.dry_path.clone(), lead));
            }
        }
        Ok(())
    }

    /// One warning of all, since each push has it.
    pub(super) fn warning(self) -> Option<Diagnostic> {
        let more = and_more_in_brackets(self.found.len().saturating_sub(1));
        let (parent, at, Lead { name, branch, path }) = self.found.into_iter().next()?;
        let text = format!(
            "Application `{parent}` renders `{name}`, which leads to `{path}` of `{branch}`, where nothing is hydrated{more}"
        );
        let hint = "correct `targetRevision` and `path` of its source, or the rule that leads it there";
        Some(Diagnostic::warning(text).hint(hint).at(at))
    }
}
