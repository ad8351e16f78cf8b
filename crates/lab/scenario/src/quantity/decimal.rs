//! Decimal numbers, stored exactly as they were written.

/// A non-negative decimal number, stored exactly: `mantissa × 10^-scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    pub(super) mantissa: u128,
    pub(super) scale: u32,
}

impl Decimal {
    /// Returns this whole number as a decimal number.
    pub const fn whole(value: u64) -> Self {
        Self { mantissa: value as u128, scale: 0 }
    }

    /// Returns this number of tenths as a decimal number.
    pub const fn tenths(value: u64) -> Self {
        Self { mantissa: value as u128, scale: 1 }
    }

    /// Returns `value × factor`, rounded to the nearest whole number, halves up; `None` on overflow.
    pub fn times(self, factor: u64) -> Option<u64> {
        self.ratio(u128::from(factor), 1)
    }

    /// Returns `value × num / den`, rounded to the nearest whole number, halves up; `None` on overflow or if `den` is 0.
    pub fn ratio(self, num: u128, den: u128) -> Option<u64> {
        let den = 10u128.checked_pow(self.scale)?.checked_mul(den)?;
        let product = self.mantissa.checked_mul(num)?;
        let quotient = product.checked_div(den)?;
        let up = product % den >= den.div_ceil(2);
        u64::try_from(quotient + u128::from(up)).ok()
    }

    /// Returns the whole part; `None` on overflow.
    pub fn floor(self) -> Option<u64> {
        u64::try_from(self.mantissa / 10u128.checked_pow(self.scale)?).ok()
    }

    /// Returns the number without trailing zeros, so that equal numbers are equal values.
    pub(super) fn reduced(mut self) -> Self {
        while self.scale > 0 && self.mantissa.is_multiple_of(10) {
            self.mantissa /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Checks whether the number is zero.
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Returns the number as a percentage: `0.5 %`.
    pub(crate) fn in_percent(self) -> String {
        format!("{} %", Self { mantissa: self.mantissa.saturating_mul(100), ..self })
    }

    /// Returns the number as the shortest percentage that reads back: `0.5%`.
    pub(crate) fn percent(self) -> String {
        format!("{}%", Self { mantissa: self.mantissa.saturating_mul(100), ..self })
    }

    /// Returns one minus the number; zero if the number is above one.
    pub(crate) fn rest(self) -> Self {
        let one = 10u128.checked_pow(self.scale).unwrap_or(u128::MAX);
        Self { mantissa: one.saturating_sub(self.mantissa), ..self }.reduced()
    }

    /// Returns the nearest double.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub fn to_f64(self) -> f64 {
        let den = 10u128.checked_pow(self.scale).unwrap_or(u128::MAX);
        self.mantissa as f64 / den as f64
    }
}

impl std::fmt::Display for Decimal {
    /// Writes the shortest decimal form.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = self.mantissa.to_string();
        let scale = self.scale as usize;
        if scale == 0 {
            return f.write_str(&digits);
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() { f.write_str(whole) } else { write!(f, "{whole}.{fraction}") }
    }
}
