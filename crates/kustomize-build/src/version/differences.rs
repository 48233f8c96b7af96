//! The one table of what versions of Kustomize do otherwise.
//!
//! A row is what one of them does, since which version, until which one, and the case of `tests/versions` that fails when it is
//! not done in time. The code asks [`Switches::has`] where it matters.
//!
//! Not told apart, because no kustomization is known that shows it: the library for YAML, another one since 5.7.0, and those for
//! JSON patches and regular expressions. Errors have the words of 5.8.1.

use super::Kustomize;

/// Defines the rows.
macro_rules! differences {
    ($($(#[doc = $what:literal])+ $Name:ident since $Since:ident $(until $Until:ident)?: $case:literal,)+) => {
        /// What Kustomize does since some version, and may do no longer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Difference {
            $($(#[doc = $what])+ $Name,)+
        }

        const ROWS: &[Row] = &[$(Row {
            difference: Difference::$Name,
            since: Kustomize::$Since,
            until: &[$(Kustomize::$Until)?],
            #[cfg(test)]
            case: $case,
        },)+];
    };
}

differences! {
    /// The name of a `ValidatingAdmissionPolicy` changes in its bindings, too.
    PolicyNames since V5_4_3: "policy-names",
    /// Of two objects of kind `Namespace`, of which one is of the core group, the other one is sorted first.
    NamespaceOrder since V5_5_0: "namespace-order",
    /// An object whose kind ends with `List` and that has no `items` is there; it was left out.
    ListWithoutItems since V5_5_0: "list-without-items",
    /// `helmCharts` has `debug`.
    ChartDebug since V5_5_0: "chart-debug",
    /// `replacements` has `sourceValue`.
    SourceValue since V5_7_0: "source-value",
    /// `images` changes the images of volumes.
    VolumeImages since V5_7_0: "volume-images",
    /// A patch that reads as a merge and as a JSON patch, since it holds nothing, is no error.
    AmbiguousPatch since V5_7_0: "patch-comments",
    /// `helmCharts` has `devel`.
    ChartDevel since V5_7_0: "chart-devel",
    /// What one patch of a file deletes is not looked at by the next; Kustomize panicked.
    DeletedPassedOver since V5_7_0: "patch-deleted",
    /// `select` and `reject` of replacements are regular expressions.
    SelectorPatterns since V5_8_0: "selector-pattern",
    /// Replacements reach into the JSON or YAML that is the text of a field.
    StructuredText since V5_8_0: "structured-json",
    /// An unknown option of a patch is an error, and a known one is found in any case.
    PatchOptions since V5_8_0: "patch-options",
    /// `namespace` is that of charts, and leaves their objects alone; it was set in their objects.
    ChartNamespace since V5_8_0: "chart-namespace",
    /// A base without `namespace` has that of the kustomization above.
    NamespaceInherited since V5_8_0 until V5_8_1: "namespace-inherited",
    /// A patch without content is passed over; it counted as a JSON patch, which needs a target.
    EmptyPatch since V5_8_1: "patch-empty",
    /// Charts are rendered by Helm 4, too.
    HelmFour since V5_8_1: "chart-helm-four",
}

/// A row of the table.
struct Row {
    difference: Difference,
    since: Kustomize,
    /// The first version that does it no longer, if there is one.
    until: &'static [Kustomize],
    #[cfg(test)]
    case: &'static str,
}

/// What is done in one build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switches(u32);

impl Switches {
    /// What a version does.
    pub(crate) fn of(version: Kustomize) -> Self {
        let is_done = |row: &&Row| version >= row.since && row.until.iter().all(|until| version < *until);
        Self(ROWS.iter().filter(is_done).fold(0, |switches, row| switches | 1 << row.difference as u32))
    }

    pub(crate) fn has(self, difference: Difference) -> bool {
        self.0 & (1 << difference as u32) != 0
    }

    /// The others, with this one the other way.
    #[cfg(test)]
    pub(super) fn flipped(self, difference: Difference) -> Self {
        Self(self.0 ^ (1 << difference as u32))
    }
}

impl Default for Switches {
    fn default() -> Self {
        Self::of(Kustomize::default())
    }
}

/// The rows, each with its case.
#[cfg(test)]
pub(super) fn cases() -> impl Iterator<Item = (Difference, &'static str)> {
    ROWS.iter().map(|row| (row.difference, row.case))
}
