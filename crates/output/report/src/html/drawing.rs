//! The data that the report's script draws, for all runs of a report.

use rayon::prelude::*;
use serde::Serialize;

use super::drawn::{COARSEST, FINEST, Flow, Series, Trace, signed};
use crate::reference;
use crate::report::{Report, Subject};
use crate::thin::{Grid, Shape, Thinned};

/// The maximum size of a report's drawn data, in bytes.
pub(crate) const LARGEST: usize = 2_800_000;

/// All data that the report's script draws.
#[derive(Debug, Serialize)]
pub(crate) struct Drawing<'a> {
    /// Whether the data is of captures. Then the bytes in flight are drawn as the window.
    is_capture: bool,
    /// Whether the network was also observed: the queue and the drops.
    has_network: bool,
    /// Whether the data is of rounds. Then restarts are shown first.
    is_of_rounds: bool,
    /// The length of a tick of the ideal line, in seconds.
    tick: f64,
    /// The number of buckets in a region that is thinned.
    buckets: u64,
    /// The reference line of the plots of windows.
    reference: Reference,
    ideal: Trace,
    pub(super) flows: Vec<Flow<'a>>,
}

/// The style and labels that the reference lines of all flows share.
#[derive(Debug, Serialize)]
struct Reference {
    name: &'static str,
    /// The maximum ratio of the reference line to the largest window drawn, up to which the line still affects the scale of a plot.
    room: f64,
}

impl<'a> Drawing<'a> {
    /// Returns the drawn data of the report as JSON, at the finest resolution that fits.
    pub(crate) fn json(report: &'a Report) -> Result<String, serde_json::Error> {
        let mut buckets = FINEST;
        loop {
            let json = serde_json::to_string(&Self::new(report, buckets))?;
            if json.len() <= LARGEST || buckets <= COARSEST {
                return Ok(json);
            }
            // The size shrinks at most in proportion to the number of buckets. Numbers of buckets above `fitting` are therefore too large
            // and need not be tried.
            let fitting = u128::from(buckets) * LARGEST as u128 / json.len() as u128;
            buckets = u64::try_from(fitting).unwrap_or(buckets).clamp(COARSEST, buckets - 1);
            while !FINEST.is_multiple_of(buckets) {
                buckets -= 1;
            }
        }
    }

    pub(super) fn new(report: &'a Report, buckets: u64) -> Self {
        let drawn = &report.drawn;
        let flows: Vec<Flow<'a>> = drawn.par_iter().map(|run| run.flow(buckets)).collect();
        let clock = drawn.iter().map(|run| run.clock).max().unwrap_or_default();
        let origin = drawn.first().map_or(0, |run| run.syn_at);
        let ends = [0, 1, 2].map(|at| {
            let ends = drawn.iter().map(|run| run.windows.ends[at] * run.clock.tick / clock.tick);
            ends.max().unwrap_or(1)
        });
        let grid = Grid { tick: clock.tick, ends: ends.to_vec(), buckets };
        let ideal = report.ideal.iter().map(|&(at, bytes)| (at.saturating_sub(origin), signed(bytes)));
        let ideal = Series { of: report.ideal.len(), thinned: Thinned::new(ideal, &grid, Shape::Line) };
        Self {
            is_capture: report.subject == Subject::Captures,
            has_network: report.subject == Subject::Race,
            is_of_rounds: report.rows.iter().any(|row| row.contains_key("elapsed_s")),
            tick: clock.seconds(),
            buckets,
            reference: Reference { name: reference::NAME, room: reference::ROOM },
            ideal: ideal.trace(&grid),
            flows,
        }
    }
}
