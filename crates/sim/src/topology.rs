//! Topologies as data: from a description of a path to links and routes.

use firstflight::{Rate, Span};

use crate::network::{LinkSpec, Probability, QueueLimit};
use crate::packet::LinkId;

/// A path with one bottleneck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathSpec {
    /// The bottleneck's rate in IP bits per second.
    pub rate: Rate,
    /// The bottleneck's queue.
    pub queue: QueueLimit,
    /// One-way propagation delay from the sender to the receiver.
    pub forward_delay: Span,
    /// One-way propagation delay back.
    pub reverse_delay: Span,
    /// Random loss on the bottleneck, of every packet that crosses it.
    pub loss: Probability,
    /// Jitter of the bottleneck.
    pub jitter: Span,
    /// The rate of each sender's own access link; `None` puts its packets on the bottleneck at once.
    pub access_rate: Option<Rate>,
    /// The rate of the way back; `None` makes it a delay only.
    pub reverse_rate: Option<Rate>,
    /// The queue of the way back.
    pub reverse_queue: QueueLimit,
}

impl PathSpec {
    /// A symmetric path: propagation of `rtt`, half of it (rounded up) on the way back, which is a delay only.
    pub fn symmetric(rate: Rate, rtt: Span, queue: QueueLimit) -> Self {
        let forward_delay = rtt / 2;
        Self {
            rate,
            queue,
            forward_delay,
            reverse_delay: rtt - forward_delay,
            loss: Probability::NEVER,
            jitter: Span::ZERO,
            access_rate: None,
            reverse_rate: None,
            reverse_queue: QueueLimit::Unlimited,
        }
    }

    /// The round-trip time of propagation alone.
    pub fn base_rtt(&self) -> Span {
        self.forward_delay + self.reverse_delay
    }
}

/// The way of one flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// From the client to the server.
    pub forward: Vec<LinkId>,
    /// Back.
    pub reverse: Vec<LinkId>,
}

/// Links, and the ways across them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topology {
    /// The links, for [`crate::Network::new`].
    pub links: Vec<LinkSpec>,
    /// The link whose queue the figures show.
    pub bottleneck: LinkId,
    /// A route for each pair of hosts.
    pub routes: Vec<Route>,
}

/// One pair of hosts across the path.
pub fn single_path(path: &PathSpec) -> Topology {
    dumbbell(path, 1)
}

/// `pairs` pairs of hosts that share the bottleneck forward and one link back. Each sender has an access link of
/// its own if the path names a rate for it; its queue is unlimited, since it stands for the sender's interface.
/// The propagation of the access link is part of the bottleneck's, which changes no arrival.
pub fn dumbbell(path: &PathSpec, pairs: usize) -> Topology {
    let bottleneck = LinkId(0);
    let back = LinkId(1);
    let mut links = vec![
        LinkSpec {
            queue: path.queue,
            loss: path.loss,
            jitter: path.jitter,
            ..LinkSpec::new(Some(path.rate), path.forward_delay)
        },
        LinkSpec { queue: path.reverse_queue, ..LinkSpec::new(path.reverse_rate, path.reverse_delay) },
    ];
    let mut routes = Vec::with_capacity(pairs);
    for _ in 0..pairs {
        let mut forward = Vec::with_capacity(2);
        if let Some(rate) = path.access_rate {
            forward.push(LinkId(u32::try_from(links.len()).unwrap_or(u32::MAX)));
            links.push(LinkSpec::new(Some(rate), Span::ZERO));
        }
        forward.push(bottleneck);
        routes.push(Route { forward, reverse: vec![back] });
    }
    Topology { links, bottleneck, routes }
}
