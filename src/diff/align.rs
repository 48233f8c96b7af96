//! Which items of a list, and which lines of a text, are the same before and after.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use gix_imara_diff::{Algorithm, Diff, InternedInput, Interner};
use go_yaml::{Value, json};

/// A line of two texts that were compared, without its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// It is in both.
    Same(&'a str),
    /// It is in the old text only.
    Removed(&'a str),
    /// It is in the new text only.
    Added(&'a str),
}

/// The lines of both texts, those removed before those added in their place.
pub(crate) fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let mut input = intern(old.split('\n'), new.split('\n'));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let (mut lines, mut at) = (Vec::new(), 0);
    let InternedInput { before, after, interner } = &mut input;
    for hunk in diff.hunks() {
        let (removed, added) = (range(hunk.before), range(hunk.after));
        lines.extend(before[at..removed.start].iter().map(|token| Line::Same(interner[*token])));
        lines.extend(before[removed.clone()].iter().map(|token| Line::Removed(interner[*token])));
        lines.extend(after[added].iter().map(|token| Line::Added(interner[*token])));
        at = removed.end;
    }
    lines.extend(before[at..].iter().map(|token| Line::Same(interner[*token])));
    lines
}

/// An item of two lists that were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Aligned {
    /// Its index before; none when it is new.
    pub old: Option<usize>,
    /// Its index after; none when it is gone.
    pub new: Option<usize>,
    /// Whether it is elsewhere among the others.
    pub moved: bool,
}

/// Brings the items of two lists together: by the fields that identify them, else by their content. In the order of the
/// new list, with what is gone where it was.
pub(super) fn align(old: &[Value], new: &[Value]) -> Vec<Aligned> {
    let partners = match identities(old, new) {
        Some([old_names, new_names]) => {
            let places: BTreeMap<_, _> =
                old_names.iter().enumerate().map(|(index, identity)| (identity, index)).collect();
            let mut partners: Vec<_> = new_names.iter().map(|identity| places.get(identity).copied()).collect();
            renamed((old, &old_names), (new, &new_names), &mut partners);
            partners
        }
        None => partners(old, new),
    };
    merge(old.len(), &partners)
}

/// What is a name of its own: with another one, it is another thing.
const NAMES: [&str; 5] = ["name", "metadata.name", "key", "alert", "record"];

/// Pairs items that differ in nothing but what identifies them, as a rule whose host changed.
fn renamed(
    (old, old_names): (&[Value], &[Identity]),
    (new, new_names): (&[Value], &[Identity]),
    partners: &mut [Option<usize>],
) {
    let mut sides: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
    let taken: BTreeSet<usize> = partners.iter().flatten().copied().collect();
    for (index, (item, name)) in old.iter().zip(old_names).enumerate().filter(|(index, _)| !taken.contains(index)) {
        rest(item, name).into_iter().for_each(|rest| sides.entry(rest).or_default()[0].push(index));
    }
    for (index, (item, name)) in new.iter().zip(new_names).enumerate() {
        let is_alone = partners.get(index).is_some_and(Option::is_none);
        rest(item, name)
            .filter(|_| is_alone)
            .into_iter()
            .for_each(|rest| sides.entry(rest).or_default()[1].push(index));
    }
    for sides in sides.into_values() {
        if let ([old], [new]) = (&sides[0][..], &sides[1][..])
            && let Some(partner) = partners.get_mut(*new)
        {
            *partner = Some(*old);
        }
    }
}

/// What an item says but for what identifies it; `None` where that is a name, or all that it has.
fn rest(item: &Value, identity: &Identity) -> Option<String> {
    if identity.iter().any(|(field, _)| NAMES.contains(&field.as_str())) {
        return None;
    }
    let mut fields = item.as_mapping()?.clone();
    fields.retain(|key, _| identity.iter().all(|(field, _)| field != key));
    (!fields.is_empty()).then(|| json::encode(&Value::Mapping(fields), json::Options::default()))
}

/// What identifies the items of a list of mappings, the first that every item has and no two share. Names first; then
/// what Kubernetes merges lists by.
const IDENTITIES: [&[&[&str]]; 20] = [
    &[&["name"]],
    &[&["metadata", "name"]],
    &[&["key"]],
    &[&["mountPath"]],
    &[&["containerPort"]],
    &[&["containerPort"], &["protocol"]],
    &[&["port"]],
    &[&["port"], &["protocol"]],
    &[&["devicePath"]],
    &[&["topologyKey"]],
    &[&["destination", "subset"]],
    &[&["destination", "host"]],
    &[&["ip"]],
    &[&["host"]],
    &[&["path"]],
    &[&["type"]],
    &[&["alert"]],
    &[&["record"]],
    &[&["resources"]],
    &[&["apiGroups"], &["resources"]],
];

/// Fields and values that identify an item.
pub(super) type Identity = Vec<(String, String)>;

/// What identifies the items of both lists; none when nothing does, or one of them is empty.
pub(super) fn identities(old: &[Value], new: &[Value]) -> Option<[Vec<Identity>; 2]> {
    if old.is_empty() || new.is_empty() {
        return None;
    }
    IDENTITIES.iter().find_map(|fields| Some([unique(old, fields)?, unique(new, fields)?])).or_else(|| {
        // Lists whose items are of several sorts, as the rules of an alert group.
        Some([distinct(old.iter().map(first_name))?, distinct(new.iter().map(first_name))?])
    })
}

/// The first of the fields that identify an item alone which it has.
fn first_name(item: &Value) -> Option<Identity> {
    let alone = IDENTITIES.iter().filter(|fields| fields.len() == 1);
    alone.map(|fields| identity(item, fields)).find(Option::is_some)?
}

fn unique(items: &[Value], fields: &[&[&str]]) -> Option<Vec<Identity>> {
    distinct(items.iter().map(|item| identity(item, fields)))
}

/// The fields of an item as text; none when it lacks one.
fn identity(item: &Value, fields: &[&[&str]]) -> Option<Identity> {
    let field = |path: &&[&str]| Some((path.join("."), item.at(path).and_then(name_of)?));
    fields.iter().map(field).collect()
}

/// A text, a number, or a list of texts with commas.
fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Sequence(texts) => Some(texts.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join(",")),
        _ => None,
    }
}

/// The identities, where each item has one of its own.
fn distinct(identities: impl Iterator<Item = Option<Identity>>) -> Option<Vec<Identity>> {
    let identities: Vec<Identity> = identities.collect::<Option<_>>()?;
    let distinct: BTreeSet<&Identity> = identities.iter().collect();
    (distinct.len() == identities.len()).then_some(identities)
}

/// How many pairs of items are weighed; where there are more, nothing is taken for an item that changed.
const WEIGHED_MAX: usize = 10_000;

/// How alike items must be to count as one that changed.
const ALIKE_MIN: f64 = 0.5;

/// For each new item the old one: the same at the same place, the same elsewhere, one that is alike.
fn partners(old: &[Value], new: &[Value]) -> Vec<Option<usize>> {
    let encode = |value: &Value| json::encode(value, json::Options::default());
    let input = intern(old.iter().map(encode), new.iter().map(encode));
    let hunks: Vec<_> = Diff::compute(Algorithm::Histogram, &input)
        .hunks()
        .map(|hunk| (range(hunk.before), range(hunk.after)))
        .collect();
    let mut partners = vec![None; new.len()];
    let mut is_free = vec![false; old.len()];
    let (mut old_at, mut new_at) = (0, 0);
    for (removed, added) in hunks.into_iter().chain([(old.len()..old.len(), new.len()..new.len())]) {
        for (old, new) in (old_at..removed.start).zip(new_at..added.start) {
            partners[new] = Some(old);
        }
        is_free[removed.clone()].fill(true);
        (old_at, new_at) = (removed.end, added.end);
    }
    let mut elsewhere: HashMap<_, VecDeque<usize>> = HashMap::new();
    for index in (0..old.len()).filter(|index| is_free[*index]) {
        elsewhere.entry(input.before[index]).or_default().push_back(index);
    }
    for (index, partner) in partners.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
        if let Some(found) = elsewhere.get_mut(&input.after[index]).and_then(VecDeque::pop_front) {
            *partner = Some(found);
            is_free[found] = false;
        }
    }
    let gone: Vec<usize> = (0..old.len()).filter(|index| is_free[*index]).collect();
    let added: Vec<usize> = (0..new.len()).filter(|index| partners[*index].is_none()).collect();
    if gone.len().saturating_mul(added.len()) > WEIGHED_MAX {
        return partners;
    }
    let pairs = gone.iter().flat_map(|o| added.iter().map(|n| (*o, *n)));
    let weighed = pairs.map(|(o, n)| (alike(&old[o], &new[n]), o, n));
    let mut weighed: Vec<_> = weighed.filter(|(weight, ..)| *weight >= ALIKE_MIN).collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.abs_diff(a.2).cmp(&b.1.abs_diff(b.2))));
    for (_, o, n) in weighed {
        if is_free[o] && partners[n].is_none() {
            partners[n] = Some(o);
            is_free[o] = false;
        }
    }
    partners
}

/// How much two items have in common, from 0 to 1.
fn alike(old: &Value, new: &Value) -> f64 {
    match (old, new) {
        (Value::Mapping(old), Value::Mapping(new)) => {
            let mut common = 0.0;
            for (key, value) in old {
                common += match new.get(key) {
                    Some(other) if other == value => 1.0,
                    Some(_) => 0.5,
                    None => 0.0,
                };
            }
            let shared = old.keys().filter(|key| new.contains_key(*key)).count();
            common / (old.len() + new.len() - shared).max(1) as f64
        }
        (Value::String(old), Value::String(new)) => {
            let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
            let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let back = old[front..].iter().rev().zip(new[front..].iter().rev()).take_while(|(a, b)| a == b).count();
            (front + back) as f64 / old.len().max(new.len()).max(1) as f64
        }
        (Value::Sequence(_), Value::Sequence(_)) => ALIKE_MIN,
        _ => 0.0,
    }
}

/// Both lists in one, given for each new item its partner: as few items as possible count as moved.
fn merge(old_len: usize, partners: &[Option<usize>]) -> Vec<Aligned> {
    let stays = longest_rise(partners);
    let mut has_partner = vec![false; old_len];
    for old in partners.iter().flatten() {
        has_partner[*old] = true;
    }
    let gone = |range: std::ops::Range<usize>| {
        let gone = range.filter(|old| !has_partner[*old]);
        gone.map(|old| Aligned { old: Some(old), new: None, moved: false }).collect::<Vec<_>>()
    };
    let (mut merged, mut since, mut old_at) = (Vec::new(), Vec::new(), 0);
    for (new, partner) in partners.iter().enumerate() {
        match partner {
            Some(old) if stays[new] => {
                merged.extend(gone(old_at..*old));
                merged.append(&mut since);
                merged.push(Aligned { old: Some(*old), new: Some(new), moved: false });
                old_at = old + 1;
            }
            partner => since.push(Aligned { old: *partner, new: Some(new), moved: partner.is_some() }),
        }
    }
    merged.extend(gone(old_at..old_len));
    merged.append(&mut since);
    merged
}

/// Marks the positions of a longest ascending run of the numbers that are there.
fn longest_rise(numbers: &[Option<usize>]) -> Vec<bool> {
    // For each length the position where the smallest last number of such a run is.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; numbers.len()];
    for (at, number) in numbers.iter().enumerate().filter(|(_, number)| number.is_some()) {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before[at] = length.checked_sub(1).map(|length| ends[length]);
        ends.truncate(ends.len().max(length));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut marks = vec![false; numbers.len()];
    let mut here = ends.last().copied();
    while let Some(at) = here {
        marks[at] = true;
        here = before[at];
    }
    marks
}

fn intern<T: Eq + std::hash::Hash>(old: impl Iterator<Item = T>, new: impl Iterator<Item = T>) -> InternedInput<T> {
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(64) };
    input.update_before(old);
    input.update_after(new);
    input
}

fn range(range: std::ops::Range<u32>) -> std::ops::Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a b>a c+` as an aligned list: what stays, what moved, what is gone (`-`) and new (`+`).
    fn drawn(old: &[&str], new: &[&str]) -> String {
        let values = |texts: &[&str]| texts.iter().map(|text| Value::from(*text)).collect::<Vec<_>>();
        let drawn = |aligned: &Aligned| match *aligned {
            Aligned { old: Some(o), new: Some(n), moved } => {
                let name = if old[o] == new[n] { new[n].to_owned() } else { format!("{}={}", old[o], new[n]) };
                if moved { format!("{name}~") } else { name }
            }
            Aligned { old: Some(o), .. } => format!("{}-", old[o]),
            Aligned { new: Some(n), .. } => format!("{}+", new[n]),
            Aligned { .. } => "?".to_owned(),
        };
        align(&values(old), &values(new)).iter().map(drawn).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn scalars() {
        // (rule, old, new, expected)
        let rows: &[(&str, &[&str], &[&str], &str)] = &[
            ("nothing", &[], &[], ""),
            ("all new", &[], &["a", "b"], "a+ b+"),
            ("all gone", &["a", "b"], &[], "a- b-"),
            ("one added", &["a", "c"], &["a", "b", "c"], "a b+ c"),
            ("one gone", &["a", "b", "c"], &["a", "c"], "a b- c"),
            ("gone before new", &["a", "b", "c"], &["a", "x", "c"], "a b- x+ c"),
            ("the last to the front", &["a", "b", "c"], &["c", "a", "b"], "c~ a b"),
            ("the first to the end", &["a", "b", "c"], &["b", "c", "a"], "b c a~"),
            ("moved and one new", &["a", "b", "c"], &["c", "x", "a", "b"], "c~ x+ a b"),
            ("alike is changed", &["--level=info", "-v"], &["--level=debug", "-v"], "--level=info=--level=debug -v"),
            ("twice and once", &["a", "a", "b"], &["a", "b"], "a a- b"),
        ];
        for (rule, old, new, expected) in rows {
            assert_eq!(drawn(old, new), *expected, "{rule}");
        }
    }

    #[test]
    fn what_identifies_items() {
        let items = |text: &str| json::decode(text.as_bytes(), &go_yaml::Limits::default()).expect("JSON");
        let rows = [
            (r#"[{"name":"a","x":1},{"name":"b"}]"#, Some("name=b")),
            (r#"[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]"#, Some("metadata.name=b")),
            (r#"[{"name":"a","mountPath":"/a"},{"name":"a","mountPath":"/b"}]"#, Some("mountPath=/b")),
            (r#"[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]"#, Some("port=53,protocol=UDP")),
            (r#"[{"apiGroups":[""],"verbs":["get"]}]"#, None),
            (r#"[{"apiGroups":["",""],"resources":["pods"]}]"#, Some("resources=pods")),
            (r#"[{"record":"r","expr":"x"},{"alert":"a","expr":"x"}]"#, Some("alert=a")),
            (r#"[{"alert":"a"},{"alert":"a"}]"#, None),
            (r#"[{"name":"a"},"text"]"#, None),
            (r#"[{"name":"a"},{"name":"a"}]"#, None),
        ];
        for (text, expected) in rows {
            let list = items(text);
            let list = list.as_sequence().expect("a list");
            let last = identities(list, list).and_then(|[_, mut new]| new.pop());
            let last = last
                .map(|fields| fields.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(","));
            assert_eq!(last.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn lines_of_texts() {
        let drawn = |old, new| {
            let drawn = |line| match line {
                Line::Same(text) => format!(" {text}"),
                Line::Removed(text) => format!("-{text}"),
                Line::Added(text) => format!("+{text}"),
            };
            lines(old, new).into_iter().map(drawn).collect::<Vec<_>>().join("|")
        };
        assert_eq!(drawn("a\nb\nc\n", "a\nx\nc\n"), " a|-b|+x| c| ");
        assert_eq!(drawn("a", "a\n"), " a|+");
        assert_eq!(drawn("", "a"), "-|+a");
        assert_eq!(drawn("a\r\nb", "a\nb"), "-a\r|+a| b");
    }

    #[test]
    fn long_lists_that_have_nothing_in_common_end_soon() {
        let list = |prefix: &str| (0..20_000).map(|n| Value::from(format!("{prefix}{n}"))).collect::<Vec<_>>();
        assert_eq!(align(&list("a"), &list("b")).len(), 40_000);
    }
}
