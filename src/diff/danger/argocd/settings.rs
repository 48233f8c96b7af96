//! Settings of Argo CD by which it knows its objects, and by which people log in.

use super::{CONFIG, is_config_map};
use crate::diff::danger::{Danger, Severity};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// Settings by which Argo CD knows the objects of its Applications, and their values by default.
///
/// Reference: argo-cd 3.4 docs/user-guide/resource_tracking.md, "Choosing a tracking method", and `application.instanceLabelKey`.
const TRACKING: [(&str, &str); 3] = [
    ("application.resourceTrackingMethod", "annotation"),
    ("application.instanceLabelKey", "app.kubernetes.io/instance"),
    ("installationID", ""),
];

/// Ways to log in that are not accounts of Argo CD itself.
const LOGINS: [&str; 2] = ["dex.config", "oidc.config"];

/// What changes for all Applications, and for all who log in.
pub(in crate::diff::danger) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if is_config_map(new, PARAMETERS) {
        return everywhere(old, new).into_iter().collect();
    }
    if !is_config_map(new, CONFIG) {
        return Vec::new();
    }
    let value = |config: &'_ Manifest, key: &str| word(config.object(), &["data", key]).trim().to_owned();
    let mut found: Vec<Danger> = loosened(old, new).into_iter().collect();
    let is_off = |config: &Manifest| {
        let text = value(config, RECONCILED);
        !text.is_empty() && text.trim_end_matches(|c: char| c.is_ascii_alphabetic()) == "0"
    };
    if is_off(new) && !is_off(old) {
        let text = format!(
            "`{RECONCILED}: {}`: Argo CD no longer looks by itself whether git changed",
            value(new, RECONCILED)
        );
        found.push(Danger::said(
            Severity::Other,
            "paused",
            text,
            "keep it above 0, unless a webhook tells each change",
        ));
    }
    for (key, default) in TRACKING {
        let of = |config: &Manifest| match value(config, key).as_str() {
            "" => default.to_owned(),
            // It writes the label for others alone.
            "annotation+label" => "annotation".to_owned(),
            text => text.to_owned(),
        };
        let is_by_label = |config: &Manifest| value(config, TRACKING[0].0) == "label";
        let counts = key != "application.instanceLabelKey" || is_by_label(old) && is_by_label(new);
        if of(old) != of(new) && counts {
            let text = format!(
                "`{key}` {} → {}: Argo CD knows the objects of its Applications by it, and finds none of them until each is synced",
                shown(&of(old)),
                shown(&of(new))
            );
            let advice = "check that every Application is synced after it, and prunes nothing before";
            found.push(Danger::said(Severity::Other, "tracking", text, advice));
        }
    }
    let logs_in = |config: &Manifest| LOGINS.iter().any(|key| !value(config, key).is_empty());
    if logs_in(old) && !logs_in(new) {
        let has_admin = value(new, "admin.enabled") != "false";
        let (severity, who) = match has_admin {
            true => (Severity::Other, "accounts of Argo CD itself alone log in from now on"),
            false => (
                Severity::Outage,
                "with `admin.enabled: false`, accounts of Argo CD itself alone are left, if there are some",
            ),
        };
        let text = format!("`{}` removed: {who}", LOGINS.iter().find(|key| !value(old, key).is_empty()).unwrap_or(&""));
        found.push(Danger::said(severity, "loginGone", text, "keep a way by which people log in"));
    }
    found
}

const PARAMETERS: &str = "argocd-cmd-params-cm";
const RECONCILED: &str = "timeout.reconciliation";

/// Applications in all namespaces.
///
/// Reference: argo-cd 3.4 docs/operator-manual/app-any-namespace.md, "Overview": who may make Applications there may deploy.
fn everywhere(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_all = |config: &Manifest| {
        word(config.object(), &["data", "application.namespaces"]).split(',').any(|one| one.trim() == "*")
    };
    (is_all(new) && !is_all(old)).then(|| {
        let text = "`application.namespaces: *`: those who may make Applications in any namespace deploy by Argo CD, as far as `sourceNamespaces` of AppProjects let them".to_owned();
        Danger::said(Severity::Security, "widened", text, "keep it to namespaces whose users are meant to deploy")
    })
}

/// Options by which Kustomize reads outside of its folder, or runs programs.
///
/// Reference: argo-cd 3.4 docs/user-guide/kustomize.md, "Kustomize Build Options/Parameters"; kubectl.docs.kubernetes.io kustomize,
/// `--load-restrictor`, `--enable-exec`.
fn loosened(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let loose = [
        (
            "LoadRestrictionsNone",
            "kustomizations read files outside of their folder, such as those of other Applications",
        ),
        ("--enable-exec", "kustomizations run programs in the repo-server"),
    ];
    let options = |config: &'_ Manifest| -> String {
        let data = config.object().get("data").and_then(go_yaml::Value::as_mapping);
        let of_kustomize = data.into_iter().flatten().filter(|(key, _)| key.starts_with("kustomize.buildOptions"));
        of_kustomize.filter_map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
    };
    let (was, now) = (options(old), options(new));
    let (option, effect) = loose.iter().find(|(option, _)| now.contains(option) && !was.contains(option))?;
    let text = format!("`kustomize.buildOptions` has `{option}`: {effect}");
    Some(Danger::said(Severity::Security, "unguarded", text, "keep it out where not everybody who may push is trusted"))
}

fn shown(value: &str) -> String {
    if value.is_empty() { "none".to_owned() } else { value.to_owned() }
}
