//! The warning of what everybody who can read a hydrated branch reads.

use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;

/// What to do about it.
pub(crate) const HINT: &str = "have the cluster fetch or decrypt it (External Secrets, Sealed Secrets), or annotate the object \
                               with `git-hydrate/plain-secret: allowed`";

/// How many Secrets are named.
const NAMES_MAX: usize = 10;

/// That these Secrets, each as `shop/db`, are on a branch as anybody can read them.
pub(crate) fn warning(secrets: &[String]) -> Diagnostic {
    let text = match secrets {
        [secret] => format!("Secret {secret} is hydrated in plain text"),
        _ => format!("Secrets {} are hydrated in plain text", listed(secrets, NAMES_MAX)),
    };
    Diagnostic::warning(text).hint(HINT)
}
