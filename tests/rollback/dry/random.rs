//! Over random histories an environment comes out as it was, whatever its files have to do with those of another one.

use super::super::PROD;
use super::files::chart;
use super::{back, made, push};
use crate::push::{application, config_map, tip, verified};
use crate::support::{Lab, Repo};

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// The files that change; those of the last two directories come and go.
const FILES: [&str; 9] = [
    "charts/web/values.yaml",
    "charts/web/values-dev.yaml",
    "charts/web/values-prod.yaml",
    "apps/db/base/config.yaml",
    "apps/db/dev/kustomization.yaml",
    "apps/db/prod/kustomization.yaml",
    "apps/api/prod/config.yaml",
    "apps/api/prod/more.yaml",
    "apps/api/dev/more.yaml",
];

fn content(file: &str, value: usize) -> String {
    match file.rsplit('/').next() {
        Some("values.yaml") => format!("size: s{value}\n"),
        Some("kustomization.yaml") => format!("resources: [../base]\nnamePrefix: n{value}-\n"),
        Some("more.yaml") => config_map("more", &format!("v{value}")),
        Some("config.yaml") => config_map("config", &format!("v{value}")),
        _ => format!("value: v{value}\n"),
    }
}

/// A commit of up to three changes, pushed.
fn change(clone: &Repo, random: &mut Random, number: usize) {
    let mut files = Vec::new();
    for _ in 0..=random.below(3) {
        let file = FILES[random.below(FILES.len())];
        let goes = file.ends_with("more.yaml") && random.below(2) == 0;
        let is_there = clone.path.join(file).exists();
        match goes {
            true if is_there => drop(clone.git(&["rm", "-q", "-f", file])),
            true => {}
            false => files.push((file, content(file, random.below(4)))),
        }
    }
    files.push(("NUMBER", number.to_string()));
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
    clone.commit(&number.to_string(), &files);
    clone.push().success();
}

#[test]
fn production_comes_out_as_it_was_at_any_commit_of_its_history() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = chart(&server);
    let mut files: Vec<(String, String)> = Vec::new();
    for (name, env) in [("db", "dev"), ("db", "prod"), ("api", "dev"), ("api", "prod")] {
        files.push(application(name, env));
        files.push((format!("apps/api/{env}/config.yaml"), config_map("config", env)));
    }
    files.extend(FILES[3..6].iter().map(|file| ((*file).to_owned(), content(file, 0))));
    files.push(("apps/db/base/kustomization.yaml".to_owned(), "resources: [config.yaml]\n".to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    clone.commit("more", &files);
    clone.push().success();
    let (mut tips, mut random) = (vec![tip(&server, PROD)], Random(39));
    for round in 0..5 {
        for number in 0..3 {
            change(&clone, &mut random, round * 3 + number);
            tips.push(tip(&server, PROD));
        }
        let at = tips[random.below(tips.len() - 1)].clone();
        let said = back(&clone, &["--to", &at, "--shared"]);
        if said.stderr.contains("gives these manifests already") {
            continue;
        }
        let said = said.success();
        push(&clone, &said);
        let name = made(&said);
        clone.git(&["merge", "-q", "--ff-only", &name]);
        clone.git(&["branch", "-q", "-D", &name]);
        for path in ["web", "db", "api"] {
            let [now, then] =
                [PROD, &at].map(|commit| server.git(&["show", &format!("{commit}:{path}/manifest.yaml")]));
            assert_eq!(now, then, "{path}, round {round}: {said:?}");
        }
        tips.push(tip(&server, PROD));
    }
    verified(&server);
}
