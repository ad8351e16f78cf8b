//! The data that the report's script draws, for all runs of a report.

use rayon::prelude::*;
use serde::Serialize;

use super::drawn::{COARSEST, Drawn, FINEST, Flow, Series, Trace, signed};
use super::merged::Merged;
use super::styles::{Style, styles};
use crate::reference;
use crate::report::{Report, Subject};
use crate::thin::{Grid, Shape, Thinned};

/// The maximum size of a report's drawn data, in bytes. With the plotting library, 1.2 MB, and the tables of 18 schemes a page stays below
/// 3 MB.
pub(crate) const LARGEST: usize = 1_300_000;

/// The number of runs that are drawn over each other when the page opens.
const CHOSEN: usize = 3;

/// The scheme with which others are compared: it is drawn from the start.
const BASELINE: &str = "slow-start";

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
    pub(super) flows: Vec<Named<'a>>,
}

/// A run with the name and the style of its lines.
#[derive(Debug, Serialize)]
pub(super) struct Named<'a> {
    label: &'a str,
    /// All names by which an address finds the run.
    names: Vec<&'a str>,
    /// The style of the run's line; `None` if there are more runs than styles.
    style: Option<Style>,
    /// Whether its line is drawn when the page opens.
    is_shown: bool,
    #[serde(flatten)]
    pub(super) run: Flow<'a>,
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
    pub(crate) fn json(report: &'a Report, merged: &'a Merged) -> Result<String, serde_json::Error> {
        let mut buckets = FINEST;
        loop {
            let json = serde_json::to_string(&Self::new(report, merged, buckets))?;
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

    pub(super) fn new(report: &'a Report, merged: &'a Merged, buckets: u64) -> Self {
        let drawn: Vec<&Drawn> = merged.panels(report).collect();
        let flows: Vec<Flow<'a>> = drawn.par_iter().map(|run| run.run.flow(buckets)).collect();
        let flows = named(report, merged, &drawn, flows);
        let clock = drawn.iter().map(|run| run.run.clock).max().unwrap_or_default();
        let origin = drawn.first().map_or(0, |run| run.run.syn_at);
        let ends = [0, 1, 2].map(|at| {
            let ends = drawn.iter().map(|run| run.run.windows.ends[at] * run.run.clock.tick / clock.tick);
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

/// Returns the runs with their names. The best ones and the baseline are drawn from the start.
fn named<'a>(
    report: &'a Report,
    merged: &'a Merged,
    drawn: &[&'a Drawn],
    flows: Vec<Flow<'a>>,
) -> Vec<Named<'a>> {
    let schemes = merged.schemes(report);
    let styles = styles(schemes.iter().copied());
    let baseline = schemes.iter().position(|scheme| *scheme == BASELINE);
    let best = CHOSEN - usize::from(baseline.is_some_and(|at| at >= CHOSEN));
    let name = |(place, (run, flow)): (usize, (&&'a Drawn, Flow<'a>))| Named {
        label: &run.label,
        names: merged.names(place),
        style: styles[place],
        is_shown: place < best || Some(place) == baseline,
        run: flow,
    };
    drawn.iter().zip(flows).enumerate().map(name).collect()
}
