//! The interface of an observer of one flow while it runs, for captures and event logs.

use firstflight::{Time, TraceRecord};
use firstflight_tcp::{EndpointEvent, Role, Segment, Snapshot, Transmit};

/// An observer. It receives every segment of the measured flow at both ends, and the events inside its endpoints, in order of time.
///
/// Writing may fail at any call; [`Tap::finish`] returns the first error.
pub trait Tap: Send {
    /// Receives a segment that the host at `role` sent. `offset` is the position of its first payload byte in the stream.
    fn sent(&mut self, at: Time, role: Role, transmit: &Transmit, offset: u64);

    /// Receives a segment that arrived at the host at `role`. `offset` is the position of its first payload byte in the stream.
    fn arrived(&mut self, at: Time, role: Role, segment: &Segment, offset: u64);

    /// Receives an event inside the endpoint at `role`.
    fn event(&mut self, at: Time, role: Role, event: &EndpointEvent);

    /// Returns whether [`Tap::record`] must be called. Read once, before the flow starts.
    fn wants_trace(&self) -> bool {
        false
    }

    /// Receives the record of one call to the client's controller, with the controller's decision.
    fn record(&mut self, record: &TraceRecord) {
        let _ = record;
    }

    /// Returns whether [`Tap::state`] must be called. Read once, before the flow starts.
    fn wants_state(&self) -> bool {
        false
    }

    /// Receives the client's state after it handled an event and sent what it could.
    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let _ = (at, snapshot);
    }

    /// Receives what the flow's own endpoints do not show, just before [`Tap::state`] and at the end of the run. `delivered` is when the
    /// receiver last delivered, and its payload bytes in order. `queue` is the number of packets that wait at the bottleneck; with several
    /// bottlenecks, at the one with the longest queue.
    fn surroundings(&mut self, delivered: (Time, u64), queue: u32) {
        let _ = (delivered, queue);
    }

    /// Receives an advance of in-order delivery: the receiver now has `bytes` payload bytes in order.
    fn delivered(&mut self, at: Time, bytes: u64) {
        let _ = (at, bytes);
    }

    /// Ends the observation, because the run is over.
    ///
    /// # Errors
    /// Returns the error of the first write that failed.
    fn finish(&mut self) -> std::io::Result<()>;
}
