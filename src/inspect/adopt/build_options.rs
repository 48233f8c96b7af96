//! The setting `kustomize.buildOptions`, from what the repository says of Argo CD's ConfigMap `argocd-cm`.

use dry_files::path::RepoPath;
use dry_files::view::View;
use inputs::InputsDir;

use super::super::check::{Judged, Tree};
use super::{Draft, walk};
use crate::owners::error::HydrateError;
use crate::settings::BuildOptions;
use crate::settings::argocd_cm::BUILD_OPTIONS;

/// How large a file may be.
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
    let is_yaml = |name: &str| [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    let mut found = Vec::new();
    for path in walk::files(view, inputs, is_yaml) {
        let Ok(blob) = view.read(&path) else { continue };
        if blob.data.len() <= FILE_BYTES_MAX {
            let text = String::from_utf8_lossy(&blob.data);
            found.extend(text.lines().filter_map(of_line).map(|options| (options, path.clone())));
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
