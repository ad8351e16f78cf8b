//! A TCP segment as plain data: what the header says and how long the payload is.

use crate::quick_start;

/// The most SACK blocks that fit a header (RFC 2018 section 3); three beside timestamps.
pub const MAX_SACK_BLOCKS: usize = 4;

/// The control bits of the header, in wire order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x10);
    /// Urgent; never sent.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The ECN field of the IP header that carries the segment (RFC 3168 section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable = 0,
    /// ECN-capable, ECT(1).
    Ect1 = 1,
    /// ECN-capable, ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

/// One SACK block: `[start, end)` in sequence space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub start: u32,
    /// The sequence number after its last.
    pub end: u32,
}

/// The timestamps option (RFC 7323).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// A TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// Sequence number of the first payload byte (or of the SYN or FIN).
    pub seq: u32,
    /// Acknowledgement number; meaningful with [`Flags::ACK`].
    pub ack: u32,
    /// Payload bytes.
    pub len: u16,
    /// The window field as on the wire: scaled, except on a SYN.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// The IP header's ECN field.
    pub ecn: Ecn,
    /// MSS option; only on a SYN.
    pub mss: Option<core::num::NonZeroU16>,
    /// Window scale option; only on a SYN.
    pub window_scale: Option<u8>,
    /// SACK-permitted option; only on a SYN.
    pub sack_permitted: bool,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// How many of `sack` are present.
    pub sack_count: u8,
    /// SACK blocks, the most recent first.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
    /// Quick-Start's options, in the IP header and here.
    pub quick_start: quick_start::Options,
}

impl Segment {
    /// The SACK blocks present.
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count).min(MAX_SACK_BLOCKS)]
    }

    /// The sequence space that the segment takes: payload, and one each for SYN and FIN.
    pub fn sequence_length(&self) -> u32 {
        u32::from(self.len) + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// Bytes of TCP options, padded to a multiple of four, laid out as Linux does: MSS 4, SACK-permitted and
    /// timestamps aligned to 12 (timestamps alone 12), window scale 4, Quick-Start's response 8, SACK 4 + 8 a
    /// block.
    pub fn options_length(&self) -> u32 {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        let permitted = if self.sack_permitted && self.timestamps.is_none() { 4 } else { 0 };
        mss + scale + timestamps + permitted + self.quick_start.tcp_length() + self.sack_length()
    }

    /// Of them those of the SACK option.
    pub(crate) fn sack_length(&self) -> u32 {
        let blocks = u32::from(self.sack_count);
        if blocks > 0 { 4 + 8 * blocks } else { 0 }
    }

    /// [`Segment::ip_length`] of a segment without data and without options.
    pub(crate) const PLAIN_LENGTH: u32 = 40;

    /// Bytes of the IPv4 packet: 20 of IP header, 8 of its Quick-Start option, 20 of TCP header, options, payload.
    pub fn ip_length(&self) -> u32 {
        Self::PLAIN_LENGTH + self.quick_start.ip_length() + self.options_length() + u32::from(self.len)
    }
}
