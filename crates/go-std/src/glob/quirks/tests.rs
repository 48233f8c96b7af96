//! What the library answers for names and patterns beyond ASCII.

use super::super::Glob;

/// Pattern, name, and whether they match with `/` as separator and without, as a program around the library 0.2.3 printed it.
const RECORDED: &str = include_str!("rows.txt");

#[test]
fn names_beyond_ascii_match_as_in_the_library() {
    let mut wrong = Vec::new();
    for row in RECORDED.lines().filter(|row| !row.starts_with("# ")) {
        let [pattern, name, separated, plain] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let answer = |glob: Result<Glob, _>| glob.map_or("bad".to_owned(), |glob| glob.matches(name).to_string());
        let found = [answer(Glob::new(pattern)), answer(Glob::without_separator(pattern))];
        if found != [separated, plain] {
            wrong.push(format!("{row}: found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}

#[test]
fn a_name_that_takes_the_library_too_long_is_matched_by_what_the_pattern_says() {
    let glob = Glob::new(&"*é".repeat(40)).expect("compiles");
    assert!(glob.matches(&"aé".repeat(40)));
    assert!(!glob.matches(&"aé".repeat(39)));
}
