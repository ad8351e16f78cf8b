//! The built-in slow start, as a base of classes in Python.

use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Bytes, Cause, Exit as Left, Startup, Step};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::answers::{Exit, Plan};
use super::events::AnyEvent;
use super::numbers::{maybe, whole};
use super::path::PathState;

/// The state of the built-in slow start in an object of Python. During a call of the class it is the state of the connection.
#[pyclass(subclass, module = "firstflight._native")]
pub(crate) struct SlowStartState(pub(super) SlowStart);

#[pymethods]
impl SlowStartState {
    /// Makes the state. `arguments` are those of the class, which takes them in `__init__`.
    #[new]
    #[pyo3(signature = (*arguments, **keywords))]
    fn new(arguments: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>) -> Self {
        let _ = (arguments, keywords);
        Self(SlowStart::new(Initial { segments: 10, ssthresh: None }))
    }

    /// The congestion window in bytes.
    #[getter]
    fn window(&self) -> u64 {
        self.0.window().get()
    }

    #[setter]
    fn set_window(&mut self, window: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.set_window(Bytes::new(whole(window, "window", "bytes", 0)?));
        Ok(())
    }

    /// The slow-start threshold in bytes; `None` is arbitrarily high.
    #[getter]
    fn threshold(&self) -> Option<u64> {
        self.0.threshold().map(Bytes::get)
    }

    #[setter]
    fn set_threshold(&mut self, threshold: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let threshold = maybe(threshold, "threshold", "bytes", 0)?;
        self.0.set_threshold(threshold.map(Bytes::new));
        Ok(())
    }

    /// Takes an event as the built-in slow start does. Returns its exit, or `None` if start-up continues.
    #[expect(clippy::needless_pass_by_value, reason = "an argument of Python")]
    fn on(&mut self, event: AnyEvent<'_>, path: &Bound<'_, PathState>) -> Option<Exit> {
        match event.with(|event| self.0.on(event, &path.get().0)) {
            Step::Stay => None,
            Step::Exit(Left { cause, learned }) => Some(Exit {
                cause,
                window: Some(learned.window.get()),
                ssthresh: learned.ssthresh.map(Bytes::get),
                rate: None,
            }),
        }
    }

    /// Returns the plan of the built-in slow start.
    fn plan(&self, path: &Bound<'_, PathState>) -> Plan {
        Plan(self.0.plan(&path.get().0))
    }
}

/// Returns the library's exit for one of Python; `window` is the scheme's.
pub(super) fn left(exit: &Exit, window: Bytes) -> Left {
    let window = exit.window.map_or(window, Bytes::new);
    let is_congestion = matches!(exit.cause, Cause::Loss | Cause::Mark | Cause::Timeout);
    let found = Some(window).filter(|_| !is_congestion);
    Left {
        cause: exit.cause,
        learned: firstflight::PathEstimate {
            window,
            ssthresh: exit.ssthresh.map(Bytes::new).or(found),
            rate: exit.rate.map(firstflight::Rate::from_bps),
        },
    }
}
