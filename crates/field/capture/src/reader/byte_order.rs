//! The byte order of a capture file, and the numbers in it.

/// The byte order of a file or section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// Returns the number at byte `at`. Returns zero past the end; callers check the length before.
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let two = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        if self == Self::Little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) }
    }

    /// Returns the number at byte `at`. Returns zero past the end; callers check the length before.
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        if self == Self::Little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }
    }

    /// Returns the number at byte `at`. Returns zero past the end; callers check the length before.
    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let eight = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        if self == Self::Little { u64::from_le_bytes(eight) } else { u64::from_be_bytes(eight) }
    }
}
