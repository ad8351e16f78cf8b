//! Decodes frames of Linux netfilter's log (link type 239). A frame has a header of four bytes, then attributes. Each attribute has a
//! length, a type and a value, and is padded to four bytes. Lengths and types are in the byte order of the logging host, which the file
//! does not give.

use std::ops::Range;

/// Length of the header in bytes: address family, version, group.
const HEADER: usize = 4;
/// Length of an attribute's length and type fields in bytes. The length field includes them.
const ATTRIBUTE: usize = 4;

/// Types of attributes (`nfnetlink_log.h`).
const PACKET_HEADER: u16 = 1;
const IN_INTERFACE: u16 = 4;
const OUT_INTERFACE: u16 = 5;
const PAYLOAD: u16 = 9;

/// Iterates over the complete attributes and, if the capture truncated the last one, the rest of it.
struct Attributes<'a> {
    frame: &'a [u8],
    at: usize,
    read: fn([u8; 2]) -> u16,
}

impl<'a> Attributes<'a> {
    /// Reads the attributes of a frame of version 0. Tries both byte orders and uses the one that makes the first type smaller, because all
    /// types are below 256.
    fn new(frame: &'a [u8]) -> Option<Self> {
        let [_, version, ..] = *frame.first_chunk::<HEADER>()?;
        let kind = two(frame, HEADER + 2)?;
        let read = if u16::from_le_bytes(kind) <= u16::from_be_bytes(kind) {
            u16::from_le_bytes
        } else {
            u16::from_be_bytes
        };
        (version == 0).then_some(Self { frame, at: HEADER, read })
    }
}

impl Iterator for Attributes<'_> {
    /// An attribute's type, and the range of its value in the frame.
    type Item = (u16, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let [length, kind] = [0, 2].map(|more| two(self.frame, self.at + more).map(self.read));
        let length = usize::from(length?);
        if length < ATTRIBUTE {
            return None;
        }
        let value = self.at + ATTRIBUTE..(self.at + length).min(self.frame.len());
        self.at += length.next_multiple_of(4);
        Some((kind?, value))
    }
}

/// Returns the offset of the packet in the frame; `None` if it has no packet.
pub(super) fn payload(frame: &[u8]) -> Option<usize> {
    Attributes::new(frame)?.find(|(kind, _)| *kind == PAYLOAD).map(|(_, value)| value.start)
}

/// Returns the hook at which the packet was logged, and the index of its input interface or else of its output interface.
pub(super) fn capture_point(frame: &[u8]) -> (u8, u32) {
    let mut seen = (0, 0);
    for (kind, value) in Attributes::new(frame).into_iter().flatten().take_while(|(kind, _)| *kind != PAYLOAD)
    {
        let value = &frame[value];
        match kind {
            PACKET_HEADER => seen.0 = value.get(2).copied().unwrap_or(0),
            // A forwarded packet that is logged between two interfaces has both attributes. The first one is used.
            IN_INTERFACE | OUT_INTERFACE if seen.1 == 0 => {
                seen.1 = value.first_chunk().copied().map_or(0, u32::from_be_bytes);
            }
            _ => {}
        }
    }
    seen
}

fn two(frame: &[u8], at: usize) -> Option<[u8; 2]> {
    frame.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(order: fn(u16) -> [u8; 2], kind: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(value.len() + ATTRIBUTE).unwrap();
        let padding = vec![0; value.len().next_multiple_of(4) - value.len()];
        [&order(length)[..], &order(kind), value, &padding].concat()
    }

    #[test]
    fn nflog_packets_are_parsed_in_both_byte_orders_with_hook_and_interface() {
        for order in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            let frame = [
                vec![2, 0, 0, 5],
                attribute(order, PACKET_HEADER, &[8, 0, 3, 0]),
                attribute(order, 10, b"log\0\0"),
                attribute(order, OUT_INTERFACE, &[0, 0, 0, 7]),
                attribute(order, PAYLOAD, &[0x45, 0]),
            ]
            .concat();
            assert_eq!((payload(&frame), capture_point(&frame)), (Some(frame.len() - 4), (3, 7)));
        }
    }

    #[test]
    fn a_log_without_a_packet_is_left_alone() {
        let header = attribute(u16::to_le_bytes, PACKET_HEADER, &[8, 0, 3, 0]);
        let whole = [&[2, 0, 0, 5][..], &header].concat();
        for frame in [&whole[..], &whole[..7], &[2, 0, 0, 5, 0, 0, 0, 0], &[2, 1, 0, 5, 8, 0, 1, 0], &[2]] {
            assert_eq!(payload(frame), None, "{frame:?}");
        }
    }
}
