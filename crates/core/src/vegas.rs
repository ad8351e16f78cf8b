//! The measurement that Vegas's start-up and its law share: how many segments wait in the network, from how much
//! longer a round trip takes than the shortest.
//!
//! Two readings are in use, and the windows with which their start-up ends differ tenfold (choice-14). The port in
//! ns-2 2.35 (`tcp-vegas.cc`), which the papers used, takes the mean of a round and rounds to whole segments. Linux
//! (`tcp_vegas.c`) takes the least of a round, divides by the shortest delay and truncates. A third variant is ns-2's
//! without the rounding, as Brakmo and Peterson print the formula.
//!
//! In ns-2 the flight expected is the flight after the ACK and one segment, and the flight found is the data sent in
//! the round. ACKs that a receiver delayed count. A receiver's timer then looks like a queue, but the base is as much
//! too long whenever a round ends in which at most one segment was sent. In Linux an ACK for fewer segments than
//! others came from the timer, and its sample is left out; samples made while a loss is repaired are left out too.

use crate::seam::{Ack, Path};
use crate::units::{Bytes, Span};
use crate::wide;

/// Linux compares only with more samples than this (`vegas->cntRTT <= 2`), and otherwise grows as Reno.
const TOO_FEW: u32 = 2;

/// Which implementation of Vegas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Variant {
    /// The port in ns-2, which the papers' figures come from.
    #[default]
    Ns2,
    /// The port in ns-2 without its rounding, as the paper prints the formula.
    Paper,
    /// Linux.
    Linux,
}

/// A round's delays against the shortest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    /// `baseRTT`: the shortest round trip of data. The handshake's packets are shorter and do not count.
    base: Option<Span>,
    /// The sum of this round's samples (ns-2), or the least of them (Linux).
    round: Span,
    samples: u32,
    variant: Variant,
    /// Whether the receiver delays ACKs.
    delayed: bool,
}

/// What an ACK shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// The round goes on, or says nothing.
    Nothing,
    /// A round ended with too few samples (Linux): the window grows as Reno's, by this ACK.
    TooFew,
    /// The reading of the round that the ACK ended.
    Round(Reading),
}

/// What a round showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// How many bytes wait; all variants but the paper's count whole segments.
    pub(crate) waiting: Bytes,
    /// The shortest round trip.
    pub(crate) base: Span,
    /// The round's round-trip time.
    pub(crate) rtt: Span,
}

impl Gauge {
    pub(crate) fn new(variant: Variant) -> Self {
        Self { variant, ..Self::default() }
    }

    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    /// Forgets this round, and keeps the shortest delay.
    pub(crate) fn clear(&mut self) {
        (self.round, self.samples) = (Span::ZERO, 0);
    }

    /// Forgets everything, because the path is another one.
    pub(crate) fn forget(&mut self) {
        *self = Self::new(self.variant);
    }

    /// Takes in an ACK. At the end of a round returns the reading of the round, if there is one: the window was what
    /// limited sending, and there were enough samples.
    pub(crate) fn on(&mut self, ack: &Ack<'_>, path: &Path) -> Shown {
        if path.recovering && self.variant == Variant::Linux {
            self.clear();
            return Shown::Nothing;
        }
        // In ns-2 the sample of the ACK that ends a round belongs to the next one.
        if self.variant == Variant::Linux {
            self.sample(ack);
        }
        let shown = if ack.round_ended { self.close(ack, path) } else { Shown::Nothing };
        if self.variant != Variant::Linux {
            self.sample(ack);
        }
        if ack.growth.is_zero() { Shown::Nothing } else { shown }
    }

    fn sample(&mut self, ack: &Ack<'_>) {
        self.delayed |= ack.segments > 1;
        let Some(sample) = ack.rtt else { return };
        if self.variant == Variant::Linux && self.delayed && ack.segments == 1 {
            return;
        }
        self.base = Some(self.base.map_or(sample.rtt, |base| base.min(sample.rtt)));
        self.round = match self.variant {
            Variant::Ns2 | Variant::Paper => self.round + sample.rtt,
            Variant::Linux if self.samples > 0 => self.round.min(sample.rtt),
            Variant::Linux => sample.rtt,
        };
        self.samples = self.samples.saturating_add(1);
    }

    fn close(&mut self, ack: &Ack<'_>, path: &Path) -> Shown {
        let (samples, round) = (self.samples, self.round);
        self.clear();
        let few = if self.variant == Variant::Linux { TOO_FEW } else { 0 };
        match self.base {
            Some(base) if samples > few => Shown::Round(self.read(base, round, samples, ack, path)),
            _ if self.variant == Variant::Linux => Shown::TooFew,
            _ => Shown::Nothing,
        }
    }

    fn read(&mut self, base: Span, round: Span, samples: u32, ack: &Ack<'_>, path: &Path) -> Reading {
        match self.variant {
            Variant::Ns2 | Variant::Paper => {
                let rtt = round / u64::from(samples);
                let alone = ack.round_sent <= path.mss;
                let base = if alone { rtt } else { base };
                self.base = Some(base);
                // The flight that ns-2 expects includes the segment after the one acknowledged.
                let expected = path.flight + path.mss;
                let actual = ack.round_sent.scale(base.nanos(), rtt.nanos());
                let waiting = expected - actual;
                let waiting = match self.variant {
                    Variant::Paper => waiting,
                    Variant::Ns2 | Variant::Linux => whole_segments(waiting + path.mss / 2, path.mss),
                };
                Reading { waiting, base, rtt }
            }
            Variant::Linux => {
                let waiting = whole_segments(path.cwnd, path.mss).scale((round - base).nanos(), base.nanos());
                Reading { waiting: whole_segments(waiting, path.mss), base, rtt: round }
            }
        }
    }
}

/// Linux counts windows in segments.
fn whole_segments(window: Bytes, mss: Bytes) -> Bytes {
    mss * window.packets(mss)
}

impl Reading {
    /// Linux: the window that would leave nothing waiting, and a segment (`target_cwnd + 1`).
    pub(crate) fn target(&self, window: Bytes, mss: Bytes) -> Bytes {
        let target = wide::product(window.packets(mss), self.base.nanos()) / self.rtt.nanos().max(1);
        window.min(mss * target.saturating_add(1))
    }
}
