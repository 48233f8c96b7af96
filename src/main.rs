//! The `git-hydrate` command.

use std::process::ExitCode;

use git_hydrate::cli;
use git_hydrate::jsonnet::evaluate;
use git_hydrate::plugin::confine;
use git_hydrate::render;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    if args.next_if(|arg| arg == confine::ARGUMENT).is_some() {
        return confine::main(args);
    }
    if args.next_if(|arg| arg == evaluate::ARGUMENT).is_some() {
        return confine::to_current_directory(|| evaluate::main(args));
    }
    if args.next_if(|arg| arg == render::ARGUMENT).is_some() {
        return render::main(args);
    }
    cli::run()
}
