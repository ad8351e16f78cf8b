//! The options of a path, each set or unset, under the keys that the command line and TOML share.

use std::path::PathBuf;

use firstflight::registry::Registry;
use firstflight::{Rate, Span};
use firstflight_tcp::{AckPolicy, Recovery, Stack};

use crate::cross::SizeLaw;
use crate::population::Coming;
use crate::quantity::{Amount, QueueSize};
use crate::restart::RestartChoice;
use crate::scenario::Scenario;
use crate::words::{App, Cross, Packet};

/// What was asked for; `None` is unset and gets the default of [`crate::Scenario::resolve`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whose names schemes, restart policies and laws have.
    pub registry: Registry,
    /// Holds the values of the keys whose default no other key decides. The other fields mean nothing here.
    pub plain: Scenario,
    /// The bottleneck's rate, in IP bits per second.
    pub rate: Option<Rate>,
    /// The base round-trip time: propagation only.
    pub rtt: Option<Span>,
    /// The limit of the bottleneck's queue.
    pub queue: Option<QueueSize>,
    /// The file that the bottleneck's rate over time was read from, if it was.
    pub rate_trace_file: Option<PathBuf>,
    /// Cross traffic.
    pub cross: Option<Cross>,
    /// Payload per full segment, or its IP packet.
    pub packet: Option<Packet>,
    /// Payload to transfer.
    pub size: Option<Amount>,
    /// How many rounds, with a reply of the size in each.
    pub rounds: Option<u32>,
    /// The idle time between two rounds.
    pub idle: Option<Span>,
    /// How far from its centre a client's part in a round may be; `Some(None)` is not at all.
    pub spread: Option<Option<Span>>,
    /// How many clients.
    pub clients: Option<u32>,
    /// How many flows of a population are measured.
    pub flows: Option<u32>,
    /// When its flows come.
    pub arrivals: Option<Coming>,
    /// How its flows' sizes are distributed around the size.
    pub sizes: Option<SizeLaw>,
    /// Before this none is measured; `Some(None)` is no such time.
    pub warm_up: Option<Option<Span>>,
    /// Whether there is a population besides in which each flow takes one of the schemes.
    pub mixed: bool,
    /// When the application writes; `None` is all at once.
    pub app: Option<App>,
    /// How long an endless flow is watched, from its SYN.
    pub duration: Option<Span>,
    /// When a run ends at the latest, from the SYN.
    pub limit: Option<Span>,
    /// When the receiver acknowledges.
    pub ack: Option<AckPolicy>,
    /// One avoidance law for all schemes.
    pub avoidance: Option<&'static str>,
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// Whose senders they are where the RFCs and Linux differ.
    pub stack: Option<Stack>,
    /// The restart policy; several make a row each ([`crate::over_restarts`]).
    pub restart: Option<Vec<RestartChoice>>,
    /// The initial slow-start threshold; `Some(None)` is infinite.
    pub ssthresh: Option<Option<Amount>>,
    /// The initial window in segments.
    pub iw: Option<u32>,
    /// The receive buffer.
    pub rwnd: Option<Amount>,
    /// The least retransmission timeout.
    pub min_rto: Option<Span>,
    /// The rate of each sender's access link.
    pub access_rate: Option<Rate>,
    /// The rate of the way back.
    pub reverse_rate: Option<Rate>,
    /// The keys that were set, and their texts.
    given: Vec<(&'static str, String)>,
}

impl Options {
    /// Options of which none is set.
    pub fn of(registry: Registry) -> Self {
        Self { registry, ..Self::default() }
    }

    /// The text that a key was set to, if it was.
    pub fn given(&self, key: &str) -> Option<&str> {
        self.given.iter().find(|(name, _)| *name == key).map(|(_, text)| text.as_str())
    }

    /// Remembers the text that a key was set to.
    pub(crate) fn remember(&mut self, key: &'static str, text: &str) {
        self.given.retain(|(name, _)| *name != key);
        self.given.push((key, text.trim().to_owned()));
    }

    /// The restart policy, if just one was asked for, or `other`.
    pub(crate) fn restart_or(&self, other: &RestartChoice) -> RestartChoice {
        match self.restart.as_deref() {
            Some([one]) => one.clone(),
            _ => other.clone(),
        }
    }
}
