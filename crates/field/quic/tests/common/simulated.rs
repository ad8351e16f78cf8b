//! A simulated path for datagrams, and the record of a host. The tests of the adapters for noq and quinn share this file.

#![allow(dead_code, reason = "each adapter uses its own part")]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use firstflight::{Call, Event, OwnedEvent, Path, TraceRecord};
use firstflight_conformance::Conformance;
use firstflight_quic::Observer;

/// What happens to a datagram of the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Passes,
    Dropped,
    Late(Duration),
    Marked,
}

/// A path: propagation, a bottleneck with a drop-tail queue, and the fate of single datagrams.
pub(crate) struct Link {
    /// The propagation delay of one direction.
    pub(crate) delay: Duration,
    /// Nanoseconds that the bottleneck takes for a byte; zero without a bottleneck.
    pub(crate) byte_nanos: u64,
    /// The maximum backlog of the bottleneck.
    pub(crate) queue: Duration,
    /// The fate of the client's datagram with this index, counted from the first.
    pub(crate) fate: fn(u64) -> Fate,
    /// The maximum size of a datagram.
    pub(crate) mtu: usize,
    /// The number of datagrams so far, and of those that were dropped.
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
    /// The time at which the bottleneck is free.
    pub(crate) busy: Option<Instant>,
}

impl Link {
    /// Carries a datagram of `bytes` bytes. Returns the instant at which it arrives and whether it is marked; `None` if it is dropped.
    pub(crate) fn carry(&mut self, now: Instant, bytes: usize) -> Option<(Instant, bool)> {
        let fate = (self.fate)(self.sent);
        self.sent += 1;
        let busy = self.busy.unwrap_or(now).max(now);
        if fate == Fate::Dropped || busy - now > self.queue || bytes > self.mtu {
            self.dropped += 1;
            return None;
        }
        let free = busy + Duration::from_nanos((bytes as u64 + 28) * self.byte_nanos);
        self.busy = Some(free);
        let late = if let Fate::Late(by) = fate { by } else { Duration::ZERO };
        Some((free + self.delay + late, fate == Fate::Marked))
    }
}

impl Default for Link {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(20),
            byte_nanos: 0,
            queue: Duration::from_secs(1),
            fate: |_| Fate::Passes,
            mtu: 1_500,
            sent: 0,
            dropped: 0,
            busy: None,
        }
    }
}

/// The records of a host.
#[derive(Debug, Default)]
pub(crate) struct Records(Mutex<Vec<TraceRecord>>);

impl Observer for Records {
    fn records_calls(&self) -> bool {
        true
    }

    fn on_call(&self, record: TraceRecord) {
        self.0.lock().expect("no panic").push(record);
    }
}

impl Records {
    pub(crate) fn take(&self) -> Vec<TraceRecord> {
        core::mem::take(&mut *self.0.lock().expect("no panic"))
    }
}

/// Returns the laws of hosts that the records break, one line each.
pub(crate) fn breaches(records: &[TraceRecord]) -> Vec<String> {
    let mut conformance = Conformance::new();
    for (line, record) in records.iter().enumerate() {
        conformance.check_record(line + 1, record);
    }
    conformance.finish().listed().iter().map(ToString::to_string).collect()
}

/// Returns what `pick` makes of the events, in order.
pub(crate) fn events<T>(records: &[TraceRecord], pick: impl Fn(&Event<'_>, &Path) -> Option<T>) -> Vec<T> {
    let of = |record: &TraceRecord| match &record.call {
        Call::On(event) => pick(&OwnedEvent::event(event), &record.path),
        Call::NewData | Call::Plan => None,
    };
    records.iter().filter_map(of).collect()
}
