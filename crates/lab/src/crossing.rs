//! Cross traffic as flows of the network, and what it leaves to the measured flow.

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Span, Time};
use firstflight_sim::{
    Arrivals, CbrSpec, Content, Ends, Flow, Gap, LinkId, OnOffSpec, Periods, Route, Traffic, Ways,
};
use firstflight_tcp::Config;

use crate::available::step;
use crate::cross::Cross;
use crate::scenario::Scenario;

/// How many pairs of hosts the TCP flows of a scenario's cross traffic need: one each, or one for all that come up
/// as the run goes on.
pub(crate) fn pairs(cross: Cross) -> usize {
    match cross {
        Cross::None | Cross::Cbr(_) | Cross::OnOff { .. } => 0,
        Cross::Tcp(flows) => flows as usize,
        Cross::Poisson { .. } | Cross::Web(_) => 1,
    }
}

/// The unresponsive traffic of a scenario, over the links of `way`.
pub(crate) fn datagrams(scenario: &Scenario, way: &[LinkId]) -> Option<Flow<AnyScheme, AnyRestart, AnyLaw>> {
    let packet = scenario.packet();
    let traffic = match scenario.cross {
        Cross::Cbr(rate) => Traffic::Cbr(CbrSpec { rate, packet, stop: None }),
        Cross::OnOff { rate, on, off, pareto } => {
            let periods = pareto.map_or(Periods::Exponential, |shape| Periods::Pareto(shape.to_f64()));
            Traffic::OnOff(OnOffSpec { rate, packet, on, off, periods, stop: None })
        }
        Cross::None | Cross::Tcp(_) | Cross::Poisson { .. } | Cross::Web(_) => return None,
    };
    Some(Flow {
        forward: way.to_vec(),
        reverse: vec![],
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic,
        muted: false,
    })
}

/// The flows of a scenario that come up as the run goes on, over `route`.
#[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
pub(crate) fn arrivals(
    scenario: &Scenario,
    route: Route,
    config: Config,
    controller: AnyController,
) -> Option<Arrivals<AnyScheme, AnyRestart, AnyLaw>> {
    let mss = f64::from(scenario.mss);
    let (content, gap) = match scenario.cross {
        Cross::Poisson { per_second, size, sizes } => {
            let mean = size.in_bytes(u64::from(scenario.mss))?;
            (Content::Transfer(sizes.around(mean)), 1.0 / per_second.to_f64())
        }
        Cross::Web(load) => {
            // Payload and the headers of full segments; those of files' last segments, which are not, add under 0.04 % to it
            // (20 bytes a file of 61 kB). Handshakes, ACKs and retransmissions come on top.
            let bits = Content::Page.mean_bytes() * 8.0 * f64::from(scenario.packet()) / mss;
            (Content::Page, bits / (load.to_f64() * scenario.rate.bps() as f64))
        }
        Cross::None | Cross::Cbr(_) | Cross::Tcp(_) | Cross::OnOff { .. } => return None,
    };
    Some(Arrivals {
        ways: Ways::Listed(vec![route]),
        start: Time::ZERO,
        stop: None,
        most: None,
        gap: Gap::Exponential(nanos(gap)),
        content,
        mix: vec![Ends { client: config, server: config, controller }],
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
pub(crate) fn nanos(seconds: f64) -> Span {
    Span::from_nanos((seconds * 1e9) as u64).max(Span::from_nanos(1))
}

/// What the others did during a run on one hop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hop {
    /// What constant bit rates offered, in IP bits per second.
    pub(crate) constant: u64,
    /// When each responsive flow was active: from, and until when if it ended.
    pub(crate) lives: Vec<(u64, Option<u64>)>,
    /// What an on/off source offered, as steps in IP bits per second.
    pub(crate) offered: Vec<(u64, u64)>,
    /// Propagation after it, to the next hop or the receiver.
    pub(crate) delay: Span,
}

/// A change of what is available.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// The bottleneck's rate.
    Rate(u64),
    /// Unresponsive traffic.
    Offered(u64),
    Began,
    Ended,
}

/// The rate available to the measured flow, as steps: the least of its access link and of what each hop leaves.
/// The definition is in docs/exports.md.
pub(crate) fn available(scenario: &Scenario, hops: &[Hop]) -> Vec<(u64, u64)> {
    let access = vec![(0, scenario.access_rate.bps())];
    let limits =
        std::iter::once(rates(scenario)).chain(scenario.policer.map(|policer| vec![(0, policer.rate.bps())]));
    let limits: Vec<_> = limits.collect();
    let each = hops.iter().flat_map(|hop| limits.iter().map(|limit| not_negative(&hop.left(limit))));
    each.fold(access, |least, left| least_of(&least, &left))
}

/// The bottleneck's rate, as steps.
pub(crate) fn rates(scenario: &Scenario) -> Vec<(u64, u64)> {
    match &scenario.rate_trace {
        Some(trace) => trace.steps().iter().map(|(at, rate)| (at.nanos(), rate.bps())).collect(),
        None => vec![(0, scenario.rate.bps())],
    }
}

impl Hop {
    /// What of a rate over time others leave: less the unresponsive traffic offered, shared equally with the responsive
    /// flows active. Under zero where the unresponsive ones offer more than that.
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

    /// How many responsive flows are active.
    pub(crate) fn active_at(&self, at: u64) -> u64 {
        let active =
            |(from, until): &&(u64, Option<u64>)| *from <= at && until.is_none_or(|until| at < until);
        self.lives.iter().filter(active).count() as u64
    }
}

fn not_negative(steps: &[(u64, i64)]) -> Vec<(u64, u64)> {
    let mut rates = Vec::with_capacity(steps.len());
    for (at, bps) in steps {
        step(&mut rates, *at, u64::try_from(*bps).unwrap_or(0));
    }
    rates
}

/// The lesser of two rates over time, both from the beginning on.
fn least_of(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
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

#[cfg(test)]
mod tests {
    use firstflight::{Bytes, Rate};
    use firstflight_sim::PolicerSpec;

    use super::*;

    fn mbit(mbit: u64) -> Rate {
        Rate::from_bps(mbit * 1_000_000)
    }

    fn alone(scenario: &Scenario) -> Vec<(u64, u64)> {
        let constant = if let Cross::Cbr(rate) = scenario.cross { rate.bps() } else { 0 };
        available(scenario, &[Hop { constant, ..Hop::default() }])
    }

    #[test]
    fn available_is_the_least_over_the_links_of_what_others_leave() {
        let with = |cross, access_rate| Scenario { cross, access_rate, ..Scenario::default() };
        assert_eq!(alone(&with(Cross::Cbr(mbit(40)), mbit(1000))), [(0, 60_000_000)]);
        assert_eq!(alone(&with(Cross::Cbr(mbit(40)), mbit(10))), [(0, 10_000_000)]);
        assert_eq!(alone(&with(Cross::Cbr(mbit(140)), mbit(10))), [(0, 0)]);
        let others = Hop { lives: vec![(5, None), (9, None)], ..Hop::default() };
        let shared = available(&with(Cross::Tcp(2), mbit(45)), std::slice::from_ref(&others));
        assert_eq!(shared, [(0, 45_000_000), (9, 33_333_333)]);
    }

    #[test]
    fn flows_that_end_give_their_share_back() {
        let scenario =
            Scenario { cross: Cross::Web(crate::quantity::Decimal::tenths(3)), ..Scenario::default() };
        let others = Hop { lives: vec![(10, Some(30)), (20, Some(30)), (40, Some(50))], ..Hop::default() };
        let mbps = |steps: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
            steps.into_iter().map(|(at, bps)| (at, bps / 1_000_000)).collect()
        };
        let wanted = [(0, 100), (10, 50), (20, 33), (30, 100), (40, 50), (50, 100)];
        assert_eq!(mbps(available(&scenario, std::slice::from_ref(&others))), wanted);
    }

    #[test]
    fn a_trace_a_policer_and_an_on_off_source_bound_it_each_at_its_time() {
        let steps =
            [(Time::ZERO, mbit(100)), (Time::from_nanos(100), mbit(20)), (Time::from_nanos(200), mbit(80))];
        let scenario = Scenario {
            cross: Cross::None,
            rate_trace: firstflight_sim::RateTrace::new(&steps).ok(),
            policer: Some(PolicerSpec { rate: mbit(50), burst: Bytes::new(1) }),
            ..Scenario::default()
        };
        let wanted = [(0, 50_000_000), (100, 20_000_000), (200, 50_000_000)];
        assert_eq!(alone(&scenario), wanted);
        let others = Hop { offered: vec![(0, 0), (150, 30_000_000), (250, 0)], ..Hop::default() };
        let wanted = [(0, 50_000_000), (100, 20_000_000), (150, 0), (200, 20_000_000), (250, 50_000_000)];
        assert_eq!(available(&scenario, std::slice::from_ref(&others)), wanted);
    }

    #[test]
    fn of_several_hops_the_least_is_available_at_each_time() {
        let scenario = Scenario { cross: Cross::None, ..Scenario::default() };
        let hop = |constant, lives: &[(u64, Option<u64>)]| Hop {
            constant,
            lives: lives.to_vec(),
            ..Hop::default()
        };
        let hops = [
            hop(0, &[(10, Some(30))]),
            hop(20_000_000, &[]),
            hop(0, &[(20, Some(40)), (25, Some(40))]),
            Hop { offered: vec![(0, 0), (50, 90_000_000)], ..Hop::default() },
        ];
        let wanted =
            [(0, 80_000_000), (10, 50_000_000), (25, 33_333_333), (40, 80_000_000), (50, 10_000_000)];
        assert_eq!(available(&scenario, &hops), wanted);
    }
}
