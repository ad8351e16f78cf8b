//! What happened in an endpoint, and what its controller was told, until whoever keeps the record takes it.

use std::collections::VecDeque;

use firstflight::Told;

use crate::endpoint::Happening;

/// In this order what is looked at with every segment comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Journal {
    /// How much of all nobody has taken yet.
    waiting: usize,
    /// What the controller was told; `None` unless a trace is wanted.
    #[expect(clippy::box_collection, reason = "seldom there, and flows are many")]
    told: Option<Box<VecDeque<Told>>>,
    sender: VecDeque<Happening>,
    endpoint: VecDeque<Happening>,
}

impl Journal {
    /// Whether there is anything to take.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.waiting > 0
    }

    /// Something happened in the sender.
    pub(crate) fn note(&mut self, happening: Happening) {
        self.waiting += 1;
        self.sender.push_back(happening);
    }

    /// Something happened to the connection: it is taken after what happened in the sender.
    pub(crate) fn note_of_endpoint(&mut self, happening: Happening) {
        self.waiting += 1;
        self.endpoint.push_back(happening);
    }

    pub(crate) fn take_happening(&mut self) -> Option<Happening> {
        let first = take_first(&mut self.sender).or_else(|| take_first(&mut self.endpoint))?;
        self.waiting -= 1;
        Some(first)
    }

    /// Keeps what the controller is told from now on.
    pub(crate) fn keep_told(&mut self) {
        self.told.get_or_insert_default();
    }

    #[inline]
    pub(crate) fn keeps_told(&self) -> bool {
        self.told.is_some()
    }

    /// The controller was told something, which is kept if it is to be.
    pub(crate) fn note_told(&mut self, told: Told) {
        if let Some(all) = &mut self.told {
            all.push_back(told);
            self.waiting += 1;
        }
    }

    pub(crate) fn take_told(&mut self) -> Option<Told> {
        let first = self.told.as_mut()?.pop_front()?;
        self.waiting -= 1;
        Some(first)
    }

    /// Bytes of the heap, a trace that is wanted aside.
    pub(crate) fn memory(&self) -> usize {
        (self.sender.capacity() + self.endpoint.capacity()) * size_of::<Happening>()
    }
}

/// The oldest happening. Seldom does anything happen, and flows are many: no room is kept for it.
fn take_first(happenings: &mut VecDeque<Happening>) -> Option<Happening> {
    let first = happenings.pop_front()?;
    if happenings.is_empty() {
        happenings.shrink_to_fit();
    }
    Some(first)
}
