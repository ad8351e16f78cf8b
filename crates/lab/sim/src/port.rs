//! A single link of the simulator under any clock: a queue, a transmitter and a wire for packets of any type.
//!
//! Packets enter at an instant. The port reports when each one leaves, whether it was marked, or that it was dropped. A port's link is a
//! link of a [`crate::Sim`], so a host with a wall clock meets the path that was simulated. Instants are computed, not measured: a host
//! that polls late gets the exact instants of the past. A late wake-up therefore delays packets, but never changes the rate.
//!
//! The output is a function of the packets entered and their instants, and does not depend on when the port is polled, as long as instants
//! do not go back: every call moves the port's clock, and an earlier instant counts as the latest so far. At one instant, datagrams of
//! cross traffic enter first, then the host's packets, and then the queue or an open batch advances.
//!
//! Cross traffic takes work whether or not a packet of the host is inside. A host with cross traffic calls [`Port::event`] regularly while
//! nothing is inside, for example once a second. Otherwise its next packet waits until the port has caught up.
//!
//! ```
//! use firstflight::{Rate, Span, Time};
//! use firstflight_sim::{Arriving, FlowKey, LinkSpec, Outcome, Port, PortSpec, QueueLimit};
//!
//! // 12 Mbit/s send 1500 bytes in a millisecond. Two packets wait beside the one in transmission.
//! let rate = Rate::from_bps(12_000_000);
//! let link = LinkSpec { queue: QueueLimit::Packets(3), ..LinkSpec::new(Some(rate), Span::from_millis(20)) };
//! let mut port = Port::new(&PortSpec::new(link), 1)?;
//!
//! let now = Time::ZERO;
//! for name in 0..4 {
//!     let packet = Arriving::new(1_500, FlowKey::hashed(7), name);
//!     if let Err(dropped) = port.enter(now, packet) {
//!         assert_eq!(dropped.payload, 3);
//!     }
//! }
//! assert_eq!(port.next_event(), Some(now + Span::from_millis(21)));
//!
//! // The host wakes up late, and the packets left when they should have.
//! let late = now + Span::from_millis(50);
//! let mut left = Vec::new();
//! while let Some(Outcome::Left(departure)) = port.event(late) {
//!     left.push((departure.payload, departure.at.nanos() / 1_000_000));
//! }
//! assert_eq!(left, [(0, 21), (1, 22), (2, 23)]);
//! # Ok::<(), firstflight_sim::PortFault>(())
//! ```

mod cross;
mod packet;
mod slots;
mod spec;

use std::collections::VecDeque;

use firstflight::Time;
use firstflight_tcp::Ecn;

use crate::aqm::Waiting;
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::link::Link;
use crate::packet::{DropCause, LinkId, PacketId, Position};
use crate::quick_start::{self, Router};
use crate::stats::{FlowStats, LinkStats};

use cross::{Datagram, Sources};
pub use packet::{Arriving, Departure, Dropped, Outcome};
use slots::{Slot, Slots};
pub use spec::{Cross, PortFault, PortSpec};

/// A link for packets, each stored with a `T`. A port allocates only while it holds more packets than ever before.
#[derive(Clone, Debug)]
pub struct Port<T> {
    /// The host's clock at the port's time zero.
    start: Time,
    /// The latest instant of a call so far, by the port's clock.
    now: Time,
    link: Link,
    router: Option<Box<Router>>,
    /// The host's packets inside the port.
    slots: Slots<T>,
    sources: Sources,
    /// Counters of each source of cross traffic.
    cross_stats: Vec<FlowStats>,
    /// Outcomes of packets that the host has not yet polled. Only links that are not drop-tail need them.
    outcomes: VecDeque<Outcome<T>>,
}

/// The link's number among the random streams of a seed: the first link of a simulation draws equal numbers.
const LINK: LinkId = LinkId(0);

impl<T> Port<T> {
    /// Returns a port at rest. Equal seeds draw equal random numbers.
    ///
    /// # Errors
    /// Fails with the fault of `spec` that makes the port impossible.
    pub fn new(spec: &PortSpec, seed: u64) -> Result<Self, PortFault> {
        spec.check()?;
        let PortSpec { link: of, cross, start } = spec;
        let mut link = Link::new(LINK, of, seed, false);
        let sources = Sources::new(cross, seed, &mut link);
        let router = of
            .quick_start
            .map(|router| Box::new(Router::new(router, (of.rate, of.rates.as_ref()), LINK, seed)));
        Ok(Self {
            start: *start,
            now: Time::ZERO,
            link,
            router,
            slots: Slots::default(),
            sources,
            cross_stats: vec![FlowStats::default(); cross.len()],
            outcomes: VecDeque::new(),
        })
    }

    /// Enters a packet at `now`. An instant before the latest so far counts as the latest. Cross traffic that arrived since the last call
    /// enters first, which takes a while after a long time without a call.
    ///
    /// # Errors
    /// Returns the packet if the policer or the queue drops it at once.
    pub fn enter(&mut self, now: Time, packet: Arriving<T>) -> Result<(), Dropped<T>> {
        let now = self.advance(now);
        self.run(now);
        let Arriving { bytes, flow, ecn, quick_start, payload } = packet;
        let passed = quick_start.map(|option| quick_start::pass(now, self.router.as_deref_mut(), option));
        let name = self.slots.put(Slot { payload, ecn, marked: false, quick_start: passed });
        let descriptor = Descriptor::segment(name, Position::default(), u32::from(bytes).max(1), false);
        if let Err(cause) = self.admit(Waiting { descriptor, flow, ecn, since: now }, Fate::Arrives)
            && let Some(Slot { payload, .. }) = self.slots.take(name)
        {
            return Err(Dropped { payload, at: self.host_time(now), cause });
        }
        Ok(())
    }

    /// Returns when the host is to call [`Port::event`] next, by its clock; `None` while none of its packets is inside, or if the instant
    /// is the end of time. At that instant a packet leaves, or the queue selects the next one.
    pub fn next_event(&self) -> Option<Time> {
        if !self.outcomes.is_empty() {
            return Some(self.host_time(self.now));
        }
        if self.slots.is_empty() {
            return None;
        }
        let at = match &self.link {
            Link::DropTail(link) => link.next_arrival()?.0,
            Link::Other(link) => link.due_at()?,
        };
        Some(self.host_time(at)).filter(|at| *at < Time::MAX)
    }

    /// Returns the next outcome of a packet that left or was dropped by `now`; `None` if there is no other. A host calls this until it gets
    /// `None`: by then the port has caught up with `now`, including cross traffic.
    pub fn event(&mut self, now: Time) -> Option<Outcome<T>> {
        let now = self.advance(now);
        match &self.link {
            Link::DropTail(_) => {
                let outcome = self.arrival(now);
                if outcome.is_none() {
                    self.run(now);
                }
                outcome
            }
            Link::Other(_) => {
                // Stops at the first outcome: later outcomes may come much later.
                while self.outcomes.is_empty() && self.step(now) {}
                self.outcomes.pop_front()
            }
        }
    }

    /// Returns the number of the host's packets inside. Packets that have left count until [`Port::event`] has returned them.
    pub fn inside(&self) -> usize {
        self.slots.len() + self.outcomes.len()
    }

    /// Returns the counters up to `now`, including cross traffic.
    pub fn stats(&mut self, now: Time) -> LinkStats {
        let now = self.advance(now);
        self.run(now);
        if let Link::DropTail(link) = &mut self.link {
            link.settle(now, &mut self.cross_stats, &mut ());
        }
        let quick_start = self.router.as_ref().map(|router| router.stats).unwrap_or_default();
        LinkStats { quick_start, ..self.link.stats(now) }
    }

    /// Converts an instant of the port's clock to the host's clock.
    fn host_time(&self, at: Time) -> Time {
        at.after_nanos(self.start.nanos())
    }

    /// Moves the port's clock to the host's `now`, but never back. Returns the port's time.
    #[inline]
    fn advance(&mut self, now: Time) -> Time {
        self.now = self.now.max(Time::from_nanos(now.nanos_since(self.start)));
        self.now
    }

    /// Returns the outcome of the next packet of the host that reaches the far end of a drop-tail link by `now`.
    fn arrival(&mut self, now: Time) -> Option<Outcome<T>> {
        loop {
            let Link::DropTail(link) = &self.link else { return None };
            let at = link.next_arrival().map(|(at, _)| at).filter(|at| *at <= now)?;
            self.run(at);
            let Link::DropTail(link) = &mut self.link else { return None };
            link.catch_up(at, &mut ());
            let transit = link.arrival(at, &mut self.cross_stats)?;
            if let Some(outcome) = self.outcome(transit, false) {
                return Some(outcome);
            }
        }
    }

    /// Handles everything that comes before the host's action at `now`.
    #[inline]
    fn run(&mut self, now: Time) {
        match &self.link {
            Link::DropTail(link) => {
                if link.has_sources() || self.sources.next().is_some() {
                    self.run_sources(now);
                }
            }
            Link::Other(_) => while self.step(now) {},
        }
    }

    /// Does the work of [`Port::run`] for the cross traffic of a drop-tail link.
    #[inline(never)]
    fn run_sources(&mut self, now: Time) {
        while let Some(at) = self.sources.next().filter(|at| *at <= now) {
            self.run_link_sources(at);
            self.run_source(at);
        }
        self.run_link_sources(now);
    }

    /// Handles one event that comes before the host's action at `now`, at a link that is not drop-tail. Returns whether
    /// there was one.
    #[inline]
    fn step(&mut self, now: Time) -> bool {
        let Link::Other(link) = &mut self.link else { return false };
        let source = self.sources.next().filter(|at| *at <= now);
        if let Some(at) = link.due(source.unwrap_or(now)) {
            match link.event(at, &mut ()) {
                Some(transit) => {
                    let twice = link.take_twice().is_some();
                    let outcome = self.outcome(transit, twice);
                    self.outcomes.extend(outcome);
                }
                None => self.note_signals(at),
            }
            return true;
        }
        if let Some(at) = source {
            self.run_source(at);
        }
        source.is_some()
    }

    /// Handles the next event of a source, which is at `now`.
    #[inline(never)]
    fn run_source(&mut self, now: Time) {
        if let Some(datagram) = self.sources.take(now) {
            self.enter_datagram(now, datagram);
        }
    }

    /// Admits the datagrams up to `now` of the sources that the link has taken on.
    fn run_link_sources(&mut self, now: Time) {
        let Link::DropTail(link) = &mut self.link else { return };
        let router = &mut self.router;
        let mut carried = |at, wire| {
            if let Some(router) = router {
                router.carries(at, wire);
            }
        };
        let all = |_| true;
        while link
            .admit_in_turn((now, u64::MAX), all, &mut carried, (&mut self.cross_stats, &mut ()))
            .is_some()
        {}
    }

    /// Enters a datagram of cross traffic.
    fn enter_datagram(&mut self, now: Time, datagram: Datagram) {
        let Datagram { source, flow, wire } = datagram;
        let descriptor = Descriptor::datagram(PacketId(source), Position::default(), wire);
        let waiting = Waiting { descriptor, flow, ecn: Ecn::NotCapable, since: now };
        // The link counts its drops, and no one else needs the result.
        let _ = self.admit(waiting, Fate::Sinks(source));
    }

    /// Admits a packet to the link or drops it. `fate` is the treatment of the packet at the far end of a drop-tail link, unless the wire
    /// loses it.
    #[inline]
    fn admit(&mut self, waiting: Waiting, fate: Fate) -> Result<(), DropCause> {
        let Waiting { descriptor, flow, since: now, .. } = waiting;
        match &mut self.link {
            Link::DropTail(link) => {
                let schedule = link.admit(now, (descriptor.wire(), 0), || flow.stream as usize, &mut ())?;
                link.make_room(now, &mut self.cross_stats, &mut ());
                let fate = if schedule.lost { Fate::Lost } else { fate };
                link.take(now, descriptor, schedule, fate, &mut ());
            }
            Link::Other(link) => {
                link.enter(waiting, &mut ())?;
                self.note_signals(now);
            }
        }
        if let Some(router) = &mut self.router {
            router.carries(now, descriptor.wire());
        }
        Ok(())
    }

    /// Records the packets that the discipline has just marked and dropped.
    #[inline]
    fn note_signals(&mut self, now: Time) {
        let at = self.host_time(now);
        let Self { link: Link::Other(link), slots, outcomes, .. } = self else { return };
        while let Some(descriptor) = link.take_marked() {
            if !descriptor.is_datagram() {
                slots.mark(descriptor.packet());
            }
        }
        while let Some(descriptor) = link.take_dropped() {
            if !descriptor.is_datagram()
                && let Some(Slot { payload, .. }) = slots.take(descriptor.packet())
            {
                outcomes.push_back(Outcome::Dropped(Dropped { payload, at, cause: DropCause::Queue }));
            }
        }
    }

    /// Returns the outcome of a packet that reaches the far end, once or twice; `None` for a packet of cross traffic.
    fn outcome(&mut self, transit: Transit, twice: bool) -> Option<Outcome<T>> {
        if transit.descriptor.is_datagram() {
            return None;
        }
        let at = self.host_time(transit.arrives);
        let Slot { payload, ecn, marked, quick_start } = self.slots.take(transit.descriptor.packet())?;
        Some(if transit.is_lost() {
            Outcome::Dropped(Dropped { payload, at, cause: DropCause::Random })
        } else {
            Outcome::Left(Departure { payload, at, ecn, marked, twice, quick_start })
        })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod mahimahi_tests;
