//! Policies of Argo CD, and what the members of its roles may do by them.
//!
//! Reference: argo-cd docs/operator-manual/rbac, "The Policies"; assets/builtin-policy.csv, assets/model.conf: what is denied is not
//! allowed, whatever else is.

use std::collections::{BTreeMap, BTreeSet};

use go_std::glob::Glob;

/// How many lines are looked at: rights that have more are not judged.
const LINES_MAX: usize = 1_000;

/// How many comparisons are made.
const STEPS_MAX: usize = 200_000;

/// The roles that Argo CD has.
const BUILT_IN: [(&str, &str); 2] = [("role:admin", "*"), ("role:readonly", "get")];

/// What of Argo CD is in a project.
const OF_PROJECTS: [&str; 4] = ["applications", "applicationsets", "logs", "exec"];

/// One line of a policy: what may be done on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rule<'t> {
    resource: &'t str,
    action: &'t str,
    object: &'t str,
}

/// A right that somebody has from now on; the worst first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    /// Whether it is to read alone, and no logs.
    pub only_reads: bool,
    /// As it is said.
    pub text: String,
    /// Who has it.
    pub who: String,
}

/// All policies, and who has which role.
#[derive(Debug)]
pub(super) struct Policies<'t> {
    allowed: BTreeMap<&'t str, BTreeSet<Rule<'t>>>,
    denied: BTreeMap<&'t str, BTreeSet<Rule<'t>>>,
    /// The roles of each.
    roles: BTreeMap<String, BTreeSet<String>>,
    are_globs: bool,
    lines: usize,
}

impl<'t> Policies<'t> {
    pub(super) fn new(are_globs: bool) -> Self {
        let (allowed, denied) = (BTreeMap::new(), BTreeMap::new());
        Self { allowed, denied, roles: BTreeMap::new(), are_globs, lines: 0 }
    }

    /// The name by which policies know a role of a project.
    pub(super) fn role(&self, project: &str, role: &str) -> String {
        format!("proj:{project}:{role}")
    }

    pub(super) fn add(&mut self, text: &'t str) {
        for line in text.lines() {
            self.lines += 1;
            if self.lines > LINES_MAX {
                return;
            }
            let fields: Vec<&str> = line.split(',').map(|field| field.trim().trim_matches('"')).collect();
            match fields[..] {
                ["p", subject, resource, action, object, effect] => {
                    let object = match object {
                        "*/*" | "*/*/*" if OF_PROJECTS.contains(&resource) || resource == "*" => "*",
                        object => object,
                    };
                    let list = if effect == "deny" { &mut self.denied } else { &mut self.allowed };
                    list.entry(subject).or_default().insert(Rule { resource, action, object });
                }
                ["g", member, role] => self.member(member, role),
                _ => {}
            }
        }
    }

    pub(super) fn member(&mut self, member: &str, role: &str) {
        self.lines += 1;
        if !role.is_empty() && self.lines <= LINES_MAX {
            self.roles.entry(member.to_owned()).or_default().insert(role.to_owned());
        }
    }

    /// The roles of somebody, and those that these have.
    fn all_roles(&self, who: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::from([who.to_owned()]);
        let mut next = vec![who.to_owned()];
        while let Some(one) = next.pop() {
            for role in self.roles.get(&one).into_iter().flatten() {
                if all.insert(role.clone()) {
                    next.push(role.clone());
                }
            }
        }
        all
    }

    /// What somebody may do by all roles.
    fn allowed(&self, who: &str) -> BTreeSet<Rule<'t>> {
        let roles = self.all_roles(who);
        let built_in = BUILT_IN.iter().filter(|(role, _)| roles.contains(*role));
        let built_in = built_in.map(|(_, action)| Rule { resource: "*", action, object: "*" });
        built_in.chain(Self::of(&self.allowed, &roles)).collect()
    }

    /// What somebody may not do by some role.
    fn denied(&self, who: &str) -> BTreeSet<Rule<'t>> {
        Self::of(&self.denied, &self.all_roles(who)).collect()
    }

    fn of<'a>(
        list: &'a BTreeMap<&'t str, BTreeSet<Rule<'t>>>,
        roles: &'a BTreeSet<String>,
    ) -> impl Iterator<Item = Rule<'t>> + 'a {
        roles.iter().filter_map(|role| list.get(role.as_str())).flatten().copied()
    }

    /// Those who have rights: groups, users and everybody; of roles, those that no one is known to have and that were there before.
    fn holders(&self, old: &Policies<'_>) -> BTreeSet<String> {
        let is_role = |name: &str| name.starts_with("role:") || name.starts_with("proj:");
        let held: BTreeSet<&String> = self.roles.values().flatten().collect();
        let subjects = self.allowed.keys().chain(self.denied.keys()).map(|subject| (*subject).to_owned());
        let all = subjects.chain(self.roles.keys().cloned());
        all.filter(|one| !is_role(one) || !held.contains(one) && old.allowed.contains_key(one.as_str())).collect()
    }

    /// The rights that these policies give and the old ones did not; none where there are too many.
    pub(super) fn gained(&self, old: &Policies<'_>) -> Option<Vec<Grant>> {
        if self.lines > LINES_MAX || old.lines > LINES_MAX {
            return None;
        }
        let mut found = Vec::new();
        let mut steps = 0;
        for who in self.holders(old) {
            let (was, now) = (old.allowed(&who), self.allowed(&who));
            let (denied, denies) = (old.denied(&who), self.denied(&who));
            let all = old.allowed(super::ALL);
            steps += now.len() * (was.len() + all.len() + denies.len()) + denied.len() * (denies.len() + now.len());
            if steps > STEPS_MAX {
                return None;
            }
            let is_new = |rule: &&Rule<'_>| {
                let had = |by: &Rule<'_>| old.covers(by, rule);
                !was.iter().any(had) && !all.iter().any(had) && !denies.iter().any(|by| self.covers(by, rule))
            };
            let new: BTreeSet<&Rule<'_>> = now.iter().filter(is_new).collect();
            // A line that another new one has already says nothing more.
            let is_widest = |rule: &&&Rule<'_>| !new.iter().any(|by| by != *rule && self.covers(by, rule));
            found.extend(new.iter().filter(is_widest).map(|rule| rule.grant(&who)));
            // What is no longer denied, of what is allowed otherwise and was before.
            let is_free = |rule: &&Rule<'_>| {
                let meets = |by: &Rule<'_>| self.covers(by, rule) || self.covers(rule, by);
                !denies.iter().any(|by| self.covers(by, rule))
                    && now.iter().any(meets)
                    && !new.iter().any(|by| self.covers(by, rule))
            };
            found.extend(denied.iter().filter(is_free).map(|rule| rule.grant(&who)));
        }
        Some(found)
    }

    /// Whether a line has all that another one has.
    fn covers(&self, by: &Rule<'_>, rule: &Rule<'_>) -> bool {
        self.has(by.resource, rule.resource) && self.has(by.action, rule.action) && self.has(by.object, rule.object)
    }

    fn has(&self, pattern: &str, text: &str) -> bool {
        let is_glob = || self.are_globs && Glob::without_separator(pattern).is_ok_and(|glob| glob.matches(text));
        pattern == text || matches!(pattern, "*" | ".*") || pattern.contains(['*', '?', '[', '{']) && is_glob()
    }
}

impl Rule<'_> {
    fn grant(&self, who: &str) -> Grant {
        let Self { resource, action, object } = self;
        let only_reads = *action == "get" && !matches!(*resource, "logs" | "exec");
        let what = match (*resource, *action, *object) {
            ("*", "*", "*") => "role:admin".to_owned(),
            ("*", "get", "*") => "role:readonly".to_owned(),
            _ => format!("`{resource}, {action}, {object}`"),
        };
        Grant { only_reads, text: format!("{what} for {who}"), who: who.to_owned() }
    }
}
