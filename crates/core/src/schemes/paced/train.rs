//! One train on its way, and what its ACKs say of the gaps at the destination (Paced Start, section 3.3).
//!
//! The destination gap is the mean over segments, not over ACKs (choice-03 has both): the sum of the gaps between
//! ACKs over the segments that those ACKs acknowledged. The source gap is the mean of the real departures of the
//! same segments. The first ACK only marks the start. A gap does not count if one of its ACKs is a duplicate,
//! acknowledges selectively, or came from a delayed-ACK timer (choice-02), because its instant then says nothing of
//! the path.

use crate::schemes::paced::switches::{Switch, Switches};
use crate::schemes::paced::tree::Gap;
use crate::seam::{Ack, Path, Sent, Tag};
use crate::units::{Span, Time};

/// A train and its ACKs so far.
#[derive(Clone, Debug)]
pub(super) struct Train {
    /// When the newest ACK came.
    arrival: Time,
    /// How long before the newest packet that it acknowledged had left.
    delay: Gap,
    readings: Readings,
    /// The intended gap.
    pub(super) gap: Gap,
    /// How many packets it has.
    pub(super) packets: u16,
    /// How many have left.
    pub(super) sent: u16,
    /// The newest ACK, as the start of the next gap.
    start: Start,
    /// The host could not send all of it.
    cut: bool,
    /// It cannot be measured.
    void: bool,
}

/// What is read from the ACKs.
#[derive(Clone, Copy, Debug)]
enum Readings {
    /// Of the first burst, which leaves back to back: the least gap a segment, which is `g_B` (choice-04).
    Burst {
        least: Gap,
        /// The same over gaps between two ACKs that each acknowledge at least two segments.
        least_of_pairs: Gap,
        /// Plus one for an ACK of one segment, minus three for an ACK of more: not negative if at least three
        /// quarters of the ACKs acknowledge one segment.
        single: i16,
        /// The segments that gaps cover, whichever count; ACKs that arrive together have none between them.
        segments: u16,
    },
    /// Of a train with gaps: sums over the gaps that count.
    Gaps {
        arrivals: Gap,
        departures: Gap,
        /// What they are summed over: segments, or ACKs.
        count: u16,
        /// The segments that they cover.
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

/// Which gaps count (choice-02): the first burst shows how the receiver acknowledges, unless it is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckMode {
    /// All: the receiver acknowledges every segment.
    Each,
    /// Several segments at a time are acknowledged; an ACK of a single one came from a timer, and the gaps before and
    /// after it do not count.
    Delayed,
    /// Section 3.3 to the letter: the gap before an ACK of a single segment does not count.
    Literal,
}

/// How ACKs are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The train's tag.
    pub(super) tag: Tag,
    /// Which gaps count; none while the receiver is not known.
    pub(super) mode: Option<AckMode>,
    pub(super) switches: Switches,
}

/// Sums over the gaps of a train that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sums {
    /// Of the gaps between ACKs, in nanoseconds.
    pub(super) arrivals: u64,
    /// Of the gaps between departures, in nanoseconds.
    pub(super) departures: u64,
    /// Segments that they cover, or ACKs if each counts as one.
    pub(super) count: u64,
}

impl Train {
    /// The first burst.
    pub(super) fn burst(packets: u16) -> Self {
        let readings = Readings::Burst { least: Gap::MAX, least_of_pairs: Gap::MAX, single: 0, segments: 0 };
        Self::new(packets, 0, readings)
    }

    /// A train with gaps.
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

    /// The same train with gaps anew.
    pub(super) fn again(&self) -> Self {
        Self::gapped(self.packets, self.gap)
    }

    /// A packet of this train left, or a retransmission did.
    pub(super) fn left(&mut self, sent: &Sent) {
        if sent.retransmission {
            self.void = true;
        } else {
            self.sent = self.sent.saturating_add(1);
        }
    }

    /// The host cannot send the rest (choice-08).
    pub(super) fn cut(&mut self, switches: Switches) {
        self.cut = true;
        self.void |= !switches.has(Switch::JudgesCut);
    }

    /// What it would show is worth nothing, and nothing more of it is to be sent.
    pub(super) fn give_up(&mut self) {
        self.cut = true;
        self.void = true;
    }

    /// Whether nothing of this train is left to send or in flight. Nothing else is: the plan holds other data.
    pub(super) fn is_over(&self, path: &Path) -> bool {
        (self.cut || self.sent >= self.packets) && path.una >= path.nxt
    }

    /// An ACK arrived.
    pub(super) fn acked(&mut self, ack: &Ack<'_>, rules: Rules, now: Time) {
        let mine = ack.packets.iter().filter(|packet| packet.tag == rules.tag);
        let (mut segments, mut newest, mut clean) = (0u16, Time::ZERO, !ack.duplicate);
        for packet in mine {
            segments = segments.saturating_add(1);
            newest = newest.max(packet.sent_at);
            clean &= !packet.selectively && !packet.retransmitted;
        }
        if segments == 0 && clean {
            return;
        }
        let delay = gap(now.since(newest));
        // A longer one would not be kept, nor the departure with it.
        clean &= delay < Gap::MAX;
        let late = segments < 2 && matches!(rules.mode, Some(AckMode::Delayed | AckMode::Literal));
        if clean && !late && self.start != Start::None {
            let arrivals = now.since(self.arrival);
            // The newest packet left `delay` ago, the one before `self.delay` before its ACK.
            let departures =
                (arrivals + Span::from_nanos(u64::from(self.delay))) - Span::from_nanos(u64::from(delay));
            self.read(gap(arrivals), gap(departures), segments, rules.switches);
        }
        if let Readings::Burst { single, .. } = &mut self.readings
            && clean
        {
            *single = single.saturating_add(if segments == 1 { 1 } else { -3 });
        }
        self.start = match segments {
            _ if !clean || late && rules.mode == Some(AckMode::Delayed) => Start::None,
            1 => Start::OfOne,
            _ => Start::OfSeveral,
        };
        (self.arrival, self.delay) = (now, delay);
    }

    fn read(&mut self, arrival: Gap, departure: Gap, acked: u16, switches: Switches) {
        let acked = acked.max(1);
        match &mut self.readings {
            Readings::Burst { least, least_of_pairs, segments, .. } => {
                let each = arrival / Gap::from(acked);
                // ACKs that arrive together say nothing of the bottleneck.
                if each > 0 {
                    *least = each.min(*least);
                    *segments = segments.saturating_add(acked);
                    if acked > 1 && self.start == Start::OfSeveral {
                        *least_of_pairs = each.min(*least_of_pairs);
                    }
                }
            }
            Readings::Gaps { arrivals, departures, count, segments } => {
                // choice-03: an ACK weighs as much as the segments that it acknowledges, or as any other.
                let (of, weight) = if switches.has(Switch::MeanOfAcks) { (acked, 1) } else { (1, acked) };
                // What is beyond what is kept must stay so.
                let each = |gap: Gap| if gap == Gap::MAX { gap } else { gap / Gap::from(of) };
                *arrivals = arrivals.saturating_add(each(arrival));
                *departures = departures.saturating_add(each(departure));
                *count = count.saturating_add(weight);
                *segments = segments.saturating_add(acked);
            }
        }
    }

    /// What the first burst showed: `g_B` and which gaps are to count; `None` if it is void: cut, retransmitted, or too
    /// few gaps (choice-03).
    pub(super) fn capacity_gap(&self, switches: Switches) -> Option<(Gap, AckMode)> {
        let Readings::Burst { least, least_of_pairs, single, segments } = self.readings else { return None };
        let (gap, mode) = match switches.ack_mode() {
            Some(mode) => (least, mode),
            None if single >= 0 => (least, AckMode::Each),
            None => (least_of_pairs, AckMode::Delayed),
        };
        let enough = self.covers_enough(segments, switches);
        (!self.void && enough && gap < Gap::MAX).then_some((gap, mode))
    }

    /// The sums of a train with gaps; `None` if it is void: cut, retransmitted, no gap that counts or too few of
    /// them (choice-03), or sums beyond what is kept.
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
    /// The mean gap of the departures, to the nearest nanosecond.
    pub(super) fn source(self) -> Gap {
        mean(self.departures, self.count)
    }

    /// The mean gap of the ACKs, to the nearest nanosecond.
    pub(super) fn destination(self) -> Gap {
        mean(self.arrivals, self.count)
    }
}

fn mean(sum: u64, count: u64) -> Gap {
    let count = count.max(1);
    Gap::try_from((sum + count / 2) / count).unwrap_or(Gap::MAX)
}

/// A span as a gap, saturating.
pub(super) fn gap(span: Span) -> Gap {
    Gap::try_from(span.nanos()).unwrap_or(Gap::MAX)
}
