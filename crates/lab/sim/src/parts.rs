//! Parts of the simulator for benchmarks, behind the feature `bench`. No other code may depend on them.

use firstflight::Time;

use firstflight_tcp::Role;

use crate::agenda;
use crate::fabric::{Device, Fabric};
use crate::network::Network;
use crate::packet::{FlowId, Label, LinkId};
use crate::spec::LinkSpec;
use crate::topology::Route;

/// The agenda of events: at most one for each device.
#[derive(Clone, Debug)]
pub struct Agenda(agenda::Agenda);

impl Agenda {
    /// Returns an empty agenda for this many devices.
    pub fn new(devices: usize) -> Self {
        Self(agenda::Agenda::new(devices, devices))
    }

    /// Sets the event of a device and replaces its previous one. Of two events at one instant the lower sequence number
    /// comes first.
    #[inline]
    pub fn set(&mut self, device: usize, at: Time, sequence: u64) {
        self.0.set(device, at, sequence);
    }

    /// Returns the next event: its time, its sequence number, and its device.
    #[inline]
    pub fn next(&self) -> Option<(Time, u64, usize)> {
        self.0.next().map(|(at, sequence, device)| (at, sequence, device as usize))
    }
}

/// Consecutive links, without hosts: packets sent over all of them arrive, and no host answers.
#[derive(Clone, Debug)]
pub struct Links {
    fabric: Fabric,
    flow: FlowId,
    count: u32,
}

impl Links {
    /// Returns these links at rest. The route over them is added later, so that no link counts as one with a sole
    /// upstream link.
    pub fn new(links: &[LinkSpec]) -> Self {
        let mut fabric = Fabric::new(&Network::<(), (), ()>::new(links.to_vec()), 1);
        let count = u32::try_from(links.len()).unwrap_or(u32::MAX);
        let flow = fabric.add_flow(&Route { forward: (0..count).map(LinkId).collect(), reverse: Vec::new() });
        Self { fabric, flow, count }
    }

    /// Sends a segment with `payload` bytes of payload into the first link at `now`. Call [`Links::run`] up to `now` first.
    #[inline]
    pub fn send(&mut self, now: Time, payload: u16) {
        let segment = self.fabric.next_segment();
        segment.len = payload;
        let label = Label {
            flow: self.flow,
            from: Role::Client,
            retransmission: false,
            number: 0,
            wire: segment.ip_length(),
            is_data: payload > 0,
            asks: false,
        };
        self.fabric.send_segment(now, label, &mut ());
    }

    /// Handles all events before `until`. Returns the number of segments that arrived at the end.
    #[inline]
    pub fn run(&mut self, until: Time) -> u64 {
        let mut arrived = 0;
        while let Some((at, sequence, device)) = self.fabric.next()
            && at < until
            && let Device::Link(link) = self.fabric.device(device)
        {
            self.fabric.happens(sequence);
            if let Some(packet) = self.fabric.event(at, link, &mut ()) {
                self.fabric.forget(packet);
                arrived += 1;
            }
        }
        arrived
    }

    /// Returns the number of segments that links accepted. A segment counts once for every link.
    pub fn hops(&self) -> u64 {
        self.fabric.packet_hops(Time::MAX)
    }

    /// Returns the number of segments that queues dropped up to `now`.
    pub fn dropped(&mut self, now: Time) -> u64 {
        self.fabric.settle(now, &mut ());
        let links = (0..self.count).filter_map(|link| self.fabric.link(now, LinkId(link)));
        links.map(|stats| stats.dropped_by_queue).sum()
    }
}
