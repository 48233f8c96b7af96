//! The hooks of a server, and the settings that go with them.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use dry_files::diag::{shell_path, shell_word};

use super::calling::calling;
use super::forge::{GITEA, GITEA_PUSHER, mirror};
use super::hook::{CLIENT_HOOKS, Hook, Owner, SERVER_HOOKS};
use super::place::{Place, content, is_gitlab};
use super::{Error, Installer, Io as _, State, is_executable, kept};
use crate::owners::heads::REMOTE;

/// The key with those who may push settings.
const SETTINGS_PUSHER: &str = "hydrate.settingsPusher";

/// The key with the variable that names who pushes.
const PUSHER_VARIABLE: &str = "hydrate.pusherVariable";

impl Installer<'_> {
    /// Has git run the program at `binary` after each push.
    pub(crate) fn server(&mut self, binary: &Path) -> Result<(), Error> {
        if let Some(mirror) = mirror(self.repository) {
            return Err(mirror.into());
        }
        self.hooks(SERVER_HOOKS, binary)?;
        let is_gitea = is_executable(&self.repository.common_dir().join(GITEA));
        if is_gitea {
            self.gitea()?;
        }
        if is_gitlab(self.repository, &self.config) {
            self.advise(
                State::Note,
                "GitLab does not see branches that a hook moves: its pages, pipelines and webhooks do not follow",
                "let the pre-receive hook judge pushes, and a job hydrate: git hydrate push",
            );
        }
        if self.repository.config("core.logAllRefUpdates").is_none() {
            self.config.lend("core.logAllRefUpdates", "true")?;
            let what = match is_gitea {
                true => "when a branch moved, but not by whom: to git all pushers are `Gitea`",
                false => "who moved a branch",
            };
            self.step(
                State::Done,
                format!("core.logAllRefUpdates = true: the reflogs record {what}; hydrate.log who pushed settings"),
            );
        }
        Ok(())
    }

    /// Sets who may push settings, and the variable that names who pushes.
    pub(crate) fn pushers(&mut self, variable: Option<&str>, names: &[String]) -> Result<(), Error> {
        let variable = variable.map(|variable| (PUSHER_VARIABLE, variable, "it names who pushes"));
        let names = names.iter().map(|name| (SETTINGS_PUSHER, name.as_str(), "may push settings"));
        for (key, value, what) in variable.into_iter().chain(names) {
            let state = if self.config.add(key, value)? { State::Done } else { State::Already };
            self.step(state, format!("{key} = {value}: {what}"));
        }
        Ok(())
    }

    /// What Gitea and Forgejo know of pushers.
    fn gitea(&mut self) -> Result<(), Error> {
        if self.repository.config_list(PUSHER_VARIABLE).is_empty() {
            self.config.lend(PUSHER_VARIABLE, GITEA_PUSHER)?;
            self.step(State::Done, format!("{PUSHER_VARIABLE} = {GITEA_PUSHER}: it names who pushes"));
        }
        Ok(())
    }

    /// Puts hooks where they belong, and takes them away wherever else they were put once.
    pub(super) fn hooks(&mut self, hooks: &[Hook], binary: &Path) -> Result<(), Error> {
        // What cannot be read is found before anything is written.
        for hook in hooks {
            if let Place::File(file) | Place::Beside(file) = Place::of(hook, self.repository, &self.config, self.git)? {
                content(&file)?;
            }
        }
        for hook in hooks {
            let place = Place::of(hook, self.repository, &self.config, self.git)?;
            for other in Place::all(hook, self.repository)? {
                if other != place {
                    self.take_away(hook, &other)?;
                }
            }
            self.put(hook, place, binary)?;
        }
        Ok(())
    }

    /// Takes away what [`Installer::server`] and [`Installer::client`] did.
    pub(crate) fn uninstall(&mut self) -> Result<(), Error> {
        for hook in SERVER_HOOKS.iter().chain(CLIENT_HOOKS) {
            for place in Place::all(hook, self.repository)? {
                self.take_away(hook, &place)?;
            }
        }
        for entry in self.config.withdraw()? {
            self.step(State::Done, format!("{entry}: removed"));
        }
        if self.config.clear(REMOTE)? {
            self.step(State::Done, format!("{REMOTE}: removed"));
        }
        if self.steps.is_empty() {
            self.step(State::Already, "nothing is installed");
        }
        self.note_keys();
        Ok(())
    }

    /// Names the keys that others set, such as a credential helper.
    fn note_keys(&mut self) {
        let (keys, sections) = self.config.left();
        if keys.is_empty() {
            return;
        }
        let git = format!("git -C {}", shell_path(self.repository.common_dir()));
        let removal = |section: &&str| format!("{git} config --remove-section {}", shell_word(section));
        let what = format!("git config keys that you set are kept: {}", keys.join(", "));
        let removals: Vec<String> = sections.iter().map(removal).collect();
        let advice = format!("to remove them: {}", removals.join(" && "));
        self.advise(State::Note, what, advice);
    }

    fn put(&mut self, hook: &Hook, place: Place, binary: &Path) -> Result<(), Error> {
        match place {
            Place::File(file) => self.put_file(hook, &file, &kept(&file), binary),
            Place::Beside(file) => self.put_file(hook, &file, &file, binary),
            Place::Config => {
                let event = self.config.set(&hook.key("event"), hook.name)?;
                let command = self.config.set(&hook.key("command"), &hook.command(binary))?;
                let state = if event || command { State::Done } else { State::Already };
                self.step(state, format!("{} runs {}", hook.key("command"), binary.display()));
                Ok(())
            }
            Place::Nowhere { reason, advice } => {
                match calling(hook, self.repository)?.filter(|file| is_executable(file)) {
                    Some(file) => {
                        let shown = self.shown(&file);
                        self.step(State::Already, format!("{shown} calls git-hydrate"));
                    }
                    None => {
                        self.refused.push(hook.name);
                        self.advise(State::Refused, format!("{reason}: pushes are not {}", hook.work()), advice);
                    }
                }
                Ok(())
            }
        }
    }

    /// Writes the script `file`. One that is not ours is renamed to `kept` first.
    fn put_file(&mut self, hook: &Hook, file: &Path, kept: &Path, binary: &Path) -> Result<(), Error> {
        let script = hook.installed(binary);
        let shown = self.shown(file);
        match content(file)? {
            None => self.write(file, &script)?,
            Some(there) => match Owner::of(&there) {
                Owner::Us if there == script.as_bytes() && is_executable(file) => {
                    self.step(State::Already, format!("{shown} runs {}", binary.display()));
                    return Ok(());
                }
                Owner::Us => self.write(file, &script)?,
                Owner::Edited => {
                    let advice = format!("move {} away, then install again", file.display());
                    self.advise(
                        State::Refused,
                        format!("{shown} was written by git-hydrate and edited since; it is kept"),
                        advice,
                    );
                    return Ok(());
                }
                Owner::Other | Owner::Manager(_) if kept == file || fs::symlink_metadata(kept).is_ok() => {
                    let (file, kept) = (file.display(), kept.display());
                    let advice = format!("join {file} and {kept} into one of them, then install again");
                    self.advise(State::Refused, format!("{shown} was not written by git-hydrate; it is kept"), advice);
                    return Ok(());
                }
                Owner::Other | Owner::Manager(_) => {
                    // The hook stays in place until ours takes it over, so that no push finds none. A file system
                    // without hard links gets a moment without.
                    if fs::hard_link(file, kept).is_err() {
                        fs::rename(file, kept).doing(|| format!("renaming {}", file.display()))?;
                    }
                    self.write(file, &script)?;
                    let runs = if is_executable(kept) {
                        "which runs first"
                    } else {
                        "which is not executable and does not run"
                    };
                    let kept = self.shown(kept);
                    self.step(State::Done, format!("{shown} is kept as {kept}, {runs}"));
                }
            },
        }
        self.step(State::Done, format!("{shown} runs {}", binary.display()));
        Ok(())
    }

    fn take_away(&mut self, hook: &Hook, place: &Place) -> Result<(), Error> {
        let (file, kept) = match place {
            Place::Config => {
                let event = self.config.clear(&hook.key("event"))?;
                if self.config.clear(&hook.key("command"))? || event {
                    self.step(State::Done, format!("{}: removed", hook.key("command")));
                }
                return Ok(());
            }
            Place::Nowhere { .. } => return Ok(()),
            Place::Beside(file) => (file, None),
            Place::File(file) => (file, Some(kept(file)).filter(|kept| fs::symlink_metadata(kept).is_ok())),
        };
        let Some(there) = content(file)? else { return Ok(()) };
        let shown = self.shown(file);
        match (Owner::of(&there), kept) {
            (Owner::Us, Some(kept)) => {
                fs::rename(&kept, file).doing(|| format!("renaming {}", kept.display()))?;
                self.step(State::Done, format!("{shown} is restored"));
            }
            (Owner::Us, None) => {
                fs::remove_file(file).doing(|| format!("removing {}", file.display()))?;
                self.step(State::Done, format!("{shown}: removed"));
            }
            (Owner::Edited, _) => {
                let advice = format!("remove the call of `git-hydrate hook {}` from {}", hook.name, file.display());
                self.advise(
                    State::Refused,
                    format!("{shown} was written by git-hydrate and edited since; it is kept"),
                    advice,
                );
            }
            (Owner::Other | Owner::Manager(_), _) => {}
        }
        Ok(())
    }

    /// Writes an executable script as a whole, whatever was there, with the modes that the repository asks for.
    fn write(&self, file: &Path, script: &str) -> Result<(), Error> {
        let writing = || format!("writing {}", file.display());
        let shared = self.repository.shared();
        let dir = file.parent().unwrap_or(file);
        if !dir.is_dir() {
            fs::create_dir_all(dir).doing(writing)?;
            let mode = fs::metadata(dir).doing(writing)?.permissions().mode();
            set_mode(dir, shared.directory_mode(mode)).doing(writing)?;
        }
        let mut new = tempfile::NamedTempFile::new_in(dir).doing(writing)?;
        new.write_all(script.as_bytes()).doing(writing)?;
        set_mode(new.path(), shared.file_mode(0o755)).doing(writing)?;
        new.persist(file).map_err(|error| error.error).doing(writing)?;
        Ok(())
    }
}

fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}
