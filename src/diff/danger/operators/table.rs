//! Kinds whose controllers own data: what becomes of the data when the object goes.

/// A kind, and what its controller does.
#[derive(Debug)]
pub(super) struct Owner {
    /// Its API group; one that begins with a dot is the end of several.
    pub group: &'static str,
    /// The kind; empty for all of the group.
    pub kind: &'static str,
    /// What it owns, as it follows `with`.
    pub data: &'static str,
    /// When the data go with it.
    pub ends: Ends,
    /// Who says so: a repository at a commit and a file of it, or a page.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers; a test compares it with the documentation"))]
    pub source: &'static str,
}

/// When data go with the object that owns them.
#[derive(Debug)]
pub(super) enum Ends {
    /// Always.
    Always,
    /// Unless a field has one of these values.
    Unless(&'static [&'static str], &'static [&'static str]),
    /// Unless some field of one of these names, however deep, has this value.
    UnlessAny(&'static [&'static str], &'static str),
    /// Unless an annotation has one of these values.
    UnlessAnnotated(&'static str, &'static [&'static str]),
    /// Only if some field of this name, however deep, has this value.
    If(&'static str, &'static str),
    /// Only if a field has one of these values.
    IfAt(&'static [&'static str], &'static [&'static str]),
    /// Only with this finalizer, in any of its spellings.
    Finalizer(&'static str),
    /// As Crossplane does: `deletionPolicy: Orphan` and `managementPolicies` without `Delete` keep them.
    Crossplane,
    /// Never: its controller keeps it, and what runs, while something is in it.
    WhenEmpty,
    /// Never: the claims stay, what runs goes.
    Never,
}

use Ends::{Always, Crossplane, Finalizer, If, IfAt, Never, Unless, UnlessAnnotated, UnlessAny, WhenEmpty};

const CLAIMS: &str = "its claims and their data";
const EXTERNAL: &str = "what it stands for outside of the cluster, and its data";

const fn owner(group: &'static str, kind: &'static str, data: &'static str, ends: Ends, source: &'static str) -> Owner {
    Owner { group, kind, data, ends, source }
}

const KEEP_AFTER_DELETE: Ends = Unless(&["spec", "storage", "keepAfterDelete"], &["true"]);
const DELETE_PVC: Ends = UnlessAny(&["cassandra.datastax.com/delete-pvc"], "false");
const ACK: Ends = UnlessAnnotated("services.k8s.aws/deletion-policy", &["retain"]);
const CNRM: Ends = UnlessAnnotated("cnrm.cloud.google.com/deletion-policy", &["abandon"]);
const AZURE: Ends = UnlessAnnotated("serviceoperator.azure.com/reconcile-policy", &["skip", "detach-on-delete"]);

/// The first row that fits counts. `docs/reference.md` has the same table.
pub(super) const OWNERS: &[Owner] = &[
    owner(
        "postgresql.cnpg.io",
        "Cluster",
        CLAIMS,
        Always,
        "cloudnative-pg/cloudnative-pg a95a534: pkg/resources/metadatabuilder.go, the Cluster owns its claims",
    ),
    owner(
        "postgresql.cnpg.io",
        "Database",
        "its database",
        IfAt(&["spec", "databaseReclaimPolicy"], &["delete"]),
        "cloudnative-pg/cloudnative-pg a95a534: docs/src/declarative_database_management.md",
    ),
    owner(
        "postgres-operator.crunchydata.com",
        "PostgresCluster",
        CLAIMS,
        Always,
        "CrunchyData/postgres-operator 0fbac30: internal/controller/postgrescluster/postgres.go, it owns its claims",
    ),
    owner(
        "acid.zalan.do",
        "postgresql",
        "its claims and their data, unless its operator is set to keep them",
        Always,
        "zalando/postgres-operator a7aaad0: docs/reference/operator_parameters.md, `enable_persistent_volume_claim_deletion`",
    ),
    owner(
        "kafka.strimzi.io",
        "KafkaTopic",
        "its topic and all records",
        UnlessAnnotated("strimzi.io/managed", &["false"]),
        "strimzi/strimzi-kafka-operator 8541da1: documentation/modules/operators/con-deleting-managed-topics.adoc",
    ),
    owner(
        "kafka.strimzi.io",
        "Kafka",
        CLAIMS,
        If("deleteClaim", "true"),
        "strimzi/strimzi-kafka-operator 8541da1: documentation/modules/appendix_crds.adoc",
    ),
    owner(
        "kafka.strimzi.io",
        "KafkaNodePool",
        CLAIMS,
        If("deleteClaim", "true"),
        "strimzi/strimzi-kafka-operator 8541da1: documentation/modules/configuring/con-config-storage-kraft.adoc",
    ),
    owner(
        "elasticsearch.k8s.elastic.co",
        "Elasticsearch",
        CLAIMS,
        Unless(&["spec", "volumeClaimDeletePolicy"], &["DeleteOnScaledownOnly"]),
        "elastic/cloud-on-k8s 7b93383: pkg/apis/elasticsearch/v1/elasticsearch_types.go",
    ),
    owner(
        "mongodbcommunity.mongodb.com",
        "MongoDBCommunity",
        CLAIMS,
        Never,
        "mongodb/mongodb-kubernetes-operator f6a53c9: controllers/construct/mongodbstatefulset.go, claims of a StatefulSet",
    ),
    owner(
        "pxc.percona.com",
        "PerconaXtraDBCluster",
        CLAIMS,
        Finalizer("delete-pxc-pvc"),
        "percona/percona-xtradb-cluster-operator b3b0b10: deploy/cr.yaml",
    ),
    owner(
        "ps.percona.com",
        "PerconaServerMySQL",
        CLAIMS,
        Finalizer("delete-mysql-pvc"),
        "percona/percona-server-mysql-operator 9adfefa: pkg/naming/naming.go",
    ),
    owner(
        "psmdb.percona.com",
        "PerconaServerMongoDB",
        CLAIMS,
        Finalizer("delete-psmdb-pvc"),
        "percona/percona-server-mongodb-operator b15af50: pkg/naming/naming.go",
    ),
    owner(
        "pgv2.percona.com",
        "PerconaPGCluster",
        CLAIMS,
        Finalizer("delete-pvc"),
        "percona/percona-postgresql-operator adafb34: percona/naming/finalizers.go",
    ),
    owner(
        "redis.redis.opstreelabs.in",
        "RedisCluster",
        CLAIMS,
        KEEP_AFTER_DELETE,
        "OT-CONTAINER-KIT/redis-operator 5dd04e1: internal/k8sutils/finalizer.go",
    ),
    owner(
        "redis.redis.opstreelabs.in",
        "Redis",
        CLAIMS,
        KEEP_AFTER_DELETE,
        "OT-CONTAINER-KIT/redis-operator 5dd04e1: internal/k8sutils/finalizer.go",
    ),
    owner(
        "redis.redis.opstreelabs.in",
        "RedisReplication",
        CLAIMS,
        KEEP_AFTER_DELETE,
        "OT-CONTAINER-KIT/redis-operator 5dd04e1: internal/k8sutils/finalizer.go",
    ),
    owner(
        "databases.spotahome.com",
        "RedisFailover",
        CLAIMS,
        Unless(&["spec", "redis", "storage", "keepAfterDeletion"], &["true"]),
        "spotahome/redis-operator 632aa3d: README.md",
    ),
    owner(
        "ceph.rook.io",
        "CephBlockPool",
        "its pool and all volumes in it, unless its operator is one that waits until it is empty",
        Always,
        "rook/rook d0c3b9c: pkg/operator/ceph/pool/controller.go, `handleDeletionBlocked`, which older ones lack",
    ),
    owner(
        "ceph.rook.io",
        "CephFilesystem",
        "its file system",
        WhenEmpty,
        "rook/rook d0c3b9c: pkg/operator/ceph/file/controller.go, dependent.go",
    ),
    owner(
        "ceph.rook.io",
        "CephObjectStore",
        "its store",
        WhenEmpty,
        "rook/rook d0c3b9c: Documentation/CRDs/Object-Storage/ceph-object-store-crd.md, \"Deleting a CephObjectStore\"",
    ),
    owner(
        "ceph.rook.io",
        "CephCluster",
        "the data of all its disks",
        IfAt(&["spec", "cleanupPolicy", "confirmation"], &["yes-really-destroy-data"]),
        "rook/rook d0c3b9c: Documentation/CRDs/Cluster/ceph-cluster-crd.md",
    ),
    owner(
        "minio.min.io",
        "Tenant",
        CLAIMS,
        Never,
        "minio/operator 0ee2c25: pkg/resources/statefulsets/minio-statefulset.go, claims of a StatefulSet",
    ),
    owner(
        "objectbucket.io",
        "ObjectBucketClaim",
        "its bucket, unless the class of storage retains it",
        Always,
        "kube-object-storage/lib-bucket-provisioner 5164e37: doc/design/object-bucket-lib.md",
    ),
    owner(
        "rabbitmq.com",
        "RabbitmqCluster",
        CLAIMS,
        UnlessAny(&["whenDeleted"], "Retain"),
        "rabbitmq/cluster-operator 06cda8e: internal/resource/statefulset.go, `override.statefulSet`",
    ),
    owner(
        "cassandra.datastax.com",
        "CassandraDatacenter",
        CLAIMS,
        DELETE_PVC,
        "k8ssandra/cass-operator d569729: apis/cassandra/v1beta1/cassandradatacenter_types.go",
    ),
    owner(
        "k8ssandra.io",
        "K8ssandraCluster",
        CLAIMS,
        DELETE_PVC,
        "k8ssandra/k8ssandra-operator 9e3d1b5: controllers/k8ssandra/cleanup.go, it deletes its CassandraDatacenters",
    ),
    owner(
        "clickhouse.altinity.com",
        "ClickHouseInstallation",
        CLAIMS,
        UnlessAny(&["reclaimPolicy"], "Retain"),
        "Altinity/clickhouse-operator 50e8d04: pkg/model/common/tags/labeler/auxiliary.go, docs/chi-examples/99-clickhouseinstallation-max.yaml",
    ),
    owner(
        "clickhouse.com",
        "ClickHouseCluster",
        CLAIMS,
        Never,
        "ClickHouse/clickhouse-operator 581494e: docs/introduction.md",
    ),
    owner(
        "solr.apache.org",
        "SolrCloud",
        CLAIMS,
        IfAt(&["spec", "dataStorage", "persistent", "reclaimPolicy"], &["Delete"]),
        "apache/solr-operator ed5c5c7: api/v1beta1/solrcloud_types.go",
    ),
    owner(
        "mysql.oracle.com",
        "InnoDBCluster",
        CLAIMS,
        Never,
        "mysql/mysql-operator aec777a: mysqloperator/controller/innodbcluster/cluster_objects.py, claims of a StatefulSet",
    ),
    owner("crdb.cockroachlabs.com", "CrdbCluster", CLAIMS, Never, "cockroachdb/cockroach-operator f019f0e: README.md"),
    owner(
        "k8s.mariadb.com",
        "MariaDB",
        CLAIMS,
        IfAt(&["spec", "storage", "pvcRetentionPolicy", "whenDeleted"], &["Delete"]),
        "mariadb-operator/mariadb-operator 8970edf: api/v1alpha1/mariadb_types.go",
    ),
    owner(
        "pingcap.com",
        "TidbCluster",
        CLAIMS,
        Never,
        "docs.pingcap.com/tidb-in-kubernetes/stable: destroy-a-tidb-cluster",
    ),
    owner("longhorn.io", "Volume", "its data", Always, "longhorn/website 0f62250: delete-volumes.md"),
    owner(
        "snapshot.storage.k8s.io",
        "VolumeSnapshot",
        "its snapshot, unless its class retains it",
        Always,
        "kubernetes-csi/external-snapshotter afb2f0d: client/apis/volumesnapshot/v1/types.go",
    ),
    owner(
        "snapshot.storage.k8s.io",
        "VolumeSnapshotContent",
        "its snapshot",
        IfAt(&["spec", "deletionPolicy"], &["Delete"]),
        "kubernetes-csi/external-snapshotter afb2f0d: client/apis/volumesnapshot/v1/types.go",
    ),
    owner(
        "kubedb.com",
        "Postgres",
        CLAIMS,
        IfAt(&["spec", "deletionPolicy"], &["Delete", "WipeOut"]),
        "kubedb/docs dd66a58: docs/guides/postgres/concepts/postgres.md, where the default is `Halt`",
    ),
    owner(
        "kubedb.com",
        "",
        CLAIMS,
        Unless(&["spec", "deletionPolicy"], &["Halt", "DoNotTerminate"]),
        "kubedb/docs dd66a58: docs/guides/mongodb/concepts/mongodb.md",
    ),
    owner(
        ".upbound.io",
        "",
        EXTERNAL,
        Crossplane,
        "crossplane/docs 56a4808: content/v1.20/concepts/managed-resources.md",
    ),
    owner(
        ".crossplane.io",
        "",
        EXTERNAL,
        Crossplane,
        "crossplane/docs 56a4808: content/v1.20/concepts/managed-resources.md",
    ),
    owner(
        ".services.k8s.aws",
        "",
        EXTERNAL,
        ACK,
        "aws-controllers-k8s/runtime 95428e7: apis/core/v1alpha1/annotations.go, deletion_policy.go",
    ),
    owner(
        ".cnrm.cloud.google.com",
        "",
        EXTERNAL,
        CNRM,
        "cloud.google.com/config-connector/docs: managing-deleting-resources",
    ),
    owner(".azure.com", "", EXTERNAL, AZURE, "azure.github.io/azure-service-operator: guide/annotations"),
];

/// Kinds of the cloud that hold data, as each provider's controllers name them: the start of the group, and the kind.
///
/// Sources: the CustomResourceDefinitions of crossplane-contrib/provider-upjet-aws 75a4c57, provider-upjet-gcp 8da2207,
/// provider-upjet-azure a983cb4 and provider-aws 405d4d4; aws-controllers-k8s/rds-controller c337fbc;
/// GoogleCloudPlatform/k8s-config-connector cdb85ec; the types of Azure/azure-service-operator, v2/api.
pub(super) const CLOUD: &[(&str, &str)] = &[
    ("rds.", "Instance"),
    ("rds.", "Cluster"),
    ("rds.", "DBInstance"),
    ("rds.", "DBCluster"),
    ("rds.", "GlobalCluster"),
    ("database.", "RDSInstance"),
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
