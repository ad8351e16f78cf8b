//! Watching a flow's segments at both ends.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use firstflight::Time;
use firstflight_measure::Tap;
use firstflight_scenario::{Goal, Scenario};
use firstflight_tcp::Role;
use firstflight_tcp::{AckPolicy, EndpointEvent, Flags, Segment, Transmit};

use super::ledger::Ledger;
use super::ranges::Ranges;

/// The effect of an event on the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// It fired, or a SYN was sent.
    TimedOut,
    /// New data was acknowledged, some of which may have been retransmitted.
    Advanced,
    /// New data was acknowledged, none of which was retransmitted: an RTT sample.
    Sampled,
    /// Nothing.
    Other,
}

/// Observations of a flow.
///
/// The simulator's segments say which bytes of the stream they carry, but do not contain the bytes. The value of a byte follows from its
/// place in the stream alone (`firstflight_wire::payload`). So bytes arrive intact and in order under two conditions: every segment that
/// arrives was sent and lies within the stream, and the application is given exactly the gapless part of the ranges that arrived and were
/// not discarded.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Payload bytes of the whole stream, of a full segment, and of the receive buffer.
    whole: u64,
    mss: u64,
    buffer: u64,
    /// Number of out-of-order ranges that the receiver keeps; beyond it, the receiver discards segments that make no progress.
    most_ranges: usize,
    /// Unit to which the window is rounded up, so that its edge never moves back (RFC 7323 section 2.4).
    unit: u64,
    /// The sequence number of the first payload byte.
    first: Option<u32>,
    copies: BTreeMap<(u64, u32), u32>,
    /// Whether the SYN was answered, and the newest offset acknowledged since.
    answered: bool,
    acknowledged: u64,
    /// End of the data sent, and end of the part that was retransmitted.
    sent: u64,
    sent_again: u64,
    arrived: Ranges,
    fin_arrived: bool,
    delivered: Vec<(u64, u64)>,
    ledger: Ledger,
    /// The first exit of start-up that stands, and since when: at the end, or while the run was measured.
    standing: Vec<(u64, Option<&'static str>)>,
    turns: Vec<(u64, Turn)>,
    digest: Digest,
    fault: Option<String>,
}

/// The tap that fills it.
pub(crate) struct Witness(pub(crate) Arc<Mutex<Seen>>);

impl Seen {
    pub(crate) fn new(path: &Scenario) -> Self {
        let size = match path.goal {
            Goal::Size(size) => size.get(),
            Goal::Duration(_) => 0,
        };
        Self {
            whole: size * path.rounds.map_or(1, |rounds| u64::from(rounds.count)),
            mss: u64::from(path.mss),
            buffer: path.rwnd.get(),
            most_ranges: if path.ack == AckPolicy::WindowsXp { 100 } else { usize::MAX },
            unit: 1,
            first: None,
            copies: BTreeMap::new(),
            answered: false,
            acknowledged: 0,
            sent: 0,
            sent_again: 0,
            arrived: Ranges::default(),
            fin_arrived: false,
            delivered: Vec::new(),
            ledger: Ledger::default(),
            standing: Vec::new(),
            turns: Vec::new(),
            digest: Digest(0xcbf2_9ce4_8422_2325),
            fault: None,
        }
    }

    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.clone()
    }

    pub(crate) fn digest(&self) -> u64 {
        self.digest.0
    }

    /// Returns when the application was given data, and how many bytes in total.
    pub(crate) fn delivered(&self) -> &[(u64, u64)] {
        &self.delivered
    }

    /// Returns the number of copies of each segment, named by offset and length, that were sent and did not arrive.
    pub(crate) fn copies_not_arrived(&self) -> BTreeMap<(u64, u32), u32> {
        self.copies.clone()
    }

    /// Every event of the flow, in order.
    pub(crate) fn turns(&self) -> &[(u64, Turn)] {
        &self.turns
    }

    /// Returns the first exit that stood at `end`. After it a connection with rounds continues, for its listener alone.
    pub(crate) fn first_standing_exit(&self, end: u64) -> Option<&'static str> {
        self.standing.iter().rev().find(|(at, _)| *at <= end)?.1
    }

    /// Keeps the first fault.
    fn demand(&mut self, at: Time, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.fault.is_none() {
            self.fault = Some(format!("at {} ns {}", at.nanos(), what()));
        }
    }

    fn take_down(&mut self, at: Time, turn: Turn, what: std::fmt::Arguments<'_>) {
        self.turns.push((at.nanos(), turn));
        let _ = writeln!(self.digest, "{} {what}", at.nanos());
    }

    /// The offset of a sequence number: streams here are shorter than 2^32 bytes. The SYN's own is before the first.
    fn offset(&self, number: u32) -> u64 {
        u64::from(number.wrapping_sub(self.first.unwrap_or(0)))
    }

    fn client_sent(&mut self, at: Time, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            self.first = Some(segment.seq.wrapping_add(1));
        }
        if segment.len == 0 {
            return;
        }
        let (start, len) = (self.offset(segment.seq), u32::from(segment.len));
        let end = start + u64::from(len);
        if start < self.sent {
            self.sent_again = self.sent_again.max(end);
        }
        self.sent = self.sent.max(end);
        *self.copies.entry((start, len)).or_default() += 1;
        let (whole, mss, prefix) = (self.whole, self.mss, self.arrived.prefix());
        let buffer = self.buffer + self.unit - 1;
        self.demand(at, end <= whole, || format!("bytes {start}..{end} left of a stream of {whole}"));
        self.demand(at, u64::from(len) <= mss, || format!("{len} bytes in a segment of at most {mss}"));
        self.demand(at, end <= prefix + buffer, || {
            format!("byte {end} left with {prefix} received and a buffer of {buffer}")
        });
    }

    fn server_received(&mut self, at: Time, segment: &Segment) {
        self.fin_arrived |= segment.flags.has(Flags::FIN);
        if segment.len == 0 {
            return;
        }
        let (start, len) = (self.offset(segment.seq), u32::from(segment.len));
        let copies = self.copies.entry((start, len)).or_default();
        let left = copies.checked_sub(1);
        *copies = left.unwrap_or(0);
        self.demand(at, left.is_some(), || format!("{len} bytes at {start} arrived that never left"));
        let before = self.arrived.prefix();
        if start > before && self.arrived.beyond() >= self.most_ranges {
            return;
        }
        self.arrived.add(start, start + u64::from(len));
        let prefix = self.arrived.prefix();
        if prefix > before {
            self.delivered.push((at.nanos(), prefix));
        }
    }

    /// Checks that the receiver reports exactly the data that arrived.
    fn server_sent(&mut self, at: Time, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            self.unit = segment.window_scale.map_or(1, |scale| 1 << scale);
            return;
        }
        let (ack, prefix) = (self.offset(segment.ack), self.arrived.prefix());
        let fin = u64::from(self.fin_arrived && prefix == self.whole);
        self.demand(at, ack == prefix + fin, || format!("{ack} acknowledged, {prefix} arrived in order"));
        for block in segment.sack_blocks() {
            let (start, end) = (self.offset(block.start), self.offset(block.end));
            // An out-of-order FIN takes one sequence number.
            let holds = self.arrived.holds(start, end.min(self.whole));
            self.demand(at, holds && start < end, || format!("{start}..{end} SACKed and not received"));
        }
    }

    fn client_received(&mut self, segment: &Segment) -> Turn {
        if segment.flags.has(Flags::SYN) {
            let again = std::mem::replace(&mut self.answered, true);
            return if again { Turn::Other } else { Turn::Advanced };
        }
        let ack = self.offset(segment.ack);
        let before = self.acknowledged;
        self.acknowledged = before.max(ack);
        match ack > before {
            // The FIN, which has no byte of the stream, may have been retransmitted, too.
            true if before >= self.sent_again && ack <= self.sent => Turn::Sampled,
            true => Turn::Advanced,
            false => Turn::Other,
        }
    }
}

impl Tap for Witness {
    fn sent(&mut self, at: Time, side: Role, transmit: &Transmit, offset: u64) {
        let mut seen = self.0.lock().expect("no panic");
        let segment = &transmit.segment;
        match side {
            Role::Client => seen.client_sent(at, segment),
            Role::Server => seen.server_sent(at, segment),
        }
        let syn = side == Role::Client && segment.flags.has(Flags::SYN);
        let turn = if syn { Turn::TimedOut } else { Turn::Other };
        seen.take_down(at, turn, format_args!("{side:?} sent {transmit:?} {offset}"));
    }

    fn arrived(&mut self, at: Time, side: Role, segment: &Segment, offset: u64) {
        let mut seen = self.0.lock().expect("no panic");
        let turn = match side {
            Role::Client => seen.client_received(segment),
            Role::Server => {
                seen.server_received(at, segment);
                Turn::Other
            }
        };
        seen.take_down(at, turn, format_args!("{side:?} has {segment:?} {offset}"));
    }

    fn event(&mut self, at: Time, side: Role, event: &EndpointEvent) {
        let mut seen = self.0.lock().expect("no panic");
        if let (Role::Client, EndpointEvent::Control(note)) = (side, event) {
            if let Err(fault) = seen.ledger.follow(note) {
                seen.demand(at, false, || fault);
            }
            let first = seen.ledger.first();
            seen.standing.push((at.nanos(), first));
        }
        let out = side == Role::Client && *event == EndpointEvent::TimedOut;
        let turn = if out { Turn::TimedOut } else { Turn::Other };
        seen.take_down(at, turn, format_args!("{side:?} {event:?}"));
    }

    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// FNV-1a of 64 bits over text.
#[derive(Clone, Debug)]
struct Digest(u64);

impl std::fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = text
            .bytes()
            .fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(())
    }
}
