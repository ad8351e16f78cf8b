//! The pacer turns a plan's [`Pacing`] into the instant at which the next packet may be sent.
//!
//! The host calls [`Pacer::adopt`] with every new plan, sends a packet no earlier than [`Pacer::ready_at`], and then
//! calls [`Pacer::sent`] with the exact transmission time. The host checks the window; the pacer knows only time.
//!
//! - On the ACK clock a packet is always ready.
//! - At a rate the transmissions conform to a leaky bucket: over any interval at most `burst + rate × interval` IP
//!   bytes are sent.
//! - In a train the first packet is ready at once, and each next one a gap after the previous one, start to start.
//!   Retransmissions wait until the whole train is sent. After its last packet new data is held until a plan with
//!   another tag or without a train arrives.

use crate::interface::{Pacing, Plan, Tag};
use crate::units::{Bytes, Time};

/// The transmission clock of one connection.
///
/// ```
/// use firstflight::{Bytes, Pacer, Pacing, Plan, Rate, Span, Time};
///
/// let wire = Bytes::new(1_500);
/// let rate = Rate::from_bps(12_000_000); // a packet every millisecond
/// let window = Bytes::new(14_600);
/// let mut pacer = Pacer::new();
/// pacer.adopt(&Plan { pacing: Pacing::Rate { rate, burst: wire }, ..Plan::ack_clocked(window, None) });
///
/// let now = Time::ZERO;
/// assert_eq!(pacer.ready_at(wire, false), Some(now));
/// pacer.sent(now, wire);
/// assert_eq!(pacer.ready_at(wire, false), Some(now + Span::from_millis(1)));
/// ```
#[derive(Clone, Debug)]
pub struct Pacer {
    pacing: Pacing,
    /// The newest train, and the number of its packets that are not yet sent.
    train: Option<(Tag, u32)>,
    /// Whether any packet of the newest train has been sent.
    begun: bool,
    /// In a train, the time of its next packet; at a rate, the time at which the bucket is empty again.
    due: Time,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { pacing: Pacing::Hold, train: None, begun: false, due: Time::ZERO }
    }
}

impl Pacer {
    /// Returns a pacer that holds everything until the first plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adopts the pacing of a new plan.
    pub fn adopt(&mut self, plan: &Plan) {
        match plan.pacing {
            Pacing::Train { packets, .. } if self.train.is_none_or(|(tag, _)| tag != plan.tag) => {
                self.train = Some((plan.tag, packets));
                self.begun = false;
                self.due = Time::ZERO;
            }
            _ => {}
        }
        match plan.pacing {
            // The usual case: no data need be copied.
            Pacing::AckClock => self.pacing = Pacing::AckClock,
            pacing => self.pacing = pacing,
        }
    }

    /// Returns the time from which the next packet of `wire` IP bytes may be sent; an instant in the past means at
    /// once. `None` holds the packet until another plan is adopted.
    pub fn ready_at(&self, wire: Bytes, retransmission: bool) -> Option<Time> {
        match self.pacing {
            Pacing::AckClock => Some(Time::ZERO),
            Pacing::Hold => retransmission.then_some(Time::ZERO),
            Pacing::Rate { rate, burst } => {
                let tolerance = rate.time_for(burst) - rate.time_for(wire);
                Some(self.due - tolerance)
            }
            Pacing::Train { .. } => match (self.train_left(), retransmission) {
                (0, true) => Some(Time::ZERO),
                (0, false) | (_, true) => None,
                (_, false) => Some(self.due),
            },
        }
    }

    /// Returns the number of packets of the present train that are not yet sent.
    pub fn train_left(&self) -> u32 {
        match self.pacing {
            Pacing::Train { .. } => self.train.map_or(0, |(_, left)| left),
            Pacing::AckClock | Pacing::Rate { .. } | Pacing::Hold => 0,
        }
    }

    /// Returns whether any packet of the present train has been sent.
    pub fn train_begun(&self) -> bool {
        self.begun
    }

    /// Discards the rest of a train that cannot be sent, so that the data after the train is not held for ever.
    pub fn cut_train(&mut self) {
        if let Some((_, left)) = &mut self.train {
            *left = 0;
        }
    }

    /// Counts a packet of `wire` IP bytes that was sent at `now`.
    pub fn sent(&mut self, now: Time, wire: Bytes) {
        match self.pacing {
            Pacing::AckClock | Pacing::Hold => {}
            Pacing::Rate { rate, .. } => self.due = self.due.max(now) + rate.time_for(wire),
            Pacing::Train { gap, .. } => {
                if let Some((_, left @ 1..)) = &mut self.train {
                    *left -= 1;
                    self.begun = true;
                    // A late host keeps the schedule, so that the mean gap is exact, unless it is late by a whole
                    // gap: catching up would then send packets back to back.
                    let on_schedule = now.since(self.due) < gap;
                    self.due = if on_schedule { self.due + gap } else { now + gap };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};
    use proptest::prelude::*;

    const WIRE: Bytes = Bytes::new(1_000);

    fn plan(pacing: Pacing, tag: u16) -> Plan {
        Plan { pacing, tag: Tag(tag), ..Plan::ack_clocked(Bytes::new(100_000), None) }
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_train_leaves_gap_by_gap_and_then_holds() {
        let mut pacer = Pacer::new();
        let train = plan(Pacing::Train { packets: 3, gap: Span::from_micros(160) }, 1);
        pacer.adopt(&train);
        let mut now = at(1_000);
        let mut departures = [Time::ZERO; 3];
        for slot in &mut departures {
            now = now.max(pacer.ready_at(WIRE, false).expect("the train is not over"));
            pacer.sent(now, WIRE);
            pacer.adopt(&train);
            *slot = now;
        }
        assert_eq!(departures, [at(1_000), at(1_160), at(1_320)]);
        assert_eq!(pacer.ready_at(WIRE, false), None);
    }

    #[test]
    fn retransmissions_wait_behind_a_train() {
        let mut pacer = Pacer::new();
        pacer.adopt(&plan(Pacing::Train { packets: 1, gap: Span::from_micros(10) }, 1));
        assert_eq!(pacer.ready_at(WIRE, true), None);
        pacer.sent(at(5), WIRE);
        assert_eq!(pacer.ready_at(WIRE, true), Some(Time::ZERO));
    }

    #[test]
    fn another_tag_is_another_train() {
        let mut pacer = Pacer::new();
        let gap = Span::from_micros(10);
        pacer.adopt(&plan(Pacing::Train { packets: 1, gap }, 1));
        pacer.sent(at(5), WIRE);
        pacer.adopt(&plan(Pacing::Train { packets: 1, gap }, 1));
        assert_eq!(pacer.ready_at(WIRE, false), None);
        pacer.adopt(&plan(Pacing::Train { packets: 1, gap }, 2));
        assert_eq!(pacer.ready_at(WIRE, false), Some(Time::ZERO));
    }

    #[test]
    fn hold_keeps_new_data_but_not_retransmissions() {
        let mut pacer = Pacer::new();
        pacer.adopt(&plan(Pacing::Hold, 0));
        assert_eq!(pacer.ready_at(WIRE, false), None);
        assert_eq!(pacer.ready_at(WIRE, true), Some(Time::ZERO));
    }

    proptest! {
        /// The law of the leaky bucket holds however late the host is.
        #[test]
        fn at_a_rate_no_interval_carries_more_than_burst_plus_rate(
            mbps in 1u64..10_000,
            burst in 1u64..20,
            late in proptest::collection::vec(0u64..50_000, 2..200),
        ) {
            let rate = Rate::from_bps(mbps * 1_000_000);
            let burst = WIRE * burst;
            let mut pacer = Pacer::new();
            pacer.adopt(&plan(Pacing::Rate { rate, burst }, 0));
            let mut now = at(1);
            let mut sent: [Time; 200] = [Time::ZERO; 200];
            for (i, nanos) in late.iter().enumerate() {
                now = now.max(pacer.ready_at(WIRE, false).expect("a rate never holds"));
                now = now + Span::from_nanos(*nanos);
                pacer.sent(now, WIRE);
                sent[i] = now;
            }
            let n = late.len();
            for i in 0..n {
                for j in i..n {
                    let carried = WIRE * (j - i + 1) as u64;
                    // One byte per packet for the rounding of times up to whole nanoseconds.
                    let slack = Bytes::new(2 * (j - i + 1) as u64);
                    prop_assert!(carried <= burst + rate.over(sent[j].since(sent[i])) + slack);
                }
            }
        }
    }
}
