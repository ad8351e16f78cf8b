//! Links in a row, each a port of the simulator, for packets of any type and under any clock.

use std::collections::VecDeque;

use firstflight::{Span, Time};
use firstflight_sim::{
    Arriving, Cross, Departure, Dropped, FlowKey, LinkSpec, LinkStats, Outcome, Port, PortFault, PortSpec,
};

/// Links in a row. What leaves one enters the next at the same instant.
///
/// What becomes of a packet is a function of what entered and when, and does not depend on when the way is asked, as with
/// [`Port`].
#[derive(Clone, Debug)]
pub struct Way<T> {
    ports: Vec<Port<Inside<T>>>,
    /// What became of packets and the host has not asked for yet.
    outcomes: VecDeque<Outcome<T>>,
    caught_up: Time,
}

/// A packet, and what the next link needs to know of it.
#[derive(Clone, Copy, Debug)]
struct Inside<T> {
    bytes: u16,
    flow: FlowKey,
    marked: bool,
    payload: T,
}

/// How often links without packets of the host catch up with their cross traffic.
const CATCH_UP: Span = Span::from_secs(1);

impl<T> Way<T> {
    /// A way over these links, each with the cross traffic that crosses only it. Its time zero is the host's. Equal seeds draw
    /// equal random numbers; each link has a seed of its own.
    ///
    /// # Errors
    /// Returns what makes a link impossible.
    pub fn new(links: Vec<(LinkSpec, Vec<Cross>)>, seed: u64) -> Result<Self, PortFault> {
        let port = |(place, (link, cross))| {
            Port::new(&PortSpec { link, cross, start: Time::ZERO }, seed_of(seed, place))
        };
        let ports = (0..).zip(links).map(port).collect::<Result<_, _>>()?;
        Ok(Self { ports, outcomes: VecDeque::new(), caught_up: Time::ZERO })
    }

    /// A packet enters at `now`.
    pub fn enter(&mut self, now: Time, packet: Arriving<T>) {
        self.run(now);
        let Arriving { bytes, flow, ecn, quick_start, payload } = packet;
        let payload = Inside { bytes, flow, marked: false, payload };
        self.enter_link(0, now, Arriving { bytes, flow, ecn, quick_start, payload });
    }

    /// When [`Way::event`] is to be called next; `None` while no packet is inside.
    pub fn next_event(&self) -> Option<Time> {
        if self.outcomes.is_empty() { self.earliest().map(|(at, _)| at) } else { Some(self.caught_up) }
    }

    /// The next outcome of a packet by `now`; `None` if there is no other.
    pub fn event(&mut self, now: Time) -> Option<Outcome<T>> {
        self.run(now);
        if self.outcomes.is_empty() && now.since(self.caught_up) >= CATCH_UP {
            self.catch_up(now);
        }
        self.outcomes.pop_front()
    }

    /// How many of the host's packets are inside.
    pub fn inside(&self) -> usize {
        self.outcomes.len() + self.ports.iter().map(Port::inside).sum::<usize>()
    }

    /// The counters of each link up to `now`, cross traffic included.
    pub fn stats(&mut self, now: Time) -> Vec<LinkStats> {
        self.run(now);
        self.ports.iter_mut().map(|port| port.stats(now)).collect()
    }

    /// The next event of a link, and which link's it is. Of events at one instant the first link's comes first, so that a
    /// packet arrives before another leaves.
    fn earliest(&self) -> Option<(Time, usize)> {
        let events = self.ports.iter().enumerate();
        events.filter_map(|(place, port)| Some((port.next_event()?, place))).min()
    }

    /// Handles all events up to `now`, in order, each at its instant.
    fn run(&mut self, now: Time) {
        while let Some((at, place)) = self.earliest().filter(|(at, _)| *at <= now) {
            let outcome = self.ports.get_mut(place).and_then(|port| port.event(at));
            if let Some(outcome) = outcome {
                self.outcome(place, outcome);
            }
        }
    }

    /// Lets the links take the cross traffic up to `now`.
    fn catch_up(&mut self, now: Time) {
        self.caught_up = now;
        for place in 0..self.ports.len() {
            while let Some(outcome) = self.ports.get_mut(place).and_then(|port| port.event(now)) {
                self.outcome(place, outcome);
            }
        }
    }

    /// A packet has left the link `place`, or was dropped there.
    fn outcome(&mut self, place: usize, outcome: Outcome<Inside<T>>) {
        match outcome {
            Outcome::Left(left) => {
                let Departure { payload, at, ecn, marked, quick_start } = left;
                let Inside { bytes, flow, marked: before, payload } = payload;
                let marked = marked || before;
                if place + 1 < self.ports.len() {
                    let payload = Inside { bytes, flow, marked, payload };
                    self.enter_link(place + 1, at, Arriving { bytes, flow, ecn, quick_start, payload });
                } else {
                    let left = Departure { payload, at, ecn, marked, quick_start };
                    self.outcomes.push_back(Outcome::Left(left));
                }
            }
            Outcome::Dropped(dropped) => self.dropped(dropped),
        }
    }

    fn enter_link(&mut self, place: usize, at: Time, packet: Arriving<Inside<T>>) {
        let Some(port) = self.ports.get_mut(place) else { return };
        if let Err(dropped) = port.enter(at, packet) {
            self.dropped(dropped);
        }
    }

    fn dropped(&mut self, dropped: Dropped<Inside<T>>) {
        let Dropped { payload: Inside { payload, .. }, at, cause } = dropped;
        self.outcomes.push_back(Outcome::Dropped(Dropped { payload, at, cause }));
    }
}

/// The seed of the link `place`: links draw independent numbers.
fn seed_of(seed: u64, place: u64) -> u64 {
    seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests;
