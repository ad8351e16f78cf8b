//! The row of one scheme in a race. docs/reference/exports.md defines every number.

use serde::Serialize;

use crate::column::columns;
use crate::cpu::CpuFields;
use crate::early::Early;
use crate::harm::HarmFields;
use crate::windows::Windows;

/// The value of [`Row::deploy`] for a scheme that a sender's operator can deploy without help.
pub const ALONE: &str = "alone";

columns! {
    /// The row of one run of a scheme. `_bps` is bits per second. `None` (JSON `null`) means that a number is undefined.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Row {
        pub scheme: String = "The start-up scheme.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String> = "The name given with as=, where the same scheme runs twice.";
        pub params: String = "The scheme's parameters where they differ from its defaults.";
        pub avoidance: String = "The congestion-avoidance law that takes over after start-up.";
        pub recovery: String = "How losses are found and repaired.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stack: Option<String> =
            "Whose sender it is where the RFCs and Linux differ; left out if it follows the RFCs.";
        pub restart: String = "The policy after idleness.";
        /// The help that the scheme, its law and its restart policy need beyond the sender: `router-help`, `marks` and `memory`, joined
        /// by `+`, or [`ALONE`].
        pub deploy: String =
            "What the scheme, its law and its restart policy need beyond the sender: alone if nothing, else router-help (routers \
             that approve a rate), marks (queues that mark, ECN), memory (values that an earlier connection saved), joined by +.";
        pub throughput_bps: f64 = ["bit/s"]
            "Payload delivered in order over the flow's life: from the SYN to its last byte, its abort or the end of the run. \
             With several clients, this and all numbers of a flow are those of the first client.";
        pub loss: Option<f64> = ["1"]
            "The flow's own data packets that the network dropped over data packets sent. Undefined if none was sent.";
        pub su_time_s: Option<f64> = ["s"]
            "First data packet sent until avoidance first governs new data: start-up exited, recovery over, cwnd at or above \
             ssthresh; a timeout before that and its slow start are included. Undefined if the flow ends first.";
        pub su_throughput_bps: Option<f64> = ["bit/s"]
            "Payload delivered of the data sent in su-time, over su-time. Data in a queue at the end of su-time counts, so the \
             result may exceed the link's rate. Where su-time is undefined: payload delivered in order over the flow's time since \
             the first data packet. A mean is over the runs with a su-time, unless none has one.";
        /// The growth class of start-up: a word of [`crate::SuCounts`].
        pub su_counts: String =
            "What widened the window in start-up: acks, each ACK by at most a segment; bytes, an ACK by more than a segment but \
             no more than it acknowledged; beyond, an ACK by more than it acknowledged; either, if no ACK that acknowledged more \
             than a segment widened it, so that acks and bytes do not differ. Of several runs, or of a population's flows, the \
             largest growth in this order: either, acks, bytes, beyond.";
        /// The field exists only for schemes that send trains.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trains: Option<u64> = ["trains"]
            "Trains that start-up sent, the first burst and the one that fills the pipe among them; of a population's row those \
             of all its flows together, of a probing all that it sent. Only where trains are sent.";
        pub su_loss: Option<f64> = ["1"]
            "Data packets dropped of those sent in su-time, over those sent in it. Where su-time is undefined: of those of the \
             whole flow.";
        pub timeouts: u64 = ["1"]
            "Retransmission timeouts of data; those of a SYN are not among them.";
        pub su_timeouts: u64 = ["1"]
            "Retransmission timeouts in su-time; where that is undefined, in the whole flow.";
        pub packets_sent: u64 = ["packets"] "Data packets sent, retransmissions included.";
        pub packets_lost: u64 = ["packets"]
            "The flow's own data packets, retransmissions included, that the network dropped.";
        pub packets_marked: u64 = ["packets"]
            "The flow's own data packets that a queue marked as having met congestion (ECN), each counted once.";
        pub retransmissions: u64 = ["packets"] "Data packets that carried data sent before.";
        pub exit_cause: String =
            "Why the first standing exit left start-up; none if the flow ended first.";
        pub exit_time_s: Option<f64> = ["s"] "First data packet sent until that exit.";
        pub exit_rate_bps: Option<f64> = ["bit/s"]
            "The rate that the exit found, for schemes that find one.";
        pub granted_rate_bps: Option<f64> = ["bit/s"]
            "The rate that Quick-Start's routers approved, headers included.";
        /// This field and the next three exist only with Quick-Start.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_asked: Option<u64> = ["1"]
            "Quick-Start requests for a rate that reached a router of the path; one that passes two counts twice, those of all \
             clients count. Only where routers can be asked.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_granted: Option<u64> = ["1"] "Of those, how many the router approved as they were.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_reduced: Option<u64> = ["1"]
            "Of those, how many the router approved at a lower rate.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub qs_refused: Option<u64> = ["1"] "Of those, how many the router denied.";
        pub exit_cwnd_packets: Option<f64> = ["packets"]
            "The congestion window at the exit, before any reduction.";
        pub exit_cwnd_over_bdp: Option<f64> = ["1"]
            "That window in IP bytes over the true bandwidth-delay product at the exit: the rate available to the flow times the \
             base (propagation) round-trip time.";
        pub cwnd_before_first_cut_packets: Option<f64> = ["packets"]
            "The congestion window just before its first reduction; undefined if it was never reduced.";
        pub overshoot_lost_packets: u64 = ["packets"]
            "The flow's own packets dropped by a queue among those sent until one base round-trip time after the exit, or until \
             the end of its recovery.";
        pub time_to_90pct_s: Option<f64> = ["s"]
            "First data packet sent until the end of the first interval (the longer of the base round-trip time and 20 packet \
             times) that carries nine tenths of the available rate, sustained for four consecutive intervals.";
        pub queue_peak_packets: u64 = ["packets"]
            "The longest queue at the bottleneck during the flow; of several bottlenecks, at any. What waits at the sender's own \
             access link, or before the receiver's, is not in it.";
        pub queue_mean_packets: f64 = ["packets"]
            "The time-weighted mean queue at the bottleneck during the flow; of several, where it is the longest.";
        pub cross_lost_packets: u64 = ["packets"]
            "Packets of other flows dropped during the flow's life.";
        pub harm_during_lost_packets: i64 = ["packets"]
            "Those packets, less the packets of other flows dropped in the same time of the same seed's run without this flow. \
             Negative where this flow spares others losses.";
        pub harm_during_bps: f64 = ["bit/s"]
            "What other flows delivered less during this one: the difference from the same seed's run without it, over the \
             flow's life. On a link that others fill this is the flow's own throughput. Of TCP flows it is payload delivered in \
             order, of datagrams IP bytes.";
        /// Harm to others until it is over. It adds no field if the flow has no size or there are no others.
        #[serde(flatten)]
        pub harm: HarmFields => HarmFields::COLUMNS;
        pub aborted_s: Option<f64> = ["s"]
            "SYN sent until an endpoint aborted the connection: seven SYNs, or fifteen consecutive retransmissions of data, were \
             not answered. A transfer's run ends there, unfinished. Undefined if no endpoint aborted it.";
        /// The field exists only if the flow has a size.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub fct_s: Option<Option<f64>> = ["s"]
            "Flow completion time: SYN sent to last byte delivered. Undefined if unfinished.";
        /// The field exists only if the flow has a size.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ideal_fct_s: Option<Option<f64>> = ["s"]
            "The clairvoyant ideal: one base round-trip time for the handshake, then the size in IP bytes over each link of the \
             path, at the rate that other traffic leaves at that time (plus a policer's bucket), and the propagation to the \
             receiver. One ideal for all schemes: other traffic behaves as in the run without the flow. Each transfer of others \
             has an equal share of each hop for as long as an ideal sender needs (docs/reference/models.md). Undefined where \
             others offer more than the bottleneck carries, and with varying traffic if it takes more than four times the limit.";
        /// The field exists only if the flow has a size.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cost: Option<Option<f64>> = ["1"]
            "Flow completion time over the ideal. Where the ideal is a fair share, a cost below 1 is more than a fair share.";
        /// The field exists only if the flow has a size.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub longest_wait_s: Option<Option<f64>> = ["s"]
            "The longest time in which no packet of the flow was on its way, in either direction, until a timer of one of its \
             hosts ended it. Only with a size.";
        /// The event that ended the longest wait ([`crate::Wait::ended_by`]); null if there was no wait. The field exists only if the
        /// flow has a size.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub longest_wait_end: Option<Option<String>> =
            "What ended that wait: handshake, the timer of a SYN or its answer; timeout, the retransmission timeout of data; \
             delayed-ack, the receiver's timer; application, the next piece that the sender's application wrote; sender, any \
             other timer of the sender's. Null if there was no such wait. Only with a size.";
        /// The field exists only if the flow has a size.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub waited_s: Option<Option<f64>> = ["s"]
            "The time in which no packet of the flow was on its way, in all. Only with a size.";
        /// The field exists only with rounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub elapsed_s: Option<Option<f64>> = ["s"]
            "With rounds: mean time from a reply's writing to its last byte delivered, over all clients' rounds after an idle \
             time. Undefined if one is unfinished.";
        /// The field exists only with rounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub elapsed_acked_s: Option<Option<f64>> = ["s"]
            "As `elapsed_s`, but until the sender received the ACK for all of the reply, as ns-2's agents report it.";
        /// The field exists only with rounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub drops: Option<Option<f64>> = ["packets"]
            "With rounds: mean data packets dropped of a reply, over the rounds after an idle time.";
        /// The field exists only with rounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub drops_all_rounds: Option<Option<f64>> = ["packets"]
            "The same over all rounds, first ones included.";
        /// The field exists only with rounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub burst_packets: Option<Option<f64>> = ["packets"]
            "With rounds: mean of the largest number of packets of a reply that were sent at one instant, over the rounds after \
             an idle time.";
        /// The field exists only with rounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ack_clock_s: Option<Option<f64>> = ["s"]
            "With rounds: mean time from a reply's writing to the first ACK for any of it, over the rounds after an idle time.";
        pub ideal_kind: String =
            "exact, of what others leave, or fair-share where responsive cross traffic makes the ideal a fair share. An exact \
             one is beaten only by what others lack: packets that were dropped for the flow, still wait, or were yet to come.";
        /// CPU time of the hosts. It adds no field if operations take no time.
        #[serde(flatten)]
        pub cpu: CpuFields => CpuFields::COLUMNS;
        /// The measurements in the scenario's windows. They add no field if there are no windows.
        #[serde(flatten)]
        pub windows: Windows;
        /// Values of a run that only sweeps use; not a field of a race's row.
        #[serde(skip)]
        pub early: Early;
        pub seed: u64 = "The seed of the run: it moves the phase and the start of cross traffic.";
        pub version: String = "The version of the program.";
        pub scenario_hash: String = "The hash of the scenario.";
        /// The field exists only for a scheme that a user added with its source.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub source_hash: Option<String> =
            "The hash of the source of the scheme, if it is not built in and its program gives its source.";
    }
}
