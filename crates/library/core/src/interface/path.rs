//! The connection as its sender sees it.

use super::{Ack, Loss, SendLimit};
use crate::units::{Bytes, Span, Time};

/// The connection as its sender sees it: the context of every call.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The instant of the event.
    pub now: Time,
    /// Payload of a full segment (SMSS).
    pub mss: Bytes,
    /// IP bytes of a full segment.
    pub wire: Bytes,
    /// The window in force before this event.
    pub cwnd: Bytes,
    /// Bytes sent and not yet cumulatively acknowledged, including selectively acknowledged bytes: the flight size
    /// (`FlightSize`, RFC 5681 section 2), half of which a law may keep. At [`Event::Sent`](super::Event::Sent) the
    /// packet being sent is not counted yet.
    pub flight: Bytes,
    /// Bytes believed to be in the network (`pipe`, RFC 6675 section 2), without bytes that were delivered in any
    /// way, and without bytes that were found lost and not retransmitted. The window bounds this number. At
    /// [`Event::Sent`](super::Event::Sent) the packet being sent, new or retransmitted, is not counted yet.
    pub pipe: Bytes,
    /// Smoothed round-trip time (RFC 6298).
    pub srtt: Option<Span>,
    /// The newest round-trip sample.
    pub latest_rtt: Option<Span>,
    /// Minimum RTT of the connection.
    pub min_rtt: Option<Span>,
    /// The receive window offered by the peer.
    pub rwnd: Bytes,
    /// Bytes ready to send and not yet sent; `None` if the host cannot know.
    pub backlog: Option<Bytes>,
    /// Bytes delivered so far, selectively acknowledged ones included.
    pub delivered: Bytes,
    /// First byte not cumulatively acknowledged (`SND.UNA`), as an offset in the stream; for a packet host see the
    /// [table](crate::interface#what-a-stream-host-says-and-what-a-packet-host-says).
    pub una: u64,
    /// Next new byte to send (`SND.NXT`), as an offset in the stream; for a packet host see the
    /// [table](crate::interface#what-a-stream-host-says-and-what-a-packet-host-says).
    pub nxt: u64,
    /// The retransmission timeout.
    pub rto: Span,
    /// The limit on sending at the last transmission.
    pub limit: SendLimit,
    /// Whether a loss episode is being repaired.
    pub recovering: bool,
    /// Time of the last transmission of a data packet.
    pub last_sent: Option<Time>,
    /// Arrival of the last segment from the peer.
    pub last_received: Option<Time>,
    /// The wake-up that the host has granted.
    pub wake: Option<Time>,
}

impl Path {
    /// Returns a path on which nothing was sent: only the instant is known, and the size of a full segment, `mss`
    /// bytes of payload in `wire` bytes of IP. The receive window is no limit. The caller sets the other
    /// fields that it knows.
    pub const fn new(now: Time, mss: Bytes, wire: Bytes) -> Self {
        Self {
            now,
            mss,
            wire,
            cwnd: Bytes::ZERO,
            flight: Bytes::ZERO,
            pipe: Bytes::ZERO,
            srtt: None,
            latest_rtt: None,
            min_rtt: None,
            rwnd: Bytes::MAX,
            backlog: None,
            delivered: Bytes::ZERO,
            una: 0,
            nxt: 0,
            // RFC 6298 section 2.1.
            rto: Span::from_secs(1),
            limit: SendLimit::App,
            recovering: false,
            last_sent: None,
            last_received: None,
            wake: None,
        }
    }
}

impl Path {
    /// Counts a packet with `bytes` of new data that was sent now. Call this after
    /// [`Event::Sent`](super::Event::Sent).
    pub fn sent(&mut self, bytes: Bytes) {
        self.flight += bytes;
        self.pipe += bytes;
        self.nxt += bytes.get();
        self.last_sent = Some(self.now);
    }

    /// Counts an ACK that arrived now, with its round-trip sample. `una` is the new [`Path::una`]: SND.UNA, or where the
    /// newest acknowledged packet ends. Call this before [`Event::Acked`](super::Event::Acked).
    pub fn acked(&mut self, ack: &Ack<'_>, una: u64) {
        debug_assert!(una <= self.nxt, "una {una} is above nxt {}", self.nxt);
        self.una = self.una.max(una);
        self.flight -= ack.advanced;
        self.pipe -= ack.bytes;
        self.delivered += ack.bytes;
        self.last_received = Some(self.now);
        if let Some(sample) = ack.rtt {
            self.sampled(sample.rtt);
        }
        self.ends_when_empty();
    }

    /// Counts packets that a host with packet numbers found lost: they are no longer in flight, and their data is sent in
    /// new packets. Call this after [`Event::Lost`](super::Event::Lost), which needs [`Path::flight`] before the ACK. A
    /// host with a byte stream does not call this: lost bytes stay in its [`Path::flight`], and leave [`Path::pipe`].
    pub fn lost(&mut self, loss: &Loss<'_>) {
        self.flight -= loss.bytes;
        self.pipe -= loss.bytes;
        self.ends_when_empty();
    }

    /// With nothing in flight, no packet can be acknowledged any more, and the connection may be idle.
    fn ends_when_empty(&mut self) {
        if self.flight.is_zero() {
            self.una = self.nxt;
        }
    }

    /// Updates the newest, the minimum and the smoothed RTT for the sample `rtt` (RFC 6298 section 2). The host
    /// computes the timeout.
    pub fn sampled(&mut self, rtt: Span) {
        self.latest_rtt = Some(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt.scale(7, 8) + rtt.scale(1, 8)));
    }
}
