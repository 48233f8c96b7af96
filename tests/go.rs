//! Our ports of Go's standard library against what real Go answered: the rows of `tests/cases/go`, which the programs of
//! `tests/record/go` have written.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;

use git_hydrate::testing::go::json;
use git_hydrate::testing::go::path::{Pattern, clean};
use git_hydrate::testing::go::regexp::Regex;
use git_hydrate::testing::go::strconv::{self, NumberError};
use git_hydrate::testing::go::time::{self, Time, Zone};
use git_hydrate::testing::go::url::{Part, Url, escape, unescape};
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn rows<T: DeserializeOwned>(name: &str) -> T {
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
    /// Each text with each match replaced by `<${1}>`.
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
        let is_match = |text: &[u8]| {
            let Ok(is_match) = regex.is_match(text, |_| Ok::<_, Infallible>(()));
            is_match
        };
        for text in &texts {
            let Ok(found) = regex.find_all(text.as_bytes(), usize::MAX, never);
            let found: Vec<_> = found.into_iter().map(String::from_utf8_lossy).collect();
            let expected = row.finds.get(*text).map_or(&[][..], Vec::as_slice);
            if found != expected || is_match(text.as_bytes()) == expected.is_empty() {
                wrong.push(format!("{shown} finds {found:?} in {text:?}, Go {expected:?}"));
            }
            let Ok(replaced) = regex.replace_all(text.as_bytes(), b"<${1}>", false, usize::MAX, never);
            let replaced = replaced.map(|replaced| String::from_utf8_lossy(&replaced).into_owned());
            if replaced.as_ref() != row.replaced.get(*text) {
                wrong.push(format!("{shown} makes {replaced:?} of {text:?}, Go {:?}", row.replaced.get(*text)));
            }
        }
    }
    assert_none_wrong(&wrong, rows.len());
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[derive(Deserialize, Debug, PartialEq, Default)]
#[serde(default)]
struct ParsedUrl {
    url: String,
    error: String,
    scheme: String,
    opaque: String,
    user: String,
    host: String,
    hostname: String,
    path: String,
    query: String,
    fragment: String,
    string: String,
}

impl ParsedUrl {
    fn of(url: &str) -> Self {
        let found = match Url::parse(url.as_bytes()) {
            Err(error) => Self { error, ..Self::default() },
            Ok(url) => Self {
                scheme: text(&url.scheme),
                opaque: text(&url.opaque),
                user: url.user.as_ref().map(|user| text(&user.text())).unwrap_or_default(),
                host: text(&url.host),
                hostname: text(url.hostname()),
                path: text(&url.path),
                query: text(&url.query),
                fragment: text(&url.fragment),
                string: text(&url.text()),
                ..Self::default()
            },
        };
        Self { url: url.to_owned(), ..found }
    }
}

#[derive(Deserialize)]
struct Escaped {
    text: String,
    query: String,
    segment: String,
}

#[derive(Deserialize)]
struct Urls {
    parsed: Vec<ParsedUrl>,
    /// Base, reference, and what it means there.
    resolved: Vec<[String; 3]>,
    escaped: Vec<Escaped>,
}

#[test]
fn a_url_is_taken_apart_and_refused_as_in_go() {
    let rows = rows::<Urls>("url.json").parsed;
    let differs = |row: &ParsedUrl| {
        (ParsedUrl::of(&row.url) != *row).then(|| format!("{:?}\n  Go: {row:?}", ParsedUrl::of(&row.url)))
    };
    assert_none_wrong(&rows.iter().filter_map(differs).collect::<Vec<_>>(), rows.len());
}

#[test]
fn a_reference_means_the_same_url_as_in_go() {
    let rows = rows::<Urls>("url.json");
    let mut wrong = Vec::new();
    for [base, reference, expected] in &rows.resolved {
        let url = |text: &str| Url::parse(text.as_bytes()).expect("a URL");
        let found = text(&url(base).resolve(&url(reference)).text());
        if found != *expected {
            wrong.push(format!("{reference:?} at {base:?} is {found:?}, in Go {expected:?}"));
        }
    }
    assert_none_wrong(&wrong, rows.resolved.len());
    for row in &rows.escaped {
        for (part, expected) in [(Part::Query, &row.query), (Part::Segment, &row.segment)] {
            assert_eq!(text(&escape(row.text.as_bytes(), part)), *expected, "{part:?}");
            assert_eq!(unescape(expected.as_bytes(), part).expect("escaped"), row.text.as_bytes(), "{part:?}");
        }
    }
}

#[derive(Deserialize)]
struct FloatRow {
    bits: String,
    short: String,
    short32: String,
    json: Option<String>,
    /// By verb and precision: `g-1`, `e6`.
    verbs: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct NumberRow {
    text: String,
    int: String,
    uint: String,
    atoi: String,
    float: String,
}

#[derive(Deserialize)]
struct Strconv {
    floats: Vec<FloatRow>,
    numbers: Vec<NumberRow>,
    /// A text and what `Quote` makes of it.
    quoted: Vec<[String; 2]>,
    /// What `Unquote` makes of a text; none where it refuses.
    unquoted: BTreeMap<String, Option<String>>,
}

#[test]
fn a_float_is_written_as_in_go() {
    let rows = rows::<Strconv>("strconv.json").floats;
    let mut wrong = Vec::new();
    for row in &rows {
        let value = f64::from_bits(u64::from_str_radix(&row.bits, 16).expect("bits"));
        let mut compare = |what: &str, found: Option<String>, expected: Option<&String>| {
            if found.as_ref() != expected {
                wrong.push(format!("{value:e} {what}: {found:?}, in Go {expected:?}"));
            }
        };
        compare("shortest", Some(strconv::format_shortest(value)), Some(&row.short));
        compare("shortest of 32 bits", Some(strconv::format_shortest_32(value as f32)), Some(&row.short32));
        compare("JSON", json::format_number(value), row.json.as_ref());
        for (verb, expected) in &row.verbs {
            let (letter, precision) = (verb.as_bytes()[0], verb[1..].parse::<usize>().ok());
            compare(verb, Some(strconv::format_float(value, letter, precision)), Some(expected));
        }
    }
    assert_none_wrong(&wrong, rows.len());
}

#[test]
fn a_number_is_read_as_in_go() {
    let rows = rows::<Strconv>("strconv.json").numbers;
    let mut wrong = Vec::new();
    for row in &rows {
        let bytes = row.text.as_bytes();
        let answer = |function: &str, found: Result<String, NumberError>| {
            found.unwrap_or_else(|error| error.of(function, &row.text))
        };
        let found = [
            answer("ParseInt", strconv::parse_int(bytes).map(|int| int.to_string())),
            answer("ParseUint", strconv::parse_uint(bytes).map(|uint| uint.to_string())),
            answer("Atoi", strconv::atoi(bytes).map(|int| int.to_string())),
            answer("ParseFloat", strconv::parse_float(bytes).map(strconv::format_shortest)),
        ];
        let expected = [&row.int, &row.uint, &row.atoi, &row.float];
        if found.each_ref() != expected {
            wrong.push(format!("{found:?}\n  Go: {expected:?}"));
        }
    }
    assert_none_wrong(&wrong, rows.len());
}

#[test]
fn a_string_is_quoted_as_in_go() {
    let rows: Strconv = rows("strconv.json");
    for [plain, quoted] in &rows.quoted {
        assert_eq!(strconv::quote(plain), *quoted, "{plain:?}");
        assert_eq!(strconv::unquote(quoted.as_bytes()).as_deref(), Some(plain.as_bytes()), "{quoted}");
    }
    for (quoted, plain) in &rows.unquoted {
        let found = strconv::unquote(quoted.as_bytes()).map(|plain| text(&plain));
        assert_eq!(found, *plain, "{quoted}");
    }
}

#[derive(Deserialize)]
struct Decoded {
    names: Vec<String>,
    /// The field that a key leads to, by its place among the names.
    found: BTreeMap<String, Option<usize>>,
    wrong: Vec<WrongType>,
}

#[derive(Deserialize)]
struct WrongType {
    document: String,
    value: String,
    r#struct: String,
    field: String,
    r#type: String,
    text: String,
}

#[test]
fn a_key_leads_to_a_field_and_a_wrong_type_reads_as_in_go() {
    let rows: Decoded = rows("json.json");
    for (key, expected) in &rows.found {
        assert_eq!(json::find_field(rows.names.iter().map(String::as_str), key), *expected, "{key:?}");
    }
    for WrongType { document, value, r#struct, field, r#type, text } in rows.wrong {
        let field = Some((r#struct, field)).filter(|(_, field)| !field.is_empty());
        assert_eq!(json::UnmarshalTypeError { value, field, go_type: r#type }.to_string(), text, "{document}");
    }
}

#[derive(Deserialize)]
struct Paths {
    /// The names that a pattern describes; none for a text that is not a valid pattern.
    matched: BTreeMap<String, Option<Vec<String>>>,
    names: Vec<String>,
    cleaned: BTreeMap<String, String>,
}

#[test]
fn a_path_is_matched_and_cleaned_as_in_go() {
    let rows: Paths = rows("path.json");
    for (pattern, expected) in &rows.matched {
        let compiled = Pattern::new(pattern).ok();
        let describes = |name: &&String| compiled.as_ref().is_some_and(|pattern| pattern.matches(name));
        let found = compiled.as_ref().map(|_| rows.names.iter().filter(describes).cloned().collect::<Vec<_>>());
        assert_eq!(found, *expected, "{pattern:?}");
    }
    for (path, expected) in &rows.cleaned {
        assert_eq!(clean(path), *expected, "{path:?}");
    }
}

#[derive(Deserialize)]
struct Formatted {
    seconds: i64,
    nanos: u32,
    offset: i32,
    zone: String,
    string: String,
    layouts: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Times {
    formatted: Vec<Formatted>,
    /// Layout, text, and the time that it is read as, or the error.
    read: Vec<[String; 3]>,
    /// A text, and the duration that it is read as, or the error.
    durations: Vec<[String; 2]>,
}

#[test]
fn a_time_is_written_and_read_as_in_go() {
    let rows: Times = rows("time.json");
    let mut wrong = Vec::new();
    for row in &rows.formatted {
        let zone = if row.zone == "UTC" { Zone::Utc } else { Zone::fixed(row.offset, row.zone.clone()) };
        let time = Time::unix(row.seconds, row.nanos).with_zone(zone);
        for (layout, expected) in &row.layouts {
            let found = time.format(layout);
            if found != *expected {
                wrong.push(format!("{} as {layout:?} is {found:?}, in Go {expected:?}", row.string));
            }
        }
        if time.to_string() != row.string {
            wrong.push(format!("{time}, in Go {}", row.string));
        }
    }
    for [layout, text, expected] in &rows.read {
        let found = time::parse(layout, text.as_bytes()).map_or_else(|error| error, |time| time.to_string());
        if found != *expected {
            wrong.push(format!("{text:?} by {layout:?} is {found:?}, in Go {expected:?}"));
        }
    }
    for [text, expected] in &rows.durations {
        let found = time::parse_duration(text).map_or_else(|error| error, time::duration_string);
        if found != *expected {
            wrong.push(format!("{text:?} is {found:?}, in Go {expected:?}"));
        }
    }
    assert_none_wrong(&wrong, rows.formatted.len() + rows.read.len() + rows.durations.len());
}
