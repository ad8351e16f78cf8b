//! SEARCH, slow start that exits at the right chokepoint (draft-chung-ccwg-search-09): slow start that exits when
//! deliveries no longer keep up with the bytes sent one RTT earlier.
//!
//! Time is divided into bins; ten of them, 3.5 initial RTTs, make a window. At the end of each bin the bytes
//! delivered in the last window are compared with the bytes sent in the window that ended one RTT earlier. As long as
//! the path keeps up, the two are equal. Once a queue grows, the deliveries fall behind, and at 26 % start-up ends.
//! The first version (-00) compares deliveries with twice the deliveries of one RTT earlier, at 35 %.
//!
//! The window one RTT earlier rarely ends at a bin's edge, so its ends are interpolated. The printed draft
//! interpolates towards newer bins, which include bytes sent less than one RTT ago. Interpolation towards older bins
//! is the default here: implementations do that, and the draft intends it. The RTT between the windows is the latest
//! sample, which grows with the queue: the bytes compared are then those that have arrived, and only the longer time
//! of their arrival shows. With a fixed RTT (`lookback=min`) the test fires considerably earlier.

use crate::evidence::is_starved;
use crate::interest::Interest;
use crate::interface::{Ack, Cause, Event, Exit, Origin, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::units::{Bytes, Rate, Span, Time};
use crate::wide::Wide;

/// W: bins in a window (draft-09 section 3.2).
const WINDOW: u64 = 10;
/// Number of bins stored beyond the window, to look back one RTT (section 3.2).
const EXTRA: u64 = 15;
/// W + 1 edges bound W bins, and interpolation needs one edge more: 26 edges are in use. With the next power of two,
/// the low bits of a number are its slot, without a bounds check.
const EDGES: usize = 32;
/// The window in initial round trips: 3.5 (section 3.2).
const WINDOW_RTTS: (u64, u64) = (7, 2);
/// THRESH of draft-09 and of -00, in millionths.
const THRESHOLD: u32 = 260_000;
const THRESHOLD_00: u32 = 350_000;
const MILLION: u64 = 1_000_000;

/// SEARCH.
#[derive(Clone, Debug)]
pub struct Search {
    slow: SlowStart,
    /// Bytes delivered and sent by the end of each bin, modulo 2^32. TCP's windows are at most 2^30 bytes, so a
    /// window of bins holds less than 2^32.
    delivered: [u32; EDGES],
    sent: [u32; EDGES],
    /// The bins of this measurement, if one runs.
    bins: Option<Bins>,
    threshold_ppm: u32,
    rule: Rule,
    towards: Towards,
    lookback: Lookback,
    exits_with: ExitsWith,
    /// Whether the search is on: it is in the first slow start only, and off after a timeout or an idle time.
    active: bool,
}

#[derive(Clone, Copy, Debug)]
struct Bins {
    initial_rtt: Span,
    /// Time and number of the newest edge.
    edge_at: Time,
    edge: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// Draft -09: deliveries against what was sent.
    Sent,
    /// Draft -00: deliveries against twice the deliveries before.
    Doubling,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Towards {
    Older,
    Newer,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lookback {
    Latest,
    Least,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExitsWith {
    Window,
    Delivered,
}

const VARIANT: &str = "variant";
const THRESH: &str = "threshold";
const INTERPOLATION: &str = "interpolation";
const WINDOW_AFTER: &str = "window";
const LOOKBACK: &str = "lookback";

pub(crate) const SEARCH: SchemeEntry = SchemeEntry {
    name: "search",
    summary: "slow start that leaves when deliveries fall behind what was sent an RTT before",
    source: "draft-chung-ccwg-search-09",
    law: "reno",
    parameters: &[
        Parameter {
            name: VARIANT,
            kind: Kind::Word(&["09", "00"]),
            default: Value::Word("09"),
            help: "the draft's version: deliveries against bytes sent (09), or against twice the last deliveries (00)",
        },
        Parameter {
            name: THRESH,
            kind: Kind::Fraction { min_ppm: 1, max_ppm: 1_000_000 },
            default: Value::Fraction { ppm: THRESHOLD },
            help: "how far deliveries must fall behind; 35% if not set with variant=00",
        },
        Parameter {
            name: INTERPOLATION,
            kind: Kind::Word(&["older", "newer"]),
            default: Value::Word("older"),
            help: "to which neighbours a bin is interpolated; the printed draft says newer, by mistake",
        },
        Parameter {
            name: LOOKBACK,
            kind: Kind::Word(&["latest", "least"]),
            default: Value::Word("latest"),
            help: "the round trip between the windows compared: the latest sample, as the draft's, or the minimum",
        },
        Parameter {
            name: WINDOW_AFTER,
            kind: Kind::Word(&["keep", "delivered"]),
            default: Value::Word("keep"),
            help: "the window it leaves with: the present one, or what was delivered in one initial round trip",
        },
    ],
    needs: NEEDS.and(Needs::of(&[Ability::NewestAck])).using(&[Ability::SpuriousLosses]),
    make: |initial, settings| Search::from_numbers(initial, &settings.numbers()).into(),
};

impl Search {
    /// Returns SEARCH with the draft's constants.
    pub fn new(initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            delivered: [0; EDGES],
            sent: [0; EDGES],
            bins: None,
            threshold_ppm: THRESHOLD,
            rule: Rule::Sent,
            towards: Towards::Older,
            lookback: Lookback::Latest,
            exits_with: ExitsWith::Window,
            active: true,
        }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let rule = if numbers.is(const { choice(SEARCH.parameters, VARIANT, "00") }) {
            Rule::Doubling
        } else {
            Rule::Sent
        };
        let threshold_ppm = match (numbers.given(const { place(SEARCH.parameters, THRESH) }), rule) {
            (None, Rule::Doubling) => THRESHOLD_00,
            _ => numbers.ppm(const { place(SEARCH.parameters, THRESH) }),
        };
        let newer = numbers.is(const { choice(SEARCH.parameters, INTERPOLATION, "newer") });
        let delivered = numbers.is(const { choice(SEARCH.parameters, WINDOW_AFTER, "delivered") });
        Self {
            threshold_ppm,
            rule,
            towards: if newer { Towards::Newer } else { Towards::Older },
            lookback: if numbers.is(const { choice(SEARCH.parameters, LOOKBACK, "least") }) {
                Lookback::Least
            } else {
                Lookback::Latest
            },
            exits_with: if delivered { ExitsWith::Delivered } else { ExitsWith::Window },
            ..Self::new(initial)
        }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if self.active && self.passes_an_edge(ack, path) && self.has_fallen_behind(path) {
            return self.leave(path);
        }
        self.slow.grow(ack.slow_start_growth(path.mss))
    }

    /// Stores the totals at each edge that has passed (section 3.2). Returns whether there is a new edge.
    fn passes_an_edge(&mut self, ack: &Ack<'_>, path: &Path) -> bool {
        if is_starved(ack, path) {
            // Bins that the application or the receiver left empty must not count.
            self.bins = None;
            return false;
        }
        let Some(bins) = &mut self.bins else {
            self.start(path);
            return false;
        };
        let duration = bins.duration();
        let passed = path.now.since(bins.edge_at).nanos() / duration.nanos();
        if passed == 0 {
            return false;
        }
        if passed > WINDOW {
            // Section 3.2, handling missed bins: too many bins are unknown, so the measurement begins anew.
            self.bins = None;
            return false;
        }
        let last = slot(bins.edge);
        for missed in 1..passed {
            let empty = slot(bins.edge + missed);
            (self.delivered[empty], self.sent[empty]) = (self.delivered[last], self.sent[last]);
        }
        bins.edge += passed;
        bins.edge_at = bins.edge_at + duration * passed;
        let newest = slot(bins.edge);
        (self.delivered[newest], self.sent[newest]) = counted(path);
        true
    }

    fn start(&mut self, path: &Path) {
        if let Some(initial_rtt) = path.latest_rtt {
            self.bins = Some(Bins { initial_rtt, edge_at: path.now, edge: 0 });
            (self.delivered[0], self.sent[0]) = counted(path);
        }
    }

    /// Returns whether the normalised difference is at the threshold (section 3.2). It never is before one window and
    /// one RTT have passed, or when the RTT exceeds the history.
    fn has_fallen_behind(&self, path: &Path) -> bool {
        let rtt = match self.lookback {
            Lookback::Latest => path.latest_rtt,
            Lookback::Least => path.min_rtt,
        };
        let (Some(bins), Some(rtt)) = (self.bins, rtt) else { return false };
        let duration = bins.duration().nanos();
        let back = rtt.nanos() / duration;
        if back >= EXTRA || bins.edge <= WINDOW + back {
            return false;
        }
        let end = bins.edge - back;
        let now = u64::from(difference(&self.delivered, bins.edge - WINDOW, bins.edge));
        let before = match self.rule {
            Rule::Sent => self.interpolated(&self.sent, end, (rtt.nanos() % duration, duration)),
            Rule::Doubling => 2 * self.interpolated(&self.delivered, end, (rtt.nanos() % duration, duration)),
        };
        is_behind(before, now, self.threshold_ppm)
    }

    /// Returns the bytes of the window that ended `share` of a bin before `end`. Without a newer bin the window ends
    /// at `end`.
    fn interpolated(&self, edges: &[u32; EDGES], end: u64, share: (u64, u64)) -> u64 {
        let newest = self.bins.map_or(end, |bins| bins.edge);
        let neighbour = match self.towards {
            Towards::Older => end - 1,
            Towards::Newer => (end + 1).min(newest),
        };
        let of = |end: u64| Bytes::new(u64::from(difference(edges, end - WINDOW, end)));
        (of(neighbour).scale(share.0, share.1) + of(end).scale(share.1 - share.0, share.1)).get()
    }

    fn leave(&self, path: &Path) -> Step {
        let Step::Exit(exit) = self.slow.leave(Cause::RateFlat) else { return Step::Stay };
        let Some(bins) = self.bins else { return Step::Exit(exit) };
        // Section 3.2: the bytes delivered in one initial round trip, 2/7 of a window, rounded up to bins.
        let one_rtt = bins.edge - (WINDOW * WINDOW_RTTS.1).div_ceil(WINDOW_RTTS.0);
        let delivered = Bytes::new(u64::from(difference(&self.delivered, one_rtt, bins.edge)));
        let window = match self.exits_with {
            ExitsWith::Window => exit.learned.window,
            ExitsWith::Delivered => exit.learned.window.min(delivered.max(path.mss * 2)),
        };
        let learned = PathEstimate { window, ssthresh: Some(window), rate: self.rate(bins, path) };
        Step::Exit(Exit { learned, ..exit })
    }

    /// Returns the rate of deliveries over the last window, in IP bits.
    fn rate(&self, bins: Bins, path: &Path) -> Option<Rate> {
        let bytes = Bytes::new(u64::from(difference(&self.delivered, bins.edge - WINDOW, bins.edge)));
        bytes.scale(path.wire.get(), path.mss.get()).per(bins.duration() * WINDOW)
    }
}

impl Bins {
    fn duration(&self) -> Span {
        let window = self.initial_rtt.scale(WINDOW_RTTS.0, WINDOW_RTTS.1);
        (window / WINDOW).max(Span::from_nanos(1))
    }
}

/// Returns whether (`prev` - `curr`) / `prev` is at least the threshold.
fn is_behind(before: u64, now: u64, threshold_ppm: u32) -> bool {
    let behind = Wide::product(before.saturating_sub(now), MILLION);
    before > 0 && behind >= Wide::product(before, u64::from(threshold_ppm))
}

/// Returns the bytes delivered and the bytes sent so far, modulo 2^32.
#[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
fn counted(path: &Path) -> (u32, u32) {
    (path.delivered.get() as u32, path.nxt as u32)
}

fn slot(edge: u64) -> usize {
    usize::try_from(edge % EDGES as u64).unwrap_or(0)
}

fn difference(edges: &[u32; EDGES], old: u64, new: u64) -> u32 {
    edges[slot(new)].wrapping_sub(edges[slot(old)])
}

impl Startup for Search {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(origin) => {
                self.active = matches!(origin, Origin::Fresh | Origin::PathChange);
                self.bins = None;
                self.slow.on(event, path)
            }
            Event::SpuriousLoss => {
                self.bins = None;
                Step::Stay
            }
            left_to_slow_start!(Event::Established { .. }) => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.slow.plan(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_behind_is_not_enough_and_26_percent_is() {
        // Sent 100, delivered 75 or 74.
        assert!(!is_behind(100, 75, THRESHOLD));
        assert!(is_behind(100, 74, THRESHOLD));
        assert!(!is_behind(0, 0, THRESHOLD));
        assert!(!is_behind(100, 101, THRESHOLD));
    }

    #[test]
    fn a_bin_is_35_percent_of_the_initial_round_trip() {
        let bins = Bins { initial_rtt: Span::from_millis(100), edge_at: Time::ZERO, edge: 0 };
        assert_eq!(bins.duration(), Span::from_millis(35));
        assert_eq!(Bins { initial_rtt: Span::ZERO, ..bins }.duration(), Span::from_nanos(1));
    }

    /// Returns a search with the edges of a flow that doubles: 2^edge bytes by each.
    fn doubling(towards: Towards, edge: u64) -> Search {
        let mut search = Search::new(Initial { segments: 10, ssthresh: None });
        for edge in 0..=edge {
            search.sent[slot(edge)] = 1 << edge;
        }
        search.bins = Some(Bins { initial_rtt: Span::from_millis(100), edge_at: Time::ZERO, edge });
        search.towards = towards;
        search
    }

    #[test]
    fn a_window_ending_within_a_bin_is_interpolated_towards_the_set_edge() {
        // The window that ends at edge 15 holds 2^15 - 2^5 bytes, the one at 14 half as many, the one at 16 twice.
        let at = |towards, share| {
            let search = doubling(towards, 20);
            search.interpolated(&search.sent, 15, (share, 4))
        };
        assert_eq!(at(Towards::Older, 0), 32_736);
        assert_eq!(at(Towards::Older, 1), 16_368 / 4 + 32_736 * 3 / 4);
        assert_eq!(at(Towards::Newer, 1), 65_472 / 4 + 32_736 * 3 / 4);
    }

    #[test]
    fn counts_wrap() {
        let mut edges = [0; EDGES];
        edges[slot(3)] = u32::MAX - 9;
        edges[slot(13)] = 90;
        assert_eq!(difference(&edges, 3, 13), 100);
    }
}
