//! Recordings of flows of a population for figures and reports. Each flow in a figure has an observer.

use std::collections::BTreeMap;

use firstflight::{Bytes, Sent, Span, Time, TraceRecord};
use firstflight_measure::Recording;
use firstflight_sim::{Arrived, DropCause, FlowId, LinkId, Packet, Recorder};
use firstflight_tcp::{EndpointEvent, Role, Segment, Snapshot};

use crate::flow_group::Group;
use crate::observe::{Observer, Surroundings, Watching};

/// Passes the events of each flow in a figure to its observer. These are all flows of a script, or else the first measured flow of each
/// scheme.
pub(crate) struct WatchedFlows<'a> {
    group: &'a Group,
    /// The time from which arriving flows are measured.
    warm: Time,
    /// For each scheme of the group's mix, whether one of its flows is observed.
    has_flow: Vec<bool>,
    /// The base round-trip time of the path, and the payload of a full segment in bytes.
    path: (Span, u32),
    /// The queues of all links between routers.
    surroundings: Surroundings,
    /// The observers, by the numbers of their flows.
    flows: BTreeMap<u32, Observer>,
}

impl<'a> WatchedFlows<'a> {
    /// Creates the recorder without an observer; a flow's observer is made when the flow arrives. Flows of `group` that arrive from `warm`
    /// on are measured. `path` is the base RTT and the payload of a full segment in bytes. `between_routers` are the links whose queues are
    /// recorded.
    pub(crate) fn new(group: &'a Group, warm: Time, path: (Span, u32), between_routers: &[LinkId]) -> Self {
        Self {
            group,
            warm,
            has_flow: vec![false; group.mix.len()],
            path,
            surroundings: Surroundings::new(between_routers, Time::ZERO),
            flows: BTreeMap::new(),
        }
    }

    /// Checks whether an arriving flow must be observed.
    fn wants(&mut self, at: Time, arrived: Arrived) -> bool {
        let Some(has_flow) = self.group.place(arrived).and_then(|place| self.has_flow.get_mut(place)) else {
            return false;
        };
        let is_scripted = !self.group.parts.is_empty();
        let wants = is_scripted || at >= self.warm && !*has_flow;
        *has_flow |= wants;
        wants
    }

    /// Returns the recordings of the observed flows, each with the flow's number. `ended` returns when a flow ended.
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

impl Recorder for WatchedFlows<'_> {
    fn flow_arrived(&mut self, at: Time, flow: FlowId, arrived: Arrived, forward: &[LinkId]) {
        if !self.wants(at, arrived) {
            return;
        }
        let surroundings = self.surroundings.begun_at(forward, at);
        let watching = Watching { full: true, ..Watching::default() };
        let observer = Observer::new(flow, surroundings, self.path, watching);
        self.flows.insert(flow.0, observer.intervals(None));
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

    fn event(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        event: &EndpointEvent,
        snapshot: impl Fn() -> Snapshot + Copy,
    ) {
        if let Some(observer) = self.of(flow) {
            observer.event(at, flow, side, event, snapshot);
        }
    }

    fn record(&mut self, flow: FlowId, record: &TraceRecord) {
        if let Some(observer) = self.of(flow) {
            observer.record(flow, record);
        }
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        if let Some(observer) = self.of(flow) {
            observer.delivered(at, flow, bytes);
        }
    }
}
