//! Results of a population: a row a scheme, and a row a flow. docs/exports.md defines every number.

use serde::Serialize;

use crate::cpu::CpuFields;
use crate::windows::Windows;

/// One scheme in one run of a population. Only measured flows count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PopulationRow {
    /// The bare name of the scheme.
    pub scheme: String,
    /// The label given with `as=`, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its parameters where they differ from the defaults, as on the command line.
    pub params: String,
    /// Whether all flows have this scheme: `only`; `mixed` if each drew one; `scripted`, or `with NAME` beside the row's scheme,
    /// if flows are said one by one.
    pub population: String,
    /// The avoidance law.
    pub avoidance: String,
    /// How losses are repaired.
    pub recovery: String,
    /// The stack whose behaviour applies where the RFCs and Linux differ; `None` for the RFCs' behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The restart policy.
    pub restart: String,
    /// What is needed beyond the sender, as [`crate::Row::deploy`] says it.
    pub deploy: String,
    /// How many flows were measured.
    pub flows: u64,
    /// Of those, how many did not finish by the end of the run.
    pub unfinished: u64,
    /// The mean over flows of a flow's throughput.
    pub throughput_mean_bps: Option<f64>,
    /// Of flows' throughputs, the one that 5 % do not exceed.
    pub throughput_p5_bps: Option<f64>,
    /// Their median.
    pub throughput_median_bps: Option<f64>,
    /// The one that 95 % do not exceed.
    pub throughput_p95_bps: Option<f64>,
    /// The mean completion time; undefined if a flow did not finish.
    pub fct_mean_s: Option<f64>,
    /// Of completion times, the one that 5 % do not exceed; undefined if that is one of an unfinished flow.
    pub fct_p5_s: Option<f64>,
    /// Their median.
    pub fct_median_s: Option<f64>,
    /// The one that 95 % do not exceed.
    pub fct_p95_s: Option<f64>,
    /// Data packets dropped over data packets sent, of all flows together.
    pub loss: Option<f64>,
    /// Data packets sent in start-up and dropped, over all data packets sent, of all flows together.
    pub startup_loss: Option<f64>,
    /// The most that any flow's start-up counted: a word of [`crate::SuCounts`].
    pub su_counts: String,
    /// How many flows had a data packet dropped.
    pub lossy_flows: u64,
    /// How many flows left start-up.
    pub exited_flows: u64,
    /// Trains that the flows' start-ups sent, as [`crate::Row::trains`] counts them; only of schemes that send trains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trains: Option<u64>,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Of those, how many the network dropped.
    pub packets_lost: u64,
    /// Requests for a rate that the flows sent to the path's routers (Quick-Start); only where the scheme asks them, as the next
    /// four.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_requests: Option<u64>,
    /// Of those, how many all routers approved, at the rate asked for or a lower one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_approved: Option<u64>,
    /// Of those approved, how many at a lower rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_lowered: Option<u64>,
    /// Requests approved over requests; undefined without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_success: Option<Option<f64>>,
    /// The mean over flows of the first rate that was approved; undefined if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qs_rate_mean_bps: Option<Option<f64>>,
    /// The mean number of active flows, of any scheme, from the first measured arrival to the last.
    pub active_mean: Option<f64>,
    /// Packets that links carried, of all flows of the run. A packet counts once for every link.
    pub packet_hops: u64,
    /// What the hosts' processors did; adds no field where what they do takes no time.
    #[serde(flatten)]
    pub cpu: CpuFields,
    /// What was measured in the scenario's windows; without windows it adds no field.
    #[serde(flatten)]
    pub windows: Windows,
    /// The seed of the run.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// Hash of the scenario.
    pub scenario_hash: String,
}

/// One flow of a population.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowRow {
    /// The flow's number in the order of arrivals, from zero.
    pub flow: u32,
    /// The bare name of its scheme.
    pub scheme: String,
    /// The label given with `as=`, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The scheme's parameters where they differ from the defaults.
    pub params: String,
    /// As [`PopulationRow::population`].
    pub population: String,
    /// 1 if the flow is measured: it arrived after the warm-up and is among the first that the scenario measures; else 0.
    pub measured: u8,
    /// When its SYN left, from the beginning of the run.
    pub start_s: f64,
    /// The sending host: its router and its place there, both from zero.
    pub from: String,
    /// The receiving host, likewise.
    pub to: String,
    /// Payload bytes to transfer; undefined if it goes on until its end or the run's.
    pub size_bytes: Option<u64>,
    /// SYN sent to last byte delivered; undefined if it did not finish.
    pub fct_s: Option<f64>,
    /// Payload delivered in order over the time since the SYN, up to the last byte or the end of the run.
    pub throughput_bps: Option<f64>,
    /// First data packet sent until avoidance first governed new data; undefined if it never did.
    pub su_time_s: Option<f64>,
    /// What widened the window in start-up: a word of [`crate::SuCounts`].
    pub su_counts: String,
    /// Why the first standing exit left start-up; `none` if the flow ended first.
    pub exit_cause: String,
    /// Trains that start-up sent, as [`crate::Row::trains`] counts them; only of schemes that send trains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trains: Option<u64>,
    /// The rate of its newest request to the path's routers, headers included; undefined if it sent none. Only where the scheme
    /// asks them, as the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_rate_bps: Option<Option<f64>>,
    /// The first rate that they approved, headers included; undefined if they approved none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted_rate_bps: Option<Option<f64>>,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Of those, how many the network dropped.
    pub packets_lost: u64,
    /// Data packets sent in start-up that the network dropped.
    pub startup_packets_lost: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// What the hosts' processors did; adds no field where what they do takes no time.
    #[serde(flatten)]
    pub cpu: CpuFields,
    /// What was measured in the scenario's windows; without windows it adds no field.
    #[serde(flatten)]
    pub windows: Windows,
    /// The seed of the run.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// Hash of the scenario.
    pub scenario_hash: String,
}
