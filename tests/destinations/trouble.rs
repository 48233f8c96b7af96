//! A destination is away, hangs, refuses a branch, or has notes that cannot be built on.

use std::fs;

use super::{NOTES, committed, destination, out, to, told};
use crate::push::{application, both, config_map, healthy, tip};
use crate::support::Lab;

#[test]
fn a_destination_that_is_away_gets_it_later() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let away = eu.path.with_extension("away");
    fs::rename(&eu.path, &away).expect("moved");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    let said = told(&clone.push().success());
    assert!(said.contains("warning: not pushed to `eu` (https://git.example.com/eu.git): environments/dev:"), "{said}");
    assert!(said.contains("git hydrate catch-up"), "{said}");
    // Everything else went on, and it is made already.
    assert!(tip(&server, "environments/dev") != out(&server, "eu", "environments/dev"));
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("not pushed to https://git.example.com/eu.git, away: "), "{status}");
    let json: serde_json::Value =
        serde_json::from_str(&server.hydrate(&["status", "--json"]).exits(1).stdout).expect("JSON");
    assert_eq!(json["destinations"][0]["branch"], "eu:environments/dev");
    assert_eq!(
        (&json["destinations"][0]["isDelivered"], &json["destinations"][0]["why"]),
        (&false.into(), &"away".into())
    );
    server.hydrate(&["catch-up"]).exits(1);

    // It is back: a push of anything brings it.
    fs::rename(&away, &eu.path).expect("moved");
    clone.commit("api: two", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let said = told(&clone.push().success());
    assert!(said.contains("pushed to `eu`: environments/dev") && !said.contains("warning"), "{said}");
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(status.contains("eu:environments/dev") && !status.contains("not pushed"), "{status}");
}

#[test]
fn catch_up_brings_what_was_made_while_a_destination_was_away() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let away = eu.path.with_extension("away");
    fs::rename(&eu.path, &away).expect("moved");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    fs::rename(&away, &eu.path).expect("moved");
    let answer = server.hydrate(&["catch-up"]).success();
    assert!(answer.stdout.contains("pushed to `eu`: environments/dev"), "{answer:?}");
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 2);
    let again = server.hydrate(&["catch-up"]).success();
    assert!(!again.stdout.contains("pushed"), "{again:?}");

    // The file of what is known is a saving only; a repository that lost its branches gets them again.
    fs::remove_file(server.path.join("hydrate/out/eu.json")).expect("there");
    eu.git(&["update-ref", "-d", "refs/heads/environments/dev"]);
    clone.commit("docs", &[("README", "text")]);
    clone.push().success();
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
}

#[test]
fn a_destination_that_hangs_is_given_up() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let asked = lab.path("asked");
    lab.program("hanging-ssh", &format!("#!/bin/sh\necho >>{}\nexec sleep 600\n", asked.display()));
    server.git(&["config", "hydrate.destination.eu.pushURL", "git@git.example.com:eu.git"]);
    server.git(&["config", "hydrate.destination.eu.sshCommand", "hanging-ssh"]);
    server.git(&["config", "hydrate.deliverTimeLimit", "1"]);
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    let said = told(&clone.push().success());
    assert!(said.contains("does not answer in time (hydrate.deliverTimeLimit)"), "{said}");
    tip(&server, "environments/dev");

    // The next push does not wait for it again; who asks for it does.
    let count = || fs::read_to_string(&asked).expect("asked").lines().count();
    assert_eq!(count(), 1);
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let said = told(&clone.push().success());
    assert!(said.contains("did not answer in time, and is not asked again for"), "{said}");
    assert!(said.contains("git hydrate catch-up"), "{said}");
    assert_eq!(count(), 1);
    server.hydrate(&["catch-up"]).exits(1);
    assert_eq!(count(), 2);
}

#[test]
fn many_branches_go_in_one_push_without_being_compared_one_by_one() {
    both(|server| {
        let eu = destination(server, "eu");
        eu.hook("hooks/post-receive", "#!/bin/sh\ngrep -c refs/heads/ >>pushes\n");
        let branches = |from: usize, to: usize| (from..to).map(|n| format!("e{n}")).collect::<Vec<String>>();
        let applications = |names: &[String]| -> Vec<(String, String)> {
            let one = |name: &String| {
                let (path, text) = to("web", "dev", "eu");
                let text = text.replace("environments/dev", &format!("environments/{name}"));
                (path.replace("web", &format!("web-{name}")), text.replace("name: web", &format!("name: web-{name}")))
            };
            names.iter().map(one).collect()
        };
        let names = branches(0, 203);
        let clone = committed(server, &applications(&names));
        let said = told(&clone.push().success());
        assert!(said.contains("pushed to `eu`:") && !said.contains("not pushed"), "{said}");
        clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
        clone.push().success();
        assert_eq!(eu.file("pushes").expect("pushed"), "203\n203\n");
        for name in &names {
            let branch = format!("environments/{name}");
            assert_eq!(tip(&eu, &branch), out(server, "eu", &branch), "{branch}");
        }
        assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 406);
        healthy(&eu);
    });
}

#[test]
fn a_destination_that_refuses_one_branch_gets_the_others() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    eu.hook(
        "hooks/pre-receive",
        "#!/bin/sh\nif grep -q environments/prod; then echo 'prod is protected'; exit 1; fi\n",
    );
    let clone = committed(&server, &[to("web", "dev", "eu"), to("web", "prod", "eu")]);
    let said = told(&clone.push().success());
    assert!(said.contains("pushed to `eu`: environments/dev"), "{said}");
    assert!(said.contains("(https://git.example.com/eu.git): environments/prod:"), "{said}");
    assert!(said.contains("prod is protected") && said.contains("pre-receive hook declined"), "{said}");
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 1);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert_eq!(status.matches("refused: ").count(), 1, "{status}");
    fs::remove_file(eu.path.join("hooks/pre-receive")).expect("there");
    server.hydrate(&["catch-up"]).success();
    assert_eq!(tip(&eu, "environments/prod"), out(&server, "eu", "environments/prod"));
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 2);
}

#[test]
fn notes_that_are_none_keep_no_branch_from_a_destination() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    let notes = eu.git(&["rev-parse", NOTES]);
    fs::write(eu.path.join("text"), "text").expect("written");
    let blob = eu.git(&["hash-object", "-w", "text"]);
    let in_the_way = format!("{NOTES}/x");
    for (number, (gone, name)) in [("", NOTES), (NOTES, in_the_way.as_str())].into_iter().enumerate() {
        if !gone.is_empty() {
            eu.git(&["update-ref", "-d", gone]);
        }
        eu.git(&["update-ref", name, &blob]);
        clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", &format!("v{number}")))]);
        let said = told(&clone.push().success());
        assert!(said.contains("pushed to `eu`: environments/dev"), "{name}: {said}");
        assert!(said.contains("warning: not pushed to `eu`") && said.contains(NOTES), "{name}: {said}");
        assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"), "{name}");
        server.hydrate(&["status"]).exits(1);
    }
    eu.git(&["update-ref", "-d", &in_the_way]);
    eu.git(&["update-ref", NOTES, &notes]);
    server.hydrate(&["catch-up"]).success();
    let tip = tip(&eu, "environments/dev");
    eu.git(&["notes", "--ref=hydrator.metadata", "show", &tip]);
    server.hydrate(&["status"]).success();
}

#[test]
fn the_admins_command_gets_what_became_of_destinations() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    server.git(&["config", "hydrate.notify", "cat >>notices"]);
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    fs::rename(&eu.path, eu.path.with_extension("away")).expect("moved");
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    server.hydrate(&["catch-up"]).exits(1);
    let notices = server.file("notices").expect("there");
    let notices: Vec<serde_json::Value> =
        notices.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(notices[0]["destinations"][0]["delivered"], serde_json::json!(["environments/dev"]));
    for notice in &notices[1..] {
        assert_eq!(notice["destinations"][0]["undelivered"][0]["why"], "away", "{notice}");
    }
    assert_eq!(notices.len(), 3);
}

#[test]
fn branches_that_are_refused_do_not_take_the_time_of_others() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    // Together they are refused at once; a branch of `dev` alone takes all the time there is.
    eu.hook(
        "hooks/pre-receive",
        "#!/bin/sh\nrefs=$(cat)\ncase $refs in *dev*) ;; *) exit 0 ;; esac\n\
         [ \"$(echo \"$refs\" | wc -l)\" != 1 ] || exec tail -f /dev/null\nexit 1\n",
    );
    server.git(&["config", "hydrate.deliverTimeLimit", "2"]);
    let names = ["dev0", "dev1", "prod"];
    let mut files: Vec<(String, String)> = names.iter().map(|env| to("web", env, "eu")).collect();
    files.extend(names.iter().map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", env))));
    let clone = committed(&server, &files);
    clone.push().success();
    // Three turns; more where this machine is too slow for one.
    let is_there =
        || eu.run("git", &["rev-parse", "--verify", "--quiet", "refs/heads/environments/prod"]).code == Some(0);
    for _ in 0..30 {
        if is_there() {
            break;
        }
        server.hydrate(&["catch-up"]).exits(1);
    }
    assert_eq!(tip(&eu, "environments/prod"), out(&server, "eu", "environments/prod"));

    // From then on those that are refused are apart from the others.
    server.git(&["config", "hydrate.deliverTimeLimit", "60"]);
    eu.hook(
        "hooks/pre-receive",
        "#!/bin/sh\nrefs=$(cat)\necho \"$refs\n\" >>asked-now\ncase $refs in *dev*) exit 1 ;; esac\n",
    );
    for number in ["one", "two"] {
        drop(fs::remove_file(eu.path.join("asked-now")));
        let edits: Vec<(String, String)> =
            names.iter().map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", number))).collect();
        let edits: Vec<(&str, &str)> = edits.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit(number, &edits);
        clone.push().success();
        // It hung, so that the push did not ask it.
        server.hydrate(&["catch-up"]).exits(1);
        let asked = eu.file("asked-now").expect("asked");
        let first = asked.split("\n\n").next().expect("a first push");
        assert!(first.contains("environments/prod") && !first.contains("dev"), "{asked}");
        assert_eq!(tip(&eu, "environments/prod"), out(&server, "eu", "environments/prod"));
    }
}

#[test]
fn a_tag_with_the_full_name_of_a_branch_there_stops_no_branch() {
    both(|server| {
        let eu = destination(server, "eu");
        let clone = committed(server, &[to("web", "dev", "eu"), to("api", "prod", "eu")]);
        let tags = ["refs/tags/refs/heads/environments/dev", "refs/tags/refs/notes/hydrator.metadata"];
        let tree = eu.git(&["hash-object", "-t", "tree", "-w", "--stdin"]);
        let commit = eu.git(&["commit-tree", "-m", "theirs", &tree]);
        for tag in tags {
            eu.git(&["update-ref", tag, &commit]);
        }
        for value in ["dev", "changed"] {
            clone.commit(value, &[("apps/web/dev/config.yaml", &config_map("web", value))]);
            let said = told(&clone.push().success());
            assert!(!said.contains("not pushed"), "{said}");
            for branch in ["environments/dev", "environments/prod"] {
                assert_eq!(
                    eu.git(&["rev-parse", &format!("refs/heads/{branch}")]),
                    out(server, "eu", branch),
                    "{said}"
                );
            }
            for tag in tags {
                assert_eq!(eu.git(&["rev-parse", tag]), commit);
            }
        }
        let said = server.hydrate(&["doctor"]).stdout;
        let remedy = format!("git push https://git.example.com/eu.git --delete {} {}", tags[0], tags[1]);
        assert!(said.contains("which git takes for `refs/heads/environments/dev`") && said.contains(&remedy), "{said}");
        assert!(said.contains("can be read and pushed to"), "{said}");
    });
}

#[test]
fn a_branch_there_beside_which_git_cannot_make_another_is_named_and_holds_back_no_other() {
    for (there, deletion) in
        [("environments", "refs/heads/environments"), ("environments/dev/old", "refs/heads/environments/dev/old")]
    {
        let lab = Lab::new();
        let server = lab.server();
        let eu = destination(&server, "eu");
        let tree = eu.git(&["hash-object", "-t", "tree", "-w", "--stdin"]);
        let commit = eu.git(&["commit-tree", "-m", "theirs", &tree]);
        eu.git(&["update-ref", &format!("refs/heads/{there}"), &commit]);
        let (file, text) = to("api", "prod", "eu");
        let other = (file, text.replace("environments/prod", "production"));
        let clone = committed(&server, &[to("web", "dev", "eu"), other]);
        let said = told(&clone.push().success());
        let named = format!("it has `{deletion}`, beside which git cannot make `refs/heads/environments/dev`");
        assert!(said.contains("not pushed to `eu`") && said.contains(&named), "{said}");
        assert!(said.contains(&format!("--delete {deletion}")), "{said}");
        assert_eq!(tip(&eu, "production"), out(&server, "eu", "production"), "{said}");
        eu.git(&["update-ref", "-d", deletion]);
        server.hydrate(&["catch-up"]).success();
        assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    }
}
