//! Whether git's configuration says what was meant: keys that are close to ours, and values that are not valid.

use std::path::Path;

use dry_files::diag::{printable, shell_path, shell_word};

use super::Doctor;
use crate::install::Error;
use crate::install::forge::GITEA;
use crate::owners::platform::is_executable;
use crate::repo;
use crate::settings::is_setting;

/// What the value of a key must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// True or false.
    Switch,
    /// A number that is not negative.
    Number,
    /// A number of seconds that is not negative: git's units of thousands would not be meant.
    Seconds,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A command of the shell, whose program is there when it is given by its path.
    Command,
    /// A file that may not be there yet, in a directory that is.
    File,
    /// The name of a variable.
    Variable,
    /// Anything, or what another check looks at.
    Text,
}

/// Every key of ours.
const KEYS: &[(&str, Kind)] = &[
    ("hydrate.jobs", Kind::Number),
    ("hydrate.budget", Kind::Seconds),
    ("hydrate.lockWait", Kind::Seconds),
    ("hydrate.notifyTimeLimit", Kind::Seconds),
    ("hydrate.tellTimeLimit", Kind::Seconds),
    ("hydrate.deliverTimeLimit", Kind::Seconds),
    ("hydrate.timeLimit", Kind::Seconds),
    ("hydrate.memoryLimit", Kind::Number),
    ("hydrate.scratchLimit", Kind::Number),
    ("hydrate.renderTimeLimit", Kind::Seconds),
    ("hydrate.commitTimeLimit", Kind::Seconds),
    ("hydrate.fileLimit", Kind::Number),
    ("hydrate.directoryLimit", Kind::Number),
    ("hydrate.outputLimit", Kind::Number),
    ("hydrate.runOutputLimit", Kind::Number),
    ("hydrate.objectLimit", Kind::Number),
    ("hydrate.strictTimeLimit", Kind::Seconds),
    ("hydrate.cache", Kind::Switch),
    ("hydrate.allowUnconfined", Kind::Switch),
    ("hydrate.configHooks", Kind::Switch),
    ("hydrate.guard", Kind::Switch),
    ("hydrate.withoutProgram", Kind::Word(&["warn", "refuse"])),
    ("hydrate.prePush", Kind::Word(&["block", "warn", "off"])),
    ("hydrate.runMemory", Kind::Text),
    ("hydrate.applicationMemory", Kind::Text),
    ("hydrate.runTimeLimit", Kind::Text),
    ("hydrate.strict", Kind::Text),
    ("hydrate.strictUndecided", Kind::Text),
    ("hydrate.log", Kind::File),
    ("hydrate.notify", Kind::Command),
    ("hydrate.tell", Kind::Command),
    ("hydrate.forgePusher", Kind::Text),
    ("hydrate.helm", Kind::Command),
    ("hydrate.kustomize", Kind::Command),
    ("hydrate.readable", Kind::Text),
    ("hydrate.pusherVariable", Kind::Variable),
    ("hydrate.promoter", Kind::Text),
    ("hydrate.promoted", Kind::Text),
    ("hydrate.settingsPusher", Kind::Text),
    ("hydrate.vendorAllow", Kind::Text),
    ("hydrate.fetchTimeLimit", Kind::Seconds),
    ("hydrate.fetchLimit", Kind::Number),
    ("hydrate.recordLimit", Kind::Number),
    ("hydrate.remote", Kind::Text),
    ("hydrate.settingsRef", Kind::Text),
    ("hydrate.localPrefix", Kind::Text),
    ("hydrate.installed", Kind::Text),
];

/// The keys of each of several of a kind, `BEGINNING.NAME.KEY`, by how they begin.
const NAMED: [(&str, &[(&str, Kind)]); 4] = [
    ("hydrate.destination.", &[("pushURL", Kind::Text), ("credentialHelper", Kind::Text), ("sshCommand", Kind::Text)]),
    // A rule for what may be fetched.
    (
        "hydrate.fetch.",
        &[
            ("url", Kind::Text),
            ("also", Kind::Text),
            ("branches", Kind::Text),
            ("credentials", Kind::File),
            ("recordLimit", Kind::Number),
        ],
    ),
    ("hydrate-check.", &[("command", Kind::Command), ("refuse", Kind::Switch)]),
    ("hydrate-plugin.", &[("command", Kind::Command)]),
];

/// The keys that one may be meant to be, as they are written.
fn candidates(name: &str) -> Vec<(String, Kind)> {
    let named = NAMED.into_iter().find_map(|(top, keys)| {
        let (of, _) = name.strip_prefix(top)?.rsplit_once('.')?;
        Some((top, of, keys))
    });
    match named {
        Some((top, of, keys)) => {
            let key = |(key, kind): &(&str, Kind)| (format!("{top}{of}.{key}"), *kind);
            keys.iter().map(key).collect()
        }
        None => KEYS.iter().map(|(key, kind)| ((*key).to_owned(), *kind)).collect(),
    }
}

/// The keys that decide whether a push is taken and who hears of it.
const DECIDING: [&str; 5] =
    ["hydrate.notify", "hydrate.strict", "hydrate.strictUndecided", "hydrate.tell", "hydrate.withoutProgram"];

/// How many letters a key may differ by to be taken for a mistyped one.
const TYPOS_MAX: usize = 2;

impl Doctor<'_> {
    /// Whether keys below `hydrate.` are known, and their values what they must be.
    pub(super) fn keys(&mut self) -> Result<(), Error> {
        let listing = self.repository.git().output(&["config", "--list", "--name-only", "-z"])?;
        let mut names: Vec<String> = listing
            .split(|byte| *byte == 0)
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .filter(|name| {
                NAMED.iter().any(|(top, _)| name.starts_with(top))
                    || (name.starts_with("hydrate.") && name.matches('.').count() == 1)
            })
            .collect();
        names.sort();
        names.dedup();
        for name in names {
            let candidates = candidates(&name);
            match candidates.iter().find(|(key, _)| key.eq_ignore_ascii_case(&name)) {
                Some((key, kind)) => {
                    let before = self.findings.len();
                    self.value(key, *kind);
                    if self.findings.len() == before && DECIDING.contains(&key.as_str()) {
                        self.decides(key, *kind);
                    }
                }
                None => self.unknown_key(&name, &candidates),
            }
        }
        Ok(())
    }

    /// That a key is set which decides what becomes of a push; of a command its program alone, since its words may be secret.
    fn decides(&mut self, key: &str, kind: Kind) {
        let value = self.repository.config(key).unwrap_or_else(|| "true".to_owned());
        let shown = match kind {
            Kind::Command => value.split_whitespace().next().unwrap_or_default(),
            _ => value.as_str(),
        };
        self.good(format!("{key} = {}", printable(shown)));
    }

    fn unknown_key(&mut self, name: &str, candidates: &[(String, Kind)]) {
        if let Some(setting) = name.strip_prefix("hydrate.").filter(|name| is_setting(name)) {
            let what =
                format!("{} does nothing: `{setting}` is a setting, not a key of git's configuration", printable(name));
            let set = format!("{} hydrate config set {setting} VALUE", self.git_command());
            return self.bad(what, format!("{set} && {}", self.unset(name)));
        }
        let typos = |key: &str| strsim::damerau_levenshtein(&key.to_lowercase(), &name.to_lowercase());
        let keys = candidates.iter().map(|(key, _)| key.as_str());
        let close = keys.min_by_key(|key| typos(key)).filter(|key| typos(key) <= TYPOS_MAX);
        let Some(close) = close else { return };
        let value = self.repository.config(name).unwrap_or_default();
        let set = match self.repository.config(close) {
            None => format!("{} config {close} {} && ", self.git_command(), shell_word(&value)),
            Some(_) => String::new(),
        };
        let remedy = format!("{set}{}", self.unset(name));
        let what =
            format!("{} is not a key of git-hydrate, so it does nothing: did you mean {close}?", printable(name));
        self.bad(what, remedy);
    }

    fn value(&mut self, key: &str, kind: Kind) {
        // A key alone is true.
        let value = self.repository.config(key).unwrap_or_else(|| "true".to_owned());
        let wrong = match kind {
            Kind::Switch => self.repository.config_bool(key).is_none().then_some(("true or false", "true")),
            Kind::Number => {
                let is_good = self.repository.config_number(key).is_some_and(|number| number >= 0);
                (!is_good).then_some(("a number, 0 or more", ""))
            }
            Kind::Seconds => {
                let is_good = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                (!is_good).then_some(("a number of seconds, 0 or more", ""))
            }
            Kind::Word(words) if !words.contains(&value.as_str()) => return self.word(key, &value, words),
            Kind::Word(_) => None,
            // What switches the script of a platform on names no command.
            Kind::Command if self.switches_nothing_on(key, &value) => {
                return self.bad(
                    format!("{key} is `{}`, which is not a command: nothing is notified", printable(&value)),
                    format!("{}, or set the command that notifies the platform", self.unset(key)),
                );
            }
            Kind::Command | Kind::File => return self.place(key, &value, kind),
            Kind::Variable => {
                let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
                let is_good = value.bytes().next().is_some_and(is_letter)
                    && value.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit());
                (!is_good).then_some(("the name of a variable, such as GL_USER", "GL_USER"))
            }
            Kind::Text => None,
        };
        let Some((expected, example)) = wrong else { return };
        let remedy = match example {
            "" => format!("{}, or set a number", self.unset(key)),
            example => format!("{} config {key} {example}", self.git_command()),
        };
        self.bad(format!("{key} is `{}`: it must be {expected}", printable(&value)), remedy);
    }

    /// Whether a key switches on what no script of a platform is there for.
    fn switches_nothing_on(&self, key: &str, value: &str) -> bool {
        let is_switch = value.is_empty() || self.repository.config_bool(key) == Some(true);
        key == "hydrate.tell" && is_switch && !is_executable(&self.repository.common_dir().join(GITEA))
    }

    /// A value that is none of its words.
    fn word(&mut self, key: &str, value: &str, words: &[&str]) {
        let (first, last) = (words.first().unwrap_or(&""), words.last().unwrap_or(&""));
        let expected = format!("{} or {last}", words[..words.len().saturating_sub(1)].join(", "));
        let remedy = format!("{} config {key} {first}", self.git_command());
        self.bad(format!("{key} is `{}`: it must be {expected}", printable(value)), remedy);
    }

    /// Whether a program or the directory of a file is where a key says.
    fn place(&mut self, key: &str, value: &str, kind: Kind) {
        let mut remedy = format!("{}, or set another", self.unset(key));
        let wrong = match kind {
            Kind::File => {
                let path = self.repository.common_dir().join(value);
                let dir = path.parent().unwrap_or(&path);
                if !dir.exists() {
                    remedy = self.as_owner(format!("mkdir -p {}", shell_path(dir)));
                }
                (!dir.is_dir()).then(|| format!("is in {}, which is not a directory", dir.display()))
            }
            _ => {
                // What else a shell reads may be anything.
                let program = value.split_whitespace().next().unwrap_or_default();
                let is_plain =
                    program.starts_with('/') && !program.contains(['$', '`', '\'', '"', '\\', ';', '&', '|']);
                match std::fs::metadata(program).is_ok() {
                    _ if !is_plain => None,
                    false => Some(format!("runs {program}, which does not exist")),
                    true if !is_executable(Path::new(program)) => {
                        remedy = format!("chmod +x {}", shell_path(Path::new(program)));
                        Some(format!("runs {program}, which is not executable"))
                    }
                    true => None,
                }
            }
        };
        if let Some(wrong) = wrong {
            self.bad(format!("{key} {}", printable(&wrong)), remedy);
        }
    }

    /// Whether git and we read the same configuration of the machine.
    pub(super) fn system_config(&mut self) {
        // git 2.41 and later tell.
        let Ok(answer) = self.repository.git().output(&["var", "GIT_CONFIG_SYSTEM"]) else { return };
        let answer = String::from_utf8_lossy(&answer);
        let Some(path) = answer.lines().next().filter(|path| Path::new(path).is_file()) else { return };
        let named = std::path::PathBuf::from(path);
        let found = repo::system_config(&self.around.search_path).unwrap_or_else(|| "/etc/gitconfig".into());
        let same = |a: &Path, b: &Path| a.canonicalize().ok() == b.canonicalize().ok();
        if self.around.names_system_config || same(&named, &found) {
            return;
        }
        let what = format!("git reads {path}, git-hydrate does not: what is set there counts for git only");
        let remedy = format!(
            "repeat its hydrate.* and safe.* keys in {}, or for each repository",
            shell_path(Path::new("/etc/gitconfig"))
        );
        self.bad(what, remedy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_readme_is_known() {
        let readme = include_str!("../../../docs/reference.md");
        let (_, table) = readme.split_once("## git config").expect("a chapter");
        let (table, _) = table.split_once("\n## ").expect("another chapter");
        let named: Vec<&str> = table.split('`').skip(1).step_by(2).filter(|key| key.starts_with("hydrate.")).collect();
        assert!(named.len() > 20, "{named:?}");
        for key in named.iter().filter(|key| !key.ends_with(".*")) {
            assert!(KEYS.iter().any(|(known, _)| known == key), "{key}");
        }
        let (_, chapter) = readme.split_once("## Another repository as destination").expect("a chapter");
        let destinations = NAMED.iter().find(|(top, _)| *top == "hydrate.destination.").expect("a table").1;
        for (key, _) in destinations {
            assert!(chapter.contains(&format!("| `hydrate.destination.NAME.{key}` |")), "{key}");
        }
    }
}
