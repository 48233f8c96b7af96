//! Where well-known images keep their data, whatever is mounted: a claim at another path is not used.

use go_yaml::Value;

use super::databases::major_of_postgres;
use super::mounts::{Mount, Source, mounts};
use super::{Danger, Severity, before, items};
use crate::diff::Image;
use crate::diff::model::pods::{running, spec};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// An image by the end of its name, the directory of its data, and the variables and arguments that name another one. After an argument
/// that begins with `?`, the directory is not known.
struct Keeps {
    image: &'static str,
    directory: &'static str,
    variables: &'static [&'static str],
    arguments: &'static [&'static str],
}

const fn keeps(
    image: &'static str,
    directory: &'static str,
    variables: &'static [&'static str],
    arguments: &'static [&'static str],
) -> Keeps {
    Keeps { image, directory, variables, arguments }
}

const POSTGRES: &str = "/var/lib/postgresql/data";
const INFLUX: &str = "/var/lib/influxdb";
const PGDATA: &[&str] = &["PGDATA"];
const PG: &[&str] = &["-D", "--pgdata", "data_directory"];
const MYSQL: &[&str] = &["--datadir"];
const MONGO: &[&str] = &["--dbpath", "?--config", "?-f"];
const REDIS: &[&str] = &["--dir", "?.conf"];

/// Reference: the Dockerfiles of docker-library/{postgres,mysql,mariadb,mongo,redis,rabbitmq,ghost,wordpress,nextcloud}, postgis/docker-postgis,
/// pgvector/pgvector, timescale/timescaledb-docker, valkey-io/valkey-container, influxdata/influxdata-docker (`VOLUME`, `ENV`);
/// grafana/grafana Dockerfile (`GF_PATHS_DATA`); prometheus/prometheus Dockerfile (`--storage.tsdb.path`); elastic.co guide, docker
/// (`/usr/share/elasticsearch/data`); opensearch-project/opensearch-build docker; jenkinsci/docker (`JENKINS_HOME`);
/// sonatype/docker-nexus3; distribution/distribution Dockerfile; dani-garcia/vaultwarden (`DATA_FOLDER`); ClickHouse/ClickHouse docker/server;
/// apache/couchdb-docker; docker-library/cassandra; neo4j/docker-neo4j; docker-library/postgres, issue 1259: from 18 on `PGDATA` has the version.
const KEEPS: &[Keeps] = &[
    keeps("postgres", POSTGRES, PGDATA, PG),
    keeps("postgis", POSTGRES, PGDATA, PG),
    keeps("pgvector", POSTGRES, PGDATA, PG),
    keeps("timescaledb", POSTGRES, PGDATA, PG),
    keeps("mysql", "/var/lib/mysql", &[], MYSQL),
    keeps("mysql-server", "/var/lib/mysql", &[], MYSQL),
    keeps("mariadb", "/var/lib/mysql", &[], MYSQL),
    keeps("percona-server", "/var/lib/mysql", &[], MYSQL),
    keeps("mongo", "/data/db", &[], MONGO),
    keeps("mongodb-community-server", "/data/db", &[], MONGO),
    keeps("redis", "/data", &[], REDIS),
    keeps("valkey", "/data", &[], REDIS),
    keeps("redis-stack-server", "/data", &[], REDIS),
    keeps("rabbitmq", "/var/lib/rabbitmq", &["RABBITMQ_MNESIA_BASE", "RABBITMQ_MNESIA_DIR"], &[]),
    keeps("elasticsearch", "/usr/share/elasticsearch/data", &["path.data"], &["path.data"]),
    keeps("opensearch", "/usr/share/opensearch/data", &["path.data"], &["path.data"]),
    keeps("grafana", "/var/lib/grafana", &["GF_PATHS_DATA"], &["paths.data"]),
    keeps("grafana-oss", "/var/lib/grafana", &["GF_PATHS_DATA"], &["paths.data"]),
    keeps("grafana-enterprise", "/var/lib/grafana", &["GF_PATHS_DATA"], &["paths.data"]),
    keeps("prometheus", "/prometheus", &[], &["--storage.tsdb.path"]),
    keeps("jenkins", "/var/jenkins_home", &["JENKINS_HOME"], &[]),
    keeps("nexus3", "/nexus-data", &["NEXUS_DATA"], &[]),
    keeps("influxdb", INFLUX, &["INFLUXD_ENGINE_PATH", "INFLUXDB_DATA_DIR"], &["--engine-path", "?.conf"]),
    keeps("registry", "/var/lib/registry", &["REGISTRY_STORAGE_FILESYSTEM_ROOTDIRECTORY"], &["?.yml", "?.yaml"]),
    keeps("vaultwarden/server", "/data", &["DATA_FOLDER"], &[]),
    keeps("clickhouse-server", "/var/lib/clickhouse", &[], &["--path", "?--config"]),
    keeps("couchdb", "/opt/couchdb/data", &[], &[]),
    keeps("cassandra", "/var/lib/cassandra", &[], &[]),
    keeps("neo4j", "/data", &["NEO4J_server_directories_data", "NEO4J_dbms_directories_data"], &[]),
    keeps("nextcloud", "/var/www/html", &[], &[]),
    keeps("wordpress", "/var/www/html", &[], &[]),
    keeps("ghost", "/var/lib/ghost/content", &["paths__contentPath"], &[]),
];

/// The row of an image. Those of Bitnami keep everything below a directory of their own.
fn row(image: &str) -> Option<&'static Keeps> {
    let name = Image::parse(image).name;
    let is_it = |one: &&Keeps| name.strip_suffix(one.image).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    KEEPS.iter().filter(|_| !is_of_bitnami(name)).find(is_it)
}

fn is_of_bitnami(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with("bitnami"))
}

/// What of Bitnami keeps data, below `/bitnami` and its name.
///
/// Reference: bitnami/containers, "Persisting your data" of each.
const OF_BITNAMI: [&str; 7] = ["postgresql", "mysql", "mariadb", "mongodb", "redis", "rabbitmq", "elasticsearch"];

/// The directory of an image where nothing names another one; none where that is not known.
fn default(image: &str) -> Option<String> {
    let Image { name, version } = Image::parse(image);
    if is_of_bitnami(name) {
        let last = name.rsplit('/').next().filter(|last| OF_BITNAMI.contains(last))?;
        return Some(format!("/bitnami/{last}"));
    }
    let row = row(image)?;
    match (row.directory, version.split_once('.').map_or(version, |(major, _)| major)) {
        (POSTGRES, _) => match major_of_postgres(image)? {
            major @ 18.. => Some(format!("/var/lib/postgresql/{major}/docker")),
            _ => Some(POSTGRES.to_owned()),
        },
        (INFLUX, "1") => Some(INFLUX.to_owned()),
        (INFLUX, "2") => Some("/var/lib/influxdb2".to_owned()),
        (INFLUX, _) => None,
        (directory, _) => Some(directory.to_owned()),
    }
}

/// Where a container keeps its data; none where that is not known.
fn directory(container: &Value) -> Option<String> {
    let image = word(container, &["image"]);
    let (variables, arguments): (&[&str], &[&str]) = match row(image) {
        Some(row) => (row.variables, row.arguments),
        None => (&["PGDATA", "POSTGRESQL_DATA_DIR"], &[]),
    };
    let mut named = items(container, &["env"]).iter().filter(|one| variables.contains(&word(one, &["name"])));
    if let Some(variable) = named.next() {
        let value = word(variable, &["value"]);
        return (value.starts_with('/') && !value.contains("$(")).then(|| value.to_owned());
    }
    let words = ["command", "args"].into_iter().flat_map(|list| items(container, &[list])).filter_map(Value::as_str);
    let words: Vec<&str> = words.collect();
    for argument in arguments {
        if let Some(unknown) = argument.strip_prefix('?') {
            if words.iter().any(|word| *word == unknown || unknown.len() > 2 && word.contains(unknown)) {
                return None;
            }
            continue;
        }
        let is_path = |value: &&str| value.starts_with('/');
        for (index, word) in words.iter().enumerate() {
            let value = match word.strip_prefix(argument) {
                Some("") => words.get(index + 1).copied(),
                Some(rest) if rest.starts_with('=') => rest.strip_prefix('='),
                // In a script.
                _ if argument.len() > 2 && word.contains(argument) => return None,
                _ => continue,
            };
            return value.filter(is_path).map(str::to_owned);
        }
    }
    default(image)
}

/// What the data of a container are on: a volume that outlives its Pods, and the place in it.
fn place<'m>(object: &'m Manifest, name: &str, container: &Value, directory: &str) -> Option<(Source<'m>, String)> {
    let below = |path: &str| -> Option<String> {
        let rest = directory.trim_end_matches('/').strip_prefix(path.trim_end_matches('/'))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_matches('/').to_owned())
    };
    // The nearest mount has it.
    let paths = items(container, &["volumeMounts"]).iter().map(|mount| word(mount, &["mountPath"]));
    let path = paths.filter(|path| !path.is_empty() && below(path).is_some()).max_by_key(|path| path.len())?;
    let all = mounts(object);
    let mount = all.iter().find(|mount| (mount.container, mount.path) == (name, path))?;
    let within = below(path)?;
    let parts: Vec<&str> = [mount.part, within.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    Some((mount.source, parts.join("/")))
}

/// Whether it is known where a container keeps its data, and a volume has them.
pub(super) fn is_known(old: &Manifest, name: &str, volume: &str) -> bool {
    let Some(container) = before(Some(old), name) else { return false };
    let Some(directory) = directory(container) else { return false };
    let all = mounts(old);
    let mut own = all.iter().filter(|mount| (mount.container, mount.volume) == (name, volume));
    place(old, name, container, &directory).is_some_and(|(source, _)| own.any(|mount| mount.source == source))
}

/// Whether a container keeps its data in the part of a volume in which it kept them, by another mount.
pub(super) fn is_in_place(old: &Manifest, new: &Manifest, mount: &Mount<'_>) -> bool {
    let on = |object: &Manifest| {
        let container = before(Some(object), mount.container)?;
        let (source, part) = place(object, mount.container, container, &directory(container)?)?;
        (source == mount.source).then_some(part)
    };
    let was = on(old);
    was.is_some() && was == on(new)
}

/// Containers whose data are no longer where they were, though the volume that has them is still mounted.
pub(super) fn moved(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut found = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(running) {
        let Some(was) = before(Some(old), name) else { continue };
        let [from, to] = [was, container].map(|one| word(one, &["image"]));
        // Of another version that does not take the data, that is said.
        let is_same = major_of_postgres(from) == major_of_postgres(to) && default(from) == default(to);
        let (Some(there), Some(here)) = (directory(was), directory(container)) else { continue };
        let Some((source, part)) = place(old, name, was, &there).filter(|_| is_same) else { continue };
        let (had, all) = (mounts(old), mounts(new));
        let is_it = |mount: &&Mount<'_>| mount.container == name && mount.source == source;
        let stays = had.iter().filter(is_it).all(|was| all.iter().any(|now| now.has(was)));
        let is_mounted = all.iter().any(|mount| is_it(&mount));
        if !stays || !is_mounted {
            continue;
        }
        let text = match place(new, name, container, &here) {
            Some((now, at)) if now == source && at == part => continue,
            Some((now, _)) if now != source => continue,
            Some((_, at)) => {
                let [part, at] =
                    [part, at].map(|part| if part.is_empty() { "its root".to_owned() } else { format!("`{part}`") });
                format!(
                    "`{name}` keeps its data at {here}, which is {at} of {source} in place of {part}: it starts empty"
                )
            }
            None => format!(
                "`{name}` keeps its data at {here}, which is no longer on {source}: it starts empty, and what it writes goes with each Pod"
            ),
        };
        let advice = "keep the mount at the directory where it keeps its data";
        found.push(Danger::said(Severity::Outage, "volumeReplaced", text, advice));
    }
    found
}

/// Data that a container wrote and can only read from now on.
///
/// Reference: kubernetes docs/concepts/storage/volumes, "Read-only mounts".
pub(super) fn read_only(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let was = mounts(old);
    let writes = |now: &Mount<'_>| {
        was.iter().any(|one| {
            (one.container, one.source, one.path) == (now.container, now.source, now.path) && !one.is_read_only
        })
    };
    let all = mounts(new);
    let turned = all.iter().filter(|now| now.is_read_only && !matches!(now.source, Source::Host(_)) && writes(now));
    let danger = |now: &Mount<'_>| {
        let (severity, effect) = match is_known(old, now.container, now.volume) {
            true => (Severity::Outage, ", where it keeps its data: it does not run without"),
            false => (Severity::Other, ": its writes fail"),
        };
        let text = format!("`{}` can no longer write to {} at {}{effect}", now.container, now.source, now.path);
        Danger::said(severity, "readOnly", text, "keep it writable for what writes")
    };
    turned.map(danger).collect()
}
