//! Kinds whose controllers own data: what becomes of the data when the object goes.

/// A kind, and what its controller does.
#[derive(Debug)]
pub(super) struct Owner {
    /// Its API group; one that begins with a dot is the end of several.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// What it owns, as it follows `with`.
    pub data: &'static str,
    /// When the data go with it.
    pub ends: Ends,
}

/// When data go with the object that owns them.
#[derive(Debug)]
pub(super) enum Ends {
    /// Always.
    Always,
    /// Unless a field has one of these values.
    Unless(&'static [&'static str], &'static [&'static str]),
    /// Unless an annotation has one of these values.
    UnlessAnnotated(&'static str, &'static [&'static str]),
    /// Only if some field of this name, however deep, has this value.
    If(&'static str, &'static str),
    /// Only with this finalizer, in any of its spellings.
    Finalizer(&'static str),
    /// As Crossplane does: `deletionPolicy: Orphan` and `managementPolicies` without `Delete` keep them.
    Crossplane,
    /// Never: the claims stay, what runs goes.
    Never,
}

use Ends::{Always, Crossplane, Finalizer, If, Never, Unless, UnlessAnnotated};

const CLAIMS: &str = "its claims and their data";
const EXTERNAL: &str = "what it stands for outside of the cluster, and its data";

const fn owner(group: &'static str, kind: &'static str, data: &'static str, ends: Ends) -> Owner {
    Owner { group, kind, data, ends }
}

const ACK: Ends = UnlessAnnotated("services.k8s.aws/deletion-policy", &["retain"]);
const CNRM: Ends = UnlessAnnotated("cnrm.cloud.google.com/deletion-policy", &["abandon"]);
const AZURE: Ends = UnlessAnnotated("serviceoperator.azure.com/reconcile-policy", &["skip", "detach-on-delete"]);

/// The first row that fits counts.
///
/// Sources: cloudnative-pg discussions 4278 and docs, declarative_database_management (`databaseReclaimPolicy`); CrunchyData
/// postgres-operator docs, guides/storage-retention; zalando postgres-operator docs, reference/operator_parameters; strimzi docs
/// (`deleteClaim`, `strimzi.io/managed`); elastic cloud-on-k8s docs, volume-claim-templates; Percona operators' docs, delete;
/// mongodb-kubernetes-operator docs; OT-CONTAINER-KIT redis-operator CRD (`keepAfterDelete`); spotahome redis-operator README;
/// rook docs, ceph-teardown, ceph-filesystem-crd, ceph-object-store-crd; minio operator, docs of `reclaimStorage`; rabbitmq cluster
/// operator docs, using-operator; cass-operator docs; Altinity clickhouse-operator docs, storage; clickhouse.com
/// kubernetes-operator/guides/storage; solr-operator docs, solr-cloud-crd; mysql-operator and cockroach-operator (claims of a
/// StatefulSet stay); tidb-operator docs (`pvReclaimPolicy`); longhorn docs, volumes; kubernetes docs, volume-snapshots; kubedb
/// docs (`deletionPolicy`); crossplane docs, managed-resources; ACK docs, deletion-policy; Config Connector docs,
/// managing-deleting-resources; azure-service-operator docs, annotations.
pub(super) const OWNERS: &[Owner] = &[
    owner("postgresql.cnpg.io", "Cluster", CLAIMS, Always),
    owner("postgresql.cnpg.io", "Database", "its database", If("databaseReclaimPolicy", "delete")),
    owner("postgres-operator.crunchydata.com", "PostgresCluster", CLAIMS, Always),
    owner("acid.zalan.do", "postgresql", "its claims and their data, unless its operator is set to keep them", Always),
    owner(
        "kafka.strimzi.io",
        "KafkaTopic",
        "its topic and all records",
        UnlessAnnotated("strimzi.io/managed", &["false"]),
    ),
    owner("kafka.strimzi.io", "Kafka", CLAIMS, If("deleteClaim", "true")),
    owner("kafka.strimzi.io", "KafkaNodePool", CLAIMS, If("deleteClaim", "true")),
    owner(
        "elasticsearch.k8s.elastic.co",
        "Elasticsearch",
        CLAIMS,
        Unless(&["spec", "volumeClaimDeletePolicy"], &["DeleteOnScaledownOnly"]),
    ),
    owner("mongodbcommunity.mongodb.com", "MongoDBCommunity", CLAIMS, Never),
    owner("pxc.percona.com", "PerconaXtraDBCluster", CLAIMS, Finalizer("delete-pxc-pvc")),
    owner("ps.percona.com", "PerconaServerMySQL", CLAIMS, Finalizer("delete-mysql-pvc")),
    owner("psmdb.percona.com", "PerconaServerMongoDB", CLAIMS, Finalizer("delete-psmdb-pvc")),
    owner("pgv2.percona.com", "PerconaPGCluster", CLAIMS, Finalizer("delete-pvc")),
    owner(
        "redis.redis.opstreelabs.in",
        "RedisCluster",
        CLAIMS,
        Unless(&["spec", "storage", "keepAfterDelete"], &["true"]),
    ),
    owner("redis.redis.opstreelabs.in", "Redis", CLAIMS, Unless(&["spec", "storage", "keepAfterDelete"], &["true"])),
    owner(
        "redis.redis.opstreelabs.in",
        "RedisReplication",
        CLAIMS,
        Unless(&["spec", "storage", "keepAfterDelete"], &["true"]),
    ),
    owner(
        "databases.spotahome.com",
        "RedisFailover",
        CLAIMS,
        Unless(&["spec", "redis", "storage", "keepAfterDeletion"], &["true"]),
    ),
    owner("ceph.rook.io", "CephBlockPool", "its pool and all volumes in it", Always),
    owner(
        "ceph.rook.io",
        "CephFilesystem",
        "its file system and all volumes in it",
        Unless(&["spec", "preserveFilesystemOnDelete"], &["true"]),
    ),
    owner(
        "ceph.rook.io",
        "CephObjectStore",
        "its store and all buckets in it",
        Unless(&["spec", "preservePoolsOnDelete"], &["true"]),
    ),
    owner("ceph.rook.io", "CephCluster", "the data of all its disks", If("confirmation", "yes-really-destroy-data")),
    owner("minio.min.io", "Tenant", CLAIMS, If("reclaimStorage", "true")),
    owner("objectbucket.io", "ObjectBucketClaim", "its bucket, unless the class of storage retains it", Always),
    owner("rabbitmq.com", "RabbitmqCluster", CLAIMS, Always),
    owner("cassandra.datastax.com", "CassandraDatacenter", CLAIMS, Always),
    owner("k8ssandra.io", "K8ssandraCluster", CLAIMS, Always),
    owner(
        "clickhouse.altinity.com",
        "ClickHouseInstallation",
        CLAIMS,
        Unless(&["spec", "defaults", "storageManagement", "reclaimPolicy"], &["Retain"]),
    ),
    owner("clickhouse.com", "ClickHouseCluster", CLAIMS, Never),
    owner("solr.apache.org", "SolrCloud", CLAIMS, If("reclaimPolicy", "Delete")),
    owner("mysql.oracle.com", "InnoDBCluster", CLAIMS, Never),
    owner("crdb.cockroachlabs.com", "CrdbCluster", CLAIMS, Never),
    owner("k8s.mariadb.com", "MariaDB", CLAIMS, Never),
    owner("pingcap.com", "TidbCluster", CLAIMS, If("pvReclaimPolicy", "Delete")),
    owner("longhorn.io", "Volume", "its data", Always),
    owner("snapshot.storage.k8s.io", "VolumeSnapshot", "its snapshot, unless its class retains it", Always),
    owner("snapshot.storage.k8s.io", "VolumeSnapshotContent", "its snapshot", If("deletionPolicy", "Delete")),
    owner("kubedb.com", "", CLAIMS, Unless(&["spec", "deletionPolicy"], &["Halt", "DoNotTerminate"])),
    owner(".upbound.io", "", EXTERNAL, Crossplane),
    owner(".crossplane.io", "", EXTERNAL, Crossplane),
    owner(".services.k8s.aws", "", EXTERNAL, ACK),
    owner(".cnrm.cloud.google.com", "", EXTERNAL, CNRM),
    owner(".azure.com", "", EXTERNAL, AZURE),
];

/// Kinds of the cloud that hold data, as each provider's controllers name them: the start of the group, and the kind.
pub(super) const CLOUD: &[(&str, &str)] = &[
    ("rds.", "Instance"),
    ("rds.", "Cluster"),
    ("rds.", "DBInstance"),
    ("rds.", "DBCluster"),
    ("rds.", "GlobalCluster"),
    ("database.", "RDSInstance"),
    ("database.", "DynamoTable"),
    ("dynamodb.", "Table"),
    ("docdb.", "Cluster"),
    ("neptune.", "Cluster"),
    ("redshift.", "Cluster"),
    ("s3.", "Bucket"),
    ("efs.", "FileSystem"),
    ("ec2.", "EBSVolume"),
    ("elasticache.", "ReplicationGroup"),
    ("opensearch.", "Domain"),
    ("kafka.", "Cluster"),
    ("kinesis.", "Stream"),
    ("kms.", "Key"),
    ("ecr.", "Repository"),
    ("sql.", "DatabaseInstance"),
    ("sql.", "Database"),
    ("sql.", "SQLInstance"),
    ("sql.", "SQLDatabase"),
    ("sql.", "MSSQLServer"),
    ("sql.", "MSSQLDatabase"),
    ("sql.", "Server"),
    ("sql.", "ServersDatabase"),
    ("storage.", "Bucket"),
    ("storage.", "StorageBucket"),
    ("storage.", "Account"),
    ("storage.", "StorageAccount"),
    ("storage.", "Container"),
    ("spanner.", "Instance"),
    ("spanner.", "Database"),
    ("spanner.", "SpannerInstance"),
    ("spanner.", "SpannerDatabase"),
    ("bigtable.", "Instance"),
    ("bigtable.", "BigtableInstance"),
    ("bigquery.", "Dataset"),
    ("bigquery.", "BigQueryDataset"),
    ("firestore.", "Database"),
    ("filestore.", "Instance"),
    ("redis.", "Instance"),
    ("cloudplatform.", "Project"),
    ("alloydb.", "Cluster"),
    ("alloydb.", "AlloyDBCluster"),
    ("dbforpostgresql.", "FlexibleServer"),
    ("dbforpostgresql.", "FlexibleServerDatabase"),
    ("dbforpostgresql.", "Server"),
    ("dbformysql.", "FlexibleServer"),
    ("dbformariadb.", "Server"),
    ("documentdb.", "DatabaseAccount"),
    ("cosmosdb.", "Account"),
    ("cache.", "Redis"),
    ("cache.", "RedisCache"),
    ("keyvault.", "Vault"),
];
