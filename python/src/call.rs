//! Commands in the process of Python.
//!
//! A command runs in a separate thread, without the interpreter's lock. The thread that called it waits, and meanwhile handles signals,
//! shows progress, and ends calls of schemes in Python that last too long.

use std::any::Any;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use firstflight::registry::Registry;
use firstflight_cli::{Output, Session, carry_out_in, main_inside};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::scheme::{Looks, Registered, Stopped, Watch, check};
use crate::table::Table;

/// The time between two checks for signals: an interrupt must be noticed within 100 ms.
const LOOK: Duration = Duration::from_millis(20);

/// The size of the stack of a command's thread: that of a process's first thread.
const STACK: usize = 8 << 20;

/// The result of a command.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Answer {
    /// The exit code: 0 done; 1 a check failed; 2 wrong input; 3 writing failed; 130 interrupted.
    code: u8,
    /// The error, with the place marked below; empty if there is none.
    error: String,
    /// The bytes that the command prints to standard output.
    printed: Py<PyBytes>,
    /// The lines for standard error: notes and warnings.
    said: String,
    /// The tables of results, by name.
    tables: Vec<(&'static str, Py<Table>)>,
    /// The texts of results, by name.
    texts: Vec<(&'static str, String)>,
    /// The heads of the table that people see.
    heads: Vec<String>,
    /// Whether each of its columns has numbers.
    is_numbers: Vec<bool>,
    /// The cells of its rows.
    cells: Vec<Vec<String>>,
}

/// Carries out a command. `arguments` begins with the name that errors and results show. `progress` is called with the number of items done, that
/// of all items, and the name of the last one. Tables are `width` characters wide, or as wide as they need. `schemes` are classes that are
/// schemes in addition to the built-in ones.
///
/// Raises `SchemeError` if a class fails; then the command has ended.
#[pyfunction]
#[pyo3(signature = (arguments, *, progress=None, width=None, schemes=Vec::new()))]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<OsString>,
    progress: Option<&Bound<'_, PyAny>>,
    width: Option<usize>,
    schemes: Vec<Bound<'_, PyType>>,
) -> PyResult<Answer> {
    let session = Session::new(width);
    let classes = schemes.into_iter().map(|class| (class, true)).collect();
    let classes = Classes::new(py, classes, &session)?;
    let (registry, of_command) = (classes.registered.registry(), Arc::clone(&session));
    let command = move || carry_out_in(&of_command, registry, arguments);
    let ended = wait_for(py, &session, progress, classes, command)?;
    let Output { printed, said, tables, texts, selected } = session.take_output();
    let (heads, is_numbers, cells) =
        selected.map_or_else(Default::default, |table| (table.heads, table.is_numbers, table.rows));
    let tables = tables.into_iter().map(|(name, records)| Ok((name, Py::new(py, Table::of(records))?)));
    Ok(Answer {
        code: ended.code,
        error: ended.error,
        printed: PyBytes::new(py, &printed).unbind(),
        said,
        tables: tables.collect::<PyResult<_>>()?,
        texts,
        heads,
        is_numbers,
        cells,
    })
}

/// The classes that are schemes in a command.
struct Classes {
    registered: Registered,
    watch: Arc<Watch>,
}

impl Classes {
    /// Registers classes for a command, which ends through its session if one of them fails. Rows have the hash of the code of those that are
    /// `true`.
    fn new(
        py: Python<'_>,
        classes: Vec<(Bound<'_, PyType>, bool)>,
        session: &Arc<Session>,
    ) -> PyResult<Self> {
        let of_command = Arc::clone(session);
        let watch = Watch::new(move || of_command.interrupt());
        Ok(Self { registered: Registered::new(py, classes, &watch)?, watch })
    }
}

/// Starts the work and waits for its end. At an exception of a signal's handler or of `progress`, the work is interrupted, and the exception is
/// raised after its end. If a class fails, its exception is raised after the end.
fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    session: &Arc<Session>,
    progress: Option<&Bound<'_, PyAny>>,
    classes: Classes,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (over, mut is_over) = channel::<()>();
    let command = move || {
        let ended = work();
        drop(over);
        ended
    };
    let thread = Builder::new().name("firstflight".to_owned()).stack_size(STACK).spawn(command)?;
    let mut looks = Looks::new(&classes.watch);
    let mut raised = None;
    let mut shown = None;
    loop {
        let waited;
        (waited, is_over) = py.detach(move || (is_over.recv_timeout(LOOK), is_over));
        if waited == Err(RecvTimeoutError::Disconnected) {
            break;
        }
        if let Some(stuck) = looks.look(py, raised.is_some())? {
            session.interrupt();
            classes.registered.abandon();
            return Err(raised.unwrap_or(stuck));
        }
        if raised.is_some() {
            continue;
        }
        let handled = py.check_signals().and_then(|()| {
            let done = session.progress();
            let news = progress.filter(|_| shown.as_ref() != Some(&done));
            let called =
                news.map_or(Ok(()), |call| call.call1((done.done, done.total, &done.name)).map(drop));
            shown = Some(done);
            called
        });
        if let Err(exception) = handled {
            session.interrupt();
            classes.watch.stop_calls();
            raised = Some(exception);
        }
    }
    let ended = py.detach(|| thread.join());
    if let Some(exception) = raised.or_else(|| classes.watch.fault()) {
        return Err(exception);
    }
    let ended = ended.map_err(|panic| PyRuntimeError::new_err(message(&*panic)))?;
    if let Some(call) = progress {
        let done = session.progress();
        call.call1((done.done, done.total, &done.name))?;
    }
    Ok(ended)
}

/// Returns the message of a panic, which is a fault of this program.
fn message(panic: &(dyn Any + Send)) -> String {
    if panic.is::<Stopped>() {
        return "the command was ended".to_owned();
    }
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("a fault in firstflight, please report it: {text}")
}

/// Carries out the command line of this process, as the program `firstflight` does, and returns its exit code. `program` has the words that
/// start this program again. `schemes` are classes that are schemes in addition to the built-in ones. Rows have the hash of the code of those that
/// are `true`.
///
/// Raises `SchemeError` if a class fails.
#[pyfunction]
#[pyo3(signature = (arguments, program, *, schemes=Vec::new()))]
pub(crate) fn main(
    py: Python<'_>,
    arguments: Vec<OsString>,
    program: Vec<OsString>,
    schemes: Vec<(Bound<'_, PyType>, bool)>,
) -> PyResult<u8> {
    if schemes.is_empty() {
        return Ok(py.detach(|| main_inside(Registry::builtin(), arguments, program)));
    }
    let session = Session::new(None);
    let classes = Classes::new(py, schemes, &session)?;
    let registry = classes.registered.registry();
    wait_for(py, &session, None, classes, move || main_inside(registry, arguments, program))
}

/// Checks a class against the laws of schemes, in `cases` random sequences of events that `seed` determines.
///
/// Raises `SchemeError` for the first law that the class breaks, and if it fails.
#[pyfunction]
#[pyo3(signature = (scheme, *, cases=200, seed=1))]
pub(crate) fn check_scheme(
    py: Python<'_>,
    scheme: &Bound<'_, PyType>,
    cases: u64,
    seed: u64,
) -> PyResult<()> {
    let session = Session::new(None);
    let classes = Classes::new(py, vec![(scheme.clone(), true)], &session)?;
    let registry = classes.registered.registry();
    registry.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let Some(entry) = registry.schemes().last() else { return Ok(()) };
    let of_check = Arc::clone(&session);
    let found = wait_for(py, &session, None, classes, move || {
        check(entry, cases, seed, &|| of_check.is_interrupted())
    })?;
    found.map_or(Ok(()), |breach| Err(breach.error(py, scheme.as_any())))
}
