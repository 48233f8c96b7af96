//! `git-hydrate-fetch`: the one program with a network, for `git hydrate vendor`. A crate of its own, so that nothing of it is
//! in `git-hydrate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    git_hydrate_fetch::main()
}
