//! Prints what `kustomize build DIR` does, for a directory below the current one:
//!
//! ```sh
//! cargo run -p kustomize-build --example build -- overlays/prod --enable-helm
//! ```

use std::error::Error;

use dry_files::path::RepoPath;
use dry_files::view::{DiskFiles, View};
use kustomize_build::{NativeCharts, Options, build};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, operands) = Options::parse(arguments.iter().map(String::as_str))?;
    let [dir] = operands[..] else { return Err("usage: build DIR [FLAG]...".into()) };
    let files = DiskFiles::new(".");
    let built = build(&View::new(&files), &RepoPath::clean(dir)?, &options, Some(&NativeCharts::default()))?;
    for warning in &built.warnings {
        eprintln!("warning: {warning}");
    }
    print!("{}", built.to_yaml()?);
    Ok(())
}
