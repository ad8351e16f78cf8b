//! The fields of probings and of their trains.

use firstflight_measure::Column;

use super::column::{real, text, whole};
use crate::record::Record;

/// The fields that only probings and trains have.
pub const PROBE_COLUMNS: &[Column] = &[
    text("search", "How the trains search for the turning point, as the key `probe` says it."),
    real(
        "ptr_bps",
        "bit/s",
        "PTR, the packet transmission rate: the rate at which the trains of the turning point arrived, in IP bits. With one gap, \
         at which its train did. Undefined if no train arrived as it left.",
    ),
    real(
        "igi_bps",
        "bit/s",
        "IGI, initial gap increasing: the capacity found, less the other traffic that the increased gaps of those trains hold.",
    ),
    real(
        "low_bps",
        "bit/s",
        "The lower bound of the available bandwidth: the source rate of the turning point, whose trains arrived unchanged, less the \
         tolerance.",
    ),
    real(
        "high_bps",
        "bit/s",
        "The upper bound: the smallest source rate of a train that arrived stretched, or the capacity found.",
    ),
    real("capacity_bps", "bit/s", "The rate of the narrowest link, by the gaps of a burst."),
    real(
        "available_bps",
        "bit/s",
        "The truth: the rate that the links could have carried in addition to the other traffic, the minimum over the links, over the time \
         of the probing, in the same run without it.",
    ),
    real(
        "ptr_error",
        "1",
        "PTR over the truth, less one. Undefined where less than 1 % of the path's rate was available.",
    ),
    real("igi_error", "1", "IGI over the truth, less one; undefined likewise."),
    text(
        "ending",
        "Why the probing ended: `turning-point`; `gap`, the requested one; `trains`, as many as allowed; `void`, two consecutive trains \
         with too few gaps; `limit`, the end of the run.",
    ),
    real("source_gap_s", "s", "The mean gap at the sender, start to start, of the gaps that count."),
    real("arrival_gap_s", "s", "The mean of the same gaps at arrival."),
    real("gap_difference_s", "s", "The gap at arrival less the source gap."),
    real("source_rate_bps", "bit/s", "The rate at which the trains left, in IP bits."),
    whole("packets", "p", "Packets sent."),
    text("peer", "Of a real path: where it leads."),
    text("by", "Of a real path: the source of arrival times, reflector or acks."),
    whole("packet_bytes", "bytes", "Of a real path: IP bytes of a packet."),
    real("rtt_s", "s", "Of a real path: the minimum time from a packet to its answer."),
    real("elapsed_s", "s", "From the first packet sent to the last answer."),
    real("round_trips", "1", "That time in base RTTs; of a real path in minimum RTTs."),
    whole("train", "1", "The train's number in its probing, from zero."),
    real("at_s", "s", "When its first packet was sent, from the first packet of the probing."),
    real("asked_gap_s", "s", "The requested gap; zero for back to back."),
    real("arrival_rate_bps", "bit/s", "The rate at which the train arrived, in IP bits."),
    text(
        "verdict",
        "The verdict by the gaps: `burst`, which shows the capacity; `congested`; `equal`; `open`, if another train of the same gap is \
         judged with it; `void`, if too few gaps count.",
    ),
    whole("gaps", "1", "Gaps that count: between consecutive packets that arrived, in order."),
];

/// Checks whether the records are probings.
pub fn is_probing(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("ptr_bps"))
}

/// Checks whether the records are trains.
pub fn is_trains(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("asked_gap_s"))
}
