//! Windows in 32 bits, for state that must fit a socket's private area.

use core::num::NonZeroU32;

use crate::units::Bytes;

/// A number of bytes below 4 GiB. Larger numbers saturate at 4 GiB less 2 bytes, four times the largest window of TCP
/// (RFC 7323 section 2.3). The largest `u32` is reserved, so that an `Option` of this type is no larger than the
/// type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes32(NonZeroU32);

impl Bytes32 {
    pub(crate) const ZERO: Self = Self::from_u32(0);

    pub(crate) const fn from_u32(bytes: u32) -> Self {
        match NonZeroU32::new(!bytes) {
            Some(complement) => Self(complement),
            None => Self(NonZeroU32::MIN),
        }
    }

    pub(crate) const fn wide(self) -> Bytes {
        Bytes::new(!self.0.get() as u64)
    }
}

impl Default for Bytes32 {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<Bytes> for Bytes32 {
    fn from(bytes: Bytes) -> Self {
        Self::from_u32(u32::try_from(bytes.get()).unwrap_or(u32::MAX))
    }
}

impl core::fmt::Debug for Bytes32 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.wide().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_up_to_four_gibibytes_are_exact_and_larger_ones_saturate() {
        for bytes in [0, 1, 1460, 1 << 30, u64::from(u32::MAX) - 1] {
            assert_eq!(Bytes32::from(Bytes::new(bytes)).wide(), Bytes::new(bytes));
        }
        assert_eq!(Bytes32::from(Bytes::MAX).wide().get(), u64::from(u32::MAX) - 1);
        assert_eq!(size_of::<Option<Bytes32>>(), 4);
    }
}
