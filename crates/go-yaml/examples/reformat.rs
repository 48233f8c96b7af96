//! Reads YAML on standard input and prints it as Go's libraries write it, `v2` (kubectl, Helm) or `v3` (Argo CD's manifests):
//!
//! ```sh
//! echo '{b: [1, "no"], a: 0o17}' | cargo run -p go-yaml --example reformat -- v3
//! ```

use std::error::Error;
use std::io::Read as _;

use go_yaml::{Limits, Sequences, emit_v2, emit_v3, sigs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    let value = sigs::unmarshal(&text, &Limits::default())?;
    let text = match std::env::args().nth(1).as_deref() {
        Some("v2") => emit_v2(&value),
        Some("v3") => emit_v3(&value, Sequences::Indented),
        _ => return Err("usage: reformat v2|v3".into()),
    };
    print!("{text}");
    Ok(())
}
