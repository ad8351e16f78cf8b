//! Reads the newer capture format, pcapng, which consists of blocks (draft-ietf-opsawg-pcapng). Reads packets, interfaces and interface
//! statistics, and skips other blocks.

use std::io::Read;

use super::byte_order::ByteOrder;
use super::error::{Cut, ReadError};
use super::record::{LARGEST_FRAME, Step};
use super::source::Source;
use crate::link::Link;

/// Block type of a section header. It reads the same in both byte orders.
pub(super) const SECTION: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
/// Magic number of a section header. It follows the length and shows the section's byte order.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

/// Length of a block's type and length fields, which precede its body. The length field is repeated after the body.
const BEFORE: usize = 8;
const AROUND: u32 = 12;

/// Maximum number of interfaces of a section. A file with more would be an attempt to exhaust memory.
const MAX_INTERFACES: usize = 65_536;

#[derive(Debug)]
pub(super) struct Pcapng {
    order: ByteOrder,
    interfaces: Vec<Interface>,
    /// Number of packets that the interfaces of earlier sections did not capture.
    dropped_before: u64,
    timeless: u64,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Option<Link>,
    resolution: Resolution,
    /// Number of seconds to add to every timestamp.
    offset: i64,
    /// Number of packets that the interface did not capture, from its latest statistics.
    dropped: u64,
}

/// Number of timestamp units in a second (`if_tsresol`).
#[derive(Clone, Copy, Debug)]
enum Resolution {
    /// 10^n units in a second.
    Decimal(u32),
    /// 2^n units in a second.
    Binary(u32),
}

impl Default for Pcapng {
    fn default() -> Self {
        Self { order: ByteOrder::Little, interfaces: Vec::new(), dropped_before: 0, timeless: 0 }
    }
}

impl Pcapng {
    pub(super) fn timeless(&self) -> u64 {
        self.timeless
    }

    pub(super) fn dropped(&self) -> u64 {
        let dropped = self.interfaces.iter().map(|interface| interface.dropped);
        dropped.fold(self.dropped_before, u64::saturating_add)
    }

    pub(super) fn step<R: Read>(&mut self, source: &mut Source<R>) -> Result<Step, ReadError> {
        let at = source.offset();
        let bytes = source.peek(BEFORE + 4)?;
        if bytes.is_empty() {
            return Ok(Step::End);
        }
        if bytes.len() < BEFORE + 4 {
            return Ok(Step::Cut(Cut { at, found: bytes.len() as u64, needed: (BEFORE + 4) as u64 }));
        }
        let is_section = bytes.starts_with(&SECTION);
        if is_section {
            self.order = match (ByteOrder::Big.u32(bytes, BEFORE), ByteOrder::Little.u32(bytes, BEFORE)) {
                (BYTE_ORDER, _) => ByteOrder::Big,
                (_, BYTE_ORDER) => ByteOrder::Little,
                (other, _) => {
                    let what = format!(
                        "the section's byte-order magic is {other:08x}; 1a2b3c4d or 4d3c2b1a is allowed"
                    );
                    return Err(ReadError::format(at + 8, what));
                }
            };
        }
        let (kind, length) = (self.order.u32(bytes, 0), self.order.u32(bytes, 4));
        if length < AROUND || !length.is_multiple_of(4) {
            let what =
                format!("the block says it has {length} bytes; a multiple of 4 from {AROUND} on is allowed");
            return Err(ReadError::format(at + 4, what));
        }
        if !is_section && ![INTERFACE, OLD_PACKET, SIMPLE_PACKET, STATISTICS, PACKET].contains(&kind) {
            return Ok(Step::Skip(u64::from(length)));
        }
        if length > LARGEST_FRAME {
            let what = format!("the block says it has {length} bytes; at most {LARGEST_FRAME} are allowed");
            return Err(ReadError::format(at + 4, what));
        }
        let whole = length as usize;
        let bytes = source.peek(whole)?;
        if bytes.len() < whole {
            return Ok(Step::Cut(Cut { at, found: bytes.len() as u64, needed: u64::from(length) }));
        }
        let again = self.order.u32(bytes, whole - 4);
        if again != length {
            let what = format!("the block's length is {length} before its body and {again} behind it");
            return Err(ReadError::format(at + u64::from(length) - 4, what));
        }
        let body = &bytes[BEFORE..whole - 4];
        let block = Block { at, body, order: self.order };
        if is_section {
            self.section(block)?;
            return Ok(Step::Skip(u64::from(length)));
        }
        match kind {
            INTERFACE => self.interface(block)?,
            STATISTICS => self.statistics(block)?,
            SIMPLE_PACKET => self.timeless += 1,
            _ => return self.packet(block, kind == OLD_PACKET),
        }
        Ok(Step::Skip(u64::from(length)))
    }

    fn section(&mut self, block: Block<'_>) -> Result<(), ReadError> {
        block.at_least(16, "a section header")?;
        let major = self.order.u16(block.body, 4);
        if major != 1 {
            return Err(ReadError::format(
                block.at + 12,
                format!("pcapng version {major} is not known; 1 is"),
            ));
        }
        self.dropped_before = self.dropped();
        self.interfaces.clear();
        Ok(())
    }

    fn interface(&mut self, block: Block<'_>) -> Result<(), ReadError> {
        block.at_least(8, "an interface description")?;
        if self.interfaces.len() == MAX_INTERFACES {
            let what = format!("the section has more than {MAX_INTERFACES} interfaces");
            return Err(ReadError::format(block.at, what));
        }
        let mut interface = Interface {
            link: Link::of(u32::from(self.order.u16(block.body, 0))),
            resolution: Resolution::Decimal(6),
            offset: 0,
            dropped: 0,
        };
        block.options(8, |code, value| match (code, value) {
            (9, &[resolution, ..]) => {
                let power = u32::from(resolution & 0x7F);
                interface.resolution = if resolution & 0x80 == 0 {
                    Resolution::Decimal(power)
                } else {
                    Resolution::Binary(power)
                };
            }
            (14, [_, _, _, _, _, _, _, _]) => interface.offset = block.order.u64(value, 0).cast_signed(),
            _ => {}
        })?;
        self.interfaces.push(interface);
        Ok(())
    }

    fn statistics(&mut self, block: Block<'_>) -> Result<(), ReadError> {
        block.at_least(12, "interface statistics")?;
        let mut dropped = 0_u64;
        block.options(12, |code, value| {
            // Codes of isb_ifdrop and isb_osdrop.
            if matches!(code, 5 | 7) && value.len() == 8 {
                dropped = dropped.saturating_add(block.order.u64(value, 0));
            }
        })?;
        let number = self.order.u32(block.body, 0) as usize;
        if let Some(interface) = self.interfaces.get_mut(number) {
            interface.dropped = dropped;
        }
        Ok(())
    }

    fn packet(&mut self, block: Block<'_>, is_old: bool) -> Result<Step, ReadError> {
        block.at_least(20, "a packet")?;
        let body = block.body;
        let number =
            if is_old { u32::from(self.order.u16(body, 0)) } else { self.order.u32(body, 0) } as usize;
        let Some(interface) = self.interfaces.get(number) else {
            let what =
                format!("the packet is of interface {number}; {} are described", self.interfaces.len());
            return Err(ReadError::format(block.at + 8, what));
        };
        let time = u64::from(self.order.u32(body, 4)) << 32 | u64::from(self.order.u32(body, 8));
        let (kept, original) = (self.order.u32(body, 12), self.order.u32(body, 16));
        let room = body.len() - 20;
        if kept as usize > room {
            let what = format!("the packet says it has {kept} bytes; its block has room for {room}");
            return Err(ReadError::format(block.at + 20, what));
        }
        let from = BEFORE + 20;
        Ok(Step::Frame {
            at: interface.nanos(time),
            link: interface.link,
            interface: u32::try_from(number).unwrap_or(u32::MAX),
            data: from..from + kept as usize,
            original: original.max(kept),
            consume: body.len() + AROUND as usize,
        })
    }
}

impl Interface {
    /// Converts a timestamp to nanoseconds since 1970, limited to the range of 64 bits.
    fn nanos(&self, time: u64) -> u64 {
        let time = u128::from(time);
        let nanos = match self.resolution {
            Resolution::Decimal(power @ 0..=9) => time * 10_u128.pow(9 - power),
            // If 10^(power - 9) overflows, a nanosecond has more units than any 64-bit time, so the result is zero.
            Resolution::Decimal(power) => 10_u128.checked_pow(power - 9).map_or(0, |unit| time / unit),
            Resolution::Binary(power) => (time * 1_000_000_000).checked_shr(power).unwrap_or(0),
        };
        let offset = i128::from(self.offset) * 1_000_000_000;
        let sum = i128::try_from(nanos).unwrap_or(i128::MAX).saturating_add(offset);
        u64::try_from(sum.max(0)).unwrap_or(u64::MAX)
    }
}

/// A block's body, and the block's offset in the file.
#[derive(Clone, Copy)]
struct Block<'a> {
    at: u64,
    body: &'a [u8],
    order: ByteOrder,
}

impl Block<'_> {
    fn at_least(self, bytes: usize, what: &str) -> Result<(), ReadError> {
        if self.body.len() >= bytes {
            return Ok(());
        }
        let found = self.body.len();
        Err(ReadError::format(self.at + 4, format!("{what} takes {bytes} bytes; the block has {found}")))
    }

    /// Calls `each` for every option from byte `from` of the body on.
    fn options(self, from: usize, mut each: impl FnMut(u16, &[u8])) -> Result<(), ReadError> {
        let mut at = from;
        while let Some(rest) = self.body.get(at..).filter(|rest| rest.len() >= 4) {
            let (code, length) = (self.order.u16(rest, 0), usize::from(self.order.u16(rest, 2)));
            if code == 0 {
                break;
            }
            let Some(value) = rest.get(4..4 + length) else {
                let place = self.at + (BEFORE + at) as u64;
                let left = rest.len() - 4;
                let what = format!("option {code} says it has {length} bytes; {left} are left in its block");
                return Err(ReadError::format(place, what));
            };
            each(code, value);
            at += 4 + length.next_multiple_of(4);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(resolution: Resolution, offset: i64, time: u64) -> u64 {
        Interface { link: None, resolution, offset, dropped: 0 }.nanos(time)
    }

    #[test]
    fn times_come_in_the_resolution_of_their_interface() {
        assert_eq!(nanos(Resolution::Decimal(6), 0, 1_500_000), 1_500_000_000);
        assert_eq!(nanos(Resolution::Decimal(9), 0, 7), 7);
        assert_eq!(nanos(Resolution::Decimal(12), 0, 7_999), 7);
        assert_eq!(nanos(Resolution::Decimal(127), 0, u64::MAX), 0);
        assert_eq!(nanos(Resolution::Binary(10), 0, 1536), 1_500_000_000);
        assert_eq!(nanos(Resolution::Binary(127), 0, u64::MAX), 0);
        assert_eq!(nanos(Resolution::Decimal(0), 0, u64::MAX), u64::MAX);
    }

    #[test]
    fn an_offset_moves_times_and_never_below_zero() {
        assert_eq!(nanos(Resolution::Decimal(9), 2, 5), 2_000_000_005);
        assert_eq!(nanos(Resolution::Decimal(9), -1, 1_500_000_000), 500_000_000);
        assert_eq!(nanos(Resolution::Decimal(9), i64::MIN, 5), 0);
    }
}
