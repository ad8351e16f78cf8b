//! Converts sequence numbers, which have 32 bits on the wire, to stream offsets of 64 bits and back.

/// Returns the sequence number of a stream offset. The SYN has the initial sequence number `initial`; offset 0 is the number after it.
#[expect(clippy::cast_possible_truncation, reason = "sequence space is modulo 2^32")]
pub(crate) fn wrap(initial: u32, offset: u64) -> u32 {
    initial.wrapping_add(1).wrapping_add(offset as u32)
}

/// Returns the signed distance of a sequence number from the stream offset `near`. Of the possible distances modulo 2^32, it is the
/// shortest.
#[expect(clippy::cast_possible_wrap, reason = "the difference is taken modulo 2^32")]
pub(crate) fn distance(initial: u32, sequence: u32, near: u64) -> i64 {
    i64::from(sequence.wrapping_sub(wrap(initial, near)) as i32)
}

/// Returns the stream offset of a sequence number. Of the possible offsets, it is the one closest to `near`. `None` if it lies before the
/// stream's beginning.
pub(crate) fn unwrap(initial: u32, sequence: u32, near: u64) -> Option<u64> {
    near.checked_add_signed(distance(initial, sequence, near))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_syn_lies_before_the_stream() {
        assert_eq!(unwrap(7, 7, 0), None);
        assert_eq!(unwrap(7, 8, 0), Some(0));
    }

    proptest! {
        #[test]
        fn unwrapping_undoes_wrapping_within_two_gigabytes(
            initial: u32, offset in 0u64..1 << 40, step in -0x7fff_ffffi64..0x7fff_ffff,
        ) {
            if let Some(near) = offset.checked_add_signed(step) {
                prop_assert_eq!(unwrap(initial, wrap(initial, offset), near), Some(offset));
            }
        }
    }
}
