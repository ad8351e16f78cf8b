//! The columns of the tables of probings and of their trains, and a plot. The plot is of the gap difference over the source
//! gap.

use firstflight_measure::{ProbeResult, TrainRow};

use crate::grid::ALWAYS;
use crate::human::rate;
use crate::svg::chart::{self, Chart, Curve};
use crate::view::{Show, ViewColumn, view};

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

/// Summarises the result of probings in a sentence or two.
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

/// Draws the gap difference over the source gap, with a point for each train (Figure 1 of Paced Start). `available_gap` is the source gap
/// at the true available rate.
pub fn drawing(trains: &[TrainRow], path: &str, available_gap: Option<f64>) -> String {
    let mut points: Vec<(f64, Option<f64>)> =
        trains.iter().filter_map(|train| Some((train.source_gap_s?, train.gap_difference_s))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let zero = available_gap.map(|gap| Curve {
        name: "no difference, from the gap of the bandwidth truly available on".to_owned(),
        points: vec![(gap, Some(0.0)), (points.last().map_or(gap, |last| last.0.max(gap)), Some(0.0))],
    });
    let difference =
        Curve { name: "gap at arrival less gap at transmission, a point a train".to_owned(), points };
    chart::render(&Chart {
        title: "Gap difference of packet trains".to_owned(),
        description: path.to_owned(),
        curves: [Some(difference), zero].into_iter().flatten().collect(),
        label: "source gap".to_owned(),
        units: ["s", "s"],
        may_be_log: [false, false],
    })
}
