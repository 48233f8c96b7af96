//! The cluster that Argo CD runs in, which it knows by a name and by a URL.

/// The URL of its API server.
pub(crate) const OWN_CLUSTER: &str = "https://kubernetes.default.svc";

/// Its name in Argo CD.
pub(crate) const OWN_CLUSTER_NAME: &str = "in-cluster";

/// The URL or name of a cluster, as that of one cluster is compared: without `/` at its end, and [`OWN_CLUSTER`] for its name.
///
/// Reference: Argo CD 3 util/db/cluster.go `GetCluster`, which looks for the URL without `/` at its end.
pub(crate) fn as_known(cluster: &str) -> String {
    match cluster.trim_end_matches('/') {
        OWN_CLUSTER_NAME => OWN_CLUSTER.to_owned(),
        cluster => cluster.to_owned(),
    }
}
