//! `git hydrate render directory`: the plain manifests and the Jsonnet of a directory.

use anyhow::Context as _;
use clap::Parser;

use super::super::{Outcome, machine, output};
use super::{Place, below_here, flags, on_disk, tell};
use crate::argo::{Directory, Jsonnet, JsonnetVariable};
use crate::manifest;
use crate::render::{self, Failure};
use dry_files::diag::Diagnostic;

/// Prints the manifests of a directory, as an Application with these options of `directory` would be rendered.
///
/// `*.yaml`, `*.yml`, `*.json`, and what `*.jsonnet` evaluate to. Directories below are left out without `--recurse`.
///
/// Exit code: 0 when everything is printed, 1 when a manifest is wrong, 2 after an error.
#[derive(Debug, Parser)]
#[command(
    name = "git hydrate render directory",
    disable_version_flag = true,
    no_binary_name = true,
    after_help = "\
git hydrate render directory apps/web --recurse
git hydrate render directory apps/web --jsonnet-tla-str env=prod --jsonnet-libs lib"
)]
struct Flags {
    /// The directory.
    dir: String,
    /// Take the directories below too.
    #[arg(long)]
    recurse: bool,
    /// Take only the files that match this glob.
    #[arg(long, value_name = "GLOB")]
    include: Option<String>,
    /// Leave out the files that match this glob.
    #[arg(long, value_name = "GLOB")]
    exclude: Option<String>,
    /// A text for `std.extVar`. May be given more than once, as the flags below.
    #[arg(long, value_name = "NAME=TEXT", value_parser = variable)]
    jsonnet_ext_var_str: Vec<(String, String)>,
    /// Code for `std.extVar`.
    #[arg(long, value_name = "NAME=CODE", value_parser = variable)]
    jsonnet_ext_var_code: Vec<(String, String)>,
    /// A text as top-level argument.
    #[arg(long, value_name = "NAME=TEXT", value_parser = variable)]
    jsonnet_tla_str: Vec<(String, String)>,
    /// Code as top-level argument.
    #[arg(long, value_name = "NAME=CODE", value_parser = variable)]
    jsonnet_tla_code: Vec<(String, String)>,
    /// A directory in which imports are looked for.
    #[arg(long, value_name = "DIR")]
    jsonnet_libs: Vec<String>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a variable is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn run(arguments: &[&str]) -> anyhow::Result<Outcome> {
    let Some(flags) = flags::<Flags>(arguments)? else { return Ok(Outcome::Done) };
    let Place { top, files, dir } = on_disk(&flags.dir)?;
    let mut libs = Vec::new();
    for lib in &flags.jsonnet_libs {
        let place = on_disk(lib)?;
        let below = place.top.join(place.dir.as_str());
        let below = below.strip_prefix(&top).ok().and_then(|path| path.to_str());
        libs.push(below.with_context(|| format!("{lib} is not below {}", top.display()))?.to_owned());
    }
    let options = options(flags, libs);
    let here = |mut diagnostic: Diagnostic| {
        diagnostic.span = diagnostic.span.map(|span| below_here(span, &top));
        tell(&diagnostic);
    };
    let mut warnings = Vec::new();
    let rendered = render::render_directory(&files, &dir, &options, &machine()?, &mut warnings);
    warnings.into_iter().for_each(here);
    match rendered {
        Ok(manifests) => {
            output::print_content(manifest::encode(&manifests))?;
            Ok(Outcome::Done)
        }
        Err(Failure::Mistakes(mistakes)) => {
            mistakes.into_iter().for_each(here);
            Ok(Outcome::Found)
        }
        Err(Failure::World(error)) => Err(error.into()),
    }
}

fn options(flags: Flags, libs: Vec<String>) -> Directory {
    let variables = |texts: Vec<(String, String)>, codes: Vec<(String, String)>| {
        let texts = texts.into_iter().map(|(name, value)| JsonnetVariable { name, value, code: false });
        texts.chain(codes.into_iter().map(|(name, value)| JsonnetVariable { name, value, code: true })).collect()
    };
    let jsonnet = Jsonnet {
        ext_vars: variables(flags.jsonnet_ext_var_str, flags.jsonnet_ext_var_code),
        tlas: variables(flags.jsonnet_tla_str, flags.jsonnet_tla_code),
        libs,
    };
    let Flags { recurse, include, exclude, .. } = flags;
    Directory { recurse, include, exclude, jsonnet, ..Directory::default() }
}
