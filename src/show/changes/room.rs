//! How a page of limited length is divided: each part gets its share, and what a small part leaves goes to larger ones.

/// The most that each of some parts may have so that all fit into `room`: none is shortened that is smaller than its share.
pub(super) fn share(sizes: impl IntoIterator<Item = usize>, room: usize) -> usize {
    let mut sizes: Vec<usize> = sizes.into_iter().collect();
    sizes.sort_unstable();
    let (mut left, mut parts) = (room, sizes.len());
    for size in sizes {
        let share = left / parts;
        if size > share {
            return share;
        }
        left -= size;
        parts -= 1;
    }
    room
}

/// The first lines of a block of Markdown that ends with a code block, in at most `room` bytes, with how many lines were left
/// out; none where there is no room for any line of the code.
pub(super) fn shortened(block: &str, room: usize) -> Option<String> {
    let lines: Vec<&str> = block.lines().collect();
    let (fence, text) = lines.split_last().filter(|(fence, _)| fence.starts_with("```"))?;
    let opening = text.iter().position(|line| line.strip_prefix(*fence).is_some_and(|rest| !rest.starts_with('`')))?;
    let end =
        |left_out: usize| format!("{fence}\n_{left_out} more {}._\n", if left_out == 1 { "line" } else { "lines" });
    let mut room = room.checked_sub(end(text.len()).len())?;
    let mut kept = String::new();
    for (index, line) in text.iter().enumerate() {
        let Some(left) = room.checked_sub(line.len() + 1) else {
            return (index > opening + 1).then(|| kept + &end(text.len() - index));
        };
        room = left;
        kept += line;
        kept.push('\n');
    }
    Some(block.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_small_parts_leave_goes_to_larger_ones() {
        for (sizes, room, expected) in [
            (&[100, 10, 10][..], 60, 40),
            (&[10, 100, 100], 110, 50),
            (&[5, 5], 60, 60),
            (&[50, 50], 60, 30),
            (&[], 60, 60),
            (&[7], 0, 0),
        ] {
            assert_eq!(share(sizes.iter().copied(), room), expected, "{sizes:?} in {room}");
        }
    }

    #[test]
    fn a_block_is_cut_between_lines_and_its_fence_is_closed() {
        let block = "\n`web`\n\n````diff\n@@ a @@\n-  1\n+  ```\n````\n";
        assert_eq!(shortened(block, 200).as_deref(), Some(block));
        let cut = "\n`web`\n\n````diff\n@@ a @@\n-  1\n````\n_1 more line._\n";
        assert_eq!(shortened(block, 54).as_deref(), Some(cut));
        assert_eq!(shortened(block, 30), None, "no line of the code fits");
        assert_eq!(shortened("\n`web`\n\nNothing that matters.\n", 10), None);
    }
}
