//! How bad a danger is.

/// How bad it is; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Severity {
    /// Data are gone.
    DataLoss,
    /// Something stops working.
    Outage,
    /// Somebody may do, see or reach more than before.
    Security,
    /// The API server, or a controller, refuses it: the sync fails, or nothing happens.
    Refused,
    /// The rest, such as a sync that fails.
    Other,
}

impl Severity {
    /// The word by which programs know it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Severity::DataLoss => "data-loss",
            Severity::Outage => "outage",
            Severity::Security => "security",
            Severity::Refused => "refused",
            Severity::Other => "other",
        }
    }

    /// Whether no output may leave it out.
    pub(crate) fn is_severe(self) -> bool {
        self < Severity::Other
    }
}

/// The word in front of a danger.
impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Severity::DataLoss => "data loss",
            Severity::Outage => "outage",
            Severity::Security => "security",
            Severity::Refused => "refused",
            Severity::Other => "danger",
        })
    }
}
