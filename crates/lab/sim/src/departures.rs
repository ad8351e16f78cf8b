//! The stages between a sender's endpoint and its first link. A timer releases packets at its ticks, and segmentation offload passes
//! packets to the link in bursts.
//!
//! The endpoint's clock is exact: it records a packet as sent when its pacer releases it. A packet released by a timer of the endpoint
//! waits here, as in a queueing discipline. A packet released by an ACK passes at once, unless packets are waiting. Then it waits after
//! them to keep the order.

use std::collections::VecDeque;

use firstflight::{Bytes, Span, Time};
use firstflight_tcp::Segment;

use crate::packet::{FlowId, Label};
use crate::random::{Purpose, Stream};

/// Timer grain and burst size with which the packets of a TCP sender are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DepartureSpec {
    /// Granularity of the timer that releases packets: ticks are this far apart, and the seed sets their phase. Zero is an exact timer.
    pub grain: Span,
    /// IP bytes of a burst of segmentation offload: packets wait until this many bytes have gathered, or until the first of them has waited
    /// for [`DepartureSpec::GATHERS`]. Zero is no offload.
    pub burst: Bytes,
}

impl DepartureSpec {
    /// Time for which a burst gathers packets: Linux sizes a burst by the bytes paced in about one millisecond (`tcp_tso_autosize` with the
    /// default `sk_pacing_shift` of 10).
    pub const GATHERS: Span = Span::from_millis(1);
}

/// A packet that waits.
#[derive(Clone, Debug)]
struct Held {
    leaves: Time,
    segment: Segment,
    label: Label,
}

/// The packets of one sender that wait.
#[derive(Clone, Debug)]
pub(crate) struct Departures {
    spec: DepartureSpec,
    phase: Time,
    held: VecDeque<Held>,
    /// Number of packets at the end that wait for their burst to fill, their bytes, and the arrival of the first of them.
    open: usize,
    open_bytes: Bytes,
    open_since: Time,
}

impl Departures {
    pub(crate) fn new(spec: DepartureSpec, flow: FlowId, seed: u64) -> Self {
        let phase = Stream::new(seed, Purpose::Departure, flow.0, 0).below(spec.grain.nanos());
        Self {
            spec,
            phase: Time::from_nanos(phase),
            held: VecDeque::new(),
            open: 0,
            open_bytes: Bytes::ZERO,
            open_since: Time::ZERO,
        }
    }

    /// Returns whether packets wait.
    pub(crate) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns when the first waiting packet is sent; `None` if none waits.
    pub(crate) fn next(&self) -> Option<Time> {
        self.held.front().map(|held| held.leaves)
    }

    /// Holds a packet from `now` on.
    pub(crate) fn hold(&mut self, now: Time, segment: Segment, label: Label) {
        if self.spec.burst.is_zero() {
            self.held.push_back(Held { leaves: self.tick(now), segment, label });
            return;
        }
        let wire = Bytes::new(u64::from(label.wire));
        if self.open > 0 && self.open_bytes + wire > self.spec.burst {
            self.close(now);
        }
        if self.open == 0 {
            self.open_since = now;
        }
        let leaves = self.tick(self.open_since + DepartureSpec::GATHERS);
        self.held.push_back(Held { leaves, segment, label });
        self.open += 1;
        self.open_bytes += wire;
        if self.open_bytes + wire > self.spec.burst {
            self.close(now);
        }
    }

    /// Removes and returns the first waiting packet, if it is sent at `now` or earlier.
    pub(crate) fn take(&mut self, now: Time) -> Option<(Segment, Label)> {
        let Held { segment, label, .. } = self.held.pop_front_if(|held| held.leaves <= now)?;
        if self.held.len() < self.open {
            // The open burst has gathered for the maximum time. All of it is sent at one instant.
            (self.open, self.open_bytes) = (0, Bytes::ZERO);
        }
        Some((segment, label))
    }

    /// Closes the open burst, which is sent at the next tick.
    fn close(&mut self, now: Time) {
        let leaves = self.tick(now);
        let first = self.held.len() - self.open.min(self.held.len());
        for held in self.held.iter_mut().skip(first) {
            held.leaves = leaves;
        }
        (self.open, self.open_bytes) = (0, Bytes::ZERO);
    }

    /// Returns the first tick at `at` or later.
    fn tick(&self, at: Time) -> Time {
        let grain = self.spec.grain.nanos();
        if grain == 0 {
            return at;
        }
        let late = at.since(self.phase).nanos();
        self.phase + Span::from_nanos(late.div_ceil(grain).saturating_mul(grain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_tcp::Role;

    const WIRE: u32 = 1_000;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Returns the number and transmission time, in microseconds, of packets that arrive at the instants `comes`.
    fn offer(spec: DepartureSpec, comes: &[u64]) -> Vec<(u64, u64)> {
        let mut departures = Departures { phase: Time::ZERO, ..Departures::new(spec, FlowId(0), 1) };
        let mut left = Vec::new();
        let mut until = |departures: &mut Departures, end: u64| {
            while let Some(next) = departures.next().filter(|next| *next <= at(end)) {
                let (_, label) = departures.take(next).expect("it is due");
                left.push((label.number, next.nanos() / 1_000));
            }
        };
        for (number, comes) in (0..).zip(comes) {
            until(&mut departures, *comes);
            let label = Label {
                flow: FlowId(0),
                from: Role::Client,
                retransmission: false,
                number,
                wire: WIRE,
                is_data: true,
                asks: false,
            };
            departures.hold(at(*comes), Segment::default(), label);
        }
        until(&mut departures, u64::MAX / 2_000);
        assert!(!departures.holds_any());
        left
    }

    fn grain(micros: u64) -> DepartureSpec {
        DepartureSpec { grain: Span::from_micros(micros), ..DepartureSpec::default() }
    }

    fn burst(packets: u64) -> DepartureSpec {
        DepartureSpec { burst: Bytes::new(packets * u64::from(WIRE)), ..DepartureSpec::default() }
    }

    #[test]
    fn packets_between_two_ticks_leave_at_the_second_tick() {
        let left = offer(grain(1_000), &[0, 120, 240, 999, 1_000, 1_001]);
        assert_eq!(left, [(0, 0), (1, 1_000), (2, 1_000), (3, 1_000), (4, 1_000), (5, 2_000)]);
    }

    #[test]
    fn a_full_burst_leaves_immediately_and_a_partial_one_within_a_millisecond() {
        let left = offer(burst(3), &[0, 100, 200, 300, 400, 2_000]);
        assert_eq!(left, [(0, 200), (1, 200), (2, 200), (3, 1_300), (4, 1_300), (5, 3_000)]);
    }

    #[test]
    fn a_burst_is_never_larger_than_said() {
        let left = offer(burst(2), &[0, 0, 0, 0, 0]);
        assert_eq!(left, [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1_000)]);
    }

    #[test]
    fn a_burst_that_is_full_waits_for_the_tick() {
        let spec = DepartureSpec { grain: Span::from_micros(250), ..burst(2) };
        assert_eq!(offer(spec, &[10, 20, 300]), [(0, 250), (1, 250), (2, 1_500)]);
    }

    #[test]
    fn the_seed_and_the_flow_move_the_ticks() {
        let phases: std::collections::BTreeSet<Time> = (0..10)
            .flat_map(|seed| [0, 1].map(|flow| Departures::new(grain(1_000_000), FlowId(flow), seed).phase))
            .collect();
        assert_eq!(phases.len(), 20);
    }
}
