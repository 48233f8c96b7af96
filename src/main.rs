//! The `git-hydrate` command.

fn main() {}
