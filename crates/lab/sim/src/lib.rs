//! The virtual network: hosts that run [`firstflight_tcp::Endpoint`]s, links with queues, cross traffic, one clock of
//! whole nanoseconds.
//!
//! A run is a pure function of a [`Network`] and a seed. Build the network from a topology ([`single_path`],
//! [`dumbbell`], or links by hand), add flows, make a [`Sim`], run it, and read the counters. A [`Recorder`] observes
//! all events on the way.
//!
//! A [`Port`] is a single link, for packets of any type and under any clock.
//!
//! All events have one total order, by time and then by the order in which they were scheduled. Random numbers come
//! from separate streams, one for each purpose, link and flow: adding a flow does not change the draws of another flow.

mod agenda;
mod app_writes;
mod aqm;
mod arrivals;
mod batch;
mod cpu;
mod departures;
mod descriptor;
mod disorder;
mod fabric;
mod fault;
mod foreign;
mod foreign_hosts;
mod host;
mod lateness;
mod link;
mod loss_bursts;
mod network;
mod on_off;
mod opportunities;
mod packet;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod parts;
mod policer;
mod pool;
mod port;
mod prefetch;
mod probe;
mod probe_hosts;
mod quantity;
mod quick_start;
mod random;
mod recorder;
mod ring;
mod rounds;
mod route_table;
mod routes;
mod sim;
mod sizes;
mod source;
mod spec;
mod stats;
mod steps;
mod synthetic;
mod topology;
mod trace;
mod transmitter;

pub use app_writes::Writes;
pub use aqm::{CoDelSpec, Discipline, FqCoDelSpec, PieSpec, RedSpec};
pub use arrivals::{Arrivals, Arrived, Content, Ends, Gap, Process};
pub use batch::Batch;
pub use cpu::{CpuSpec, CpuStats, Function};
pub use departures::DepartureSpec;
pub use disorder::{Disorder, Displacement, Reorder};
pub use fault::{DisciplineFault, FlowFault, LinkFault};
pub use foreign::{Carried, Congestion, DatagramHost, ForeignSpec, MakeHosts};
pub use loss_bursts::LossBursts;
pub use network::{Application, Flow, Network, NetworkError, TcpSpec, Traffic};
pub use on_off::{OnOffSpec, Periods};
pub use packet::{DropCause, FlowId, FlowKey, LinkId, Packet, Payload};
pub use policer::PolicerSpec;
pub use port::{Arriving, Cross, Departure, Dropped, Outcome, Port, PortFault, PortSpec};
pub use probe::{ProbeSpec, Probing};
pub use quantity::{Probability, QueueLimit};
pub use quick_start::{Approval, Estimator, Ring, RouterSpec};
pub use recorder::Recorder;
pub use rounds::{Pause, Progress, Rounds};
pub use routes::{HostName, Ways};
pub use sim::{Sim, Stop};
pub use sizes::Sizes;
pub use source::CbrSpec;
pub use spec::LinkSpec;
pub use stats::{End, FlowStats, LinkStats, QuickStartStats};
pub use synthetic::{CellularSpec, SlotsSpec};
pub use topology::{ParkingLot, PathSpec, Route, Topology, dumbbell, in_a_row, single_path};
pub use trace::{DelayTrace, RateTrace, TraceFault};
