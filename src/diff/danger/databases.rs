//! Databases that do not start on the data which another version of them left.

use super::mounts::mounts;
use super::{Danger, Severity, before};
use crate::diff::Image;
use crate::diff::model::pods::{is_workload, running, spec};
use crate::diff::model::{items, word};
use crate::manifest::Manifest;
use go_yaml::Value;

/// From which version to which the data can be taken.
#[derive(Clone, Copy)]
enum Takes {
    /// None but those of its own major version.
    OwnMajor,
    /// Those of lower versions; `1` more in its first number at most where that is said.
    Lower { most: Option<u64> },
    /// Those of lower major versions.
    LowerMajor,
}

/// Images by the last part of their names.
///
/// Reference: postgresql.org docs, upgrading ("database files are incompatible with server"); dev.mysql.com doc, downgrading
/// (not supported); mariadb.com kb, downgrading between major versions; mongodb.com docs, release-notes (one major after the other);
/// elastic.co guide, upgrade (no downgrade, from the last minor of the major before); redis.io docs, upgrade (a lower major does not read
/// the RDB file of a higher one).
const DATABASES: [(&str, Takes); 17] = [
    ("postgres", Takes::OwnMajor),
    ("postgresql", Takes::OwnMajor),
    ("postgis", Takes::OwnMajor),
    ("pgvector", Takes::OwnMajor),
    ("pgvecto-rs", Takes::OwnMajor),
    ("timescaledb", Takes::OwnMajor),
    ("timescaledb-ha", Takes::OwnMajor),
    ("vectorchord", Takes::OwnMajor),
    ("mysql", Takes::Lower { most: None }),
    ("mysql-server", Takes::Lower { most: None }),
    ("mariadb", Takes::Lower { most: None }),
    ("mongo", Takes::Lower { most: Some(1) }),
    ("mongodb", Takes::Lower { most: Some(1) }),
    ("elasticsearch", Takes::Lower { most: Some(1) }),
    ("opensearch", Takes::Lower { most: Some(1) }),
    ("redis", Takes::LowerMajor),
    ("valkey", Takes::LowerMajor),
];

/// Another version of a database that keeps its data, and does not take them.
pub(super) fn upgraded(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let pods = spec(new).filter(|_| is_workload(new));
    let places = mounts(new);
    let keeps = |name: &str| places.iter().any(|mount| mount.container == name && !mount.is_read_only);
    let mut found = Vec::new();
    for (name, container) in pods.into_iter().flat_map(running) {
        let Some(was) = before(Some(old), name).filter(|_| keeps(name) && serves(container)) else { continue };
        let [from, to] = [was, container].map(|one| word(one, &["image"]));
        let Some((database, takes)) = row(to).filter(|one| row(from).is_some_and(|was| was.0 == one.0)) else {
            continue;
        };
        let (Some(before), Some(after)) = (version(from, takes), version(to, takes)) else { continue };
        if !takes.is_taken(before, after) {
            let shown = |(major, minor): (u64, u64)| match takes {
                Takes::Lower { .. } => format!("{major}.{minor}"),
                Takes::OwnMajor | Takes::LowerMajor => major.to_string(),
            };
            let text = format!(
                "`{name}` {database} {} → {}: it does not start on the data that the version before left",
                shown(before),
                shown(after)
            );
            let advice =
                "check that the data are brought to the new version first, by a dump or as its documentation says";
            found.push(Danger::said(Severity::Outage, "upgrade", text, advice));
        }
    }
    found
}

/// The major version of PostgreSQL in an image; none where it is not known.
pub(super) fn major_of_postgres(image: &str) -> Option<u64> {
    row(image).filter(|(_, takes)| matches!(takes, Takes::OwnMajor))?;
    version(image, Takes::OwnMajor).map(|(major, _)| major)
}

/// Whether a container runs the server that its image is for, and not a command beside it.
fn serves(container: &Value) -> bool {
    let command = items(container, &["command"]).iter().filter_map(Value::as_str).collect::<Vec<_>>();
    let is_server = |word: &&str| {
        ["entrypoint", "postgres", "mysqld", "mariadbd", "mongod", "-server"].iter().any(|part| word.contains(part))
    };
    let is_tool =
        |word: &&str| ["dump", "backup", "restore", "psql", "sleep", "cron"].iter().any(|part| word.contains(part));
    command.is_empty() || command.iter().any(is_server) && !command.iter().any(is_tool)
}

fn row(image: &str) -> Option<(&'static str, Takes)> {
    let name = Image::parse(image).name;
    let last = name.rsplit('/').next().unwrap_or(name);
    DATABASES.iter().find(|(known, _)| *known == last).copied()
}

/// The first two numbers of the version of an image: those behind `pg` for what is built on PostgreSQL.
fn version(image: &str, takes: Takes) -> Option<(u64, u64)> {
    let tag = Image::parse(image).version;
    let tag = tag.split('@').next().unwrap_or(tag);
    let of_postgres = tag.split("pg").nth(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    // Extensions have versions of their own.
    let is_extension = row(image)
        .is_some_and(|(name, _)| ["timescale", "pgvect", "vectorchord"].iter().any(|one| name.starts_with(one)));
    let tag = match takes {
        Takes::OwnMajor => of_postgres.or_else(|| (!is_extension).then_some(tag))?,
        Takes::Lower { .. } | Takes::LowerMajor => tag,
    };
    let tag = tag.strip_prefix('v').unwrap_or(tag);
    let end = tag.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(tag.len());
    let mut numbers = tag.get(..end)?.split('.').map(str::parse::<u64>);
    let major = numbers.next()?.ok()?;
    match numbers.next() {
        Some(Ok(minor)) => Some((major, minor)),
        // A tag of a major alone moves with its minors.
        _ if matches!(takes, Takes::Lower { .. }) => Some((major, u64::MAX)),
        _ => Some((major, 0)),
    }
}

impl Takes {
    fn is_taken(self, (was, was_minor): (u64, u64), (now, minor): (u64, u64)) -> bool {
        let is_whole = was_minor == u64::MAX || minor == u64::MAX;
        match self {
            Takes::OwnMajor => was == now,
            Takes::LowerMajor => was <= now,
            Takes::Lower { most } => {
                let is_near = most.is_none_or(|most| now <= was.saturating_add(most));
                is_near && (was < now || was == now && (is_whole || was_minor <= minor))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_images_are_read_as_their_databases_count_them() {
        let rows = [
            ("postgres:15.4-alpine", Some((15, 4))),
            ("pgvector/pgvector:pg15", Some((15, 0))),
            ("pgvector/pgvector:0.8.0-pg17", Some((17, 0))),
            ("timescale/timescaledb:2.11.0", None),
            ("ghcr.io/immich-app/postgres:14-vectorchord0.4.3-pgvectors0.2.0", Some((14, 0))),
            ("postgis/postgis:16-3.4@sha256:0123", Some((16, 0))),
            ("postgres:latest", None),
            ("mysql:8", Some((8, u64::MAX))),
        ];
        for (image, expected) in rows {
            let found = row(image).and_then(|(_, takes)| version(image, takes));
            assert_eq!(found, expected, "{image}");
        }
    }
}
