//! Choices that arbitrary bytes determine.

/// Bytes that determine choices. When no bytes are left, it returns zeros.
#[derive(Clone, Debug)]
pub struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    /// Makes a source of these bytes, which are used in order.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns whether no byte is left.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns the next two bytes as a number.
    pub fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// Returns the next four bytes as a number.
    pub fn word(&mut self) -> u32 {
        u32::from(self.short()) << 16 | u32::from(self.short())
    }

    /// Returns a number less than `bound`, which is at least 1.
    pub fn below(&mut self, bound: u16) -> u16 {
        if bound <= 256 { u16::from(self.byte()) % bound } else { self.short() % bound }
    }

    /// Returns `true` for one in `times` bytes; `false` when no bytes are left.
    pub fn once_in(&mut self, times: u8) -> bool {
        self.byte() % times == times - 1
    }

    /// Returns one of these values.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.below(u16::try_from(from.len()).unwrap_or(u16::MAX)))]
    }

    /// Returns a number of any size: a byte shifted by up to 40 bits. Small numbers are as likely as large ones.
    pub fn wide(&mut self) -> u64 {
        let shift = self.byte() % 41;
        u64::from(self.byte()) << shift
    }
}
