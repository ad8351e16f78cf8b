//! The taps of a population's flows: each is made as its flow arrives, and finished as its connection closes, so that memory
//! and open files are those of the flows under way.

use std::collections::BTreeMap;
use std::io;

use firstflight::{Bytes, Sent, Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_sim::{Arrived, FlowId, LinkId, Recorder};
use firstflight_tcp::{Happening, Role, Segment, Snapshot, Transmit};

use crate::group::Group;
use crate::how::{MakeFlowTap, PopulationFlow};
use crate::observe::Sequence;

/// The taps of the flows under way in a run.
pub(crate) struct TappedFlows<'a> {
    make: MakeFlowTap<'a>,
    /// The place of the group among those of the scenario.
    place: usize,
    group: &'a Group,
    seed: u64,
    /// How many links between routers there are, which come first.
    routers_links: u32,
    flows: BTreeMap<u32, Tapped>,
    /// Packets that wait at each link between routers.
    queues: Vec<u32>,
    failed: Option<io::Error>,
}

/// A flow under way.
struct Tapped {
    tap: Box<dyn Tap>,
    sequences: [Sequence; 2],
    is_closed: [bool; 2],
    /// When the server last delivered, and the payload bytes that it has in order.
    delivered: (Time, u64),
    /// The links between routers that its client's packets cross.
    forward: Vec<LinkId>,
}

impl<'a> TappedFlows<'a> {
    /// The taps of a run of this group, before a flow has arrived.
    pub(crate) fn new(
        make: MakeFlowTap<'a>,
        (place, group): (usize, &'a Group),
        seed: u64,
        routers_links: u32,
    ) -> Self {
        let queues = vec![0; routers_links as usize];
        Self { make, place, group, seed, routers_links, flows: BTreeMap::new(), queues, failed: None }
    }

    /// Finishes the taps of the flows that are still under way.
    ///
    /// # Errors
    /// The first error of a tap.
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

    /// The longest queue of the links between routers on the flow's way.
    fn longest(queues: &[u32], forward: &[LinkId]) -> u32 {
        forward.iter().filter_map(|link| queues.get(link.0 as usize)).copied().max().unwrap_or(0)
    }
}

fn index(side: Role) -> usize {
    usize::from(side == Role::Server)
}

impl Recorder for TappedFlows<'_> {
    fn flow_arrived(&mut self, _: Time, flow: FlowId, arrived: Arrived, forward: &[LinkId]) {
        let place = self.group.place(arrived);
        let Some(choice) = place.and_then(|place| self.group.mix.get(place)) else { return };
        let (group, population) = (self.place, self.group.population.as_str());
        let made = (self.make)(PopulationFlow { choice, group, population, seed: self.seed, flow: flow.0 });
        match made {
            Ok(Some(tap)) => {
                let forward = forward.iter().filter(|link| link.0 < self.routers_links).copied().collect();
                let sequences = [Sequence::default(); 2];
                self.flows.insert(
                    flow.0,
                    Tapped { tap, sequences, is_closed: [false; 2], delivered: (Time::ZERO, 0), forward },
                );
            }
            Ok(None) => {}
            Err(error) => self.keep(Err(error)),
        }
    }

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

    fn happening(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        happening: &Happening,
        _: impl Fn() -> Snapshot + Copy,
    ) {
        let Some(flow) = self.flows.get_mut(&flow.0) else { return };
        flow.tap.happening(at, side, happening);
        flow.is_closed[index(side)] |= matches!(happening, Happening::Closed | Happening::Aborted);
    }

    fn wants_told(&self, flow: FlowId) -> bool {
        self.flows.get(&flow.0).is_some_and(|flow| flow.tap.wants_told())
    }

    fn told(&mut self, flow: FlowId, told: &TraceRecord) {
        if let Some(flow) = self.flows.get_mut(&flow.0) {
            flow.tap.told(told);
        }
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        if let Some(flow) = self.flows.get_mut(&flow.0) {
            flow.delivered = (at, bytes);
        }
    }
}
