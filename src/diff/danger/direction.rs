//! The two directions of a NetworkPolicy, and what one says of each.

use go_yaml::Value;

use super::items;
use crate::manifest::Manifest;

/// One of the two directions of a NetworkPolicy.
pub(super) struct Direction {
    pub name: &'static str,
    /// `ingress` or `egress`, which lists the rules.
    pub rules: &'static str,
    /// `from` or `to`, which lists the other side of a rule.
    pub peers: &'static str,
}

pub(super) const DIRECTIONS: [Direction; 2] = [
    Direction { name: "Ingress", rules: "ingress", peers: "from" },
    Direction { name: "Egress", rules: "egress", peers: "to" },
];

impl Direction {
    /// Reference: kubernetes API NetworkPolicySpec.policyTypes: Ingress always when there are none, Egress when there are
    /// rules for it.
    pub(super) fn isolates(&self, policy: &Manifest) -> bool {
        match policy.object().at(&["spec", "policyTypes"]).and_then(Value::as_sequence) {
            Some(types) if !types.is_empty() => types.iter().any(|sort| sort.as_str() == Some(self.name)),
            _ => self.name == "Ingress" || !items(policy.object(), &["spec", self.rules]).is_empty(),
        }
    }

    pub(super) fn blocks(&self, policy: &Manifest) -> bool {
        self.isolates(policy) && items(policy.object(), &["spec", self.rules]).is_empty()
    }

    pub(super) fn is_open(&self, policy: &Manifest) -> bool {
        let has_no_peers = |rule: &Value| items(rule, &[self.peers]).is_empty() && items(rule, &["ports"]).is_empty();
        items(policy.object(), &["spec", self.rules]).iter().any(has_no_peers)
    }
}
