//! Stores the events of an endpoint and the calls of its controller until the host takes them.

use std::collections::VecDeque;

use firstflight::TraceRecord;

use crate::endpoint_event::EndpointEvent;

/// Events and calls that were not taken yet. The fields that are checked with every segment come first in memory.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Journal {
    /// Number of stored entries.
    waiting: u32,
    /// The one-time events of the connection that are stored, one bit for each in the order of [`STAGES`].
    stages: u8,
    /// Calls of the controller; `None` unless a trace is recorded.
    #[expect(clippy::box_collection, reason = "seldom there, and flows are many")]
    trace: Option<Box<VecDeque<TraceRecord>>>,
    sender: VecDeque<EndpointEvent>,
    /// Responses to Quick-Start requests.
    answers: VecDeque<EndpointEvent>,
}

/// The one-time events of a connection, in their order. Responses to Quick-Start requests come after the first. Flows may be short, and
/// most flows have most of these events, so they are stored without an allocation.
const STAGES: [EndpointEvent; 4] = [
    EndpointEvent::Established,
    EndpointEvent::AllAcknowledged,
    EndpointEvent::Closed,
    EndpointEvent::Aborted,
];

impl Journal {
    /// Checks whether an entry is stored.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.waiting > 0
    }

    /// Records an event of the sender.
    pub(crate) fn note(&mut self, event: EndpointEvent) {
        self.waiting += 1;
        self.sender.push_back(event);
    }

    /// Records an event of the connection. It is taken after the sender's events.
    #[inline]
    pub(crate) fn note_of_endpoint(&mut self, event: EndpointEvent) {
        if let Some(stage) = STAGES.iter().position(|stage| *stage == event) {
            debug_assert!(self.stages >> stage == 0, "each happens once, in this order");
            self.waiting += u32::from((self.stages >> stage) & 1 == 0);
            self.stages |= 1 << stage;
        } else {
            self.waiting += 1;
            self.answers.push_back(event);
        }
    }

    #[inline]
    pub(crate) fn take_event(&mut self) -> Option<EndpointEvent> {
        if self.waiting == 0 { None } else { self.take_first_event() }
    }

    fn take_first_event(&mut self) -> Option<EndpointEvent> {
        let first =
            if self.sender.is_empty() { self.take_of_endpoint() } else { take_first(&mut self.sender) }?;
        self.waiting -= 1;
        Some(first)
    }

    fn take_of_endpoint(&mut self) -> Option<EndpointEvent> {
        let next = STAGES.get(self.stages.trailing_zeros() as usize).copied();
        if next != Some(EndpointEvent::Established)
            && let Some(answer) = take_first(&mut self.answers)
        {
            return Some(answer);
        }
        // Clears the lowest set bit.
        self.stages &= self.stages.wrapping_sub(1);
        next
    }

    /// Starts to record the controller's calls.
    pub(crate) fn record_trace(&mut self) {
        self.trace.get_or_insert_default();
    }

    #[inline]
    pub(crate) fn records_trace(&self) -> bool {
        self.trace.is_some()
    }

    /// Records a call of the controller, if calls are recorded.
    pub(crate) fn record(&mut self, trace: TraceRecord) {
        if let Some(all) = &mut self.trace {
            all.push_back(trace);
            self.waiting += 1;
        }
    }

    pub(crate) fn take_trace(&mut self) -> Option<TraceRecord> {
        let first = self.trace.as_mut()?.pop_front()?;
        self.waiting -= 1;
        Some(first)
    }

    /// Returns the number of heap bytes, without those of a trace.
    pub(crate) fn memory(&self) -> usize {
        (self.sender.capacity() + self.answers.capacity()) * size_of::<EndpointEvent>()
    }
}

/// Removes and returns the oldest event. When the list is empty, frees its memory, because events are rare and flows are many.
fn take_first(events: &mut VecDeque<EndpointEvent>) -> Option<EndpointEvent> {
    let first = events.pop_front()?;
    if events.is_empty() {
        events.shrink_to_fit();
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use firstflight::{Bytes, Call, Path, Plan, Time};

    use super::*;

    #[test]
    fn sender_events_precede_endpoint_events_and_news_lasts_until_all_are_taken() {
        let mut journal = Journal::default();
        assert!(!journal.has_news());
        journal.note_of_endpoint(EndpointEvent::Closed);
        journal.note(EndpointEvent::AllAcknowledged);
        assert!(journal.has_news());
        assert_eq!(journal.take_event(), Some(EndpointEvent::AllAcknowledged));
        assert!(journal.has_news());
        assert_eq!(journal.take_event(), Some(EndpointEvent::Closed));
        assert!(!journal.has_news());
        assert_eq!((journal.take_event(), journal.has_news()), (None, false));
        assert_eq!(journal.memory(), 0);
    }

    #[test]
    fn connection_events_are_taken_in_order_including_a_quick_start_answer() {
        let mut journal = Journal::default();
        let answer = EndpointEvent::QuickStart { approved: None };
        let all = [EndpointEvent::Established, answer, EndpointEvent::AllAcknowledged, EndpointEvent::Closed];
        for event in all {
            journal.note_of_endpoint(event);
        }
        assert_eq!(std::iter::from_fn(|| journal.take_event()).collect::<Vec<_>>(), all);
        assert!(!journal.has_news() && journal.memory() == 0);
    }

    fn trace() -> TraceRecord {
        let path = Path::new(Time::ZERO, Bytes::new(1000), Bytes::new(1040));
        let plan = Plan::ack_clocked(Bytes::ZERO, None);
        TraceRecord { call: Call::Plan, path, plan, notes: Vec::new(), judged: None }
    }

    #[test]
    fn recorded_calls_are_news_only_if_kept() {
        let mut journal = Journal::default();
        journal.record(trace());
        assert!(!journal.has_news());
        journal.record_trace();
        journal.record(trace());
        assert!(journal.has_news());
        assert!(journal.take_trace().is_some());
        assert!(!journal.has_news() && journal.take_trace().is_none());
    }
}
