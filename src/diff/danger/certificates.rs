//! Certificates that what serves them still needs.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::name;
use super::text::verb;
use super::{Around, Danger, Severity, items};
use crate::diff::model::{How, Placed, Thing, Use, word};
use crate::manifest::Manifest;

/// How many names are shown.
const NAMED_MAX: usize = 4;

/// A Certificate that is no longer for a host which is served with it, or that is kept in another Secret.
///
/// Reference: cert-manager.io docs/usage/certificate: the Secret that it no longer names stays, and is not renewed.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if (new.home_group(), new.kind()) != ("cert-manager.io", "Certificate") {
        return None;
    }
    let secret = |certificate: &'a Manifest| word(certificate.object(), &["spec", "secretName"]);
    let namespace = around.after(new).namespace.to_owned();
    let thing = |name: &str| Thing { kind: "Secret", namespace: namespace.clone(), name: name.to_owned() };
    let kept = thing(secret(old));
    let users = serving(around.model.after.users(&kept));
    if secret(old) != secret(new) {
        let is_left = !users.is_empty() && !around.model.after.provides(&kept);
        let names = users.iter().map(|user| name(*user)).collect::<BTreeSet<_>>();
        return is_left.then(|| {
            let text = format!(
                "its certificate is in {} and no longer in {kept}, which {} still serve{}: that is not renewed",
                thing(secret(new)),
                listed(&names, NAMED_MAX),
                verb(names.len())
            );
            Danger::said(
                Severity::Outage,
                "certificate",
                text,
                "keep the Secret, or name the new one where it is served",
            )
        });
    }
    let (before, after) = (hosts(old), hosts(new));
    let served: BTreeSet<&str> = users.iter().flat_map(|user| served_with(user.manifest, secret(new))).collect();
    let is_lost = |host: &&str| is_for(&before, host) && !is_for(&after, host);
    let lost: BTreeSet<&str> = served.into_iter().filter(is_lost).collect();
    (!lost.is_empty()).then(|| {
        let are = if lost.len() == 1 { "is" } else { "are" };
        let text =
            format!("is no longer for {}, which {are} served with it: clients refuse it", listed(lost, NAMED_MAX));
        Danger::said(Severity::Outage, "certificate", text, "keep the names of all hosts that are served with it")
    })
}

/// A Certificate for hosts that is for clients alone from now on.
///
/// Reference: cert-manager.io docs/usage/certificate, `usages`; RFC 5280, 4.2.1.12: where extended usages are given, it is for these alone.
pub(super) fn unserving(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("cert-manager.io", "Certificate");
    let has = |certificate: &Manifest, usage: &str| {
        items(certificate.object(), &["spec", "usages"]).iter().any(|one| one.as_str() == Some(usage))
    };
    let serves = |certificate: &Manifest| !has(certificate, "client auth") || has(certificate, "server auth");
    (is_it && !hosts(new).is_empty() && serves(old) && !serves(new)).then(|| {
        let text = "`usages` are for clients alone: clients refuse it of a server".to_owned();
        Danger::said(Severity::Other, "certificate", text, "keep `server auth` where it is served")
    })
}

/// A Certificate that goes while its Secret is served.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if (old.home_group(), old.kind()) != ("cert-manager.io", "Certificate") {
        return None;
    }
    let pruning = around.pruning.of(old);
    let (name_of, namespace) = (word(old.object(), &["spec", "secretName"]), around.before(old).namespace);
    let kept = Thing { kind: "Secret", namespace: namespace.to_owned(), name: name_of.to_owned() };
    let users = serving(around.model.after.users(&kept));
    let is_left = pruning.removes() && !users.is_empty() && !around.model.after.provides(&kept);
    let names = users.iter().map(|user| name(*user)).collect::<BTreeSet<_>>();
    is_left.then(|| {
        let serve = format!("serve{}", verb(names.len()));
        let text = format!("removed: {kept}, which {} still {serve}, is not renewed", listed(names, NAMED_MAX));
        let advice = "keep it until nothing serves its Secret any more";
        Danger::said(Severity::Outage, "certificate", text, advice).pruned(pruning)
    })
}

fn serving<'a>(users: &[(Placed<'a>, Use)]) -> Vec<Placed<'a>> {
    users.iter().filter(|(_, one)| one.how == How::Certificate).map(|(user, _)| *user).collect()
}

fn hosts(certificate: &Manifest) -> Vec<&str> {
    let common = word(certificate.object(), &["spec", "commonName"]);
    let names = items(certificate.object(), &["spec", "dnsNames"]).iter().filter_map(Value::as_str);
    names.chain(Some(common)).filter(|name| !name.is_empty()).collect()
}

/// Whether a host is among names, or of the domain of one with `*`.
fn is_for(names: &[&str], host: &str) -> bool {
    let domain = host.split_once('.').map(|(_, domain)| domain);
    names.iter().any(|name| *name == host || name.strip_prefix("*.").is_some_and(|of| Some(of) == domain))
}

/// The hosts that an Ingress or a Gateway serves with a Secret.
fn served_with<'m>(object: &'m Manifest, secret: &str) -> Vec<&'m str> {
    let value = object.object();
    if object.kind() == "Ingress" {
        let tls = items(value, &["spec", "tls"]).iter().filter(|tls| word(tls, &["secretName"]) == secret);
        return tls.flat_map(|tls| items(tls, &["hosts"])).filter_map(Value::as_str).collect();
    }
    let listeners = items(value, &["spec", "listeners"]).iter();
    let names = |listener: &&Value| {
        items(listener, &["tls", "certificateRefs"]).iter().any(|one| word(one, &["name"]) == secret)
    };
    listeners.filter(names).map(|listener| word(listener, &["hostname"])).filter(|host| !host.is_empty()).collect()
}
