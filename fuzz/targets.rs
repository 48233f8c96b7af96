//! Each sort of input, with inputs that mean something.

use super::{
    Target, application, application_set, chart, glob, ignored, jsonnet, kustomization, languages, manifests, message,
    overlay, records, request, schema, set, settings, tree, whole_chart, yaml,
};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "application",
        run: application,
        seeds: &[
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\nspec:\n  destination: {namespace: n}\n  \
             sourceHydrator:\n    drySource:\n      repoURL: https://git.example.com/dry.git\n      targetRevision: main\n      \
             path: apps/web\n      helm: {parameters: [{name: a, value: b}], valueFiles: [v.yaml], valuesObject: {a: [b]}}\n      \
             kustomize: {images: [a=b:c], patches: [{target: {kind: D}, patch: '[]'}]}\n      directory: {recurse: true, \
             include: '*.yaml', jsonnet: {tlas: [{name: a, value: b, code: true}]}}\n    syncSource: {targetBranch: \
             environments/dev, path: web}\n    hydrateTo: {targetBranch: environments/dev-next}\n",
            "kind: List\nitems:\n- {apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a}, spec: {sourceHydrator: {}}}\n",
            "patches:\n- path: p.yaml\n- patch: '[{op: add}]'\npatchesStrategicMerge: [a.yaml]\npatchesJson6902: [{path: b.yaml}]\n",
        ],
    },
    Target {
        name: "applicationset",
        run: application_set,
        seeds: &[
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s, namespace: argocd}\nspec:\n  generators:\n  - \
             matrix:\n      generators:\n      - list: {elements: [{a: b, values: {c: d}}, {a: e}]}\n      - git: {repoURL: \
             'https://git.example.com/dry.git', revision: HEAD, directories: [{path: 'apps/*'}, {path: '*/x', exclude: true}], \
             pathParamPrefix: p, values: {v: '{{a}}-{{p.path.basename}}'}}\n    selector: {matchLabels: {a: b}, matchExpressions: \
             [{key: values.v, operator: NotIn, values: [x]}]}\n  template:\n    metadata: {name: '{{a}}-{{p.path.basename}}', labels: \
             {'{{a}}': '{{values.v}}'}}\n    spec: {project: default, sourceHydrator: {drySource: {repoURL: r, path: '{{p.path}}', \
             helm: {valuesObject: {'{{a}}': [1, '{{a}}']}}}}}\n  templatePatch: '{\"spec\": {\"syncPolicy\": {\"automated\": {\"prune\": \
             true}}, \"source\": {\"$patch\": \"delete\"}}}'\n",
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n  goTemplate: true\n  \
             goTemplateOptions: [missingkey=error]\n  generators:\n  - merge:\n      mergeKeys: [name]\n      generators:\n      - \
             clusters: {values: {v: '{{.name | upper}}'}, template: {metadata: {labels: {x: y}}}}\n      - list: {elementsYaml: '[{name: \
             in-cluster, n: 1, values: {v: w}}]'}\n  - git: {repoURL: 'https://git.example.com/dry.git', files: [{path: \
             ':(glob)**/[a-z]*.yaml'}, {path: '*x?', exclude: true}]}\n  template:\n    metadata: {name: '{{ slugify 20 true .name }}'}\n    \
             spec: {project: '{{ toYaml . | quote }}', sources: [{repoURL: '{{index .path.segments 0}}'}]}\n  templatePatch: |\n    spec: \
             {syncPolicy: {retry: {limit: {{ .n | int }}}}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: c, labels: \
             {argocd.argoproj.io/secret-type: cluster}}\nstringData: {name: in-cluster, server: 'https://kubernetes.default.svc'}\n",
            "pullRequest: [{number: '7', labels: [a, b]}]\nplugin: [{a: {b: c}}]\n",
            "- {name: c, server: 'https://c.example.com', project: p, labels: {a: b}, annotations: {d: e}, kubeVersion: v1.29.4, \
             apiVersions: [v1, apps/v1]}\n",
            "Server Version: v1.29.4\nv1\napps/v1\n",
        ],
    },
    Target {
        name: "records",
        run: records,
        seeds: &[
            "{\"drySha\":\"0123456789abcdef0123456789abcdef01234567\"}",
            "{\n  \"repoURL\": \"https://git.example.com/dry.git\",\n  \"drySha\": \"0123456789abcdef0123456789abcdef01234567\",\n  \
             \"commands\": [\"helm template .\"],\n  \"author\": \"A <a@example.com>\",\n  \"date\": \"2024-03-27T10:32:04Z\",\n  \
             \"references\": [{\"commit\": {\"sha\": \"0123\", \"author\": \"a\"}}]\n}\n",
        ],
    },
    Target {
        name: "message",
        run: message,
        seeds: &[
            "change\n\nbody\n\nHydrate-Branch: environments/dev\nHydrate-Dry: 0123456789abcdef0123456789abcdef01234567\n\
             Hydrate-Dry-Branch: main\nHydrate-Engine: 1\nHydrate-Settings: 0123456789abcdef0123456789abcdef01234567\n",
            "remove\n\nHydrate-Allow-Removal: environments/dev\nSigned-off-by: A <a@example.com>\n",
            "=?utf-8?q?=C3=84?= \"A \\\" B\" <a.b+c@[IPv6:::1]>",
        ],
    },
    Target {
        name: "helmignore",
        run: ignored,
        seeds: &["# c\n*.txt\n/aaaa/\n!b\n[a-z]?\\*\n**/x\n", "a*a*a*a*b\n{a,b}\n"],
    },
    Target {
        name: "glob",
        run: glob,
        seeds: &["**/{a,b}*/[!a-c]?.yaml\naaaa/b/abab.yaml", "{a,{b,c}*}*\\*\nabab", "*a*a*a*b"],
    },
    Target {
        name: "jsonnet",
        run: jsonnet,
        seeds: &[
            "local b = import 'b.libsonnet'; [importstr \"a.jsonnet\", |||\n  text\n|||, { a:: 1, 'b'+: [x for x in std.range(0, 3)] }]",
            "[{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"a\"}},null]",
        ],
    },
    Target {
        name: "settings",
        run: settings,
        seeds: &[
            "repoURL: [https://git.example.com/dry.git]\napplications: ['apps/**']\nprofile: argocd\nauthor: {name: A, email: \
             a@example.com}\nhistory: tip\nremovalLimit: {share: 0.5, atLeast: 3}\nactivePaths: {environments/dev: [a, b]}\n",
            "{% for application in applications %}\n{{ application.metadata.name | upper }}\n{% endfor %}{{ metadata.subject ~ 'x' * 3 }}\n",
        ],
    },
    Target {
        name: "request",
        run: request,
        seeds: &[
            "{\"repoURL\":\"https://git.example.com/dry.git\",\"targetBranch\":\"environments/dev\",\"drySHA\":\
             \"0123456789abcdef0123456789abcdef01234567\",\"commitAuthor\":\"A <a@example.com>\",\"commitMessage\":\"m\",\
             \"commitTime\":\"2024-03-27T10:32:04Z\",\"details\":[{\"path\":\"web\",\"manifests\":[\"{}\"],\"readme\":\"#\"}]}",
            "hydrate::ssh://git@example.com:22/~a/dry.git?x#y",
        ],
    },
    Target {
        name: "manifests",
        run: manifests,
        seeds: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {b: &c 'd'}\ndata:\n  e: |-\n    f\n  g: *c\n---\n\
             {\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"B\",\"metadata\":{\"name\":\"c\"}}]}\n",
            "apiVersion: v1\nkind: N\nmetadata: {name: n}\nn: [1e3, 0x1f, -0, .5, 1_000, 12345678901234567890, ~, yes, 2001-01-01]\n",
        ],
    },
    Target {
        name: "chart",
        run: chart,
        seeds: &[
            "{{- define \"a\" -}}{{ range $i, $x := .Values.a }}{{ $i }}: {{ $x | toYaml | nindent 2 }}{{ end }}{{- end }}\n\
             a: {{ include \"a\" . | quote }}\nb: {{ tpl \"{{ .Release.Name }}\" . | trunc 3 | default \"x\" }}\n",
            "{{ with $d := dict \"a\" (list 1 2.5 \"c\") }}{{ set $d \"b\" $d.a | toJson }}{{ printf \"%5.2f|%-8s|%x|%v\" 1.5 \"s\" 255 $d }}{{ end }}\n\
             {{ regexReplaceAll \"(a)(b*)\" \"abab\" \"${2}\" }}{{ substr 0 2 \"abc\" }}{{ index (slice (list 1 2 3) 1) 0 | add1 | int64 }}",
            "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: s, version: '>=1', repository: 'file://../s', condition: a.b, \
             import-values: [{child: a, parent: b}]}]\n",
            "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"properties\":{\"a\":{\"items\":{\"$ref\":\"#\"},\"pattern\":\"^a+$\"}}}",
        ],
    },
    Target {
        name: "whole-chart",
        run: whole_chart,
        seeds: &[
            "=== Chart.yaml\napiVersion: v2\nname: c\nversion: 1.0.0\nkubeVersion: '>=1.20'\ndependencies:\n- {name: s, version: 1.x, \
             condition: s.on, alias: t, tags: [u], import-values: [x, {child: y, parent: z}]}\n=== values.yaml\ns: {on: true, a: null}\n\
             global: {g: [1]}\ntags: {u: false}\n=== values.schema.json\n{\"properties\":{\"global\":{\"type\":\"object\",\
             \"required\":[\"g\"]}}}\n=== charts/s/Chart.yaml\napiVersion: v2\nname: s\nversion: 1.2.3\n=== charts/s/values.yaml\n\
             exports: {x: {p: q}}\ny: {z: 1}\n=== charts/s/templates/a.yaml\nkind: A\nv: {{ .Values | toJson | quote }}\n=== \
             templates/_h.tpl\n{{- define \"h\" }}{{ .Chart.Name }}{{ end }}\n=== templates/b.yaml\nkind: B\nn: {{ include \"h\" . }}\n---\n\
             kind: C\nmetadata: {annotations: {helm.sh/hook: 'test, pre-install'}}\n=== crds/d.yaml\nkind: D\n=== .helmignore\n*.txt\n!a\n",
            "=== Chart.yaml\napiVersion: v1\nname: c\nversion: 1.0.0\n=== requirements.yaml\ndependencies: [{name: s, version: '*', \
             repository: 'file://../s'}]\n=== charts/s/Chart.yaml\nname: s\nversion: 0.1.0\ntype: library\n=== charts/s/templates/_l.tpl\n\
             {{ define \"l\" }}{{ set .Values \"k\" (.Files.Get \"f\") }}{{ end }}\n=== f\ntext\n=== templates/a.yaml\n{{ template \"l\" . }}\n",
        ],
    },
    Target {
        name: "schema",
        run: schema,
        seeds: &[
            "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"$defs\": {\"n\": {\"anyOf\": [{\"type\": \"integer\", \
             \"multipleOf\": 3}, {\"$ref\": \"#/$defs/n\"}]}}, \"properties\": {\"a\": {\"items\": {\"$ref\": \"#/$defs/n\"}, \
             \"uniqueItems\": true, \"contains\": {\"const\": 3}}}, \"patternProperties\": {\"^(b|c)+$\": {\"format\": \"uri\"}}, \
             \"unevaluatedProperties\": false, \"if\": {\"required\": [\"b\"]}, \"then\": {\"not\": {\"maxProperties\": 1}}}\n---\n\
             a: [3, 6, 9]\nb: https://example.com/a\nbcb: x\n",
            "{\"$id\": \"https://e/a\", \"oneOf\": [{\"allOf\": [{\"dependentSchemas\": {\"a\": {\"propertyNames\": {\"pattern\": \
             \"(a|aa)+$\"}}}}]}, {\"enum\": [[1, {\"b\": 2}], null]}]}\n---\na: {aaaaaaaaaaaaaaaab: 1}\n",
        ],
    },
    Target {
        name: "set",
        run: set,
        seeds: &[
            "a[1].b=x,d.e={1,true,null},g\\.h[2][0]=0x1,i={},j=a\\,b",
            "a=[1, {\"b\": null}]",
            "{\"a\": {\"b\": [1.5, \"x\"]}}",
            "d.e[65536]=1,a[-1]=2,[0]=3,d=null",
        ],
    },
    Target {
        name: "languages",
        run: languages,
        seeds: &[
            "(?i)^([a-z]+|\\d{2,3}?)[^[:space:]]*$\nabc 123 ABC",
            ">=1.2.3-0 <2 || ~1.x, ^0.0.3 - 2.1\n1.2.3-rc.1+build",
            "Mon, 02 Jan 2006 15:04:05.000 -0700 MST\nTue, 03 Feb 2009 01:02:03.456 +0100 CET",
            "%[2]*.[1]*f|%+q|%#v|%08.3d|%t|%x|%U\na",
            "https://user:pw@example.com:80/a%20b?c=d#e\n{\"scheme\": \"a\"}",
            "files/**/{a,[!b-d]*}\na = 1\n[b.c]\nd = [1.5, 2020-01-01T00:00:00Z]\n[[e]]\nf = 'g'",
        ],
    },
    Target {
        name: "kustomization",
        run: kustomization,
        seeds: &[
            "resources: [a.yaml]\nnamePrefix: p-\nnamespace: n\nlabels: [{pairs: {a: b}, includeSelectors: true}]\nimages: [{name: a, \
             newTag: b}]\nconfigMapGenerator: [{name: g, literals: [a=b]}]\nreplacements:\n- source: {kind: ConfigMap, fieldPath: \
             data.a}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b], options: {create: true, delimiter: '.', index: 1}}]\n",
            "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap, name: a.*}\n  patch: '[{op: copy, from: /data/a, path: /data/~1b}, \
             {op: test, path: /kind, value: ConfigMap}]'\n- path: p.yaml\nvars: [{name: A, objref: {kind: ConfigMap, name: a, apiVersion: v1}, \
             fieldref: {fieldpath: data.a}}]\n",
        ],
    },
    Target {
        name: "overlay",
        run: overlay,
        seeds: &[
            concat!(
                "=== k/kustomization.yaml\n",
                "resources:\n",
                "- d.yaml\n",
                "- base\n",
                "components: [c]\n",
                "namePrefix: p-\n",
                "nameSuffix: -s\n",
                "namespace: ns\n",
                "labels:\n",
                "- pairs: {team: a}\n",
                "  includeSelectors: true\n",
                "commonAnnotations: {note: \"yes\"}\n",
                "patches:\n",
                "- path: p.yaml\n",
                "- target: {kind: Deployment, name: w.*, labelSelector: \"app in (w, x), !y\"}\n",
                "  patch: |-\n",
                "    - {op: replace, path: /spec/replicas, value: 3}\n",
                "    - op: add\n",
                "      path: /metadata/annotations/a~1b\n",
                "      value: \"1\"\n",
                "images: [{name: r.example.com/w, newTag: \"2\", digest: \"\"}]\n",
                "replicas: [{name: w, count: 5}]\n",
                "=== k/d.yaml\n",
                "apiVersion: apps/v1\n",
                "kind: Deployment\n",
                "metadata: {name: w, labels: {app: w}}\n",
                "spec:\n",
                "  replicas: 1\n",
                "  selector: {matchLabels: {app: w}}\n",
                "  template:\n",
                "    metadata: {labels: {app: w}}\n",
                "    spec:\n",
                "      containers:\n",
                "      - name: w\n",
                "        image: r.example.com/w:1\n",
                "        env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: a}}}]\n",
                "      volumes: [{name: v, secret: {secretName: s}}]\n",
                "=== k/p.yaml\n",
                "apiVersion: apps/v1\n",
                "kind: Deployment\n",
                "metadata: {name: w}\n",
                "spec:\n",
                "  template:\n",
                "    spec:\n",
                "      $setElementOrder/containers: [{name: w}]\n",
                "      containers:\n",
                "      - name: w\n",
                "        env: [{name: A, $patch: delete}]\n",
                "      - {name: x, image: y}\n",
                "=== k/base -> ../b\n",
                "=== b/kustomization.yaml\n",
                "configMapGenerator:\n",
                "- name: c\n",
                "  literals: [a=b, \"c='d'\"]\n",
                "  files: [f.txt]\n",
                "  envs: [e.env]\n",
                "secretGenerator:\n",
                "- {name: s, type: t, literals: [x=y], options: {immutable: true}}\n",
                "generatorOptions: {labels: {g: h}, disableNameSuffixHash: false}\n",
                "=== b/f.txt\n",
                "a: b\n",
                "=== b/e.env\n",
                "X=1\n",
                "Y\n",
                "=== k/c/kustomization.yaml\n",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\n",
                "kind: Component\n",
                "configMapGenerator:\n",
                "- {name: c, behavior: merge, literals: [a=z]}\n",
            ),
            concat!(
                "=== k/kustomization.yaml\n",
                "resources: [a.yaml]\n",
                "replacements:\n",
                "- source: {kind: ConfigMap, name: a, fieldPath: data.a, options: {delimiter: \".\", index: 1}}\n",
                "  targets:\n",
                "  - select: {kind: Service}\n",
                "    reject: [{name: z}]\n",
                "    fieldPaths: [\"spec.ports.[name=http].name\", metadata.annotations.x]\n",
                "    options: {create: true, delimiter: /, index: -1}\n",
                "- path: r.yaml\n",
                "vars:\n",
                "- name: V\n",
                "  objref: {kind: Service, name: s, apiVersion: v1}\n",
                "  fieldref: {fieldpath: 'spec.ports[0].name'}\n",
                "configurations: [c.yaml]\n",
                "crds: [crd.json]\n",
                "openapi: {path: o.json}\n",
                "transformers:\n",
                "- |-\n",
                "  apiVersion: builtin\n",
                "  kind: PrefixSuffixTransformer\n",
                "  metadata: {name: t}\n",
                "  prefix: q-\n",
                "  fieldSpecs: [{path: metadata/name}]\n",
                "- t.yaml\n",
                "validators: [t.yaml]\n",
                "sortOptions: {order: legacy, legacySortOptions: {orderFirst: [Service], orderLast: [ConfigMap]}}\n",
                "buildMetadata: [originAnnotations, transformerAnnotations, managedByLabel]\n",
                "=== k/a.yaml\n",
                "apiVersion: v1\n",
                "kind: List\n",
                "items:\n",
                "- apiVersion: v1\n",
                "  kind: ConfigMap\n",
                "  metadata: {name: a, annotations: &x {c: $(V)}}\n",
                "  data: {a: b.c.d, e: \"{\\\"f\\\": [1, 2]}\"}\n",
                "- apiVersion: v1\n",
                "  kind: Service\n",
                "  metadata: {name: s, annotations: *x}\n",
                "  spec: {ports: [{name: http, port: 80}]}\n",
                "---\n",
                "# c\n",
                "apiVersion: example.com/v1\n",
                "kind: Thing\n",
                "metadata: {name: g}\n",
                "spec: {ref: {name: a}, list: [{k: 1}, {k: 2}]}\n",
                "=== k/r.yaml\n",
                "- sourceValue: x\n",
                "  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.e.f.0]}]\n",
                "=== k/c.yaml\n",
                "nameReference:\n",
                "- kind: ConfigMap\n",
                "  fieldSpecs: [{kind: Thing, path: spec/ref/name}]\n",
                "varReference: [{path: metadata/annotations}]\n",
                "=== k/crd.json\n",
                "{\"example.com/v1.Thing\": {\"Schema\": {\"properties\": {\"kind\": {}, \"apiVersion\": {}, \"metadata\": {}, \"spec\": {\"$ref\": \"example.com/v1.Spec\"}}}}}\n",
                "=== k/o.json\n",
                "{\"definitions\": {\"v1.Thing\": {\"type\": \"object\", \"properties\": {\"spec\": {\"type\": \"object\", \"properties\": {\"list\": {\"type\": \"array\", \"x-kubernetes-patch-merge-key\": \"k\", \"x-kubernetes-patch-strategy\": \"merge\"}}}}, \"x-kubernetes-group-version-kind\": [{\"group\": \"example.com\", \"kind\": \"Thing\", \"version\": \"v1\"}]}}}\n",
                "=== k/t.yaml\n",
                "apiVersion: builtin\n",
                "kind: LabelTransformer\n",
                "metadata: {name: l}\n",
                "labels: {l: m}\n",
                "fieldSpecs: [{path: metadata/labels, create: true}, {path: 'spec/list[]/m', kind: Thing}]\n",
            ),
            concat!(
                "=== k/kustomization.yaml\n",
                "bases: [b]\n",
                "commonLabels: {a: b}\n",
                "imageTags: [{name: i, newTag: t}]\n",
                "patchesStrategicMerge:\n",
                "- p.yaml\n",
                "- |-\n",
                "  {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {x: null, y: z}}\n",
                "patchesJson6902:\n",
                "- target: {version: v1, kind: ConfigMap, name: c}\n",
                "  path: j.json\n",
                "generators: [g.yaml]\n",
                "=== k/p.yaml\n",
                "apiVersion: v1\n",
                "kind: ConfigMap\n",
                "metadata: {name: d}\n",
                "$patch: delete\n",
                "=== k/j.json\n",
                "[{\"op\": \"test\", \"path\": \"/data/a\", \"value\": \"b\"}, {\"op\": \"copy\", \"from\": \"/data\", \"path\": \"/more\"}, {\"op\": \"move\", \"from\": \"/more/a\", \"path\": \"/data/q\"}, {\"op\": \"remove\", \"path\": \"/more\"}]\n",
                "=== k/g.yaml\n",
                "apiVersion: builtin\n",
                "kind: ConfigMapGenerator\n",
                "metadata: {name: g, namespace: n}\n",
                "literals: [a=b]\n",
                "files: [k=j.json]\n",
                "=== k/b/kustomization.yaml\n",
                "namespace: m\n",
                "resources: [cm.yaml, rb.yaml]\n",
                "=== k/b/cm.yaml\n",
                "apiVersion: v1\n",
                "kind: ConfigMap\n",
                "metadata: {name: c}\n",
                "data: {a: b, <<: {x: y}}\n",
                "---\n",
                "apiVersion: v1\n",
                "kind: ConfigMap\n",
                "metadata: {name: d}\n",
                "=== k/b/rb.yaml\n",
                "apiVersion: rbac.authorization.k8s.io/v1\n",
                "kind: RoleBinding\n",
                "metadata: {name: rb}\n",
                "subjects: [{kind: ServiceAccount, name: default, namespace: x}]\n",
                "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n",
            ),
        ],
    },
    Target {
        name: "tree",
        run: tree,
        seeds: &[
            "=== a/b/kustomization.yaml\npatches: [{path: p.yaml}]\n=== a/b/p.yaml\nkind: Application\nspec: {sourceHydrator: {}}\n\
             === a/c -> b\n=== a/b/loop -> ../../a\n=== charts/x/Chart.yaml\nname: x\n=== charts/x/templates/t.yaml\na: b\n",
        ],
    },
    Target {
        name: "yaml",
        run: yaml,
        seeds: &[
            concat!(
                "a: &x [1, 2.5e3, 0x1f, 0o17, -.inf, ~, yes, \"t\\u00e9\\n\", 'it''s', 2001-12-14t21:59:43.10-05:00]\n",
                "b: {<<: {c: d}, ? [k, {l: m}] : n, o: !!str 5, p: !!binary aGk=}\n",
                "*x : q\n",
                "# comment\n",
                "r: |2-\n",
                "   literal\n",
                "  text\n",
                "\n",
                "s: >+\n",
                "  folded\n",
                "  text\n",
                "\n",
                "    more\n",
                "t:\n",
                "- - u\n",
                "  - v: w   # end\n",
                "-\n",
                "  !custom {x}\n",
            ),
            concat!(
                "%YAML 1.1\n",
                "--- # first\n",
                "{\"a\": [true, null, 1e400, 18446744073709551615, \"\\u2028\\ud83d\\ude00\"], \"a\": 2}\n",
                "...\n",
                "---\n",
                "? |\n",
                "  key\n",
                ": - \"multi\n",
                "    line\"\n",
                "  - plain\n",
                "    over lines\n",
            ),
        ],
    },
];
