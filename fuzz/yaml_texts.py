"""A grammar of YAML as text: what YAML 1.1 and 1.2 read differently, and what no reader takes."""

PLAIN = ["a", "1", "-1", "0640", "0o17", "0x1F", "0b11", "1_000", "1e3", ".5", "1.", "+1", "-0", "0.1", "123456789012345678901", "yes", "no", "on", "y", "n", "true", "True", "null",
         "~", "-.Inf", "1:30", "2020-01-02", "2020-01-02T03:04:05Z", "<<", "=", "a b", "a#b", "a #b", "'a'", "'it''s'", '"a"', '"\\u00e9\\x41"',
         "!!str 1", "!!int 1", "!!float 1", "!!binary aGk=", "!!null ''", "!!bool yes", "!Ref x", "&n1 a", "&n2 [1]", "é", "\u0085", "a\tb", "[]", "{}"]
BROKEN = ["*n1", '"a\\/b"', "@a", "`a", "%a", "- a", "? a", '"\\ud800"', "1e400", ".nan", "! x", "", ".inf", "{a: 1, a: 2}", "'", "[1", "\u2028", "!!int x", "!!binary '*'"]
KEYS = ["a", "b", "c", "x", "y", "_", "x.y", "a b", "1e3", "", "null", "yes", "0", "é", "-", "a'b", "#", "assert"]


class YamlTexts:
    """Draws with the `pick` and `chance` of the fuzzer that extends it; `text` is a line of a block scalar, or some of them."""

    def times(self, most, least=0):
        return range(self.random.count(least, most))

    def flow(self, depth=0):
        if depth > 1 or self.chance(2):
            return self.pick(BROKEN if self.chance(25) else PLAIN)
        if self.chance(2):
            return "[" + ", ".join(self.flow(depth + 1) for _ in self.times(3)) + "]"
        return "{" + ", ".join(self.pick(PLAIN) + ": " + self.flow(depth + 1) for _ in self.times(3)) + "}"

    def block(self, indent, depth=0):
        pad = " " * indent
        draw = self.random.one_of(8)
        if depth > 2 or draw < 3:
            return " " + self.flow() + self.pick(["", "", " # c", " "]) + "\n"
        if draw == 3:
            style = self.pick("|>") + self.pick(["", "-", "+", "2", "1-"])
            return " " + style + "\n" + "".join(self.pick([pad + "  " + self.text().replace("\n", "") + "\n", "\n", pad + "    x\n"]) for _ in self.times(3, 1))
        text = self.pick(["", "", " &n1", " # c", " !!map" if draw < 6 else " !!seq"]) + "\n"
        for _ in self.times(3, 1):
            label = "-" if draw >= 6 else self.pick(PLAIN + KEYS) + self.pick([":", ":", ":", " :"])
            text += self.pick(["", "", "", pad + "# c\n", "\n"]) + pad + label + self.block(indent + self.pick([2, 2, 1, 4]), depth + 1)
        return text

    def yaml(self):
        text = self.pick(["", "", "", "# c\n", "---", "--- # c\n", "%YAML 1.1\n---"]) + self.block(0).lstrip(" ")
        while self.chance(4):
            text += self.pick(["---", "--- ", "---\t", "...\n", "---x\n", "...\n---"]) + self.block(0)
        return text
