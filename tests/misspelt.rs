//! Misspelt or misplaced keys that would take an Application out of hydration, or move it: nothing is removed or deployed by
//! them, and the pusher reads which key it is.

use crate::made_applications::{URL, config, dry, list};
use crate::push::{application, both, config_map, tip};
use crate::rules::{BY_LABEL, directory, rule};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const SET: &str = "sets/shop.yaml";
const WEB: &str = "applications/dev/web.yaml";

/// A set of two Applications, hydrated.
fn of_set(server: &Repo) -> (Repo, String) {
    let set = list("shop", &["web@dev", "api@dev"], "");
    let (web, api) = (config("web", "dev", "one"), config("api", "dev", "one"));
    let clone = dry(server, &[(SET, &set), (&web.0, &web.1), (&api.0, &api.1)]);
    clone.push().success();
    (clone, set)
}

/// Commits `text` as `path`, pushes it, and answers what the pusher reads.
fn told(clone: &Repo, path: &str, text: &str) -> String {
    clone.commit("slip", &[(path, text)]);
    clone.push().success().remote().join("\n")
}

#[test]
fn a_misspelt_source_hydrator_in_a_template_of_a_set_removes_nothing() {
    both(|server| {
        let (clone, set) = of_set(server);
        let before = tip(server, DEV);
        let slip = set.replace("sourceHydrator", "sourceHydrater");
        let read = told(&clone, SET, &slip);
        let expected =
            "error: unknown field `sourceHydrater` in `spec`, so what this ApplicationSet makes is not hydrated";
        assert!(read.contains(expected) && read.contains("--> sets/shop.yaml:13:7"), "{read}");
        assert_eq!(tip(server, DEV), before);
        let patched = set.split_once("      sourceHydrator").expect("there").0.to_owned()
            + "      project: default\n  templatePatch: |\n    spec:\n      sourceHydrater: {drySource: {}}\n";
        let read = told(&clone, SET, &patched);
        assert!(read.contains("unknown field `sourceHydrater` in the patch"), "{read}");
        assert_eq!(tip(server, DEV), before);
        assert!(told(&clone, SET, &set.replace("'{{app}}'}", "'{{app}}-x'}")).contains("2 removed"));
    });
}

#[test]
fn a_misspelt_group_of_an_application_or_a_set_removes_nothing() {
    both(|server| {
        let (clone, set) = of_set(server);
        let (path, web) = application("more", "dev");
        let config = config("more", "dev", "one");
        clone.commit("one more", &[(&path, &web), (&config.0, &config.1)]);
        clone.push().success();
        let before = tip(server, DEV);
        for (path, text) in [(path.as_str(), &web), (SET, &set)] {
            for version in ["argoproj/v1alpha1", "argocd.io/v1alpha1", "v1alpha1"] {
                let read = told(&clone, path, &text.replace("argoproj.io/v1alpha1", version));
                let expected =
                    format!("error: `apiVersion` is `{version}`, but Applications are `argoproj.io/v1alpha1`");
                assert!(read.contains(&expected) && read.contains(&format!("--> {path}:1:13")), "{read}");
                assert_eq!(tip(server, DEV), before);
            }
            if path == SET {
                let read = told(&clone, path, &text.replace("kind: ApplicationSet", "kind: AplicationSets"));
                assert!(read.contains("an object of kind `AplicationSets` is not hydrated, though"), "{read}");
                assert_eq!(tip(server, DEV), before);
            }
            clone.commit("right again", &[(path, text)]);
            clone.push().success();
            assert_eq!(
                server.git(&["rev-parse", &format!("{DEV}^{{tree}}")]),
                server.git(&["rev-parse", &format!("{before}^{{tree}}")])
            );
        }
    });
}

#[test]
fn an_unknown_field_in_a_template_of_a_set_is_told_at_its_line() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, set) = of_set(&server);
    let slip = set.replace("{{environment}}'}\n        sync", "{{environment}}', hlem: {}}\n        sync");
    let read = told(&clone, SET, &slip);
    let expected = "error: unknown field `hlem` in `spec.sourceHydrator.drySource`\n--> sets/shop.yaml:14:";
    assert!(read.replace("  -->", "-->").contains(expected), "{read}");
    let check = clone.hydrate(&["check"]).exits(1).stdout;
    assert!(check.contains("unknown field `hlem`"), "{check}");
    server.git(&["config", "hydrate.strict", "true"]);
    clone.commit("again", &[(SET, &format!("{slip}# again\n"))]);
    let refused = clone.push().exits(1);
    assert!(refused.stderr.contains("unknown field `hlem`"), "{refused:?}");
}

#[test]
fn hydrate_to_beside_source_hydrator_does_not_bypass_staging() {
    let (path, web) = application("web", "dev");
    let misplaced = format!("{web}  hydrateTo:\n    targetBranch: environments/dev-next\n");
    for strict in ["false", "true"] {
        let lab = Lab::new();
        let server = lab.server();
        server.git(&["config", "hydrate.strict", strict]);
        let config = config("web", "dev", "one");
        let clone = dry(&server, &[(path.as_str(), web.as_str()), (&config.0, &config.1)]);
        clone.push().success();
        let before = tip(&server, DEV);
        clone.commit("stage it", &[(path.as_str(), &misplaced), (&config.0, &config_map("web", "two"))]);
        let pushed = clone.push();
        let expected = "error: `hydrateTo` is beside `sourceHydrator`, where Argo CD does not look at it";
        assert!(pushed.stderr.contains(expected), "{pushed:?}");
        assert!(pushed.stderr.contains("indent `hydrateTo` below `sourceHydrator`"), "{pushed:?}");
        assert_eq!(tip(&server, DEV), before);
    }
    let lab = Lab::new();
    let server = lab.server();
    let (clone, set) = of_set(&server);
    let before = tip(&server, DEV);
    let read = told(&clone, SET, &format!("{set}      hydrateTo: {{targetBranch: environments/dev-next}}\n"));
    assert!(read.contains("`hydrateTo` is beside `sourceHydrator`"), "{read}");
    assert_eq!(tip(&server, DEV), before);
}

#[test]
fn a_misspelt_hydrate_to_bypasses_no_staging() {
    both(|server| {
        let staged = |name: &str| {
            let (path, text) = application(name, "dev");
            (path, format!("{text}    hydrateTo: {{targetBranch: environments/dev-next}}\n"))
        };
        let apps = [staged("web"), staged("api")];
        let configs = ["web", "api"].map(|name| config(name, "dev", "one"));
        let files: Vec<(&str, &str)> = apps.iter().chain(&configs).map(|(path, text)| (&**path, &**text)).collect();
        let clone = dry(server, &files);
        clone.push().success();
        let refs = || server.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/environments"]);
        let before = refs();
        assert_eq!(before.lines().count(), 2, "{before}");
        for slips in [&apps[..1], &apps[..]] {
            for key in ["hydrateto", "hydrateTO", "hydratTo"] {
                let slips: Vec<_> = slips.iter().map(|(path, text)| (path, text.replace("hydrateTo", key))).collect();
                let mut files: Vec<(&str, &str)> = slips.iter().map(|(path, text)| (&***path, &**text)).collect();
                let two = config("web", "dev", key);
                files.push((&two.0, &two.1));
                clone.commit("slip", &files);
                let read = clone.push().success().remote().join("\n");
                assert!(read.contains(&format!("error: unknown field `{key}` in `spec.sourceHydrator`")), "{read}");
                assert!(read.contains("did you mean `hydrateTo`?"), "{read}");
                assert_eq!(refs(), before, "{read}");
            }
        }
        let right: Vec<(&str, &str)> = apps.iter().map(|(path, text)| (&**path, &**text)).collect();
        clone.commit("right again", &right);
        let read = clone.push().success().remote().join("\n");
        assert!(read.contains("environments/dev-next") && !read.contains("error"), "{read}");
    });
}

#[test]
fn a_misspelt_kind_or_spec_removes_nothing() {
    let lab = Lab::new();
    let server = lab.server();
    let apps = ["web", "api", "shop", "blog"].map(|name| (application(name, "dev"), config(name, "dev", "one")));
    let files: Vec<(&str, &str)> =
        apps.iter().flat_map(|(app, config)| [(&*app.0, &*app.1), (&*config.0, &*config.1)]).collect();
    let clone = dry(&server, &files);
    clone.push().success();
    let before = tip(&server, DEV);
    let web = application("web", "dev").1;
    let rows = [
        ("kind: Application", "kind: Aplication", "error: an object of kind `Aplication` is not hydrated"),
        ("\nspec:", "\nspecs:", "error: unknown field `specs`, so `web-dev` is not hydrated"),
    ];
    for (from, to, expected) in rows {
        let read = told(&clone, WEB, &web.replace(from, to));
        assert!(read.contains(expected), "{read}");
        assert_eq!(tip(&server, DEV), before, "{read}");
    }
}

/// What each slip in `right`, at `path`, tells: nothing leaves the branch by it, and it is an error that names the place.
fn nothing_is_removed_by(server: &Repo, clone: &Repo, (path, right): (&str, &str), slips: &[(&str, &str, &str)]) {
    let before = tip(server, DEV);
    for (from, to, expected) in slips {
        let slip = right.replacen(from, to, 1);
        assert_ne!(&slip, right, "{from}");
        let diff = {
            clone.commit("slip", &[(path, &slip)]);
            clone.hydrate(&["diff"])
        };
        let read = clone.push().success().remote().join("\n");
        assert!(read.contains(expected) && read.contains(path), "{to:?}, not {expected:?}: {read}");
        assert!(diff.stdout.contains(expected), "{to:?}: {diff:?}");
        assert_eq!(tip(server, DEV), before, "{to:?}: {read}");
        clone.commit("right again", &[(path, right)]);
        let read = clone.push().success().remote().join("\n");
        assert!(!read.contains("error"), "{read}");
        let trees =
            [tip(server, DEV), before.clone()].map(|tip| server.git(&["rev-parse", &format!("{tip}^{{tree}}")]));
        assert_eq!(trees[0], trees[1]);
    }
}

#[test]
fn a_slip_in_a_plain_application_under_a_rule_removes_nothing() {
    let slips = [
        ("kind: Application", "kind: Aplication", "hint: write `kind: Application`; to take it off"),
        (
            "kind: Application",
            "kind: Foo",
            "error: `web-dev` is no longer an Application: its document has `kind: Foo`",
        ),
        ("kind: Application\n", "", "its document has no `kind`"),
        ("kind:", "Kind:", "error: unknown field `Kind`"),
        ("argoproj.io", "argoprj.io", "its document has `apiVersion: argoprj.io/v1alpha1`"),
        ("argoproj.io/v1alpha1", "apps/v1", "its document has `apiVersion: apps/v1`"),
        ("apiVersion:", "apiversion:", "error: unknown field `apiversion`"),
        ("apiVersion: argoproj.io/v1alpha1\n", "", "its document has no `apiVersion`"),
        ("metadata:", "metdata:", "error: unknown field `metdata`"),
        ("name: web-dev", "nam: web-dev", "error: unknown field `nam` in `metadata`"),
        ("labels:", "lables:", "error: unknown field `lables` in `metadata`"),
        ("spec:", "Spec:", "error: unknown field `Spec`"),
        ("source:", "souce:", "error: unknown field `souce`"),
    ];
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let apps = ["web", "api"].map(|name| (format!("applications/{name}.yaml"), directory(name, "dev")));
    let configs = ["web", "api"].map(|name| config(name, "dev", "one"));
    let files: Vec<(&str, &str)> = apps.iter().chain(&configs).map(|(path, text)| (&**path, &**text)).collect();
    let clone = dry(&server, &files);
    clone.push().success();
    nothing_is_removed_by(&server, &clone, (&apps[0].0, &apps[0].1), &slips);
    // What is no file of text is not a removal either.
    let path = &apps[0].0;
    let before = tip(&server, DEV);
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    let wide: String = apps[0].1.chars().flat_map(|c| [c, '\0']).collect();
    for (text, what) in [(pointer, "a pointer of Git LFS"), (wide.as_str(), "no text")] {
        let read = told(&clone, path, text);
        assert!(read.contains(&format!("error: the file of `web-dev` is {what}, where")), "{read}");
        assert_eq!(tip(&server, DEV), before);
    }
    std::fs::remove_file(clone.path.join(path)).expect("there");
    std::os::unix::fs::symlink("../nowhere/web.yaml", clone.path.join(path)).expect("made");
    let read = told(&clone, "nowhere/web.yaml.orig", &apps[0].1);
    assert!(read.contains("web-dev") && read.contains("error: "), "{read}");
    assert_eq!(tip(&server, DEV), before);
    std::fs::remove_file(clone.path.join(path)).expect("there");
    clone.commit("right again", &[(path.as_str(), &apps[0].1)]);
    clone.push().success();
    // Nor is a name by which the file is not read.
    let before = tip(&server, DEV);
    for name in ["web.yam", "web.yaml.bak", "web.yaml~", "web.yaml.txt", "web.yaml,v", "web.bak", "web"] {
        let renamed = format!("applications/{name}");
        clone.git(&["mv", path, &renamed]);
        let read = told(&clone, "notes.txt", name);
        let expected =
            format!("error: `{path}` with `web-dev` is `{renamed}` now, where Applications are not looked for");
        assert!(read.contains(&expected), "{read}");
        assert_eq!(tip(&server, DEV), before);
        clone.git(&["mv", &renamed, path]);
        clone.commit("right again", &[]);
        clone.push().success();
    }
    // What is removed is gone, and so is what another document takes the name of in another file.
    clone.git(&["rm", "-q", &apps[0].0]);
    clone.commit("remove", &[("config/web-dev.yaml", &config_map("web-dev", "one"))]);
    let read = clone.push().success().remote().join("\n");
    assert!(read.contains("removed web-dev") || read.contains("removed web"), "{read}");
}

#[test]
fn an_application_does_not_leave_its_branch_as_something_that_is_nearly_one() {
    let right = application("web", "dev").1;
    let indented = right.trim_end().replace('\n', "\n  ");
    let (item, below, text) =
        (format!("- {indented}\n"), format!("x:\n  {indented}\n"), format!("y: {{}}\nx: |\n  {indented}\n"));
    let part = "error: `web-dev` is no longer an Application: it is a part of another document";
    let slips = [
        (
            "kind: Application",
            "kind: AppProject",
            "error: `web-dev` is no longer an Application: its document has `kind",
        ),
        ("kind: Application", "kind: ApplicationSet", "error: `web-dev` is no longer an Application: its document has"),
        ("sourceHydrator:", "hydrator:", "error: unknown field `hydrator` in `spec`, so `web-dev` is not hydrated"),
        ("  sourceHydrator:", "x:", "error: `web-dev` is no longer hydrated: it has no `sourceHydrator`"),
        (&right, &item, part),
        (&right, &below, part),
        (&right, &text, part),
        // A file that was cut short, or damaged.
        (&right, "apiVersion: ar", "error: `web-dev` is no longer an Application: this document has no `kind`"),
        (&right, "apiVersion: argoproj.io/v1alpha1\nkind: Application\n", "this document has no `metadata.name`"),
        (&right, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n", "no `metadata.name`"),
        (&right, "hello", "error: `web-dev` is no longer an Application: this document has no `apiVersion`"),
        (&right, "[]", "this document has no `apiVersion`"),
    ];
    let lab = Lab::new();
    let server = lab.server();
    let clone = pushed_with_web_and_api(&server);
    nothing_is_removed_by(&server, &clone, (WEB, &right), &slips);
}

#[test]
fn what_a_set_made_does_not_leave_its_branch_while_the_set_is_there_without_what_makes_it() {
    both(|server| {
        let (clone, set) = of_set(server);
        let cut = |from: &str| set.split_once(from).expect("there").0.to_owned();
        let (no_template, no_spec) = (cut("  template:"), cut("spec:"));
        let no_template_spec = cut("    spec:");
        let slips = [
            ("spec:\n  generators", "sepc:\n  generators", "error: unknown field `sepc`, so what `shop` makes is not"),
            ("spec:\n  generators", "Spec:\n  generators", "error: unknown field `Spec`"),
            ("  template:", "  tempalte:", "error: unknown field `tempalte` in `spec`, so what `shop` makes is not"),
            (&*set, &*no_template, "error: what `shop` makes is no longer hydrated: it has no `template` in `spec`"),
            (&*set, &*no_spec, "error: what `shop` makes is no longer hydrated: it has no `spec`"),
            ("      sourceHydrator:", "      other:", "it has no `sourceHydrator` in `spec` of its template"),
            (&*set, &*no_template_spec, "it has no `spec` in its template"),
        ];
        nothing_is_removed_by(server, &clone, (SET, &set), &slips);
        let plain = set.replace("sourceHydrator", "source");
        let read = told(&clone, SET, &plain);
        assert!(read.contains("would empty") && !read.contains("no longer hydrated"), "{read}");
    });
}

/// A clone from which two Applications of `dev` were pushed.
fn pushed_with_web_and_api(server: &Repo) -> Repo {
    let apps = ["web", "api"].map(|name| (application(name, "dev"), config(name, "dev", "one")));
    let files: Vec<(&str, &str)> =
        apps.iter().flat_map(|(app, config)| [(&*app.0, &*app.1), (&*config.0, &*config.1)]).collect();
    let clone = dry(server, &files);
    clone.push().success();
    clone
}

#[test]
fn an_application_leaves_its_branch_for_a_project_or_a_source_of_its_name() {
    let right = application("web", "dev").1;
    let (head, _) = right.split_once("  sourceHydrator").expect("there");
    let project =
        "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: web-dev}\nspec: {sourceRepos: ['*']}\n";
    let plain =
        format!("{head}  project: default\n  source: {{repoURL: {URL}, targetRevision: main, path: apps/web/dev}}\n");
    for text in [project, &plain, ""] {
        let lab = Lab::new();
        let clone = pushed_with_web_and_api(&lab.server());
        let read = told(&clone, WEB, text);
        assert!(read.contains("removed web") && !read.contains("error"), "{text}: {read}");
    }
}

#[test]
fn a_slip_in_a_set_under_a_rule_removes_nothing() {
    let set = list("shop", &["web@dev", "api@dev"], "").replace(
        "    metadata: {name: '{{app}}-{{environment}}'}\n",
        "    metadata: {name: '{{app}}-{{environment}}', labels: {env: '{{environment}}'}}\n",
    );
    let (head, _) = set.split_once("      sourceHydrator").expect("there");
    let source =
        format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: 'apps/{{{{app}}}}/{{{{environment}}}}'}}");
    let set = format!(
        "{head}      project: default\n      destination: {{server: https://kubernetes.default.svc}}\n      {source}\n"
    );
    let slips = [
        ("kind: ApplicationSet", "kind: AplicationSet", "write `kind: ApplicationSet`; to take it off"),
        (
            "kind: ApplicationSet",
            "kind: Foo",
            "error: `shop` is no longer an Application: its document has `kind: Foo`",
        ),
        ("argoproj.io", "argoprj.io", "its document has `apiVersion: argoprj.io/v1alpha1`"),
        ("apiVersion:", "apiversion:", "error: unknown field `apiversion`"),
        ("\nspec:", "\nSpec:", "error: unknown field `Spec`"),
        ("generators:", "generator:", "error: unknown field `generator` in `spec`"),
        ("elements:", "element:", "error: unknown field `element` in `spec.generators[0].list`"),
        ("list:", "lists:", "error: "),
        ("  template:", "  templates:", "error: unknown field `templates` in `spec`"),
        ("labels:", "lables:", "error: unknown field `lables` in `spec.template.metadata`"),
        ("source:", "souce:", "warning: unknown field `souce` in `spec.template.spec`"),
    ];
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let more = (String::from("applications/more.yaml"), directory("more", "dev"));
    let configs = ["web", "api", "more"].map(|name| config(name, "dev", "one"));
    let files = [(String::from(SET), set.clone()), more];
    let files: Vec<(&str, &str)> = files.iter().chain(&configs).map(|(path, text)| (&**path, &**text)).collect();
    let clone = dry(&server, &files);
    clone.push().success();
    nothing_is_removed_by(&server, &clone, (SET, &set), &slips);
}

#[test]
fn a_trailer_that_is_nearly_the_one_that_allows_a_removal_is_named_with_it() {
    let rows = [
        ("drop\n\nHydrate-Removal: environments/prod", "did you mean `Hydrate-Allow-Removal: environments/prod`?"),
        ("Hydrate-Allow-Removal: environments/prod\n\nas agreed", "write it at the end of the message"),
    ];
    for (message, expected) in rows {
        let lab = Lab::new();
        let server = lab.server();
        let clone = crate::push::dry(&server, &["web", "api"], &["prod"]);
        clone.push().success();
        clone.git(&["rm", "-q", "-r", "applications"]);
        clone.commit(message, &[]);
        let preview = clone.hydrate(&["diff"]).exits(1).stdout;
        assert!(preview.contains(expected), "{message}: {preview}");
        let told = clone.push().remote().join("\n");
        assert!(told.contains("would empty `environments/prod`") && told.contains(expected), "{message}: {told}");
        clone.commit("yes\n\nHydrate-Allow-Removal: environments/prod", &[("NOTES", "x")]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("allows nothing"), "{message}: {told}");
    }
}

#[test]
fn a_misspelt_field_of_a_destination_is_told_with_what_was_meant() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = pushed_with_web_and_api(&server);
    let (path, text) = application("web", "dev");
    for (slip, meant) in
        [("sever: https://k8s", "server"), ("nmae: in-cluster", "name"), ("namspace: web", "namespace")]
    {
        let said = told(&clone, &path, &text.replace("  destination:\n", &format!("  destination:\n    {slip}\n")));
        let key = slip.split(':').next().expect("a key");
        assert!(said.contains(&format!("warning: unknown field `{key}` in `spec.destination`")), "{said}");
        assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
    }
}

#[test]
fn a_set_without_a_name_makes_nothing_and_is_told_so() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, set) = of_set(&server);
    let without = set.replacen("name: shop", "nam: shop", 1);
    assert_ne!(without, set);
    let said = told(&clone, SET, &without);
    assert!(said.contains("ApplicationSet without a name makes no Applications: `metadata.name` is missing"), "{said}");
}

#[test]
fn an_environment_under_a_misspelt_name_is_compared_with_the_one_that_was_meant() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = crate::push::dry(&server, &["web"], &["dev", "prod"]);
    let ingress = |host: &str| format!("{}---\n{}", config_map("web", "one"), config_map("host", host));
    for env in ["dev", "prod"] {
        let file = format!("apps/web/{env}/config.yaml");
        clone.commit("host", &[(&file, &ingress(&format!("web.{env}.example.com")))]);
    }
    clone.push().success();
    let (file, text) = application("web", "prod");
    clone.commit("slip", &[(&file, &text.replace("environments/prod", "environments/prd"))]);
    let told = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(told.contains("environments/prd   new, like environments/prod: "), "{told}");
    assert!(told.contains("  nothing differs from environments/prod\n") && !told.contains("prd.example.com"), "{told}");
}
