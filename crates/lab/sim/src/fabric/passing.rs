//! Transfer of packets from link to link.
//!
//! The functions of this file form a cascade. The first ones handle the common packet, inline; each passes what it
//! cannot handle to a more general one, out of line.

use firstflight::Time;

use super::{Fabric, Hop};
use crate::aqm::Waiting;
use crate::descriptor::{Descriptor, Fate};
use crate::link::{DropTail, DroppedDatagram, Expectation, Link};
use crate::packet::{FlowKey, LinkId, Payload};
use crate::quick_start;
use crate::recorder::Recorder;

impl Fabric {
    /// Enters a packet into the link at its position.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    pub(super) fn enter<W: Recorder>(&mut self, now: Time, descriptor: Descriptor, recorder: &mut W) {
        let Some(id) = self.routes.link(descriptor.position()) else {
            return self.packets.forget(descriptor.packet());
        };
        let next = self.routes.link(descriptor.advanced().position());
        self.enter_link(now, (Some(id), next), descriptor, recorder);
    }

    /// Does the work of [`Fabric::enter`] if the link and the next one are known.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    pub(super) fn enter_link<W: Recorder>(
        &mut self,
        now: Time,
        (id, next): (Option<LinkId>, Option<LinkId>),
        descriptor: Descriptor,
        recorder: &mut W,
    ) {
        let (advanced, Some(id)) = (descriptor.advanced(), id) else {
            return self.packets.forget(descriptor.packet());
        };
        // If the link need not process packets first, a packet that does not wait does not change which packets may be
        // dropped.
        match next {
            Some(next) => {
                if let Some((link, next_link)) = pair(&mut self.links, id, next)
                    && link.fast_path_ok(now)
                {
                    link.start_due(now, recorder);
                    let Some(arrives) = link.admit_at_once(now, descriptor) else {
                        return self.enter_to_wait(now, id, descriptor, recorder);
                    };
                    return match next_link.expect(arrives, advanced) {
                        Expectation::Taken => {}
                        Expectation::EventMoved => {
                            self.bring_forward(next);
                            self.relieve(now, recorder);
                        }
                        Expectation::Refused => {
                            if link.append_started(now, descriptor, arrives) {
                                self.refresh(id);
                            }
                        }
                    };
                }
            }
            None => {
                if let Link::DropTail(link) = &mut self.links[id.index()].link
                    && link.fast_path_ok(now)
                    && let Some(arrives) = link.admit_at_once(now, descriptor)
                {
                    if link.append_started(now, descriptor, arrives) {
                        self.refresh(id);
                    }
                    return;
                }
            }
        }
        self.enter_at_length(now, id, descriptor, recorder);
    }

    /// Enters a packet into a drop-tail link that has processed all earlier arrivals. The packet may have to wait, or
    /// need more than admission.
    #[inline(never)]
    fn enter_to_wait<W: Recorder>(
        &mut self,
        now: Time,
        id: LinkId,
        descriptor: Descriptor,
        recorder: &mut W,
    ) {
        if descriptor.asks() {
            self.ask(now, id, descriptor);
        }
        let first = self.admit_to_wait(now, id, descriptor, recorder);
        if let Link::DropTail(link) = &mut self.links[id.index()].link
            && (first || link.doubts_since_entry())
        {
            self.refresh(id);
        }
        if self.crowded.is_some() {
            self.relieve(now, recorder);
        }
    }

    /// Enters a packet into a link of any kind, whatever it needs.
    #[inline(never)]
    fn enter_at_length<W: Recorder>(
        &mut self,
        now: Time,
        id: LinkId,
        descriptor: Descriptor,
        recorder: &mut W,
    ) {
        let Link::DropTail(link) = &mut self.links[id.index()].link else {
            return self.enter_other(now, id, descriptor, recorder);
        };
        if link.is_due(now) {
            self.admit_announced(now, id, self.present, recorder);
        }
        self.enter_to_wait(now, id, descriptor, recorder);
    }

    /// Lets the link that was found crowded process its announced packets.
    #[inline(never)]
    fn relieve<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        if let Some(id) = self.crowded.take() {
            self.admit_announced(now, id, self.present, recorder);
            self.refresh(id);
        }
    }

    /// Enters a packet into a link that is not drop-tail.
    #[inline(never)]
    fn enter_other<W: Recorder>(&mut self, now: Time, id: LinkId, descriptor: Descriptor, recorder: &mut W) {
        if descriptor.asks() {
            self.ask(now, id, descriptor);
        }
        let Hop { link: Link::Other(link), router } = &mut self.links[id.index()] else { return };
        let packet = self.packets.get(descriptor.packet());
        let flow = FlowKey::of(packet.flow, packet.from);
        match link.enter(Waiting { descriptor, flow, ecn: packet.ecn(), since: now }, recorder) {
            Ok(()) => {
                if let Some(router) = router {
                    router.carries(now, descriptor.wire());
                }
            }
            Err(cause) => {
                let packet = self.packets.take(descriptor.packet());
                self.drop(now, id, &packet, cause, recorder);
            }
        }
        self.refresh(id);
        self.report_discipline(now, id, recorder);
    }

    /// Passes a Quick-Start request through a router.
    #[cold]
    fn ask(&mut self, now: Time, id: LinkId, descriptor: Descriptor) {
        let Payload::Segment(segment) = &mut self.packets.get_mut(descriptor.packet()).payload else {
            return;
        };
        let Some(option) = segment.quick_start.ip() else { return };
        let router = self.links[id.index()].router.as_deref_mut();
        segment.quick_start.set_ip(Some(quick_start::pass(now, router, option)));
    }

    /// Lets a drop-tail link process the packets announced for instants before `now` and, at `now`, before the event
    /// with the number `sequence`. Its next event may change.
    #[inline(never)]
    pub(super) fn admit_announced<W: Recorder>(
        &mut self,
        now: Time,
        id: LinkId,
        sequence: u64,
        recorder: &mut W,
    ) {
        let Link::DropTail(link) = &self.links[id.index()].link else { return };
        let hands_on = !link.has_sources();
        loop {
            if hands_on {
                self.hand_on(now, id, sequence, recorder);
            } else {
                self.admit_in_turn(now, id, sequence, recorder);
            }
            if !self.admit_one_announced(now, id, sequence, recorder) {
                break;
            }
        }
        if !W::NEEDS_QUEUES
            && let Link::DropTail(link) = &mut self.links[id.index()].link
        {
            // The next query asks how many packets are sure to find room at the link.
            link.catch_up(now, recorder);
        }
    }

    /// Does the work of [`Fabric::admit_announced`] for packets that continue to another link and need nothing else:
    /// many consecutive packets to one link.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    fn hand_on<W: Recorder>(&mut self, now: Time, id: LinkId, sequence: u64, recorder: &mut W) {
        while let Link::DropTail(link) = &self.links[id.index()].link
            && let Some(position) = link.first_goes_to(now, sequence)
            && let Some(next) = self.routes.link(position)
            && let Some((link, next_link)) = pair(&mut self.links, id, next)
        {
            let routes = &self.routes;
            let goes_there = |position| routes.is_at(position, next);
            let heard = (&mut *self.flows, &mut *recorder);
            let (moved, stuck) = link.hand_on(next_link, (now, sequence), goes_there, heard);
            if moved {
                self.bring_forward(next);
            }
            if stuck {
                break;
            }
        }
    }

    /// Does the work of [`Fabric::admit_announced`] at a link with sources of datagrams, up to a packet that needs
    /// more than admission.
    #[inline(never)]
    fn admit_in_turn<W: Recorder>(&mut self, now: Time, id: LinkId, sequence: u64, recorder: &mut W) {
        while let Hop { link: Link::DropTail(link), router } = &mut self.links[id.index()] {
            let is_last = |position| self.routes.link(position).is_none();
            let carried = |at, wire| {
                if let Some(router) = router {
                    router.carries(at, wire);
                }
            };
            let heard = (&mut *self.flows, &mut *recorder);
            let Some(DroppedDatagram { at, packet, cause }) =
                link.admit_in_turn((now, sequence), is_last, carried, heard)
            else {
                break;
            };
            self.drop(at, id, &packet, cause, recorder);
        }
    }

    /// Does the work of [`Fabric::admit_announced`] for the first announced packet, whatever it needs. Returns
    /// whether there was one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    fn admit_one_announced<W: Recorder>(
        &mut self,
        now: Time,
        id: LinkId,
        sequence: u64,
        recorder: &mut W,
    ) -> bool {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        let Some((at, descriptor)) = link.take_expected(now, sequence) else { return false };
        match link.admit_at_once(at, descriptor) {
            Some(arrives) => self.pass_on(at, id, descriptor, arrives),
            None => self.admit_to_wait(at, id, descriptor, recorder),
        };
        true
    }

    /// Announces a packet that entered a drop-tail link at `at` and need not wait to the next link, or else puts it on
    /// this link. Returns whether it is the first packet on this link that needs an arrival event.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn pass_on(&mut self, at: Time, id: LinkId, descriptor: Descriptor, arrives: Time) -> bool {
        let advanced = descriptor.advanced();
        if let Some(next) = self.routes.link(advanced.position())
            && self.expect(next, arrives, advanced)
        {
            return false;
        }
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        link.append_started(at, descriptor, arrives)
    }

    /// Admits a packet to a drop-tail link after all earlier arrivals; the packet may have to wait. Returns whether it
    /// is the first packet on this link that needs an arrival event.
    #[inline(never)]
    fn admit_to_wait<W: Recorder>(
        &mut self,
        at: Time,
        id: LinkId,
        descriptor: Descriptor,
        recorder: &mut W,
    ) -> bool {
        let advanced = descriptor.advanced();
        let Some(next) = self.routes.link(advanced.position()) else {
            return self.admit_last_to_wait(at, id, descriptor, recorder);
        };
        let Some((link, next_link)) = pair(&mut self.links, id, next) else {
            return self.admit_at_length(at, id, descriptor, recorder);
        };
        let Some(schedule) = link.admit_to_wait(at, descriptor, recorder) else {
            return self.admit_at_length(at, id, descriptor, recorder);
        };
        link.make_room(at, &mut self.flows, recorder);
        let expectation = next_link.expect(schedule.arrives, advanced);
        let fate = if expectation == Expectation::Refused { Fate::Arrives } else { Fate::HandedOn };
        let first = link.take(at, descriptor, schedule, fate, recorder);
        if expectation == Expectation::EventMoved {
            self.bring_forward(next);
        }
        first
    }

    /// Does the work of [`Fabric::admit_to_wait`] at the last link of a route.
    #[inline(never)]
    fn admit_last_to_wait<W: Recorder>(
        &mut self,
        at: Time,
        id: LinkId,
        descriptor: Descriptor,
        recorder: &mut W,
    ) -> bool {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        let Some(schedule) = link.admit_to_wait(at, descriptor, recorder) else {
            return self.admit_at_length(at, id, descriptor, recorder);
        };
        link.make_room(at, &mut self.flows, recorder);
        link.take(at, descriptor, schedule, Fate::Arrives, recorder)
    }

    /// Does the work of [`Fabric::admit_to_wait`] for a packet that may be dropped or lost, or that a router counts.
    #[inline(never)]
    fn admit_at_length<W: Recorder>(
        &mut self,
        at: Time,
        id: LinkId,
        descriptor: Descriptor,
        recorder: &mut W,
    ) -> bool {
        let Hop { link: Link::DropTail(link), router } = &mut self.links[id.index()] else { return false };
        let packets = &self.packets;
        let flow = || packets.get(descriptor.packet()).flow.index();
        let schedule = match link.admit(at, (descriptor.wire(), descriptor.sequence()), flow, recorder) {
            Ok(schedule) => schedule,
            Err(cause) => {
                let packet = self.packets.take(descriptor.packet());
                self.drop(at, id, &packet, cause, recorder);
                return false;
            }
        };
        if let Some(router) = router {
            router.carries(at, descriptor.wire());
        }
        link.make_room(at, &mut self.flows, recorder);
        let descriptor = descriptor.in_place(schedule.place);
        let advanced = descriptor.advanced();
        let fate = match self.routes.link(advanced.position()) {
            _ if schedule.lost => Fate::Lost,
            Some(next) if self.expect(next, schedule.arrives, advanced) => Fate::HandedOn,
            None if descriptor.is_datagram() => {
                let flow = self.packets.get(descriptor.packet()).flow;
                self.packets.forget(descriptor.packet());
                Fate::Sinks(flow.0)
            }
            Some(_) | None => Fate::Arrives,
        };
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        link.take(at, descriptor, schedule, fate, recorder)
    }

    /// Announces a packet to a link. Returns whether the link expects it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn expect(&mut self, id: LinkId, at: Time, descriptor: Descriptor) -> bool {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        match link.expect(at, descriptor) {
            Expectation::Refused => false,
            Expectation::Taken => true,
            Expectation::EventMoved => {
                self.bring_forward(id);
                true
            }
        }
    }

    /// Updates the event of a link to which a packet was announced: the event may now be earlier.
    #[inline(never)]
    fn bring_forward(&mut self, id: LinkId) {
        if let Link::DropTail(link) = &self.links[id.index()].link
            && link.is_crowded()
        {
            self.crowded = Some(id);
        }
        self.refresh(id);
    }
}

/// Returns the two links; `None` if they are the same link, or if one is not drop-tail.
#[inline]
fn pair(links: &mut [Hop], one: LinkId, other: LinkId) -> Option<(&mut DropTail, &mut DropTail)> {
    match links.get_disjoint_mut([one.index(), other.index()]) {
        Ok([Hop { link: Link::DropTail(one), .. }, Hop { link: Link::DropTail(other), .. }]) => {
            Some((one, other))
        }
        Ok(_) | Err(_) => None,
    }
}
