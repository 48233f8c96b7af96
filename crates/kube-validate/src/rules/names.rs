//! How objects of each kind may be named.

use super::Context;
use crate::names::{Wrong, label, label_1035, path_segment, subdomain};

type Rule = (&'static str, fn(&str) -> Wrong);

fn any(_: &str) -> Wrong {
    None
}

/// A CronJob's Jobs have eleven characters more.
fn cron_job(text: &str) -> Wrong {
    if text.len() > 52 { Some("must be no more than 52 characters") } else { subdomain(text) }
}

/// A Job's name is the value of a label of its Pods.
fn job(text: &str) -> Wrong {
    if text.len() > 63 { Some("must be no more than 63 characters") } else { subdomain(text) }
}

/// By group and kind; others are subdomains.
pub(super) fn name_rule(context: &Context<'_>) -> Rule {
    match (context.group, context.kind) {
        ("", "Namespace") => ("name", label),
        ("", "Service") if context.minor >= 36 => ("name", label),
        ("", "Service") => ("name", label_1035),
        ("apps", "StatefulSet") => ("name", label),
        ("rbac.authorization.k8s.io", _) => ("name", path_segment),
        ("batch", "CronJob") => ("name", cron_job),
        ("batch", "Job") => ("name", job),
        ("certificates.k8s.io", "CertificateSigningRequest") => ("name", any),
        // Compared with what the specification says.
        ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => ("name", any),
        _ => ("name", subdomain),
    }
}
