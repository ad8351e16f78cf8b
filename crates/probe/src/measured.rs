//! One train, from its first departure to its last arrival.

use firstflight::{Bytes, Rate, Span, Time};

/// The most packets of a train.
pub const MOST_PACKETS: usize = 256;

/// What a train showed. Only *counted* gaps enter: those between two packets in a row that both arrived, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The number of the train, from zero.
    pub train: u16,
    /// The gap that was asked for.
    pub asked: Span,
    /// When the first packet left.
    pub began: Time,
    /// Packets that left.
    pub packets: u16,
    /// Packets that had not arrived when the train was over.
    pub lost: u16,
    /// Counted gaps.
    pub gaps: u16,
    /// The sum of the counted gaps at departure.
    pub departures: Span,
    /// The sum of the counted gaps at arrival.
    pub arrivals: Span,
    /// What the gaps say.
    pub verdict: Verdict,
}

/// What the gaps of a train say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A burst that looks for the capacity.
    Burst,
    /// The gaps grew: the train was faster than the bandwidth available.
    Congested,
    /// The gaps stayed.
    Equal,
    /// Another train of the same gap is to come, and they are judged together.
    Open,
    /// Too few gaps to judge.
    Void,
}

impl Verdict {
    /// The verdict as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Burst => "burst",
            Self::Congested => "congested",
            Self::Equal => "equal",
            Self::Open => "open",
            Self::Void => "void",
        }
    }
}

impl Measured {
    /// The mean gap at departure; `None` without a counted gap.
    pub fn source_gap(&self) -> Option<Span> {
        (self.gaps > 0).then(|| self.departures / u64::from(self.gaps))
    }

    /// The mean gap at arrival; `None` without a counted gap.
    pub fn arrival_gap(&self) -> Option<Span> {
        (self.gaps > 0).then(|| self.arrivals / u64::from(self.gaps))
    }

    /// The rate at which packets of `wire` IP bytes left; `None` without a gap.
    pub fn source_rate(&self, wire: Bytes) -> Option<Rate> {
        (wire * u64::from(self.gaps)).per(self.departures).filter(|_| self.gaps > 0)
    }

    /// The rate at which packets of `wire` IP bytes arrived; `None` without a gap.
    pub fn arrival_rate(&self, wire: Bytes) -> Option<Rate> {
        (wire * u64::from(self.gaps)).per(self.arrivals).filter(|_| self.gaps > 0)
    }
}

/// The departures and arrivals of the train under way.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    left: [Option<Time>; MOST_PACKETS],
    came: [Option<Time>; MOST_PACKETS],
    pub(crate) sent: u16,
    pub(crate) arrived: u16,
}

impl Default for Log {
    fn default() -> Self {
        Self { left: [None; MOST_PACKETS], came: [None; MOST_PACKETS], sent: 0, arrived: 0 }
    }
}

impl Log {
    /// Notes a departure. One that is told twice counts once.
    pub(crate) fn left(&mut self, packet: u16, at: Time) {
        if let Some(place) = self.left.get_mut(usize::from(packet)).filter(|place| place.is_none()) {
            *place = Some(at);
            self.sent = self.sent.saturating_add(1);
        }
    }

    /// Notes an arrival at the far end, by its clock, and gives the instant of departure. A copy of a packet, or one that
    /// never left, is nothing.
    pub(crate) fn came(&mut self, packet: u16, at: Time) -> Option<Time> {
        let left = (*self.left.get(usize::from(packet))?)?;
        let place = self.came.get_mut(usize::from(packet)).filter(|place| place.is_none())?;
        *place = Some(at);
        self.arrived = self.arrived.saturating_add(1);
        Some(left)
    }

    pub(crate) fn began(&self) -> Time {
        self.left.iter().flatten().copied().min().unwrap_or_default()
    }

    /// The counted gaps: at departure, and at arrival.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = (Span, Span)> + '_ {
        let pairs = self.left.windows(2).zip(self.came.windows(2));
        pairs.filter_map(|(left, came)| match (left, came) {
            (&[Some(first), Some(second)], &[Some(earlier), Some(later)]) if later >= earlier => {
                Some((second.since(first), later.since(earlier)))
            }
            _ => None,
        })
    }

    /// `g_B`: the gap of packets that waited one behind the other at the narrowest link, with nothing between them. It is the
    /// least gap that a quarter of the gaps come up to within a sixteenth, so that a few packets that came together at the
    /// receiver do not make it. Without such a quarter it is the least gap.
    pub(crate) fn capacity_gap(&self) -> Option<Span> {
        let mut sorted = [Span::ZERO; MOST_PACKETS];
        let mut count = 0;
        for ((_, gap), place) in self.gaps().zip(sorted.iter_mut()) {
            *place = gap;
            count += 1;
        }
        let sorted = sorted.get_mut(..count)?;
        sorted.sort_unstable();
        let quarter = count.div_ceil(4).max(2);
        let close = |from: usize| {
            let rest = sorted.get(from..).unwrap_or_default();
            let least = rest.first().copied().unwrap_or_default();
            let near = rest.iter().take_while(|gap| **gap <= least + least / 16);
            near.fold((0_u64, Span::ZERO), |(count, sum), gap| (count + 1, sum + *gap))
        };
        let found = (0..count).map(close).find(|(near, sum)| *near >= quarter as u64 && !sum.is_zero());
        let mean = found.map(|(near, sum)| sum / near);
        mean.or_else(|| sorted.iter().copied().find(|gap| !gap.is_zero()))
    }
}
