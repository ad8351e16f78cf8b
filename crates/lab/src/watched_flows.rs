//! Recordings of the flows of a population for figures: an observer for each flow.

use std::collections::BTreeMap;

use firstflight::{Bytes, Sent, Time, TraceRecord};
use firstflight_measure::Recording;
use firstflight_sim::{Arrived, DropCause, FlowId, LinkId, Packet, Recorder};
use firstflight_tcp::{Happening, Role, Segment, Snapshot};

use crate::observe::{Observer, Surroundings, Watching};

/// Observes every flow of a population: passes the events of a flow to the observer of that flow.
pub(crate) struct WatchedFlows {
    mss: u32,
    /// The queues of all links between routers.
    surroundings: Surroundings,
    /// The observers, by the numbers of their flows.
    flows: BTreeMap<u32, Observer>,
}

impl WatchedFlows {
    /// No observer yet: an observer is made when its flow arrives. `mss` is the payload of a full segment in bytes;
    /// `between_routers` are the links whose queues the recordings have.
    pub(crate) fn new(mss: u32, between_routers: &[LinkId]) -> Self {
        Self { mss, surroundings: Surroundings::new(between_routers, Time::ZERO), flows: BTreeMap::new() }
    }

    /// The recordings of all flows with their numbers. `ended` says when a flow ended.
    pub(crate) fn finish(self, ended: impl Fn(FlowId) -> Time) -> Vec<(u32, Recording)> {
        let close = |(flow, observer): (u32, Observer)| {
            let (evidence, _) = observer.close(ended(FlowId(flow)).nanos());
            (flow, evidence.recording)
        };
        self.flows.into_iter().map(close).collect()
    }

    fn of(&mut self, flow: FlowId) -> Option<&mut Observer> {
        self.flows.get_mut(&flow.0)
    }
}

impl Recorder for WatchedFlows {
    fn flow_arrived(&mut self, at: Time, flow: FlowId, _: Arrived, forward: &[LinkId]) {
        let surroundings = self.surroundings.begun_at(forward, at);
        let watching = Watching { full: true, ..Watching::default() };
        self.flows.insert(flow.0, Observer::new(flow, surroundings, self.mss, watching));
    }

    fn sent(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        number: u64,
        segment: &Segment,
        sent: Option<&Sent>,
    ) {
        if let Some(observer) = self.of(flow) {
            observer.sent(at, flow, side, number, segment, sent);
        }
    }

    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        if let Some(observer) = self.of(flow) {
            observer.arrived(at, flow, side, segment);
        }
    }

    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        if let Some(observer) = self.of(packet.flow) {
            observer.dropped(at, link, packet, cause);
        }
    }

    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        if let Some(observer) = self.of(packet.flow) {
            observer.marked(at, link, packet);
        }
    }

    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        self.surroundings.queue(at, link, bytes, packets);
        for observer in self.flows.values_mut() {
            observer.queue(at, link, bytes, packets);
        }
    }

    fn state(&mut self, at: Time, flow: FlowId, side: Role, snapshot: impl Fn() -> Snapshot + Copy) {
        if let Some(observer) = self.of(flow) {
            observer.state(at, flow, side, snapshot);
        }
    }

    fn happening(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        happening: &Happening,
        snapshot: impl Fn() -> Snapshot + Copy,
    ) {
        if let Some(observer) = self.of(flow) {
            observer.happening(at, flow, side, happening, snapshot);
        }
    }

    fn told(&mut self, flow: FlowId, told: &TraceRecord) {
        if let Some(observer) = self.of(flow) {
            observer.told(flow, told);
        }
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        if let Some(observer) = self.of(flow) {
            observer.delivered(at, flow, bytes);
        }
    }
}
