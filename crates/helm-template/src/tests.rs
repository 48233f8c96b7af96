//! Whether a render can be stopped, wherever it is.

mod chance;
mod unread;
mod versions;

use std::sync::atomic::{AtomicUsize, Ordering};

use dry_files::inputs::NoInputs;
use dry_files::view::{MemoryFiles, Stop};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// How many charts the chart of these tests is made of.
const CHARTS: usize = 4;

/// A chart and its subcharts, one in the other, each with a template and a schema: what it is made of, by path.
fn chart() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut dir = "c0".to_owned();
    for n in 0..CHARTS {
        files.push((format!("{dir}/Chart.yaml"), format!("apiVersion: v2\nname: c{n}\nversion: 1.0.0\n")));
        files.push((format!("{dir}/values.schema.json"), "{}".to_owned()));
        files.push((format!("{dir}/templates/t.yaml"), "a: b\n".to_owned()));
        dir += &format!("/charts/c{}", n + 1);
    }
    files
}

fn directory() -> MemoryFiles {
    chart().iter().fold(MemoryFiles::new(), |files, (path, text)| files.file(path, text))
}

fn archive() -> MemoryFiles {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in chart() {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, path, text.as_bytes()).expect("in memory");
    }
    let bytes = archive.into_inner().and_then(GzEncoder::finish).expect("in memory");
    MemoryFiles::new().file("c0", bytes)
}

fn root() -> RepoPath {
    RepoPath::new("c0").expect("plain")
}

/// What is set once it was asked so many times, and how often it was.
fn after(times: usize) -> (Stop, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    (Stop::when(move || count.fetch_add(1, Ordering::Relaxed) >= times), asked)
}

#[test]
fn a_value_that_is_passed_over_is_named() {
    let files = MemoryFiles::new()
        .file("c0/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c0/values.yaml", "a: {b: 1}\nc: {d: {}}\n")
        .file("c0/templates/a.yaml", "kind: A\n");
    let text = "c: {d: [x, {y: 1}]}\n".to_owned();
    let values = vec![ValuesSource::Text { name: "v".to_owned(), text }];
    let options = Options { values, ..Options::default() };
    let rendered = render_kept(&Charts::default(), &View::new(&files), &root(), &options).expect("a chart");
    // As Helm 4.3.1 and 3.17.3 say it.
    assert_eq!(rendered.warnings, ["cannot overwrite table with non table for c.c.d (map[])"]);
}

#[test]
fn loading_stops_at_each_chart() {
    let files = archive();
    let loaded = |times| {
        let (stop, asked) = after(times);
        (
            load(Source { view: &View::new(&files).until(stop), inputs: &NoInputs, helm: Helm::default() }, &root()),
            asked.load(Ordering::Relaxed),
        )
    };
    let (chart, asked) = loaded(usize::MAX);
    chart.expect("a chart");
    assert!(asked >= CHARTS, "{asked}");
    for times in 0..asked {
        let (chart, asked) = loaded(times);
        assert!(chart.expect_err("no time").is_backend(), "after {times}");
        assert_eq!(asked, times + 1);
    }
}

#[test]
fn preparing_stops_at_each_chart() {
    let (files, charts) = (directory(), Charts::default());
    let rendered = |times| {
        let (stop, asked) = after(times);
        let options = Options { stop, ..Options::default() };
        (render_kept(&charts, &View::new(&files), &root(), &options), asked.load(Ordering::Relaxed))
    };
    let (text, asked) = rendered(usize::MAX);
    text.expect("a chart");
    // To bring values together, before and after its schema, for its template, and for what that gives.
    assert_eq!(asked, 5 * CHARTS);
    for times in 0..asked {
        let (text, asked) = rendered(times);
        assert_eq!(text.expect_err("no time").to_string(), template::Limit::Time.to_string(), "after {times}");
        assert_eq!(asked, times + 1);
    }
}

#[test]
fn a_schema_that_takes_long_stops_in_between() {
    // 2^20 applications of schemas.
    let steps: Vec<String> = (0..20)
        .map(|n| format!(r##""s{n}":{{"allOf":[{{"$ref":"#/$defs/s{0}"}},{{"$ref":"#/$defs/s{0}"}}]}}"##, n + 1))
        .collect();
    let schema = format!(r##"{{"$ref":"#/$defs/s0","$defs":{{{},"s20":{{}}}}}}"##, steps.join(","));
    let files = MemoryFiles::new()
        .file("c0/Chart.yaml", "apiVersion: v2\nname: c0\nversion: 1.0.0\n")
        .file("c0/values.schema.json", schema);
    let rendered = |times| {
        let (stop, asked) = after(times);
        let options = Options { stop, ..Options::default() };
        let text = render(&View::new(&files), &root(), &options);
        (text.map(drop).map_err(|error| error.to_string()), asked.load(Ordering::Relaxed))
    };
    let (text, asked) = rendered(usize::MAX);
    assert_eq!(text, Ok(()));
    assert!(asked > 100, "it is asked while the schema is checked: {asked} times");
    // What stops it in the middle ends it there: only who goes on after the schema asks once more.
    let (text, asked) = rendered(50);
    assert_eq!((text, asked), (Err(template::Limit::Time.to_string()), 52));
}
