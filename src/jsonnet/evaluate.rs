//! The evaluating process: one file, on disk with all that it imports.
//!
//! Started as `git-hydrate __jsonnet ARGUMENTS`. Prints JSON, or what is wrong to standard error with exit status 1.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rsjsonnet_front::Session;
use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::program::Value;

use crate::application;

/// The first argument that `main` looks for, like that of the confining process.
pub const ARGUMENT: &str = "__jsonnet";

/// The evaluator's stack, in bytes: it recurses where files nest.
const STACK_BYTES: usize = 256 << 20;

/// The arguments after `__jsonnet`: libraries in the order in which they are asked, variables, and the file.
pub fn arguments(libraries: &[PathBuf], options: &application::Jsonnet, file: &Path) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for library in libraries {
        arguments.extend([OsString::from("--lib"), library.into()]);
    }
    for (flag, variables) in [("--ext", &options.ext_vars), ("--tla", &options.tlas)] {
        for (index, variable) in variables.iter().enumerate() {
            // Of two with one name the last one holds.
            if variables.iter().skip(index + 1).any(|later| later.name == variable.name) {
                continue;
            }
            let flag = format!("{flag}-{}", if variable.code { "code" } else { "text" });
            arguments.extend([flag.into(), variable.name.clone().into(), variable.value.clone().into()]);
        }
    }
    arguments.push(file.into());
    arguments
}

/// Takes the arguments after `__jsonnet`, which only we write.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let evaluate = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || evaluate(arguments.into_iter()));
    let json = evaluate.ok().and_then(|thread| thread.join().ok()).flatten();
    match json.map(|json| writeln!(std::io::stdout(), "{json}")) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) | None => ExitCode::FAILURE,
    }
}

/// The JSON of a file. What is wrong is printed where it is found.
fn evaluate(mut arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let arena = Arena::new();
    let mut session = Session::new(&arena);
    session.set_max_trace(20);
    let mut arguments_of_top = Vec::new();
    let mut file = None;
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--lib") => session.add_search_path(arguments.next()?.into()),
            Some(flag @ ("--ext-text" | "--ext-code" | "--tla-text" | "--tla-code")) => {
                let (name, value) = (arguments.next()?.into_string().ok()?, arguments.next()?.into_string().ok()?);
                let thunk = if flag.ends_with("-code") {
                    session.load_virt_file(&format!("<{name}>"), value.into_bytes())?
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
