//! An object of Python as a start-up scheme.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Bytes, Event, Interest, Path, Plan, Span, Startup, Step, Time};
use pyo3::prelude::*;

use super::answers::{Exit, Plan as PlanObject};
use super::class::{Class, Method, show, take};
use super::events::{name, object};
use super::numbers::{shown, whole};
use super::path::PathState;
use super::slow_start::left;
use super::watch::unwind;

/// The number of readings of a plan, while nothing is sent or acknowledged, that must take [`SHORT`] or longer.
const READINGS: u32 = 10_000;
const SHORT: Span = Span::from_millis(1);

/// The readings of a plan while nothing is sent or acknowledged.
#[derive(Debug, Default)]
struct Readings {
    /// The next new byte, the bytes in the network and those delivered.
    standing: (u64, Bytes, Bytes),
    since: Time,
    count: u32,
}

/// The scheme of one connection, whose code is a class of Python.
#[derive(Debug)]
pub(super) struct PyScheme {
    class: Arc<Class>,
    object: Py<PyAny>,
    /// The built-in slow start, on which the class may be built.
    slow: SlowStart,
    readings: Mutex<Readings>,
    /// The instant of the last call, in nanoseconds.
    now: AtomicU64,
}

/// An answer of a user's method that is not allowed, with the method.
struct Wrong(Method, String);

/// A failure of a call: an exception in a method, or a wrong answer of it.
enum Failure {
    Raised(Method, PyErr),
    Wrong(Wrong),
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

impl PyScheme {
    /// Makes the scheme of a connection with the values of the parameters.
    pub(super) fn new(
        class: &Arc<Class>,
        initial: Initial,
        parameters: &[(&'static str, Py<PyAny>)],
    ) -> Self {
        class.watch.go_on();
        let made = Python::attach(|py| {
            let _in_call = class.watch.begin(py, class.limit)?;
            class
                .object(py, initial, parameters)
                .map_err(|error| class.error(py, ("__init__", "construction"), 0, Some(error), None))
        });
        match made {
            Ok((object, slow)) => Self {
                class: Arc::clone(class),
                object,
                slow,
                readings: Mutex::default(),
                now: AtomicU64::default(),
            },
            Err(error) => {
                class.watch.failed(class.name, 0, error);
                unwind()
            }
        }
    }

    /// Calls the class. A failure ends the command.
    fn call<T>(
        &self,
        event: &str,
        path: &Path,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> Result<T, Failure>,
    ) -> T {
        let Self { class, object, .. } = self;
        class.watch.go_on();
        let answered = Python::attach(|py| {
            let in_call = class.watch.begin(py, class.limit);
            let failed = match in_call {
                Ok(_in_call) => match call(py, object.bind(py)) {
                    Ok(answer) => return Ok(answer),
                    Err(failed) => failed,
                },
                Err(error) => Failure::Raised(Method::On, error),
            };
            let at = path.now.nanos();
            Err(match failed {
                Failure::Raised(method, error) => {
                    class.error(py, (method.name(), event), at, Some(error), None)
                }
                Failure::Wrong(Wrong(method, text)) => {
                    class.error(py, (method.name(), event), at, None, Some(text))
                }
            })
        });
        match answered {
            Ok(answer) => answer,
            Err(error) => {
                class.watch.failed(class.name, path.now.nanos(), error);
                unwind()
            }
        }
    }

    /// Calls `methods` with an event, in order, until one ends the start-up, and then `growth` of an ACK if the class defines it.
    fn report(&mut self, methods: &[Method], event: &Event<'_>, path: &Path) -> (Step, Option<Bytes>) {
        let mut slow = self.slow.clone();
        let asks_growth =
            matches!(event, Event::Acked(_)) && self.class.has(Method::Growth) && !self.class.has(Method::On);
        let answer = self.call(name(event), path, |py, this| {
            show(this, &slow);
            let raised = |method| move |error| Failure::Raised(method, error);
            let first = methods.first().copied().unwrap_or(Method::Growth);
            let view = Bound::new(py, PathState(*path)).map_err(raised(first))?;
            let event = object(py, event, path.mss).map_err(raised(first))?;
            for &method in methods {
                let answer = this.call_method1(method.name(), (&event, &view)).map_err(raised(method))?;
                if answer.is_none() {
                    continue;
                }
                let Ok(exit) = answer.cast::<Exit>() else {
                    let text = format!("{}: allowed is None, or exit(cause, …)", shown(&answer));
                    return Err(Wrong(method, text).into());
                };
                take(this, &mut slow);
                let window = if self.class.is_slow_start { slow.window() } else { path.cwnd };
                return Ok((Step::Exit(left(exit.get(), window)), None));
            }
            let growth = if asks_growth {
                let method = Method::Growth;
                let answer = this.call_method1(method.name(), (&event, &view)).map_err(raised(method))?;
                let growth = whole(&answer, "it", "bytes", 0)
                    .map_err(|error| Wrong(method, error.value(py).to_string()))?;
                Some(Bytes::new(growth))
            } else {
                None
            };
            take(this, &mut slow);
            Ok((Step::Stay, growth))
        });
        self.slow = slow;
        answer
    }

    /// Reports an event to the hooks of the class and to the built-in slow start.
    fn with_hooks(&mut self, event: &Event<'_>, path: &Path) -> Step {
        let hook = Method::hook(event).filter(|hook| self.class.has(*hook));
        match event {
            Event::Begin(_) | Event::Established { .. } => {
                let step = self.slow.on(event, path);
                match (step, hook) {
                    (Step::Stay, Some(hook)) => self.report(&[hook], event, path).0,
                    _ => step,
                }
            }
            Event::Acked(ack) => {
                let round = Some(Method::OnRound).filter(|round| ack.round_ended && self.class.has(*round));
                let methods: Vec<Method> = round.into_iter().chain(hook).collect();
                if methods.is_empty() && !self.class.has(Method::Growth) {
                    return self.slow.on(event, path);
                }
                match self.report(&methods, event, path) {
                    (Step::Stay, Some(growth)) => self.slow.grow(growth),
                    (Step::Stay, None) => self.slow.on(event, path),
                    (exit, _) => exit,
                }
            }
            _ => match hook.map(|hook| self.report(&[hook], event, path).0) {
                Some(exit @ Step::Exit(_)) => exit,
                _ => self.slow.on(event, path),
            },
        }
    }

    /// Counts the readings of a plan while nothing is sent or acknowledged. A plan that always requests a wake-up which is due at once
    /// would be read for ever: the host reports it a nanosecond later.
    fn count_readings(&self, path: &Path) -> Option<Wrong> {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        let standing = (path.nxt, path.pipe, path.delivered);
        if readings.standing != standing || readings.count == 0 {
            *readings = Readings { standing, since: path.now, count: 0 };
        }
        readings.count += 1;
        if readings.count < READINGS {
            return None;
        }
        readings.count = 0;
        let lasted = path.now.since(readings.since);
        (lasted < SHORT).then(|| {
            let text = format!(
                "a plan whose wake-up was due at once, {READINGS} times within {} ns: allowed is a wake after path.now, or None",
                lasted.nanos()
            );
            Wrong(Method::Plan, text)
        })
    }

    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        let reads_acks = [Method::OnAck, Method::OnRound, Method::Growth, Method::Plan, Method::On];
        if !self.class.is_slow_start || reads_acks.iter().any(|method| self.class.has(*method)) {
            return None;
        }
        SlowStart::INTEREST.widen(&mut self.slow, growth, mss)
    }
}

impl Startup for PyScheme {
    const INTEREST: Interest<Self> = Interest::<Self>::ALL
        .without_others()
        .sends_if(|scheme| {
            let Class { is_slow_start, .. } = *scheme.class;
            !is_slow_start || scheme.class.has(Method::On) || scheme.class.has(Method::OnSent)
        })
        .widened_by(Self::widen);

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        *self.now.get_mut() = path.now.nanos();
        if self.class.is_slow_start && !self.class.has(Method::On) {
            self.with_hooks(event, path)
        } else {
            self.report(&[Method::On], event, path).0
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.now.store(path.now.nanos(), Ordering::Relaxed);
        if self.class.is_slow_start && !self.class.has(Method::Plan) {
            return self.slow.plan(path);
        }
        let wrong = self.count_readings(path);
        self.call("the plan", path, |py, this| {
            if let Some(wrong) = wrong {
                return Err(wrong.into());
            }
            show(this, &self.slow);
            let raised = |error| Failure::Raised(Method::Plan, error);
            let view = Bound::new(py, PathState(*path)).map_err(raised)?;
            let answer = this.call_method1(Method::Plan.name(), (view,)).map_err(raised)?;
            if let Ok(plan) = answer.cast::<PlanObject>() {
                return Ok(plan.get().0);
            }
            let text = format!("{}: allowed is a Plan(window, …)", shown(&answer));
            Err(Wrong(Method::Plan, text).into())
        })
    }
}

/// Copies the object of Python too. A failure ends the command.
impl Clone for PyScheme {
    fn clone(&self) -> Self {
        self.class.watch.go_on();
        let now = self.now.load(Ordering::Relaxed);
        let copied = Python::attach(|py| {
            let _in_call = self.class.watch.begin(py, self.class.limit)?;
            self.class
                .copy(py, &self.object)
                .map_err(|error| self.class.error(py, ("copy", "the copy for undo"), now, Some(error), None))
        });
        match copied {
            Ok(object) => Self {
                class: Arc::clone(&self.class),
                object,
                slow: self.slow.clone(),
                readings: Mutex::default(),
                now: AtomicU64::new(now),
            },
            Err(error) => {
                self.class.watch.failed(self.class.name, now, error);
                unwind()
            }
        }
    }
}
