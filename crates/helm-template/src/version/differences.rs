//! The one table of what versions of Helm do otherwise.
//!
//! A row is a switch with its values, and from which version on each is in force. A version has, for every switch, the value
//! of the last entry that is not newer. The code asks `options.helm.switches()` for a switch where it matters and
//! matches on its value. Each value names the case of `tests/versions` that fails under every other value.

use super::number::Number;

/// Defines the switches, their values, and [`Switches::of`].
macro_rules! differences {
    ($(
        $(#[doc = $what:literal])+
        $switch:ident: $Switch:ident {
            $($(#[doc = $value_what:literal])+ $Value:ident: $case:literal,)+
        } since [$($since:literal $From:ident),+]
    )+) => {
        $(
            $(#[doc = $what])+
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub(crate) enum $Switch {
                $($(#[doc = $value_what])+ $Value,)+
            }
        )+

        /// What a version does, by switch.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) struct Switches {
            $($(#[doc = $what])+ pub $switch: $Switch,)+
        }

        impl Switches {
            /// The switches of a version.
            pub(super) const fn of(version: Number) -> Self {
                Self {
                    $($switch: {
                        let mut value = None;
                        $(if since($since).at_most(version) {
                            value = Some($Switch::$From);
                        })+
                        value.expect("each switch has a value for the oldest version")
                    },)+
                }
            }
        }

        /// The table, for those who print or check it.
        #[cfg(test)]
        pub(crate) const DIFFERENCES: &[Difference] = &[$(
            Difference {
                switch: stringify!($switch),
                what: &[$($what),+],
                values: &[$(Value {
                    name: stringify!($Value),
                    what: &[$($value_what),+],
                    case: $case,
                    put: |switches| switches.$switch = $Switch::$Value,
                },)+],
                since: &[$(($since, stringify!($From))),+],
            },
        )+];
    };
}

/// A row of the table.
#[cfg(test)]
pub(crate) struct Difference {
    /// The name of the switch.
    pub switch: &'static str,
    /// What it is about, in lines.
    pub what: &'static [&'static str],
    /// What there is to choose from.
    pub values: &'static [Value],
    /// From which version on which value is in force, ascending.
    pub since: &'static [(&'static str, &'static str)],
}

/// What a switch can be.
#[cfg(test)]
pub(crate) struct Value {
    /// The name of the value.
    pub name: &'static str,
    /// What Helm does, in lines.
    pub what: &'static [&'static str],
    /// The case that shows it.
    pub case: &'static str,
    /// Turns the switch to it.
    pub put: fn(&mut Switches),
}

const fn since(version: &str) -> Number {
    Number::parse(version).expect("three numbers")
}

differences! {
    /// How the output of a template is cut into documents, and what white space they keep.
    documents: Documents {
        /// At `---` behind a line break; white space around it goes, and so does that at both ends of a document.
        Trimmed: "documents",
        /// At `---` behind a line break; white space around it goes, that at the end of the last document stays.
        KeepsTheEnd: "documents",
        /// At `---` at the start of any line; nothing but blanks behind it goes.
        KeepsLines: "documents",
    } since ["3.17.0" Trimmed, "4.2.0" KeepsTheEnd, "4.2.4" KeepsLines]
}
