#!/usr/bin/env python3
"""Write kubernetes-v1.21.2.txt, the table that src/kustomize/schema.rs reads, from a reduced OpenAPI document.

    compact.py KUBERNETES-SCHEMA.json > kubernetes-v1.21.2.txt

The document has `definitions` (fields with ref/list/map/type, strategy, mergeKey, listMapKeys) and `resources`
(apiVersion, kind, definition, scope). A line of the table is one of

    :NAME                        a definition; the first one has number 0
    FIELD SHAPE [STRATEGY KEYS]  a field of the definition above; SHAPE: `.` scalar, `*` object without fields,
                                 a number for a definition, `[` list of, `{` map of
    @APIVERSION KIND SCOPE NUM   a resource type; SCOPE: `n` namespaced, `c` cluster, `-` unknown; NUM: its definition or `-`

Fields of a definition and resource types are sorted. A strategy on a field that is a plain reference is left out:
it is lost when the reference is resolved.
"""
import json
import sys

document = json.load(open(sys.argv[1], encoding="utf-8"))
definitions = document["definitions"]
number = {name: index for index, name in enumerate(sorted(definitions))}


def shape(node):
    if "ref" in node:
        return str(number[node["ref"]])
    if "list" in node:
        return "[" + shape(node["list"])
    if "map" in node:
        return "{" + shape(node["map"]) if node["map"] else "*"
    return "." if "type" in node else "*"


print("# Kubernetes v1.21.2, made by compact.py: do not edit")
for name in sorted(definitions):
    print(f":{name}")
    for field, node in sorted(definitions[name].get("fields", {}).items()):
        line = f"{field} {shape(node)}"
        if "strategy" in node and "ref" not in node:
            keys = node.get("listMapKeys") or ([node["mergeKey"]] if "mergeKey" in node else [])
            line += f" {node['strategy']} {','.join(keys)}"
        print(line.rstrip())
for resource in sorted(document["resources"], key=lambda r: (r["apiVersion"], r["kind"])):
    scope = {"Namespaced": "n", "Cluster": "c"}.get(resource.get("scope"), "-")
    index = number[resource["definition"]] if "definition" in resource else "-"
    print(f"@{resource['apiVersion']} {resource['kind']} {scope} {index}")
