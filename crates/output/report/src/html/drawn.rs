//! The data of one run that the report's script draws, in a compact form.

mod run_window;
mod windows;

use firstflight_measure::{PhaseKind, Recording};
use serde::Serialize;

pub use self::run_window::RunWindow;
use self::windows::Windows;
use super::vlq;
use crate::reference::BasePath;
use crate::thin::{self, Grid, Point, Shape, Thinned};
use firstflight_export::record::{self, Record};

/// The maximum and the minimum number of buckets in a region. The number of a page divides the maximum, so that each bucket of the page is
/// a whole number of the finest buckets. A number with many divisors allows small steps.
pub(super) const FINEST: u64 = 5040;
pub(super) const COARSEST: u64 = 20;
const _: () = assert!(FINEST.is_multiple_of(COARSEST), "the search for a divisor ends");

/// The maximum number of marks and of phases drawn for one run.
const MAX_MARKS: usize = 400;
const MAX_PHASES: usize = 1500;

/// The data of one run for its plots, with the names by which rows and panels refer to it.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The row's label, or the name of the flow.
    pub(crate) label: String,
    /// The scheme, population and number of the flow; `None` unless it belongs to a population.
    pub(crate) flow: Option<FlowOf>,
    pub(crate) run: Traces,
    /// The windows of the scheme's further runs, in the order of their seeds.
    further: Vec<RunWindow>,
}

/// The traces of one run at the finest resolution. They are much smaller than the recording, whose memory can then be freed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traces {
    pub(super) mss: u32,
    pub(super) syn_at: u64,
    pub(super) clock: Clock,
    pub(super) first_data: Option<u64>,
    /// The windows of time that the page offers, in ticks.
    pub(super) windows: Windows,
    /// Ends of the regions that are thinned separately, in ticks.
    regions: Vec<u64>,
    sends: Series,
    retransmissions: Series,
    drops: Series,
    acks: Series,
    delivered: Series,
    pub(super) cwnd: Series,
    ssthresh: Series,
    in_flight: Series,
    rtt: Series,
    queue: Series,
    pub(super) product: Series,
    phases: Phases,
    pub(super) marks: Vec<(u64, String, String)>,
    /// The number of marks that were left out.
    marks_left_out: usize,
}

/// One series: the number of all its points, and the points that may be drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) of: usize,
    pub(super) thinned: Thinned,
}

/// The scheme, the population and the number of a drawn flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowOf {
    /// The name of the flow's scheme.
    pub scheme: String,
    /// The population's name in rows.
    pub population: String,
    /// The number of the flow.
    pub number: u32,
}

/// One run, or one flow of a population.
#[derive(Debug, Serialize)]
pub(super) struct Flow<'a> {
    mss: u32,
    /// The length of a tick in seconds.
    tick: f64,
    /// Ticks from the SYN to the first data packet.
    first_data: Option<u64>,
    /// The ends of the three windows of time that start with the SYN: the first round trips, start-up, and the whole run.
    windows: [u64; 3],
    /// The start and the end of each restart's window of time.
    restarts: &'a [[u64; 2]],
    /// The ends of the regions that are thinned separately.
    regions: &'a [u64],
    sends: Trace,
    retransmissions: Trace,
    drops: Trace,
    acks: Trace,
    delivered: Trace,
    cwnd: Trace,
    ssthresh: Trace,
    in_flight: Trace,
    rtt: Trace,
    queue: Trace,
    /// The bandwidth-delay product in thousandths of a packet.
    product: Trace,
    phases: &'a Phases,
    marks: &'a [(u64, String, String)],
    marks_left_out: usize,
}

/// One series: the number of all its points, the number of drawn points, and the drawn points.
#[derive(Debug, Serialize)]
pub(super) struct Trace {
    of: usize,
    n: usize,
    /// For each region, whether the series is thinned.
    thinned: Vec<bool>,
    x: String,
    y: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Phases {
    n: usize,
    from: String,
    to: String,
    kind: String,
}

/// The unit of time of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Clock {
    /// The length of a tick in nanoseconds, which is a power of ten.
    pub(super) tick: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { tick: 1 }
    }
}

impl Clock {
    /// Returns the clock with the finest tick for which the run has at most fifty million ticks: a microsecond up to 50 s.
    fn for_length(nanoseconds: u64) -> Self {
        let mut tick = 1;
        while nanoseconds / tick > 50_000_000 {
            tick *= 10;
        }
        Self { tick }
    }

    pub(super) fn seconds(self) -> f64 {
        // Dividing by a small power of ten is exact, so the shortest decimal is printed.
        1.0 / (1_000_000_000.0 / self.tick_f64())
    }

    #[expect(clippy::cast_precision_loss, reason = "a power of ten below 2^53")]
    fn tick_f64(self) -> f64 {
        self.tick as f64
    }
}

impl Drawn {
    /// Extracts the data for the plots of a flow of a population. The recording's label is the flow's name.
    pub fn of_flow(run: &Recording, path: Option<&BasePath>, flow: FlowOf) -> Self {
        Self { flow: Some(flow), ..Self::new(run, path) }
    }

    /// Checks whether the run belongs to the row. The row of a population's scheme may have several flows.
    pub(crate) fn is_of(&self, row: &Record) -> bool {
        let name = record::name(row);
        let is_named = |own: &str| {
            let label = record::text(row, "label");
            own == name || own == if label.is_empty() { record::text(row, "scheme") } else { label }
        };
        let Some(flow) = &self.flow else { return is_named(&self.label) };
        let number = row.get("flow").and_then(serde_json::Value::as_u64);
        is_named(&flow.scheme)
            && record::text(row, "population") == flow.population
            && number.is_none_or(|number| number == u64::from(flow.number))
    }

    /// Extracts the data for the plots of a run. `path` is for the bandwidth-delay product; a capture has no path.
    pub fn new(run: &Recording, path: Option<&BasePath>) -> Self {
        Self { label: run.label.clone(), flow: None, run: Traces::new(run, path), further: Vec::new() }
    }

    /// Adds the window of a further run of the scheme, which the page shows in a band over runs. The order of the calls has no effect.
    pub fn add_run(&mut self, window: RunWindow) {
        let place = self.further.partition_point(|other| other.seed() < window.seed());
        self.further.insert(place, window);
    }

    /// Returns the windows of the scheme's further runs.
    pub(super) fn further(&self) -> &[RunWindow] {
        &self.further
    }
}

#[expect(clippy::cast_precision_loss, reason = "to draw, 53 bits are enough")]
impl Traces {
    fn new(run: &Recording, path: Option<&BasePath>) -> Self {
        let clock = Clock::for_length(run.ended_at.saturating_sub(run.syn_at));
        let since = |time: u64| time.saturating_sub(run.syn_at);
        let ticks = |time: u64| since(time) / clock.tick;
        let windows = Windows::of(run);
        let windows = Windows {
            ends: windows.ends.map(ticks),
            restarts: windows.restarts.into_iter().map(|window| window.map(ticks)).collect(),
        };
        let regions = windows.regions();
        let grid = Grid { tick: clock.tick, ends: regions.clone(), buckets: FINEST };
        let packets = |again: bool| {
            let sends = run.sends.iter().filter(move |send| send.retransmission == again);
            let points =
                sends.map(|send| (since(send.at), signed(send.offset.saturating_add(send.len.into()))));
            Series::dots(points, &grid)
        };
        let drops = run.drops.iter().filter(|drop| drop.len > 0);
        let drops = drops.map(|drop| (since(drop.at), signed(drop.offset.saturating_add(drop.len.into()))));
        let offsets = |points: &[(u64, u64)]| {
            let points = points.iter().map(|&(time, offset)| (since(time), signed(offset)));
            Series::steps(points, &grid)
        };
        let state = |value: fn(&firstflight_measure::State) -> i64| {
            Series::steps(run.states.iter().map(|state| (since(state.at), value(state))), &grid)
        };
        let rtts = run.rtts.iter().map(|&(time, rtt)| (since(time), signed(rtt / 1000)));
        // The first point is the queue's length when the SYN was sent.
        let before = run.queue.partition_point(|&(time, _)| time <= run.syn_at).saturating_sub(1);
        let queue = run.queue[before..].iter().map(|&(time, packets)| (since(time), i64::from(packets)));
        let products = path.map_or_else(Vec::new, |path| path.products(run, run.ended_at));
        let products = products.iter().map(|&(at, packets)| (since(at), thousandths(packets)));
        let (marks, marks_left_out) = marks(run, ticks);
        Self {
            mss: run.mss.max(1),
            syn_at: run.syn_at,
            clock,
            first_data: run.first_data_at.map(ticks),
            windows,
            regions,
            sends: packets(false),
            retransmissions: packets(true),
            drops: Series::dots(drops, &grid),
            acks: offsets(&run.acks),
            delivered: offsets(&run.delivered),
            cwnd: state(|state| signed(state.cwnd)),
            // While there is no threshold, the plot has a gap.
            ssthresh: state(|state| state.ssthresh.map_or(-1, signed)),
            in_flight: state(|state| signed(state.in_flight)),
            rtt: Series::dots(rtts, &grid),
            queue: Series::steps(queue, &grid),
            // The last point, at the end of the run, has no new value. It extends the line to the end.
            product: Series { of: products.len(), thinned: Thinned::new(products, &grid, Shape::Line) },
            phases: phases(run, ticks),
            marks,
            marks_left_out,
        }
    }

    /// Checks whether the runs are the same packet for packet, with the same windows. Thresholds and the texts of marks may differ: they also
    /// say what a scheme found, even if it did not use it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let without_findings = |run: &Self| {
            let mut run = run.clone();
            run.ssthresh = run.cwnd.clone();
            run.marks.iter_mut().for_each(|mark| mark.2.clear());
            run
        };
        without_findings(self) == without_findings(other)
    }

    /// Returns the steps of a series as (seconds since the first data, value × `factor`).
    pub(super) fn packets(&self, series: &Series, factor: f64) -> Vec<(f64, f64)> {
        let at = |time: u64| self.since_data(time as f64 / 1e9);
        series.thinned.points.iter().map(|&(time, value)| (at(time), value as f64 * factor)).collect()
    }

    /// Returns the seconds from the first data to the exit from start-up; `None` without an exit.
    pub(super) fn exit(&self) -> Option<f64> {
        let exit = self.marks.iter().find(|mark| mark.1 == "exit")?;
        Some(self.since_data(exit.0 as f64 * self.clock.seconds()))
    }

    /// Returns the seconds from the first data to the end of the window of start-up.
    pub(super) fn startup_end(&self) -> f64 {
        self.since_data(self.windows.ends[1] as f64 * self.clock.seconds())
    }

    /// Returns the seconds from the first data to the end of the run.
    pub(super) fn end(&self) -> f64 {
        self.since_data(self.windows.ends[2] as f64 * self.clock.seconds())
    }

    fn since_data(&self, since_syn: f64) -> f64 {
        since_syn - self.first_data.unwrap_or(0) as f64 * self.clock.seconds()
    }

    pub(super) fn flow(&self, buckets: u64) -> Flow<'_> {
        let grid = Grid { tick: self.clock.tick, ends: self.regions.clone(), buckets };
        Flow {
            mss: self.mss,
            tick: self.clock.seconds(),
            first_data: self.first_data,
            windows: self.windows.ends,
            restarts: &self.windows.restarts,
            regions: &self.regions,
            sends: self.sends.trace(&grid),
            retransmissions: self.retransmissions.trace(&grid),
            drops: self.drops.trace(&grid),
            acks: self.acks.trace(&grid),
            delivered: self.delivered.trace(&grid),
            cwnd: self.cwnd.trace(&grid),
            ssthresh: self.ssthresh.trace(&grid),
            in_flight: self.in_flight.trace(&grid),
            rtt: self.rtt.trace(&grid),
            queue: self.queue.trace(&grid),
            product: self.product.trace(&grid),
            phases: &self.phases,
            marks: &self.marks,
            marks_left_out: self.marks_left_out,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
fn thousandths(packets: f64) -> i64 {
    libm::round(packets * 1000.0) as i64
}

impl Series {
    fn steps(points: impl ExactSizeIterator<Item = Point> + Clone, grid: &Grid) -> Self {
        Self { of: points.len(), thinned: Thinned::new(thin::changes(points), grid, Shape::Line) }
    }

    fn dots(points: impl Iterator<Item = Point> + Clone, grid: &Grid) -> Self {
        let thinned = Thinned::new(points, grid, Shape::Dots);
        Self { of: thinned.of(), thinned }
    }

    /// Returns the trace of the series on this grid, in ticks.
    pub(super) fn trace(&self, grid: &Grid) -> Trace {
        let kept = self.thinned.coarser(grid);
        Trace {
            of: self.of,
            n: kept.len(),
            thinned: self.thinned.thinned(grid),
            x: vlq::encode(kept.iter().map(|point| signed(point.0 / grid.tick))),
            y: vlq::encode(kept.iter().map(|point| point.1)),
        }
    }
}

fn phases(run: &Recording, at: impl Fn(u64) -> u64) -> Phases {
    let mut spans: Vec<(u64, u64, PhaseKind)> =
        run.phases.iter().map(|span| (at(span.from), at(span.to), span.kind)).collect();
    // If a run has too many phases, the shortest are left out.
    if spans.len() > MAX_PHASES {
        let mut lengths: Vec<u64> = spans.iter().map(|span| span.1.saturating_sub(span.0)).collect();
        lengths.sort_unstable();
        let shortest = lengths[lengths.len() - MAX_PHASES];
        spans.retain(|span| span.1.saturating_sub(span.0) > shortest);
    }
    Phases {
        n: spans.len(),
        from: vlq::encode(spans.iter().map(|span| signed(span.0))),
        to: vlq::encode(spans.iter().map(|span| signed(span.1))),
        kind: vlq::encode(spans.iter().map(|span| kind_number(span.2))),
    }
}

/// Returns the number of a phase, which is its place in the script's `PHASES`.
fn kind_number(kind: PhaseKind) -> i64 {
    match kind {
        PhaseKind::Handshake => 0,
        PhaseKind::Startup => 1,
        PhaseKind::Restart => 2,
        PhaseKind::Recovery => 3,
        PhaseKind::AfterTimeout => 4,
        PhaseKind::Avoidance => 5,
    }
}

/// Returns the marks to draw, and the number of marks left out. Exits and ends of su-time are kept before other marks, and early marks
/// before later ones.
fn marks(run: &Recording, at: impl Fn(u64) -> u64) -> (Vec<(u64, String, String)>, usize) {
    let matters = |kind: &str| kind == "exit" || kind == "su-end";
    let others = MAX_MARKS.saturating_sub(run.marks.iter().filter(|mark| matters(&mark.kind)).count());
    let mut room = others;
    let mut kept = Vec::new();
    for mark in &run.marks {
        let is_kept = if matters(&mark.kind) { kept.len() < MAX_MARKS } else { room > 0 };
        if is_kept {
            room = room.saturating_sub(usize::from(!matters(&mark.kind)));
            kept.push((at(mark.at), mark.kind.clone(), mark.text.clone()));
        }
    }
    let left_out = run.marks.len() - kept.len();
    (kept, left_out)
}

pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
