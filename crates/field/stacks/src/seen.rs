//! What a connection does not report of its controller: bytes in flight, round trips, and the notes of a scheme of Firstflight.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use firstflight::{Note, Span, Time};
use firstflight_quic::Observer;
use firstflight_sim::Congestion;

/// Counts what a controller's connection reports to it. One thread at a time runs a connection.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    in_flight: AtomicU64,
    rtt: AtomicU64,
    rtt_samples: AtomicU64,
    notes: Mutex<VecDeque<Note>>,
}

impl Observer for Seen {
    fn on_note(&self, _at: Time, note: &Note) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.push_back(*note);
        }
    }
}

impl Seen {
    /// Adds sent bytes to those in flight.
    pub(crate) fn sent(&self, bytes: u64) {
        self.in_flight.fetch_add(bytes, Relaxed);
    }

    /// Removes lost bytes from those in flight.
    pub(crate) fn lost(&self, bytes: u64) {
        self.in_flight.store(self.in_flight.load(Relaxed).saturating_sub(bytes), Relaxed);
    }

    /// Takes the bytes in flight after an ACK.
    pub(crate) fn acked(&self, in_flight: u64) {
        self.in_flight.store(in_flight, Relaxed);
    }

    /// Takes the round trip of an acknowledged packet.
    pub(crate) fn measured(&self, rtt: Duration) {
        self.rtt.store(u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        self.rtt_samples.fetch_add(1, Relaxed);
    }

    /// Removes and returns the oldest note of a controller of Firstflight.
    pub(crate) fn take_note(&self) -> Option<Note> {
        self.notes.lock().ok()?.pop_front()
    }

    /// Returns the congestion state with this window and threshold.
    pub(crate) fn congestion(&self, window: u64, ssthresh: Option<u64>) -> Congestion {
        let rtt_samples = self.rtt_samples.load(Relaxed);
        Congestion {
            window,
            ssthresh: ssthresh.filter(|bytes| *bytes < u64::MAX / 2),
            in_flight: self.in_flight.load(Relaxed),
            rtt: (rtt_samples > 0).then(|| Span::from_nanos(self.rtt.load(Relaxed))),
            rtt_samples,
        }
    }
}
