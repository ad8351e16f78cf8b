//! How packets get from link to link.

use firstflight::Time;

use super::{Fabric, Hop, is_clients_data};
use crate::link::{DropTail, Expectation, Fate, Link, Parcel, Passage, Turned};
use crate::packet::{DropCause, LinkId, Packet, PacketId};
use crate::quick_start;
use crate::recorder::Recorder;

impl Fabric {
    /// The event of a link: its first packet arrives at the far end, or one leaves its queue, or it looks at what came.
    /// Gives the packet if it arrives at a host that has to hear of it, which [`Fabric::forget`]s it then.
    pub(crate) fn event<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) -> Option<PacketId> {
        let arrived = match &mut self.links[id.index()].link {
            Link::DropTail(_) => self.drop_tail_event(now, id, recorder),
            Link::Other(link) => {
                let arrived = link.event(now, (&mut self.packets, recorder));
                self.refresh(id);
                if arrived.is_none() {
                    self.hear_discipline(now, id, recorder);
                }
                arrived
            }
        }?;
        let parcel = arrived.parcel;
        if arrived.is_lost() {
            let packet = self.packets.take(parcel.packet);
            self.drop(now, id, &packet, DropCause::Random, recorder);
            return None;
        }
        let ahead = parcel.ahead();
        if self.routes.link(ahead.step).is_some() {
            self.enter(now, ahead, recorder);
            return None;
        }
        if parcel.is_datagram() {
            let flow = self.packets.get(parcel.packet).flow;
            self.flows[flow.index()].delivered_bytes += u64::from(parcel.wire());
            self.packets.forget(parcel.packet);
            return None;
        }
        Some(parcel.packet)
    }

    /// The event of a drop-tail link.
    #[inline]
    fn drop_tail_event<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) -> Option<Passage> {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return None };
        let mut arrived = link.arrival(now, &mut self.flows);
        if arrived.is_none() {
            arrived = link.arrival_in_passing(now, |step| self.routes.link(step).is_none());
        }
        if arrived.is_none() {
            return self.drop_tail_event_at_length(now, id, recorder);
        }
        match link.set_event() {
            Some((at, sequence)) => self.agenda.set(id.index(), at, sequence),
            None => self.agenda.clear(id.index()),
        }
        arrived
    }

    /// The same, of a link that has to look at what came.
    #[inline(never)]
    fn drop_tail_event_at_length<W: Recorder>(
        &mut self,
        now: Time,
        id: LinkId,
        recorder: &mut W,
    ) -> Option<Passage> {
        self.take_in(now, id, u64::MAX, recorder);
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return None };
        link.catch_up(now, recorder);
        let arrived = link.arrival(now, &mut self.flows);
        self.refresh(id);
        arrived
    }

    /// A packet comes to the link ahead of it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    pub(super) fn enter<W: Recorder>(&mut self, now: Time, parcel: Parcel, recorder: &mut W) {
        let (ahead, Some(id)) = (parcel.ahead(), self.routes.link(parcel.step)) else {
            return self.packets.forget(parcel.packet);
        };
        // What is in doubt at a calm link is so as it was, if the packet does not wait.
        match self.routes.link(ahead.step) {
            Some(next) => {
                if let Some((link, next_link)) = pair(&mut self.links, id, next)
                    && link.is_calm(now)
                    && let Some(arrives) = link.pass(now, parcel)
                {
                    return match next_link.expect(arrives, ahead) {
                        Expectation::Taken => {}
                        Expectation::EventMoved => {
                            self.bring_forward(next);
                            self.thin_out(now, recorder);
                        }
                        Expectation::Refused => {
                            if link.take_passing(now, parcel, arrives) {
                                self.refresh(id);
                            }
                        }
                    };
                }
            }
            None => {
                if let Link::DropTail(link) = &mut self.links[id.index()].link
                    && link.is_calm(now)
                    && let Some(arrives) = link.pass(now, parcel)
                {
                    if link.take_passing(now, parcel, arrives) {
                        self.refresh(id);
                    }
                    return;
                }
            }
        }
        self.enter_at_length(now, id, parcel, recorder);
    }

    /// The same, at any link.
    #[inline(never)]
    fn enter_at_length<W: Recorder>(&mut self, now: Time, id: LinkId, parcel: Parcel, recorder: &mut W) {
        let Link::DropTail(link) = &mut self.links[id.index()].link else {
            return self.enter_other(now, id, parcel, recorder);
        };
        if link.is_due(now) {
            self.take_in(now, id, self.present, recorder);
        }
        if parcel.asks() {
            self.ask(now, id, parcel);
        }
        let first = self.let_in(now, id, parcel, recorder);
        if let Link::DropTail(link) = &mut self.links[id.index()].link
            && (first || link.doubts())
        {
            self.refresh(id);
        }
        self.thin_out(now, recorder);
    }

    /// A link that was found crowded looks at what came to it.
    #[inline(never)]
    fn thin_out<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        if let Some(id) = self.crowded.take() {
            self.take_in(now, id, self.present, recorder);
            self.refresh(id);
        }
    }

    /// The same, at a link whose events say it all.
    #[inline(never)]
    fn enter_other<W: Recorder>(&mut self, now: Time, id: LinkId, parcel: Parcel, recorder: &mut W) {
        if parcel.asks() {
            self.ask(now, id, parcel);
        }
        let Hop { link: Link::Other(link), router } = &mut self.links[id.index()] else { return };
        match link.enter(now, parcel, (&mut self.packets, recorder)) {
            Ok(()) => {
                if let Some(router) = router {
                    router.carries(now, parcel.wire());
                }
            }
            Err(cause) => {
                let packet = self.packets.take(parcel.packet);
                self.drop(now, id, &packet, cause, recorder);
            }
        }
        self.refresh(id);
        self.hear_discipline(now, id, recorder);
    }

    /// A Quick-Start request comes to a router.
    #[cold]
    fn ask(&mut self, now: Time, id: LinkId, parcel: Parcel) {
        let router = self.links[id.index()].router.as_deref_mut();
        quick_start::pass(now, router, self.packets.get_mut(parcel.packet));
    }

    /// A drop-tail link looks at what came to it before `now` and, at that instant, before the `sequence`-th event. Its next
    /// event is another then.
    #[inline(never)]
    pub(super) fn take_in<W: Recorder>(&mut self, now: Time, id: LinkId, sequence: u64, recorder: &mut W) {
        while let Hop { link: Link::DropTail(link), router } = &mut self.links[id.index()] {
            if let Some((at, parcel)) = link.take_expected(now, sequence) {
                let passes = link.pass(at, parcel);
                match passes {
                    Some(arrives) => drop(self.pass_on(at, id, parcel, arrives)),
                    None => drop(self.let_in_to_wait(at, id, parcel, recorder)),
                }
            } else if let Some(came) = link.take_datagram(now, (&mut self.flows, recorder)) {
                match (came, router) {
                    (Ok((at, wire)), Some(router)) => router.carries(at, wire),
                    (Ok(_), None) => {}
                    (Err(Turned { at, packet, cause }), _) => self.drop(at, id, &packet, cause, recorder),
                }
            } else {
                break;
            }
        }
    }

    /// A packet enters a drop-tail link, behind all that came before. Says whether it is the first there on whose arrival
    /// something depends.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn let_in<W: Recorder>(&mut self, at: Time, id: LinkId, parcel: Parcel, recorder: &mut W) -> bool {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        match link.pass(at, parcel) {
            Some(arrives) => self.pass_on(at, id, parcel, arrives),
            None => self.let_in_to_wait(at, id, parcel, recorder),
        }
    }

    /// A packet that entered a drop-tail link at `at` and need not wait is expected by the next, or else taken. Says
    /// whether it is the first there on whose arrival something depends.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn pass_on(&mut self, at: Time, id: LinkId, parcel: Parcel, arrives: Time) -> bool {
        let ahead = parcel.ahead();
        if let Some(next) = self.routes.link(ahead.step)
            && self.expect(next, arrives, ahead)
        {
            return false;
        }
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        link.take_passing(at, parcel, arrives)
    }

    /// The same, of a packet that may have to wait.
    #[inline(never)]
    fn let_in_to_wait<W: Recorder>(
        &mut self,
        at: Time,
        id: LinkId,
        parcel: Parcel,
        recorder: &mut W,
    ) -> bool {
        let ahead = parcel.ahead();
        let Some(next) = self.routes.link(ahead.step) else {
            return self.let_in_last_to_wait(at, id, parcel, recorder);
        };
        let Some((link, next_link)) = pair(&mut self.links, id, next) else {
            return self.let_in_at_length(at, id, parcel, recorder);
        };
        let Some(trip) = link.wait(at, parcel, recorder) else {
            return self.let_in_at_length(at, id, parcel, recorder);
        };
        if link.is_full() {
            link.sink(at, &mut self.flows);
        }
        let expectation = next_link.expect(trip.arrives, ahead);
        let fate = if expectation == Expectation::Refused { Fate::Arrives } else { Fate::Passed };
        let first = link.take(at, parcel, trip, fate, recorder);
        if expectation == Expectation::EventMoved {
            self.bring_forward(next);
        }
        first
    }

    /// The same, at the last link of its way.
    #[inline(never)]
    fn let_in_last_to_wait<W: Recorder>(
        &mut self,
        at: Time,
        id: LinkId,
        parcel: Parcel,
        recorder: &mut W,
    ) -> bool {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        let Some(trip) = link.wait(at, parcel, recorder) else {
            return self.let_in_at_length(at, id, parcel, recorder);
        };
        if link.is_full() {
            link.sink(at, &mut self.flows);
        }
        link.take(at, parcel, trip, Fate::Arrives, recorder)
    }

    /// The same, of a packet that may be dropped, or more.
    #[inline(never)]
    fn let_in_at_length<W: Recorder>(
        &mut self,
        at: Time,
        id: LinkId,
        parcel: Parcel,
        recorder: &mut W,
    ) -> bool {
        let Hop { link: Link::DropTail(link), router } = &mut self.links[id.index()] else { return false };
        let packets = &self.packets;
        let flow = || packets.get(parcel.packet).flow.index();
        let trip = match link.admit(at, (parcel.wire(), parcel.sequence()), flow, recorder) {
            Ok(trip) => trip,
            Err(cause) => {
                let packet = self.packets.take(parcel.packet);
                self.drop(at, id, &packet, cause, recorder);
                return false;
            }
        };
        if let Some(router) = router {
            router.carries(at, parcel.wire());
        }
        if link.is_full() {
            link.sink(at, &mut self.flows);
        }
        let parcel = parcel.in_place(trip.place);
        let ahead = parcel.ahead();
        let fate = match self.routes.link(ahead.step) {
            _ if trip.lost => Fate::Lost,
            Some(next) if self.expect(next, trip.arrives, ahead) => Fate::Passed,
            None if parcel.is_datagram() => {
                let flow = self.packets.get(parcel.packet).flow;
                self.packets.forget(parcel.packet);
                Fate::Sinks(flow.0)
            }
            Some(_) | None => Fate::Arrives,
        };
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        link.take(at, parcel, trip, fate, recorder)
    }

    /// A link is told when a packet will come. Says whether that was enough.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn expect(&mut self, id: LinkId, at: Time, parcel: Parcel) -> bool {
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return false };
        match link.expect(at, parcel) {
            Expectation::Refused => false,
            Expectation::Taken => true,
            Expectation::EventMoved => {
                self.bring_forward(id);
                true
            }
        }
    }

    /// The next event of a link that expects something may come sooner than the agenda has it.
    #[inline(never)]
    fn bring_forward(&mut self, id: LinkId) {
        if let Link::DropTail(link) = &self.links[id.index()].link
            && link.is_crowded()
        {
            self.crowded = Some(id);
        }
        self.refresh(id);
    }

    /// Puts the next event of a link on the agenda.
    #[inline(never)]
    pub(super) fn refresh(&mut self, id: LinkId) {
        let next = match &mut self.links[id.index()].link {
            Link::DropTail(link) => link.set_event(),
            Link::Other(link) => link.next_event(),
        };
        match next {
            Some((at, sequence)) => self.agenda.set(id.index(), at, sequence),
            None => self.agenda.clear(id.index()),
        }
    }

    /// Counts and tells what the discipline of a link's queue just dropped and marked.
    #[cold]
    #[inline(never)]
    fn hear_discipline<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) {
        while let Link::Other(link) = &mut self.links[id.index()].link
            && let Some(packet) = link.take_marked()
        {
            if is_clients_data(&packet) {
                self.flows[packet.flow.index()].data_marked += 1;
            }
            recorder.marked(now, id, &packet);
        }
        while let Link::Other(link) = &mut self.links[id.index()].link
            && let Some(packet) = link.take_dropped()
        {
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

/// Two different drop-tail links.
#[inline]
fn pair(links: &mut [Hop], one: LinkId, other: LinkId) -> Option<(&mut DropTail, &mut DropTail)> {
    match links.get_disjoint_mut([one.index(), other.index()]) {
        Ok([Hop { link: Link::DropTail(one), .. }, Hop { link: Link::DropTail(other), .. }]) => {
            Some((one, other))
        }
        Ok(_) | Err(_) => None,
    }
}
