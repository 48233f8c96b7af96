//! Refuses to remove Applications whose files merely became inputs, because the setting `vendorDirectory` changed: the files
//! are there still, so nothing proves that the Applications are gone.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, Span, clipped};
use dry_files::path::RepoPath;
use dry_files::view::View;

use crate::argo::BranchName;
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::state::Run;
use inputs::Strays;

/// The mistakes of Applications of `branch` whose file is taken for an input now, and of those that others made of what the
/// directory of inputs has beside inputs since other settings count.
pub(crate) fn covered(branch: &BranchName, tree: &DryTree, former: &Former, run: &mut Run<'_>) -> Vec<Diagnostic> {
    let files = run.files(tree.tree);
    let (view, dir) = (View::new(&*files), run.found.policy.plain.inputs());
    let strays = Strays::new(&view, dir);
    let has_other_settings = former.tree.as_ref().is_some_and(|former| former.settings != tree.settings);
    let first = if has_other_settings { strays.first(&|_| true) } else { None };
    let written: BTreeSet<&RepoPath> = tree.applications(branch).map(|application| &application.sync_path).collect();
    let gone = former.applications.iter().filter(|application| !written.contains(&application.sync_path));
    let mut mistakes = Vec::new();
    for gone in gone {
        let mut own = [Some(&gone.file), gone.maker.as_ref().map(|maker| &maker.file)].into_iter().flatten();
        let own = own.find(|file| strays.has(file));
        let Some(file) = own.or(first.as_ref().filter(|_| gone.maker.is_some())) else { continue };
        let text = format!(
            "`{}` would leave `{branch}`: the setting `vendorDirectory` has `{}`, where `{file}` is not read any more",
            gone.name,
            dir.path()
        );
        let hint = "on the server, name a directory without other files: git hydrate config set vendorDirectory third_party; \
                    to take it off its branch, remove the Application";
        mistakes.push(gone.tells(Diagnostic::error(clipped(text)).at(Span::file(file.clone())).hint(hint)));
    }
    mistakes
}
