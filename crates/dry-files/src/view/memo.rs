//! Results that depend on the content of a file alone.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::ContentId;

type Memos = HashMap<(&'static str, ContentId), Arc<dyn Any + Send + Sync>>;

/// What was computed of contents, by their ids: equal ids, equal results. Never what depends on anything else.
#[derive(Default)]
pub struct Memo(Mutex<Memos>);

impl Memo {
    /// What was kept of a content under a name.
    pub fn get<T: Any + Send + Sync>(&self, name: &'static str, id: ContentId) -> Option<Arc<T>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&(name, id)).cloned()?.downcast().ok()
    }

    /// Keeps a result.
    pub fn keep(&self, name: &'static str, id: ContentId, result: Arc<dyn Any + Send + Sync>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((name, id), result);
    }
}
