"""What the cases of a fuzzer exercised: a table of the productions of its grammar, and what none of its cases drew.

A production is a function that draws. A choice of it is an item of what it picks from, or a side of a chance, at one line of it.
"""
import random, sys


class Drawing(random.Random):
    """Draws as `random.Random` does, and notes each choice."""

    def __init__(self, seed):
        super().__init__(seed)
        self.drawn = set()
        self.known = {}

    def note(self, label, pool):
        """Notes a choice at a line of the production that asks for it, and its alternatives."""
        frame = sys._getframe(2)
        line = frame.f_lineno
        while frame.f_code.co_name.startswith("<") or frame.f_code.co_name == "times":  # no production
            frame = frame.f_back
        at = (frame.f_code.co_name, line)
        self.drawn.add((at, label))
        self.known.update(((at, other), shown) for other, shown in pool)

    def choice(self, pool):
        number = self._randbelow(len(pool))
        by_name = isinstance(pool, str) or all(isinstance(item, tuple) for item in pool)
        labels = [name(item) if by_name else n for n, item in enumerate(pool)]
        self.note(labels[number], [(label, name(item)) for label, item in zip(labels, pool)])
        return pool[number]

    def sample(self, pool, count):
        taken = super().sample(pool, count)
        for item in taken:
            self.note(name(item), [(name(other), name(other)) for other in pool])
        return taken

    def one_of(self, count):
        """A number below `count` that says which way a production goes."""
        number = self.randrange(count)
        self.note(number, [(n, "way %d" % n) for n in range(count)])
        return number

    def count(self, least, most):
        """How many of something."""
        self.note(None, [])
        return self.randint(least, most)

    def place(self, pool):
        """One of what a case has, which is not a choice of the grammar."""
        self.note(None, [])
        return pool[self._randbelow(len(pool))]

    def chance(self, one_in):
        taken = self.randrange(one_in) == 0
        self.note(taken, [(True, "taken"), (False, "left")])
        return taken


def name(item):
    """How a choice is shown: a tuple by its last text, a function by its name."""
    texts = [part for part in item if isinstance(part, str)] if isinstance(item, tuple) else []
    shown = texts[-1] if texts else getattr(item, "__name__", None) or (item if isinstance(item, str) else repr(item))
    return str(shown).encode("unicode_escape").decode()[:40]


class Coverage:
    """How many cases came to each production, and which of its choices none did."""

    def __init__(self, productions):
        self.cases = {production: 0 for production in productions}
        self.known, self.drawn, self.count = {}, set(), 0

    def add(self, drawing):
        self.count += 1
        self.known.update(drawing.known)
        self.drawn |= drawing.drawn
        for production in {production for (production, _), _ in drawing.drawn}:
            self.cases[production] = self.cases.get(production, 0) + 1

    def print(self):
        print("%-16s %7s  choices" % ("production", "cases"))
        for production, cases in sorted(self.cases.items(), key=lambda row: (-row[1], row[0])):
            known = [choice for choice in self.known if choice[0][0] == production]
            never = [self.known[choice] for choice in known if choice not in self.drawn]
            print("%-16s %7d  %d of %d%s" % (production, cases, len(known) - len(never), len(known), "; never: " + ", ".join(never) if never else ""))
        print("drawn by no case: %s" % (", ".join(sorted(production for production, cases in self.cases.items() if not cases)) or "nothing"))
