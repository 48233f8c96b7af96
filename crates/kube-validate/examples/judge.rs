//! Judges objects of standard input, YAML or a line of JSON each: `judge 1.36 [DIRECTORY of CRDs]`.

use std::fmt::Write as _;
use std::io::Read as _;

use go_yaml::{Limits, Value, json};
use kube_validate::{Crds, Judge};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let minor = arguments
        .next()
        .and_then(|version| version.strip_prefix("1.")?.parse().ok())
        .ok_or("say 1.36, or another minor")?;
    let mut crds = Crds::new();
    if let Some(dir) = arguments.next() {
        for entry in std::fs::read_dir(dir)? {
            crds.add(std::fs::read(entry?.path())?);
        }
        crds.and_no_others();
    }
    let judge = Judge::new(minor, crds).ok_or("that minor is not known")?;
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    let limits = Limits { bytes: 256 << 20, ..Limits::default() };
    let is_json = text.first() == Some(&b'{');
    let objects: Vec<Value> = if is_json {
        text.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| json::decode(line, &limits))
            .collect::<Result<_, _>>()?
    } else {
        go_yaml::decode(&text, go_yaml::Dialect::V2, &limits)?
    };
    let mut answers = String::new();
    for object in objects.iter().filter(|object| !object.is_null()) {
        let verdict = judge.judge(object);
        let findings: Vec<String> = verdict
            .findings
            .iter()
            .filter(|finding| finding.reason.name() != "Warning")
            .map(|finding| {
                let text = |text: &str| json::encode_string(text, false);
                format!(
                    r#"{{"field":{},"reason":{},"message":{}}}"#,
                    text(&finding.field),
                    text(finding.reason.name()),
                    text(&finding.message)
                )
            })
            .collect();
        writeln!(answers, r#"{{"refused":{},"findings":[{}]}}"#, verdict.is_refused(), findings.join(","))?;
    }
    print!("{answers}");
    Ok(())
}
