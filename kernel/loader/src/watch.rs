//! The start-ups of this machine's connections as they happen: programs at tracepoints, and one that is called for sockets, which report
//! the segments sent and received. They are links, which the kernel removes with the process, and change nothing.

use std::fmt;
use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::thread::sleep;
use std::time::Duration;

use firstflight_inspect::{Departure, Hearing, Opening};
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, RingBufferBuilder};
use nix::time::{ClockId, clock_gettime};

use crate::error::KernelError;
use crate::load::{hush, refused, root};
use crate::quick_start::cgroup;
use crate::{machine, objects};

/// Name in messages, and of the object.
const WHAT: &str = "watch";
/// The section of the settings: four numbers of 4 bytes.
const SETTINGS: &str = ".rodata.watch";
/// Interval between reads of the ring.
const LOOK: Duration = Duration::from_millis(100);

/// The connections to watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchOrder {
    /// The inode of a network namespace, if only that one is watched.
    pub namespace: Option<u32>,
    /// A port of this machine, if only that one is watched.
    pub port: Option<u16>,
    /// Number of facts of a connection that are reported one by one. After them transmissions and acknowledgements are reported together,
    /// four times per RTT.
    pub detail: u32,
    /// Whether connections of the machine with itself are watched.
    pub loopback: bool,
    /// Bytes of the ring, a power of two of at least a page.
    pub ring: u32,
}

/// The congestion control's numbers at an event, before the congestion control processed it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Numbers {
    /// The congestion window in segments.
    pub cwnd: u32,
    /// The threshold of slow start in segments.
    pub ssthresh: u32,
    /// The state of the congestion control: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
    /// Time in nanoseconds since 1970.
    pub at: u64,
}

/// One thing that happened to a socket.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// A number for the socket, which another socket may have after it is closed.
    pub socket: u64,
    /// The congestion control's numbers.
    pub numbers: Numbers,
    /// Facts of the socket that found no room in the ring since the previous fact.
    pub lost: u32,
    /// The event.
    pub what: What<'a>,
}

/// An event of a socket. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// The handshake of the socket is over.
    Opened {
        /// The opening as the socket recorded it.
        opening: Opening,
        /// The inode of its network namespace.
        namespace: u32,
        /// A number for the socket that no other has.
        cookie: u64,
        /// The name of its congestion control.
        law: &'a str,
        /// Segments that were retransmitted in the handshake.
        retransmitted: u32,
        /// Segments with data that were sent before.
        data_segments: u32,
    },
    /// The socket has another congestion control, of this name.
    Named(&'a str),
    /// A segment left.
    Sent(Departure),
    /// A segment arrived.
    Heard(Hearing<'a>),
    /// The socket is closed.
    Closed(Closing<'a>),
}

/// State of a socket when it is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Closing<'a> {
    /// Time.
    pub at: u64,
    /// Payload that was acknowledged.
    pub bytes_acked: u64,
    /// Segments that were retransmitted.
    pub retransmitted: u32,
    /// Segments that the receiver has.
    pub delivered: u32,
    /// The smoothed round trip in microseconds.
    pub srtt_us: u32,
    /// Facts of the socket that found no room in the ring.
    pub lost: u32,
    /// Segments with data that the kernel counts as sent since the socket exists.
    pub data_segments: u32,
    /// Segments with data that were seen to leave since the handshake.
    pub seen_segments: u32,
    /// The name of its congestion control.
    pub law: &'a str,
}

/// The watch, as long as this value lives.
pub struct Watch {
    object: Object,
    links: Vec<Link>,
    /// Difference between the clock of the facts and the time since 1970.
    offset: u64,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("links", &self.links.len()).finish_non_exhaustive()
    }
}

impl Watch {
    /// Attaches the programs.
    ///
    /// # Errors
    /// Missing rights, no mounted cgroup2, a refusal by the verifier.
    pub fn attach(order: &WatchOrder) -> Result<Self, KernelError> {
        machine::check_rights()?;
        let group = cgroup()?;
        let file = File::open(&group).map_err(KernelError::io(&group))?;
        hush();
        let mut open = ObjectBuilder::default()
            .open_memory(objects::other(WHAT)?)
            .map_err(|error| KernelError::system(&"the object of watch", &error))?;
        for mut map in open.maps_mut() {
            if map.name() == SETTINGS {
                let words = [
                    order.namespace.unwrap_or(0),
                    order.port.unwrap_or(0).into(),
                    order.detail,
                    order.loopback.into(),
                ];
                let block: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                let place = map.initial_value_mut().filter(|place| place.len() == block.len());
                place.ok_or(KernelError::Foreign)?.copy_from_slice(&block);
            } else if map.name() == "events" {
                let failed = |error| KernelError::system(&"the ring of facts", &root(&error));
                map.set_max_entries(order.ring).map_err(failed)?;
            }
        }
        let object = open.load().map_err(|error| refused(WHAT, &error))?;
        let offset = offset()?;
        let mut links = Vec::new();
        for program in object.progs_mut() {
            let name = program.name().to_string_lossy().into_owned();
            let link =
                if name == "closing" { program.attach_cgroup(file.as_raw_fd()) } else { program.attach() };
            links.push(link.map_err(|error| KernelError::system(&name, &root(&error)))?);
        }
        Ok(Self { object, links, offset })
    }

    /// Passes each fact to `take`, in order of time, and calls `goes_on` ten times a second.
    ///
    /// # Errors
    /// A ring that cannot be read.
    pub fn follow(
        &self,
        mut take: impl FnMut(&Fact<'_>),
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<(), KernelError> {
        let failed = |error: libbpf_rs::Error| KernelError::system(&"the ring of facts", &root(&error));
        let events = self.object.maps().find(|map| map.name() == "events").ok_or(KernelError::Foreign)?;
        let mut rings = RingBufferBuilder::new();
        rings
            .add(&events, |record: &[u8]| {
                if let Some(fact) = read(record, self.offset) {
                    take(&fact);
                }
                0
            })
            .map_err(failed)?;
        let ring = rings.build().map_err(failed)?;
        while goes_on() {
            sleep(LOOK);
            ring.consume().map_err(failed)?;
        }
        Ok(())
    }

    /// Returns the number of program calls that the kernel skipped so far, because the program was already running on that processor: an
    /// interrupt arrived while it was called for a packet. No fact contains the report of a skipped call.
    ///
    /// # Errors
    /// Programs for which the kernel gives no information. Before Linux 5.12 it does not count, and the number is 0.
    pub fn skipped(&self) -> Result<u64, KernelError> {
        let mut skipped = 0;
        for program in self.object.progs() {
            let said = fs::read_to_string(format!("/proc/self/fdinfo/{}", program.as_fd().as_raw_fd()));
            let said = said.map_err(|error| KernelError::system(&"the programs of watch", &error))?;
            let misses =
                said.lines().find_map(|line| line.strip_prefix("recursion_misses:")?.trim().parse().ok());
            skipped += misses.unwrap_or(0_u64);
        }
        Ok(skipped)
    }

    /// Returns the number of facts that found no room in the ring so far.
    ///
    /// # Errors
    /// A map that cannot be read.
    pub fn lost(&self) -> Result<u64, KernelError> {
        let map = self.object.maps().find(|map| map.name() == "lost").ok_or(KernelError::Foreign)?;
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let value = value.map_err(|error| KernelError::system(&"the count of lost facts", &root(&error)))?;
        let value: [u8; 8] = value.and_then(|value| value.try_into().ok()).ok_or(KernelError::Foreign)?;
        Ok(u64::from_ne_bytes(value))
    }
}

/// Returns the difference between the monotonic clock, which the facts use, and the time since 1970, in nanoseconds.
fn offset() -> Result<u64, KernelError> {
    let read = |clock| {
        let time = clock_gettime(clock).map_err(|error| KernelError::system(&"the clock", &error))?;
        Ok(Duration::from(time).as_nanos())
    };
    let (before, now) = (read(ClockId::CLOCK_MONOTONIC)?, read(ClockId::CLOCK_REALTIME)?);
    Ok(u64::try_from(now.saturating_sub(before)).unwrap_or(0))
}

// The structures of kernel/bpf/c/watch.bpf.c: their lengths, and the offsets of members.
const FACT: usize = 40;
const OPTIONS: usize = 40;
const OPENED: usize = 144;
const CLOSED: usize = 96;
const NAMED: usize = 56;

fn word(record: &[u8], at: usize) -> u32 {
    record.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn long(record: &[u8], at: usize) -> u64 {
    record.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

fn short(record: &[u8], at: usize) -> u16 {
    record.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

/// Returns a name of at most 16 letters, followed by zeros.
fn name(bytes: &[u8]) -> &str {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Reads a fact; `None` if the record is not a fact.
fn read(record: &[u8], offset: u64) -> Option<Fact<'_>> {
    let at = long(record, 8) + offset;
    let (number, end) = (word(record, 16), word(record, 20));
    let &[kind, state, flags, options] = record.get(32..36)? else { return None };
    let what = match kind {
        1 => opened(record.get(..OPENED)?, at)?,
        2 => What::Sent(Departure { at, seq: number, end, flags }),
        3 => {
            let options = record.get(FACT..FACT + usize::from(options).min(OPTIONS))?;
            let window = u16::try_from(end).unwrap_or(u16::MAX);
            What::Heard(Hearing { at, ack: number, window, flags, options })
        }
        4 => {
            let record = record.get(..CLOSED)?;
            What::Closed(Closing {
                at,
                bytes_acked: long(record, 40),
                retransmitted: word(record, 52),
                delivered: word(record, 56),
                srtt_us: word(record, 60),
                lost: word(record, 64),
                data_segments: word(record, 68),
                law: name(&record[72..88]),
                seen_segments: word(record, 88),
            })
        }
        5 => What::Named(name(record.get(FACT..NAMED)?)),
        _ => return None,
    };
    let numbers = Numbers { cwnd: word(record, 24), ssthresh: word(record, 28), state, at };
    Some(Fact { socket: long(record, 0), numbers, lost: word(record, 36), what })
}

fn opened(record: &[u8], at: u64) -> Option<What<'_>> {
    let family = short(record, 108);
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = record.get(at..at + 16)?.try_into().ok()?;
        let [a, b, c, d, ..] = bytes;
        // A dual-stack socket has IPv4 addresses mapped into IPv6 addresses.
        Some(if family == 2 {
            Ipv4Addr::new(a, b, c, d).into()
        } else {
            Ipv6Addr::from(bytes).to_canonical()
        })
    };
    let &[opener, sack, timestamps, scaled, theirs, ours, ecn] = record.get(110..117)? else { return None };
    let srtt_us = word(record, 88);
    let opening = Opening {
        at,
        local: SocketAddr::new(address(40)?, short(record, 104)),
        remote: SocketAddr::new(address(56)?, short(record, 106)),
        is_opener: opener != 0,
        // The kernel's value is eight times the RTT, and 0 if none was measured.
        round_trip: (srtt_us > 0).then(|| u64::from(srtt_us) * 1000 / 8),
        first: [word(record, 92), word(record, 96)],
        mss: u16::try_from(word(record, 84)).unwrap_or(u16::MAX),
        sack: sack != 0,
        timestamps: timestamps != 0,
        scales: (scaled != 0).then_some([ours, theirs]),
        window: word(record, 100),
        ecn: ecn != 0,
    };
    let (namespace, cookie) = (word(record, 80), long(record, 72));
    let law = name(&record[120..136]);
    let (retransmitted, data_segments) = (word(record, 136), word(record, 140));
    Some(What::Opened { opening, namespace, cookie, law, retransmitted, data_segments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(kind: u8, length: usize) -> Vec<u8> {
        let mut record = vec![0; length];
        record[..8].copy_from_slice(&7u64.to_ne_bytes());
        record[8..16].copy_from_slice(&1_000u64.to_ne_bytes());
        for (at, value) in [(16, 100u32), (20, 200), (24, 10), (28, 20), (36, 3)] {
            record[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        record[32..36].copy_from_slice(&[kind, 2, 0x10, 12]);
        record
    }

    #[test]
    fn facts_are_read_as_the_program_wrote_them() {
        let record = fact(2, FACT);
        let one = read(&record, 5).expect("a departure");
        assert_eq!((one.socket, one.lost), (7, 3));
        assert_eq!(one.numbers, Numbers { cwnd: 10, ssthresh: 20, state: 2, at: 1_005 });
        let sent = Departure { at: 1_005, seq: 100, end: 200, flags: 0x10 };
        assert!(matches!(one.what, What::Sent(what) if what == sent));
        let mut record = fact(3, FACT + OPTIONS);
        record[FACT] = 5;
        let heard = read(&record, 0).expect("an acknowledgement");
        let What::Heard(heard) = heard.what else { panic!("{heard:?}") };
        assert_eq!((heard.ack, heard.window, heard.options.len(), heard.options[0]), (100, 200, 12, 5));
        let mut record = fact(5, NAMED);
        record[FACT..FACT + 4].copy_from_slice(b"reno");
        assert!(matches!(read(&record, 0).expect("a name").what, What::Named("reno")));
        let mut record = fact(4, CLOSED);
        for (at, value) in [(52, 4u32), (68, 90), (88, 88)] {
            record[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        let closed = read(&record, 0).expect("an end");
        let What::Closed(closed) = closed.what else { panic!("{closed:?}") };
        assert_eq!((closed.retransmitted, closed.data_segments, closed.seen_segments), (4, 90, 88));
        assert!(read(&fact(9, FACT), 0).is_none() && read(&[2], 0).is_none());
        assert!(read(&fact(1, OPENED - 1), 0).is_none(), "cut short");
    }

    #[test]
    fn a_socket_of_both_families_has_addresses_of_ipv4() {
        let mut record = fact(1, OPENED);
        record[40..56].copy_from_slice(&Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped().octets());
        record[56..72].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        record[88..92].copy_from_slice(&(8 * 40_000u32).to_ne_bytes());
        record[104..106].copy_from_slice(&80u16.to_ne_bytes());
        record[108] = 10;
        record[110..117].copy_from_slice(&[1, 1, 0, 1, 7, 9, 0]);
        record[120..125].copy_from_slice(b"cubic");
        record[136] = 2;
        let one = read(&record, 0).expect("an opening");
        let What::Opened { opening, law, retransmitted, .. } = one.what else { panic!("{one:?}") };
        assert_eq!((opening.local.to_string().as_str(), law, retransmitted), ("10.0.0.1:80", "cubic", 2));
        assert_eq!(opening.remote.to_string(), "[::1]:0");
        assert_eq!((opening.round_trip, opening.scales), (Some(40_000_000), Some([9, 7])));
        assert!(opening.is_opener && opening.sack && !opening.timestamps && !opening.ecn);
    }
}
