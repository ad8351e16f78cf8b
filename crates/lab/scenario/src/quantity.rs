//! Quantities as people write them, on the command line and in TOML: `100mbit`, `80ms`, `64kB`, `1000p`,
//! `0.3bdp`, `2%`.
//!
//! A decimal fraction is converted with integers, to the nearest whole base unit (bit/s, nanosecond, byte). Therefore `1.1gbit` is exactly
//! 1,100,000,000 bit/s. Zero, negative, non-finite and too large values are errors. The error is one line that says what was found and what
//! is allowed.

mod decimal;
mod show;
mod unit;
mod why;

use std::borrow::Cow;

use firstflight::{Bytes, Rate, Span};

pub use decimal::Decimal;
pub use firstflight_trace::in_a_line;
pub use show::{humane_bytes, humane_rate, humane_span, show_bytes, show_rate, show_span};
pub use why::{Line, Why};

/// A quantity that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` {why}{}", clause(.why, .allowed))]
pub struct QuantityError {
    /// The text that was found.
    pub found: String,
    /// The fault of the text.
    pub why: Why,
    /// The allowed values, as a clause: "a rate is …".
    pub allowed: Cow<'static, str>,
}

/// Returns the clause of what is allowed; empty if the fault itself says what to write.
fn clause(why: &Why, allowed: &str) -> String {
    match why {
        Why::Write(_) | Why::Either(_) => String::new(),
        _ => format!("; {allowed}"),
    }
}

/// Returns the error for a text with this fault. `allowed` is a clause that says what is allowed.
pub fn refuse(found: &str, why: Why, allowed: impl Into<Cow<'static, str>>) -> QuantityError {
    QuantityError { found: in_a_line(found), why, allowed: allowed.into() }
}

/// Reads a text with `read`. Returns `None` for a zero, with or without a unit. A value above zero that rounds to zero is an error.
pub(crate) fn unless_zero<T>(
    text: &str,
    read: impl Fn(&str) -> Result<T, QuantityError>,
) -> Result<Option<T>, QuantityError> {
    let is_bare_zero = text.trim().parse::<f64>().is_ok_and(|number| number == 0.0);
    match read(text) {
        _ if is_bare_zero && !text.contains('-') => Ok(None),
        Err(QuantityError { why: Why::Zero, .. }) if !text.contains(|c: char| matches!(c, '1'..='9')) => {
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// Reads a text with `read`. Returns `None` for `none` and for a zero, with or without a unit.
pub(crate) fn or_none<T>(
    text: &str,
    read: impl Fn(&str) -> Result<T, QuantityError>,
) -> Result<Option<T>, QuantityError> {
    if text.trim() == "none" { Ok(None) } else { unless_zero(text, read) }
}

/// Maximum number of digits of a number. The product of the number and any unit then fits 128 bits.
const MAX_DIGITS: usize = 24;

/// Splits `text` into its number and its unit.
fn split<'t>(text: &'t str, allowed: &'static str) -> Result<(Decimal, &'t str), QuantityError> {
    let text = text.trim();
    let err = |why| refuse(text, why, allowed);
    let lower = text.to_ascii_lowercase();
    if ["nan", "inf", "+inf", "-inf"].iter().any(|word| lower.starts_with(word)) {
        return Err(err(Why::NotFinite));
    }
    if let Some(rest) = text.strip_prefix('-') {
        let number = rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        return Err(err(if number { Why::Negative } else { Why::NoNumber }));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(err(Why::NoNumber));
    }
    let fraction = fraction.trim_end_matches('0');
    let whole = whole.trim_start_matches('0');
    if whole.len() + fraction.len() > MAX_DIGITS {
        return Err(err(Why::TooLarge));
    }
    let mantissa = whole
        .bytes()
        .chain(fraction.bytes())
        .fold(0u128, |value, digit| value * 10 + u128::from(digit - b'0'));
    let scale = u32::try_from(fraction.len()).unwrap_or(0);
    Ok((Decimal { mantissa, scale }, unit.trim_start()))
}

/// Splits `text` as [`split`] does and requires a unit. A zero needs no unit, because it is zero in every unit.
fn with_unit<'t>(text: &'t str, allowed: &'static str) -> Result<(Decimal, &'t str), QuantityError> {
    match split(text, allowed)? {
        (number, "") if number.is_zero() => Err(refuse(text, Why::Zero, allowed)),
        other => Ok(other),
    }
}

fn convert(
    text: &str,
    number: Decimal,
    factor: u64,
    largest: u64,
    allowed: &'static str,
) -> Result<u64, QuantityError> {
    match number.times(factor) {
        Some(0) => Err(refuse(text, Why::Zero, allowed)),
        Some(value) if value <= largest => Ok(value),
        _ => Err(refuse(text, Why::TooLarge, allowed)),
    }
}

fn unknown(text: &str, unit: &str, allowed: &'static str) -> QuantityError {
    refuse(text, unit::unknown(unit), allowed)
}

const RATE: &str = "a rate is a positive number with `bit`, `kbit`, `mbit`, `gbit` or `tbit` (a second, \
                    powers of 1000), up to 10tbit, as in `100mbit`";

/// Reads a rate: `800kbit`, `100mbit`, `1.5gbit`. The units are those of the tool tc, which mean bits per second, in upper or lower case;
/// `/s` may follow. `Mbps` and `Mb/s` mean `mbit`.
///
/// # Errors
/// Anything else, zero, or more than 10 Tbit/s.
pub fn rate(text: &str) -> Result<Rate, QuantityError> {
    let (number, unit) = with_unit(text, RATE)?;
    let factor = unit::of_rate(number, unit).map_err(|why| refuse(text, why, RATE))?;
    convert(text, number, factor, 10_000_000_000_000, RATE).map(Rate::from_bps)
}

const SPAN: &str = "a duration is a positive number with `ns`, `us`, `ms`, `s`, `min` or `h`, up to 1000h, as \
                    in `80ms`";

/// Reads a duration: `500ns`, `20us`, `80ms`, `1.5s`, `2min`, `1h`.
///
/// # Errors
/// Anything else, zero, or more than 1000 hours.
pub fn span(text: &str) -> Result<Span, QuantityError> {
    let (number, unit) = with_unit(text, SPAN)?;
    let factor = unit::of_time(text, unit).map_err(|why| refuse(text, why, SPAN))?;
    convert(text, number, factor, 3_600_000_000_000_000, SPAN).map(Span::from_nanos)
}

const BYTES: &str = "a size is a positive number with `B`, `kB`, `MB`, `GB`, `TB` (powers of 1000) or `KiB`, \
                     `MiB`, `GiB`, up to 1000TB, as in `1MB`";
const MAX_BYTES: u64 = 1_000_000_000_000_000;

/// Reads a size in bytes: `1500B`, `64kB`, `1MB`, `2MiB`.
///
/// # Errors
/// Anything else, zero, or more than 1000 TB.
pub fn bytes(text: &str) -> Result<Bytes, QuantityError> {
    let (number, unit) = with_unit(text, BYTES)?;
    let factor = unit::of_size(number, unit).map_err(|why| refuse(text, why, BYTES))?;
    convert(text, number, factor, MAX_BYTES, BYTES).map(Bytes::new)
}

const COUNT: &str = "a whole number from 1 up is wanted, as in `10`";

/// Reads a positive whole number without a unit.
///
/// # Errors
/// Anything else, zero, or more than fits 64 bits.
pub fn count(text: &str) -> Result<u64, QuantityError> {
    match text.trim().parse::<u64>() {
        Ok(0) => Err(refuse(text, Why::Zero, COUNT)),
        Ok(value) => Ok(value),
        Err(_) => {
            let (number, unit) = split(text, COUNT)?;
            let why = match unit {
                "" if number.scale == 0 => Why::TooLarge,
                "" => Why::OutOfRange,
                unit => Why::UnknownUnit(in_a_line(unit)),
            };
            Err(refuse(text, why, COUNT))
        }
    }
}

const FRACTION: &str = "a fraction is a number from 0 to 1 or a percentage, as in `0.25` or `2%`";

/// Reads a fraction from 0 to 1: `0.02`, `2%`.
///
/// # Errors
/// Anything else, or a fraction above one.
pub fn fraction(text: &str) -> Result<Decimal, QuantityError> {
    let (mut number, unit) = split(text, FRACTION)?;
    match unit {
        "" => {}
        "%" => number.scale += 2,
        _ => return Err(unknown(text, unit, FRACTION)),
    }
    match 10u128.checked_pow(number.scale) {
        Some(one) if number.mantissa <= one => Ok(number.reduced()),
        _ => Err(refuse(text, Why::OutOfRange, FRACTION)),
    }
}

/// Reads a fraction or a percentage. Returns millionths, rounded to the nearest. The fraction may be above one.
pub(crate) fn ppm(text: &str) -> Result<u32, QuantityError> {
    let (mut number, unit) = split(text, FRACTION)?;
    match unit {
        "" => {}
        "%" => number.scale += 2,
        _ => return Err(unknown(text, unit, FRACTION)),
    }
    let ppm = number.times(1_000_000).and_then(|ppm| u32::try_from(ppm).ok());
    ppm.ok_or_else(|| refuse(text, Why::TooLarge, FRACTION))
}

const NUMBER: &str = "a number without a unit is wanted, as in `1.5`";

/// Reads a number without a unit: `20`, `1.5`.
///
/// # Errors
/// Anything else.
pub fn number(text: &str) -> Result<Decimal, QuantityError> {
    match split(text, NUMBER)? {
        (number, "") => Ok(number),
        (_, unit) => Err(refuse(text, Why::UnknownUnit(in_a_line(unit)), NUMBER)),
    }
}

/// A size in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Full segments, possibly a fraction of one.
    Packets(Decimal),
    /// Bytes.
    Bytes(Bytes),
}

impl Amount {
    /// Returns the size in bytes, with packets of `packet` bytes; `None` on overflow.
    pub fn in_bytes(self, packet: u64) -> Option<Bytes> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Packets(number) => number.times(packet).filter(|bytes| *bytes <= MAX_BYTES).map(Bytes::new),
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Packets(number) => write!(f, "{number}p"),
            Self::Bytes(bytes) => f.write_str(&show_bytes(*bytes)),
        }
    }
}

const AMOUNT: &str = "a positive number of packets or bytes is wanted, as in `100p` or `64kB`";

/// Reads a size in packets or bytes: `20000p`, `64kB`.
///
/// # Errors
/// Anything else, zero, or more than 1000 TB or 10^12 packets.
pub fn amount(text: &str) -> Result<Amount, QuantityError> {
    let (number, unit) = with_unit(text, AMOUNT)?;
    if unit::is_packets(unit) {
        return packets_of(text, number, AMOUNT).map(Amount::Packets);
    }
    let factor = unit::of_size(number, unit).map_err(|why| refuse(text, why, AMOUNT))?;
    convert(text, number, factor, MAX_BYTES, AMOUNT).map(|bytes| Amount::Bytes(Bytes::new(bytes)))
}

fn packets_of(text: &str, number: Decimal, allowed: &'static str) -> Result<Decimal, QuantityError> {
    match number.floor() {
        _ if number.is_zero() => Err(refuse(text, Why::Zero, allowed)),
        Some(whole) if whole <= 1_000_000_000_000 => Ok(number),
        _ => Err(refuse(text, Why::TooLarge, allowed)),
    }
}

const PACKETS: &str = "a number of packets from 1p to 1000000p is wanted, as in `10p`";

/// Reads a number of whole packets: `10p`, or `10`. A fraction is rounded down.
///
/// # Errors
/// Anything else, less than one packet, or more than a million.
pub fn packets(text: &str) -> Result<u32, QuantityError> {
    let (number, unit) = split(text, PACKETS)?;
    if !unit.is_empty() && !unit::is_packets(unit) {
        return Err(unknown(text, unit, PACKETS));
    }
    whole_packets(text, number, PACKETS)
}

fn whole_packets(text: &str, number: Decimal, allowed: &'static str) -> Result<u32, QuantityError> {
    match number.floor() {
        Some(0) if number.is_zero() => Err(refuse(text, Why::Zero, allowed)),
        Some(0) => Err(refuse(text, Why::OutOfRange, allowed)),
        Some(whole @ 1..=1_000_000) => Ok(u32::try_from(whole).unwrap_or(u32::MAX)),
        _ => Err(refuse(text, Why::TooLarge, allowed)),
    }
}

/// The limit of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSize {
    /// Whole packets.
    Packets(u32),
    /// IP bytes.
    Bytes(Bytes),
    /// Multiples of the bandwidth-delay product, in bytes.
    Bdp(Decimal),
}

impl std::fmt::Display for QueueSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets}p"),
            Self::Bytes(bytes) => f.write_str(&show_bytes(*bytes)),
            Self::Bdp(number) => write!(f, "{number}bdp"),
        }
    }
}

const QUEUE: &str = "a queue is a positive number of packets (`1000p`, at most 1000000p), bytes (`64kB`) or \
                     bandwidth-delay products (`0.3bdp`)";

/// Reads a queue's limit: `1000p`, `64kB`, `0.3bdp`. A fraction of a packet is rounded down.
///
/// # Errors
/// Anything else, zero, or too large.
pub fn queue(text: &str) -> Result<QueueSize, QuantityError> {
    let (number, unit) = with_unit(text, QUEUE)?;
    match unit {
        _ if unit::is_packets(unit) => whole_packets(text, number, QUEUE).map(QueueSize::Packets),
        _ if unit.eq_ignore_ascii_case("bdp") && number.is_zero() => Err(refuse(text, Why::Zero, QUEUE)),
        _ if unit.eq_ignore_ascii_case("bdp") => Ok(QueueSize::Bdp(number)),
        _ => {
            let factor = unit::of_size(number, unit).map_err(|why| refuse(text, why, QUEUE))?;
            convert(text, number, factor, MAX_BYTES, QUEUE).map(|b| QueueSize::Bytes(Bytes::new(b)))
        }
    }
}

/// Returns this duration in whole nanoseconds, rounded down, but at least one nanosecond.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
pub fn nanos(seconds: f64) -> Span {
    Span::from_nanos((seconds * 1e9) as u64).max(Span::from_nanos(1))
}

#[cfg(test)]
mod tests;
