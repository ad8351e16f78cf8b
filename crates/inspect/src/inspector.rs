//! Captures being read, one after the other into one inspection.

use std::collections::BTreeSet;
use std::io::Read;

use crate::capture::{Capture, Cut, Frame, ReadError};
use crate::clock::{DISORDER, Order};
use crate::layers::Layers;
use crate::link::Link;
use crate::others::Others;
use crate::packet::{Packet, Skip};
use crate::table::Table;
use crate::{Inspected, Options, Tally, senders, tunnel};

/// So many packets of a file are looked at for what continues another.
const FIRST_PACKETS: usize = 1_000;

/// An inspection in progress, of one capture or of the pieces of one.
#[derive(Debug)]
pub struct Inspector {
    table: Table,
    order: Order,
    tally: Tally,
    others: Others,
    /// The latest time of a packet.
    last_at: u64,
}

/// How a capture goes on with one that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Continuation {
    /// From the last packet of the one to the first of the other, in nanoseconds.
    pub apart: u64,
    /// Payload that lies between, of the connection that lacks most.
    pub missing: u64,
}

impl Inspector {
    /// Nothing is read yet.
    pub fn new(options: &Options) -> Self {
        Self {
            table: Table::new(options),
            order: Order::default(),
            tally: Tally::default(),
            others: Others::default(),
            last_at: 0,
        }
    }

    /// Whether this capture, of which the first packets are read here, goes on with what was read: it begins when that has
    /// ended, and has a packet of a connection that was left open.
    ///
    /// # Errors
    /// When it is no capture, or not as its format says.
    pub fn continues(&mut self, input: impl Read) -> Result<Option<Continuation>, ReadError> {
        self.flush();
        let mut capture = Capture::new(input)?;
        let mut first_at = None;
        let mut missing = None;
        let mut hosts = BTreeSet::new();
        for _ in 0..FIRST_PACKETS {
            let Some(frame) = capture.next_frame()? else { break };
            let began = *first_at.get_or_insert(frame.at);
            if began.saturating_add(DISORDER) < self.last_at {
                return Ok(None);
            }
            // What is missing, the first packet of each host of a connection shows.
            if let Ok(packet) = packet(&frame, &mut Tally::default())
                && hosts.insert((packet.source, packet.destination))
            {
                missing = missing.max(self.table.missing_before(&packet));
            }
        }
        let apart = first_at.unwrap_or(0).saturating_sub(self.last_at);
        Ok(missing.map(|missing| Continuation { apart, missing }))
    }

    /// Reads a capture to its end; says where it ends too early, if it does.
    ///
    /// # Errors
    /// When it is no capture, or not as its format says.
    pub fn read(&mut self, input: impl Read) -> Result<Option<Cut>, ReadError> {
        let mut capture = Capture::new(input)?;
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
                    self.others.frame(link, frame.data);
                }
                Err(Left::NotTcp(packet)) => {
                    self.others.packet(packet);
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

    /// What was read that is no TCP: kinds of packets in words, with how many of each, those with most first.
    pub fn without_tcp(&self) -> Vec<(String, u64)> {
        self.others.named()
    }

    /// Hands the senders of each connection to `take`, in the order of the connections' first packets. The results of all senders
    /// need not be in memory at once.
    pub fn finish(mut self, mut take: impl FnMut(Vec<Inspected>)) -> Tally {
        self.flush();
        self.tally.times = self.order.times;
        for (index, connection) in self.table.into_connections().enumerate() {
            take(senders(index + 1, connection));
        }
        self.tally
    }

    /// No packet waits for earlier ones.
    fn flush(&mut self) {
        while let Some(packet) = self.order.next(true) {
            self.table.packet(&packet);
        }
    }
}

/// Why a frame is left out.
enum Left<'a> {
    UnknownLink,
    NoIp(Link),
    /// The IP packet.
    NotTcp(&'a [u8]),
    Skip(Skip),
}

/// The TCP segment in a frame.
fn packet<'a>(frame: &Frame<'a>, tally: &mut Tally) -> Result<Packet, Left<'a>> {
    let link = frame.link.ok_or(Left::UnknownLink)?;
    let mut layers = Layers::default();
    let (before, bytes) = link.ip(frame.data, &mut layers).ok_or(Left::NoIp(link))?;
    let within = tunnel::innermost(bytes, &mut layers);
    tally.tunnelled += u64::from(within > 0);
    let before = before.saturating_add(u32::try_from(within).unwrap_or(u32::MAX));
    let read = Packet::read(frame.at, &bytes[within..], frame.original.saturating_sub(before));
    let mut packet =
        read.map_err(
            |skip| if skip == Skip::NotTcp { Left::NotTcp(&bytes[within..]) } else { Left::Skip(skip) },
        )?;
    (packet.tunnel, packet.layer) = (layers.number(), layers.inner);
    let (kind, index) = link.seen(frame.data);
    (packet.point.kind, packet.point.interface) = (kind, (index, frame.interface));
    Ok(packet)
}
