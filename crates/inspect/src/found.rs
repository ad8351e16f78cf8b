//! What is said of one sender of one connection: every number, or why there is none.

use std::collections::BTreeMap;

use serde::Serialize;

/// One direction of a connection in which data flowed, or a connection without data. Times are seconds;
/// `_bps` is bits per second; `None` (JSON `null`) where a number is undefined, and `undefined` says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Found {
    /// The connection's number in the capture, from 1 in order of first packets.
    pub connection: u64,
    /// The sender of the data.
    pub from: String,
    /// Its receiver.
    pub to: String,
    /// The tunnel, session or label stack in which the sender's first packet was, if it was in one: its kind and its identifier, as
    /// `vxlan 5`, `pppoe 17`, `mpls 100/200`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<String>,
    /// The tunnel's end at the sender, if there is a tunnel with ends: an IP address, or of a session an Ethernet address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer_from: Option<String>,
    /// The tunnel's end at the receiver, if there is a tunnel with ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer_to: Option<String>,
    /// `client` if the sender opened the connection, `server` if it answered; unknown without a handshake.
    pub role: Option<&'static str>,
    /// The first packet of the connection, since 1970 or whatever the capture counts from.
    pub began_at_s: f64,
    /// From the connection's first packet to its last.
    pub duration_s: f64,
    /// Where the capture was taken: `sender`, `receiver` or `between`.
    pub vantage: Option<&'static str>,
    /// The round trip of the handshake.
    pub handshake_rtt_s: Option<f64>,
    /// Its part from the capture's place to the sender and back.
    pub rtt_to_sender_s: Option<f64>,
    /// Its part from the capture's place to the receiver and back.
    pub rtt_to_receiver_s: Option<f64>,
    /// The least round trip of data.
    pub min_rtt_s: Option<f64>,
    /// Payload of a full segment.
    pub mss_bytes: Option<u64>,
    /// The shift of the sender's own windows; 0 if it does not scale.
    pub window_scale: Option<u8>,
    /// The shift of the windows that the receiver gives.
    pub receiver_window_scale: Option<u8>,
    /// Whether both ends offered selective acknowledgements.
    pub sack: Option<bool>,
    /// Whether both ends offered timestamps.
    pub timestamps: Option<bool>,
    /// Whether both ends agreed on explicit congestion notification.
    pub ecn: Option<bool>,
    /// How marks are told of: `rfc3168` by ECE, `accecn` by the counter of Accurate ECN (RFC 9768).
    pub ecn_feedback: Option<&'static str>,
    /// All segments from this host, without payload too.
    pub segments_sent: Option<u64>,
    /// Segments with payload, those sent again too.
    pub data_segments_sent: Option<u64>,
    /// Payload bytes, those sent again too.
    pub bytes_sent: Option<u64>,
    /// Payload bytes acknowledged in order.
    pub bytes_acked: u64,
    /// Segments sent again.
    pub retransmitted_segments: Option<u64>,
    /// Payload bytes sent again.
    pub retransmitted_bytes: Option<u64>,
    /// Segments that the receiver said it got twice.
    pub spurious_segments: u64,
    /// Segments sent again after such a silence that a timer must have sent them, or so long after they were sent
    /// again before: a lower bound, since duplicate acknowledgements may break the silence.
    pub timeouts_suspected: Option<u64>,
    /// Payload acknowledged in order over the time from the connection's first packet to its last.
    pub throughput_bps: Option<f64>,
    /// What was sent before the first acknowledgement of data reached the sender.
    pub initial_window_bytes: Option<u64>,
    /// The initial window in segments.
    pub initial_window_segments: Option<u64>,
    /// What bounded the initial window: `window`, `receiver-window`, or `application` if the sender had no more to send.
    pub initial_window_limit: Option<&'static str>,
    /// From its first packet to its last, over the time to the first acknowledgement.
    pub initial_window_spread: Option<f64>,
    /// Of the packets of start-up, the share that left back to back with the one before.
    pub back_to_back: Option<f64>,
    /// Of the bursts of start-up, the share that left as an acknowledgement came.
    pub ack_triggered: Option<f64>,
    /// `ack-clocked` if nine tenths of the bursts left as an acknowledgement came; `paced` if less than half did, or less
    /// than a quarter of the packets left back to back; else `mixed`.
    pub pacing: Option<&'static str>,
    /// Why start-up ended; `none` if the data ended first, undefined if the capture did.
    pub exit_cause: Option<&'static str>,
    /// From the first data to that end.
    pub exit_time_s: Option<f64>,
    /// In which round, from 1.
    pub exit_round: Option<u64>,
    /// In flight then.
    pub exit_flight_bytes: Option<u64>,
    /// Segments sent again of what had been sent by the end of the first repair, if that began by the end of start-up or
    /// within a round trip of it.
    pub overshoot_segments: Option<u64>,
    /// Payload acknowledged for the first time, in order or selectively, in the second half of the time in which data flowed, over
    /// that time. With idle restarts, of the time between two of them that brought nine tenths of the data, if one did.
    pub later_rate_bps: Option<f64>,
    /// From the first data of that time to the end of the first of four intervals in a row that bring nine tenths of it.
    pub time_to_90pct_s: Option<f64>,
    /// Rounds in all.
    pub rounds_total: u64,
    /// The rounds, 256 at most.
    pub rounds: Vec<FoundRound>,
    /// Restarts after idle times in all.
    pub idle_restarts_total: u64,
    /// Those restarts, 64 at most.
    pub idle_restarts: Vec<FoundRestart>,
    /// Payload of the SYN that its answer acknowledged (TCP Fast Open, RFC 7413); not part of the rounds.
    pub syn_data_bytes: u64,
    /// Payload bytes acknowledged that no packet of the capture holds.
    pub unseen_bytes: u64,
    /// Packets captured twice, left out.
    pub duplicates: u64,
    /// Packets that came out of order, and were not sent again.
    pub reordered: u64,
    /// Packets far outside of any window, left out.
    pub out_of_window: u64,
    /// Why a number above is not there, by its name.
    pub undefined: BTreeMap<&'static str, String>,
}

impl Found {
    /// These fields have no number, and why.
    pub(crate) fn lacks(&mut self, fields: impl IntoIterator<Item = &'static str>, why: &str) {
        self.undefined.extend(fields.into_iter().map(|field| (field, why.to_owned())));
    }
}

/// One round.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoundRound {
    /// From the first data to its beginning.
    pub began_s: f64,
    /// To the acknowledgement that ended it; none for the last.
    pub length_s: Option<f64>,
    /// New payload sent.
    pub bytes: u64,
    /// In how many segments.
    pub segments: u64,
    /// Segments sent again.
    pub retransmitted_segments: u64,
    /// New payload over that of the round before.
    pub growth: Option<f64>,
    /// Acknowledgements that told something new.
    pub acks: u64,
    /// Full segments that one of them told of, in the mean.
    pub segments_per_ack: Option<f64>,
    /// The most in flight.
    pub flight_peak_bytes: u64,
    /// From its first packet to its last, over its length.
    pub spread: Option<f64>,
    /// The share of its packets that left back to back with the one before.
    pub back_to_back: Option<f64>,
    /// What held the sender back, if that is to be seen: `application` or `receiver-window`.
    pub limit: Option<&'static str>,
}

/// New data after an idle time longer than the retransmission timeout.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoundRestart {
    /// From the first data of all.
    pub at_s: f64,
    /// Since the data before.
    pub idle_s: f64,
    /// The most in flight since the last restart, or since the beginning.
    pub flight_before_bytes: u64,
    /// What was sent before the first acknowledgement.
    pub window_bytes: Option<u64>,
    /// The bytes sent before the first acknowledgement, in segments.
    pub window_segments: Option<u64>,
    /// From the first of it to the last, over the time to that acknowledgement: near 0 for a burst.
    pub spread: Option<f64>,
    /// `burst` if all of it left back to back, `paced` if it took a quarter of that time or more, else `spread`.
    pub manner: Option<&'static str>,
}
