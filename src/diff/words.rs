//! The word in which the names of two environments differ.

/// A word, and the one that is in its place elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Words {
    /// The word that is replaced.
    pub from: String,
    /// The word in its place.
    pub to: String,
}

impl Words {
    /// What differs in two names, in whole words: `staging` and `qa` of `environments/staging` and `environments/qa`. None
    /// when one of them has nothing there.
    pub(crate) fn between(from: &str, to: &str) -> Option<Self> {
        let [old, new] = [from, to].map(|name| name.split_inclusive(is_between).collect::<Vec<_>>());
        let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let [old, new] = [old, new].map(|words| words.get(front..).unwrap_or_default().concat());
        let [before, after] = [&old, &new].map(|rest| rest.rsplit(is_between).collect::<Vec<_>>());
        let back = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let cut = |rest: &str, words: &[&str]| {
            let kept: usize = words.iter().take(back).map(|word| word.len() + 1).sum();
            rest.get(..rest.len().saturating_sub(kept)).unwrap_or_default().to_owned()
        };
        let words = Self { from: cut(&old, &before), to: cut(&new, &after) };
        (!words.from.is_empty() && !words.to.is_empty()).then_some(words)
    }

    /// A text with the word replaced wherever it is one of its own: next to letters and digits it is another one.
    pub(crate) fn replaced(&self, text: &str) -> String {
        let (mut replaced, mut rest, mut before) = (String::with_capacity(text.len()), text, None);
        while let Some(at) = rest.find(&self.from) {
            let (front, found) = rest.split_at(at);
            let behind = found.strip_prefix(&*self.from).unwrap_or_default();
            let last = front.chars().next_back().or(before);
            let is_word = last.is_none_or(is_between) && behind.chars().next().is_none_or(is_between);
            replaced += front;
            replaced += if is_word { &self.to } else { &self.from };
            before = self.from.chars().next_back();
            rest = behind;
        }
        replaced + rest
    }
}

fn is_between(c: char) -> bool {
    !c.is_ascii_alphanumeric()
}

/// `qa for staging`
impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} for {}", self.to, self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_in_which_names_differ() {
        let rows = [
            ("environments/staging", "environments/qa", Some(("staging", "qa"))),
            ("environments/dev-eu", "environments/prod-eu", Some(("dev", "prod"))),
            ("environments/dev", "environments/dev", None),
            ("environments/dev", "environments/dev-eu", Some(("dev", "dev-eu"))),
            ("env/eu/dev", "env/us/prod", Some(("eu/dev", "us/prod"))),
            ("dev", "prod", Some(("dev", "prod"))),
        ];
        for (from, to, expected) in rows {
            let words = Words::between(from, to);
            assert_eq!(words.as_ref().map(|words| (&*words.from, &*words.to)), expected, "{from} {to}");
        }
    }

    #[test]
    fn only_whole_words_are_replaced() {
        let words = Words { from: "dev".to_owned(), to: "prod".to_owned() };
        let rows = [
            ("web-dev", "web-prod"),
            ("dev.example.com/dev", "prod.example.com/prod"),
            ("devel dev2 xdev", "devel dev2 xdev"),
            ("devdev", "devdev"),
            ("/dev/null", "/prod/null"),
            ("é-dev", "é-prod"),
        ];
        for (text, expected) in rows {
            assert_eq!(words.replaced(text), expected);
        }
    }
}
