//! The drawn data of the report, in a compact form for its script.

mod windows;

use firstflight_measure::{PhaseKind, Recording};
use rayon::prelude::*;
use serde::Serialize;

use self::windows::Windows;
use super::vlq;
use crate::record::{self, Record};
use crate::reference::{self, BasePath};
use crate::report::{Report, Subject};
use crate::thin::{self, Grid, Point, Shape, Thinned};

/// The most bytes of a report's drawn data.
pub(crate) const LARGEST: usize = 2_800_000;

/// The most and the fewest buckets of a region. A page's number is a divisor of the most, so that each of its buckets is a
/// whole number of the finest ones. A number with many divisors allows small steps.
const FINEST: u64 = 5040;
const COARSEST: u64 = 20;
const _: () = assert!(FINEST.is_multiple_of(COARSEST), "the search for a divisor ends");

/// The most marks and phases drawn for one run.
const MOST_MARKS: usize = 400;
const MOST_PHASES: usize = 1500;

/// The drawable data of one run: its traces at the finest resolution. They are much smaller than the recording, which can
/// then be freed.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The row's label, or what the flow is called.
    pub(crate) label: String,
    /// Of a flow of a population: which it is.
    pub(crate) flow: Option<FlowOf>,
    mss: u32,
    syn_at: u64,
    clock: Clock,
    first_data: Option<u64>,
    /// In ticks.
    windows: Windows,
    /// Ends of the regions that are thinned separately, in ticks.
    regions: Vec<u64>,
    sends: Series,
    retransmissions: Series,
    drops: Series,
    acks: Series,
    delivered: Series,
    cwnd: Series,
    ssthresh: Series,
    in_flight: Series,
    rtt: Series,
    queue: Series,
    product: Series,
    phases: Phases,
    marks: Vec<(u64, String, String)>,
    /// Marks that were left out.
    marks_left_out: usize,
}

/// One series: the number of its points, and those that may be drawn.
#[derive(Clone, Debug)]
struct Series {
    of: usize,
    thinned: Thinned,
}

/// Which flow of a population is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowOf {
    /// The name of its scheme.
    pub scheme: String,
    /// What rows call the population.
    pub population: String,
    /// Its number.
    pub number: u32,
}

/// All that is drawn.
#[derive(Debug, Serialize)]
pub(crate) struct Drawing<'a> {
    /// Whether the data is of captures, for which the flight is drawn as the window.
    is_capture: bool,
    /// Whether the network was seen too: its queue, and what it dropped.
    has_network: bool,
    /// Whether the data is of rounds, whose restarts are shown first.
    is_of_rounds: bool,
    /// Seconds a tick of the ideal.
    tick: f64,
    /// Buckets of a region, where it is thinned.
    buckets: u64,
    /// The reference line of the window plots.
    reference: Reference,
    ideal: Trace,
    flows: Vec<Flow<'a>>,
}

/// What the flows' reference lines have in common.
#[derive(Debug, Serialize)]
struct Reference {
    name: &'static str,
    /// How many times the largest window drawn the line may reach and still set the scale of a plot.
    room: f64,
}

/// One run.
#[derive(Debug, Serialize)]
struct Flow<'a> {
    label: &'a str,
    mss: u32,
    /// Seconds a tick.
    tick: f64,
    /// Ticks from the SYN to the first data packet.
    first_data: Option<u64>,
    /// Ends of the three windows that begin with the SYN: first round trips, start-up, whole.
    windows: [u64; 3],
    /// The beginning and the end of each restart's window.
    restarts: &'a [[u64; 2]],
    /// Ends of the regions that are thinned separately.
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

/// One series: the number of its points, the number drawn, and the drawn points.
#[derive(Debug, Serialize)]
struct Trace {
    of: usize,
    n: usize,
    /// The regions in which the series is thinned.
    thinned: Vec<bool>,
    x: String,
    y: String,
}

#[derive(Clone, Debug, Serialize)]
struct Phases {
    n: usize,
    from: String,
    to: String,
    kind: String,
}

impl<'a> Drawing<'a> {
    /// The drawn data of the report as JSON, at the finest resolution that fits.
    pub(crate) fn json(report: &'a Report) -> Result<String, serde_json::Error> {
        let mut buckets = FINEST;
        loop {
            let json = serde_json::to_string(&Self::new(report, buckets))?;
            if json.len() <= LARGEST || buckets <= COARSEST {
                return Ok(json);
            }
            // The size is at most proportional to the buckets, so larger numbers that are too large in proportion need no
            // trial.
            let fitting = u128::from(buckets) * LARGEST as u128 / json.len() as u128;
            buckets = u64::try_from(fitting).unwrap_or(buckets).clamp(COARSEST, buckets - 1);
            while !FINEST.is_multiple_of(buckets) {
                buckets -= 1;
            }
        }
    }

    fn new(report: &'a Report, buckets: u64) -> Self {
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

/// The unit of time of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Clock {
    /// Nanoseconds a tick; a power of ten.
    tick: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { tick: 1 }
    }
}

impl Clock {
    /// The finest tick that keeps the run within fifty million ticks: a microsecond up to 50 s.
    fn for_length(nanoseconds: u64) -> Self {
        let mut tick = 1;
        while nanoseconds / tick > 50_000_000 {
            tick *= 10;
        }
        Self { tick }
    }

    fn seconds(self) -> f64 {
        // Dividing by a small power of ten is exact, so the shortest decimal is printed.
        1.0 / (1_000_000_000.0 / self.tick_f64())
    }

    #[expect(clippy::cast_precision_loss, reason = "a power of ten below 2^53")]
    fn tick_f64(self) -> f64 {
        self.tick as f64
    }
}

impl Drawn {
    /// The drawable data of a flow of a population, which the recording's label names.
    pub fn of_flow(run: &Recording, path: Option<&BasePath>, flow: FlowOf) -> Self {
        Self { flow: Some(flow), ..Self::new(run, path) }
    }

    /// Whether it is what a row is of. Of a population's flows a row of a scheme has several.
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

    /// Extracts the drawable data of a run. The path is for the bandwidth-delay product, which a capture does not have.
    pub fn new(run: &Recording, path: Option<&BasePath>) -> Self {
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
        // The queue's length when the SYN left is its first point.
        let before = run.queue.partition_point(|&(time, _)| time <= run.syn_at).saturating_sub(1);
        let queue = run.queue[before..].iter().map(|&(time, packets)| (since(time), i64::from(packets)));
        let products = path.map_or_else(Vec::new, |path| path.products(run, run.ended_at));
        let products = products.iter().map(|&(at, packets)| (since(at), thousandths(packets)));
        let (marks, marks_left_out) = marks(run, ticks);
        Self {
            label: run.label.clone(),
            flow: None,
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
            // The absence of a threshold is drawn as a gap.
            ssthresh: state(|state| state.ssthresh.map_or(-1, signed)),
            in_flight: state(|state| signed(state.in_flight)),
            rtt: Series::dots(rtts, &grid),
            queue: Series::steps(queue, &grid),
            // Its last point, where the run ends, is no change, but the line goes until there.
            product: Series { of: products.len(), thinned: Thinned::new(products, &grid, Shape::Line) },
            phases: phases(run, ticks),
            marks,
            marks_left_out,
        }
    }

    fn flow(&self, buckets: u64) -> Flow<'_> {
        let grid = Grid { tick: self.clock.tick, ends: self.regions.clone(), buckets };
        Flow {
            label: &self.label,
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

    /// The series on this grid, in ticks.
    fn trace(&self, grid: &Grid) -> Trace {
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
    // If a run has too many episodes, its shortest are left out.
    if spans.len() > MOST_PHASES {
        let mut lengths: Vec<u64> = spans.iter().map(|span| span.1.saturating_sub(span.0)).collect();
        lengths.sort_unstable();
        let shortest = lengths[lengths.len() - MOST_PHASES];
        spans.retain(|span| span.1.saturating_sub(span.0) > shortest);
    }
    Phases {
        n: spans.len(),
        from: vlq::encode(spans.iter().map(|span| signed(span.0))),
        to: vlq::encode(spans.iter().map(|span| signed(span.1))),
        kind: vlq::encode(spans.iter().map(|span| kind_number(span.2))),
    }
}

/// The script's `PHASES` are in this order.
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

/// The first marks, exits before others; and the number of marks left out.
fn marks(run: &Recording, at: impl Fn(u64) -> u64) -> (Vec<(u64, String, String)>, usize) {
    let matters = |kind: &str| kind == "exit" || kind == "su-end";
    let others = MOST_MARKS.saturating_sub(run.marks.iter().filter(|mark| matters(&mark.kind)).count());
    let mut room = others;
    let mut kept = Vec::new();
    for mark in &run.marks {
        let is_kept = if matters(&mark.kind) { kept.len() < MOST_MARKS } else { room > 0 };
        if is_kept {
            room = room.saturating_sub(usize::from(!matters(&mark.kind)));
            kept.push((at(mark.at), mark.kind.clone(), mark.text.clone()));
        }
    }
    let left_out = run.marks.len() - kept.len();
    (kept, left_out)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
