"""Kinds and fields of Kustomize that are seldom used, and resources as YAML in all its spellings."""
import json

from yaml_texts import YamlTexts

PATHS = ["metadata/name", "metadata/annotations", "metadata/annotations/a", "metadata/labels", "data", "data/a", "spec/replicas", "spec/text", "spec/list[]/name", "spec/list/name", "spec/selector/matchLabels", "spec/selector",
         "spec/template/metadata/labels", "spec/template/spec/containers[]/image", "spec/containers[]/name", "kind", "spec", "", "a//b", "spec/none/x", "data/x\\/y"]
FIELD_PATHS = ["metadata.name", "metadata.namespace", "metadata.labels.app", "metadata.annotations.[x.io/y]", "metadata.annotations.x\\.io/y", "data.a", "data", "spec.list.0.name", "spec.list.[name=a].name", "spec.list.[name=none].name",
               "spec.list.*.name", "spec.list.-", "spec.list.5", "spec.template.spec.containers.*.image", "spec.template.spec.containers.[name=a].env.[name=A].value", "spec.template.spec.containers.0.ports.[containerPort=80].name", "spec.selector.matchLabels.app", "kind", "spec.text", "spec.new.deep", "spec.[", "*", ""]


class Fields(YamlTexts):
    """What `Draw` of the fuzzer extends: it has the names, texts and resources."""

    def more_bodies(self):
        name, label = self.name(), {"app": self.name()}
        projected = {"projected": {"sources": [{"configMap": {"name": self.name()}}, {"secret": {"name": self.name()}}, {"serviceAccountToken": {"path": "t"}}]}}
        pod = {"initContainers": [{"name": self.name(), "image": self.pick(["nginx@sha256:1", "r.io:5000/nginx", "nginx:"])}], "volumes": [dict(self.pick([projected, {"persistentVolumeClaim": {"claimName": name}}, {"csi": {"driver": "d", "nodePublishSecretRef": {"name": name}}}, {"image": {"reference": "nginx:1"}}]), name="v")],
               "imagePullSecrets": [{"name": self.name()}], "ephemeralContainers": [{"name": "e", "image": "nginx"}], "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {"matchLabels": label}}]}},
               "topologySpreadConstraints": [{"labelSelector": {"matchLabels": label}}], "priorityClassName": name, "containers": [{"name": "c", "image": "nginx", "env": [{"name": "A", "value": self.text()}], "command": ["$(A)", "$(B)"]}]}
        template = {"metadata": {"labels": label}, "spec": pod}
        return self.pick([
            ("v1", "Namespace", {}),
            ("v1", "PersistentVolume", {"spec": {"claimRef": {"name": name, "namespace": "default"}, "storageClassName": name}}),
            ("v1", "PersistentVolumeClaim", {"spec": {"volumeName": name, "storageClassName": self.name()}}),
            ("v1", "ReplicationController", {"spec": {"replicas": 1, "selector": label, "template": template}}),
            ("v1", "PodTemplate", {"template": template}),
            ("v1", "Endpoints", {}),
            ("v1", "Service", {"metadata": {"annotations": {"a": name}}, "spec": {"externalName": "$(A)", "ports": [{"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP", "name": "u"}, {"port": 81}]}}),
            ("apps/v1", "DaemonSet", {"spec": {"selector": {"matchLabels": label}, "template": template}}),
            ("apps/v1", "ReplicaSet", {"spec": {"selector": {"matchLabels": label, "matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}, "template": template}}),
            ("apps/v1", "StatefulSet", {"spec": {"serviceName": name, "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {"storageClassName": name}}], "template": template}}),
            ("batch/v1", "Job", {"spec": {"template": template}}),
            ("batch/v1beta1", "CronJob", {"spec": {"jobTemplate": {"metadata": {"labels": label}, "spec": {"selector": {"matchLabels": label}, "template": template}}}}),
            ("policy/v1", "PodDisruptionBudget", {"spec": {"selector": {"matchLabels": label}}}),
            ("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {"matchLabels": label}, "ingress": [{"from": [{"podSelector": {"matchLabels": label}}]}], "egress": [{"to": [{"podSelector": {"matchLabels": label}}]}]}}),
            ("networking.k8s.io/v1", "Ingress", {"metadata": {"annotations": {"nginx.ingress.kubernetes.io/auth-secret": name}}, "spec": {"tls": [{"secretName": name}], "defaultBackend": {"service": {"name": self.name()}}, "ingressClassName": name}}),
            ("rbac.authorization.k8s.io/v1", "ClusterRole", {"rules": [{"resources": [self.pick(["configmaps", "secrets", "*"])], "resourceNames": [name, "none"], "verbs": ["get"]}], "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]}}),
            ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}, "subjects": [{"kind": self.pick(["ServiceAccount", "User", "Group"]), "name": self.pick(["default", name]), "namespace": self.pick(["default", "system"])}]}),
            ("rbac.authorization.k8s.io/v1", "Role", {"rules": []}),
            ("storage.k8s.io/v1", "StorageClass", {"parameters": {"csi.storage.k8s.io/provisioner-secret-name": name}}),
            ("scheduling.k8s.io/v1", "PriorityClass", {"value": 1}),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {"spec": {"group": "example.com", "conversion": {"webhook": {"clientConfig": {"service": {"name": name, "namespace": "default"}}}}}}),
            ("apiregistration.k8s.io/v1", "APIService", {"spec": {"service": {"name": name, "namespace": "default"}}}),
            ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", {"spec": {"policyName": name, "paramRef": {"name": self.name()}}}),
            ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", {"spec": {}}),
            ("autoscaling/v1", "HorizontalPodAutoscaler", {"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": self.pick(["StatefulSet", "ReplicaSet", "Custom"]), "name": name}}}),
            ("monitoring.coreos.com/v1", "ServiceMonitor", {"spec": {"selector": {"matchLabels": label}, "endpoints": [{"basicAuth": {"password": {"name": name, "key": "k"}}}]}}),
            ("example.com/v1", "Other", {"spec": {"list": ["a", {"name": self.name()}, None, 1.0, [name]], "text": json.dumps({"k": [self.text()]}), "map": {"1": 1, "": None, "~": "~"}, "name": name}}),
        ])

    def yaml_resource(self):
        """A resource as text: one document or several, in any spelling of YAML."""
        made = ""
        for n in self.times(2, 1):
            made += "---\n" if n else self.pick(["", "---\n", "--- # c\n", "# head\n\n---\n", "# head\n\n"])
            made += "apiVersion: v1\nkind: %s\nmetadata:\n  name: %s\n" % (self.pick(["ConfigMap", "Custom", "Secret"]), self.name())
            made += self.pick(["", "  annotations: # c\n    a: b # d\n", "  annotations:" + self.block(4, 1), "  # c\n", "  labels: &l {app: a}\ncopy: *l\n"])
            made += self.pick(["data:", "spec:", "data: # c\n  a:", "spec:\n- b\n-"]) + self.block(4) + self.pick(["", "# end\n", "\n", "other:" + self.block(2), "...\n"])
            made += self.pick(["", "", "", "---\n", "---\n---\n", "---\nnull\n", "---\n# only\n"])
        return made

    def list_resource(self):
        return {"apiVersion": "v1", "kind": self.pick(["List", "ConfigMapList", "CustomList"]), "items": [self.resource() for _ in self.times(2)]}

    def marks(self, made):
        """Annotations that mean something to Kustomize."""
        metadata = made.get("metadata")
        if isinstance(metadata, dict):
            annotation = self.pick([("config.kubernetes.io/local-config", "true"), ("config.kubernetes.io/local-config", "false"), ("kustomize.config.k8s.io/needs-hash", "true"), ("kustomize.config.k8s.io/behavior", "merge"), ("kustomize.config.k8s.io/behavior", "replace"),
                                    ("internal.config.kubernetes.io/index", "3"), ("config.kubernetes.io/path", "a/b.yaml"), ("config.kubernetes.io/index", "0"), ("config.k8s.io/id", "1"), ("config.kubernetes.io/origin", "x: y"), ("internal.config.kubernetes.io/previousNames", "q")])
            annotations = metadata.get("annotations")
            metadata["annotations"] = dict(annotations if isinstance(annotations, dict) else {}, **dict([annotation]))
        return made

    def selector(self):
        made = {}
        for _ in self.times(3):
            field, value = self.pick([("kind", "ConfigMap"), ("kind", "Deploy.*"), ("kind", "^Custom$"), ("version", "v1"), ("version", "v."), ("group", "apps"), ("group", ""), ("name", "a|b"), ("name", "p-.*"), ("name", "["), ("namespace", "prod"), ("namespace", "default|prod"), ("namespace", "_non_namespaceable_"),
                                      ("labelSelector", "app=a"), ("labelSelector", "app in (a, x),!b"), ("labelSelector", "app!=x"), ("labelSelector", "app"), ("labelSelector", "app=="), ("annotationSelector", "a"), ("annotationSelector", "x.io/y notin (x)")])
            made[field] = value
        return made

    def image(self):
        made = {"name": self.pick(["nginx", "r.io/p/web", "nginx@sha256:1", "r.io:5000/nginx", "ng.nx", "nginx:1.2", "*"])}
        for _ in self.times(2):
            field, value = self.pick([("newName", "new"), ("newName", "r.io:1/new"), ("newTag", "v2"), ("newTag", "1.0"), ("digest", "sha256:ab"), ("tagSuffix", "-s"), ("newName", ""), ("newTag", "")])
            made[field] = value
        return made

    def specs(self, *more):
        return [dict({"path": self.pick(PATHS), "create": self.chance(2)}, **dict(more), **self.pick([{}, {}, {"kind": "ConfigMap"}, {"group": "apps"}, {"version": "v1", "kind": "Custom"}])) for _ in self.times(2, 1)]

    def configuration(self):
        kinds = {"namePrefix": self.specs, "nameSuffix": self.specs, "commonLabels": self.specs, "commonAnnotations": self.specs, "labels": self.specs, "templateLabels": self.specs, "namespace": self.specs, "images": self.specs, "replicas": self.specs, "varReference": self.specs,
                 "nameReference": lambda: [{"kind": self.pick(["ConfigMap", "Custom", "Secret"]), "fieldSpecs": self.specs()}]}
        return {field: kinds[field]() for field in self.random.sample(sorted(kinds), 2)}

    def source(self):
        return self.pick([{"sourceValue": self.text()}, {"source": dict(self.selector(), fieldPath=self.pick(FIELD_PATHS))}, {"source": {"kind": self.pick(["ConfigMap", "Custom", "Deployment"]), "name": self.name(), "fieldPath": self.pick(FIELD_PATHS), "options": {"delimiter": self.pick([".", "a", "-"]), "index": self.pick([0, 1, -1, 5])}}},
                          {"source": {"name": self.name()}}])

    def replacement_of_all(self):
        target = {"select": self.selector(), "reject": [self.selector() for _ in self.times(1)], "fieldPaths": [self.pick(FIELD_PATHS) for _ in self.times(2, 1)]}
        if self.chance(2):
            target["options"] = {field: value for field, value in [self.pick([("create", True), ("delimiter", "."), ("delimiter", "n"), ("index", -1), ("index", 1), ("encoding", "base64"), ("encoding", "none")]) for _ in self.times(3)]}
        return dict(self.source(), targets=[{name: value for name, value in target.items() if value}])

    def built_in(self):
        """A generator or transformer that is named by its kind."""
        kind, fields = self.pick([
            ("PatchTransformer", {"patch": json.dumps(self.resource()), "target": self.selector()}),
            ("PatchTransformer", {"path": "p.yaml"}),
            ("PatchStrategicMergeTransformer", {"patches": json.dumps(self.resource())}),
            ("PatchStrategicMergeTransformer", {"paths": ["p.yaml"]}),
            ("PatchJson6902Transformer", {"target": {"kind": "ConfigMap", "name": self.name()}, "jsonOp": json.dumps(self.operations())}),
            ("ReplacementTransformer", {"replacements": [self.replacement_of_all()]}),
            ("SuffixTransformer", {"suffix": "-z", "fieldSpecs": self.specs()}),
            ("HashTransformer", {}),
            ("ValueAddTransformer", {"value": "v", "targets": [{"selector": self.selector(), "fieldPath": self.pick(PATHS), "filePathPosition": self.pick([0, 1, 2])}]}),
            ("NamespaceTransformer", {"metadata": {"name": "t", "namespace": "prod"}, "setRoleBindingSubjects": self.pick(["defaultOnly", "allServiceAccounts", "none", "x"]), "fieldSpecs": [{"path": "metadata/namespace", "create": True}, {"path": "subjects"}]}),
            ("LabelTransformer", {"labels": self.texts(), "fieldSpecs": self.specs()}),
            ("AnnotationsTransformer", {"annotations": self.texts(), "fieldSpecs": self.specs()}),
            ("ImageTagTransformer", {"imageTag": self.image(), "fieldSpecs": self.specs()}),
            ("ReplicaCountTransformer", {"replica": {"name": self.name(), "count": 0}, "fieldSpecs": self.specs()}),
            ("PrefixTransformer", {"prefix": "", "fieldSpecs": self.specs()}),
            ("ConfigMapGenerator", self.generator()),
            ("SecretGenerator", dict(self.generator(), type=self.pick(["Opaque", "kubernetes.io/tls", ""]))),
            ("IAMPolicyGenerator", {"cloud": "gke", "kubernetesService": {"name": self.name(), "namespace": "n"}, "serviceAccount": {"name": "s", "projectId": "p"}}),
            ("SortOrderTransformer", {"sortOptions": {"order": "legacy"}}),
        ])
        return json.dumps(dict({"apiVersion": "builtin", "kind": kind, "metadata": {"name": self.name()}}, **fields))

    def more_fields(self):
        """Fields of a kustomization beside those of every day."""
        return {
            "images": lambda: self.some([self.image]),
            "labels": lambda: [{"pairs": self.texts(), "includeSelectors": self.chance(3), "includeTemplates": self.chance(2), "fields": self.specs()}],
            "patches": lambda: self.some([lambda: {"path": "p.yaml"}, lambda: {"path": "p.yaml", "target": self.selector()}, lambda: {"patch": self.yaml_resource()}, lambda: {"patch": json.dumps(self.operations()), "target": self.selector()}]),
            "patchesJson6902": lambda: [{"target": dict(self.selector(), name=self.name()), "path": "o.yaml"}],
            "patchesStrategicMerge": lambda: ["p.yaml", self.yaml_resource()][:self.random.count(1, 2)],
            "replacements": lambda: self.some([self.replacement_of_all, lambda: {"path": "re.yaml"}], 2),
            "generators": lambda: self.some([self.built_in], 2),
            "transformers": lambda: self.some([self.built_in], 2),
            "validators": lambda: self.some([self.built_in], 1),
            "configurations": lambda: ["c.yaml"],
            "secretGenerator": lambda: [dict(self.generator(), type=self.pick(["kubernetes.io/tls", "", "x"]), namespace=self.pick(["prod", ""]))],
            "configMapGenerator": lambda: [dict(self.generator(), **self.pick([{"files": ["t.env", "k=p.yaml"]}, {"envs": ["t.env"]}, {"env": "t.env"}, {"namespace": "prod"}, {"kvSources": []}]))],
            "replicas": lambda: [{"name": self.name(), "count": self.pick([0, -1, "2", 3])}],
            "openapi": lambda: {"path": "s.json"},
            "metadata": lambda: {"name": self.name(), "annotations": {"config.kubernetes.io/local-config": "true"}},
            "vars": lambda: [{"name": "A", "objref": {"kind": "Service", "apiVersion": "v1", "name": self.name()}}, {"name": "B", "objref": {"kind": "Deployment", "group": "apps", "version": "v1", "name": self.name(), "namespace": "prod"}, "fieldref": {"fieldPath": self.pick(FIELD_PATHS)}}][:self.random.count(1, 2)],
            "buildMetadata": lambda: [["originAnnotations"], ["originAnnotations", "transformerAnnotations"], ["managedByLabel", "x"], []][self.random.count(0, 3)],
            "namespace": lambda: self.pick(["prod", "x", "", "A_b"]),
            "commonLabels": self.texts,
            "namePrefix": lambda: "p-",
            "bases": lambda: [],
        }

    def more_files(self):
        """What those fields name."""
        schema = {"definitions": {"v1.Custom": {"properties": {"spec": {"properties": {"list": {"type": "array", "items": {"type": "object"}, "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": self.pick(["merge", "replace", "merge,retainKeys"])}}}},
                                                "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Custom", "version": "v1"}]}}}
        return {"p.yaml": self.yaml_resource() if self.chance(2) else self.resource(), "o.yaml": self.operations(), "re.yaml": self.pick([lambda: self.replacement_of_all(), lambda: [self.replacement_of_all()]])(), "c.yaml": self.configuration(), "s.json": json.dumps(schema)}
