//! What a server makes of an object when it replaces another one.

use go_yaml::{Mapping, Value};

/// An object as a server stores it in place of `old`: a Service that changes its type loses what only its old type has, where
/// that is written as it was. None where nothing goes.
///
/// Reference: kubernetes 1.34 pkg/registry/core/service/strategy.go `dropTypeDependentFields`.
pub fn stored(old: &Value, new: &Value) -> Option<Value> {
    let is_service = |value: &Value| text(value, "kind") == "Service" && text(value, "apiVersion") == "v1";
    if !is_service(old) || !is_service(new) {
        return None;
    }
    let (before, after) = (Needs::of(old.get("spec")?), Needs::of(new.get("spec")?));
    let mut stored = new.clone();
    let Value::Mapping(root) = &mut stored else { return None };
    let Some(Value::Mapping(spec)) = root.get_mut("spec") else { return None };
    let old = old.get("spec")?.as_mapping()?;
    let fields: [(bool, &[&str]); 4] = [
        (before.cluster_ip && !after.cluster_ip, &["clusterIP", "clusterIPs"]),
        (before.health_port && !after.health_port, &["healthCheckNodePort"]),
        (before.outside && !after.outside, &["externalTrafficPolicy"]),
        (before.balancer && !after.balancer, &["allocateLoadBalancerNodePorts", "loadBalancerClass"]),
    ];
    for field in fields.iter().filter(|(goes, _)| *goes).flat_map(|(_, fields)| *fields) {
        if old.get(*field) == spec.get(*field) {
            spec.remove(*field);
        }
    }
    if before.node_ports && !after.node_ports && has_all(&node_ports(old), &node_ports(spec)) {
        for port in spec.get_mut("ports").into_iter().filter_map(as_items).flatten() {
            if let Value::Mapping(port) = port {
                port.remove("nodePort");
            }
        }
    }
    (stored != *new).then_some(stored)
}

/// What a Service has by its type.
struct Needs {
    cluster_ip: bool,
    node_ports: bool,
    balancer: bool,
    outside: bool,
    health_port: bool,
}

impl Needs {
    fn of(spec: &Value) -> Self {
        let sort = text(spec, "type");
        let balancer = sort == "LoadBalancer";
        let outside = balancer || sort == "NodePort";
        Self {
            cluster_ip: sort != "ExternalName",
            node_ports: outside,
            balancer,
            outside,
            health_port: balancer && text(spec, "externalTrafficPolicy") == "Local",
        }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn as_items(value: &mut Value) -> Option<&mut Vec<Value>> {
    match value {
        Value::Sequence(items) => Some(items),
        _ => None,
    }
}

/// Whether all of the ports that are written were there.
fn has_all(old: &[i64], new: &[i64]) -> bool {
    new.iter().all(|port| old.contains(port))
}

/// The ports of nodes.
fn node_ports(spec: &Mapping) -> Vec<i64> {
    let ports = spec.get("ports").and_then(Value::as_sequence).unwrap_or_default();
    let number = |port: &Value| match port.get("nodePort") {
        Some(Value::Int(number)) if *number != 0 => Some(*number),
        _ => None,
    };
    ports.iter().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use go_yaml::{Limits, sigs};

    use super::stored;

    #[test]
    fn a_service_of_another_type_loses_what_its_old_type_had() {
        let service = |spec: &str| {
            let text = format!("apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {spec}\n");
            sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML")
        };
        let node = "{type: NodePort, ports: [{port: 80, nodePort: 30080}]}";
        let local = "{type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30123}";
        let rows = [
            (
                node,
                "{type: ClusterIP, ports: [{port: 80, nodePort: 30080}]}",
                Some("{type: ClusterIP, ports: [{port: 80}]}"),
            ),
            (node, "{ports: [{port: 80, nodePort: 30080}]}", Some("{ports: [{port: 80}]}")),
            (node, "{type: ClusterIP, ports: [{port: 80, nodePort: 30081}]}", None),
            (node, "{type: LoadBalancer, ports: [{port: 80, nodePort: 30080}]}", None),
            ("{ports: [{port: 80}]}", "{ports: [{port: 80, nodePort: 30080}]}", None),
            (local, "{externalTrafficPolicy: Local, healthCheckNodePort: 30123}", Some("{}")),
            ("{clusterIP: 10.0.0.9}", "{type: ExternalName, clusterIP: 10.0.0.9}", Some("{type: ExternalName}")),
        ];
        for (old, new, expected) in rows {
            assert_eq!(stored(&service(old), &service(new)), expected.map(service), "{old} {new}");
        }
    }
}
