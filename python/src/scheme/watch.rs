//! The calls of classes in Python that are in progress, and the first fault of one.
//!
//! Each thread that runs a class has a counter, which increases at the beginning and at the end of each call. The thread that waits for the
//! command reads the counters every few milliseconds. If a counter does not change for longer than the class allows, an exception ends the
//! call in the counter's thread. The threads that run a class read no clock.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::intern;
use pyo3::prelude::*;

/// The module with the part of the package that is in Python.
pub(super) const MODULE: &str = "firstflight._scheme";
/// The module that handles threads.
const USER_CODE: &str = "firstflight._user_code";

/// The payload of the panic that ends the threads of a command whose class failed.
#[derive(Debug)]
pub(crate) struct Stopped;

/// A thread that calls classes.
#[derive(Debug)]
struct Caller {
    /// Python's number of the thread.
    thread: u64,
    /// Odd during a call.
    calls: AtomicU64,
    /// The limit of the call in progress, in milliseconds.
    limit: AtomicU64,
}

/// The calls of the classes of one command.
pub(crate) struct Watch {
    /// The number of the watch: no other of this process has it.
    number: u64,
    callers: Mutex<Vec<Arc<Caller>>>,
    has_failed: AtomicBool,
    /// The faults: the scheme, the instant in nanoseconds, and the exception.
    faults: Mutex<Vec<(&'static str, u64, PyErr)>>,
    /// Ends the command.
    stop: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("has_failed", &self.has_failed).finish_non_exhaustive()
    }
}

/// Keeps Python's state of this thread from one call to the next. Python makes and drops a state for each call otherwise, which takes longer
/// than most calls.
struct Kept;

impl Kept {
    fn new(py: Python<'_>) -> Option<Self> {
        let kept = py.import(USER_CODE).and_then(|module| module.call_method0(intern!(py, "keep_thread")));
        kept.ok().map(|_| Self)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // At the end of the interpreter nothing is left to drop.
        Python::try_attach(|py| {
            drop(py.import(USER_CODE).and_then(|module| module.call_method0(intern!(py, "leave_thread"))));
        });
    }
}

thread_local! {
    /// Python's state of this thread, if it is kept.
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
    /// The number of the watch whose class this thread called last, and the thread in it.
    static CALLER: RefCell<Option<(u64, Arc<Caller>)>> = const { RefCell::new(None) };
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call in progress. It is over when this is dropped.
pub(super) struct InCall(Arc<Caller>);

impl Drop for InCall {
    fn drop(&mut self) {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Watch {
    /// Makes a watch; `stop` ends the command at the first fault.
    pub(crate) fn new(stop: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            callers: Mutex::default(),
            has_failed: AtomicBool::new(false),
            faults: Mutex::default(),
            stop: Box::new(stop),
        })
    }

    /// Begins a call that may take `limit` milliseconds. Ends this thread's part of the command instead if the command is to end: a command
    /// stops with the interpreter's lock held, as a call begins, so no call begins after that.
    pub(super) fn begin(&self, py: Python<'_>, limit: u64) -> PyResult<InCall> {
        self.go_on();
        let known = CALLER.with_borrow(|caller| match caller {
            Some((watch, caller)) if *watch == self.number => Some(Arc::clone(caller)),
            _ => None,
        });
        let caller = match known {
            Some(caller) => caller,
            None => self.enlist(py)?,
        };
        caller.limit.store(limit, Ordering::Relaxed);
        caller.calls.fetch_add(1, Ordering::Relaxed);
        Ok(InCall(caller))
    }

    #[cold]
    fn enlist(&self, py: Python<'_>) -> PyResult<Arc<Caller>> {
        if KEPT.with_borrow(Option::is_none) {
            KEPT.set(Kept::new(py));
        }
        let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
        let caller = Arc::new(Caller { thread, calls: AtomicU64::new(0), limit: AtomicU64::new(0) });
        locked(&self.callers).push(Arc::clone(&caller));
        CALLER.set(Some((self.number, Arc::clone(&caller))));
        Ok(caller)
    }

    /// Keeps the fault of a scheme at an instant in nanoseconds, and ends the command.
    pub(super) fn failed(&self, scheme: &'static str, at: u64, error: PyErr) {
        locked(&self.faults).push((scheme, at, error));
        self.has_failed.store(true, Ordering::SeqCst);
        (self.stop)();
    }

    /// Ends this thread's part of the command if a class has failed, or if the command is to end.
    pub(super) fn go_on(&self) {
        if self.has_failed.load(Ordering::Relaxed) {
            unwind();
        }
    }

    /// Returns the fault of the command, if there is one: of several, that of the first scheme by name, at its first instant.
    pub(crate) fn fault(&self) -> Option<PyErr> {
        let mut faults = std::mem::take(&mut *locked(&self.faults));
        faults.sort_by_key(|(scheme, at, _)| (*scheme, *at));
        faults.into_iter().next().map(|(_, _, error)| error)
    }

    /// Stops all calls of classes that have not begun.
    pub(crate) fn stop_calls(&self) {
        self.has_failed.store(true, Ordering::SeqCst);
    }
}

/// Ends this thread's part of the command, without a message of a panic.
pub(super) fn unwind() -> ! {
    std::panic::resume_unwind(Box::new(Stopped))
}

/// A call that does not end, as the waiting thread sees it.
#[derive(Debug)]
struct Seen {
    caller: Arc<Caller>,
    calls: u64,
    since: Instant,
    /// The instant at which this call was interrupted first.
    interrupted: Option<Instant>,
}

/// The looks at a watch.
#[derive(Debug)]
pub(crate) struct Looks {
    watch: Arc<Watch>,
    seen: Vec<Seen>,
}

/// The time that a call has to end once it was interrupted. Code that is not in Python cannot be interrupted.
const GRACE: Duration = Duration::from_secs(2);

/// The time after which a call is ended that runs while the user interrupts.
const AT_INTERRUPT: Duration = Duration::from_millis(50);

impl Looks {
    /// Begins to look at a watch.
    pub(crate) fn new(watch: &Arc<Watch>) -> Self {
        Self { watch: Arc::clone(watch), seen: Vec::new() }
    }

    /// Interrupts calls that have lasted longer than their limit, or at all if the user interrupts. Returns the place of a call that
    /// cannot be interrupted, as an exception.
    pub(crate) fn look(&mut self, py: Python<'_>, is_interrupted: bool) -> PyResult<Option<PyErr>> {
        let callers = locked(&self.watch.callers).clone();
        #[expect(clippy::disallowed_methods, reason = "the limit of a user's code is of real time")]
        let now = Instant::now();
        for caller in callers {
            let calls = caller.calls.load(Ordering::Relaxed);
            let seen = self.seen.iter_mut().find(|seen| Arc::ptr_eq(&seen.caller, &caller));
            let Some(seen) = seen else {
                self.seen.push(Seen { caller, calls, since: now, interrupted: None });
                continue;
            };
            if seen.calls != calls || calls % 2 == 0 {
                (seen.calls, seen.since, seen.interrupted) = (calls, now, None);
                continue;
            }
            let limit = Duration::from_millis(caller.limit.load(Ordering::Relaxed));
            let limit = if is_interrupted { limit.min(AT_INTERRUPT) } else { limit };
            if now.duration_since(seen.since) <= limit {
                continue;
            }
            let first = *seen.interrupted.get_or_insert(now);
            if now.duration_since(first) <= GRACE {
                py.import(MODULE)?.call_method1(intern!(py, "_interrupt"), (caller.thread,))?;
                continue;
            }
            let stuck = py
                .import(MODULE)?
                .call_method1(intern!(py, "_stuck"), (caller.thread, limit.as_secs_f64()))?;
            self.abandon(py)?;
            return Ok(Some(PyErr::from_value(stuck)));
        }
        Ok(None)
    }

    /// Stops the calls of the command for ever: no call begins any more, and those in progress wait from their next instruction of Python on.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        self.watch.stop_calls();
        let module = py.import(MODULE)?;
        for caller in locked(&self.watch.callers).iter() {
            if caller.calls.load(Ordering::Relaxed) % 2 == 1 {
                module.call_method1(intern!(py, "_abandon"), (caller.thread,))?;
            }
        }
        Ok(())
    }
}

/// Waits for ever, without the interpreter's lock. A thread that cannot be ended does this: if it ran on, it would end with the interpreter
/// in the middle of a call, which aborts the process.
#[pyfunction]
pub(crate) fn wait_for_ever(py: Python<'_>) {
    py.detach(|| {
        loop {
            std::thread::park();
        }
    });
}
