//! Follows the open connections of a host.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::str::FromStr;

use firstflight_inspect::{Departure, Found, Hearing, Moment, Opening, Socket};

use crate::start::Start;

/// The FIN flag, which ends the sender's data.
const FIN: u8 = 1;

/// The kernel's value of an ssthresh that was never set.
const INFINITE: u32 = 0x7fff_ffff;

/// Lengths of the prefixes by which destinations are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefixes {
    /// Prefix length for IPv4 addresses, in bits.
    pub v4: u8,
    /// Prefix length for IPv6 addresses, in bits.
    pub v6: u8,
}

impl Default for Prefixes {
    fn default() -> Self {
        Self { v4: 24, v6: 48 }
    }
}

impl FromStr for Prefixes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || {
            format!(
                "`{text}` is not two lengths of prefixes, of IPv4 up to 32 and of IPv6 up to 128, such as 24/48"
            )
        };
        let (v4, v6) = text.split_once('/').ok_or_else(wanted)?;
        let length = |text: &str, most: u8| text.parse().ok().filter(|length| *length <= most);
        let (v4, v6) = length(v4, 32).zip(length(v6, 128)).ok_or_else(wanted)?;
        Ok(Self { v4, v6 })
    }
}

impl Prefixes {
    /// Returns the prefix of an address.
    pub fn of(self, address: IpAddr) -> String {
        match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.v4)).unwrap_or(0);
                format!("{}/{}", std::net::Ipv4Addr::from_bits(address.to_bits() & mask), self.v4)
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.v6)).unwrap_or(0);
                format!("{}/{}", std::net::Ipv6Addr::from_bits(address.to_bits() & mask), self.v6)
            }
        }
    }
}

/// The congestion control's variables just before it processed an event.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Numbers {
    /// The congestion window in segments.
    pub cwnd: u32,
    /// The slow start threshold in segments.
    pub ssthresh: u32,
    /// The state of the congestion control with Linux's numbers: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
    /// Time of the event in nanoseconds, with the origin of the segments' times.
    pub at: u64,
}

/// A connection that has completed its handshake.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a> {
    /// The connection's values in its socket.
    pub opening: Opening,
    /// The inode of the socket's network namespace.
    pub namespace: u32,
    /// The kernel's unique number of the socket (its cookie).
    pub cookie: u64,
    /// The name of the congestion control.
    pub law: &'a str,
    /// Number of segments retransmitted in the handshake.
    pub retransmitted: u32,
    /// Number of segments with data that were sent before.
    pub data_segments: u32,
}

/// A connection that is closed, by the kernel's statistics.
#[derive(Clone, Copy, Debug)]
pub struct Closed<'a> {
    /// Total number of the connection's events that were lost because the ring buffer was full.
    pub lost: u32,
    /// The name of the congestion control.
    pub law: &'a str,
    /// Number of retransmitted segments.
    pub retransmitted: u32,
    /// Number of segments with data that the kernel counts.
    pub data_segments: u32,
    /// Number of segments with data that were seen to leave.
    pub seen_segments: u32,
}

/// The kernel's variables at its own exit from slow start.
#[derive(Clone, Copy, Debug)]
struct Left {
    cwnd: u32,
    ssthresh: u32,
    state: u8,
    /// The sender at that time.
    moment: Moment,
}

/// A congestion control that a connection used.
#[derive(Debug)]
struct Governed {
    law: String,
    /// Payload bytes that the connection sent with this congestion control before its start-up ended.
    bytes: u64,
}

/// Maximum number of congestion controls kept per connection. A further one replaces the last.
const MAX_LAWS: usize = 8;

/// Payload of a segment: more than a greeting has. Segments of usual paths carry at least so much with all options of TCP.
const SEGMENT: u64 = 1200;

#[derive(Debug)]
struct Followed {
    number: u64,
    socket: Socket,
    about: Box<Start>,
    numbers: Numbers,
    /// The congestion control's variables when the FIN was first sent.
    at_end: Option<Numbers>,
    left: Option<Left>,
    /// The congestion controls of the connection, the current one last.
    laws: Vec<Governed>,
    /// Whether the connection sent data.
    has_data: bool,
    /// Number of transmissions of a FIN without data. All but the first are retransmissions.
    bare_ends: u64,
    /// The kernel's count of retransmitted segments when the connection opened and, once known, when it closed.
    retransmitted: (u32, Option<u32>),
    /// The kernel's count of segments with data when the connection opened.
    data_segments: u32,
}

/// All connections that are followed.
#[derive(Debug, Default)]
pub struct Watcher {
    prefixes: Prefixes,
    followed: BTreeMap<u64, Followed>,
    opened: u64,
    silent: u64,
    unknown: u64,
}

impl Watcher {
    /// Creates a watcher that follows no connection yet.
    pub fn new(prefixes: Prefixes) -> Self {
        Self { prefixes, ..Self::default() }
    }

    /// Returns the number of connections opened so far.
    pub fn opened_so_far(&self) -> u64 {
        self.opened
    }

    /// Returns the number of open connections.
    pub fn open_now(&self) -> usize {
        self.followed.len()
    }

    /// Returns the number of connections that ended without sending data. They have no start-up.
    pub fn silent(&self) -> u64 {
        self.silent
    }

    /// Returns the number of events of unknown connections: the ring buffer was full when their opening should have been reported.
    pub fn unknown_facts(&self) -> u64 {
        self.unknown
    }

    /// Records the end of a handshake. `id` identifies the socket until it is closed. If an earlier connection with this `id` is still
    /// open, the report of its closing was lost. In this case, if it sent data, returns its start-up as that of an open connection with at
    /// least one lost event.
    pub fn opened(&mut self, id: u64, numbers: Numbers, opened: &Opened<'_>) -> Option<Start> {
        self.opened += 1;
        let about = Start {
            socket: opened.cookie,
            namespace: opened.namespace,
            prefix: self.prefixes.of(opened.opening.remote.ip()),
            ..Start::default()
        };
        let followed = Followed {
            number: self.opened,
            socket: Socket::new(&opened.opening),
            about: Box::new(about),
            numbers,
            at_end: None,
            left: None,
            laws: vec![Governed { law: opened.law.to_owned(), bytes: 0 }],
            has_data: false,
            bare_ends: 0,
            retransmitted: (opened.retransmitted, None),
            data_segments: opened.data_segments,
        };
        let mut before = self.followed.insert(id, followed)?;
        before.about.facts_lost = before.about.facts_lost.max(1);
        before.has_data.then(|| before.end(false))
    }

    /// Records a change of the congestion control to `law`. The other parameters are those of [`Watcher::sent`].
    pub fn named(&mut self, id: u64, numbers: Numbers, lost: u32, law: &str) {
        if let Some(followed) = self.note(id, numbers, lost) {
            followed.governed_by(law);
        }
    }

    /// Records a sent segment. `numbers` are the variables at this time. `lost` is the number of the socket's events lost since the
    /// previous one, because the ring buffer was full.
    pub fn sent(&mut self, id: u64, numbers: Numbers, lost: u32, departure: &Departure) {
        let Some(followed) = self.note(id, numbers, lost) else { return };
        let payload =
            departure.end.wrapping_sub(departure.seq).saturating_sub((departure.flags & FIN).into());
        if departure.flags & FIN != 0 {
            followed.at_end.get_or_insert(numbers);
            followed.bare_ends += u64::from(payload == 0);
        }
        if let Some(now) = followed.laws.last_mut().filter(|_| followed.left.is_none()) {
            now.bytes += u64::from(payload);
        }
        followed.has_data |= payload > 0;
        followed.socket.sent(departure);
    }

    /// Records a received segment. The other parameters are those of [`Watcher::sent`].
    pub fn heard(&mut self, id: u64, numbers: Numbers, lost: u32, hearing: &Hearing<'_>) {
        if let Some(followed) = self.note(id, numbers, lost) {
            followed.socket.heard(hearing);
        }
    }

    /// Records the end of a connection. Returns its start-up if it sent data.
    pub fn closed(&mut self, id: u64, numbers: Numbers, closed: &Closed<'_>) -> Option<Start> {
        let Closed { lost, law, retransmitted, data_segments, seen_segments } = *closed;
        self.note(id, numbers, 0)?;
        let mut followed = self.followed.remove(&id)?;
        followed.about.facts_lost = lost;
        if !followed.has_data {
            self.silent += 1;
            return None;
        }
        followed.about.kernel_retransmitted_segments = Some(retransmitted);
        followed.retransmitted.1 = Some(retransmitted);
        let counted = data_segments.wrapping_sub(followed.data_segments);
        followed.about.unseen_segments = Some(counted.saturating_sub(seen_segments));
        followed.governed_by(law);
        Some(followed.end(true))
    }

    /// Returns the start-ups of the open connections that sent data, in the order in which these opened. Afterwards the watcher follows no
    /// connection.
    pub fn finish(&mut self) -> Vec<Start> {
        let mut rest: Vec<Followed> = std::mem::take(&mut self.followed).into_values().collect();
        rest.sort_by_key(|followed| followed.number);
        rest.retain(|followed| followed.has_data);
        rest.into_iter().map(|followed| followed.end(false)).collect()
    }

    /// Records the values that every event has. Returns the connection, or `None` if its opening was not reported.
    fn note(&mut self, id: u64, numbers: Numbers, lost: u32) -> Option<&mut Followed> {
        let Some(followed) = self.followed.get_mut(&id) else {
            self.unknown += 1;
            return None;
        };
        followed.about.facts_lost = followed.about.facts_lost.saturating_add(lost);
        followed.note(numbers);
        Some(followed)
    }
}

impl Followed {
    /// Records that the connection uses congestion control `law` from now on.
    fn governed_by(&mut self, law: &str) {
        let is_full = self.laws.len() == MAX_LAWS;
        match self.laws.last_mut() {
            Some(now) if now.law == law => {}
            Some(now) if now.bytes == 0 || is_full => law.clone_into(&mut now.law),
            _ => self.laws.push(Governed { law: law.to_owned(), bytes: 0 }),
        }
    }

    fn note(&mut self, numbers: Numbers) {
        let before = self.numbers;
        self.numbers = numbers;
        if self.left.is_some() || numbers.ssthresh >= INFINITE {
            return;
        }
        if before.ssthresh >= INFINITE || numbers.cwnd >= numbers.ssthresh {
            self.left = Some(Left {
                cwnd: before.cwnd,
                ssthresh: numbers.ssthresh,
                state: numbers.state,
                moment: self.socket.moment(numbers.at),
            });
        }
    }

    fn end(self, is_over: bool) -> Start {
        let Self { number, mut socket, about, numbers, at_end, left, laws, bare_ends, retransmitted, .. } =
            self;
        // When a connection ends after an idle time, Linux reduces the window as it sends the FIN. The variables just before are used.
        let numbers = at_end.unwrap_or(numbers);
        let (law, later) = governing(laws);
        if is_bbr(&law) {
            socket.drained(left.map(|left| left.moment));
        }
        let mut start = Start { found: socket.finish(number, is_over), is_open: !is_over, ..*about };
        (start.congestion_control, start.congestion_control_later) = (law, later);
        start.unseen_retransmissions = retransmitted.1.map(|at_end| {
            let seen = start.found.retransmitted_segments.unwrap_or(0) + bare_ends.saturating_sub(1);
            u64::from(at_end.saturating_sub(retransmitted.0)).saturating_sub(seen)
        });
        start.cwnd_segments = numbers.cwnd;
        start.ssthresh_segments = Some(numbers.ssthresh).filter(|ssthresh| *ssthresh < INFINITE);
        start.kernel_exit_cwnd_segments = left.map(|left| left.cwnd);
        start.kernel_exit_ssthresh_segments = left.map(|left| left.ssthresh);
        start.kernel_exit_state = left.and_then(|left| state(left.state));
        start.exit_rate_bps = exit_rate(&start.found);
        let mut lacks = |fields: &[&'static str], why: &str| {
            start.found.undefined.extend(fields.iter().map(|field| (*field, why.to_owned())));
        };
        if left.is_none() {
            let why = "the threshold of slow start was never finite and reached";
            lacks(&["kernel_exit_cwnd_segments", "kernel_exit_ssthresh_segments", "kernel_exit_state"], why);
        }
        if start.exit_rate_bps.is_none() {
            lacks(&["exit_rate_bps"], "no round trip in which start-up ended is known");
        }
        start
    }
}

/// Returns the first congestion control that sent at least a segment, or else the one that sent most, and the last one if it differs. A
/// program may send a greeting before it chooses a congestion control. After that, a replacement may be a result of start-up: a scheme
/// hands over when it ends.
fn governing(mut laws: Vec<Governed>) -> (String, Option<String>) {
    let first = laws.iter().map(|one| one.bytes).find(|bytes| *bytes >= SEGMENT);
    let most = first.or_else(|| laws.iter().map(|one| one.bytes).max()).unwrap_or(0);
    let last = laws.pop().map(|one| one.law).unwrap_or_default();
    match laws.into_iter().find(|one| most > 0 && one.bytes == most) {
        Some(one) if one.law != last => (one.law, Some(last)),
        _ => (last, None),
    }
}

/// Checks whether the congestion control is a version of BBR. Each sets a finite ssthresh when Drain begins, and at no other end of its
/// start-up.
fn is_bbr(law: &str) -> bool {
    law.starts_with("bbr")
}

/// Returns the name of a state of Linux's congestion control; `None` for an unknown number.
fn state(number: u8) -> Option<&'static str> {
    ["open", "disorder", "cwr", "recovery", "loss"].get(usize::from(number)).copied()
}

/// Returns the rate at which payload was delivered in the round in which start-up ended; `None` if it is not known.
fn exit_rate(found: &Found) -> Option<f64> {
    let number = usize::try_from(found.exit_round?.checked_sub(1)?).ok()?;
    found.rounds.get(number)?.delivery_rate_bps
}
