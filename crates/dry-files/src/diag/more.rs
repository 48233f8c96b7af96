//! How a list says that it goes on: one wording for all of them.

use std::fmt::Display;

/// How many names have to be shown for one more to be named too, in place of `and 1 more`.
const MANY: usize = 4;

/// The names between commas: `a, b and 3 more` when there are more than `shown_max`.
pub fn listed<T: Display>(names: impl IntoIterator<Item = T>, shown_max: usize) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(shown_max).map(|name| name.to_string()).collect();
    let rest: Vec<T> = names.collect();
    match &rest[..] {
        [one] if shown.len() >= MANY => format!("{}, {one}", shown.join(", ")),
        rest => shown.join(", ") + &and_more(rest.len()),
    }
}

/// ` and 3 more`, behind a list or a name; nothing for 0.
pub fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" and {more} more") }
}

/// ` (and 3 more)`, behind a name within a sentence; nothing for 0.
pub fn and_more_in_brackets(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}

/// `… and 3 more`, a line of its own; none when all of `count` are shown. `what` follows: ` lines`, `; --json lists all`.
pub fn line_of_more(count: usize, shown_max: usize, what: impl Display) -> Option<String> {
    let more = count.checked_sub(shown_max).filter(|more| *more > 0)?;
    Some(format!("… and {more} more{what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_some_and_count_the_rest() {
        let rows: &[(&[&str], &str)] = &[
            (&[], ""),
            (&["a"], "a"),
            (&["a", "b"], "a, b"),
            (&["a", "b", "c"], "a, b and 1 more"),
            (&["a", "b", "c", "d"], "a, b and 2 more"),
        ];
        for (names, expected) in rows {
            assert_eq!(listed(*names, 2), *expected);
        }
        assert_eq!(listed(["a", "b", "c", "d", "e"], 4), "a, b, c, d, e");
        assert_eq!(listed(["a", "b", "c", "d", "e", "f"], 4), "a, b, c, d and 2 more");
        assert_eq!((and_more_in_brackets(0), and_more_in_brackets(2)), (String::new(), " (and 2 more)".to_owned()));
        let lines = [line_of_more(2, 2, ""), line_of_more(1, 2, ""), line_of_more(5, 2, " lines")];
        assert_eq!(lines, [None, None, Some("… and 3 more lines".to_owned())]);
    }
}
