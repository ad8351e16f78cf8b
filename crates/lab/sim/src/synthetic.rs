//! Synthetic traces: random rates and delays with the statistics of published measurements, not measurements.

use firstflight::{Rate, Span, Time};

use crate::quantity::RATE_LIMIT;
use crate::random::{Purpose, Stream};
use crate::sizes::normal;
use crate::trace::{DelayTrace, RateTrace};

/// A rate as of a cellular link: bins that are silent or have a log-normal rate, each independent of the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CellularSpec {
    /// The mean rate, silent bins included.
    pub mean: Rate,
    /// The share of silent bins, in millionths.
    pub silent_ppm: u32,
    /// The standard deviation of the logarithm of the rate of a bin that is not silent, in thousandths.
    pub sigma_milli: u32,
}

/// A rate or a delay as of a link over low satellites: it steps at the beginning of each slot, by an independent uniform draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotsSpec {
    /// The length of a slot.
    pub slot: Span,
    /// The smallest value: bits per second, or nanoseconds.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

impl CellularSpec {
    /// The length of a bin.
    pub const BIN: Span = RateTrace::BIN;

    /// The length of the trace; it repeats after that.
    pub const LENGTH: Span = Span::from_secs(600);

    /// Returns the trace of a seed.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are far below 2^53"
    )]
    pub fn trace(self, seed: u64) -> Option<RateTrace> {
        let mut stream = Stream::new(seed, Purpose::Synthetic, 0, 0);
        let sigma = f64::from(self.sigma_milli) / 1e3;
        let talking = 1.0 - f64::from(self.silent_ppm.min(999_999)) / 1e6;
        let mu = libm::log(self.mean.bps() as f64 / talking) - sigma * sigma / 2.0;
        let bins = Self::LENGTH.nanos() / Self::BIN.nanos();
        let mut steps = Vec::new();
        for bin in 0..bins {
            let is_silent = stream.below(1_000_000) < u64::from(self.silent_ppm);
            let drawn = libm::exp(mu + sigma * normal(&mut stream));
            let rate = if is_silent { 0 } else { (drawn as u64).clamp(1, RATE_LIMIT.bps()) };
            steps.push((Time::from_nanos(bin * Self::BIN.nanos()), Rate::from_bps(rate)));
        }
        RateTrace::repeating(&steps, Self::LENGTH).ok()
    }
}

impl SlotsSpec {
    /// The number of slots of a trace; it repeats after that.
    pub const SLOTS: u64 = 240;

    /// Returns the rates of a seed.
    pub fn rates(self, seed: u64) -> Option<RateTrace> {
        let (steps, period, start) = self.draw(seed, 1, Rate::from_bps);
        Some(RateTrace::repeating(&steps, period).ok()?.starting_at(start))
    }

    /// Returns the delays of a seed. Their slots begin when those of the rates of this seed and length do.
    pub fn delays(self, seed: u64) -> Option<DelayTrace> {
        let (steps, period, start) = self.draw(seed, 2, Span::from_nanos);
        Some(DelayTrace::new(&steps, Some(period)).ok()?.starting_at(start))
    }

    /// Returns the steps of a seed, their period, and the instant of the first slot at which a run begins.
    fn draw<T>(self, seed: u64, which: u32, value: impl Fn(u64) -> T) -> (Vec<(Time, T)>, Span, Span) {
        let slot = self.slot.nanos().max(1);
        let mut stream = Stream::new(seed, Purpose::Synthetic, which, 0);
        let width = self.max.saturating_sub(self.min).saturating_add(1);
        let steps = (0..Self::SLOTS)
            .map(|place| {
                (
                    Time::from_nanos(place.saturating_mul(slot)),
                    value(self.min.saturating_add(stream.below(width))),
                )
            })
            .collect();
        let phase = Stream::new(seed, Purpose::Synthetic, 3, 0).below(slot);
        (steps, Span::from_nanos(slot.saturating_mul(Self::SLOTS)), Span::from_nanos(phase))
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "rates and counts are far below 2^53")]
mod tests {
    use super::*;

    /// Returns the mean of the rates of some seeds in Mbit/s, their 5th, 50th and 95th percentiles, and the silent share.
    fn statistics(spec: CellularSpec) -> (f64, [f64; 3], f64) {
        let traces = (0..20).filter_map(|seed| spec.trace(seed));
        let mut rates: Vec<u64> = traces
            .flat_map(|trace| trace.steps().iter().map(|(_, rate)| rate.bps()).collect::<Vec<_>>())
            .collect();
        rates.sort_unstable();
        let count = rates.len() as f64;
        let mean = rates.iter().map(|bps| *bps as f64).sum::<f64>() / count / 1e6;
        let silent = rates.iter().filter(|bps| **bps == 0).count() as f64 / count;
        (mean, [5, 50, 95].map(|part| rates[rates.len() * part / 100] as f64 / 1e6), silent)
    }

    /// The sources are statistics of 100 ms bins, computed from mahimahi's traces (commit ae477d4, a line is 1,500 bytes).
    /// A log-normal law has their mean, median, 95th percentile and silent share. Their 5th percentile is lower.
    #[test]
    fn a_cellular_rate_has_the_published_mean_median_high_percentile_and_silence() {
        for (name, kbps, silent_ppm, [p5, p50, p95]) in [
            ("Verizon-LTE-short.down", 5_030_u32, 16_000_u32, [0.60, 4.32, 12.12]),
            ("TMobile-LTE-short.down", 16_700, 36_000, [0.72, 14.40, 39.48]),
        ] {
            let (mean, silent) = (f64::from(kbps) / 1e3, f64::from(silent_ppm) / 1e6);
            let spec = CellularSpec {
                mean: Rate::from_bps(u64::from(kbps) * 1_000_u64),
                silent_ppm,
                sigma_milli: 600,
            };
            let (own_mean, own, own_silent) = statistics(spec);
            assert!((own_mean / mean - 1.0).abs() < 0.02, "{name}: mean {own_mean}");
            assert!((own[1] / p50 - 1.0).abs() < 0.06, "{name}: median {own:?}");
            assert!((own[2] / p95 - 1.0).abs() < 0.10, "{name}: 95th percentile {own:?}");
            assert!((own_silent - silent).abs() < 0.003, "{name}: silent {own_silent}");
            assert!(own[0] > p5, "{name}: the low tail of a log-normal law is shorter {own:?}");
        }
    }

    #[test]
    fn a_link_over_low_satellites_steps_rate_and_delay_together_every_slot() {
        let rates = SlotsSpec { slot: Span::from_secs(15), min: 50_000_000, max: 250_000_000 };
        let delays = SlotsSpec { min: 0, max: 20_000_000, ..rates };
        let mut phases = Vec::new();
        for seed in 0..8 {
            let (rates, delays) = (rates.rates(seed).expect("rates"), delays.delays(seed).expect("delays"));
            assert!(rates.steps().windows(2).all(|pair| pair[1].0.since(pair[0].0) == Span::from_secs(15)));
            assert!(rates.steps().iter().all(|(_, rate)| (50_000_000..=250_000_000).contains(&rate.bps())));
            assert!(delays.steps().iter().all(|(_, delay)| *delay <= Span::from_millis(20)));
            let change = rates.unrolled(Time::from_nanos(15_000_000_000), 100)[1].0;
            let before = delays.delay_at(&mut 0, Time::from_nanos(change - 1));
            assert_ne!(before, delays.delay_at(&mut 0, Time::from_nanos(change)), "both step at once");
            phases.push(change);
        }
        phases.sort_unstable();
        phases.dedup();
        assert_eq!(phases.len(), 8, "the seed selects when a slot begins");
    }

    /// The source is a campaign of 2022 in Belgium (`UCLouvain`, blog.apnic.net of 28 November 2022): to servers in Europe the median RTT
    /// was 50 ms, its quartiles 40 and 60 ms, its minimum 20 ms. A uniform delay of up to 40 ms on a round trip of 30 ms has these
    /// quartiles. Their spread is over servers and months too. Slots of 15 s are those of the same network.
    #[test]
    fn a_delay_over_slots_has_the_published_quartiles() {
        let spec = SlotsSpec { slot: Span::from_secs(15), min: 0, max: 40_000_000 };
        let traces = (0..20).filter_map(|seed| spec.delays(seed));
        let mut delays: Vec<u64> = traces
            .flat_map(|trace| trace.steps().iter().map(|(_, delay)| delay.nanos()).collect::<Vec<_>>())
            .collect();
        delays.sort_unstable();
        for (part, published) in [(25, 40), (50, 50), (75, 60)] {
            let own = 30.0 + delays[delays.len() * part / 100] as f64 / 1e6;
            assert!((own - f64::from(published)).abs() < 1.0, "{part}: {own}");
        }
    }
}
