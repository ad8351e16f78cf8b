//! One train on its way, and what its ACKs say of the gaps at the destination (Paced Start, section 3.3).
//!
//! The destination gap is the mean over segments, not over ACKs (choice-03): the sum of the gaps between ACKs
//! over the segments that those ACKs acknowledged. The source gap is the mean of the real departures of the same
//! segments. The first ACK only marks the start. A gap does not count if one of its ACKs is a duplicate,
//! acknowledges selectively, or came from a delayed-ACK timer, because its instant then says nothing of the path.

use crate::schemes::paced::tree::Gap;
use crate::seam::{Ack, Path, Sent, Tag};
use crate::units::{Span, Time};

/// A train and its ACKs so far.
#[derive(Clone, Debug)]
pub(super) struct Train {
    /// When the newest ACK came.
    arrival: Time,
    /// When the newest packet that it acknowledged had left.
    departure: Time,
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
    },
    /// Of a train with gaps: sums over the gaps that count.
    Gaps { arrivals: Gap, departures: Gap, segments: u16 },
}

/// The newest ACK as the start of a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    None,
    OfOne,
    OfSeveral,
}

/// How the receiver acknowledges, as the first burst showed (choice-02).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckMode {
    /// Every segment.
    Each,
    /// Several at a time; an ACK of a single segment came from a timer.
    Delayed,
}

/// Sums over the gaps of a train that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sums {
    /// Of the gaps between ACKs, in nanoseconds.
    pub(super) arrivals: u64,
    /// Of the gaps between departures, in nanoseconds.
    pub(super) departures: u64,
    /// Segments that they cover.
    pub(super) segments: u64,
}

impl Train {
    /// The first burst.
    pub(super) fn burst(packets: u16) -> Self {
        let readings = Readings::Burst { least: Gap::MAX, least_of_pairs: Gap::MAX, single: 0 };
        Self::new(packets, 0, readings)
    }

    /// A train with gaps.
    pub(super) fn gapped(packets: u16, gap: Gap) -> Self {
        Self::new(packets, gap, Readings::Gaps { arrivals: 0, departures: 0, segments: 0 })
    }

    fn new(packets: u16, gap: Gap, readings: Readings) -> Self {
        Self {
            arrival: Time::ZERO,
            departure: Time::ZERO,
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

    /// The host cannot send the rest.
    pub(super) fn cut(&mut self) {
        self.cut = true;
        self.void = true;
    }

    /// Whether nothing of this train is left to send or in flight. Nothing else is: the plan holds other data.
    pub(super) fn is_over(&self, path: &Path) -> bool {
        (self.cut || self.sent >= self.packets) && path.una >= path.nxt
    }

    /// An ACK arrived.
    pub(super) fn acked(&mut self, ack: &Ack<'_>, tag: Tag, mode: Option<AckMode>, now: Time) {
        let mine = ack.packets.iter().filter(|packet| packet.tag == tag);
        let (mut segments, mut newest, mut clean) = (0u16, Time::ZERO, !ack.duplicate);
        for packet in mine {
            segments = segments.saturating_add(1);
            newest = newest.max(packet.sent_at);
            clean &= !packet.selectively && !packet.retransmitted;
        }
        if segments == 0 && clean {
            return;
        }
        let timer = mode == Some(AckMode::Delayed) && segments < 2;
        let counts = clean && !timer;
        if counts && self.start != Start::None {
            let arrivals = gap(now.since(self.arrival));
            let departures = gap(newest.since(self.departure));
            self.read(arrivals, departures, segments);
        }
        if let Readings::Burst { single, .. } = &mut self.readings
            && clean
        {
            *single = single.saturating_add(if segments == 1 { 1 } else { -3 });
        }
        self.start = match segments {
            _ if !counts => Start::None,
            1 => Start::OfOne,
            _ => Start::OfSeveral,
        };
        self.arrival = now;
        self.departure = newest;
    }

    fn read(&mut self, arrival: Gap, departure: Gap, acked: u16) {
        match &mut self.readings {
            Readings::Burst { least, least_of_pairs, .. } => {
                let each = arrival / Gap::from(acked.max(1));
                // ACKs that arrive together say nothing of the bottleneck.
                if each > 0 {
                    *least = each.min(*least);
                    if acked > 1 && self.start == Start::OfSeveral {
                        *least_of_pairs = each.min(*least_of_pairs);
                    }
                }
            }
            Readings::Gaps { arrivals, departures, segments } => {
                *arrivals = arrivals.saturating_add(arrival);
                *departures = departures.saturating_add(departure);
                *segments = segments.saturating_add(acked);
            }
        }
    }

    /// What the first burst showed: `g_B` and how the receiver acknowledges.
    pub(super) fn capacity_gap(&self) -> Option<(Gap, AckMode)> {
        let Readings::Burst { least, least_of_pairs, single } = self.readings else { return None };
        let (gap, mode) =
            if single >= 0 { (least, AckMode::Each) } else { (least_of_pairs, AckMode::Delayed) };
        (!self.void && gap < Gap::MAX).then_some((gap, mode))
    }

    /// The sums of a train with gaps; `None` if it is void: cut, retransmitted, or gaps that cover fewer than
    /// half of its segments (choice-03), or sums beyond what is kept.
    pub(super) fn sums(&self) -> Option<Sums> {
        let Readings::Gaps { arrivals, departures, segments } = self.readings else { return None };
        let covered = segments >= self.packets.div_ceil(2);
        let kept = arrivals < Gap::MAX && departures < Gap::MAX;
        (!self.void && covered && kept).then_some(Sums {
            arrivals: u64::from(arrivals),
            departures: u64::from(departures),
            segments: u64::from(segments),
        })
    }
}

impl Sums {
    /// The mean gap of the departures, to the nearest nanosecond.
    pub(super) fn source(self) -> Gap {
        mean(self.departures, self.segments)
    }

    /// The mean gap of the ACKs, to the nearest nanosecond.
    pub(super) fn destination(self) -> Gap {
        mean(self.arrivals, self.segments)
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
