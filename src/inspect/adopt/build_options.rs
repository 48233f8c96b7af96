//! The setting `kustomize.buildOptions`, from what the repository says of Argo CD's ConfigMap `argocd-cm`.

use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use inputs::InputsDir;

use super::super::check::{Judged, Tree};
use super::Draft;
use crate::owners::error::HydrateError;
use crate::settings::BuildOptions;
use crate::settings::argocd_cm::BUILD_OPTIONS;

/// How many directories are walked, how deep, and how large a file may be.
const DIRECTORIES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 16;
const FILE_BYTES_MAX: usize = 1 << 20;

/// Proposes the options of Kustomize that the repository gives its Argo CD, where builds may differ by them; answers whether it did.
/// Of several the one that most files have counts.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(draft: &mut Draft, judged: &Judged, tree: &Tree<'_>) -> Result<bool, HydrateError> {
    if draft.is_set(BUILD_OPTIONS)? {
        return Ok(false);
    }
    let view = View::new(tree.files);
    let mut found: Vec<(BuildOptions, RepoPath, usize)> = Vec::new();
    for (options, file) in written(&view, judged.policy.plain.inputs()) {
        match found.iter_mut().find(|(known, ..)| *known == options) {
            Some((.., count)) => *count += 1,
            None => found.push((options, file, 1)),
        }
    }
    let most = found.iter().max_by_key(|(_, file, count)| (*count, std::cmp::Reverse(file)));
    let Some((options, file, _)) = most else { return Ok(false) };
    let others = if found.len() > 1 { "; other files have others" } else { "" };
    draft.set(BUILD_OPTIONS, String::from(options.clone()).into(), format!("of Argo CD, by {file}{others}"))?;
    Ok(true)
}

/// The options that YAML files give Argo CD, in a ConfigMap or in values of its chart, with the file of each.
fn written(view: &View<'_>, inputs: &InputsDir) -> Vec<(BuildOptions, RepoPath)> {
    let mut found = Vec::new();
    let mut waiting = vec![(RepoPath::root(), 0)];
    let mut directories = 0;
    while let Some((dir, depth)) = waiting.pop() {
        directories += 1;
        if directories > DIRECTORIES_MAX || inputs.has(&dir) {
            continue;
        }
        let Ok(entries) = view.list(&dir) else { continue };
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            let is_yaml = [".yaml", ".yml"].iter().any(|end| entry.name.ends_with(end));
            match entry.kind {
                Kind::Directory if depth < DEPTH_MAX => waiting.push((path, depth + 1)),
                Kind::File if is_yaml => {
                    let Ok(blob) = view.read(&path) else { continue };
                    if blob.data.len() <= FILE_BYTES_MAX {
                        let text = String::from_utf8_lossy(&blob.data);
                        found.extend(text.lines().filter_map(of_line).map(|options| (options, path.clone())));
                    }
                }
                Kind::File | Kind::Directory | Kind::Link | Kind::Submodule => {}
            }
        }
    }
    found
}

/// The options that a line has by their key, where builds may differ by them. A patch in a text has such a line, too.
fn of_line(line: &str) -> Option<BuildOptions> {
    let value = line.trim().strip_prefix(BUILD_OPTIONS)?.trim_start().strip_prefix(':')?;
    let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    BuildOptions::try_from(value.to_owned()).ok().filter(BuildOptions::has_effect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_config_map_and_of_values() {
        let none = "--load-restrictor LoadRestrictionsNone";
        let rows = [
            ("  kustomize.buildOptions: --load-restrictor LoadRestrictionsNone", Some(none)),
            ("    kustomize.buildOptions: \"--load-restrictor LoadRestrictionsNone\" # why", Some(none)),
            ("  kustomize.buildOptions: --enable-helm", None),
            ("  # kustomize.buildOptions: --load-restrictor LoadRestrictionsNone", None),
            ("  kustomize.buildOptions.v5: --load-restrictor LoadRestrictionsNone", None),
            ("  kustomize.buildOptions: --load-restrictor LoadRestrictions", None),
        ];
        for (line, expected) in rows {
            assert_eq!(of_line(line).map(String::from).as_deref(), expected, "{line}");
        }
    }
}
