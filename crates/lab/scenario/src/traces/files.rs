//! The steps of a list or a file, whose format its content or a prefix names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use firstflight::{Rate, Span, Time};
use firstflight_sim::TraceFault;
use sha2::{Digest, Sha256};

use super::netem;
use super::values::{DELAYS, MOST_STEPS, RATES, at_line, rate, span};
use crate::quantity::{Line, QuantityError, Why, refuse};
use crate::reading::read_text_up_to;

/// The largest file of a trace, in bytes.
const LARGEST: u64 = 64_000_000;

/// What the files of a key hold.
pub(super) struct Files<T> {
    /// Reads a value.
    value: fn(&str) -> Result<T, QuantityError>,
    /// Reads a value of netem-trace's JSON.
    netem: netem::Values<T>,
    /// Whether the file may have opportunities.
    has_opportunities: bool,
    allowed: &'static str,
}

pub(super) const RATE_FILES: Files<Rate> =
    Files { value: rate, netem: netem::RATES, has_opportunities: true, allowed: RATES };

pub(super) const DELAY_FILES: Files<Span> =
    Files { value: span, netem: netem::DELAYS, has_opportunities: false, allowed: DELAYS };

/// The steps of a trace, and their origin.
pub(super) struct Found<T> {
    pub(super) steps: Content<T>,
    /// The length of one period and whether the file says that it repeats, if the file gives a length.
    pub(super) period: Option<(Span, bool)>,
    /// The numbers of the lines of the steps; empty without a file of lines.
    lines: Vec<u32>,
    pub(super) file: Option<PathBuf>,
    /// The format and a digest of the file's text.
    pub(super) digest: String,
}

pub(super) enum Content<T> {
    Steps(Vec<(Time, T)>),
    Millis(Vec<u32>),
}

impl<T> Found<T> {
    /// Returns the error for a fault of the steps, with the line of a file.
    pub(super) fn fault(&self, text: &str, fault: TraceFault, allowed: &'static str) -> QuantityError {
        let at = match fault {
            TraceFault::Order { step } => self.lines.get(step.saturating_sub(1)),
            TraceFault::LateStart => self.lines.first(),
            TraceFault::EndsInOutage | TraceFault::ShortPeriod => self.lines.last(),
            TraceFault::Empty | TraceFault::HugeRate | TraceFault::Silent => None,
        };
        at_line(text, fault, at.map(|line| *line as usize), allowed)
    }
}

/// Returns the format that a text names, and the file's name. `None` as the name if the text itself is a list.
fn named(text: &str) -> (Option<Format>, Option<&str>) {
    for (prefix, format) in
        [("mahimahi:", Format::Mahimahi), ("netem:", Format::Netem), ("steps:", Format::Steps)]
    {
        if let Some(file) = text.strip_prefix(prefix) {
            return (Some(format), Some(file));
        }
    }
    let first = text.split(',').next().unwrap_or_default();
    (None, (!first.contains('=')).then_some(text))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Steps,
    Mahimahi,
    Netem,
}

impl Format {
    /// Recognizes the format by the first line that has content.
    fn of(content: &str, has_opportunities: bool) -> Self {
        let first = content.lines().map(data).find(|line| !line.is_empty()).unwrap_or_default();
        if first.starts_with(['{', '[']) {
            Self::Netem
        } else if has_opportunities && !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit()) {
            Self::Mahimahi
        } else {
            Self::Steps
        }
    }
}

/// Returns a line without its comment.
fn data(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// Reads a list, or the file that a text names.
pub(super) fn read<T: Copy>(text: &str, files: &Files<T>) -> Result<Found<T>, QuantityError> {
    let (format, name) = named(text);
    let Some(name) = name else {
        let steps = text.split(',').map(|part| step(part, part.split_once('='), files));
        let steps = bounded(text, steps, files.allowed)?;
        let content = Content::Steps(steps);
        return Ok(Found {
            steps: content,
            period: None,
            lines: Vec::new(),
            file: None,
            digest: String::new(),
        });
    };
    let content = read_text_up_to(Path::new(name), LARGEST)
        .map_err(|error| refuse(text, Why::Unreadable(error.to_string()), files.allowed))?;
    let format = format.unwrap_or_else(|| Format::of(&content, files.has_opportunities));
    let (mut lines, mut period) = (Vec::new(), None);
    let (steps, kind) = match format {
        Format::Mahimahi if files.has_opportunities => {
            let millis = content.lines().enumerate().map(|(place, line)| {
                lines.push(u32::try_from(place + 1).unwrap_or(u32::MAX));
                millis(line).ok_or_else(|| in_line(text, place + 1, line, Why::NoMillis, files.allowed))
            });
            (Content::Millis(bounded(text, millis, files.allowed)?), "mahimahi")
        }
        Format::Mahimahi => return Err(refuse(text, Why::UnknownWord, files.allowed)),
        Format::Netem => {
            let read = netem::read(&content, &files.netem);
            let read = read.map_err(|why| refuse(text, Why::Unreadable(why), files.allowed))?;
            period = Some((read.length, read.repeats));
            (Content::Steps(read.steps), "netem")
        }
        Format::Steps => {
            let of = content.lines().enumerate().map(|(place, line)| (place + 1, data(line)));
            let steps = of.filter(|(_, line)| !line.is_empty()).map(|(number, line)| {
                lines.push(u32::try_from(number).unwrap_or(u32::MAX));
                let parts = line.split_once(|c: char| c == ',' || c.is_whitespace());
                let parts = parts.map(|(at, value)| (at.trim(), value.trim_start_matches([',', ' ', '\t'])));
                step(line, parts, files).map_err(|QuantityError { found, why, allowed }| {
                    let why = Why::Line(Box::new(Line { number, found, why }));
                    QuantityError { allowed, ..refuse(text, why, files.allowed) }
                })
            });
            (Content::Steps(bounded(text, steps, files.allowed)?), "steps")
        }
    };
    let digest = format!("{kind}:sha256={}", hex(&content));
    Ok(Found { steps, period, lines, file: Some(PathBuf::from(name)), digest })
}

/// Returns the file that a text names; `None` if the text itself is the list.
#[cfg(test)]
pub(super) fn file(text: &str) -> Option<PathBuf> {
    named(text).1.map(PathBuf::from)
}

/// Reads a line of mahimahi's format: a whole number of milliseconds without anything else.
fn millis(line: &str) -> Option<u32> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let is_plain = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    line.parse().ok().filter(|_| is_plain)
}

fn in_line(text: &str, number: usize, found: &str, why: Why, allowed: &'static str) -> QuantityError {
    let found = crate::quantity::in_a_line(found);
    refuse(text, Why::Line(Box::new(Line { number, found, why })), allowed)
}

fn step<T>(text: &str, parts: Option<(&str, &str)>, files: &Files<T>) -> Result<(Time, T), QuantityError> {
    let allowed = |error: QuantityError| QuantityError { allowed: files.allowed.into(), ..error };
    let Some((at, value)) = parts else { return Err(refuse(text, Why::NoStep, files.allowed)) };
    Ok((Time::ZERO + span(at).map_err(allowed)?, (files.value)(value).map_err(allowed)?))
}

/// Collects what a trace has, if that is not too much.
fn bounded<T>(
    text: &str,
    steps: impl Iterator<Item = Result<T, QuantityError>>,
    allowed: &'static str,
) -> Result<Vec<T>, QuantityError> {
    let steps: Vec<_> = steps.take(MOST_STEPS + 1).collect::<Result<_, _>>()?;
    if steps.len() > MOST_STEPS {
        return Err(refuse(text, Why::TooLarge, allowed));
    }
    Ok(steps)
}

/// Returns the first half of the SHA-256 of a text, in hexadecimal digits.
fn hex(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
