//! Proportional integral controller, enhanced (RFC 8033). Arriving packets are dropped or marked with a probability
//! that a controller updates every 15 ms, from the distance of the delay to a reference and from its trend.
//!
//! Follows RFC 8033 section 4, with the delay measured by time stamps of packets that leave the queue (section 4.3
//! allows it), marks (5.1), drops spread evenly (5.4) and capped steps (5.5). The controller needs no timer: its
//! state at any instant is a function of earlier events, and is updated when a packet arrives or leaves.

use firstflight::{Span, Time};

use super::queue::{Arrival, Fifo, Outbox, Waiting};
use crate::fault::DisciplineFault;
use crate::random::Stream;

/// Parameters of PIE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PieSpec {
    /// The delay that the controller holds (`QDELAY_REF`).
    pub target: Span,
    /// The time between two updates of the probability (`T_UPDATE`).
    pub update: Span,
    /// Duration of a burst that may pass after an idle time (`MAX_BURST`).
    pub burst: Span,
    /// IP bytes of a typical packet (`MEAN_PKTSIZE`). Nothing is dropped while at most two packets of this size wait.
    pub packet: u32,
    /// Whether to mark ECN-capable packets while the probability is below a tenth, rather than drop them.
    pub ecn: bool,
}

impl PieSpec {
    /// Returns a target and an update time of 15 ms and a burst of 150 ms (RFC 8033 sections 4.2 and 4.4), without
    /// marks, for packets of this size.
    pub fn for_packets(packet: u32) -> Self {
        Self {
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            burst: Span::from_millis(150),
            packet,
            ecn: false,
        }
    }

    pub(crate) fn check(&self) -> Result<(), DisciplineFault> {
        if self.target.is_zero() || self.update.is_zero() || self.packet == 0 {
            return Err(DisciplineFault::ZeroSpan);
        }
        Ok(())
    }
}

/// The gains, per second of delay and per second of its change (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// The probability from which packets are dropped and no longer marked (section 5.1).
const MARK_BELOW: f64 = 0.1;

#[derive(Clone, Debug)]
pub(crate) struct Pie {
    spec: PieSpec,
    queue: Fifo,
    stream: Stream,
    /// Drop probability.
    probability: f64,
    /// The sum of probabilities since the last drop.
    accumulated: f64,
    /// Delay of the last packet that left the queue, in seconds; zero if the queue was then empty.
    delay: f64,
    /// The delay at the last update.
    delay_before: f64,
    burst_left: Span,
    /// Time of the next update.
    update_at: Time,
}

impl Pie {
    pub(super) fn new(spec: PieSpec, stream: Stream) -> Self {
        Self {
            spec,
            queue: Fifo::default(),
            stream,
            probability: 0.0,
            accumulated: 0.0,
            delay: 0.0,
            delay_before: 0.0,
            burst_left: spec.burst,
            update_at: Time::ZERO + spec.update,
        }
    }

    pub(super) fn arrive(&mut self, arrival: Arrival, mut waiting: Waiting, out: &mut Outbox) -> bool {
        self.catch_up(arrival.now);
        let joins = arrival.room
            && (!self.signals()
                || (self.spec.ecn && self.probability < MARK_BELOW && out.mark(&mut waiting)));
        if joins {
            self.queue.push(waiting);
        }
        joins
    }

    pub(super) fn depart(&mut self, now: Time) -> Option<Waiting> {
        self.catch_up(now);
        let waiting = self.queue.pop()?;
        let empty = self.queue.len() == 0;
        self.delay = if empty { 0.0 } else { seconds(now.since(waiting.since)) };
        Some(waiting)
    }

    pub(super) fn queue(&self) -> &Fifo {
        &self.queue
    }

    /// Returns whether the arriving packet is to be dropped (sections 4.1 and 5.4).
    fn signals(&mut self) -> bool {
        if !self.burst_left.is_zero() {
            return false;
        }
        let short = self.delay_before < seconds(self.spec.target) / 2.0 && self.probability < 0.2;
        if short || self.queue.bytes <= 2 * u64::from(self.spec.packet) {
            return false;
        }
        if self.probability <= 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < 0.85 {
            return false;
        }
        let signals = self.accumulated >= 8.5 || self.stream.unit() < self.probability;
        if signals {
            self.accumulated = 0.0;
        }
        signals
    }

    /// Makes the updates that were due before `now`.
    fn catch_up(&mut self, now: Time) {
        while self.update_at < now {
            self.update();
            self.update_at = self.update_at + self.spec.update;
            if self.is_at_rest() {
                // Further updates change nothing: skip to the last one.
                let missed = now.since(self.update_at).nanos() / self.spec.update.nanos().max(1);
                self.update_at = self.update_at + self.spec.update * missed;
            }
        }
    }

    /// Updates the probability once (sections 4.2, 4.4 and 5.5).
    fn update(&mut self) {
        let target = seconds(self.spec.target);
        let mut step = ALPHA * (self.delay - target) + BETA * (self.delay - self.delay_before);
        step /= damping(self.probability);
        if self.probability >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        self.probability += step;
        if self.delay <= 0.0 && self.delay_before <= 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let low = self.delay < target / 2.0 && self.delay_before < target / 2.0;
        self.delay_before = self.delay;
        self.burst_left = if self.probability <= 0.0 && low {
            self.spec.burst
        } else {
            Span::from_nanos(self.burst_left.nanos().saturating_sub(self.spec.update.nanos()))
        };
    }

    fn is_at_rest(&self) -> bool {
        let no_delay = self.delay <= 0.0 && self.delay_before <= 0.0;
        no_delay && self.probability <= 0.0 && self.burst_left == self.spec.burst
    }
}

/// Returns the divisor that damps a step at a probability (the table of section 4.2).
fn damping(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2_048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "delays are far below 2^53 ns")]
fn seconds(span: Span) -> f64 {
    span.nanos() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ect, plain, stream};
    use super::*;

    fn pie() -> Pie {
        Pie::new(PieSpec::for_packets(1_000), stream())
    }

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn arrival(now: Time) -> Arrival {
        Arrival { now, room: true, idle_since: None, rate: None }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 + 1e-9 * b.abs()
    }

    #[test]
    fn pie_step_combines_alpha_distance_and_beta_change_with_damping() {
        for (probability, damping) in
            [(0.0, 2_048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0), (0.2, 1.0)]
        {
            let mut pie = Pie { probability, delay: 0.025, delay_before: 0.020, ..pie() };
            pie.update();
            let step = (0.125 * 0.010 + 1.25 * 0.005) / damping;
            assert!(close(pie.probability, probability + step), "{probability}: {}", pie.probability);
            assert!(close(pie.delay_before, 0.025));
        }
    }

    #[test]
    fn steps_are_capped_and_an_empty_queue_lets_the_probability_decay() {
        let mut capped = Pie { probability: 0.3, delay: 0.5, ..pie() };
        capped.update();
        assert!(close(capped.probability, 0.32));
        let mut decaying = Pie { probability: 0.5, ..pie() };
        decaying.update();
        assert!(close(decaying.probability, (0.5 - 0.125 * 0.015) * 0.98));
        let mut bounded = Pie { probability: 0.99, delay: 5.0, delay_before: 5.0, ..pie() };
        bounded.update();
        assert!(close(bounded.probability, 1.0));
    }

    #[test]
    fn a_burst_after_a_quiet_time_passes_whole() {
        let mut pie = Pie { probability: 1.0, delay: 0.1, delay_before: 0.1, ..pie() };
        let mut out = Outbox::default();
        // Ten updates of 15 ms use up the 150 ms; the tenth is made after 150 ms.
        let accepted = |pie: &mut Pie, from: u64, to: u64, out: &mut Outbox| {
            (from..to).filter(|n| pie.arrive(arrival(ms(*n)), plain(*n), out)).count()
        };
        assert_eq!(accepted(&mut pie, 0, 151, &mut out), 151);
        assert_eq!(accepted(&mut pie, 151, 200, &mut out), 0);
    }

    #[test]
    fn pie_restores_the_burst_allowance_after_a_low_delay() {
        let mut pie = Pie { burst_left: Span::ZERO, delay: 0.007, delay_before: 0.007, ..pie() };
        pie.update();
        assert_eq!(pie.burst_left, Span::from_millis(150));
        let mut high = Pie { burst_left: Span::ZERO, delay: 0.008, delay_before: 0.008, ..pie };
        high.update();
        assert_eq!(high.burst_left, Span::ZERO);
    }

    #[test]
    fn nothing_is_dropped_while_the_delay_is_short_or_two_packets_wait() {
        let ready = Pie { burst_left: Span::ZERO, probability: 1.0, accumulated: 9.0, ..pie() };
        let mut out = Outbox::default();
        let mut short = Pie { probability: 0.19, delay_before: 0.007, ..ready.clone() };
        assert!((0..100).all(|n| short.arrive(arrival(ms(1)), plain(n), &mut out)));
        let mut few = Pie { delay_before: 0.1, ..ready };
        assert!(few.arrive(arrival(ms(1)), plain(0), &mut out));
        assert!(few.arrive(arrival(ms(1)), plain(1), &mut out));
        assert!(few.arrive(arrival(ms(1)), plain(2), &mut out));
        // 3000 bytes are waiting.
        assert!(!few.arrive(arrival(ms(1)), plain(3), &mut out));
    }

    #[test]
    fn drops_are_neither_too_close_nor_too_far_apart() {
        let mut pie = Pie { burst_left: Span::ZERO, probability: 0.0625, delay_before: 0.1, ..pie() };
        pie.queue.bytes = 10_000;
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for _ in 0..200_000 {
            gap += 1;
            if pie.signals() {
                gaps.push(gap);
                gap = 0;
            }
        }
        // The accumulated probability reaches 0.85 after 0.85 / 0.0625 = 13.6 packets. From there each packet is
        // dropped with 1/16, and at the latest after 8.5 / 0.0625 = 136 packets.
        assert_eq!(gaps.iter().min(), Some(&14));
        assert!(gaps.iter().all(|gap| *gap <= 136));
        let mean = 200_000 / gaps.len();
        // The mean gap is 13 plus a geometric wait of mean 16.
        assert!(mean.abs_diff(29) <= 1, "{mean}");
    }

    #[test]
    fn with_ecn_capable_packets_are_marked_below_a_tenth_and_dropped_above() {
        let marking = |probability| {
            let spec = PieSpec { ecn: true, ..PieSpec::for_packets(1_000) };
            let mut pie =
                Pie { burst_left: Span::ZERO, probability, delay_before: 0.1, ..Pie::new(spec, stream()) };
            let mut out = Outbox::default();
            let accepted = (0..1_000).filter(|n| pie.arrive(arrival(ms(1)), ect(*n), &mut out)).count();
            (accepted, out.marked.len())
        };
        let (accepted, marked) = marking(0.09);
        assert_eq!(accepted, 1_000);
        assert!(marked > 30, "{marked}");
        let (accepted, marked) = marking(0.11);
        assert!(accepted < 970 && marked == 0, "{accepted} {marked}");
    }

    #[test]
    fn updates_in_between_are_made_up_for_whenever_it_is_touched() {
        let start = Pie { probability: 0.4, delay: 0.02, delay_before: 0.02, ..pie() };
        let mut often = start.clone();
        for millis in 0..3_000 {
            often.catch_up(ms(millis));
        }
        let mut once = start.clone();
        once.catch_up(ms(2_999));
        assert!(close(often.probability, once.probability) && once.probability > 0.4);
        assert_eq!(often.update_at, once.update_at);
        // Without packets, a year takes no work, and the updates stay on the same instants.
        let mut idle = pie();
        idle.catch_up(Time::from_nanos(31_536_000_000_000_001));
        assert_eq!(idle.update_at.nanos() % 15_000_000, 0);
        assert!(idle.update_at.nanos() >= 31_536_000_000_000_001);
    }

    #[test]
    fn pie_delay_is_of_the_last_departure_and_zero_when_empty() {
        let mut pie = pie();
        let mut out = Outbox::default();
        for number in 0..2 {
            pie.arrive(arrival(ms(0)), plain(number), &mut out);
        }
        pie.depart(ms(7));
        assert!(close(pie.delay, 0.007));
        pie.depart(ms(9));
        assert!(close(pie.delay, 0.0));
    }
}
