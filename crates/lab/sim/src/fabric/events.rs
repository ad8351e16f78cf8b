//! The events of links.

use firstflight::Time;

use super::{Fabric, is_clients_data};
use crate::descriptor::{Descriptor, Transit};
use crate::link::Link;
use crate::packet::{DropCause, LinkId, Packet, PacketId};
use crate::prefetch::{self, fetch};
use crate::recorder::Recorder;

impl Fabric {
    /// Handles the event of a link: its first packet arrives at the far end, or one leaves its queue, or the link
    /// processes announced packets. Returns a packet that arrives at a TCP host, which calls [`Fabric::forget`] when
    /// it has handled the packet.
    pub(crate) fn event<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) -> Option<PacketId> {
        let arrived = match &mut self.links[id.index()].link {
            Link::DropTail(link) => {
                let is_last = |position| self.routes.link(position).is_none();
                if let Some((packet, next)) = link.arrival_of_segment(now, is_last, &mut self.flows) {
                    let event = link.set_event_with(next);
                    if self.packets.places() > prefetch::MANY
                        && let Some((_, descriptor)) = next
                    {
                        fetch(self.packets.get(descriptor.packet()));
                    }
                    self.set_event(id, event);
                    return Some(packet);
                }
                self.drop_tail_event(now, id, recorder)
            }
            Link::Other(link) => {
                let arrived = link.event(now, recorder);
                if let Some(descriptor) = link.take_twice() {
                    self.duplicate(now, id, descriptor);
                }
                self.refresh(id);
                if arrived.is_none() {
                    self.report_discipline(now, id, recorder);
                }
                arrived
            }
        }?;
        let descriptor = arrived.descriptor;
        if arrived.is_lost() {
            let packet = self.packets.take(descriptor.packet());
            self.drop(now, id, &packet, DropCause::Random, recorder);
            return None;
        }
        let advanced = descriptor.advanced();
        if self.routes.link(advanced.position()).is_some() {
            self.enter(now, advanced, recorder);
            return None;
        }
        if descriptor.is_datagram() {
            let flow = self.packets.get(descriptor.packet()).flow;
            self.flows[flow.index()].delivered_bytes += u64::from(descriptor.wire());
            self.packets.forget(descriptor.packet());
            return None;
        }
        Some(descriptor.packet())
    }

    /// Adds a second copy of a packet to the link at whose far end it has just arrived.
    #[cold]
    fn duplicate(&mut self, now: Time, id: LinkId, descriptor: Descriptor) {
        let copy = self.packets.put(*self.packets.get(descriptor.packet()));
        self.copy_body(descriptor.packet(), copy);
        self.sequence += 1;
        if let Link::Other(link) = &mut self.links[id.index()].link {
            link.enter_copy(now, descriptor.named(copy).in_place(self.sequence));
        }
    }

    /// Handles the event of a drop-tail link: a packet arrives at the far end, or the link processes announced
    /// packets.
    #[inline]
    fn drop_tail_event<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) -> Option<Transit> {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return None };
        link.catch_up_before_expected(now, recorder);
        let Some(arrived) = link.arrival(now, &mut self.flows) else {
            return self.look(now, id, recorder);
        };
        let next = link.set_event();
        self.set_event(id, next);
        Some(arrived)
    }

    /// Lets a drop-tail link process its announced packets.
    #[inline(never)]
    fn look<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) -> Option<Transit> {
        self.admit_announced(now, id, u64::MAX, recorder);
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return None };
        link.catch_up(now, recorder);
        let arrived = link.arrival(now, &mut self.flows);
        self.refresh(id);
        arrived
    }

    /// Puts the next event of a link on the agenda.
    #[inline(never)]
    pub(super) fn refresh(&mut self, id: LinkId) {
        let next = match &mut self.links[id.index()].link {
            Link::DropTail(link) => link.set_event(),
            Link::Other(link) => link.next_event(),
        };
        self.set_event(id, next);
    }

    #[inline]
    fn set_event(&mut self, id: LinkId, next: Option<(Time, u64)>) {
        match next {
            Some((at, sequence)) => self.agenda.set(id.index(), at, sequence),
            None => self.agenda.clear(id.index()),
        }
    }

    /// Counts and reports the packets that the discipline of a queue has just dropped and marked.
    #[cold]
    #[inline(never)]
    pub(super) fn report_discipline<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) {
        while let Link::Other(link) = &mut self.links[id.index()].link
            && let Some(descriptor) = link.take_marked()
        {
            let packet = self.packets.get_mut(descriptor.packet());
            if is_clients_data(packet) && !packet.is_marked() {
                self.flows[packet.flow.index()].data_marked += 1;
            }
            recorder.marked(now, id, packet);
            packet.mark();
        }
        while let Link::Other(link) = &mut self.links[id.index()].link
            && let Some(descriptor) = link.take_dropped()
        {
            let packet = self.packets.take(descriptor.packet());
            self.drop(now, id, &packet, DropCause::Queue, recorder);
        }
    }

    pub(super) fn drop<W: Recorder>(
        &mut self,
        now: Time,
        link: LinkId,
        packet: &Packet,
        cause: DropCause,
        recorder: &mut W,
    ) {
        let flow = &mut self.flows[packet.flow.index()];
        match (is_clients_data(packet), cause) {
            (true, DropCause::Queue) => flow.data_dropped_by_queue += 1,
            (true, DropCause::Policer) => flow.data_dropped_by_policer += 1,
            (true, DropCause::Random) => flow.data_dropped_at_random += 1,
            (false, _) => flow.control_dropped += 1,
        }
        recorder.dropped(now, link, packet, cause);
    }
}
