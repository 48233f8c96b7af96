"""Charts in charts, what they share, and which files of a chart count."""

NAMES = ["sub", "other", "deep"]
LEAF = "a: {own: 1, b: [x]}\nglobal: {g: own, deep: {h: 1}}\nexports: {e: {up: 1}, f: {a: {up: 2}}}\nenabled: true\n"
SHOW = '{{ .Chart.Name }}{{ .Template.BasePath | quote }}: {{ omit .Values "none" | toJson | quote }}\nd: {{ include "d" . | quote }}\nr: {{ list .Release.IsUpgrade .Release.Revision .Chart.Type .Chart.IsRoot .Subcharts | toJson | quote }}\n'
RULES = ["*.txt", "!b.txt", "d/", "/a.txt", "d/*", "**/x", "# c", "", " a.txt", "[ab].txt", "[^a].txt", "\\a.txt", "?.txt", "templates/*.tpl", "charts/deep", ".*", "!", "/", "d/x", "*", "!templates", "values.yaml", "a.txt ", "[", "README*"]
RANGES = ["0.1.0", ">=0.1.0", "~0.2", "*", "", "0.1.x || 2", "^0.1.0-0", "x"]


def metadata(r, name):
    """Chart.yaml, with fields that are seldom there."""
    text = "apiVersion: %s\nname: %s\nversion: %s\n" % (r.choice(["v2", "v2", "v2", "v1"]), name, r.choice(["0.1.0"] * 15 + ["0.1.0+b.1", "0.2.0-rc.1", "v0.1", "1", "x"]))
    for _ in range(r.count(0, 2)):
        text += r.choice(["type: application\n", "type: library\n", "appVersion: 1.10\n", "appVersion: \"1.2\"\n", "kubeVersion: \">=1.20.0-0\"\n", "description: \"a\\tb\"\n", "keywords: [a, b]\n", "home: h\n",
                          "annotations: {a: b, c: 1}\n", "annotations: {a: b}\n", "maintainers: [{name: n, email: e}]\n", "deprecated: true\n", "icon: é\n", "sources: [s]\n", "condition: a\n", "tags: a\n", "unknown: 1\n", "name: again\n"])
    return text


def dependency(r, name):
    text = "  - name: %s\n    version: \"%s\"\n" % (name, r.choice(RANGES[:2] * 12 + RANGES))
    for _ in range(r.count(0, 3)):
        text += "    " + r.choice(["alias: x", "alias: other", "condition: %s.enabled" % name, "condition: none,a.on", "condition: global.g", "tags: [t]", "tags: [t, u]", "import-values: [e]", "import-values: [f, none]", "repository: \"\"",
                                   "import-values: [{child: a, parent: a}]", "import-values: [{child: exports.f, parent: .}]", "import-values: [{child: global, parent: got}]", "enabled: false"]) + "\n"
    return text


def overrides(r):
    """Values of a parent for what is in it."""
    return "".join(r.choice(["sub: {a: {own: null, c: 1}}\n", "sub: {enabled: false}\n", "sub: null\n", "sub: text\n", "sub: {deep: {a: {d: 2}}, global: {g: sub}}\n", "other: {a: null}\n", "x: {a: {x: 1}}\n", "global: {g: top, deep: null}\n", "global: null\n",
                             "global: {deep: {i: 1}}\n", "tags: {t: false}\n", "tags: {t: true, u: x}\n", "a: {on: true}\n", "a: null\n", "deep: {a: 1}\n", "sub: {global: null}\n", "sub: {deep: null}\n", "got: {x: 1}\n"]) for _ in range(r.count(0, 3)))


def chart(r, name, at, depth):
    files = {at + "Chart.yaml": metadata(r, name), at + "values.yaml": overrides(r) + r.choice(["", LEAF]), at + "templates/s.yaml": SHOW, at + "templates/_d.tpl": '{{ define "d" }}%s{{ .Chart.Name }}{{ end }}' % at}
    if r.chance(3):
        files[at + "templates/" + r.choice(["a/b.yaml", "_x.yaml", ".h.yaml", "x.json", "z.txt", "NOTES.txt", "a/_d.tpl", "s.tpl"])] = r.choice(['{{ define "d" }}other{{ end }}x: 1\n', "y: {{ .Template.Name }}\n", "", "  \n", "# c\n", "{{/* c */}}\n", '{"a": 1}'])
    listed = []
    for inner in NAMES:
        if depth < 2 and r.chance(2 + depth):
            files.update(chart(r, inner, at + "charts/%s/" % r.choice([inner] * 9 + [inner + "-1"] * 3 + ["_" + inner]), depth + 1))
            listed += [dependency(r, inner)] if not r.chance(3) else []
        elif r.chance(40):
            listed.append(dependency(r, inner))
    if listed:
        if r.chance(6):
            files[at + "requirements.yaml"] = "dependencies:\n" + "".join(listed)
        else:
            files[at + "Chart.yaml"] += "dependencies:\n" + "".join(listed)
    return files


def ignored(r):
    """Files, and which of them count."""
    files = {"chart/" + path: "1\n" for path in ["a.txt", "b.txt", "d/x", "d/e/x", ".h", "README.md", "é.txt"]}
    files["chart/.helmignore"] = "".join(r.choice(RULES) + r.choice(["\n", "\n", "\r\n"]) for _ in range(r.count(0, 4)))
    files["chart/templates/i.yaml"] = 'i: {{ range $p, $_ := .Files.Glob "**" }}{{ $p }};{{ end }}\n'
    return files


def nested(r):
    """The files of a chart with others in it, and arguments."""
    files = chart(r, "c", "chart/", 0)
    if r.chance(4):
        files.update(ignored(r))
    args = []
    for _ in range(r.count(0, 2)):
        args += ["--set", r.choice(["sub.enabled=false", "sub.enabled=true", "tags.t=true", "tags.t=false", "global.g=set", "sub.a=null", "sub.deep.a.own=9", "sub=null", "global=null", "x.a.own=1", "sub.global.g=1", "a.on=1", "sub.a.b[0]=y", "global.deep.h=null"])]
    if r.chance(5):
        files["u.yaml"] = overrides(r)
        args += ["-f", "u.yaml"]
    if r.chance(8):
        args += ["--show-only", r.choice(["templates/s.yaml", "charts/sub/templates/s.yaml", "templates/none.yaml", "templates/*.yaml", "charts/*/templates/s.yaml"])]
    return files, args
