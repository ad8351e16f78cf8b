//! A TCP segment as plain data: the fields of the header and the length of the payload.

use crate::quick_start;

/// Maximum number of SACK blocks in a header (RFC 2018 section 3). With timestamps, three fit.
pub const MAX_SACK_BLOCKS: usize = 4;

/// The control bits of the header, in wire order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Pass the data to the application.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x10);
    /// Urgent data; never sent.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Checks whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags of both sets.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The ECN codepoint in the IP header that carries the segment (RFC 3168 section 5).
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

/// A SACK block: the sequence numbers from `start` to before `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// The first sequence number of the block.
    pub start: u32,
    /// The sequence number after the last one of the block.
    pub end: u32,
}

/// The timestamps option (RFC 7323).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// The timestamp value, TSval.
    pub value: u32,
    /// The timestamp echo reply, TSecr.
    pub echo: u32,
}

/// A TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// Sequence number of the first payload byte, or of the SYN or FIN.
    pub seq: u32,
    /// Acknowledgement number. Meaningful only with [`Flags::ACK`].
    pub ack: u32,
    /// Number of payload bytes.
    pub len: u16,
    /// The window field as on the wire. It is scaled, except on a SYN.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// The ECN codepoint of the IP header.
    pub ecn: Ecn,
    /// MSS option; only on a SYN.
    pub mss: Option<core::num::NonZeroU16>,
    /// Window scale option; only on a SYN.
    pub window_scale: Option<u8>,
    /// SACK-permitted option; only on a SYN.
    pub sack_permitted: bool,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// Number of valid entries of `sack`.
    pub sack_count: u8,
    /// SACK blocks. The most recent one is first.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
    /// The Quick-Start options in the IP header and in this header.
    pub quick_start: quick_start::Options,
}

impl Segment {
    /// Returns the valid SACK blocks.
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count).min(MAX_SACK_BLOCKS)]
    }

    /// Returns how many sequence numbers the segment takes: its payload bytes, one for a SYN, and one for a FIN.
    pub fn sequence_length(&self) -> u32 {
        u32::from(self.len) + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// Returns the length of the TCP options in bytes, padded to a multiple of four and laid out as in Linux: MSS 4, SACK-permitted and
    /// timestamps together 12 (timestamps alone 12), window scale 4, Quick-Start's response 8, SACK 4 + 8 per block.
    pub fn options_length(&self) -> u32 {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        let permitted = if self.sack_permitted && self.timestamps.is_none() { 4 } else { 0 };
        mss + scale + timestamps + permitted + self.quick_start.tcp_length() + self.sack_length()
    }

    /// Returns the length of the SACK option in bytes, with its padding.
    pub(crate) fn sack_length(&self) -> u32 {
        let blocks = u32::from(self.sack_count);
        if blocks > 0 { 4 + 8 * blocks } else { 0 }
    }

    /// The [`Segment::ip_length`] of a segment without data and options.
    pub(crate) const PLAIN_LENGTH: u32 = 40;

    /// Returns the length of the IPv4 packet in bytes: 20 for the IP header, 8 for its Quick-Start option if there is one, 20 for the TCP
    /// header, and the TCP options and payload.
    pub fn ip_length(&self) -> u32 {
        Self::PLAIN_LENGTH + self.quick_start.ip_length() + self.options_length() + u32::from(self.len)
    }
}
