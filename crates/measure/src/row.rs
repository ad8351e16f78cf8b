//! The row of one scheme in a race. docs/exports.md defines every number.

use serde::Serialize;

use crate::cpu::CpuFields;
use crate::early::Early;
use crate::windows::Windows;

/// What [`Row::deploy`] says of a scheme that a sender's operator can deploy without anybody's help.
pub const ALONE: &str = "alone";

/// One result row. `_bps` is bits per second; `None` (JSON `null`) where a number is undefined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// The bare name of the scheme.
    pub scheme: String,
    /// The label given with `as=`, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its parameters where they differ from the defaults, as on the command line.
    pub params: String,
    /// The avoidance law.
    pub avoidance: String,
    /// How losses are repaired.
    pub recovery: String,
    /// The stack whose behaviour applies where the RFCs and Linux differ; `None` for the RFCs' behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The restart policy.
    pub restart: String,
    /// What the scheme, its law and its restart policy need beyond the sender: `router-help`, `marks` and `memory`, joined by
    /// `+`, or [`ALONE`].
    pub deploy: String,
    /// Payload delivered in order over the time since the SYN.
    pub throughput_bps: f64,
    /// Own data packets dropped over data packets sent; `None` if none was sent.
    pub loss: Option<f64>,
    /// First data packet sent until avoidance first governs new data.
    pub su_time_s: Option<f64>,
    /// Payload delivered of what was sent in su-time, over su-time.
    pub su_throughput_bps: Option<f64>,
    /// What widened the window in start-up: a word of [`crate::SuCounts`].
    pub su_counts: String,
    /// Trains that start-up sent, the one that fills the pipe among them; only of schemes that send trains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trains: Option<u64>,
    /// Data packets dropped of those sent in su-time, over those sent.
    pub su_loss: Option<f64>,
    /// Retransmission timeouts of data, not of the SYN.
    pub timeouts: u64,
    /// Retransmission timeouts in su-time.
    pub su_timeouts: u64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Own data packets that the network dropped.
    pub packets_lost: u64,
    /// Own data packets that a queue marked as having met congestion, each once.
    pub packets_marked: u64,
    /// Data packets that carried data sent before.
    pub retransmissions: u64,
    /// Why the first standing exit left start-up; `none` if the flow ended first.
    pub exit_cause: String,
    /// From the first data packet to the exit.
    pub exit_time_s: Option<f64>,
    /// The rate that the exit found, if the scheme finds one.
    pub exit_rate_bps: Option<f64>,
    /// The rate that Quick-Start's routers approved, headers included; none if none was asked for or approved.
    pub granted_rate_bps: Option<f64>,
    /// Requests for a rate that reached a router of the path, each once for every router; only with Quick-Start,
    /// as the next three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_asked: Option<u64>,
    /// Of those, how many a router approved as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_granted: Option<u64>,
    /// How many it approved at a lower rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_reduced: Option<u64>,
    /// How many it denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_refused: Option<u64>,
    /// The window at the exit, before any reduction, in full segments.
    pub exit_cwnd_packets: Option<f64>,
    /// That window in IP bytes over the true BDP at the exit.
    pub exit_cwnd_over_bdp: Option<f64>,
    /// The window before the first reduction, in full segments.
    pub cwnd_before_first_cut_packets: Option<f64>,
    /// Own packets dropped by a queue among those sent until one base RTT after the exit, or until the end
    /// of its recovery.
    pub overshoot_lost_packets: u64,
    /// First data to the end of the first of four intervals in a row that bring nine tenths of the
    /// available rate.
    pub time_to_90pct_s: Option<f64>,
    /// The longest queue at the bottleneck, in packets; of several bottlenecks, at any. What waits at the access link
    /// is the sender's own.
    pub queue_peak_packets: u64,
    /// The mean queue at the bottleneck over the flow's life, in packets; of several, where it is the longest.
    pub queue_mean_packets: f64,
    /// Packets of other flows dropped, less those dropped in the same run without this flow.
    pub cross_lost_packets: i64,
    /// Payload or datagram bits of other flows not delivered because of this flow, over its life.
    pub harm_bps: f64,
    /// SYN sent to when its connection was aborted, if it was before its last byte was delivered.
    pub aborted_s: Option<f64>,
    /// SYN sent to last byte delivered; only with a size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fct_s: Option<Option<f64>>,
    /// The clairvoyant ideal; only with a size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ideal_fct_s: Option<Option<f64>>,
    /// FCT over the ideal; only with a size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Option<f64>>,
    /// Mean time from a reply's writing to its last byte delivered, over restart rounds; only with rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<Option<f64>>,
    /// Mean time from a reply's writing until its last byte was acknowledged at its sender, over restart rounds; only with
    /// rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_acked_s: Option<Option<f64>>,
    /// Mean data packets dropped of a reply, over restart rounds; only with rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<Option<f64>>,
    /// Mean number of dropped data packets of a reply, over all rounds; only with rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops_all_rounds: Option<Option<f64>>,
    /// Mean longest burst of a reply, over restart rounds: packets that left at one instant; only with rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_packets: Option<Option<f64>>,
    /// Mean time from a reply's writing to the first ACK for any of it, over restart rounds; only with rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_clock_s: Option<Option<f64>>,
    /// `exact`, or `fair-share` where responsive cross traffic makes the ideal a fair share.
    pub ideal_kind: String,
    /// What the hosts' processors did; adds no field where what they do takes no time.
    #[serde(flatten)]
    pub cpu: CpuFields,
    /// What was measured in the scenario's windows; without windows it adds no field.
    #[serde(flatten)]
    pub windows: Windows,
    /// What only sweeps have of a run; no field of a race's row.
    #[serde(skip)]
    pub early: Early,
    /// The seed of the run.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// Hash of the scenario.
    pub scenario_hash: String,
}
