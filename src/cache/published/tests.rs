use std::collections::BTreeMap;

use super::*;
use crate::application::{AppName, BranchName};
use crate::cache::{About, Used};
use crate::view::{ContentId, Kind};

const CONTEXT: &str = "context";

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("plain")
}

/// What is in the tree that all records were rendered from.
fn tree() -> Reads {
    let files = (0..20u8).map(|n| ((path(&format!("apps/{n}/a.yaml")), 2), Seen::Content(ContentId::new(&[n; 20]))));
    let missing = (0..20u8).map(|n| ((path(&format!("apps/{n}/b.yaml")), 0), Seen::Absent));
    let shared = [((path("base"), 3), Seen::Listed(ContentId::new(&[7; 32])))];
    let beside = [((path("base/link"), 1), Seen::Present(Kind::Link))];
    files.chain(missing).chain(shared).chain(beside).collect()
}

fn record(n: u8) -> Record {
    let own = format!("apps/{n}/");
    let is_read = |path: &RepoPath| path.as_str().starts_with(&own) || path.as_str().starts_with("base");
    Record {
        about: About::Written,
        file: path(&format!("applications/{}.yaml", n / 2)),
        index: usize::from(n % 2),
        namespace: None,
        name: AppName::new(&format!("app-{n}")).expect("plain"),
        sync_path: path(&format!("{n}")),
        is_kept: false,
        fingerprint: ContentId::new(&[n; 32]),
        placement: ContentId::new(&[n; 32]),
        dry_path: path(&format!("apps/{n}")),
        branch: BranchName::new("environments/dev").expect("plain"),
        cluster: None,
        reads: tree().into_iter().filter(|((path, _), _)| is_read(path)).collect(),
        names_the_commit: false,
        manifest: ContentId::new(&[n; 20]),
        commands: vec![format!("kustomize build apps/{n}")],
        objects: Vec::new(),
        drawn: None,
        failure: None,
    }
}

/// What a clone knows of an Application by itself.
fn bare(record: &Record) -> Record {
    Record { reads: BTreeMap::new(), commands: Vec::new(), ..record.clone() }
}

fn written() -> Vec<u8> {
    Published::written(CONTEXT, || (0..20).map(record)).expect("small")
}

fn look(tree: &Reads) -> impl Fn(&RepoPath, u8) -> Option<Seen> {
    |path, way| tree.get(&(path.clone(), way)).copied()
}

#[test]
fn what_is_published_is_confirmed_by_the_same_tree_document_and_manifest() {
    let tree = tree();
    let published = Published::read(written(), CONTEXT).expect("whole");
    for n in 0..20 {
        let record = record(n);
        assert_eq!(published.confirmed(bare(&record), look(&tree)), Some(record));
    }
    let other = ContentId::new(&[0xff; 20]);
    let bare = bare(&record(3));
    let not_it = [
        Record { manifest: other, ..bare.clone() },
        Record { fingerprint: other, ..bare.clone() },
        Record { placement: other, ..bare.clone() },
        Record { index: 0, ..bare.clone() },
        Record { branch: BranchName::new("environments/prod").expect("plain"), ..bare.clone() },
        Record { file: path("applications/none.yaml"), ..bare.clone() },
    ];
    for record in not_it {
        assert_eq!(published.confirmed(record, look(&tree)), None);
    }
    assert!(Published::read(written(), "another context").is_none());
}

#[test]
fn another_file_is_seen_by_those_that_read_it_alone() {
    let mut other = tree();
    other.insert((path("apps/3/a.yaml"), 2), Seen::Content(ContentId::new(&[0xff; 20])));
    other.remove(&(path("apps/4/b.yaml"), 0));
    let published = Published::read(written(), CONTEXT).expect("whole");
    let changed = (0..20).filter(|n| published.confirmed(bare(&record(*n)), look(&other)).is_none());
    assert_eq!(changed.collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn what_says_nothing_of_other_commits_or_reads_nothing_of_its_own_is_not_published() {
    let commit = Record { names_the_commit: true, ..record(0) };
    let failure = crate::cache::Failure { kind: crate::cache::FailureKind::Mistakes, diagnostics: Vec::new() };
    let failed = Record { failure: Some(failure), ..record(1) };
    let maker = Record::of_maker(path("applications/set.yaml"), 0, tree(), Used::default());
    let odd = Record { dry_path: path("elsewhere"), ..record(2) };
    let left_out = [commit, failed, maker, odd];
    let bytes = Published::written(CONTEXT, || left_out.clone().into_iter()).expect("small");
    assert!(Published::read(bytes, CONTEXT).expect("whole").entries.is_empty());
}

/// Whatever the bytes are, what is confirmed read no less than what was published.
#[test]
fn bytes_that_were_changed_confirm_what_was_published_or_nothing() {
    let (tree, whole) = (tree(), written());
    let mut state = 5_u64;
    let mut random = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("small") % end
    };
    let mut read = 0;
    for _ in 0..4000 {
        let mut bytes = whole.clone();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << random(8),
                2 => drop(bytes.splice(at..at, [0xff; 9])),
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        let Some(published) = Published::read(bytes, CONTEXT) else { continue };
        read += 1;
        for n in 0..20 {
            if let Some(found) = published.confirmed(bare(&record(n)), look(&tree)) {
                assert_eq!(Record { commands: Vec::new(), ..found }, Record { commands: Vec::new(), ..record(n) });
            }
        }
    }
    assert!(read > 100, "{read} were read");
}

#[test]
fn lists_that_lie_about_their_length_take_no_memory() {
    for count in [READS_MAX as u64 * 2 + 1, 1 << 40, u64::MAX] {
        let mut bytes = Encoder(MAGIC.to_vec());
        bytes.text(CONTEXT);
        bytes.number(count);
        bytes.0.extend([0; 100]);
        assert!(Published::read(bytes.0, CONTEXT).is_none(), "{count}");
    }
    assert!(Published::read(vec![0; 33 << 20], CONTEXT).is_none());
}

#[test]
fn a_long_path_that_is_named_again_and_again_is_not_copied_each_time() {
    const TIMES: u32 = 200_000;
    let record = record(0);
    let long = format!("apps/0/{}", "x".repeat(8 << 10));
    let mut bytes = Encoder(MAGIC.to_vec());
    bytes.text(CONTEXT);
    let paths = [record.file.as_str().to_owned(), long];
    bytes.list(paths.iter(), |bytes, path| bytes.text(path));
    // The second path, each time in the same way.
    bytes.list(0..TIMES, |bytes, n| bytes.number(if n == 0 { WAYS } else { 0 }));
    bytes.number(0);
    bytes.number(record.index as u64);
    bytes.bytes(&[0; DIGEST_BYTES]);
    bytes.bytes(&[0]);
    let mut own = Encoder::default();
    (0..TIMES).for_each(|n| own.number(u64::from(n > 0)));
    bytes.bytes(&own.0);
    let published = Published::read(bytes.0, CONTEXT).expect("whole");
    let looks = std::cell::Cell::new(0_usize);
    let look = |_: &RepoPath, _| {
        looks.set(looks.get() + 1);
        Some(Seen::Absent)
    };
    assert_eq!(published.confirmed(bare(&record), look), None);
    assert!(looks.get() <= ENTRY_BYTES_MAX >> 13, "{} paths of 8 KiB were taken", looks.get());
}
