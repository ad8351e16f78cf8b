//! SUSS, speeding up slow start (Arghavani, Zhang, Eyers and Arghavani, SIGCOMM 2024), by the rules of its Linux
//! patch: if slow start is predicted to double undisturbed in the next round, the window quadruples in this one.
//!
//! A round's packets are blue or red. The ACKs of the previous round's blue packets release the blue packets, so the
//! ACKs of those arrive as one train at the bottleneck's rate; the initial window is blue. When the blue train has
//! passed and the predictions hold, red packets fill the round up to four times the previous round, paced after the
//! blue ones:
//!
//! - In round 2, the first with ACKs, the minimum RTT must exceed 10 ms, and the train of the initial window must
//!   last less than a quarter of it; otherwise SUSS is off.
//! - In rounds 3 and 4 the train of the next round must fit the minimum RTT; it is predicted to grow by the same
//!   factor as from the previous round to this one. The delay, if it continues to grow as in the k rounds so far,
//!   must stay within an eighth of the minimum RTT: (k + 1) moRTT ≤ (k + 1) minRTT + k minRTT / 8, with moRTT the
//!   round's minimum.
//!
//! After r - 1 speed-ups the blue packets are 1 / 2^(r - 1) of a round. The red ones begin that share of the minimum
//! RTT after the start of the round, and are spread over the rest of it. Linux's HyStart runs too; the train that it
//! tests is the blue one, counted 2^(r - 1)-fold.
//!
//! The rules leave three things open. The train of a round is the measured blue train, counted 2^(r - 1)-fold, so
//! that the prediction is for the train of the whole round after the speed-up. k is the number of rounds with ACKs so
//! far, minus one, and delays count from the round's first ACK. ACKs of red packets widen the window only in rounds
//! without a speed-up, because the fourfold target already contains their growth. A window that the application or
//! the receiver limits is never sped up.

use core::num::Wrapping;

use crate::evidence::is_starved;
use crate::interface::{Ack, Event, Origin, Pacing, Path, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, place};
use crate::schemes::{HyStartLinux, Initial};
use crate::u32_micros::{self, Instant};
use crate::units::{Bytes, Span};

/// SUSS is off unless the minimum RTT exceeds this, in microseconds.
const MIN_RTT: u32 = 10_000;
/// Speed-ups happen before this round, and at most [`SPEED_UPS`] of them.
const LAST_ROUND: u8 = 5;
const SPEED_UPS: u8 = 3;

/// SUSS around Linux's HyStart.
#[derive(Clone, Debug)]
pub struct Suss {
    inner: HyStartLinux,
    /// Offsets modulo 2^32: the end of the previous round's blue data, the end of this round's blue data so far, and
    /// the start of this round's data.
    blue_end: u32,
    next_blue_end: u32,
    round_begin: u32,
    /// The length of the previous round's train, and the round's minimum RTT, in microseconds.
    train: u32,
    mo_rtt: u32,
    round: u8,
    speed_ups: u8,
    most_speed_ups: u8,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// ACKs of blue packets are arriving.
    Blue,
    /// The last blue ACK arrived, and there is no speed-up. The packets that this ACK released are still blue.
    Decided,
    /// A speed-up waits until the time for sending the blue packets is over.
    Guard,
    /// The red packets are paced out.
    Red,
    /// Only ACKs of red packets come in.
    Rest,
}

const MOST: &str = "speed-ups";

pub(crate) const SUSS: SchemeEntry = SchemeEntry {
    name: "suss",
    summary: "slow start that quadruples in a round when the next is predicted to double undisturbed",
    source: "Arghavani et al., SUSS: improving TCP performance by speeding up slow-start (SIGCOMM 2024)",
    law: "cubic",
    parameters: &[Parameter {
        name: MOST,
        kind: Kind::Count { min: 0, max: SPEED_UPS as u64 },
        default: Value::Count(SPEED_UPS as u64),
        help: "the maximum of rounds that are sped up; with 0 it is hystart-linux",
    }],
    needs: crate::schemes::HYSTART_LINUX
        .needs
        .and(Needs::of(&[Ability::Sends, Ability::LateTimer]))
        .using(&[Ability::Timer]),
    make: |initial, settings| Suss::from_numbers(initial, &settings.numbers()).into(),
};

impl Suss {
    /// Returns SUSS with the patch's constants.
    pub fn new(initial: Initial) -> Self {
        Self {
            inner: HyStartLinux::new(initial),
            blue_end: 0,
            next_blue_end: 0,
            round_begin: 0,
            train: 0,
            mo_rtt: 0,
            round: 1,
            speed_ups: 0,
            most_speed_ups: SPEED_UPS,
            stage: Stage::Blue,
        }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let most_speed_ups =
            u8::try_from(numbers.count(const { place(SUSS.parameters, MOST) })).unwrap_or(SPEED_UPS);
        Self { most_speed_ups, ..Self::new(initial) }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if ack.round_ended {
            self.start_round(path);
        } else if self.stage == Stage::Decided {
            self.stage = Stage::Rest;
        }
        if let Some(sample) = ack.rtt {
            self.mo_rtt = self.mo_rtt.min(u32_micros::of(sample.rtt).get());
        }
        let exit = match self.stage {
            // Only blue ACKs make a train.
            Stage::Blue => self.inner.test(ack, path),
            _ => self.inner.test_delay(ack, path),
        };
        if let Some(exit) = exit {
            return exit;
        }
        let step = match self.stage {
            Stage::Guard | Stage::Red => Step::Stay,
            Stage::Blue | Stage::Decided | Stage::Rest => self.inner.grow(ack, path),
        };
        if step == Step::Stay && self.stage == Stage::Blue && is_at_or_after(low(path.una), self.blue_end) {
            self.end_train(ack, path);
        }
        step
    }

    fn start_round(&mut self, path: &Path) {
        self.round = self.round.saturating_add(1);
        self.blue_end = self.next_blue_end;
        self.round_begin = low(path.nxt);
        self.next_blue_end = self.round_begin;
        self.mo_rtt = u32::MAX;
        self.stage = Stage::Blue;
        self.inner.train_is_a_part(self.speed_ups);
    }

    /// Handles the last blue ACK: decides to speed up, not to, or never to.
    fn end_train(&mut self, ack: &Ack<'_>, path: &Path) {
        let blue = (u32_micros::at(path.now) - self.inner.round_start()).0;
        let train = blue.saturating_mul(1 << self.speed_ups);
        let before = core::mem::replace(&mut self.train, train);
        let min = path.min_rtt.map_or(0, |rtt| u32_micros::of(rtt).get());
        if self.round == 2 && !is_short(train, min) {
            self.most_speed_ups = 0;
        }
        let predicted = self.round == 2
            || train_fits(train, before, min) && delay_fits(self.mo_rtt, min, self.round.saturating_sub(2));
        let allowed = self.speed_ups < self.most_speed_ups && self.round < LAST_ROUND;
        let full = !ack.growth.is_zero() && !is_starved(ack, path);
        if predicted && allowed && full {
            self.speed_ups += 1;
            self.stage = Stage::Guard;
        } else {
            self.stage = Stage::Decided;
        }
    }

    /// Widens the window to that of a fourfold round once the guard is over, and starts the red packets.
    fn start_red(&mut self, path: &Path) -> Step {
        if self.stage != Stage::Guard || self.to_red(path).is_some_and(|left| !left.is_zero()) {
            return Step::Stay;
        }
        self.stage = Stage::Red;
        let slow = self.inner.slow_start();
        let window = slow.window();
        let blue = u64::from(self.next_blue_end.wrapping_sub(self.round_begin));
        let target = Bytes::new(blue << self.speed_ups);
        slow.grow(target - window)
    }

    /// Returns the remaining guard time: the blue packets' share of the minimum RTT, from the round's start.
    fn to_red(&self, path: &Path) -> Option<Span> {
        let guard = u32_micros::of(path.min_rtt?).get() >> self.speed_ups;
        let passed = (u32_micros::at(path.now) - self.inner.round_start()).0;
        Some(Span::from_micros(u64::from(guard.saturating_sub(passed))))
    }

    /// Returns the pacing of the red packets: blue (2^(r - 1) - 1) over the rest of the minimum RTT.
    fn red_pacing(&self, path: &Path) -> Option<Pacing> {
        let blue = Bytes::new(u64::from(self.next_blue_end.wrapping_sub(self.round_begin)));
        let red = blue * ((1 << self.speed_ups) - 1);
        let min = path.min_rtt?;
        let span = min - min.scale(1, 1 << self.speed_ups);
        let rate = red.scale(path.wire.get(), path.mss.get()).per(span).filter(|rate| !rate.is_zero())?;
        Some(Pacing::Rate { rate, burst: path.wire })
    }
}

/// Returns whether the train of the initial window is shorter than a quarter of the minimum RTT, and the minimum RTT
/// exceeds [`MIN_RTT`].
fn is_short(train: u32, min: u32) -> bool {
    min > MIN_RTT && u64::from(train) * 4 < u64::from(min)
}

/// Returns whether 2 μ Δt ≤ minRTT, with μ = Δt / (2 Δt of the previous round).
fn train_fits(train: u32, before: u32, min: u32) -> bool {
    let squared = u64::from(train) * u64::from(train);
    squared <= u64::from(min) * u64::from(before.max(1))
}

/// Returns whether (k + 1) moRTT ≤ (k + 1) minRTT + k minRTT / 8.
fn delay_fits(mo_rtt: u32, min: u32, k: u8) -> bool {
    let (mo_rtt, min, k) = (u64::from(mo_rtt), u64::from(min), u64::from(k));
    8 * (k + 1) * mo_rtt <= (8 * (k + 1) + k) * min
}

#[expect(clippy::cast_possible_truncation, reason = "offsets are kept modulo 2^32")]
fn low(offset: u64) -> u32 {
    offset as u32
}

fn is_at_or_after(a: u32, b: u32) -> bool {
    let difference: Instant = Wrapping(a) - Wrapping(b);
    difference.0 < u32::MAX / 2
}

impl Startup for Suss {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(origin) => {
                // SUSS speeds up the first slow start only.
                let max = if *origin == Origin::Fresh { self.most_speed_ups } else { 0 };
                (self.round, self.speed_ups, self.most_speed_ups) = (1, 0, max);
                (self.stage, self.train) = (Stage::Blue, 0);
                self.next_blue_end = low(path.nxt);
                self.inner.train_is_a_part(0);
                self.inner.on(event, path)
            }
            Event::Sent(sent) => {
                let blue = matches!(self.stage, Stage::Blue | Stage::Decided | Stage::Guard);
                if blue && !sent.retransmission {
                    self.next_blue_end = low(path.nxt + sent.bytes.get());
                }
                Step::Stay
            }
            Event::Woken => self.start_red(path),
            Event::Established { .. }
            | Event::Lost(_)
            | Event::Marked { .. }
            | Event::TimedOut { .. }
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::MssChanged => self.inner.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = self.inner.plan(path);
        match self.stage {
            Stage::Guard => Plan { wake: self.to_red(path).map(|left| path.now + left), ..plan },
            Stage::Red => match self.red_pacing(path) {
                Some(pacing) => Plan { pacing, ..plan },
                None => plan,
            },
            Stage::Blue | Stage::Decided | Stage::Rest => plan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_train_must_be_below_a_quarter_rtt_that_exceeds_10_ms() {
        assert!(is_short(19_999, 80_000));
        assert!(!is_short(20_000, 80_000));
        assert!(!is_short(0, 10_000));
        assert!(is_short(0, 10_001));
    }

    #[test]
    fn the_next_train_length_is_extrapolated_and_must_fit_one_rtt() {
        // A train that doubled from 10 to 20 ms will be 40 ms long.
        assert!(train_fits(20_000, 10_000, 40_000));
        assert!(!train_fits(20_000, 10_000, 39_999));
        // One that grew fourfold will be 160 ms long.
        assert!(!train_fits(40_000, 10_000, 159_999));
        assert!(train_fits(40_000, 10_000, 160_000));
        assert!(train_fits(0, 0, 10_000));
    }

    #[test]
    fn the_delay_extrapolated_by_a_round_stays_within_an_eighth() {
        // k = 2: moRTT may be minRTT (1 + 2/24) at most.
        assert!(delay_fits(86_666, 80_000, 2));
        assert!(!delay_fits(86_667, 80_000, 2));
        // k = 1: 1 + 1/16.
        assert!(delay_fits(85_000, 80_000, 1));
        assert!(!delay_fits(85_001, 80_000, 1));
    }

    #[test]
    fn offsets_are_compared_modulo_two_to_the_32() {
        assert!(is_at_or_after(5, 5));
        assert!(is_at_or_after(3, u32::MAX - 3));
        assert!(!is_at_or_after(4, 5));
    }
}
