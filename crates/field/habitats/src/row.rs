//! Rows of results. Each has one scheme in one environment over all runs, compared with the simulator.

use serde::Serialize;
use serde::ser::SerializeMap;

use crate::figures::Figures;
use crate::habitat::Habitat;

/// The results of a scheme in an environment.
#[derive(Clone, Debug)]
pub struct Row {
    /// The scheme's name or label.
    pub scheme: String,
    /// The scheme with its parameters, as in `--schemes`.
    pub choice: String,
    /// The avoidance law.
    pub avoidance: &'static str,
    /// The environment.
    pub habitat: Habitat,
    /// The kernel's congestion control, if the environment is the kernel.
    pub congestion_control: Option<&'static str>,
    /// The number of runs that count.
    pub runs: u32,
    /// The number of these runs whose transfer finished within the limit. Only these have an FCT.
    pub finished: u32,
    /// The number of runs that were invalid and were repeated.
    pub repeated: u32,
    /// The number of runs that were still invalid after all repetitions. They do not count.
    pub void: u32,
    /// The cause of the exit from start-up; `mixed` if runs differ, `None` if no run counts.
    pub exit_cause: Option<String>,
    /// The summaries over the runs, in the order of [`METRICS`].
    pub summaries: Vec<Option<Summary>>,
    /// The median minus the median in the simulator with the same stack, in the order of [`METRICS`]. `None` in that simulator's own row.
    pub differences: Vec<Option<f64>>,
    /// Whether transfers finish in only one of two environments: this one, or the simulator with the same stack.
    pub finishes_unlike: bool,
    /// Whether each difference may be due to chance, in the order of [`METRICS`]. It may if the simulator's runs also differ from each
    /// other and the ranges of both environments overlap.
    pub by_chance: Vec<bool>,
}

/// The median and the range of a metric over all runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// The median. For an even number of runs it is the mean of the middle two values.
    pub median: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
}

/// A metric: a number that every run has.
pub struct Metric {
    /// The name of the metric's field in results.
    pub name: &'static str,
    of: fn(&Figures) -> Option<f64>,
    /// The difference above which the metric counts as different; `None` if differences of this metric are not judged.
    tolerance: Option<Tolerance>,
}

/// The difference above which a metric counts as different. A difference must exceed both parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// The minimum difference in the metric's unit.
    pub absolute: f64,
    /// The minimum difference as a share of the simulator's value.
    pub share: f64,
}

fn whole(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count(count: u64) -> f64 {
    count as f64
}

/// The metrics of a row, in the order of results.
pub const METRICS: [Metric; 9] = [
    Metric { name: "fct_s", of: |run| run.fct_s, tolerance: Some(Tolerance { absolute: 0.0, share: 0.05 }) },
    Metric { name: "throughput_bps", of: |run| Some(run.throughput_bps), tolerance: None },
    Metric { name: "packets_sent", of: |run| Some(count(run.packets_sent)), tolerance: None },
    Metric {
        name: "packets_lost",
        of: |run| Some(count(run.packets_lost)),
        tolerance: Some(Tolerance { absolute: 3.0, share: 0.05 }),
    },
    Metric {
        name: "overshoot_lost_packets",
        of: |run| run.overshoot_lost_packets.map(count),
        tolerance: None,
    },
    Metric { name: "trains", of: |run| run.trains.map(count), tolerance: None },
    Metric { name: "exit_time_s", of: |run| run.exit_time_s, tolerance: None },
    Metric { name: "exit_window_packets", of: |run| run.exit_window_packets, tolerance: None },
    Metric {
        name: "exit_rate_bps",
        of: |run| run.exit_rate_bps,
        tolerance: Some(Tolerance { absolute: 0.0, share: 0.1 }),
    },
];

/// Returns the index of a metric in [`METRICS`].
fn place(name: &str) -> usize {
    METRICS.iter().position(|metric| metric.name == name).unwrap_or(METRICS.len())
}

impl Summary {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let half = values.len() / 2;
        let upper = *values.get(half)?;
        let median = if values.len() % 2 == 1 { upper } else { f64::midpoint(*values.get(half - 1)?, upper) };
        Some(Self { median, min, max })
    }
}

impl Row {
    /// Computes the summaries of the runs that count.
    pub(crate) fn take_runs(&mut self, runs: &[Figures]) {
        self.runs = whole(runs.len());
        self.finished = whole(runs.iter().filter(|run| run.fct_s.is_some()).count());
        self.summaries = METRICS
            .iter()
            .map(|metric| Summary::of(runs.iter().filter_map(|run| (metric.of)(run)).collect()))
            .collect();
        self.differences = vec![None; METRICS.len()];
        self.by_chance = vec![false; METRICS.len()];
        let mut causes = runs.iter().map(|run| run.exit_cause.clone());
        let first = causes.next().flatten();
        let is_mixed = causes.any(|cause| cause != first);
        self.exit_cause = if is_mixed { Some("mixed".to_owned()) } else { first };
    }

    /// Compares the row with the simulator's row. The kernel's bytes in flight are not compared with a window.
    pub(crate) fn compare_with(&mut self, simulator: &Row) {
        let is_window = |at: usize| METRICS[at].name == "exit_window_packets";
        let is_kernel = self.congestion_control.is_some();
        let overlap = |(own, theirs): (&Option<Summary>, &Option<Summary>)| {
            own.zip(*theirs).is_some_and(|(own, theirs)| own.min <= theirs.max && theirs.min <= own.max)
        };
        self.by_chance = self
            .summaries
            .iter()
            .zip(&simulator.summaries)
            .map(|pair| simulator.runs > 1 && overlap(pair))
            .collect();
        let both_ran = self.runs > 0 && simulator.runs > 0;
        self.finishes_unlike = both_ran && (self.finished == 0) != (simulator.finished == 0);
        let pairs = self.summaries.iter().zip(&simulator.summaries).enumerate();
        self.differences = pairs
            .map(|(at, (own, theirs))| {
                let is_other = is_kernel && is_window(at);
                Some(own.as_ref()?.median - theirs.as_ref()?.median).filter(|_| !is_other)
            })
            .collect();
    }

    /// Returns the summary of the metric with this name.
    pub fn summary(&self, name: &str) -> Option<Summary> {
        *self.summaries.get(place(name))?
    }

    /// Returns the metric's difference from the simulator, in the metric's unit.
    pub fn difference(&self, name: &str) -> Option<f64> {
        *self.differences.get(place(name))?
    }

    /// Returns the metric's difference as a share of the simulator's value; `None` if that value is zero.
    pub fn share(&self, name: &str) -> Option<f64> {
        let (difference, own) = (self.difference(name)?, self.summary(name)?.median);
        let theirs = own - difference;
        (theirs > 0.0).then(|| difference / theirs)
    }
}

/// Serializes the fields in their order. If there are several runs, each metric also has fields with `_min` and `_max`.
impl Serialize for Row {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("scheme", &self.scheme)?;
        map.serialize_entry("choice", &self.choice)?;
        map.serialize_entry("avoidance", self.avoidance)?;
        map.serialize_entry("habitat", self.habitat.name)?;
        map.serialize_entry("stack", self.habitat.stack_name())?;
        map.serialize_entry("congestion_control", &self.congestion_control)?;
        map.serialize_entry("runs", &self.runs)?;
        map.serialize_entry("finished", &self.finished)?;
        map.serialize_entry("repeated", &self.repeated)?;
        map.serialize_entry("void", &self.void)?;
        map.serialize_entry("exit_cause", &self.exit_cause)?;
        for (metric, (summary, difference)) in
            METRICS.iter().zip(self.summaries.iter().zip(&self.differences))
        {
            let name = metric.name;
            map.serialize_entry(name, &summary.map(|summary| summary.median))?;
            map.serialize_entry(&format!("{name}_min"), &summary.map(|summary| summary.min))?;
            map.serialize_entry(&format!("{name}_max"), &summary.map(|summary| summary.max))?;
            map.serialize_entry(&format!("{name}_difference"), difference)?;
        }
        map.end()
    }
}

/// A difference between a row and the simulator.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    /// The row.
    pub row: &'a Row,
    /// The name of the metric.
    pub metric: &'static str,
    /// The difference divided by its tolerance. A difference matters if this is above 1.
    pub excess: f64,
}

/// Returns the largest difference from the simulator relative to its tolerance. The tolerances are 5 % for the completion time, 10 % for
/// the estimated rate, and 3 packets or 5 % for dropped packets, whichever is more. Differences that may be due to chance do not count.
/// `None` if nothing is compared.
pub fn largest(rows: &[Row]) -> Option<Difference<'_>> {
    let of_row = |row: &'_ Row| {
        METRICS
            .iter()
            .zip(&row.by_chance)
            .filter(|(_, by_chance)| !**by_chance)
            .filter_map(|(metric, _)| {
                let Tolerance { absolute, share } = metric.tolerance?;
                let difference = row.difference(metric.name)?;
                let theirs = row.summary(metric.name)?.median - difference;
                Some((
                    metric.name,
                    difference.abs() / absolute.max(share * theirs.abs()).max(f64::MIN_POSITIVE),
                ))
            })
            .collect::<Vec<_>>()
    };
    let all = rows.iter().flat_map(|row| {
        of_row(row).into_iter().map(move |(metric, excess)| Difference { row, metric, excess })
    });
    all.max_by(|one, other| one.excess.total_cmp(&other.excess))
}

#[cfg(test)]
mod tests;
