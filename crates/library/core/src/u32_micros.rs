//! Times in whole microseconds and 32 bits, as in Linux, for state that must fit a socket's private area.

use core::num::{NonZeroU32, Wrapping};

use crate::units::{Span, Time};

/// An instant in microseconds, modulo 2^32: differences are exact up to 71 minutes.
pub(crate) type Instant = Wrapping<u32>;
/// A length of time in microseconds, at least one, saturating after 71 minutes.
pub(crate) type Micros = NonZeroU32;

/// Returns the whole microseconds that have passed at `time`.
#[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
pub(crate) fn at(time: Time) -> Instant {
    Wrapping((time.nanos() / 1_000) as u32)
}

/// Returns the whole microseconds of `span`; less than one microsecond counts as one.
pub(crate) fn of(span: Span) -> Micros {
    let micros = u32::try_from(span.nanos() / 1_000).unwrap_or(u32::MAX);
    Micros::new(micros).unwrap_or(Micros::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_down_and_spans_are_at_least_a_microsecond() {
        assert_eq!(at(Time::from_nanos(1_999)).0, 1);
        assert_eq!(of(Span::from_nanos(1_999)).get(), 1);
        assert_eq!(of(Span::ZERO).get(), 1);
        assert_eq!(of(Span::MAX), Micros::MAX);
    }

    #[test]
    fn the_clock_wraps_with_time() {
        let late = at(Time::ZERO + Span::from_secs(4_295));
        let early = at(Time::ZERO + Span::from_secs(4_294));
        assert_eq!((late - early).0, 1_000_000);
    }
}
