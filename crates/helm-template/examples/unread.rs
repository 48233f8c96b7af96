//! The values of a chart that nothing reads: `unread CHART [VALUES.yaml...]`.

use dry_files::path::RepoPath;
use dry_files::view::{DiskFiles, View};
use helm_template::{Charts, Options, ValuesSource, unread};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let chart = args.next().ok_or("name a chart")?;
    let values = args.map(|file| RepoPath::clean(&file).map(ValuesSource::File)).collect::<Result<_, _>>()?;
    let files = DiskFiles::new(".");
    let options = Options { values, ..Options::default() };
    for one in unread(&Charts::default(), &View::new(&files), &RepoPath::clean(&chart)?, &options)? {
        let place = one.span.map(|span| format!("{}:{}", span.path, span.line)).unwrap_or_default();
        println!("{place}: {} (default: {}; beside it: {})", one.path.join("."), one.is_default, one.known.join(", "));
    }
    Ok(())
}
