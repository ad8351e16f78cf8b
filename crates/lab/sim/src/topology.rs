//! Topologies as data: from a description of a path to links and routes.

use firstflight::{Rate, Span};

use crate::aqm::Discipline;
use crate::batch::Batch;
use crate::disorder::Disorder;
use crate::loss_bursts::LossBursts;
use crate::packet::LinkId;
use crate::policer::PolicerSpec;
use crate::quantity::{Probability, QueueLimit};
use crate::spec::LinkSpec;
use crate::trace::{DelayTrace, RateTrace};

/// A path with one bottleneck.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathSpec {
    /// The bottleneck's rate in IP bits per second.
    pub rate: Rate,
    /// The bottleneck's rate over time, in place of `rate`.
    pub rates: Option<RateTrace>,
    /// The bottleneck's queue.
    pub queue: QueueLimit,
    /// Discipline of the bottleneck's queue before it is full.
    pub discipline: Discipline,
    /// The policer of the packets that enter the bottleneck's queue.
    pub policer: Option<PolicerSpec>,
    /// One-way propagation delay from the sender to the receiver.
    pub forward_delay: Span,
    /// One-way propagation delay from the receiver to the sender.
    pub reverse_delay: Span,
    /// Probability that the bottleneck loses a packet at random.
    pub loss: Probability,
    /// Bursty loss at the bottleneck, in addition to `loss`.
    pub bursts: Option<LossBursts>,
    /// Jitter of the bottleneck.
    pub jitter: Span,
    /// Extra delay of the data over time, at the first bottleneck. The order is kept.
    pub delays: Option<DelayTrace>,
    /// The rate of each sender's own access link; `None` puts its packets on the bottleneck at once.
    pub access_rate: Option<Rate>,
    /// The rate of each receiver's own access link. The link is after the last bottleneck and has a queue like the bottleneck's. `None`
    /// puts receivers on the last router.
    pub receiver_rate: Option<Rate>,
    /// The rate of the reverse path; `None` makes it a delay only.
    pub reverse_rate: Option<Rate>,
    /// The queue of the reverse path.
    pub reverse_queue: QueueLimit,
    /// Probability that a hop of the reverse path loses a packet at random.
    pub reverse_loss: Probability,
    /// Bursty loss at each hop of the reverse path, in addition to `reverse_loss`. Each hop has a separate chain of states.
    pub reverse_bursts: Option<LossBursts>,
    /// Jitter of the reverse path, at each hop.
    pub reverse_jitter: Span,
    /// How ACKs are held back and released together at the end of the reverse path.
    pub ack_batch: Option<Batch>,
    /// How packets that leave the last router are held back and released together, at the end of their path.
    pub batch: Option<Batch>,
    /// Disorder of the packets that leave the last router, at the end of their path.
    pub disorder: Option<Disorder>,
}

impl PathSpec {
    /// Returns a symmetric path with a propagation delay of `rtt`. Half of it, rounded up, is on the reverse path, which is a delay only.
    pub fn symmetric(rate: Rate, rtt: Span, queue: QueueLimit) -> Self {
        let forward_delay = rtt / 2;
        Self {
            rate,
            rates: None,
            queue,
            discipline: Discipline::DropTail,
            policer: None,
            forward_delay,
            reverse_delay: rtt - forward_delay,
            loss: Probability::NEVER,
            bursts: None,
            jitter: Span::ZERO,
            delays: None,
            access_rate: None,
            receiver_rate: None,
            reverse_rate: None,
            reverse_queue: QueueLimit::Unlimited,
            reverse_loss: Probability::NEVER,
            reverse_bursts: None,
            reverse_jitter: Span::ZERO,
            ack_batch: None,
            batch: None,
            disorder: None,
        }
    }

    /// Returns the round-trip time of propagation alone.
    pub fn base_rtt(&self) -> Span {
        self.forward_delay + self.reverse_delay
    }
}

/// The routes of one flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// From the client to the server.
    pub forward: Vec<LinkId>,
    /// From the server to the client.
    pub reverse: Vec<LinkId>,
}

/// Links, and routes across them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topology {
    /// The links, for [`crate::Network::new`].
    pub links: Vec<LinkSpec>,
    /// The links whose queues the figures show, from the first router on.
    pub bottlenecks: Vec<LinkId>,
    /// The routes of each pair of hosts.
    pub routes: Vec<Route>,
}

/// Returns one pair of hosts across the path.
pub fn single_path(path: &PathSpec) -> Topology {
    dumbbell(path, 1)
}

/// Returns `pairs` pairs of hosts that share the bottleneck forward and one link back. Each sender has its own access link if the path
/// names a rate for it. An access link has an unlimited queue, because it represents the sender's interface. Its propagation delay is part
/// of the bottleneck's, which changes no arrival.
pub fn dumbbell(path: &PathSpec, pairs: usize) -> Topology {
    in_a_row(path, 1, &vec![(0, 1); pairs])
}

/// Returns `hops` consecutive bottlenecks, each like the path's, and a pair of hosts for each entry of `ways`, from one router to a later
/// one, counted from zero. Each hop has an equal share of the propagation delay and the first one also the remainder, so that a route
/// across all hops has the delay of the path. The ACKs of routes that begin at the first router are batched as the path says. Access links
/// are as in [`dumbbell`]. After those of receivers come the links that batch packets and put them out of order, on routes to the last router.
pub fn in_a_row(path: &PathSpec, hops: u32, ways: &[(u32, u32)]) -> Topology {
    let hops = hops.max(1);
    let share = |delay: Span, hop: u32| {
        let equal = delay / u64::from(hops);
        if hop == 0 { delay - equal * u64::from(hops - 1) } else { equal }
    };
    let forward = (0..hops).map(|hop| LinkSpec {
        rates: path.rates.clone(),
        queue: path.queue,
        discipline: path.discipline,
        policer: path.policer,
        loss: path.loss,
        bursts: path.bursts,
        jitter: path.jitter,
        delays: path.delays.clone().filter(|_| hop == 0),
        ..LinkSpec::new(Some(path.rate), share(path.forward_delay, hop))
    });
    let back = (0..hops).map(|hop| LinkSpec {
        queue: path.reverse_queue,
        loss: path.reverse_loss,
        bursts: path.reverse_bursts,
        jitter: path.reverse_jitter,
        ..LinkSpec::new(path.reverse_rate, share(path.reverse_delay, hop))
    });
    let mut links: Vec<LinkSpec> = forward.chain(back).collect();
    let batch = path.ack_batch.map(|batch| {
        links.push(LinkSpec { batch: Some(batch), ..LinkSpec::new(None, Span::ZERO) });
        LinkId(2 * hops)
    });
    let mut routes = Vec::with_capacity(ways.len());
    let add = |link: LinkSpec, links: &mut Vec<LinkSpec>| {
        links.push(link);
        LinkId(u32::try_from(links.len() - 1).unwrap_or(u32::MAX))
    };
    for &(from, to) in ways {
        let mut forward = Vec::with_capacity(2 + (to - from) as usize);
        if let Some(rate) = path.access_rate {
            forward.push(add(LinkSpec::new(Some(rate), Span::ZERO), &mut links));
        }
        forward.extend((from..to).map(LinkId));
        if let Some(rate) = path.receiver_rate {
            let access = LinkSpec::new(Some(rate), Span::ZERO);
            let access = LinkSpec { queue: path.queue, discipline: path.discipline, ..access };
            forward.push(add(access, &mut links));
        }
        let back = (from..to).rev().map(|hop| LinkId(hops + hop));
        routes.push(Route { forward, reverse: back.chain(batch.filter(|_| from == 0)).collect() });
    }
    // These come last, so that no other link gets another number, which names its random streams.
    let instant = || LinkSpec::new(None, Span::ZERO);
    let batch = path.batch.map(|batch| LinkSpec { batch: Some(batch), ..instant() });
    let disorder = path.disorder.map(|disorder| LinkSpec { disorder: Some(disorder), ..instant() });
    for link in batch.into_iter().chain(disorder) {
        let id = add(link, &mut links);
        for (route, _) in routes.iter_mut().zip(ways).filter(|(_, way)| way.1 == hops) {
            route.forward.push(id);
        }
    }
    Topology { links, bottlenecks: (0..hops).map(LinkId).collect(), routes }
}

/// A row of routers with hosts at each of them. Flows between any two routers share the links that both cross.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParkingLot {
    /// The description of each link between two routers, from the first router on.
    pub backbone: LinkSpec,
    /// The description of each link between two routers in the other direction; `None` if both are alike.
    pub backbone_back: Option<LinkSpec>,
    /// Number of consecutive links: the number of routers minus one.
    pub hops: u32,
    /// Hosts at each router.
    pub hosts: u32,
    /// The description of each link from a host to its router; `None` puts hosts on their routers.
    pub edge: Option<LinkSpec>,
    /// The description of each link from a router to a host, where hosts have links; `None` if it is alike.
    pub edge_down: Option<LinkSpec>,
}

impl ParkingLot {
    /// Returns the links: the backbone from the first router to the last, the backbone back, and two for each host, to and from its router.
    pub fn links(&self) -> Vec<LinkSpec> {
        let (hops, hosts) = (self.hops as usize, (self.hops as usize + 1) * self.hosts as usize);
        let onward = std::iter::repeat_n(&self.backbone, hops);
        let back = std::iter::repeat_n(self.backbone_back.as_ref().unwrap_or(&self.backbone), hops);
        let edges = self.edge.iter().flat_map(|edge| {
            let down = self.edge_down.as_ref().unwrap_or(edge);
            std::iter::repeat_n([edge, down], hosts).flatten()
        });
        onward.chain(back).chain(edges).cloned().collect()
    }

    /// Returns the position of the link of this index on a route across the whole parking lot, and whether it is a host's link. Position
    /// zero is the link from the sender, then come the links between routers from the first on, including those in the other direction, and
    /// last the link to the receiver.
    pub const fn hop(&self, index: usize) -> (usize, bool) {
        let hops = self.hops as usize;
        match index.checked_sub(2 * hops) {
            Some(edge) => (if edge % 2 == 0 { 0 } else { hops + 1 }, true),
            None => (1 + index % hops, false),
        }
    }

    /// Returns the routes between two hosts, each named by its router and its index there; `None` if one of them does not exist or both are
    /// at one router.
    pub fn route(&self, from: (u32, u32), to: (u32, u32)) -> Option<Route> {
        let exists = |(router, host): (u32, u32)| router <= self.hops && host < self.hosts;
        if !exists(from) || !exists(to) || from.0 == to.0 {
            return None;
        }
        Some(Route { forward: self.links_between(from, to), reverse: self.links_between(to, from) })
    }

    /// Returns the routes between the first host at the first router and the first host at the last router.
    pub fn through(&self) -> Option<Route> {
        self.route((0, 0), (self.hops, 0))
    }

    /// Returns the link from a host to its router, or the link from the router to the host if `to_host` is true. The host is given by its
    /// router and its index there. `None` if there is no such host, or hosts have no links.
    pub fn edge_link(&self, (router, host): (u32, u32), to_host: bool) -> Option<LinkId> {
        let exists = self.edge.is_some() && router <= self.hops && host < self.hosts;
        exists.then(|| LinkId(2 * self.hops + 2 * (router * self.hosts + host) + u32::from(to_host)))
    }

    /// Returns the links from one host to another, in order.
    fn links_between(&self, from: (u32, u32), to: (u32, u32)) -> Vec<LinkId> {
        let onward = (from.0..to.0).map(LinkId);
        let back = (to.0..from.0).rev().map(|hop| LinkId(self.hops + hop));
        let mut links = Vec::with_capacity(from.0.abs_diff(to.0) as usize + 2);
        let (first, last) = (self.edge_link(from, false), self.edge_link(to, true));
        links.extend(first.into_iter().chain(onward).chain(back).chain(last));
        links
    }
}
