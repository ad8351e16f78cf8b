//! The options of a path, each set or unset, under the keys that the command line and TOML share.

use std::path::PathBuf;

use firstflight::registry::Registry;
use firstflight::{Rate, Span};
use firstflight_tcp::{AckPolicy, Recovery, Stack};

use crate::cross::SizeLaw;
use crate::keywords::{App, Cross, Packet};
use crate::population::ArrivalProcess;
use crate::presets::Preset;
use crate::quantity::{Amount, QueueSize};
use crate::quic::QuicStack;
use crate::restart::RestartChoice;
use crate::scenario::Scenario;

/// The options of a path. An option that is `None` is unset and gets its default from [`crate::Scenario::resolve`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The registry in which the names of schemes, restart policies and laws are looked up.
    pub registry: Registry,
    /// The values of the keys whose default no other key decides. The other fields of this scenario have no meaning.
    pub plain: Scenario,
    /// The preset whose words apply where no other key is set ([`Options::expanded`]).
    pub preset: Option<&'static Preset>,
    /// The bottleneck's rate, in IP bits per second.
    pub rate: Option<Rate>,
    /// The base round-trip time: propagation only.
    pub rtt: Option<Span>,
    /// The limit of the bottleneck's queue.
    pub queue: Option<QueueSize>,
    /// The file from which the bottleneck's rate over time was read, if any.
    pub rate_trace_file: Option<PathBuf>,
    /// The file from which the delay over time was read, if any.
    pub delay_trace_file: Option<PathBuf>,
    /// Cross traffic.
    pub cross: Option<Cross>,
    /// The size of a full packet: its payload, or its IP bytes.
    pub packet: Option<Packet>,
    /// Payload to transfer.
    pub size: Option<Amount>,
    /// The number of rounds. Each round has a reply of `size`.
    pub rounds: Option<u32>,
    /// The idle time between two rounds.
    pub idle: Option<Span>,
    /// The maximum time between a client's reply in a round and the centre of the round; `Some(None)` for no spread.
    pub spread: Option<Option<Span>>,
    /// The number of clients.
    pub clients: Option<u32>,
    /// The number of measured flows of a population.
    pub flows: Option<u32>,
    /// The arrival process of the population's flows.
    pub arrivals: Option<ArrivalProcess>,
    /// The distribution of the flows' sizes around `size`.
    pub sizes: Option<SizeLaw>,
    /// The warm-up. Flows that arrive during the warm-up are not measured. `Some(None)` is no warm-up.
    pub warm_up: Option<Option<Span>>,
    /// Whether there is an additional population in which each flow uses one of the schemes, chosen at random.
    pub mixed: bool,
    /// The share of the flows of that population that use the first scheme, in thousandths; `None` if all schemes have equal shares.
    pub mixed_share: Option<u16>,
    /// The application's writes; `None` if it writes all at once.
    pub app: Option<App>,
    /// The duration of a flow without a size, from its SYN.
    pub duration: Option<Span>,
    /// The latest end of a run, counted from the SYN.
    pub limit: Option<Span>,
    /// When the receiver acknowledges.
    pub ack: Option<AckPolicy>,
    /// One avoidance law for all schemes; `Some(None)` if each scheme has its own law.
    pub avoidance: Option<Option<&'static str>>,
    /// The loss recovery.
    pub recovery: Option<Recovery>,
    /// The stack whose behaviour applies where the RFCs and Linux differ.
    pub stack: Option<Stack>,
    /// The QUIC stack in which the flow runs; `None` for the simulator's TCP. It counts only if `stack` is given.
    pub quic: Option<QuicStack>,
    /// The restart policies. If there are several, each scheme has one row for each policy ([`crate::over_restarts`]).
    pub restart: Option<Vec<RestartChoice>>,
    /// The initial slow-start threshold; `Some(None)` is infinite.
    pub ssthresh: Option<Option<Amount>>,
    /// The initial window in segments.
    pub iw: Option<u32>,
    /// The receive buffer.
    pub rwnd: Option<Amount>,
    /// The minimum RTO.
    pub min_rto: Option<Span>,
    /// The maximum lateness of senders' timers; `Some(None)` for exact timers.
    pub timer_noise: Option<Option<Span>>,
    /// The rate of each sender's access link.
    pub access_rate: Option<Rate>,
    /// The rate of the reverse path.
    pub reverse_rate: Option<Rate>,
    /// The keys that were set, and their texts.
    given: Vec<(&'static str, String)>,
}

impl Options {
    /// Returns options of which none is set.
    pub fn of(registry: Registry) -> Self {
        Self { registry, ..Self::default() }
    }

    /// Returns the text that a key was set to, if it was set.
    pub fn given(&self, key: &str) -> Option<&str> {
        self.given.iter().find(|(name, _)| *name == key).map(|(_, text)| text.as_str())
    }

    /// Records the text that a key was set to.
    pub(crate) fn remember(&mut self, key: &'static str, text: &str) {
        self.given.retain(|(name, _)| *name != key);
        self.given.push((key, text.trim().to_owned()));
    }

    /// Returns the restart policy, if exactly one was set, or else `other`.
    pub(crate) fn restart_or(&self, other: &RestartChoice) -> RestartChoice {
        match self.restart.as_deref() {
            Some([one]) => one.clone(),
            _ => other.clone(),
        }
    }
}
