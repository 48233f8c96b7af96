//! What git runs for `hydrate::<url>`: hands over to the `git-hydrate` beside it, or to the one on the PATH.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let name = "git-hydrate";
    let here = std::env::current_exe().ok();
    let beside = here.map(|program| program.with_file_name(name)).filter(|program| program.exists());
    let program = beside.unwrap_or_else(|| PathBuf::from(name));
    let error = Command::new(&program).args(["remote-helper", "--"]).args(std::env::args_os().skip(1)).exec();
    eprintln!("error: starting {}: {error}", program.display());
    ExitCode::FAILURE
}
