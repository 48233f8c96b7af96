//! The evaluating process: one file, with all that it imports below the current directory, which is all it can read.
//!
//! Started as `git-hydrate __jsonnet ARGUMENTS`. Prints JSON, or what is wrong to standard error with exit status 1.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use dry_files::path::RepoPath;
use rsjsonnet_front::Session;
use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::program::Value;

use super::Closure;
use super::parse_yaml;
use crate::{argo, versions};

/// The first argument that `main` looks for, like that of the confining process.
pub(crate) const ARGUMENT: &str = "__jsonnet";

/// The evaluator's stack, in bytes: it recurses where files nest.
const STACK_BYTES: usize = 256 << 20;

/// The arguments after `__jsonnet`: the version of go-jsonnet unless it is the newest, libraries in the order in which they are
/// asked, files that get their name before an import gives them another one, variables, and the file. All paths are read in the
/// current directory.
pub(crate) fn arguments(
    libraries: &[RepoPath],
    closure: &Closure,
    (options, version): (&argo::Jsonnet, versions::Jsonnet),
    file: &RepoPath,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    if version != versions::Jsonnet::default() {
        arguments.extend(["--version".into(), version.as_str().into()]);
    }
    for library in libraries {
        arguments.extend(["--lib".into(), library.as_str().into()]);
    }
    for file in &closure.indirect {
        arguments.extend(["--name".into(), file.as_str().into()]);
    }
    for (flag, variables) in [("--ext", &options.ext_vars), ("--tla", &options.tlas)] {
        for (index, variable) in variables.iter().enumerate() {
            // Of two with one name the last one counts.
            if variables.iter().skip(index + 1).any(|later| later.name == variable.name) {
                continue;
            }
            let flag = format!("{flag}-{}", if variable.code { "code" } else { "text" });
            arguments.extend([flag.into(), variable.name.clone().into(), variable.value.clone().into()]);
        }
    }
    arguments.push(file.as_str().into());
    arguments
}

/// Takes the arguments after `__jsonnet`, which only we write.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let evaluate = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || evaluate(arguments.into_iter()));
    let json = evaluate.ok().and_then(|thread| thread.join().ok()).flatten();
    match json.map(|json| writeln!(std::io::stdout(), "{json}")) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) | None => ExitCode::FAILURE,
    }
}

/// The JSON of a file. `std.thisFile` is the path of a file as in go-jsonnet, and `<extvar:NAME>` or `<top-level-arg:NAME>` in
/// the code of a variable. What is wrong is printed where it is found.
fn evaluate(mut arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let arena = Arena::new();
    let mut session = Session::new(&arena);
    session.set_max_trace(20);
    session.program_mut().set_yaml_reader(parse_yaml);
    let mut arguments_of_top = Vec::new();
    let mut file = None;
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--version") => {
                let version: versions::Jsonnet = arguments.next()?.to_str()?.parse().ok()?;
                session.program_mut().set_std_without(version.lacks());
            }
            Some("--lib") => session.add_search_path(arguments.next()?.into()),
            // It is noted which file imports one that is not Jsonnet.
            Some("--name") => drop(session.load_real_file(arguments.next()?.as_ref())),
            Some(flag @ ("--ext-text" | "--ext-code" | "--tla-text" | "--tla-code")) => {
                let (name, value) = (arguments.next()?.into_string().ok()?, arguments.next()?.into_string().ok()?);
                let thunk = if flag.ends_with("-code") {
                    let kind = if flag.starts_with("--ext") { "extvar" } else { "top-level-arg" };
                    let path = format!("<{kind}:{name}>");
                    // Code that cannot be read, of which it is printed why, is an error once it is used.
                    let unreadable = b"error 'the code of ' + std.thisFile + ' cannot be read'".to_vec();
                    session
                        .load_virt_file(&path, value.into_bytes())
                        .or_else(|| session.load_virt_file(&path, unreadable))?
                } else {
                    session.program_mut().value_to_thunk(&Value::string(&value))
                };
                let name = session.program().intern_str(&name);
                if flag.starts_with("--ext") {
                    session.program_mut().add_ext_var(name, &thunk);
                } else {
                    arguments_of_top.push((name, thunk));
                }
            }
            _ => file = Some(PathBuf::from(argument)),
        }
    }
    let root = session.load_real_file(&file?)?;
    let mut value = session.eval_value(&root)?;
    if value.is_function() {
        value = session.eval_call(&root, &[], &arguments_of_top)?;
    }
    session.manifest_json(&value, false)
}
