//! What an Argo CD renders with: the one table of it.

use std::fmt;
use std::str::FromStr;

use super::Tools;

/// The tools of a line of Argo CD.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Line {
    /// `3.4`: all its patch versions from `patch` on.
    minor: &'static str,
    /// The first patch version that has them.
    patch: u32,
    helm: &'static str,
    kustomize: &'static str,
    jsonnet: &'static str,
}

const fn line(
    minor: &'static str,
    patch: u32,
    helm: &'static str,
    kustomize: &'static str,
    jsonnet: &'static str,
) -> Line {
    Line { minor, patch, helm, kustomize, jsonnet }
}

/// Every line that is known, in ascending order. `docs/admin.md` shows it.
///
/// Reference: argo-cd `hack/tool-versions.sh` (Helm, Kustomize) and `go.mod` (go-jsonnet) of every tag from v3.0.0 to v3.5.1; 3.6
/// is the branch `master` of 2026-08-22.
static ARGO_CDS: [Line; 8] = [
    line("3.0", 0, "3.17.1", "5.6.0", "0.20.0"),
    line("3.1", 0, "3.18.4", "5.7.0", "0.21.0"),
    line("3.2", 0, "3.18.4", "5.7.0", "0.21.0"),
    line("3.3", 0, "3.19.4", "5.8.0", "0.21.0"),
    line("3.3", 1, "3.19.4", "5.8.1", "0.21.0"),
    line("3.4", 0, "3.19.4", "5.8.1", "0.21.0"),
    line("3.5", 0, "4.2.1", "5.8.1", "0.22.0"),
    line("3.6", 0, "4.2.4", "5.8.1", "0.22.0"),
];

/// A version of Argo CD by which tools are chosen: `3.4`, or one patch version of it, `3.3.0`. Kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ArgoCd {
    text: String,
    line: &'static Line,
}

impl ArgoCd {
    /// What it renders with; of a minor version, the newest patch version of it.
    pub(crate) fn tools(&self) -> Tools {
        let Line { helm, kustomize, jsonnet, .. } = self.line;
        Tools {
            helm: helm.parse().expect("a Helm of the table is known"),
            kustomize: kustomize.parse().expect("a Kustomize of the table is known"),
            jsonnet: jsonnet.parse().expect("a Jsonnet of the table is known"),
        }
    }
}

impl fmt::Display for ArgoCd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The text is no version of Argo CD whose tools are known. Reads as a sentence that names the nearest one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnknownArgoCd {
    /// Not a version.
    #[error("`{0}` is not a version of Argo CD such as {newest}", newest = newest())]
    NoVersion(String),
    /// One that is too old or too new.
    #[error("the tools of Argo CD {asked} are not known: the nearest that is known is {nearest}")]
    Unknown {
        /// What was given.
        asked: String,
        /// The known version that is nearest.
        nearest: &'static str,
    },
}

fn newest() -> &'static str {
    ARGO_CDS.last().map_or(super::ARGO_CD, |line| line.minor)
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|part| part.parse().ok().filter(|number: &u32| number.to_string() == part)).collect()
}

impl FromStr for ArgoCd {
    type Err = UnknownArgoCd;

    fn from_str(text: &str) -> Result<Self, UnknownArgoCd> {
        // As its tags are named.
        let text = text.strip_prefix('v').unwrap_or(text);
        let (minor, patch) = match numbers(text).as_deref() {
            Some(&[major, minor]) => ([major, minor], u32::MAX),
            Some(&[major, minor, patch]) => ([major, minor], patch),
            Some(_) | None => return Err(UnknownArgoCd::NoVersion(text.to_owned())),
        };
        let of = |line: &Line| numbers(line.minor).is_some_and(|known| known == minor) && line.patch <= patch;
        match ARGO_CDS.iter().rfind(|line| of(line)) {
            Some(line) => Ok(Self { text: text.to_owned(), line }),
            None => {
                let later = |line: &&Line| numbers(line.minor).is_some_and(|known| known[..] > minor[..]);
                let nearest = ARGO_CDS.iter().find(later).map_or(newest(), |line| line.minor);
                Err(UnknownArgoCd::Unknown { asked: text.to_owned(), nearest })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argo_cd_has_the_tools_of_its_line() {
        let rows = [
            ("3.0", "Helm 3.17.1, Kustomize 5.6.0, Jsonnet 0.20.0"),
            ("3.1", "Helm 3.18.4, Kustomize 5.7.0, Jsonnet 0.21.0"),
            ("3.2.7", "Helm 3.18.4, Kustomize 5.7.0, Jsonnet 0.21.0"),
            ("3.3", "Helm 3.19.4, Kustomize 5.8.1, Jsonnet 0.21.0"),
            ("3.3.0", "Helm 3.19.4, Kustomize 5.8.0, Jsonnet 0.21.0"),
            ("3.3.1", "Helm 3.19.4, Kustomize 5.8.1, Jsonnet 0.21.0"),
            ("3.4", "Helm 3.19.4, Kustomize 5.8.1, Jsonnet 0.21.0"),
            ("3.5.1", "Helm 4.2.1, Kustomize 5.8.1, Jsonnet 0.22.0"),
            ("3.6", "Helm 4.2.4, Kustomize 5.8.1, Jsonnet 0.22.0"),
        ];
        for (text, tools) in rows {
            let argo_cd: ArgoCd = text.parse().expect(text);
            assert_eq!((argo_cd.to_string().as_str(), argo_cd.tools().to_string().as_str()), (text, tools));
        }
    }

    #[test]
    fn one_that_is_too_old_or_too_new_is_refused_with_the_nearest() {
        for (text, nearest) in [("2.14", "3.0"), ("2.13.1", "3.0"), ("3.7", "3.6"), ("4.0", "3.6")] {
            let error = text.parse::<ArgoCd>().expect_err(text).to_string();
            assert_eq!(
                error,
                format!("the tools of Argo CD {text} are not known: the nearest that is known is {nearest}")
            );
        }
        for text in ["", "3", "3.4.x", "03.4", "latest", "3.4.1.1"] {
            let error = text.parse::<ArgoCd>().expect_err(text).to_string();
            assert_eq!(error, format!("`{text}` is not a version of Argo CD such as 3.6"));
        }
    }
}
