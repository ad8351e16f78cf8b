//! The counts of a flow, kept while it runs. They replace the lists of a recording, which grow with every packet: what is kept
//! is bounded by the window and by the intervals of the scorecard.
//!
//! A count equals what [`crate::metrics`] and [`crate::scorecard`] make of a recording with all lists. Tests of `lab` hold
//! the two against each other, over random paths.

use std::collections::VecDeque;

use crate::recording::Drop;

/// How many early instants deliveries are counted by.
pub(crate) const EARLY: usize = 3;

/// What [`crate::metrics`] and [`crate::scorecard`] need of a flow's packets, as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Data packets that left.
    pub sent: u64,
    /// Data packets that carried data again.
    pub again: u64,
    /// Data packets that the network dropped.
    pub lost: u64,
    /// Data packets dropped by the overshoot of start-up; [`crate::scorecard::overshoot_lost_packets`] says which these are.
    pub overshoot: u64,
    /// Data packets that a queue or a policer dropped.
    pub queue_lost: u64,
    /// Payload bytes in order at the receiver at the end of the flow's life.
    pub delivered: u64,
    /// Payload bytes in order at the receiver by each of the instants of [`Tally::new`].
    pub early: [u64; EARLY],
    /// The counts of su-time, if su-time ended.
    pub su: Option<SuCounted>,
    /// Deliveries by intervals, if the intervals are known and anything is available.
    pub intervals: Option<Intervals>,
}

/// The counts of su-time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuCounted {
    /// Data packets that left before its end.
    pub sent: u64,
    /// Of these, those that the network dropped.
    pub lost: u64,
    /// Payload bytes that left before its end in packets that were not dropped, each byte counted once.
    pub bytes: u64,
}

/// In-order delivery by the end of each interval of the scorecard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    /// When the first interval begins, in nanoseconds.
    pub from: u64,
    /// The length of an interval in nanoseconds.
    pub length: u64,
    /// From the end of which interval on how many payload bytes are in order; intervals count from one. An interval that
    /// brings nothing has no entry.
    steps: Vec<(u64, u64)>,
}

impl Intervals {
    /// Payload bytes in order by the end of so many intervals.
    pub fn delivered_by(&self, count: u64) -> u64 {
        let before = self.steps.partition_point(|(from, _)| *from <= count);
        before.checked_sub(1).map_or(0, |last| self.steps[last].1)
    }

    #[inline]
    fn delivered(&mut self, at: u64, bytes: u64) {
        // The end of the newest entry's interval. It is compared, because a division a packet is dear.
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
    /// By when early deliveries count, in order.
    early_by: [u64; EARLY],
    /// When the first data packet left.
    first_data_at: Option<u64>,
    /// What left at the newest instant at which anything did.
    newest: AtOnce,
    flight: Flight,
    su: Option<SuTime>,
    /// When in-order delivery advanced, as long as the intervals are not known: (when, bytes).
    early: Vec<(u64, u64)>,
    are_intervals_known: bool,
    /// The newest in-order delivery: when, and payload bytes.
    delivered: (u64, u64),
}

/// The data packets that left at one instant.
#[derive(Clone, Copy, Debug, Default)]
struct AtOnce {
    at: u64,
    sent: u64,
    lost: u64,
}

/// A data packet of which not everything is in order at the receiver.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    offset: u64,
    len: u32,
    is_dropped: bool,
}

/// Which bytes left in packets that were not dropped: all those in order at the receiver, and those of the packets here.
#[derive(Clone, Debug, Default)]
struct Flight {
    /// In the order in which they left. The first one is not in order at the receiver as a whole, so that no more are here
    /// than leave while the receiver waits for it.
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

    /// The bytes, each counted once.
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
    /// What left before its end.
    flight: Flight,
}

impl Tally {
    /// The counts of a flow that has not begun, over a path of this base round-trip time in nanoseconds. Early deliveries count by
    /// the instants `early_by`, which are in order.
    pub fn new(base_rtt: u64, early_by: [u64; EARLY]) -> Self {
        Self { base_rtt, early_by, ..Self::default() }
    }

    /// A data packet left.
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

    /// The network dropped a packet of the flow. `exit` is when the first exit was that stands, and `recoveries` are the loss episodes
    /// of the evidence so far.
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

    /// Whether a packet that is dropped now, and left at `sent_at`, is of the first exit's overshoot. An exit that is still to
    /// come is later than the packet.
    fn is_overshoot(&self, sent_at: u64, exit: Option<u64>, recoveries: &[(u64, Option<u64>)]) -> bool {
        let Some(exit) = exit else { return true };
        let after = exit.saturating_add(self.base_rtt);
        // Beyond `after` no other episode becomes the exit's own, and one under way ends no earlier than now.
        let of_own = |(from, to): &(u64, Option<u64>)| {
            self.is_soon_after(*from, exit) && to.is_none_or(|to| to >= exit && sent_at <= to)
        };
        sent_at <= after || recoveries.iter().any(of_own)
    }

    /// Whether a loss episode that began at `from` is the own one of an exit at `exit` by its beginning.
    pub const fn is_soon_after(&self, from: u64, exit: u64) -> bool {
        from <= exit.saturating_add(self.base_rtt)
    }

    /// Every exit was undone: what a queue dropped so far left before whatever exit is to come.
    pub fn exits_undone(&mut self) {
        self.counted.overshoot = self.counted.queue_lost;
    }

    /// Su-time ended at `at`, which is now.
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

    /// The end of su-time was undone.
    pub fn su_goes_on(&mut self) {
        self.su = None;
    }

    /// In-order delivery advanced to so many payload bytes.
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

    /// When the receiver's in-order delivery last advanced, and the payload bytes it has in order.
    pub const fn newest_delivery(&self) -> (u64, u64) {
        self.delivered
    }

    /// When the first data packet left.
    pub const fn first_data_at(&self) -> Option<u64> {
        self.first_data_at
    }

    /// When the first data packet left, if the intervals that count from then on are not known.
    pub const fn wants_intervals(&self) -> Option<u64> {
        if self.are_intervals_known { None } else { self.first_data_at }
    }

    /// The length of the scorecard's intervals ([`crate::scorecard::interval`]); `None` if there are none, because nothing is
    /// available. Until this is said each delivery takes memory.
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

    /// The counts of the flow, whose life is over.
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

    /// A flow that sends ten bytes a nanosecond, of which the receiver has all but the newest hundred, of so many packets.
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
    fn what_is_kept_is_bounded_by_what_the_receiver_waits_for() {
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
        // What leaves at the end itself is no part of it.
        let su = tally.finish().su.expect("it ended");
        assert_eq!(su, SuCounted { sent: 101, lost: 1, bytes: 1_000 });
    }

    #[test]
    fn a_packet_of_su_time_that_is_dropped_after_it_is_of_su_time() {
        let mut tally = steady(100);
        tally.su_ended(99);
        tally.dropped(&dropped(98, 980), None, &[]);
        tally.dropped(&dropped(99, 990), None, &[]);
        // The byte that was lost comes again after su-time.
        tally.sent(150, 980, 10, true);
        let counted = tally.finish();
        assert_eq!(counted.su, Some(SuCounted { sent: 99, lost: 1, bytes: 980 }));
        assert_eq!((counted.lost, counted.again), (2, 1));
    }

    #[test]
    fn what_is_delivered_by_an_early_instant_counts_with_the_instant_itself() {
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
                // Nothing comes for some time.
                tally.delivered(100 + step * if step < 30 { 3 } else { 7 }, step * 10);
            }
            tally.finish().intervals.expect("known")
        };
        let intervals = deliver(1);
        assert_eq!(intervals, deliver(59));
        // By 120: steps up to the sixth. By 200, between two steps: the twenty-ninth.
        assert_eq!((intervals.delivered_by(0), intervals.delivered_by(1)), (0, 60));
        assert_eq!((intervals.delivered_by(5), intervals.delivered_by(6)), (290, 290));
        assert_eq!(intervals.delivered_by(1_000), 600);
    }
}
