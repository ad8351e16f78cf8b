//! Paced Start (Hu and Steenkiste, "Improving TCP startup performance using active measurements", ICNP 2003). The
//! first packets form trains with chosen gaps. The gaps between their ACKs show whether a train was faster than the
//! available bandwidth. A short search finds the gap, the pipe is filled at that gap, and avoidance takes over.
//!
//! Two profiles give every choice its default: `paper` uses a packet pair, no tolerance and the tree as printed;
//! `practical` (the default) works on real paths. Each choice that the paper leaves open has its own parameter
//! ([`switches`], [`entry`]); `docs/schemes/paced.md` lists them by number.

mod entry;
mod fill;
mod switches;
mod train;
mod tree;

use crate::interface::{
    Ack, Cause, Event, Exit, Origin, Pacing, Path, PathEstimate, Plan, Startup, Step, Tag,
};
use crate::schemes::{Initial, SlowStart};
use crate::units::{Bytes, Span};
pub(crate) use entry::PACED;
use fill::{Fill, leave, pipe};
use switches::{Switch, Switches};
use train::{AckMode, Rules, Sums, Train};
use tree::{Branch, Gap, Measured, Node};

/// Maximum number of packets of a first burst.
const MAX_FIRST: u32 = 1_000;

/// Minimum number of packets of a repeated first burst (choice-08). With delayed ACKs a pair gets one ACK, which has no
/// gap, and four packets get two ACKs of two segments. Slow start begins with 2 to 4 packets (section 2.1).
const MIN_REPEATED: u16 = 4;

/// Paced Start.
#[derive(Clone, Debug)]
pub struct Paced {
    mode: Mode,
    /// choice-05: the relative tolerance, in millionths. A train is congested if its gap grew by more than this and by
    /// more than `slack`.
    tolerance_ppm: u32,
    /// choice-05: the absolute tolerance, in nanoseconds.
    slack: Gap,
    /// Packets of the first burst.
    first: u16,
    /// The tag of the newest train.
    tag: Tag,
    switches: Switches,
    /// The number of invalid trains after which the scheme continues as slow start. Earlier invalid trains are repeated
    /// (choice-08).
    most_voids: u8,
    /// Whether the handshake is over; nothing is sent before that.
    open: bool,
}

#[derive(Clone, Debug)]
enum Mode {
    /// Trains search for the gap.
    Search(Search),
    /// The pipe is filled at the gap found.
    Fill(Fill),
    /// Slow start: after a timeout, or if trains cannot be measured.
    Slow(SlowStart),
}

#[derive(Clone, Debug)]
struct Search {
    train: Train,
    stage: Stage,
    /// `g_B`, once the first burst has shown it.
    capacity: Gap,
    /// The number of trains that could not be measured.
    voids: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The first burst measures the capacity.
    Capacity,
    /// The tree searches for the bandwidth available.
    Tree { node: Node },
}

impl Paced {
    /// Returns the practical profile. The first burst is the initial window.
    pub fn practical(initial: Initial) -> Self {
        Self::new(Switches::PRACTICAL, initial_burst(initial), 50_000, 5_000)
    }

    /// Returns the paper's profile. The first burst is the paper's pair, regardless of the initial window.
    pub fn paper() -> Self {
        Self::new(Switches::PAPER, 2, 0, 0)
    }

    fn new(switches: Switches, first: u16, tolerance_ppm: u32, slack: Gap) -> Self {
        let mode = Mode::Search(Search::new(first));
        Self { mode, tolerance_ppm, slack, first, tag: Tag(1), switches, most_voids: 2, open: false }
    }

    /// Returns a scheme that has not begun yet, with `first` packets in the first burst.
    fn with_first(self, first: u16) -> Self {
        Self { mode: Mode::Search(Search::new(first)), first, ..self }
    }

    fn begin(&mut self, origin: Origin, path: &Path) -> Step {
        match origin {
            Origin::Fresh | Origin::PathChange => {
                self.open = origin == Origin::PathChange;
                self.next_tag();
                self.mode = Mode::Search(Search::new(self.first));
                Step::Stay
            }
            // Section 2.1 replaces only the initial slow start.
            Origin::AfterTimeout { .. } | Origin::AfterIdle { .. } => {
                self.slow(path.mss, false, &Event::Begin(origin), path)
            }
        }
    }

    /// Continues as slow start and passes `event` to it.
    fn slow(&mut self, window: Bytes, paced: bool, event: &Event<'_>, path: &Path) -> Step {
        self.open = true;
        let mut slow = SlowStart::resumed(self.first, window, paced);
        let step = slow.on(event, path);
        self.mode = Mode::Slow(slow);
        step
    }

    fn established(&mut self, event: &Event<'_>, syn_lost: bool, path: &Path) -> Step {
        // RFC 5681 section 3.1 allows one segment after a lost SYN, and one segment is no train.
        if syn_lost {
            return self.slow(path.mss, false, event, path);
        }
        self.open = true;
        Step::Stay
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        let (tag, switches) = (self.tag, self.switches);
        match &mut self.mode {
            Mode::Search(search) => {
                let last = search.train.is_over(path);
                search.train.acked(ack, Rules { tag, last, switches }, path.now);
                if !last {
                    return Step::Stay;
                }
                let search = search.clone();
                self.judge(&search, path)
            }
            // Section 3.2.2: the pipe is full when the first packet of the fill is acknowledged.
            Mode::Fill(fill) if ack.packets.iter().chain(ack.newest).any(|packet| packet.tag == tag) => {
                fill.done(switches, path)
            }
            Mode::Fill(_) | Mode::Slow(_) => Step::Stay,
        }
    }

    fn judge_if_over(&mut self, path: &Path) -> Step {
        match &self.mode {
            Mode::Search(search) if search.train.is_over(path) => {
                let search = search.clone();
                self.judge(&search, path)
            }
            Mode::Search(_) | Mode::Fill(_) | Mode::Slow(_) => Step::Stay,
        }
    }

    /// Decides the next step once all ACKs of the train have arrived.
    fn judge(&mut self, search: &Search, path: &Path) -> Step {
        match (search.stage, path.min_rtt) {
            (Stage::Capacity, Some(rtt)) => match search.train.capacity_gap(self.switches) {
                Some(capacity) => self.capacity_known(search, capacity, rtt, path),
                None => self.void(search, path),
            },
            (Stage::Tree { node }, Some(rtt)) => match search.train.sums(self.switches) {
                Some(sums) if self.switches.has(Switch::JudgesCompressed) || !sums.acks_compressed() => {
                    let measured = self.measure(sums);
                    if self.pipe_is_short(&search.train, measured, rtt) {
                        return self.leave_early(&search.train, measured.destination, rtt, path);
                    }
                    match node.branch(search.train.gap, search.capacity, measured) {
                        Branch::Test(node, gap) => {
                            self.test(search, Stage::Tree { node }, gap);
                            Step::Stay
                        }
                        Branch::Leave(gap) => self.fill(gap, self.fill_rtt(path).unwrap_or(rtt), path),
                    }
                }
                _ => self.void(search, path),
            },
            (_, None) => self.void(search, path),
        }
    }

    fn capacity_known(&mut self, search: &Search, capacity: Gap, rtt: Span, path: &Path) -> Step {
        let measured = Measured { source: 0, destination: capacity, congested: true };
        if self.pipe_is_short(&search.train, measured, rtt) {
            return self.leave_early(&search.train, capacity, rtt, path);
        }
        // Section 3.2.1: the search begins at half the capacity.
        let stage = Stage::Tree { node: Node::A };
        self.test(&Search { capacity, ..search.clone() }, stage, capacity.saturating_mul(2));
        Step::Stay
    }

    /// Measures a train. choice-05: a longer gap is congestion if it is longer by more than the tolerance and the
    /// slack.
    fn measure(&self, sums: Sums) -> Measured {
        // Each sum fits 32 bits, so each product fits 64.
        let longer = sums.arrivals.saturating_sub(sums.departures);
        let tolerated = sums.departures * u64::from(self.tolerance_ppm);
        let slack = u64::from(self.slack) * sums.count;
        let congested = longer * 1_000_000 > tolerated && longer > slack;
        Measured { source: sums.source(), destination: sums.destination(), congested }
    }

    /// Returns whether the train is as long as the RTT, or the next one would not fit the pipe (choice-06).
    fn pipe_is_short(&self, train: &Train, measured: Measured, rtt: Span) -> bool {
        let packets = u64::from(train.packets);
        let lasts = packets * u64::from(measured.source);
        let short = lasts >= rtt.nanos() || pipe(rtt, measured.destination) <= packets;
        short && !self.switches.has(Switch::IgnoresShortPipe)
    }

    fn leave_early(&self, train: &Train, gap: Gap, rtt: Span, path: &Path) -> Step {
        let max = u64::from(train.packets);
        let min = u64::from(self.first).min(max);
        leave(pipe(rtt, gap).clamp(min, max), gap, self.switches, path)
    }

    /// Begins the next train: twice as many packets (section 3.1), at `gap`.
    fn test(&mut self, search: &Search, stage: Stage, gap: Gap) {
        let packets = search.train.packets.saturating_mul(2);
        self.next_tag();
        let Search { capacity, voids, .. } = *search;
        self.mode = Mode::Search(Search { train: Train::gapped(packets, gap), stage, capacity, voids });
    }

    /// Repeats an invalid train, by default once, and then continues as slow start. A first burst is repeated with at
    /// least [`MIN_REPEATED`] packets (choice-08).
    fn void(&mut self, search: &Search, path: &Path) -> Step {
        let voids = search.voids.saturating_add(1);
        self.next_tag();
        if voids < self.most_voids {
            let train = match search.stage {
                Stage::Capacity if self.switches.has(Switch::RepeatsFirst) => Train::burst(self.first),
                Stage::Capacity => Train::burst(self.first.max(MIN_REPEATED)),
                Stage::Tree { .. } => search.train.again(),
            };
            self.mode = Mode::Search(Search { train, voids, ..search.clone() });
        } else {
            let proven = path.mss * u64::from(search.train.sent.max(self.first));
            self.mode = Mode::Slow(SlowStart::resumed(self.first, proven, true));
        }
        Step::Stay
    }

    /// Returns the RTT used for the fill (choice-07). The default is the minimum, because the other samples contain
    /// the queue of the trains.
    fn fill_rtt(&self, path: &Path) -> Option<Span> {
        match self.switches {
            switches if switches.has(Switch::SmoothedRtt) => path.srtt,
            switches if switches.has(Switch::LatestRtt) => path.latest_rtt,
            _ => path.min_rtt,
        }
    }

    /// Sends cwnd = RTT / g packets at the gap g, at most the receive window (section 3.2.2).
    fn fill(&mut self, gap: Gap, rtt: Span, path: &Path) -> Step {
        let pipe = u32::try_from(pipe(rtt, gap)).unwrap_or(u32::MAX).max(1);
        let room = u32::try_from(path.rwnd.packets(path.mss)).unwrap_or(u32::MAX).max(1);
        self.next_tag();
        self.mode = Mode::Fill(Fill { packets: pipe.min(room), sent: 0, pipe, gap, cut: false });
        Step::Stay
    }

    fn train_cut(&mut self, tag: Tag, path: &Path) -> Step {
        match &mut self.mode {
            Mode::Search(search) if tag == self.tag => {
                search.train.cut(self.switches);
                self.judge_if_over(path)
            }
            Mode::Fill(fill) if tag == self.tag => {
                fill.cut = true;
                Step::Stay
            }
            Mode::Search(_) | Mode::Fill(_) | Mode::Slow(_) => Step::Stay,
        }
    }

    /// Handles a new packet size: gaps hold for one size. A search under way begins anew, as after an invalid train.
    fn resized(&mut self, path: &Path) -> Step {
        match &mut self.mode {
            Mode::Search(_) if !self.open => {
                self.mode = Mode::Search(Search::new(self.first));
                Step::Stay
            }
            Mode::Search(search) => {
                search.stage = Stage::Capacity;
                search.train.give_up();
                self.judge_if_over(path)
            }
            // The window of the fill is kept. The rate would be wrong for both sizes.
            Mode::Fill(fill) => match fill.done(self.switches, path) {
                Step::Exit(exit) => {
                    Step::Exit(Exit { learned: PathEstimate { rate: None, ..exit.learned }, ..exit })
                }
                Step::Stay => Step::Stay,
            },
            Mode::Slow(_) => Step::Stay,
        }
    }

    /// Continues after an undone reduction. The state is that of the loss, but the ACKs since then went to the
    /// avoidance law, so the train cannot be measured.
    fn undone(&mut self, path: &Path) -> Step {
        match &mut self.mode {
            Mode::Search(search) => {
                search.train.give_up();
                self.judge_if_over(path)
            }
            Mode::Fill(fill) => fill.done(self.switches, path),
            Mode::Slow(_) => Step::Stay,
        }
    }

    /// Responds to congestion (section 3.2.2). A loss means that the path's capacity was exceeded, so fast recovery and
    /// avoidance follow. After a timeout, slow start follows up to half of the last train. The host decides, by probing
    /// or not, whether the loss of a train's tail appears as a loss or as a timeout (choice-09).
    fn congested(&self, cause: Cause, path: &Path) -> Step {
        let window = self.train_window(path);
        let half = || (window / 2).max(path.mss * 2);
        let ssthresh = (cause == Cause::Timeout).then(half);
        Step::Exit(Exit { cause, learned: PathEstimate { window, ssthresh, rate: None } })
    }

    /// Returns the bytes of the newest train.
    fn train_window(&self, path: &Path) -> Bytes {
        match &self.mode {
            Mode::Search(search) => path.mss * u64::from(search.train.packets),
            Mode::Fill(fill) => path.mss * u64::from(fill.packets),
            Mode::Slow(slow) => slow.window(),
        }
    }

    fn next_tag(&mut self) {
        self.tag = Tag(self.tag.0.wrapping_add(1).max(1));
    }
}

/// Returns the size of the first burst (choice-04): the initial window, and at least a pair, because one packet shows
/// no gap.
fn initial_burst(initial: Initial) -> u16 {
    u16::try_from(initial.segments.clamp(2, MAX_FIRST)).unwrap_or(u16::MAX)
}

impl Search {
    fn new(first: u16) -> Self {
        Self { train: Train::burst(first), stage: Stage::Capacity, capacity: 0, voids: 0 }
    }
}

impl Switches {
    /// Returns the rule that decides which gaps count.
    fn ack_mode(self) -> AckMode {
        match self {
            _ if self.has(Switch::AllAcks) => AckMode::All,
            _ if self.has(Switch::LiteralAcks) => AckMode::Literal,
            _ => AckMode::Timers,
        }
    }
}

impl Startup for Paced {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match (event, &mut self.mode) {
            (Event::Begin(origin), _) => self.begin(*origin, path),
            (_, Mode::Slow(slow)) => slow.on(event, path),
            (Event::Established { syn_lost, .. }, _) => self.established(event, *syn_lost, path),
            (Event::Sent(sent), Mode::Search(search)) if sent.tag == self.tag || sent.retransmission => {
                search.train.left(sent, path.mss);
                Step::Stay
            }
            (Event::Sent(sent), Mode::Fill(fill)) if sent.tag == self.tag && !sent.retransmission => {
                fill.sent =
                    fill.sent.saturating_add(u32::try_from(sent.packets(path.mss)).unwrap_or(u32::MAX));
                Step::Stay
            }
            (Event::Acked(ack), _) => self.acked(ack, path),
            (Event::Lost(loss), _) if loss.opens_episode => self.congested(Cause::Loss, path),
            (Event::Marked { .. }, _) => self.congested(Cause::Mark, path),
            (Event::TimedOut { .. }, _) => self.congested(Cause::Timeout, path),
            (Event::SpuriousLoss, _) => self.undone(path),
            (Event::TrainCut(tag), _) => self.train_cut(*tag, path),
            (Event::MssChanged, _) => self.resized(path),
            (Event::Sent(_) | Event::Lost(_) | Event::Asked(_) | Event::Advice(_) | Event::Woken, _) => {
                Step::Stay
            }
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let window = self.train_window(path);
        let (pacing, ssthresh) = match &self.mode {
            Mode::Slow(slow) => return slow.plan(path),
            _ if !self.open => (Pacing::Hold, None),
            Mode::Search(search) => (search.train.pacing(), None),
            Mode::Fill(fill) => {
                (fill.pacing(path), Some(window).filter(|_| !self.switches.has(Switch::SsthreshUnset)))
            }
        };
        Plan { pacing, tag: self.tag, ..Plan::ack_clocked(window, ssthresh) }
    }
}

impl Train {
    fn pacing(&self) -> Pacing {
        Pacing::Train { packets: u32::from(self.packets), gap: Span::from_nanos(u64::from(self.gap)) }
    }
}

impl Sums {
    /// Returns whether the ACKs arrived more than a quarter closer together than the packets were sent: the reverse
    /// path compressed them.
    fn acks_compressed(self) -> bool {
        self.arrivals * 4 < self.departures * 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn congestion_is_that_of_exact_arithmetic(
            departures in 0..Gap::MAX, longer: u32, shift in 0..32u32, count: u16, tolerance_ppm: u32, slack: Gap, by in 0..32u32,
        ) {
            let (longer, tolerance_ppm, slack) = (longer >> shift, tolerance_ppm >> by, slack >> by);
            let arrivals = departures.saturating_add(longer).min(Gap::MAX - 1);
            let scheme = Paced { tolerance_ppm, slack, ..Paced::practical(Initial { segments: 10, ssthresh: None }) };
            let sums = Sums {
                arrivals: u64::from(arrivals),
                departures: u64::from(departures),
                count: u64::from(count),
            };
            let (arrivals, departures) = (u128::from(arrivals), u128::from(departures));
            let tolerated = departures * (1_000_000 + u128::from(tolerance_ppm));
            let slack = u128::from(slack) * u128::from(count);
            let congested = arrivals * 1_000_000 > tolerated && arrivals > departures + slack;
            prop_assert_eq!(scheme.measure(sums).congested, congested);
        }
    }
}
