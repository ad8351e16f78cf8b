//! Readers of values that only one or a few keys have.

use firstflight::{Bytes, Rate, Span};

use crate::gemodel::Gemodel;
use crate::quantity::{self, Amount, Decimal, QuantityError, QueueSize, Why, refuse};

/// Stores a value that was read in `place`.
///
/// # Errors
/// The error of reading the value.
pub(super) fn put<T>(place: &mut T, value: Result<T, QuantityError>) -> Result<(), QuantityError> {
    *place = value?;
    Ok(())
}

/// Stores a value that was read in `option`, as `Some`.
///
/// # Errors
/// The error of reading the value.
pub(super) fn set<T>(option: &mut Option<T>, value: Result<T, QuantityError>) -> Result<(), QuantityError> {
    put(option, value.map(Some))
}

/// Reads the payload bytes of a full segment: a number, with or without `B`.
///
/// # Errors
/// Less than 64 or more than fits an IP packet.
pub(super) fn mss(text: &str) -> Result<u16, QuantityError> {
    const ALLOWED: &str = "an MSS is from 64 to 65483 bytes of payload, as in `1460`";
    in_range(text, 64, 65_483, ALLOWED)
}

/// Reads the IP bytes of a full packet: a number, with or without `B`.
///
/// # Errors
/// Less than 116 (a payload of 64 bytes and headers with timestamps) or more than fits an IP packet.
pub(super) fn packet(text: &str) -> Result<u16, QuantityError> {
    const ALLOWED: &str = "a packet is from 116 to 65523 IP bytes, as in `1000B`";
    in_range(text, 116, 65_523, ALLOWED)
}

fn in_range(text: &str, least: u64, most: u64, allowed: &'static str) -> Result<u16, QuantityError> {
    let text = text.trim();
    let bare = text.bytes().all(|byte| byte.is_ascii_digit());
    let bytes =
        if bare && !text.is_empty() { quantity::bytes(&format!("{text}B")) } else { quantity::bytes(text) };
    let bytes = bytes
        .map_err(|error| QuantityError {
            found: quantity::in_a_line(text),
            allowed: allowed.into(),
            ..error
        })?
        .get();
    match u16::try_from(bytes) {
        Ok(value) if (least..=most).contains(&bytes) => Ok(value),
        _ => Err(refuse(text, Why::OutOfRange, allowed)),
    }
}

/// Reads an initial window: `10p`.
///
/// # Errors
/// Zero or more than 65,535 packets.
pub(super) fn iw(text: &str) -> Result<u32, QuantityError> {
    const ALLOWED: &str = "an initial window is from 1p to 65535p, as in `10p`";
    let packets =
        quantity::packets(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })?;
    if packets > 65_535 { Err(refuse(text, Why::TooLarge, ALLOWED)) } else { Ok(packets) }
}

/// Reads `true` or `false`.
///
/// # Errors
/// Anything else.
pub(super) fn boolean(text: &str) -> Result<bool, QuantityError> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(refuse(text.trim(), Why::UnknownWord, "`true` or `false` is wanted")),
    }
}

/// Reads the share of a mixed population's flows that take the first scheme.
///
/// # Errors
/// Every text that [`quantity::fraction`] rejects, and shares that are no multiple of 0.1 % from 0.1 % to 99.9 %.
pub(super) fn mixed_share(text: &str) -> Result<u16, QuantityError> {
    let share = quantity::fraction(text)?;
    let allowed = "the share is a multiple of 0.1 %, from 0.1 % to 99.9 %, as in `5%`";
    let ppm = share.times(1_000_000).filter(|ppm| ppm.is_multiple_of(1000));
    let permille = ppm.and_then(|ppm| u16::try_from(ppm / 1000).ok());
    let permille = permille.filter(|permille| (1..1000).contains(permille));
    permille.ok_or_else(|| refuse(text.trim(), Why::OutOfRange, allowed))
}

/// Reads random loss: a fraction below one.
///
/// # Errors
/// Every text that [`quantity::fraction`] rejects, and a loss of one, with which no packet would ever arrive.
pub(super) fn loss(text: &str) -> Result<Decimal, QuantityError> {
    const ALLOWED: &str =
        "loss is a fraction below 1, as in `2%` or `0.02`, or netem's bursty loss, as in `gemodel:1%,10%`";
    let loss =
        quantity::fraction(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })?;
    if loss == Decimal::whole(1) || loss.floor() != Some(0) {
        return Err(refuse(text, Why::OutOfRange, ALLOWED));
    }
    Ok(loss)
}

/// Reads loss of either kind: a fraction below one, or netem's bursty loss. Of the two places, the one of the other kind is cleared.
///
/// # Errors
/// Every text that [`loss`] or [`Gemodel::read`] rejects.
pub(super) fn any_loss(
    text: &str,
    (place, bursts): (&mut Decimal, &mut Option<Gemodel>),
) -> Result<(), QuantityError> {
    (*place, *bursts) = match Gemodel::read(text) {
        Some(model) => (Decimal::whole(0), Some(model?)),
        None => (loss(text)?, None),
    };
    Ok(())
}

/// Reads a duration, or `none`. Zero also means none.
///
/// # Errors
/// Fails for a text that [`quantity::span`] refuses.
pub(super) fn span_or_none(text: &str) -> Result<Option<Span>, QuantityError> {
    quantity::or_none(text, quantity::span)
}

/// Reads the IP bytes of a burst of segmentation offload, or `none`. Zero also means none.
///
/// # Errors
/// More than an IP packet's 64 KiB, and what [`quantity::bytes`] refuses.
pub(super) fn gso(text: &str) -> Result<Option<Bytes>, QuantityError> {
    const ALLOWED: &str =
        "a burst of segmentation offload is of at most 65536 bytes, as in `64kB`, or `none`";
    let burst = quantity::or_none(text, quantity::bytes)?;
    match burst {
        Some(bytes) if bytes.get() > 65_536 => Err(refuse(text, Why::TooLarge, ALLOWED)),
        burst => Ok(burst),
    }
}

/// Reads the maximum lateness of timers, or `none`. Zero also means none.
///
/// # Errors
/// More than four seconds, and what [`quantity::span`] refuses.
pub(super) fn timer_noise(text: &str) -> Result<Option<Span>, QuantityError> {
    const ALLOWED: &str = "timers are at most 4s late, as in `20us`, or `none`";
    match span_or_none(text)? {
        Some(bound) if bound > Span::from_secs(4) => Err(refuse(text, Why::TooLarge, ALLOWED)),
        bound => Ok(bound),
    }
}

/// Reads a duration that may be zero, with or without a unit.
///
/// # Errors
/// Every other text that [`quantity::span`] refuses.
pub(super) fn span_or_zero(text: &str) -> Result<Span, QuantityError> {
    Ok(quantity::unless_zero(text, quantity::span)?.unwrap_or(Span::ZERO))
}

/// Reads a whole number from one to `most`, or `none`. Zero also means none.
///
/// # Errors
/// Anything else. The error states `allowed`.
pub(super) fn count_or_none(
    text: &str,
    most: u32,
    allowed: &'static str,
) -> Result<Option<u32>, QuantityError> {
    quantity::or_none(text, |text| count(text, most, allowed))
}

/// Reads the rate of a link, or `none` for no link. A link of rate zero would deliver nothing.
///
/// # Errors
/// Every text that [`quantity::rate`] refuses.
pub(super) fn rate_or_none(text: &str) -> Result<Option<Rate>, QuantityError> {
    const ALLOWED: &str = "the rate of a link is as in `100mbit`, or `none` if there is no such link";
    if text.trim() == "none" {
        return Ok(None);
    }
    let rate = quantity::rate(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error });
    rate.map(Some)
}

/// Reads a receive buffer: packets or bytes, or `inf`, which is more than any window.
///
/// # Errors
/// Fails for a text that [`quantity::amount`] refuses.
pub(super) fn rwnd(text: &str) -> Result<Option<Amount>, QuantityError> {
    const ALLOWED: &str =
        "a receive buffer is as in `64kB` or `100p`, or `inf`, which is more than any window";
    if text.trim() == "inf" {
        return Ok(None);
    }
    let amount = quantity::amount(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error });
    amount.map(Some)
}

/// Reads the queue of the reverse path: packets or bytes, or `none` for a queue that never overflows.
///
/// # Errors
/// Fails for a text that [`quantity::queue`] refuses, and for a queue in BDPs, because only the bottleneck has a BDP.
pub(super) fn reverse_queue(text: &str) -> Result<Option<QueueSize>, QuantityError> {
    const ALLOWED: &str =
        "a queue of the reverse path is as in `100p` or `64kB`, or `none`, which never overflows";
    if text.trim() == "none" {
        return Ok(None);
    }
    let size = quantity::queue(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })?;
    match size {
        QueueSize::Bdp(_) => Err(refuse(text, Why::UnknownUnit("bdp".into()), ALLOWED)),
        QueueSize::Packets(_) | QueueSize::Bytes(_) => Ok(Some(size)),
    }
}

/// Reads a seed: a whole number of 63 bits, which every reader of Parquet holds in a signed integer.
///
/// # Errors
/// Anything else.
pub(super) fn seed(text: &str) -> Result<u64, QuantityError> {
    const ALLOWED: &str = "a seed is a whole number from 0 to 9223372036854775807";
    let text = text.trim();
    let is_number = text.parse::<f64>().is_ok();
    let why = || if is_number { Why::OutOfRange } else { Why::NoNumber };
    text.parse().ok().filter(|seed| i64::try_from(*seed).is_ok()).ok_or_else(|| refuse(text, why(), ALLOWED))
}

/// Reads a number of runs.
///
/// # Errors
/// Zero or more than a million.
pub(super) fn runs(text: &str) -> Result<u32, QuantityError> {
    count(text, 1_000_000, "runs are a whole number from 1 to 1000000")
}

/// Reads a whole number from one to `most`.
///
/// # Errors
/// Anything else. The error states `allowed`.
pub(super) fn count(text: &str, most: u32, allowed: &'static str) -> Result<u32, QuantityError> {
    let count = quantity::count(text).map_err(|error| QuantityError { allowed: allowed.into(), ..error })?;
    match u32::try_from(count) {
        Ok(count) if count <= most => Ok(count),
        _ => Err(refuse(text, Why::TooLarge, allowed)),
    }
}
