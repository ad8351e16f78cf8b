//! What a trace says of the inside of a sender: exits, reductions, loss episodes.

use std::io::BufRead;

use firstflight::{Call, Event, Note, Pacing, Phase, Rate, Tag, TraceRecord};
use firstflight_measure::{Evidence, ExitSeen};
use firstflight_trace::{TraceError, read};

/// What a trace says. Times are nanoseconds by the trace's clock.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// Each advance of the acknowledged part of the stream: the instant in nanoseconds, and the offset up to which it went.
    pub(crate) acks: Vec<(u64, u64)>,
    /// When the first data packet left.
    first_sent: Option<u64>,
    exits: Vec<ExitSeen>,
    cuts: Vec<(u64, u64)>,
    timeouts: Vec<u64>,
    recoveries: Vec<(u64, Option<u64>)>,
    su_end: Option<u64>,
    phase: Option<Phase>,
    exits_at_cut: usize,
    su_over_at_cut: bool,
    /// The tag under which the newest data left.
    tag: Tag,
    /// The trains that left before start-up did.
    trains: u64,
}

/// Reads a trace.
///
/// # Errors
/// A text that is no trace.
pub fn hear(input: impl BufRead) -> Result<Heard, TraceError> {
    let (_, mut calls) = read(input)?;
    let mut heard = Heard::default();
    while let Some(told) = calls.next_call()? {
        heard.take(&told);
    }
    Ok(heard)
}

impl Heard {
    /// Adds what was heard to the evidence of the same connection's packets.
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

    /// The advances of the acknowledged part of the stream: instants and offsets. The instants are by the clock of the captured packets, by
    /// which the first data packet left at `there`.
    pub(crate) fn acks_since(&self, there: u64) -> Vec<(u64, u64)> {
        let first = self.first_sent.unwrap_or(0);
        self.acks.iter().map(|(at, una)| ((there + at).saturating_sub(first), *una)).collect()
    }

    pub(crate) fn take(&mut self, told: &TraceRecord) {
        let at = told.path.now.nanos();
        match (told.path.recovering, self.recoveries.last_mut()) {
            (true, None | Some((_, Some(_)))) => self.recoveries.push((at, None)),
            (false, Some((_, end @ None))) => *end = Some(at),
            _ => {}
        }
        if let Call::On(event) = &told.call {
            match event.event() {
                Event::Sent(sent) => {
                    self.first_sent.get_or_insert(at);
                    self.tagged(sent.tag, told);
                    if !sent.retransmission {
                        self.new_data(at, told);
                    }
                }
                Event::Acked(_) => self.acks.push((at, told.path.una)),
                Event::TimedOut { .. } => self.timeouts.push(at),
                _ => {}
            }
        }
        for note in &told.notes {
            self.note(at, note);
        }
    }

    /// Data left under this tag. Each train has one of its own, and other plans have tags as well.
    fn tagged(&mut self, tag: Tag, told: &TraceRecord) {
        if std::mem::replace(&mut self.tag, tag) == tag {
            return;
        }
        let is_train = matches!(told.plan.pacing, Pacing::Train { .. }) && told.plan.tag == tag;
        self.trains += u64::from(is_train && self.exits.is_empty());
    }

    /// New data left: start-up is over once the law governs it (docs/exports.md, su-time).
    fn new_data(&mut self, at: u64, told: &TraceRecord) {
        let governs = self.phase == Some(Phase::Avoidance)
            && !told.path.recovering
            && told.plan.ssthresh.is_none_or(|ssthresh| told.path.cwnd >= ssthresh);
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

    /// What a trace says is what the simulator saw inside the sender.
    #[test]
    fn a_trace_says_of_every_scheme_what_the_simulator_saw_inside_the_sender() {
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
                let mut told = Evidence { recording: seen.recording.clone(), ..Evidence::default() };
                hear(trace.as_bytes()).expect("a trace").add_to(&mut told);
                let name = format!("{choice} over {options:?}");
                assert_eq!(told.exits, seen.exits, "{name}");
                assert_eq!(told.cuts, seen.cuts, "{name}");
                assert_eq!(told.timeouts, seen.timeouts, "{name}");
                assert_eq!(told.su_end, seen.su_end, "{name}");
                assert_eq!(told.trains, seen.trains, "{name}");
                // Whether a loss is being repaired is told at the next call.
                let near = |one: u64, other: u64| one.abs_diff(other) < 5_000_000;
                let are_near = told.recoveries.iter().zip(&seen.recoveries).all(|(one, other)| {
                    let ends = one.1.zip(other.1).is_none_or(|(one, other)| near(one, other));
                    near(one.0, other.0) && ends && one.1.is_some() == other.1.is_some()
                });
                assert!(are_near, "{name}: {:?}, {:?}", told.recoveries, seen.recoveries);
                assert_eq!(told.recoveries.len(), seen.recoveries.len(), "{name}");
                count += seen.exits.len();
                trains += seen.trains;
            }
        }
        assert!(count > 30, "{count} exits");
        assert!(trains > 6, "{trains} trains");
    }
}
