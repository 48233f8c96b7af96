//! The seeds that random functions draw from: two files of the settings that are never shown.
//!
//! | file | contains |
//! |---|---|
//! | `seed` | the 32 bytes that Applications draw from |
//! | `seed.kept` | a line for each Application that draws from something else: `none IDENTITY` of one that draws as before there were seeds, `HEX IDENTITY` of one that keeps an older seed |
//!
//! With them, what is drawn can be computed. Nothing here goes into a text: neither a message nor `Debug` shows a seed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{SettingsError, SettingsFiles};
use crate::argo::SeedIdentity;
use go_template::{SEED_BYTES, SecretSeed, Seed};

/// The file with the seed.
pub(crate) const SEED_FILE: &str = "seed";

/// The file with what single Applications draw from.
pub(crate) const KEPT_SEEDS_FILE: &str = "seed.kept";

/// The files that are never shown, and that leave a repository only when somebody says so.
pub(crate) const SECRET_FILES: [&str; 2] = [SEED_FILE, KEPT_SEEDS_FILE];

/// What Applications draw random values from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seeds {
    /// What all draw from that are not in `kept`; none until a seed is made.
    newest: Option<SecretSeed>,
    /// The seeds of single Applications; none for an Application that draws as before there were seeds.
    kept: BTreeMap<SeedIdentity, Option<SecretSeed>>,
}

impl Seeds {
    /// Reads the seeds of a folder of settings.
    ///
    /// Errors: a file that nothing of ours wrote. The message has nothing of it.
    pub(crate) fn read(files: &SettingsFiles) -> Result<Self, SettingsError> {
        let newest = files.get(SEED_FILE).map(|bytes| seed(bytes)).transpose()?;
        let mut kept = BTreeMap::new();
        if let Some(bytes) = files.get(KEPT_SEEDS_FILE) {
            if newest.is_none() {
                return Err(wrong(KEPT_SEEDS_FILE, "it says nothing without the file `seed`"));
            }
            let text = std::str::from_utf8(bytes).map_err(|_| SettingsError::NotUtf8(KEPT_SEEDS_FILE.to_owned()))?;
            for (index, line) in text.lines().enumerate() {
                let entry = kept_line(line).ok_or_else(|| {
                    wrong(KEPT_SEEDS_FILE, &format!("line {} is not `none IDENTITY` or `SEED IDENTITY`", index + 1))
                })?;
                kept.extend([entry]);
            }
        }
        Ok(Self { newest, kept })
    }

    /// Writes the files of the seeds, in place of those in a folder of settings.
    pub(crate) fn write(&self, files: &mut SettingsFiles) {
        for name in SECRET_FILES {
            files.remove(name);
        }
        let Some(newest) = &self.newest else { return };
        files.insert(SEED_FILE.to_owned(), newest.bytes().to_vec());
        let line = |(identity, seed): (&SeedIdentity, &Option<SecretSeed>)| {
            let seed = seed.as_ref().map_or_else(|| NONE.to_owned(), |seed| hex(seed.bytes()));
            format!("{seed} {identity}\n")
        };
        let kept: String = self.kept.iter().map(line).collect();
        if !kept.is_empty() {
            files.insert(KEPT_SEEDS_FILE.to_owned(), kept.into_bytes());
        }
    }

    /// Whether there is a seed.
    pub(crate) fn is_set(&self) -> bool {
        self.newest.is_some()
    }

    /// Whether anybody can compute what is drawn for `identity`.
    pub(crate) fn is_public(&self, identity: &SeedIdentity) -> bool {
        self.of(identity).is_none()
    }

    /// What is drawn from for `identity`.
    pub(crate) fn seed(&self, identity: &SeedIdentity) -> Seed {
        match self.of(identity) {
            Some(key) => Seed::Secret { key: key.clone(), identity: identity.as_str().to_owned() },
            None => Seed::public(identity.as_str()),
        }
    }

    /// Whether `identity` draws from the same with both.
    pub(crate) fn are_same_for(&self, other: &Self, identity: &SeedIdentity) -> bool {
        self.of(identity) == other.of(identity)
    }

    /// The Applications that keep drawing as before there were seeds.
    pub(crate) fn kept_public(&self) -> impl Iterator<Item = &SeedIdentity> {
        self.kept.iter().filter(|(_, seed)| seed.is_none()).map(|(identity, _)| identity)
    }

    /// The seeds with `seed` for all Applications but those that are to `keep` what they draw from; all that keep
    /// something and that `is_chosen` does not name keep it too.
    pub(crate) fn with<'i>(
        &self,
        seed: SecretSeed,
        keep: impl Iterator<Item = &'i SeedIdentity>,
        is_chosen: impl Fn(&SeedIdentity) -> bool,
    ) -> Self {
        let earlier = self.kept.iter().filter(|(identity, _)| !is_chosen(identity));
        let mut kept: BTreeMap<_, _> = earlier.map(|(identity, seed)| (identity.clone(), seed.clone())).collect();
        kept.extend(keep.map(|identity| (identity.clone(), self.of(identity).cloned())));
        Self { newest: Some(seed), kept }
    }

    /// The seeds where the Applications that `is_chosen` names do not draw any more as before there were seeds.
    pub(crate) fn without_public(&self, is_chosen: impl Fn(&SeedIdentity) -> bool) -> Self {
        let stays = |(identity, seed): &(&SeedIdentity, &Option<SecretSeed>)| seed.is_some() || !is_chosen(identity);
        let kept = self.kept.iter().filter(stays).map(|(identity, seed)| (identity.clone(), seed.clone()));
        Self { newest: self.newest.clone(), kept: kept.collect() }
    }

    fn of(&self, identity: &SeedIdentity) -> Option<&SecretSeed> {
        self.kept.get(identity).map_or(self.newest.as_ref(), Option::as_ref)
    }
}

/// The word for the derivation from before there were seeds.
const NONE: &str = "none";

fn seed(bytes: &[u8]) -> Result<SecretSeed, SettingsError> {
    let bytes = <[u8; SEED_BYTES]>::try_from(bytes);
    bytes.map(SecretSeed::new).map_err(|_| {
        wrong(SEED_FILE, "it must have 32 bytes, as `git hydrate config set seeds new` or `rotate` writes it")
    })
}

fn kept_line(line: &str) -> Option<(SeedIdentity, Option<SecretSeed>)> {
    let (seed, identity) = line.split_once(' ')?;
    let seed = if seed == NONE { None } else { Some(unhex(seed)?) };
    Some((SeedIdentity::read(identity)?, seed))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<SecretSeed> {
    let digit = |at: usize| text.get(at..at + 1).and_then(|digit| u8::from_str_radix(digit, 16).ok());
    let mut bytes = [0; SEED_BYTES];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = digit(2 * index)? << 4 | digit(2 * index + 1)?;
    }
    (text.len() == 2 * SEED_BYTES).then(|| SecretSeed::new(bytes))
}

fn wrong(file: &'static str, what: &str) -> SettingsError {
    SettingsError::Seeds { file, what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(text: &str) -> SeedIdentity {
        SeedIdentity::read(text).expect("an identity")
    }

    fn of(byte: u8) -> SecretSeed {
        SecretSeed::new([byte; SEED_BYTES])
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (old, web, db) = (identity("a/old/dev"), identity("a/web/dev"), identity("a/db/dev"));
        let first = Seeds::default().with(of(1), [&old].into_iter(), |_| false);
        let second = first.with(of(2), [&web].into_iter(), |one| *one == db);
        for seeds in [Seeds::default(), first.clone(), second.clone()] {
            let mut files = SettingsFiles::from([("settings.yaml".to_owned(), b"profile: argocd\n".to_vec())]);
            seeds.write(&mut files);
            assert_eq!(Seeds::read(&files), Ok(seeds));
            assert!(files.contains_key("settings.yaml"));
        }
        assert_eq!(second.of(&old), None, "left where it was");
        assert_eq!(second.of(&web), Some(&of(1)), "left with the seed that it had");
        assert_eq!(second.of(&db), Some(&of(2)));
        assert_eq!(second.kept_public().collect::<Vec<_>>(), [&old]);
        assert_eq!(second.without_public(|_| true).of(&old), Some(&of(2)));
        assert_eq!(second.without_public(|_| true).of(&web), Some(&of(1)));
        assert_eq!(second.with(of(3), std::iter::empty(), |_| true).of(&web), Some(&of(3)));
    }

    #[test]
    fn a_seed_is_in_no_text() {
        let seeds = Seeds::default().with(of(0xab), [&identity("a/b/c")].into_iter(), |_| false);
        let seeds = seeds.with(of(0xcd), [&identity("a/d/c")].into_iter(), |_| false);
        for text in [format!("{seeds:?}"), format!("{:?}", seeds.seed(&identity("a/d/c")))] {
            for part in ["abab", "cdcd", "171", "205", "\\xab", "q6ur"] {
                assert!(!text.to_lowercase().contains(part), "{text}");
            }
        }
        let bad = [
            (SEED_FILE, "secret".to_owned()),
            (KEPT_SEEDS_FILE, format!("{} a/b/c\nsecret a/b/c\n", "ab".repeat(32))),
            (KEPT_SEEDS_FILE, format!("none a/b/c\n{} secret\n", "ab".repeat(32))),
        ];
        for (name, text) in bad {
            let mut files = SettingsFiles::from([(SEED_FILE.to_owned(), vec![7; 32])]);
            files.insert(name.to_owned(), text.into_bytes());
            let error = Seeds::read(&files).expect_err(name);
            for text in [error.to_string(), format!("{error:?}")] {
                assert!(text.contains(name) && !text.contains("secret") && !text.contains("abab"), "{text}");
            }
        }
        let alone = SettingsFiles::from([(KEPT_SEEDS_FILE.to_owned(), b"none a/b/c\n".to_vec())]);
        assert!(Seeds::read(&alone).is_err(), "without a seed it says nothing");
    }
}
