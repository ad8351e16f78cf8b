//! What happened in an endpoint, and what its controller was told, until whoever keeps the record takes it.

use std::collections::VecDeque;

use firstflight::TraceRecord;

use crate::happening::Happening;

/// In this order what is looked at with every segment comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Journal {
    /// How much of all nobody has taken yet.
    waiting: u32,
    /// What happened to the connection and does once, a bit each: see [`STAGES`].
    stages: u8,
    /// What the controller was told; `None` unless a trace is wanted.
    #[expect(clippy::box_collection, reason = "seldom there, and flows are many")]
    told: Option<Box<VecDeque<TraceRecord>>>,
    sender: VecDeque<Happening>,
    /// Answers to requests for Quick-Start.
    answers: VecDeque<Happening>,
}

/// What happens to a connection once, in the order in which it does; an answer to a request for Quick-Start comes after the
/// first. Flows may be short, and each comes to most of these: they take no room and no allocation.
const STAGES: [Happening; 4] =
    [Happening::Established, Happening::AllAcknowledged, Happening::Closed, Happening::Aborted];

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
    #[inline]
    pub(crate) fn note_of_endpoint(&mut self, happening: Happening) {
        if let Some(stage) = STAGES.iter().position(|stage| *stage == happening) {
            debug_assert!(self.stages >> stage == 0, "each happens once, in this order");
            self.waiting += u32::from((self.stages >> stage) & 1 == 0);
            self.stages |= 1 << stage;
        } else {
            self.waiting += 1;
            self.answers.push_back(happening);
        }
    }

    #[inline]
    pub(crate) fn take_happening(&mut self) -> Option<Happening> {
        if self.waiting == 0 { None } else { self.take_what_happened() }
    }

    fn take_what_happened(&mut self) -> Option<Happening> {
        let first =
            if self.sender.is_empty() { self.take_of_endpoint() } else { take_first(&mut self.sender) }?;
        self.waiting -= 1;
        Some(first)
    }

    fn take_of_endpoint(&mut self) -> Option<Happening> {
        let next = STAGES.get(self.stages.trailing_zeros() as usize).copied();
        if next != Some(Happening::Established)
            && let Some(answer) = take_first(&mut self.answers)
        {
            return Some(answer);
        }
        // Without the lowest bit.
        self.stages &= self.stages.wrapping_sub(1);
        next
    }

    /// Keeps what the controller is told from now on.
    pub(crate) fn keep_told(&mut self) {
        self.told.get_or_insert_default();
    }

    #[inline]
    pub(crate) fn keeps_told(&self) -> bool {
        self.told.is_some()
    }

    /// Keeps a call of the controller, if calls are kept.
    pub(crate) fn note_told(&mut self, told: TraceRecord) {
        if let Some(all) = &mut self.told {
            all.push_back(told);
            self.waiting += 1;
        }
    }

    pub(crate) fn take_told(&mut self) -> Option<TraceRecord> {
        let first = self.told.as_mut()?.pop_front()?;
        self.waiting -= 1;
        Some(first)
    }

    /// Bytes of the heap, a trace that is wanted aside.
    pub(crate) fn memory(&self) -> usize {
        (self.sender.capacity() + self.answers.capacity()) * size_of::<Happening>()
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

    #[test]
    fn what_happens_to_a_connection_is_taken_in_order_and_an_answer_after_it_opened() {
        let mut journal = Journal::default();
        let answer = Happening::QuickStart { approved: None };
        let all = [Happening::Established, answer, Happening::AllAcknowledged, Happening::Closed];
        for happening in all {
            journal.note_of_endpoint(happening);
        }
        assert_eq!(std::iter::from_fn(|| journal.take_happening()).collect::<Vec<_>>(), all);
        assert!(!journal.has_news() && journal.memory() == 0);
    }

    fn told() -> TraceRecord {
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
        TraceRecord { call: Call::Plan, path, plan, notes: Vec::new(), judged: None }
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
