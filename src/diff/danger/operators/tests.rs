use super::table::{Ends, OWNERS, Owner};

/// When the data go, as the documentation says it.
fn when(ends: &Ends) -> String {
    let any = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
    match ends {
        Ends::Always => "always".to_owned(),
        Ends::Never => "never: what runs goes, the claims stay".to_owned(),
        Ends::Unless(path, keeping) => format!("unless `{}` is {}", path.join("."), any(keeping)),
        Ends::UnlessAny(keys, keeping) => format!("unless {} is `{keeping}`", any(keys)),
        Ends::UnlessAnnotated(key, keeping) => format!("unless the annotation `{key}` is {}", any(keeping)),
        Ends::If(key, deleting) => format!("if `{key}` is `{deleting}`"),
        Ends::IfAt(path, deleting) => format!("if `{}` is {}", path.join("."), any(deleting)),
        Ends::WhenEmpty => "never: it stays until nothing is in it".to_owned(),
        Ends::Finalizer(name) => format!("with the finalizer `{name}`"),
        Ends::Crossplane => "unless `deletionPolicy` is `Orphan`, or `managementPolicies` lack `Delete`".to_owned(),
    }
}

fn row(owner: &Owner) -> String {
    let kind = match (owner.group.starts_with('.'), owner.kind) {
        (true, _) => "those of databases, buckets, disks, keys and their like",
        (false, "") => "all",
        (false, kind) => kind,
    };
    format!("| `{}` | {kind} | {} | {} |", owner.group, when(&owner.ends), owner.source)
}

#[test]
fn the_documentation_has_each_kind_that_owns_data_with_its_source() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference.md")).expect("it is there");
    let section = text.split("## Kinds whose controllers own data").nth(1).expect("a section");
    let section = section.split("\n## ").next().expect("its end");
    let found: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = OWNERS.iter().map(row).collect();
    assert_eq!(found, expected, "\n{}", expected.join("\n"));
}
