//! Repositories that git should not fetch, or not to their end.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use super::{BASE, kustomized, upstream, vendor};
use crate::servers::{Liar, git_server, git_server_with, respond};
use crate::support::{Lab, Repo};

const ADVERTISED: &str = "Content-Type: application/x-git-upload-pack-advertisement\r\n";

/// Tags a commit of a tree whose entries no tool of git would write, and of what is below it.
fn tag_tree(repository: &Repo, name: &str, entries: &[(&str, &str, &str)]) {
    let mut tree = Vec::new();
    for (mode, name, id) in entries {
        tree.extend(format!("{mode} {name}\0").into_bytes());
        tree.extend(raw(id));
    }
    let tree = written(repository, "tree", &tree);
    let base = written(repository, "tree", &[&b"40000 base\0"[..], &raw(&tree)].concat());
    let commit = repository.git(&["commit-tree", "-m", "Made", &base]);
    repository.git(&["tag", name, &commit]);
}

fn raw(id: &str) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(id.as_bytes()).expect("an id")
}

fn written(repository: &Repo, kind: &str, content: &[u8]) -> String {
    let mut command = repository.command("git");
    command.args(["hash-object", "-w", "--literally", "--stdin", "-t", kind]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git");
    child.stdin.take().expect("piped").write_all(content).expect("read");
    String::from_utf8(child.wait_with_output().expect("ends").stdout).expect("UTF-8").trim().to_owned()
}

/// Trees of a hundred entries each, one in the other: ten to the power of eight files in a few kilobytes.
fn tag_bomb(repository: &Repo, name: &str, blob: &str) {
    let mut below = blob.to_owned();
    for depth in 0..4 {
        let (mode, id) = (if depth == 0 { "100644" } else { "40000" }, raw(&below));
        let entries = (0..100).map(|number| [format!("{mode} file-{number:02}\0").as_bytes(), &id].concat());
        below = written(repository, "tree", &entries.collect::<Vec<_>>().concat());
    }
    tag_tree(repository, name, &[("40000", "below", &below)]);
}

/// What git would take for an option, what leads elsewhere, and what would be no file of ours.
#[test]
fn hostile_repositories_get_nothing_in() {
    let lab = Lab::new();
    let clone = upstream(&lab, BASE);
    std::os::unix::fs::symlink("/etc/passwd", clone.path.join("base/link.yaml")).expect("made");
    clone.commit("Link", &[]);
    clone.git(&["tag", "linked"]);
    clone.git(&["push", "-q", "origin", "linked"]);
    let bare = Repo::at(&lab, "git/upstream.git");
    let blob = bare.git(&["rev-parse", "v1:base/map.yaml"]);
    let commit = bare.git(&["rev-parse", "v1"]);
    tag_tree(&bare, "submodule", &[("160000", "sub", &commit)]);
    tag_tree(&bare, "backslash", &[("100644", "a\\b.yaml", &blob)]);
    tag_tree(&bare, "dot-git", &[("100644", ".git", &blob)]);
    tag_tree(&bare, "leads-out", &[("100644", "..", &blob)]);
    tag_tree(&bare, "twice", &[("100644", "a", &blob), ("100644", "a", &blob)]);
    tag_bomb(&bare, "bomb", &blob);
    let git = git_server(&lab.path("git"));
    let liar = Liar::start(|request, stream| match request.path.split('/').nth(1).unwrap_or_default() {
        "elsewhere" if request.path.contains("/info/refs") => {
            respond(stream, "302 Found", "Location: http://169.254.169.254/latest\r\n", b"");
        }
        // Until the client gives up.
        "slow" if request.path.contains("/info/refs") => drop(stream.read(&mut [0])),
        "lies" if request.path.contains("/info/refs") => {
            respond(stream, "200 OK", ADVERTISED, b"001e# service=git-upload-pack\n0000ffff");
        }
        // Refs without an end.
        "refs" if request.path.contains("/info/refs") => {
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{ADVERTISED}\r\n001e# service=git-upload-pack\n0000");
            let mut alive = stream.write_all(head.as_bytes()).is_ok();
            let lines = format!("0041{} refs/heads/aaaa\n", "1".repeat(40)).repeat(10_000);
            while alive {
                alive = stream.write_all(lines.as_bytes()).is_ok();
            }
        }
        _ => respond(stream, "404 Not Found", "", b""),
    });
    let dry = kustomized(&lab, "resources: []\n");
    let own = |reference: &str| format!("{}/upstream.git//base?ref={reference}", git.url());
    let lie = |name: &str| format!("{}/{name}/upstream.git//base?ref=v1", liar.url());
    let rows = [
        (own("--upload-pack=x"), "is not a valid name of a branch, tag or commit"),
        (own("a..b"), "is not a valid name of a branch, tag or commit"),
        (own("none"), "couldn't find remote ref none"),
        (own("v1").replace("//base", "//none"), "there is no directory `none` at v1"),
        (own("linked"), "symbolic link `base/link.yaml` is not allowed"),
        (own("submodule"), "submodule `base/sub` is not allowed"),
        (own("backslash"), "the name `base/a\\b.yaml` is refused"),
        (own("dot-git"), "hasDotgit"),
        (own("leads-out"), "hasDotdot"),
        (own("twice"), "duplicateEntries"),
        (own("bomb"), "`base` has more than 20000 files"),
        (own("v1").replace("upstream", "none"), "not found"),
        (
            "git@127.0.0.1:org/repo.git//base?ref=v1".to_owned(),
            "to allow it: git hydrate vendor --allow ssh://127.0.0.1",
        ),
        (
            "ssh://127.0.0.1/org/repo.git//base?ref=v1".to_owned(),
            "to allow it: git hydrate vendor --allow ssh://127.0.0.1",
        ),
        ("ssh://-oProxyCommand=x/org/repo.git//base?ref=v1".to_owned(), "has no valid host"),
        ("git@-oProxyCommand=x:org/repo.git//base?ref=v1".to_owned(), "has no valid host"),
        ("https://localhost/org/repo.git//base?ref=v1".to_owned(), "localhost has the loopback address"),
        ("https://2852039166/org/repo.git//base?ref=v1".to_owned(), "has the link-local address 169.254.169.254"),
        ("https://[::ffff:10.0.0.1]/org/repo.git//base?ref=v1".to_owned(), "has the private address"),
        (lie("elsewhere"), "302"),
        (lie("slow"), "timed out"),
        (lie("lies"), "upstream.git"),
        (lie("refs"), "over limit"),
        ("file:///etc//base?ref=v1".to_owned(), "is not an `https://` URL"),
        ("https://user:word@127.0.0.1/org/repo.git//base?ref=v1".to_owned(), "contains a user name or password"),
    ];
    for (base, expected) in rows {
        dry.commit("Try", &[("web/kustomization.yaml", &format!("resources: ['{base}']\n"))]);
        let answer = vendor(&dry, &["--timeout", if base.contains("/slow/") { "2" } else { "60" }]).exits(2);
        assert!(answer.stderr.contains(expected), "{base}: {}", answer.stderr);
        assert_eq!(dry.git(&["status", "--short"]), "", "{base}");
    }
    dry.commit("Try", &[("web/kustomization.yaml", &format!("resources: ['{}']\n", own("v1")))]);
    let answer = dry.hydrate(&["vendor"]).exits(2);
    assert!(answer.stderr.contains("is not fetched without TLS"), "{}", answer.stderr);
    // No scheme of git's own: Kustomize takes it for a directory, and so does the scan.
    let line = "resources: ['ext::sh -c touch% pwned']\n";
    dry.commit("Try", &[("web/kustomization.yaml", line)]);
    assert_eq!(vendor(&dry, &[]).success().stdout, "nothing is needed from elsewhere\n");
    dry.hydrate(&["check"]).exits(1);
    assert!(!dry.path.join("pwned").exists() && !dry.path.join("web/pwned").exists());
}

/// A server whose pack has no end: it is cut off at the size that one repository may have.
#[test]
fn an_endless_pack_ends_at_its_limit() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    // The head of a pack of more objects than ever come, then one blob of a megabyte after the other.
    let blob = vec![b'#'; 1 << 20];
    let mut pack = flate2::write::ZlibEncoder::new(vec![0xb0, 0x80, 0x80, 0x04], flate2::Compression::none());
    pack.write_all(&blob).expect("memory");
    std::fs::write(lab.path("object"), pack.finish().expect("memory")).expect("written");
    let script = format!(
        "#!/bin/sh\ncat >/dev/null\nprintf 'PACK\\000\\000\\000\\002\\000\\001\\377\\377'\nwhile cat {}; do :; done\n",
        lab.path("object").display()
    );
    lab.program("endless", &script);
    let program = lab.path("bin/endless").display().to_string();
    let git = git_server_with(&lab.path("git"), &[("uploadpack.packObjectsHook", &program)]);
    let line = format!("resources: ['{}/upstream.git//base?ref=v1']\n", git.url());
    let dry = kustomized(&lab, &line);
    let answer = vendor(&dry, &["--timeout", "300"]).exits(2);
    assert!(answer.stderr.contains("the server sent more than 536870912 bytes"), "{}", answer.stderr);
    assert_eq!(dry.git(&["status", "--short"]), "");
    // As slowly as it likes: the time limit holds too.
    let answer = vendor(&dry, &["--timeout", "1"]).exits(2);
    let expected = ["timed out", "the server sent more than"];
    assert!(expected.iter().any(|expected| answer.stderr.contains(expected)), "{}", answer.stderr);
}

/// A server may name bundles and packs of any other address, which git then fetches before anybody looks at it.
#[test]
fn bundles_and_packs_that_a_server_names_elsewhere_are_not_fetched() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = asked.clone();
    let elsewhere = Liar::start(move |request, stream| {
        notes.lock().expect("one at a time").push(request.path.clone());
        respond(stream, "404 Not Found", "", b"");
    });
    let bare = Repo::at(&lab, "git/upstream.git");
    let blob = bare.git(&["rev-parse", "v1:base/map.yaml"]);
    let (bundle, pack) = (format!("{}/one.bundle", elsewhere.url()), format!("{}/one.pack", elsewhere.url()));
    let pack = format!("{blob} {} {pack}", "1".repeat(40));
    let advertised = [
        ("uploadpack.advertiseBundleURIs", "true"),
        ("bundle.version", "1"),
        ("bundle.mode", "all"),
        ("bundle.one.uri", &bundle),
        ("uploadpack.allowSidebandAll", "true"),
        ("uploadpack.blobPackfileUri", &pack),
    ];
    let git = git_server_with(&lab.path("git"), &advertised);
    let url = format!("{}/upstream.git", git.url());
    let dry = kustomized(&lab, &format!("resources: ['{url}//base?ref=v1']\n"));
    let heard = || std::mem::take(&mut *asked.lock().expect("one at a time"));
    // What git does that nobody told otherwise.
    let clone = lab.path("clone").display().to_string();
    dry.run("git", &["-c", "transfer.bundleURI=true", "clone", "-q", &url, &clone]);
    match heard()[..] {
        [] => eprintln!("skipped: this git does not know bundles that a server names"),
        ref asked => assert_eq!(asked, ["/one.bundle"]),
    }
    dry.run("git", &["-c", "fetch.uriProtocols=http", "fetch", "-q", &url, "v1"]);
    assert_eq!(heard(), ["/one.pack"]);
    // The user's own git may be told to: ours is not.
    dry.git(&["config", "--global", "transfer.bundleURI", "true"]);
    dry.git(&["config", "--global", "fetch.bundleURI", &bundle]);
    dry.git(&["config", "--global", "fetch.uriProtocols", "http,https"]);
    vendor(&dry, &[]).success();
    assert!(dry.file(super::LOCK).expect("there").contains("kind = \"git\""));
    assert_eq!(heard(), Vec::<String>::new());
}
