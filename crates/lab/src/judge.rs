//! From evidence to a row.

use crate::choice::SchemeChoice;
use crate::ideal::{IdealKind, ideal_end};
use crate::metrics::{self, seconds};
use crate::observe::Evidence;
use crate::rounds::{self, Reply};
use crate::row::Row;
use crate::run::CrossTotals;
use crate::scenario::{Goal, Scenario};
use crate::scorecard::{self, PathFacts};
use crate::stage::is_quick_start;
use crate::words;

/// The version that rows carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The row of one run, but for what it did to others ([`add_harm`]).
pub fn row(scenario: &Scenario, choice: &SchemeChoice, seed: u64, evidence: &Evidence) -> Row {
    let recording = &evidence.recording;
    let path = facts(scenario, evidence);
    let fct = metrics::fct(evidence);
    let ideal = ideal_end(scenario, &recording.ideal).map(|end| end.saturating_sub(recording.syn_at));
    let one_transfer = matches!(scenario.goal, Goal::Size(_)) && scenario.rounds.is_none();
    let sized = |value: Option<f64>| one_transfer.then_some(value);
    let of_rounds = |mean: fn(&[Reply]) -> Option<f64>| scenario.rounds.map(|_| mean(&evidence.replies));
    let cost = fct.zip(ideal).map(|(fct, ideal)| seconds(fct) / seconds(ideal));
    let own = choice.on(scenario);
    // Of a scheme that might ask and never did, routers have nothing to say.
    let routers = evidence.routers.filter(|routers| routers.asked > 0 || is_quick_start(scenario, choice));
    Row {
        scheme: choice.entry.name.to_owned(),
        label: choice.label.clone(),
        params: choice.params(),
        avoidance: choice.law(own.avoidance).to_owned(),
        recovery: words::recovery_name(own.recovery).to_owned(),
        stack: words::stack_if_not_rfc(own.stack).map(str::to_owned),
        restart: own.restart.to_string(),
        throughput_bps: metrics::throughput_bps(evidence),
        loss: metrics::loss(evidence),
        su_time_s: metrics::su_time(evidence).map(seconds),
        su_throughput_bps: metrics::su_throughput_bps(evidence),
        su_loss: metrics::su_loss(evidence),
        timeouts: evidence.timeouts.len() as u64,
        su_timeouts: metrics::su_timeouts(evidence),
        packets_sent: metrics::packets_sent(evidence),
        packets_lost: metrics::packets_lost(evidence),
        packets_marked: evidence.packets_marked,
        retransmissions: metrics::retransmissions(evidence),
        exit_cause: scorecard::first_exit(evidence).map_or("none", |exit| exit.cause.name()).to_owned(),
        exit_time_s: scorecard::exit_time(evidence).map(seconds),
        #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
        exit_rate_bps: scorecard::first_exit(evidence).and_then(|exit| exit.rate).map(|rate| rate as f64),
        #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
        granted_rate_bps: evidence.granted.map(|rate| rate as f64),
        qs_asked: routers.map(|routers| routers.asked),
        qs_granted: routers.map(|routers| routers.granted),
        qs_reduced: routers.map(|routers| routers.reduced),
        qs_refused: routers.map(|routers| routers.refused),
        exit_cwnd_packets: scorecard::exit_cwnd_packets(evidence, &path),
        exit_cwnd_over_bdp: scorecard::exit_cwnd_over_bdp(evidence, &path),
        cwnd_before_first_cut_packets: scorecard::cwnd_before_first_cut_packets(evidence, &path),
        overshoot_lost_packets: scorecard::overshoot_lost_packets(evidence, &path),
        time_to_90pct_s: scorecard::time_to_90pct(evidence, &path).map(seconds),
        queue_peak_packets: u64::from(evidence.queue_peak),
        queue_mean_packets: metrics::queue_mean_packets(evidence),
        cross_lost_packets: 0,
        harm_bps: 0.0,
        aborted_s: evidence.aborted_at.map(|at| seconds(at - recording.syn_at)),
        fct_s: sized(fct.map(seconds)),
        ideal_fct_s: sized(ideal.map(seconds)),
        cost: sized(cost),
        elapsed_s: of_rounds(rounds::elapsed),
        elapsed_acked_s: of_rounds(rounds::acked),
        drops: of_rounds(rounds::drops),
        drops_all_rounds: of_rounds(rounds::drops_all_rounds),
        burst_packets: of_rounds(rounds::burst),
        ack_clock_s: of_rounds(rounds::ack_clock),
        ideal_kind: ideal_kind(scenario).name().to_owned(),
        seed,
        version: VERSION.to_owned(),
        scenario_hash: scenario.hash(),
    }
}

/// Adds what the flow did to others: the difference from the same seed's run without it, over the flow's life.
/// The loss is data packets of other flows dropped, with less without; the harm is what others delivered
/// without it less what they delivered with it, in bit/s: payload of TCP flows, IP bytes of datagrams, as [`CrossTotals`] has
/// them (docs/exports.md).
pub fn add_harm(row: &mut Row, with: CrossTotals, without: CrossTotals, life: u64) {
    row.cross_lost_packets = with.lost.cast_signed().wrapping_sub(without.lost.cast_signed());
    let bytes = without.delivered.cast_signed().wrapping_sub(with.delivered.cast_signed());
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let bits = bytes as f64 * 8.0;
    row.harm_bps = if life == 0 || bytes == 0 { 0.0 } else { bits / seconds(life) };
}

/// Compares with this ideal stream in place of the run's own, whose SYN left at `syn_at`.
pub fn set_ideal(row: &mut Row, scenario: &Scenario, ideal: &[(u64, u64)], syn_at: u64) {
    let (Some(fct), Some(_)) = (row.fct_s, row.ideal_fct_s) else { return };
    let ideal = ideal_end(scenario, ideal).map(|end| seconds(end.saturating_sub(syn_at)));
    row.ideal_fct_s = Some(ideal);
    row.cost = Some(fct.zip(ideal).map(|(fct, ideal)| fct / ideal));
}

/// Whether the ideal of a scenario is exact or a fair share.
pub fn ideal_kind(scenario: &Scenario) -> IdealKind {
    if scenario.cross.is_responsive() { IdealKind::FairShare } else { IdealKind::Exact }
}

fn facts<'a>(scenario: &Scenario, evidence: &'a Evidence) -> PathFacts<'a> {
    PathFacts {
        available: &evidence.recording.available,
        base_rtt: scenario.rtt.nanos(),
        packet: u64::from(scenario.packet()),
        mss: u64::from(scenario.mss),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_what_others_lose_to_the_flow() {
        let mut row = Row::default();
        let with = CrossTotals { lost: 30, delivered: 1_000_000 };
        let without = CrossTotals { lost: 10, delivered: 3_000_000 };
        add_harm(&mut row, with, without, 2_000_000_000);
        assert_eq!(row.cross_lost_packets, 20);
        assert!((row.harm_bps - 8_000_000.0).abs() < 1e-6);
        // A flow may also help: others lose less and deliver more.
        add_harm(&mut row, without, with, 2_000_000_000);
        assert_eq!(row.cross_lost_packets, -20);
        assert!((row.harm_bps + 8_000_000.0).abs() < 1e-6);
    }
}
