//! The wrapper of one connection's controller.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerMetrics};

use super::observer::{MIN_INITIAL_WINDOWS, Observer};
use super::phases::{Outcome, Phase, Phases};
use super::saved::{Key, Saved};
use super::store::{Claim, Store};

/// The place where a controller reads and saves values.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) store: Arc<Store>,
    pub(super) key: Key,
    /// The time at `built`, in seconds since the Unix epoch.
    pub(super) unix: u64,
    pub(super) built: Instant,
}

impl Memory {
    fn unix(&self, now: Instant) -> u64 {
        self.unix.saturating_add(now.saturating_duration_since(self.built).as_secs())
    }
}

/// A controller of noq with Careful Resume around it.
///
/// `noq::Connection::congestion_state` lends it as `dyn Controller`; a copy made by `clone_box` downcasts to this type
/// and says how the resumption went. noq makes a copy when a connection migrates, thus a copy does not continue
/// a resumption and saves nothing.
#[derive(Debug)]
pub struct ResumeController {
    inner: Box<dyn Controller>,
    phases: Phases,
    observer: Observer,
    memory: Option<Memory>,
    claim: Option<Claim>,
    mtu: u16,
}

impl ResumeController {
    /// Returns a wrapper of `inner`. With `memory`, it resumes and saves.
    pub(super) fn new(
        inner: Box<dyn Controller>,
        memory: Option<Memory>,
        max_jump: Option<u64>,
        mtu: u16,
    ) -> Self {
        let saved: Option<Saved> =
            memory.as_ref().and_then(|memory| memory.store.get(&memory.key, memory.unix));
        let mut phases = Phases::new(saved, inner.initial_window(), mtu);
        if let Some(bytes) = max_jump {
            phases = phases.with_max_jump(bytes);
        }
        Self { inner, phases, observer: Observer::default(), memory, claim: None, mtu }
    }

    /// Returns the phase.
    pub fn phase(&self) -> Phase {
        self.phases.phase()
    }

    /// Returns the reason why Careful Resume ended, or that it continues.
    pub fn outcome(&self) -> Outcome {
        self.phases.outcome()
    }

    /// Returns the controller inside.
    pub fn inner(&self) -> &dyn Controller {
        self.inner.as_ref()
    }

    /// Deletes the saved values if they were wrong; otherwise lets other connections use them after Careful Resume.
    fn release(&mut self) {
        if self.phases.outcome().refutes() {
            if let Some(claim) = self.claim.take() {
                claim.delete();
            }
        } else if self.phases.phase() == Phase::Normal && !self.phases.is_revocable() {
            self.claim = None;
        }
    }

    /// Saves what one round trip delivered (sections 3.1 and 4.1).
    fn observe(&mut self, now: Instant, app_limited: bool) {
        let acked = self.observer.on_end_acks(now, app_limited);
        let (Some(window), Some(rtt), Some(memory)) = (acked, self.observer.min_rtt(), &self.memory) else {
            return;
        };
        let is_over = self.phases.phase() == Phase::Normal && !self.phases.is_revocable();
        if !is_over || window < MIN_INITIAL_WINDOWS * self.inner.initial_window() {
            return;
        }
        let rtt = rtt.max(Duration::from_micros(1));
        memory.store.put(&memory.key, Saved { window, rtt, at: memory.unix(now) });
    }
}

impl Controller for ResumeController {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.phases.on_sent(now, bytes.into(), pn);
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.phases.on_window_limited();
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.observer.on_acked(now, sent, bytes, app_limited);
        self.phases.on_acked(now, sent, bytes, pn, app_limited);
        let before = self.inner.window();
        // The window must not grow in the Safe Retreat Phase. The flag says so to the controller inside.
        let held = app_limited || self.phases.phase() == Phase::SafeRetreat;
        self.inner.on_ack(now, sent, bytes, pn, held, rtt);
        self.phases.on_inner_window(before, self.inner.window());
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        let before = self.inner.window();
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        let after = self.inner.window();
        self.phases.on_inner_window(before, after);
        let (memory, claim) = (&self.memory, &mut self.claim);
        self.phases.on_end_acks(now, in_flight, app_limited, after, || {
            *claim = memory.as_ref().and_then(|memory| memory.store.claim(&memory.key, memory.unix(now)));
            claim.is_some()
        });
        self.release();
        self.observe(now, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        let before = self.inner.window();
        self.inner.on_congestion_event(
            now,
            sent,
            is_persistent_congestion,
            is_ecn,
            lost_bytes,
            largest_lost_pn,
        );
        self.phases.on_congestion(now, sent, is_persistent_congestion, before, self.inner.window());
        self.release();
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.phases.on_lost(lost_bytes.into());
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.phases.on_mtu(new_mtu);
        self.inner.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, ack_eliciting_threshold: u64, requested_max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(ack_eliciting_threshold, requested_max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.phases.window(self.inner.window())
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.inner.metrics();
        metrics.congestion_window = self.window();
        metrics.ssthresh = self.phases.ssthresh().or(metrics.ssthresh);
        metrics.pacing_rate = self.phases.pacing_rate(metrics.pacing_rate);
        if self.phases.phase() == Phase::Unvalidated {
            metrics.send_quantum = Some(self.mtu.into());
        }
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let mut phases = self.phases.clone();
        phases.on_path_change();
        let observer = self.observer.clone();
        let inner = self.inner.clone_box();
        Box::new(Self { inner, phases, observer, memory: None, claim: None, mtu: self.mtu })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
