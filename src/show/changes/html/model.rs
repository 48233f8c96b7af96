//! What the templates of the page are given.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Page {
    pub title: String,
    pub merge_base: String,
    pub style: &'static str,
    pub style_hash: String,
    pub script: &'static str,
    pub script_hash: String,
    pub diagnostics: Vec<Mistake>,
    pub inputs: Vec<String>,
    pub overall: String,
    /// Changes that many objects share, and in how many they are.
    pub common: Vec<[String; 2]>,
    /// The dangers of all environments, where more than one changes.
    pub dangers: Vec<Danger>,
    pub environments: Vec<Environment>,
    pub footer: String,
}

#[derive(Serialize)]
pub(super) struct Environment {
    pub id: String,
    pub branch: String,
    pub state: &'static str,
    pub summary: String,
    pub restarts: String,
    pub dry_commits: String,
    /// The earlier environment that changes alike, where there is one: all that follows is closed then.
    pub alike: Option<Alike>,
    /// How a new environment differs from an environment that it is like; its Applications are closed then.
    pub like: Option<Like>,
    pub dangers: Vec<Danger>,
    pub danger_count: usize,
    /// The worst severity.
    pub worst: &'static str,
    pub images: Vec<Image>,
    pub applications: Vec<Application>,
}

#[derive(Serialize)]
pub(super) struct Alike {
    pub id: String,
    pub branch: String,
    /// The words of the names that differ; empty when none do.
    pub words: String,
    /// Whether dangers and images are the same too.
    pub is_all: bool,
    /// What is behind the line of an environment where these are not shown.
    pub more: String,
}

#[derive(Serialize)]
pub(super) struct Like {
    pub id: String,
    pub branch: String,
    /// The first Applications that the like environment has and this one lacks.
    pub others: String,
    pub applications: Vec<Application>,
}

#[derive(Serialize)]
pub(super) struct Danger {
    /// The branches that it is on; empty below one of them.
    pub branches: String,
    /// The id of the first object on the page.
    pub id: String,
    pub severity: &'static str,
    pub label: String,
    pub subject: String,
    pub what: String,
    /// The objects that have it, and their ids; none when there is one.
    pub members: Vec<Member>,
    /// What to do; empty where the next one says it as well.
    pub advice: String,
}

#[derive(Serialize)]
pub(super) struct Member {
    pub id: String,
    pub name: String,
}

#[derive(Serialize)]
pub(super) struct Image {
    pub what: String,
    pub count: usize,
}

#[derive(Default, Serialize)]
pub(super) struct Application {
    pub id: String,
    pub title: String,
    pub path: String,
    pub what: String,
    pub origin: String,
    pub notes: Vec<String>,
    pub danger_count: usize,
    pub objects: Vec<Object>,
    pub noise: Vec<Object>,
    pub noise_text: String,
}

#[derive(Default, Serialize)]
pub(super) struct Object {
    /// What a danger of it leads to; empty without any.
    pub id: String,
    pub change: &'static str,
    pub sign: &'static str,
    pub kind: String,
    pub name: String,
    pub old_name: Option<String>,
    /// The Application that it comes from.
    pub source: Option<String>,
    pub restarts: bool,
    pub dangers: Vec<Tag>,
    pub folded: bool,
    pub runs: Vec<Run>,
}

/// A danger behind the name of its object.
#[derive(Serialize)]
pub(super) struct Tag {
    pub severity: &'static str,
    pub what: String,
}

/// Adjacent lines: removed lines with the lines added in their place, or lines of another sort.
#[derive(Default, Serialize)]
pub(super) struct Run {
    pub differs: bool,
    pub rows: Vec<Line>,
}

#[derive(Serialize)]
pub(super) struct Line {
    pub tag: &'static str,
    pub text: String,
    /// What of the line differs from its counterpart, between `text` and `rest`.
    pub differs: String,
    pub rest: String,
}

#[derive(Serialize)]
pub(super) struct Mistake {
    pub severity: String,
    pub text: String,
}
