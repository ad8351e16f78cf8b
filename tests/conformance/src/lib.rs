//! Conformance of hosts: whether a host's calls to its controller keep the contract between host and controller.
//!
//! The check uses only the host's trace. It processes the calls in order, in memory bounded by the packets in flight. The laws are
//! [`Law::ALL`]. No law depends on anything that the trace does not show. Hosts may differ in some points, and the trace itself shows what
//! its host does. `flight` counts either the bytes of the stream or the bytes in the pipe. `nxt` may or may not count retransmitted data.
//! ACKs always or never list their packets. The trace may or may not have the values that the controller fills in. If the header declares
//! that the host reports transmissions with the next ACK, only the laws that this kind of trace can show are checked.

mod asks;
mod audit;
mod before;
mod breach;
mod counts;
mod late;
mod law;
mod order;
mod packets;
mod sending;

use std::io::BufRead;

use firstflight::TraceRecord;
use firstflight::registry::AnyController;
use firstflight_trace::{Calls, Departures, Header, TraceError};

pub use audit::Audit;
pub use breach::{Breach, Breaches};
pub use law::Law;

use asks::Asks;
use before::Before;
use counts::Counts;
use late::Late;
use order::Order;
use packets::Packets;
use sending::Sending;

/// The state of checking a host.
#[derive(Debug, Default)]
pub struct Conformance {
    before: Option<Before>,
    order: Order,
    asks: Asks,
    sending: Sending,
    packets: Packets,
    counts: Counts,
    judge: Option<Audit>,
    /// The check that replaces all others if the host reports transmissions with the next ACK.
    late: Option<Late>,
    breaches: Breaches,
}

impl Conformance {
    /// Starts to check a host's calls. The values that the controller filled in are not checked.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts to check the calls of a trace with `header`. If `controller` is the controller that the host ran, in its initial state,
    /// also compares the values that the controller filled in, if the trace has them.
    pub fn of(header: &Header, controller: Option<AnyController>) -> Self {
        if header.departures == Departures::WithAcks {
            // Hosts that report transmissions with the next ACK do not record the values that the controller filled in.
            return Self { late: Some(Late::new(header.hosts)), ..Self::default() };
        }
        let mut trial = Self::default();
        if controller.as_ref().is_some_and(|controller| !controller.judges_growth()) {
            trial.packets.host_limits_growth();
            trial.counts.host_limits_growth();
        }
        trial.judge = controller.map(Audit::new);
        trial
    }

    /// Checks the next call, which is on line `line` of the trace.
    pub fn check_record(&mut self, line: usize, record: &TraceRecord) {
        self.breaches.line = line;
        if let Some(late) = &mut self.late {
            late.check_record(record, &mut self.breaches);
            return;
        }
        let (before, breaches) = (self.before.as_ref(), &mut self.breaches);
        self.order.check_record(record, before, breaches);
        self.asks.check_record(record, before, self.packets.next(), breaches);
        self.sending.check_record(record, before, breaches);
        let newest_end = self.packets.newest_end(record);
        self.packets.check_record(record, breaches);
        self.counts.check_record(record, newest_end, breaches);
        if let Some(judge) = &mut self.judge
            && !judge.check_record(record, breaches)
        {
            self.judge = None;
        }
        self.before = Some(Before { path: record.path, plan: record.plan });
    }

    /// Returns the number of transmissions in memory.
    pub fn kept(&self) -> usize {
        self.packets.kept()
    }

    /// Ends the check. Returns the breaches.
    pub fn finish(mut self) -> Breaches {
        self.counts.finish(&mut self.breaches);
        self.breaches
    }

    /// Returns the breaches so far.
    pub fn breaches(&self) -> &Breaches {
        &self.breaches
    }
}

/// Checks a trace of any host, with its controller as in [`Conformance::of`]. Returns the breaches of the trace.
///
/// # Errors
/// A trace that cannot be read.
pub fn check<R: BufRead>(
    header: &Header,
    controller: Option<AnyController>,
    mut calls: Calls<R>,
) -> Result<Breaches, TraceError> {
    let mut conformance = Conformance::of(header, controller);
    while let Some(record) = calls.next_call()? {
        conformance.check_record(calls.line(), &record);
    }
    Ok(conformance.finish())
}
