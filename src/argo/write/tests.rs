//! Texts before and after.

use super::*;

fn edit(text: &str, name: &str) -> HydratorEdit {
    let text = text.trim_start_matches('\u{feff}');
    let at = text.find(&format!("name: {name}")).map(|at| at + 6);
    let at = at.or_else(|| text.find(&format!("\"name\": \"{name}\"")).map(|at| at + 8)).expect("there");
    let line_start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = text[..at].matches('\n').count() as u32 + 1;
    HydratorEdit {
        name: (line, (at - line_start) as u32 + 1),
        branch: "environments/dev".to_owned(),
        path: name.to_owned(),
        hydrate_to: None,
        release_name: None,
    }
}

fn written(text: &str, edits: &[HydratorEdit]) -> Result<String, String> {
    write_source_hydrator(text.as_bytes(), edits).map(|bytes| String::from_utf8(bytes).expect("UTF-8"))
}

fn check(before: &str, after: &str) {
    assert_eq!(written(before, &[edit(before, "web")]).expect("written"), after, "{before}");
}

#[test]
fn only_the_lines_of_the_source_change() {
    check(
        "# The shop.
metadata: {name: web}   # ours
spec:
  project:   default

  source: # dry
    # where it is
    repoURL: https://git.example.com/dry.git
    targetRevision: 'main'   # never HEAD
    path: apps/web
    directory:
      include: |
        a

          b

    # helm: none
  # who gets it
  destination: {server: x}
",
        "# The shop.
metadata: {name: web}   # ours
spec:
  project:   default

  sourceHydrator:
    drySource: # dry
      # where it is
      repoURL: https://git.example.com/dry.git
      targetRevision: 'main'   # never HEAD
      path: apps/web
      directory:
        include: |
          a

            b

      # helm: none
    syncSource:
      targetBranch: environments/dev
      path: web
  # who gets it
  destination: {server: x}
",
    );
}

#[test]
fn styles_stay_as_they_are() {
    // The last line without a line break.
    check(
        "metadata:\n    name: web\nspec:\n    source: {repoURL: a, targetRevision: b, path: c}",
        "metadata:\n    name: web\nspec:\n    sourceHydrator:\n        drySource: {repoURL: a, targetRevision: b, path: c}\n        \
         syncSource:\n            targetBranch: environments/dev\n            path: web",
    );
    check(
        "metadata: {name: web}\r\nspec:\r\n  source:\r\n    path: c\r\n\r\n    repoURL: a\r\n    targetRevision: b\r\n  project: x\r\n",
        "metadata: {name: web}\r\nspec:\r\n  sourceHydrator:\r\n    drySource:\r\n      path: c\r\n\r\n      repoURL: a\r\n      targetRevision: \
         b\r\n    syncSource:\r\n      targetBranch: environments/dev\r\n      path: web\r\n  project: x\r\n",
    );
    check(
        "{metadata: {name: web}, spec: {source: {repoURL: a, targetRevision: b, path: c}, project: x}}\n",
        "{metadata: {name: web}, spec: {sourceHydrator: {drySource: {repoURL: a, targetRevision: b, path: c}, syncSource: {targetBranch: \
         environments/dev, path: web}}, project: x}}\n",
    );
    check(
        "{\n  \"metadata\": {\n    \"name\": \"web\"\n  },\n  \"spec\": {\n    \"source\": {\n      \"repoURL\": \"a\",\n      \"path\": \
         \"c\"\n    },\n    \"project\": \"x\"\n  }\n}\n",
        "{\n  \"metadata\": {\n    \"name\": \"web\"\n  },\n  \"spec\": {\n    \"sourceHydrator\": {\n      \"drySource\": {\n        \
         \"targetRevision\": \"HEAD\",\n        \"repoURL\": \"a\",\n        \"path\": \"c\"\n      },\n      \"syncSource\": {\n        \
         \"targetBranch\": \"environments/dev\",\n        \"path\": \"web\"\n      }\n    },\n    \"project\": \"x\"\n  }\n}\n",
    );
    check(
        "\u{feff}metadata: {name: web}\nspec:\n  source: {repoURL: a, targetRevision: b, path: c}\n",
        "\u{feff}metadata: {name: web}\nspec:\n  sourceHydrator:\n    drySource: {repoURL: a, targetRevision: b, path: c}\n    syncSource:\n      \
         targetBranch: environments/dev\n      path: web\n",
    );
}

#[test]
fn several_applications_of_a_file() {
    let before = "metadata: {name: one}
spec:
  source: &shared
    repoURL: a
    targetRevision: b
    path: c
---
# another
kind: List
items:
- metadata:
    name: web
  spec:
    source:
      repoURL: a
      targetRevision: b
      path: c
- metadata: {name: api}
  spec: {source: {repoURL: a, targetRevision: b, path: c}}
";
    let one = edit(before, "web");
    let two = HydratorEdit { hydrate_to: Some("next".to_owned()), ..edit(before, "api") };
    let both = written(before, &[one, two]).expect("written");
    let expected = before
        .replace(
            "    source:
      repoURL: a
      targetRevision: b
      path: c
- ",
            "    sourceHydrator:
      drySource:
        repoURL: a
        targetRevision: b
        path: c
      syncSource:
        targetBranch: environments/dev
        path: web
- ",
        )
        .replace(
            "{source: {repoURL: a, targetRevision: b, path: c}}",
            "{sourceHydrator: {drySource: {repoURL: a, targetRevision: b, path: c}, syncSource: {targetBranch: environments/dev, path: api}, \
             hydrateTo: {targetBranch: next}}}",
        );
    assert_eq!(both, expected);
}

#[test]
fn the_name_of_a_release() {
    let rows = [
        (
            "helm:\n      # values\n      values: x\n",
            "helm:\n        # values\n        releaseName: web\n        values: x\n",
        ),
        ("helm: {values: x}\n", "helm: {releaseName: web, values: x}\n"),
        ("path: c\n", "helm: {releaseName: web}\n      path: c\n"),
    ];
    for (helm, expected) in rows {
        let rest = if helm.starts_with("path") { "" } else { "    path: c\n" };
        let before = format!(
            "metadata: {{name: web}}\nspec:\n  source:\n    {helm}    repoURL: a\n    targetRevision: b\n{rest}"
        );
        let named = HydratorEdit { release_name: Some("web".to_owned()), ..edit(&before, "web") };
        let after = written(&before, &[named]).expect("written");
        assert!(after.contains(expected), "{before}: {after}");
    }
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let source = "{repoURL: a, targetRevision: b, path: c}";
    let rows = [
        (format!("x: &x {source}\nmetadata: {{name: web}}\nspec: {{source: *x}}\n"), "an alias"),
        (format!("x: &x {{source: {source}}}\nmetadata: {{name: web}}\nspec: *x\n"), "an alias"),
        (format!("x: &x {{source: {source}}}\nmetadata: {{name: web}}\nspec: {{<<: *x}}\n"), "a merge key"),
        (format!("metadata: {{name: web}}\nspec: &x\n  source: {source}\nother: *x\n"), "elsewhere"),
        (format!("metadata: {{name: web}}\nspec:\n  &key source: {source}\n"), "anchor"),
        (format!("metadata: {{name: web}}\nspec:\n  ? source\n  : {source}\n"), "not on the line"),
    ];
    for (text, expected) in rows {
        let refused = written(&text, &[edit(&text, "web")]).expect_err("refused");
        assert!(refused.contains(expected), "{text}: {refused}");
    }
    let gone = HydratorEdit { name: (9, 9), ..edit("name: web", "web") };
    assert!(written("a: b\n", std::slice::from_ref(&gone)).is_err());
    assert!(write_source_hydrator(b"\xFF\xFEa\0", &[gone]).is_err());
}
