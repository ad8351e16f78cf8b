//! Counts of a flow's packets, kept while the flow runs. They replace the lists of a recording, which grow with every packet. The size of
//! the counts is bounded by the congestion window and by the number of the scorecard's intervals.
//!
//! Each count equals what [`crate::metrics`] and [`crate::scorecard`] compute from a recording with all lists. Tests of `lab` compare the
//! two over random paths.

use std::collections::VecDeque;

use crate::recording::Drop;

/// The number of early instants, by each of which a flow's deliveries are counted.
pub(crate) const EARLY: usize = 3;

/// The counts of a flow's packets that [`crate::metrics`] and [`crate::scorecard`] need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions: data packets that carried data sent before.
    pub again: u64,
    /// Data packets that the network dropped.
    pub lost: u64,
    /// Data packets dropped by the overshoot of start-up, as [`crate::scorecard::overshoot_lost_packets`] defines it.
    pub overshoot: u64,
    /// Data packets that a queue or a policer dropped.
    pub queue_lost: u64,
    /// Payload bytes in order at the receiver at the end of the flow's life.
    pub delivered: u64,
    /// Payload bytes in order at the receiver by each of the early instants given to [`Tally::new`].
    pub early: [u64; EARLY],
    /// The counts of su-time; `None` if su-time did not end.
    pub su: Option<SuCounted>,
    /// In-order delivery by intervals; `None` if no data was sent, or if no rate was available to the flow.
    pub intervals: Option<Intervals>,
}

/// The counts of packets sent in su-time, the time from the first data packet to the end of start-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuCounted {
    /// Data packets sent before the end of su-time.
    pub sent: u64,
    /// Data packets sent before the end of su-time that the network dropped.
    pub lost: u64,
    /// Payload bytes sent before the end of su-time in packets that were not dropped, each byte counted once.
    pub bytes: u64,
}

/// In-order delivery by the end of each interval of the scorecard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    /// The start of the first interval, in nanoseconds.
    pub from: u64,
    /// The length of an interval in nanoseconds.
    pub length: u64,
    /// Intervals with new deliveries: the number of each, from one, and the payload bytes delivered in order up to its end.
    steps: Vec<(u64, u64)>,
}

impl Intervals {
    /// Returns the payload bytes in order by the end of the first `count` intervals.
    pub fn delivered_by(&self, count: u64) -> u64 {
        let before = self.steps.partition_point(|(from, _)| *from <= count);
        before.checked_sub(1).map_or(0, |last| self.steps[last].1)
    }

    #[inline]
    fn delivered(&mut self, at: u64, bytes: u64) {
        // This compares with the end of the newest entry's interval, because a division for each packet is expensive.
        if let Some((count, last)) = self.steps.last_mut()
            && at <= self.from.saturating_add(count.saturating_mul(self.length))
        {
            *last = bytes;
            return;
        }
        self.steps.push((at.saturating_sub(self.from).div_ceil(self.length.max(1)), bytes));
    }
}

/// Counts the packets of one flow while it runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    base_rtt: u64,
    counted: Counted,
    /// The instants by which early deliveries are counted, in order.
    early_by: [u64; EARLY],
    /// When the first data packet was sent.
    first_data_at: Option<u64>,
    /// The data packets sent at the latest time at which the flow sent data.
    newest: AtOnce,
    flight: Flight,
    su: Option<SuTime>,
    /// The advances of in-order delivery, each as (when, payload bytes), kept only until the intervals are known.
    early: Vec<(u64, u64)>,
    are_intervals_known: bool,
    /// The latest advance of in-order delivery: when, and the payload bytes in order.
    delivered: (u64, u64),
}

/// The data packets sent at one instant.
#[derive(Clone, Copy, Debug, Default)]
struct AtOnce {
    at: u64,
    sent: u64,
    lost: u64,
}

/// A data packet of which some bytes are not in order at the receiver.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    offset: u64,
    len: u32,
    is_dropped: bool,
}

/// The bytes sent in packets that were not dropped: the bytes in order at the receiver, and the bytes of the packets in this list.
#[derive(Clone, Debug, Default)]
struct Flight {
    /// Packets in the order of transmission, from the first one that is not entirely in order at the receiver. The list holds at most the
    /// packets that are sent while the receiver waits for that one.
    packets: VecDeque<Sent>,
    in_order: u64,
}

impl Flight {
    #[inline]
    fn delivered(&mut self, bytes: u64) {
        self.in_order = bytes;
        while self.packets.front().is_some_and(|sent| sent.offset + u64::from(sent.len) <= bytes) {
            self.packets.pop_front();
        }
    }

    fn dropped(&mut self, drop: &Drop) {
        let from = self.packets.partition_point(|sent| sent.at < drop.sent_at);
        let at_once = self.packets.range_mut(from..).take_while(|sent| sent.at == drop.sent_at);
        at_once.filter(|sent| sent.offset == drop.offset).for_each(|sent| sent.is_dropped = true);
    }

    /// Returns the bytes sent in packets that were not dropped, each byte counted once.
    fn bytes(&self) -> u64 {
        let arrived = self.packets.iter().filter(|sent| !sent.is_dropped);
        let mut arrived: Vec<(u64, u64)> =
            arrived.map(|sent| (sent.offset, sent.offset + u64::from(sent.len))).collect();
        arrived.sort_unstable();
        let (bytes, _) =
            arrived.into_iter().fold((self.in_order, self.in_order), |(bytes, reached), (from, to)| {
                (bytes + to.saturating_sub(from.max(reached)), reached.max(to))
            });
        bytes
    }
}

/// A su-time that ended.
#[derive(Clone, Debug)]
struct SuTime {
    ended_at: u64,
    sent: u64,
    lost: u64,
    /// The data sent before the end of su-time.
    flight: Flight,
}

impl Tally {
    /// Creates the counts of a flow that has not started. `base_rtt` is the path's base RTT in nanoseconds. `early_by` are the instants by
    /// which early deliveries are counted, in order.
    pub fn new(base_rtt: u64, early_by: [u64; EARLY]) -> Self {
        Self { base_rtt, early_by, ..Self::default() }
    }

    /// Records that a data packet was sent.
    #[inline]
    pub fn sent(&mut self, at: u64, offset: u64, len: u32, retransmission: bool) {
        self.first_data_at.get_or_insert(at);
        self.counted.sent += 1;
        self.counted.again += u64::from(retransmission);
        if self.newest.at != at {
            self.newest = AtOnce { at, ..AtOnce::default() };
        }
        self.newest.sent += 1;
        self.flight.packets.push_back(Sent { at, offset, len, is_dropped: false });
    }

    /// Records that the network dropped a packet of the flow. `exit` is the time of the first exit that was not undone. `recoveries` are
    /// the loss episodes so far, each with its start and its end.
    pub fn dropped(&mut self, drop: &Drop, exit: Option<u64>, recoveries: &[(u64, Option<u64>)]) {
        if drop.len == 0 {
            return;
        }
        self.counted.lost += 1;
        self.newest.lost += u64::from(self.newest.at == drop.sent_at);
        self.flight.dropped(drop);
        if let Some(su) = self.su.as_mut().filter(|su| drop.sent_at < su.ended_at) {
            su.lost += 1;
            su.flight.dropped(drop);
        }
        if drop.by_queue {
            self.counted.queue_lost += 1;
            self.counted.overshoot += u64::from(self.is_overshoot(drop.sent_at, exit, recoveries));
        }
    }

    /// Checks whether a packet that was sent at `sent_at` and is dropped now belongs to the first exit's overshoot. True if there was no
    /// exit, because a later exit is also later than the packet.
    fn is_overshoot(&self, sent_at: u64, exit: Option<u64>, recoveries: &[(u64, Option<u64>)]) -> bool {
        let Some(exit) = exit else { return true };
        let after = exit.saturating_add(self.base_rtt);
        // Episodes that start after `after` do not belong to the exit. An episode under way does not end before now.
        let of_own = |(from, to): &(u64, Option<u64>)| {
            self.is_soon_after(*from, exit) && to.is_none_or(|to| to >= exit && sent_at <= to)
        };
        sent_at <= after || recoveries.iter().any(of_own)
    }

    /// Checks whether a loss episode that starts at `from` belongs to an exit at `exit`: it starts at most one base RTT after the exit.
    pub const fn is_soon_after(&self, from: u64, exit: u64) -> bool {
        from <= exit.saturating_add(self.base_rtt)
    }

    /// Records that every exit was undone. All packets that a queue has dropped so far then count as overshoot, because they were sent
    /// before any later exit.
    pub fn exits_undone(&mut self) {
        self.counted.overshoot = self.counted.queue_lost;
    }

    /// Records that su-time ended at `at`, which is now.
    pub fn su_ended(&mut self, at: u64) {
        let now = if self.newest.at == at { self.newest } else { AtOnce::default() };
        let mut flight = self.flight.clone();
        while flight.packets.back().is_some_and(|sent| sent.at >= at) {
            flight.packets.pop_back();
        }
        self.su = Some(SuTime {
            ended_at: at,
            sent: self.counted.sent - now.sent,
            lost: self.counted.lost - now.lost,
            flight,
        });
    }

    /// Records that the end of su-time was undone.
    pub fn su_goes_on(&mut self) {
        self.su = None;
    }

    /// Records that in-order delivery advanced to this number of payload bytes.
    #[inline]
    pub fn delivered(&mut self, at: u64, bytes: u64) {
        self.delivered = (at, bytes);
        if at <= self.early_by[EARLY - 1] {
            for (by, early) in self.early_by.iter().zip(&mut self.counted.early) {
                if at <= *by {
                    *early = bytes;
                }
            }
        }
        self.flight.delivered(bytes);
        match &mut self.counted.intervals {
            Some(intervals) => intervals.delivered(at, bytes),
            None if !self.are_intervals_known => self.early.push((at, bytes)),
            None => {}
        }
    }

    /// Returns when in-order delivery last advanced, and the payload bytes in order at the receiver.
    pub const fn newest_delivery(&self) -> (u64, u64) {
        self.delivered
    }

    /// Returns when the first data packet was sent.
    pub const fn first_data_at(&self) -> Option<u64> {
        self.first_data_at
    }

    /// Returns when the first data packet was sent, if [`Tally::intervals`] must be called: the intervals start then, and their length is
    /// not known.
    pub const fn wants_intervals(&self) -> Option<u64> {
        if self.are_intervals_known { None } else { self.first_data_at }
    }

    /// Sets the length of the scorecard's intervals ([`crate::scorecard::interval`]). `None` means that there are no intervals, because no
    /// rate is available. Until this call, each delivery takes memory.
    pub fn intervals(&mut self, length: Option<u64>) {
        self.are_intervals_known = true;
        let early = std::mem::take(&mut self.early);
        let Some((from, length)) = self.first_data_at.zip(length) else { return };
        let mut intervals = Intervals { from, length, steps: Vec::new() };
        for (at, bytes) in early {
            intervals.delivered(at, bytes);
        }
        self.counted.intervals = Some(intervals);
    }

    /// Returns the counts of the flow, whose life is over.
    pub fn finish(self) -> Counted {
        let su = self.su.map(|su| SuCounted { sent: su.sent, lost: su.lost, bytes: su.flight.bytes() });
        Counted { su, delivered: self.delivered.1, ..self.counted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(sent_at: u64, offset: u64) -> Drop {
        Drop { at: sent_at + 5, sent_at, offset, len: 10, by_queue: true }
    }

    /// A flow that sends this many packets at ten bytes a nanosecond. The receiver has all of them in order but the newest hundred.
    fn steady(packets: u64) -> Tally {
        let mut tally = Tally::new(50, [0; EARLY]);
        tally.intervals(None);
        for packet in 0..packets {
            tally.sent(packet, packet * 10, 10, false);
            tally.delivered(packet, (packet * 10).saturating_sub(100));
        }
        tally
    }

    #[test]
    fn retained_packets_are_bounded_by_the_flight() {
        let tally = steady(100_000);
        assert!(tally.flight.packets.len() < 20, "{} packets", tally.flight.packets.len());
        assert!(tally.flight.packets.capacity() < 64);
        assert_eq!(tally.finish().sent, 100_000);
    }

    #[test]
    fn a_su_time_that_is_undone_begins_no_new_count() {
        let mut tally = steady(100);
        tally.su_ended(99);
        tally.su_goes_on();
        tally.sent(100, 1_000, 10, false);
        tally.sent(101, 1_010, 10, false);
        tally.dropped(&dropped(100, 1_000), None, &[]);
        tally.su_ended(101);
        // Packets sent at the instant at which su-time ends are not part of su-time.
        let su = tally.finish().su.expect("it ended");
        assert_eq!(su, SuCounted { sent: 101, lost: 1, bytes: 1_000 });
    }

    #[test]
    fn packets_sent_in_su_time_and_dropped_later_count_as_su_losses() {
        let mut tally = steady(100);
        tally.su_ended(99);
        tally.dropped(&dropped(98, 980), None, &[]);
        tally.dropped(&dropped(99, 990), None, &[]);
        // The lost byte is retransmitted after su-time.
        tally.sent(150, 980, 10, true);
        let counted = tally.finish();
        assert_eq!(counted.su, Some(SuCounted { sent: 99, lost: 1, bytes: 980 }));
        assert_eq!((counted.lost, counted.again), (2, 1));
    }

    #[test]
    fn early_delivery_includes_bytes_at_the_deadline_itself() {
        let mut tally = Tally::new(10, [300, 400, 600]);
        for (at, bytes) in [(300, 10), (301, 20), (400, 30), (600, 40), (601, 50)] {
            tally.delivered(at, bytes);
        }
        assert_eq!(tally.finish().early, [10, 30, 40]);
    }

    #[test]
    fn intervals_that_become_known_late_have_what_was_delivered_before() {
        let deliver = |known_at: u64| {
            let mut tally = Tally::new(10, [0; EARLY]);
            tally.sent(100, 0, 10, false);
            for step in 1..=60 {
                if step == known_at {
                    tally.intervals(Some(20));
                }
                // There is a pause in the deliveries.
                tally.delivered(100 + step * if step < 30 { 3 } else { 7 }, step * 10);
            }
            tally.finish().intervals.expect("known")
        };
        let intervals = deliver(1);
        assert_eq!(intervals, deliver(59));
        // By 120 the sixth step is delivered. By 200, between two steps, it is the twenty-ninth.
        assert_eq!((intervals.delivered_by(0), intervals.delivered_by(1)), (0, 60));
        assert_eq!((intervals.delivered_by(5), intervals.delivered_by(6)), (290, 290));
        assert_eq!(intervals.delivered_by(1_000), 600);
    }
}
