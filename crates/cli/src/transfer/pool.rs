//! A pool of a few threads that serve many connections in turns. The pool alternates between the sources of peers, and between the
//! connections of one source. A busy connection therefore delays any other by at most one turn.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};
use std::thread::JoinHandle;
use std::time::Instant;

use firstflight_udp::Source;
use firstflight_udp::files::CHUNK;

use crate::clock::now;

/// The minimum and the maximum number of threads.
const THREADS: (usize, usize) = (2, 8);

/// Work that a pool does in short turns.
pub(super) trait Work: Send {
    /// Does a short piece of work, without waiting. `room` is scratch space of [`CHUNK`] bytes, which is not preserved.
    fn turn(&mut self, room: &mut [u8]) -> Next;
}

/// The condition under which the work gets its next turn.
pub(super) enum Next {
    /// The work needs another turn as soon as possible.
    Again,
    /// The work needs a turn when its waker is called, or at this instant if that is earlier.
    Wait(Instant),
    /// The work has ended.
    Over,
}

/// A pool: its threads and its tasks. Clones share one pool.
#[derive(Clone)]
pub(super) struct Pool(Arc<Shared>);

struct Shared {
    turns: Mutex<Turns>,
    changed: Condvar,
}

#[derive(Default)]
struct Turns {
    tasks: BTreeMap<u64, Task>,
    number: u64,
    ready: Ready,
    deadlines: BTreeSet<(Instant, u64)>,
    is_over: bool,
}

struct Task {
    source: Source,
    /// The work; `None` while a thread does a turn of it.
    work: Option<Box<dyn Work>>,
    /// Whether the task is ready, or was woken during its turn.
    is_ready: bool,
    deadline: Option<Instant>,
}

/// Tasks that are ready, by source.
#[derive(Default)]
struct Ready {
    of: BTreeMap<Source, VecDeque<u64>>,
    /// The sources that have ready tasks, in the order of their turns.
    order: VecDeque<Source>,
}

impl Ready {
    fn push(&mut self, source: Source, task: u64) {
        let queue = self.of.entry(source).or_default();
        if queue.is_empty() {
            self.order.push_back(source);
        }
        queue.push_back(task);
    }

    fn pop(&mut self) -> Option<u64> {
        let source = self.order.pop_front()?;
        let queue = self.of.get_mut(&source)?;
        let task = queue.pop_front();
        if queue.is_empty() {
            self.of.remove(&source);
        } else {
            self.order.push_back(source);
        }
        task
    }
}

impl Turns {
    /// Makes a task ready.
    fn wake(&mut self, number: u64) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        if std::mem::replace(&mut task.is_ready, true) {
            return;
        }
        if let Some(deadline) = task.deadline.take() {
            self.deadlines.remove(&(deadline, number));
        }
        // If a task is in its turn, it gets another turn afterwards.
        if task.work.is_some() {
            let source = task.source;
            self.ready.push(source, number);
        }
    }

    /// Wakes the tasks whose deadline has passed, and returns the next deadline.
    fn expire(&mut self, now: Instant) -> Option<Instant> {
        while let Some((deadline, number)) = self.deadlines.first().copied() {
            if deadline > now {
                return Some(deadline);
            }
            self.wake(number);
            self.deadlines.remove(&(deadline, number));
        }
        None
    }

    /// Takes the work of the next task. The caller does a turn of it.
    fn take(&mut self) -> Option<(u64, Box<dyn Work>)> {
        loop {
            let number = self.ready.pop()?;
            if let Some(task) = self.tasks.get_mut(&number)
                && let Some(work) = task.work.take()
            {
                task.is_ready = false;
                return Some((number, work));
            }
        }
    }

    /// Puts the work back after a turn. Returns the work if it has ended, so that the caller drops it after it has released the lock.
    fn put_back(&mut self, number: u64, work: Box<dyn Work>, next: &Next) -> Option<Box<dyn Work>> {
        let Some(task) = self.tasks.get_mut(&number) else { return Some(work) };
        match next {
            Next::Over => {
                self.tasks.remove(&number);
                return Some(work);
            }
            Next::Again => task.is_ready = true,
            Next::Wait(_) => {}
        }
        task.work = Some(work);
        match next {
            Next::Wait(until) if !task.is_ready => {
                task.deadline = Some(*until);
                self.deadlines.insert((*until, number));
            }
            _ => {
                let source = task.source;
                self.ready.push(source, number);
            }
        }
        None
    }
}

impl Pool {
    /// Starts as many threads as there are processors, but at least two and at most eight. Starts fewer if the system allows no more.
    ///
    /// # Errors
    /// Fails if the system cannot start any thread.
    pub(super) fn start() -> io::Result<(Self, Vec<JoinHandle<()>>)> {
        let pool = Self(Arc::new(Shared { turns: Mutex::default(), changed: Condvar::new() }));
        let wanted = std::thread::available_parallelism().map_or(THREADS.0, usize::from);
        let mut threads = Vec::new();
        for _ in 0..wanted.clamp(THREADS.0, THREADS.1) {
            let shared = Arc::clone(&pool.0);
            match std::thread::Builder::new().name("transfer".to_owned()).spawn(move || shared.work()) {
                Ok(thread) => threads.push(thread),
                Err(error) if threads.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok((pool, threads))
    }

    /// Adds work, which gets a turn as soon as possible. `make` gets the waker of the work.
    pub(super) fn add(&self, source: Source, make: impl FnOnce(Waker) -> Box<dyn Work>) {
        let number = {
            let mut turns = self.0.lock();
            turns.number += 1;
            turns.number
        };
        // The waker may be called while a lock is held, so no lock is held here.
        let work = make(Waker::from(Arc::new(Alarm { shared: Arc::downgrade(&self.0), number })));
        let mut turns = self.0.lock();
        turns.tasks.insert(number, Task { source, work: Some(work), is_ready: true, deadline: None });
        turns.ready.push(source, number);
        drop(turns);
        self.0.changed.notify_one();
    }

    /// Stops the pool: no further turn is started.
    pub(super) fn stop(&self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        let mut room = vec![0; CHUNK];
        while let Some((number, mut work)) = self.next() {
            let next = work.turn(&mut room);
            let over = self.lock().put_back(number, work, &next);
            if !matches!(next, Next::Over) {
                self.changed.notify_one();
            }
            drop(over);
        }
    }

    /// Waits for the next task and takes its work. `None` after [`Pool::stop`].
    fn next(&self) -> Option<(u64, Box<dyn Work>)> {
        let mut turns = self.lock();
        loop {
            if turns.is_over {
                return None;
            }
            let now = now();
            let until = turns.expire(now);
            if let Some(task) = turns.take() {
                return Some(task);
            }
            turns = match until {
                Some(until) => {
                    let wait = self.changed.wait_timeout(turns, until.saturating_duration_since(now));
                    wait.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(turns).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waker of one task.
struct Alarm {
    shared: Weak<Shared>,
    number: u64,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.lock().wake(self.number);
            shared.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    /// Work that says its name in each of this many turns, then waits, and ends when it is woken.
    struct Talker {
        name: &'static str,
        turns: u32,
        said: Sender<&'static str>,
    }

    impl Work for Talker {
        fn turn(&mut self, _: &mut [u8]) -> Next {
            self.said.send(self.name).unwrap();
            self.turns -= 1;
            if self.turns == 0 { Next::Over } else { Next::Again }
        }
    }

    fn source(last: u8) -> Source {
        Source::of([192, 0, 2, last].into())
    }

    #[test]
    fn sources_take_turns_however_many_connections_one_has() {
        let mut turns = Turns::default();
        for (number, last) in [(1, 1), (2, 1), (3, 1), (4, 1), (5, 2), (6, 3)] {
            turns.ready.push(source(last), number);
        }
        let order: Vec<u64> = std::iter::from_fn(|| turns.ready.pop()).collect();
        assert_eq!(order, [1, 5, 6, 2, 3, 4]);
        assert!(turns.ready.of.is_empty() && turns.ready.order.is_empty());
    }

    #[test]
    fn work_gets_its_turns_until_it_is_over() {
        let (pool, threads) = Pool::start().unwrap();
        let (said, heard) = channel();
        for name in ["a", "b"] {
            let said = said.clone();
            pool.add(source(1), |_| Box::new(Talker { name, turns: 100, said }));
        }
        drop(said);
        let all: Vec<_> = heard.iter().collect();
        assert_eq!((all.len(), all.iter().filter(|name| **name == "a").count()), (200, 100));
        pool.stop();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(pool.0.lock().tasks.is_empty());
    }

    /// Work that waits for its waker, or for an instant.
    struct Waiter {
        until: Instant,
        said: Sender<&'static str>,
        is_begun: bool,
    }

    impl Work for Waiter {
        fn turn(&mut self, _: &mut [u8]) -> Next {
            self.said.send(if self.is_begun { "woken" } else { "begun" }).unwrap();
            if std::mem::replace(&mut self.is_begun, true) { Next::Over } else { Next::Wait(self.until) }
        }
    }

    #[test]
    fn work_that_waits_is_woken_or_its_instant_comes() {
        let (pool, _) = Pool::start().unwrap();
        let (said, heard) = channel();
        for wait in [Duration::from_hours(1), Duration::from_millis(50)] {
            let (said, mut alarm) = (said.clone(), None);
            let until = now() + wait;
            pool.add(source(1), |waker| {
                alarm = Some(waker);
                Box::new(Waiter { until, said, is_begun: false })
            });
            assert_eq!(heard.recv().unwrap(), "begun");
            if wait > Duration::from_mins(1) {
                assert!(heard.recv_timeout(Duration::from_millis(50)).is_err());
                alarm.unwrap().wake();
            }
            assert_eq!(heard.recv_timeout(Duration::from_secs(10)).unwrap(), "woken");
        }
        pool.stop();
    }
}
