//! Decides from the packets' sequence numbers and timestamps whether a file's times or its order is right.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use firstflight_tcp::{Flags, Segment};

use crate::packet::Packet;

/// The numbers that a host has sent in a connection.
#[derive(Clone, Copy, Default)]
struct Said {
    /// The host's latest TCP timestamp. `echo` is the latest timestamp that it echoed.
    stamp: Option<u32>,
    echo: Option<u32>,
    /// The host's highest cumulative acknowledgement. `sacked` is the end of the selectively acknowledged data, `end` the end of the data
    /// that it sent.
    acknowledged: Option<u32>,
    sacked: Option<u32>,
    end: Option<u32>,
}

/// Checks whether `number` precedes `known`. Returns false if `known` is `None`.
fn is_before(number: u32, known: Option<u32>) -> bool {
    known.is_some_and(|known| number.wrapping_sub(known).cast_signed() < 0)
}

fn raise(known: &mut Option<u32>, number: u32) {
    if known.is_none() || is_before(known.unwrap_or(0), Some(number)) {
        *known = Some(number);
    }
}

/// Identifies one host in a connection: source, destination, and the tunnel's hash.
type Key = (SocketAddr, SocketAddr, u64);
/// Identifies a capture point at which the host's packets pass: the remaining hops and the interface.
type Place = (u8, (u32, u32));

/// The numbers sent in the packets so far.
#[derive(Default)]
struct Ledger {
    /// The numbers of each host at each capture point. They are separate because a copy at another capture point repeats them.
    own: BTreeMap<(Key, Place), Said>,
    /// The numbers of each host at all capture points together.
    all: BTreeMap<Key, Said>,
}

impl Ledger {
    /// Adds a packet. Returns how many of its numbers contradict earlier ones. A host's timestamps and acknowledgements do not go back (RFC
    /// 7323 section 5.2, RFC 9293 section 3.4), and no timestamp is sent after its echo. Data that was acknowledged before, or precedes
    /// earlier data, also counts. It can be a retransmission, but these are equally frequent in any order.
    fn enter(&mut self, packet: &Packet) -> u32 {
        let key = (packet.source, packet.destination, packet.tunnel);
        let place = (packet.point.hops, packet.point.interface);
        let other = self.all.get(&(key.1, key.0, key.2)).copied().unwrap_or_default();
        let all = self.all.entry(key).or_default();
        let own = self.own.entry((key, place)).or_default();
        let before = *own;
        let Segment { flags, seq, ack, timestamps, .. } = packet.segment;
        let mut count = 0;
        if flags.has(Flags::SYN) && !flags.has(Flags::ACK) {
            // Data before the host's SYN is a contradiction. The packets after the SYN may belong to another connection.
            count += u32::from(is_before(seq, before.end) || is_before(seq, other.acknowledged));
            (*own, *all) = Default::default();
        }
        if let Some(stamps) = timestamps {
            count += u32::from(is_before(stamps.value, before.stamp) || is_before(stamps.value, other.echo));
            raise(&mut own.stamp, stamps.value);
        }
        if flags.has(Flags::ACK) {
            // A block below the acknowledgement reports a duplicate, so it is not used.
            let ends = packet.segment.sack_blocks().iter().map(|block| block.end);
            let highest =
                ends.filter(|end| is_before(ack, Some(*end))).max_by_key(|end| end.wrapping_sub(ack));
            let sacked_less = highest.is_some_and(|highest| is_before(highest, before.sacked));
            count += u32::from(is_before(ack, before.acknowledged) || sacked_less);
            if let Some(highest) = highest {
                raise(&mut own.sacked, highest);
            }
            raise(&mut own.acknowledged, ack);
            raise(&mut all.acknowledged, ack);
            if let Some(stamps) = timestamps {
                raise(&mut all.echo, stamps.echo);
            }
        }
        if packet.len > 0 {
            let end = seq.wrapping_add(packet.len);
            count +=
                u32::from(is_before(seq, before.end) || is_before(end.wrapping_sub(1), other.acknowledged));
            raise(&mut own.end, end);
        }
        count
    }
}

/// Returns the number of contradictions among the packets in this order. The `context` packets precede them in any order; contradictions
/// among these do not count.
fn contradictions(context: &[&Packet], packets: &[&Packet]) -> u32 {
    let mut ledger = Ledger::default();
    let mut enter = |packet: &&Packet| {
        if packet.segment.flags.has(Flags::RST) { 0 } else { ledger.enter(packet) }
    };
    let _before: u32 = context.iter().map(&mut enter).sum();
    packets.iter().map(enter).sum()
}

/// Minimum number of packets of one direction that form a block.
const A_BLOCK: usize = 8;

/// Checks whether the file has the two directions in separate blocks. This is so if the packets `behind` belong to directions that have no
/// packet in `before`, while their reverse directions have packets there.
fn are_directions_apart(before: &[&Packet], behind: &[&Packet]) -> bool {
    let has =
        |source, destination| before.iter().any(|one| (one.source, one.destination) == (source, destination));
    before.len() >= A_BLOCK
        && behind
            .iter()
            .take(A_BLOCK)
            .all(|one| has(one.destination, one.source) && !has(one.source, one.destination))
}

/// Checks whether the packets' times are right, rather than their order in the file. `context` and `before` are in order. The packets
/// `behind` follow them in the file, and the earliest of `behind` precedes the first of `before` in time. If the numbers fit either order,
/// the times are right, unless they are so far apart (`is_far`) that no queue explains it.
pub(super) fn times_are_true(
    context: &[&Packet],
    before: &[&Packet],
    behind: &[&Packet],
    is_far: bool,
) -> bool {
    let file = [before, behind].concat();
    let mut time = file.clone();
    time.sort_by_key(|packet| packet.at);
    let [in_file, in_time] = [file, time].map(|packets| contradictions(context, &packets));
    in_time < in_file || in_time == in_file && (!is_far || are_directions_apart(before, behind))
}
