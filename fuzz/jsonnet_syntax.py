"""The syntax of Jsonnet in its seldom forms, around expressions that another grammar draws; and texts that are nearly programs."""
OPERATORS = ["*", "/", "%", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", " in ", "&", "^", "|", "&&", "||"]
SPACES = ["", " ", "\n", "/* c */", " // c\n", " # c\n", "\t", "/* // */ ", "\r\n", "/**/"]
NUMBERS = ["0", "1", "1.5", "1e3", "1E-2", "10_000", "1_0.0_1", "0.5e+1", "01", "1.", ".5", "1__0", "1_", "1e", "0x1F", "1_e3", "1e1_0", "00", "0e0", "1.0.0", "1a", "9e999"]
STRINGS = ['"a"', "'a'", '"\\u00e9"', "'\\ud83d\\ude00'", '"\\ud83d"', '"\\x"', "'\\''", '"\\/\\b\\f\\n\\r\\t"', "@'a''b\\'", '@"a""b\\"', '"a\nb"', "'\\u12'", '"', "@'", '"\\0"',
           "|||\n  a\n   b\n|||", "|||-\n  a\n|||", "|||\n\ta\n\t b\n|||", "|||  \n  a\n\n  b\n  |||", "|||\na\n|||", "|||\n\n  a\n|||", "|||x\n  a\n|||", "|||\n  a\n b\n|||", "|||-\n  a\n\n|||", "|||\n  a\n\tb\n|||"]
TOKENS = ["", " ", "(", ")", "[", "]", "{", "}", ",", ";", ":", "::", ":::", "+:", "+::", ".", "=", "==", "!", "-", "+", "$", "self", "super", "local ", "if ", " then ", " else ", " for x in ", "function", "assert ", "error ", "import ", "importstr ", " in ", "tailstrict", "null", "'", '"', "|||", "@", "0", "a", "//", "/*", "#", "\\", "_", "é", "\x00", "~", "^", "[:", "::]", "1:2"]


class Syntax:
    """What `Draw` of the fuzzer extends; `of` draws an expression of a kind."""

    def operand(self, depth):
        way = self.random.one_of(9)
        if way == 0:
            return [self.pick(NUMBERS)]
        if way == 1:
            return [self.pick(STRINGS)]
        if way == 2:
            return [self.pick(["-", "+", "!", "~", "- -", "!!", "-~"]), self.of(self.pick("nbv"), depth + 1)]
        if way == 3:
            return [self.pick(["null", "true", "self", "$", "super", "super.a", "std.pi", "std", "[]", "{}", "error 'e'", "if true then 1", "function(x) x", "import 'none'", "{a: 1}.a", "[1][0]", "'ab'[1]", "{a: 1} {b: 2}"])]
        return [self.of(self.pick("nnbsav"), depth + 1)]

    def chain(self, depth):
        """Operators without parentheses."""
        parts = self.operand(depth)
        for _ in self.times(3, 1):
            operator, space = self.pick(OPERATORS), self.pick(SPACES)
            parts += [operator, space or " " * (len(operator) - 1), *self.operand(depth)]
        return ["(", *parts, ")"]

    def functions(self, depth):
        """Local functions that name each other, with defaults and arguments by name."""
        f, g = self.name("f"), self.name("f")
        parameters = self.pick(["a", "a, b=1", "a, b=a", "a=b, b=2", "a, b=%s(1)" % g, "", "a,", "a=1, b"])
        arguments = self.pick(["1", "a=1", "1, 2", "1, b=2", "b=2, a=1", "", "1, a=2", "a=1, 2", "c=1", "1,", "1, 2, 3", "b=3"])
        body = [self.pick(["a", "[a, b]", "a + 1", "%s(a)" % g, "if a then b", "std.type(a)", "function(c) [a, c]"])]
        return ["(local %s(%s) = " % (f, parameters), *body, ", %s(x, y=%s) = " % (g, self.pick(["x", "2", "error 'y'"])), self.of("v", depth + 1), "; %s(%s)%s)" % (f, arguments, self.pick(["", "", "(3)", " tailstrict", "[0]"]))]

    def inherited(self, depth):
        """Objects that look at what they replace, and at themselves."""
        member = lambda: self.pick(["a: super.a", "a+: super.a", "a: 'a' in super", "a: self.b", "b: $.a", "b:: super['a']", "b: if 'b' in super then super.b else 0", "c: {d: $.a, e: super.a}", "a+: {x+: 1}", "a+: [1]", "c: {a+: $.a}", "['a']+: 1", "a::: 3", "local s = super.a, b: s", "assert self.a != 5",
                                             "assert 'a' in super : 'm'", "f(x):: super.f(x)", "f(x): x", "[null]: 1", "[if true then 'q']: super.q", "a: [super.a for x in [1]]", "a+:: 1", "b: self", "c: std.length(self)", "b: {[k]: super[k] for k in ['a']}", "a: (function() super.a)()"])
        parts = ["({a: ", self.of(self.pick("nsoa"), depth + 1), ", b: 2}"]
        for _ in self.times(3, 1):
            parts += [self.pick([" + ", " ", " + {a: 7} + "]), "{ %s }" % ", ".join(member() for _ in self.times(3, 1))]
        return parts + [")" + self.pick(["", "", ".a", ".b", "['c']", " == {}"])]

    def comprehensions(self, depth):
        """Comprehensions with several `for` and `if`."""
        x, y = self.name(), self.name()
        clauses = lambda: "".join(self.pick([" for %s in [1, 2, 3]" % x, " for %s in std.range(%s, 3)" % (y, x), " if %s > 1" % x, " if %s != %s" % (x, y), " for %s in [[%s]]" % (x, x), " for %s in 'ab'" % y, " if true", " for %s in []" % y]) for _ in self.times(2))
        if self.chance(2):
            return ["[", self.pick([x, "[%s, %s]" % (x, x), "%s + 1" % x, "self", "$", "{a: %s}.a" % x]), self.pick(["", ","]), " for %s in " % x, self.of(self.pick("NaS"), depth + 1), clauses(), "]"]
        return ["{", self.pick(["", "local l = %s, " % x, "local l = self, "]), "[", self.pick(["'' + %s" % x, x, "'k'", "if %s == 1 then null else 'a' + %s" % (x, x), "l"]), "]", self.pick([": ", "+: ", ":: ", ": "]), self.pick([x, "self", "super.a", "l", "$", "%s + 1" % x]),
                self.pick(["", ",", ", local m = 1"]), " for %s in " % x, self.of("S", depth + 1), clauses(), "}"]

    def syntax(self, depth):
        return self.pick([self.chain, self.chain, self.functions, self.inherited, self.comprehensions])(depth)

    def mutated(self, text):
        """A text with some places left out or replaced."""
        for _ in self.times(2, 1):
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + self.pick(TOKENS) + text[at + self.random.randrange(4):]
        return text
