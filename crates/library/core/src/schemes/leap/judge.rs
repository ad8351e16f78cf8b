//! The verdicts of leap on its trains: whether a queue grows, and what rate a train shows.

use super::rates::{cruise, found, in_packets, per_rtt, product};
use super::trend::{Slope, TICKS};
use super::{CONFIRM_FACTOR, Leap, MILLION, MIN_TRAIN_PACKETS, SEARCH_FACTOR, Stage, is_after};
use crate::evidence::is_starved;
use crate::interface::{Ack, Cause, Delivered, Loss, LostPacket, Path, Step};
use crate::units::{Bytes, Rate, Span};
use crate::wide::mul_div;

/// Growth of the delay above which Probe, Rise and Hold have built a queue, in millionths of the time between transmissions.
const QUEUE_GROWTH_PPM: u64 = 50_000;
/// Minimum growth of the delay in a train of Verify that exceeds the bottleneck, in millionths of the time between transmissions.
const TRAIN_GROWTH_PPM: u64 = 20_000;
/// A measured capacity within this factor of the rate, above or below, confirms the rate.
const VERDICT_TOLERANCE: (u64, u64) = (5, 4);
/// Number of ACKs of later packets after which a train is judged without its missing packets.
const LATER_ACKS: u8 = 4;
/// A train sent at less than this share of its pace is not judged.
const PACE_TOLERANCE: (u64, u64) = (9, 10);
/// Number of trains without a result that ends the start-up. A train has no result if the host sent it at less than its pace, or if the ACKs
/// of a train that confirms a rate arrived in too few instants.
const MAX_VOID_TRAINS: u8 = 3;
/// Losses above this share of the first train, without growth of its delay, are a policer's.
const POLICED_DIVISOR: u64 = 8;
/// Losses up to this share of the window do not end the start-up, so that random loss of 1 % does not end it.
const LOSS_BUDGET: (u64, u64) = (3, 100);
/// Losses up to this number of packets do not end the start-up.
const LOSS_BUDGET_PACKETS: u64 = 4;

impl Leap {
    /// Records an ACK of the judged packets.
    pub(super) fn measure(&mut self, ack: &Ack<'_>, newest: &Delivered, path: &Path) {
        if newest.tag.0 != self.judged || newest.retransmitted {
            return;
        }
        self.starved |= is_starved(ack, path);
        self.judged_acked = (self.judged_acked.wide() + ack.bytes).into();
        let rtt = path.min_rtt.unwrap_or(Span::ZERO);
        // The unit of time is the RTT, and eight times a short train's length.
        let unit = match self.stage {
            Stage::Probe | Stage::Quiet if !self.is_alone => {
                let pace = self.capacity.scale(u64::from(self.fraction_ppm), MILLION);
                (pace.time_for(in_packets(self.short_train(path), path)) * 8).min(rtt)
            }
            _ => rtt,
        };
        self.trend.add(newest.sent_at, path.now, path.delivered, unit);
    }

    /// Returns the growth of the delay of the judged packets, if they built a queue.
    fn queue(&self, path: &Path) -> Option<Slope> {
        let slope = self.trend.slope()?;
        // Three packets may queue behind each other by chance.
        let chance = self.trend.in_ticks(self.capacity.time_for(path.wire * 3));
        let grown = mul_div(self.trend.span(), slope.growth(), MILLION);
        (slope.growth() > QUEUE_GROWTH_PPM && slope.is_sure && grown > chance).then_some(slope)
    }

    /// Judges the first train of the profile `shared` when all its packets are acknowledged or lost.
    pub(super) fn check_short_train(&mut self, newest: &Delivered, path: &Path) -> Step {
        let train = self.short_train(path);
        if is_after(newest.tag.0, self.judged) {
            self.later_acks = self.later_acks.saturating_add(1);
        }
        let (acked, lost) = (self.judged_acked.wide(), self.lost.wide());
        if acked + lost < train && self.later_acks < LATER_ACKS {
            return Step::Stay;
        }
        let pace = self.capacity.scale(u64::from(self.fraction_ppm), MILLION);
        let is_policed = lost > (train / POLICED_DIVISOR).max(path.mss * LOSS_BUDGET_PACKETS);
        match self.queue(path) {
            Some(slope) => self.fill(self.available(slope, pace), Cause::Delay, path),
            // The application set the pace of the train.
            None if self.starved => self.go_slow(self.slow_start_window(path)),
            // Losses without a queue: a policer, whose rate is that of the packets it let through.
            None if is_policed && acked.is_zero() => self.go_slow(self.slow_start_window(path) / 2),
            None if is_policed => {
                let passed = pace.scale(acked.get(), (acked + lost).get());
                let min = per_rtt(self.slow_start_window(path) / 2, path);
                self.fill(passed.max(min).min(pace), Cause::Loss, path);
            }
            // The train arrived in too few instants to be measured.
            None if self.trend.slope().is_none() => {
                let window = self.slow_start_window(path);
                self.go_slow(if lost.is_zero() { window } else { window / 2 });
            }
            None => self.rise(self.capacity, path),
        }
        Step::Stay
    }

    /// Handles an ACK in Fill. Exits if the window is that of the available rate, or if a queue grows.
    pub(super) fn acked_in_fill(&mut self, ack: &Ack<'_>, newest: &Delivered, path: &Path) -> Step {
        if newest.tag.0 == self.tag && !self.is_bounded() {
            return found(self.target, self.cause, path);
        }
        let step = self.next_round(newest, path);
        if matches!(step, Step::Exit(_)) || self.stage == Stage::Drain {
            return step;
        }
        self.measure(ack, newest, path);
        if self.trend.span() < TICKS / 8 || self.queue(path).is_none() {
            return Step::Stay;
        }
        let rate = per_rtt(self.permitted(), path).min(self.target);
        self.leave_at(rate, Cause::Delay, path)
    }

    /// Exits if a queue grows, in the Probe of the profile `alone`, in Rise, and until the ACKs of the fast train arrive.
    pub(super) fn check_queue(&mut self, path: &Path) -> Step {
        if self.trend.slope().is_none() || self.trend.span() < TICKS / 8 {
            return Step::Stay;
        }
        if let Some(slope) = self.queue(path) {
            // While the fast train is being sent, the judged packets are those before it.
            let pace = match self.stage {
                Stage::Probe => self.pace,
                // The bound may have changed the pace since the first of the judged packets.
                _ if !self.is_alone => self.mean_pace(cruise(self.target), path),
                _ => cruise(self.target),
            };
            let mut rate = self.available(slope, pace);
            if self.stage == Stage::Rise && self.is_bounded() {
                rate = rate.min(per_rtt(self.permitted(), path));
            }
            return self.leave_at(rate, Cause::Delay, path);
        }
        if self.stage == Stage::Probe && self.judged_acked.wide() >= path.mss * MIN_TRAIN_PACKETS {
            self.rise(self.capacity, path);
        }
        Step::Stay
    }

    /// Returns the rate at which the judged packets were sent, at most `pace`.
    fn mean_pace(&self, pace: Rate, path: &Path) -> Rate {
        let (bytes, elapsed) = self.trend.sent();
        in_packets(bytes, path).per(elapsed).map_or(pace, |rate| rate.min(pace))
    }

    /// Returns the rate that other flows do not use. With the pacing rate `p`, the growth of the delay `g` and the capacity `c`, the rate of
    /// the other flows is `c (1 + g) - p`. The result is `c` minus that rate, `p - c g`, and at least `p / (1 + g) / 2`: half of the
    /// delivered rate, because flows that respond to losses give way.
    fn available(&self, slope: Slope, pace: Rate) -> Rate {
        let min = pace.scale(MILLION, MILLION + slope.growth()) / 2;
        (pace - self.capacity.scale(slope.growth(), MILLION)).max(min)
    }

    /// Exits with `rate`, at once or after Drain.
    pub(super) fn leave_at(&mut self, rate: Rate, cause: Cause, path: &Path) -> Step {
        let window = product(rate, path).max(path.mss * 4);
        if window >= path.pipe {
            return found(rate, cause, path);
        }
        self.cause = cause;
        self.target = rate;
        self.pace = rate;
        self.window = window.into();
        self.growth.release();
        self.enter(Stage::Drain);
        self.judge(self.tag);
        Step::Stay
    }

    /// Judges the fast train when all its ACKs have arrived. Exits if the train confirms the rate, and sends a faster train if the delay of
    /// the train did not grow or was not measured.
    pub(super) fn verdict(&mut self, path: &Path) -> Step {
        let train = self.target.scale(u64::from(self.factor), 100);
        let slope = self.trend.slope();
        // Losses of the train are reported after later packets are acknowledged.
        self.later_acks = self.later_acks.saturating_add(1);
        if slope.is_none() && self.later_acks < LATER_ACKS {
            return Step::Stay;
        }
        let is_slow =
            slope.is_some() && self.mean_pace(train, path) < train.scale(PACE_TOLERANCE.0, PACE_TOLERANCE.1);
        // A train that searches for the bottleneck may find no rate. One that confirms a rate has found it before.
        let is_void = is_slow || slope.is_none() && self.factor == CONFIRM_FACTOR;
        self.void_trains = self.void_trains.saturating_add(u8::from(is_void));
        if self.void_trains >= MAX_VOID_TRAINS {
            // The host cannot send faster than the path takes, or the ACKs do not show a train.
            let rate = self.delivery.rate().unwrap_or(self.target).min(self.target);
            return self.leave_at(rate, Cause::RateFlat, path);
        }
        if self.starved || is_slow {
            // The train was not sent at its rate and proves nothing. Another one is sent once there is data or room for it.
            if self.factor == CONFIRM_FACTOR {
                self.rise(self.target, path);
            } else {
                self.search(self.target, self.factor, path);
            }
            return Step::Stay;
        }
        if slope.is_none() {
            self.holdback.missed_train(path.min_rtt.unwrap_or(Span::ZERO));
        }
        let Some(slope) = slope.filter(|slope| slope.is_sure && slope.growth() >= TRAIN_GROWTH_PPM) else {
            self.search(train, SEARCH_FACTOR, path);
            return Step::Stay;
        };
        let capacity = train.scale(MILLION, MILLION + slope.growth());
        let is_close = capacity <= self.target.scale(VERDICT_TOLERANCE.0, VERDICT_TOLERANCE.1)
            && capacity >= self.target.scale(VERDICT_TOLERANCE.1, VERDICT_TOLERANCE.0);
        if is_close && self.factor == CONFIRM_FACTOR {
            return found(self.target, Cause::Dispersion, path);
        }
        self.capacity = capacity;
        self.rise(capacity, path);
        Step::Stay
    }

    /// Counts the losses of the judged packets. Exits if they are more than the budget.
    pub(super) fn lost(&mut self, loss: &Loss<'_>, path: &Path) -> Step {
        let ours = |sum, packet: &LostPacket| {
            if is_after(self.judged, packet.tag.0) { sum } else { sum + packet.bytes }
        };
        let bytes = match loss.packets {
            // Losses without a list are of earlier packets before the first ACK of those that are judged.
            [] if self.judged_acked.wide().is_zero() => Bytes::ZERO,
            [] => loss.bytes,
            packets => packets.iter().fold(Bytes::ZERO, ours),
        };
        self.lost = (self.lost.wide() + bytes).into();
        let is_short_train = !self.is_alone && matches!(self.stage, Stage::Probe | Stage::Quiet);
        if is_short_train || matches!(self.stage, Stage::Closed | Stage::First) {
            return Step::Stay;
        }
        let budget = self.permitted().scale(LOSS_BUDGET.0, LOSS_BUDGET.1).max(path.mss * LOSS_BUDGET_PACKETS);
        if self.lost.wide() <= budget {
            return Step::Stay;
        }
        let max = self.pace.min(per_rtt(self.permitted(), path));
        let rate = self.delivery.rate().unwrap_or(self.pace / 2).min(max);
        found(rate, Cause::Loss, path)
    }
}
