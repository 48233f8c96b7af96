//! What the setting `hold` keeps of a branch, as reports say it.

use std::fmt;

use serde::Serialize;

use super::BehindPath;
use crate::settings::Hold;

/// An Application that the setting `hold` keeps as it is, be it behind or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct HeldAlone {
    /// Its name as the setting has it, `NAME` or `NAMESPACE/NAME`.
    pub application: String,
    /// The hydrated commit whose files it has.
    pub at: String,
    /// Why.
    pub reason: String,
    /// When somebody should end it, as the setting says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl HeldAlone {
    /// The Applications that are held alone of a branch.
    pub(crate) fn all(holds: &[Hold]) -> Vec<Self> {
        let of = |hold: &Hold, application: &String| Self {
            application: application.clone(),
            at: hold.at.to_string(),
            reason: hold.reason.clone(),
            until: hold.until.clone(),
        };
        holds.iter().flat_map(|hold| hold.applications.iter().map(move |name| of(hold, name))).collect()
    }

    /// Whether it is said of one of these paths already.
    pub(crate) fn is_among(&self, behind: &[BehindPath]) -> bool {
        let name = self.application.rsplit('/').next();
        behind.iter().any(|path| path.held.is_some() && path.application.as_deref() == name)
    }
}

/// `db-prod is held at 1a2b3c4 until 2031-01-02: migration`
impl fmt::Display for HeldAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { application, at, reason, until } = self;
        let until = until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
        write!(f, "{application} is held at {}{until}: {reason}", at.get(..7).unwrap_or(at))
    }
}

/// Says of the paths of a branch that stay behind by whose wish they do.
pub(crate) fn name_holds(behind: &mut [BehindPath], holds: &[Hold]) {
    for path in behind.iter_mut().filter(|path| path.paused) {
        let is_named = |hold: &&Hold| path.application.as_deref().is_none_or(|name| hold.names(name));
        let hold = holds.iter().filter(|hold| !hold.is_whole()).find(is_named);
        path.held = hold.map(|hold| hold.reason.clone());
    }
}
