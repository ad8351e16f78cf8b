//! HyStart as its paper defines it (Ha and Rhee, "Taming the elephants: new TCP slow start", Algorithm 1): slow start that exits when the
//! ACK train of a round is as long as the forward path, or when the first delays of a round exceed those of the
//! previous round.
//!
//! HyStart has three variants, each a separate scheme (choice-12): this one, [`crate::schemes::HyStartLinux`] and
//! [`crate::schemes::HyStartPlus`].
//!
//! Correction: the printed algorithm counts samples in `samplingCnt` and tests `cnt`, so its second exit would never
//! fire; here one counter does both. Times are whole jiffies of a clock of `hz` ticks a second, as in the paper's
//! Linux: RTTs are rounded up (`usecs_to_jiffies`), and so is the spacing of 2 ms (`msecs_to_jiffies`).

use core::num::{NonZeroU32, Wrapping};

use crate::interest::Interest;
use crate::interface::{Ack, Cause, Event, Origin, Path, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::units::{Span, Time};

/// Algorithm 1: nSampling.
const SAMPLES: u8 = 8;
/// Section 4.2.1: ACKs at most this far apart belong to one train.
const SPACING: Span = Span::from_millis(2);
/// Algorithm 1: the bounds of η, in jiffies.
const ETA: core::ops::RangeInclusive<u32> = 2..=8;

/// HyStart.
#[derive(Clone, Debug)]
pub struct HyStart {
    slow: SlowStart,
    clock: Clock,
    /// Minimum RTT since the last timeout (`dMin`).
    least_rtt: Option<Ticks>,
    /// Minimum or mean early RTT of the previous round (`lastRTT`).
    last_rtt: Option<Ticks>,
    /// Minimum of this round's early samples, or their sum (`curRTT`).
    current: u32,
    round_start: Jiffies,
    /// Arrival of the newest ACK of the train (`lastJiffies`).
    train_end: Jiffies,
    /// Algorithm 1: `low_ssthresh`, in segments.
    low_window: u16,
    /// The number of early samples in this round (`cnt`).
    samples: u8,
    exits: Exits,
    statistic: Statistic,
    /// The exit that was found, latched until the window reaches the low window.
    found: Option<Cause>,
}

/// An instant in ticks of the clock, modulo 2^32.
type Jiffies = Wrapping<u32>;
/// A length of time in ticks, rounded up, at least one.
type Ticks = NonZeroU32;

/// The exits in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exits {
    Both,
    Train,
    Delay,
}

/// The statistic of a round's early samples: Algorithm 1 takes the minimum, the prose of section 4.2.2 the average.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Statistic {
    Minimum,
    Average,
}

const HZ: &str = "hz";
const STATISTIC: &str = "statistic";
const EXITS: &str = "exits";
const LOW_WINDOW: &str = "low-window";

pub(crate) const HYSTART: SchemeEntry = SchemeEntry {
    name: "hystart",
    summary: "slow start that leaves at a long ACK train or a rise in delay",
    source: "Ha and Rhee, Taming the elephants: new TCP slow start (Computer Networks, 2011), Algorithm 1",
    law: "reno",
    parameters: &[
        Parameter {
            name: HZ,
            kind: Kind::Count { min: 1, max: u16::MAX as u64 },
            default: Value::Count(1_000),
            help: "ticks a second of the clock in which all its times are whole",
        },
        Parameter {
            name: STATISTIC,
            kind: Kind::Word(&["minimum", "average"]),
            default: Value::Word("minimum"),
            help: "what a round's first 8 delays are reduced to: Algorithm 1's minimum or section 4.2.2's average",
        },
        Parameter {
            name: EXITS,
            kind: Kind::Word(&["both", "train", "delay"]),
            default: Value::Word("both"),
            help: "which exits are in use",
        },
        Parameter {
            name: LOW_WINDOW,
            kind: Kind::Count { min: 1, max: u16::MAX as u64 },
            default: Value::Count(16),
            help: "segments below which it does not leave (low_ssthresh)",
        },
    ],
    needs: NEEDS.using(&[Ability::DenseAcks]),
    make: |initial, settings| HyStart::from_numbers(initial, &settings.numbers()).into(),
};

impl HyStart {
    /// Returns HyStart with the paper's constants and a clock of 1000 Hz.
    pub fn new(initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            clock: Clock { hz: 1_000 },
            least_rtt: None,
            last_rtt: None,
            current: 0,
            round_start: Jiffies::default(),
            train_end: Jiffies::default(),
            low_window: 16,
            samples: 0,
            exits: Exits::Both,
            statistic: Statistic::Minimum,
            found: None,
        }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        Self {
            clock: Clock {
                hz: u16::try_from(numbers.count(const { place(HYSTART.parameters, HZ) }))
                    .unwrap_or(u16::MAX)
                    .max(1),
            },
            low_window: u16::try_from(numbers.count(const { place(HYSTART.parameters, LOW_WINDOW) }))
                .unwrap_or(u16::MAX),
            statistic: if numbers.is(const { choice(HYSTART.parameters, STATISTIC, "average") }) {
                Statistic::Average
            } else {
                Statistic::Minimum
            },
            exits: if numbers.is(const { choice(HYSTART.parameters, EXITS, "train") }) {
                Exits::Train
            } else if numbers.is(const { choice(HYSTART.parameters, EXITS, "delay") }) {
                Exits::Delay
            } else {
                Exits::Both
            },
            ..Self::new(initial)
        }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if ack.round_ended && self.found.is_none() {
            self.start_round(path.now);
        }
        let rtt = ack.rtt.map(|sample| self.clock.ticks_of(sample.rtt));
        if let Some(rtt) = rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        if self.found.is_none() {
            // A later test overrides an earlier one, as in Algorithm 1.
            self.found = self.delay_rose(rtt).then_some(Cause::Delay).or_else(|| {
                let long = self.train_is_long(path.now);
                long.then_some(Cause::AckTrain)
            });
        }
        match self.found {
            Some(cause) if self.slow.window() >= path.mss * u64::from(self.low_window) => {
                self.slow.leave(cause)
            }
            _ => self.slow.grow(ack.slow_start_growth(path.mss)),
        }
    }

    fn start_round(&mut self, now: Time) {
        self.round_start = self.clock.at(now);
        self.train_end = self.round_start;
        self.last_rtt = self.early_rtt();
        self.current = 0;
        self.samples = 0;
    }

    /// Returns the early round-trip time of this round so far.
    fn early_rtt(&self) -> Option<Ticks> {
        let samples = u32::from(self.samples);
        match self.statistic {
            Statistic::Minimum => Ticks::new(self.current),
            Statistic::Average => Ticks::new(self.current.checked_div(samples)?),
        }
    }

    /// Checks for the first exit: closely spaced ACKs since the round began span half the minimum RTT. An ACK that
    /// arrives after the spacing ends the train permanently. That also filters a delayed last ACK (section 4.2.1).
    fn train_is_long(&mut self, now: Time) -> bool {
        let now = self.clock.at(now);
        if self.exits == Exits::Delay || (now - self.train_end).0 > self.clock.ticks_of(SPACING).get() {
            return false;
        }
        self.train_end = now;
        let train = u64::from((now - self.round_start).0);
        self.least_rtt.is_some_and(|min| train * 2 >= u64::from(min.get()))
    }

    /// Checks for the second exit: the early delays of this round exceed those of the previous round by η.
    fn delay_rose(&mut self, rtt: Option<Ticks>) -> bool {
        if let Some(rtt) = rtt.filter(|_| self.samples < SAMPLES) {
            self.current = match self.statistic {
                Statistic::Minimum if self.samples > 0 => self.current.min(rtt.get()),
                Statistic::Minimum => rtt.get(),
                Statistic::Average => self.current.saturating_add(rtt.get()),
            };
            self.samples += 1;
        }
        let enough = self.samples >= SAMPLES && self.exits != Exits::Train;
        match (self.early_rtt(), self.last_rtt) {
            (Some(current), Some(last)) if enough => current.get() >= last.get().saturating_add(eta(last)),
            _ => false,
        }
    }

    /// Resets the state as in Algorithm 1: a timeout forgets `dMin` and found, and keeps `lastRTT` and `curRTT`. The
    /// slow start after the timeout begins a round, which moves `curRTT` to `lastRTT` like every round. A new path
    /// forgets both.
    fn rearm(&mut self, origin: Origin) {
        self.least_rtt = None;
        self.found = None;
        if matches!(origin, Origin::Fresh | Origin::PathChange) {
            (self.current, self.samples) = (0, 0);
        }
    }
}

/// Returns η = min(8, max(2, ⌈`lastRTT` / 16⌉)), in jiffies (Algorithm 1).
fn eta(last: Ticks) -> u32 {
    last.get().div_ceil(16).clamp(*ETA.start(), *ETA.end())
}

impl Startup for HyStart {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(_) | Event::Established { .. } => {
                if let Event::Begin(origin) = event {
                    self.rearm(*origin);
                }
                self.start_round(path.now);
                self.slow.on(event, path)
            }
            left_to_slow_start!(Event::SpuriousLoss) => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.slow.plan(path)
    }
}

/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// A clock that ticks `hz` times per second. Whole seconds and the remainder are converted separately, so that each
/// product fits 64 bits.
#[derive(Clone, Copy, Debug)]
struct Clock {
    hz: u16,
}

impl Clock {
    /// Returns the ticks that have passed at `time`, modulo 2^32.
    #[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
    fn at(self, time: Time) -> Jiffies {
        let (seconds, nanos) = (time.nanos() / SECOND, time.nanos() % SECOND);
        let hz = u64::from(self.hz);
        Wrapping((seconds * hz + nanos * hz / SECOND) as u32)
    }

    fn ticks_of(self, span: Span) -> Ticks {
        let (seconds, nanos) = (span.nanos() / SECOND, span.nanos() % SECOND);
        let hz = u64::from(self.hz);
        let ticks = seconds * hz + (nanos * hz).div_ceil(SECOND);
        Ticks::new(u32::try_from(ticks).unwrap_or(u32::MAX)).unwrap_or(Ticks::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        #[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
        fn ticks_are_those_of_exact_arithmetic(bits: u64, shift in 0..u64::BITS, hz: u16) {
            let (nanos, clock) = ((bits >> shift).min(u64::MAX - 1), Clock { hz });
            let product = u128::from(nanos) * u128::from(hz);
            prop_assert_eq!(clock.at(Time::from_nanos(nanos)).0, (product / 1_000_000_000) as u32);
            let ticks = product.div_ceil(1_000_000_000).clamp(1, u128::from(u32::MAX));
            prop_assert_eq!(u128::from(clock.ticks_of(Span::from_nanos(nanos)).get()), ticks);
        }
    }

    #[test]
    fn eta_is_one_sixteenth_of_the_delay_between_2_and_8_jiffies() {
        let eta_of = |millis| Ticks::new(millis).map(eta);
        assert_eq!([16, 20, 32, 33, 100, 200, 300].map(eta_of), [2, 2, 2, 3, 7, 8, 8].map(Some));
    }

    #[test]
    fn at_250_hz_two_milliseconds_are_one_jiffy_of_four() {
        let clock = Clock { hz: 250 };
        assert_eq!(clock.ticks_of(SPACING).get(), 1);
        assert_eq!(clock.ticks_of(Span::from_millis(100)).get(), 25);
        assert_eq!(clock.at(Time::from_nanos(7_999_999)).0, 1);
    }

    #[test]
    fn the_clock_wraps_with_time() {
        // 2^32 ticks are 4 294 967 s and 296 ms.
        let clock = Clock { hz: 1_000 };
        let early = clock.at(Time::ZERO + Span::from_secs(4_294_967));
        let late = clock.at(Time::ZERO + Span::from_secs(4_294_968));
        assert!(late.0 < early.0);
        assert_eq!((late - early).0, 1_000);
    }
}
