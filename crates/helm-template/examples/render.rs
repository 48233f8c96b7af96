//! Prints what `helm template NAME CHART --values FILE` does, for paths below the current directory:
//!
//! ```sh
//! cargo run -p helm-template --example render -- web charts/web values.yaml
//! ```

use std::error::Error;

use dry_files::path::RepoPath;
use dry_files::view::{DiskFiles, View};
use helm_template::{Options, ValuesSource, render};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(chart)) = (arguments.next(), arguments.next()) else {
        return Err("usage: render NAME CHART [VALUES]...".into());
    };
    let mut options = Options { release_name: name, ..Options::default() };
    for file in arguments {
        options.values.push(ValuesSource::File(RepoPath::clean(&file)?));
    }
    let files = DiskFiles::new(".");
    let rendered = render(&View::new(&files), &RepoPath::clean(&chart)?, &options)?;
    for warning in &rendered.warnings {
        eprintln!("warning: {warning}");
    }
    print!("{}", rendered.text);
    Ok(())
}
