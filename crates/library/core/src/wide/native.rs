//! 128-bit arithmetic with the compiler's 128-bit integers.

/// Returns `one × other`, or the greatest number if the product does not fit 64 bits.
#[inline]
pub(crate) const fn product(one: u64, other: u64) -> u64 {
    one.saturating_mul(other)
}

/// Returns `one × other`; `None` if the product does not fit 64 bits.
#[inline]
pub(crate) const fn exact(one: u64, other: u64) -> Option<u64> {
    one.checked_mul(other)
}

/// `one × other / divisor`, rounded down, for products that do not fit 64 bits.
// Most products fit, and their division is one instruction.
#[cold]
pub(crate) fn long_mul_div(one: u64, other: u64, divisor: u64) -> u64 {
    Wide::product(one, other).over(divisor).capped()
}

/// `one × other / divisor`, rounded up, for products that do not fit 64 bits.
#[cold]
pub(crate) fn long_mul_div_up(one: u64, other: u64, divisor: u64) -> u64 {
    Wide(Wide::product(one, other).0.div_ceil(u128::from(divisor.max(1)))).capped()
}

/// A number of 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Wide(u128);

impl Wide {
    /// Returns `one × other`.
    #[inline]
    pub(crate) fn product(one: u64, other: u64) -> Self {
        Self(u128::from(one) * u128::from(other))
    }

    /// Returns the sum, or the greatest number.
    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the product, or the greatest number.
    #[inline]
    pub(crate) fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(u128::from(factor)))
    }

    /// Returns the quotient, rounded down.
    #[inline]
    pub(crate) fn over(self, divisor: u64) -> Self {
        Self(self.0 / u128::from(divisor.max(1)))
    }

    /// Returns the number, or the greatest 64-bit number if it does not fit.
    #[inline]
    pub(crate) fn capped(self) -> u64 {
        u64::try_from(self.0).unwrap_or(u64::MAX)
    }

    /// Returns the upper and the lower 64 bits.
    #[cfg(test)]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
    pub(crate) fn halves(self) -> (u64, u64) {
        ((self.0 >> u64::BITS) as u64, self.0 as u64)
    }
}

#[cfg(test)]
impl From<u128> for Wide {
    fn from(number: u128) -> Self {
        Self(number)
    }
}
