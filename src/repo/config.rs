//! git's configuration, as far as it says how we write.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

/// Which of our writes must reach the disk before they count: git's `core.fsync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fsync {
    /// Objects in files of their own.
    pub loose_objects: bool,
    /// Packs and their indexes.
    pub packs: bool,
}

impl Fsync {
    /// Reads a list such as `committed,-loose-object`, as git 2.36 and later do. Without one packs are flushed,
    /// loose objects are not.
    pub fn parse(setting: Option<&str>) -> Self {
        let mut fsync = Self { loose_objects: false, packs: true };
        let Some(setting) = setting else { return fsync };
        fsync = Self { loose_objects: false, packs: true };
        for word in setting.split(',').map(str::trim) {
            let (on, component) = word.strip_prefix('-').map_or((true, word), |component| (false, component));
            match component {
                "none" => fsync = Self { loose_objects: false, packs: false },
                "default" => fsync = Self { loose_objects: false, packs: true },
                "loose-object" => fsync.loose_objects = on,
                "pack" => fsync.packs = on,
                "objects" | "committed" | "added" | "all" => fsync = Self { loose_objects: on, packs: on },
                _ => {}
            }
        }
        fsync
    }
}

/// Who else may read and write the files of the repository: git's `core.sharedRepository`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// Whatever the process's umask says.
    Umask,
    /// At least the bits for the group.
    Group,
    /// As [`Shared::Group`], readable by everybody.
    Everybody,
    /// Exactly these bits.
    Mode(u32),
}

impl Shared {
    /// Reads git's setting: a name, a truth value, or an octal mode.
    pub fn parse(setting: Option<&str>) -> Self {
        match setting.unwrap_or("umask") {
            "group" | "true" | "1" => Shared::Group,
            "all" | "world" | "everybody" | "2" => Shared::Everybody,
            text => match u32::from_str_radix(text, 8) {
                Ok(mode) if mode & 0o600 == 0o600 => Shared::Mode(mode & 0o666),
                _ => Shared::Umask,
            },
        }
    }

    /// The mode for a file that was made with `mode`: a read-only file stays so for everybody.
    pub fn file_mode(self, mode: u32) -> u32 {
        let bits = match self {
            Shared::Umask => return mode,
            Shared::Group => mode | 0o660,
            Shared::Everybody => mode | 0o664,
            Shared::Mode(exact) => (mode & !0o777) | exact,
        };
        if mode & 0o200 == 0 { bits & !0o222 } else { bits }
    }

    /// Gives a file of ours the mode for those who may use the repository; one of another user stays as it is.
    pub fn give(self, file: &File) -> io::Result<()> {
        let metadata = file.metadata()?;
        let mode = metadata.permissions().mode() & 0o7777;
        if self.file_mode(mode) == mode || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Ok(());
        }
        file.set_permissions(Permissions::from_mode(self.file_mode(mode)))
    }

    /// The mode for a directory that was made with `mode`: who may read may enter, and what is made in it belongs to
    /// the group.
    pub fn directory_mode(self, mode: u32) -> u32 {
        if self == Shared::Umask {
            return mode;
        }
        let bits = self.file_mode(mode | 0o200);
        bits | ((bits & 0o444) >> 2) | 0o2000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fsync_settings() {
        let rows = [
            (None, false, true),
            (Some("committed"), true, true),
            (Some("committed,-loose-object"), false, true),
            (Some("none"), false, false),
            (Some("loose-object"), true, true),
            (Some("none,pack"), false, true),
            (Some("all,-pack"), true, false),
        ];
        for (setting, loose_objects, packs) in rows {
            assert_eq!(Fsync::parse(setting), Fsync { loose_objects, packs }, "{setting:?}");
        }
    }

    #[test]
    fn shared_modes() {
        let rows = [
            (None, 0o444, 0o444, 0o755),
            (Some("group"), 0o444, 0o440 | 0o444, 0o2775),
            (Some("0640"), 0o444, 0o440, 0o2750),
            (Some("all"), 0o400, 0o444, 0o2775),
        ];
        for (setting, made, file, directory) in rows {
            let shared = Shared::parse(setting);
            assert_eq!(shared.file_mode(made), file, "{setting:?}");
            assert_eq!(shared.directory_mode(0o755), directory, "{setting:?}");
        }
    }
}
