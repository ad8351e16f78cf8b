//! Verdicts over many races.

use std::collections::BTreeMap;
use std::fmt;

use super::compare::{Verdict, compare, reported_at, rtt_at, seen_as};
use super::draw::Drawn;
use super::listed;
use super::record::Raced;

/// The number of each verdict, the reported causes by recorded cause, and the errors of the exits that agree.
#[derive(Default)]
pub(crate) struct Summary {
    verdicts: BTreeMap<(&'static str, Verdict), u64>,
    /// Counts by the recorded cause and the reported one.
    causes: BTreeMap<(&'static str, &'static str), u64>,
    /// Errors by the cause as an observer names it: that of the time in RTTs, and that of the window as a share of it.
    errors: BTreeMap<&'static str, Vec<(f64, f64)>>,
    /// Differences that no class of `listed` explains, each with the command that repeats its race.
    pub(crate) unexplained: Vec<String>,
}

impl Summary {
    /// Adds a race. If `show` names a verdict, the race is printed with it.
    pub(crate) fn add(&mut self, number: u64, raced: &Raced, drawn: &Drawn, mss: u64, show: &str) {
        let Raced { record, at_sender: found, .. } = raced;
        if record.sends.is_empty() {
            return;
        }
        let is = record.exit.map_or("none", |exit| exit.cause.name());
        *self.causes.entry((is, found.exit_cause.unwrap_or("undefined"))).or_default() += 1;
        for (what, verdict) in compare(raced, mss) {
            let verdict = match (verdict, listed::class(what, drawn, found, record, mss)) {
                (Verdict::Wrong(_), Some(class)) => Verdict::Listed(class),
                (verdict, _) => verdict,
            };
            if let Verdict::Wrong(why) = verdict {
                self.unexplained.push(format!("{number}: {what}: {why}: {drawn}"));
            }
            if let ("exit", Verdict::Agrees, Some(exit), Some(at)) =
                (what, &verdict, record.exit, reported_at(found, record))
            {
                let flight = found.exit_flight_bytes.unwrap_or(0);
                let time = ratio(at.abs_diff(exit.at), rtt_at(record, exit.at));
                let window = ratio(flight.abs_diff(exit.cwnd), exit.cwnd);
                self.errors.entry(seen_as(exit.cause)).or_default().push((time, window));
            }
            let is_shown = match &verdict {
                Verdict::Wrong(why) => show == "wrong" || show == *why,
                Verdict::Nature(why) => show == *why || show == "nature",
                Verdict::Listed(why) => show == *why || show == "wrong",
                Verdict::Undefined(why) => show == why,
                Verdict::Agrees => false,
            };
            if is_shown {
                let first = record.sends[0].at;
                let exit = record
                    .exit
                    .map(|exit| (ratio(exit.at.saturating_sub(first), 1_000_000_000), is, exit.cwnd));
                println!(
                    "#{number} {drawn} {what}: {verdict:?}\n    is {exit:?}, {} timeouts",
                    record.timeouts
                );
                println!(
                    "    reported {:?} @ {:?} with {:?}; initial window {:?} by {:?}; {:?} timeouts",
                    found.exit_cause,
                    found.exit_time_s,
                    found.exit_flight_bytes,
                    found.initial_window_segments,
                    found.initial_window_limit,
                    found.timeouts_suspected
                );
            }
            if is_shown && std::env::var("DETAIL").is_ok_and(|wanted| wanted == what) {
                detail(raced, mss);
            }
            *self.verdicts.entry((what, verdict)).or_default() += 1;
        }
    }

    /// Both together.
    pub(crate) fn joined(mut self, other: Self) -> Self {
        for (key, count) in other.verdicts {
            *self.verdicts.entry(key).or_default() += count;
        }
        for (key, count) in other.causes {
            *self.causes.entry(key).or_default() += count;
        }
        self.unexplained.extend(other.unexplained);
        for (key, list) in other.errors {
            self.errors.entry(key).or_default().extend(list);
        }
        self
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((is, reported), count) in &self.causes {
            writeln!(f, "{count:6}  {is} reported as {reported}")?;
        }
        for ((what, verdict), count) in &self.verdicts {
            writeln!(f, "{count:6}  {what}: {verdict:?}")?;
        }
        for (cause, list) in &self.errors {
            let at = |share: usize, of: fn(&(f64, f64)) -> f64| {
                let mut values: Vec<f64> = list.iter().map(of).collect();
                values.sort_by(f64::total_cmp);
                values[(values.len() - 1) * share / 100]
            };
            let (time, window) = (|one: &(f64, f64)| one.0, |one: &(f64, f64)| one.1);
            writeln!(
                f,
                "{:6}  {cause}: time off by {:.3} RTTs in the median, {:.3} in 95 of 100; window by {:.3} and {:.3}",
                list.len(),
                at(50, time),
                at(95, time),
                at(50, window),
                at(95, window)
            )?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn ratio(num: u64, den: u64) -> f64 {
    num as f64 / den.max(1) as f64
}

/// Prints the sender's decisions, and its rounds according to `inspect` with the sender's window and outstanding data.
fn detail(raced: &Raced, mss: u64) {
    let Raced { record, at_sender: found, .. } = raced;
    let first = record.sends[0].at;
    let seconds = |at: u64| ratio(at.saturating_sub(first), 1_000_000_000);
    println!("  MSS {mss}, RTT {:?}, SACK {:?}, pacing {:?}", found.min_rtt_s, found.sack, found.pacing);
    for (at, note) in &record.notes {
        println!("  {:.4} {note:?}", seconds(*at));
    }
    for (number, round) in found.rounds.iter().enumerate() {
        let end = round.began_s + round.length_s.unwrap_or(0.0);
        let state = record.states.iter().rev().find(|state| seconds(state.at) <= end);
        println!(
            "  round {} {:.4}..{end:.4} new {} again {} peak {:.1} limit {:?}; window {:?} outstanding {:?}",
            number + 1,
            round.began_s,
            round.segments,
            round.retransmitted_segments,
            ratio(round.flight_peak_bytes, mss),
            round.limit,
            state.map(|state| ratio(state.cwnd, mss)),
            state.map(|state| ratio(state.flight, mss)),
        );
    }
}
