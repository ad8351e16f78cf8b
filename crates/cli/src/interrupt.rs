//! The user's interrupt (SIGINT, SIGTERM or SIGHUP). An interrupt ends the command at once, unless the command has started to listen. Then
//! the first interrupt is only recorded, so that finished rows are kept, and the second one ends the command at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvError, channel};
use std::thread::Builder;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::failure::{Code, Failure};
use crate::output;
use crate::session::{self, Session};

/// Whether the command has started to listen.
static LISTENS: AtomicBool = AtomicBool::new(false);
/// Whether the user interrupted after the command started to listen.
static HAPPENED: AtomicBool = AtomicBool::new(false);

/// The signals of an interrupt.
const INTERRUPTS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Returns the signals that the process ignores, one bit for each, from signal 1 on. Returns zero if the system does not report them.
fn ignored() -> u64 {
    let said = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = said.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Records an interrupt. Ends the process if the command does not listen, or at the second interrupt.
fn interrupt() {
    let is_noted = LISTENS.load(Ordering::SeqCst);
    if is_noted && !HAPPENED.swap(true, Ordering::SeqCst) {
        return;
    }
    if !is_noted {
        output::say(&Failure::interrupted("interrupted").shown(None));
    }
    std::process::exit(Code::Interrupted as i32);
}

/// The handle by which a command finds out whether the user interrupted. A command gets it when it starts to listen.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Option<Arc<Session>>);

impl Interrupt {
    /// Installs handlers for the signals. Signals that the process was started to ignore, as by `nohup`, are still ignored. If the handlers
    /// cannot be installed, an interrupt ends the process. Also makes writing beyond the file size limit a write error instead of a signal.
    pub(crate) fn prepare() {
        let ignored = ignored();
        let wanted = INTERRUPTS.into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0);
        let (ready, is_ready) = channel();
        // The thread that reads the signals must exist before a handler is installed.
        let watch = Builder::new().name("interrupt".to_owned()).spawn(move || {
            let Ok(mut signals) = Signals::new(wanted) else { return };
            drop(ready);
            signals.forever().for_each(|_| interrupt());
        });
        if watch.is_ok() {
            // This returns when the thread is ready or has failed.
            let _: Result<(), RecvError> = is_ready.recv();
        }
        drop(flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))));
    }

    /// Starts to listen: to the signals, or to the program that carries out the command.
    pub(crate) fn listen() -> Self {
        let session = session::current();
        if session.is_none() {
            LISTENS.store(true, Ordering::SeqCst);
        }
        Self(session)
    }

    /// Waits until the user interrupts.
    #[cfg(all(feature = "kernel", target_os = "linux"))]
    pub(crate) fn wait(&self) {
        /// The time between two checks.
        const LOOK: std::time::Duration = std::time::Duration::from_millis(20);
        while !self.happened() {
            std::thread::sleep(LOOK);
        }
    }

    /// Returns whether the user interrupted.
    pub(crate) fn happened(&self) -> bool {
        match &self.0 {
            Some(session) => session.is_interrupted(),
            None => HAPPENED.load(Ordering::SeqCst),
        }
    }
}
