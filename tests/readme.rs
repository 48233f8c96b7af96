//! What README.md shows is what happens: its console blocks are run one after the other, in one shell.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::support::{BINARY, Lab};

/// Stands between the outputs of two commands.
const MARK: &str = "---- next ----";

/// A piece of README.md.
#[derive(Debug)]
enum Piece {
    Text(String),
    Command(String),
}

/// Takes the commands of the console blocks after `## In five minutes` apart from the text; their outputs are dropped.
fn pieces(readme: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let (mut shown, mut inside) = (false, false);
    for line in readme.split_inclusive('\n') {
        shown |= line.starts_with("## In five minutes");
        if shown && line == "```console\n" {
            inside = true;
        } else if inside && line == "```\n" {
            inside = false;
        } else if inside {
            if let Some(command) = line.strip_prefix("$ ") {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Command(command.trim_end().to_owned()));
            }
            continue;
        }
        text.push_str(line);
    }
    pieces.push(Piece::Text(text));
    pieces
}

/// The output of each command.
fn run(commands: &[&str]) -> Vec<String> {
    let lab = Lab::new();
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/applications/two-regions-of-three-environments/in");
    let mut script = String::from("exec 2>&1\n");
    for command in commands {
        script.push_str(&format!("{command}\necho '{MARK}'\n"));
    }
    let mut shell = lab.command("bash", &lab.path(""));
    shell.env("EXAMPLE", example).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().expect("bash runs");
    shell.stdin.take().expect("piped").write_all(script.as_bytes()).expect("read");
    let output = shell.wait_with_output().expect("it ends");
    let here = fs::canonicalize(lab.path("")).expect("there");
    let text = String::from_utf8(output.stdout).expect("UTF-8").replace(BINARY, "/usr/local/bin/git-hydrate");
    let text = text.replace(here.to_str().expect("UTF-8"), "/srv/git");
    // These differ from machine to machine.
    let user = format!("belongs to user {}\n", rustix::process::geteuid().as_raw());
    let git = lab.command("git", &here).arg("version").output().expect("git runs").stdout;
    let git = String::from_utf8(git).expect("UTF-8").replace("git version ", "");
    let git = git.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let text =
        text.replace(&user, "belongs to user 1000\n").replace(&format!("good     git {git}\n"), "good     git 2.47\n");
    let text = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<String>();
    text.split(&format!("{MARK}\n")).map(str::to_owned).collect()
}

#[test]
fn its_commands_print_what_it_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).expect("readable");
    let pieces = pieces(&readme);
    let commands: Vec<&str> =
        pieces.iter().filter_map(|piece| if let Piece::Command(text) = piece { Some(&**text) } else { None }).collect();
    let mut outputs = run(&commands).into_iter();
    let mut shown = String::new();
    for piece in &pieces {
        match piece {
            Piece::Text(text) => shown.push_str(text),
            Piece::Command(command) => {
                shown.push_str(&format!("$ {command}\n{}", outputs.next().expect("an output for each command")));
            }
        }
    }
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        return fs::write(&path, &shown).expect("written");
    }
    for (number, (found, expected)) in shown.lines().zip(readme.lines()).enumerate() {
        assert_eq!(found, expected, "README.md:{}; to take it over: UPDATE_EXPECTED=1 cargo test readme", number + 1);
    }
    assert_eq!(shown.lines().count(), readme.lines().count());
}
