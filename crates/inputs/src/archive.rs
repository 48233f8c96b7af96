//! Packaged charts on their way into a dry tree: read more strictly than Helm reads them.
//!
//! Helm renders a link as an empty file, takes the last of two files of one name, and lets names lead about inside of an
//! archive. No chart that `helm package` made has any of that, so whatever has is refused by name.

use std::collections::BTreeSet;
use std::io::Read;

use super::InputFile;
use super::name::DEPTH_MAX;
pub use super::name::{is_deep, is_name};
use dry_files::path::RepoPath;

/// What an archive may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The archive itself, in bytes.
    pub packed_bytes_max: u64,
    /// All files together, in bytes, with what the archive needs around them.
    pub bytes_max: u64,
    /// One file, in bytes.
    pub file_bytes_max: u64,
    /// Entries of any sort.
    pub entries_max: usize,
    /// How many times larger than the archive its files may be, beyond the first MiB.
    pub ratio_max: u64,
}

impl Default for Limits {
    /// 32 MiB packed, 100 MiB and 20,000 files unpacked, 5 MiB a file, 200 times.
    fn default() -> Self {
        Self {
            packed_bytes_max: 32 << 20,
            bytes_max: 100 << 20,
            file_bytes_max: 5 << 20,
            entries_max: 20_000,
            ratio_max: 200,
        }
    }
}

/// Why an archive is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Not what `helm package` makes.
    #[error("it is not a gzip archive")]
    NoGzip,
    /// Cut off or damaged.
    #[error("it is damaged: {0}")]
    Broken(String),
    /// Something follows it.
    #[error("it has bytes after its end")]
    Trailing,
    /// A limit.
    #[error("it is larger than {0} bytes")]
    Packed(u64),
    /// A limit.
    #[error("its files have more than {0} bytes in total")]
    TooLarge(u64),
    /// A limit.
    #[error("its files are more than {0} times as large as the archive")]
    Ratio(u64),
    /// A limit.
    #[error("`{name}` is larger than {limit} bytes")]
    FileTooLarge {
        /// The file.
        name: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// A limit.
    #[error("it has more than {0} entries")]
    TooMany(usize),
    /// Neither a file nor a directory.
    #[error("{what} {name} is not allowed")]
    NoFile {
        /// What it is, such as a symbolic link.
        what: &'static str,
        /// The entry, quoted.
        name: String,
    },
    /// A name that leads elsewhere, or that some file system takes for another one.
    #[error("the name {0} is not allowed")]
    Name(String),
    /// More directories than an input may have inside of each other.
    #[error("{name} is in more than {DEPTH_MAX} directories")]
    Deep {
        /// The entry, quoted.
        name: String,
    },
    /// A file of no directory, or a second directory.
    #[error("{0} is not in the one directory that a packaged chart has")]
    Outside(String),
    /// One of two is unseen.
    #[error("{0} is in it twice")]
    Twice(String),
    /// Nothing.
    #[error("it is empty")]
    Empty,
}

/// The files of a packaged chart, below its one directory.
pub fn unpack(data: &[u8], limits: Limits) -> Result<Vec<InputFile>, ArchiveError> {
    if data.len() as u64 > limits.packed_bytes_max {
        return Err(ArchiveError::Packed(limits.packed_bytes_max));
    }
    if !data.starts_with(b"\x1f\x8b\x08") {
        return Err(ArchiveError::NoGzip);
    }
    let tar = inflate(data, limits)?;
    let mut files = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    let (mut top, mut bytes): (Option<String>, u64) = (None, 0);
    let broken = |error: std::io::Error| ArchiveError::Broken(error.to_string());
    let mut archive = tar::Archive::new(&tar[..]);
    for (entry, count) in archive.entries().map_err(broken)?.zip(1..) {
        if count > limits.entries_max {
            return Err(ArchiveError::TooMany(limits.entries_max));
        }
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8(entry.path_bytes().into_owned());
        let name = name.map_err(|error| ArchiveError::Name(shown(&String::from_utf8_lossy(error.as_bytes()))))?;
        if let Some(what) = refused(entry.header().entry_type()) {
            return Err(ArchiveError::NoFile { what, name: shown(&name) });
        }
        let is_directory = entry.header().entry_type().is_dir() || name.ends_with('/');
        let (dir, below) = parts(&name)?;
        let is_top = below.is_root() && is_directory;
        if (below.is_root() && !is_top) || top.get_or_insert_with(|| dir.clone()) != &dir {
            return Err(ArchiveError::Outside(shown(&name)));
        }
        if is_directory {
            continue;
        }
        if entry.size() > limits.file_bytes_max {
            return Err(ArchiveError::FileTooLarge { name, limit: limits.file_bytes_max });
        }
        bytes += entry.size();
        if bytes > limits.bytes_max {
            return Err(ArchiveError::TooLarge(limits.bytes_max));
        }
        if !names.insert(below.as_str().to_lowercase()) {
            return Err(ArchiveError::Twice(shown(&name)));
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(broken)?;
        if content.len() as u64 != entry.size() {
            return Err(ArchiveError::Broken("unexpected end".to_owned()));
        }
        if is_deep(&below) {
            return Err(ArchiveError::Deep { name: shown(&name) });
        }
        files.push(InputFile { path: below, data: content.into() });
    }
    if let Some(file) = files.iter().find(|file| has_parent_in(&names, &file.path)) {
        return Err(ArchiveError::Twice(shown(file.path.as_str())));
    }
    if files.is_empty() { Err(ArchiveError::Empty) } else { Ok(files) }
}

/// Whether a file is where another one has its directory.
fn has_parent_in(names: &BTreeSet<String>, path: &RepoPath) -> bool {
    let mut here = path.parent();
    while let Some(dir) = here {
        if names.contains(&dir.as_str().to_lowercase()) {
            return true;
        }
        here = dir.parent();
    }
    false
}

/// The archive behind its compression: one member of gzip, nothing behind it.
fn inflate(data: &[u8], limits: Limits) -> Result<Vec<u8>, ArchiveError> {
    // Headers and padding of each entry count too.
    let room = limits.bytes_max + 2048 * limits.entries_max as u64;
    let ratio = (limits.ratio_max * data.len() as u64).max(1 << 20);
    let mut decoder = flate2::bufread::GzDecoder::new(data);
    let mut tar = Vec::new();
    let read = (&mut decoder).take(room.min(ratio) + 1).read_to_end(&mut tar);
    read.map_err(|error| ArchiveError::Broken(error.to_string()))?;
    if tar.len() as u64 > room {
        return Err(ArchiveError::TooLarge(limits.bytes_max));
    }
    if tar.len() as u64 > ratio {
        return Err(ArchiveError::Ratio(limits.ratio_max));
    }
    if decoder.into_inner().is_empty() { Ok(tar) } else { Err(ArchiveError::Trailing) }
}

fn refused(kind: tar::EntryType) -> Option<&'static str> {
    Some(match kind {
        tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::Directory => return None,
        tar::EntryType::Symlink => "symbolic link",
        tar::EntryType::Link => "hard link",
        tar::EntryType::Char | tar::EntryType::Block => "device",
        tar::EntryType::Fifo => "pipe",
        tar::EntryType::GNUSparse => "sparse file",
        tar::EntryType::XGlobalHeader => "global header",
        _ => "unknown entry",
    })
}

/// The one directory, and the path below it.
fn parts(name: &str) -> Result<(String, RepoPath), ArchiveError> {
    let refused = || ArchiveError::Name(shown(name));
    let plain = name.strip_suffix('/').unwrap_or(name);
    let plain = plain.strip_prefix("./").unwrap_or(plain);
    // The directory of all of it.
    let path = RepoPath::new(plain).map_err(|_| refused())?;
    if path.is_root() || path.components().any(|word| !is_name(word)) {
        return Err(refused());
    }
    let (dir, below) = path.as_str().split_once('/').unwrap_or((path.as_str(), ""));
    Ok((dir.to_owned(), RepoPath::clean(below).map_err(|_| refused())?))
}

fn shown(name: &str) -> String {
    let mut short: String = name.chars().take(200).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    go_yaml::quote(&short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::EntryType;

    type Entries<'a> = &'a [(&'a str, EntryType, &'a [u8])];

    const FILE: EntryType = EntryType::Regular;

    fn tar(entries: Entries<'_>) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (name, kind, data) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_entry_type(*kind);
            header.set_mode(0o644);
            // `set_path` refuses the names that these tests are about.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, *data).expect("memory");
        }
        tar.into_inner().expect("memory")
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(data).expect("memory");
        gzip.finish().expect("memory")
    }

    #[test]
    fn a_chart_is_taken_as_it_is() {
        let entries: Entries<'_> = &[
            ("web/", EntryType::Directory, b""),
            ("web/Chart.yaml", FILE, b"\xef\xbb\xbfname: web"),
            ("./web/templates/a.yaml", FILE, b"a: b"),
        ];
        let files = unpack(&gzip(&tar(entries)), Limits::default()).expect("a chart");
        let found: Vec<_> = files.iter().map(|file| (file.path.as_str(), &*file.data)).collect();
        assert_eq!(found, [("Chart.yaml", &b"\xef\xbb\xbfname: web"[..]), ("templates/a.yaml", b"a: b")]);
    }

    /// The table of what Helm makes of odd archives; here each of them is refused.
    #[test]
    fn what_no_chart_has_is_refused_by_name() {
        let chart = ("web/Chart.yaml", FILE, &b"name: web"[..]);
        let link = |kind| ("web/x", kind, &b""[..]);
        let rows: &[(Entries<'_>, &str)] = &[
            (&[chart, link(EntryType::Symlink)], "symbolic link \"web/x\" is not allowed"),
            (&[chart, link(EntryType::Link)], "hard link \"web/x\" is not allowed"),
            (&[chart, link(EntryType::Char)], "device \"web/x\" is not allowed"),
            (&[chart, link(EntryType::Block)], "device \"web/x\" is not allowed"),
            (&[chart, link(EntryType::Fifo)], "pipe \"web/x\" is not allowed"),
            (&[chart, link(EntryType::XGlobalHeader)], "global header \"web/x\" is not allowed"),
            (
                &[chart, ("lib/Chart.yaml", FILE, b"")],
                "\"lib/Chart.yaml\" is not in the one directory that a packaged chart has",
            ),
            (&[("Chart.yaml", FILE, b"")], "\"Chart.yaml\" is not in the one directory that a packaged chart has"),
            (&[chart, chart], "\"web/Chart.yaml\" is in it twice"),
            (&[chart, ("web/CHART.yaml", FILE, b"")], "\"web/CHART.yaml\" is in it twice"),
            (&[("web/a", FILE, b""), ("web/a/b", FILE, b"")], "\"a/b\" is in it twice"),
            (&[chart, ("web/../../evil", FILE, b"")], "the name \"web/../../evil\" is not allowed"),
            (&[chart, ("web//etc/x", FILE, b"")], "the name \"web//etc/x\" is not allowed"),
            (&[chart, ("/etc/evil", FILE, b"")], "the name \"/etc/evil\" is not allowed"),
            (&[chart, ("web\\x", FILE, b"")], "the name \"web\\\\x\" is not allowed"),
            (&[chart, ("web/a\nb", FILE, b"")], "the name \"web/a\\nb\" is not allowed"),
            (&[chart, ("web/.git/config", FILE, b"")], "the name \"web/.git/config\" is not allowed"),
            (&[chart, ("web/.GiT. /config", FILE, b"")], "the name \"web/.GiT. /config\" is not allowed"),
            (&[chart, ("web/.g\u{200c}it/x", FILE, b"")], "the name \"web/.g\\u200cit/x\" is not allowed"),
            (&[chart, ("web/git~1/x", FILE, b"")], "the name \"web/git~1/x\" is not allowed"),
            (&[chart, ("web/.git::$INDEX/x", FILE, b"")], "the name \"web/.git::$INDEX/x\" is not allowed"),
            (&[chart, ("web/a\u{202e}b", FILE, b"")], "the name \"web/a\\u202eb\" is not allowed"),
            (&[chart, ("web/a\u{2028}b", FILE, b"")], "the name \"web/a\\u2028b\" is not allowed"),
            (&[("web/", EntryType::Directory, b"")], "it is empty"),
        ];
        for (entries, expected) in rows {
            let error = unpack(&gzip(&tar(entries)), Limits::default()).expect_err(expected);
            assert_eq!(error.to_string(), *expected);
        }
    }

    #[test]
    fn long_names_are_read_and_sparse_files_are_not() {
        let name = format!("web/templates/{}.yaml", "long".repeat(40));
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(4);
        tar.append_data(&mut header, &name, &b"a: b"[..]).expect("memory");
        let files = unpack(&gzip(&tar.into_inner().expect("memory")), Limits::default()).expect("a chart");
        assert_eq!(files.first().map(|file| format!("web/{}", file.path)), Some(name));
        let packed = |name: &str| {
            let mut tar = tar::Builder::new(Vec::new());
            let mut header = tar::Header::new_gnu();
            header.set_size(4);
            tar.append_data(&mut header, name, &b"a: b"[..]).expect("memory");
            unpack(&gzip(&tar.into_inner().expect("memory")), Limits::default()).err().map(|error| error.to_string())
        };
        assert_eq!(packed(&format!("web/{}", "n".repeat(255))), None);
        assert!(packed(&format!("web/{}", "n".repeat(256))).is_some_and(|error| error.ends_with("…\" is not allowed")));
        assert_eq!(packed(&format!("web/{}x", "d/".repeat(64))), None);
        let deep = packed(&format!("web/{}x", "d/".repeat(65)));
        assert!(deep.is_some_and(|error| error.ends_with(" is in more than 64 directories")));
        let sparse: Entries<'_> = &[("web/Chart.yaml", FILE, b"name: web"), ("web/x", EntryType::GNUSparse, b"")];
        assert!(unpack(&gzip(&self::tar(sparse)), Limits::default()).is_err());
    }

    #[test]
    fn limits_hold() {
        let limits =
            Limits { packed_bytes_max: 20_000, bytes_max: 3000, file_bytes_max: 2000, entries_max: 3, ratio_max: 200 };
        let chart = tar(&[("web/Chart.yaml", FILE, b"name: web")]);
        let rows = [
            (gzip(&tar(&[("web/a", FILE, &[0; 2001])])), "`web/a` is larger than 2000 bytes"),
            (gzip(&vec![0; 10_000]), "its files have more than 3000 bytes in total"),
            (
                gzip(&tar(&[("w/a", FILE, b""), ("w/b", FILE, b""), ("w/c", FILE, b""), ("w/d", FILE, b"")])),
                "it has more than 3 entries",
            ),
            (
                gzip(&tar(&[("web/a", FILE, &[0; 1600]), ("web/b", FILE, &[0; 1600])])),
                "its files have more than 3000 bytes in total",
            ),
            (vec![0x1f; 20_001], "it is larger than 20000 bytes"),
            (b"PK".to_vec(), "it is not a gzip archive"),
            ([gzip(&chart), gzip(b"more")].concat(), "it has bytes after its end"),
            ([gzip(&chart), vec![0]].concat(), "it has bytes after its end"),
        ];
        for (data, expected) in rows {
            assert_eq!(unpack(&data, limits).expect_err(expected).to_string(), expected);
        }
        let bomb = gzip(&vec![b'a'; 40 << 20]);
        assert_eq!(unpack(&bomb, Limits::default()), Err(ArchiveError::Ratio(200)));
    }

    #[test]
    fn damaged_archives_are_errors() {
        let data = gzip(&tar(&[("web/Chart.yaml", FILE, &[b'x'; 4000])]));
        for len in 0..data.len() {
            assert!(unpack(&data[..len], Limits::default()).is_err(), "{len}");
        }
    }
}
