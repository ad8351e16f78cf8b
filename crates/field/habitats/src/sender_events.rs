//! Derives a sender's internal events from its trace: exits, reductions and loss episodes.

use std::io::BufRead;

use firstflight::{Call, Event, Note, Pacing, Phase, Rate, Tag, TraceRecord};
use firstflight_measure::{Evidence, ExitSeen};
use firstflight_trace::{TraceError, read};

/// A sender's internal events. Times are nanoseconds by the trace's clock.
#[derive(Clone, Debug, Default)]
pub struct SenderTrace {
    /// The advances of the cumulative ACK: the time of each in nanoseconds, and the new offset. Only [`read_trace`] fills this field.
    pub(crate) acks: Vec<(u64, u64)>,
    /// The time at which the first data packet was sent.
    first_sent: Option<u64>,
    exits: Vec<ExitSeen>,
    cuts: Vec<(u64, u64)>,
    timeouts: Vec<u64>,
    recoveries: Vec<(u64, Option<u64>)>,
    su_end: Option<u64>,
    phase: Option<Phase>,
    exits_at_cut: usize,
    su_over_at_cut: bool,
    /// The tag of the newest data that was sent.
    tag: Tag,
    /// The number of trains sent before the exit from start-up.
    trains: u64,
}

/// Reads a trace.
///
/// # Errors
/// The text is not a valid trace.
pub fn read_trace(input: impl BufRead) -> Result<SenderTrace, TraceError> {
    let (_, mut calls) = read(input)?;
    let mut heard = SenderTrace::default();
    while let Some(record) = calls.next_call()? {
        heard.take(&record);
        if matches!(&record.call, Call::On(event) if matches!(event.event(), Event::Acked(_))) {
            heard.acks.push((record.path.now.nanos(), record.path.una));
        }
    }
    Ok(heard)
}

impl SenderTrace {
    /// Adds the events to the evidence that the packets of the same connection gave.
    pub fn add_to(self, evidence: &mut Evidence) {
        let (Some(first), Some(there)) = (self.first_sent, evidence.recording.first_data_at) else { return };
        let at = |time: u64| (there + time).saturating_sub(first);
        evidence.exits = self.exits.into_iter().map(|exit| ExitSeen { at: at(exit.at), ..exit }).collect();
        evidence.cuts = self.cuts.into_iter().map(|(when, from)| (at(when), from)).collect();
        evidence.timeouts = self.timeouts.into_iter().map(at).collect();
        evidence.recoveries = self.recoveries.into_iter().map(|(from, to)| (at(from), to.map(at))).collect();
        evidence.su_end = self.su_end.map(at);
        evidence.trains = self.trains;
    }

    /// Returns the advances of the cumulative ACK as times and offsets. The times are converted to the clock of the captured packets. In
    /// that clock, the first data packet was sent at `there`.
    pub(crate) fn acks_since(&self, there: u64) -> Vec<(u64, u64)> {
        let first = self.first_sent.unwrap_or(0);
        self.acks.iter().map(|(at, una)| ((there + at).saturating_sub(first), *una)).collect()
    }

    /// Returns the bytes of heap memory in use.
    pub(crate) fn memory(&self) -> usize {
        self.exits.capacity() * size_of::<ExitSeen>()
            + self.cuts.capacity() * size_of::<(u64, u64)>()
            + self.timeouts.capacity() * size_of::<u64>()
            + self.recoveries.capacity() * size_of::<(u64, Option<u64>)>()
    }

    pub(crate) fn take(&mut self, record: &TraceRecord) {
        let at = record.path.now.nanos();
        match (record.path.recovering, self.recoveries.last_mut()) {
            (true, None | Some((_, Some(_)))) => self.recoveries.push((at, None)),
            (false, Some((_, end @ None))) => *end = Some(at),
            _ => {}
        }
        if let Call::On(event) = &record.call {
            match event.event() {
                Event::Sent(sent) => {
                    self.first_sent.get_or_insert(at);
                    self.tagged(sent.tag, record);
                    if !sent.retransmission {
                        self.new_data(at, record);
                    }
                }
                Event::TimedOut { .. } => self.timeouts.push(at),
                _ => {}
            }
        }
        for note in &record.notes {
            self.note(at, note);
        }
    }

    /// Records that data was sent under this tag. Each train has a distinct tag. Other plans have tags as well.
    fn tagged(&mut self, tag: Tag, record: &TraceRecord) {
        if std::mem::replace(&mut self.tag, tag) == tag {
            return;
        }
        let is_train = matches!(record.plan.pacing, Pacing::Train { .. }) && record.plan.tag == tag;
        self.trains += u64::from(is_train && self.exits.is_empty());
    }

    /// Records that new data was sent. Start-up is over once the avoidance law determines when new data is sent
    /// (docs/reference/exports.md, su-time).
    fn new_data(&mut self, at: u64, record: &TraceRecord) {
        let governs = self.phase == Some(Phase::Avoidance)
            && !record.path.recovering
            && record.plan.ssthresh.is_none_or(|ssthresh| record.path.cwnd >= ssthresh);
        if governs && !self.exits.is_empty() {
            self.su_end.get_or_insert(at);
        }
    }

    fn note(&mut self, at: u64, note: &Note) {
        match *note {
            Note::Began(_) => self.phase = Some(Phase::Startup),
            Note::Exited { exit, phase, cwnd, .. } => {
                self.phase = Some(Phase::Avoidance);
                if phase == Phase::Startup {
                    let rate = exit.learned.rate.map(Rate::bps);
                    self.exits.push(ExitSeen { at, cause: exit.cause, cwnd: cwnd.get(), rate });
                }
            }
            Note::Continued => {
                self.phase = Some(Phase::Startup);
                self.exits.pop();
            }
            Note::Reduced { from } => {
                self.exits_at_cut = self.exits.len();
                self.su_over_at_cut = self.su_end.is_some();
                self.cuts.push((at, from.get()));
            }
            Note::Undone { exit } => {
                self.cuts.pop();
                if exit {
                    self.phase = Some(Phase::Startup);
                    self.exits.truncate(self.exits_at_cut);
                    if !self.su_over_at_cut {
                        self.su_end = None;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_lab as lab;
    use firstflight_scenario::{Options, Scenario, all_schemes};

    /// The trace has the same internal events of the sender as the simulator recorded.
    #[test]
    fn traces_contain_the_internal_sender_events_of_the_simulator_for_every_scheme() {
        let (mut count, mut trains) = (0, 0);
        for options in [
            &[("rate", "20mbit"), ("rtt", "40ms"), ("queue", "50p"), ("size", "2MB")][..],
            &[("rate", "5mbit"), ("rtt", "100ms"), ("loss", "1%"), ("size", "500kB"), ("stack", "linux")],
            &[("rate", "10mbit"), ("rtt", "20ms"), ("queue", "12p"), ("jitter", "5ms"), ("size", "1MB")],
        ] {
            let mut set = Options::default();
            for (key, value) in options {
                set.set(key, value).expect("an option");
            }
            let scenario = Scenario::resolve(&set).expect("a scenario");
            for choice in all_schemes() {
                let choice = lab::resumed(&scenario, &choice, &|| false).expect("a run");
                let seen = lab::run(&scenario, &choice, 1, true, None, &|| false).expect("a run").evidence;
                let trace = lab::record(&scenario, &choice, 1).expect("a trace");
                let mut noted = Evidence { recording: seen.recording.clone(), ..Evidence::default() };
                read_trace(trace.as_bytes()).expect("a trace").add_to(&mut noted);
                let name = format!("{choice} over {options:?}");
                assert_eq!(noted.exits, seen.exits, "{name}");
                assert_eq!(noted.cuts, seen.cuts, "{name}");
                assert_eq!(noted.timeouts, seen.timeouts, "{name}");
                assert_eq!(noted.su_end, seen.su_end, "{name}");
                assert_eq!(noted.trains, seen.trains, "{name}");
                // The trace reports the state of loss recovery only at the next call.
                let near = |one: u64, other: u64| one.abs_diff(other) < 5_000_000;
                let are_near = noted.recoveries.iter().zip(&seen.recoveries).all(|(one, other)| {
                    let ends = one.1.zip(other.1).is_none_or(|(one, other)| near(one, other));
                    near(one.0, other.0) && ends && one.1.is_some() == other.1.is_some()
                });
                assert!(are_near, "{name}: {:?}, {:?}", noted.recoveries, seen.recoveries);
                assert_eq!(noted.recoveries.len(), seen.recoveries.len(), "{name}");
                count += seen.exits.len();
                trains += seen.trains;
            }
        }
        assert!(count > 30, "{count} exits");
        assert!(trains > 6, "{trains} trains");
    }
}
