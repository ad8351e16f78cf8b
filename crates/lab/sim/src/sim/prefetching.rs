//! Fetches the data of the next events into the cache.
//!
//! The address of an event's host is found in the arriving packet and in the list of flows, and neither is in the cache. So hosts are
//! fetched in two steps. While a packet is second in line to arrive from its link, the packet is fetched. When it is first in line, its
//! flow is read from the cached packet, and the hosts of this flow are fetched.

use firstflight::{Avoidance, Startup};
use firstflight_tcp::Role;

use super::{Hosts, Sim};
use crate::fabric::Device;
use crate::packet::{FlowId, LinkId};
use crate::prefetch::fetch;
use crate::recorder::Recorder;

impl<S: Startup, R: Startup, A: Avoidance, W: Recorder> Sim<S, R, A, W> {
    /// Fetches the data of the next events, after a packet has arrived at the end of this link.
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
        if let Some((_, _, next)) = self.fabric.next() {
            self.fetch_host(next);
        }
    }

    /// Fetches the host of the event that follows the timer at hand. The timer's event is still on the agenda, as the first.
    #[inline(never)]
    pub(super) fn prefetch_after_timer(&mut self) {
        if let Some(next) = self.fabric.after_next() {
            self.fetch_host(next);
        }
    }

    /// Fetches the host that a device's event is for.
    #[inline]
    fn fetch_host(&self, device: u32) {
        if let Some((flow, side)) = self.host_of(device)
            && let Some(Hosts::Tcp(tcp)) = self.flows.get(flow.index())
        {
            tcp.fetch(side);
            self.fabric.fetch(flow);
        }
    }

    /// Returns the host of a device's event. A link's event is for the host at which the link's next packet arrives.
    #[inline]
    fn host_of(&self, next: u32) -> Option<(FlowId, Role)> {
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
