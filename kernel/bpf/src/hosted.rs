//! A start-up scheme as a socket has it, and what a reader of sockets in C calls for it: `NAME.begin` and `NAME.hear`.
//!
//! The same source, built natively, is what decisions of a kernel are compared with.

use firstflight::registry::Numbers;
use firstflight::schemes::Initial;
use firstflight::{Bytes, Event, Judge, Lead, Origin, Pacing, Path, Plan, Sent, Startup, Step, Tag};

use crate::facts::{Facts, Kind, Told, span};

/// A scheme that a socket has, with the judge of its ACKs.
#[derive(Clone, Debug)]
pub struct Hosted<S> {
    judge: Judge,
    trains: Trains,
    scheme: S,
}

/// Counts the packets of trains, and keeps which tag packets have. 24 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trains {
    /// The tag of the plan, and those of the three before: a scheme may have four trains in flight (leap's Probe, Rise, Verify and
    /// Hold).
    tags: [Tag; 4],
    /// Low 32 bits of the offset from which on packets have each tag but the oldest.
    since: [u32; 3],
    /// The packets of the train that have not left yet.
    left: u32,
}

impl Trains {
    /// Packets left, for the first time or again.
    #[inline(always)]
    pub fn sent(&mut self, retransmission: bool, facts: &Facts) -> Sent {
        let bytes =
            if retransmission { facts.bytes(facts.resent) } else { Bytes::new(u64::from(facts.sent)) };
        let sent = Sent { packet: 0, bytes, tag: self.tags[0], retransmission };
        if !retransmission {
            let packets = u32::try_from(sent.packets(Bytes::new(u64::from(facts.mss)))).unwrap_or(u32::MAX);
            self.left = self.left.saturating_sub(packets);
        }
        sent
    }

    /// Takes a plan, and returns how many packets of its train have not left yet.
    #[inline(always)]
    pub fn plan(&mut self, plan: &Plan, path: &Path) -> u32 {
        if plan.tag != self.tags[0] {
            let [tag, before, earlier, _] = self.tags;
            self.tags = [plan.tag, tag, before, earlier];
            let [since, since_before, _] = self.since;
            self.since = [low(path.nxt), since, since_before];
            self.left = match plan.pacing {
                Pacing::Train { packets, .. } => packets,
                Pacing::AckClock | Pacing::Rate { .. } | Pacing::Hold => 0,
            };
        }
        self.left
    }

    /// The tag of the train that cannot go on, if one cannot.
    #[inline(always)]
    pub fn cut(&mut self) -> Option<Tag> {
        (core::mem::take(&mut self.left) > 0).then_some(self.tags[0])
    }

    /// The tag of the newest packet below `una`.
    #[inline(always)]
    pub fn tag_below(&self, una: u64) -> Tag {
        let is_beyond = |since: u32| low(una).wrapping_sub(since).wrapping_sub(1) < u32::MAX / 2;
        if is_beyond(self.since[0]) {
            self.tags[0]
        } else if is_beyond(self.since[1]) {
            self.tags[1]
        } else if is_beyond(self.since[2]) {
            self.tags[2]
        } else {
            self.tags[3]
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
#[inline(always)]
fn low(offset: u64) -> u32 {
    offset as u32
}

/// A BPF program takes an event in parts, because a verifier that looks at every way through each of them cannot look at every
/// way through all of them: [`Hosted::begin`], [`Hosted::acked`] or [`Hosted::hear`], and then [`Hosted::answer`] unless the
/// scheme is done.
impl<S: Startup> Hosted<S> {
    /// A connection is established. The kernel's initial window is the scheme's.
    #[inline(always)]
    pub fn begin(
        make: impl FnOnce(Initial, &Numbers, &Facts) -> S,
        numbers: &Numbers,
        facts: &Facts,
    ) -> (Self, Step) {
        let scheme = make(Initial { segments: facts.cwnd, ssthresh: facts.ssthresh() }, numbers, facts);
        let path = facts.path();
        let mut hosted = Self { judge: Judge::new(), trains: Trains::default(), scheme };
        hosted.judge.begin(&path);
        hosted.scheme.on(&Event::Begin(Origin::Fresh), &path);
        let established = Event::Established { rtt: span(facts.last_rtt_us), syn_lost: false };
        let step = hosted.scheme.on(&established, &path);
        (hosted, step)
    }

    /// An ACK.
    #[inline(always)]
    pub fn acked(&mut self, facts: &Facts) -> Step {
        let Self { judge, trains, scheme } = self;
        tell_ack(judge, trains, facts, Lead::Startup, |event, path| scheme.on(event, path))
    }

    /// Something else than a begin or an ACK.
    #[inline(always)]
    pub fn hear(&mut self, kind: u32, facts: &Facts) -> Step {
        if is_departure(kind) {
            let sent = self.trains.sent(kind == Kind::Resent as u32, facts);
            return self.scheme.on(&Event::Sent(sent), &facts.path_at_departure());
        }
        tell(&mut self.scheme, &mut self.trains, kind, facts)
    }

    /// What the scheme wants after an event at which it stays.
    #[inline(always)]
    pub fn answer(&mut self, facts: &Facts) -> Told {
        answer(&self.scheme, &mut self.trains, facts)
    }
}

/// Whether packets left.
#[inline(always)]
pub fn is_departure(kind: u32) -> bool {
    kind == Kind::Sent as u32 || kind == Kind::Resent as u32
}

/// Has the judge judge an ACK, and tells it.
#[inline(always)]
pub fn tell_ack(
    judge: &mut Judge,
    trains: &Trains,
    facts: &Facts,
    lead: Lead,
    take: impl FnOnce(&Event<'_>, &Path) -> Step,
) -> Step {
    let path = facts.path();
    // What is in flight when an ACK arrives is the most since the last ACK.
    judge.sent(Bytes::new(u64::from(facts.flight_before)));
    let newest = facts.newest(trains.tag_below(facts.una));
    let mut ack = facts.ack((facts.newest_sent_us > 0).then_some(&newest));
    judge.acked(&mut ack, &path, lead);
    take(&Event::Acked(ack), &path)
}

/// Tells a scheme or a policy that governs what is no begin, no departure and no ACK.
#[inline(always)]
pub fn tell(scheme: &mut impl Startup, trains: &mut Trains, kind: u32, facts: &Facts) -> Step {
    let path = facts.path();
    let is = |other: Kind| kind == other as u32;
    if is(Kind::Woken) {
        scheme.on(&Event::Woken, &path)
    } else if is(Kind::Dry) {
        match trains.cut() {
            Some(tag) => scheme.on(&Event::TrainCut(tag), &path),
            None => Step::Stay,
        }
    } else if is(Kind::Lost) {
        scheme.on(&Event::Lost(facts.loss()), &path)
    } else if is(Kind::Marked) {
        scheme.on(&Event::Marked { sent_at: None }, &path)
    } else {
        scheme.on(&Event::TimedOut { repeated: false }, &path)
    }
}

/// The plan of a scheme or policy, as the reader is told it.
#[inline(always)]
pub fn answer(scheme: &impl Startup, trains: &mut Trains, facts: &Facts) -> Told {
    let path = facts.path();
    let plan = scheme.plan(&path);
    let left = trains.plan(&plan, &path);
    facts.told(&plan, left)
}

/// The schemes that a kernel can host: name, name as an identifier, and how the scheme is made with its parameters.
///
/// Not there is quick-start: no congestion control of Linux can say a request in a SYN, or read the routers' answer.
#[macro_export]
macro_rules! for_each_hosted_scheme {
    ($take:ident) => {
        $take! {
            "slow-start": slow_start, SlowStart, |initial, _, _| SlowStart::new(initial);
            "slow-start-paced": slow_start_paced, SlowStart, |initial, _, _| SlowStart::paced(initial);
            "limited": limited, Limited, |initial, numbers, _| Limited::from_numbers(initial, numbers);
            "vegas": vegas, VegasStart, |initial, numbers, _| VegasStart::from_numbers(initial, numbers);
            "packet-pair": packet_pair, PacketPair, |initial, numbers, _| PacketPair::from_numbers(initial, numbers);
            "hystart": hystart, HyStart, |initial, numbers, _| HyStart::from_numbers(initial, numbers);
            "hystart-linux": hystart_linux, HyStartLinux, |initial, numbers, _| HyStartLinux::from_numbers(initial, numbers);
            "hystart++": hystart_plus_plus, HyStartPlus, |initial, numbers, _| HyStartPlus::from_numbers(initial, numbers);
            "search": search, Search, |initial, numbers, _| Search::from_numbers(initial, numbers);
            "bbr": bbr, Bbr, |initial, _, _| Bbr::new(initial);
            "paced": paced, Paced, |initial, numbers, _| Paced::from_numbers(initial, numbers);
            "adaptive": adaptive, Adaptive, |initial, numbers, _| Adaptive::from_numbers(initial, numbers);
            "suss": suss, Suss, |initial, numbers, _| Suss::from_numbers(initial, numbers);
            "rapid-start": rapid_start, RapidStart, |initial, numbers, _| RapidStart::from_numbers(initial, numbers);
            "careful-resume": careful_resume, CarefulResume, |initial, numbers, facts| CarefulResume::from_numbers(initial, numbers, facts.saved());
            "leap": leap, Leap, |initial, numbers, _| Leap::from_numbers(initial, numbers);
            "leap-saved": leap_saved, Leap, |initial, numbers, facts| Leap::from_saved(initial, numbers, facts.saved());
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_four_trains_have_the_tags_under_which_they_left() {
        let mut trains = Trains::default();
        let mss = Bytes::new(1_000);
        for (tag, nxt) in [(1, 0), (2, 10_000), (3, 30_000), (4, 60_000)] {
            let path = Path { nxt, ..Path::new(firstflight::Time::ZERO, mss, mss) };
            let plan = Plan { tag: Tag(tag), ..Plan::ack_clocked(mss, None) };
            for _ in 0..2 {
                assert_eq!(trains.plan(&plan, &path), 0);
            }
        }
        let tags = [1_000, 10_000, 11_000, 30_000, 31_000, 60_000, 61_000].map(|una| trains.tag_below(una).0);
        assert_eq!(tags, [1, 1, 2, 2, 3, 3, 4]);
    }
}
