//! The `git-hydrate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    git_hydrate::run()
}
