//! The text form of Quick-Start's routers: how each estimates the load of its link, and which rate it approves.

use std::fmt;

use firstflight::Span;
use firstflight_sim::{Approval, Estimator, Ring, RouterSpec};

use crate::quantity::{self, Decimal, QuantityError, Why, refuse, show_span};

/// A router that takes part in Quick-Start (RFC 4782 section 3.3 and appendix D; Scharf's analysis, section V).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickStartRouter {
    /// The maximum share of the capacity that may be in use, including approved requests (θ), in millionths.
    pub threshold_ppm: u32,
    /// The measurement interval (D).
    pub interval: Span,
    /// How the load is estimated from the measurements.
    pub estimate: Estimate,
    /// Whether the router reduces a request above the unused rate to that rate. Otherwise it denies the request.
    pub reduction: bool,
    /// The time for which the router remembers an approval.
    pub memory: Memory,
    /// Which remembered approvals count as load (choice-21).
    pub ring: Ring,
}

/// How a router estimates the load of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// The load in the newest interval.
    Interval,
    /// An exponentially weighted moving average of the load over the intervals. The value is the newest interval's weight in millionths.
    Ewma(u32),
    /// The highest load in this many of the newest intervals. `None` for as many intervals as the maximum RTT contains.
    Peak(Option<u8>),
}

/// The time for which a router remembers an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Until the traffic of a flow with this round-trip time has been measured: ⌈RTT / D⌉ + 2 slots.
    RttMax(Span),
    /// This many slots.
    Slots(u8),
}

/// How the routers before hosts' access links answer requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AccessRouters {
    /// They approve up to the link's rate, whatever its load, because only this host uses the link.
    #[default]
    Capacity,
    /// They approve every request.
    All,
    /// They measure and decide as a router with these settings does.
    Like(QuickStartRouter),
}

impl AccessRouters {
    /// Returns the settings of the simulator's router.
    pub fn approval(self) -> Approval {
        match self {
            Self::Capacity => Approval::Capacity,
            Self::All => Approval::All,
            Self::Like(router) => router.spec().into(),
        }
    }
}

impl fmt::Display for AccessRouters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity => f.write_str("capacity"),
            Self::All => f.write_str("all"),
            Self::Like(router) => router.fmt(f),
        }
    }
}

impl Default for QuickStartRouter {
    /// Returns the settings of Scharf's analysis: θ = 95 %, D = 100 ms, the load of the newest interval, RTTs of up to 500 ms, requests
    /// reduced.
    fn default() -> Self {
        Self {
            threshold_ppm: 950_000,
            interval: Span::from_millis(100),
            estimate: Estimate::Interval,
            reduction: true,
            memory: Memory::RttMax(RTT_MAX),
            ring: Ring::Oldest,
        }
    }
}

/// The maximum RTT in the analysis's case with longer RTTs.
const RTT_MAX: Span = Span::from_millis(500);
/// The default weight of the moving average (Scharf, Figure 11).
const WEIGHT_PPM: u32 = 100_000;
const MILLION: u64 = 1_000_000;
/// Maximum number of slots or intervals, which must fit one byte.
const MOST: u64 = 255;

impl QuickStartRouter {
    /// Returns the router in the form that the simulator takes.
    pub fn spec(self) -> RouterSpec {
        let rtt_max = match self.memory {
            Memory::RttMax(rtt) => rtt,
            Memory::Slots(_) => RTT_MAX,
        };
        let of_rtt = || rtt_max.nanos().div_ceil(self.interval.nanos().max(1)).clamp(1, MOST);
        RouterSpec {
            threshold_ppm: self.threshold_ppm,
            interval: self.interval,
            estimator: match self.estimate {
                Estimate::Interval => Estimator::Interval,
                Estimate::Ewma(weight_ppm) => Estimator::Ewma { weight_ppm },
                Estimate::Peak(intervals) => Estimator::Peak {
                    intervals: intervals.unwrap_or_else(|| u8::try_from(of_rtt()).unwrap_or(u8::MAX)),
                },
            },
            reduces: self.reduction,
            slots: match self.memory {
                Memory::RttMax(rtt) => RouterSpec::slots(rtt, self.interval),
                Memory::Slots(slots) => slots,
            },
            ring: self.ring,
        }
    }
}

impl fmt::Display for QuickStartRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "threshold={},interval={}", share(self.threshold_ppm), show_span(self.interval))?;
        match self.estimate {
            Estimate::Interval => f.write_str(",estimator=interval")?,
            Estimate::Ewma(weight) => write!(f, ",estimator=ewma,weight={}", share(weight))?,
            Estimate::Peak(None) => f.write_str(",estimator=peak")?,
            Estimate::Peak(Some(intervals)) => write!(f, ",estimator=peak,intervals={intervals}")?,
        }
        write!(f, ",reduction={}", if self.reduction { "yes" } else { "no" })?;
        match self.memory {
            Memory::RttMax(rtt) => write!(f, ",rtt-max={}", show_span(rtt))?,
            Memory::Slots(slots) => write!(f, ",slots={slots}")?,
        }
        f.write_str(match self.ring {
            Ring::Oldest => ",ring=oldest",
            Ring::Sum => ",ring=sum",
        })
    }
}

/// Returns a number of millionths as a decimal fraction.
fn share(ppm: u32) -> String {
    match ppm {
        1_000_000 => "1".to_owned(),
        ppm => format!("0.{ppm:06}").trim_end_matches('0').to_owned(),
    }
}

const ROUTER: &str = "a Quick-Start router is any of `threshold=95%`, `interval=100ms` (1ms to 1h), \
                      `estimator=interval|ewma|peak`, `weight=10%` with ewma, `intervals=5` with peak, \
                      `reduction=yes|no`, and `rtt-max=500ms` (at most 253 intervals) or `slots=7`, \
                      and `ring=oldest|sum`, with commas between";

/// Reads a router: `threshold=95%,interval=100ms,estimator=peak,reduction=yes`. A setting that is absent has the default of
/// [`QuickStartRouter::default`]. By default, the estimator `peak` covers the maximum RTT, and the weight of a moving average is a tenth.
///
/// # Errors
/// An unknown setting, a setting given twice, a setting of another estimator, or a value out of range.
pub fn quick_start_router(text: &str) -> Result<QuickStartRouter, QuantityError> {
    let mut router = QuickStartRouter::default();
    let (mut weight, mut intervals) = (None, None);
    let mut said = Vec::new();
    for part in text.trim().split(',').map(str::trim) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(refuse(part, Why::UnknownWord, ROUTER));
        };
        if said.contains(&key) {
            return Err(refuse(part, Why::Conflict, ROUTER));
        }
        said.push(key);
        match key {
            "threshold" => router.threshold_ppm = ppm(value)?,
            "interval" => router.interval = interval(value)?,
            "estimator" => {
                router.estimate = match value {
                    "interval" => Estimate::Interval,
                    "ewma" => Estimate::Ewma(WEIGHT_PPM),
                    "peak" => Estimate::Peak(None),
                    _ => return Err(refuse(value, Why::UnknownWord, ROUTER)),
                }
            }
            "weight" => weight = Some((part, ppm(value)?)),
            "intervals" => intervals = Some((part, number(value)?)),
            "reduction" => router.reduction = yes(value)?,
            "rtt-max" => router.memory = Memory::RttMax(allowed(quantity::span(value))?),
            "ring" => {
                router.ring = match value {
                    "oldest" => Ring::Oldest,
                    "sum" => Ring::Sum,
                    _ => return Err(refuse(value, Why::UnknownWord, ROUTER)),
                }
            }
            "slots" => router.memory = Memory::Slots(number(value)?),
            _ => return Err(refuse(part, Why::UnknownWord, ROUTER)),
        }
    }
    if said.contains(&"rtt-max") && said.contains(&"slots") {
        return Err(refuse(text, Why::Conflict, ROUTER));
    }
    match (&mut router.estimate, weight) {
        (Estimate::Ewma(own), Some((_, weight))) => *own = weight,
        (_, Some((part, _))) => return Err(refuse(part, Why::Conflict, ROUTER)),
        (_, None) => {}
    }
    match (&mut router.estimate, intervals) {
        (Estimate::Peak(own), Some((_, intervals))) => *own = Some(intervals),
        (_, Some((part, _))) => return Err(refuse(part, Why::Conflict, ROUTER)),
        (_, None) => {}
    }
    let within = |rtt: Span| rtt.nanos().div_ceil(router.interval.nanos()) <= MOST - 2;
    match router.memory {
        Memory::RttMax(rtt) if !within(rtt) => Err(refuse(text, Why::TooLarge, ROUTER)),
        Memory::RttMax(_) | Memory::Slots(_) => Ok(router),
    }
}

/// Reads the routers before access links: `capacity`, `all`, or the settings of a router.
///
/// # Errors
/// As [`quick_start_router`].
pub fn access_routers(text: &str) -> Result<AccessRouters, QuantityError> {
    match text.trim() {
        "capacity" => Ok(AccessRouters::Capacity),
        "all" => Ok(AccessRouters::All),
        settings => quick_start_router(settings).map(AccessRouters::Like).map_err(|error| QuantityError {
            allowed: format!("before access links approve `capacity`, `all`, or a router; {ROUTER}").into(),
            ..error
        }),
    }
}

fn allowed<T>(result: Result<T, QuantityError>) -> Result<T, QuantityError> {
    result.map_err(|error| QuantityError { allowed: ROUTER.into(), ..error })
}

/// Reads a fraction above zero, in millionths.
fn ppm(text: &str) -> Result<u32, QuantityError> {
    let fraction: Decimal = allowed(quantity::fraction(text))?;
    match fraction.times(MILLION).and_then(|ppm| u32::try_from(ppm).ok()) {
        Some(0) => Err(refuse(text, Why::Zero, ROUTER)),
        Some(ppm) => Ok(ppm),
        None => Err(refuse(text, Why::OutOfRange, ROUTER)),
    }
}

fn interval(text: &str) -> Result<Span, QuantityError> {
    let interval = allowed(quantity::span(text))?;
    if (Span::from_millis(1)..=Span::from_secs(3600)).contains(&interval) {
        Ok(interval)
    } else {
        Err(refuse(text, Why::OutOfRange, ROUTER))
    }
}

fn number(text: &str) -> Result<u8, QuantityError> {
    let count = allowed(quantity::count(text))?;
    u8::try_from(count).map_err(|_| refuse(text, Why::TooLarge, ROUTER))
}

fn yes(text: &str) -> Result<bool, QuantityError> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(refuse(text, Why::UnknownWord, ROUTER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_simulators() {
        assert_eq!(QuickStartRouter::default().spec(), RouterSpec::default());
    }

    #[test]
    fn every_router_reads_back_as_what_it_shows() {
        for text in [
            "threshold=0.95,interval=100ms,estimator=interval,reduction=yes,rtt-max=500ms,ring=oldest",
            "threshold=1,interval=50ms,estimator=ewma,weight=0.1,reduction=no,rtt-max=100ms,ring=sum",
            "threshold=0.000001,interval=150ms,estimator=peak,intervals=20,reduction=yes,slots=2,ring=oldest",
            "threshold=0.5,interval=1s,estimator=peak,reduction=yes,rtt-max=500ms,ring=oldest",
        ] {
            assert_eq!(quick_start_router(text).expect(text).to_string(), text);
        }
        assert_eq!(quick_start_router("threshold=95%"), Ok(QuickStartRouter::default()));
    }

    #[test]
    fn the_routers_before_access_links_read_back_as_what_they_show() {
        let settings =
            "threshold=0.5,interval=100ms,estimator=interval,reduction=yes,rtt-max=500ms,ring=oldest";
        for text in ["capacity", "all", settings] {
            assert_eq!(access_routers(text).expect(text).to_string(), text);
        }
        let error = access_routers("none").expect_err("no such word").to_string();
        assert!(error.contains("`capacity`, `all`, or a router; a Quick-Start router is any of"), "{error}");
    }

    #[test]
    fn peak_intervals_cover_the_maximum_rtt_unless_specified() {
        let estimator = |text| quick_start_router(text).expect(text).spec().estimator;
        assert_eq!(estimator("estimator=peak"), Estimator::Peak { intervals: 5 });
        assert_eq!(estimator("rtt-max=250ms,estimator=peak"), Estimator::Peak { intervals: 3 });
        assert_eq!(estimator("estimator=peak,intervals=20"), Estimator::Peak { intervals: 20 });
        assert_eq!(estimator("estimator=ewma"), Estimator::Ewma { weight_ppm: 100_000 });
    }

    #[test]
    fn the_memory_is_the_analysiss_slots() {
        let slots = |text| quick_start_router(text).expect(text).spec().slots;
        assert_eq!(slots("rtt-max=100ms"), 3);
        assert_eq!(slots("rtt-max=500ms"), 7);
        assert_eq!(slots("interval=50ms,rtt-max=100ms"), 4);
        assert_eq!(slots("rtt-max=250ms"), 5);
        assert_eq!(slots("slots=2"), 2);
    }

    #[test]
    fn routers_that_make_no_sense_are_refused_with_what_is_allowed() {
        for (text, why) in [
            ("", Why::UnknownWord),
            ("95%", Why::UnknownWord),
            ("treshold=95%", Why::UnknownWord),
            ("threshold=0", Why::Zero),
            ("threshold=101%", Why::OutOfRange),
            ("interval=0ms", Why::Zero),
            ("interval=1us", Why::OutOfRange),
            ("interval=2h", Why::OutOfRange),
            ("estimator=mean", Why::UnknownWord),
            ("weight=10%", Why::Conflict),
            ("estimator=peak,weight=10%", Why::Conflict),
            ("estimator=ewma,intervals=3", Why::Conflict),
            ("estimator=peak,intervals=256", Why::TooLarge),
            ("reduction=maybe", Why::UnknownWord),
            ("ring=newest", Why::UnknownWord),
            ("rtt-max=1h", Why::TooLarge),
            ("rtt-max=100ms,slots=3", Why::Conflict),
            ("threshold=90%,threshold=95%", Why::Conflict),
        ] {
            let error = quick_start_router(text).expect_err(text);
            assert_eq!(error.why, why, "{text}");
            assert!(error.to_string().contains("a Quick-Start router is any of"), "{error}");
        }
    }
}
