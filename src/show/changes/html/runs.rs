//! Lines that go, beside those that come for them.

use super::super::{Mark, Row};
use super::model::{Line, Run};
use dry_files::diag::printable;

/// Adjacent lines of one sort together.
pub(super) fn runs(rows: Vec<Row>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for row in rows {
        let tag = match row.mark {
            Mark::Place => "p",
            Mark::Same => "s",
            Mark::Removed => "del",
            Mark::Added => "ins",
            Mark::Moved => "m",
            Mark::Folded => "f",
        };
        let differs = matches!(row.mark, Mark::Removed | Mark::Added);
        let goes_on = runs.last().is_some_and(|run| {
            let after_added = run.rows.last().is_some_and(|line| line.tag == "ins");
            run.differs && differs && !(after_added && row.mark == Mark::Removed)
        });
        if !goes_on {
            runs.push(Run { differs, ..Run::default() });
        }
        let text = format!("{:indent$}{}", "", printable(&row.text), indent = row.indent);
        let run = runs.last_mut().expect("there is one now");
        run.rows.push(Line { tag, text, differs: String::new(), rest: String::new() });
    }
    runs.iter_mut().for_each(Run::emphasize);
    runs
}

impl Run {
    /// Marks what differs in each line that goes and the one that comes for it.
    fn emphasize(&mut self) {
        let added = self.rows.iter().position(|line| line.tag == "ins").unwrap_or(self.rows.len());
        let (removed, added) = self.rows.split_at_mut(added);
        for (old, new) in removed.iter_mut().zip(added) {
            let [before, after]: [Vec<char>; 2] = [&old.text, &new.text].map(|text| text.chars().collect());
            let front = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
            let back =
                before[front..].iter().rev().zip(after[front..].iter().rev()).take_while(|(a, b)| a == b).count();
            for (line, chars) in [(old, before), (new, after)] {
                let text = |range: std::ops::Range<usize>| chars[range].iter().collect::<String>();
                let end = chars.len() - back;
                (line.text, line.differs, line.rest) = (text(0..front), text(front..end), text(end..chars.len()));
            }
        }
    }
}
