//! Broken templates: whatever they are, they give a result or an error, never a panic.

use super::*;

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

const TABLES: [&str; 4] = [
    include_str!("rows/language.txt"),
    include_str!("rows/fmt.txt"),
    include_str!("rows/strings.txt"),
    include_str!("rows/collections.txt"),
];

const PIECES: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    "(",
    ")",
    "|",
    ".",
    "$",
    "\"",
    "`",
    "nil",
    "-1",
    "1.5",
    ".l",
    ".m",
    "range",
    "end",
    "else",
    "%",
    "\\",
    " ",
    "\u{e9}",
    "9223372036854775807",
    "durationRoundTo",
    "mustToDuration",
];

#[test]
fn mutations_do_not_panic() {
    let templates: Vec<&str> =
        TABLES.iter().flat_map(|table| table.lines().filter(|line| !line.starts_with("# ")).step_by(2)).collect();
    let functions = Functions::standard().with_durations();
    let limits = Limits { steps: 200_000, bytes: 4 << 20, depth: 300 };
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..6_000 {
        let mut text = unescaped(templates[numbers.below(templates.len())]);
        for _ in 0..1 + numbers.below(3) {
            let at = numbers.below(text.len() + 1);
            match numbers.below(4) {
                0 => drop(text.splice(at..at, PIECES[numbers.below(PIECES.len())].bytes())),
                1 => drop(text.drain(at..(at + numbers.below(6)).min(text.len()))),
                2 if at < text.len() => text[at] = numbers.next() as u8,
                _ => {
                    let other = unescaped(templates[numbers.below(templates.len())]);
                    text.splice(at..at, other[numbers.below(other.len())..].iter().copied());
                }
            }
        }
        let Ok(parsed) = Parsed::new("t", text, &functions) else { continue };
        let mut set = Set::new("t");
        set.add(&parsed);
        let _ = Runtime::new(limits, Effects::Refuse).execute(&set, "t", data());
    }
}
