//! Hoe's packet pair (Hoe, SIGCOMM 1996): slow start to a threshold of bandwidth times RTT, estimated from the
//! spacing of the first ACKs.
//!
//! Segments sent back to back leave the bottleneck one packet time apart, and their ACKs keep that spacing. The
//! threshold is estimated once, from the first window of the connection, and only ever lowers the initial threshold.
//! The estimate is the bottleneck's capacity, not the bandwidth available.
//!
//! `median` (choice-15) takes the median of up to three spacings, each divided by the segments that its ACK covers. A
//! spacing counts only while the application has more to send, and only between ACKs that cover the same number of
//! segments, because a delayed-ACK timer sent an ACK that covers fewer. The RTT is that of the first segment. A
//! window set by a surrounding scheme ends the search, because its packets are paced. A timeout, even a spurious one,
//! also ends the search: the retransmission determined the spacing of the ACKs after it.
//!
//! `single` is ns-2 2.35 to the letter (`newreno_changes_`): the spacing of the ACKs of segments 2 and 3, the SYN
//! being the first, whatever the ACKs cover, and the handshake's RTT.

use crate::interest::Interest;
use crate::interface::{Ack, Advice, Cause, Event, Exit, Origin, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span, Time};

use core::num::Wrapping;

/// ns-2: ACKs at the same instant count as this far apart.
const NS2_LEAST: Span = Span::from_micros(10);

/// Hoe's packet pair.
#[derive(Clone, Debug)]
pub struct PacketPair {
    slow: SlowStart,
    search: Search,
    form: Form,
}

/// A time in units of 2^grain nanoseconds.
type Ticks = u32;

/// A unit of time, 2^grain nanoseconds, chosen so that an RTT is at most 2^30 units: nanoseconds up to a second. 32
/// bits of the clock then distinguish ACKs that are less than four RTTs apart. A timer fires before ACKs are further
/// apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Grain(u8);

impl Grain {
    fn of(rtt: Span) -> Self {
        let bits = u64::BITS - rtt.nanos().leading_zeros();
        Self(u8::try_from(bits.saturating_sub(30)).unwrap_or(0))
    }

    fn ticks(self, span: Span) -> Ticks {
        low(span.nanos() >> self.0)
    }

    fn clock(self, now: Time) -> Wrapping<Ticks> {
        Wrapping(low(now.nanos() >> self.0))
    }

    fn span(self, ticks: Ticks) -> Span {
        Span::from_nanos(u64::from(ticks) << self.0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Median,
    Single,
}

#[derive(Clone, Copy, Debug)]
enum Search {
    /// No data was acknowledged yet; holds the handshake's RTT, zero if unknown.
    Waiting {
        handshake: Ticks,
        grain: Grain,
    },
    Collecting(Collection),
    /// The time of a segment at the bottleneck, and the threshold.
    Found {
        spacing: Ticks,
        grain: Grain,
        ssthresh: Bytes32,
    },
    /// The search ended without a result.
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Collection {
    /// The round trip of the first segment.
    rtt: Ticks,
    /// Arrival of the last ACK, modulo 2^32 ticks.
    last_ack: Wrapping<u32>,
    /// Low 32 bits of the stream offset that ends the first window.
    end: u32,
    /// The first two of the three spacings (choice-15).
    found: [Ticks; 2],
    /// Number of segments that the last ACK covered; zero if the next spacing does not count.
    covered: u16,
    grain: Grain,
    kept: Kept,
}

/// The number of spacings stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kept {
    None,
    One,
    Two,
}

const VARIANT: &str = "variant";

pub(crate) const PACKET_PAIR: SchemeEntry = SchemeEntry {
    name: "packet-pair",
    summary: "slow start to a threshold of bandwidth times delay, found from the spacing of the first ACKs",
    source: "Hoe, Improving the start-up behavior of a congestion control scheme for TCP (SIGCOMM 1996)",
    law: "reno",
    parameters: &[Parameter {
        name: VARIANT,
        kind: Kind::Word(&["median", "single"]),
        default: Value::Word("median"),
        help: "median of up to three spacings, or ns-2's single one, of the ACKs of segments 2 and 3",
    }],
    needs: NEEDS
        .and(Needs::of(&[Ability::SegmentCounts, Ability::DenseAcks]))
        .using(&[Ability::Backlog, Ability::SpuriousLosses]),
    make: |initial, settings| PacketPair::from_numbers(initial, &settings.numbers()).into(),
};

impl PacketPair {
    /// Returns the scheme that takes the median of three spacings.
    pub fn new(initial: Initial) -> Self {
        Self { slow: SlowStart::new(initial), search: Search::after(None), form: Form::Median }
    }

    /// Returns the scheme that takes ns-2's single sample.
    pub fn single(initial: Initial) -> Self {
        Self { form: Form::Single, ..Self::new(initial) }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        if numbers.is(const { choice(PACKET_PAIR.parameters, VARIANT, "single") }) {
            return Self::single(initial);
        }
        Self::new(initial)
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        // An ACK for part of a segment has no spacing. For a receiver that divides its ACKs, the ACKs that complete a
        // segment are measured.
        if !ack.advanced.is_zero() && ack.segments > 0 {
            self.search = self.searched(ack, path);
        }
        let step = self.slow.grow(ack.slow_start_growth(path.mss));
        match (step, self.search) {
            (Step::Stay, Search::Found { ssthresh, .. }) if self.slow.window() >= ssthresh.wide() => {
                let window = self.slow.window();
                let learned = PathEstimate { window, ssthresh: Some(ssthresh.wide()), rate: self.rate(path) };
                Step::Exit(Exit { cause: Cause::Threshold, learned })
            }
            (step, _) => self.with_rate(step, path),
        }
    }

    fn searched(&self, ack: &Ack<'_>, path: &Path) -> Search {
        match self.search {
            Search::Waiting { handshake, grain } => {
                let first = ack.rtt.map_or(Span::ZERO, |sample| sample.rtt);
                let rtt = match self.form {
                    Form::Single if handshake > 0 => grain.span(handshake),
                    Form::Single | Form::Median => first,
                };
                // The RTT includes the time to send the first segment, which bounds the spacing of the next.
                Search::Collecting(Collection::begin(rtt, Grain::of(rtt.max(first)), ack, path))
            }
            Search::Collecting(collection) => match self.form {
                Form::Median => collection.median(ack, path),
                Form::Single => collection.single(path),
            },
            done @ (Search::Found { .. } | Search::Over) => done,
        }
    }

    /// Returns the bottleneck's rate.
    fn rate(&self, path: &Path) -> Option<Rate> {
        match self.search {
            Search::Found { spacing, grain, .. } => path.wire.per(grain.span(spacing)),
            _ => None,
        }
    }

    fn with_rate(&self, step: Step, path: &Path) -> Step {
        match step {
            Step::Exit(mut exit) => {
                exit.learned.rate = self.rate(path);
                Step::Exit(exit)
            }
            Step::Stay => Step::Stay,
        }
    }
}

impl Search {
    /// Returns the search before any data was acknowledged; `handshake` is the handshake's RTT.
    fn after(handshake: Option<Span>) -> Self {
        let rtt = handshake.unwrap_or_default();
        let grain = Grain::of(rtt);
        Self::Waiting { handshake: grain.ticks(rtt), grain }
    }

    /// Ends the search; a result that was found stays.
    fn ended(self) -> Self {
        match self {
            Self::Waiting { .. } | Self::Collecting(_) | Self::Over => Self::Over,
            found @ Self::Found { .. } => found,
        }
    }
}

impl Collection {
    fn begin(rtt: Span, grain: Grain, ack: &Ack<'_>, path: &Path) -> Self {
        Self {
            rtt: grain.ticks(rtt),
            grain,
            last_ack: grain.clock(path.now),
            end: low(path.nxt),
            found: [0; 2],
            covered: covered(ack, path),
            kept: Kept::None,
        }
    }

    /// Takes the next ACK of the first window, or the first ACK beyond it.
    fn median(mut self, ack: &Ack<'_>, path: &Path) -> Search {
        let beyond = low(path.una).wrapping_sub(self.end).wrapping_sub(1) < u32::MAX / 2;
        if beyond {
            return self.estimate(None, path);
        }
        let now = self.grain.clock(path.now);
        let covers = covered(ack, path);
        let spacing = (now - self.last_ack).0 / u32::from(covers.max(1));
        let counts = covers > 0 && covers == self.covered && spacing > 0;
        (self.last_ack, self.covered) = (now, covers);
        let last = low(path.una) == self.end;
        match self.kept {
            _ if !counts => {}
            Kept::None => (self.found[0], self.kept) = (spacing, Kept::One),
            Kept::One => (self.found[1], self.kept) = (spacing, Kept::Two),
            Kept::Two => return self.estimate(Some(spacing), path),
        }
        if last { self.estimate(None, path) } else { Search::Collecting(self) }
    }

    /// Returns the search with the median of the stored spacings and `third`; of two spacings with their mean.
    fn estimate(&self, third: Option<Ticks>, path: &Path) -> Search {
        let [a, b] = self.found;
        let (low, high) = (a.min(b), a.max(b));
        let spacing = match (self.kept, third) {
            (Kept::None, _) => return Search::Over,
            (Kept::One, _) => a,
            (Kept::Two, None) => low + (high - low) / 2,
            (Kept::Two, Some(c)) => c.clamp(low, high),
        };
        self.threshold(spacing, path)
    }

    /// Estimates the threshold as ns-2 does: the second ACK decides.
    fn single(&self, path: &Path) -> Search {
        let spacing = (self.grain.clock(path.now) - self.last_ack).0;
        self.threshold(spacing.max(self.grain.ticks(NS2_LEAST)).max(1), path)
    }

    /// Sets ssthresh = B̂ RTT in whole segments, which is RTT / spacing, at least two segments.
    fn threshold(&self, spacing: Ticks, path: &Path) -> Search {
        match self.rtt.checked_div(spacing) {
            Some(segments) if self.rtt > 0 => {
                let ssthresh = path.mss * u64::from(segments.max(2));
                Search::Found { spacing, grain: self.grain, ssthresh: ssthresh.into() }
            }
            _ => Search::Over,
        }
    }
}

/// Returns the number of segments that an ACK covers, or zero if the application has nothing more to send: pauses of
/// the application, not the bottleneck, may then have spaced the packets.
fn covered(ack: &Ack<'_>, path: &Path) -> u16 {
    let dry = path.backlog.is_some_and(Bytes::is_zero);
    if dry { 0 } else { u16::try_from(ack.segments).unwrap_or(u16::MAX) }
}

#[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
fn low(value: u64) -> u32 {
    value as u32
}

impl Startup for PacketPair {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(origin) => {
                self.search = match origin {
                    Origin::Fresh | Origin::PathChange => Search::after(None),
                    // Only the first window of a connection is measured.
                    Origin::AfterIdle { .. } | Origin::AfterTimeout { .. } => Search::Over,
                };
                self.slow.on(event, path)
            }
            Event::Established { rtt, .. } => {
                self.search = Search::after(*rtt);
                self.slow.on(event, path)
            }
            Event::Lost(_) | Event::Marked { .. } | Event::TimedOut { .. } => {
                let step = self.slow.on(event, path);
                self.with_rate(step, path)
            }
            // The packets of that window are paced, or do not belong to the first window: their spacing is not the
            // bottleneck's.
            Event::Advice(Advice::Window { .. }) | Event::SpuriousLoss => {
                self.search = self.search.ended();
                self.slow.on(event, path)
            }
            Event::Sent(_)
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = self.slow.plan(path);
        match self.search {
            Search::Found { ssthresh, .. } => {
                let found = ssthresh.wide();
                Plan { ssthresh: Some(plan.ssthresh.map_or(found, |set| set.min(found))), ..plan }
            }
            Search::Waiting { .. } | Search::Collecting(_) | Search::Over => plan,
        }
    }
}
