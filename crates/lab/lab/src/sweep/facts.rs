//! The columns of a sweep's row that describe its path.

use firstflight::Span;
use firstflight_measure::columns;
use firstflight_scenario::keywords::{self, Cross};
use firstflight_scenario::quantity::{Decimal, QueueSize};
use firstflight_scenario::{Gemodel, Goal, Scenario, lowest};
use firstflight_sim::Batch;
use serde::{Deserialize, Serialize};

columns! {
    /// The facts of a sweep's path, which are the first columns of its rows.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct PathFacts {
        pub path: u64 = "The index of the path in the sweep.";
        pub path_name: Option<String> = "The name of the path in its population. Undefined without one.";
        pub path_weight: f64 = ["1"]
            "The weight of the path in its population, as the population has it; 1 without one.";
        pub path_rate_bps: f64 = ["bit/s"]
            "The bottleneck's rate, headers included; along a trace the maximum, unless a rate is declared.";
        pub path_trace_least_bps: Option<f64> = ["bit/s"]
            "The minimum rate of the bottleneck along a trace of rates. Undefined without a trace.";
        pub path_policer_bps: Option<f64> = ["bit/s"]
            "The rate of the bottleneck's policer. Undefined without one.";
        pub path_crossings: u32 = ["1"]
            "Number of bottlenecks at which separate cross traffic crosses the flow's path: the hops of a parking lot, or one if \
             the same traffic passes all of them or only one has any; zero without cross traffic.";
        pub path_rtt_s: f64 = ["s"] "The base round-trip time: propagation only.";
        pub path_bdp_packets: f64 = ["packets"] "Rate times base round-trip time, in full packets.";
        pub path_queue_bdp: f64 = ["1"]
            "The limit of the bottleneck's queue over rate times base round-trip time.";
        pub path_size_bytes: Option<u64> = ["B"] "Payload to transfer. Undefined without a size.";
        pub path_cross: String = "The kind of cross traffic: none, cbr, tcp, onoff, poisson or web.";
        pub path_cross_share: Option<f64> = ["1"]
            "The cross traffic's share of the rate: that of a constant rate, N/(N + 1) for N bulk flows, the load of pages. \
             Undefined for other kinds.";
        pub path_cross_law: Option<String> =
            "The avoidance law of bulk TCP flows next to the flow. Undefined without such flows, and with those of several laws.";
        pub path_loss: f64 = ["1"] "The probability of random loss at the bottleneck.";
        pub path_ack: String = "When the receiver acknowledges.";
        pub path_packet_bytes: u64 = ["B"] "IP bytes of a full packet.";
        pub path_limit_s: f64 = ["s"]
            "The time from its SYN after which a run was given up at the latest.";
        pub path_iw_packets: u64 = ["packets"] "The initial window.";
        pub path_queue_kind: String =
            "What the bottleneck's queue does before it is full: drop-tail, red, codel, fq-codel or pie.";
        pub path_jitter_s: f64 = ["s"]
            "The greatest random delay of a packet at the bottleneck; zero without jitter.";
        pub path_ack_batch_s: Option<f64> = ["s"]
            "The time between releases of ACKs. Undefined unless they are batched by time.";
        pub path_ack_batch_packets: Option<f64> = ["packets"]
            "The ACKs of a batch. Undefined unless they are batched by number.";
        pub path_pacing_timer_s: f64 = ["s"]
            "The grain of the timer by which the sender's packets leave; zero if they leave on time.";
        pub path_gso_bytes: u64 = ["B"]
            "IP bytes of the sender's bursts; zero without segmentation offload.";
        pub path_reverse_share: f64 = ["1"] "The rate of the reverse path over the bottleneck's.";
    }
}

/// The kind of limit of a path's bottleneck rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bottleneck {
    /// A constant rate.
    Constant,
    /// A rate trace, with or without a policer.
    Trace,
    /// A constant link rate, and a policer with a lower rate.
    Policer,
}

impl PathFacts {
    /// Returns the kind of limit of the bottleneck's rate. Shares of the rate and bandwidth-delay products are defined only for
    /// [`Bottleneck::Constant`].
    pub fn bottleneck(&self) -> Bottleneck {
        match (self.path_trace_least_bps, self.path_policer_bps) {
            (Some(_), _) => Bottleneck::Trace,
            (None, Some(_)) => Bottleneck::Policer,
            (None, None) => Bottleneck::Constant,
        }
    }

    /// Returns the facts of a path that is in no population.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub fn of(path: u64, scenario: &Scenario) -> Self {
        let (rate, rtt) = (scenario.rate.bps() as f64, scenario.rtt.nanos() as f64 / 1e9);
        let (bdp, packet) = (rate * rtt / 8.0, f64::from(scenario.packet()));
        let queue = match scenario.queue {
            QueueSize::Packets(packets) => f64::from(packets) * packet,
            _ => scenario.queue_bytes().map_or(0.0, |bytes| bytes.get() as f64),
        };
        let (kind, share) = match scenario.cross {
            Cross::None => ("none".to_owned(), None),
            Cross::Cbr(cbr) => ("cbr".to_owned(), Some(cbr.bps() as f64 / rate)),
            Cross::Tcp(bulk) => {
                ("tcp".to_owned(), Some(f64::from(bulk.flows) / (f64::from(bulk.flows) + 1.0)))
            }
            other => (other.to_string().split(':').next().unwrap_or_default().to_owned(), None),
        };
        let (kind, share) = match &*scenario.beside {
            [] => (kind, share),
            [one] if scenario.cross == Cross::None => (one.to_string(), None),
            _ => ("several".to_owned(), None),
        };
        let share =
            share.or(if let Cross::Web(load) = scenario.cross { Some(Decimal::to_f64(load)) } else { None });
        let size = if let Goal::Size(bytes) = scenario.goal { Some(bytes.get()) } else { None };
        Self {
            path,
            path_name: None,
            path_weight: 1.0,
            path_rate_bps: rate,
            path_trace_least_bps: lowest(scenario.rates().as_ref()).map(|lowest| lowest.bps() as f64),
            path_policer_bps: scenario.policer.map(|policer| policer.rate.bps() as f64),
            path_crossings: if scenario.has_cross() {
                u32::try_from(scenario.topology.crossings().len()).unwrap_or(u32::MAX)
            } else {
                0
            },
            path_rtt_s: rtt,
            path_bdp_packets: bdp / packet,
            path_queue_bdp: queue / bdp,
            path_size_bytes: size,
            path_cross: kind,
            path_cross_share: share,
            path_cross_law: cross_law(scenario),
            path_loss: scenario.loss_bursts.map_or_else(|| scenario.loss.to_f64(), Gemodel::loss),
            path_ack: keywords::ack_name(scenario.ack),
            path_packet_bytes: u64::from(scenario.packet()),
            path_limit_s: scenario.limit.nanos() as f64 / 1e9,
            path_iw_packets: u64::from(scenario.iw),
            path_queue_kind: scenario.aqm.map_or("drop-tail", |aqm| aqm.kind.name()).to_owned(),
            path_jitter_s: span_s(scenario.jitter),
            path_ack_batch_s: match scenario.ack_aggregation {
                Some(Batch::Every(span)) => Some(span_s(Some(span))),
                Some(Batch::Of { .. }) | None => None,
            },
            path_ack_batch_packets: match scenario.ack_aggregation {
                Some(Batch::Of { packets, .. }) => Some(f64::from(packets)),
                Some(Batch::Every(_)) | None => None,
            },
            path_pacing_timer_s: span_s(scenario.pacing_timer),
            path_gso_bytes: scenario.gso.map_or(0, firstflight::Bytes::get),
            path_reverse_share: scenario.reverse_rate.bps() as f64 / rate,
        }
    }
}

/// Returns the avoidance law of the bulk flows on the path; `None` if there are none, or if they have several laws.
fn cross_law(scenario: &Scenario) -> Option<String> {
    let mut laws = scenario.traffic().filter_map(|entry| match entry.cross {
        Cross::Tcp(bulk) => bulk
            .law
            .or(scenario.avoidance)
            .or_else(|| scenario.registry.scheme(bulk.scheme).map(|scheme| scheme.law)),
        _ => None,
    });
    let first = laws.next()?;
    laws.all(|law| law == first).then(|| first.to_owned())
}

/// Returns a time in seconds; zero for `None`.
#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn span_s(span: Option<Span>) -> f64 {
    span.map_or(0.0, |span| span.nanos() as f64 / 1e9)
}
