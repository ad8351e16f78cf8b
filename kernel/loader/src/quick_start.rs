//! Quick-Start (RFC 4782) for programs without Quick-Start support: programs at the interfaces of hosts that put requests into SYNs, and
//! one that is called for sockets. All of them are links, which the kernel removes with the process.

use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::os::linux::fs::MetadataExt;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram};
use std::path::{Path, PathBuf};
use std::time::Duration;

use firstflight::RateCode;
use libbpf_rs::{Link, MapCore, Object, ObjectBuilder, OpenObject, RingBufferBuilder};
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns};

use crate::error::KernelError;
use crate::load::{Handover, hush, refused, root};
use crate::settings::put;
use crate::{machine, names, objects, tcx};

/// Name in messages, and of the object.
const WHAT: &str = "quick-start";
/// The section of the settings.
const SETTINGS: &str = ".rodata.quick_start";
// `settings` of kernel/bpf/c/quick-start.bpf.c: where its members begin.
const RATE: usize = 8;
const ASKS: usize = 12;
const LAW: usize = 16;
const SIZE: usize = LAW + 16;
/// Maximum number of interfaces.
const MOST: usize = 2;

/// A host whose interface is watched.
#[derive(Clone, Copy, Debug)]
pub struct Interface<'a> {
    /// A process in the network namespace of the interface; this process's own namespace if `None`.
    pub process: Option<u32>,
    /// The name of the interface.
    pub name: &'a str,
    /// Whether requests are put into outgoing packets.
    pub asks: bool,
}

/// The connections that send requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asks {
    /// Connections that this host opens, in their SYN.
    pub opened: bool,
    /// Connections that this host accepts, in their SYN-ACK.
    pub accepted: bool,
}

/// An order to attach Quick-Start.
#[derive(Clone, Copy, Debug)]
pub struct QuickStartOrder<'a> {
    /// The rate to ask for.
    pub request: RateCode,
    /// The connections that send requests.
    pub asks: Asks,
    /// The congestion control of sockets that sent a request; `None` if they keep their own.
    pub law: Option<Handover>,
    /// The interfaces, one or two.
    pub interfaces: &'a [Interface<'a>],
}

/// Quick-Start at some interfaces, as long as this value lives.
pub struct QuickStart {
    links: Vec<Link>,
    object: Object,
    _holds: Vec<UnixDatagram>,
}

impl std::fmt::Debug for QuickStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuickStart").field("links", &self.links.len()).finish_non_exhaustive()
    }
}

/// The result of a request, or of sending at an approved rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All routers approved a rate, and the window became larger.
    Approved,
    /// All routers approved a rate, and the initial window holds as much.
    Small,
    /// A router, or the other host, denied it.
    Denied,
    /// The other host did not answer: it does not take part, or the request or the answer was dropped or stripped.
    Unanswered,
    /// A router on the way does not take part.
    PassedBy,
    /// The nonce shows that somebody raised the rate.
    Forged,
    /// The SYN with the request was lost.
    Lost,
    /// The first data was sent more than one RTT after the approval, so the approval was not used.
    Lapsed,
    /// The round trip at the approved rate is over.
    Ended,
}

/// A report about a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heard {
    /// The address and port of the host that asked.
    pub local: SocketAddr,
    /// Address and port of the other host.
    pub remote: SocketAddr,
    /// Result reported.
    pub outcome: Outcome,
    /// The requested rate.
    pub asked: RateCode,
    /// The rate that was approved.
    pub approved: RateCode,
    /// The window in segments, if a rate was approved.
    pub window: u32,
    /// The round trip in microseconds.
    pub rtt_us: u32,
    /// Segments of data sent, for [`Outcome::Ended`] and [`Outcome::Lapsed`].
    pub segments: u32,
    /// Number of these segments that were retransmitted.
    pub retransmitted: u32,
}

impl Outcome {
    /// All outcomes in the order of the numbers in quick-start.bpf.c, which begin with one that is never reported.
    const ALL: [Self; 9] = [
        Self::Approved,
        Self::Small,
        Self::Denied,
        Self::Unanswered,
        Self::PassedBy,
        Self::Forged,
        Self::Lost,
        Self::Lapsed,
        Self::Ended,
    ];

    /// Returns a word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Small => "small",
            Self::Denied => "denied",
            Self::Unanswered => "unanswered",
            Self::PassedBy => "passed-by",
            Self::Forged => "forged",
            Self::Lost => "lost",
            Self::Lapsed => "lapsed",
            Self::Ended => "ended",
        }
    }
}

/// Attaches Quick-Start.
///
/// # Errors
/// Missing rights, an interface that does not exist, Quick-Start already in its namespace, a kernel before 6.6, a refusal by the verifier.
pub fn quick_start(order: &QuickStartOrder<'_>) -> Result<QuickStart, KernelError> {
    machine::check_rights()?;
    if let Some(law) = order.law {
        let available = names::available()?;
        if !available.iter().any(|name| name == law.name()) {
            return Err(KernelError::NoLaw { law: law.name(), available: available.join(", ") });
        }
    }
    let own = File::open(OWN_NAMESPACE).map_err(KernelError::io(Path::new(OWN_NAMESPACE)))?;
    let places: Vec<Place<'_>> =
        order.interfaces.iter().map(|interface| Place::of(interface, &own)).collect::<Result<_, _>>()?;
    let holds = hold(&places, &own)?;
    hush();
    let mut open = ObjectBuilder::default()
        .open_memory(objects::other(WHAT)?)
        .map_err(|error| KernelError::system(&"the object of quick-start", &error))?;
    configure(&mut open, order, &places)?;
    let object = open.load().map_err(|error| refused(WHAT, &error))?;
    let mut links = Vec::new();
    for program in object.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        if name == "sockets" {
            let group = cgroup()?;
            let file = File::open(&group).map_err(KernelError::io(&group))?;
            let link = program.attach_cgroup(file.as_raw_fd());
            links.push(link.map_err(|error| KernelError::system(&group.display(), &root(&error)))?);
            continue;
        }
        for place in &places {
            // A host that sends no requests need not change outgoing packets; it sees requests in incoming packets.
            if name == "leaves" && !place.asks {
                continue;
            }
            let link = place.within(&own, || tcx::attach(&program, place.number))?;
            links.push(link.map_err(|error| KernelError::system(&place.name, &error))?);
        }
    }
    Ok(QuickStart { links, object, _holds: holds })
}

impl QuickStart {
    /// Passes the reports about connections to `take`, until `ended` returns true; calls `ended` twenty times a second.
    ///
    /// # Errors
    /// A ring that cannot be read.
    pub fn follow(
        &self,
        mut take: impl FnMut(Heard),
        mut ended: impl FnMut() -> bool,
    ) -> Result<(), KernelError> {
        let failed = |error: libbpf_rs::Error| KernelError::system(&"the ring of events", &root(&error));
        let events = self.object.maps().find(|map| map.name() == "events").ok_or(KernelError::Foreign)?;
        let mut rings = RingBufferBuilder::new();
        rings
            .add(&events, |record: &[u8]| {
                heard(record).map(&mut take);
                0
            })
            .map_err(failed)?;
        let ring = rings.build().map_err(failed)?;
        while !ended() {
            match ring.poll(Duration::from_millis(50)) {
                Err(error) if error.kind() != libbpf_rs::ErrorKind::Interrupted => return Err(failed(error)),
                _ => {}
            }
        }
        ring.consume().map_err(failed)
    }
}

const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";

/// An interface that was found.
struct Place<'a> {
    namespace: Option<File>,
    /// The inode of the namespace.
    inode: u32,
    name: &'a str,
    number: u32,
    asks: bool,
}

impl<'a> Place<'a> {
    fn of(interface: &Interface<'a>, own: &File) -> Result<Self, KernelError> {
        let Interface { process, name, asks } = *interface;
        let path = process.map(|process| PathBuf::from(format!("/proc/{process}/ns/net")));
        let namespace = path.map(|path| File::open(&path).map_err(KernelError::io(&path))).transpose()?;
        let inode = namespace.as_ref().unwrap_or(own).metadata();
        let inode = inode.map_err(|error| KernelError::system(&"the network namespace", &error))?.st_ino();
        let mut place = Self { namespace, inode: u32::try_from(inode).unwrap_or(0), name, number: 0, asks };
        let number = place.within(own, || if_nametoindex(name))?;
        place.number = number.map_err(|_| KernelError::NoInterface { name: name.to_owned() })?;
        Ok(place)
    }

    /// Does something within the namespace of the interface.
    fn within<T>(&self, own: &File, act: impl FnOnce() -> T) -> Result<T, KernelError> {
        let Some(namespace) = &self.namespace else { return Ok(act()) };
        let enter = |file: &File| {
            setns(file, CloneFlags::CLONE_NEWNET)
                .map_err(|error| KernelError::system(&"the network namespace of a host", &error))
        };
        enter(namespace)?;
        let done = act();
        enter(own)?;
        Ok(done)
    }
}

/// Reserves each network namespace of the interfaces, so that no other process attaches Quick-Start there: both would put requests into a
/// SYN. The name of an abstract socket belongs to the namespace, and is released with the process.
fn hold(places: &[Place<'_>], own: &File) -> Result<Vec<UnixDatagram>, KernelError> {
    let mut held: Vec<u32> = Vec::new();
    let mut sockets = Vec::new();
    for place in places {
        if held.contains(&place.inode) {
            continue;
        }
        let bind = || UnixDatagram::bind_addr(&UnixAddress::from_abstract_name(b"firstflight quick-start")?);
        let socket = place.within(own, bind)?.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => KernelError::Attached { interface: place.name.to_owned() },
            _ => KernelError::system(&place.name, &error),
        })?;
        held.push(place.inode);
        sockets.push(socket);
    }
    Ok(sockets)
}

/// Returns the mount point of cgroup2; programs attached there are called for all sockets.
pub(crate) fn cgroup() -> Result<PathBuf, KernelError> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let found = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let folder = words.next()?;
        (words.next()? == "cgroup2").then(|| PathBuf::from(folder))
    });
    found.ok_or(KernelError::NoCgroup)
}

/// Writes the settings.
fn configure(
    open: &mut OpenObject,
    order: &QuickStartOrder<'_>,
    places: &[Place<'_>],
) -> Result<(), KernelError> {
    if places.len() > MOST {
        return Err(KernelError::Foreign);
    }
    let mut map = open.maps_mut().find(|map| map.name() == SETTINGS).ok_or(KernelError::Foreign)?;
    let block = map.initial_value_mut().filter(|block| block.len() == SIZE).ok_or(KernelError::Foreign)?;
    let mut word = |at: usize, value: u32| block[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    for (number, place) in places.iter().enumerate() {
        word(4 * number, place.inode);
    }
    word(RATE, u32::from(order.request.get()));
    word(ASKS, u32::from(order.asks.opened) | u32::from(order.asks.accepted) << 1);
    put(&mut block[LAW..SIZE], order.law.map_or("", Handover::name))
}

/// The length of an event of quick-start.bpf.c in bytes, and the offsets of the two ports in it.
const EVENT: usize = 64;
const PORTS: usize = 32;

/// Reads an event.
fn heard(record: &[u8]) -> Option<Heard> {
    let record: &[u8; EVENT] = record.get(..EVENT)?.try_into().ok()?;
    let word = |number: usize| {
        let at = PORTS + 4 * number;
        u32::from_ne_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let port = |at: usize| u16::from_be_bytes([record[at], record[at + 1]]);
    let code = |word: u32| RateCode::from_low_bits(u8::try_from(word & 15).unwrap_or(0));
    Some(Heard {
        local: SocketAddr::new(address(record[..16].try_into().ok()?), port(PORTS)),
        remote: SocketAddr::new(address(record[16..32].try_into().ok()?), port(PORTS + 2)),
        outcome: *Outcome::ALL.get(usize::try_from(word(1)).ok()?.checked_sub(1)?)?,
        asked: code(word(2)),
        approved: code(word(3)),
        window: word(4),
        rtt_us: word(5),
        segments: word(6),
        retransmitted: word(7),
    })
}

/// Returns an address; an IPv4 address is in the last four bytes. `::1` is not one: no host has an address in 0.0.0.0/8.
fn address(bytes: [u8; 16]) -> IpAddr {
    match bytes {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] if a > 0 => Ipv4Addr::new(a, b, c, d).into(),
        bytes => Ipv6Addr::from(bytes).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_the_program_wrote_it() {
        let mut record = [0; EVENT];
        record[12..16].copy_from_slice(&[10, 0, 0, 2]);
        record[16..32].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        record[32..36].copy_from_slice(&[0x1f, 0x90, 0, 80]);
        for (number, word) in [9u32, 15, 8, 34, 40_226, 33, 2].into_iter().enumerate() {
            record[36 + 4 * number..40 + 4 * number].copy_from_slice(&word.to_ne_bytes());
        }
        let read = heard(&record).expect("an event");
        assert_eq!(
            (read.local.to_string(), read.remote.to_string()),
            ("10.0.0.2:8080".into(), "[::1]:80".into())
        );
        assert_eq!(
            (read.outcome, read.asked, read.approved.rate().bps()),
            (Outcome::Ended, RateCode::MAX, 10_240_000)
        );
        assert_eq!((read.window, read.rtt_us, read.segments, read.retransmitted), (34, 40_226, 33, 2));
        record[36] = 10;
        assert_eq!(heard(&record), None, "no such outcome");
        record[36] = 0;
        assert_eq!((heard(&record), heard(&record[1..])), (None, None));
    }
}
