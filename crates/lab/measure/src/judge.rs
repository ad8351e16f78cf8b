//! Turns the evidence of a run into a row.

use crate::arithmetic::seconds;
use crate::early::early;
use crate::evidence::Evidence;
use crate::harm::HarmFields;
use crate::ideal::{IdealKind, ideal_fct};
use crate::metrics;
use crate::rounds::{self, Reply};
use crate::row::Row;
use crate::scorecard::{self, PathFacts};
use crate::windows::Windows;

/// The program's version, which every row has.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The condition that ends a run, which also decides how runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// All replies of all rounds are delivered.
    Rounds,
    /// One transfer is delivered.
    Transfer {
        /// IP bytes of the transfer.
        ip_bytes: u64,
    },
    /// A fixed time has passed.
    Duration,
}

/// The criterion by which the results of a race are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contest {
    /// The condition that ends the runs.
    pub goal: Goal,
    /// The payload rate that the path could carry, in bit/s; `None` if other traffic shares the path, or if the rate changes.
    pub payload_bps: Option<f64>,
    /// Whether the seed can change a run. If it cannot, all runs of a scheme are the same.
    pub seeded: bool,
}

/// The measured scheme, as rows name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The bare name of the scheme.
    pub scheme: String,
    /// The label of the row, if it has one.
    pub label: Option<String>,
    /// The scheme's parameters where they differ from the defaults.
    pub params: String,
    /// The avoidance law.
    pub avoidance: String,
    /// The loss recovery.
    pub recovery: String,
    /// The stack whose behaviour applies where the RFCs and Linux differ; `None` for the RFCs' behaviour.
    pub stack: Option<String>,
    /// The restart policy.
    pub restart: String,
    /// The help needed beyond the sender, in the words of [`Row::deploy`].
    pub deploy: String,
    /// The hash of the scheme's source, if a user added the scheme and gave its source.
    pub source_hash: Option<String>,
}

/// The measured scheme and its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The measured scheme.
    pub subject: Subject,
    /// The seed of the run.
    pub seed: u64,
    /// The hash of the scenario.
    pub scenario_hash: String,
    /// The condition that ends the run.
    pub goal: Goal,
    /// Whether the ideal is exact or a fair share.
    pub ideal_kind: IdealKind,
    /// Base round-trip time in nanoseconds: propagation only.
    pub base_rtt: u64,
    /// IP bytes of a full packet.
    pub packet: u32,
    /// Payload bytes of a full packet.
    pub mss: u16,
    /// Whether the scheme or the restart policy is Quick-Start. Its rows count the routers' answers even if there was no
    /// request.
    pub quick_start: bool,
    /// Whether the application writes in pieces.
    pub writes_in_pieces: bool,
}

/// Removes the start-up and its exit from the row of a controller that reports neither, as those of a QUIC stack.
pub fn without_start_up(row: &mut Row) {
    row.su_time_s = None;
    row.su_throughput_bps = None;
    row.su_loss = None;
    row.su_counts = String::new();
    row.exit_cause = String::new();
}

/// Returns the row of one run. The flow's effect on others is not in it; [`add_harm`] adds that.
pub fn row(measured: &Measured, evidence: &Evidence) -> Row {
    let recording = &evidence.recording;
    let Measured { subject, seed, scenario_hash, goal, ideal_kind, quick_start, .. } = measured;
    let path = facts(measured, evidence);
    let fct = metrics::fct(evidence);
    let ideal = goal.ideal_end(&recording.ideal).map(|end| end.saturating_sub(recording.syn_at));
    let one_transfer = matches!(goal, Goal::Transfer { .. });
    let sized = |value: Option<f64>| one_transfer.then_some(value);
    let of_rounds =
        |mean: fn(&[Reply]) -> Option<f64>| matches!(goal, Goal::Rounds).then(|| mean(&evidence.replies));
    let cost = fct.zip(ideal).map(|(fct, ideal)| seconds(fct) / seconds(ideal));
    let wait = evidence.longest_wait.filter(|_| one_transfer);
    let ended = wait.filter(|wait| wait.nanos() > 0).map(|wait| {
        wait.ended_by(recording.first_data_at, &evidence.timeouts, measured.writes_in_pieces).to_owned()
    });
    // A row leaves out the counts of routers' answers if its scheme is not Quick-Start and never asked.
    let routers = evidence.routers.filter(|routers| routers.asked > 0 || *quick_start);
    Row {
        scheme: subject.scheme.clone(),
        label: subject.label.clone(),
        params: subject.params.clone(),
        avoidance: subject.avoidance.clone(),
        recovery: subject.recovery.clone(),
        stack: subject.stack.clone(),
        restart: subject.restart.clone(),
        deploy: subject.deploy.clone(),
        throughput_bps: metrics::throughput_bps(evidence),
        loss: metrics::loss(evidence),
        su_time_s: metrics::su_time(evidence).map(seconds),
        su_throughput_bps: metrics::su_throughput_bps(evidence),
        su_counts: evidence.su_counts.name().to_owned(),
        trains: Some(evidence.trains).filter(|trains| *trains > 0),
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
        harm_during_lost_packets: 0,
        harm_during_bps: 0.0,
        harm: HarmFields::default(),
        aborted_s: evidence.aborted_at.map(|at| seconds(at - recording.syn_at)),
        fct_s: sized(fct.map(seconds)),
        ideal_fct_s: sized(ideal.map(seconds)),
        cost: sized(cost),
        longest_wait_s: sized(wait.map(|wait| seconds(wait.nanos()))),
        longest_wait_end: one_transfer.then_some(ended),
        waited_s: sized(evidence.waited.map(seconds)),
        elapsed_s: of_rounds(rounds::elapsed),
        elapsed_acked_s: of_rounds(rounds::acked),
        drops: of_rounds(rounds::drops),
        drops_all_rounds: of_rounds(rounds::drops_all_rounds),
        burst_packets: of_rounds(rounds::burst),
        ack_clock_s: of_rounds(rounds::ack_clock),
        ideal_kind: ideal_kind.name().to_owned(),
        cpu: evidence.cpu,
        windows: Windows::default(),
        early: early(evidence, measured.base_rtt),
        seed: *seed,
        version: VERSION.to_owned(),
        scenario_hash: scenario_hash.clone(),
        source_hash: subject.source_hash.clone(),
    }
}

/// Adds to a row what others lost during the flow's life, and the harm that the flow did to them: the difference between the run `with` the
/// flow and the run of this seed `without` it. Both runs end with the flow. The harm in packets is the data packets of other flows dropped
/// with the flow, minus those dropped without it. The harm in bit/s is what others delivered without the flow, minus what they delivered
/// with it, in the units of [`CrossTotals`] (docs/reference/exports.md).
pub fn add_harm(row: &mut Row, with: CrossTotals, without: CrossTotals, life: u64) {
    row.cross_lost_packets = with.lost;
    row.harm_during_lost_packets = with.lost.cast_signed().wrapping_sub(without.lost.cast_signed());
    let bytes = without.delivered.cast_signed().wrapping_sub(with.delivered.cast_signed());
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let bits = bytes as f64 * 8.0;
    row.harm_during_bps = if life == 0 || bytes == 0 { 0.0 } else { bits / seconds(life) };
}

/// Replaces the row's ideal completion time by that of this ideal stream, whose SYN was sent at `syn_at`.
pub fn set_ideal(row: &mut Row, goal: Goal, ideal: &[(u64, u64)], syn_at: u64) {
    let (Some(fct), Some(_)) = (row.fct_s, row.ideal_fct_s) else { return };
    let ideal = goal.ideal_end(ideal).map(|end| seconds(end.saturating_sub(syn_at)));
    row.ideal_fct_s = Some(ideal);
    row.cost = Some(fct.zip(ideal).map(|(fct, ideal)| fct / ideal));
}

/// The totals of the cross traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossTotals {
    /// Data packets of the cross traffic that the network dropped.
    pub lost: u64,
    /// Payload bytes of TCP flows delivered in order, plus IP bytes of datagrams that arrived.
    pub delivered: u64,
}

impl Goal {
    /// Returns when the last byte of the transfer arrives in an ideal stream. `None` if it never arrives, or if the goal is not one
    /// transfer.
    fn ideal_end(self, ideal: &[(u64, u64)]) -> Option<u64> {
        match self {
            Self::Transfer { ip_bytes } => ideal_fct(ideal, 0, ip_bytes),
            Self::Rounds | Self::Duration => None,
        }
    }
}

fn facts<'a>(measured: &Measured, evidence: &'a Evidence) -> PathFacts<'a> {
    PathFacts {
        available: &evidence.recording.available,
        base_rtt: measured.base_rtt,
        packet: u64::from(measured.packet),
        mss: u64::from(measured.mss),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::RouterAnswers;

    fn measured(quick_start: bool) -> Measured {
        Measured {
            subject: Subject::default(),
            seed: 1,
            scenario_hash: String::new(),
            goal: Goal::Duration,
            ideal_kind: IdealKind::Exact,
            base_rtt: 40_000_000,
            packet: 1_500,
            mss: 1_460,
            quick_start,
            writes_in_pieces: false,
        }
    }

    #[test]
    fn router_answers_are_reported_for_askers_and_always_for_quick_start() {
        let record = |asked, quick_start| {
            let routers = Some(RouterAnswers { asked, granted: asked, ..RouterAnswers::default() });
            row(&measured(quick_start), &Evidence { routers, ..Evidence::default() }).qs_granted
        };
        assert_eq!([record(2, false), record(0, true), record(0, false)], [Some(2), Some(0), None]);
    }

    #[test]
    fn trains_are_told_of_who_sent_any() {
        let record = |trains| row(&measured(false), &Evidence { trains, ..Evidence::default() }).trains;
        assert_eq!([record(3), record(0)], [Some(3), None]);
    }

    #[test]
    fn harm_is_what_others_lose_to_the_flow() {
        let mut row = Row::default();
        let with = CrossTotals { lost: 30, delivered: 1_000_000 };
        let without = CrossTotals { lost: 10, delivered: 3_000_000 };
        add_harm(&mut row, with, without, 2_000_000_000);
        assert_eq!((row.cross_lost_packets, row.harm_during_lost_packets), (30, 20));
        assert!((row.harm_during_bps - 8_000_000.0).abs() < 1e-6);
        // A flow may also help others: they lose less and deliver more.
        add_harm(&mut row, without, with, 2_000_000_000);
        assert_eq!((row.cross_lost_packets, row.harm_during_lost_packets), (10, -20));
        assert!((row.harm_during_bps + 8_000_000.0).abs() < 1e-6);
    }
}
