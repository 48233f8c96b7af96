use go_yaml::{self as yaml, Limits, sigs};

use super::super::located;
use super::*;

fn rules(text: &str) -> RuleSet {
    let rules: Vec<Rule> = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    RuleSet::new(&rules, &["https://git.example.com/dry.git".to_owned()])
}

/// By way of JSON, which says the same of a rule.
fn read(text: &str) -> Result<Vec<Rule>, String> {
    let value = sigs::yaml_to_json(text.as_bytes(), &Limits::default()).map_err(|error| error.to_string())?;
    let json = yaml::json::encode(&value, yaml::json::Options::default());
    serde_json::from_str(&json).map_err(|error| error.to_string())
}

fn object(text: &str) -> Field {
    let path = RepoPath::new("apps/prod/web.yaml").expect("plain");
    located::parse(&path, text.as_bytes()).expect("good").pop().expect("one document")
}

fn file() -> RepoPath {
    RepoPath::new("apps/prod/web.yaml").expect("plain")
}

const WEB: &str = "
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-eu, namespace: argocd, labels: {env: prod, team: shop}}
spec:
  project: team-shop
  destination: {server: 'https://eu.example.com:6443', namespace: shop}
  source: {repoURL: 'https://git.example.com/dry.git', targetRevision: main, path: charts/web}
";

#[test]
fn what_rules_match() {
    let rows = [
        ("everything", "", true),
        ("a name", "name: web-eu", true),
        ("a pattern of names", "name: 'web-*'", true),
        ("another name", "name: 'api-*'", false),
        ("one of several", "name: [api, 'web-*']", true),
        ("taken away", "name: ['web-*', '!web-eu']", false),
        ("a namespace", "namespace: argocd", true),
        ("a project", "project: 'team-*'", true),
        ("another project", "project: default", false),
        ("a plugin, of which there is none", "plugin: '*'", false),
        ("a label", "labels: {env: prod}", true),
        ("a label of any value", "labels: {env: '*'}", true),
        ("a label that is there", "labels: {env: []}", true),
        ("a label that is not there", "labels: {region: '*'}", false),
        ("without a label", "labels: {region: '!eu'}", true),
        ("one label of two", "labels: {env: prod, team: pay}", false),
        ("a file", "file: apps/prod/", true),
        ("another file", "file: apps/dev/", false),
        ("a server", "destination: {server: 'https://*.example.com:6443'}", true),
        ("another server", "destination: {server: 'https://kubernetes.default.svc'}", false),
        ("the name of a cluster, of which there is none", "destination: {name: '*'}", false),
        ("a namespace of the destination", "destination: {namespace: shop}", true),
        ("all of it", "name: 'web-*', project: 'team-*', file: apps/, labels: {env: prod}", true),
        ("all of it but one", "name: 'web-*', project: 'team-*', file: apps/, labels: {env: dev}", false),
    ];
    let object = object(WEB);
    for (name, matches, expected) in rows {
        let rules = rules(&format!("- match: {{{matches}}}\n  branch: environments/prod\n  path: web\n"));
        assert_eq!(rules.ruling(&object, &file()).is_some(), expected, "{name}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let rules = rules(
        "- {match: {name: api}, branch: a, path: a}\n- {match: {name: 'web-*'}, hydrate: false}\n- {branch: b, path: b}\n",
    );
    assert_eq!(rules.ruling(&object(WEB), &file()), Some(Ruling::LeftAlone(2)));
    let other = object(&WEB.replace("web-eu", "shop"));
    match rules.ruling(&other, &file()) {
        Some(Ruling::Hydrated(placement)) => assert_eq!((placement.rule, placement.branch.as_str()), (3, "b")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_rules_lead_to() {
    let rows = [
        ("environments/{{ labels.env }}", Ok("environments/prod")),
        ("{{ (file | split('/') | list)[1] }}", Ok("prod")),
        ("{{ directory }}", Ok("apps/prod")),
        ("{{ name }}-{{ namespace }}-{{ project }}", Ok("web-eu-argocd-team-shop")),
        ("{{ destination.namespace }}/{{ source.path }}", Ok("shop/charts/web")),
        ("{{ destination.name | default('here') }}", Ok("here")),
        ("{% if labels.env == 'prod' %}\nlive\n{% else %}\ntest\n{% endif %}\n", Ok("live")),
        ("{{ labels['env'] }}", Ok("prod")),
        ("{{ labels.region }}", Err("it uses a value that does not exist: `labels.region`")),
        ("{{ labels['example.com/env'] }}-x", Err("it uses a value that does not exist: `labels['example.com/env']`")),
        ("{{ destination.name }}", Err("it uses a value that does not exist: `destination.name`")),
        (
            "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
            Err("it takes more than 10000 steps"),
        ),
        ("{{ name * 1000 }}", Err("its output has more than 4096 bytes")),
    ];
    let object = object(WEB);
    for (template, expected) in rows {
        let text = serde_json::json!([{ "branch": "b", "path": template }]);
        let found = match rules(&text.to_string()).ruling(&object, &file()) {
            Some(Ruling::Hydrated(placement)) => match placement.wrong.first() {
                Some((_, reason)) => Err(reason.clone()),
                None => Ok(placement.path),
            },
            other => panic!("{template}: {other:?}"),
        };
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{template}");
    }
}

#[test]
fn rules_that_cannot_be_right_are_refused() {
    let rows = [
        ("{path: a}", "`branch` is missing: write where Applications go, such as `branch: environments/dev`"),
        ("{branch: a}", "`path` is missing: write where Applications go, such as `path: '{{ name }}'`"),
        ("{branch: a, path: ../x}", "`path`: `../x` is not a valid path for hydrated manifests: the path leads out of"),
        ("{branch: a, path: .}", "`path`: the hydrated manifests cannot be at the root of the branch"),
        (
            "{branch: a, path: .git/x}",
            "`path`: `.git/x` is not a valid path for hydrated manifests: git reserves `.git`",
        ),
        ("{branch: a..b, path: a}", "`branch`: `a..b` is not a valid branch name: it contains `..`"),
        (
            "{branch: refs/heads/a, path: a}",
            "`branch`: `refs/heads/a` is not a valid branch name: it is the full name of a ref",
        ),
        (
            "{branch: a, path: a, hydrateTo: -x}",
            "`hydrateTo`: `-x` is not a valid branch name: it begins or ends with '-'",
        ),
        ("{branch: '{{ nme }}', path: a}", "`branch`: there is no value `nme`; there are name, namespace, project,"),
        (
            "{branch: a, path: '{{ destination.cluster }}'}",
            "`path`: there is no value `destination.cluster`; there are",
        ),
        ("{branch: '{{ name', path: a}", "`branch`: "),
        ("{branch: a, path: \"\\n{% for %}\"}", "`path`, line 2: "),
        ("{branch: a, path: a, match: {name: '['}}", "match.name: `[` is not a valid pattern"),
        ("{branch: a, path: a, match: {nmae: x}}", "unknown field `nmae`, expected one of `name`, `namespace`"),
        ("{branch: a, path: a, hydratTo: x}", "unknown field `hydratTo`, expected one of `match`, `hydrate`"),
        ("{hydrate: false, branch: a}", "`hydrate: false` leaves Applications alone: take `branch` away"),
        ("{branch: a, path: a, match: {name: {}}}", "expected a string or a list of strings"),
    ];
    for (rule, expected) in rows {
        let error = read(&format!("- {rule}")).expect_err(rule);
        assert!(error.contains(expected), "{rule}: {error}");
    }
}

#[test]
fn rules_are_read_back_as_they_were_written() {
    let text = "- match:\n    name: web-*\n    labels:\n      env:\n      - prod\n      - stage\n    destination:\n      server: \
                https://x\n  branch: environments/{{ labels.env }}\n  path: '{{ name }}'\n  hydrateTo: next\n- hydrate: false\n";
    let rules = read(text).expect("good rules");
    assert_eq!(read(&serde_json::to_string(&rules).expect("serializes")).as_ref(), Ok(&rules));
    let json = serde_json::to_string(&RuleSet::new(&rules, &[])).expect("serializes");
    assert_eq!(serde_json::from_str::<RuleSet>(&json).expect("read back"), RuleSet::new(&rules, &[]));
}

#[test]
fn sets_that_rules_may_be_for() {
    let set = |template: &str, more: &str| {
        object(&format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: fleet}}\nspec:\n  generators: [{{list: \
             {{elements: []}}}}]\n  template: {template}\n{more}"
        ))
    };
    let plain = "{metadata: {name: '{{name}}-web', labels: {env: prod}}, spec: {project: shop}}";
    let rows = [
        ("a name that is a template", "name: 'api-*'", plain, "", true),
        ("a project", "project: shop", plain, "", true),
        ("another project", "project: pay", plain, "", false),
        ("a label", "labels: {env: dev}", plain, "", false),
        ("a label that is not there", "labels: {team: x}", plain, "", false),
        ("a patch may change all of it", "project: pay", plain, "  templatePatch: '{}'\n", true),
        ("no template", "", "", "", false),
    ];
    for (name, matches, template, more, expected) in rows {
        let rules = rules(&format!("- match: {{{matches}}}\n  branch: b\n  path: p\n"));
        assert_eq!(rules.may_hydrate_of(&set(template, more), &file()), expected, "{name}");
    }
    let alone = rules("- {match: {project: shop}, hydrate: false}\n- {branch: b, path: p}\n");
    assert!(!alone.may_hydrate_of(&set(plain, ""), &file()), "all of it is left alone");
}

#[test]
fn sources_of_other_repositories() {
    let rows = [
        ("this one", "{repoURL: 'https://git.example.com/dry', path: a}", false),
        ("this one by ssh", "{repoURL: 'git@git.example.com:dry.git', path: a}", false),
        ("this one in other case", "{repoURL: 'https://git.example.com/DRY', path: a}", false),
        ("another one", "{repoURL: 'https://git.example.com/other', path: a}", true),
        ("a chart", "{repoURL: 'https://charts.example.com', chart: web, targetRevision: 1.0.0}", true),
        ("a chart of a registry", "{repoURL: 'oci://registry.example.com/web', path: ., targetRevision: 1.0.0}", true),
    ];
    let rules = rules("- {branch: b, path: p}\n");
    for (name, source, expected) in rows {
        assert_eq!(rules.is_outside(&object(source)), expected, "{name}");
    }
}

#[test]
fn a_plugin_is_matched_by_its_name_in_any_source() {
    let rules = rules("- {match: {plugin: 'avp-*'}, hydrate: false}\n- {branch: b, path: p}\n");
    let source = "source: {repoURL: 'https://git.example.com/dry.git', targetRevision: main, path: charts/web";
    for (name, more, is_left) in [
        ("none", "}", false),
        ("one", ", plugin: {name: avp-helm}}", true),
        ("another", ", plugin: {name: ksops}}", false),
        ("one without a name", ", plugin: {env: []}}", false),
    ] {
        let text = WEB.replace(
            "source: {repoURL: 'https://git.example.com/dry.git', targetRevision: main, path: charts/web}",
            &format!("{source}{more}"),
        );
        let object = object(&text);
        let is_left_alone = rules.ruling(&object, &file()) == Some(Ruling::LeftAlone(1));
        assert_eq!(is_left_alone, is_left, "{name}");
    }
}
