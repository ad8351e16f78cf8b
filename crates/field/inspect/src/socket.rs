//! A connection that the kernel of one of its hosts reports, without a capture: the segments that its socket sends and receives. The same
//! analysis as for captures processes them, so the results have the same meaning.

use std::net::SocketAddr;
use std::num::NonZeroU16;

use firstflight_tcp::{Flags, Segment, Timestamps};

use crate::connection::Connection;
use crate::exit::{Cause, Exit};
use crate::found::Found;
use crate::handshake::Host;
use crate::judge;
use crate::packed;
use crate::packet::{Packet, Point, Stamp};

/// A connection that has completed its handshake, as its socket reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opening {
    /// Time in nanoseconds, with any origin.
    pub at: u64,
    /// Address and port of this host.
    pub local: SocketAddr,
    /// Address and port of the other host.
    pub remote: SocketAddr,
    /// Whether this host opened the connection.
    pub is_opener: bool,
    /// RTT of the handshake in nanoseconds; `None` if it was not measured.
    pub round_trip: Option<u64>,
    /// Sequence number of the first byte of data that this host sends, and of the first byte that it receives.
    pub first: [u32; 2],
    /// Payload bytes of a full segment, with the options that every segment has.
    pub mss: u16,
    /// Whether both hosts offered selective acknowledgements.
    pub sack: bool,
    /// Whether both hosts offered timestamps.
    pub timestamps: bool,
    /// Window scale shifts of this host and of the other host. `None` if windows are not scaled.
    pub scales: Option<[u8; 2]>,
    /// The other host's receive window in bytes.
    pub window: u32,
    /// Whether both hosts negotiated explicit congestion notification (RFC 3168).
    pub ecn: bool,
}

/// A segment that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Time in nanoseconds.
    pub at: u64,
    /// The sequence number of the first byte.
    pub seq: u32,
    /// The sequence number after the last byte. A FIN takes one sequence number.
    pub end: u32,
    /// The flags of the TCP header.
    pub flags: u8,
}

/// A segment that was received. Only its acknowledgement is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hearing<'a> {
    /// Time in nanoseconds.
    pub at: u64,
    /// The acknowledgement number: the next sequence number expected.
    pub ack: u32,
    /// The window field of the header, not scaled.
    pub window: u16,
    /// The flags of the TCP header.
    pub flags: u8,
    /// The options of the TCP header. They may be left out if they have no selective acknowledgements.
    pub options: &'a [u8],
}

/// A sender's state at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    at: u64,
    /// Bytes in flight.
    flight: u64,
    /// Index of the round.
    round: usize,
}

/// A connection followed through its socket.
#[derive(Debug)]
pub struct Socket {
    connection: Box<Connection>,
    host: Host,
    options_len: u8,
}

/// Length of the timestamps option with its padding, in bytes.
const TIMESTAMPS: u8 = 12;

impl Socket {
    /// Creates the state of a connection that has completed its handshake.
    pub fn new(opening: &Opening) -> Self {
        let options_len = if opening.timestamps { TIMESTAMPS } else { 0 };
        let host = Host::from(!opening.is_opener);
        Self { connection: Box::new(opened(opening, false)), host, options_len }
    }

    /// Records a sent segment.
    pub fn sent(&mut self, departure: &Departure) {
        let Departure { at, seq, end, flags } = *departure;
        let flags = Flags(flags);
        let len = end.wrapping_sub(seq).wrapping_sub(u32::from(flags.has(Flags::FIN)));
        // A sent segment's acknowledgement belongs to the other direction, so it is left out.
        let kept = Flags::FIN.0 | Flags::CWR.0;
        let segment = Segment { seq, flags: Flags(flags.0 & kept), ..Segment::default() };
        let ends = self.connection.ends;
        let mut packet = packet(at, ends[self.host], ends[1 - self.host], segment, len);
        packet.options_len = self.options_len;
        self.connection.take(&packet);
    }

    /// Records a received segment.
    pub fn heard(&mut self, hearing: &Hearing<'_>) {
        let Hearing { at, ack, window, flags, options } = *hearing;
        let mut segment = Segment { ack, window, ..Segment::default() };
        // Unreadable options are ignored.
        if firstflight_wire::read_options(options, 0, &mut segment).is_err() {
            segment.sack_count = 0;
        }
        // The data and FIN of a received segment belong to the other direction, so they are left out.
        segment.seq = self.connection.hosts[1 - self.host].first();
        segment.flags = Flags(flags & (Flags::ACK.0 | Flags::ECE.0));
        let ends = self.connection.ends;
        self.connection.take(&packet(at, ends[1 - self.host], ends[self.host], segment, 0));
    }

    /// Returns the state of the sender at the time `at`, which may be the end of its start-up.
    pub fn moment(&self, at: u64) -> Moment {
        let sender = &self.connection.hosts[self.host].sender;
        Moment {
            at,
            flight: sender.board.flight(),
            round: usize::try_from(sender.rounds.count).unwrap_or(usize::MAX),
        }
    }

    /// Ends start-up where the kernel reports that BBR's Drain began. Packets do not show it, because BBR ignores single losses and is
    /// paced. `None` if Drain did not begin.
    pub fn drained(&mut self, moment: Option<Moment>) {
        let exit =
            moment.map(|Moment { at, flight, round }| Exit { round, ..Exit::new(Cause::Drain, at, flight) });
        self.connection.hosts[self.host].sender.end_as_reported(exit);
    }

    /// Returns the results so far, as if the connection's events ended here. Works on a copy, so the time it takes is proportional to the
    /// size of the connection's state.
    pub fn found(&self, number: u64) -> Option<Found> {
        let copy = packed::copy(&self.connection)?;
        Some(
            Self { connection: Box::new(copy), host: self.host, options_len: self.options_len }
                .judged(number),
        )
    }

    /// Returns the final results. `is_over` says whether the connection ended; otherwise it was left open.
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

/// Creates a connection that has completed its handshake, as one of its hosts reports it.
pub(crate) fn opened(opening: &Opening, is_drawn: bool) -> Connection {
    let Opening { at, local, remote, is_opener, round_trip, first, .. } = *opening;
    let host = Host::from(!is_opener);
    let options_len = if opening.timestamps { TIMESTAMPS } else { 0 };
    // Creates the packets of the handshake as they passed at this host. Only their sequence numbers, options and times are used.
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
    // The other host's window may be in either of two packets of the handshake. The window of a SYN is not scaled.
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
    // At the opener, the SYN-ACK arrives after the RTT. At the other host, the third packet does.
    let replied = if is_opener { at } else { began };
    let mut connection = Connection::new(&packet(began, from, to, syn, 0), is_drawn, None);
    connection.own = Some(host);
    connection.take(&packet(began, from, to, syn, 0));
    connection.take(&packet(replied, to, from, answer, 0));
    connection.take(&packet(at, from, to, third, 0));
    if round_trip.is_none() {
        connection.forget_handshake();
    }
    connection
}

fn packet(at: u64, source: SocketAddr, destination: SocketAddr, segment: Segment, len: u32) -> Packet {
    Packet {
        at,
        stamp: Stamp::Right,
        source,
        destination,
        point: Point::default(),
        identification: None,
        segment,
        len,
        ae: false,
        options_len: 0,
        options_cut: false,
        has_linux_options: false,
        tunnel: 0,
        layer: None,
    }
}
