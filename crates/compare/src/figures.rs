//! The numbers of one run.

use firstflight_measure::arithmetic::seconds;
use firstflight_measure::scorecard::{self, PathFacts};
use firstflight_measure::{Evidence, metrics};
use firstflight_scenario::Scenario;

/// The numbers of one run, by the definitions of docs/exports.md. `None` where a habitat cannot know one.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Figures {
    /// SYN sent to last byte delivered; `None` if the transfer did not finish.
    pub fct_s: Option<f64>,
    /// Payload delivered in order over the time since the SYN.
    pub throughput_bps: f64,
    /// Data packets sent, those sent again too.
    pub packets_sent: u64,
    /// Data packets dropped.
    pub packets_lost: u64,
    /// Of them those of the overshoot: dropped by a queue, and sent until a round trip after the exit or until the end of the
    /// exit's recovery.
    pub overshoot_lost_packets: Option<u64>,
    /// Why the first standing exit left start-up; `none` if the flow ended first.
    pub exit_cause: Option<String>,
    /// From the first data packet to that exit.
    pub exit_time_s: Option<f64>,
    /// The trains that start-up sent; only of schemes that send trains.
    pub trains: Option<u64>,
    /// The window then, in full segments; of the kernel what is in flight.
    pub exit_window_packets: Option<f64>,
    /// The rate that the exit found, in IP bits per second.
    pub exit_rate_bps: Option<f64>,
}

impl Figures {
    /// The numbers of a run whose sender told of its inside. `mss` is the payload of a full segment of its own.
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

    /// The numbers of a run of which only packets are known.
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
