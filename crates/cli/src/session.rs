//! A command that runs inside another program: what it prints, its progress, its interrupt and its results belong to that program.
//!
//! A thread carries out one command at a time ([`enter`]). The modules that print, show progress and listen for an interrupt ask here whether
//! the command of their thread has a [`Session`]. Without one they use the streams and signals of the process.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firstflight_export::Record;
use firstflight_report::table::Selected;

/// A command that another program carries out, as both see it.
#[derive(Debug, Default)]
pub struct Session {
    width: Option<usize>,
    is_interrupted: AtomicBool,
    output: Mutex<Output>,
    progress: Mutex<Done>,
}

/// What a command printed and computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The bytes for standard output.
    pub printed: Vec<u8>,
    /// The lines for standard error: notes and warnings.
    pub said: String,
    /// The tables of results, by name.
    pub tables: Vec<(&'static str, Vec<Record>)>,
    /// The texts of results, by name.
    pub texts: Vec<(&'static str, String)>,
    /// The table that people see.
    pub selected: Option<Selected>,
}

/// The progress of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The number of items that are done.
    pub done: u64,
    /// The number of all items; zero if it is not known yet.
    pub total: u64,
    /// The last item that was done.
    pub name: String,
}

impl Session {
    /// Returns a session for one command. Its tables are `width` characters wide, or as wide as they need.
    pub fn new(width: Option<usize>) -> Arc<Self> {
        Arc::new(Self { width, ..Self::default() })
    }

    /// Interrupts the command. It ends as at an interrupt of the user, and keeps what is whole.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::SeqCst);
    }

    /// Returns whether the command was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::SeqCst)
    }

    /// Returns the progress of the command.
    pub fn progress(&self) -> Done {
        locked(&self.progress).clone()
    }

    /// Takes what the command printed and computed.
    pub fn take_output(&self) -> Output {
        std::mem::take(&mut *locked(&self.output))
    }

    pub(crate) fn print(&self, bytes: &[u8]) {
        locked(&self.output).printed.extend_from_slice(bytes);
    }

    pub(crate) fn say(&self, text: &str) {
        locked(&self.output).said.push_str(text);
    }

    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    pub(crate) fn show(&self, done: Done) {
        *locked(&self.progress) = done;
    }
}

/// Locks a value of a session. No code panics while it holds the lock.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static SESSION: RefCell<Option<Arc<Session>>> = const { RefCell::new(None) };
}

/// The session of this thread's command. The command has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Entered(());

/// Gives this thread's command a session.
pub(crate) fn enter(session: &Arc<Session>) -> Entered {
    SESSION.set(Some(Arc::clone(session)));
    Entered(())
}

impl Drop for Entered {
    fn drop(&mut self) {
        SESSION.set(None);
    }
}

/// Returns the session of this thread's command; `None` if the command is the process's.
pub(crate) fn current() -> Option<Arc<Session>> {
    SESSION.with_borrow(Clone::clone)
}

/// Gives the session a table of results. Without a session, nothing is computed.
pub(crate) fn table(name: &'static str, records: impl FnOnce() -> Vec<Record>) {
    if let Some(session) = current() {
        let records = records();
        locked(&session.output).tables.push((name, records));
    }
}

/// Gives the session a text of the results. Without a session, nothing is computed.
pub(crate) fn text(name: &'static str, text: impl FnOnce() -> String) {
    if let Some(session) = current() {
        let text = text();
        locked(&session.output).texts.push((name, text));
    }
}

/// Gives the session the table that people see. Without a session, nothing is computed.
pub(crate) fn selected(selected: impl FnOnce() -> Selected) {
    if let Some(session) = current() {
        let selected = selected();
        locked(&session.output).selected = Some(selected);
    }
}
