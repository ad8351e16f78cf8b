//! A class of Python that is a scheme: its description, and its objects.

use std::sync::Arc;

use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Bytes, Event};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString, PyType};

use super::slow_start::SlowStartState;
use super::watch::{MODULE, Watch};

/// A method of a class that a connection calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(super) enum Method {
    On = 1,
    Plan = 1 << 1,
    Growth = 1 << 2,
    OnBegin = 1 << 3,
    OnEstablished = 1 << 4,
    OnSent = 1 << 5,
    OnAck = 1 << 6,
    OnRound = 1 << 7,
    OnLoss = 1 << 8,
    OnMark = 1 << 9,
    OnTimeout = 1 << 10,
    OnSpuriousLoss = 1 << 11,
    OnWoken = 1 << 12,
}

impl Method {
    const ALL: [Self; 13] = [
        Self::On,
        Self::Plan,
        Self::Growth,
        Self::OnBegin,
        Self::OnEstablished,
        Self::OnSent,
        Self::OnAck,
        Self::OnRound,
        Self::OnLoss,
        Self::OnMark,
        Self::OnTimeout,
        Self::OnSpuriousLoss,
        Self::OnWoken,
    ];

    /// Returns the name of the method.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Plan => "plan",
            Self::Growth => "growth",
            Self::OnBegin => "on_begin",
            Self::OnEstablished => "on_established",
            Self::OnSent => "on_sent",
            Self::OnAck => "on_ack",
            Self::OnRound => "on_round",
            Self::OnLoss => "on_loss",
            Self::OnMark => "on_mark",
            Self::OnTimeout => "on_timeout",
            Self::OnSpuriousLoss => "on_spurious_loss",
            Self::OnWoken => "on_woken",
        }
    }

    /// Returns the hook for an event; `None` if there is none.
    pub(super) const fn hook(event: &Event<'_>) -> Option<Self> {
        match event {
            Event::Begin(_) => Some(Self::OnBegin),
            Event::Established { .. } => Some(Self::OnEstablished),
            Event::Sent(_) => Some(Self::OnSent),
            Event::Acked(_) => Some(Self::OnAck),
            Event::Lost(_) => Some(Self::OnLoss),
            Event::Marked { .. } => Some(Self::OnMark),
            Event::TimedOut { .. } => Some(Self::OnTimeout),
            Event::SpuriousLoss => Some(Self::OnSpuriousLoss),
            Event::Woken => Some(Self::OnWoken),
            _ => None,
        }
    }
}

/// A class that is a scheme in one command.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: &'static str,
    python: Py<PyType>,
    /// Bits of the methods that the class defines.
    methods: u16,
    /// Whether the class is built on slow start.
    pub(super) is_slow_start: bool,
    /// The maximum length of a call in milliseconds.
    pub(super) limit: u64,
    pub(super) watch: Arc<Watch>,
}

impl Class {
    /// Takes the class from its description, which `described` of the module in Python made.
    pub(super) fn new(
        name: &'static str,
        class: &Bound<'_, PyType>,
        description: &Bound<'_, PyDict>,
        watch: &Arc<Watch>,
    ) -> PyResult<Self> {
        let defined: Vec<String> = required(description, "methods")?.extract()?;
        let methods =
            Method::ALL.into_iter().filter(|method| defined.iter().any(|name| name == method.name()));
        Ok(Self {
            name,
            python: class.clone().unbind(),
            methods: methods.fold(0, |bits, method| bits | method as u16),
            is_slow_start: required(description, "is_slow_start")?.extract()?,
            limit: required(description, "limit_ms")?.extract()?,
            watch: Arc::clone(watch),
        })
    }

    /// Returns whether the class defines `method`.
    pub(super) const fn has(&self, method: Method) -> bool {
        self.methods & method as u16 != 0
    }

    /// Makes the object of a connection, with the values of the parameters, and returns it with the state of its slow start.
    pub(super) fn object(
        &self,
        py: Python<'_>,
        initial: Initial,
        parameters: &[(&'static str, Py<PyAny>)],
    ) -> PyResult<(Py<PyAny>, SlowStart)> {
        let class = self.python.bind(py);
        let object = class.call_method1(intern!(py, "__new__"), (class,))?;
        let fields = object.getattr(intern!(py, "__dict__"))?;
        let fields = fields.cast::<PyDict>()?;
        fields.set_item(intern!(py, "initial_segments"), initial.segments)?;
        fields.set_item(intern!(py, "initial_ssthresh"), initial.ssthresh.map(Bytes::get))?;
        for (name, value) in parameters {
            fields.set_item(name.replace('-', "_"), value)?;
        }
        let mut slow = SlowStart::new(initial);
        show(&object, &slow);
        object.call_method0(intern!(py, "__init__"))?;
        if let Some(hook) = fields.iter().find_map(|(name, value)| is_hook(&name, &value)) {
            return Err(PyTypeError::new_err(format!(
                "`self.{hook}` is a function that no connection calls: define it as a method of the class"
            )));
        }
        take(&object, &mut slow);
        Ok((object.unbind(), slow))
    }

    /// Copies the object of a connection: its attributes as `copy.deepcopy` copies them.
    pub(super) fn copy(&self, py: Python<'_>, object: &Py<PyAny>) -> PyResult<Py<PyAny>> {
        let class = self.python.bind(py);
        let copy = class.call_method1(intern!(py, "__new__"), (class,))?;
        let fields = object.bind(py).getattr(intern!(py, "__dict__"))?;
        let fields = fields.cast::<PyDict>()?;
        let own = copy.getattr(intern!(py, "__dict__"))?;
        let own = own.cast::<PyDict>()?;
        if fields.iter().all(|(_, value)| is_plain(&value)) {
            own.update(fields.as_mapping())?;
        } else {
            let copied = py.import(MODULE)?.call_method1(intern!(py, "_copied"), (fields, object, &copy))?;
            own.update(copied.cast::<PyDict>()?.as_mapping())?;
        }
        Ok(copy.unbind())
    }

    /// Returns the exception for a fault of a method at an event and an instant: an exception of the user's code, or what is wrong with an
    /// answer.
    pub(super) fn error(
        &self,
        py: Python<'_>,
        (method, event): (&str, &str),
        at: u64,
        raised: Option<PyErr>,
        wrong: Option<String>,
    ) -> PyErr {
        // This gives the exception its traceback.
        let raised = raised.map(|error| error.into_value(py));
        let arguments = (self.python.bind(py), method, event, at, raised, wrong, self.limit);
        let made = py.import(MODULE).and_then(|module| module.call_method1(intern!(py, "_error"), arguments));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

/// Returns the name of an attribute of an object that is meant as a method which a connection calls.
fn is_hook(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Option<String> {
    let name: String = name.extract().ok()?;
    let is_method = name.starts_with("on_") || Method::ALL.iter().any(|method| method.name() == name);
    (is_method && value.is_callable()).then_some(name)
}

/// Returns a field of a description.
pub(super) fn required<'py>(description: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = description.get_item(name)?;
    found.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(name.to_owned()))
}

/// Gives an object the state of its slow start, if it is built on slow start.
pub(super) fn show(object: &Bound<'_, PyAny>, slow: &SlowStart) {
    if let Ok(state) = object.cast::<SlowStartState>()
        && let Ok(mut state) = state.try_borrow_mut()
    {
        state.0.clone_from(slow);
    }
}

/// Takes the state of slow start from an object, if it is built on slow start.
pub(super) fn take(object: &Bound<'_, PyAny>, slow: &mut SlowStart) {
    if let Ok(state) = object.cast::<SlowStartState>()
        && let Ok(state) = state.try_borrow()
    {
        slow.clone_from(&state.0);
    }
}

/// Returns whether a value needs no copy, because nothing can change it.
fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
}
