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

#[cfg(test)]
mod tests {
    use firstflight::{Bytes, Call, Path, Plan, SendLimit, Span, Time};

    use super::*;

    #[test]
    fn there_is_news_until_all_is_taken_and_what_happened_in_the_sender_comes_first() {
        let mut journal = Journal::default();
        assert!(!journal.has_news());
        journal.note_of_endpoint(Happening::Closed);
        journal.note(Happening::AllAcknowledged);
        assert!(journal.has_news());
        assert_eq!(journal.take_happening(), Some(Happening::AllAcknowledged));
        assert!(journal.has_news());
        assert_eq!(journal.take_happening(), Some(Happening::Closed));
        assert!(!journal.has_news());
        assert_eq!((journal.take_happening(), journal.has_news()), (None, false));
        assert_eq!(journal.memory(), 0);
    }

    fn told() -> Told {
        let path = Path {
            now: Time::ZERO,
            mss: Bytes::new(1000),
            wire: Bytes::new(1040),
            cwnd: Bytes::ZERO,
            flight: Bytes::ZERO,
            pipe: Bytes::ZERO,
            srtt: None,
            latest_rtt: None,
            min_rtt: None,
            rwnd: Bytes::ZERO,
            backlog: None,
            delivered: Bytes::ZERO,
            una: 0,
            nxt: 0,
            rto: Span::ZERO,
            limit: SendLimit::App,
            recovering: false,
            last_sent: None,
            last_received: None,
            wake: None,
        };
        let plan = Plan::ack_clocked(Bytes::ZERO, None);
        Told { call: Call::Plan, path, plan, notes: Vec::new() }
    }

    #[test]
    fn what_a_controller_was_told_is_news_if_it_is_kept() {
        let mut journal = Journal::default();
        journal.note_told(told());
        assert!(!journal.has_news());
        journal.keep_told();
        journal.note_told(told());
        assert!(journal.has_news());
        assert!(journal.take_told().is_some());
        assert!(!journal.has_news() && journal.take_told().is_none());
    }
}
