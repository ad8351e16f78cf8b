//! The rate that other traffic leaves to the measured flow, on one hop and over all hops.

use firstflight::Span;

use crate::available::step;
use crate::processor_sharing::ends;

/// The other traffic of a run on one hop.
#[derive(Clone, Debug, Default)]
pub struct Hop {
    /// The rate offered by constant-bit-rate sources, in IP bits per second.
    pub constant: u64,
    /// The start and the end of each responsive flow without a size. The end is `None` if the flow is active at the end of the run.
    pub lives: Vec<(u64, Option<u64>)>,
    /// The transfers of other flows, each as (when its first data could arrive at the hop, its size in IP bits).
    pub transfers: Vec<(u64, u64)>,
    /// The rate offered by on/off sources, as steps in IP bits per second.
    pub offered: Vec<(u64, u64)>,
    /// The propagation delay after the hop, to the next hop or the receiver.
    pub delay: Span,
}

/// A change of the available rate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// The bottleneck's rate changes.
    Rate(u64),
    /// The rate that unresponsive traffic offers changes.
    Offered(u64),
    Began,
    Ended,
}

impl Hop {
    /// Returns the hop with the transfers replaced by lives of flows, whose ends follow from processor sharing. `own` is the measured
    /// transfer: when it starts at the hop, and its size in IP bits. A flow without a size has more bits than the hop can carry.
    pub(crate) fn shared(&self, rates: &[(u64, u64)], own: (u64, u64)) -> Self {
        if self.transfers.is_empty() {
            return self.clone();
        }
        let alone = Self { lives: Vec::new(), transfers: Vec::new(), ..self.clone() };
        let all: Vec<(u64, u64)> = std::iter::once(own).chain(self.transfers.iter().copied()).collect();
        let ends = ends(&alone.left(rates), &self.lives, &all);
        let lives = all.iter().zip(ends).skip(1).map(|((begins, _), end)| (*begins, end));
        Self {
            lives: self.lives.iter().copied().chain(lives).collect(),
            transfers: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the rate that others leave to the measured flow: the hop's rate minus the unresponsive traffic, divided equally among the
    /// measured flow and the active responsive flows. It is negative where unresponsive traffic exceeds the hop's rate.
    pub(crate) fn left(&self, rates: &[(u64, u64)]) -> Vec<(u64, i64)> {
        let mut changes: Vec<(u64, Change)> =
            rates.iter().map(|(at, bps)| (*at, Change::Rate(*bps))).collect();
        changes.extend(self.offered.iter().map(|(at, bps)| (*at, Change::Offered(*bps))));
        for (from, until) in &self.lives {
            changes.push((*from, Change::Began));
            changes.extend(until.map(|until| (until, Change::Ended)));
        }
        changes.sort_unstable();
        let (mut rate, mut offered, mut active) = (0u64, 0u64, 0u64);
        let mut steps: Vec<(u64, i64)> = Vec::new();
        for (at, change) in changes {
            match change {
                Change::Rate(bps) => rate = bps,
                Change::Offered(bps) => offered = bps,
                Change::Began => active += 1,
                Change::Ended => active = active.saturating_sub(1),
            }
            let left = i128::from(rate) - i128::from(self.constant) - i128::from(offered);
            let left = if left > 0 { left / i128::from(1 + active) } else { left };
            step(&mut steps, at, i64::try_from(left).unwrap_or(if left > 0 { i64::MAX } else { i64::MIN }));
        }
        steps
    }

    /// Returns the number of responsive flows active at `at`.
    pub(crate) fn active_at(&self, at: u64) -> u64 {
        let active =
            |(from, until): &&(u64, Option<u64>)| *from <= at && until.is_none_or(|until| at < until);
        self.lives.iter().filter(active).count() as u64
    }
}

pub(crate) fn not_negative(steps: &[(u64, i64)]) -> Vec<(u64, u64)> {
    let mut rates = Vec::with_capacity(steps.len());
    for (at, bps) in steps {
        step(&mut rates, *at, u64::try_from(*bps).unwrap_or(0));
    }
    rates
}

/// Returns the minimum of two rates over time. Both must be known from the start.
pub(crate) fn least_of(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut times: Vec<u64> = a.iter().chain(b).map(|(at, _)| *at).collect();
    times.sort_unstable();
    times.dedup();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let (mut rate_a, mut rate_b) = (u64::MAX, u64::MAX);
    let mut steps = Vec::with_capacity(times.len());
    for at in times {
        rate_a = a.next_if(|step| step.0 == at).map_or(rate_a, |step| step.1);
        rate_b = b.next_if(|step| step.0 == at).map_or(rate_b, |step| step.1);
        step(&mut steps, at, rate_a.min(rate_b));
    }
    steps
}
