//! Vegas's start-up (Brakmo and Peterson, 1995): slow start that stops when segments queue in the network.
//!
//! Diff = cwnd / baseRTT - cwnd / RTT, times baseRTT, is the number of queued segments. More than γ of them end
//! start-up. The papers' version doubles the window only every other RTT, so that growth does not distort the
//! comparison; Linux doubles every RTT.
//!
//! As in ns-2 2.35, the first round ends with the first ACK for data, a doubling follows, and the exit reduces the
//! window by an eighth. Differences from ns-2: `ssthresh` becomes the window at the exit, not 2 segments, so that a
//! restart after idle does not creep; growth requires that the window was the limit, as in every scheme here (ns-2:
//! `cwnd - flight <= 2`); the law responds to a loss.

use crate::interest::Interest;
use crate::interface::{Ack, Cause, Event, Exit, Origin, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::Bytes;
use crate::vegas::{Gauge, Reading, Shown, Variant};

/// γ in segments: one, in the papers, ns-2 and Linux.
const GAMMA: u8 = 1;

/// Vegas's start-up.
#[derive(Clone, Debug)]
pub struct VegasStart {
    slow: SlowStart,
    gauge: Gauge,
    gamma: u8,
    /// Whether this round doubles the window. With Linux every round does.
    doubles: bool,
    /// Whether one segment is sent first, and the first ACK for data opens the initial window. `VegasTcpAgent::recv`
    /// of ns-2 2.35 opens it (`delay_growth_`, which is its default) when `last_ack_ == 0`; at the handshake's ACK
    /// `last_ack_` is -1.
    late: bool,
}

const VARIANT: &str = "variant";
const GAMMA_NAME: &str = "gamma";

pub(crate) const VEGAS: SchemeEntry = SchemeEntry {
    name: "vegas",
    summary: "slow start, every other round trip, until more than gamma segments wait in the network",
    source: "Brakmo and Peterson, TCP Vegas (JSAC 1995), as in ns-2 2.35; variant: Linux tcp_vegas.c",
    law: "vegas",
    parameters: &[
        Parameter {
            name: VARIANT,
            kind: Kind::Word(&["ns2-iw", "ns2", "paper", "linux"]),
            default: Value::Word("ns2-iw"),
            help: "ns2-iw: a round's mean delay, rounded, every other round; ns2: so, but one segment is sent first, then \
                   the initial window and one; paper: not rounded; linux: its minimum, truncated, every round",
        },
        Parameter {
            name: GAMMA_NAME,
            kind: Kind::Count { min: 0, max: u8::MAX as u64 },
            default: Value::Count(GAMMA as u64),
            help: "it leaves when more than this many segments wait",
        },
    ],
    needs: NEEDS.and(Needs::of(&[Ability::SegmentCounts])),
    make: |initial, settings| VegasStart::from_numbers(initial, &settings.numbers()).into(),
};

impl VegasStart {
    /// Returns Vegas's start-up in one of its variants, with γ = 1.
    pub fn new(initial: Initial, variant: Variant) -> Self {
        Self {
            slow: SlowStart::new(initial),
            gauge: Gauge::new(variant),
            gamma: GAMMA,
            doubles: variant == Variant::Linux,
            late: false,
        }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let variant = if numbers.is(const { choice(VEGAS.parameters, VARIANT, "linux") }) {
            Variant::Linux
        } else if numbers.is(const { choice(VEGAS.parameters, VARIANT, "paper") }) {
            Variant::Paper
        } else {
            Variant::Ns2
        };
        let gamma =
            u8::try_from(numbers.count(const { place(VEGAS.parameters, GAMMA_NAME) })).unwrap_or(u8::MAX);
        let late = numbers.is(const { choice(VEGAS.parameters, VARIANT, "ns2") });
        Self { gamma, late, ..Self::new(initial, variant) }
    }

    fn established(&mut self, event: &Event<'_>, path: &Path) -> Step {
        let step = self.slow.on(event, path);
        if self.late && matches!(step, Step::Stay) {
            self.slow.set_window(path.mss);
        }
        step
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if self.late && !ack.advanced.is_zero() {
            self.late = false;
            self.slow.set_window(self.slow.initial(path));
        }
        let shown = self.gauge.on(ack, path);
        if self.gauge.variant() != Variant::Linux {
            self.doubles ^= ack.round_ended;
            // Only the reading of a round in which the window did not grow is valid.
            if !self.doubles {
                return Step::Stay;
            }
        }
        match shown {
            Shown::Round(reading) if reading.waiting > path.mss * u64::from(self.gamma) => {
                self.leave(reading, path.mss)
            }
            _ => self.slow.grow(self.growth(ack, path.mss)),
        }
    }

    /// Returns the growth of an ACK: at most one segment (RFC 5681 section 3.1). Linux's `tcp_slow_start` counts all
    /// bytes acknowledged, up to the threshold, so that a round doubles under delayed ACKs too.
    fn growth(&self, ack: &Ack<'_>, mss: Bytes) -> Bytes {
        match self.gauge.variant() {
            Variant::Ns2 | Variant::Paper => ack.slow_start_growth(mss),
            Variant::Linux => match self.slow.threshold() {
                Some(threshold) => ack.growth.min(threshold - self.slow.window()),
                None => ack.growth,
            },
        }
    }

    fn leave(&self, reading: Reading, mss: Bytes) -> Step {
        let window = self.slow.window();
        let left = match self.gauge.variant() {
            Variant::Ns2 | Variant::Paper => window - window / 8,
            Variant::Linux => reading.target(window, mss),
        };
        // Both variants keep at least two segments. `Bytes32` bounds the window as in every scheme's state.
        let window = Bytes32::from(left.max(mss * 2)).wide();
        Step::Exit(Exit {
            cause: Cause::Delay,
            learned: PathEstimate { window, ssthresh: Some(window), rate: None },
        })
    }

    fn begin(&mut self, origin: Origin) {
        if origin == Origin::PathChange {
            self.gauge.forget();
        }
        self.late &= origin == Origin::Fresh;
        self.gauge.clear();
        // After a timeout the round lasts until all data sent before the timeout is repaired; growth does not wait
        // for that.
        let after_timeout = matches!(origin, Origin::AfterTimeout { .. });
        self.doubles = after_timeout || self.gauge.variant() == Variant::Linux;
    }
}

impl Startup for VegasStart {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(origin) => {
                self.begin(*origin);
                self.slow.on(event, path)
            }
            Event::Established { syn_lost, .. } => {
                self.late &= !syn_lost;
                self.established(event, path)
            }
            left_to_slow_start!(Event::SpuriousLoss) => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.slow.plan(path)
    }
}
