//! Versions of what an operator runs.

use go_yaml::Value;

use super::{Danger, NOTHING_APPLIED, Severity, is_whole_refused};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// Where a kind has the version, and what its operator does about another one.
struct Version {
    /// The API group; one that begins with a dot is the end of several.
    group: &'static str,
    kind: &'static str,
    path: &'static [&'static str],
    /// What happens with a higher major; nothing where empty.
    upgrade: &'static str,
    /// By how many majors more than the one before it has to be for that.
    from: u64,
    /// Whether only a lower major is refused.
    by_major: bool,
}

/// Reference: cloudnative-pg/cloudnative-pg docs/src/postgres_upgrades.md, "Offline In-Place Major Upgrades", and
/// internal/webhook/v1/cluster_webhook.go `validateImageChange`; elastic/cloud-on-k8s pkg/controller/elasticsearch/validation/
/// validations.go `noDowngrades`; access.crunchydata.com postgres-operator, "Postgres Major Version Upgrade"; mongodb.com docs,
/// release-notes, "Upgrade Requirements": from the major before alone.
const VERSIONS: [Version; 5] = [
    Version {
        group: "postgresql.cnpg.io",
        kind: "Cluster",
        path: &["spec", "imageName"],
        upgrade: "the operator stops all of it while it upgrades the data",
        from: 1,
        by_major: true,
    },
    Version {
        group: "postgres-operator.crunchydata.com",
        kind: "PostgresCluster",
        path: &["spec", "postgresVersion"],
        upgrade: "it does not start on the data of the version before: a PGUpgrade has to upgrade them first",
        from: 1,
        by_major: true,
    },
    Version {
        group: "mongodbcommunity.mongodb.com",
        kind: "MongoDBCommunity",
        path: &["spec", "version"],
        upgrade: "it does not start on the data of a version that is more than one major before it",
        from: 2,
        by_major: true,
    },
    Version {
        group: "psmdb.percona.com",
        kind: "PerconaServerMongoDB",
        path: &["spec", "image"],
        upgrade: "it does not start on the data of a version that is more than one major before it",
        from: 2,
        by_major: true,
    },
    Version { group: ".k8s.elastic.co", kind: "", path: &["spec", "version"], upgrade: "", from: 1, by_major: false },
];

/// Another major version, or a lower one.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_of = |version: &&Version| match version.group.strip_prefix('.') {
        Some(_) => new.home_group().ends_with(version.group),
        None => (new.home_group(), new.kind()) == (version.group, version.kind),
    };
    let version = VERSIONS.iter().find(is_of)?;
    let [from, to] = [old, new].map(|side| match side.object().at(version.path) {
        Some(Value::Int(number)) => numbers(&number.to_string()),
        _ => numbers(word(side.object(), version.path)),
    });
    let (from, to) = (from?, to?);
    let shown = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let (from, to) = if version.by_major {
        (from.into_iter().take(1).collect(), to.into_iter().take(1).collect())
    } else {
        (from, to)
    };
    let (was, now): (&Vec<u64>, &Vec<u64>) = (&from, &to);
    // Reference: elastic/cloud-on-k8s pkg/apis/elasticsearch/v1/elasticsearch_types.go `IsConfiguredToAllowDowngrades`.
    let is_let = ["metadata", "annotations", "eck.k8s.elastic.co/disable-downgrade-validation"];
    if now < was && !is_whole_refused(new) {
        let text = format!("version {} → {}: it does not start on the data of a later version", shown(was), shown(now));
        let advice = "keep the version, or restore a backup in another one beside it";
        return Some(Danger::said(Severity::Outage, "downgrade", text, advice));
    }
    if now < was && word(new.object(), &is_let) != "true" {
        let (from, to) = (shown(was), shown(now));
        let text = format!("version {from} → {to}: its operator refuses a lower version: {NOTHING_APPLIED}");
        let advice = "keep the version, or restore a backup in another one beside it";
        return Some(Danger::said(Severity::Refused, "downgrade", text, advice));
    }
    let majors = |all: &[u64]| all.first().copied().unwrap_or_default();
    (version.by_major && majors(now) >= majors(was) + version.from).then(|| {
        let text = format!("version {} → {}: {}", shown(was), shown(now), version.upgrade);
        Danger::said(Severity::Outage, "upgrade", text, "check that there is a backup, and time for it")
    })
}

/// The numbers of a version, or of the tag of an image: `16.4` of `ghcr.io/cloudnative-pg/postgresql:16.4-1@sha256:…`.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let plain = text.split('@').next()?;
    let tag = match plain.rsplit_once('/').map_or(plain, |(_, name)| name).split_once(':') {
        Some((_, tag)) => tag,
        None => plain,
    };
    let end = tag.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(tag.len());
    let numbers = tag.get(..end)?.trim_end_matches('.').split('.').map(|part| part.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn the_version_of_an_image_is_its_tag() {
        let rows = [
            ("8.15.0", Some(vec![8, 15, 0])),
            ("ghcr.io/cloudnative-pg/postgresql:16.4", Some(vec![16, 4])),
            ("localhost:5000/postgresql:17-bookworm@sha256:abc", Some(vec![17])),
            ("ghcr.io/cloudnative-pg/postgresql", None),
            ("latest", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }
}
