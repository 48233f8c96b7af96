//! Our ports of Go's standard library against what real Go answered: the rows of `tests/cases/go`, which the programs of
//! `tests/record/go` have written.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;

use git_hydrate::go::regexp::Regex;
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn rows<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/go").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn assert_none_wrong(wrong: &[String], of: usize) {
    assert!(wrong.is_empty(), "{} of {of} rows differ from Go:\n{}", wrong.len(), wrong.join("\n"));
}

#[derive(Deserialize)]
struct Expression {
    pattern: String,
    /// The pattern, where it is no UTF-8.
    bytes: Option<String>,
    error: Option<String>,
    /// The texts in which it was found, and all that was found in each.
    #[serde(default)]
    finds: BTreeMap<String, Vec<String>>,
    /// The same texts with each match replaced by `<${1}>`.
    #[serde(default)]
    replaced: BTreeMap<String, String>,
}

/// Every text of the rows, to see that a pattern does not match more than Go's.
fn texts(rows: &[Expression]) -> Vec<&str> {
    let mut texts: Vec<&str> = rows.iter().flat_map(|row| row.finds.keys()).map(String::as_str).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

#[test]
fn a_regular_expression_compiles_and_matches_as_in_go() {
    // A thousand groups inside each other, as engines have them on their threads.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(compare_expressions).expect("a thread");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn compare_expressions() {
    let rows: Vec<Expression> = rows("regexp.json");
    let texts = texts(&rows);
    let mut wrong = Vec::new();
    for row in &rows {
        let bytes = row.bytes.as_ref().map(|bytes| data_encoding::BASE64.decode(bytes.as_bytes()).expect("base64"));
        let pattern = bytes.as_deref().unwrap_or(row.pattern.as_bytes());
        let shown: String = String::from_utf8_lossy(pattern).chars().take(60).collect();
        let regex = match (Regex::new(pattern), &row.error) {
            (Ok(regex), None) => regex,
            (Err(error), Some(expected)) if error.to_string() == *expected => continue,
            (found, expected) => {
                wrong.push(format!("{shown}: {:?}, Go says {expected:?}", found.map(|_| "compiles")));
                continue;
            }
        };
        let never = |_| Ok::<_, Infallible>(());
        for text in &texts {
            let Ok(found) = regex.find_all(text.as_bytes(), usize::MAX, never);
            let found: Vec<_> = found.into_iter().map(String::from_utf8_lossy).collect();
            let expected = row.finds.get(*text).map_or(&[][..], Vec::as_slice);
            if found != expected || regex.is_match(text.as_bytes()) == expected.is_empty() {
                wrong.push(format!("{shown} finds {found:?} in {text:?}, Go {expected:?}"));
            }
            let Ok(replaced) = regex.replace_all(text.as_bytes(), b"<${1}>", false, |_, _| Ok::<_, Infallible>(()));
            let replaced = replaced.map(|replaced| String::from_utf8_lossy(&replaced).into_owned());
            if replaced.as_ref() != row.replaced.get(*text) {
                wrong.push(format!("{shown} makes {replaced:?} of {text:?}, Go {:?}", row.replaced.get(*text)));
            }
        }
    }
    assert_none_wrong(&wrong, rows.len());
}
