//! The measurement that Vegas's start-up and its law share: the number of segments queued in the network, from the
//! difference between the RTT and the minimum RTT.
//!
//! Two readings are in use, and the windows at the end of their start-ups differ tenfold (choice-14). The port in
//! ns-2 2.35 (`tcp-vegas.cc`), which the papers used, takes the mean of a round and rounds to whole segments. Linux
//! (`tcp_vegas.c`) takes the minimum of a round, divides by the minimum RTT and truncates. A third variant is ns-2's
//! without the rounding, as Brakmo and Peterson print the formula.
//!
//! In ns-2 the expected flight is the flight after the ACK plus one segment, and the actual flight is the data sent
//! in the round. ACKs that a receiver delayed count. A receiver's timer then looks like a queue, but the base RTT is
//! too long by the same amount whenever a round ends in which at most one segment was sent. In Linux an ACK for fewer
//! segments than others came from the timer, and its sample is left out; samples during loss recovery are left out
//! too.

use crate::interface::{Ack, Path};
use crate::units::{Bytes, Span};
use crate::wide;

/// Linux requires more samples than this (`vegas->cntRTT <= 2`), and otherwise grows as Reno.
const TOO_FEW: u32 = 2;

/// The implementations of Vegas.
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

/// Measures the delays of each round against the minimum RTT.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    /// `baseRTT`: the minimum RTT of data. The handshake's packets are shorter and do not count.
    base: Option<Span>,
    /// The sum of this round's samples (ns-2), or their minimum (Linux).
    round: Span,
    samples: u32,
    variant: Variant,
    /// Whether the receiver delays ACKs.
    delayed: bool,
}

/// The result of the measurement at an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// The round continues, or it gave no reading.
    Nothing,
    /// A round ended with too few samples (Linux): the window grows as Reno's, by this ACK.
    TooFew,
    /// The reading of the round that the ACK ended.
    Round(Reading),
}

/// The reading of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// Bytes queued; all variants except the paper's count whole segments.
    pub(crate) waiting: Bytes,
    /// The minimum RTT (`baseRTT`).
    pub(crate) base: Span,
    /// The RTT that represents the round.
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

    /// Adds an ACK to the measurement. At the end of a round returns the reading of the round, if there is one: the
    /// window limited sending, and there were enough samples.
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
    /// Returns the window that would leave nothing queued, plus one segment (Linux `target_cwnd + 1`).
    pub(crate) fn target(&self, window: Bytes, mss: Bytes) -> Bytes {
        let target = wide::product(window.packets(mss), self.base.nanos()) / self.rtt.nanos().max(1);
        window.min(mss * target.saturating_add(1))
    }
}
