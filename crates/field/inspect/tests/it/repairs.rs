//! A start-up that ends by a loss ends with the first retransmission, however the sender repairs.

use std::collections::{BTreeMap, BTreeSet};

use crate::made::{ACK, From, PLAIN, Segment, packet, pcap};
use crate::start::{MSS, RTT, Start};
use firstflight_inspect::{Found, inspect};

const COUNT: u32 = 700;
/// Time of a packet at the bottleneck, in microseconds.
const PACKET: u64 = 150;

/// A sender of one loss recovery by RFC 6675, simulated packet by packet. Times are microseconds.
struct Sender {
    start: Start,
    window: u32,
    /// Bytes acknowledged since the window grew by a packet, in congestion avoidance.
    grown: u32,
    next: u32,
    una: u32,
    sacked: BTreeSet<u32>,
    resent: BTreeSet<u32>,
    /// End of the data sent when the recovery began.
    recover: Option<u32>,
    /// Whether the first retransmission waits for the pipe, too.
    waits: bool,
    first_resent: Option<u64>,
    /// Arrivals at the receiver, by time.
    arrivals: BTreeMap<(u64, u32), u32>,
    free: u64,
}

impl Sender {
    fn send(&mut self, at: u64, place: u32, lost: &BTreeSet<u32>) {
        let (seq, options) = (1001 + place * MSS, crate::start::stamped(at));
        let is_first = self.resent.contains(&place) || !lost.contains(&place);
        self.start.packets.push((
            crate::made::DAY + at * 1000,
            Segment { from: From::Client, flags: ACK, seq, ack: 501, options, len: MSS as usize },
        ));
        if is_first {
            self.free = self.free.max(at) + PACKET;
            self.arrivals.insert((self.free + RTT / 2, place), place);
        }
    }

    /// Checks whether a packet is lost (RFC 6675 section 4): three packets above it were delivered.
    fn is_lost(&self, place: u32) -> bool {
        !self.sacked.contains(&place) && self.sacked.range(place..).count() >= 3
    }

    fn push(&mut self, at: u64, lost: &BTreeSet<u32>) {
        let missing: Vec<u32> = (self.una..self.next).filter(|place| self.is_lost(*place)).collect();
        let outstanding = self.next - self.una - u32::try_from(self.sacked.len()).unwrap();
        let repaired = missing.iter().filter(|place| self.resent.contains(place)).count();
        let gone = u32::try_from(missing.len() - repaired).unwrap();
        let mut pipe = outstanding - gone;
        if self.recover.is_none() && !missing.is_empty() {
            self.recover = Some(self.next);
            self.window /= 2;
        }
        for place in missing {
            let is_first = self.first_resent.is_none() && !self.waits;
            if !self.resent.contains(&place) && (pipe < self.window || is_first) {
                self.first_resent.get_or_insert(at);
                self.resent.insert(place);
                self.send(at, place, lost);
                pipe += 1;
            }
        }
        while pipe < self.window && self.next < COUNT {
            self.send(at, self.next, lost);
            self.next += 1;
            pipe += 1;
        }
    }

    fn receive(&mut self, to: u32, above: BTreeSet<u32>) {
        let more = to.saturating_sub(self.una);
        (self.una, self.sacked) = (to, above);
        match self.recover {
            Some(until) if to < until => {}
            Some(_) => {
                self.grown += more;
                if self.grown >= self.window {
                    self.grown -= self.window;
                    self.window += 1;
                }
            }
            None => self.window += more,
        }
    }
}

/// Returns the results at the sender, and the time of its first retransmission.
fn repaired(lost: &BTreeSet<u32>, waits: bool) -> (Found, f64) {
    let mut start = Start::default();
    start.open(0, 0);
    let mut sender = Sender {
        start,
        window: 10,
        grown: 0,
        next: 0,
        una: 0,
        sacked: BTreeSet::new(),
        resent: BTreeSet::new(),
        recover: None,
        waits,
        first_resent: None,
        arrivals: BTreeMap::new(),
        free: 0,
    };
    let began = RTT + 100;
    sender.push(began, lost);
    let mut received = BTreeSet::new();
    while let Some(((at, _), place)) = sender.arrivals.pop_first() {
        received.insert(place);
        let to = (0..=COUNT).find(|place| !received.contains(place)).unwrap();
        let above: BTreeSet<u32> = received.range(to..).copied().collect();
        let at = at + RTT / 2;
        let mut options = crate::start::stamped(at);
        let mut ends = Vec::new();
        for place in above.iter().rev() {
            match ends.last_mut() {
                Some((from, _)) if *from == place + 1 => *from = *place,
                _ => ends.push((*place, place + 1)),
            }
        }
        ends.truncate(3);
        if !ends.is_empty() {
            options.extend([1, 1, 5, u8::try_from(2 + 8 * ends.len()).unwrap()]);
            let numbers = ends.iter().flat_map(|(from, to)| [*from, *to]);
            options.extend(numbers.flat_map(|place| (1001 + place * MSS).to_be_bytes()));
        }
        let ack = 1001 + to * MSS;
        let segment = Segment { from: From::Server, flags: ACK, seq: 501, ack, options, len: 0 };
        sender.start.packets.push((crate::made::DAY + at * 1000, segment));
        sender.receive(to, above);
        sender.push(at + 10, lost);
    }
    let mut packets = sender.start.packets;
    packets.sort_by_key(|(at, _)| *at);
    let frames: Vec<_> = packets.iter().map(|(at, segment)| (*at, packet(segment, false))).collect();
    let found = inspect(&pcap(PLAIN, &frames)[..], false).expect("a capture").senders.remove(0).found;
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let resent = (sender.first_resent.expect("something was lost") - began) as f64 / 1e6;
    (found, resent)
}

#[test]
fn the_exit_is_the_first_retransmission_even_if_the_sender_waited() {
    let bursts: [BTreeSet<u32>; 4] = [
        (200..240).collect(),
        (180..260).step_by(2).collect(),
        (220..226).collect(),
        (150..310).step_by(3).collect(),
    ];
    for lost in bursts {
        for waits in [true, false] {
            let (found, resent) = repaired(&lost, waits);
            assert_eq!(found.retransmitted_segments, Some(lost.len() as u64));
            assert_eq!(found.exit_cause, Some("loss"), "{lost:?} {waits}: {:?}", found.undefined);
            let found_of = found.exit_time_s.expect("a time");
            assert!((found_of - resent).abs() < 1e-6, "{lost:?} {waits}: {found_of}, not {resent}");
        }
    }
}

#[test]
fn no_round_delivers_faster_than_the_link() {
    let link = f64::from(MSS) * 8.0 * 1e6 / f64::from(u32::try_from(PACKET).unwrap());
    for lost in [(630..640).collect(), (600..660).step_by(2).collect()] {
        let (found, _) = repaired(&lost, false);
        let rates: Vec<f64> = found.rounds.iter().filter_map(|round| round.delivery_rate_bps).collect();
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        assert!(fastest <= link * (1.0 + 1e-9), "{rates:?} over {link}");
        assert!(fastest > 0.95 * link, "{rates:?} of {link}");
    }
}
