//! What can be asked of a build.

use dry_files::inputs::Inputs;

use super::tree::Limits;
use super::version::{Kustomize, UnknownKustomize};
use helm_template::version::{Helm, UnknownHelm};

/// Which files a kustomization may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadRestrictor {
    /// Those in or below its own directory (`LoadRestrictionsRootOnly`).
    #[default]
    RootOnly,
    /// All of the repository (`LoadRestrictionsNone`).
    None,
}

/// How resources are ordered when the kustomization does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reorder {
    /// By kind, as a cluster needs them: namespaces first, webhooks last.
    #[default]
    Legacy,
    /// As they were read.
    None,
}

/// The options of `kustomize build`.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The Kustomize that is built as.
    pub version: Kustomize,
    /// The Helm that charts are rendered as, for who renders them.
    pub helm: Helm,
    /// Which files a kustomization may name.
    pub load_restrictor: LoadRestrictor,
    /// How resources are ordered when the kustomization does not say.
    pub reorder: Reorder,
    /// Whether `helmCharts` are rendered.
    pub enable_helm: bool,
    /// Whether generators and transformers that are not built in are let through to their own refusal.
    pub enable_alpha_plugins: bool,
    /// Kubernetes version for charts, over what the kustomization says.
    pub helm_kube_version: String,
    /// API versions for charts, over what the kustomization says.
    pub helm_api_versions: Vec<String>,
    /// Whether every resource gets the label `app.kubernetes.io/managed-by`.
    pub managed_by_label: bool,
    /// What is kept of other repositories and hosts.
    pub inputs: &'static dyn Inputs,
    /// What the build may take.
    pub limits: Limits,
    /// Whether [`Build::origins`](super::Build::origins) are noted.
    pub note_origins: bool,
    /// The kustomization of the directory that is built, in place of the content of its file.
    pub kustomization: Option<Vec<u8>>,
}

impl Options {
    /// Reads the flags of `kustomize build` and `kubectl kustomize`, and `--kustomize-version` and `--helm-version`; gives the arguments that are no flags as well.
    ///
    /// # Errors
    ///
    /// A flag is unknown, lacks its value, has a bad one, or asks for what a render cannot do.
    pub fn parse<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<(Self, Vec<&'a str>), String> {
        let mut options = Self::default();
        let mut operands = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                operands.extend(arguments);
                break;
            }
            if !argument.starts_with('-') || argument == "-" {
                operands.push(argument);
                continue;
            }
            let (flag, value) = match argument.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (argument, None),
            };
            if options.switch(flag, value)? {
                continue;
            }
            let value = value.or_else(|| arguments.next());
            let value = value.ok_or_else(|| format!("flag needs an argument: {flag}"))?;
            options.set(flag, value)?;
        }
        Ok((options, operands))
    }

    /// Takes a flag that needs no value; whether it was one.
    fn switch(&mut self, flag: &str, value: Option<&str>) -> Result<bool, String> {
        let target = match flag {
            "--enable-helm" => &mut self.enable_helm,
            "--enable-alpha-plugins" => &mut self.enable_alpha_plugins,
            "--enable-managedby-label" => &mut self.managed_by_label,
            "--helm-debug" | "--network" | "--as-current-user" | "--enable-exec" | "--enable-star" => return Ok(true),
            _ => return Ok(false),
        };
        *target = match value {
            None | Some("true" | "1" | "t" | "T" | "TRUE" | "True") => true,
            Some("false" | "0" | "f" | "F" | "FALSE" | "False") => false,
            Some(other) => return Err(format!("invalid argument {other:?} for {flag:?} flag")),
        };
        Ok(true)
    }

    fn set(&mut self, flag: &str, value: &str) -> Result<(), String> {
        match flag {
            "--load-restrictor" => {
                self.load_restrictor = match value {
                    "LoadRestrictionsRootOnly" | "" => LoadRestrictor::RootOnly,
                    "LoadRestrictionsNone" => LoadRestrictor::None,
                    other => {
                        return Err(format!(
                            "illegal flag value --load-restrictor {other}; legal values: \
                             [LoadRestrictionsRootOnly LoadRestrictionsNone]"
                        ));
                    }
                };
            }
            "--reorder" => {
                self.reorder = match value {
                    "legacy" => Reorder::Legacy,
                    "none" => Reorder::None,
                    other => {
                        return Err(format!("illegal flag value --reorder {other}; legal values: [legacy none]"));
                    }
                };
            }
            "--kustomize-version" => {
                self.version = value.parse().map_err(|error: UnknownKustomize| error.to_string())?;
            }
            "--helm-version" => self.helm = value.parse().map_err(|error: UnknownHelm| error.to_string())?,
            "--helm-kube-version" => value.clone_into(&mut self.helm_kube_version),
            "--helm-api-versions" => self.helm_api_versions.push(value.to_owned()),
            "--helm-command" | "--network-name" | "--mount" | "--env" | "-e" => {}
            "--output" | "-o" => return Err("--output: the render writes to standard output only".to_owned()),
            other => return Err(format!("unknown flag: {other}")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags() {
        let shown = |options: &Options| format!("{options:?}");
        let parse = |text: &str| Options::parse(text.split_whitespace()).map(|(options, _)| shown(&options));
        let expected = Options { enable_helm: true, load_restrictor: LoadRestrictor::None, ..Options::default() };
        assert_eq!(parse("--enable-helm --load-restrictor LoadRestrictionsNone"), Ok(shown(&expected)));
        assert_eq!(parse("--enable-helm=true --load-restrictor=LoadRestrictionsNone"), Ok(shown(&expected)));
        assert_eq!(parse("--enable-helm=false"), Ok(shown(&Options::default())));
        assert_eq!(parse("--frob x"), Err("unknown flag: --frob".to_owned()));
        assert_eq!(parse("--reorder"), Err("flag needs an argument: --reorder".to_owned()));
        assert!(parse("--load-restrictor=all").is_err());
        assert_eq!(Options::parse(["dir", "--reorder", "none"]).map(|(_, operands)| operands), Ok(vec!["dir"]));
    }
}
