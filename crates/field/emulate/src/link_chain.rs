//! Consecutive links, each a port of the simulator. They carry packets of any type and work with any clock.

use std::collections::VecDeque;

use firstflight::{Span, Time};
use firstflight_sim::{
    Arriving, Cross, Departure, Dropped, FlowKey, LinkSpec, LinkStats, Outcome, Port, PortFault, PortSpec,
};

/// Consecutive links. A packet that leaves one link enters the next at the same time.
///
/// The packets that entered and their times determine the fate of each packet. As with [`Port`], it does not depend on when the caller
/// queries the links.
#[derive(Clone, Debug)]
pub struct LinkChain<T> {
    ports: Vec<Port<Inside<T>>>,
    /// The outcomes of packets that the caller has not fetched yet.
    outcomes: VecDeque<Outcome<T>>,
    caught_up: Time,
}

/// A packet, and the properties of it that the next link needs.
#[derive(Clone, Copy, Debug)]
struct Inside<T> {
    bytes: u16,
    flow: FlowKey,
    marked: bool,
    twice: bool,
    payload: T,
}

/// The interval at which links without packets of the host process their cross traffic.
const CATCH_UP: Span = Span::from_secs(1);

impl<T> LinkChain<T> {
    /// Makes a chain of these links. Each link comes with the cross traffic that crosses only this link. Equal seeds give equal random
    /// numbers. Each link has a separate seed.
    ///
    /// # Errors
    /// Returns the reason why a link is impossible.
    pub fn new(links: Vec<(LinkSpec, Vec<Cross>)>, seed: u64) -> Result<Self, PortFault> {
        let port = |(place, (link, cross))| {
            Port::new(&PortSpec { link, cross, start: Time::ZERO }, seed_of(seed, place))
        };
        let ports = (0..).zip(links).map(port).collect::<Result<_, _>>()?;
        Ok(Self { ports, outcomes: VecDeque::new(), caught_up: Time::ZERO })
    }

    /// Lets a packet enter at `now`.
    pub fn enter(&mut self, now: Time, packet: Arriving<T>) {
        self.run(now);
        let Arriving { bytes, flow, ecn, quick_start, payload } = packet;
        let payload = Inside { bytes, flow, marked: false, twice: false, payload };
        self.enter_link(0, now, Arriving { bytes, flow, ecn, quick_start, payload });
    }

    /// Returns the time of the next call of [`LinkChain::event`]; `None` while no packet is inside.
    pub fn next_event(&self) -> Option<Time> {
        if self.outcomes.is_empty() { self.earliest().map(|(at, _)| at) } else { Some(self.caught_up) }
    }

    /// Returns the next outcome of a packet until `now`; `None` if there is no further outcome.
    pub fn event(&mut self, now: Time) -> Option<Outcome<T>> {
        self.run(now);
        if self.outcomes.is_empty() && now.since(self.caught_up) >= CATCH_UP {
            self.catch_up(now);
        }
        self.outcomes.pop_front()
    }

    /// Returns the number of the host's packets that are inside.
    pub fn inside(&self) -> usize {
        self.outcomes.len() + self.ports.iter().map(Port::inside).sum::<usize>()
    }

    /// Returns the counters of each link up to `now`, cross traffic included.
    pub fn stats(&mut self, now: Time) -> Vec<LinkStats> {
        self.run(now);
        self.ports.iter_mut().map(|port| port.stats(now)).collect()
    }

    /// Returns the time of the next event of any link, and the link. If several links have events at the same time, the first link comes
    /// first.
    fn earliest(&self) -> Option<(Time, usize)> {
        let events = self.ports.iter().enumerate();
        events.filter_map(|(place, port)| Some((port.next_event()?, place))).min()
    }

    /// Handles all events up to `now`, in order, each at its time.
    fn run(&mut self, now: Time) {
        while let Some((at, place)) = self.earliest().filter(|(at, _)| *at <= now) {
            let outcome = self.ports.get_mut(place).and_then(|port| port.event(at));
            if let Some(outcome) = outcome {
                self.outcome(place, outcome);
            }
        }
    }

    /// Makes the links process their cross traffic up to `now`.
    fn catch_up(&mut self, now: Time) {
        self.caught_up = now;
        for place in 0..self.ports.len() {
            while let Some(outcome) = self.ports.get_mut(place).and_then(|port| port.event(now)) {
                self.outcome(place, outcome);
            }
        }
    }

    /// Handles the outcome of a packet at the link `place`: the packet left the link, or was dropped.
    fn outcome(&mut self, place: usize, outcome: Outcome<Inside<T>>) {
        match outcome {
            Outcome::Left(left) => {
                let Departure { payload, at, ecn, marked, twice, quick_start } = left;
                let Inside { bytes, flow, marked: marked_before, twice: twice_before, payload } = payload;
                let (marked, twice) = (marked || marked_before, twice || twice_before);
                if place + 1 < self.ports.len() {
                    let payload = Inside { bytes, flow, marked, twice, payload };
                    self.enter_link(place + 1, at, Arriving { bytes, flow, ecn, quick_start, payload });
                } else {
                    let left = Departure { payload, at, ecn, marked, twice, quick_start };
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

/// Returns the seed of the link `place`, so that links use independent random numbers.
fn seed_of(seed: u64, place: u64) -> u64 {
    seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests;
