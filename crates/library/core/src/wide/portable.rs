//! 128-bit arithmetic with 64-bit operations only, on digits of 32 bits.
//!
//! No product is checked for overflow by a quotient (`one <= u64::MAX / other`): LLVM turns that check back into a product of
//! 128 bits.

/// Returns the upper and the lower digit.
const fn digits(number: u64) -> (u64, u64) {
    (number >> 32, number & 0xFFFF_FFFF)
}

/// Returns `one × other`, or the greatest number if the product does not fit 64 bits.
#[inline]
pub(crate) const fn product(one: u64, other: u64) -> u64 {
    Wide::product(one, other).capped()
}

/// Returns `one × other`; `None` if the product does not fit 64 bits.
#[inline]
pub(crate) const fn exact(one: u64, other: u64) -> Option<u64> {
    let product = Wide::product(one, other);
    if product.high == 0 { Some(product.low) } else { None }
}

/// `one × other / divisor`, rounded down, for products that do not fit 64 bits.
#[inline]
pub(crate) fn long_mul_div(one: u64, other: u64, divisor: u64) -> u64 {
    let (quotient, _) = divide(Wide::product(one, other), divisor);
    quotient
}

/// `one × other / divisor`, rounded up, for products that do not fit 64 bits.
#[inline]
pub(crate) fn long_mul_div_up(one: u64, other: u64, divisor: u64) -> u64 {
    let (quotient, rest) = divide(Wide::product(one, other), divisor);
    quotient.saturating_add(u64::from(rest > 0))
}

/// Returns quotient and remainder; the greatest number and zero if the quotient takes more than 64 bits.
fn divide(number: Wide, divisor: u64) -> (u64, u64) {
    let divisor = if divisor == 0 { 1 } else { divisor };
    if number.high == 0 {
        (number.low / divisor, number.low % divisor)
    } else if number.high >= divisor {
        (u64::MAX, 0)
    } else {
        long_divide(number, divisor)
    }
}

/// Returns quotient and remainder for a `number` with `number.high < divisor`.
fn long_divide(number: Wide, divisor: u64) -> (u64, u64) {
    let quotient = long_quotient(number.high, number.low, divisor);
    (quotient, number.low.wrapping_sub(quotient.wrapping_mul(divisor)))
}

/// Returns the quotient for `high < divisor`: two digits, each a quotient of the upper digits that is corrected by at most two (Knuth, The
/// Art of Computer Programming, section 4.3.1, algorithm D).
///
/// It is not inlined, so that the verifier checks all paths through it once, and not at every division.
#[inline(never)]
fn long_quotient(high: u64, low: u64, divisor: u64) -> u64 {
    // The divisor is shifted left until its highest bit is set, and the number with it.
    let shift = divisor.leading_zeros();
    let divisor = divisor << shift;
    let high = high << shift | (low >> 1) >> (63 - shift);
    let (next, last) = digits(low << shift);
    let (upper, rest) = quotient_digit(high, next, divisor);
    let (lower, _) = quotient_digit(rest, last, divisor);
    upper << 32 | lower
}

/// Returns the digit `(rest × 2^32 + next) / divisor` and the remainder, for `rest < divisor` and a divisor with its highest bit set.
fn quotient_digit(rest: u64, next: u64, divisor: u64) -> (u64, u64) {
    let (first, second) = digits(divisor);
    // This bit is already set. It shows the compiler that the divisor is not zero.
    let first = first | 0x8000_0000;
    let (mut digit, mut left) = (rest / first, rest % first);
    // The estimate is too large by two at most.
    for _ in 0..2 {
        if left <= 0xFFFF_FFFF && (digit > 0xFFFF_FFFF || digit * second > (left << 32 | next)) {
            digit -= 1;
            left += first;
        }
    }
    (digit, (rest << 32 | next).wrapping_sub(digit.wrapping_mul(divisor)))
}

/// A number of 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Wide {
    // The fields are in order of weight, so that the derived order is that of the numbers.
    high: u64,
    low: u64,
}

impl Wide {
    const MAX: Self = Self { high: u64::MAX, low: u64::MAX };

    /// Returns `one × other`.
    #[inline]
    pub(crate) const fn product(one: u64, other: u64) -> Self {
        let ((a, b), (c, d)) = (digits(one), digits(other));
        let (one_cross, other_cross, (carry, last)) = (digits(a * d), digits(b * c), digits(b * d));
        let (carry, third) = digits(one_cross.1 + other_cross.1 + carry);
        Self { high: a * c + one_cross.0 + other_cross.0 + carry, low: third << 32 | last }
    }

    /// Returns the sum, or the greatest number.
    pub(crate) fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        match self.high.checked_add(other.high).and_then(|high| high.checked_add(u64::from(carry))) {
            Some(high) => Self { high, low },
            None => Self::MAX,
        }
    }

    /// Returns the product, or the greatest number.
    pub(crate) fn times(self, factor: u64) -> Self {
        let (low, high) = (Self::product(self.low, factor), Self::product(self.high, factor));
        if high.high > 0 { Self::MAX } else { low.plus(Self { high: high.low, low: 0 }) }
    }

    /// Returns the quotient, rounded down.
    pub(crate) fn over(self, divisor: u64) -> Self {
        let (high, rest) = divide(Self { high: 0, low: self.high }, divisor);
        let (low, _) = divide(Self { high: rest, low: self.low }, divisor);
        Self { high, low }
    }

    /// Returns the number, or the greatest 64-bit number if it does not fit.
    #[inline]
    pub(crate) const fn capped(self) -> u64 {
        if self.high > 0 { u64::MAX } else { self.low }
    }

    /// Returns the upper and the lower 64 bits.
    #[cfg(test)]
    pub(crate) fn halves(self) -> (u64, u64) {
        (self.high, self.low)
    }
}
