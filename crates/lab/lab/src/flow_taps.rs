//! Observers of the flows of a population. A flow's observer (a `Tap`) is made when the flow arrives, and finished when both ends of the
//! flow have closed. Only flows under way therefore need memory and open files.

use std::collections::BTreeMap;
use std::io;

use firstflight::{Bytes, Sent, Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_sim::{Arrived, FlowId, LinkId, Recorder};
use firstflight_tcp::{EndpointEvent, Role, Segment, Snapshot, Transmit};

use crate::flow_group::Group;
use crate::observe::Sequence;
use crate::run_settings::{MakeFlowTap, PopulationFlow};

/// The recorder that makes the observer of each flow of a population as the flow arrives.
pub(crate) struct TappedFlows<'a> {
    make: MakeFlowTap<'a>,
    /// The place of `group` among the groups of the scenario.
    place: usize,
    group: &'a Group,
    seed: u64,
    taps: TapsUnderWay,
}

/// The recorder that passes each flow's events to the flow's observer.
pub(crate) struct TapsUnderWay {
    /// The flows under way, by their numbers.
    flows: BTreeMap<u32, Tapped>,
    /// The number of packets waiting at each link between routers, by the link's number. The links between routers have the first numbers,
    /// for both directions; access links follow.
    queues: Vec<u32>,
    /// The first error of an observer.
    failed: Option<io::Error>,
}

/// A flow under way, with its observer.
struct Tapped {
    tap: Box<dyn Tap>,
    /// The positions in the two streams; the client's stream is first.
    sequences: [Sequence; 2],
    /// Whether the client and the server have closed.
    is_closed: [bool; 2],
    /// When the server last delivered payload, and how many bytes it has in order.
    delivered: (Time, u64),
    /// The links between routers that the client's packets cross.
    forward: Vec<LinkId>,
}

impl<'a> TappedFlows<'a> {
    /// Creates the observers of a run of `group` before a flow has arrived. `between_routers` is the number of links between routers.
    pub(crate) fn new(
        make: MakeFlowTap<'a>,
        (place, group): (usize, &'a Group),
        seed: u64,
        between_routers: u32,
    ) -> Self {
        Self { make, place, group, seed, taps: TapsUnderWay::new(between_routers) }
    }

    /// Finishes the observers of the flows that are still under way.
    ///
    /// # Errors
    /// Returns the first error of an observer.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.taps.finish()
    }
}

impl TapsUnderWay {
    /// Creates the state without observers, in a run with this number of links between routers.
    pub(crate) fn new(between_routers: u32) -> Self {
        Self { flows: BTreeMap::new(), queues: vec![0; between_routers as usize], failed: None }
    }

    /// Adds the observer of a flow that starts. The client's packets cross the links `forward`.
    pub(crate) fn add(&mut self, flow: FlowId, tap: Box<dyn Tap>, forward: &[LinkId]) {
        let is_between_routers = |link: &&LinkId| (link.0 as usize) < self.queues.len();
        let forward = forward.iter().filter(is_between_routers).copied().collect();
        let sequences = [Sequence::default(); 2];
        let tapped = Tapped { tap, sequences, is_closed: [false; 2], delivered: (Time::ZERO, 0), forward };
        self.flows.insert(flow.0, tapped);
    }

    /// Finishes the observers of the flows that are still under way.
    ///
    /// # Errors
    /// Returns the first error of an observer.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        for (_, mut flow) in std::mem::take(&mut self.flows) {
            flow.tap.surroundings(flow.delivered, Self::longest(&self.queues, &flow.forward));
            self.keep(flow.tap.finish());
        }
        self.failed.map_or(Ok(()), Err)
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }

    /// Returns the longest queue at the links of `forward`, in packets.
    fn longest(queues: &[u32], forward: &[LinkId]) -> u32 {
        forward.iter().filter_map(|link| queues.get(link.0 as usize)).copied().max().unwrap_or(0)
    }
}

fn index(side: Role) -> usize {
    usize::from(side == Role::Server)
}

impl Recorder for TappedFlows<'_> {
    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (Some(&mut self.taps), None::<&mut ()>)
    }

    fn flow_arrived(&mut self, _: Time, flow: FlowId, arrived: Arrived, forward: &[LinkId]) {
        let place = self.group.place(arrived);
        let Some(choice) = place.and_then(|place| self.group.mix.get(place)) else { return };
        let (group, population) = (self.place, self.group.population.as_str());
        let made = (self.make)(PopulationFlow { choice, group, population, seed: self.seed, flow: flow.0 });
        match made {
            Ok(Some(tap)) => self.taps.add(flow, tap, forward),
            Ok(None) => {}
            Err(error) => self.taps.keep(Err(error)),
        }
    }

    fn wants_trace(&self, flow: FlowId) -> bool {
        self.taps.wants_trace(flow)
    }
}

impl Recorder for TapsUnderWay {
    fn sent(&mut self, at: Time, flow: FlowId, side: Role, _: u64, segment: &Segment, sent: Option<&Sent>) {
        let Some(flow) = self.flows.get_mut(&flow.0) else { return };
        let offset = flow.sequences[index(side)].sent(segment);
        flow.tap.sent(at, side, &Transmit { segment: *segment, sent: sent.copied(), offset }, offset);
    }

    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        let Some(flow) = self.flows.get_mut(&flow.0) else { return };
        let offset = flow.sequences[index(side.other())].offset(segment.seq);
        flow.tap.arrived(at, side, segment, offset);
    }

    fn queue(&mut self, _: Time, link: LinkId, _: Bytes, packets: u32) {
        if let Some(queue) = self.queues.get_mut(link.0 as usize) {
            *queue = packets;
        }
    }

    fn state(&mut self, at: Time, flow: FlowId, side: Role, snapshot: impl Fn() -> Snapshot + Copy) {
        let number = flow.0;
        let Some(flow) = self.flows.get_mut(&number) else { return };
        if side == Role::Client && flow.tap.wants_state() {
            flow.tap.surroundings(flow.delivered, Self::longest(&self.queues, &flow.forward));
            flow.tap.state(at, &snapshot());
        }
        if flow.is_closed == [true; 2]
            && let Some(mut flow) = self.flows.remove(&number)
        {
            self.keep(flow.tap.finish());
        }
    }

    fn event(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        event: &EndpointEvent,
        _: impl Fn() -> Snapshot + Copy,
    ) {
        let Some(flow) = self.flows.get_mut(&flow.0) else { return };
        flow.tap.event(at, side, event);
        flow.is_closed[index(side)] |= matches!(event, EndpointEvent::Closed | EndpointEvent::Aborted);
    }

    fn wants_trace(&self, flow: FlowId) -> bool {
        self.flows.get(&flow.0).is_some_and(|flow| flow.tap.wants_trace())
    }

    fn record(&mut self, flow: FlowId, record: &TraceRecord) {
        if let Some(flow) = self.flows.get_mut(&flow.0) {
            flow.tap.record(record);
        }
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        if let Some(flow) = self.flows.get_mut(&flow.0) {
            flow.delivered = (at, bytes);
            flow.tap.delivered(at, bytes);
        }
    }
}
