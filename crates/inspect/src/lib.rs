//! How TCP connections started, read from captures: handshake, initial window, rounds, pacing, where and why slow
//! start ended, what its overshoot cost, restarts after idle times.
//!
//! [`inspect`] reads a capture once, from front to back, and keeps of each connection what is in flight and some sums:
//! captures may be larger than memory. What a number means stands at its field in [`Found`]; one that is undefined
//! is `None`, and the field `undefined` says why.
//!
//! Everything is seen from the sender. Where the capture was taken elsewhere, an acknowledgement that passes counts
//! as heard after the time from that place to the sender and back, which the handshake showed.

mod asleep;
mod capture;
mod clock;
mod connection;
mod curve;
mod ecn;
mod events;
mod exit;
mod few;
mod found;
mod inspector;
mod judge;
mod layers;
mod link;
mod others;
mod packet;
mod path;
mod reason;
mod recent;
mod rounds;
mod rtt;
mod scoreboard;
mod seen;
mod sender;
mod series;
mod socket;
mod table;
mod timer;
mod trace;
mod tunnel;
mod unzip;
mod views;

use std::io::Read;

pub use capture::{Capture, Cut, Frame, ReadError};
pub use clock::Times;
pub use exit::Cause;
pub use found::{Found, FoundRestart, FoundRound};
pub use inspector::{Continuation, Inspector};
pub use layers::TUNNEL_KINDS;
pub use link::Link;
pub use path::{PathSeen, Pause, Waited};
pub use seen::SeenAt;
pub use socket::{Departure, Hearing, Opening, Socket};
pub use trace::Trace;
pub use unzip::Unzip;

use connection::Connection;

/// All that a capture told.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Connections in order of their first packets, one entry for each direction in which data flowed, the opener's
    /// first; one entry for a connection without data.
    pub senders: Vec<Inspected>,
    /// What was read and what was left out.
    pub tally: Tally,
    /// Where the file ends too early, if it does.
    pub cut: Option<Cut>,
}

/// One sender.
#[derive(Debug)]
pub struct Inspected {
    /// The numbers.
    pub found: Found,
    /// What to draw, if it was asked for.
    pub drawn: Option<Drawn>,
}

/// What to draw of a sender.
#[derive(Debug)]
pub struct Drawn {
    /// When the connection's first packet passed, and its last.
    pub began: u64,
    /// See [`Drawn::began`].
    pub ended: u64,
    /// When the first data passed.
    pub first_data: Option<u64>,
    /// When start-up ended, if it did.
    pub exit: Option<u64>,
    /// Payload of a full segment.
    pub mss: u64,
    /// The time series.
    pub trace: Trace,
    /// What was seen of the path.
    pub path: PathSeen,
}

/// Packets, by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// All.
    pub packets: u64,
    /// TCP segments that were followed.
    pub tcp: u64,
    /// Without IP, or of another protocol.
    pub other: u64,
    /// Of them those that are IP, of another protocol.
    pub other_ip: u64,
    /// Within tunnels: their inner packets are what is told of.
    pub tunnelled: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// Kept too short for their headers.
    pub cut: u64,
    /// Followed, but without some of their options, which the capture cut off.
    pub without_options: u64,
    /// With headers that contradict themselves.
    pub malformed: u64,
    /// Of a link type that is not known here.
    pub unknown_link: u64,
    /// Without a time.
    pub timeless: u64,
    /// Those that the capture says it missed.
    pub dropped: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// What the packets' times were like.
    pub times: Times,
}

/// How a capture is inspected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Of so many senders, those that sent most, time series are kept. More may have some, if the capture has few.
    pub drawn: usize,
    /// At which host the capture was taken; if not given, the handshakes tell.
    pub seen_at: Option<SeenAt>,
}

/// Reads a capture, pcap or pcapng, to its end. With `is_drawn`, time series of all senders are kept.
///
/// # Errors
/// When the file is no capture, or not as its format says. A file that ends within a packet is no error.
pub fn inspect(input: impl Read, is_drawn: bool) -> Result<Inspection, ReadError> {
    let mut all = Vec::new();
    let options = Options { drawn: if is_drawn { usize::MAX } else { 0 }, seen_at: None };
    let (tally, cut) = inspect_each(input, &options, |senders| all.extend(senders))?;
    Ok(Inspection { senders: all, tally, cut })
}

/// Inspects a capture as [`inspect`] does, and hands the senders of each connection to `take`, in the order of the connections'
/// first packets. The results of all senders need not be in memory at once.
///
/// # Errors
/// As those of [`inspect`].
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
    let has_data = |host: &usize| connection.view_of(*host).hosts[*host].sender.first_data.is_some();
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
            first_data: sender.first_data,
            exit: exit.filter(|_| found.exit_time_s.is_some()),
            mss,
            trace,
            path: sender.path.as_deref().map(|path| path.seen(found.syn_data_bytes)).unwrap_or_default(),
        });
        Inspected { found, drawn }
    });
    inspected.collect()
}
