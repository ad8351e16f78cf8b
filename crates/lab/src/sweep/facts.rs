//! The columns of a sweep's row that describe its path.

use firstflight::Span;
use firstflight_scenario::quantity::{Decimal, QueueSize};
use firstflight_scenario::words::{self, Cross};
use firstflight_scenario::{Goal, Scenario, lowest};
use firstflight_sim::Batch;
use serde::{Deserialize, Serialize};

/// A path of a sweep, as the first columns of its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathFacts {
    /// The path's index.
    pub path: u64,
    /// The bottleneck's rate, in IP bits per second. With a rate trace it is the declared rate, or else the trace's
    /// greatest.
    pub path_rate_bps: f64,
    /// The least rate of the rate trace; `None` without one.
    pub path_trace_least_bps: Option<f64>,
    /// The rate of its policer; `None` without one.
    pub path_policer_bps: Option<f64>,
    /// The number of bottlenecks with cross traffic of their own. It is one if one set of cross traffic crosses all, or
    /// only one bottleneck has any.
    pub path_crossings: u32,
    /// The base round-trip time.
    pub path_rtt_s: f64,
    /// Rate × base RTT in full packets.
    pub path_bdp_packets: f64,
    /// The queue's limit over rate × base RTT.
    pub path_queue_bdp: f64,
    /// Payload to transfer; `None` without a size.
    pub path_size_bytes: Option<u64>,
    /// The kind of cross traffic: the keyword before the colon; `cbr` for a constant rate.
    pub path_cross: String,
    /// The share of the rate that cross traffic takes: that of a constant rate, or that of N flows beside one more.
    pub path_cross_share: Option<f64>,
    /// Random loss.
    pub path_loss: f64,
    /// When the receiver acknowledges.
    pub path_ack: String,
    /// IP bytes of a full packet.
    pub path_packet_bytes: u64,
    /// The latest end of the run, from the SYN.
    pub path_limit_s: f64,
    /// The initial window in full packets.
    pub path_iw_packets: u64,
    /// What the bottleneck's queue does before it is full: `drop-tail`, or the name of its active management.
    pub path_queue_kind: String,
    /// The greatest random delay of a packet at the bottleneck.
    pub path_jitter_s: f64,
    /// The time between releases of ACKs; `None` unless they are batched by time.
    pub path_ack_batch_s: Option<f64>,
    /// The ACKs of a batch; `None` unless they are batched by number.
    pub path_ack_batch_packets: Option<f64>,
    /// The grain of the timer by which the sender's packets leave; zero if they leave when they should.
    pub path_pacing_timer_s: f64,
    /// IP bytes of the sender's bursts; zero without segmentation offload.
    pub path_gso_bytes: u64,
    /// The rate of the reverse path over the bottleneck's.
    pub path_reverse_share: f64,
}

/// What limits the rate of a path's bottleneck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bottleneck {
    /// A constant rate.
    Constant,
    /// A rate trace, with or without a policer.
    Trace,
    /// A constant rate, and a policer below it.
    Policer,
}

impl PathFacts {
    /// What limits the bottleneck's rate. Only with [`Bottleneck::Constant`] is the rate a base for shares and products.
    pub fn bottleneck(&self) -> Bottleneck {
        match (self.path_trace_least_bps, self.path_policer_bps) {
            (Some(_), _) => Bottleneck::Trace,
            (None, Some(_)) => Bottleneck::Policer,
            (None, None) => Bottleneck::Constant,
        }
    }

    /// The facts of a path.
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
            path_rate_bps: rate,
            path_trace_least_bps: lowest(scenario.rate_trace.as_ref()).map(|lowest| lowest.bps() as f64),
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
            path_loss: scenario.loss.to_f64(),
            path_ack: words::ack_name(scenario.ack).to_owned(),
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

/// A time in seconds; zero without one.
#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn span_s(span: Option<Span>) -> f64 {
    span.map_or(0.0, |span| span.nanos() as f64 / 1e9)
}
