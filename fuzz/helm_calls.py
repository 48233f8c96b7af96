"""Calls of every function of Helm whose answer is not left to chance, with arguments of the right kind and sometimes of another."""
import json

from yaml_texts import YamlTexts

# What a function gives, its name, and the kinds of its arguments: n number, i small integer, s text, b boolean, l list, d dictionary,
# v anything, k key; J Y M texts in JSON, YAML, TOML; R pattern, F format and its arguments, C range of versions, V version, T time,
# L layout of times, Z zone, D duration, K name of a kind, U URL, X encoded text.
FUNCTIONS = """
n add n n n; n add1 n; n sub n n; n mul n n n; n div n n; n mod n n; n max n n; n biggest n n; n min n n; n addf n n n; n add1f n
n subf n n; n mulf n n; n divf n n n; n maxf n n; n minf n n; n round n i; n round n i n; n ceil n; n floor n; n len v; n int v; n int64 v
n float64 v; n atoi s; n toDecimal v; n int X; n toDecimal X; l until i; l untilStep i i i; s seq i; s seq i i; s seq i i i
b eq n n; b eq v v v; b ne v v; b lt n n; b le s s; b gt v v; b ge n n; v and v v; v or v v; b not v; b all v v; b any v v
v ternary v v b; v default v v; b empty v; v coalesce v v v; s trim s; s trimAll s s; s trimall s s; s trimSuffix s s; s trimPrefix s s
s nospace s; s initials s; s wrap i s; s wrapWith i s s; s abbrev i s; s abbrevboth i i s; s repeat i s; s substr i i s; s trunc i s
s replace s s s; s cat v v; s indent i s; s nindent i s; s plural s s i; s snakecase s; s camelcase s; s kebabcase s; s swapcase s
s title s; s untitle s; s upper s; s lower s; b contains s s; b hasPrefix s s; b hasSuffix s s; s join s l; d split s s; d splitn s i s
l splitList s s; l sortAlpha l; s quote v v; s squote v v; s toString v; l toStrings l; s printf F; s print v v; s println v v; s html v
s js v; s urlquery v v; s b64enc s; s b64dec X; s b32enc s; s b32dec X; s sha1sum s; s sha256sum s; s sha512sum s; s adler32sum s
b regexMatch R s; b mustRegexMatch R s; l regexFindAll R s i; l mustRegexFindAll R s i; s regexFind R s; s mustRegexFind R s
s regexReplaceAll R s s; s mustRegexReplaceAll R s s; s regexReplaceAllLiteral R s s; s mustRegexReplaceAllLiteral R s s
l regexSplit R s i; l mustRegexSplit R s i; s regexQuoteMeta s; v get d k; d set d k v; d unset d k; b hasKey d k; l keys d d; l values d
d pick d k k; d omit d k k; d merge d d d; d mergeOverwrite d d; d mustMerge d d; d mustMergeOverwrite d d d; l pluck k d d; v dig k k v d
d dict k v k v; d dict k; v deepCopy v; v mustDeepCopy v; b deepEqual v v; l list v v v; l tuple v v; v first l; v last l; l rest l; l initial l
v mustFirst l; v mustLast l; l mustRest l; l mustInitial l; l append l v; l push l v; l mustPush l v; l mustAppend l v; l prepend l v
l mustPrepend l v; l concat l l l; l slice l i i; v slice s i i; l mustSlice l i; l without l v v; l mustWithout l v; b has v l; b mustHas v l
l chunk i l; l mustChunk i l; l uniq l; l mustUniq l; l compact l; l mustCompact l; l reverse l; l mustReverse l; v index l i; v index d k
v index l i k; s kindOf v; s typeOf v; b kindIs K v; b typeIs K v; b typeIsLike K v; s toJson v; s toPrettyJson v; s toRawJson v
s mustToJson v; s mustToPrettyJson v; s mustToRawJson v; s toYaml v; s toYamlPretty v; s mustToYaml v; s toToml v; s mustToToml v; d fromJson J
l fromJsonArray J; v mustFromJson J; d fromYaml Y; l fromYamlArray Y; d fromToml M; s date L T; s dateInZone L T Z; s date_in_zone L T Z
T dateModify D T; T date_modify D T; T mustDateModify D T; T toDate L s; T mustToDate L s; s htmlDate T; s htmlDateInZone T Z; s unixEpoch T
s duration n; s duration X; s durationRound n; s durationRound D; v semver V; b semverCompare C V; s base U; s dir U; s ext U; s clean U
b isAbs U; s osBase U; s osDir U; s osClean U; s osExt U; b osIsAbs U; d urlParse U; s urlJoin d; s derivePassword i s s s s; s decryptAES s X
d lookup s s s s; v call v; v required s v; s include k v; s tpl W v; s hello; n durationSeconds D; n durationMinutes D; n durationHours D
n durationDays D; n durationWeeks D; n durationMilliseconds D; n durationMicroseconds D; n durationNanoseconds D
s durationRoundTo D D; s durationTruncateTo D D; s mustToDuration D
"""
LAWS = {}
for entry in FUNCTIONS.replace("\n", ";").split(";"):
    if entry.strip():
        gives, function, *arguments = entry.split()
        LAWS.setdefault(gives, []).append((function, arguments))
# Those with a language of their own: patterns, formats, ranges of versions, times.
LANGUAGES = [law for laws in LAWS.values() for law in laws if set(law[1]) & set("RFCTD")]

NUMBERS = ["0", "1", "2", "7", "-1", "-3", "10", "64", "0.5", "1.5", "2.5", "-0.5", "1e3", "1e6", "1e21", "1e-7", "0x1F", "0o17", "0b11", "017", "1_000", "0x1p4", "9007199254740993", "9223372036854775807",
           "-9223372036854775808", "'a'", "'\\n'", "3.0", "\"12\"", "\"1.5\"", "\"x\"", "(float64 \"NaN\")", "(float64 \"-Inf\")", "(int64 5)", "(int 6)", ".Values.n", ".Values.f", "(len \"ab\")", "true", "nil"]
TEXTS = ["", "a", "b", "abc", "aXbXc", "a,b,,c", "  x y ", "FooBar baz-qux_9", "HTTPServer2", "Grüße", "ÀÉ", "😀", "a\nb", "a\n", "\n", "\t", "\r\n", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffd", "'", '"', "\\", "$1", "${a}$$",
         "`", "<&>", "%", "%s", "#", "- a", "a: b", ":", "---", "[", "{}", "!x", "&a", "*", "null", "true", "yes", "0640", "0x1F", "1e3", ".5", ".nan", "1:30", "2020-01-02", "2020-02-30", "12", "-12", "a b", "the quick brown fox jumps over", "{{ 1 }}"]
CODED = ["YQ==", "YQ=", "YQ", "w7w=", "/w==", "_w==", "Y Q==", "=", "ME======", "MFRGG===", "me======", "12", "-12", "+1", "0x1F", "0777", "777", "8", "", "1.5", "1e3", "1_0", "true", "3600", "95", "9223372036854775808"]
KEYS = ["a", "b", "c", "n", "l", "d", "x.y", "", "none", "host", "scheme", "path", "query"]
VERSIONS = ["1.2.3", "v1.2.3", "1.2", "1", "v1", "1.2.3-alpha.1", "1.2.3-0", "1.2.3+b", "1.0.0-rc.1+b.2", "01.2.3", "1.2.3.4", "x", "", "0.0.0", "1.29.4-gke.100", "v1.30.0+k3s1", "99999999999999999999.0.0", "1.2.3-", "2.0.0-beta"]
LAYOUTS = ["2006-01-02", "2006-01-02T15:04:05Z07:00", "Jan _2 15:04:05.000 2006", "Mon, 02 Jan 06 03:04 PM MST", "002 15h", ".000", "05.999999", "20060102150405", "2006-1-2 -0700", "January Monday pm", "Z0700 Z07 -07:00:00", "", "x", "15:04,000"]
TIMES = ["2020-01-02", "2020-02-30", "2024-02-29", "1969-12-31", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05.123456789+02:00", "20200102030405", "0001-01-01", "9999-12-31", "2020-1-2 -0700", ""]
DURATIONS = ["1h", "-1h30m", "1h30m0.5s", "90s", "0", "", "10", "1d", "1ms", "1us", "1µs", "1ns", "100000h", "24h0m1s", "-0.5s", ".5s", "1.h", "x", "2540400h10m10s"]
ZONES = ["UTC", "", "Local", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "None/Where"]
KINDS = ["string", "int", "int64", "float64", "bool", "map", "slice", "invalid", "ptr", "struct", "map[string]interface {}", "[]interface {}", "*semver.Version", "time.Time", "chartutil.Values", "common.Values"]
URLS = ["https://u:p@h.io:8080/a/b?c=d&e#f", "/a/b/../c.tar.gz", "a//b/./c/", "..", ".", "", "/", "a/..", "http://[::1]:80/", "h.io:80", "//h/p", "mailto:a@b", "http://h/%2f?%zz", "http://h/a b", "%", "C:\\a\\b.txt", "a.b.", ".hidden", "http://é/ü?ö", "x://"]
TEMPLATES = ["{{ . }}", "{{ .a }}", "{{ .Values.a }}", "{{ toYaml . }}", "{{ range . }}<{{ . }}>{{ end }}", "{{ include \"d\" . }}", "{{ define \"d\" }}new{{ end }}{{ include \"d\" . }}", "{{ .Template.Name }}", "{{", "{{ none }}", "a{{- 1 -}} b", "{{ fail \"x\" }}", "{{ tpl \"{{ . }}\" . }}", "{{ $ | kindOf }}"]
PIECES = ["a", "b", "[a-c]", "[^a]", "[[:alpha:]]", "\\d", "\\W", "\\s", "\\b", "\\pL", "\\p{Greek}", "\\x41", "\\x{e9}", ".", "^", "$", "\\A", "\\z", "(a|b)", "(?:x)", "(?P<n>b)", "(?<m>c)", "(?i)", "(?s).", "(?m)^", "(?U)a*", "\\Qa.b\\E", "|", "()", "é", "\\.", "[]a]", "[a", "(", ")", "(?=a)", "\\1", "\\C", "*", "[\\d-z]", "[a-\\d]", "\\p{X}", "😀", "\\ud800"]
TIMES_OF = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}?", "{2,1}", "{1001}", "**", "{,2}"]
VERBS = "vvvdsqxXtTcUeEfFgGboO%z"
TOML = ["a = 1", "a = 1.5", "a = 1e7", "a = 1_000", "a = 0x1F", "a = 0o7", "a = +1", "a = 01", "a = inf", "a = -nan", "a = true", "a = \"x\\ty\"", "a = 'x\\'", "a = \"\"\"\nx\\\n  y\"\"\"", "a = '''x'y'''", "a = \"\\u00e9\\e\\x41\"", "b = 2020-01-02", "b = 2020-01-02T03:04:05Z",
        "b = 2020-01-02 03:04:05.5+01:00", "b = 03:04", "b = 03:04:05", "b = 1979-05-27T07:32", "[t]", "[t.u]", "[[l]]", "[t]\na = 1", "x.y = 1", "\"k é\" = 1", "'' = 1", "é = 1", "c = [1, 2,]", "c = [1, \"a\", [2]]", "d = {a = 1, b.c = 2}", "d = {a = 1,}", "d = {\na = 1\n}", "# c", "a = 1 # c", "a =", "= 1", "a = 1 b = 2", "", "e = 1\r", "f = \"\x7f\"", "g = 9223372036854775808", "h = 1.", "a = 1e400"]
JSON = ["1", "-0", "1e400", "1e-7", "1.50", "01", "+1", ".5", "123456789012345678901", "9007199254740993", "true", "True", "null", "nul", "NaN", '""', '"a"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u00e9"', '"\\x41"', '"a\\/b"', '"\t"', "'a'", '"\u2028"', '"', "[1,]", "[]", "{}", "", "<&>", '"<&>"']
LISTS = ["(list 1 2 3)", "(list \"b\" \"a\" \"a\" nil)", ".Values.l", "(list)", "(list (list 1) (dict \"a\" 1) 0.5 false)", "(list 0 \"\" nil false (dict))"]
DICTS = ["(dict \"a\" 1 \"b\" (dict \"c\" nil))", ".Values.d", "(dict)", ".Values", "(dict \"a\" (list 1 (dict \"b\" \"x\")))", "(dict \"scheme\" \"http\" \"host\" \"h\" \"path\" \"a\" \"query\" \"b=c\")", "(dict \"x.y\" 1.5 \"\" true)"]
ANY = ["nil", "true", ".Values.none", ".Values.d.none", ".Release.Name", "\"\"", ".Values.s", ".Chart", ".Values.d.a", "$", "0", "(semver \"1.2.3-a\")", "(until 2)", "'x'", "1.0"]
VALUES = "n: 3\nf: 2.5\ns: text\nl: [3, 1, null, b, 2.5]\nd: {a: 1, b: {c: x}, l: [1]}\n"


class Calls(YamlTexts):
    def __init__(self, drawing):
        self.random, self.pick, self.chance = drawing, drawing.choice, drawing.chance

    def text(self):
        return self.pick(TEXTS) + (self.pick(TEXTS) if self.chance(4) else "")

    def literal(self, text):
        """A text in one of Go's three spellings: raw, escaped, or as it is."""
        if self.chance(4) and not set(text) & set("`\r\x00\ufeff"):
            return "`%s`" % text
        return json.dumps(text, ensure_ascii=max(text, default="") <= "\uffff" and self.chance(2))

    def pattern(self):
        return "".join(self.pick(PIECES) + self.pick(TIMES_OF) for _ in self.times(4, 1))

    def range_of_versions(self):
        one = lambda: self.pick(["", "=", "!=", ">", "<", ">=", "<=", "~", "^", "~>", "=>", ">= ", "x"]) + self.pick(VERSIONS + ["*", "1.x", "1.2.X", "1.*", "1.2.x-0"])
        return self.pick([" ", ",", ", ", " || ", "||", " - "]).join(one() for _ in self.times(3, 1))

    def json(self, depth=0):
        if depth > 2 or self.chance(2):
            return self.pick(JSON)
        if self.chance(2):
            return "[" + ", ".join(self.json(depth + 1) for _ in self.times(3)) + "]"
        return "{" + ", ".join(json.dumps(self.pick(["a", "b", "A", "\x00", "é"])) + ": " + self.json(depth + 1) for _ in self.times(3)) + "}"

    def toml(self):
        return "\n".join(self.pick(TOML) for _ in self.times(4))

    def format(self, depth):
        """A format and its arguments, which are not always as many."""
        text, arguments = "", []
        for _ in self.times(3, 1):
            flags = "".join(self.pick("#0- +") for _ in self.times(2))
            text += self.pick(["", "a", "%%", "é"]) + "%" + flags + self.pick(["", "", "", "5", "12", "*", "[1]", "[2]"]) + self.pick(["", "", ".", ".0", ".1", ".3", ".20", ".*"]) + self.pick(VERBS)
            arguments += [self.of(self.pick("nnssvld"), depth + 1) for _ in range(0 if self.chance(12) else 1)]
        return " ".join([self.literal(text)] + arguments)

    def of(self, kind, depth=0):
        """An argument of a kind; of another one now and then."""
        texts = {"k": KEYS, "X": CODED, "V": VERSIONS, "L": LAYOUTS, "D": DURATIONS, "Z": ZONES, "U": URLS, "K": KINDS, "W": TEMPLATES}
        made = {"J": self.json, "Y": self.yaml, "M": self.toml, "R": self.pattern, "C": self.range_of_versions}
        if kind == "F":
            return self.format(depth)
        if kind != "T" and self.chance(60):
            kind = self.pick("nslv")
        if kind in texts:
            return self.literal(self.pick(texts[kind]))
        if kind in made:
            return self.literal(made[kind]())
        if depth < 4 and self.chance(3) and kind in LAWS:
            return "(%s)" % self.call(kind, depth + 1)
        if kind == "v":
            return self.pick(ANY) if self.chance(3) else self.of(self.pick("nsbld"), depth + 1)
        if kind == "i":
            return self.pick(["0", "1", "2", "3", "5", "-1", "-2", "9", "1.5", "\"2\""])
        if kind == "T":
            return "(toDate %s %s)" % (self.literal(self.pick(LAYOUTS[:3] + LAYOUTS[7:9])), self.literal(self.pick(TIMES)))
        if kind == "s":
            return self.literal(self.text())
        return self.pick({"n": NUMBERS, "b": ["true", "false"], "l": LISTS, "d": DICTS}[kind])

    def call(self, kind, depth=0):
        """A call that gives a kind: its last argument may come by a pipe."""
        function, arguments = self.pick(LANGUAGES if depth == 0 and self.chance(3) else LAWS[kind])
        if not arguments:
            return function
        *before, last = [self.of(argument, depth + 1) for argument in arguments]
        if arguments[-1] != "F" and self.chance(4):
            return " ".join([last, "|", function, *before])
        return " ".join([function, *before, last])

    def shown(self):
        """An action that prints what a call gives."""
        return self.pick(["{{ %s | toJson }}", "{{ %s | toString | quote }}", "{{ printf \"%%v\" (%s) | quote }}", "{{ typeOf (%s) }}", "{{ %s | toYaml | quote }}"]) % self.call(self.pick("nnssssbllddvvT"))

    def mutated(self, text):
        """A text with a part left out, doubled or changed."""
        for _ in self.times(2, 1):
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + self.pick(["", "{{", "}}", "{{-", "-}}", "(", ")", "|", "\"", "`", ".", "$", "$x", ":=", "=", ",", " ", "\n", "end", "else", "range", "/*", "*/", "'", "1", "nil", "\\"]) + text[at + self.random.randrange(4):]
        return text
