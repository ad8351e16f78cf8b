//! The answers of a scheme in Python: its plan, and the end of its start-up. They are checked when they are made, so an error is raised
//! in the line of the user's code that makes them.

use firstflight::{Ask, Bytes, Cause, Pacing, Plan as Planned, Rate, Span, Tag, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::numbers::{maybe, shown, whole};

/// Pacing at a rate.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Pace {
    /// The rate in IP bits per second.
    rate: u64,
    /// The largest burst in IP bytes.
    burst: u64,
}

#[pymethods]
impl Pace {
    /// Makes the pacing at `rate` IP bits per second, with bursts of at most `burst` IP bytes.
    #[new]
    #[pyo3(signature = (rate, burst=None))]
    fn new(rate: &Bound<'_, PyAny>, burst: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let burst = maybe(burst, "the burst of Pace", "bytes", 1)?;
        Ok(Self {
            rate: whole(rate, "the rate of Pace", "bits per second", 1)?,
            burst: burst.unwrap_or(1_500),
        })
    }

    fn __repr__(&self) -> String {
        format!("Pace(rate={}, burst={})", self.rate, self.burst)
    }
}

/// A train of packets with exact gaps.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Train {
    /// The number of packets.
    packets: u32,
    /// The nanoseconds from the start of a packet to the start of the next.
    gap: u64,
}

#[pymethods]
impl Train {
    /// Makes a train of `packets` packets, one every `gap` nanoseconds.
    #[new]
    fn new(packets: &Bound<'_, PyAny>, gap: &Bound<'_, PyAny>) -> PyResult<Self> {
        let count = whole(packets, "the packets of Train", "packets", 1)?;
        let count = u32::try_from(count).map_err(|_| {
            PyValueError::new_err(format!(
                "the packets of Train are {count}: allowed are at most {}",
                u32::MAX
            ))
        })?;
        Ok(Self { packets: count, gap: whole(gap, "the gap of Train", "nanoseconds", 0)? })
    }

    fn __repr__(&self) -> String {
        format!("Train(packets={}, gap={})", self.packets, self.gap)
    }
}

/// A plan: how much may be in flight, and how packets are sent.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Plan(pub(super) Planned);

#[pymethods]
impl Plan {
    /// Makes a plan with at most `window` payload bytes in flight.
    ///
    /// `pacing` is `None` (on the ACK clock), a `Pace`, a `Train`, or `"hold"` (no new data). `tag` labels the packets that are sent under the
    /// plan, `wake` is the instant in nanoseconds of a `Woken`, `ssthresh` is the slow-start threshold for the record, and `ask` a rate
    /// in bits per second to request from the routers.
    #[new]
    #[pyo3(signature = (window, *, pacing=None, tag=None, wake=None, ssthresh=None, ask=None))]
    fn new(
        window: &Bound<'_, PyAny>,
        pacing: Option<&Bound<'_, PyAny>>,
        tag: Option<&Bound<'_, PyAny>>,
        wake: Option<&Bound<'_, PyAny>>,
        ssthresh: Option<&Bound<'_, PyAny>>,
        ask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let window = whole(window, "the window of Plan", "bytes", 0)?;
        let tag = maybe(tag, "the tag of Plan", "the label", 0)?.unwrap_or(0);
        let Ok(tag) = u16::try_from(tag) else {
            return Err(PyValueError::new_err(format!("the tag of Plan is {tag}: allowed is at most 65535")));
        };
        let rate = maybe(ask, "the rate to ask for in Plan", "bits per second", 1)?;
        Ok(Self(Planned {
            window: Bytes::new(window),
            pacing: pacing.map_or(Ok(Pacing::AckClock), paced)?,
            tag: Tag(tag),
            ask: rate.map(|rate| Ask::QuickStart { rate: Rate::from_bps(rate) }),
            wake: maybe(wake, "the wake of Plan", "nanoseconds", 0)?.map(Time::from_nanos),
            ssthresh: maybe(ssthresh, "the ssthresh of Plan", "bytes", 0)?.map(Bytes::new),
        }))
    }

    /// The maximum payload bytes in flight.
    #[getter]
    fn window(&self) -> u64 {
        self.0.window.get()
    }

    /// The pacing: `None` on the ACK clock, a `Pace`, a `Train` or `"hold"`.
    #[getter]
    fn pacing<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.0.pacing {
            Pacing::AckClock => None,
            Pacing::Hold => Some(HOLD.into_pyobject(py)?.into_any()),
            Pacing::Rate { rate, burst } => {
                Some(Bound::new(py, Pace { rate: rate.bps(), burst: burst.get() })?.into_any())
            }
            Pacing::Train { packets, gap } => {
                Some(Bound::new(py, Train { packets, gap: gap.nanos() })?.into_any())
            }
        })
    }

    /// The tag of packets that are sent under the plan.
    #[getter]
    fn tag(&self) -> u16 {
        self.0.tag.0
    }

    /// The instant of the wake-up in nanoseconds; `None` without one.
    #[getter]
    fn wake(&self) -> Option<u64> {
        self.0.wake.map(Time::nanos)
    }

    /// The slow-start threshold in bytes; `None` if there is none.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        self.0.ssthresh.map(Bytes::get)
    }

    /// The rate in bits per second to request from the routers; `None` requests none.
    #[getter]
    fn ask(&self) -> Option<u64> {
        match self.0.ask {
            Some(Ask::QuickStart { rate }) => Some(rate.bps()),
            _ => None,
        }
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __repr__(&self) -> String {
        let Planned { window, pacing, tag, wake, ssthresh, .. } = self.0;
        let pacing = match pacing {
            Pacing::AckClock => "None".to_owned(),
            Pacing::Hold => format!("'{HOLD}'"),
            Pacing::Rate { rate, burst } => Pace { rate: rate.bps(), burst: burst.get() }.__repr__(),
            Pacing::Train { packets, gap } => Train { packets, gap: gap.nanos() }.__repr__(),
        };
        format!(
            "Plan({}, pacing={pacing}, tag={}, wake={}, ssthresh={}, ask={})",
            window.get(),
            tag.0,
            number(wake.map(Time::nanos)),
            number(ssthresh.map(Bytes::get)),
            number(self.ask()),
        )
    }
}

/// Returns a number as Python writes it.
fn number(number: Option<u64>) -> String {
    number.map_or_else(|| "None".to_owned(), |number| number.to_string())
}

/// The word for a plan that sends no new data.
const HOLD: &str = "hold";

fn paced(pacing: &Bound<'_, PyAny>) -> PyResult<Pacing> {
    if let Ok(pace) = pacing.cast::<Pace>() {
        let Pace { rate, burst } = *pace.get();
        return Ok(Pacing::Rate { rate: Rate::from_bps(rate), burst: Bytes::new(burst) });
    }
    if let Ok(train) = pacing.cast::<Train>() {
        let Train { packets, gap } = *train.get();
        return Ok(Pacing::Train { packets, gap: Span::from_nanos(gap) });
    }
    if pacing.extract::<&str>().is_ok_and(|word| word == HOLD) {
        return Ok(Pacing::Hold);
    }
    Err(PyTypeError::new_err(format!(
        "the pacing of Plan is {}: allowed is None, Pace(…), Train(…) or \"{HOLD}\"",
        shown(pacing)
    )))
}

/// The end of a start-up: its cause, and what was learned.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Exit {
    pub(super) cause: Cause,
    /// `None` is the scheme's window.
    pub(super) window: Option<u64>,
    pub(super) ssthresh: Option<u64>,
    pub(super) rate: Option<u64>,
}

/// The causes of an exit that a start-up may have.
const CAUSES: [Cause; 11] = [
    Cause::Threshold,
    Cause::Delay,
    Cause::AckTrain,
    Cause::CssEnd,
    Cause::Dispersion,
    Cause::RateFlat,
    Cause::Loss,
    Cause::Timeout,
    Cause::Mark,
    Cause::Advice,
    Cause::AppLimited,
];

#[pymethods]
impl Exit {
    /// The cause.
    #[getter]
    fn cause(&self) -> &'static str {
        self.cause.name()
    }

    /// The window in bytes; `None` is the scheme's window.
    #[getter]
    fn window(&self) -> Option<u64> {
        self.window
    }

    /// The slow-start threshold in bytes; `None` is the window, or the law's choice after congestion.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        self.ssthresh
    }

    /// The rate found, in IP bits per second; `None` if none was found.
    #[getter]
    fn rate(&self) -> Option<u64> {
        self.rate
    }

    fn __repr__(&self) -> String {
        let [window, ssthresh, rate] = [self.window, self.ssthresh, self.rate].map(number);
        format!("exit('{}', window={window}, ssthresh={ssthresh}, rate={rate})", self.cause.name())
    }
}

/// Returns the end of a start-up, for a hook or `on` to return.
///
/// `cause` is `threshold`, `delay`, `ack-train`, `css-end`, `dispersion`, `rate-flat`, `loss`, `timeout`, `mark`, `advice` or `app`. `window` is the
/// congestion window in bytes from then on [the scheme's window], `ssthresh` the slow-start threshold in bytes [the window; after `loss`,
/// `timeout` and `mark` the law reduces the window and sets the threshold], and `rate` the rate found, in IP bits per second.
#[pyfunction]
#[pyo3(signature = (cause, *, window=None, ssthresh=None, rate=None))]
pub(crate) fn exit(
    cause: &Bound<'_, PyAny>,
    window: Option<&Bound<'_, PyAny>>,
    ssthresh: Option<&Bound<'_, PyAny>>,
    rate: Option<&Bound<'_, PyAny>>,
) -> PyResult<Exit> {
    let named = cause.extract::<&str>().ok();
    let Some(found) = CAUSES.into_iter().find(|cause| named == Some(cause.name())) else {
        let allowed: Vec<_> = CAUSES.iter().map(|cause| cause.name()).collect();
        let text = format!("the cause of exit is {}: allowed is {}", shown(cause), allowed.join(", "));
        return Err(PyValueError::new_err(text));
    };
    Ok(Exit {
        cause: found,
        window: maybe(window, "the window of exit", "bytes", 0)?,
        ssthresh: maybe(ssthresh, "the ssthresh of exit", "bytes", 0)?,
        rate: maybe(rate, "the rate of exit", "bits per second", 1)?,
    })
}
