//! Writes TCP options in Linux's layout, and reads them in any layout.

use core::num::NonZeroU16;

use firstflight_tcp::{SackBlock, Segment, Timestamps};
use thiserror::Error;

use crate::quick_start;

const END: u8 = 0;
const NOP: u8 = 1;
/// Maximum segment size (RFC 9293 section 3.7.1).
const MSS: u8 = 2;
/// Window scale (RFC 7323 section 2.2).
const WINDOW_SCALE: u8 = 3;
/// SACK permitted (RFC 2018 section 2).
const SACK_PERMITTED: u8 = 4;
/// SACK blocks (RFC 2018 section 3).
const SACK: u8 = 5;
/// Timestamps (RFC 7323 section 3.2).
const TIMESTAMPS: u8 = 8;

/// Maximum bytes of options in a TCP header (RFC 9293 section 3.1: a data offset of 15 words).
pub(crate) const MAX_LENGTH: usize = 40;

/// The reason why a TCP option cannot be read. Offsets count from the packet's first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum OptionError {
    /// The header ends after an option's kind, before its length.
    #[error("TCP option {kind} at byte {at} has no length: the header ends there")]
    NoLength {
        /// The option's kind.
        kind: u8,
        /// The option's offset.
        at: usize,
    },
    /// An option's length reaches past the end of the header, or is less than the two bytes of kind and length.
    #[error("TCP option {kind} at byte {at} says {length} bytes; {left} are left in the header")]
    Overrun {
        /// The option's kind.
        kind: u8,
        /// The option's offset.
        at: usize,
        /// The option's length field.
        length: u8,
        /// Bytes from its kind to the end of the header.
        left: usize,
    },
    /// An option's length is not allowed for its kind.
    #[error("TCP option {kind} at byte {at} says {length} bytes; its kind takes {allowed}")]
    Length {
        /// The option's kind.
        kind: u8,
        /// The option's offset.
        at: usize,
        /// The option's length field.
        length: u8,
        /// The lengths allowed.
        allowed: &'static str,
    },
}

/// Appends the options of `segment` to `out`, in Linux's order and alignment: [`Segment::options_length`] bytes.
pub(crate) fn write(segment: &Segment, out: &mut Vec<u8>) {
    if let Some(mss) = segment.mss {
        out.extend([MSS, 4]);
        out.extend(mss.get().to_be_bytes());
    }
    match (segment.sack_permitted, segment.timestamps) {
        (true, Some(_)) => out.extend([SACK_PERMITTED, 2]),
        (true, None) => out.extend([NOP, NOP, SACK_PERMITTED, 2]),
        (false, Some(_)) => out.extend([NOP, NOP]),
        (false, None) => {}
    }
    if let Some(Timestamps { value, echo }) = segment.timestamps {
        out.extend([TIMESTAMPS, 10]);
        out.extend(value.to_be_bytes());
        out.extend(echo.to_be_bytes());
    }
    if let Some(shift) = segment.window_scale {
        out.extend([NOP, WINDOW_SCALE, 3, shift]);
    }
    if let Some(response) = segment.quick_start.response() {
        out.extend(quick_start::to_tcp(&response));
    }
    let blocks = segment.sack_blocks();
    if !blocks.is_empty() {
        // At most four blocks: 34 bytes.
        let length = u8::try_from(2 + 8 * blocks.len()).unwrap_or(u8::MAX);
        out.extend([NOP, NOP, SACK, length]);
        for block in blocks {
            out.extend(block.start.to_be_bytes());
            out.extend(block.end.to_be_bytes());
        }
    }
}

/// Reads `options` into `segment`. `at` is the offset of their first byte in the packet, for errors. Unknown kinds are ignored (RFC 9293
/// section 3.1, MUST-6). If a kind occurs twice, the last option is used, as in Linux. An MSS of zero is ignored.
///
/// # Errors
/// The first option that cannot be read. `segment` then has the options before it.
pub fn read(options: &[u8], at: usize, segment: &mut Segment) -> Result<(), OptionError> {
    let mut rest = options;
    while let [kind, tail @ ..] = rest {
        let here = at + options.len() - rest.len();
        match *kind {
            END => return Ok(()),
            NOP => rest = tail,
            kind => {
                let [length, ..] = tail else {
                    return Err(OptionError::NoLength { kind, at: here });
                };
                let end = usize::from(*length);
                let Some(body) = rest.get(2..end) else {
                    return Err(OptionError::Overrun { kind, at: here, length: *length, left: rest.len() });
                };
                if let Err(allowed) = read_one(kind, body, segment) {
                    return Err(OptionError::Length { kind, at: here, length: *length, allowed });
                }
                rest = &rest[end..];
            }
        }
    }
    Ok(())
}

/// Reads one option from `body`, its bytes after kind and length. The error lists the lengths that this kind allows.
fn read_one(kind: u8, body: &[u8], segment: &mut Segment) -> Result<(), &'static str> {
    match kind {
        MSS => {
            let [a, b] = *body else { return Err("4") };
            segment.mss = NonZeroU16::new(u16::from_be_bytes([a, b]));
        }
        WINDOW_SCALE => {
            let [shift] = *body else { return Err("3") };
            segment.window_scale = Some(shift);
        }
        SACK_PERMITTED => {
            let [] = *body else { return Err("2") };
            segment.sack_permitted = true;
        }
        TIMESTAMPS => {
            let ([value, echo], []) = body.as_chunks() else { return Err("10") };
            segment.timestamps =
                Some(Timestamps { value: u32::from_be_bytes(*value), echo: u32::from_be_bytes(*echo) });
        }
        SACK => {
            let (blocks @ [_, ..], []) = body.as_chunks::<8>() else { return Err("10, 18, 26 or 34") };
            let Some(places) = segment.sack.get_mut(..blocks.len()) else { return Err("10, 18, 26 or 34") };
            for (place, [a, b, c, d, e, f, g, h]) in places.iter_mut().zip(blocks) {
                *place = SackBlock {
                    start: u32::from_be_bytes([*a, *b, *c, *d]),
                    end: u32::from_be_bytes([*e, *f, *g, *h]),
                };
            }
            segment.sack[blocks.len()..].fill(SackBlock::default());
            segment.sack_count = u8::try_from(blocks.len()).unwrap_or(0);
        }
        quick_start::TCP_KIND => {
            let Ok(body) = body.try_into() else { return Err("8") };
            segment.quick_start.set_response(Some(quick_start::from_tcp_body(body)));
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick_start::{Nonce, Options, RateCode, Response};

    fn written(segment: &Segment) -> Vec<u8> {
        let mut out = Vec::new();
        write(segment, &mut out);
        assert_eq!(out.len(), usize::try_from(segment.options_length()).unwrap());
        out
    }

    fn syn() -> Segment {
        Segment {
            mss: NonZeroU16::new(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 }),
            ..Segment::default()
        }
    }

    #[test]
    fn a_syn_carries_its_options_in_the_order_of_linux() {
        assert_eq!(
            written(&syn()),
            [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7] // RFC 7323 appendix A
        );
        assert_eq!(written(&Segment { timestamps: None, mss: None, ..syn() }), [1, 1, 4, 2, 1, 3, 3, 7]);
    }

    #[test]
    fn timestamps_and_sack_blocks_are_aligned_to_words() {
        let mut segment = Segment { timestamps: syn().timestamps, sack_count: 1, ..Segment::default() };
        segment.sack[0] = SackBlock { start: 9, end: 0xFFFF_FFFF };
        assert_eq!(
            written(&segment),
            [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 10, 0, 0, 0, 9, 255, 255, 255, 255]
        );
    }

    #[test]
    fn a_response_stands_before_the_sack_blocks() {
        let response = Some(Response { rate: RateCode::MAX, ttl_diff: 54, nonce: Nonce::new(0x2AAA_AAA9) });
        let quick_start = Options::new(None, response);
        let mut segment = Segment { quick_start, sack_count: 1, ..Segment::default() };
        segment.sack[0] = SackBlock { start: 9, end: 0xFFFF_FFFF };
        let bytes = written(&segment);
        assert_eq!(
            bytes,
            [27, 8, 0x0F, 54, 0xAA, 0xAA, 0xAA, 0xA4, 1, 1, 5, 10, 0, 0, 0, 9, 255, 255, 255, 255]
        );
        assert_eq!(read_bytes(&bytes), Ok(segment));
        assert_eq!(
            read_bytes(&[27, 4, 0, 0]),
            Err(OptionError::Length { kind: 27, at: 40, length: 4, allowed: "8" })
        );
    }

    fn read_bytes(options: &[u8]) -> Result<Segment, OptionError> {
        let mut segment = Segment::default();
        read(options, 40, &mut segment).map(|()| segment)
    }

    #[test]
    fn unknown_options_are_passed_over_and_nothing_is_read_after_the_end() {
        let found = read_bytes(&[99, 8, 1, 2, 3, 4, 5, 6, 3, 3, 9, 0, 2, 4, 5, 180]).unwrap();
        assert_eq!((found.window_scale, found.mss), (Some(9), None));
    }

    #[test]
    fn the_last_of_a_repeated_option_counts() {
        let two = [5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
        let one = [5, 10, 0, 0, 0, 5, 0, 0, 0, 6];
        let found = read_bytes(&[&two[..], &one[..]].concat()).unwrap();
        assert_eq!(found.sack_blocks(), [SackBlock { start: 5, end: 6 }]);
        assert_eq!(found.sack[1], SackBlock::default());
    }

    #[test]
    fn an_option_that_cannot_be_read_is_named_with_its_place() {
        assert_eq!(read_bytes(&[1, 1, 8]), Err(OptionError::NoLength { kind: 8, at: 42 }));
        assert_eq!(
            read_bytes(&[1, 8, 10, 0]),
            Err(OptionError::Overrun { kind: 8, at: 41, length: 10, left: 3 })
        );
        assert_eq!(
            read_bytes(&[99, 1, 0, 0]),
            Err(OptionError::Overrun { kind: 99, at: 40, length: 1, left: 4 })
        );
        assert_eq!(
            read_bytes(&[2, 3, 0, 0]),
            Err(OptionError::Length { kind: 2, at: 40, length: 3, allowed: "4" })
        );
        assert_eq!(
            read_bytes(&[5, 2, 0, 0]),
            Err(OptionError::Length { kind: 5, at: 40, length: 2, allowed: "10, 18, 26 or 34" })
        );
    }
}
