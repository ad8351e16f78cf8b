//! Commands in the process of Python.
//!
//! A command runs in a separate thread, without the interpreter's lock. The thread that called it waits, and meanwhile handles signals and
//! shows progress.

use std::any::Any;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use firstflight::registry::Registry;
use firstflight_cli::{Ended, Output, Session, carry_out_in, main_inside};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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
/// of all items, and the name of the last one. Tables are `width` characters wide, or as wide as they need.
#[pyfunction]
#[pyo3(signature = (arguments, *, progress=None, width=None))]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<OsString>,
    progress: Option<&Bound<'_, PyAny>>,
    width: Option<usize>,
) -> PyResult<Answer> {
    let session = Session::new(width);
    let ended = wait_for(py, &session, progress, arguments)?;
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

/// Starts the command and waits for its end. At an exception of a signal's handler or of `progress`, the command is interrupted, and the exception is
/// raised after its end.
fn wait_for(
    py: Python<'_>,
    session: &Arc<Session>,
    progress: Option<&Bound<'_, PyAny>>,
    arguments: Vec<OsString>,
) -> PyResult<Ended> {
    let (over, mut is_over) = channel::<()>();
    let of_command = Arc::clone(session);
    let command = move || {
        let ended = carry_out_in(&of_command, Registry::builtin(), arguments);
        drop(over);
        ended
    };
    let thread = Builder::new().name("firstflight".to_owned()).stack_size(STACK).spawn(command)?;
    let mut raised = None;
    let mut shown = None;
    loop {
        let waited;
        (waited, is_over) = py.detach(move || (is_over.recv_timeout(LOOK), is_over));
        if waited == Err(RecvTimeoutError::Disconnected) {
            break;
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
            raised = Some(exception);
        }
    }
    let ended = py.detach(|| thread.join()).map_err(|panic| PyRuntimeError::new_err(message(&*panic)))?;
    if let Some(exception) = raised {
        return Err(exception);
    }
    if let Some(call) = progress {
        let done = session.progress();
        call.call1((done.done, done.total, &done.name))?;
    }
    Ok(ended)
}

/// Returns the message of a panic, which is a fault of this program.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("a fault in firstflight, please report it: {text}")
}

/// Carries out the command line of this process, as the program `firstflight` does, and returns its exit code. `program` has the words that
/// start this program again.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, program: Vec<OsString>) -> u8 {
    py.detach(|| main_inside(Registry::builtin(), arguments, program))
}
