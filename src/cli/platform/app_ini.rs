//! Where Gitea and Forgejo have the home of their git, as their own configuration says.
//!
//! Reference: Gitea 1.25 modules/gitrepo/hooks.go `getHookTemplates`, modules/setting/git.go `HomePath`, modules/setting/path.go,
//! modules/setting/server.go `AppDataPath`.

use std::path::{Path, PathBuf};

/// The file `app.ini` that a script of the platform for hooks names: `PROGRAM hook --config=FILE post-receive`.
pub(super) fn named_by(script: &str) -> Option<PathBuf> {
    let (_, rest) = script.split_once(" hook --config=")?;
    let path = match rest.chars().next()? {
        quote @ ('\'' | '"') => rest.get(1..)?.split(quote).next()?,
        _ => rest.split_whitespace().next()?,
    };
    Some(PathBuf::from(path)).filter(|path| path.is_absolute())
}

/// The home of the platform's git; none where the directory of its data is given by a variable of its own process alone.
pub(super) fn home_of_git(app_ini: &str) -> Option<PathBuf> {
    let value = |section, key| value(app_ini, section, key);
    let home = value("git", "HOME_PATH").unwrap_or("home");
    let data = value("server", "APP_DATA_PATH").unwrap_or("data");
    let work = value("", "WORK_PATH").map_or_else(PathBuf::new, PathBuf::from);
    // A path that is absolute takes the place of what it is joined to.
    Some(work.join(data).join(home)).filter(|path| path.is_absolute())
}

/// A value of a section, of the lines before the first section where it has no name. The last one counts.
fn value<'t>(text: &'t str, section: &str, key: &str) -> Option<&'t str> {
    let (mut here, mut found) = ("", None);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            here = name.trim();
        } else if let Some((name, value)) = line.split_once('=').filter(|_| here == section)
            && name.trim() == key
        {
            found = Some(value.trim().trim_matches(['"', '`']));
        }
    }
    found.filter(|value| Path::new(value).components().next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_the_configuration_of_the_platform() {
        let rows = [
            ("#!/bin/sh\n/usr/bin/gitea hook --config=/etc/gitea/app.ini post-receive\n", Some("/etc/gitea/app.ini")),
            ("'/opt/my gitea' hook --config='/etc/my gitea/app.ini' post-receive\n", Some("/etc/my gitea/app.ini")),
            ("gitea hook --config=app.ini post-receive\n", None),
            ("exec something-else\n", None),
        ];
        for (script, expected) in rows {
            assert_eq!(named_by(script), expected.map(PathBuf::from), "{script}");
        }
    }

    #[test]
    fn the_home_of_its_git_is_below_its_data_unless_it_is_named() {
        let rows = [
            ("WORK_PATH = /var/lib/gitea\n", Some("/var/lib/gitea/data/home")),
            ("[server]\nAPP_DATA_PATH = /data/gitea\n[git.config]\nAPP_DATA_PATH = no\n", Some("/data/gitea/home")),
            ("WORK_PATH=/srv\n[server]\nAPP_DATA_PATH=d\n[git]\nHOME_PATH = h\n", Some("/srv/d/h")),
            ("[git]\n;HOME_PATH = /no\nHOME_PATH = `/home/of/git`\n", Some("/home/of/git")),
            ("[server]\nAPP_DATA_PATH =\n", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(home_of_git(text), expected.map(PathBuf::from), "{text}");
        }
    }
}
