//! The links of the path, and the unresponsive traffic on them, in the form that the simulator takes.

use firstflight::{Bytes, Span, Time};
use firstflight_sim::{
    Approval, CbrSpec, DepartureSpec, Disorder, OnOffSpec, PathSpec, Periods, QueueLimit, RateTrace,
};

use super::Scenario;
use crate::chance::probability;
use crate::gemodel::Gemodel;
use crate::keywords::{Cross, QuickStartHops};
use crate::named_link::NamedLink;
use crate::quantity::QueueSize;
use crate::reorder::Reordering;
use crate::routers::AccessRouters;

impl Scenario {
    /// Returns the path: its bottleneck, its access links and its return path.
    pub fn path(&self) -> PathSpec {
        let reverse_delay = self.reverse_delay();
        PathSpec {
            rate: self.rate,
            queue: self.queue_limit(),
            forward_delay: self.rtt - reverse_delay,
            reverse_delay,
            loss: probability(self.loss),
            bursts: self.loss_bursts.map(Gemodel::bursts),
            jitter: self.jitter.unwrap_or(Span::ZERO),
            access_rate: Some(self.access_rate),
            receiver_rate: self.receiver_access_rate,
            reverse_rate: Some(self.reverse_rate),
            reverse_loss: probability(self.ack_loss),
            reverse_bursts: self.ack_loss_bursts.map(Gemodel::bursts),
            reverse_jitter: self.reverse_jitter.unwrap_or(Span::ZERO),
            reverse_queue: match self.reverse_queue {
                Some(QueueSize::Packets(packets)) => QueueLimit::Packets(packets),
                Some(QueueSize::Bytes(bytes)) => QueueLimit::Bytes(bytes),
                Some(QueueSize::Bdp(_)) | None => QueueLimit::Unlimited,
            },
            rates: self.rates(),
            delays: self.delay_trace.clone(),
            discipline: self.discipline(),
            policer: self.policer,
            ack_batch: self.ack_aggregation,
            batch: self.aggregation,
            disorder: self.disorder(),
        }
    }

    /// Returns the bottleneck's rate over time, with its outages; `None` if the rate is constant.
    pub fn rates(&self) -> Option<RateTrace> {
        let trace = self.rate_trace.as_ref();
        match &self.outage {
            Some(outage) => outage.over(self.rate, trace, self.last_outage()),
            None => trace.cloned(),
        }
    }

    /// Returns an instant before which every run ends. No outage begins after it.
    pub(super) fn last_outage(&self) -> Span {
        self.latest_start() + self.limit
    }

    /// Returns what the end of the forward path does to the order and the number of packets; `None` if it does nothing.
    fn disorder(&self) -> Option<Disorder> {
        let disorder =
            Disorder { reorder: self.reorder.map(Reordering::spec), duplicate: probability(self.duplicate) };
        (disorder != Disorder::default()).then_some(disorder)
    }

    /// Returns how senders' transmissions deviate from their exact times; `None` if they do not.
    pub fn departures(&self) -> Option<DepartureSpec> {
        let spec = DepartureSpec {
            grain: self.pacing_timer.unwrap_or(Span::ZERO),
            burst: self.gso.unwrap_or(Bytes::ZERO),
        };
        (spec != DepartureSpec::default()).then_some(spec)
    }

    /// Returns the links whose rates are measured in time slots: the forward links between routers, and the other links that the scenario
    /// names.
    pub fn slot_links(&self) -> Vec<NamedLink> {
        let mut links: Vec<NamedLink> = (1..=self.topology.hops()).map(NamedLink::Forward).collect();
        let more: Vec<_> = self.measured_links.iter().filter(|link| !links.contains(link)).copied().collect();
        links.extend(more);
        links
    }

    /// Returns how the router before a link answers requests; `None` if that router does not take part in Quick-Start. `hop` counts from
    /// zero in the direction of the data: the sender's access link, the links between routers, the receiver's access link.
    pub fn approval(&self, hop: usize, is_access: bool) -> Option<Approval> {
        let takes_part = match self.qs_hops {
            QuickStartHops::All => true,
            QuickStartHops::None => false,
            QuickStartHops::First(hops) => hop < hops as usize,
        };
        let approval = if is_access { self.qs_access.approval() } else { self.qs_router.spec().into() };
        takes_part.then_some(approval)
    }

    /// Returns the longest measurement interval of any Quick-Start router.
    pub fn measuring_interval(&self) -> Span {
        match self.qs_access {
            AccessRouters::Like(router) => self.qs_router.interval.max(router.interval),
            AccessRouters::Capacity | AccessRouters::All => self.qs_router.interval,
        }
    }

    /// Returns the unresponsive cross traffic: datagrams that no host answers. `None` if there is no cross traffic, or if it is responsive.
    pub fn datagrams(&self) -> Option<firstflight_sim::Cross> {
        self.datagrams_of(self.cross, None)
    }

    /// Returns the datagrams of this traffic. None of them is sent at `stop` or later.
    pub fn datagrams_of(&self, cross: Cross, stop: Option<Time>) -> Option<firstflight_sim::Cross> {
        let packet = self.packet();
        match cross {
            Cross::Cbr(rate) => Some(firstflight_sim::Cross::Cbr(CbrSpec { rate, packet, stop })),
            Cross::OnOff { rate, on, off, pareto } => {
                let periods = pareto.map_or(Periods::Exponential, |shape| Periods::Pareto(shape.to_f64()));
                let spec = OnOffSpec { rate, packet, on, off, periods, stop };
                Some(firstflight_sim::Cross::OnOff(spec))
            }
            Cross::None | Cross::Tcp(_) | Cross::Poisson { .. } | Cross::Users { .. } | Cross::Web(_) => None,
        }
    }
}
