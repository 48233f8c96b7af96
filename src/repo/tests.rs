//! What we write is judged by git itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

struct Bare {
    dir: tempfile::TempDir,
}

impl Bare {
    fn new(args: &[&str]) -> Self {
        let bare = Self { dir: tempfile::tempdir().expect("a directory") };
        bare.git(&[&["init", "-q", "--bare", "-b", "main"], args, &["."]].concat());
        bare
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", self.path());
        let output = command.output().expect("git runs");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_owned()
    }

    fn open(&self) -> Repository {
        Repository::open(self.path(), Location::Hook).expect("opens")
    }
}

fn somebody(seconds: i64) -> Signature {
    Signature { name: "Some Body".into(), email: "some@example.com".into(), seconds, offset: -(3 * 3600 + 1800) }
}

fn put(buffer: &ObjectBuffer<'_>, files: &[(&str, &str)]) -> BTreeMap<String, TreeEdit> {
    let blob = |text: &str| buffer.write_blob(text.as_bytes()).expect("hashes");
    files.iter().map(|(path, text)| ((*path).to_owned(), TreeEdit::Put(Mode::File, blob(text)))).collect()
}

fn commit_files(buffer: &ObjectBuffer<'_>, parents: Vec<ObjectId>, files: &[(&str, &str)]) -> ObjectId {
    let base = parents.first().map_or(buffer.empty_tree_id(), |parent| buffer.commit(*parent).expect("is there").tree);
    let tree = buffer.edit_tree(base, &put(buffer, files)).expect("edits");
    let commit =
        NewCommit { tree, parents, author: somebody(0), committer: somebody(60), message: "a commit\n".into() };
    buffer.write_commit(&commit).expect("hashes")
}

fn create(name: &str, new: ObjectId) -> RefEdit {
    RefEdit { name: name.to_owned(), new: Some(new), expected: Expected::Absent }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn what_we_write_is_what_git_reads() {
    for (args, files) in [
        (&["--object-format=sha1"][..], 3),
        (&["--object-format=sha256"], 3),
        (&["--object-format=sha1"], 300),
        (&["--object-format=sha256"], 300),
        (&["--ref-format=reftable"], 3),
    ] {
        let bare = Bare::new(args);
        let repository = bare.open();
        let buffer = ObjectBuffer::new(&repository);
        let names: Vec<String> = (0..files).map(|n| format!("dir{}/file{n}", n % 7)).collect();
        let content: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
        let first = commit_files(&buffer, vec![], &content);
        let second = commit_files(&buffer, vec![first], &[("dir0/more", "more"), ("zzz", "\u{e9}")]);
        assert!(!repository.has(first), "nothing is written before the flush");
        let kept = buffer.flush().expect("writes");
        update_refs(&repository, &[create("refs/heads/main", second)], "test").expect("moves");
        let packs = || files_below(&bare.path().join("objects/pack")).len();
        assert_eq!(packs(), 3, "a pack, its index and what keeps them: {args:?} {files}");
        drop(kept);
        assert_eq!(bare.git(&["fsck", "--strict", "--full"]), "", "{args:?} {files}");
        assert_eq!(bare.git(&["log", "--format=%H %an %ae %cd", "--date=raw", "main"]).lines().count(), 2);
        assert_eq!(
            bare.git(&["log", "-1", "--format=%H %an %cd", "--date=raw", "main"]),
            format!("{second} Some Body 60 -0330")
        );
        assert_eq!(bare.git(&["ls-tree", "-r", "--name-only", "main"]).lines().count(), files + 2);
        assert_eq!(packs(), 2, "{args:?} {files}");
        let refs = bare.open().refs().expect("reads");
        assert_eq!((refs.branch("main"), refs.head_branch()), (Some(second), Some("main")));
    }
}

#[test]
fn blobs_stay_in_memory_where_nothing_can_be_written() {
    let bare = Bare::new(&[]);
    let repository = bare.open();
    let buffer = ObjectBuffer::new(&repository);
    let (objects, away) = (bare.path().join("objects"), bare.path().join("away"));
    std::fs::rename(&objects, &away).expect("moves");
    let contents: Vec<Vec<u8>> = (0..50_u8).map(|n| vec![n; 5_000]).collect();
    let ids: Vec<ObjectId> = contents.iter().map(|content| buffer.write_blob(content).expect("is kept")).collect();
    std::fs::rename(&away, &objects).expect("moves");
    let kept = buffer.flush().expect("writes");
    for (id, content) in ids.iter().zip(&contents) {
        assert!(repository.blob(*id).expect("is there") == *content);
    }
    drop(kept);
}

#[test]
fn blobs_that_wait_on_disk_are_what_was_written() {
    let bare = Bare::new(&[]);
    let repository = bare.open();
    let buffer = ObjectBuffer::new(&repository);
    // What does not compress well, what does, and what is not kept: together more than stays in memory.
    let mut state = 1_u32;
    let mut noise = |len: usize| -> Vec<u8> {
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    };
    let mut ids = Vec::new();
    for number in 0..100_u32 {
        let content = [&number.to_be_bytes()[..], &noise(5 << 10), &vec![0; 5 << 10]].concat();
        let id = buffer.hold_blob(content.clone()).expect("holds");
        if number % 3 > 0 {
            buffer.keep_blob(id);
            ids.push((id, content));
        }
        let small = format!("{number}\n").into_bytes();
        ids.push((buffer.write_blob(&small).expect("writes"), small));
    }
    buffer.release();
    for (id, content) in &ids {
        assert!(
            buffer.blob(*id).expect("is there") == *content
                && buffer.size(*id).expect("is there") == content.len() as u64
        );
    }
    assert_eq!(files_below(&bare.path().join("objects")), [] as [PathBuf; 0], "no file has a name");
    let entry = |(n, (id, _)): (usize, &(ObjectId, Vec<u8>))| (format!("f{n}"), TreeEdit::Put(Mode::File, *id));
    let edits = ids.iter().enumerate().map(entry).collect();
    let tree = buffer.edit_tree(buffer.empty_tree_id(), &edits).expect("edits");
    let (author, committer) = (somebody(0), somebody(60));
    let commit = NewCommit { tree, parents: Vec::new(), author, committer, message: "many\n".into() };
    let commit = buffer.write_commit(&commit).expect("hashes");
    let kept = buffer.flush().expect("writes");
    update_refs(&repository, &[create("refs/heads/main", commit)], "test").expect("moves");
    drop(kept);
    assert_eq!(bare.git(&["fsck", "--strict", "--full"]), "");
    let count = ids.len() + 2;
    assert!(bare.git(&["count-objects", "-v"]).contains(&format!("in-pack: {count}\n")));
}

#[test]
fn blobs_that_together_add_too_much_are_not_held_and_those_that_are_there_add_nothing() {
    let bare = Bare::new(&[]);
    std::fs::write(bare.path().join("there"), vec![b'a'; 9_000]).expect("writes");
    bare.git(&["hash-object", "-w", "there"]);
    let repository = bare.open();
    let buffer = ObjectBuffer::new(&repository);
    let holds = |byte: u8, len: usize, limit: u64| {
        buffer.hold_blob_within(vec![byte; len], limit).expect("is weighed").is_some()
    };
    assert!(holds(b'a', 9_000, 1), "the repository has it");
    assert!(holds(b'b', 6_000, 10_000) && holds(b'b', 6_000, 10_000), "the second one is the first");
    assert!(holds(b'c', 6_000, 10_000), "compressed, the first one leaves room");
    assert!(!holds(b'd', 12_000, 10_000), "too much alone");
    assert!(holds(b'e', 1_000, 10_000), "a small one still fits");
    assert!(holds(b'd', 12_000, 0), "no limit");
    // What hardly compresses.
    let noise = |mut state: u32| {
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(9_000).collect::<Vec<u8>>()
    };
    let fits = |seed: u32| buffer.hold_blob_within(noise(seed), 10_000).expect("is weighed").is_some();
    assert!(fits(1) && !fits(2), "no room for both");
    buffer.grow_anew();
    assert!(fits(2), "all of the room again");
}

#[test]
fn files_have_the_modes_that_git_gives_them() {
    use std::os::unix::fs::PermissionsExt;
    for shared in ["umask", "group", "all", "0640"] {
        let mode = |path: &Path| std::fs::metadata(path).expect("is there").permissions().mode() & 0o7777;
        let (ours, theirs) = (Bare::new(&["--shared", "-q"]), Bare::new(&["--shared", "-q"]));
        for bare in [&ours, &theirs] {
            bare.git(&["config", "core.sharedRepository", shared]);
        }
        let repository = ours.open();
        let buffer = ObjectBuffer::new(&repository);
        let id = buffer.write_blob(b"same").expect("hashes");
        let kept = buffer.flush().expect("writes");
        std::fs::write(theirs.path().join("same"), "same").expect("writes");
        assert_eq!(theirs.git(&["hash-object", "-w", "same"]), id.to_string());
        let name = id.to_string();
        let (dir, file) = name.split_at(2);
        let loose = |bare: &Bare| {
            let dir = bare.path().join("objects").join(dir);
            (mode(&dir), mode(&dir.join(file)))
        };
        let loose_theirs = loose(&theirs);
        theirs.git(&["update-ref", "refs/tags/same", &id.to_string()]);
        theirs.git(&["repack", "-adq"]);
        let modes = |bare: &Bare, extension: &str| -> Vec<u32> {
            let files = files_below(&bare.path().join("objects/pack"));
            files
                .iter()
                .filter(|file| file.extension().is_some_and(|it| it == extension))
                .map(|file| mode(file))
                .collect()
        };
        for extension in ["pack", "idx"] {
            assert_eq!(modes(&ours, extension), modes(&theirs, extension), "{shared} {extension}");
        }
        assert_eq!(mode(&ours.path().join("objects/pack")), mode(&theirs.path().join("objects/pack")), "{shared}");
        drop(kept);
        buffer.write_blob(b"same").expect("hashes");
        buffer.flush_loose().expect("writes");
        assert_eq!(loose(&ours), loose_theirs, "{shared}");
    }
}

#[test]
fn refs_move_together_or_not_at_all() {
    let bare = Bare::new(&[]);
    let repository = bare.open();
    let buffer = ObjectBuffer::new(&repository);
    let a = commit_files(&buffer, vec![], &[("a", "a")]);
    let b = commit_files(&buffer, vec![a], &[("b", "b")]);
    buffer.flush().expect("writes");
    update_refs(&repository, &[create("refs/heads/x", a), create("refs/notes/n", a)], "test").expect("moves");
    let edits = [
        RefEdit { name: "refs/heads/x".into(), new: Some(b), expected: Expected::Is(a) },
        RefEdit { name: "refs/notes/n".into(), new: Some(b), expected: Expected::Is(b) },
    ];
    let error = update_refs(&repository, &edits, "test").expect_err("the second ref is elsewhere");
    assert!(matches!(error, TransactionError::Raced(_)), "{error:?}");
    let error = update_refs(&repository, &[create("refs/heads/x", b)], "test").expect_err("is there already");
    assert!(matches!(error, TransactionError::Raced(_)), "{error:?}");
    let error = update_refs(&repository, &[create("refs/heads/x/y", b)], "test").expect_err("x is in the way");
    assert!(matches!(error, TransactionError::Failed(_)), "{error:?}");
    assert_eq!(repository.refs().expect("reads").branch("x"), Some(a));
    let gone = RefEdit { name: "refs/heads/x".into(), new: None, expected: Expected::Is(a) };
    update_refs(&repository, &[gone], "test").expect("deletes");
    assert_eq!(repository.refs().expect("reads").branch("x"), None);
}

#[test]
fn notes_are_git_notes() {
    let bare = Bare::new(&[]);
    let repository = bare.open();
    let buffer = ObjectBuffer::new(&repository);
    let mut commits = Vec::new();
    for n in 0..300 {
        let parents = commits.last().copied().into_iter().collect();
        commits.push(commit_files(&buffer, parents, &[("n", &n.to_string())]));
    }
    let mut notes = Notes::open(None, &buffer).expect("opens");
    for commit in &commits {
        notes.set(*commit, format!("note {commit}\n").as_bytes(), &buffer).expect("sets");
    }
    let tree = notes.write(&buffer).expect("writes");
    let message = "notes\n".to_owned();
    let commit = NewCommit { tree, parents: vec![], author: somebody(0), committer: somebody(0), message };
    let note_commit = buffer.write_commit(&commit).expect("hashes");
    buffer.flush().expect("writes");
    let tip = commits[299];
    let edits = [create("refs/heads/main", tip), create("refs/notes/hydrator.metadata", note_commit)];
    update_refs(&repository, &edits, "test").expect("moves");
    assert_eq!(bare.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 300);
    for commit in [commits[0], commits[150], tip] {
        let shown = bare.git(&["notes", "--ref=hydrator.metadata", "show", &commit.to_string()]);
        assert_eq!(shown, format!("note {commit}"));
    }
    let mut notes = Notes::open(Some(tree), &buffer).expect("opens");
    assert_eq!(notes.get(tip, &buffer).expect("reads"), Some(format!("note {tip}\n").into_bytes()));
}

#[test]
fn edits_touch_only_their_directories() {
    let bare = Bare::new(&[]);
    let repository = bare.open();
    let buffer = ObjectBuffer::new(&repository);
    let first = commit_files(&buffer, vec![], &[("a/x", "1"), ("a/y", "2"), ("b/c/d", "3"), ("top", "4")]);
    let tree = buffer.commit(first).expect("is there").tree;
    let before = buffer.len();
    let edits = BTreeMap::from([("b/c/d".to_owned(), TreeEdit::Remove), ("a/none".to_owned(), TreeEdit::Remove)]);
    let edited = buffer.edit_tree(tree, &edits).expect("edits");
    assert_eq!(buffer.len(), before + 1, "only the root is new");
    let names: Vec<_> = buffer.tree(edited).expect("reads").into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, [b"a".to_vec(), b"top".to_vec()], "an empty directory vanishes");
    let changes = buffer.diff_trees(tree, edited).expect("reads");
    assert_eq!(changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["b/c/d"]);
    let all = edits_of(&["a/x", "a/y", "top"]);
    assert_eq!(buffer.edit_tree(edited, &all).expect("edits"), buffer.empty_tree_id());
}

fn edits_of(paths: &[&str]) -> BTreeMap<String, TreeEdit> {
    paths.iter().map(|path| ((*path).to_owned(), TreeEdit::Remove)).collect()
}

/// A hook may wait for its turn while many others write, and while git repacks what they wrote.
#[test]
fn what_others_write_meanwhile_is_found() {
    let bare = Bare::new(&[]);
    let writer = bare.open();
    let mut tips: Vec<ObjectId> = Vec::new();
    let mut write = |count: usize| {
        for _ in 0..count {
            let buffer = ObjectBuffer::new(&writer);
            let name = format!("f{}", tips.len());
            let tip = commit_files(&buffer, tips.last().copied().into_iter().collect(), &[(&name, &name)]);
            let kept = buffer.flush().expect("writes");
            let edit =
                RefEdit { name: "refs/heads/main".into(), new: Some(tip), expected: tips.last().copied().into() };
            update_refs(&writer, &[edit], "test").expect("moves");
            drop(kept);
            tips.push(tip);
        }
        tips.clone()
    };
    let first = write(3);
    let reader = bare.open();
    assert!(reader.has(first[0]) && !reader.has(reader.null_id()), "all packs are known");
    for (count, repack) in [(10, true), (200, false), (1, true)] {
        let tips = write(count);
        if repack {
            bare.git(&["repack", "-adq"]);
        }
        for tip in &tips {
            assert!(reader.has(*tip), "after {count} more");
            reader.tree(reader.commit(*tip).expect("is there").tree).expect("is there");
        }
    }
}

/// Those who can push can push `refs/replace/*`; grafts and variables are for those who have the machine.
#[test]
fn an_object_is_what_its_id_says_whatever_is_pushed_in_its_place() {
    for args in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]] {
        let bare = Bare::new(args);
        let buffer_of = bare.open();
        let buffer = ObjectBuffer::new(&buffer_of);
        let first = commit_files(&buffer, vec![], &[("a/file", "honest")]);
        let second = commit_files(&buffer, vec![first], &[("a/more", "honest")]);
        let other = commit_files(&buffer, vec![], &[("a/file", "forged")]);
        drop(buffer.flush().expect("writes"));
        bare.git(&["update-ref", "refs/heads/main", &second.to_string()]);
        bare.git(&["update-ref", "refs/heads/other", &other.to_string()]);
        bare.git(&["-c", "user.name=A", "-c", "user.email=a@x", "tag", "-m", "v1", "v1", "main"]);
        let tag = bare.git(&["rev-parse", "v1"]);
        let pairs = [("main", "other"), ("main:a", "other:a"), ("main:a/file", "other:a/file")];
        for [of, by] in pairs.map(|(of, by)| [of, by].map(|name| bare.git(&["rev-parse", name]))) {
            bare.git(&["update-ref", &format!("refs/replace/{of}"), &by]);
        }
        assert_eq!(bare.git(&["cat-file", "blob", "main:a/file"]), "forged", "so git has it");
        for repository in [bare.open(), Repository::open(bare.path(), Location::Discover).expect("opens")] {
            let buffer = ObjectBuffer::new(&repository);
            let read = buffer.commit(second).expect("is there");
            assert_eq!((read.parents.as_slice(), read.id), (&[first][..], second));
            let (_, file) = buffer.entry(read.tree, "a/file").expect("reads").expect("is there");
            assert_eq!(buffer.blob(file).expect("is there"), b"honest");
            assert_eq!(repository.size(file).expect("is there"), 6);
            let (_, dir) = repository.entry(read.tree, "a").expect("reads").expect("is there");
            assert_eq!(repository.tree(dir).expect("is there").len(), 2);
            assert!(repository.is_ancestor(first, second) && !repository.are_related(other, second));
            assert_eq!(repository.rev_parse(&format!("{second}~1")).expect("is there"), first);
            assert_eq!(repository.rev_parse(&tag).expect("is there"), second);
            assert_eq!(repository.first_parents(first, second, 9).expect("reads"), Some(vec![second]));
            // Trees that are edited are read in another way.
            let edits = BTreeMap::from([("a/more".to_owned(), TreeEdit::Remove)]);
            let edited = buffer.edit_tree(read.tree, &edits).expect("edits");
            assert_eq!(edited, buffer.commit(first).expect("is there").tree);
            let git = repository.git().output(&["cat-file", "blob", "main:a/file"]).expect("runs");
            assert_eq!(git, b"honest", "git that we start");
        }
        std::fs::create_dir_all(bare.path().join("info")).expect("made");
        std::fs::write(bare.path().join("info/grafts"), format!("{second}\n")).expect("written");
        assert_eq!(bare.open().commit(second).expect("is there").parents, [first]);
        assert!(bare.open().is_ancestor(first, second), "a graft cuts nothing off");
    }
}

#[test]
fn what_is_damaged_on_disk_is_no_tree_and_no_commit() {
    let bare = Bare::new(&[]);
    let writer = bare.open();
    let buffer = ObjectBuffer::new(&writer);
    let commits = ["honest", "forged"].map(|text| commit_files(&buffer, vec![], &[("a/file", text)]));
    buffer.flush_loose().expect("writes");
    let trees = commits.map(|id| writer.commit(id).expect("is there").tree);
    let path = |id: ObjectId| {
        let hex = id.to_string();
        bare.path().join("objects").join(&hex[..2]).join(&hex[2..])
    };
    for [honest, forged] in [commits, trees] {
        std::fs::remove_file(path(honest)).expect("removed");
        std::fs::copy(path(forged), path(honest)).expect("copied");
    }
    let repository = bare.open();
    let buffer = ObjectBuffer::new(&repository);
    let damaged = |kind: &str, id: ObjectId| format!("{kind} {id} is damaged on disk");
    let commit = repository.commit(commits[0]).expect_err("is another").chain();
    assert_eq!(commit, damaged("commit", commits[0]));
    assert_eq!(repository.peel_to_commit(commits[0]).expect_err("is another").chain(), commit);
    assert_eq!(repository.first_parent(commits[0]).expect_err("is another").chain(), commit);
    assert_eq!(repository.tree(trees[0]).expect_err("is another").chain(), damaged("tree", trees[0]));
    assert_eq!(buffer.tree(trees[0]).expect_err("is another").chain(), damaged("tree", trees[0]));
    assert_eq!(buffer.entry(trees[0], "a").expect_err("is another").chain(), damaged("tree", trees[0]));
}
