//! Random values that an admin allows: drawn from a seed that nobody sees, or, in repositories from before there were seeds,
//! as they were.

use std::collections::BTreeMap;
use std::fs;

use crate::support::{Answer, Lab, Repo};

mod identities;
mod jobs;

const SETTINGS: &str = "refs/hydrate/config";
const RECORDS: &str = "refs/hydrate/branches";
const DEV: &str = "environments/dev";
const URL: &str = "https://git.example.com/dry.git";

/// Everything that draws, with what engine revision 3 gave the Application `argocd/postgres` of `environments/dev`: recorded
/// with a program of that revision.
const OF_ENGINE_3: [(&str, &str, &str); 18] = [
    ("randAlphaNum", "{{ randAlphaNum 12 | quote }}", "wZE08vlpH7rq"),
    ("again", "{{ randAlphaNum 12 | quote }}", "T7Fqxa3gEjBl"),
    ("randAlpha", "{{ randAlpha 12 | quote }}", "FxIRoCGpBKtg"),
    ("randNumeric", "{{ randNumeric 12 | quote }}", "615214872970"),
    ("randAscii", "{{ randAscii 12 | b64enc | quote }}", "RX1NT002WCd1MURL"),
    ("randBytes", "{{ randBytes 9 | quote }}", "bkV08dg5O1cE"),
    ("randInt", "{{ randInt 0 1000000 | quote }}", "928432"),
    ("shuffle", "{{ shuffle \"abcdefghijkl\" | quote }}", "jlfkgchbdeai"),
    ("uuidv4", "{{ uuidv4 | quote }}", "466765f3-73f7-41e6-ad02-9ff93d92595a"),
    (
        "genPrivateKey",
        "{{ genPrivateKey \"ed25519\" | sha256sum | quote }}",
        "5ad6d3eb46970723ce675a1aebef869e73cfc6bed64502f3254db783930f5f5d",
    ),
    ("bcrypt", "{{ bcrypt \"word\" | quote }}", "$2a$10$b05yF3mkd65cqTP57HKV5.Pg8pMwDtdhmmVmnbGTW7AfLXe7eJ9mq"),
    (
        "htpasswd",
        "{{ htpasswd \"user\" \"word\" | quote }}",
        "user:$2a$10$SYV8I6emwLO9ungnZtaSzeDdc1uAw6tMEigjnfFy5bbopztbi60OK",
    ),
    ("encryptAES", "{{ encryptAES \"key\" \"text\" | quote }}", "RNlyx4E0pXDXBvCVHfXX0DyNWfDA9nqbpbngAsEtTH8="),
    ("ca", "{{ $ca.Key | sha256sum | quote }}", "39899c337abc39774272d4a31096de8a8aef6272bf7881b6d274c92ba3b1cba4"),
    (
        "caCert",
        "{{ $ca.Cert | sha256sum | quote }}",
        "0c3903f857dd6e8cd89cfc9f99b7aa5c427505a8899cf83e017e2917d8befab9",
    ),
    ("key", "{{ $cert.Key | sha256sum | quote }}", "6352eb8e0e61c9937d097de950f59c56a1d4362c673342a0ece983901755a096"),
    (
        "cert",
        "{{ $cert.Cert | sha256sum | quote }}",
        "4791e67f285f68d06ca0dd49e64ea21dda4ecd2e88a5e032f68c765689991d01",
    ),
    (
        "self",
        "{{ (genSelfSignedCert \"x\" nil nil 1).Key | sha256sum | quote }}",
        "29b37df8fb25f363d9b5764835303157f65562728e113c83d256f789b47b090d",
    ),
];

/// An Application of a chart.
fn application(name: &str, branch: &str) -> (String, String) {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  \
         project: default\n  destination: {{server: https://kubernetes.default.svc, namespace: data}}\n  sourceHydrator:\n    \
         drySource: {{repoURL: {URL}, targetRevision: main, path: charts/{name}, helm: {{releaseName: {name}}}}}\n    \
         syncSource: {{targetBranch: {branch}, path: {name}}}\n"
    );
    (format!("apps/{name}.yaml"), text)
}

/// Its chart: a Secret with a password, and a ConfigMap.
fn chart(name: &str, word: &str) -> [(String, String); 3] {
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: data}}\nstringData:\n  password: {{{{ randAlphaNum \
         24 | quote }}}}\n"
    );
    let plain = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{word: {word}}}\n");
    [
        (format!("charts/{name}/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n")),
        (format!("charts/{name}/templates/secret.yaml"), secret),
        (format!("charts/{name}/templates/plain.yaml"), plain),
    ]
}

fn commit(clone: &Repo, message: &str, files: impl IntoIterator<Item = (String, String)>) {
    let files: Vec<(String, String)> = files.into_iter().collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit(message, &files);
}

/// Sets what is always set.
fn allow(server: &Repo) {
    for (key, value) in [("repoURL", URL), ("dryBranches", "main"), ("nondeterministic", "randAlphaNum")] {
        server.hydrate(&["config", "set", key, value]).success();
    }
}

#[test]
fn who_allows_random_values_is_told_that_they_need_a_seed_and_are_in_git_as_they_are() {
    let lab = Lab::new();
    let server = lab.server();
    let add = ["config", "add", "nondeterministic", "randAlphaNum"];
    let told = server.hydrate(&add).success().stderr;
    assert!(told.contains("note: what these functions give is in the manifests, so in git, in plain text"), "{told}");
    assert!(told.contains("warning: no seed is set") && told.contains("git hydrate config set seeds new"), "{told}");
    let told = server.hydrate(&["config", "set", "repoURL", URL]).success().stderr;
    assert!(!told.contains("plain text"), "{told}");
}

/// A server that allows passwords, and a clone with two Applications that have one.
fn server(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    allow(&server);
    let clone = server.clone_to("clone");
    commit(&clone, "one", two_applications());
    (server, clone)
}

fn two_applications() -> impl Iterator<Item = (String, String)> {
    let applications = [application("web", DEV), application("db", DEV)];
    applications.into_iter().chain(chart("web", "a")).chain(chart("db", "a"))
}

fn password(repo: &Repo, branch: &str, path: &str) -> String {
    let manifest = repo.git(&["show", &format!("{branch}:{path}/manifest.yaml")]);
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix("password: "));
    line.unwrap_or_else(|| panic!("no password: {manifest}")).to_owned()
}

fn tip(repo: &Repo, name: &str) -> String {
    repo.git(&["rev-parse", name])
}

fn told(answer: Answer) -> String {
    answer.success().remote().join("\n")
}

fn record(server: &Repo, file: &str) -> serde_json::Value {
    serde_json::from_str(&server.git(&["show", &format!("{RECORDS}:{file}")])).expect("JSON")
}

/// A repository as engine revision 3 left it, with the Applications of `clone`: no seed, and no record of what draws.
fn of_engine_3(lab: &Lab) -> (Repo, Repo) {
    let (server, clone) = server(lab);
    let folder = lab.path("settings-of-engine-3");
    server.hydrate(&["config", "export", folder.to_str().expect("UTF-8")]).success();
    fs::write(folder.join("seed"), [7; 32]).expect("written");
    let names = ["web", "db"].map(|name| format!("none argocd/{name}/{DEV}\n"));
    fs::write(folder.join("seed.kept"), names.concat()).expect("written");
    server.hydrate(&["config", "import", folder.to_str().expect("UTF-8")]).success();
    clone.push().success();
    as_engine_3(&server);
    (server, clone)
}

/// Takes the seed away, and has the records and the tip of the branch say what engine revision 3 said.
fn as_engine_3(server: &Repo) {
    let shell = |script: &str| server.run("sh", &["-ec", script]).success().stdout.trim().to_owned();
    let settings = shell(&format!(
        "tree=$(git ls-tree {SETTINGS} | grep -v seed | git mktree); git commit-tree -p {SETTINGS} -m 'as engine 3 had it' $tree"
    ));
    server.git(&["update-ref", SETTINGS, &settings]);
    let old = tip(server, DEV);
    let made = shell(&format!(
        "git cat-file commit {DEV} | sed 's/^Hydrate-Engine: .*/Hydrate-Engine: 3/; s/^Hydrate-Settings: .*/Hydrate-Settings: \
         {settings}/' | git hash-object -t commit -w --stdin"
    ));
    server.git(&["notes", "--ref=hydrator.metadata", "copy", &old, &made]);
    server.git(&["update-ref", &format!("refs/heads/{DEV}"), &made]);
    let mut of_dev = record(server, "environments%2Fdev.json");
    of_dev["tip"] = made.as_str().into();
    of_dev["made"] = serde_json::json!([made]);
    of_dev["engine"] = 3.into();
    of_dev["settings"] = settings.into();
    of_dev.as_object_mut().expect("an object").remove("drawn").expect("it is recorded");
    fs::write(server.path.join("record"), of_dev.to_string()).expect("written");
    let commit = shell(&format!(
        "blob=$(git hash-object -w record); rm record
         tree=$(git ls-tree {RECORDS} | sed \"/environments%2Fdev/s/blob [0-9a-f]*/blob $blob/\" | git mktree)
         git commit-tree -m 'as engine 3 recorded it' $tree"
    ));
    server.git(&["update-ref", RECORDS, &commit]);
    drop(fs::remove_dir_all(server.path.join("hydrate/cache")));
}

#[test]
fn what_engine_3_gave_is_given_without_a_seed() {
    let lab = Lab::new();
    let server = lab.server();
    allow(&server);
    let functions = OF_ENGINE_3.map(|(name, ..)| name).into_iter().filter(|name| name.len() > 5 && *name != "caCert");
    let functions = functions.chain(["genCA", "genSignedCert", "genSelfSignedCert"]);
    server.hydrate(&[&["config", "set", "nondeterministic"][..], &functions.collect::<Vec<_>>()].concat()).success();
    // An Application of the same name had a value of some kind when it was hydrated last.
    let folder = lab.path("folder");
    server.hydrate(&["config", "export", folder.to_str().expect("UTF-8")]).success();
    fs::write(folder.join("seed"), [7; 32]).expect("written");
    fs::write(folder.join("seed.kept"), format!("none argocd/postgres/{DEV}\n")).expect("written");
    server.hydrate(&["config", "import", folder.to_str().expect("UTF-8")]).success();
    let lines: String = OF_ENGINE_3.iter().map(|(name, call, _)| format!("  {name}: {call}\n")).collect();
    // A call is told from others by its template too.
    let (secret, tls) = lines.split_at(lines.find("  ca: ").expect("there"));
    let secret =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: db, namespace: data}}\nstringData:\n{secret}");
    let tls = format!(
        "{{{{- $ca := genCA \"ca\" 365 }}}}\n{{{{- $cert := genSignedCert \"db\" nil (list \"db\") 365 $ca }}}}\napiVersion: \
         v1\nkind: Secret\nmetadata: {{name: tls, namespace: data}}\nstringData:\n{tls}"
    );
    let clone = server.clone_to("clone");
    let (path, text) = application("postgres", DEV);
    let text = text.replace("charts/postgres, helm: {releaseName: postgres}", "chart");
    clone.commit(
        "one",
        &[
            (path.as_str(), text.as_str()),
            ("chart/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
            ("chart/templates/secret.yaml", &secret),
            ("chart/templates/tls.yaml", &tls),
        ],
    );
    let said = told(clone.push());
    let manifest = server.git(&["show", &format!("{DEV}:postgres/manifest.yaml")]);
    for (name, _, value) in OF_ENGINE_3 {
        let line = manifest.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: "))).expect(name);
        assert_eq!(line.trim_matches('"'), value, "{name}");
    }
    assert!(said.contains("Secret data/db (environments/dev), Secret data/tls (environments/dev)"), "{said}");
}

#[test]
fn two_repositories_with_equal_content_have_different_passwords() {
    let mut found = Vec::new();
    for _ in 0..2 {
        let lab = Lab::new();
        let (server, clone) = server(&lab);
        let made = server.hydrate(&["config", "set", "seeds", "new"]).success().stdout;
        assert!(made.contains("nothing that is on a branch has random values that change"), "{made}");
        let said = told(clone.push());
        assert!(!said.contains("anybody can compute"), "{said}");
        let password = |path: &str| password(&server, DEV, path);
        assert_ne!(password("web"), password("db"), "each Application has its own");
        found.extend([password("web"), password("db")]);
        // Again, elsewhere, and made again.
        let before = password("web");
        commit(&clone, "two", chart("web", "b"));
        clone.push().success();
        assert_eq!(password("web"), before, "a second push");
        clone.git(&["fetch", "-q", "origin"]);
        let fresh = server.clone_to("fresh");
        let previewed = fresh.hydrate(&["diff"]).success().stdout;
        assert!(!previewed.contains("password"), "{previewed}");
        server.hydrate(&["verify"]).success();
        server.hydrate(&["doctor"]);
        fs::remove_dir_all(server.path.join("hydrate/cache")).expect("removed");
        commit(&clone, "three", chart("db", "c"));
        clone.push().success();
        assert_eq!(password("web"), before, "without the cache");
        server.hydrate(&["verify"]).success();
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_new_application_is_refused_until_there_is_a_seed() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    let refused = told(clone.push());
    for name in ["db", "web"] {
        let text =
            format!("`{name}` has random values for the first time, and anybody could compute them: there is no seed");
        assert!(refused.contains(&text) && refused.contains(&format!("apps/{name}.yaml:8:")), "{refused}");
    }
    assert!(refused.contains("hint: on the server: git hydrate config set seeds new"), "{refused}");
    server.run("git", &["rev-parse", "-q", "--verify", DEV]).exits(1);
    // Before it is pushed as well.
    let preview = clone.hydrate(&["diff"]);
    assert!(format!("{preview:?}").contains("there is no seed"), "{preview:?}");
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    assert_eq!(password(&server, DEV, "web").len(), 24, "the command hydrates what waited for it");
    server.hydrate(&["verify"]).success();
    server.hydrate(&["status"]).success();
}

#[test]
fn verify_finds_nothing_where_one_that_needs_a_seed_stays_behind_alone() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    let (path, text) = application("plain", DEV);
    let text = text.replace(", helm: {releaseName: plain}", "");
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n".to_owned();
    commit(&clone, "feat: nothing random", [(path, text), ("charts/plain/object.yaml".to_owned(), object)]);
    assert!(told(clone.push()).contains("there is no seed"));
    assert!(server.git(&["ls-tree", "-r", "--name-only", DEV]).contains("plain/manifest.yaml"));
    server.hydrate(&["verify"]).success();
    clone.commit("docs: nothing rendered", &[("NOTES", "text")]);
    clone.push();
    server.hydrate(&["verify"]).success();
}

#[test]
fn an_upgrade_changes_no_byte_and_names_what_anybody_can_compute() {
    let lab = Lab::new();
    let (server, clone) = of_engine_3(&lab);
    let (web, old) = (password(&server, DEV, "web"), tip(&server, DEV));
    let named = "anybody can compute the random values of objects, since there is no seed: Secret data/db \
                 (environments/dev), Secret data/web (environments/dev)";
    for command in ["status", "doctor"] {
        let answer = server.hydrate(&[command]);
        assert!(answer.stdout.contains(named), "before the first push, {command}: {answer:?}");
        assert!(answer.stdout.contains("git hydrate config set seeds new"), "{command}: {answer:?}");
    }
    let status: serde_json::Value = serde_json::from_str(&server.hydrate(&["status", "--json"]).stdout).expect("JSON");
    assert_eq!(status["randomValues"][1]["objects"][0], "Secret data/web", "{status:#}");
    clone.commit("docs: nothing rendered", &[("NOTES", "text")]);
    let said = told(clone.push());
    assert!(said.contains(named), "{said}");
    assert_eq!(tip(&server, DEV), old, "no byte changes");
    for round in ["b", "c"] {
        commit(&clone, round, chart("web", round));
        let said = told(clone.push());
        assert!(said.contains(named), "{said}");
        assert_eq!(password(&server, DEV, "web"), web, "what is touched keeps its password");
    }
    assert_eq!(record(&server, "environments%2Fdev.json")["engine"], 5);
    let answer = server.hydrate(&["status"]);
    assert!(answer.stdout.contains(named), "{answer:?}");
    // One that had no random values is new to them.
    let (path, text) = application("late", DEV);
    let files: Vec<_> = chart("late", "a").into_iter().filter(|(path, _)| !path.contains("secret")).collect();
    commit(&clone, "an Application without", files.into_iter().chain([(path, text)]));
    clone.push().success();
    commit(&clone, "and with", chart("late", "a"));
    let refused = told(clone.push());
    assert!(refused.contains("`late` has random values for the first time"), "{refused}");
    assert!(!refused.contains("`web` has random values"), "{refused}");
    // The seed ends both.
    let changed = server.hydrate(&["config", "set", "seeds", "new"]).success().stdout;
    let expected = "new random values in:\n  Secret data/db of argocd/db on environments/dev\n  Secret data/web of argocd/web on \
                    environments/dev\n";
    assert!(changed.starts_with(expected), "{changed}");
    assert_ne!(password(&server, DEV, "web"), web);
    password(&server, DEV, "late");
    for answer in [server.hydrate(&["status"]), server.hydrate(&["doctor"]), clone.push()] {
        assert!(!format!("{answer:?}").contains("anybody can compute"), "{answer:?}");
    }
}

#[test]
fn an_application_that_moves_keeps_its_password() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    clone.push().success();
    let web = password(&server, DEV, "web");
    let (file, text) = application("web", DEV);
    let moves = [
        ("another path", text.replace("path: web}", "path: team/web}"), DEV, "team/web"),
        ("another branch", text.replace(DEV, "environments/stage"), "environments/stage", "web"),
        ("both", text.replace(DEV, "environments/prod").replace("path: web}", "path: x}"), "environments/prod", "x"),
        (
            "a staging branch",
            text.replace(DEV, "environments/prod").replace("path: web}", "path: x}")
                + "    hydrateTo: {targetBranch: environments/prod-next}\n",
            "environments/prod-next",
            "x",
        ),
        ("and back", text.clone(), DEV, "web"),
    ];
    for (name, text, branch, path) in &moves {
        commit(&clone, name, [(file.clone(), text.clone())]);
        let said = told(clone.push());
        assert_eq!(password(&server, branch, path), web, "{name}: {said}");
    }
    let trailers = server.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Identity)", "environments/prod-next"]);
    assert_eq!(trailers.trim(), "Hydrate-Identity: argocd/web/environments/dev");
    let of_prod = record(&server, "environments%2Fprod-next.json");
    assert_eq!(of_prod["drawn"]["x"]["identity"], "argocd/web/environments/dev", "{of_prod:#}");
    server.hydrate(&["verify"]).success();
    // An edit of what moved, planned by what changed.
    commit(&clone, "edit", [(file, moves[1].1.clone())]);
    clone.push().success();
    commit(&clone, "edit", chart("web", "new"));
    clone.push().success();
    assert_eq!(password(&server, "environments/stage", "web"), web);
    server.hydrate(&["verify"]).success();
    // One of the same name beside it, which is not it.
    let (file, text) = application("web", "environments/other");
    commit(&clone, "beside", [(file.replace("web", "more"), text.replace("charts/web", "charts/db"))]);
    clone.push();
}

#[test]
fn seeds_are_switched_and_rotated_for_some_or_all() {
    let lab = Lab::new();
    let (server, clone) = of_engine_3(&lab);
    clone.commit("docs", &[("NOTES", "text")]);
    clone.push().success();
    let both = || (password(&server, DEV, "web"), password(&server, DEV, "db"));
    let set = |args: &[&str]| server.hydrate(&[&["config", "set", "seeds"], args].concat());
    assert!(set(&["rotate"]).exits(2).stderr.contains("hint: to make one: git hydrate config set seeds new"));
    let none = set(&["new", "--application", "nobody"]).exits(2).stderr;
    assert!(none.contains("no Application with random values matches `nobody`"), "{none}");
    for wrong in [&["newer"][..], &["new", "more"], &["aaaa"]] {
        set(wrong).exits(2);
    }
    server.hydrate(&["config", "set", "profile", "argocd", "--application", "x"]).exits(2);
    let first = both();
    let told = set(&["new", "--application", "w*"]).success().stdout;
    assert!(told.contains("Secret data/web of argocd/web on environments/dev"), "{told}");
    assert!(!told.contains("Secret data/db of"), "{told}");
    let second = both();
    assert!(first.0 != second.0 && first.1 == second.1, "{first:?} {second:?}");
    let public = "since they do not draw from the seed: Secret data/db (environments/dev)";
    assert!(server.hydrate(&["status"]).stdout.contains(public));
    assert!(server.hydrate(&["doctor"]).stdout.contains(public));
    commit(&clone, "touch both", chart("db", "b").into_iter().chain(chart("web", "b")));
    let said = clone.push().success().remote().join("\n");
    assert!(said.contains(public), "{said}");
    assert_eq!(both(), second);
    // A rotation of some leaves the others where they are, seed or none.
    set(&["rotate", "--application", "argocd/web"]).success();
    let third = both();
    assert!(second.0 != third.0 && second.1 == third.1);
    set(&["new"]).success();
    let fourth = both();
    assert!(third.0 == fourth.0 && third.1 != fourth.1, "only what drew without one");
    assert!(set(&["new"]).exits(2).stderr.contains("git hydrate config set seeds rotate"));
    set(&["rotate", "--application", &format!("argocd/db/{DEV}")]).success();
    let fifth = both();
    assert!(fourth.0 == fifth.0 && fourth.1 != fifth.1);
    set(&["rotate"]).success();
    let sixth = both();
    assert!(fifth.0 != sixth.0 && fifth.1 != sixth.1);
    commit(&clone, "touch both again", chart("db", "c").into_iter().chain(chart("web", "c")));
    clone.push().success();
    assert_eq!(both(), sixth);
    server.hydrate(&["verify"]).success();
    let settings = server.git(&["log", "--format=%s", SETTINGS]);
    assert!(settings.starts_with("settings: set seeds rotate"), "{settings}");
}

/// The bytes in each way in which they might be shown.
fn shapes(seed: &[u8]) -> Vec<Vec<u8>> {
    let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    let list = seed.iter().map(u8::to_string).collect::<Vec<_>>();
    let base64 = data_encoding::BASE64.encode(seed);
    let url = data_encoding::BASE64URL.encode(seed);
    // Half of it is as bad.
    vec![
        seed[..16].to_vec(),
        hex.to_uppercase()[..32].into(),
        hex[..32].into(),
        base64[..20].into(),
        url[..20].into(),
        list[..8].join(",").into(),
        list[..8].join(", ").into(),
    ]
}

#[test]
fn the_seed_is_in_no_output_and_in_no_object_but_the_settings() {
    let lab = Lab::new();
    let (server, clone) = of_engine_3(&lab);
    server.hydrate(&["config", "set", "seeds", "new", "--application", "web"]).success();
    let older =
        server.run("sh", &["-ec", &format!("git cat-file blob {SETTINGS}:seed | od -An -v -tu1")]).success().stdout;
    let mut outputs: BTreeMap<String, Answer> = BTreeMap::new();
    let rotated = server.hydrate(&["config", "set", "seeds", "rotate", "--application", "db", "--json"]).success();
    outputs.insert("rotate".to_owned(), rotated);
    let newer =
        server.run("sh", &["-ec", &format!("git cat-file blob {SETTINGS}:seed | od -An -v -tu1")]).success().stdout;
    let bytes = |text: &str| text.split_whitespace().map(|byte| byte.parse().expect("a byte")).collect::<Vec<u8>>();
    let seeds = [bytes(&older), bytes(&newer)];
    assert_ne!(seeds[0], seeds[1]);
    commit(&clone, "two", chart("web", "b"));
    outputs.insert("push".to_owned(), clone.push());
    commit(
        &clone,
        "broken",
        [("charts/web/templates/plain.yaml".to_owned(), "{{ fail (randAlphaNum 9) }}".to_owned())],
    );
    outputs.insert("broken push".to_owned(), clone.push());
    let commands: [&[&str]; 20] = [
        &["config"],
        &["config", "get", "seeds"],
        &["config", "get", "seed"],
        &["config", "get", "seed.kept"],
        &["config", "unset", "seed"],
        &["config", "set", "seed", "x"],
        &["config", "edit", "seed"],
        &["config", "set", "nondeterministic", "[a"],
        &["config", "set", "author", "x"],
        &["status"],
        &["doctor"],
        &["log"],
        &["log", "-p"],
        &["verify"],
        &["diff"],
        &["plan"],
        &["check"],
        &["apps"],
        &["catch-up"],
        &["catch-up", "--retry"],
    ];
    for repo in [&server, &clone] {
        for args in commands {
            outputs.insert(format!("{} {args:?}", repo.path.display()), repo.hydrate(args));
            outputs
                .insert(format!("{} {args:?} json", repo.path.display()), repo.hydrate(&[args, &["--json"]].concat()));
        }
    }
    assert!(outputs.values().any(|answer| answer.stdout.contains("a seed is set, and never shown")));
    assert!(
        outputs
            .values()
            .any(|answer| answer.stdout.contains("\"hasSeed\":true") || answer.stdout.contains("\"hasSeed\": true"))
    );
    let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let parts: Vec<Vec<u8>> = seeds.iter().flat_map(|seed| shapes(seed)).collect();
    for (name, answer) in &outputs {
        for part in &parts {
            assert!(!has(answer.stdout.as_bytes(), part) && !has(answer.stderr.as_bytes(), part), "{name}");
        }
    }
    // Objects but for the settings, and every file of the repository itself.
    let list = "git rev-list --objects --all --not $(git for-each-ref --format='%(refname)' refs/hydrate/config \
                'refs/hydrate/settings') | cut -d' ' -f1 | git cat-file --batch >../objects";
    server.run("sh", &["-ec", list]).success();
    let mut files = vec![lab.path("objects")];
    let mut dirs = vec![server.path.clone()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("readable") {
            let path = entry.expect("readable").path();
            match path.is_dir() {
                true if path.ends_with("objects") => {}
                true => dirs.push(path),
                false => files.push(path),
            }
        }
    }
    assert!(fs::metadata(&files[0]).expect("there").len() > 1000 && files.len() > 20);
    for file in files {
        let content = fs::read(&file).expect("readable");
        for part in &parts {
            assert!(!has(&content, part), "{}", file.display());
        }
    }
    // What finds nothing must be able to find something.
    let settings = server.run("sh", &["-ec", &format!("git cat-file blob {SETTINGS}:seed.kept")]).success().stdout;
    assert!(parts.iter().any(|part| has(settings.as_bytes(), part)), "the settings have it");
}
