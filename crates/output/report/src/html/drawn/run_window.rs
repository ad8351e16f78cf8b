//! The windows of a scheme's further runs, for a band over runs.

use firstflight_measure::Recording;

use super::signed;
use super::windows::Windows;
use crate::thin::{self, Grid, Shape, Thinned};

/// The number of buckets of a region. A small plot is narrower.
const BUCKETS: u64 = 480;

/// The window of a run after a scheme's first, reduced to what a small plot shows.
#[derive(Clone, Debug, PartialEq)]
pub struct RunWindow {
    seed: u64,
    /// The steps, as (seconds since the first data, packets).
    steps: Vec<(f64, f64)>,
    /// The end of the run, in seconds since the first data.
    end: f64,
}

impl RunWindow {
    /// Reduces the window of a run with this seed.
    #[expect(clippy::cast_precision_loss, reason = "to draw, 53 bits are enough")]
    pub fn new(seed: u64, run: &Recording) -> Self {
        let since = |time: u64| time.saturating_sub(run.syn_at);
        let windows = Windows::of(run);
        let windows = Windows {
            ends: windows.ends.map(since),
            restarts: windows.restarts.iter().map(|one| one.map(since)).collect(),
        };
        let grid = Grid { tick: 1, ends: windows.regions(), buckets: BUCKETS };
        let states = run.states.iter().map(|state| (since(state.at), signed(state.cwnd)));
        let thinned = Thinned::new(thin::changes(states), &grid, Shape::Line);
        let origin = since(run.first_data_at.unwrap_or(run.syn_at)) as f64;
        let seconds = |time: u64| (time as f64 - origin) / 1e9;
        let mss = f64::from(run.mss.max(1));
        let steps = thinned.points.iter().map(|&(time, bytes)| (seconds(time), bytes as f64 / mss)).collect();
        Self { seed, steps, end: seconds(since(run.ended_at)) }
    }

    pub(in crate::html) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the window at a time; `None` before the first state and after the end of the run.
    pub(in crate::html) fn at(&self, time: f64) -> Option<f64> {
        let after = self.steps.partition_point(|step| step.0 <= time);
        (time <= self.end).then(|| self.steps[..after].last().map(|step| step.1))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_measure::State;

    #[test]
    fn a_window_holds_from_its_step_to_the_end_of_the_run() {
        let state = |at: u64, cwnd: u64| State { at, cwnd, ssthresh: None, in_flight: 0 };
        let run = Recording {
            mss: 1000,
            syn_at: 1_000_000_000,
            first_data_at: Some(2_000_000_000),
            ended_at: 5_000_000_000,
            states: vec![state(2_000_000_000, 10_000), state(3_000_000_000, 25_000)],
            ..Recording::default()
        };
        let window = RunWindow::new(7, &run);
        let at = [-0.5, 0.0, 0.9, 1.0, 3.0, 3.1].map(|time| window.at(time));
        assert_eq!(at, [None, Some(10.0), Some(10.0), Some(25.0), Some(25.0), None]);
    }
}
