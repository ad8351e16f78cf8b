//! Observing one flow while it runs, for captures and event logs.

use firstflight::{Time, TraceRecord};
use firstflight_tcp::{Happening, Role, Segment, Snapshot, Transmit};

/// Receives every segment of the measured flow at both ends, and the events inside its endpoints. Calls are in order of
/// time.
///
/// Writing may fail at any call; [`Tap::finish`] returns the first error.
pub trait Tap: Send {
    /// The host at `role` sent a segment. `offset` is the position of its first payload byte in the stream.
    fn sent(&mut self, at: Time, role: Role, transmit: &Transmit, offset: u64);

    /// A segment arrived at the host at `role`.
    fn arrived(&mut self, at: Time, role: Role, segment: &Segment, offset: u64);

    /// An event happened inside the endpoint at `role`.
    fn happening(&mut self, at: Time, role: Role, happening: &Happening);

    /// Whether [`Tap::told`] is to be called. The answer is read once, before the flow starts.
    fn wants_told(&self) -> bool {
        false
    }

    /// The client's controller handled a call and decided.
    fn told(&mut self, told: &TraceRecord) {
        let _ = told;
    }

    /// Whether [`Tap::state`] is to be called.
    fn wants_state(&self) -> bool {
        false
    }

    /// The client has handled an event and sent what it could.
    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let _ = (at, snapshot);
    }

    /// What surrounds the flow, just before [`Tap::state`] and at the end of the run: when its receiver last delivered and how
    /// many payload bytes it has in order, and packets that wait at its bottleneck; of several, where most do.
    fn surroundings(&mut self, delivered: (Time, u64), queue: u32) {
        let _ = (delivered, queue);
    }

    /// The receiver now has this many payload bytes in order.
    fn delivered(&mut self, at: Time, bytes: u64) {
        let _ = (at, bytes);
    }

    /// The run is over.
    ///
    /// # Errors
    /// The first write that failed.
    fn finish(&mut self) -> std::io::Result<()>;
}
