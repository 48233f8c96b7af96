//! Who does harm to a push: an Application, and whatever makes Applications.
//!
//! `hydrate-test.NAME.does`, of builds for tests only, has a render fail in ways that the limits of the engines do not
//! notice.

use super::global;
use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

/// Something that writes prod.
pub(super) struct Culprit {
    /// What `hydrate-test` calls it.
    name: &'static str,
    /// The files that make it, and what it writes prod from; each text belongs in some of them.
    files: fn(&str) -> Vec<(&'static str, String)>,
    /// Settings that it needs.
    settings: &'static [&'static str],
    /// What is said before the reason.
    pub says: &'static str,
    /// What it does, and what is said of it then.
    pub ways: &'static [(&'static str, &'static str)],
}

pub(super) const APPLICATION: Culprit = Culprit {
    name: "bad-prod",
    files: |value| {
        vec![
            ("applications/prod/bad.yaml", application("bad", "prod").1),
            ("apps/bad/prod/config.yaml", config_map("bad", value)),
        ]
    },
    settings: &[],
    says: "",
    ways: &[
        (
            "allocate",
            "`bad-prod` takes more than 67108864 bytes of memory to render; git config hydrate.applicationMemory",
        ),
        ("abort", "the process that rendered `bad-prod` ended by signal 6"),
        ("overflow", "`bad-prod` nests deeper than can be rendered: the stack overflowed"),
        ("hang", "`bad-prod` takes more than 4 seconds to render; git config hydrate.renderTimeLimit sets the limit"),
        (
            "kill",
            "the system ended the process that rendered `bad-prod` (signal 9); git config hydrate.applicationMemory",
        ),
    ],
};

const SET: Culprit = Culprit {
    name: "culprit",
    files: |value| {
        let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: culprit}
spec:
  generators:
  - list: {elements: [{name: shop, env: prod}]}
  template:
    metadata: {name: '{{name}}-{{env}}'}
    spec:
      destination: {namespace: '{{name}}'}
      sourceHydrator:
        drySource: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: 'apps/{{name}}/{{env}}'}
        syncSource: {targetBranch: 'environments/{{env}}', path: '{{name}}'}
";
        vec![("sets/culprit.yaml", format!("{set}# {value}\n")), shop(value)]
    },
    settings: &[],
    says: "ApplicationSet `culprit` makes no Applications: ",
    ways: &[
        ("abort", "the process that expanded ApplicationSet `culprit` ended by signal 6"),
        (
            "hang",
            "ApplicationSet `culprit` takes more than 4 seconds to expand; git config hydrate.renderTimeLimit sets the limit",
        ),
    ],
};

/// A set that reads what it makes from files.
pub(super) const SET_OF_FILES: Culprit = Culprit {
    files: |value| {
        let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: culprit}
spec:
  generators:
  - git:
      repoURL: https://git.example.com/dry.git
      revision: main
      files: [{path: 'elements/*.yaml'}]
  template:
    metadata: {name: '{{name}}-{{env}}'}
    spec:
      destination: {namespace: '{{name}}'}
      sourceHydrator:
        drySource: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: 'apps/{{name}}/{{env}}'}
        syncSource: {targetBranch: 'environments/{{env}}', path: '{{name}}'}
";
        let element = ("elements/shop.yaml", "name: shop\nenv: prod\n".to_owned());
        vec![("sets/culprit.yaml", set.to_owned()), element, shop(value)]
    },
    ..SET
};

const PARENT: Culprit = Culprit {
    name: "culprit",
    files: |value| {
        let parent = application("parent", "parents").1.replace("name: parent-parents", "name: culprit");
        vec![
            ("applications/parents/parent.yaml", parent),
            ("apps/parent/parents/Chart.yaml", CHART.to_owned()),
            ("apps/parent/parents/templates/shop.yaml", format!("{}# {value}\n", application("shop", "prod").1)),
            shop(value),
        ]
    },
    settings: &[],
    says: "Application `culprit` makes no Applications: ",
    ways: &[("abort", "the process that rendered `culprit` ended by signal 6")],
};

const ROOT: Culprit = Culprit {
    name: "culprit",
    files: |value| {
        let template = format!("{}# {value}\n", application("shop", "prod").1);
        vec![("root/Chart.yaml", CHART.to_owned()), ("root/templates/shop.yaml", template), shop(value)]
    },
    settings: &["config", "set", "roots", "[{name: culprit, path: root}]"],
    says: "root `culprit` makes no Applications: ",
    ways: &[("abort", "the process that rendered `culprit` ended by signal 6")],
};

const CHART: &str = "apiVersion: v2\nname: made\nversion: 1.0.0\n";

fn shop(value: &str) -> (&'static str, String) {
    ("apps/shop/prod/config.yaml", config_map("shop", value))
}

/// Each culprit, in each of its ways.
pub(super) fn each(work: impl Fn(&Culprit, &str, &str)) {
    for culprit in [APPLICATION, SET, PARENT, ROOT] {
        culprit.ways.iter().for_each(|(does, expected)| work(&culprit, does, expected));
    }
}

/// A server, and a clone with `web-dev` on dev and the culprit on prod. Both machines are small and have no time.
pub(super) fn team(culprit: &Culprit) -> (Lab, Repo, Repo) {
    let lab = Lab::that_fails_at_will();
    for (key, value) in [("hydrate.applicationMemory", "64m"), ("hydrate.runMemory", "200m")] {
        global(&lab, key, value);
    }
    let server = lab.server();
    if !culprit.settings.is_empty() {
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
        server.hydrate(culprit.settings).success();
    }
    let clone = dry(&server, &["web"], &["dev"]);
    culprit.changes(&clone, "0");
    (lab, server, clone)
}

/// A team after its first push, with what the culprit does from now on and a commit that changes both.
pub(super) fn turned(culprit: &Culprit, does: &str) -> (Lab, Repo, Repo) {
    let (lab, server, clone) = team(culprit);
    clone.push().success();
    culprit.does(&lab, does);
    culprit.changes(&clone, does);
    (lab, server, clone)
}

impl Culprit {
    /// What it does from now on.
    pub(super) fn does(&self, lab: &Lab, does: &str) {
        // All others end by themselves, however busy this machine is. With another limit everything would be tried again.
        if does != "render" {
            global(lab, "hydrate.renderTimeLimit", if does == "hang" { "4" } else { "60" });
        }
        global(lab, &format!("hydrate-test.{}.does", self.name), does);
    }

    /// A commit that changes both Applications.
    pub(super) fn changes(&self, clone: &Repo, value: &str) -> String {
        let mut files = (self.files)(value);
        files.push(("apps/web/dev/config.yaml", config_map("web", value)));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        clone.commit(value, &files)
    }
}
