//! How much of a text is taken from a commit.

/// How long one line of text may be that is taken from a commit, in bytes; what is beyond is left out.
pub(super) const LINE_BYTES_MAX: usize = 1 << 10;
/// How long a body may be that is taken from a commit, in bytes; what is beyond is left out, and `[...]` says so.
pub(super) const BODY_BYTES_MAX: usize = 16 << 10;

/// The start of a text, at most `bytes_max` long, whole characters.
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// The start of a body, whole lines if it has any that are not longer than `bytes_max` together, and a mark.
pub(super) fn cut_body(body: String, bytes_max: usize) -> String {
    if body.len() <= bytes_max {
        return body;
    }
    let start = cut(&body, bytes_max);
    let lines = start.rsplit_once('\n').map_or(start, |(lines, _)| lines);
    format!("{lines}\n[...]\n")
}
