//! The windows of time that the page offers for a run: its first round trips, its start-up, its restarts, and the whole run.

use firstflight_measure::{PhaseKind, Recording};

/// The number of round trips in the first window, and the minimum number in a restart's window.
const FIRST_ROUNDS: u64 = 6;

/// The maximum number of restarts that have a window and are thinned separately.
const MAX_RESTARTS: usize = 64;
const FINE_RESTARTS: usize = 8;

/// Windows of time, whose ends are instants of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::html) struct Windows {
    /// The ends of the first round trips, of start-up and of the run. They are in ascending order and after the SYN.
    pub(in crate::html) ends: [u64; 3],
    /// The start and the end of each restart's window.
    pub(super) restarts: Vec<[u64; 2]>,
}

impl Windows {
    pub(super) fn of(run: &Recording) -> Self {
        let end = run.ended_at.max(run.syn_at + 1);
        let restarts = restarts(run);
        let round = run.rtts.iter().map(|&(_, rtt)| rtt).min().unwrap_or((end - run.syn_at) / 10);
        let rounds = round.saturating_mul(FIRST_ROUNDS);
        Self {
            ends: startup(run, rounds, restarts.first().copied(), end),
            restarts: restarts
                .iter()
                .enumerate()
                .map(|(at, &began)| restart(run, began, rounds, restarts.get(at + 1).copied().unwrap_or(end)))
                .collect(),
        }
    }

    /// The ends of the regions that are thinned separately, ascending.
    pub(super) fn regions(&self) -> Vec<u64> {
        let [first, startup, end] = self.ends;
        let fine = self.restarts.iter().take(FINE_RESTARTS).flatten().copied();
        let mut ends: Vec<u64> = fine.chain([first, startup]).filter(|at| *at < end).collect();
        ends.push(end);
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

/// Returns the instants of the first data after each idle time, at most one for each restart's window.
fn restarts(run: &Recording) -> Vec<u64> {
    let marks = run.marks.iter().filter(|mark| mark.kind == "restart" && mark.at > run.syn_at);
    marks.map(|mark| mark.at).take(MAX_RESTARTS).collect()
}

/// Returns the ends of the windows that start with the SYN. The first two end at the first idle time at the latest.
fn startup(run: &Recording, rounds: u64, idle: Option<u64>, end: u64) -> [u64; 3] {
    let limit = idle.unwrap_or(end).clamp(run.syn_at + 1, end);
    let data = run.first_data_at.unwrap_or(run.syn_at);
    let first = data.saturating_add(rounds).clamp(run.syn_at + 1, limit);
    let marked = run.marks.iter().filter(|mark| mark.kind == "su-end").map(|mark| mark.at).next();
    let avoided = run.phases.iter().find(|span| span.kind == PhaseKind::Avoidance).map(|span| span.from);
    let over = marked.or(avoided).filter(|over| *over < limit);
    let over = over.unwrap_or_else(|| if idle.is_some() { quiet_before(run, limit) } else { end });
    // A short time after start-up is included, because it shows how start-up ended. It also keeps the windows different.
    let later = first.saturating_add((first - run.syn_at) / 2);
    let startup = over.saturating_add((over - over.min(run.syn_at)) / 5).clamp(later.min(limit), limit);
    [first, startup, end]
}

/// Returns the window of a restart, which ends when the avoidance law controls the window again, or when all data is sent.
fn restart(run: &Recording, began: u64, rounds: u64, next: u64) -> [u64; 2] {
    let quiet = quiet_before(run, next).max(began);
    let governs = |from: u64, to: u64| if from <= began { to > began } else { from < quiet };
    let avoidance = run.phases.iter().filter(|span| span.kind == PhaseKind::Avoidance);
    let over = avoidance.filter(|span| governs(span.from, span.to)).map(|span| span.from.max(began)).next();
    let over = over.unwrap_or(quiet);
    let to = over.saturating_add((over - began) / 5).max(began.saturating_add(rounds)).min(quiet);
    // A margin on both sides shows where the restart starts and ends.
    let margin = ((to - began) / 20).max(1);
    [began.saturating_sub(margin).max(run.syn_at), to.saturating_add(margin).min(next)]
}

/// Returns the last instant before `then` at which data was sent, acknowledged or delivered.
fn quiet_before(run: &Recording, then: u64) -> u64 {
    let last = |points: &[(u64, u64)]| {
        let before = points.partition_point(|point| point.0 < then);
        points[..before].last().map_or(run.syn_at, |point| point.0)
    };
    let sent = run.sends[..run.sends.partition_point(|send| send.at < then)].last();
    sent.map_or(run.syn_at, |send| send.at).max(last(&run.acks)).max(last(&run.delivered))
}
