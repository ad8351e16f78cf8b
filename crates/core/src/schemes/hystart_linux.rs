//! HyStart as Linux has it since 5.6 (`net/ipv4/tcp_cubic.c`, with the round detection of 6.14): the paper's idea
//! with other constants, in microseconds, and aware of pacing.
//!
//! Differences from the paper. The delay is compared with the least ever seen, not with the last round's. The least
//! of all samples of the round is taken, and judged from the ninth on. The threshold is an eighth of the least delay,
//! between 4 and 16 ms. A train must be longer than half of the least delay and a cushion, or than all of that when
//! packets are paced. Below `hystart_low_window` nothing is tested, so nothing is latched.

use crate::hears::Hears;
use crate::micros::{self, Instant, Micros};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::seam::{Ack, Cause, Event, Path, Plan, Startup, Step};
use crate::units::{Bytes, Span, Time};

/// `HYSTART_MIN_SAMPLES`.
const MIN_SAMPLES: u8 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`, in microseconds.
const THRESHOLD: core::ops::RangeInclusive<u32> = 4_000..=16_000;
/// `hystart_low_window`, in segments.
const LOW_WINDOW: u16 = 16;
/// `hystart_ack_delta_us`, in microseconds.
const ACK_DELTA: u16 = 2_000;
/// `hystart_ack_delay`: four of the largest bursts that segmentation offload sends at once.
const BURSTS: Bytes = Bytes::new(4 * 65_536);
/// `hystart_ack_delay`: the longest time that those bursts count for.
const MOST_CUSHION: Span = Span::from_millis(1);

/// Linux's HyStart.
#[derive(Clone, Debug)]
pub struct HyStartLinux {
    slow: SlowStart,
    /// `delay_min`: the least round-trip time since the last timeout.
    delay_min: Option<Micros>,
    /// `curr_rtt`: the least round-trip time of this round.
    current: Option<Micros>,
    round_start: Instant,
    /// `last_ack`: when the newest ACK of the train came.
    last_ack: Instant,
    low_window: u16,
    /// In microseconds.
    ack_delta: u16,
    samples: u8,
    detects: Detects,
    paced: bool,
    /// The train stands for a train 2^n times as long: see [`Self::train_is_a_part`].
    train_shift: u8,
}

/// `hystart_detect`.
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
    summary: "slow start that leaves at a long ACK train or a delay above the least, as Linux does",
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
            kind: Kind::Count { least: 1, most: u16::MAX as u64 },
            default: Value::Count(LOW_WINDOW as u64),
            help: "segments below which nothing is tested (hystart_low_window)",
        },
        Parameter {
            name: DELTA,
            kind: Kind::Span { least: Span::ZERO, most: Span::from_millis(65) },
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
    /// Linux's HyStart with its default constants, not paced.
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

    /// Linux's HyStart, paced at twice `cwnd / srtt`.
    pub fn paced(initial: Initial) -> Self {
        Self { slow: SlowStart::paced(initial), paced: true, ..Self::new(initial) }
    }

    /// The scheme with these parameters, in the order of its entry in the registry.
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

    /// `cubictcp_acked`, then growth. An ACK that gives no sample is not tested.
    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        self.test(ack, path).unwrap_or_else(|| self.grow(ack, path))
    }

    /// `tcp_slow_start`: the window grows by all packets that the ACK newly delivered, in whole segments, up to the
    /// threshold. Linux counts segments without RFC 5681's bound of one an ACK. A segment that is acknowledged in
    /// part counts once it is whole.
    pub(super) fn grow(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if ack.growth.is_zero() {
            return Step::Stay;
        }
        let delivered = path.mss * ack.whole_packets();
        let room = self.slow.threshold().map_or(Bytes::MAX, |threshold| threshold - self.slow.window());
        self.slow.grow(delivered.min(room))
    }

    /// Says that the train is 1 / 2^`shift` of the round's packets, for a scheme that speeds this one up.
    pub(super) fn train_is_a_part(&mut self, shift: u8) {
        self.train_shift = shift;
    }

    /// The slow start inside, for a scheme that speeds this one up.
    pub(super) fn slow_start(&mut self) -> &mut SlowStart {
        &mut self.slow
    }

    /// When the round began, in microseconds.
    pub(super) fn round_start(&self) -> Instant {
        self.round_start
    }

    /// Runs the tests without growth, and returns the exit, if one fires.
    pub(super) fn test(&mut self, ack: &Ack<'_>, path: &Path) -> Option<Step> {
        if ack.round_ended {
            self.start_round(path.now);
        }
        if let Some(sample) = ack.rtt {
            let rtt = micros::of(sample.rtt);
            let least = self.delay_min.map_or(rtt, |least| least.min(rtt));
            self.delay_min = Some(least);
            return self.update(rtt, least, path).map(|cause| self.slow.leave(cause));
        }
        None
    }

    /// `bictcp_hystart_reset`.
    fn start_round(&mut self, now: Time) {
        self.round_start = micros::at(now);
        self.last_ack = self.round_start;
        self.current = None;
        self.samples = 0;
    }

    /// `hystart_update`: both tests. If both fire, the train counts as the cause.
    fn update(&mut self, rtt: Micros, least: Micros, path: &Path) -> Option<Cause> {
        if self.slow.window() < path.mss * u64::from(self.low_window) {
            return None;
        }
        let long = self.train_is_long(least, path);
        let rose = self.delay_rose(rtt, least);
        long.then_some(Cause::AckTrain).or(rose.then_some(Cause::Delay))
    }

    /// Runs the delay test alone, for an ACK that belongs to no train, and returns the exit, if it fires.
    pub(super) fn test_delay(&mut self, ack: &Ack<'_>, path: &Path) -> Option<Step> {
        let detects = core::mem::replace(&mut self.detects, Detects::Delay);
        let exit = self.test(ack, path);
        self.detects = detects;
        exit
    }

    fn train_is_long(&mut self, least: Micros, path: &Path) -> bool {
        let now = micros::at(path.now);
        if self.detects == Detects::Delay || (now - self.last_ack).0 > u32::from(self.ack_delta) {
            return false;
        }
        self.last_ack = now;
        let whole = least.saturating_add(self.cushion(path)).get();
        // Pacing may spread the packets over half of the round trip.
        let threshold = if self.paced { whole } else { whole / 2 };
        let train = u64::from((now - self.round_start).0) << self.train_shift;
        train > u64::from(threshold)
    }

    /// `hystart_ack_delay`, in microseconds. Linux keeps a pacing rate even for a sender that does not pace. Here the
    /// rate is always twice the window a round trip, which is Linux's rate below half of ssthresh.
    fn cushion(&self, path: &Path) -> u32 {
        let cushion = path.srtt.map_or(Span::ZERO, |srtt| {
            srtt.scale(BURSTS.get(), (self.slow.window() * 2).get()).min(MOST_CUSHION)
        });
        u32::try_from(cushion.nanos() / 1_000).unwrap_or(0)
    }

    fn delay_rose(&mut self, rtt: Micros, least: Micros) -> bool {
        if self.detects == Detects::Train {
            return false;
        }
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        current > least.saturating_add(threshold(least))
    }
}

/// `HYSTART_DELAY_THRESH(delay_min >> 3)`, in microseconds.
fn threshold(least: Micros) -> u32 {
    (least.get() >> 3).clamp(*THRESHOLD.start(), *THRESHOLD.end())
}

impl Startup for HyStartLinux {
    const HEARS: Hears<Self> = Hears::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(_) | Event::Established { .. } => {
                // `cubictcp_state`: a timeout forgets the least delay.
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
    fn the_threshold_is_an_eighth_of_the_least_delay_between_4_and_16_milliseconds() {
        let of = |millis: u32| Micros::new(millis * 1_000).map(threshold);
        assert_eq!([20, 100, 200].map(of), [4_000, 12_500, 16_000].map(Some));
    }
}
