//! Packaged charts: `.tgz` files, read in memory.

use std::io::Read;
use std::sync::Arc;

use crate::version::differences::Sizes;

/// The limits that Helm itself has, and one for the number of entries and what Helm does not limit.
///
/// Nothing is unpacked to disk and no entry is followed anywhere: a link is an empty file, as in Helm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// All files of an archive together, in bytes.
    pub archive_bytes_max: u64,
    /// All files of a directory together, in bytes.
    pub directory_bytes_max: u64,
    /// One file, in bytes.
    pub file_bytes_max: u64,
    /// Entries of any sort.
    pub entries_max: usize,
}

/// What may be in memory where Helm has no limit.
const BYTES_MAX: u64 = 256 << 20;

impl Limits {
    /// The limits of a Helm.
    pub(super) fn of(sizes: Sizes) -> Self {
        let (archive_bytes_max, directory_bytes_max, file_bytes_max) = match sizes {
            Sizes::Any => (BYTES_MAX, BYTES_MAX, BYTES_MAX),
            Sizes::EachFile => (100 << 20, BYTES_MAX, 5 << 20),
            Sizes::AllFiles => (100 << 20, 100 << 20, 100 << 20),
        };
        Self { archive_bytes_max, directory_bytes_max, file_bytes_max, entries_max: 50_000 }
    }
}

/// One file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArchiveFile {
    /// Below the archive's one directory.
    pub name: String,
    /// Without a byte order mark.
    pub data: Arc<[u8]>,
}

/// Why an archive is not a chart. Reads as Helm's own message, except where Helm has no such limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("gzip: invalid header")]
    NoGzip,
    #[error("{0}")]
    Broken(String),
    #[error("chart illegally contains absolute paths")]
    AbsolutePath,
    #[error("chart illegally contains content outside the base directory: {}", go_yaml::quote(.0))]
    OutsideBase(String),
    #[error("chart illegally references parent directory")]
    ParentDirectory,
    #[error("chart contains illegally named files")]
    DrivePath,
    #[error("chart yaml not in base directory")]
    NoBase,
    #[error("decompressed chart is larger than the maximum size {0}")]
    TooLarge(u64),
    #[error("decompressed chart file {} is larger than the maximum file size {limit}", go_yaml::quote(.name))]
    FileTooLarge { name: String, limit: u64 },
    #[error("the archive has more than {0} entries")]
    TooManyEntries(usize),
    #[error("the name of an entry is not valid UTF-8")]
    NameEncoding,
    #[error("no files in chart archive")]
    Empty,
}

/// The files of a packaged chart in the order of the archive; directories are left out.
///
/// Reference: helm 4.2.3 pkg/chart/loader/archive `LoadArchiveFiles`.
pub(super) fn read(data: &[u8], limits: Limits) -> Result<Vec<ArchiveFile>, ArchiveError> {
    if !data.starts_with(b"\x1f\x8b\x08") {
        return Err(ArchiveError::NoGzip);
    }
    // Headers and padding count too, so that an archive of nothing but headers ends as well.
    let bytes_max = limits.archive_bytes_max.saturating_add(1024 * (limits.entries_max as u64 + 2));
    let stream = flate2::read::MultiGzDecoder::new(data).take(bytes_max);
    let mut archive = tar::Archive::new(stream);
    let broken = |error: std::io::Error| ArchiveError::Broken(error.to_string());
    let mut files = Vec::new();
    let mut left = limits.archive_bytes_max;
    for (entry, count) in archive.entries().map_err(broken)?.zip(1..) {
        if count > limits.entries_max {
            return Err(ArchiveError::TooManyEntries(limits.entries_max));
        }
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8(entry.path_bytes().into_owned()).map_err(|_| ArchiveError::NameEncoding)?;
        let kind = entry.header().entry_type();
        let is_directory = kind.is_dir() || (kind.is_file() && name.ends_with('/'));
        if is_directory || kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
            continue;
        }
        let below_base = name_below_base(&name)?;
        let size = if kind.is_file() || kind.is_contiguous() { entry.size() } else { 0 };
        if size > left {
            return Err(ArchiveError::TooLarge(limits.archive_bytes_max));
        }
        if size > limits.file_bytes_max {
            return Err(ArchiveError::FileTooLarge { name, limit: limits.file_bytes_max });
        }
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        if size > 0 {
            entry.read_to_end(&mut content).map_err(broken)?;
        }
        if (content.len() as u64) < size {
            return Err(ArchiveError::Broken("unexpected EOF".to_owned()));
        }
        left -= size;
        if left == 0 {
            return Err(ArchiveError::TooLarge(limits.archive_bytes_max));
        }
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
        files.push(ArchiveFile { name: below_base, data: content.into() });
    }
    if files.is_empty() { Err(ArchiveError::Empty) } else { Ok(files) }
}

/// The path without its first component, in its plain form.
fn name_below_base(name: &str) -> Result<String, ArchiveError> {
    let delimiter = if name.contains('\\') { '\\' } else { '/' };
    let (base, below) = name.split_once(delimiter).unwrap_or((name, ""));
    let below = below.replace(delimiter, "/");
    if below.starts_with('/') {
        return Err(ArchiveError::AbsolutePath);
    }
    let mut plain: Vec<&str> = Vec::new();
    for component in below.split('/') {
        match component {
            "" | "." => {}
            ".." if plain.last().is_some_and(|last| *last != "..") => {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    let plain = plain.join("/");
    if plain.is_empty() {
        return Err(ArchiveError::OutsideBase(name.to_owned()));
    }
    if plain.starts_with("..") {
        return Err(ArchiveError::ParentDirectory);
    }
    if matches!(plain.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic()) {
        return Err(ArchiveError::DrivePath);
    }
    if base == "Chart.yaml" {
        return Err(ArchiveError::NoBase);
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Entries<'a> = &'a [(&'a str, &'a [u8])];

    fn archive(entries: Entries<'_>) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (name, data) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            // `set_path` refuses the paths that these tests are about.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, *data).expect("memory");
        }
        compress(&tar.into_inner().expect("memory"))
    }

    fn compress(data: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(data).expect("memory");
        gzip.finish().expect("memory")
    }

    #[test]
    fn files_lose_their_base_and_byte_order_mark() {
        let data = archive(&[("c/Chart.yaml", b"\xef\xbb\xbfname: c"), ("c/./templates//a.yaml", b"")]);
        let files = read(&data, Limits::of(Sizes::EachFile)).expect("a chart");
        let seen: Vec<_> = files.iter().map(|file| (file.name.as_str(), &*file.data)).collect();
        assert_eq!(seen, [("Chart.yaml", &b"name: c"[..]), ("templates/a.yaml", b"")]);
    }

    #[test]
    fn hostile_names() {
        let rows = [
            ("c/../../x", "chart illegally references parent directory"),
            ("c//x", "chart illegally contains absolute paths"),
            ("c/..x", "chart illegally references parent directory"),
            ("x", "chart illegally contains content outside the base directory: \"x\""),
            ("c\\C:\\x", "chart contains illegally named files"),
            ("Chart.yaml/x", "chart yaml not in base directory"),
        ];
        for (name, expected) in rows {
            let error = read(&archive(&[(name, b"")]), Limits::of(Sizes::EachFile)).expect_err(name);
            assert_eq!(error.to_string(), expected, "{name}");
        }
    }

    #[test]
    fn limits_hold() {
        let limits = Limits { archive_bytes_max: 100, file_bytes_max: 60, directory_bytes_max: 100, entries_max: 3 };
        let rows: [(Entries<'_>, &str); 4] = [
            (&[("c/a", &[0; 61])], "decompressed chart file \"c/a\" is larger than the maximum file size 60"),
            (&[("c/a", &[0; 60]), ("c/b", &[0; 50])], "decompressed chart is larger than the maximum size 100"),
            (&[("c/a", b""), ("c/b", b""), ("c/c", b""), ("c/d", b"")], "the archive has more than 3 entries"),
            (&[], "no files in chart archive"),
        ];
        for (entries, expected) in rows {
            assert_eq!(read(&archive(entries), limits).expect_err(expected).to_string(), expected);
        }
        let bomb = compress(&vec![b'a'; 50 << 20]);
        assert!(read(&bomb, limits).is_err());
        assert_eq!(read(b"PK", limits), Err(ArchiveError::NoGzip));
    }

    #[test]
    fn cut_archives_are_errors() {
        let data = archive(&[("c/Chart.yaml", &[b'x'; 4000])]);
        for len in [3, 10, data.len() / 2] {
            assert!(read(&data[..len], Limits::of(Sizes::EachFile)).is_err(), "{len}");
        }
    }
}
