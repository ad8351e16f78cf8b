//! Reads captures, one after the other, into one inspection.

use std::collections::BTreeSet;
use std::io::Read;

use firstflight_capture::{Cut, Frame, Layers, Link, ReadError, Reader, innermost_packet};

use crate::clock::DISORDER;
use crate::non_tcp::NonTcp;
use crate::order::Order;
use crate::packet::{Packet, Skip};
use crate::table::Table;
use crate::{Inspected, Options, Tally, senders};

/// Number of packets at the beginning of a file that are used to check whether it continues another file.
const FIRST_PACKETS: usize = 1_000;

/// An inspection in progress, of one capture or of several pieces of one.
#[derive(Debug)]
pub struct Inspector {
    table: Table,
    order: Order,
    tally: Tally,
    non_tcp: NonTcp,
    /// The latest time of a packet.
    last_at: u64,
}

/// How a capture continues the capture that was read before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Continuation {
    /// Time from the last packet of the first capture to the first of the second, in nanoseconds.
    pub apart: u64,
    /// Number of payload bytes missing between the two captures, in the connection that lacks most.
    pub missing: u64,
}

impl Inspector {
    /// Creates an inspector that has read nothing.
    pub fn new(options: &Options) -> Self {
        Self {
            table: Table::new(options),
            order: Order::default(),
            tally: Tally::default(),
            non_tcp: NonTcp::default(),
            last_at: 0,
        }
    }

    /// Checks whether this capture continues the one that was read: it begins after the end of that one, and has a packet of a connection
    /// that was left open. Reads only its first packets. Returns `None` if it does not continue it.
    ///
    /// # Errors
    /// If the input is no capture or violates its format.
    pub fn continues(&mut self, input: impl Read) -> Result<Option<Continuation>, ReadError> {
        self.flush();
        let mut capture = Reader::new(input)?;
        let mut first_at = None;
        let mut missing = None;
        let mut hosts = BTreeSet::new();
        for _ in 0..FIRST_PACKETS {
            let Some(frame) = capture.next_frame()? else { break };
            let began = *first_at.get_or_insert(frame.at);
            if began.saturating_add(DISORDER) < self.last_at {
                return Ok(None);
            }
            // The first packet of each host of a connection suffices to find the missing data.
            if let Ok(packet) = packet(&frame, &mut Tally::default())
                && hosts.insert((packet.source, packet.destination))
            {
                missing = missing.max(self.table.missing_before(&packet));
            }
        }
        let apart = first_at.unwrap_or(0).saturating_sub(self.last_at);
        Ok(missing.map(|missing| Continuation { apart, missing }))
    }

    /// Reads a capture to its end. Returns where the file ends inside a frame, if it does.
    ///
    /// # Errors
    /// If the input is no capture or violates its format.
    pub fn read(&mut self, input: impl Read) -> Result<Option<Cut>, ReadError> {
        let mut capture = Reader::new(input)?;
        while let Some(frame) = capture.next_frame()? {
            self.tally.packets += 1;
            self.last_at = self.last_at.max(frame.at);
            match packet(&frame, &mut self.tally) {
                Ok(packet) => {
                    self.tally.tcp += 1;
                    self.tally.without_options += u64::from(packet.options_cut);
                    self.order.push(packet);
                    while let Some(packet) = self.order.next(false) {
                        self.table.packet(&packet);
                    }
                }
                Err(Left::UnknownLink) => self.tally.unknown_link += 1,
                Err(Left::NoIp(link)) => {
                    self.tally.other += 1;
                    self.non_tcp.frame(link, frame.data);
                }
                Err(Left::NotTcp(packet)) => {
                    self.non_tcp.packet(packet);
                    self.tally.other += 1;
                    self.tally.other_ip += 1;
                }
                Err(Left::Skip(Skip::Fragment)) => self.tally.fragments += 1,
                Err(Left::Skip(Skip::Cut)) => self.tally.cut += 1,
                Err(Left::Skip(Skip::Malformed | Skip::NotTcp)) => self.tally.malformed += 1,
            }
        }
        self.tally.timeless += capture.timeless();
        self.tally.dropped += capture.dropped();
        self.tally.bytes += capture.offset();
        Ok(capture.cut())
    }

    /// Returns the kinds of packets other than TCP as text, each with its number of packets, in descending order of these numbers.
    pub fn without_tcp(&self) -> Vec<(String, u64)> {
        self.non_tcp.named()
    }

    /// Passes the senders of each connection to `take`, in the order of the connections' first packets. With this interface the results of
    /// all senders need not be in memory at once.
    pub fn finish(mut self, mut take: impl FnMut(Vec<Inspected>)) -> Tally {
        self.flush();
        self.tally.times = self.order.times;
        for (index, connection) in self.table.into_connections().enumerate() {
            take(senders(index + 1, connection));
        }
        self.tally
    }

    /// Processes all packets that wait for earlier ones.
    fn flush(&mut self) {
        while let Some(packet) = self.order.next(true) {
            self.table.packet(&packet);
        }
    }
}

/// The reason why a frame is left out.
enum Left<'a> {
    UnknownLink,
    NoIp(Link),
    /// The bytes of an IP packet of another protocol.
    NotTcp(&'a [u8]),
    Skip(Skip),
}

/// Decodes the TCP segment in a frame.
fn packet<'a>(frame: &Frame<'a>, tally: &mut Tally) -> Result<Packet, Left<'a>> {
    let link = frame.link.ok_or(Left::UnknownLink)?;
    let mut layers = Layers::default();
    let (before, bytes) = link.ip(frame.data, &mut layers).ok_or(Left::NoIp(link))?;
    let within = innermost_packet(bytes, &mut layers);
    tally.tunnelled += u64::from(within > 0);
    let before = before.saturating_add(u32::try_from(within).unwrap_or(u32::MAX));
    let read = Packet::read(frame.at, &bytes[within..], frame.original.saturating_sub(before));
    let mut packet =
        read.map_err(
            |skip| if skip == Skip::NotTcp { Left::NotTcp(&bytes[within..]) } else { Left::Skip(skip) },
        )?;
    (packet.tunnel, packet.layer) = (layers.number(), layers.inner.map(Box::new));
    let (kind, index) = link.capture_point(frame.data);
    (packet.point.kind, packet.point.interface) = (kind, (index, frame.interface));
    Ok(packet)
}
