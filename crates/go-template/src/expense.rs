//! What functions cost by the size of their arguments: taken from the budget before one runs.

/// How fast a function goes over texts and lists, and how much it makes of them on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expense {
    /// How many bytes of a text, or items of a list, it handles in the time of a step.
    pub bytes_per_step: usize,
    /// How many bytes it may make of one, its result included.
    pub growth: usize,
}

/// Functions that return their arguments, or look at their type, length or sign only.
const CONSTANT: &[&str] = &[
    "all",
    "and",
    "any",
    "call",
    "coalesce",
    "default",
    "dict",
    "dig",
    "empty",
    "fail",
    "first",
    "get",
    "hasKey",
    "include",
    "index",
    "kindIs",
    "kindOf",
    "last",
    "len",
    "list",
    "mustFirst",
    "mustLast",
    "not",
    "or",
    "pluck",
    "required",
    "set",
    "ternary",
    "toString",
    "tuple",
    "typeIs",
    "typeIsLike",
    "typeOf",
    "unset",
];

impl Expense {
    /// That of a function which looks at each byte once and makes copies of them: what is not known otherwise.
    const PLAIN: Expense = Expense { bytes_per_step: 16, growth: 2 };

    /// The expense of the function `name`; `None` for one that looks into none of its arguments.
    pub(super) fn of(name: &str) -> Option<Self> {
        if CONSTANT.contains(&name) {
            return None;
        }
        let (bytes_per_step, growth) = match name {
            // A character each, in a list of its own.
            "camelcase" | "kebabcase" | "shuffle" | "snakecase" => (1, 6),
            "initials" | "lower" | "nospace" | "swapcase" | "title" | "untitle" | "upper" => (1, 4),
            // What escapes makes up to six bytes of one.
            "html" | "js" | "quote" | "squote" | "urlquery" => (4, 6),
            // All parts of a path, or of a URL.
            "clean" | "dir" | "osClean" | "osDir" => (4, 16),
            "dateModify" | "date_modify" | "duration" | "durationRound" | "mustDateModify" | "must_date_modify" => {
                (1, 8)
            }
            "date" | "dateInZone" | "date_in_zone" | "htmlDate" | "htmlDateInZone" => (2, 8),
            "semver" | "semverCompare" | "toDate" | "mustToDate" | "urlJoin" | "urlParse" => (2, 8),
            "decryptAES" | "encryptAES" | "sha1sum" | "sha256sum" | "sha512sum" | "adler32sum" => (4, 3),
            "trim" | "trimAll" | "trimall" => (4, 4),
            _ => return Some(Self::PLAIN),
        };
        Some(Self { bytes_per_step, growth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_functions_only() {
        assert!(CONSTANT.is_sorted());
        let functions = crate::Functions::standard().with_durations();
        let of_charts = ["fail", "include", "required"];
        for name in CONSTANT {
            assert!(functions.get(name).is_some() || of_charts.contains(name), "{name}");
        }
    }
}
