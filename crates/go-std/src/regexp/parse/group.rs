//! Groups and their flags.

use super::{BAD_NAME, BAD_PERL, Group, Parser, Result, error, next_char, up_to};

impl Parser<'_> {
    pub(super) fn open_group(&mut self) -> Result<()> {
        let name = if self.rest.starts_with(b"(?") {
            match self.perl_group()? {
                Some(name) => Some(name),
                None => return Ok(()),
            }
        } else {
            self.advance(1);
            None
        };
        self.names.push(name);
        let capture = Some((self.names.len() - 1) as u32);
        self.open.push(Group { capture, outer_flags: self.flags, ..Group::default() });
        Ok(())
    }

    pub(super) fn close_group(&mut self) -> Result<()> {
        if self.open.len() < 2 {
            return error("unexpected )", self.whole);
        }
        if let Some(group) = self.open.pop() {
            self.flags = group.outer_flags;
            self.push_over(group.end())?;
        }
        self.advance(1);
        Ok(())
    }

    /// The name of `(?P<name>` or `(?<name>`; what `(?flags)` and `(?flags:` ask for is done here.
    pub(super) fn perl_group(&mut self) -> Result<Option<Box<str>>> {
        let start = self.rest;
        let name_at = match start {
            [_, _, b'P', b'<', _, ..] => Some(4),
            [_, _, b'<', _, ..] => Some(3),
            _ => None,
        };
        if let Some(name_at) = name_at {
            let Some(end) = start.iter().position(|byte| *byte == b'>') else {
                std::str::from_utf8(start).or_else(|_| error("invalid UTF-8", start))?;
                return error(BAD_NAME, start);
            };
            let name = start.get(name_at..end).unwrap_or_default();
            let text = std::str::from_utf8(name).or_else(|_| error("invalid UTF-8", name))?;
            let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            if !is_name {
                return error(BAD_NAME, start.get(..=end).unwrap_or(start));
            }
            self.advance(end + 1);
            return Ok(Some(text.into()));
        }
        self.advance(2);
        let (mut flags, mut is_on, mut has_seen) = (self.flags, true, false);
        while !self.rest.is_empty() {
            let (c, after) = next_char(self.rest)?;
            self.rest = after;
            match c {
                'i' => flags.folds_case = is_on,
                'm' => flags.is_multi_line = is_on,
                's' => flags.dot_is_all = is_on,
                'U' => flags.is_lazy = is_on,
                '-' if is_on => {
                    (is_on, has_seen) = (false, false);
                    continue;
                }
                ':' | ')' if is_on || has_seen => {
                    let before = std::mem::replace(&mut self.flags, flags);
                    if c == ':' {
                        // The group itself has the new flags, what follows it the old ones.
                        self.open.push(Group { outer_flags: before, ..Group::default() });
                    }
                    return Ok(None);
                }
                _ => break,
            }
            has_seen = true;
        }
        error(BAD_PERL, up_to(start, self.rest))
    }
}
