//! Measurements of one train, from its first transmission to its last arrival.

use crate::{Bytes, Rate, Span, Time};

/// Maximum number of packets of a train.
pub const MAX_PACKETS: usize = 256;

/// Result of a train. Uses only the *counted* gaps: gaps between two consecutive packets that both arrived, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The number of the train, from zero.
    pub train: u16,
    /// The requested gap between the starts of two packets.
    pub asked: Span,
    /// Transmission time of the first packet.
    pub began: Time,
    /// Number of packets sent.
    pub packets: u16,
    /// Number of packets that had not arrived when the train was judged.
    pub lost: u16,
    /// Number of counted gaps.
    pub gaps: u16,
    /// Sum of the counted gaps at the sender.
    pub departures: Span,
    /// Sum of the counted gaps at the receiver.
    pub arrivals: Span,
    /// How the train was judged.
    pub verdict: Verdict,
}

/// How a train is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The train was a burst that measures the capacity.
    Burst,
    /// The gaps grew: the train was faster than the available bandwidth.
    Congested,
    /// The gaps did not grow.
    Equal,
    /// Not judged yet: another train with the same gap follows, and both are judged together.
    Open,
    /// The train had too few counted gaps to be judged.
    Void,
}

impl Verdict {
    /// Returns the verdict's name in output.
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
    /// Returns the mean of the counted gaps at the sender; `None` if there is none.
    pub fn source_gap(&self) -> Option<Span> {
        (self.gaps > 0).then(|| self.departures / u64::from(self.gaps))
    }

    /// Returns the mean of the counted gaps at the receiver; `None` if there is none.
    pub fn arrival_gap(&self) -> Option<Span> {
        (self.gaps > 0).then(|| self.arrivals / u64::from(self.gaps))
    }

    /// Returns the rate at which packets of `wire` IP bytes were sent; `None` without a counted gap.
    pub fn source_rate(&self, wire: Bytes) -> Option<Rate> {
        (wire * u64::from(self.gaps)).per(self.departures).filter(|_| self.gaps > 0)
    }

    /// Returns the rate at which packets of `wire` IP bytes arrived; `None` without a counted gap.
    pub fn arrival_rate(&self, wire: Bytes) -> Option<Rate> {
        (wire * u64::from(self.gaps)).per(self.arrivals).filter(|_| self.gaps > 0)
    }
}

/// Transmission and arrival times of the current train.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    left: [Option<Time>; MAX_PACKETS],
    came: [Option<Time>; MAX_PACKETS],
    pub(crate) sent: u16,
    pub(crate) arrived: u16,
}

impl Default for Log {
    fn default() -> Self {
        Self { left: [None; MAX_PACKETS], came: [None; MAX_PACKETS], sent: 0, arrived: 0 }
    }
}

impl Log {
    /// Records a packet's transmission. Ignores repeated reports of the same packet.
    pub(crate) fn left(&mut self, packet: u16, at: Time) {
        if let Some(place) = self.left.get_mut(usize::from(packet)).filter(|place| place.is_none()) {
            *place = Some(at);
            self.sent = self.sent.saturating_add(1);
        }
    }

    /// Records a packet's arrival at the receiver, by the receiver's clock. Returns the packet's transmission time. Returns `None` and
    /// records nothing if the packet had arrived before or was never sent.
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

    /// Returns the counted gaps as pairs: the gap at the sender and the gap at the receiver.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = (Span, Span)> + '_ {
        let pairs = self.left.windows(2).zip(self.came.windows(2));
        pairs.filter_map(|(left, came)| match (left, came) {
            (&[Some(first), Some(second)], &[Some(earlier), Some(later)]) if later >= earlier => {
                Some((second.since(first), later.since(earlier)))
            }
            _ => None,
        })
    }

    /// Returns `g_B`: the gap between packets that queued directly one after the other at the bottleneck. The method searches the smallest
    /// gap with at least a quarter of the gaps, and at least two, within a sixteenth above it. The result is the mean of these gaps, so
    /// that a few packets delivered together at the receiver do not determine it. If there is no such group, the result is the smallest gap
    /// above zero.
    pub(crate) fn capacity_gap(&self) -> Option<Span> {
        let mut sorted = [Span::ZERO; MAX_PACKETS];
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
            let min = rest.first().copied().unwrap_or_default();
            let near = rest.iter().take_while(|gap| **gap <= min + min / 16);
            near.fold((0_u64, Span::ZERO), |(count, sum), gap| (count + 1, sum + *gap))
        };
        let found = (0..count).map(close).find(|(near, sum)| *near >= quarter as u64 && !sum.is_zero());
        let mean = found.map(|(near, sum)| sum / near);
        mean.or_else(|| sorted.iter().copied().find(|gap| !gap.is_zero()))
    }
}
