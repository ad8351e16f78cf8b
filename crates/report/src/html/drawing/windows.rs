//! Which parts of a run a reader may want to see: its first round trips, its start-up, what follows an idle time, all.

use firstflight_measure::{PhaseKind, Recording};

/// Round trips in the first window, and in that of a restart at least.
const FIRST_ROUNDS: u64 = 6;

/// Restarts that have a window, at most, and those that are thinned apart from the rest of the run.
const MOST_RESTARTS: usize = 64;
const FINE_RESTARTS: usize = 8;

/// Windows, as instants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Windows {
    /// Where the first round trips, start-up and the run end: ascending, each later than the SYN.
    pub(super) ends: [u64; 3],
    /// From when until when each restart goes.
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

    /// The ends of the regions that are thinned apart, ascending.
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

/// When data left after an idle time, as far as there are windows.
fn restarts(run: &Recording) -> Vec<u64> {
    let marks = run.marks.iter().filter(|mark| mark.kind == "restart" && mark.at > run.syn_at);
    marks.map(|mark| mark.at).take(MOST_RESTARTS).collect()
}

/// The windows that begin with the SYN. What an idle time interrupts ends there.
fn startup(run: &Recording, rounds: u64, idle: Option<u64>, end: u64) -> [u64; 3] {
    let limit = idle.unwrap_or(end).clamp(run.syn_at + 1, end);
    let data = run.first_data_at.unwrap_or(run.syn_at);
    let first = data.saturating_add(rounds).clamp(run.syn_at + 1, limit);
    let marked = run.marks.iter().filter(|mark| mark.kind == "su-end").map(|mark| mark.at).next();
    let avoided = run.phases.iter().find(|span| span.kind == PhaseKind::Avoidance).map(|span| span.from);
    let over = marked.or(avoided).filter(|over| *over < limit);
    let over = over.unwrap_or_else(|| if idle.is_some() { quiet_before(run, limit) } else { end });
    // A little of what comes after shows how start-up ended; and the windows are to differ.
    let later = first.saturating_add((first - run.syn_at) / 2);
    let startup = over.saturating_add((over - over.min(run.syn_at)) / 5).clamp(later.min(limit), limit);
    [first, startup, end]
}

/// The window of a restart: until the law governs again, or there is no more to send.
fn restart(run: &Recording, began: u64, rounds: u64, next: u64) -> [u64; 2] {
    let quiet = quiet_before(run, next).max(began);
    let governs = |from: u64, to: u64| if from <= began { to > began } else { from < quiet };
    let avoidance = run.phases.iter().filter(|span| span.kind == PhaseKind::Avoidance);
    let over = avoidance.filter(|span| governs(span.from, span.to)).map(|span| span.from.max(began)).next();
    let over = over.unwrap_or(quiet);
    let to = over.saturating_add((over - began) / 5).max(began.saturating_add(rounds)).min(quiet);
    // A little on both sides shows where it begins and ends.
    let margin = ((to - began) / 20).max(1);
    [began.saturating_sub(margin).max(run.syn_at), to.saturating_add(margin).min(next)]
}

/// When something was last sent, acknowledged or delivered before then.
fn quiet_before(run: &Recording, then: u64) -> u64 {
    let last = |points: &[(u64, u64)]| {
        let before = points.partition_point(|point| point.0 < then);
        points[..before].last().map_or(run.syn_at, |point| point.0)
    };
    let sent = run.sends[..run.sends.partition_point(|send| send.at < then)].last();
    sent.map_or(run.syn_at, |send| send.at).max(last(&run.acks)).max(last(&run.delivered))
}
