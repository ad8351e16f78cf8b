//! Flows that arrive during a run: transfers or web pages, by a Poisson process or by the clock.
//!
//! Arrivals are open: their times, sizes and routes are drawn from the process's own random streams, whatever the
//! network does to the flows. So a seed brings equal arrivals to every scheme.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use firstflight::{Controller, Span, Time};
use firstflight_tcp::Config;

use crate::fault::FlowFault;
use crate::random::{Purpose, Stream};
use crate::sizes::{Sizes, exponential, nanos, pareto};
use crate::ways::Ways;

/// An arrival process of TCP flows.
#[derive(Clone, Debug)]
pub struct Arrivals<S, R, A> {
    /// The routes that flows may take. Each takes one at random.
    pub ways: Ways,
    /// No arrival comes before.
    pub start: Time,
    /// No arrival comes at this instant or later.
    pub stop: Option<Time>,
    /// No more than this many arrivals come; with `None` there is no limit.
    pub most: Option<u64>,
    /// The time between arrivals.
    pub gap: Gap,
    /// When the applications of all flows stop writing; `None` if each writes its whole size.
    pub until: Option<Time>,
    /// What an arrival is.
    pub content: Content,
    /// The endpoints that flows may have. Each takes one entry at random.
    pub mix: Vec<Ends<S, R, A>>,
}

/// The two endpoints of an arriving flow.
#[derive(Clone, Debug)]
pub struct Ends<S, R, A> {
    /// The sender's endpoint.
    pub client: Config,
    /// The receiver's endpoint.
    pub server: Config,
    /// What governs the sender.
    pub controller: Controller<S, R, A>,
}

/// The time from an arrival to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Exponential with this mean, the first time too: arrivals are a Poisson process.
    Exponential(Span),
    /// Always this span. The first arrival comes at the start.
    Constant(Span),
}

impl Gap {
    const fn is_zero(self) -> bool {
        match self {
            Self::Exponential(span) | Self::Constant(span) => span.is_zero(),
        }
    }
}

/// What an arrival is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Content {
    /// One transfer on a connection of its own.
    Transfer(Sizes),
    /// A web page: a file and the files embedded in it, each on a connection of its own, one begun after the other. The
    /// distributions are Surge's: of file sizes ([`Sizes::Web`]), of the number of embedded files (Pareto from 1 with
    /// exponent 2.43, cut at 100) and of the time between them (Weibull with shape 1.46 and scale 0.382 s; Barford and
    /// Crovella, Table 1). Surge's users wait for their pages. Ours do not, so that the load is the load asked for.
    Page,
}

const EMBEDDED_SHAPE: f64 = 2.43;
const EMBEDDED_MOST: f64 = 100.0;
const GAP_SHAPE: f64 = 1.46;
const GAP_SCALE_NANOS: f64 = 382_000_000.0;

impl Content {
    /// The mean payload of an arrival, in bytes.
    pub fn mean_bytes(self) -> f64 {
        match self {
            Self::Transfer(sizes) => sizes.mean(),
            Self::Page => Sizes::Web.mean() * (1.0 + mean_embedded()),
        }
    }

    /// The mean number of connections of an arrival.
    pub fn mean_flows(self) -> f64 {
        match self {
            Self::Transfer(_) => 1.0,
            Self::Page => 1.0 + mean_embedded(),
        }
    }
}

/// The mean of the whole part of the cut Pareto: the sum of P(X ≥ n) over n.
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
            Content::Transfer(sizes) => sizes.check(),
            Content::Page => Ok(()),
        }
    }
}

/// A flow that arrived during a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Arrived {
    /// The index of its process in [`crate::Network::arrivals`].
    pub process: u32,
    /// The index of its route in [`Arrivals::ways`].
    pub way: u64,
    /// The index of its endpoints in [`Arrivals::mix`].
    pub choice: u32,
    /// Its payload in bytes.
    pub bytes: u64,
}

/// The state of an arrival process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    index: u32,
    stop: Option<Time>,
    /// How many arrivals may still come.
    left: u64,
    gap: Gap,
    content: Content,
    ways: u64,
    choices: u64,
    gaps: Stream,
    contents: Stream,
    next_arrival: Option<Time>,
    /// Flows that have yet to begin, of arrivals so far, in order of time. The second number keeps the order in which
    /// they were drawn.
    pending: BinaryHeap<Reverse<(Time, u64, Arrived)>>,
    drawn: u64,
}

impl Process {
    pub(crate) fn new<S, R, A>(index: u32, spec: &Arrivals<S, R, A>, seed: u64) -> Self {
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
        };
        match spec.gap {
            Gap::Exponential(_) => process.schedule(spec.start),
            Gap::Constant(_) => process.set_next(spec.start),
        }
        process
    }

    /// When the next flow begins.
    pub(crate) fn next(&self) -> Option<Time> {
        let pending = self.pending.peek().map(|Reverse((at, ..))| *at);
        match (pending, self.next_arrival) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Takes a flow that is due by `now`.
    pub(crate) fn take(&mut self, now: Time) -> Option<Arrived> {
        while let Some(at) = self.next_arrival.filter(|at| *at <= now) {
            self.arrive(at);
            self.schedule(at);
        }
        let Reverse((at, ..)) = self.pending.peek()?;
        if *at > now {
            return None;
        }
        self.pending.pop().map(|Reverse((.., arrived))| arrived)
    }

    /// Handles an arrival: draws its flows, and when each begins.
    fn arrive(&mut self, at: Time) {
        match self.content {
            Content::Transfer(sizes) => self.begin(at, sizes),
            Content::Page => {
                self.begin(at, Sizes::Web);
                let embedded =
                    libm::floor(pareto(&mut self.contents, 1.0, EMBEDDED_SHAPE)).min(EMBEDDED_MOST);
                let (mut at, mut left) = (at, embedded);
                while left >= 1.0 {
                    // Weibull: scale × (-ln u)^(1/shape).
                    let gap = GAP_SCALE_NANOS * libm::pow(-libm::log(self.contents.unit()), 1.0 / GAP_SHAPE);
                    at = at + nanos(gap);
                    self.begin(at, Sizes::Web);
                    left -= 1.0;
                }
            }
        }
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
        // 60 000 expected, standard deviation 245; five of them.
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
    fn a_page_is_a_file_and_those_embedded_in_it_one_begun_after_the_other() {
        let all = until(&mut process(Content::Page, 1), MINUTES);
        let flows = all.len() as f64 / 60_000.0;
        let wanted = Content::Page.mean_flows();
        assert!((flows / wanted - 1.0).abs() < 0.03, "{flows} {wanted}");
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        let bytes = all.iter().map(|(_, arrived)| arrived.bytes).sum::<u64>() as f64 / 60_000.0;
        assert!((bytes / Content::Page.mean_bytes() - 1.0).abs() < 0.1, "{bytes}");
    }

    #[test]
    fn the_seed_determines_the_arrivals() {
        let of = |seed| until(&mut process(Content::Page, seed), 1_000_000_000);
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
    fn by_the_clock_the_first_comes_at_the_start_and_no_more_than_the_most() {
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
