//! What is wrong with a dry commit, and where.
//!
//! A [`Diagnostic`] is a value: stages and engines make them and hand them up, only the edge prints them. It says
//! what is wrong, points at the place, and explains how to fix it. How it reads is defined here, in one `Display`.
//!
//! A text that quotes what was pushed may be as long as what was pushed. A caller need not care: every
//! part is [`clipped`] when it is made, and again when it is shown, for a record may come from elsewhere.

pub mod more;
pub mod secret;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;

/// How long a text may be, in bytes. Helm's errors through many templates take a few thousand.
const BYTES_MAX: usize = 16 << 10;

/// How many lines a text may have. What a schema says of large values takes a few hundred.
const LINES_MAX: usize = 400;

/// How long a line may be to be quoted, in characters.
const QUOTE_CHARS_MAX: usize = 2000;

/// How many Applications are named.
const APPLICATIONS_MAX: usize = 8;

/// What is written in place of text that was left out.
const LEFT_OUT: &str = "…";

/// A place in a file of the dry commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub path: RepoPath,
    /// 1-based; 0 when only the file is known.
    pub line: u32,
    /// 1-based, in characters; 0 when only the line is known.
    pub column: u32,
    /// How many characters the place takes; at least 1 when the column is known.
    pub width: u32,
    /// The text of the line, when the maker of the span had it at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Span {
    /// The file as a whole.
    pub fn file(path: RepoPath) -> Self {
        Self { path, line: 0, column: 0, width: 0, text: None }
    }

    /// One place of a file, one character wide.
    pub fn at(path: RepoPath, line: u32, column: u32) -> Self {
        Self { path, line, column, width: 1, text: None }
    }

    /// Adds the text of the line, cut out of the text of the whole file. A line too long to be read is left out; of one
    /// in a Secret, the value: see [`secret::without_value`].
    pub fn quoting(self, file: &str) -> Self {
        let index = (self.line as usize).checked_sub(1);
        let Some(line) = index.and_then(|index| file.lines().nth(index)) else { return self };
        // Lines are parts of the file.
        let offset = line.as_ptr() as usize - file.as_ptr() as usize;
        self.quoting_line(line, secret::documents(file).iter().any(|document| document.contains(&offset)))
    }

    /// Adds the text of the line, which may be one of a Secret.
    pub fn quoting_line(mut self, line: &str, is_of_secret: bool) -> Self {
        self.text = match is_quotable(line) {
            true if is_of_secret => Some(secret::without_value(line)),
            true => Some(line.to_owned()),
            false => None,
        };
        self
    }

    /// Drops the text of the line.
    pub fn unquoted(self) -> Self {
        Self { text: None, ..self }
    }

    /// How many blanks are before the marker below the line, and how many characters it has. It does not leave a line of
    /// which the value is left out.
    pub fn marker(&self) -> Range<usize> {
        let start = (self.column as usize).saturating_sub(1).min(QUOTE_CHARS_MAX);
        let width = (self.width as usize).clamp(1, QUOTE_CHARS_MAX);
        match &self.text {
            Some(text) if text.ends_with(LEFT_OUT) => {
                let chars = text.chars().count();
                let start = start.min(chars - 1);
                start..(start + width).min(chars)
            }
            _ => start..start + width,
        }
    }
}

fn is_quotable(line: &str) -> bool {
    line.chars().nth(QUOTE_CHARS_MAX).is_none()
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shown(self.path.as_str()))?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.line > 0 && self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look; hydration goes on.
    Warning,
    /// The environment branches that it touches keep their commits.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Why something is not rendered that the official tools might render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Its result would differ from render to render.
    Nondeterministic,
    /// A chart that it depends on is not in the repository.
    MissingDependency,
    /// A file that it needs is not in the repository: in a submodule, in Git LFS, behind a link that leads out.
    Elsewhere,
    /// It asks for what is not supported, such as remote bases and functions that run programs.
    Unsupported,
    /// It needs something that the server fetches: nothing is wrong with it.
    Awaited,
}

/// What may stay as it is for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lasting {
    /// No Application names a branch any more that has what Applications wrote.
    Unnamed,
    /// An Application names a tag, a commit or a version.
    Pinned,
}

/// A key that is not a field of an Application, in a place where hydration reads the fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnknownField {
    /// The key as it is written.
    pub name: String,
    /// The field that it is a near miss of, if it is one: two edits away, or other in case only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
}

/// The Applications beside the first one that something is said of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Others(Vec<String>);

/// What made an Application that is in no file itself, and from what, in words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Origin(pub String);

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

/// One mistake of a dry commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence without its full stop. May have several lines: an engine's own error text.
    pub message: String,
    /// The place, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// What to say of the place, beside the marker.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The Application that failed by it, when the place alone does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The other Applications that it is said of too.
    #[serde(default, rename = "otherApplications", skip_serializing_if = "Option::is_none")]
    pub other_applications: Option<Box<Others>>,
    /// What made the Application that it is about, and from what, when it is in no file itself.
    #[serde(default, rename = "madeBy", skip_serializing_if = "Option::is_none")]
    pub made_by: Option<Box<Origin>>,
    /// How to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Why this is not rendered, when the tools might render it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The key that is not a field, when that is what is wrong.
    #[serde(default, rename = "unknownField", skip_serializing_if = "Option::is_none")]
    pub unknown_field: Option<Box<UnknownField>>,
    /// The name that was probably meant, where something other than a field has nearly the name of what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Box<str>>,
    /// Which state it is that may last, when it is one: pushes report that once, questions each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting: Option<Lasting>,
    /// Whether a push in strict mode does not go in by it, though it is a warning.
    #[serde(default, rename = "refusedStrictly", skip_serializing_if = "std::ops::Not::not")]
    pub is_refused_strictly: bool,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: clipped(message.into()),
            span: None,
            label: String::new(),
            application: None,
            other_applications: None,
            made_by: None,
            hint: None,
            refusal: None,
            unknown_field: None,
            near: None,
            lasting: None,
            is_refused_strictly: false,
        }
    }

    /// A warning without a place yet.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// Sets the place.
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Drops the quoted line, for a reader who may not be allowed to read the file.
    pub fn unquoted(self) -> Self {
        Self { span: self.span.map(Span::unquoted), ..self }
    }

    /// Puts a word on the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = clipped(label.into());
        self
    }

    /// Names the Application that failed by this mistake.
    pub fn of(mut self, application: impl Into<String>) -> Self {
        self.application = Some(clipped(application.into()));
        self
    }

    /// Names other Applications that it is said of too.
    pub fn also_of(mut self, applications: impl IntoIterator<Item = String>) -> Self {
        let others: Vec<String> = applications.into_iter().map(clipped).collect();
        self.other_applications = (!others.is_empty()).then(|| Box::new(Others(others)));
        self
    }

    /// The Applications that it is said of, the first one first; none where the place alone tells.
    pub fn applications(&self) -> impl Iterator<Item = &String> {
        self.application.iter().chain(self.other_applications.iter().flat_map(|others| &others.0))
    }

    /// Says what made the Application that the mistake is about.
    pub fn made_by(mut self, maker: &dyn fmt::Display) -> Self {
        self.made_by = Some(Box::new(Origin(clipped(maker.to_string()))));
        self
    }

    /// Says how to fix the mistake.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(clipped(hint.into()));
        self
    }

    /// Marks the mistake as a refusal, if it is one.
    pub fn refused(mut self, refusal: Option<Refusal>) -> Self {
        self.refusal = refusal;
        self
    }

    /// A copy as an error, whatever the severity was.
    pub fn as_error(&self) -> Self {
        Self { severity: Severity::Error, ..self.clone() }
    }

    /// A copy as a warning, whatever the severity was.
    pub fn as_warning(&self) -> Self {
        Self { severity: Severity::Warning, ..self.clone() }
    }

    /// Whether it is about an unknown field of one of these names.
    pub fn is_of_field(&self, names: &[String]) -> bool {
        self.unknown_field.as_ref().is_some_and(|field| names.contains(&field.name))
    }

    /// Whether it is about a field that is unknown at its place.
    pub fn is_of_a_field(&self) -> bool {
        self.unknown_field.is_some()
    }

    /// Whether a key is a near miss of a field, or a name one of another, which was meant then.
    pub fn is_near_miss(&self) -> bool {
        self.near.is_some() || self.unknown_field.as_ref().is_some_and(|field| field.near.is_some())
    }

    /// Whether it is that no Application names a branch any more.
    pub fn is_unnamed(&self) -> bool {
        self.lasting == Some(Lasting::Unnamed)
    }

    /// Whether it is that an Application names what no push moves.
    pub fn is_pinned(&self) -> bool {
        self.lasting == Some(Lasting::Pinned)
    }

    /// Whether this stops the environment branches that it touches.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Several lines, none ending in a blank; text that was pushed to us cannot move the reader's cursor.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = clipped(self.message.clone());
        let mut lines = message.lines();
        write!(f, "{}: {}", self.severity, printable(lines.next().unwrap_or_default()))?;
        for line in lines {
            write!(f, "\n  {}", printable(line))?;
        }
        if let Some(span) = &self.span {
            let text = span.text.as_ref().filter(|text| span.line > 0 && is_quotable(text));
            let number = if text.is_some() { span.line.to_string() } else { String::new() };
            let margin = " ".repeat(number.len().max(1));
            write!(f, "\n {margin}--> {span}")?;
            if let Some(text) = text {
                let text = printable(text.trim_end());
                write!(f, "\n {margin} |\n {number} | {text}")?;
                if span.column > 0 {
                    let marker = span.marker();
                    let (before, marker) = (" ".repeat(marker.start), "^".repeat(marker.len()));
                    let line = format!("\n {margin} | {before}{marker} {}", shown(&self.label));
                    f.write_str(line.trim_end())?;
                }
            }
        }
        if self.application.is_some() {
            let names = self.applications().map(|name| shown(name));
            let what = if self.other_applications.is_none() { "application" } else { "applications" };
            write!(f, "\n  = {what}: {}", more::listed(names, APPLICATIONS_MAX))?;
        }
        if let Some(maker) = &self.made_by {
            write!(f, "\n  = made by {maker}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  = hint: {}", shown(hint))?;
        }
        Ok(())
    }
}

/// The text of a bounded size: what is too long has `…` in place of its middle.
///
/// Beginning and end stay, on character boundaries: the beginning says what is wrong, the end, in errors that enclose others,
/// why. Lines that are too many become a line of `…`.
pub fn clipped(mut text: String) -> String {
    if text.len() > BYTES_MAX {
        let half = (BYTES_MAX - LEFT_OUT.len()) / 2;
        let is_boundary = |at: &usize| text.is_char_boundary(*at);
        let start = (0..=half).rev().find(is_boundary).unwrap_or_default();
        let end = (text.len() - half..).find(is_boundary).unwrap_or(text.len());
        text = [&text[..start], LEFT_OUT, &text[end..]].concat();
    }
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    if ends.len() >= LINES_MAX {
        let half = LINES_MAX / 2;
        let (first, last) = (ends.get(half - 1).copied(), ends.iter().rev().nth(half - 1).copied());
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or(text.len()));
        text = [&text[..first], "\n", LEFT_OUT, &text[last..]].concat();
    }
    text
}

/// What of a text can be sent to a terminal: see [`clipped`] and [`printable`].
pub fn shown(text: &str) -> String {
    printable(&clipped(text.to_owned()))
}

/// A text of several lines as one line.
pub fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text with every control character replaced, a tab by one blank: safe to send to a terminal. See
/// [`is_unprintable`].
pub fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

fn printable_char(c: char) -> char {
    match c {
        '\t' => ' ',
        c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Whether a character makes text look like something other than what it says: one that controls the terminal (C0, DEL,
/// C1) or the direction of text, ends a line or a paragraph, or shows as nothing at all, such as a tag or a soft hyphen.
///
/// These are the general categories Cc, Cf, Zl and Zp of Unicode. Printable are the joiners (U+200C, U+200D), which emoji and
/// several scripts need, and the signs of Arabic and other scripts that enclose numbers: they are seen.
///
/// Reference: Unicode 16 UnicodeData.txt, `Prepended_Concatenation_Mark`; "Trojan Source", CVE-2021-42574.
pub fn is_unprintable(c: char) -> bool {
    use unicode_general_category::{GeneralCategory, get_general_category};
    let is_seen = |c: char| {
        matches!(c, '\u{200c}' | '\u{200d}' | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}')
            || matches!(c, '\u{8e2}' | '\u{110bd}' | '\u{110cd}')
    };
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let category = get_general_category(c);
    let is_hidden = matches!(
        category,
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    );
    is_hidden && !is_seen(c)
}

/// Whether a character is replaced in the files and messages of hydrated commits: those [that are not printable](is_unprintable)
/// but for some that only show as nothing. Bytes depend on it, so it stays as it is within a revision of the engine.
pub fn is_replaced(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// A text as one word of a command that is pasted into a shell: as it is where no shell reads more into it.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// A path as one word of a command that is pasted into a shell: see [`shell_word`].
pub fn shell_path(path: &std::path::Path) -> String {
    shell_word(&path.to_string_lossy())
}

/// An error and its causes on one line, [`clipped`].
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    clipped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn a_diagnostic_shows_its_place() {
        let mut span =
            Span::at(path("applications/prod/web.yaml"), 17, 13).quoting(&("\n".repeat(16) + "      path: web"));
        span.width = 3;
        let diagnostic = Diagnostic::error("`web` on `environments/prod` is written by `web-eu` already")
            .at(span)
            .label("also set at applications/prod/web-eu.yaml:17")
            .hint("give each Application of a branch a folder of its own");
        assert_eq!(
            diagnostic.to_string(),
            "error: `web` on `environments/prod` is written by `web-eu` already
   --> applications/prod/web.yaml:17:13
    |
 17 |       path: web
    |             ^^^ also set at applications/prod/web-eu.yaml:17
  = hint: give each Application of a branch a folder of its own"
        );
    }

    #[test]
    fn a_diagnostic_of_a_file_names_it() {
        let diagnostic = Diagnostic::warning("unknown field `colour`").at(Span::file(path("a.yaml")));
        assert_eq!(diagnostic.to_string(), "warning: unknown field `colour`\n  --> a.yaml");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let diagnostic = Diagnostic::error("bad \u{1b}[2J value\nsecond\r line");
        assert_eq!(diagnostic.to_string(), "error: bad \u{fffd}[2J value\n  second\u{fffd} line");
    }

    #[test]
    fn text_keeps_its_direction_on_the_terminal() {
        let span = Span::at(path("a\u{202e}lmay.txt"), 1, 1).quoting("a: \u{2066}b\u{2069}\u{200f}");
        let shown = Diagnostic::error("x \u{202a}\u{202b}\u{202c}\u{202d}\u{61c}\u{200e}").at(span).to_string();
        assert!(!shown.chars().any(|c| c != '\n' && is_unprintable(c)), "{shown:?}");
        assert_eq!(printable("\u{202e}\u{2028}\u{feff}"), "\u{fffd}".repeat(3));
        // Tags, a soft hyphen, an interlinear anchor, a control of shorthand, invisible operators.
        assert_eq!(printable("\u{e0041}\u{e0001}\u{ad}\u{fff9}\u{1bca0}\u{2061}\u{180e}"), "\u{fffd}".repeat(7));
        assert_eq!(printable("\u{600}\u{6dd}\u{110bd}"), "\u{600}\u{6dd}\u{110bd}");
        assert!((0..=0x10ffff).filter_map(char::from_u32).all(|c| is_unprintable(c) || !is_replaced(c)));
        assert_eq!(printable("größe 👩\u{200d}💻 مرحبا"), "größe 👩\u{200d}💻 مرحبا");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        let bytes = |count: usize| "x".repeat(count);
        let lines = |count: usize| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
        let rows = [
            ("as long as can be", bytes(BYTES_MAX), bytes(BYTES_MAX)),
            ("a byte more", bytes(BYTES_MAX + 1), bytes(8190) + "…" + &bytes(8190)),
            ("characters stay whole", "€".repeat(1 << 20), "€".repeat(2730) + "…" + &"€".repeat(2730)),
            ("as many lines as can be", lines(LINES_MAX), lines(LINES_MAX)),
        ];
        for (name, text, expected) in rows {
            assert!(clipped(text) == expected, "{name}");
        }
        let cut = clipped(lines(500));
        assert!(cut.starts_with("1\n2\n") && cut.contains("\n200\n…\n301\n") && cut.ends_with("\n500"), "{cut}");
        assert_eq!(clipped(cut.clone()), cut);
    }

    #[test]
    fn a_diagnostic_is_short_whatever_it_tells_of() {
        let long = "x".repeat(1 << 20);
        let span = Span { width: 1 << 20, ..Span::at(path(&long), 1, 1 << 19) };
        let made = |span| Diagnostic::error(&*long).label(&*long).of(&*long).hint(&*long).at(span);
        let ours = made(span.clone().quoting(&long));
        assert!(ours.message.len() + ours.label.len() <= 2 * BYTES_MAX);
        assert_eq!(ours.span.as_ref().and_then(|span| span.text.as_ref()), None);
        let some = |text: &str| Some(text.to_owned());
        let theirs = Diagnostic { message: long.clone(), label: long.clone(), hint: some(&long), ..ours.clone() };
        let short_line = Span { text: some("short"), ..span.clone() };
        let long_line = Span { text: some(&long), ..span };
        for diagnostic in [ours, theirs.clone().at(short_line), theirs.at(long_line)] {
            let len = diagnostic.to_string().len();
            assert!(len < 6 * BYTES_MAX, "{len}");
        }
    }
}
