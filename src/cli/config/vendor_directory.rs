//! A change of the setting `vendorDirectory`: what is in the new directory already is not read any more.

use anyhow::bail;
use dry_files::diag::printable;
use dry_files::view::View;

use crate::cli::clone::refs_of;
use crate::owners::heads::dry_branches_by;
use crate::owners::policy::Policy;
use crate::repo::Repository;
use crate::repo::TreeFiles;
use crate::settings::{Settings, SettingsFiles as Files};
use inputs::Strays;

/// Refuses a directory in which a dry branch has files that are no inputs: Applications and manifests among them would leave
/// their environments.
pub(super) fn check(repository: &Repository, before: &Files, new: &Files) -> anyhow::Result<()> {
    let dir = Settings::read(new)?.vendor_directory;
    // Settings that could not be read had no effect.
    if Settings::read(before).unwrap_or_default().vendor_directory == dir {
        return Ok(());
    }
    let (names, refs) = (refs_of(repository)?, repository.refs()?);
    for branch in dry_branches_by(&Policy::of(new)?, repository, &names)? {
        let Some(tip) = names.tip(&refs, &branch) else { continue };
        let files = TreeFiles::new(repository, repository.commit(tip)?.tree);
        let view = View::new(&files);
        if let Some(path) = Strays::new(&view, &dir).first(&|_| true) {
            bail!(
                "vendorDirectory: `{}` of `{}` is not an input, and would not be read any more in `{}`\n\
                 hint: name a directory without other files, such as third_party",
                printable(path.as_str()),
                printable(branch.as_str()),
                printable(dir.path().as_str())
            );
        }
    }
    Ok(())
}
