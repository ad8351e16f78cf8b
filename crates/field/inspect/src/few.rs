//! A list that most connections leave empty. An empty list takes only eight bytes.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

/// A list in a separate allocation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::box_collection, reason = "an empty one takes eight bytes and not 24")]
pub(crate) struct Few<T>(Option<Box<Vec<T>>>);

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Few<T> {
    pub(crate) fn push(&mut self, one: T) {
        self.0.get_or_insert_default().push(one);
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        if let Some(list) = &mut self.0 {
            list.shrink_to_fit();
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().map_or(&mut [], Vec::as_mut_slice)
    }
}
