//! The state of a sender for figures: changes of its windows, phases and RTTs, and marks of events.

use firstflight::{Bytes, Note, Origin, Phase, Span, Time};
use firstflight_tcp::{EndpointEvent, Snapshot};

use crate::recording::{Mark, PhaseKind, PhaseSpan, Recording, State};
use crate::show::rounded_rate;

/// Records the state of a sender in its recording.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    established: bool,
    /// Whether the sender is in the slow start after a timeout.
    after_timeout: bool,
    /// Whether the sender was in the slow start after a timeout when the window was last reduced.
    after_timeout_at_cut: bool,
    /// The number of recorded round-trip samples, modulo 2^32.
    rtt_samples: u32,
}

impl Inside {
    /// Records an event, after which the sender's state is `snapshot`.
    pub fn event(
        &mut self,
        recording: &mut Recording,
        at: Time,
        event: &EndpointEvent,
        snapshot: impl Fn() -> Snapshot,
    ) {
        match event {
            EndpointEvent::Established => self.established = true,
            EndpointEvent::Control(note) => self.note(recording, at, note, snapshot),
            EndpointEvent::TimedOut => mark(recording, at, "timeout", "retransmission timeout".to_owned()),
            _ => {}
        }
    }

    fn note(&mut self, recording: &mut Recording, at: Time, note: &Note, snapshot: impl Fn() -> Snapshot) {
        match *note {
            Note::Began(origin) => {
                self.after_timeout = matches!(origin, Origin::AfterTimeout { .. });
                if let Origin::AfterIdle { idle, .. } = origin {
                    let (seconds, millis) = (idle.nanos() / 1_000_000_000, idle.nanos() / 1_000_000 % 1000);
                    mark(recording, at, "restart", format!("data again after {seconds}.{millis:03} s"));
                }
            }
            Note::Exited { exit, phase, cwnd, flight } => {
                self.after_timeout = false;
                let rate = exit.learned.rate;
                let found =
                    rate.map_or_else(String::new, |rate| format!(", found {}", rounded_rate(rate.bps())));
                let [cwnd, flight] = [cwnd, flight].map(|bytes| packets(recording, bytes));
                let what = if phase == Phase::Restart { "restart" } else { "start-up" };
                let text = format!(
                    "{what} left by {}: cwnd {cwnd} packets, {flight} in flight{found}{}",
                    exit.cause.name(),
                    delays(&snapshot())
                );
                mark(recording, at, "exit", text);
            }
            Note::Continued => {
                mark(recording, at, "continued", "start-up goes on after the restart".to_owned());
            }
            Note::Reduced { from } => {
                self.after_timeout_at_cut = self.after_timeout;
                let text = format!("reduced from cwnd {} packets", packets(recording, from));
                mark(recording, at, "reduction", text);
            }
            Note::Undone { exit } => {
                // Undoing the reduction also undoes the slow start that the timeout started.
                self.after_timeout = self.after_timeout_at_cut;
                let what = if exit { "reduction and exit undone" } else { "reduction undone" };
                mark(recording, at, "undo", what.to_owned());
            }
        }
    }

    /// Records the state after the sender handled an event and sent what it could.
    pub fn state(&mut self, recording: &mut Recording, at: Time, snapshot: &Snapshot) {
        let at = at.nanos();
        let kind = match snapshot.phase {
            _ if !self.established => PhaseKind::Handshake,
            Phase::Startup | Phase::Avoidance if self.after_timeout => PhaseKind::AfterTimeout,
            _ if snapshot.recovering => PhaseKind::Recovery,
            Phase::Startup => PhaseKind::Startup,
            Phase::Restart => PhaseKind::Restart,
            Phase::Avoidance => PhaseKind::Avoidance,
        };
        if recording.phases.last().is_none_or(|span| span.kind != kind) {
            if let Some(last) = recording.phases.last_mut() {
                last.to = at;
            }
            recording.phases.push(PhaseSpan { from: at, to: at, kind });
        }
        let state = State {
            at,
            cwnd: snapshot.cwnd.get(),
            ssthresh: snapshot.ssthresh.map(Bytes::get),
            in_flight: snapshot.in_flight.get(),
        };
        if recording.states.last().is_none_or(|last| State { at, ..*last } != state) {
            recording.states.push(state);
        }
        if let Some(rtt) = snapshot.latest_rtt.filter(|_| snapshot.rtt_samples != self.rtt_samples) {
            self.rtt_samples = snapshot.rtt_samples;
            recording.rtts.push((at, rtt.nanos()));
        }
    }

    /// Records that the avoidance law controls the window from this instant on, with a window of `cwnd`.
    pub fn su_end(recording: &mut Recording, at: Time, cwnd: Bytes) {
        let text = format!("avoidance governs: cwnd {} packets", packets(recording, cwnd));
        mark(recording, at, "su-end", text);
    }
}

/// Adds a mark to the recording's time axis.
pub fn mark(recording: &mut Recording, at: Time, kind: &str, text: String) {
    recording.marks.push(Mark { at: at.nanos(), kind: kind.to_owned(), text });
}

fn packets(recording: &Recording, bytes: Bytes) -> String {
    let tenths = bytes.scale(10, u64::from(recording.mss.max(1))).get();
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Describes the newest and the minimum RTT, on which an exit by delay was based.
fn delays(snapshot: &Snapshot) -> String {
    let tenths = |span: Span| {
        let tenths = span.nanos() / 100_000;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match (snapshot.latest_rtt, snapshot.min_rtt) {
        (Some(latest), Some(least)) => format!(", RTT {} ms (minimum {})", tenths(latest), tenths(least)),
        _ => String::new(),
    }
}
