//! Controlled delay (RFC 8289). Once all packets have waited longer than a target for a whole interval, packets are
//! dropped or marked as they leave the queue. The drop rate then increases with the square root of the number of drops,
//! until the wait is short again.
//!
//! Follows the pseudocode of RFC 8289 section 5 (`dodequeue`, `deque`, `control_law`), with marks in place of drops
//! as in Linux's `codel_dequeue`: a marked packet leaves the queue at once, so at most one is marked at a time.
//! Nothing is dropped while the queue is smaller than the largest packet seen, as section 5.4 specifies for a link of
//! unknown MTU.

use firstflight::{Span, Time};

use super::queue::{Arrival, Fifo, Outbox, Waiting};
use crate::fault::DisciplineFault;

/// Parameters of `CoDel`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoDelSpec {
    /// The standing delay that the discipline tolerates.
    pub target: Span,
    /// Time for which the delay must stay above the target: about the longest usual RTT.
    pub interval: Span,
    /// Whether to mark ECN-capable packets, rather than drop them.
    pub ecn: bool,
}

impl Default for CoDelSpec {
    /// Returns a target of 5 ms and an interval of 100 ms (RFC 8289 sections 4.3 and 4.4), without marks.
    fn default() -> Self {
        Self { target: Span::from_millis(5), interval: Span::from_millis(100), ecn: false }
    }
}

impl CoDelSpec {
    pub(crate) fn check(&self) -> Result<(), DisciplineFault> {
        if self.target.is_zero() || self.interval.is_zero() { Err(DisciplineFault::ZeroSpan) } else { Ok(()) }
    }
}

/// A FIFO queue under `CoDel`.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    spec: CoDelSpec,
    queue: Fifo,
    control: Control,
}

impl CoDel {
    pub(super) fn new(spec: CoDelSpec) -> Self {
        Self { spec, queue: Fifo::default(), control: Control::default() }
    }

    pub(super) fn arrive(&mut self, arrival: Arrival, waiting: Waiting) -> bool {
        if arrival.room {
            self.queue.push(waiting);
        }
        arrival.room
    }

    pub(super) fn depart(&mut self, now: Time, out: &mut Outbox) -> Option<Waiting> {
        self.control.depart(now, self.spec, &mut self.queue, out)
    }

    pub(super) fn queue(&self) -> &Fifo {
        &self.queue
    }
}

/// The state of `CoDel`'s control of one queue. The names are those of the RFC.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// Time at which the delay will have been above the target for an interval; `None` while the delay is below the
    /// target.
    first_above: Option<Time>,
    /// Time of the next drop, in the dropping state.
    drop_next: Time,
    /// Drops since the dropping state began.
    count: u32,
    /// `count` when the dropping state began.
    lastcount: u32,
    dropping: bool,
    largest: u32,
}

impl Control {
    /// Returns the packet that leaves the queue (`deque`). Packets dropped before it go to `out`.
    pub(super) fn depart(
        &mut self,
        now: Time,
        spec: CoDelSpec,
        queue: &mut Fifo,
        out: &mut Outbox,
    ) -> Option<Waiting> {
        let (mut head, mut ok_to_drop) = self.head(now, spec, queue);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if signal(spec, &mut head, out) {
                    self.drop_next = control_law(self.drop_next, spec, self.count);
                    break;
                }
                (head, ok_to_drop) = self.head(now, spec, queue);
                if ok_to_drop {
                    self.drop_next = control_law(self.drop_next, spec, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            if !signal(spec, &mut head, out) {
                (head, _) = self.head(now, spec, queue);
            }
            self.dropping = true;
            // If the last dropping state ended recently, continue at about its rate.
            let delta = self.count.saturating_sub(self.lastcount);
            let recent = now < self.drop_next + spec.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = control_law(now, spec, self.count);
            self.lastcount = self.count;
        }
        head
    }

    /// Returns the first packet, and whether it may be dropped (`dodequeue`).
    fn head(&mut self, now: Time, spec: CoDelSpec, queue: &mut Fifo) -> (Option<Waiting>, bool) {
        let Some(waiting) = queue.pop() else {
            self.first_above = None;
            return (None, false);
        };
        self.largest = self.largest.max(waiting.wire());
        let sojourn = now.since(waiting.since);
        let mut ok_to_drop = false;
        if sojourn < spec.target || queue.bytes <= u64::from(self.largest) {
            self.first_above = None;
        } else if let Some(first_above) = self.first_above {
            ok_to_drop = now >= first_above;
        } else {
            self.first_above = Some(now + spec.interval);
        }
        (Some(waiting), ok_to_drop)
    }

    /// Counts drops that other code made as if this control had made them (an overload of RFC 8290, as in Linux).
    pub(super) fn note_drops(&mut self, drops: u32) {
        self.count = self.count.saturating_add(drops);
    }
}

/// Marks the packet if marking is enabled and it is ECN-capable; otherwise drops it. Returns whether the packet is
/// still in the queue.
fn signal(spec: CoDelSpec, head: &mut Option<Waiting>, out: &mut Outbox) -> bool {
    if let Some(waiting) = head
        && spec.ecn
        && out.mark(waiting)
    {
        return true;
    }
    out.dropped.extend(head.take().map(|waiting| waiting.descriptor));
    false
}

/// Returns the time of the next drop: after the interval divided by the square root of the count, in whole
/// nanoseconds, rounded down.
fn control_law(from: Time, spec: CoDelSpec, count: u32) -> Time {
    let interval = u128::from(spec.interval.nanos());
    let nanos = (interval * interval / u128::from(count.max(1))).isqrt();
    from + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ect, number, plain};
    use super::*;

    const MS: u64 = 1_000_000;

    /// Drains a queue of packets that all arrived at time zero. From `from` on, a packet is requested every `every`
    /// milliseconds, `asks` times. Returns the time of each drop, and the dropped packet's number.
    fn drain(spec: CoDelSpec, packets: u64, from: u64, every: u64, asks: u64) -> (CoDel, Vec<(u64, u64)>) {
        let mut codel = CoDel::new(spec);
        let arrival = Arrival { now: Time::ZERO, room: true, idle_since: None, rate: None };
        for number in 0..packets {
            codel.arrive(arrival, plain(number));
        }
        let mut drops = Vec::new();
        for ask in 0..asks {
            let mut out = Outbox::default();
            codel.depart(Time::from_nanos((from + ask * every) * MS), &mut out);
            drops.extend(out.dropped.iter().map(|descriptor| (from + ask * every, number(*descriptor))));
        }
        (codel, drops)
    }

    #[test]
    fn codel_drops_after_one_interval_and_then_at_inverse_square_roots() {
        let (codel, drops) = drain(CoDelSpec::default(), 1_000, 5, 1, 400);
        // At 5 ms the delay reaches the target, and at 105 ms the first packet is dropped. The next drops follow after
        // 100 ms, 100/√2, 100/√3 and 100/√4 ms: at 205, 275.7, 333.4, 383.4 ms, seen at the next whole millisecond.
        let times: Vec<u64> = drops.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [105, 205, 276, 334, 384]);
        // The packet requested at 5 + n ms is number n, and every drop takes an additional packet.
        let numbers: Vec<u64> = drops.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, [100, 201, 273, 332, 383]);
        assert_eq!((codel.control.count, codel.control.lastcount), (5, 1));
    }

    #[test]
    fn below_the_target_or_with_one_packet_left_nothing_is_dropped() {
        let lenient = CoDelSpec { target: Span::from_secs(10), ..CoDelSpec::default() };
        assert!(drain(lenient, 1_000, 5, 1, 900).1.is_empty());
        // There are two packets, long after their arrival. When the second leaves, at most one packet remains.
        assert!(drain(CoDelSpec::default(), 2, 5, 1_000, 2).1.is_empty());
    }

    #[test]
    fn a_late_ask_makes_up_for_all_drops_that_were_due() {
        let mut codel = drain(CoDelSpec::default(), 1_000, 5, 1, 101).0;
        assert!(codel.control.dropping);
        let mut out = Outbox::default();
        // Drops are due at 205, 275.7, 333.4 and 383.4 ms.
        codel.depart(Time::from_nanos(400 * MS), &mut out);
        assert_eq!(out.dropped.len(), 4);
        assert_eq!(codel.control.count, 5);
    }

    #[test]
    fn dropping_soon_again_goes_on_at_the_last_rate() {
        let enter = |control: Control, at: u64| {
            let mut codel = drain(CoDelSpec::default(), 100, 0, 0, 0).0;
            codel.control = Control { first_above: Some(Time::ZERO), largest: 1_000, ..control };
            codel.depart(Time::from_nanos(at * MS), &mut Outbox::default());
            (codel.control.count, codel.control.lastcount, codel.control.drop_next.nanos())
        };
        let before =
            Control { count: 9, lastcount: 5, drop_next: Time::from_nanos(500 * MS), ..Control::default() };
        // The count continues at nine minus five, so the next drop is 100/√4 ms away. From 16 intervals on the count
        // starts anew.
        assert_eq!(enter(before.clone(), 2_099), (4, 4, 2_149 * MS));
        assert_eq!(enter(before.clone(), 2_100), (1, 1, 2_200 * MS));
        let little = Control { count: 6, ..before };
        assert_eq!(enter(little, 600), (1, 1, 700 * MS));
    }

    #[test]
    fn with_ecn_a_packet_that_may_be_marked_is_marked_and_leaves() {
        let mut codel = CoDel::new(CoDelSpec { ecn: true, ..CoDelSpec::default() });
        let arrival = Arrival { now: Time::ZERO, room: true, idle_since: None, rate: None };
        for number in 0..1_000 {
            codel.arrive(arrival, if number == 201 { plain(number) } else { ect(number) });
        }
        let (mut marks, mut drops) = (Vec::new(), Vec::new());
        for ask in 5..340 {
            let mut out = Outbox::default();
            let left = codel.depart(Time::from_nanos(ask * MS), &mut out).expect("enough are there");
            if let Some(marked) = out.marked.front() {
                assert_eq!(*marked, left.descriptor);
            }
            marks.extend(out.marked.iter().map(|descriptor| (ask, number(*descriptor))));
            drops.extend(out.dropped.iter().map(|descriptor| (ask, number(*descriptor))));
        }
        // The times are those of the drops without ECN. Number 200 is marked at 205 ms; no packet is lost.
        assert_eq!(marks, [(105, 100), (205, 200), (276, 271), (334, 329)]);
        assert!(drops.is_empty());
    }

    #[test]
    fn the_control_law_is_the_interval_over_the_root() {
        let law = |count| control_law(Time::ZERO, CoDelSpec::default(), count).nanos();
        assert_eq!(
            [law(0), law(1), law(2), law(3), law(4)],
            [100 * MS, 100 * MS, 70_710_678, 57_735_026, 50 * MS]
        );
    }
}
