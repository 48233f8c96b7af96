use super::*;

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("plain")
}

fn files() -> MemoryFiles {
    MemoryFiles::new()
        .file("apps/web/values.yaml", "a: 1\n")
        .file("shared/base.yaml", "base")
        .link("apps/web/base.yaml", "../../shared/base.yaml")
        .link("apps/shared", "../shared")
        .link("apps/out", "../../etc/passwd")
        .link("apps/abs", "/etc/passwd")
        .link("apps/loop", "loop")
        .link("apps/nowhere", "not-there")
        .file("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
}

#[test]
fn reads_follow_links_inside_the_tree() {
    let files = files();
    let view = View::new(&files);
    for name in ["shared/base.yaml", "apps/web/base.yaml", "apps/shared/base.yaml"] {
        assert_eq!(&*view.read(&path(name)).expect(name).data, b"base", "{name}");
    }
    assert_eq!(view.real_path(&path("apps/shared/base.yaml")), Ok(path("shared/base.yaml")));
}

#[test]
fn what_cannot_be_read_says_why() {
    let files = files();
    let view = View::with_limit(&files, 100);
    let rows = [
        ("nothing", "nothing: no such file or directory"),
        ("apps", "apps: is a directory"),
        ("apps/web/values.yaml/x", "apps/web/values.yaml/x: not a directory"),
        ("apps/out", "apps/out: the symbolic link to `../../etc/passwd` leads out of the repository"),
        ("apps/abs", "apps/abs: the symbolic link to `/etc/passwd` leads out of the repository"),
        ("apps/loop", "apps/loop: too many levels of symbolic links"),
        ("apps/nowhere", "apps/nowhere: the symbolic link to `not-there` leads nowhere: there is no `apps/not-there`"),
        ("apps/shared/none", "apps/shared/none: no such file or directory"),
        ("big.bin", "big.bin: is a Git LFS pointer, whose content is not in this repository"),
    ];
    for (name, expected) in rows {
        assert_eq!(view.read(&path(name)).expect_err(name).to_string(), expected);
    }
    let view = View::with_limit(&files, 3);
    let error = view.read(&path("shared/base.yaml")).expect_err("above the limit");
    assert_eq!(error.to_string(), "shared/base.yaml: 4 bytes, more than the limit of 3 for one file");
}

#[test]
fn reads_are_confirmed_by_trees_that_agree_on_them() {
    let before = files();
    let view = View::new(&before);
    view.read(&path("apps/web/base.yaml")).expect("is there");
    view.kind(&path("apps/none")).expect("readable");
    view.list(&path("apps/web")).expect("is there");
    view.kind(&path("shared/base.yaml/below")).expect("readable");
    view.read(&path("apps")).expect_err("a directory");
    let reads = view.reads();
    assert!(reads.contains_key(&(path("shared/base.yaml"), 1)), "that it is no directory was read");
    assert!(reads.contains_key(&(path("apps"), 1)), "that it is no file was read");
    let rows: [(&str, MemoryFiles, bool); 7] = [
        ("nothing changed", files(), true),
        ("something else changed", files().file("big.bin", "small"), true),
        ("a file that was listed, not read", files().file("apps/web/values.yaml", "a: 2\n"), true),
        ("a file that was read", files().file("shared/base.yaml", "new"), false),
        ("a new name in the listing", files().file("apps/web/more.yaml", ""), false),
        ("a file with the target of the link", files().file("apps/web/base.yaml", "../../shared/base.yaml"), false),
        ("what was absent is there", files().file("apps/none", ""), false),
    ];
    for (name, after, expected) in rows {
        assert_eq!(View::new(&after).confirms(&reads), Ok(expected), "{name}");
    }
}

#[test]
fn every_read_is_noted() {
    let files = files();
    let view = View::new(&files);
    view.read(&path("apps/web/base.yaml")).expect("is there");
    view.kind(&path("apps/none")).expect("readable");
    view.list(&path("apps/web")).expect("is there");
    let reads = view.reads();
    let seen: Vec<_> = reads.iter().map(|((path, _), seen)| (path.as_str(), *seen)).collect();
    assert!(matches!(
        seen[..],
        [
            ("apps/none", Seen::Absent),
            ("apps/web", Seen::Listed(_)),
            ("apps/web/base.yaml", Seen::Link(_)),
            ("shared/base.yaml", Seen::Content(_)),
        ]
    ));
}

#[test]
fn a_listing_of_directories_leaves_files_out() {
    let before = files();
    let view = View::new(&before);
    let names: Vec<String> =
        view.directories(&path("apps")).expect("is there").iter().map(|entry| entry.name.clone()).collect();
    assert_eq!(names, ["web"]);
    let reads = view.reads();
    let rows = [
        ("a new file", files().file("apps/README.md", ""), true),
        ("a file below", files().file("apps/web/more.yaml", ""), true),
        ("a new directory", files().file("apps/api/a.yaml", ""), false),
        ("no directory", MemoryFiles::new().file("apps/a.yaml", ""), false),
    ];
    for (name, after, expected) in rows {
        assert_eq!(View::new(&after).confirms(&reads), Ok(expected), "{name}");
    }
}
