//! The JSON form of sent, delivered and lost packets.

use firstflight::{Ack, Bytes, Delivered, Loss, LostPacket, Rate, RttSample, Sent, Span, Tag, Time};
use serde::{Deserialize, Serialize};

use super::path::LimitShape;

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentShape {
    packet: u64,
    bytes: u64,
    tag: u16,
    #[serde(default, skip_serializing_if = "is_false")]
    retransmission: bool,
}

impl From<Sent> for SentShape {
    fn from(sent: Sent) -> Self {
        let Sent { packet, bytes, tag, retransmission } = sent;
        Self { packet, bytes: bytes.get(), tag: tag.0, retransmission }
    }
}

impl From<SentShape> for Sent {
    fn from(shape: SentShape) -> Self {
        let SentShape { packet, bytes, tag, retransmission } = shape;
        Self { packet, bytes: Bytes::new(bytes), tag: Tag(tag), retransmission }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AckShape {
    pub(super) packets: Vec<DeliveredShape>,
    /// The newest delivered packet, if the host keeps no list of packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) newest: Option<DeliveredShape>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole: Option<u32>,
    bytes: u64,
    advanced: u64,
    sacked: u64,
    segments: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    duplicate: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    counts_bytes: bool,
    rtt_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "is_false")]
    rtt_of_handshake: bool,
    delivery_rate_bps: Option<u64>,
}

impl AckShape {
    pub(super) fn new(ack: &Ack<'_>) -> Self {
        Self {
            packets: ack.packets.iter().map(|packet| (*packet).into()).collect(),
            newest: ack.newest.map(|packet| (*packet).into()),
            whole: ack.whole,
            bytes: ack.bytes.get(),
            advanced: ack.advanced.get(),
            sacked: ack.sacked.get(),
            segments: ack.segments,
            duplicate: ack.duplicate,
            counts_bytes: ack.counts_bytes,
            rtt_ns: ack.rtt.map(|sample| sample.rtt.nanos()),
            rtt_of_handshake: ack.rtt.is_some_and(|sample| sample.handshake),
            delivery_rate_bps: ack.delivery_rate.map(Rate::bps),
        }
    }

    pub(super) fn with<'a>(&self, packets: &'a [Delivered], newest: Option<&'a Delivered>) -> Ack<'a> {
        let handshake = self.rtt_of_handshake;
        let mut ack = Ack::of_stream(&[]);
        ack.packets = packets;
        ack.newest = newest;
        ack.whole = self.whole;
        ack.bytes = Bytes::new(self.bytes);
        ack.advanced = Bytes::new(self.advanced);
        ack.sacked = Bytes::new(self.sacked);
        ack.segments = self.segments;
        ack.duplicate = self.duplicate;
        ack.counts_bytes = self.counts_bytes;
        ack.rtt = self.rtt_ns.map(|rtt| RttSample { rtt: Span::from_nanos(rtt), handshake });
        ack.delivery_rate = self.delivery_rate_bps.map(Rate::from_bps);
        ack
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveredShape {
    packet: u64,
    bytes: u64,
    sent_at_ns: u64,
    tag: u16,
    delivered_at_send: u64,
    limit: LimitShape,
    #[serde(default, skip_serializing_if = "is_false")]
    retransmitted: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    selectively: bool,
}

impl From<Delivered> for DeliveredShape {
    fn from(packet: Delivered) -> Self {
        Self {
            packet: packet.packet,
            bytes: packet.bytes.get(),
            sent_at_ns: packet.sent_at.nanos(),
            tag: packet.tag.0,
            delivered_at_send: packet.delivered_at_send.get(),
            limit: packet.limit.into(),
            retransmitted: packet.retransmitted,
            selectively: packet.selectively,
        }
    }
}

impl From<DeliveredShape> for Delivered {
    fn from(shape: DeliveredShape) -> Self {
        Self {
            packet: shape.packet,
            bytes: Bytes::new(shape.bytes),
            sent_at: Time::from_nanos(shape.sent_at_ns),
            tag: Tag(shape.tag),
            delivered_at_send: Bytes::new(shape.delivered_at_send),
            limit: shape.limit.into(),
            retransmitted: shape.retransmitted,
            selectively: shape.selectively,
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LossShape {
    pub(super) packets: Vec<LostShape>,
    bytes: u64,
    ranges: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent_at_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "is_false")]
    persistent: bool,
}

impl LossShape {
    pub(super) fn new(loss: &Loss<'_>) -> Self {
        Self {
            packets: loss.packets.iter().map(|packet| (*packet).into()).collect(),
            bytes: loss.bytes.get(),
            ranges: loss.ranges,
            sent_at_ns: loss.sent_at.map(Time::nanos),
            persistent: loss.persistent,
        }
    }

    pub(super) fn with<'a>(&self, packets: &'a [LostPacket]) -> Loss<'a> {
        let mut loss = Loss::of(Bytes::ZERO);
        loss.packets = packets;
        loss.bytes = Bytes::new(self.bytes);
        loss.ranges = self.ranges;
        loss.sent_at = self.sent_at_ns.map(Time::from_nanos);
        loss.persistent = self.persistent;
        loss
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LostShape {
    packet: u64,
    bytes: u64,
    tag: u16,
}

impl From<LostPacket> for LostShape {
    fn from(LostPacket { packet, bytes, tag }: LostPacket) -> Self {
        Self { packet, bytes: bytes.get(), tag: tag.0 }
    }
}

impl From<LostShape> for LostPacket {
    fn from(LostShape { packet, bytes, tag }: LostShape) -> Self {
        Self { packet, bytes: Bytes::new(bytes), tag: Tag(tag) }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
