//! What both halves of Vegas measure: how many segments wait in the network, from how much longer a round trip
//! takes than the shortest.
//!
//! Two readings are alive and differ tenfold in where start-up ends (choice-14). The port in ns-2 2.35
//! (`tcp-vegas.cc`), which the papers used, takes the mean of a round and rounds to whole segments; Linux
//! (`tcp_vegas.c`) takes the least of a round, divides by the shortest delay and truncates. The formula as Brakmo and
//! Peterson print it rounds nothing; else that variant is ns-2's.
//!
//! ns-2's reading is as it is: what it expects in flight is what is out after the ACK and a segment, what it finds is
//! what was sent in the round; ACKs that a receiver delayed count. A receiver's timer then looks like a queue, but the
//! base is as much too long whenever a round ends in which at most one segment was sent. For Linux an ACK for fewer
//! segments than others was sent by the timer and its sample is left out, as are those made while a loss is repaired.

use crate::seam::{Ack, Path};
use crate::units::{Bytes, Span};
use crate::wide;

/// Linux compares only with more samples than this (`vegas->cntRTT <= 2`), and else does as Reno.
const TOO_FEW: u32 = 2;

/// Whose Vegas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Variant {
    /// The port in ns-2, which the papers' figures come from.
    #[default]
    Ns2,
    /// The same without its rounding.
    Paper,
    /// Linux.
    Linux,
}

/// A round's delays against the shortest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    /// `baseRTT`: the shortest round trip of data. The handshake's packets are shorter and do not count.
    base: Option<Span>,
    /// This round: the sum of its samples (ns-2), or the least of them (Linux).
    round: Span,
    samples: u32,
    variant: Variant,
    /// Whether the receiver delays ACKs.
    delayed: bool,
}

/// What an ACK shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// Nothing: the round goes on, or nothing can be said of it.
    Nothing,
    /// Linux: a round ended that had too few samples. It grows as Reno then, by this ACK.
    TooFew,
    /// What the round that it ended was like.
    Round(Reading),
}

/// What a round showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// How much waits; all but the paper's variant count whole segments.
    pub(crate) waiting: Bytes,
    /// The shortest round trip.
    pub(crate) base: Span,
    /// The round's.
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

    /// Forgets everything: the path is another one.
    pub(crate) fn forget(&mut self) {
        *self = Self::new(self.variant);
    }

    /// Takes in an ACK; at the end of a round says what it showed, if anything can be said: the window was what limited
    /// sending, and there were samples, or Linux's answer to having too few.
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
                // What ns-2 expects to be in flight counts the segment after the one acknowledged.
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
