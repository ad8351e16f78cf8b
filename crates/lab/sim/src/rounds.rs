//! An application that sends in rounds with idle times in between: replies on a persistent connection.

use firstflight::{Span, Time};

use crate::packet::FlowId;
use crate::random::{Purpose, Stream};

/// An application that sends a reply in every round, with idle times between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// Number of rounds.
    pub count: u32,
    /// Payload bytes of one reply.
    pub bytes: u64,
    /// The time from one round to the next.
    pub pause: Pause,
    /// The beginning of a round is shifted by a uniform draw of up to this, in either direction. The flow starts this
    /// much early, so that the first round is also centred on the flow's start.
    pub spread: Span,
}

/// The time from one round to the next, and the instant from which it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// A round begins this long after the last byte of the previous one was delivered.
    AfterEnd(Span),
    /// Rounds are centred on instants this far apart, whether or not the previous round is over. Flows that start
    /// together keep their rounds together.
    Every(Span),
}

impl Rounds {
    /// Returns the payload bytes of all rounds.
    pub const fn total(&self) -> u64 {
        self.bytes.saturating_mul(self.count as u64)
    }
}

/// Progress of a client in its rounds.
#[derive(Clone, Debug)]
pub struct Progress {
    rounds: Rounds,
    stream: Stream,
    /// The start of the flow; the centre of its first round is one spread later.
    started: Time,
    begun: u32,
    ended: u32,
    /// The instant at which the next round begins, if it is known.
    next: Option<Time>,
}

impl Progress {
    /// Returns the progress of a client with this flow number, before its start.
    pub fn new(rounds: Rounds, id: FlowId, seed: u64) -> Self {
        let stream = Stream::new(seed, Purpose::Rounds, id.0, 0);
        Self { rounds, stream, started: Time::ZERO, begun: 0, ended: 0, next: None }
    }

    /// Starts the flow. The first round begins up to twice the spread later.
    pub fn start(&mut self, now: Time) {
        self.started = now;
        self.next = Some(self.around(now));
    }

    /// Returns when the next round begins.
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// Begins the round that is due, if one is, and returns its number.
    pub fn begin(&mut self, now: Time) -> Option<u32> {
        self.next.filter(|at| *at <= now)?;
        let round = self.begun;
        self.begun += 1;
        self.next = match self.rounds.pause {
            _ if self.is_last() => None,
            Pause::Every(period) => Some(self.around(self.started + period * u64::from(self.begun)).max(now)),
            Pause::AfterEnd(_) => None,
        };
        Some(round)
    }

    /// Returns whether the last round has begun.
    pub fn is_last(&self) -> bool {
        self.begun >= self.rounds.count
    }

    /// Ends the next round if the server has received all of its bytes. Returns the round's number, or `None` if the
    /// round goes on. `delivered` is the number of bytes that the server has received in order.
    pub fn ended(&mut self, now: Time, delivered: u64) -> Option<u32> {
        let over = self.rounds.bytes.saturating_mul(u64::from(self.ended) + 1);
        if delivered < over || self.ended >= self.begun {
            return None;
        }
        let round = self.ended;
        self.ended += 1;
        if let Pause::AfterEnd(idle) = self.rounds.pause
            && !self.is_last()
        {
            self.next = Some(self.around(now + idle));
        }
        Some(round)
    }

    /// Returns a random instant from `at` up to twice the spread later.
    fn around(&mut self, at: Time) -> Time {
        let width = (self.rounds.spread * 2).nanos().saturating_add(1);
        at + Span::from_nanos(self.stream.below(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDS: Rounds =
        Rounds { count: 3, bytes: 1_000, pause: Pause::AfterEnd(Span::from_secs(120)), spread: Span::ZERO };

    fn at(secs: u64) -> Time {
        Time::from_nanos(secs * 1_000_000_000)
    }

    fn started(rounds: Rounds, id: u32) -> Progress {
        let mut progress = Progress::new(rounds, FlowId(id), 1);
        progress.start(at(5));
        progress
    }

    #[test]
    fn the_next_round_begins_an_idle_time_after_the_previous_ends() {
        let mut progress = started(ROUNDS, 0);
        assert_eq!((progress.begin(at(4)), progress.begin(at(5)), progress.next()), (None, Some(0), None));
        assert_eq!((progress.ended(at(6), 999), progress.ended(at(7), 1_000)), (None, Some(0)));
        assert_eq!(progress.next(), Some(at(127)));
        assert_eq!((progress.begin(at(127)), progress.ended(at(128), 2_000)), (Some(1), Some(1)));
        assert_eq!((progress.begin(at(248)), progress.is_last()), (Some(2), true));
        assert_eq!((progress.ended(at(249), 3_000), progress.next()), (Some(2), None));
    }

    #[test]
    fn rounds_at_a_period_stay_within_the_spread_of_their_centres() {
        let pause = Pause::Every(Span::from_secs(100));
        let rounds = Rounds { count: 50, pause, spread: Span::from_millis(1_500), ..ROUNDS };
        let mut progress = started(rounds, 7);
        let mut offsets = Vec::new();
        for index in 0..50_u64 {
            let next = progress.next().expect("a round");
            let centre = 6_500_000_000 + index * 100_000_000_000;
            offsets.push(i64::try_from(next.nanos()).unwrap() - i64::try_from(centre).unwrap());
            assert_eq!(progress.begin(next), Some(u32::try_from(index).unwrap()));
        }
        assert_eq!(progress.next(), None);
        assert!(offsets.iter().all(|offset| offset.abs() <= 1_500_000_000), "{offsets:?}");
        let early = offsets.iter().filter(|offset| **offset < 0).count();
        assert!((15..=35).contains(&early), "both sides alike: {early} of 50 early");
        assert_ne!(started(rounds, 8).next(), started(rounds, 7).next(), "each flow draws its own");
    }
}
