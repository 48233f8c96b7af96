//! What the packages that we build on ask of us: licences that fit ours, no newer Rust than Cargo.toml says, and no second
//! version of a package without a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Licences whose terms a binary under Apache-2.0 meets.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages that come in more than one version, and who keeps the older one.
const TWICE: &[(&str, &str)] = &[
    ("bitflags", "defmt, below a crate that has it for microcontrollers"),
    ("cipher", "aes 0.8"),
    ("cpufeatures", "aes 0.8"),
    ("crypto-common", "aes 0.8"),
    ("defmt", "only where there is no operating system"),
    ("getrandom", "ring"),
    ("hashbrown", "dashmap, of gix"),
    ("inout", "aes 0.8"),
    ("syn", "derive macros that are slow to move on"),
];

/// Packages whose manifests name no licence, with the one that comes in their files.
const UNNAMED: &[(&str, &str)] = &[("libyaml-safer", "MIT")];

/// The packages that are built on Linux, as Cargo resolves them.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    cargo.args(["--filter-platform", "x86_64-unknown-linux-gnu"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let resolved = metadata["resolve"]["nodes"].as_array().expect("nodes");
    let resolved: BTreeSet<&str> = resolved.iter().filter_map(|node| node["id"].as_str()).collect();
    let packages = metadata["packages"].as_array().expect("packages").iter();
    packages.filter(|package| package["id"].as_str().is_some_and(|id| resolved.contains(id))).cloned().collect()
}

/// Whether we may choose licences of a list out of an expression of SPDX, `/` for `OR` as older packages write it.
fn fits(expression: &str) -> bool {
    let expression = expression.replace(['(', ')'], "").replace('/', " OR ");
    let any = |part: &str| part.split(" OR ").any(|licence| LICENCES.contains(&licence.trim()));
    expression.split(" AND ").all(any)
}

fn text<'p>(package: &'p Value, key: &str) -> &'p str {
    package[key].as_str().unwrap_or_default()
}

#[test]
fn licences_fit() {
    assert!(fits("MIT/Apache-2.0") && fits("(MIT OR GPL-3.0) AND Unicode-3.0") && !fits("MIT AND MPL-2.0"));
    let packages = packages();
    let licence = |package: &Value| match package["license"].as_str() {
        Some(licence) => licence.to_owned(),
        None => UNNAMED
            .iter()
            .find(|(name, _)| *name == text(package, "name"))
            .map_or("", |(_, licence)| licence)
            .to_owned(),
    };
    let wrong = packages.iter().filter(|package| !fits(&licence(package)));
    let wrong: Vec<String> = wrong.map(|it| format!("{}: {}", text(it, "name"), it["license"])).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(packages.len() > 100, "{}", packages.len());
}

#[test]
fn no_package_needs_a_newer_rust_than_cargo_toml_says() {
    let version = |text: &str| -> Vec<u32> { text.split('.').filter_map(|number| number.parse().ok()).collect() };
    let ours = version(env!("CARGO_PKG_RUST_VERSION"));
    let newer = packages().into_iter().filter(|package| version(text(package, "rust_version")) > ours);
    let newer: Vec<String> = newer.map(|it| format!("{} {}", text(&it, "name"), text(&it, "rust_version"))).collect();
    assert!(newer.is_empty(), "Cargo.toml says {}: {newer:?}", env!("CARGO_PKG_RUST_VERSION"));
}

#[test]
fn packages_that_come_twice_are_known() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let version = text(&package, "version").to_owned();
        versions.entry(text(&package, "name").to_owned()).or_default().insert(version);
    }
    let twice = versions.iter().filter(|(_, versions)| versions.len() > 1);
    let twice: Vec<&str> = twice.map(|(name, _)| name.as_str()).collect();
    assert_eq!(twice, TWICE.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{versions:?}");
}
