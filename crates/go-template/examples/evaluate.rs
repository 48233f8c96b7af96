//! Executes a template of Go, with Sprig's functions, on the values of a YAML document:
//!
//! ```sh
//! cargo run -p go-template --example evaluate -- '{{ .name | upper | quote }}' 'name: web'
//! ```

use std::error::Error;
use std::io::Write as _;

use go_template::{Effects, Functions, Limits, Parsed, Runtime, Set, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(template), Some(values)) = (arguments.next(), arguments.next()) else {
        return Err("usage: evaluate TEMPLATE VALUES".into());
    };
    let mut set = Set::new("main");
    set.add(&Parsed::new("main", template, &Functions::standard())?);
    let values = go_yaml::sigs::unmarshal(values.as_bytes(), &go_yaml::Limits::default())?;
    // Random and clock functions are refused: with other effects they are seeded, or run.
    let mut runtime = Runtime::new(Limits::default(), Effects::Refuse);
    let output = runtime.execute(&set, "main", Value::from_yaml(&values))?;
    std::io::stdout().write_all(&output)?;
    Ok(())
}
