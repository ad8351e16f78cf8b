//! Results of a population: one row for each scheme, and one row for each flow. docs/reference/exports.md defines every number.

use serde::Serialize;

use crate::column::columns;
use crate::cpu::CpuFields;
use crate::windows::Windows;

columns! {
    /// The results of one scheme in one run of a population. Only measured flows are included.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct PopulationRow {
        /// The bare name of the scheme.
        pub scheme: String;
        /// The label given with `as=`, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>;
        /// The scheme's parameters that differ from the defaults, as on the command line.
        pub params: String;
        pub population: String =
            "Whether all flows of the run have this scheme (only), or each took one at random (mixed). Of flows said one by one \
             with several schemes: scripted, or with NAME if some have the row's scheme, which is NAME in this run.";
        /// The avoidance law.
        pub avoidance: String;
        /// The loss recovery.
        pub recovery: String;
        /// The stack whose behaviour applies where the RFCs and Linux differ; `None` for the RFCs' behaviour.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stack: Option<String>;
        /// The restart policy.
        pub restart: String;
        /// The help needed beyond the sender, in the words of [`crate::Row::deploy`].
        pub deploy: String;
        pub flows: u64 = ["flows"]
            "Flows of the scheme that were measured; what follows is of these, unless it says otherwise.";
        pub unfinished: u64 = ["flows"] "Of those, how many did not finish by the end of the run.";
        pub throughput_mean_bps: Option<f64> = ["bit/s"]
            "The mean over flows of a flow's throughput: payload over the time since its SYN.";
        pub throughput_p5_bps: Option<f64> = ["bit/s"]
            "Of flows' throughputs, the one that 5 % do not exceed.";
        pub throughput_median_bps: Option<f64> = ["bit/s"] "The median of flows' throughputs.";
        pub throughput_p95_bps: Option<f64> = ["bit/s"]
            "Of flows' throughputs, the one that 95 % do not exceed.";
        pub fct_mean_s: Option<f64> = ["s"]
            "The mean completion time. Undefined if a flow did not finish.";
        pub fct_p5_s: Option<f64> = ["s"] "Of completion times, the one that 5 % do not exceed.";
        pub fct_median_s: Option<f64> = ["s"]
            "The median completion time. Undefined if half did not finish.";
        pub fct_p95_s: Option<f64> = ["s"] "Of completion times, the one that 95 % do not exceed.";
        /// Data packets dropped over data packets sent, of all flows together.
        pub loss: Option<f64>;
        pub startup_loss: Option<f64> = ["1"]
            "Data packets dropped of those sent in start-up over all data packets sent, of all flows together.";
        /// The highest growth class of any flow's start-up: a word of [`crate::SuCounts`].
        pub su_counts: String;
        pub lossy_flows: u64 = ["flows"] "Flows that had a data packet dropped.";
        pub exited_flows: u64 = ["flows"] "Flows that left start-up.";
        /// Trains that the flows' start-ups sent, as [`crate::Row::trains`] counts them; only of schemes that send trains.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trains: Option<u64>;
        /// Retransmission timeouts of the flows.
        pub timeouts: u64;
        /// Data packets sent, retransmissions included.
        pub packets_sent: u64;
        /// Data packets that the network dropped.
        pub packets_lost: u64;
        /// This field and the next four exist only if the scheme asks routers.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_requests: Option<u64> = ["1"]
            "Quick-Start requests for a rate that the flows sent. Only where the scheme asks routers, as the next four.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_approved: Option<u64> = ["1"]
            "Of those, how many all routers of the path approved, at the requested rate or a lower one.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_lowered: Option<u64> = ["1"]
            "Of those approved, how many at a lower rate than requested.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_success: Option<Option<f64>> = ["1"]
            "Requests approved over requests: the success probability. Undefined without any.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_rate_mean_bps: Option<Option<f64>> = ["bit/s"]
            "The mean of the first rate that each flow was granted, over the flows that were granted one, headers included.";
        pub active_mean: Option<f64> = ["flows"]
            "Mean number of flows in progress, from the first measured arrival to the last: those of all schemes and those that \
             are not measured.";
        pub packet_hops: u64 = ["1"]
            "Packets that links carried in the whole run, each counted once for every link.";
        /// CPU time of the hosts; adds no field where operations take no time.
        #[serde(flatten)]
        pub cpu: CpuFields;
        /// The measurements in the scenario's windows; adds no field without windows.
        #[serde(flatten)]
        pub windows: Windows;
        /// The seed of the run.
        pub seed: u64;
        /// The program's version.
        pub version: String;
        /// Hash of the scenario.
        pub scenario_hash: String;
    }
}

columns! {
    /// One flow of a population.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct FlowRow {
        pub flow: u32 = "The number of the flow in the run, in order of arrival, from zero.";
        /// The bare name of the flow's scheme.
        pub scheme: String;
        /// The label given with `as=`, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>;
        /// The scheme's parameters that differ from the defaults.
        pub params: String;
        /// How the population assigns schemes, as [`PopulationRow::population`].
        pub population: String;
        pub measured: u8 =
            "1 if the flow counts: it came after the warm-up and is not one too many; else 0.";
        pub start_s: f64 = ["s"] "When its SYN left, from the beginning of the run.";
        pub from: String =
            "The host that sends: its router and its place there, both counted from zero.";
        pub to: String = "The host that receives.";
        pub size_bytes: Option<u64> = ["B"]
            "Payload to transfer. Undefined if the flow goes on until its end or the run's.";
        /// From the SYN to the delivery of the last byte; undefined if the flow did not finish.
        pub fct_s: Option<f64>;
        /// Payload delivered in order, over the time from the SYN to the last byte or the end of the run.
        pub throughput_bps: Option<f64>;
        /// From the first data packet until new data was first sent under the avoidance law; undefined if that never happened.
        pub su_time_s: Option<f64>;
        /// The growth class of start-up: a word of [`crate::SuCounts`].
        pub su_counts: String;
        /// The cause of the first exit from start-up that was not undone; `none` if the flow ended before one.
        pub exit_cause: String;
        /// Trains that start-up sent, as [`crate::Row::trains`] counts them; only of schemes that send trains.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trains: Option<u64>;
        /// This field and the next exist only if the scheme asks routers.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub requested_rate_bps: Option<Option<f64>> = ["bit/s"]
            "The rate of the flow's newest Quick-Start request, headers included. Undefined if it sent none. Only where the \
             scheme asks routers.";
        /// The first rate that the routers approved, headers included; undefined if they approved none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub granted_rate_bps: Option<Option<f64>>;
        /// Data packets sent, retransmissions included.
        pub packets_sent: u64;
        /// Data packets that the network dropped.
        pub packets_lost: u64;
        pub startup_packets_lost: u64 = ["packets"]
            "Of the data packets sent in start-up, how many the network dropped.";
        /// Retransmission timeouts of the flow.
        pub timeouts: u64;
        /// CPU time of the hosts; adds no field where operations take no time.
        #[serde(flatten)]
        pub cpu: CpuFields;
        /// The measurements in the scenario's windows; adds no field without windows.
        #[serde(flatten)]
        pub windows: Windows;
        /// The seed of the run.
        pub seed: u64;
        /// The program's version.
        pub version: String;
        /// Hash of the scenario.
        pub scenario_hash: String;
    }
}
