//! Flows that arrive during a run: transfers or web pages. They arrive by a Poisson process, at equal intervals, or when a user requests
//! them after earlier ones are complete.
//!
//! Times, sizes and routes are drawn from the process's own random streams. Arrivals of a Poisson process or at equal intervals are open:
//! they do not depend on what the network does to the flows, so a seed produces equal arrivals for every scheme. A user who waits requests
//! the same files in the same order with every scheme, but each only when the previous ones are complete.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use firstflight::{Controller, Span, Time};
use firstflight_tcp::Config;

use crate::fault::FlowFault;
use crate::random::{Purpose, Stream};
use crate::routes::Ways;
use crate::sizes::{Sizes, exponential, nanos, pareto};

/// An arrival process of TCP flows.
#[derive(Clone, Debug)]
pub struct Arrivals<S, R, A> {
    /// The routes that flows may take. Each flow takes one at random.
    pub ways: Ways,
    /// The earliest instant of an arrival.
    pub start: Time,
    /// The instant from which no more flows arrive; `None` for no end.
    pub stop: Option<Time>,
    /// Maximum number of arrivals; `None` for no limit.
    pub most: Option<u64>,
    /// The time between arrivals.
    pub gap: Gap,
    /// Time at which the applications of all flows stop writing; `None` if each writes its whole size.
    pub until: Option<Time>,
    /// The content of an arrival: a transfer or a web page.
    pub content: Content,
    /// The endpoints that flows may have. Each flow takes one entry at random.
    pub mix: Vec<Ends<S, R, A>>,
}

/// The two endpoints of an arriving flow.
#[derive(Clone, Debug)]
pub struct Ends<S, R, A> {
    /// The sender's endpoint.
    pub client: Config,
    /// The receiver's endpoint.
    pub server: Config,
    /// The controller of the sender.
    pub controller: Controller<S, R, A>,
}

/// The time from an arrival to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Exponential with this mean, also before the first arrival. Arrivals are then a Poisson process.
    Exponential(Span),
    /// Always this span. The first arrival comes at the start.
    Constant(Span),
    /// A user who waits. The next arrival comes one think time after all flows of the previous arrival are over, and the first one think
    /// time after the start. Think times are those of the Surge workload generator: Pareto from 1 s with exponent 1.5 (Barford and
    /// Crovella, Table 1).
    Thinking,
}

const THINK_LEAST_NANOS: f64 = 1e9;
const THINK_SHAPE: f64 = 1.5;

impl Gap {
    const fn is_zero(self) -> bool {
        match self {
            Self::Exponential(span) | Self::Constant(span) => span.is_zero(),
            Self::Thinking => false,
        }
    }
}

/// The content of an arrival: a transfer or a web page.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Content {
    /// One transfer on a separate connection.
    Transfer(Sizes),
    /// A web page: a file and the files embedded in it, with sizes of this distribution. Each file has a separate connection, started one
    /// after the other. The distributions are those of the Surge workload generator (Barford and Crovella, Table 1): the number of embedded
    /// files is Pareto from 1 with exponent 2.43, cut at 100; the time between them is Weibull with shape 1.46 and scale 0.382 s; sizes are
    /// Surge's with [`Sizes::Web`]. Surge's users wait for each file, as with [`Gap::Thinking`]. With another gap they do not wait, and the
    /// load equals the configured load.
    Page(Sizes),
}

const EMBEDDED_SHAPE: f64 = 2.43;
const EMBEDDED_MOST: f64 = 100.0;
const GAP_SHAPE: f64 = 1.46;
const GAP_SCALE_NANOS: f64 = 382_000_000.0;

impl Content {
    /// Returns the mean payload of an arrival, in bytes.
    pub fn mean_bytes(self) -> f64 {
        match self {
            Self::Transfer(sizes) => sizes.mean(),
            Self::Page(sizes) => sizes.mean() * (1.0 + mean_embedded()),
        }
    }

    /// Returns the mean number of connections of an arrival.
    pub fn mean_flows(self) -> f64 {
        match self {
            Self::Transfer(_) => 1.0,
            Self::Page(_) => 1.0 + mean_embedded(),
        }
    }
}

/// Returns the mean number of embedded files: the whole part of the cut Pareto draw, as the sum of P(X ≥ n) over n.
fn mean_embedded() -> f64 {
    let (mut sum, mut n) = (0.0, 1.0);
    while n <= EMBEDDED_MOST {
        sum += libm::pow(n, -EMBEDDED_SHAPE);
        n += 1.0;
    }
    sum
}

impl<S, R, A> Arrivals<S, R, A> {
    pub(crate) fn check(&self) -> Result<(), FlowFault> {
        if self.gap.is_zero() {
            return Err(FlowFault::ZeroSpan);
        }
        if self.mix.is_empty() || self.ways.count() == 0 {
            return Err(FlowFault::NoChoice);
        }
        match self.content {
            Content::Transfer(sizes) | Content::Page(sizes) => sizes.check(),
        }
    }
}

/// A flow that arrived during a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Arrived {
    /// The index of the flow's process in [`crate::Network::arrivals`].
    pub process: u32,
    /// The index of the flow's route in [`Arrivals::ways`].
    pub way: u64,
    /// The index of the flow's endpoints in [`Arrivals::mix`].
    pub choice: u32,
    /// The flow's payload in bytes.
    pub bytes: u64,
}

/// The state of an arrival process, which a simulation runs, or a host that opens real connections.
#[derive(Clone, Debug)]
pub struct Process {
    index: u32,
    stop: Option<Time>,
    /// Number of arrivals still to come.
    left: u64,
    gap: Gap,
    content: Content,
    ways: u64,
    choices: u64,
    gaps: Stream,
    contents: Stream,
    next_arrival: Option<Time>,
    /// Flows of past arrivals that have yet to start, in order of time. The second number preserves the order in which they were drawn.
    pending: BinaryHeap<Reverse<(Time, u64, Arrived)>>,
    drawn: u64,
    /// Number of files of the present page that a waiting user has yet to request.
    unasked: u32,
}

impl Process {
    /// Returns the process of this index in its network, before its first arrival.
    pub fn new<S, R, A>(index: u32, spec: &Arrivals<S, R, A>, seed: u64) -> Self {
        let mut process = Self {
            index,
            stop: spec.stop,
            left: spec.most.unwrap_or(u64::MAX),
            gap: spec.gap,
            content: spec.content,
            ways: spec.ways.count(),
            choices: spec.mix.len() as u64,
            gaps: Stream::new(seed, Purpose::Arrival, index, 0),
            contents: Stream::new(seed, Purpose::Size, index, 0),
            next_arrival: None,
            pending: BinaryHeap::new(),
            drawn: 0,
            unasked: 0,
        };
        match spec.gap {
            Gap::Exponential(_) | Gap::Thinking => process.schedule(spec.start),
            Gap::Constant(_) => process.set_next(spec.start),
        }
        process
    }

    /// Returns when the next flow starts; `None` if no flow starts before another flow is over.
    pub fn next(&self) -> Option<Time> {
        let pending = self.pending.peek().map(|Reverse((at, ..))| *at);
        match (pending, self.next_arrival) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Removes and returns a flow that is due by `now`; `None` if none is.
    pub fn take(&mut self, now: Time) -> Option<Arrived> {
        while let Some(at) = self.next_arrival.take_if(|at| *at <= now) {
            self.arrive(at);
            if self.gap != Gap::Thinking {
                self.schedule(at);
            }
        }
        let Reverse((at, ..)) = self.pending.peek()?;
        if *at > now {
            return None;
        }
        self.pending.pop().map(|Reverse((.., arrived))| arrived)
    }

    /// Handles an arrival: draws its flows, and the start of each.
    fn arrive(&mut self, at: Time) {
        match self.content {
            Content::Transfer(sizes) => self.begin(at, sizes),
            Content::Page(sizes) => {
                self.begin(at, sizes);
                let embedded =
                    libm::floor(pareto(&mut self.contents, 1.0, EMBEDDED_SHAPE)).min(EMBEDDED_MOST);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 100")]
                let embedded = embedded as u32;
                if self.gap == Gap::Thinking {
                    self.unasked = embedded;
                    return;
                }
                let mut at = at;
                for _ in 0..embedded {
                    at = self.embed(at, sizes);
                }
            }
        }
    }

    /// Draws a file embedded in a page, and its start: some time after `at`.
    fn embed(&mut self, at: Time, sizes: Sizes) -> Time {
        // Weibull: scale × (-ln u)^(1/shape).
        let gap = GAP_SCALE_NANOS * libm::pow(-libm::log(self.contents.unit()), 1.0 / GAP_SHAPE);
        let at = at + nanos(gap);
        self.begin(at, sizes);
        at
    }

    /// Handles the end of a flow of the process. Returns whether the process was waiting for it.
    pub fn over(&mut self, now: Time) -> bool {
        if self.gap != Gap::Thinking {
            return false;
        }
        match (self.content, self.unasked.checked_sub(1)) {
            (Content::Page(sizes), Some(left)) => {
                self.unasked = left;
                self.embed(now, sizes);
            }
            _ => self.schedule(now),
        }
        true
    }

    fn begin(&mut self, at: Time, sizes: Sizes) {
        let arrived = Arrived {
            process: self.index,
            way: self.contents.below(self.ways),
            choice: u32::try_from(self.contents.below(self.choices)).unwrap_or(0),
            bytes: sizes.draw(&mut self.contents),
        };
        self.pending.push(Reverse((at, self.drawn, arrived)));
        self.drawn += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean is far below 2^53 ns")]
    fn schedule(&mut self, after: Time) {
        let gap = match self.gap {
            Gap::Exponential(mean) => nanos(exponential(&mut self.gaps, mean.nanos() as f64)),
            Gap::Constant(gap) => gap,
            Gap::Thinking => nanos(pareto(&mut self.gaps, THINK_LEAST_NANOS, THINK_SHAPE)),
        };
        self.set_next(after + gap);
    }

    fn set_next(&mut self, at: Time) {
        let comes = self.left > 0 && self.stop.is_none_or(|stop| at < stop);
        self.left -= u64::from(comes);
        self.next_arrival = Some(at).filter(|_| comes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Route;
    use firstflight::avoidance::Reno;
    use firstflight::schemes::SlowStart;

    fn process(content: Content, seed: u64) -> Process {
        Process::new(0, &spec(content), seed)
    }

    fn spec(content: Content) -> Arrivals<SlowStart, SlowStart, Reno> {
        Arrivals {
            ways: Ways::Listed(vec![Route { forward: Vec::new(), reverse: Vec::new() }; 3]),
            start: Time::ZERO,
            stop: None,
            most: None,
            gap: Gap::Exponential(Span::from_millis(10)),
            until: None,
            content,
            mix: Vec::new(),
        }
    }

    fn until(process: &mut Process, end: u64) -> Vec<(u64, Arrived)> {
        let mut all = Vec::new();
        while let Some(at) = process.next().filter(|at| at.nanos() < end) {
            while let Some(arrived) = process.take(at) {
                all.push((at.nanos(), arrived));
            }
        }
        all
    }

    const MINUTES: u64 = 600_000_000_000;

    #[test]
    fn arrivals_are_a_poisson_process() {
        let all = until(&mut process(Content::Transfer(Sizes::Fixed(1)), 1), MINUTES);
        // 60 000 arrivals are expected, with a standard deviation of 245; the test allows five of them.
        assert!(all.len().abs_diff(60_000) < 1_225, "{}", all.len());
        // In windows of 100 ms the variance of the counts is their mean, 10.
        let mut counts = vec![0i64; 6_000];
        for (at, _) in &all {
            counts[usize::try_from(at / 100_000_000).unwrap()] += 1;
        }
        let variance = counts.iter().map(|count| (count - 10) * (count - 10)).sum::<i64>() / 600;
        assert!((90..110).contains(&variance), "{variance} tenths");
        for route in 0..3 {
            let taken = all.iter().filter(|(_, arrived)| arrived.way == route).count();
            assert!(taken.abs_diff(20_000) < 1_000);
        }
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "a test's sums")]
    fn page_files_arrive_in_order_with_expected_mean_count_and_bytes() {
        let all = until(&mut process(Content::Page(Sizes::Web), 1), MINUTES);
        let flows = all.len() as f64 / 60_000.0;
        let wanted = Content::Page(Sizes::Web).mean_flows();
        assert!((flows / wanted - 1.0).abs() < 0.03, "{flows} {wanted}");
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        let bytes = all.iter().map(|(_, arrived)| arrived.bytes).sum::<u64>() as f64 / 60_000.0;
        assert!((bytes / Content::Page(Sizes::Web).mean_bytes() - 1.0).abs() < 0.1, "{bytes}");
    }

    #[test]
    fn the_seed_determines_the_arrivals() {
        let of = |seed| until(&mut process(Content::Page(Sizes::Web), seed), 1_000_000_000);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn none_comes_at_the_stop_or_later() {
        let mut process = process(Content::Transfer(Sizes::Fixed(1)), 1);
        process.stop = Some(Time::from_nanos(1_000_000_000));
        let all = until(&mut process, u64::MAX);
        assert!(all.len() > 50 && all.iter().all(|(at, _)| *at < 1_000_000_000));
        assert_eq!(process.next(), None);
    }

    #[test]
    fn a_waiting_user_requests_files_consecutively_and_thinks_between_pages() {
        let spec = Arrivals { gap: Gap::Thinking, ..spec(Content::Page(Sizes::Fixed(1))) };
        let mut user = Process::new(0, &spec, 1);
        let (mut gaps, mut now) = (Vec::new(), Time::ZERO);
        for _ in 0..20_000 {
            let at = user.next().expect("the user goes on");
            gaps.push(at.nanos() - now.nanos());
            assert!(user.take(at).is_some() && user.take(at).is_none() && user.next().is_none());
            // Each file takes a minute.
            now = at + Span::from_secs(60);
            assert!(user.over(now));
        }
        // Think times are at least one second, and a page has 2.3 files on average.
        let pages = gaps.iter().filter(|gap| **gap >= 1_000_000_000).count();
        #[expect(clippy::cast_precision_loss, reason = "a test's counts")]
        let files = 20_000.0 / pages as f64;
        // A wait of a second within a page is rare: exp(-(1/.382)^1.46) is 1.7 %.
        assert!((files / Content::Page(Sizes::Web).mean_flows() - 1.0).abs() < 0.05, "{files}");
    }

    #[test]
    fn timed_arrivals_begin_at_the_start_and_stop_at_the_maximum_count() {
        let spec = Arrivals {
            start: Time::from_nanos(7),
            most: Some(3),
            gap: Gap::Constant(Span::from_nanos(10)),
            ..spec(Content::Transfer(Sizes::Fixed(1)))
        };
        let all = until(&mut Process::new(0, &spec, 1), u64::MAX);
        assert_eq!(all.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [7, 17, 27]);
    }
}
