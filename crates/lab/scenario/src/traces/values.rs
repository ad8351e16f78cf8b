//! Values that the texts of traces have in common, and what those texts may be.

use firstflight::{Rate, Span};
use firstflight_sim::TraceFault;

use crate::quantity::{self, QuantityError, Why, refuse};

/// The maximum number of steps or opportunities of a trace.
pub(super) const MOST_STEPS: usize = 4_000_000;

pub(super) const RATES: &str = "a rate trace is a list of times and rates as in `0s=100mbit,5s=20mbit` (a rate may be `0`), a file with one \
                                `TIME RATE` a line from 0s, mahimahi's lines of milliseconds or netem-trace's JSON, or `lte` or `leo`; then \
                                any of `loop`, `loop=TIME`, `once`, `start=TIME`, `start=random`";

pub(super) const DELAYS: &str = "a delay trace is a list of times and delays as in `0s=0,15s=20ms`, a file with one `TIME DELAY` a line from 0s or \
                      netem-trace's JSON, or `leo`; then any of `loop`, `loop=TIME`, `once`, `start=TIME`, `start=random`";

/// Returns the fault of steps at a place of a file.
pub(super) fn at_line(
    text: &str,
    fault: TraceFault,
    line: Option<usize>,
    allowed: &'static str,
) -> QuantityError {
    let why = line.map_or(Why::Trace(fault), |line| Why::TraceLine(Box::new((fault, line))));
    refuse(text, why, allowed)
}

/// Reads a rate that may be zero.
pub(super) fn rate(text: &str) -> Result<Rate, QuantityError> {
    Ok(quantity::unless_zero(text, quantity::rate)?.unwrap_or(Rate::ZERO))
}

/// Reads a time that may be zero.
pub(super) fn span(text: &str) -> Result<Span, QuantityError> {
    Ok(quantity::unless_zero(text, quantity::span)?.unwrap_or(Span::ZERO))
}
