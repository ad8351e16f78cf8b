//! A start-up scheme in a socket, and the functions that a reader of sockets in C calls: `NAME.begin` and `NAME.on_event`.
//!
//! The decisions of a kernel are compared with a native build of this source.

use firstflight::registry::Numbers;
use firstflight::schemes::Initial;
use firstflight::{
    Bytes, Event, FullMargin, Origin, Pacing, Path, Plan, RoundTracker, Sent, Startup, Step, Tag,
};

use crate::facts::{Decision, Facts, Kind, span};

/// A scheme of a socket, with the [`RoundTracker`] of the socket's ACKs.
#[derive(Clone, Debug)]
pub struct Hosted<S> {
    judge: RoundTracker,
    trains: Trains,
    scheme: S,
}

/// Counts the packets of trains, and stores the tags of packets. The state takes 24 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trains {
    /// The tag of the plan, and those of the three plans before: a scheme may have four trains in flight (leap's Probe, Rise, Verify and
    /// Hold).
    tags: [Tag; 4],
    /// Low 32 bits of the offset at which packets with each tag begin, except the oldest tag.
    since: [u32; 3],
    /// Number of packets of the train that are not yet sent.
    left: u32,
}

impl Trains {
    /// Counts packets that were sent, for the first time or again.
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

    /// Adopts the scheme's plan. Returns the number of packets of its train that are not yet sent.
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

    /// Returns the tag of the train that cannot continue, if there is one.
    #[inline(always)]
    pub fn cut(&mut self) -> Option<Tag> {
        (core::mem::take(&mut self.left) > 0).then_some(self.tags[0])
    }

    /// Returns the tag of the newest packet below `una`.
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

/// A BPF program handles an event in parts, because the verifier can follow every path through each part, but not through all of them
/// together: [`Hosted::begin`], [`Hosted::acked`] or [`Hosted::on_event`], and then [`Hosted::answer`] unless the scheme is done.
impl<S: Startup> Hosted<S> {
    /// Starts the scheme on an established connection. The scheme's initial window is the kernel's.
    #[inline(always)]
    pub fn begin(
        make: impl FnOnce(Initial, &Numbers, &Facts) -> S,
        numbers: &Numbers,
        facts: &Facts,
    ) -> (Self, Step) {
        let scheme = make(Initial { segments: facts.cwnd, ssthresh: facts.ssthresh() }, numbers, facts);
        let path = facts.path();
        let mut hosted = Self { judge: RoundTracker::new(), trains: Trains::default(), scheme };
        hosted.judge.begin(&path);
        hosted.scheme.on(&Event::Begin(Origin::Fresh), &path);
        let established = Event::Established { rtt: span(facts.last_rtt_us), syn_lost: false };
        let step = hosted.scheme.on(&established, &path);
        (hosted, step)
    }

    /// Handles an ACK.
    #[inline(always)]
    pub fn acked(&mut self, facts: &Facts) -> Step {
        let Self { judge, trains, scheme } = self;
        on_ack(judge, trains, facts, FullMargin::Startup, |event, path| scheme.on(event, path))
    }

    /// Handles an event other than a begin or an ACK.
    #[inline(always)]
    pub fn on_event(&mut self, kind: u32, facts: &Facts) -> Step {
        if is_departure(kind) {
            let sent = self.trains.sent(kind == Kind::Resent as u32, facts);
            return self.scheme.on(&Event::Sent(sent), &facts.path_at_departure());
        }
        deliver(&mut self.scheme, &mut self.trains, kind, facts)
    }

    /// Returns the scheme's answer after an event that is no exit.
    #[inline(always)]
    pub fn answer(&mut self, facts: &Facts) -> Decision {
        answer(&self.scheme, &mut self.trains, facts)
    }
}

/// Returns whether `kind` is the kind of an event in which packets were sent.
#[inline(always)]
pub fn is_departure(kind: u32) -> bool {
    kind == Kind::Sent as u32 || kind == Kind::Resent as u32
}

/// Lets `judge` fill in the values of an ACK, and passes the ACK to `take`.
#[inline(always)]
pub fn on_ack(
    judge: &mut RoundTracker,
    trains: &Trains,
    facts: &Facts,
    lead: FullMargin,
    take: impl FnOnce(&Event<'_>, &Path) -> Step,
) -> Step {
    let path = facts.path();
    // The flight when an ACK arrives is the largest since the last ACK.
    judge.sent(Bytes::new(u64::from(facts.flight_before)));
    let newest = facts.newest(trains.tag_below(facts.una));
    let mut ack = facts.ack((facts.newest_sent_us > 0).then_some(&newest));
    judge.acked(&mut ack, &path, lead);
    take(&Event::Acked(ack), &path)
}

/// Passes an event to the active scheme or policy. The event is neither a begin, nor a transmission, nor an ACK.
#[inline(always)]
pub fn deliver(scheme: &mut impl Startup, trains: &mut Trains, kind: u32, facts: &Facts) -> Step {
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

/// Returns the plan of a scheme or policy in the form that the reader takes.
#[inline(always)]
pub fn answer(scheme: &impl Startup, trains: &mut Trains, facts: &Facts) -> Decision {
    let path = facts.path();
    let plan = scheme.plan(&path);
    let left = trains.plan(&plan, &path);
    facts.decision(&plan, left)
}

/// The schemes that a kernel can host: name, name as an identifier, and constructor with parameters.
///
/// Quick-start is not included: a congestion control of Linux cannot put a request into a SYN, or read the routers' answer.
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
            let mut path = Path::new(firstflight::Time::ZERO, mss, mss);
            path.nxt = nxt;
            let plan = Plan { tag: Tag(tag), ..Plan::ack_clocked(mss, None) };
            for _ in 0..2 {
                assert_eq!(trains.plan(&plan, &path), 0);
            }
        }
        let tags = [1_000, 10_000, 11_000, 30_000, 31_000, 60_000, 61_000].map(|una| trains.tag_below(una).0);
        assert_eq!(tags, [1, 1, 2, 2, 3, 3, 4]);
    }
}
