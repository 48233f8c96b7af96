//! Whatever bytes its files have, the cache gives what was written, or nothing.
//!
//! `MUTATIONS="SEED COUNT"`, or `tests/long/mutations SEED COUNT cache`, tries other bytes and more of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::codec::{CHECK_BYTES, Decoder, Encoder, check};
use super::*;
use crate::argo::{AppName, BranchName, Drawn, SeedIdentity};
use crate::manifest::Key;
use crate::repo::Shared;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Kind, Seen};

const NAME: &str = "main";

/// How many Applications the table has.
const RECORDS: u8 = 12;

/// How long the first bytes of both files are, which say what they are.
const MAGIC_BYTES: usize = 16;

/// splitmix64: the same numbers on each machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((number ^ (number >> 31)) % end.max(1) as u64) as usize
    }
}

/// The seed, and how many times to try.
fn given() -> (u64, u64) {
    let given = std::env::var("MUTATIONS").ok();
    let mut words = given.as_deref().unwrap_or("1 100").split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse().ok()).expect("SEED COUNT");
    (number(), number())
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("plain")
}

fn key(n: u8) -> Key {
    Key { group: String::new(), kind: "ConfigMap".to_owned(), namespace: "web".to_owned(), name: format!("config-{n}") }
}

fn branch() -> BranchName {
    BranchName::new("environments/prod").expect("plain")
}

fn record(n: u8, manifest: u8) -> Record {
    let dry_path = path(&format!("apps/{n}"));
    let read = |name: &str| path(&format!("apps/{n}/{name}"));
    Record {
        about: if n.is_multiple_of(3) { About::Made(format!("made {n}")) } else { About::Written },
        file: path(&format!("applications/{n}.yaml")),
        index: 0,
        namespace: (n.is_multiple_of(2)).then(|| AppName::new("argocd").expect("plain")),
        name: AppName::new(&format!("app-{n}")).expect("plain"),
        sync_path: path(&format!("out/{n}")),
        is_kept: n.is_multiple_of(7),
        fingerprint: ContentId::new(&[n; 32]),
        placement: ContentId::new(&[n; 32]),
        branch: branch(),
        cluster: (n.is_multiple_of(2)).then(|| "https://kubernetes.default.svc".to_owned()),
        reads: BTreeMap::from([
            ((read("a.yaml"), 2), Seen::Content(ContentId::new(&[n; 20]))),
            ((read("b.yaml"), 0), Seen::Absent),
            ((dry_path.clone(), 1), Seen::Present(Kind::Directory)),
            ((dry_path.clone(), 3), Seen::Listed(ContentId::new(&[n; 32]))),
        ]),
        dry_path,
        names_the_commit: n.is_multiple_of(5),
        manifest: ContentId::new(&[manifest; 20]),
        commands: vec![format!("kustomize build apps/{n}")],
        objects: vec![key(n), key(n + 100)],
        drawn: (n.is_multiple_of(6)).then(|| Drawn {
            identity: SeedIdentity::read("argocd/web/environments/dev").expect("an identity"),
            objects: vec![format!("Secret a/b-{n}")],
        }),
        failure: (n.is_multiple_of(4)).then(|| Failure {
            kind: FailureKind::Limit,
            diagnostics: vec![Diagnostic::error("too much").hint("less")],
            waits: Vec::new(),
        }),
    }
}

/// What a state says as a whole, with something of everything.
fn head() -> Head {
    let text = |text: &str| text.to_owned();
    Head {
        dry_commit: "1".repeat(40),
        context: text("context"),
        facts: text("facts"),
        branches: Some(vec![Branch {
            name: text("environments/prod"),
            sync: text("environments/prod"),
            tip: "2".repeat(40),
            applications: usize::from(RECORDS),
            repo_url: text("https://git.example.com/dry.git"),
            has_one_url: true,
            inputs: UsedInputs::new(),
            left: Some(Left {
                paths: vec![LeftPath {
                    path: RepoPath::new("web").expect("plain"),
                    dry_commit: Some("4".repeat(40)),
                    application: AppName::new("web").expect("a name"),
                    is_paused: true,
                    paused_at: Some(Span::at(RepoPath::new("web.yaml").expect("plain"), 4, 5)),
                    parent: Some(AppName::new("root").expect("a name")),
                    is_read: true,
                    cluster: Some(text("in-cluster")),
                    objects: vec![key(1)],
                }],
                mistakes: vec![Diagnostic::error("wrong")],
                renders: vec![vec![Diagnostic::error("does not render")]],
                basis: Basis::Nothing,
            }),
        }]),
        stuck: vec![Stuck {
            name: text("environments/dev"),
            sync: text("environments/dev"),
            tip: Some("3".repeat(40)),
            dry: None,
            applications: 1,
            mistakes: vec![Diagnostic::error("wrong")],
            limits: vec![Diagnostic::error("too much").hint("less")],
            of_commit: false,
            was_late: false,
            no_room: true,
            of_documents: true,
            basis: Basis::Objects,
            waits: Vec::new(),
            lacking: Some([path("new")].into()),
        }],
        frozen: vec![Frozen {
            name: text("environments/live"),
            sync: text("environments/live"),
            applications: 2,
            lacking: None,
            is_recorded: true,
        }],
        revisions: [text("main")].into(),
        destinations: [text("environments/prod")].into(),
        warnings: vec![Diagnostic::warning("odd").hint("even")],
        problems: vec![Diagnostic::error("wrong")],
        wrong_files: [RepoPath::new("apps/web.yaml").expect("plain")].into(),
        unanswered: [RepoPath::new("apps/set.yaml").expect("plain")].into(),
        unrecorded: [AppName::new("api").expect("a name")].into(),
        moved: [AppName::new("db").expect("a name")].into(),
        applications: usize::from(RECORDS),
        documents: usize::from(RECORDS) + 1,
        is_open: true,
        has_shared: true,
        used: Used { params: 1, bytes: 2, steps: 3 },
        inputs: None,
    }
}

/// Writes a table and an overlay with something of everything into a directory, and answers their paths.
fn written(dir: &Path) -> (PathBuf, PathBuf) {
    let cache = Cache::new(dir.to_owned(), Shared::Umask);
    let records = (0..RECORDS).map(|n| record(n, n).encode()).collect();
    cache.save_all(NAME, &head(), records, [&path("apps/1/patch.yaml")]).expect("writable");
    let mut state = cache.load(NAME).expect("whole");
    for n in [0, 3, RECORDS] {
        state.put(record(n, 0xff).encode()).expect("whole");
    }
    state.remove(&path("applications/5.yaml"), 0).expect("whole");
    state.add_patch(path("apps/2/patch.yaml"));
    cache.save(NAME, &state).expect("writable");
    let is_table = |path: &PathBuf| path.to_string_lossy().contains("table-");
    let mut files = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("readable").path());
    (dir.join(format!("state-{NAME}")), files.find(is_table).expect("a table"))
}

#[test]
fn what_is_too_large_to_be_kept_is_told_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let cache = Cache::new(dir.path().join("cache"), Shared::Umask);
    let mut large = record(1, 1).encode();
    large.bytes.resize(129 << 20, 0);
    assert!(!cache.save_all(NAME, &head(), vec![large], []).expect("writable"));
    assert!(cache.note_too_large(NAME, "main", true).expect("writable"), "the first time it is news");
    assert!(!cache.note_too_large(NAME, "main", true).expect("writable"));
    assert_eq!(cache.too_large(), ["main"]);
    assert!(cache.save_all(NAME, &head(), vec![record(1, 1).encode()], []).expect("writable"));
    assert!(!cache.note_too_large(NAME, "main", false).expect("writable"));
    assert_eq!(cache.too_large(), [""; 0]);
}

/// All that can be asked, each answer by itself.
fn answers(dir: &Path) -> Option<Vec<Result<String, Unusable>>> {
    let state = Cache::new(dir.to_owned(), Shared::Umask).load(NAME)?;
    let shown = |records: Result<Vec<Record>, Unusable>| records.map(|records| format!("{records:?}"));
    let mut answers = vec![Ok(format!("{:?}", state.head)), shown(state.records().collect())];
    for n in 0..=RECORDS {
        answers.push(shown(state.of_file(&path(&format!("applications/{n}.yaml")))));
        answers.push(shown(state.named(&AppName::new(&format!("app-{n}")).expect("plain"))));
        answers.push(shown(state.readers([&path(&format!("apps/{n}/a.yaml"))], [])));
        answers.push(shown(state.owners(&branch(), None, &[key(n)])));
        answers.push(state.is_patch(&path(&format!("apps/{n}/patch.yaml"))).map(|is_patch| is_patch.to_string()));
    }
    answers.push(state.flatten().map(|flat| format!("{flat:?}")));
    Some(answers)
}

/// Changes some bytes. Numbers that are far too large are among what comes in.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    const WORDS: &[&[u8]] = &[&[0], &[1], &[0xff], &[0x7f], &[0x80, 0x80, 0x80, 0x80, 0x10], &[0xff; 9], b"{", b"../"];
    const LARGE: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(24)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            3 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            4 => drop(bytes.splice(at..(at + 1).min(bytes.len()), LARGE.iter().copied())),
            _ => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
        }
    }
}

#[test]
fn mutated_files_tell_what_was_written_or_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let (overlay, table) = written(dir.path());
    let expected = answers(dir.path()).expect("whole");
    assert!(expected.iter().all(Result::is_ok), "{expected:?}");
    let (seed, count) = given();
    for file in [&overlay, &table] {
        let whole = fs::read(file).expect("readable");
        let mut used = 0;
        for number in 0..count {
            let mut bytes = whole.clone();
            mutate(&mut bytes, &mut Random(seed.wrapping_mul(1 << 32).wrapping_add(number)));
            fs::write(file, &bytes).expect("writable");
            let found = answers(dir.path()).unwrap_or_default();
            used += usize::from(!found.is_empty());
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.is_err() || found == expected, "seed {seed}, {number}: {found:?}, not {expected:?}");
            }
        }
        // What is changed in the middle of a table is found when it is needed.
        assert!(file == &overlay || used > 0, "no table can be opened");
        fs::write(file, &whole).expect("writable");
    }
}

/// Where the pieces of a table are that carry a check behind them, the tail aside.
fn pieces(table: &[u8]) -> Vec<std::ops::Range<usize>> {
    let number = |at: usize| u64::from_be_bytes(table[at..at + 8].try_into().expect("eight")) as usize;
    let tail = table.len() - 48 - CHECK_BYTES;
    let (records_end, directory) = (number(tail), number(tail + 8));
    let mut pieces = Vec::new();
    let mut at = MAGIC_BYTES;
    while at < records_end {
        let end = at + 8 + number(at);
        pieces.push(at + 8..end);
        at = end + CHECK_BYTES;
    }
    let starts: Vec<usize> = (directory..tail - CHECK_BYTES).step_by(8).map(number).collect();
    pieces.extend(starts.windows(2).map(|page| page[0]..page[1] - CHECK_BYTES));
    pieces.push(directory..tail - CHECK_BYTES);
    pieces
}

/// With a check that fits, what was written is anything: it must not do harm.
#[test]
fn mutated_pieces_with_their_checks_do_no_harm() {
    let dir = tempfile::tempdir().expect("a directory");
    let (overlay, table) = written(dir.path());
    let (seed, count) = given();
    let (whole, whole_table) = (fs::read(&overlay).expect("readable"), fs::read(&table).expect("readable"));
    let mut used = [0, 0];
    for number in 0..count {
        let mut random = Random(seed.wrapping_mul(1 << 32).wrapping_add(number));
        let mut bytes = whole[MAGIC_BYTES..whole.len() - CHECK_BYTES].to_vec();
        mutate(&mut bytes, &mut random);
        let mut bytes = [&whole[..MAGIC_BYTES], &bytes].concat();
        bytes.extend(check(&bytes));
        fs::write(&overlay, &bytes).expect("writable");
        used[0] += usize::from(answers(dir.path()).is_some());
        fs::write(&overlay, &whole).expect("writable");

        let pieces = pieces(&whole_table);
        let piece = pieces[random.below(pieces.len())].clone();
        let mut bytes = whole_table[piece.clone()].to_vec();
        mutate(&mut bytes, &mut random);
        bytes.resize(piece.len(), 0);
        bytes.extend(check(&bytes));
        let bytes = [&whole_table[..piece.start], &bytes, &whole_table[piece.end + CHECK_BYTES..]].concat();
        fs::write(&table, &bytes).expect("writable");
        used[1] += usize::from(answers(dir.path()).is_some());
        fs::write(&table, &whole_table).expect("writable");
    }
    assert!(used.iter().all(|used| *used > 0), "nothing gets to where records are read: {used:?}");
}

/// The tail says where all else is, and names the file.
#[test]
fn a_tail_that_lies_does_no_harm() {
    let dir = tempfile::tempdir().expect("a directory");
    let (overlay, table) = written(dir.path());
    let (whole, mut bytes) = (fs::read(&overlay).expect("readable"), fs::read(&table).expect("readable"));
    let name = table.file_name().and_then(|name| name.to_str()).expect("plain").to_owned();
    let tail = bytes.len() - 48 - CHECK_BYTES;
    for (at, lie) in [0, 8].into_iter().flat_map(|at| [0, 1, 17, 1 << 20, 1 << 40, u64::MAX].map(|lie| (at, lie))) {
        let honest = bytes.clone();
        bytes[tail + at..tail + at + 8].copy_from_slice(&lie.to_be_bytes());
        let tail_check = check(&bytes[tail..tail + 48]);
        bytes[tail + 48..].copy_from_slice(&tail_check);
        let digits: String = tail_check.iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(dir.path().join(format!("table-{digits}")), &bytes).expect("writable");
        let mut inside = Decoder(&whole[MAGIC_BYTES..whole.len() - CHECK_BYTES]);
        assert_eq!(inside.text().as_deref(), Some(&*name));
        let mut named = Encoder(whole[..MAGIC_BYTES].to_vec());
        named.text(&format!("table-{digits}"));
        named.0.extend(inside.0);
        named.0.extend(check(&named.0));
        fs::write(&overlay, &named.0).expect("writable");
        let found = answers(dir.path());
        assert_eq!(found.is_some(), at == 0, "{at}: {lie}");
        bytes = honest;
    }
}

#[test]
fn a_list_that_lies_about_its_length_takes_no_memory() {
    for count in [4, 1 << 20, 1 << 40, u64::MAX] {
        let mut bytes = Encoder::default();
        bytes.number(count);
        bytes.0.extend([1, 2, 3]);
        let mut read = 0;
        let list = Decoder(&bytes.0).list(|bytes| {
            read += 1;
            bytes.number()
        });
        assert_eq!((list, read), (None, 4), "{count}");
    }
}

#[test]
fn a_branch_that_lacks_too_many_paths_is_looked_at_as_a_whole() {
    let (mut head, name) = (head(), BranchName::new("environments/dev").expect("a name"));
    let path = |n: usize| RepoPath::new(&format!("path-{n}")).expect("plain");
    // One was there.
    for n in 1..LACKING_MAX {
        head.note_lacking(&name, &path(n));
    }
    assert_eq!(head.staying(&name).map(|staying| staying.lacking.len()), Some(LACKING_MAX));
    head.note_lacking(&name, &path(LACKING_MAX));
    assert!(head.staying(&name).is_none());
    head.note_lacking(&name, &path(0));
    assert!(head.staying(&name).is_none());
}
