//! Reads the older capture format, pcap: a file header of 24 bytes, then records (draft-ietf-opsawg-pcap).

use std::io::Read;

use super::byte_order::ByteOrder;
use super::error::{Cut, ReadError};
use super::record::{LARGEST_FRAME, Step};
use super::source::Source;
use crate::link::Link;

#[derive(Debug)]
pub(super) struct Pcap {
    order: ByteOrder,
    /// Nanoseconds per unit of a timestamp's fraction.
    unit: u64,
    /// Length of a record's header in bytes: 16, or 24 in the format that patched kernels of the 1990s wrote.
    header: usize,
    link: Link,
}

/// Returns how a file that begins with these bytes was compressed; `None` if it was not.
fn compressed(magic: [u8; 4]) -> Option<&'static str> {
    Some(match magic {
        [0x1F, 0x8B, ..] => "gzip more than once",
        [0x28, 0xB5, 0x2F, 0xFD] => "zstd",
        [0xFD, b'7', b'z', b'X'] => "xz",
        [b'B', b'Z', b'h', _] => "bzip2",
        [0x04, 0x22, 0x4D, 0x18] => "lz4",
        _ => return None,
    })
}

/// Length of the file header in bytes.
const HEADER: usize = 24;

impl Pcap {
    pub(super) fn new<R: Read>(source: &mut Source<R>, magic: [u8; 4]) -> Result<Self, ReadError> {
        let (order, unit, header) = match (magic, u32::from_be_bytes(magic)) {
            (_, 0xA1B2_C3D4) => (ByteOrder::Big, 1000, 16),
            (_, 0xD4C3_B2A1) => (ByteOrder::Little, 1000, 16),
            (_, 0xA1B2_3C4D) => (ByteOrder::Big, 1, 16),
            (_, 0x4D3C_B2A1) => (ByteOrder::Little, 1, 16),
            (_, 0xA1B2_CD34) => (ByteOrder::Big, 1000, 24),
            (_, 0x34CD_B2A1) => (ByteOrder::Little, 1000, 24),
            _ if let Some(name) = compressed(magic) => {
                let what = format!("the file is compressed by {name}, which is not read; unpack it first");
                return Err(ReadError::format(0, what));
            }
            (_, other) => {
                return Err(ReadError::format(
                    0,
                    format!(
                        "the file begins with {other:08x}; pcap begins with a1b2c3d4 or a1b23c4d in either byte order, pcapng with 0a0d0d0a"
                    ),
                ));
            }
        };
        let bytes = source.peek(HEADER)?;
        if bytes.len() < HEADER {
            let what = format!("the file ends after {} bytes; pcap's header takes {HEADER}", bytes.len());
            return Err(ReadError::format(bytes.len() as u64, what));
        }
        let major = order.u16(bytes, 4);
        if major != 2 {
            return Err(ReadError::format(4, format!("pcap version {major} is not known; 2 is")));
        }
        // The upper bits hold the length of each frame's check sequence.
        let number = order.u32(bytes, 20) & 0x03FF_FFFF;
        let Some(link) = Link::of(number) else {
            let known = Link::known();
            return Err(ReadError::format(20, format!("link type {number} is not known; {known} are")));
        };
        source.take(HEADER);
        Ok(Self { order, unit, header, link })
    }

    pub(super) fn step<R: Read>(&mut self, source: &mut Source<R>) -> Result<Step, ReadError> {
        let at = source.offset();
        let bytes = source.peek(self.header)?;
        if bytes.is_empty() {
            return Ok(Step::End);
        }
        if bytes.len() < self.header {
            return Ok(Step::Cut(Cut { at, found: bytes.len() as u64, needed: self.header as u64 }));
        }
        let [seconds, fraction, kept, original] = [0, 4, 8, 12].map(|at| self.order.u32(bytes, at));
        if kept > LARGEST_FRAME {
            return Err(ReadError::format(
                at + 8,
                format!("the packet says it has {kept} bytes; at most {LARGEST_FRAME} are allowed"),
            ));
        }
        let fraction = u64::from(fraction) * self.unit;
        if fraction >= 1_000_000_000 {
            return Err(ReadError::format(
                at + 4,
                format!("the packet's time says {fraction} ns past the second; below 1000000000 is allowed"),
            ));
        }
        let consume = self.header + kept as usize;
        let there = source.peek(consume)?.len();
        if there < consume {
            return Ok(Step::Cut(Cut { at, found: there as u64, needed: consume as u64 }));
        }
        Ok(Step::Frame {
            at: u64::from(seconds) * 1_000_000_000 + fraction,
            link: Some(self.link),
            interface: 0,
            data: self.header..consume,
            original: original.max(kept),
            consume,
        })
    }
}
