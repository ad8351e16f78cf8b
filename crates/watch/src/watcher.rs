//! The connections that are followed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::str::FromStr;

use firstflight_inspect::{Departure, Found, Hearing, Opening, Socket};

use crate::start::Start;

/// The flag of a segment that ends its sender's data.
const FIN: u8 = 1;

/// What the kernel has for a threshold that was never set.
const INFINITE: u32 = 0x7fff_ffff;

/// The lengths of the prefixes by which destinations are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefixes {
    /// Of IPv4 addresses, in bits.
    pub v4: u8,
    /// Of IPv6 addresses, in bits.
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
    /// The prefix of an address.
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

/// The congestion control's numbers when something happened, before it took it in.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Numbers {
    /// The congestion window in segments.
    pub cwnd: u32,
    /// The threshold of slow start in segments.
    pub ssthresh: u32,
    /// The state of the congestion control, by Linux's numbers: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
}

/// A connection whose handshake is over.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a> {
    /// The connection as its socket has it.
    pub opening: Opening,
    /// The inode of its network namespace.
    pub namespace: u32,
    /// A number for the socket that no other has.
    pub cookie: u64,
    /// The name of its congestion control.
    pub law: &'a str,
}

/// The kernel's own exit from slow start.
#[derive(Clone, Copy, Debug)]
struct Left {
    cwnd: u32,
    ssthresh: u32,
    state: u8,
}

#[derive(Debug)]
struct Followed {
    number: u64,
    socket: Socket,
    about: Box<Start>,
    numbers: Numbers,
    /// The congestion control's numbers when the connection's end left.
    at_end: Option<Numbers>,
    left: Option<Left>,
    /// Whether it sent data.
    has_data: bool,
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
    /// Nothing is followed yet.
    pub fn new(prefixes: Prefixes) -> Self {
        Self { prefixes, ..Self::default() }
    }

    /// Connections that were opened so far.
    pub fn opened_so_far(&self) -> u64 {
        self.opened
    }

    /// Connections that are open.
    pub fn open_now(&self) -> usize {
        self.followed.len()
    }

    /// Connections that ended and had sent no data: they have no start-up.
    pub fn silent(&self) -> u64 {
        self.silent
    }

    /// Facts of connections whose beginning found no room in the ring.
    pub fn unknown_facts(&self) -> u64 {
        self.unknown
    }

    /// A handshake is over. `id` names the socket until it is closed. If `id` was another connection's, of whose end no fact came, that
    /// connection's start-up is told as one that is open still, if it sent data, and one lost fact at the least is counted with it.
    pub fn opened(&mut self, id: u64, numbers: Numbers, opened: &Opened<'_>) -> Option<Start> {
        self.opened += 1;
        let about = Start {
            socket: opened.cookie,
            namespace: opened.namespace,
            prefix: self.prefixes.of(opened.opening.remote.ip()),
            congestion_control: opened.law.to_owned(),
            ..Start::default()
        };
        let followed = Followed {
            number: self.opened,
            socket: Socket::new(&opened.opening),
            about: Box::new(about),
            numbers,
            at_end: None,
            left: None,
            has_data: false,
        };
        let mut before = self.followed.insert(id, followed)?;
        before.about.facts_lost = before.about.facts_lost.max(1);
        before.has_data.then(|| before.end(false))
    }

    /// A connection has another congestion control than before, and no full segment left yet. `lost` as in [`Watcher::sent`].
    pub fn named(&mut self, id: u64, lost: u32, law: &str) {
        if let Some(followed) = self.followed.get_mut(&id) {
            followed.about.facts_lost = followed.about.facts_lost.saturating_add(lost);
            law.clone_into(&mut followed.about.congestion_control);
        }
    }

    /// A segment left. `lost` facts of the socket found no room since the last one.
    pub fn sent(&mut self, id: u64, numbers: Numbers, lost: u32, departure: &Departure) {
        let Some(followed) = self.note(id, numbers, lost) else { return };
        if departure.flags & FIN != 0 {
            followed.at_end.get_or_insert(numbers);
        }
        followed.has_data |= departure.end.wrapping_sub(departure.seq) > u32::from(departure.flags & FIN);
        followed.socket.sent(departure);
    }

    /// A segment arrived.
    pub fn heard(&mut self, id: u64, numbers: Numbers, lost: u32, hearing: &Hearing<'_>) {
        if let Some(followed) = self.note(id, numbers, lost) {
            followed.socket.heard(hearing);
        }
    }

    /// A connection is over. Its start-up is told, if it sent data. Of its facts `lost` in all found no room.
    pub fn closed(
        &mut self,
        id: u64,
        numbers: Numbers,
        lost: u32,
        law: &str,
        retransmitted: u32,
    ) -> Option<Start> {
        self.note(id, numbers, 0)?;
        let mut followed = self.followed.remove(&id)?;
        followed.about.facts_lost = lost;
        if !followed.has_data {
            self.silent += 1;
            return None;
        }
        followed.about.kernel_retransmitted_segments = Some(retransmitted);
        if law != followed.about.congestion_control {
            followed.about.congestion_control_later = Some(law.to_owned());
        }
        Some(followed.end(true))
    }

    /// The start-ups of the connections that are still open and sent data, in the order in which they opened. Nothing is followed then.
    pub fn finish(&mut self) -> Vec<Start> {
        let mut rest: Vec<Followed> = std::mem::take(&mut self.followed).into_values().collect();
        rest.sort_by_key(|followed| followed.number);
        rest.retain(|followed| followed.has_data);
        rest.into_iter().map(|followed| followed.end(false)).collect()
    }

    /// Takes in what every fact has.
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
    fn note(&mut self, numbers: Numbers) {
        let before = self.numbers;
        self.numbers = numbers;
        if self.left.is_some() || numbers.ssthresh >= INFINITE {
            return;
        }
        if before.ssthresh >= INFINITE || numbers.cwnd >= numbers.ssthresh {
            self.left = Some(Left { cwnd: before.cwnd, ssthresh: numbers.ssthresh, state: numbers.state });
        }
    }

    fn end(self, is_over: bool) -> Start {
        let Self { number, socket, about, numbers, at_end, left, .. } = self;
        // Linux lowers the window of a connection that ends after an idle time as its end leaves.
        let numbers = at_end.unwrap_or(numbers);
        let mut start = Start { found: socket.finish(number, is_over), is_open: !is_over, ..*about };
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

/// The name of a state of Linux's congestion control.
fn state(number: u8) -> Option<&'static str> {
    ["open", "disorder", "cwr", "recovery", "loss"].get(usize::from(number)).copied()
}

/// What was acknowledged in the round of the exit, over its length.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn exit_rate(found: &Found) -> Option<f64> {
    let number = usize::try_from(found.exit_round?.checked_sub(1)?).ok()?;
    let round = found.rounds.get(number)?;
    let length = round.length_s.filter(|length| *length > 0.0)?;
    let segments = round.acks as f64 * round.segments_per_ack?;
    Some(segments * found.mss_bytes? as f64 * 8.0 / length)
}
