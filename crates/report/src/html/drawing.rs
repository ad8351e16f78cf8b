//! What the report draws, as compact data for its script.

use firstflight_lab::{PhaseKind, Recording};
use rayon::prelude::*;
use serde::Serialize;

use super::vlq;
use crate::report::{Report, Subject};
use crate::thin::{self, Grid, Point};

/// The drawn data of a report is kept under this many bytes.
pub(crate) const LARGEST: usize = 2_800_000;

/// Buckets a region to begin with, and at least.
const FINEST: u64 = 3000;
const COARSEST: u64 = 40;

/// Round trips in the first window.
const FIRST_ROUNDS: u64 = 6;

/// Marks and phases drawn of one run, at most.
const MOST_MARKS: usize = 400;
const MOST_PHASES: usize = 1500;

/// All that is drawn.
#[derive(Debug, Serialize)]
pub(crate) struct Drawing {
    /// Whether this is of captures: the flight stands in the place of the window.
    is_capture: bool,
    /// Seconds a tick.
    tick: f64,
    /// Buckets a region, where it is thinned.
    buckets: u64,
    ideal: Trace,
    flows: Vec<Flow>,
}

/// One run.
#[derive(Debug, Serialize)]
struct Flow {
    label: String,
    mss: u32,
    /// Ticks from the SYN to the first data packet.
    first_data: Option<u64>,
    /// Ends of the three windows in ticks: first round trips, start-up, whole.
    windows: [u64; 3],
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
    phases: Phases,
    marks: Vec<(u64, String, String)>,
    /// Marks that were left out.
    marks_left_out: usize,
}

/// One series: how many points there were, how many are here, and those.
#[derive(Debug, Serialize)]
struct Trace {
    of: usize,
    n: usize,
    /// In which windows it is thinned.
    thinned: Vec<bool>,
    x: String,
    y: String,
}

#[derive(Debug, Serialize)]
struct Phases {
    n: usize,
    from: String,
    to: String,
    kind: String,
}

impl Drawing {
    /// The drawn data of the report as JSON, as fine as fits.
    pub(crate) fn json(report: &Report) -> Result<String, serde_json::Error> {
        let mut buckets = FINEST;
        loop {
            let json = serde_json::to_string(&Self::new(report, buckets))?;
            if json.len() <= LARGEST || buckets <= COARSEST {
                return Ok(json);
            }
            // The size goes with the buckets, at most: a little less than in proportion is enough.
            let fitting = u128::from(buckets) * LARGEST as u128 * 19 / (json.len() as u128 * 20);
            buckets = u64::try_from(fitting).unwrap_or(buckets).clamp(COARSEST, buckets - 1);
        }
    }

    fn new(report: &Report, buckets: u64) -> Self {
        let longest =
            report.recordings.iter().map(|run| run.ended_at.saturating_sub(run.syn_at)).max().unwrap_or(0);
        let clock = Clock::for_length(longest);
        let flows: Vec<Flow> =
            report.recordings.par_iter().map(|run| Flow::new(run, clock, buckets)).collect();
        let origin = report.recordings.first().map_or(0, |run| run.syn_at);
        let ends = [0, 1, 2].map(|at| flows.iter().map(|flow| flow.windows[at]).max().unwrap_or(1));
        let grid = Grid { ends: ends.to_vec(), buckets };
        let ideal: Vec<Point> =
            report.ideal.iter().map(|&(at, bytes)| (clock.ticks(at, origin), signed(bytes))).collect();
        let is_capture = report.subject == Subject::Captures;
        Self {
            is_capture,
            tick: clock.seconds(),
            buckets,
            ideal: Trace::line(&ideal, ideal.len(), &grid),
            flows,
        }
    }
}

/// The unit of time of the drawing.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Nanoseconds a tick; a power of ten.
    tick: u64,
}

impl Clock {
    /// As fine as keeps the longest run within fifty million ticks: a microsecond up to 50 s.
    fn for_length(nanoseconds: u64) -> Self {
        let mut tick = 1;
        while nanoseconds / tick > 50_000_000 {
            tick *= 10;
        }
        Self { tick }
    }

    fn seconds(self) -> f64 {
        // Exact division of small powers of ten: the shortest decimal is printed.
        1.0 / (1_000_000_000.0 / self.tick_f64())
    }

    #[expect(clippy::cast_precision_loss, reason = "a power of ten below 2^53")]
    fn tick_f64(self) -> f64 {
        self.tick as f64
    }

    fn ticks(self, at: u64, origin: u64) -> u64 {
        at.saturating_sub(origin) / self.tick
    }
}

impl Flow {
    fn new(run: &Recording, clock: Clock, buckets: u64) -> Self {
        let at = |time: u64| clock.ticks(time, run.syn_at);
        let windows = windows(run).map(at);
        let grid = Grid { ends: windows.to_vec(), buckets };
        let packets = |again: bool| -> Vec<Point> {
            run.sends
                .iter()
                .filter(|send| send.retransmission == again)
                .map(|send| (at(send.at), signed(send.offset.saturating_add(send.len.into()))))
                .collect()
        };
        let drops: Vec<Point> = run
            .drops
            .iter()
            .filter(|drop| drop.len > 0)
            .map(|drop| (at(drop.at), signed(drop.offset.saturating_add(drop.len.into()))))
            .collect();
        let offsets = |points: &[(u64, u64)]| -> Vec<Point> {
            points.iter().map(|&(time, offset)| (at(time), signed(offset))).collect()
        };
        let rtts: Vec<Point> = run.rtts.iter().map(|&(time, rtt)| (at(time), signed(rtt / 1000))).collect();
        let state = |value: fn(&firstflight_lab::State) -> i64| -> Vec<Point> {
            run.states.iter().map(|state| (at(state.at), value(state))).collect()
        };
        let steps = |points: Vec<Point>| Trace::steps(&points, &grid);
        // What stood in the queue when the SYN left is its first point.
        let before = run.queue.iter().rposition(|&(time, ..)| time <= run.syn_at).unwrap_or(0);
        let queue =
            run.queue[before..].iter().map(|&(time, _, packets)| (at(time), i64::from(packets))).collect();
        let (marks, marks_left_out) = marks(run, at);
        Self {
            label: run.label.clone(),
            mss: run.mss.max(1),
            first_data: run.first_data_at.map(at),
            windows,
            sends: Trace::dots(&packets(false), &grid),
            retransmissions: Trace::dots(&packets(true), &grid),
            drops: Trace::dots(&drops, &grid),
            acks: steps(offsets(&run.acks)),
            delivered: steps(offsets(&run.delivered)),
            cwnd: steps(state(|state| signed(state.cwnd))),
            // No threshold is drawn as a gap.
            ssthresh: steps(state(|state| state.ssthresh.map_or(-1, signed))),
            in_flight: steps(state(|state| signed(state.in_flight))),
            rtt: Trace::dots(&rtts, &grid),
            queue: steps(queue),
            phases: phases(run, at),
            marks,
            marks_left_out,
        }
    }
}

impl Trace {
    fn steps(points: &[Point], grid: &Grid) -> Self {
        Self::line(&thin::changes(points.iter().copied()), points.len(), grid)
    }

    fn line(points: &[Point], of: usize, grid: &Grid) -> Self {
        Self::pack(&thin::line(points, grid), of, grid.thinned(points))
    }

    fn dots(points: &[Point], grid: &Grid) -> Self {
        Self::pack(&thin::dots(points, grid), points.len(), grid.thinned(points))
    }

    fn pack(kept: &[Point], of: usize, thinned: Vec<bool>) -> Self {
        Self {
            of,
            n: kept.len(),
            thinned,
            x: vlq::encode(kept.iter().map(|point| signed(point.0))),
            y: vlq::encode(kept.iter().map(|point| point.1)),
        }
    }
}

/// Where the first round trips, start-up and the run end, as instants; ascending, each later than the SYN.
fn windows(run: &Recording) -> [u64; 3] {
    let end = run.ended_at.max(run.syn_at + 1);
    let round = run.rtts.iter().map(|&(_, rtt)| rtt).min().unwrap_or((end - run.syn_at) / 10);
    let data = run.first_data_at.unwrap_or(run.syn_at);
    let first = data.saturating_add(round.saturating_mul(FIRST_ROUNDS)).clamp(run.syn_at + 1, end);
    let marked = run.marks.iter().filter(|mark| mark.kind == "su-end").map(|mark| mark.at).next();
    let avoided = run.phases.iter().find(|span| span.kind == PhaseKind::Avoidance).map(|span| span.from);
    let startup = marked.or(avoided).unwrap_or(end);
    // A little of what comes after shows how start-up ended; and the windows are to differ.
    let later = first.saturating_add((first - run.syn_at) / 2);
    let startup = startup.saturating_add((startup - startup.min(run.syn_at)) / 5).clamp(later.min(end), end);
    [first, startup, end]
}

fn phases(run: &Recording, at: impl Fn(u64) -> u64) -> Phases {
    let mut spans: Vec<(u64, u64, PhaseKind)> =
        run.phases.iter().map(|span| (at(span.from), at(span.to), span.kind)).collect();
    // Only a run with very many episodes comes here: its shortest go first.
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

/// The first marks, exits first of all; and how many are left out.
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
