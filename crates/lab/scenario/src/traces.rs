//! Rates and delays over time: lists, files of several formats, synthetic ones, and how they are played.

mod files;
mod netem;
mod synthetic;
mod values;

use std::path::PathBuf;

use firstflight::{Rate, Span, Time};
use firstflight_sim::{CellularSpec, DelayTrace, RateTrace, SlotsSpec};

use crate::quantity::{self, QuantityError, Why, refuse, show_rate, show_span};
use values::{DELAYS, RATES};

/// The maximum number of steps that the canonical text of a scenario lists. Of a longer trace it has a digest.
const MOST_SHOWN: usize = 4_096;

/// The origin of a trace whose steps are not its canonical text, or that the seed changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOrigin {
    /// The canonical text. It determines the trace of each seed.
    pub text: String,
    draw: Draw,
}

/// The part of a trace that the seed of a run selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draw {
    Nothing,
    Start,
    Cellular(CellularSpec),
    Slots(SlotsSpec),
}

impl TraceOrigin {
    /// Returns the text of a synthetic trace; `None` for a recording or a list.
    pub(crate) fn synthetic(&self) -> Option<&str> {
        matches!(self.draw, Draw::Cellular(_) | Draw::Slots(_)).then_some(self.text.as_str())
    }

    /// Checks whether the seed changes the trace.
    pub fn is_seeded(&self) -> bool {
        self.draw != Draw::Nothing
    }

    /// Returns the rates of a run with this seed; `None` if they are those of every seed.
    pub(crate) fn rates(&self, rates: &RateTrace, seed: u64) -> Option<RateTrace> {
        match self.draw {
            Draw::Nothing => None,
            Draw::Start => Some(rates.clone().starting_at_random(seed)),
            Draw::Cellular(spec) => spec.trace(seed),
            Draw::Slots(spec) => spec.rates(seed),
        }
    }

    /// Returns the delays of a run with this seed; `None` if they are those of every seed.
    pub(crate) fn delays(&self, delays: &DelayTrace, seed: u64) -> Option<DelayTrace> {
        match self.draw {
            Draw::Nothing | Draw::Cellular(_) => None,
            Draw::Start => Some(delays.clone().starting_at_random(seed)),
            Draw::Slots(spec) => spec.delays(seed),
        }
    }
}

/// A trace as a key gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given<T> {
    /// The trace, with that of seed zero if the seed changes it.
    pub(crate) trace: T,
    /// Its origin; `None` if its steps are its canonical text.
    pub(crate) origin: Option<TraceOrigin>,
    /// The file that holds it.
    pub(crate) file: Option<PathBuf>,
}

/// Minimum mean length of the steps of rates that repeat. Shorter ones would make a run endless.
const SHORTEST: Span = Span::from_micros(1);

/// Reads a rate over time.
///
/// # Errors
/// A file that cannot be read, a time or a rate that cannot be read, steps out of order, an unknown word.
pub(crate) fn rates(text: &str) -> Result<Given<RateTrace>, QuantityError> {
    let (body, play) = Play::split(text.trim(), RATES)?;
    if let Some((name, settings)) = synthetic::name(body, &["lte", "leo"]) {
        play.refuse(text, "a synthetic trace begins as the seed says and repeats")?;
        let (shown, draw) = if name == "lte" {
            let spec = synthetic::cellular(settings)?;
            (synthetic::show_cellular(spec), Draw::Cellular(spec))
        } else {
            let spec = synthetic::slots(settings, synthetic::LEO_RATES)?;
            (synthetic::show_slots(spec, synthetic::LEO_RATES), Draw::Slots(spec))
        };
        let origin = TraceOrigin { text: shown, draw };
        let trace = match draw {
            Draw::Cellular(spec) => spec.trace(0),
            Draw::Slots(spec) => spec.rates(0),
            Draw::Nothing | Draw::Start => None,
        };
        let trace = trace.ok_or_else(|| refuse(text, Why::OutOfRange, RATES))?;
        return Ok(Given { trace, origin: Some(origin), file: None });
    }
    let content = files::read(body, &files::RATE_FILES)?;
    let (file, digest) = (content.file.clone(), content.digest.clone());
    let is_packets = matches!(content.steps, files::Content::Millis(_));
    let trace = match &content.steps {
        files::Content::Millis(millis) => {
            if play.once {
                const WHY: &str =
                    "mahimahi's opportunities repeat at the last of them, so `once` is not allowed";
                return Err(refuse("once", Why::Conflict, WHY));
            }
            if play.period.is_some() {
                const WHY: &str =
                    "mahimahi's opportunities repeat at the last of them, so `loop=TIME` is not allowed";
                return Err(refuse("loop", Why::Conflict, WHY));
            }
            RateTrace::opportunities(millis).map_err(|fault| content.fault(body, fault, RATES))?
        }
        files::Content::Steps(steps) => {
            let fault = |fault| content.fault(body, fault, RATES);
            match play.period_of(steps, content.period) {
                Some((steps, period)) => RateTrace::repeating(steps, period).map_err(fault)?,
                None => RateTrace::new(steps).map_err(fault)?,
            }
        }
    };
    let is_too_fine = trace
        .period()
        .is_some_and(|period| period.nanos() / (trace.steps().len().max(1) as u64) < SHORTEST.nanos());
    if is_too_fine {
        const WHY: &str = "the steps of a trace that repeats last 1us or longer in the mean";
        return Err(refuse(text, Why::OutOfRange, WHY));
    }
    let trace = trace.starting_at(play.start);
    let listed = !is_packets && trace.steps().len() <= MOST_SHOWN;
    let shown = if listed { show_rates(&trace) } else { digest };
    let period = trace.period().filter(|_| !is_packets);
    Ok(Given { origin: play.origin(shown, period, listed), trace, file })
}

/// Reads a delay over time.
///
/// # Errors
/// A file that cannot be read, a time or a delay that cannot be read, steps out of order, an unknown word.
pub(crate) fn delays(text: &str) -> Result<Given<DelayTrace>, QuantityError> {
    let (body, play) = Play::split(text.trim(), DELAYS)?;
    if let Some((_, settings)) = synthetic::name(body, &["leo"]) {
        play.refuse(text, "a synthetic trace begins as the seed says and repeats")?;
        let spec = synthetic::slots(settings, synthetic::LEO_DELAYS)?;
        let text = synthetic::show_slots(spec, synthetic::LEO_DELAYS);
        let trace = spec.delays(0).ok_or_else(|| refuse(body, Why::OutOfRange, DELAYS))?;
        return Ok(Given { trace, origin: Some(TraceOrigin { text, draw: Draw::Slots(spec) }), file: None });
    }
    let content = files::read(body, &files::DELAY_FILES)?;
    let files::Content::Steps(steps) = &content.steps else {
        return Err(refuse(body, Why::UnknownWord, DELAYS));
    };
    let (steps, period) = match play.period_of(steps, content.period) {
        Some((steps, period)) => (steps, Some(period)),
        None => (&**steps, None),
    };
    let trace = DelayTrace::new(steps, period).map_err(|fault| content.fault(body, fault, DELAYS))?;
    let trace = trace.starting_at(play.start);
    let listed = steps.len() <= MOST_SHOWN;
    let shown = if listed { show_delays(&trace) } else { content.digest.clone() };
    let origin = play.origin(shown, period, listed);
    Ok(Given { origin, trace, file: content.file })
}

/// Writes a rate over time as a list that [`rates`] reads.
pub(crate) fn show_rates(trace: &RateTrace) -> String {
    let rate = |rate: Rate| if rate == Rate::ZERO { "0".to_owned() } else { show_rate(rate) };
    show(trace.steps(), rate)
}

/// Writes a delay over time as a list that [`delays`] reads.
pub(crate) fn show_delays(trace: &DelayTrace) -> String {
    let delay = |delay: Span| if delay.is_zero() { "0".to_owned() } else { show_span(delay) };
    show(trace.steps(), delay)
}

/// Writes steps as a list.
fn show<T: Copy>(steps: &[(Time, T)], value: impl Fn(T) -> String) -> String {
    let step = |(at, of): &(Time, T)| {
        let at = if *at == Time::ZERO { "0s".to_owned() } else { show_span(at.since(Time::ZERO)) };
        format!("{at}={}", value(*of))
    };
    steps.iter().map(step).collect::<Vec<_>>().join(",")
}

/// How a trace is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Play {
    once: bool,
    repeats: bool,
    /// The time after which the trace repeats, if it is given.
    period: Option<Span>,
    start: Span,
    random: bool,
    /// Whether anything was said.
    said: bool,
}

impl Play {
    /// Splits the words that say how a trace is played from the end of its text.
    fn split<'a>(text: &'a str, allowed: &'static str) -> Result<(&'a str, Self), QuantityError> {
        let (mut body, mut play) = (text, Self::default());
        let mut said: Vec<&str> = Vec::new();
        while let Some((rest, word)) = body.rsplit_once(',') {
            let word = word.trim();
            let (name, value) =
                word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let span = |value| {
                let read = quantity::unless_zero(value, quantity::span);
                read.map(|span| span.unwrap_or(Span::ZERO))
                    .map_err(|error| QuantityError { allowed: allowed.into(), ..error })
            };
            match (name, value) {
                ("once", None) => play.once = true,
                ("loop", None) => play.repeats = true,
                ("loop", Some(value)) => (play.repeats, play.period) = (true, Some(span(value)?)),
                ("start", Some("random")) => play.random = true,
                ("start", Some(value)) => play.start = span(value)?,
                _ => break,
            }
            if said.contains(&name) || play.once && play.repeats {
                return Err(refuse(word, Why::Conflict, allowed));
            }
            said.push(name);
            body = rest;
        }
        play.said = !said.is_empty();
        Ok((body.trim_end(), play))
    }

    /// Returns an error if anything was said.
    fn refuse(self, text: &str, why: &'static str) -> Result<(), QuantityError> {
        if self.said { Err(refuse(text, Why::Conflict, why)) } else { Ok(()) }
    }

    /// Returns the steps of a period and its length; `None` if the steps are played once. Without a length, the last step ends the period.
    /// `own` is the length that a file gives: `Some((length, whether it says that it repeats))`.
    fn period_of<T>(self, steps: &[(Time, T)], own: Option<(Span, bool)>) -> Option<(&[(Time, T)], Span)> {
        let repeats = !self.once && (self.repeats || own.is_some_and(|(_, repeats)| repeats));
        if !repeats {
            return None;
        }
        if let Some(period) = self.period.or(own.map(|(length, _)| length)) {
            return Some((steps, period));
        }
        let ((last, _), before) = steps.split_last()?;
        Some((before, last.since(Time::ZERO)))
    }

    /// Returns the origin of a trace that is played like this. `listed` says that `text` lists its steps.
    fn origin(self, text: String, period: Option<Span>, listed: bool) -> Option<TraceOrigin> {
        if listed && period.is_none() && self.start.is_zero() && !self.random {
            return None;
        }
        let mut text = text;
        if let Some(period) = period {
            text = format!("{text},loop={}", show_span(period));
        }
        if self.random {
            text += ",start=random";
        } else if !self.start.is_zero() {
            text = format!("{text},start={}", show_span(self.start));
        }
        let draw = if self.random { Draw::Start } else { Draw::Nothing };
        Some(TraceOrigin { text, draw })
    }
}

#[cfg(test)]
mod tests;
