//! The one table of what versions of Helm do otherwise.
//!
//! A row is a switch with its values, and from which version on each is in force. A version has, for every switch, the value
//! of the last entry that is not newer. The code asks `options.helm.switches()` for a switch where it matters and
//! matches on its value. Each value names the cases of
//! `tests/cases/helm-versions` of which one fails under every other value.

use super::number::Number;

/// What a version may have one way or another.
pub(crate) trait Switch {
    /// How many values there are.
    const COUNT: usize;
}

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

            impl Switch for $Switch {
                const COUNT: usize = [$(stringify!($Value)),+].len();
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
    /// The cases that show it.
    pub case: &'static str,
    /// Turns the switch to it.
    pub put: fn(&mut Switches),
}

const fn since(version: &str) -> Number {
    Number::parse(version).expect("three numbers")
}

differences! {
    /// What a null in values does.
    nulls: Nulls {
        /// A null removes what a chart has for its key. One for a subchart is used up by what the parent has for it, so
        /// that the default of the subchart stays.
        RemovedByTheParent: "nulls-for-a-subchart",
        /// A null removes what a chart has for its key, and that of its subchart too.
        Remove: "nulls-for-a-subchart nulls-nested nulls-of-a-chart",
        /// As before, and a null in a table goes also where the chart has nothing for its key.
        RemoveThemselves: "nulls-nested nulls-for-a-subchart",
        /// A null in a table removes what the chart has for its key; where the chart has nothing or null, it stays.
        RemoveWhatIsThere: "nulls-nested nulls-of-a-chart nulls-for-a-subchart",
        /// As before, and nulls among a chart's own values are left out.
        NeverDefaults: "nulls-of-a-chart nulls-nested nulls-for-a-subchart",
    } since [
        "3.17.0" RemovedByTheParent, "3.17.1" Remove, "3.19.5" RemoveThemselves, "3.20.1" RemoveWhatIsThere,
        "4.0.0" RemoveThemselves, "4.1.3" RemoveWhatIsThere, "4.2.0" NeverDefaults
    ]

    /// What a null in a list of values does.
    null_items: NullItems {
        /// It stays.
        Stay: "null-in-a-list",
        /// It ends the render.
        Fail: "null-in-a-list",
    } since ["3.17.0" Stay, "4.1.0" Fail, "4.1.1" Stay]

    /// What counts of a values file.
    values_files: ValuesFiles {
        /// Its first document.
        FirstDocument: "values-documents",
        /// All documents, merged in order. None may follow a directive.
        AllDocuments: "values-documents",
    } since ["3.17.0" FirstDocument, "4.0.0" AllDocuments]

    /// What `--set-json` takes.
    set_json: SetJson {
        /// Names with values.
        Names: "set-json-object",
        /// Names with values, or one object.
        NamesOrObject: "set-json-object",
    } since ["3.17.0" Names, "4.0.0" NamesOrObject]

    /// What an index without `]` is in `--set` and its sisters.
    open_index: OpenIndex {
        /// An error.
        Fails: "set-open-index",
        /// The end of the text: it and all behind it are dropped.
        Ends: "set-open-index",
    } since ["3.17.0" Fails, "4.1.0" Ends]

    /// What `child` and `parent` of `import-values` may be.
    imports: Imports {
        /// Texts, both of them.
        Texts: "import-a-number",
        /// Anything; its printed form counts.
        Anything: "import-a-number",
    } since ["3.17.0" Texts, "3.18.5" Anything]

    /// What the charts in a chart are that is used under several names.
    aliases: Aliases {
        /// One for all of the names: templates and conditions of the last one win.
        Shared: "alias-of-nested-charts",
        /// One for each name.
        Copied: "alias-of-nested-charts",
    } since ["3.17.0" Shared, "4.0.0" Copied]

    /// Which `apiVersion` a chart may have.
    chart_versions: ChartVersions {
        /// Any.
        Any: "chart-version",
        /// `v1`, `v2` or none.
        Known: "chart-version",
    } since ["3.17.0" Any, "4.0.0" Known]

    /// Whether a chart may have the name `.` or `..`.
    dot_names: DotNames {
        /// It may.
        Accepted: "chart-named-dot",
        /// It may not.
        Refused: "chart-named-dot",
    } since ["3.17.0" Accepted, "3.20.2" Refused, "4.0.0" Accepted, "4.1.4" Refused]

    /// How large the files of a chart may be.
    sizes: Sizes {
        /// Of any size.
        Any: "large-file large-chart",
        /// 5 MiB each, 100 MiB in an archive.
        EachFile: "large-file",
        /// 100 MiB together.
        AllFiles: "large-file large-chart",
    } since ["3.17.0" Any, "3.17.3" EachFile, "4.3.0" AllFiles]

    /// What checks values by a `values.schema.json`.
    schemas: Schemas {
        /// The library xeipuuv/gojsonschema: drafts 4 to 7 in one, formats asserted, later keywords unknown.
        DraftsUpTo7: "schema-keywords",
        /// The library santhosh-tekuri/jsonschema: each draft up to 2020-12 by itself.
        EachDraft: "schema-keywords",
    } since ["3.17.0" DraftsUpTo7, "3.18.5" EachDraft]

    /// What a `$ref` to an unknown `urn:` is.
    urns: Urns {
        /// An error.
        Fail: "schema-urn",
        /// A schema that accepts everything.
        AcceptAll: "schema-urn",
    } since ["3.17.0" Fail, "3.19.1" AcceptAll, "4.0.0" Fail, "4.0.2" AcceptAll]

    /// What becomes of a `--kube-version` with something behind the numbers.
    kube_versions: KubeVersions {
        /// It is a pre-release, and in no range without one.
        PreRelease: "kube-version-suffix",
        /// It is left out.
        Numbers: "kube-version-suffix",
        /// Templates see it, ranges do not.
        Suffix: "kube-version-suffix",
    } since ["3.17.0" PreRelease, "3.19.0" Numbers, "4.1.0" Suffix]

    /// What the objects of templates are to Go.
    go_types: GoTypes {
        /// `.Chart` is a struct, values are `chartutil.Values`.
        Structs: "chart-object",
        /// `.Chart` is a map, values are `common.Values`.
        Maps: "chart-object",
    } since ["3.17.0" Structs, "4.0.0" Maps]

    /// What `range` does with a whole number. The official programs of 3.17 were built with Go 1.23, which has no such
    /// thing; of 3.17.1 there are recorded answers of one built with a newer Go.
    ranges: Ranges {
        /// It fails.
        Fail: "range-over-a-number",
        /// It counts.
        Count: "range-over-a-number",
    } since ["3.17.0" Fail, "3.17.1" Count, "3.17.2" Fail, "3.18.1" Count]

    /// Which functions there are beside those of Sprig and the oldest version.
    functions: Functions {
        /// None.
        Oldest: "functions-yaml",
        /// `mustToYaml`.
        MustToYaml: "functions-yaml functions-toml",
        /// `mustToToml` too.
        MustToToml: "functions-toml functions-durations",
        /// Those for durations too, such as `durationSeconds`.
        Durations: "functions-durations",
    } since ["3.17.0" Oldest, "4.0.0" MustToYaml, "4.2.0" MustToToml, "4.3.0" Durations]

    /// The library for TOML, BurntSushi/toml.
    toml: Toml {
        /// 1.4: TOML 1.0. An error at the end of the text is in line 0.
        V1_4: "toml",
        /// 1.5: TOML 1.0. An error at the end of the text is in its last line.
        V1_5: "toml",
        /// 1.6: TOML 1.1. Large and small numbers are written with an exponent.
        V1_6: "toml",
    } since ["3.17.0" V1_4, "3.18.1" V1_5, "3.20.0" V1_6, "4.0.0" V1_5, "4.1.0" V1_6]

    /// What `toJson` and the like make of bytes that are no UTF-8. Go 1.27, by which Helm 4.3 is built, writes them otherwise.
    json_bytes: JsonBytes {
        /// `\ufffd` for each of them.
        Escaped: "json-bytes",
        /// The character U+FFFD for each of them.
        Replaced: "json-bytes",
    } since ["3.17.0" Escaped, "4.3.0" Replaced]

    /// What `.Files.Lines` makes of an empty file.
    empty_files: EmptyFiles {
        /// An error.
        Fail: "lines-of-an-empty-file",
        /// No lines.
        NoLines: "lines-of-an-empty-file",
    } since ["3.17.0" Fail, "3.21.4" NoLines, "4.0.0" Fail, "4.3.0" NoLines]

    /// How the output of a template is cut into documents, and what white space they keep.
    documents: Documents {
        /// At `---` behind a line break; white space around it goes, and so does that at both ends of a document.
        Trimmed: "documents",
        /// At `---` behind a line break; white space around it goes, that at the end of the last document stays.
        KeepsTheEnd: "documents",
        /// At `---` at the start of any line; nothing but blanks behind it goes.
        KeepsLines: "documents",
    } since ["3.17.0" Trimmed, "4.2.0" KeepsTheEnd, "4.2.4" KeepsLines]

    /// Where configurations of webhooks are in the order of kinds.
    webhooks: Webhooks {
        /// Among the unknown kinds, by name.
        ByName: "webhooks",
        /// Last of the known kinds, mutating ones first.
        Known: "webhooks",
    } since ["3.17.0" ByName, "4.0.0" Known]
}
