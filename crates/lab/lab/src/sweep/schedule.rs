//! The order in which threads take warm-ups and runs.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A task for a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Task {
    /// Make the warm-up of a seed, and then call [`Schedule::warmed_up`].
    WarmUp {
        /// The place of the seed.
        seed: usize,
    },
    /// Make a run.
    Run {
        /// The place of the run's seed.
        seed: usize,
        /// The place of the run's scheme.
        scheme: usize,
    },
}

/// Orders the tasks: warm-ups, each followed by its seed's runs. A thread that finds no run ready starts the next warm-up instead of
/// waiting for another thread's. At most one warm-up for each thread is therefore made ahead of the runs.
pub(super) struct Schedule {
    seeds: usize,
    schemes: usize,
    state: Mutex<State>,
    /// Notifies waiting threads that a warm-up is finished.
    news: Condvar,
}

struct State {
    /// The next seed without a warm-up.
    next: usize,
    /// The number of warm-ups in progress.
    warming: usize,
    /// Seeds whose warm-up is finished, each with the next scheme to run.
    ready: VecDeque<(usize, usize)>,
}

impl Schedule {
    /// Creates a schedule before its first task.
    pub(super) fn new(seeds: usize, schemes: usize) -> Self {
        let state = State { next: 0, warming: 0, ready: VecDeque::new() };
        Self { seeds, schemes, state: Mutex::new(state), news: Condvar::new() }
    }

    /// Returns the next task. Waits if the task depends on another thread's warm-up. `None` if no task is left, or after `stopped` returns
    /// true.
    pub(super) fn take(&self, stopped: &dyn Fn() -> bool) -> Option<Task> {
        let mut state = self.lock();
        while !stopped() {
            if let Some((seed, scheme)) = state.ready.front_mut() {
                let task = Task::Run { seed: *seed, scheme: *scheme };
                *scheme += 1;
                if *scheme == self.schemes {
                    state.ready.pop_front();
                }
                return Some(task);
            }
            if state.next < self.seeds {
                state.next += 1;
                state.warming += 1;
                return Some(Task::WarmUp { seed: state.next - 1 });
            }
            if state.warming == 0 {
                return None;
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Marks the warm-up of a seed as finished, so that the seed's runs are ready. It must also be called if the warm-up failed, because
    /// other threads may wait.
    pub(super) fn warmed_up(&self, seed: usize) {
        let mut state = self.lock();
        state.warming -= 1;
        if self.schemes > 0 {
            state.ready.push_back((seed, 0));
        }
        self.news.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn run(seed: usize, scheme: usize) -> Task {
        Task::Run { seed, scheme }
    }

    fn warm_up(seed: usize) -> Task {
        Task::WarmUp { seed }
    }

    #[test]
    fn one_thread_finishes_the_runs_of_one_warm_up_before_another() {
        let schedule = Schedule::new(2, 2);
        let mut order = Vec::new();
        while let Some(task) = schedule.take(&|| false) {
            order.push(task);
            if let Task::WarmUp { seed } = task {
                schedule.warmed_up(seed);
            }
        }
        assert_eq!(order, [warm_up(0), run(0, 0), run(0, 1), warm_up(1), run(1, 0), run(1, 1)]);
    }

    #[test]
    fn an_idle_thread_without_ready_runs_begins_the_next_warm_up() {
        let schedule = Schedule::new(3, 2);
        let take = || schedule.take(&|| false).expect("a task");
        assert_eq!([take(), take()], [warm_up(0), warm_up(1)]);
        schedule.warmed_up(1);
        assert_eq!(take(), run(1, 0));
        schedule.warmed_up(0);
        assert_eq!([take(), take(), take(), take()], [run(1, 1), run(0, 0), run(0, 1), warm_up(2)]);
        assert_eq!(schedule.take(&|| true), None, "it was stopped");
    }

    #[test]
    fn threads_take_every_run_once_and_wait_for_the_last_warm_up() {
        let (seeds, schemes) = (7, 5);
        let schedule = Schedule::new(seeds, schemes);
        let taken: Vec<AtomicUsize> = (0..seeds * schemes).map(|_| AtomicUsize::new(0)).collect();
        let work = || {
            while let Some(task) = schedule.take(&|| false) {
                match task {
                    Task::WarmUp { seed } => {
                        std::thread::yield_now();
                        schedule.warmed_up(seed);
                    }
                    Task::Run { seed, scheme } => {
                        taken[seed * schemes + scheme].fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        };
        std::thread::scope(|scope| (0..16).for_each(|_| drop(scope.spawn(work))));
        assert!(taken.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }
}
