//! A connection that the kernel of one of its hosts tells of, in place of a capture: what leaves its socket and what it hears. The
//! same analysis judges it, so that the same words stand for the same things.

use std::net::SocketAddr;
use std::num::NonZeroU16;

use firstflight_tcp::{Flags, Segment, Timestamps};

use crate::asleep;
use crate::connection::{Connection, Host};
use crate::found::Found;
use crate::judge;
use crate::packet::{Packet, Point};

/// A connection whose handshake is over, as its socket has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opening {
    /// When, in nanoseconds; what it counts from is up to the caller.
    pub at: u64,
    /// The socket's own address.
    pub local: SocketAddr,
    /// The other host's.
    pub remote: SocketAddr,
    /// Whether this host opened the connection.
    pub is_opener: bool,
    /// The round trip of the handshake in nanoseconds, if one was measured.
    pub round_trip: Option<u64>,
    /// The sequence number of the first byte of data that this host sends, and of the first that it receives.
    pub first: [u32; 2],
    /// Payload of a full segment with the options that every segment has.
    pub mss: u16,
    /// Whether both hosts offered selective acknowledgements.
    pub sack: bool,
    /// Whether both hosts offered timestamps.
    pub timestamps: bool,
    /// The shifts of this host's windows and of the other's; `None` if windows are not scaled.
    pub scales: Option<[u8; 2]>,
    /// The other host's window, in bytes.
    pub window: u32,
    /// Whether both hosts agreed on explicit congestion notification (RFC 3168).
    pub ecn: bool,
}

/// A segment that left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// When, in nanoseconds.
    pub at: u64,
    /// The sequence number of the first byte.
    pub seq: u32,
    /// The sequence number behind the last one; a FIN takes one.
    pub end: u32,
    /// The flags of the header.
    pub flags: u8,
}

/// A segment that arrived, for what it acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hearing<'a> {
    /// When, in nanoseconds.
    pub at: u64,
    /// The sequence number that is awaited next.
    pub ack: u32,
    /// The window as it stands in the header.
    pub window: u16,
    /// The flags of the header.
    pub flags: u8,
    /// The options as they stand in the header. Those that say nothing of selective acknowledgements may be left out.
    pub options: &'a [u8],
}

/// A connection that is followed by its socket.
#[derive(Debug)]
pub struct Socket {
    connection: Box<Connection>,
    host: Host,
    options_len: u8,
}

/// Bytes of timestamps among the options.
const TIMESTAMPS: u8 = 12;

impl Socket {
    /// A connection that was opened.
    pub fn new(opening: &Opening) -> Self {
        let Opening { at, local, remote, is_opener, round_trip, first, .. } = *opening;
        let host = Host::from(!is_opener);
        let options_len = if opening.timestamps { TIMESTAMPS } else { 0 };
        // The handshake as it passed at this host: of its packets only the numbers, the options and the times are used.
        let began = at.saturating_sub(round_trip.unwrap_or(0));
        let [own, other] = first;
        let (opener, answerer) = if is_opener { (own, other) } else { (other, own) };
        let (from, to) = if is_opener { (local, remote) } else { (remote, local) };
        let scales = opening.scales.map(|[own, other]| if is_opener { [own, other] } else { [other, own] });
        let options = |scale: Option<u8>| Segment {
            mss: NonZeroU16::new(opening.mss.saturating_add(options_len.into())),
            window_scale: scale,
            sack_permitted: opening.sack,
            timestamps: opening.timestamps.then_some(Timestamps { value: 0, echo: 0 }),
            ..Segment::default()
        };
        let ecn = |flags: Flags, echo: Flags| if opening.ecn { flags.with(echo) } else { flags };
        let syn = Segment {
            seq: opener.wrapping_sub(1),
            flags: ecn(Flags::SYN, Flags::ECE.with(Flags::CWR)),
            ..options(scales.map(|[opener, _]| opener))
        };
        // Of the two packets that the other host may have sent, one has its window: that of a SYN is not scaled.
        let shift = opening.scales.map_or(0, |[_, other]| other.min(14));
        let window = |shift: u8| u16::try_from(opening.window >> shift).unwrap_or(u16::MAX);
        let answer = Segment {
            seq: answerer.wrapping_sub(1),
            ack: opener,
            window: window(0),
            flags: ecn(Flags::SYN.with(Flags::ACK), Flags::ECE),
            ..options(scales.map(|[_, answerer]| answerer))
        };
        let third = Segment {
            seq: opener,
            ack: answerer,
            flags: Flags::ACK,
            window: window(shift),
            ..Segment::default()
        };
        // At the opener the answer comes after the round trip, at the other host the third packet does.
        let replied = if is_opener { at } else { began };
        let mut connection = Box::new(Connection::new(&packet(began, from, to, syn, 0), None, false, None));
        connection.own = Some(host);
        connection.take(&packet(began, from, to, syn, 0));
        connection.take(&packet(replied, to, from, answer, 0));
        connection.take(&packet(at, from, to, third, 0));
        if round_trip.is_none() {
            connection.forget_handshake();
        }
        Self { connection, host, options_len }
    }

    /// A segment left.
    pub fn sent(&mut self, departure: &Departure) {
        let Departure { at, seq, end, flags } = *departure;
        let flags = Flags(flags);
        let len = end.wrapping_sub(seq).wrapping_sub(u32::from(flags.has(Flags::FIN)));
        // Its own acknowledgements are for the other direction.
        let kept = Flags::FIN.0 | Flags::CWR.0;
        let segment = Segment { seq, flags: Flags(flags.0 & kept), ..Segment::default() };
        let ends = self.connection.ends;
        let mut packet = packet(at, ends[self.host], ends[1 - self.host], segment, len);
        packet.options_len = self.options_len;
        self.connection.take(&packet);
    }

    /// A segment arrived.
    pub fn heard(&mut self, hearing: &Hearing<'_>) {
        let Hearing { at, ack, window, flags, options } = *hearing;
        let mut segment = Segment { ack, window, ..Segment::default() };
        // What cannot be read says nothing.
        if firstflight_wire::read_options(options, 0, &mut segment).is_err() {
            segment.sack_count = 0;
        }
        // Its own data and its end are another sender's.
        segment.seq = self.connection.hosts[1 - self.host].first();
        segment.flags = Flags(flags & (Flags::ACK.0 | Flags::ECE.0));
        let ends = self.connection.ends;
        self.connection.take(&packet(at, ends[1 - self.host], ends[self.host], segment, 0));
    }

    /// What is said of it up to now: a copy is judged as if its facts ended here. Costs as much as the connection is large.
    pub fn found(&self, number: u64) -> Option<Found> {
        let copy = asleep::copy(&self.connection)?;
        Some(
            Self { connection: Box::new(copy), host: self.host, options_len: self.options_len }
                .judged(number),
        )
    }

    /// What is said of it in the end. With `is_over` the connection ended; otherwise it was left open.
    pub fn finish(mut self, number: u64, is_over: bool) -> Found {
        if is_over {
            self.connection.abort();
        }
        self.judged(number)
    }

    fn judged(mut self, number: u64) -> Found {
        self.connection.finish();
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let mut found = judge::judge(number, &self.connection, self.host);
        found.segments_sent = None;
        found.lacks(["segments_sent"], "segments without data are not followed");
        found
    }
}

fn packet(at: u64, source: SocketAddr, destination: SocketAddr, segment: Segment, len: u32) -> Packet {
    Packet {
        at,
        source,
        destination,
        point: Point::default(),
        identification: None,
        segment,
        len,
        ae: false,
        options_len: 0,
        options_cut: false,
        tunnel: 0,
        layer: None,
    }
}
