//! The laws that every run keeps, checked from outside the endpoints: by the segments as they are sent and as they arrive, and by the notes
//! of the sender's controller.

mod ledger;
mod ranges;
mod stall;
mod witness;

use std::sync::{Arc, Mutex};

use firstflight_lab::{How, race, run, run_without};
use firstflight_measure::{Recording, Row, Tap, add_harm, row, set_ideal};
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::{Goal, Scenario, SchemeChoice, parse_choices};

use witness::{Seen, Witness};

/// How a run that kept the laws ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// Every byte was delivered.
    Whole,
    /// The flow did not finish, and the path had dropped too many packets for that to be the sender's fault.
    Starved,
}

/// The scheme of a run, how the run ended, and a digest of it.
pub(crate) type Verdict = (String, Ending, u64);

/// Races `schemes` over the path and checks every run against the laws.
///
/// # Errors
/// The first law that is broken: by whom and how.
pub(crate) fn keep_the_laws(path: &Scenario, schemes: &str) -> Result<Vec<Verdict>, String> {
    let choices = parse_choices(schemes).map_err(|error| error.to_string())?;
    let runs = watched(path, &choices, 2)?;
    runs.iter()
        .map(|run| {
            let named = |fault: String| format!("{}: {fault}", run.label);
            Ok((run.label.clone(), run.keeps_the_laws(path).map_err(named)?, run.digest()))
        })
        .collect()
}

/// A run with everything that is known of it.
pub(crate) struct Watched {
    /// The row's label.
    pub(crate) label: String,
    /// The row.
    pub(crate) row: Row,
    /// The time series.
    pub(crate) recording: Recording,
    seen: Seen,
}

/// Runs each scheme once, with this many runs at a time.
///
/// # Errors
/// A run that could not be made.
pub(crate) fn watched(
    path: &Scenario,
    choices: &[SchemeChoice],
    jobs: usize,
) -> Result<Vec<Watched>, String> {
    let witnesses: Mutex<Vec<(String, Arc<Mutex<Seen>>)>> = Mutex::default();
    let tap = |choice: &SchemeChoice, _| {
        let seen = Arc::new(Mutex::new(Seen::new(path)));
        let mut witnesses = witnesses.lock().expect("no panic");
        witnesses.push((choice.name().to_owned(), Arc::clone(&seen)));
        Ok(Some(Box::new(Witness(seen)) as Box<dyn Tap>))
    };
    let recordings: Mutex<Vec<Recording>> = Mutex::default();
    let take = |recording: &Recording| recordings.lock().expect("no panic").push(recording.clone());
    let how = How { jobs: Some(jobs), record: Some(&take), tap: &tap, ..How::default() };
    let results = race(path, choices, &how).map_err(|error| error.to_string())?;
    let witnesses = witnesses.into_inner().expect("no panic");
    let recordings = recordings.into_inner().expect("no panic");
    let watch = |result: firstflight_measure::SchemeResult| {
        let label = result.name.clone();
        let own = witnesses.iter().find(|(name, _)| *name == label);
        let seen = own.ok_or("a run without a witness")?.1.lock().expect("no panic").clone();
        let row = result.rows.into_iter().next().ok_or("a result without a row")?;
        let recording = recordings.iter().find(|recording| recording.label == label);
        let recording = recording.ok_or("a result without a recording")?.clone();
        Ok(Watched { label, row, recording, seen })
    };
    results.into_iter().map(watch).collect()
}

/// Runs a scheme from the beginning, without other runs with which to share anything.
///
/// # Errors
/// A run that could not be made.
#[allow(dead_code, reason = "not every test that includes this compares")]
pub(crate) fn from_the_beginning(path: &Scenario, choice: &SchemeChoice) -> Result<Watched, String> {
    let seen = Arc::new(Mutex::new(Seen::new(path)));
    let tap = Box::new(Witness(Arc::clone(&seen)));
    let outcome =
        run(path, choice, path.seed, true, Some(tap), &|| false).map_err(|error| error.to_string())?;
    let mut row = row(&path.measured(choice, path.seed), &outcome.evidence);
    let recording = outcome.evidence.recording;
    if path.cross != Cross::None {
        let end = recording.ended_at;
        let without = run_without(path, path.seed, &[end], &|| false).map_err(|error| error.to_string())?;
        add_harm(&mut row, outcome.cross, without.totals[0], end - recording.syn_at);
        if let Some(ideal) = &without.ideal {
            set_ideal(&mut row, path.goal_of_runs(), ideal, recording.syn_at);
        }
    }
    let seen = seen.lock().expect("no panic").clone();
    Ok(Watched { label: choice.name().to_owned(), row, recording, seen })
}

impl Watched {
    /// A digest of every segment, at both ends, and of everything that happened inside the endpoints.
    pub(crate) fn digest(&self) -> u64 {
        self.seen.digest()
    }

    /// Checks the run against the laws.
    ///
    /// # Errors
    /// The first law that is broken.
    pub(crate) fn keeps_the_laws(&self, path: &Scenario) -> Result<Ending, String> {
        self.seen.fault().map_or(Ok(()), Err)?;
        self.arrived_in_order()?;
        self.lost_what_it_sent()?;
        self.windows_hold_a_segment()?;
        self.exits_stand()?;
        stall::no_gap_without_a_timer(path, &self.seen, &self.recording)?;
        self.finishes(path)
    }

    /// Checks that the receiver's application always had exactly the bytes that an independent reassembler makes of the arrived segments.
    fn arrived_in_order(&self) -> Result<(), String> {
        let (ours, theirs) = (self.seen.delivered(), &self.recording.delivered);
        let differs = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
        if let Some((ours, theirs)) = differs {
            return Err(format!("delivered {theirs:?} where the segments make {ours:?} (ns, bytes)"));
        }
        if ours.len() == theirs.len() { Ok(()) } else { Err("deliveries went unsaid".to_owned()) }
    }

    /// Checks that every segment that arrived or was dropped had been sent before, in as many copies.
    fn lost_what_it_sent(&self) -> Result<(), String> {
        let mut copies = self.seen.copies_not_arrived();
        for drop in self.recording.drops.iter().filter(|drop| drop.len > 0) {
            let left = copies.entry((drop.offset, drop.len)).or_default();
            *left = left.checked_sub(1).ok_or_else(|| format!("more was dropped than left: {drop:?}"))?;
        }
        Ok(())
    }

    fn windows_hold_a_segment(&self) -> Result<(), String> {
        let segment = u64::from(self.recording.mss);
        let narrow = self.recording.states.iter().find(|state| state.cwnd < segment);
        narrow.map_or(Ok(()), |state| Err(format!("a window under one segment of {segment} B: {state:?}")))
    }

    /// Checks that the row has an exit exactly if an exit of start-up stands.
    fn exits_stand(&self) -> Result<(), String> {
        let first = self.seen.first_standing_exit(self.recording.ended_at).unwrap_or("none");
        if self.row.exit_cause == first {
            return Ok(());
        }
        Err(format!("the row says exit {}, the notes say {first}", self.row.exit_cause))
    }

    fn finishes(&self, path: &Scenario) -> Result<Ending, String> {
        let Goal::Size(size) = path.goal else { return Err("no size to finish".to_owned()) };
        let whole = size.get() * path.rounds.map_or(1, |rounds| u64::from(rounds.count));
        let delivered = self.recording.delivered.last().map_or(0, |(_, bytes)| *bytes);
        if delivered == whole {
            let fct = self.row.fct_s.is_none_or(|fct| fct.is_some_and(|fct| fct > 0.0));
            return if fct {
                Ok(Ending::Whole)
            } else {
                Err("all delivered, and no completion time".to_owned())
            };
        }
        let (sent, lost) = (self.row.packets_sent, self.recording.drops.len() as u64);
        // More than a third of the packets sent, its SYNs and the ACKs for it were dropped.
        if lost * 3 > sent {
            return Ok(Ending::Starved);
        }
        let ended = self.recording.ended_at;
        Err(format!("{delivered} of {whole} bytes by {ended} ns, with {lost} of {sent} packets dropped"))
    }
}
