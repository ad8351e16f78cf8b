//! The numbers of one run.

use firstflight_measure::arithmetic::seconds;
use firstflight_measure::scorecard::{self, PathFacts};
use firstflight_measure::{Evidence, metrics};
use firstflight_scenario::Scenario;

/// The numbers of one run, as defined in docs/reference/exports.md. A number is `None` if the environment cannot observe it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Figures {
    /// Time from the SYN to the delivery of the last byte; `None` if the transfer did not finish.
    pub fct_s: Option<f64>,
    /// Payload delivered in order, divided by the time from the SYN to the end of the run.
    pub throughput_bps: f64,
    /// Data packets sent, including retransmissions.
    pub packets_sent: u64,
    /// Data packets dropped.
    pub packets_lost: u64,
    /// Overshoot losses: packets dropped by a queue that were sent before the end of the recovery after the exit, or until an RTT after the
    /// exit.
    pub overshoot_lost_packets: Option<u64>,
    /// The cause of the first exit from start-up that lasted; `none` if the flow ended before an exit.
    pub exit_cause: Option<String>,
    /// Time from the first data packet to the exit from start-up.
    pub exit_time_s: Option<f64>,
    /// The number of trains that start-up sent; `None` if it sent none.
    pub trains: Option<u64>,
    /// The congestion window at the exit from start-up, in full segments. For the kernel, it is the bytes in flight.
    pub exit_window_packets: Option<f64>,
    /// The rate that the scheme estimated at the exit, in bit/s of IP packets.
    pub exit_rate_bps: Option<f64>,
}

impl Figures {
    /// Computes the numbers of a run whose sender reported its internal events. `mss` is the payload of a full segment of the sender.
    pub(crate) fn new(evidence: &Evidence, scenario: &Scenario, mss: u64) -> Self {
        let packet = u64::from(scenario.packet());
        let path = PathFacts { available: &[], base_rtt: scenario.rtt.nanos(), packet, mss };
        let exit = scorecard::first_exit(evidence);
        Self {
            overshoot_lost_packets: Some(scorecard::overshoot_lost_packets(evidence, &path)),
            exit_cause: Some(exit.map_or("none", |exit| exit.cause.name()).to_owned()),
            trains: Some(evidence.trains).filter(|trains| *trains > 0),
            exit_time_s: scorecard::exit_time(evidence).map(seconds),
            exit_window_packets: scorecard::exit_cwnd_packets(evidence, &path),
            exit_rate_bps: exit.and_then(|exit| exit.rate).map(bits),
            ..Self::of_packets(evidence)
        }
    }

    /// Computes the numbers of a run of which only packets are known.
    pub(crate) fn of_packets(evidence: &Evidence) -> Self {
        Self {
            fct_s: metrics::fct(evidence).map(seconds),
            throughput_bps: metrics::throughput_bps(evidence),
            packets_sent: metrics::packets_sent(evidence),
            packets_lost: metrics::packets_lost(evidence),
            ..Self::default()
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53 bit/s")]
fn bits(bps: u64) -> f64 {
    bps as f64
}
