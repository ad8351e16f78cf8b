//! Who does what next.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a thread can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Task {
    /// Make the warm-up of a heat, and then say [`Schedule::warmed_up`].
    WarmUp {
        /// Which.
        heat: usize,
    },
    /// Make a run.
    Run {
        /// In which heat.
        heat: usize,
        /// Of which scheme.
        scheme: usize,
    },
}

/// Warm-ups in order, and after each its heat's runs. A thread that finds no run ready begins the next warm-up rather
/// than to wait for one that another thread makes; so at most one a thread is made ahead of the runs.
pub(super) struct Schedule {
    heats: usize,
    schemes: usize,
    state: Mutex<State>,
    /// A warm-up is over.
    news: Condvar,
}

struct State {
    /// The next heat to be warmed up.
    next: usize,
    /// How many warm-ups are being made.
    warming: usize,
    /// Heats that are warmed up, with their next scheme.
    ready: VecDeque<(usize, usize)>,
}

impl Schedule {
    /// Nothing is done yet.
    pub(super) fn new(heats: usize, schemes: usize) -> Self {
        let state = State { next: 0, warming: 0, ready: VecDeque::new() };
        Self { heats, schemes, state: Mutex::new(state), news: Condvar::new() }
    }

    /// What is to be done next; waits if that depends on a warm-up that another thread makes. `None` if nothing is left to
    /// be taken, or once `stopped` says so.
    pub(super) fn take(&self, stopped: &dyn Fn() -> bool) -> Option<Task> {
        let mut state = self.lock();
        while !stopped() {
            if let Some((heat, scheme)) = state.ready.front_mut() {
                let task = Task::Run { heat: *heat, scheme: *scheme };
                *scheme += 1;
                if *scheme == self.schemes {
                    state.ready.pop_front();
                }
                return Some(task);
            }
            if state.next < self.heats {
                state.next += 1;
                state.warming += 1;
                return Some(Task::WarmUp { heat: state.next - 1 });
            }
            if state.warming == 0 {
                return None;
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// A heat is warmed up: its runs are ready. To be said as well of a warm-up that failed, for others may wait.
    pub(super) fn warmed_up(&self, heat: usize) {
        let mut state = self.lock();
        state.warming -= 1;
        if self.schemes > 0 {
            state.ready.push_back((heat, 0));
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

    fn run(heat: usize, scheme: usize) -> Task {
        Task::Run { heat, scheme }
    }

    fn warm_up(heat: usize) -> Task {
        Task::WarmUp { heat }
    }

    #[test]
    fn one_thread_makes_a_warm_up_and_then_its_runs_before_the_next() {
        let schedule = Schedule::new(2, 2);
        let mut order = Vec::new();
        while let Some(task) = schedule.take(&|| false) {
            order.push(task);
            if let Task::WarmUp { heat } = task {
                schedule.warmed_up(heat);
            }
        }
        assert_eq!(order, [warm_up(0), run(0, 0), run(0, 1), warm_up(1), run(1, 0), run(1, 1)]);
    }

    #[test]
    fn who_finds_no_run_ready_begins_the_next_warm_up() {
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
        let (heats, schemes) = (7, 5);
        let schedule = Schedule::new(heats, schemes);
        let taken: Vec<AtomicUsize> = (0..heats * schemes).map(|_| AtomicUsize::new(0)).collect();
        let work = || {
            while let Some(task) = schedule.take(&|| false) {
                match task {
                    Task::WarmUp { heat } => {
                        std::thread::yield_now();
                        schedule.warmed_up(heat);
                    }
                    Task::Run { heat, scheme } => {
                        taken[heat * schemes + scheme].fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        };
        std::thread::scope(|scope| (0..16).for_each(|_| drop(scope.spawn(work))));
        assert!(taken.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }
}
