//! Conformance of hosts: whether the calls of a host keep the contract of the seam.
//!
//! A host is judged by its trace alone, call by call in order. The memory for that is bounded by the packets in
//! flight. The laws are [`Law::ALL`], and no law needs what the trace cannot show. Where hosts may differ, the trace
//! itself shows the host's way: `flight` is the stream's or the pipe, `nxt` counts data sent again or does not, ACKs
//! list their packets or never do, and the values that the controller fills in are in the trace or are not. A host that tells of
//! departures with the next ACK, as its header says, is held to those laws that such a record can show.

mod asks;
mod counts;
mod ear;
mod late;
mod law;
mod order;
mod packets;
mod sending;

use std::io::BufRead;

use firstflight::registry::Registry;
use firstflight::{Path, Plan, TraceRecord};
use firstflight_scenario::{HeaderError, host_judges_growth};
use firstflight_trace::{Calls, Departures, Header, TraceError};

pub use ear::Audit;
pub use law::Law;

use asks::Asks;
use counts::Counts;
use late::Late;
use order::Order;
use packets::Packets;
use sending::Sending;

/// How many breaches are listed; more are counted.
const LISTED: usize = 100;

/// A law that a record breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// The line of the trace.
    pub line: usize,
    /// The law.
    pub law: Law,
    /// What the trace has, and what is allowed.
    pub what: String,
}

impl std::fmt::Display for Breach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.law.name(), self.what)
    }
}

/// The breaches of a record so far.
#[derive(Clone, Debug, Default)]
pub struct Breaches {
    listed: Vec<Breach>,
    more: u64,
    line: usize,
}

impl Breaches {
    /// The first hundred breaches, in order of discovery.
    pub fn listed(&self) -> &[Breach] {
        &self.listed
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.listed.len() as u64 + self.more
    }

    fn add(&mut self, law: Law, what: String) {
        self.add_at(self.line, law, what);
    }

    fn add_at(&mut self, line: usize, law: Law, what: String) {
        if self.listed.len() < LISTED {
            self.listed.push(Breach { line, law, what });
        } else {
            self.more += 1;
        }
    }
}

/// The state of the connection before a call, which is the state after the call before.
#[derive(Clone, Copy, Debug)]
struct Before {
    path: Path,
    plan: Plan,
}

/// A host on trial.
#[derive(Debug, Default)]
pub struct Conformance {
    before: Option<Before>,
    order: Order,
    asks: Asks,
    sending: Sending,
    packets: Packets,
    counts: Counts,
    judge: Option<Audit>,
    /// In place of all the others, for a host that tells of departures afterwards.
    late: Option<Late>,
    breaches: Breaches,
}

impl Conformance {
    /// A trial of the host's calls. The values that the controller filled in are not checked.
    pub fn new() -> Self {
        Self::default()
    }

    /// A trial that also checks the values that the controller filled in, if the trace has them, by a controller of
    /// the header's scheme, policy and law.
    ///
    /// # Errors
    /// A scheme, restart policy or law that cannot be built.
    pub fn with_judge(header: &Header) -> Result<Self, Box<HeaderError>> {
        Self::with_judge_of(Registry::builtin(), header)
    }

    /// [`Conformance::with_judge`], where the header names a scheme, policy or law of this registry.
    ///
    /// # Errors
    /// As for [`Conformance::with_judge`].
    pub fn with_judge_of(registry: Registry, header: &Header) -> Result<Self, Box<HeaderError>> {
        if header.departures == Departures::WithAcks {
            // Such a host keeps no record of what was judged.
            return Ok(Self { late: Some(Late::new(header.hosts)), ..Self::default() });
        }
        let mut trial = Self { judge: Some(Audit::of(registry, header)?), ..Self::default() };
        if host_judges_growth(registry, header).map_err(Box::new)? {
            trial.packets.let_host_judge();
            trial.counts.let_host_judge();
        }
        Ok(trial)
    }

    /// Takes the next call, which is on `line`.
    pub fn hear(&mut self, line: usize, told: &TraceRecord) {
        self.breaches.line = line;
        if let Some(late) = &mut self.late {
            late.hear(told, &mut self.breaches);
            return;
        }
        let (before, breaches) = (self.before.as_ref(), &mut self.breaches);
        self.order.hear(told, before, breaches);
        self.asks.hear(told, before, self.packets.next(), breaches);
        self.sending.hear(told, before, breaches);
        let newest_end = self.packets.newest_end(told);
        self.packets.hear(told, breaches);
        self.counts.hear(told, newest_end, breaches);
        if let Some(judge) = &mut self.judge
            && !judge.hear(told, breaches)
        {
            self.judge = None;
        }
        self.before = Some(Before { path: told.path, plan: told.plan });
    }

    /// The number of transmissions in memory.
    pub fn kept(&self) -> usize {
        self.packets.kept()
    }

    /// Ends the trial.
    pub fn finish(mut self) -> Breaches {
        self.counts.finish(&mut self.breaches);
        self.breaches
    }

    /// The breaches so far.
    pub fn breaches(&self) -> &Breaches {
        &self.breaches
    }
}

/// Why a record cannot be judged.
#[derive(Debug)]
pub enum CheckError {
    /// The trace cannot be read.
    Trace(TraceError),
    /// The scheme, policy or law of the header cannot be built.
    Replay(Box<HeaderError>),
}

impl std::fmt::Display for CheckError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trace(error) => error.fmt(f),
            Self::Replay(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

/// Judges a trace of any host.
///
/// # Errors
/// A record that cannot be read, or a header whose scheme, policy or law cannot be built.
pub fn check<R: BufRead>(header: &Header, mut calls: Calls<R>) -> Result<Breaches, CheckError> {
    let mut conformance = Conformance::with_judge(header).map_err(CheckError::Replay)?;
    while let Some(told) = calls.next_call().map_err(CheckError::Trace)? {
        conformance.hear(calls.line(), &told);
    }
    Ok(conformance.finish())
}
