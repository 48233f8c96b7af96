//! What a transaction does to one ref.

use super::ObjectId;

/// What a ref must be for its edit to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// There is no such ref.
    Absent,
    /// It points at this object.
    Is(ObjectId),
}

impl From<Option<ObjectId>> for Expected {
    fn from(id: Option<ObjectId>) -> Self {
        id.map_or(Expected::Absent, Expected::Is)
    }
}

/// One ref of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefEdit {
    /// The full name.
    pub name: String,
    /// What it is to point at; `None` deletes it.
    pub new: Option<ObjectId>,
    /// What it points at now.
    pub expected: Expected,
}
