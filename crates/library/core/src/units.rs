//! The four quantities of the library: instants, spans, bytes and rates, all integers.
//!
//! Each is a newtype that converts only through named constructors, so a ratio cannot be used as bytes, or microseconds as milliseconds.
//! Arithmetic saturates and never panics. The largest `u64` is reserved, so an `Option` of a quantity is no larger than the quantity:
//! "unknown" needs no sentinel and costs no space.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use core::time::Duration;

use crate::wide;

/// A `u64` other than `u64::MAX`, stored plus one so that the value zero is free as a niche. The stored numbers keep their order. A sum or
/// a difference takes an additional instruction compared with plain numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct NonMax(NonZeroU64);

impl NonMax {
    #[inline]
    const fn new(value: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(value))
    }

    #[inline]
    const fn get(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns the sum, or the greatest number if the sum does not fit.
    #[inline]
    const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.get()))
    }

    /// Returns the difference, or zero if it would be negative.
    #[inline]
    const fn minus(self, other: Self) -> Self {
        Self::new(self.0.get().saturating_sub(other.0.get()))
    }
}

/// `one × other / divisor`, rounded down.
///
/// In BPF this is not inlined, so that the verifier checks all paths through it once, and not at every quotient.
#[cfg_attr(not(target_arch = "bpf"), inline)]
#[cfg_attr(target_arch = "bpf", inline(never))]
fn share(one: u64, other: u64, divisor: u64) -> NonMax {
    NonMax::new(wide::mul_div(one, other, divisor))
}

/// The nanoseconds that a byte takes at one bit a second.
const SECOND_BITS: u64 = 8_000_000_000;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonMax);

        impl $name {
            /// The quantity zero.
            pub const ZERO: Self = Self(NonMax::new(0));
            /// The largest value that can be held.
            pub const MAX: Self = Self(NonMax::new(u64::MAX - 1));

            const fn raw(value: u64) -> Self {
                Self(NonMax::new(value))
            }

            const fn value(self) -> u64 {
                self.0.get()
            }

            /// Returns whether the quantity is zero.
            pub const fn is_zero(self) -> bool {
                self.value() == 0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::ZERO
            }
        }
    };
}

macro_rules! amount {
    ($name:ident) => {
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.plus(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        /// Saturates at zero.
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0.minus(other.0))
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl Mul<u64> for $name {
            type Output = Self;
            fn mul(self, factor: u64) -> Self {
                Self::raw(wide::product(self.value(), factor))
            }
        }

        /// Rounds down; a divisor of zero counts as one.
        impl Div<u64> for $name {
            type Output = Self;
            fn div(self, divisor: u64) -> Self {
                Self::raw(self.value() / divisor.max(1))
            }
        }

        impl $name {
            /// `self × num / den`, rounded down, through 128 bits; a `den` of zero counts as one.
            #[inline]
            pub fn scale(self, num: u64, den: u64) -> Self {
                Self(share(self.value(), num, den))
            }
        }
    };
}

quantity! {
    /// An instant: nanoseconds since the origin of the host's clock.
    Time
}
quantity! {
    /// A length of time in nanoseconds.
    Span
}
quantity! {
    /// A number of bytes.
    Bytes
}
quantity! {
    /// A rate in bits per second.
    Rate
}
amount!(Span);
amount!(Bytes);
amount!(Rate);

impl Time {
    /// Returns the instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self::raw(nanos)
    }

    /// Returns the nanoseconds since the origin.
    pub const fn nanos(self) -> u64 {
        self.value()
    }

    /// Returns the instant `nanos` nanoseconds later.
    #[must_use]
    #[inline]
    pub const fn after_nanos(self, nanos: u64) -> Self {
        Self(NonMax(self.0.0.saturating_add(nanos)))
    }

    /// Returns the earlier of two instants; `None` means no instant.
    #[inline]
    pub fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        // `None` becomes the reserved number, which is the greatest.
        let raw = |time: Option<Self>| time.map_or(u64::MAX, Self::nanos);
        let min = raw(one).min(raw(other));
        NonZeroU64::new(min.wrapping_add(1)).map(|inner| Self(NonMax(inner)))
    }

    /// Returns the nanoseconds from `earlier` to `self`; zero if `earlier` is later.
    #[inline]
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.0.get().saturating_sub(earlier.0.0.get())
    }

    /// Returns the span from `earlier` to `self`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.minus(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.plus(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.minus(span.0))
    }
}

impl Span {
    /// Returns a span of whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self::raw(nanos)
    }

    /// Returns a span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self::raw(wide::product(micros, 1_000))
    }

    /// Returns a span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self::raw(wide::product(millis, 1_000_000))
    }

    /// Returns a span of whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self::raw(wide::product(secs, 1_000_000_000))
    }

    /// Returns the span in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.value()
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Self::from_secs(duration.as_secs()) + Self::from_nanos(u64::from(duration.subsec_nanos()))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Self::from_nanos(span.nanos())
    }
}

impl Bytes {
    /// Returns a number of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self::raw(bytes)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.value()
    }

    /// Returns the number of whole packets of `size` bytes that fit; a `size` of zero counts as one.
    pub fn packets(self, size: Self) -> u64 {
        self.value() / size.value().max(1)
    }

    /// Returns the rate that carries these bytes in `span`, rounded down; `None` for an empty span.
    pub fn per(self, span: Span) -> Option<Rate> {
        if span.is_zero() {
            return None;
        }
        Some(Rate(share(self.value(), SECOND_BITS, span.value())))
    }
}

impl Rate {
    /// Returns a rate in bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self::raw(bps)
    }

    /// Returns the rate in bits per second.
    pub const fn bps(self) -> u64 {
        self.value()
    }

    /// Returns the time that `bytes` take at this rate, rounded up; the longest span at a rate of zero.
    pub fn time_for(self, bytes: Bytes) -> Span {
        if self.is_zero() {
            return Span::MAX;
        }
        Span::raw(wide::mul_div_up(bytes.value(), SECOND_BITS, self.value()))
    }

    /// Returns the bytes that this rate carries in `span`, rounded down.
    pub fn over(self, span: Span) -> Bytes {
        Bytes(share(self.value(), span.value(), SECOND_BITS))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}ns", self.value())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.value())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.value())
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}bit/s", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_quantity_costs_no_space() {
        assert_eq!(size_of::<Option<Time>>(), 8);
        assert_eq!(size_of::<Option<Rate>>(), 8);
    }

    #[test]
    fn sums_and_differences_stop_at_the_ends() {
        let top = u64::MAX - 1;
        for (a, b) in [
            (0, 0),
            (3, 5),
            (5, 3),
            (top, 0),
            (0, top),
            (top, 1),
            (top, top),
            (top - 1, 1),
            (top / 2, top / 2 + 1),
        ] {
            let (x, y) = (Bytes::new(a), Bytes::new(b));
            assert_eq!((x + y).get(), a.saturating_add(b).min(top), "{a} + {b}");
            assert_eq!((x - y).get(), a.saturating_sub(b), "{a} - {b}");
            assert_eq!(x.cmp(&y), a.cmp(&b));
        }
    }

    #[test]
    fn the_earlier_of_two_instants_is_chosen_and_none_is_ignored() {
        let at = |nanos| Some(Time::from_nanos(nanos));
        assert_eq!(Time::earlier(at(3), at(5)), at(3));
        assert_eq!(Time::earlier(at(5), at(3)), at(3));
        assert_eq!(Time::earlier(None, at(0)), at(0));
        assert_eq!(Time::earlier(at(7), None), at(7));
        assert_eq!(Time::earlier(None, None), None);
        assert_eq!(Time::earlier(Some(Time::MAX), None), Some(Time::MAX));
    }

    #[test]
    fn a_duration_is_a_span_and_one_too_long_is_the_longest() {
        assert_eq!(Span::from(Duration::new(2, 5)), Span::from_nanos(2_000_000_005));
        assert_eq!(Span::from(Duration::MAX), Span::MAX);
        assert_eq!(Duration::from(Span::from_micros(3)), Duration::from_micros(3));
    }

    #[test]
    fn order_follows_the_number() {
        assert!(Span::from_millis(1) < Span::from_secs(1));
        assert!(Bytes::ZERO < Bytes::new(1));
        assert_eq!(Bytes::new(7).max(Bytes::new(5)).get(), 7);
    }

    #[test]
    fn a_thousand_bytes_take_eighty_microseconds_at_100_mbit() {
        let rate = Rate::from_bps(100_000_000);
        assert_eq!(rate.time_for(Bytes::new(1_000)), Span::from_micros(80));
        assert_eq!(rate.over(Span::from_millis(80)), Bytes::new(1_000_000));
        assert_eq!(Bytes::new(1_000).per(Span::from_micros(80)), Some(rate));
    }

    #[test]
    fn products_beyond_64_bits_are_divided_like_those_within() {
        // 2^31 bytes are the first whose product with 8 * 10^9 is more than 2^63, 2306 million the first beyond 2^64.
        for bytes in [2_305_843_009, 2_305_843_010, 1 << 40] {
            let product = u128::from(bytes) * 8_000_000_000;
            for other in [1, 3, 7_777_777_777, 1 << 50] {
                let whole = u64::try_from(product / u128::from(other)).unwrap_or(u64::MAX).min(u64::MAX - 1);
                let above = u64::try_from(product.div_ceil(u128::from(other))).unwrap_or(u64::MAX);
                assert_eq!(Bytes::new(bytes).per(Span::from_nanos(other)), Some(Rate::from_bps(whole)));
                assert_eq!(Rate::from_bps(other).time_for(Bytes::new(bytes)), Span::from_nanos(above));
                assert_eq!(Bytes::new(bytes).scale(8_000_000_000, other), Bytes::new(whole));
            }
            let (rate, span) = (Rate::from_bps(bytes), Span::from_nanos(7_999_999_999));
            assert_eq!(u128::from(rate.over(span).get()), u128::from(bytes) * 7_999_999_999 / 8_000_000_000);
        }
    }

    #[test]
    fn arithmetic_saturates_and_never_wraps() {
        assert_eq!(Bytes::MAX + Bytes::new(1), Bytes::MAX);
        assert_eq!(Bytes::ZERO - Bytes::new(1), Bytes::ZERO);
        assert_eq!(Rate::ZERO.time_for(Bytes::new(1)), Span::MAX);
        assert_eq!(Bytes::new(1).per(Span::ZERO), None);
        assert_eq!(Time::from_nanos(1).since(Time::from_nanos(9)), Span::ZERO);
        assert_eq!(Time::from_nanos(1).nanos_since(Time::from_nanos(9)), 0);
        assert_eq!(Time::MAX.nanos_since(Time::from_nanos(9)), u64::MAX - 10);
        assert_eq!(Span::MAX.scale(u64::MAX, 1), Span::MAX);
    }
}
