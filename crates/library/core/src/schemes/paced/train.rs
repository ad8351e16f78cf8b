//! A train in flight, and the gaps at the destination that its ACKs show (Paced Start, section 3.3).
//!
//! The destination gap is the mean over segments, not over ACKs (choice-03 offers both): the sum of the gaps between ACKs over the segments
//! that those ACKs acknowledged. The source gap is the mean transmission gap of the same segments. The first ACK only marks the start. A
//! gap does not count if one of its ACKs is a duplicate, acknowledges selectively, or came from a delayed-ACK timer (choice-02), because
//! the arrival time of that ACK says nothing about the path.

use crate::interface::{Ack, Path, Sent, Tag};
use crate::schemes::paced::switches::{Switch, Switches};
use crate::schemes::paced::tree::Gap;
use crate::units::{Bytes, Span, Time};

/// A train and its ACKs so far.
#[derive(Clone, Debug)]
pub(super) struct Train {
    /// Arrival of the newest ACK.
    arrival: Time,
    /// The delay of the newest ACK since the transmission of the newest packet that it acknowledges.
    delay: Gap,
    readings: Readings,
    /// The intended gap.
    pub(super) gap: Gap,
    /// Number of packets in the train.
    pub(super) packets: u16,
    /// Number of packets sent.
    pub(super) sent: u16,
    /// The newest ACK, as the start of the next gap.
    start: Start,
    /// Whether the host could not send all of the train.
    cut: bool,
    /// Whether the train cannot be measured.
    void: bool,
}

/// The measurements of the ACKs.
#[derive(Clone, Copy, Debug)]
enum Readings {
    /// The first burst is sent back to back and shows the minimum gap of a segment, which is `g_B` (choice-04).
    Burst {
        min: Gap,
        /// Minimum gap of a segment between two ACKs that each acknowledge at least two segments.
        least_of_pairs: Gap,
        /// Incremented by one at an ACK of one segment, and decremented by three at an ACK of more. The count is not negative if at least
        /// three quarters of the ACKs acknowledge one segment.
        single: i16,
        /// Segments covered by gaps, whether or not the gaps count. ACKs that arrive together have no gap between them.
        segments: u16,
    },
    /// A train with gaps shows sums over the gaps that count.
    Gaps {
        arrivals: Gap,
        departures: Gap,
        /// The number of segments, or of ACKs, over which the sums run.
        count: u16,
        /// The segments that the gaps cover.
        segments: u16,
    },
}

/// The newest ACK as the start of a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    None,
    OfOne,
    OfSeveral,
}

/// The gaps that count (choice-02).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckMode {
    /// All gaps.
    All,
    /// All gaps except those before and after an ACK of a single segment that a timer sent. A receiver may acknowledge each segment at
    /// first and several at a time later, in the middle of a train, so each train is judged by its own ACKs.
    Timers,
    /// Section 3.3 to the letter: the gap before an ACK of a single segment does not count.
    Literal,
}

/// The rules for reading ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The train's tag.
    pub(super) tag: Tag,
    /// Whether the ACK is the last one of the train.
    pub(super) last: bool,
    pub(super) switches: Switches,
}

/// Sums over the gaps of a train that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sums {
    /// The sum of the gaps between ACKs, in nanoseconds.
    pub(super) arrivals: u64,
    /// Sum of the gaps between transmissions, in nanoseconds.
    pub(super) departures: u64,
    /// Number of segments that the gaps cover, or the number of ACKs if each counts as one.
    pub(super) count: u64,
}

impl Train {
    /// Returns the first burst.
    pub(super) fn burst(packets: u16) -> Self {
        let readings = Readings::Burst { min: Gap::MAX, least_of_pairs: Gap::MAX, single: 0, segments: 0 };
        Self::new(packets, 0, readings)
    }

    /// Returns a train with gaps.
    pub(super) fn gapped(packets: u16, gap: Gap) -> Self {
        Self::new(packets, gap, Readings::Gaps { arrivals: 0, departures: 0, count: 0, segments: 0 })
    }

    fn new(packets: u16, gap: Gap, readings: Readings) -> Self {
        Self {
            arrival: Time::ZERO,
            delay: 0,
            readings,
            gap,
            packets,
            sent: 0,
            start: Start::None,
            cut: false,
            void: false,
        }
    }

    /// Returns a new train with the packets and gap of this one.
    pub(super) fn again(&self) -> Self {
        Self::gapped(self.packets, self.gap)
    }

    /// Counts the packets of one transmission. A retransmission makes the train invalid.
    pub(super) fn left(&mut self, sent: &Sent, mss: Bytes) {
        if sent.retransmission {
            self.void = true;
        } else {
            let packets = u16::try_from(sent.packets(mss)).unwrap_or(u16::MAX);
            self.sent = self.sent.saturating_add(packets);
        }
    }

    /// Records that the host cannot send the rest (choice-08).
    pub(super) fn cut(&mut self, switches: Switches) {
        self.cut = true;
        self.void |= !switches.has(Switch::JudgesCut);
    }

    /// Gives up the train: it cannot be measured, and its remaining packets are not sent.
    pub(super) fn give_up(&mut self) {
        self.cut = true;
        self.void = true;
    }

    /// Returns whether no packet of this train remains to be sent or is in flight. No other packet is in flight, because the plan holds
    /// other data.
    pub(super) fn is_over(&self, path: &Path) -> bool {
        (self.cut || self.sent >= self.packets) && path.una >= path.nxt
    }

    /// Adds an ACK that arrived at `now` to the measurement.
    pub(super) fn acked(&mut self, ack: &Ack<'_>, rules: Rules, now: Time) {
        let mine = ack.packets.iter().filter(|packet| packet.tag == rules.tag);
        let (mut segments, mut newest, mut clean) = (0u16, Time::ZERO, !ack.duplicate);
        for packet in mine {
            segments = segments.saturating_add(1);
            newest = newest.max(packet.sent_at);
            clean &= !packet.selectively && !packet.retransmitted;
        }
        // Only the train is in flight, so without a list the newest packet represents all packets.
        if let Some(packet) = ack.newest.filter(|packet| ack.packets.is_empty() && packet.tag == rules.tag) {
            segments = u16::try_from(ack.whole_packets()).unwrap_or(u16::MAX);
            newest = packet.sent_at;
            clean &= !packet.selectively && !packet.retransmitted;
        }
        if segments == 0 && clean {
            return;
        }
        let delay = gap(now.since(newest));
        // A longer delay does not fit the field, and would lose the transmission time.
        clean &= delay < Gap::MAX;
        let mode = rules.switches.ack_mode();
        let misleads = segments < 2 && mode == AckMode::Timers && self.is_of_timer(now, rules.last);
        let late = misleads || segments < 2 && mode == AckMode::Literal;
        if clean && !late && self.start != Start::None {
            let arrivals = now.since(self.arrival);
            // The newest packet was sent `delay` before this ACK, and the previous one `self.delay` before the previous ACK.
            let departures =
                (arrivals + Span::from_nanos(u64::from(self.delay))) - Span::from_nanos(u64::from(delay));
            self.read(gap(arrivals), gap(departures), segments, rules.switches);
        }
        match &mut self.readings {
            Readings::Burst { single, .. } if clean => {
                *single = single.saturating_add(if segments == 1 { 1 } else { -3 });
            }
            _ => {}
        }
        self.start = match segments {
            _ if !clean || misleads => Start::None,
            1 => Start::OfOne,
            _ => Start::OfSeveral,
        };
        (self.arrival, self.delay) = (now, delay);
    }

    /// Returns whether a timer sent the ACK of one segment that arrives `now`. A receiver that acknowledges several segments at a time
    /// sends an ACK of one segment only by the timer. The last ACK of a train may be the first that the receiver delays. The minimum gap of
    /// the burst never comes from a timer.
    fn is_of_timer(&self, now: Time, last: bool) -> bool {
        let Readings::Gaps { arrivals, count, .. } = self.readings else { return false };
        self.start == Start::OfSeveral || last && is_long(gap(now.since(self.arrival)), arrivals, count)
    }

    fn read(&mut self, arrival: Gap, departure: Gap, acked: u16, switches: Switches) {
        let acked = acked.max(1);
        match &mut self.readings {
            Readings::Burst { min, least_of_pairs, segments, .. } => {
                let each = arrival / Gap::from(acked);
                // ACKs that arrive together say nothing of the bottleneck.
                if each > 0 {
                    *min = each.min(*min);
                    *segments = segments.saturating_add(acked);
                    if acked > 1 && self.start == Start::OfSeveral {
                        *least_of_pairs = each.min(*least_of_pairs);
                    }
                }
            }
            Readings::Gaps { arrivals, departures, count, segments } => {
                // An ACK is weighted by the segments that it acknowledges, or all ACKs have equal weight (choice-03).
                let (of, weight) = if switches.has(Switch::MeanOfAcks) { (acked, 1) } else { (1, acked) };
                // A saturated gap stays saturated.
                let each = |gap: Gap| if gap == Gap::MAX { gap } else { gap / Gap::from(of) };
                *arrivals = arrivals.saturating_add(each(arrival));
                *departures = departures.saturating_add(each(departure));
                *count = count.saturating_add(weight);
                *segments = segments.saturating_add(acked);
            }
        }
    }

    /// Returns the result of the first burst, `g_B`. `None` if the burst is invalid: cut, retransmitted, or with too few gaps (choice-03).
    pub(super) fn capacity_gap(&self, switches: Switches) -> Option<Gap> {
        let Readings::Burst { min, least_of_pairs, single, segments } = self.readings else { return None };
        let delays = switches.ack_mode() == AckMode::Timers && single < 0;
        let gap = if delays { least_of_pairs } else { min };
        let enough = self.covers_enough(segments, switches);
        (!self.void && enough && gap < Gap::MAX).then_some(gap)
    }

    /// Returns the sums of a train with gaps. `None` if the train is invalid: cut, retransmitted, without a gap that counts or with too few
    /// (choice-03), or with sums that saturated.
    pub(super) fn sums(&self, switches: Switches) -> Option<Sums> {
        let Readings::Gaps { arrivals, departures, count, segments } = self.readings else { return None };
        let enough = self.covers_enough(segments, switches);
        let kept = arrivals < Gap::MAX && departures < Gap::MAX;
        (!self.void && count > 0 && enough && kept).then_some(Sums {
            arrivals: u64::from(arrivals),
            departures: u64::from(departures),
            count: u64::from(count),
        })
    }

    fn covers_enough(&self, segments: u16, switches: Switches) -> bool {
        switches.has(Switch::AnyCoverage) || segments >= self.packets.div_ceil(2)
    }
}

impl Sums {
    /// Returns the mean gap between transmissions, to the nearest nanosecond.
    pub(super) fn source(self) -> Gap {
        mean(self.departures, self.count)
    }

    /// Returns the mean gap of the ACKs, to the nearest nanosecond.
    pub(super) fn destination(self) -> Gap {
        mean(self.arrivals, self.count)
    }
}

/// Returns whether `gap` exceeds 1.5 times the mean of `count` gaps with the sum `sum`.
#[cold]
fn is_long(gap: Gap, sum: Gap, count: u16) -> bool {
    count > 0 && u64::from(gap) * u64::from(count) * 2 > u64::from(sum) * 3
}

fn mean(sum: u64, count: u64) -> Gap {
    let count = count.max(1);
    Gap::try_from((sum + count / 2) / count).unwrap_or(Gap::MAX)
}

/// Returns a span as a gap, saturating.
pub(super) fn gap(span: Span) -> Gap {
    Gap::try_from(span.nanos()).unwrap_or(Gap::MAX)
}
