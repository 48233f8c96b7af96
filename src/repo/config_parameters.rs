//! What `git -c KEY=VALUE` hands to the programs that it starts.

use std::sync::OnceLock;

use super::bare;

static GIVEN: OnceLock<Vec<String>> = OnceLock::new();

/// The keys that are taken over: those that git itself does not read, and what we heed as git does.
const OURS: &str = "hydrate";
const HEEDED: &str = bare::KEY;

/// Has every repository that this process opens read what `git -c` was given, as `GIT_CONFIG_PARAMETERS` has it: the keys
/// below `hydrate` and `hydrate-*`, and `safe.bareRepository`. What git would not write there is left out.
pub(crate) fn use_config_parameters(text: &str) {
    drop(GIVEN.set(ours(text)));
}

/// Each as `KEY=VALUE`, or as `KEY` for a key that is true.
pub(super) fn given() -> impl Iterator<Item = &'static str> {
    GIVEN.get().into_iter().flatten().map(String::as_str)
}

fn ours(text: &str) -> Vec<String> {
    let begins = |given: &str, key: &str| given.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key));
    let is_ours = |given: &str| begins(given, OURS) || begins(given, HEEDED);
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some((first, behind)) = quoted(rest) {
        // Since git 2.31: 'KEY'='VALUE', or 'KEY'=
        let Some(value) = behind.strip_prefix('=') else {
            found.push(first);
            rest = behind.trim_start();
            continue;
        };
        let is_key = !first.contains('=');
        if value.is_empty() || value.starts_with(' ') {
            found.extend(is_key.then_some(first));
            rest = value.trim_start();
            continue;
        }
        let Some((value, behind)) = quoted(value) else { break };
        found.extend(is_key.then(|| format!("{first}={value}")));
        rest = behind.trim_start();
    }
    found.retain(|given| is_ours(given));
    found
}

/// The text in the quotes that git opens and closes, and what follows.
///
/// Reference: git 2.47 quote.c `sq_dequote_step`.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut found = String::new();
    let mut rest = text.strip_prefix('\'')?;
    loop {
        let (part, behind) = rest.split_once('\'')?;
        found.push_str(part);
        let escaped = ["\\''", "\\!'"].iter().find_map(|escape| Some((escape, behind.strip_prefix(escape)?)));
        let Some((escape, behind)) = escaped else { return Some((found, behind)) };
        found.extend(escape.chars().nth(1));
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_each_git_are_read() {
        let rows: [(&str, &[&str]); 10] = [
            ("", &[]),
            ("'hydrate.helm'='/opt/helm'", &["hydrate.helm=/opt/helm"]),
            ("'hydrate.helm=/opt/helm'", &["hydrate.helm=/opt/helm"]),
            (
                "'core.abbrev'='4' 'hydrate.guard' 'Hydrate-plugin.X.command'='a b'",
                &["hydrate.guard", "Hydrate-plugin.X.command=a b"],
            ),
            ("'hydrate.guard'=", &["hydrate.guard"]),
            ("'safe.barerepository'='explicit' 'safe.directory'='*'", &["safe.barerepository=explicit"]),
            (r"'hydrate.helm'='it'\''s a=b'\!''", &["hydrate.helm=it's a=b!"]),
            ("'hydrate-plugin.a=b.command'='x'", &[]),
            ("hydrate.helm=/opt/helm", &[]),
            ("'hydrate.helm'='/opt", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(ours(text), expected, "{text}");
        }
    }
}
