//! `git hydrate help [COMMAND|PAGE|CHAPTER]`: what `--help` prints, and the pages of `docs/`, which the program carries.

use anyhow::bail;

use super::screen::Screen;
use super::{Arguments as CommandLine, Outcome, WrongUse, output};
use clap::CommandFactory as _;

/// Print the help of a command, or of all; or show a page of the documentation.
///
/// The pages are: user, admin, hosts, migrate, tour, messages, reference, differences, security, architecture. A chapter is
/// found by the first words of its heading.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate help diff             what git hydrate diff --help prints
git hydrate help admin            the page for those who run the server
git hydrate help strict mode      a chapter of it")]
pub(super) struct Arguments {
    /// The command, the page, or the first words of a chapter's heading; the help of all commands unless given.
    #[arg(value_name = "COMMAND|PAGE|CHAPTER")]
    about: Vec<String>,
}

/// Pages by their names.
type Pages<'a> = &'a [(&'a str, &'a str)];

pub(super) fn run(arguments: &Arguments, pages: Pages<'_>) -> anyhow::Result<Outcome> {
    let mut line = CommandLine::command();
    line.build();
    let about = arguments.about.join(" ");
    if about.is_empty() {
        output::print(line.render_long_help().to_string())?;
        return Ok(Outcome::Done);
    }
    let about = meant(&about).unwrap_or(&about).to_owned();
    if let Some(command) = line.find_subcommand_mut(&about) {
        output::print(command.render_long_help().to_string())?;
        return Ok(Outcome::Done);
    }
    let page = pages.iter().find(|(name, _)| *name == about).map(|(_, page)| readable(page));
    let Some(text) = page.or_else(|| chapter(pages, &about)) else {
        let known: Vec<&str> = pages.iter().map(|(name, _)| *name).collect();
        let mut names = line.get_subcommands().map(clap::Command::get_name).chain(known.iter().copied());
        let close = names.find(|name| strsim::jaro_winkler(name, &about) > 0.8);
        let close = close.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        bail!(WrongUse(format!(
            "`{about}` is not a command, a page or a chapter of git hydrate{close}\nhint: the pages are {}; `git hydrate \
             help` lists the commands",
            known.join(", ")
        )));
    };
    let repository = super::repository(None).ok();
    Screen::new(repository.as_ref()).show(&text)?;
    Ok(Outcome::Done)
}

/// What words lead to that somebody looks for in a hurry.
fn meant(words: &str) -> Option<&'static str> {
    match words.to_ascii_lowercase().as_str() {
        "revert" | "undo" | "reset" | "restore" | "back" => Some("rollback"),
        "outage" | "incident" | "emergency" | "broken" => Some("go back"),
        "freeze" | "thaw" | "unfreeze" | "pause" => Some("hold"),
        _ => None,
    }
}

/// A page without what its tests run before its examples.
fn readable(page: &str) -> String {
    let (mut text, mut rest) = (String::new(), page);
    while let Some((before, after)) = rest.split_once("<!-- setup\n") {
        text.push_str(before);
        rest = after.split_once("-->\n").map_or("", |(_, after)| after.trim_start_matches('\n'));
    }
    text + rest
}

/// The first chapter whose heading begins with the words: one with no other word, if there is one.
fn chapter(pages: Pages<'_>, words: &str) -> Option<String> {
    let is_whole = |heading: &str| heading.eq_ignore_ascii_case(words);
    let begins = |heading: &str| heading.get(..words.len()).is_some_and(is_whole);
    let whole = pages.iter().find_map(|(_, page)| below(page, is_whole));
    whole.or_else(|| pages.iter().find_map(|(_, page)| below(page, begins)))
}

/// A heading of a page that fits, with all that is below it.
fn below(page: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let page = readable(page);
    let (mut is_code, mut level, mut text) = (false, 0, String::new());
    for line in page.split_inclusive('\n') {
        is_code ^= line.starts_with("```");
        let depth = if is_code { 0 } else { line.len() - line.trim_start_matches('#').len() };
        if level > 0 && (1..=level).contains(&depth) {
            break;
        }
        if level == 0 && depth > 1 && fits(line.trim_start_matches('#').trim()) {
            level = depth;
        }
        if level > 0 {
            text.push_str(line);
        }
    }
    (level > 0).then(|| text.trim_end().to_owned() + "\n")
}
