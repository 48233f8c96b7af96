//! The most important changes of a diff, in one line.

use std::collections::BTreeMap;

use super::dangers::DangerGroup;
use super::{ApplicationDiff, Changes, EnvironmentDiff, noise_in};
use crate::diff::{Change, Image, ImageChange, Noise, ObjectDiff, Severity, Words};

/// What matters most of the changes of some objects.
#[derive(Debug, Default)]
pub(crate) struct Overview<'a> {
    /// How many objects are new.
    pub added: usize,
    /// How many changed in a way that is worth a look.
    pub changed: usize,
    /// How many are as they were, but of another Application.
    pub moved: usize,
    /// How many are gone.
    pub removed: usize,
    /// How many go while others that are much the same come under other names.
    pub renamed: usize,
    /// How many of these no danger says it of.
    pub renamed_untold: usize,
    /// How many changed in noise only.
    pub noise: usize,
    /// The kinds of that noise, each with how often it is there.
    pub noise_kinds: Vec<(Noise, usize)>,
    /// What changed in images, each with the number of containers, by text.
    pub images: Vec<(String, usize)>,
    /// How many workloads replace their Pods, also those that changed in noise only.
    pub restarts: usize,
    /// What may do harm, the worst first, equal ones together.
    pub dangers: Vec<DangerGroup<'a>>,
}

fn severity_text(severity: Severity, count: usize) -> String {
    match (severity, count) {
        (Severity::Outage, 2..) => format!("{count} outages"),
        (Severity::Other, 2..) => format!("{count} dangers"),
        _ => format!("{count} {severity}"),
    }
}

impl<'a> Overview<'a> {
    /// That of these Applications.
    pub(crate) fn new(applications: impl IntoIterator<Item = &'a ApplicationDiff>) -> Self {
        let applications: Vec<&ApplicationDiff> = applications.into_iter().collect();
        let objects = applications.iter().flat_map(|application| &application.objects);
        let dangers = DangerGroup::of(applications.iter().flat_map(|application| application.dangers()));
        Self { dangers, ..Self::of_objects(objects) }
    }

    fn of_objects(objects: impl IntoIterator<Item = &'a ObjectDiff>) -> Self {
        let mut overview = Self::default();
        let mut images: BTreeMap<String, usize> = BTreeMap::new();
        let mut noise = Vec::new();
        for object in objects {
            match object.change {
                Change::Added => overview.added += 1,
                Change::Removed => overview.removed += 1,
                Change::Changed if object.is_noise() => {
                    overview.noise += 1;
                    noise.push(&object.difference);
                }
                Change::Changed if object.is_unchanged() => {}
                Change::Changed if object.moved_from.is_some() && object.difference.is_noise() => overview.moved += 1,
                Change::Changed => overview.changed += 1,
            }
            overview.restarts += usize::from(object.restarts);
            for image in &object.images {
                *images.entry(image_text(image)).or_default() += 1;
            }
        }
        overview.noise_kinds = noise_in(noise.into_iter());
        overview.images = images.into_iter().collect();
        overview
    }

    /// That of an environment.
    pub(crate) fn of(environment: &'a EnvironmentDiff) -> Self {
        let all = &environment.applications;
        let renamed = all.iter().map(|application| application.renamed).sum();
        let renamed_untold = all.iter().map(|application| application.renamed_untold).sum();
        Self { renamed, renamed_untold, ..Self::new(all) }
    }

    /// `restarts 14 workloads`; empty when none does.
    pub(crate) fn restarts_text(&self) -> String {
        match self.restarts {
            0 => String::new(),
            1 => "restarts 1 workload".to_owned(),
            count => format!("restarts {count} workloads"),
        }
    }

    /// `renames 2 objects`, without those of which a danger says so; empty when none is.
    pub(crate) fn renamed_text(&self) -> String {
        match self.renamed_untold {
            0 => String::new(),
            1 => "renames 1 object".to_owned(),
            count => format!("renames {count} objects"),
        }
    }

    /// `1 data loss, 2 outage`: how many objects each severity concerns, the worst first; empty without any.
    pub(crate) fn dangers_text(&self) -> String {
        let mut counts: BTreeMap<Severity, usize> = BTreeMap::new();
        for group in &self.dangers {
            *counts.entry(group.danger.severity).or_default() += group.objects.len();
        }
        let texts = counts.into_iter().map(|(severity, count)| severity_text(severity, count));
        texts.collect::<Vec<_>>().join(", ")
    }

    /// How many dangers there are, each object counted.
    pub(crate) fn danger_count(&self) -> usize {
        self.dangers.iter().map(|group| group.objects.len()).sum()
    }

    /// `3 objects changed, 1 added`; empty when there is only generated fields.
    pub(crate) fn counts(&self) -> String {
        let counts =
            [(self.changed, "changed"), (self.added, "added"), (self.removed, "removed"), (self.moved, "moved")];
        let mut counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let Some((count, what)) = counts.next() else { return String::new() };
        let first = format!("{count} object{} {what}", if count == 1 { "" } else { "s" });
        std::iter::once(first)
            .chain(counts.map(|(count, what)| format!("{count} {what}")))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// What becomes of all environments, in a line: `5 objects changed in 2 of 3 environments; restarts 3 workloads`. None where
/// fewer than two change, since that line would be said again.
pub(super) fn overall(changes: &Changes) -> Option<String> {
    let changed = changes.environments.iter().filter(|environment| !environment.applications.is_empty()).count();
    if changed < 2 {
        return None;
    }
    let overview = Overview::new(changes.environments.iter().flat_map(|environment| &environment.applications));
    let counts = match overview.counts() {
        counts if !counts.is_empty() => counts,
        _ if overview.noise > 0 => "only generated fields".to_owned(),
        _ => {
            let kinds = kinds(changes.environments.iter().flat_map(|environment| &environment.applications));
            let kinds: Vec<String> = kinds.iter().map(|(count, what)| format!("{count} {what}")).collect();
            format!("Applications: {}; no object differs in git", kinds.join(", "))
        }
    };
    let mut line = format!("{counts} in {changed} of {} environments", changes.environments.len());
    for more in [overview.restarts_text(), overview.dangers_text()].iter().filter(|more| !more.is_empty()) {
        line += &format!("; {more}");
    }
    Some(line)
}

/// What becomes of an environment, in a few words.
pub(super) fn state(environment: &EnvironmentDiff, overview: &Overview<'_>) -> String {
    match held_back(environment) {
        Some(held_back) if environment.is_same() => held_back,
        Some(held_back) => format!("{held_back}: {}", becomes(environment, overview)),
        None => becomes(environment, overview),
    }
}

/// That an environment is frozen, and whether that holds something back; none where it is not frozen.
pub(super) fn held_back(environment: &EnvironmentDiff) -> Option<String> {
    let frozen = environment.branch.frozen.as_ref()?;
    Some(match environment.is_same() {
        true => format!("{frozen}; nothing is held back"),
        false => format!("{frozen}; held back until that ends"),
    })
}

fn becomes(environment: &EnvironmentDiff, overview: &Overview<'_>) -> String {
    if !environment.renders() {
        return "fails, so it stays as it is".to_owned();
    }
    if let Some(whole) = environment.branch.not_compared.iter().find(|one| one.path.is_none()) {
        return whole.to_string();
    }
    let count = environment.applications.len();
    let new = match &environment.like {
        Some(like) => format!("new, like {}{}: ", like.branch, but_for(&like.words)),
        None => String::new(),
    };
    let failed = environment.branch.behind.iter().filter(|behind| !behind.paused && behind.parent.is_none()).count();
    let failed = match failed {
        0 => String::new(),
        1 => ", 1 Application fails".to_owned(),
        count => format!(", {count} Applications fail"),
    };
    let lacking = environment.branch.not_compared.iter().filter(|one| one.before).count();
    let failed = match lacking {
        0 => failed,
        1 => format!("{failed}, 1 Application cannot be compared"),
        count => format!("{failed}, {count} Applications cannot be compared"),
    };
    if count == 0 {
        return format!("no change{failed}");
    }
    let counts = match overview.counts() {
        counts if !counts.is_empty() => counts,
        _ if overview.noise > 0 => "only generated fields".to_owned(),
        _ => return format!("{}, no object differs in git{failed}", whole(environment)),
    };
    format!("{new}{counts} in {count} of {} Applications{failed}", all(environment))
}

/// ` with qa for staging`; empty without words.
pub(super) fn but_for(words: &Option<Words>) -> String {
    words.as_ref().map_or(String::new(), |words| format!(" with {words}"))
}

/// What becomes of Applications whose objects stay as they are: `1 of 3 Applications renamed, 1 moved`.
fn whole(environment: &EnvironmentDiff) -> String {
    let mut texts = kinds(environment.applications.iter()).into_iter();
    let first = texts.next().map(|(count, what)| format!("{count} of {} Applications {what}", all(environment)));
    first.into_iter().chain(texts.map(|(count, what)| format!("{count} {what}"))).collect::<Vec<_>>().join(", ")
}

/// How many of them are renamed, moved and so on; only what some are.
fn kinds<'a>(applications: impl Iterator<Item = &'a ApplicationDiff> + Clone) -> Vec<(usize, &'static str)> {
    let count = |is: fn(&ApplicationDiff) -> bool| applications.clone().filter(|one| is(one)).count();
    let counts = [
        (count(|one| one.renamed_from.is_some()), "renamed"),
        (count(|one| one.renamed_from.is_none() && one.moved_from.is_some()), "moved"),
        (count(ApplicationDiff::is_remade), "made anew"),
        (count(|one| one.is_in_place() && one.change == Change::Changed && !one.is_remade()), "written differently"),
        (count(|one| one.is_in_place() && one.change == Change::Added), "added"),
        (count(|one| one.is_in_place() && one.change == Change::Removed), "removed"),
    ];
    counts.into_iter().filter(|(count, _)| *count > 0).collect()
}

/// How many Applications there are before or after. One that goes is not among those that the branch has then.
pub(super) fn all(environment: &EnvironmentDiff) -> usize {
    let removed = environment.applications.iter().filter(|app| app.change == Change::Removed).count();
    environment.branch.applications + removed
}

/// `nginx 1.26 → 1.27`, with what changed of it only.
pub(super) fn image_text(image: &ImageChange) -> String {
    match (&image.old, &image.new) {
        (Some(old), Some(new)) => {
            let [before, after] = [old, new].map(|text| Image::parse(text));
            let version = |version: &'_ str| if version.is_empty() { "latest".to_owned() } else { version.to_owned() };
            if before.name == after.name {
                format!("{} {} → {}", before.name, version(before.version), version(after.version))
            } else {
                format!("{old} → {new}")
            }
        }
        (None, Some(new)) => format!("{new} in a new container"),
        (Some(old), None) => format!("{old} of a container that is removed"),
        (None, None) => String::new(),
    }
}
