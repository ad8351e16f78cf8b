//! The results for one sender of one connection. Each is a value, or undefined with a reason.

use std::collections::BTreeMap;

use firstflight_measure::columns;
use serde::Serialize;

columns! {
    /// Results for one direction of a connection in which data flowed, or for a connection without data. Times are in seconds, and `_bps`
    /// means bits per second. An undefined value is `None` (JSON `null`), and `undefined` gives the reason.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Found {
        pub connection: u64 = "The connection's number in the capture, in order of first packets.";
        pub from: String = "The sender of the data.";
        pub to: String = "Its receiver.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tunnel: Option<String> =
            "The tunnel, session of PPP over Ethernet or MPLS label stack that the sender's first packet was in: its kind (gre, \
             vxlan, vxlan-gpe, geneve, gtp-u, ip, pppoe, mpls) and its identifier, session or labels, if it has any. Left out \
             without one.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub outer_from: Option<String> =
            "The tunnel's end at the sender: an IP address, or of pppoe an Ethernet address.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub outer_to: Option<String> = "The tunnel's end at the receiver.";
        pub role: Option<&'static str> =
            "client if the sender opened the connection, server if it answered.";
        pub began_at_s: f64 = ["s"] "The connection's first packet, by the clock of the capture or log: seconds since 1970, or since the reference of a qlog, where it may be negative.";
        pub duration_s: f64 = ["s"] "The connection's first packet to its last.";
        pub vantage: Option<&'static str> =
            "Where the capture was taken: sender, receiver or between, by the parts of the handshake.";
        pub handshake_rtt_s: Option<f64> = ["s"]
            "The round trip of the handshake, without a host's own time where the capture was taken at it.";
        pub rtt_to_sender_s: Option<f64> = ["s"]
            "The handshake's part from the capture's place to the sender and back.";
        pub rtt_to_receiver_s: Option<f64> = ["s"]
            "The handshake's part from the capture's place to the receiver and back.";
        pub min_rtt_s: Option<f64> = ["s"] "The minimum round-trip time of data that was sent once.";
        pub mss_bytes: Option<u64> = ["bytes"] "Payload of a full segment, by the SYNs' options.";
        pub window_scale: Option<u8> =
            "The shift of the sender's own windows; 0 if it does not scale.";
        pub receiver_window_scale: Option<u8> = "The shift of the windows that the receiver gives.";
        pub sack: Option<bool> = "Whether both ends offered selective acknowledgements.";
        pub timestamps: Option<bool> = "Whether both ends offered timestamps.";
        pub ecn: Option<bool> = "Whether both ends agreed on explicit congestion notification.";
        pub ecn_feedback: Option<&'static str> =
            "How the receiver reports marks: rfc3168 by ECE, accecn by the counter of Accurate ECN (RFC 9768).";
        pub segments_sent: Option<u64> = ["segments"]
            "All segments from this host, without payload too. A captured packet larger than the MSS counts as the segments that \
             the network card makes of it.";
        pub data_segments_sent: Option<u64> = ["segments"]
            "Segments with payload, retransmissions included.";
        pub bytes_sent: Option<u64> = ["bytes"] "Payload, retransmissions included.";
        pub bytes_acked: u64 = ["bytes"] "Payload acknowledged in order.";
        pub retransmitted_segments: Option<u64> = ["segments"] "Segments retransmitted.";
        pub retransmitted_bytes: Option<u64> = ["bytes"] "Payload retransmitted.";
        pub spurious_segments: u64 = ["segments"]
            "Segments that the receiver said it got twice (RFC 2883).";
        pub timeouts_suspected: Option<u64> = ["1"]
            "Retransmissions of the first outstanding segment after a silence as long as the timer, or sent for the third time \
             and as late: a lower bound, since duplicate ACKs may break the silence.";
        pub throughput_bps: Option<f64> = ["bit/s"]
            "Payload acknowledged in order over the time from the first packet to the last.";
        pub initial_window_bytes: Option<u64> = ["bytes"]
            "Payload sent before the first acknowledgement of data reached the sender.";
        pub initial_window_segments: Option<u64> = ["segments"] "The same in segments.";
        pub initial_window_limit: Option<&'static str> =
            "What bounded it: window, receiver-window, or application if there was no more to send.";
        pub initial_window_spread: Option<f64> = ["1"]
            "From its first packet to its last, over the time to that acknowledgement.";
        pub back_to_back: Option<f64> = ["1"]
            "Of start-up's packets, the share that left within an eighth of the round's even spacing of the one before.";
        pub ack_triggered: Option<f64> = ["1"]
            "Of start-up's bursts, the share that left as an acknowledgement came. Known at the sender only.";
        pub pacing: Option<&'static str> =
            "ack-clocked if nine tenths of the bursts left as an acknowledgement came; paced if less than half did, or less than \
             a quarter of the packets left back to back; else mixed.";
        pub exit_cause: Option<&'static str> =
            "Why start-up ended: loss or timeout (data was retransmitted and the flight fell), mark (congestion marks were \
             echoed and the flight fell), receiver-window, application (nothing to send for three rounds, and no growth after \
             them), drain (the flight stopped growing, then fell without a loss), flat (it stopped growing, and none of these); \
             reported if a qlog shows it without a loss or a mark; none if the data ended first, undefined if the capture did.";
        pub exit_time_s: Option<f64> = ["s"]
            "First data to that end: the first retransmission, the last growth of the flight, or the beginning of its fall.";
        /// Whether a paced sender lost packets and continued as before. Absent if this was not observed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ignores_loss: Option<bool>;
        /// For a paced sender that ignores losses: time from the first data to the beginning of the interval in which start-up ended.
        /// Absent for other senders.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub exit_after_s: Option<f64>;
        /// For a paced sender that ignores losses: time from the first data to the end of the interval in which start-up ended. Absent for
        /// other senders, and if the interval has no end.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub exit_before_s: Option<f64>;
        pub exit_round: Option<u64> = "In which round, from 1.";
        pub exit_flight_bytes: Option<u64> = ["bytes"] "In flight then.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub exit_window_bytes: Option<u64> = ["bytes"]
            "The congestion window before that, by the sender's qlog. Left out of captures.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub exit_shown_by: Option<&'static str> =
            "What of the sender's qlog shows the end: its controller's state, its slow-start threshold (ssthresh), its window, or \
             only its packets. Left out of captures.";
        pub overshoot_segments: Option<u64> = ["segments"]
            "Retransmissions of segments that had been sent by the end of the first repair, if that repair began by the end of \
             start-up or within an RTT of it.";
        pub later_rate_bps: Option<f64> = ["bit/s"]
            "Payload acknowledged for the first time, in order or selectively, in the second half of the time in which data \
             flowed, over that time. With idle restarts, of the time between two of them that brought nine tenths of the data, if \
             one did.";
        pub time_to_90pct_s: Option<f64> = ["s"]
            "From the first data of that time to the end of the first interval (the longer of the minimum RTT and 20 packet \
             times) that carries nine tenths of the later rate, sustained for four consecutive intervals.";
        pub transfer_s: Option<f64> = ["s"]
            "Completion time of the first transfer: the time for which data was outstanding, from the first data sent to the last \
             data acknowledged. The transfer ends at the first pause of a handshake RTT + 200 ms, else with the connection's data. \
             Pauses with nothing outstanding do not count. Known at the sender only.";
        pub transfer_bytes: Option<u64> = ["bytes"] "Payload of the first transfer.";
        pub time_to_100kb_s: Option<f64> = ["s"]
            "The same time until 100,000 bytes of the first transfer were acknowledged in order.";
        pub time_to_1mb_s: Option<f64> = ["s"]
            "The same time until 1,000,000 bytes of it were acknowledged in order.";
        pub rounds_total: u64 =
            "Rounds: each ends with the first acknowledgement of anything sent in it.";
        /// The first rounds, 256 at most.
        pub rounds: Vec<FoundRound>;
        pub idle_restarts_total: u64 =
            "How often new data left with nothing in flight after a silence longer than the retransmission timeout.";
        /// The first restarts after idle times, 64 at most.
        pub idle_restarts: Vec<FoundRestart>;
        pub syn_data_bytes: u64 = ["bytes"]
            "Payload of the SYN that its answer acknowledged (TCP Fast Open, RFC 7413); not part of the rounds.";
        pub unseen_bytes: u64 = ["bytes"]
            "Payload acknowledged that no packet of the capture holds.";
        pub duplicates: u64 = ["packets"] "Packets captured twice, left out.";
        pub reordered: u64 = ["packets"] "Packets out of order that are not retransmissions.";
        pub out_of_window: u64 = ["packets"] "Packets far outside of any window, left out.";
        /// The reason for each undefined value, by the field's name.
        pub undefined: BTreeMap<&'static str, String>;
    }
}

impl Found {
    /// Records `why` as the reason why these fields are undefined.
    pub(crate) fn lacks(&mut self, fields: impl IntoIterator<Item = &'static str>, why: &str) {
        self.undefined.extend(fields.into_iter().map(|field| (field, why.to_owned())));
    }
}

/// Results for one round.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoundRound {
    /// Time from the first data to the beginning of the round.
    pub began_s: f64,
    /// Time from the beginning of the round to the acknowledgement that ended it. `None` for the last round.
    pub length_s: Option<f64>,
    /// Number of new payload bytes sent.
    pub bytes: u64,
    /// Number of segments that carried the new payload.
    pub segments: u64,
    /// Number of retransmitted segments.
    pub retransmitted_segments: u64,
    /// New payload bytes of this round divided by those of the previous round.
    pub growth: Option<f64>,
    /// Number of acknowledgements that acknowledged something new.
    pub acks: u64,
    /// Mean number of full segments that an acknowledgement newly acknowledged.
    pub segments_per_ack: Option<f64>,
    /// Delivery rate in bits per second. It is the payload delivered after the acknowledgement that began the round, up to the one that
    /// ended it, divided by a time. The time is the round's length, or the time in which this payload was sent if that is longer.
    pub delivery_rate_bps: Option<f64>,
    /// Maximum number of bytes in flight.
    pub flight_peak_bytes: u64,
    /// Time from the round's first packet to its last, divided by the round's length.
    pub spread: Option<f64>,
    /// Share of the round's packets sent back to back with the previous packet.
    pub back_to_back: Option<f64>,
    /// The limit of the sender, if packets show it: `application`, `receiver-window`, or `shaper` if packets waited at the sender's host.
    pub limit: Option<&'static str>,
}

/// A restart: new data after an idle time longer than the retransmission timeout.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoundRestart {
    /// Time from the connection's first data to the restart.
    pub at_s: f64,
    /// Length of the idle time: time since the previous data.
    pub idle_s: f64,
    /// Maximum number of bytes in flight since the previous restart or, for the first restart, since the beginning.
    pub flight_before_bytes: u64,
    /// Number of bytes sent after the idle time before the first acknowledgement.
    pub window_bytes: Option<u64>,
    /// `window_bytes` in segments.
    pub window_segments: Option<u64>,
    /// Time from the first to the last packet of `window_bytes`, divided by the time to the first acknowledgement. It is near 0 for a
    /// burst.
    pub spread: Option<f64>,
    /// `burst` if all packets of `window_bytes` were sent back to back, `paced` if `spread` is a quarter or more, otherwise `spread`.
    pub manner: Option<&'static str>,
}
