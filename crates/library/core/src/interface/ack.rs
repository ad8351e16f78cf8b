//! Acknowledgements.

use super::{SendLimit, Tag};
use crate::units::{Bytes, Rate, Span, Time};

/// One acknowledgement.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// The packets that the ACK newly acknowledges, cumulatively or selectively, in order of sequence; empty from a
    /// host that keeps no list.
    pub packets: &'a [Delivered],
    /// The newest packet that the ACK acknowledges, from a host that keeps no list but knows that packet.
    pub newest: Option<&'a Delivered>,
    /// Number of packets with data that the ACK completes, from a host that counts them; see [`Ack::whole_packets`].
    pub whole: Option<u32>,
    /// Payload bytes newly delivered: cumulatively and selectively acknowledged, each byte once.
    pub bytes: Bytes,
    /// Bytes by which the cumulative acknowledgement advanced.
    pub advanced: Bytes,
    /// Bytes newly acknowledged selectively.
    pub sacked: Bytes,
    /// Segments by which the cumulative acknowledgement advanced. A receiver that delays its ACKs acknowledges two at
    /// a time, and one when its timer fires.
    pub segments: u32,
    /// Whether the ACK is a duplicate (RFC 5681 section 2, or RFC 6675 with SACK).
    pub duplicate: bool,
    /// Whether slow start grows by the bytes of this ACK (RFC 9002 section 7.3.1) or by at most a segment for each
    /// ACK (RFC 5681 section 3.1). The host chooses once for a connection; see [`Ack::slow_start_growth`].
    pub counts_bytes: bool,
    /// The round-trip sample, if one could be made.
    pub rtt: Option<RttSample>,
    /// Delivery rate at this ACK, if there is a sample.
    pub delivery_rate: Option<Rate>,
    /// Whether a round trip ended with this ACK. The [`crate::Controller`] fills this in.
    pub round_ended: bool,
    /// New data sent in the round trip that this ACK ended; zero if it ended none. Data that this ACK releases
    /// belongs to the next round trip. The [`crate::Controller`] fills this in.
    pub round_sent: Bytes,
    /// Bytes by which this ACK may widen a window. Zero during loss recovery or when the window was not the limit,
    /// otherwise the cumulative advance. The [`crate::Controller`] fills this in, so that schemes do not judge the
    /// limit.
    pub growth: Bytes,
}

impl<'a> Ack<'a> {
    /// Returns the acknowledgement of `packets` from a host with packet numbers, each of them for the first time. Slow
    /// start grows by the bytes of the ACK (RFC 9002 section 7.3.1). The host sets the other fields that it knows.
    #[inline]
    pub fn of_packets(packets: &'a [Delivered]) -> Self {
        Self { counts_bytes: true, ..Self::of_stream(packets) }
    }

    /// Returns the acknowledgement of `packets` from a host with a byte stream, each of them whole and for the first
    /// time. Slow start grows by at most a segment for each ACK (RFC 5681 section 3.1); a host that counts bytes
    /// (RFC 3465) sets [`Ack::counts_bytes`]. The host sets the other fields that it knows.
    #[inline]
    pub fn of_stream(packets: &'a [Delivered]) -> Self {
        let sum = |selectively| {
            let such = packets.iter().filter(|packet| packet.selectively == selectively);
            such.fold((0_u32, Bytes::ZERO), |(count, bytes), packet| (count + 1, bytes + packet.bytes))
        };
        let ((segments, advanced), (_, sacked)) = (sum(false), sum(true));
        let bytes = advanced + sacked;
        let duplicate = segments == 0 && !packets.is_empty();
        Self {
            packets,
            whole: None,
            bytes,
            advanced,
            sacked,
            segments,
            duplicate,
            ..Self::unlisted(bytes, 0, false)
        }
    }

    /// Returns the cumulative acknowledgement of `bytes` in `packets` whole packets, for a host that keeps no list of
    /// packets. `counts_bytes` is [`Ack::counts_bytes`]: true for QUIC.
    pub const fn unlisted(bytes: Bytes, packets: u32, counts_bytes: bool) -> Self {
        Self {
            packets: &[],
            newest: None,
            whole: Some(packets),
            bytes,
            advanced: bytes,
            sacked: Bytes::ZERO,
            segments: packets,
            duplicate: false,
            counts_bytes,
            rtt: None,
            delivery_rate: None,
            round_ended: false,
            round_sent: Bytes::ZERO,
            growth: Bytes::ZERO,
        }
    }

    /// Returns the bytes by which slow start may widen its window at this ACK: [`Ack::growth`], or at most a segment
    /// of `mss` if slow start counts ACKs (RFC 5681 section 3.1: `cwnd += min(N, SMSS)`).
    #[inline]
    pub fn slow_start_growth(&self, mss: Bytes) -> Bytes {
        if self.counts_bytes { self.growth } else { self.growth.min(mss) }
    }

    /// Returns the newest packet acknowledged: the last of the list in order of sequence or, without a list, the
    /// packet that the host gives.
    pub fn newest_packet(&self) -> Option<&Delivered> {
        self.packets.last().or(self.newest)
    }

    /// Returns the number of packets with data that the ACK completes, as Linux counts deliveries. A packet whose
    /// acknowledgement is divided counts once, with its last byte (RFC 3465 section 1 describes receivers that
    /// divide). A packet that a duplicate ACK without SACK already accounted for, and that [`bytes`](Self::bytes)
    /// therefore leaves out, does not count again.
    pub fn whole_packets(&self) -> u64 {
        self.whole.map_or_else(|| self.listed_whole(), u64::from)
    }

    fn listed_whole(&self) -> u64 {
        let sizes = || self.packets.iter().map(|packet| packet.bytes).filter(|bytes| !bytes.is_zero());
        let mut counted = sizes().fold(Bytes::ZERO, |sum, bytes| sum + bytes) - self.bytes;
        let fresh = sizes().filter(|&bytes| {
            let before = counted >= bytes;
            counted -= if before { bytes } else { Bytes::ZERO };
            !before
        });
        fresh.count() as u64
    }
}

/// A packet newly acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivered {
    /// The number of the packet's last transmission.
    pub packet: u64,
    /// Payload bytes.
    pub bytes: Bytes,
    /// Exact transmission time of the packet.
    pub sent_at: Time,
    /// Tag of the plan under which the packet was sent.
    pub tag: Tag,
    /// [`Path::delivered`](super::Path::delivered) when the packet left.
    pub delivered_at_send: Bytes,
    /// Limit on sending when the packet was sent.
    pub limit: SendLimit,
    /// Whether the packet was sent more than once.
    pub retransmitted: bool,
    /// Whether the packet was acknowledged selectively rather than cumulatively.
    pub selectively: bool,
}

/// A round-trip sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttSample {
    /// The round-trip time. It never comes from a retransmitted packet (Karn), unless timestamps distinguish the
    /// transmissions.
    pub rtt: Span,
    /// Whether the sample is the handshake's.
    pub handshake: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(packet: u64, bytes: u64) -> Delivered {
        Delivered {
            packet,
            bytes: Bytes::new(bytes),
            sent_at: Time::ZERO,
            tag: Tag::default(),
            delivered_at_send: Bytes::ZERO,
            limit: SendLimit::Window,
            retransmitted: false,
            selectively: false,
        }
    }

    #[test]
    fn slow_start_counts_an_ack_as_one_or_by_its_bytes() {
        let ack = Ack { growth: Bytes::new(2_920), ..Ack::unlisted(Bytes::new(2_920), 2, false) };
        let mss = Bytes::new(1_460);
        assert_eq!(ack.slow_start_growth(mss), mss);
        assert_eq!(Ack { counts_bytes: true, ..ack }.slow_start_growth(mss), Bytes::new(2_920));
    }

    fn whole_packets(packets: &[Delivered], bytes: u64) -> u64 {
        Ack { bytes: Bytes::new(bytes), ..Ack::of_stream(packets) }.whole_packets()
    }

    #[test]
    fn packets_that_duplicates_accounted_for_are_not_counted_twice() {
        let three = [delivered(0, 1_000), delivered(1, 1_000), delivered(2, 400)];
        assert_eq!(whole_packets(&three, 2_400), 3);
        assert_eq!(whole_packets(&three, 400), 1);
        // The second half of a packet, and a part of the next.
        assert_eq!(whole_packets(&[delivered(0, 500)], 700), 1);
        assert_eq!(whole_packets(&[], 700), 0);
    }
}
