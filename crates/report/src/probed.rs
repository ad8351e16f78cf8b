//! The fields of probings and of their trains, the columns of their tables, and the drawing of gap difference over source gap.

use firstflight_measure::{ProbeResult, TrainRow};

use crate::columns::{Column, real, text, whole};
use crate::grid::ALWAYS;
use crate::human::rate;
use crate::record::Record;
use crate::svg::chart::{self, Chart, Curve};
use crate::view::{Show, ViewColumn, view};

/// The fields of probings and trains that no other row has.
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
        "The least bandwidth available by what arrived unchanged: the turning point's rate at departure, less the tolerance.",
    ),
    real(
        "high_bps",
        "bit/s",
        "The most: the least rate at departure that arrived stretched, or the capacity found.",
    ),
    real("capacity_bps", "bit/s", "The rate of the narrowest link, by the gaps of a burst."),
    real(
        "available_bps",
        "bit/s",
        "The truth: what the links could have carried beside the other traffic, the least of them, over the time of the probing, \
         in the same run without it.",
    ),
    real(
        "ptr_error",
        "1",
        "PTR over the truth, less one. Undefined where less than 1 % of the path's rate was available.",
    ),
    real("igi_error", "1", "IGI over the truth, less one; undefined likewise."),
    text(
        "ending",
        "Why the probing ended: turning-point; gap, the one that was asked for; trains, as many as allowed; void, two trains in a \
         row with too few gaps; limit, the end of the run.",
    ),
    real("source_gap_s", "s", "The mean gap at departure, start to start, of the gaps that count."),
    real("arrival_gap_s", "s", "The mean of the same gaps at arrival."),
    real("gap_difference_s", "s", "The gap at arrival less the gap at departure."),
    real("source_rate_bps", "bit/s", "The rate at which the trains left, in IP bits."),
    whole("packets", "p", "Packets sent."),
    text("peer", "Of a real path: where it leads."),
    text("by", "Of a real path: who told of arrivals, reflector or acks."),
    whole("packet_bytes", "bytes", "Of a real path: IP bytes of a packet."),
    real("rtt_s", "s", "Of a real path: the least time from a packet to its answer."),
    real("elapsed_s", "s", "From the first departure to the last answer."),
    real("round_trips", "1", "That time in base round trips; of a real path in least round trips."),
    whole("train", "1", "The train's number in its probing, from zero."),
    real("at_s", "s", "When its first packet left, from the first departure of the probing."),
    real("asked_gap_s", "s", "The gap that was asked for; zero for back to back."),
    real("arrival_rate_bps", "bit/s", "The rate at which the train arrived, in IP bits."),
    text(
        "verdict",
        "What the gaps say: burst, which shows the capacity; congested; equal; open, if another train of the same gap is judged \
         with it; void, if too few count.",
    ),
    whole("gaps", "1", "Gaps that count: between packets in a row that arrived, in order."),
];

/// Whether the records are probings.
pub(crate) fn is_probing(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("ptr_bps"))
}

/// Whether the records are trains.
pub(crate) fn is_trains(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("asked_gap_s"))
}

/// The columns of the table of probings.
pub(crate) const VIEW: &[ViewColumn] = &[
    view(["search", ""], "search", Show::Text, ALWAYS),
    view(["PTR", "Mbit/s"], "ptr_bps", Show::Scaled(1e6), ALWAYS),
    view(["IGI", "Mbit/s"], "igi_bps", Show::Scaled(1e6), ALWAYS),
    view(["available", "Mbit/s"], "available_bps", Show::Scaled(1e6), ALWAYS),
    view(["PTR off", "%"], "ptr_error", Show::Scaled(0.01), 2),
    view(["IGI off", "%"], "igi_error", Show::Scaled(0.01), 2),
    view(["at least", "Mbit/s"], "low_bps", Show::Scaled(1e6), 4),
    view(["at most", "Mbit/s"], "high_bps", Show::Scaled(1e6), 4),
    view(["capacity", "Mbit/s"], "capacity_bps", Show::Scaled(1e6), 3),
    view(["ended", "by"], "ending", Show::Text, 6),
    view(["sent", "trains"], "trains", Show::Count, 3),
    view(["sent", "p"], "packets", Show::Count, 5),
    view(["lost", "p"], "packets_lost", Show::Count, 5),
    view(["round", "trips"], "round_trips", Show::Scaled(1.0), 4),
    view(["time", "s"], "elapsed_s", Show::Scaled(1.0), 7),
];

/// The columns of the table of trains.
pub(crate) const TRAINS_VIEW: &[ViewColumn] = &[
    view(["train", ""], "train", Show::Count, ALWAYS),
    view(["source", "gap µs"], "source_gap_s", Show::Scaled(1e-6), ALWAYS),
    view(["arrival", "gap µs"], "arrival_gap_s", Show::Scaled(1e-6), ALWAYS),
    view(["difference", "µs"], "gap_difference_s", Show::Scaled(1e-6), 1),
    view(["left at", "Mbit/s"], "source_rate_bps", Show::Scaled(1e6), 2),
    view(["arrived at", "Mbit/s"], "arrival_rate_bps", Show::Scaled(1e6), 2),
    view(["gaps", "say"], "verdict", Show::Text, 1),
    view(["gaps", ""], "gaps", Show::Count, 5),
    view(["sent", "p"], "packets", Show::Count, 4),
    view(["lost", "p"], "packets_lost", Show::Count, 3),
    view(["at", "s"], "at_s", Show::Scaled(1.0), 6),
];

/// What probings found, in a sentence or two.
pub fn sentence(result: &ProbeResult) -> String {
    let turned: Vec<_> = result.rows.iter().filter(|row| row.ending == "turning-point").collect();
    match (result.rows.as_slice(), turned.as_slice()) {
        ([], _) => String::new(),
        ([row], []) => match row.ptr_bps {
            Some(ptr) => format!("The train arrived at {}.", rate(ptr)),
            None => "No train arrived as it left: there is no estimate.".to_owned(),
        },
        ([_], [row]) => {
            let part = |what: &str, found: Option<f64>| found.map(|bps| format!("{what} {}", rate(bps)));
            let found: Vec<_> =
                [part("PTR says", row.ptr_bps), part("IGI", row.igi_bps)].into_iter().flatten().collect();
            let truth = part("truly available were", row.available_bps);
            format!("{}; {}.", found.join(", "), truth.unwrap_or_else(|| "the truth is unknown".to_owned()))
        }
        (all, turned) => {
            let near = |error: fn(&firstflight_measure::ProbeRow) -> Option<f64>| {
                turned.iter().filter(|row| error(row).is_some_and(|error| error.abs() <= 0.15)).count()
            };
            format!(
                "{} of {} probings found a turning point; PTR was within 15 % of the truth in {}, IGI in {}.",
                turned.len(),
                all.len(),
                near(|row| row.ptr_error),
                near(|row| row.igi_error),
            )
        }
    }
}

/// Gap difference over source gap, each train a point (Figure 1 of Paced Start), with the source gap of the truth.
pub fn drawing(trains: &[TrainRow], path: &str, available_gap: Option<f64>) -> String {
    let mut points: Vec<(f64, Option<f64>)> =
        trains.iter().filter_map(|train| Some((train.source_gap_s?, train.gap_difference_s))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let zero = available_gap.map(|gap| Curve {
        name: "no difference, from the gap of the bandwidth truly available on".to_owned(),
        points: vec![(gap, Some(0.0)), (points.last().map_or(gap, |last| last.0.max(gap)), Some(0.0))],
    });
    let difference =
        Curve { name: "gap at arrival less gap at departure, a point a train".to_owned(), points };
    chart::render(&Chart {
        title: "Gap difference of packet trains".to_owned(),
        description: path.to_owned(),
        curves: [Some(difference), zero].into_iter().flatten().collect(),
        label: "source gap".to_owned(),
        units: ["s", "s"],
        may_be_log: [false, false],
    })
}
