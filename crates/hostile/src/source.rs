//! Choices made of arbitrary bytes.

/// Bytes that decide choices; zeros once they have run out.
#[derive(Clone, Debug)]
pub struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    /// Decides by these bytes, from the first on.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether no byte is left.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Two bytes.
    pub fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// Four bytes.
    pub fn word(&mut self) -> u32 {
        u32::from(self.short()) << 16 | u32::from(self.short())
    }

    /// Less than `bound`, which is at least 1.
    pub fn below(&mut self, bound: u16) -> u16 {
        if bound <= 256 { u16::from(self.byte()) % bound } else { self.short() % bound }
    }

    /// Yes, once in `times`; no when nothing is left.
    pub fn once_in(&mut self, times: u8) -> bool {
        self.byte() % times == times - 1
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.below(u16::try_from(from.len()).unwrap_or(u16::MAX)))]
    }

    /// A number of any size, small ones as likely as large ones: a byte shifted by up to 40 bits.
    pub fn wide(&mut self) -> u64 {
        let shift = self.byte() % 41;
        u64::from(self.byte()) << shift
    }
}
