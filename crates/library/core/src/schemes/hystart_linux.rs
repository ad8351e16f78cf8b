//! HyStart as in Linux since 5.6 (`net/ipv4/tcp_cubic.c`, with the round detection of 6.14): the paper's idea with
//! other constants, in microseconds, and aware of pacing.
//!
//! Differences from the paper. The delay is compared with the minimum ever seen, not with that of the previous round.
//! The minimum of all samples of the round is used, and judged from the ninth sample on. The threshold is an eighth
//! of the minimum delay, between 4 and 16 ms. A train must be longer than half of the minimum delay plus a cushion,
//! or than the whole minimum delay plus the cushion when packets are paced. Below `hystart_low_window` nothing is
//! tested, so nothing is latched.

use crate::interest::Interest;
use crate::interface::{Ack, Cause, Event, Path, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::u32_micros::{self, Instant, Micros};
use crate::units::{Bytes, Span, Time};

/// The number of samples of a round before its delay is judged (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u8 = 8;
/// The bounds of the delay increase that ends slow start, in microseconds (`HYSTART_DELAY_MIN` and
/// `HYSTART_DELAY_MAX`).
const THRESHOLD: core::ops::RangeInclusive<u32> = 4_000..=16_000;
/// `hystart_low_window`, in segments.
const LOW_WINDOW: u16 = 16;
/// `hystart_ack_delta_us`, in microseconds.
const ACK_DELTA: u16 = 2_000;
/// `hystart_ack_delay`: four of the largest bursts that segmentation offload sends at once.
const BURSTS: Bytes = Bytes::new(4 * 65_536);
/// `hystart_ack_delay`: the longest time that those bursts count for.
const MAX_CUSHION: Span = Span::from_millis(1);

/// Linux's HyStart.
#[derive(Clone, Debug)]
pub struct HyStartLinux {
    slow: SlowStart,
    /// `delay_min`: minimum RTT since the last timeout.
    delay_min: Option<Micros>,
    /// `curr_rtt`: minimum RTT of this round.
    current: Option<Micros>,
    round_start: Instant,
    /// `last_ack`: when the newest ACK of the train came.
    last_ack: Instant,
    low_window: u16,
    /// The maximum gap between two ACKs of a train, in microseconds.
    ack_delta: u16,
    samples: u8,
    detects: Detects,
    paced: bool,
    /// The train represents a train 2^n times as long: see [`Self::train_is_a_part`].
    train_shift: u8,
}

/// The exits in use (`hystart_detect`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Detects {
    Both,
    Train,
    Delay,
}

const DETECT: &str = "detect";
const LOW: &str = "low-window";
const DELTA: &str = "ack-delta";
const PACED: &str = "paced";

pub(crate) const HYSTART_LINUX: SchemeEntry = SchemeEntry {
    name: "hystart-linux",
    summary: "slow start that leaves at a long ACK train or a delay above the minimum, as Linux does",
    source: "Linux net/ipv4/tcp_cubic.c, 6.14",
    law: "cubic",
    parameters: &[
        Parameter {
            name: DETECT,
            kind: Kind::Word(&["both", "train", "delay"]),
            default: Value::Word("both"),
            help: "which exits are in use (hystart_detect)",
        },
        Parameter {
            name: LOW,
            kind: Kind::Count { min: 1, max: u16::MAX as u64 },
            default: Value::Count(LOW_WINDOW as u64),
            help: "segments below which nothing is tested (hystart_low_window)",
        },
        Parameter {
            name: DELTA,
            kind: Kind::Span { min: Span::ZERO, max: Span::from_millis(65) },
            default: Value::Span(Span::from_micros(ACK_DELTA as u64)),
            help: "ACKs at most this far apart belong to one train (hystart_ack_delta_us)",
        },
        Parameter {
            name: PACED,
            kind: Kind::Word(&["no", "yes"]),
            default: Value::Word("no"),
            help: "whether packets are paced at twice cwnd / srtt; a train must then be twice as long",
        },
    ],
    needs: NEEDS.and(Needs::of(&[Ability::Rate, Ability::PacketCounts])).using(&[Ability::DenseAcks]),
    make: |initial, settings| HyStartLinux::from_numbers(initial, &settings.numbers()).into(),
};

impl HyStartLinux {
    /// Returns Linux's HyStart with its default constants, not paced.
    pub fn new(initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            delay_min: None,
            current: None,
            round_start: Instant::default(),
            last_ack: Instant::default(),
            low_window: LOW_WINDOW,
            ack_delta: ACK_DELTA,
            samples: 0,
            detects: Detects::Both,
            paced: false,
            train_shift: 0,
        }
    }

    /// Returns Linux's HyStart, paced at twice `cwnd / srtt`.
    pub fn paced(initial: Initial) -> Self {
        Self { slow: SlowStart::paced(initial), paced: true, ..Self::new(initial) }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let scheme = if numbers.is(const { choice(HYSTART_LINUX.parameters, PACED, "yes") }) {
            Self::paced(initial)
        } else {
            Self::new(initial)
        };
        Self {
            low_window: u16::try_from(numbers.count(const { place(HYSTART_LINUX.parameters, LOW) }))
                .unwrap_or(u16::MAX),
            ack_delta: u16::try_from(
                numbers.span(const { place(HYSTART_LINUX.parameters, DELTA) }).nanos() / 1_000,
            )
            .unwrap_or(u16::MAX),
            detects: if numbers.is(const { choice(HYSTART_LINUX.parameters, DETECT, "train") }) {
                Detects::Train
            } else if numbers.is(const { choice(HYSTART_LINUX.parameters, DETECT, "delay") }) {
                Detects::Delay
            } else {
                Detects::Both
            },
            ..scheme
        }
    }

    /// Updates the delays (`cubictcp_acked`), then grows the window. An ACK without a sample is not tested.
    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        self.test(ack, path).unwrap_or_else(|| self.grow(ack, path))
    }

    /// Widens the window by all packets that the ACK newly delivered, in whole segments, up to the threshold
    /// (`tcp_slow_start`). Linux counts segments without RFC 5681's limit of one per ACK. A partly acknowledged
    /// segment counts once all of it is acknowledged.
    pub(super) fn grow(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if ack.growth.is_zero() {
            return Step::Stay;
        }
        let delivered = path.mss * ack.whole_packets();
        let room = self.slow.threshold().map_or(Bytes::MAX, |threshold| threshold - self.slow.window());
        self.slow.grow(delivered.min(room))
    }

    /// Declares that the train is 1 / 2^`shift` of the round's packets, for a scheme that speeds this one up.
    pub(super) fn train_is_a_part(&mut self, shift: u8) {
        self.train_shift = shift;
    }

    /// Returns the slow start inside, for a scheme that speeds this one up.
    pub(super) fn slow_start(&mut self) -> &mut SlowStart {
        &mut self.slow
    }

    /// Returns the time at which the round began, in microseconds.
    pub(super) fn round_start(&self) -> Instant {
        self.round_start
    }

    /// Runs the tests without growth, and returns the exit, if one fires.
    pub(super) fn test(&mut self, ack: &Ack<'_>, path: &Path) -> Option<Step> {
        if ack.round_ended {
            self.start_round(path.now);
        }
        if let Some(sample) = ack.rtt {
            let rtt = u32_micros::of(sample.rtt);
            let min = self.delay_min.map_or(rtt, |min| min.min(rtt));
            self.delay_min = Some(min);
            return self.update(rtt, min, path).map(|cause| self.slow.leave(cause));
        }
        None
    }

    /// Begins a round (`bictcp_hystart_reset`).
    fn start_round(&mut self, now: Time) {
        self.round_start = u32_micros::at(now);
        self.last_ack = self.round_start;
        self.current = None;
        self.samples = 0;
    }

    /// Runs both tests (`hystart_update`). If both fire, the train counts as the cause.
    fn update(&mut self, rtt: Micros, min: Micros, path: &Path) -> Option<Cause> {
        if self.slow.window() < path.mss * u64::from(self.low_window) {
            return None;
        }
        let long = self.train_is_long(min, path);
        let rose = self.delay_rose(rtt, min);
        long.then_some(Cause::AckTrain).or(rose.then_some(Cause::Delay))
    }

    /// Runs the delay test alone, for an ACK that belongs to no train, and returns the exit, if it fires.
    pub(super) fn test_delay(&mut self, ack: &Ack<'_>, path: &Path) -> Option<Step> {
        let detects = core::mem::replace(&mut self.detects, Detects::Delay);
        let exit = self.test(ack, path);
        self.detects = detects;
        exit
    }

    fn train_is_long(&mut self, min: Micros, path: &Path) -> bool {
        let now = u32_micros::at(path.now);
        if self.detects == Detects::Delay || (now - self.last_ack).0 > u32::from(self.ack_delta) {
            return false;
        }
        self.last_ack = now;
        let whole = min.saturating_add(self.cushion(path)).get();
        // Pacing may spread the packets over half of the RTT.
        let threshold = if self.paced { whole } else { whole / 2 };
        let train = u64::from((now - self.round_start).0) << self.train_shift;
        train > u64::from(threshold)
    }

    /// Returns `hystart_ack_delay`, in microseconds. Linux stores a pacing rate even for a sender that does not pace.
    /// Here the rate is always two windows per RTT, which is Linux's rate below half of ssthresh.
    fn cushion(&self, path: &Path) -> u32 {
        let cushion = path.srtt.map_or(Span::ZERO, |srtt| {
            srtt.scale(BURSTS.get(), (self.slow.window() * 2).get()).min(MAX_CUSHION)
        });
        u32::try_from(cushion.nanos() / 1_000).unwrap_or(0)
    }

    fn delay_rose(&mut self, rtt: Micros, min: Micros) -> bool {
        if self.detects == Detects::Train {
            return false;
        }
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        current > min.saturating_add(threshold(min))
    }
}

/// Returns the increase of the delay that ends slow start, in microseconds (`HYSTART_DELAY_THRESH(delay_min >> 3)`).
fn threshold(min: Micros) -> u32 {
    (min.get() >> 3).clamp(*THRESHOLD.start(), *THRESHOLD.end())
}

impl Startup for HyStartLinux {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(_) | Event::Established { .. } => {
                // `cubictcp_state`: a timeout forgets the minimum delay.
                if matches!(event, Event::Begin(_)) {
                    self.delay_min = None;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_is_an_eighth_of_minimum_delay_between_4_and_16_ms() {
        let of = |millis: u32| Micros::new(millis * 1_000).map(threshold);
        assert_eq!([20, 100, 200].map(of), [4_000, 12_500, 16_000].map(Some));
    }
}
