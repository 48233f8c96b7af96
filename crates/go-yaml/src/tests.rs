//! Tables of what go-yaml does, and what must be true of any text. Expected values come from the Go libraries that
//! `tests/cases/yaml/README.md` names; whole documents are cases there.

mod hostile;
mod libyaml;
mod meaning;
mod nodes;
mod scalars;

use super::*;

const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 100, nodes: 100_000 };

/// Random numbers that are equal on every machine.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// Texts with a bit of everything; mutations of them come near each corner of the grammar.
const SEEDS: &[&str] = &[
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  labels: {app: web, tier: \"front\"}\ndata:\n  a: |\n    x\n     y\n\n    z\n  b: >-\n    one\n    two\n",
    "# head\na: 1 # line\n# foot\n\nb:\n  # c\n  - c: 2\n    d: 3\n  - - e\n    - f\n  -\n    g\n# end\n",
    "base: &base {x: 1, y: [a, b]}\ncopy: *base\nmerged:\n  <<: *base\n  x: 2\nlist: &l\n- *base\n- &s text\n",
    "? complex\n: value\n? [a, {b: c}]\n: - d\n'single': 'it''s\n  folded'\n\"double\": \"a\\tb\\u00e9\\\n  c\"\n",
    "%YAML 1.1\n%TAG !e! tag:example.com,2000:\n---\n- !e!x 1\n- !!str 2\n- !<tag:yaml.org,2002:int> 3\n...\n---\nplain text\n  of two lines\n--- |+\n keep\n\n",
    "{a: [1, 2.5, ~, true, yes, 0x1F, 2001-01-01, 12:30], b: {c, d: , e: f}, \"g\":h}\r\n",
    "- |2-\n    x\n- >+\n  a\n\n\n- ''\n- \"\"\n- -1\n- !!binary aGk=\n- é日本\u{1F600}\u{85}\u{2028}x\n",
];

const PIECES: &[&str] = &[
    "\n",
    " ",
    "  ",
    "- ",
    ": ",
    ":",
    "? ",
    "#",
    " # c\n",
    "\n# d\n\n",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a ",
    "*a",
    "!",
    "!!str ",
    "!x ",
    "|\n",
    ">-\n",
    "|1\n",
    "---\n",
    "...\n",
    "\t",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2028}",
    "é",
    "\u{1F600}",
    "<<: ",
    "\\",
    "\\x41",
    "~",
    "0x1F",
    "yes",
    "a",
    "key: v\n",
    "%",
    "@",
    "`",
    "\u{1}",
    "\u{7F}",
    "%YAML 1.1\n",
];

/// A seed with a few pieces put in, cut out, doubled or indented.
fn mutation(rng: &mut Rng) -> String {
    let mut chars: Vec<char> = rng.pick(SEEDS).chars().collect();
    for _ in 0..=rng.below(4) {
        let at = rng.below(chars.len() + 1);
        let end = (at + rng.below(8)).min(chars.len());
        match rng.below(4) {
            0 => drop(chars.splice(at..at, rng.pick(PIECES).chars())),
            1 => drop(chars.drain(at..end)),
            2 => drop(chars.splice(at..end, rng.pick(PIECES).chars())),
            _ => {
                let from = rng.below(chars.len() + 1);
                let part: Vec<char> = chars.iter().skip(from).take(rng.below(30)).copied().collect();
                drop(chars.splice(at..at, part));
            }
        }
    }
    chars.into_iter().collect()
}

/// A value whose strings are hard to write.
fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 7 } else { 11 }) {
        0..=3 => Value::String(string(rng)),
        4 => Value::Int(i64::try_from(rng.below(2_000_000)).expect("small") - 1_000_000),
        5 => Value::Float(*rng.pick(&[0.5, -1e-7, 1e6, 123_456.5, 1e21, 5e-324, f64::MAX])),
        6 => rng.pick(&[Value::Null, Value::Bool(true), Value::Bool(false), Value::Uint(u64::MAX)]).clone(),
        7 | 8 => Value::Sequence((0..rng.below(4)).map(|_| value(rng, depth - 1)).collect()),
        _ => Value::Mapping((0..rng.below(5)).map(|_| (string(rng), value(rng, depth - 1))).collect()),
    }
}

fn string(rng: &mut Rng) -> String {
    let blank = *rng.pick(&["", " ", "\n"]);
    let parts: Vec<&str> = (0..rng.below(12)).map(|_| *rng.pick(PIECES)).collect();
    let text = parts.join(blank);
    // go-yaml v3 writes a literal whose first line starts with a tab, and can't read it.
    if text.trim_start_matches(['\n', '\u{2028}']).starts_with('\t') { format!("x{text}") } else { text }
}
