//! What the next events need is fetched before they happen.
//!
//! Before the host of an event can be fetched a processor has to look at the packet that arrives, and at where its flow is kept,
//! and both are in no cache. So of each link the packet that arrives after the next is fetched, and the next, which was fetched
//! when the one before it arrived, is looked at.

use firstflight::{Avoidance, Startup};

use super::{Hosts, Sim};
use crate::fabric::Device;
use crate::packet::{FlowId, LinkId, Side};
use crate::prefetch::fetch;
use crate::recorder::Recorder;

impl<S: Startup, R: Startup, A: Avoidance, W: Recorder> Sim<S, R, A, W> {
    /// Has what the next events need fetched, where a packet has just arrived at the end of this link.
    #[inline(never)]
    pub(super) fn prefetch_next(&mut self, link: LinkId) {
        let fetched = &mut self.prefetched[link.index()];
        fetched.host = None;
        if let Some(next) = self.fabric.upcoming(link, 0)
            && fetched.second == Some(next)
        {
            let packet = self.fabric.packet(next);
            fetched.host = Some((packet.flow, packet.from.other()));
            self.flows.get(packet.flow.index()).inspect(|hosts| fetch(*hosts));
        }
        fetched.second = self.fabric.upcoming(link, 1);
        if let Some(second) = fetched.second {
            fetch(self.fabric.packet(second));
        }
        self.fabric.fetch_later(link);
        if let Some((flow, side)) = self.next_host()
            && let Some(Hosts::Tcp(tcp)) = self.flows.get(flow.index())
        {
            tcp.fetch(side);
            self.fabric.fetch(flow);
        }
    }

    /// The host whose event is most likely the next.
    #[inline]
    fn next_host(&self) -> Option<(FlowId, Side)> {
        let (_, _, next) = self.fabric.next()?;
        match self.fabric.device(next) {
            Device::Link(link) => self.prefetched[link.index()].host.or_else(|| {
                let packet = self.fabric.packet(self.fabric.upcoming(link, 0)?);
                Some((packet.flow, packet.from.other()))
            }),
            Device::Host(flow, side) => Some((flow, side)),
            Device::Process(_) => None,
        }
    }
}
