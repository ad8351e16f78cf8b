//! How far a result lags behind the best, whether that may be chance, and how many runs would decide.

use super::words::{at_least, at_most, joined, percent, rough_percent};
use crate::runs_needed::{MAX_RUNS, RunsNeeded, runs_needed};
use crate::student::mean_and_half;

/// The number that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Cost; less is better.
    Cost,
    /// A time; less is better.
    Time,
    /// Throughput; more is better.
    Throughput,
    /// Su-loss; less is better.
    SuLoss,
}

/// A lag that may be chance.
#[derive(Clone, Debug)]
pub(super) struct Lag {
    measure: Measure,
    /// The number of runs that both results have.
    runs: usize,
    /// The means over the common runs, of the best and of the other result.
    means: (f64, f64),
    /// The number of runs that would decide; `None` if too many, or if the other result is not behind.
    would_tell: Option<RunsNeeded>,
}

impl Lag {
    /// Returns the lag of the second number of each pair behind the first. A pair has the numbers of the best and of the other result with
    /// one seed. `None` if these runs decide, that is, if the confidence interval of the differences excludes zero.
    pub(super) fn may_be_chance(measure: Measure, pairs: &[(f64, f64)], comparisons: u64) -> Option<Self> {
        let worse = |(best, other): &(f64, f64)| match measure {
            Measure::Throughput => best - other,
            Measure::Cost | Measure::Time | Measure::SuLoss => other - best,
        };
        let worse: Vec<f64> = pairs.iter().map(worse).collect();
        if let Some((mean, Some(half))) = mean_and_half(&worse, comparisons)
            && mean > half
        {
            return None;
        }
        let mean = |of: fn(&(f64, f64)) -> f64| mean_and_half(&pairs.iter().map(of).collect::<Vec<_>>(), 1);
        let means =
            (mean(|pair| pair.0).map_or(0.0, |mean| mean.0), mean(|pair| pair.1).map_or(0.0, |mean| mean.0));
        let is_behind = mean_and_half(&worse, 1).is_some_and(|(mean, _)| mean > 0.0);
        let would_tell = runs_needed(&worse, comparisons).filter(|_| is_behind);
        Some(Self { measure, runs: pairs.len(), means, would_tell })
    }

    /// Returns how far the other result is behind in the mean, and the words for that number; `None` if it is not behind.
    fn size(&self) -> Option<(String, &'static str)> {
        let (best, other) = self.means;
        let ratio = other / best;
        match self.measure {
            Measure::Cost if ratio >= 2.0 => Some((format!("{ratio:.1} times"), " the cost")),
            Measure::Time if ratio >= 2.0 => Some((format!("{ratio:.1} times"), " as long")),
            Measure::Cost if ratio > 1.0 => Some((rough_percent(ratio - 1.0), " more cost")),
            Measure::Time if ratio > 1.0 => Some((rough_percent(ratio - 1.0), " longer")),
            Measure::Throughput if ratio < 1.0 => Some((rough_percent(1.0 - ratio), " less")),
            Measure::SuLoss if other > best => {
                let least = if best > 0.0 { percent(best) } else { "none".to_owned() };
                Some((format!("su-loss {} against {least}", percent(other)), ""))
            }
            _ => None,
        }
    }

    /// Returns the phrase that says how many runs would be enough to decide between the two results.
    pub(super) fn would(&self) -> String {
        let Some(range) = self.would_tell else { return self.why_none() };
        let if_alike = range.if_alike.filter(|_| range.most.is_none()).map(at_most);
        let if_alike = if_alike
            .map_or_else(String::new, |runs| format!(", about {runs} if further runs are like these"));
        format!("{} would{if_alike}", self.count(range))
    }

    /// Returns a range of numbers of runs in words. It starts above the number of these runs, which did not decide.
    fn count(&self, range: RunsNeeded) -> String {
        let least = at_least(range.least.max(self.runs as u64 + 1));
        match range.most.map(at_most) {
            Some(most) if most == least => format!("about {most}"),
            Some(most) => format!("{least} to {most}"),
            None => format!("at least {least}"),
        }
    }

    fn why_none(&self) -> String {
        match self.runs {
            0 => "no run in common".to_owned(),
            1 => "one run in common".to_owned(),
            _ if self.size().is_none() => "no worse".to_owned(),
            _ => format!("not even {} would", at_least(MAX_RUNS)),
        }
    }

    /// Describes a lag. The first of several lags is described in full, and each other one by what distinguishes it.
    fn describe(&self, is_first: bool) -> String {
        let size = match self.size() {
            Some((size, of)) if is_first => format!("{size}{of} in the mean; "),
            Some((size, _)) => format!("{size}; "),
            None => String::new(),
        };
        match self.would_tell {
            Some(range) if !is_first => size + &self.count(range),
            _ => size + &self.would(),
        }
    }
}

/// The clause on how often the range of [`RunsNeeded`] is right.
const COUNTS: &str = "; the numbers of runs are right in nine cases of ten";

/// Returns the notes that these runs do not decide between the best and `others`, and why; none without others.
pub(super) fn undecided(runs: usize, best: &str, others: &[(&str, Lag)], comparisons: u64) -> Vec<String> {
    if others.is_empty() {
        return Vec::new();
    }
    let described: Vec<String> = others
        .iter()
        .enumerate()
        .map(|(place, (name, lag))| format!("{name} ({})", lag.describe(place == 0)))
        .collect();
    let described: Vec<&str> = described.iter().map(String::as_str).collect();
    let together = match comparisons {
        1 => String::new(),
        comparisons => format!(", for {comparisons} comparisons together"),
    };
    let (interval, contains) = match others.len() {
        1 => ("interval of the difference", "contains"),
        _ => ("intervals of the differences", "contain"),
    };
    let have_interval = others.iter().any(|(_, lag)| lag.runs > 1);
    let why = have_interval.then(|| {
        let counts = if others.iter().any(|(_, lag)| lag.would_tell.is_some()) { COUNTS } else { "" };
        format!("the {interval} seed by seed (95 %{together}) {contains} zero{counts}.")
    });
    let do_not = if runs == 1 { "run does not" } else { "runs do not" };
    let note = format!("{runs} {do_not} decide between {best} and {}.", joined(&described, "or"));
    std::iter::once(note).chain(why).collect()
}
