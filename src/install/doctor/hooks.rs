//! Whether the hooks are there, run, and run what they should.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use dry_files::diag::{chain, shell_path};

use super::Doctor;
use crate::install::calling::{calling, calls};
use crate::install::forge::mirror;
use crate::install::hook::{CLIENT_HOOKS, Hook, Owner, SERVER_HOOKS, binary_of};
use crate::install::place::{Place, content, hooks_dir};
use crate::install::{Error, Io as _, Version, kept};
use crate::owners::platform::is_executable;

impl Doctor<'_> {
    pub(super) fn hook(&mut self, hook: &Hook) -> Result<(), Error> {
        let place = Place::of(hook, self.repository, &self.config, self.git)?;
        let mut installed = Vec::new();
        for place in Place::all(hook, self.repository)? {
            let text = match &place {
                Place::File(file) | Place::Beside(file) => match content(file) {
                    Ok(text) => text,
                    Err(error) => {
                        let remedy = self.as_owner(format!("chmod u+rx {}", shell_path(file)));
                        self.bad(format!("{} cannot be read: {}", file.display(), chain(&error)), remedy);
                        return Ok(());
                    }
                },
                Place::Config => self.config.get(&hook.key("command")).first().map(|text| text.clone().into_bytes()),
                Place::Nowhere { .. } => None,
            };
            let Some(text) = text else { continue };
            let ours = matches!(Owner::of(&text), Owner::Us | Owner::Edited) || place == Place::Config;
            if ours {
                installed.push((place, text));
            }
        }
        self.is_installed |= !installed.is_empty();
        let again = self.as_owner(hook.install(self.repository));
        match &installed[..] {
            [] if hook.is_gate() && !self.needs_gate() => Ok(()),
            [] => self.hook_by_hand(hook, place, &again),
            [(place, text)] => self.installed_hook(hook, place, text, &again),
            _ => {
                self.bad(format!("{} is installed twice, so each push does its work twice", hook.name), again);
                Ok(())
            }
        }
    }

    /// A hook that we did not write may call us all the same.
    fn hook_by_hand(&mut self, hook: &Hook, place: Place, again: &str) -> Result<(), Error> {
        match (calling(hook, self.repository)?, place) {
            (Some(file), _) if is_executable(&file) => self.called_by_hand(hook, &file)?,
            (Some(file), _) => self.not_executable(&file),
            (None, Place::Nowhere { reason, advice }) if hook.is_client() => {
                self.advise(format!("pushes are not checked: {reason}"), advice);
            }
            (None, _) if hook.is_client() => self.advise("pushes are not checked", again),
            // It is said of the mirror.
            (None, _) if mirror(self.repository).is_some() => {}
            (None, Place::Nowhere { reason, advice }) => {
                self.bad(format!("no {} hook runs git-hydrate: {reason}", hook.name), advice);
            }
            (None, _) => self.bad(format!("no {} hook runs git-hydrate", hook.name), again),
        }
        Ok(())
    }

    /// A script that calls us runs the program that it names, which a move or an upgrade may have left behind.
    fn called_by_hand(&mut self, hook: &Hook, file: &Path) -> Result<(), Error> {
        match content(file)?.as_deref().and_then(binary_of) {
            Some(binary) => {
                let print = format!("git hydrate install --print {}", hook.name);
                let again =
                    format!("write the script anew, with the path of today's program: {print} >{}", shell_path(file));
                self.binary(hook, &file.display().to_string(), Path::new(&binary), &again)
            }
            None => {
                self.good(format!("{} calls git-hydrate", file.display()));
                Ok(())
            }
        }
    }

    fn installed_hook(&mut self, hook: &Hook, place: &Place, text: &[u8], again: &str) -> Result<(), Error> {
        // Over a hook that was edited, nothing is installed.
        let moved = match place {
            Place::File(file) | Place::Beside(file) if Owner::of(text) == Owner::Edited => {
                Some(format!("move {} away, then: {again}", shell_path(file)))
            }
            Place::File(_) | Place::Beside(_) | Place::Config | Place::Nowhere { .. } => None,
        };
        let again = moved.as_deref().unwrap_or(again);
        if let (Place::File(file) | Place::Beside(file), false) = (place, calls(text, hook)) {
            let other = SERVER_HOOKS.iter().chain(CLIENT_HOOKS).find(|other| calls(text, other));
            let is =
                other.map_or("does not call git-hydrate".to_owned(), |other| format!("is our {} hook", other.name));
            let what = format!("{} {is}: pushes are not {}", file.display(), hook.work());
            let remedy = match Owner::of(text) {
                Owner::Us | Owner::Edited => again.to_owned(),
                _ => format!("move {} away, then: {again}", shell_path(file)),
            };
            self.bad(what, remedy);
            return Ok(());
        }
        let script = match place {
            Place::File(file) | Place::Beside(file) => {
                if !is_executable(file) {
                    self.not_executable(file);
                    return Ok(());
                }
                if let Place::Beside(_) = place {
                    self.runs_through(hook, file)?;
                }
                if Owner::of(text) == Owner::Edited {
                    self.advise(
                        format!("{} was edited since it was installed: it is not kept up to date", file.display()),
                        again,
                    );
                }
                let kept = kept(file);
                if is_executable(&kept) {
                    self.good(format!("{} runs first", kept.display()));
                } else if kept.exists() {
                    let what = format!("{} is not executable, so it does not run before ours", kept.display());
                    self.advise(what, format!("if it is to run: chmod +x {}", shell_path(&kept)));
                }
                file.display().to_string()
            }
            Place::Config | Place::Nowhere { .. } => {
                if self.git < Version::WITH_CONFIG_HOOKS {
                    let what = format!(
                        "the {} hook is in git's configuration, which git {} does not read",
                        hook.name, self.git
                    );
                    self.bad(what, again);
                }
                hook.key("command")
            }
        };
        match binary_of(text) {
            None => self.bad(format!("{script} names no program"), again),
            Some(binary) => self.binary(hook, &script, Path::new(&binary), again)?,
        }
        Ok(())
    }

    fn binary(&mut self, hook: &Hook, script: &str, binary: &Path, again: &str) -> Result<(), Error> {
        let shown = binary.display();
        if !is_executable(binary) {
            // The script reads the key, and takes any other word for `refuse`.
            let word = self.repository.config("hydrate.withoutProgram").unwrap_or_default();
            let effect = match hook.is_gate() && !matches!(word.as_str(), "" | "warn") {
                true => "pushes are refused (hydrate.withoutProgram)".to_owned(),
                false => format!("pushes are not {}", hook.work()),
            };
            self.bad(format!("{script} runs {shown}, which does not exist: {effect}"), again);
            return Ok(());
        }
        let dir = self.repository.common_dir();
        let owner = fs::metadata(dir).doing(|| format!("reading {}", dir.display()))?;
        if let Some(closed) = binary.ancestors().skip(1).find(|dir| !may_enter(dir, owner.uid(), owner.gid())) {
            let what = format!("{script} runs {shown}, but user {} cannot enter {}", owner.uid(), closed.display());
            self.bad(what, "install git-hydrate for all users: sudo ./install.sh --prefix /usr/local");
        }
        let answer = Command::new(binary).arg("--version").output();
        match answer {
            Ok(answer) if answer.status.success() => {
                let version = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
                if version == self.around.version {
                    self.good(format!("{script} runs {shown} ({version})"));
                } else {
                    let what = format!("{script} runs {shown}, which is {version}; this is {}", self.around.version);
                    self.advise(what, again);
                }
            }
            Ok(answer) => {
                let complaint = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
                self.bad(format!("{script} runs {shown}, which fails ({}): {complaint}", answer.status), again);
            }
            Err(error) => self.bad(format!("{script} runs {shown}, which does not start: {error}"), again),
        }
        Ok(())
    }

    /// A file in a directory of hooks runs only by the script that runs through them.
    fn runs_through(&mut self, hook: &Hook, file: &Path) -> Result<(), Error> {
        let driver = hooks_dir(hook, self.repository)?.join(hook.name);
        // Those of GitLab are run by its own program.
        if file.parent().and_then(Path::parent) == driver.parent() && !is_executable(&driver) {
            let what = format!("{} is not executable, so {} does not run", driver.display(), file.display());
            self.bad(what, format!("chmod +x {}", shell_path(&driver)));
        }
        Ok(())
    }

    fn not_executable(&mut self, file: &Path) {
        self.bad(
            format!("{} is not executable: git skips it", file.display()),
            format!("chmod +x {}", shell_path(file)),
        );
    }
}

/// Whether a user whose group is `group` may pass through a directory.
fn may_enter(dir: &Path, user: u32, group: u32) -> bool {
    let Ok(metadata) = fs::metadata(dir) else { return true };
    let bit = if metadata.uid() == user {
        0o100
    } else if metadata.gid() == group {
        0o010
    } else {
        0o001
    };
    user == 0 || metadata.permissions().mode() & bit != 0
}
