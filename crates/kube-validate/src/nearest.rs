//! "Did you mean".

/// The name that was meant, where one is near: the same but for case, or a few edits away.
pub(crate) fn nearest<'n>(names: impl Iterator<Item = &'n str>, wrong: &str) -> Option<&'n str> {
    if wrong.len() > 80 {
        return None;
    }
    let near = |name: &'n str| {
        let distance = if name.eq_ignore_ascii_case(wrong) { 0 } else { strsim::damerau_levenshtein(name, wrong) };
        (distance <= (wrong.len() / 3).clamp(1, 3)).then_some((distance, name))
    };
    names.filter_map(near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}
