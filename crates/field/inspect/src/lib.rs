//! Analyses captures to find how TCP connections started: handshake, initial window, rounds, pacing, where and why slow start ended, how
//! much its overshoot cost, and restarts after idle times.
//!
//! [`inspect`] reads a capture once, from front to back. For each connection it keeps only the data in flight and some sums, so a capture
//! may be larger than memory. The fields of [`Found`] define the results. An undefined result is `None`, and the field `undefined` gives
//! the reason.
//!
//! All results describe what the sender saw. If the capture was taken elsewhere, an acknowledgement is assumed to reach the sender later
//! than it passed the capture point. The delay is the time from the capture point to the sender and back, which the handshake showed.

mod clock;
mod connection;
mod curve;
mod ecn;
mod events;
mod exit;
mod few;
mod found;
mod handshake;
mod inspector;
mod judge;
mod non_tcp;
mod order;
mod packed;
mod packet;
mod path;
mod quic;
mod reason;
mod recent;
mod rounds;
mod rtt;
mod scoreboard;
mod sender;
mod series;
mod socket;
mod table;
mod timer;
mod trace;
mod transfer;
mod vantage;
mod views;

use std::io::Read;

pub use exit::Cause;
pub use found::{Found, FoundRestart, FoundRound};
pub use inspector::{Continuation, Inspector};
pub use order::Times;
pub use path::{PathSeen, Pause, Waited};
pub use quic::QuicLog;
pub use socket::{Departure, Hearing, Moment, Opening, Socket};
pub use trace::Trace;
pub use vantage::SeenAt;

use connection::Connection;
use firstflight_capture::{Cut, ReadError};

/// Result of inspecting a capture.
#[derive(Debug, Default)]
pub struct Inspection {
    /// The senders, in the order of the connections' first packets. A connection has one entry for each direction in which data flowed,
    /// first the one of the host that opened it. A connection without data has one entry.
    pub senders: Vec<Inspected>,
    /// Numbers of packets that were read and left out.
    pub tally: Tally,
    /// Where the file ends inside a frame, if it does.
    pub cut: Option<Cut>,
}

/// The results for one sender.
#[derive(Debug)]
pub struct Inspected {
    /// The values.
    pub found: Found,
    /// Data for plots, if requested.
    pub drawn: Option<Drawn>,
}

/// Data for the plots of a sender.
#[derive(Debug)]
pub struct Drawn {
    /// Time of the connection's first packet.
    pub began: u64,
    /// Time of the connection's last packet.
    pub ended: u64,
    /// Time of the first data.
    pub first_data: Option<u64>,
    /// Time of the end of start-up, if it ended.
    pub exit: Option<u64>,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// The time series.
    pub trace: Trace,
    /// Measurements of the path.
    pub path: PathSeen,
}

/// Numbers of packets, by how they were handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// All packets.
    pub packets: u64,
    /// TCP segments that were analysed.
    pub tcp: u64,
    /// Packets without IP, or of a protocol other than TCP.
    pub other: u64,
    /// Packets counted in `other` that are IP packets of a protocol other than TCP.
    pub other_ip: u64,
    /// Packets within tunnels. The results are for the inner packets.
    pub tunnelled: u64,
    /// Fragments of IP packets, which are left out.
    pub fragments: u64,
    /// Packets of which the capture has too few bytes for their headers.
    pub cut: u64,
    /// Analysed packets of which the capture lacks some of the TCP options.
    pub without_options: u64,
    /// Packets whose headers contradict themselves.
    pub malformed: u64,
    /// Packets of an unknown link type.
    pub unknown_link: u64,
    /// Packets without a time.
    pub timeless: u64,
    /// Packets that the capture reports as not captured.
    pub dropped: u64,
    /// Number of bytes of the file.
    pub bytes: u64,
    /// Order and errors of the packets' timestamps.
    pub times: Times,
}

/// Options of an inspection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Number of senders whose time series are kept. These are the senders that sent most. If the capture has few senders, more of them may
    /// have time series.
    pub drawn: usize,
    /// Host at which the capture was taken. If it is `None`, the location is derived from the handshakes.
    pub seen_at: Option<SeenAt>,
}

/// Reads a pcap or pcapng capture to its end. Keeps the time series of all senders if `is_drawn` is true.
///
/// # Errors
/// If the input is not a capture, or violates its format. A file that ends inside a packet is accepted.
pub fn inspect(input: impl Read, is_drawn: bool) -> Result<Inspection, ReadError> {
    let mut all = Vec::new();
    let options = Options { drawn: if is_drawn { usize::MAX } else { 0 }, seen_at: None };
    let (tally, cut) = inspect_each(input, &options, |senders| all.extend(senders))?;
    Ok(Inspection { senders: all, tally, cut })
}

/// Inspects a capture as [`inspect`] does, and passes the senders of each connection to `take`, in the order of the connections' first
/// packets. With this function the results of all senders need not be in memory at once.
///
/// # Errors
/// The errors of [`inspect`].
pub fn inspect_each(
    input: impl Read,
    options: &Options,
    take: impl FnMut(Vec<Inspected>),
) -> Result<(Tally, Option<Cut>), ReadError> {
    let mut inspector = Inspector::new(options);
    let cut = inspector.read(input)?;
    Ok((inspector.finish(take), cut))
}

fn senders(number: usize, mut connection: Connection) -> Vec<Inspected> {
    connection.finish();
    let has_data = |host: &usize| connection.view_of(*host).hosts[*host].sender.instants.first_data.is_some();
    let with_data = [0, 1].into_iter().filter(has_data);
    let mut hosts: Vec<_> = with_data.collect();
    if hosts.is_empty() {
        hosts.push(0);
    }
    let inspected = hosts.into_iter().map(|host| {
        let trace = connection.take_trace(host);
        let view = connection.view_of(host);
        let found = judge::judge(number, view, host);
        let sender = &view.hosts[host].sender;
        let mss = sender.mss();
        let exit = sender.exit().map(|exit| exit.at);
        let drawn = trace.map(|trace| Drawn {
            began: view.first_at,
            ended: view.clock.last,
            first_data: sender.instants.first_data,
            exit: exit.filter(|_| found.exit_time_s.is_some()),
            mss,
            trace,
            path: sender
                .drawn
                .path
                .as_deref()
                .map(|path| path.seen(found.syn_data_bytes, view.hosts[host].has_linux_options))
                .unwrap_or_default(),
        });
        Inspected { found, drawn }
    });
    inspected.collect()
}
