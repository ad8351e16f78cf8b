//! Measures expressions in the set-ups of figures, and combines the values of several runs.

use std::collections::BTreeSet;

use firstflight_measure::interval;
use firstflight_measure::student::mean_and_ci95;

use crate::claim::Measurement;
use crate::evaluate::{Runs, View};
use crate::expression::{Expression, Of};
use crate::figure::Figure;
use crate::runs::{OneRun, Outcomes, RunsError, Settings, Wanted, run};
use crate::words::OverRuns;

/// An expression, with the name of its set-up; without a name, the expression is of the figure's scenario.
pub(crate) type InSetUp<'a> = (Option<&'a str>, &'a Expression);

impl Measurement {
    pub(crate) fn in_set_up(&self) -> InSetUp<'_> {
        (self.set_up.as_deref(), &self.expression)
    }
}

/// The runs of figures in the set-ups of the measurements.
pub(crate) struct Lab<'a>(Vec<(Part<'a>, Outcomes)>);

/// A figure in one set-up.
struct Part<'a> {
    figure: &'a Figure,
    set_up: Option<&'a str>,
    expressions: Vec<&'a Expression>,
}

impl<'a> Lab<'a> {
    /// Makes the runs that expressions of figures need, each in its set-up.
    ///
    /// # Errors
    /// An interrupt, or a run that could not be made.
    pub(crate) fn run(
        wanted: &[(&'a Figure, Vec<InSetUp<'a>>)],
        settings: &Settings<'_>,
    ) -> Result<Self, RunsError> {
        let mut parts: Vec<Part<'a>> = Vec::new();
        for (figure, expressions) in wanted {
            for (set_up, expression) in expressions {
                match parts.iter_mut().find(|part| part.is(figure, *set_up)) {
                    Some(part) => part.expressions.push(expression),
                    None => parts.push(Part { figure, set_up: *set_up, expressions: vec![expression] }),
                }
            }
        }
        let wanted = |part: &Part<'a>| {
            let (figure, slot) = (part.figure.name(), part.figure.slot);
            let points = part.figure.points(part.set_up);
            let mut needed = BTreeSet::new();
            let view = View::new(points, slot, &[], Runs::All);
            part.expressions.iter().for_each(|expression| view.needs(expression, &mut needed));
            Wanted { figure, points, needed, slot, expressions: part.expressions.clone() }
        };
        let outcomes = run(&parts.iter().map(wanted).collect::<Vec<_>>(), settings)?;
        Ok(Self(parts.into_iter().zip(outcomes).collect()))
    }

    /// Returns the results of a figure's runs in a set-up; empty if no measurement needs them.
    pub(crate) fn outcomes(&self, figure: &Figure, set_up: Option<&str>) -> &[Vec<OneRun>] {
        let found = self.0.iter().find(|(part, _)| part.is(figure, set_up));
        found.map(|(_, outcomes)| outcomes.as_slice()).unwrap_or_default()
    }

    /// Returns the values of a measurement; with `at`, at one place of an axis.
    ///
    /// # Errors
    /// The reason why the expression has no value, in one line.
    pub(crate) fn values(
        &self,
        figure: &Figure,
        measurement: &Measurement,
        at: Option<(usize, usize)>,
    ) -> Result<Values, String> {
        let set_up = measurement.set_up.as_deref();
        let (points, outcomes) = (figure.points(set_up), self.outcomes(figure, set_up));
        let of_runs = |runs| {
            let all = View::new(points, figure.slot, outcomes, runs);
            let view = at.map_or(all.clone(), |(axis, place)| all.at(axis, place));
            let value = view.value(&measurement.expression).and_then(|value| value.points())?;
            Ok(value.into_iter().map(|(_, y)| y).collect())
        };
        let each = |runs: fn(usize) -> Runs| {
            let seeds = if points.all.iter().all(|point| point.run.is_none()) { 1 } else { points.runs() };
            (0..seeds as usize).map(|seed| of_runs(runs(seed))).collect::<Result<Vec<Vec<f64>>, String>>()
        };
        if measurement.over_runs != OverRuns::Before {
            return Ok(over_runs(measurement.over_runs, &each(Runs::One)?));
        }
        let mut values = over_runs(OverRuns::Before, &[of_runs(Runs::All)?]);
        let mut has_series = false;
        measurement.expression.columns(&mut |column| has_series |= column.of == Of::Series);
        if !has_series && points.runs() > 1 {
            values.ends = jackknife(&values.numbers, &each(Runs::Without)?);
        }
        Ok(values)
    }
}

/// Returns the confidence intervals of values that are computed from all runs together. `without` has the values without each of the runs.
/// The half width is that of the mean of the jackknife's pseudo-values (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 11).
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
fn jackknife(values: &[f64], without: &[Vec<f64>]) -> Vec<Option<(f64, f64)>> {
    let runs = without.len() as f64;
    let ends = |(place, value): (usize, &f64)| {
        let pseudo = |values: &Vec<f64>| Some(runs * value - (runs - 1.0) * values.get(place)?);
        let pseudo = without.iter().map(pseudo).collect::<Option<Vec<f64>>>()?;
        let (_, half) = mean_and_ci95(&pseudo)?;
        half.filter(|half| half.is_finite() && *half > 0.0).map(|half| (value - half, value + half))
    };
    values.iter().enumerate().map(ends).collect()
}

impl Part<'_> {
    fn is(&self, figure: &Figure, set_up: Option<&str>) -> bool {
        std::ptr::eq(self.figure, figure) && self.set_up == set_up
    }
}

/// The values of a measurement at each place of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values {
    /// The values.
    pub(crate) numbers: Vec<f64>,
    /// The ends of the 95 % confidence interval of each value that varies over runs.
    pub(crate) ends: Vec<Option<(f64, f64)>>,
    /// Half the confidence interval of a single mean.
    pub(crate) half: Option<f64>,
    /// The number of runs that were left out because their value is undefined.
    pub(crate) undefined: usize,
}

/// Combines the values of several runs at each place. The median, the minimum and the maximum leave out undefined runs if the value of more
/// than half of the runs is defined.
fn over_runs(way: OverRuns, of_seeds: &[Vec<f64>]) -> Values {
    let count = of_seeds.iter().map(Vec::len).max().unwrap_or(0);
    // A place that is missing in a run is undefined.
    let at = |place: usize| -> Vec<f64> {
        of_seeds.iter().map(|values| values.get(place).copied().unwrap_or(f64::NAN)).collect()
    };
    let mut all = Values { numbers: Vec::new(), ends: Vec::new(), half: None, undefined: 0 };
    for place in 0..count {
        let mut values = at(place);
        if !matches!(way, OverRuns::Mean | OverRuns::Before) {
            let defined: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
            if defined.len() * 2 > values.len() {
                all.undefined = all.undefined.max(values.len() - defined.len());
                values = defined;
            }
        }
        let (value, ends) = combined(way, values);
        all.numbers.push(value);
        all.ends.push(ends.filter(|(low, high)| low < high));
    }
    if count == 1 && way == OverRuns::Mean && !all.numbers[0].is_nan() {
        all.half = mean_and_ci95(&at(0)).and_then(|(_, half)| half);
    }
    all
}

/// Combines the values of several runs at one place. Returns the value, and the ends of its confidence interval.
fn combined(way: OverRuns, mut values: Vec<f64>) -> (f64, Option<(f64, f64)>) {
    if values.iter().any(|value| value.is_nan()) {
        return (f64::NAN, None);
    }
    values.sort_by(f64::total_cmp);
    match way {
        OverRuns::Mean | OverRuns::Before => {
            let (mean, half) = mean_and_ci95(&values).unwrap_or((f64::NAN, None));
            (mean, half.map(|half| (mean - half, mean + half)))
        }
        OverRuns::Median => {
            let (low, high) = ((values.len() - 1) / 2, values.len() / 2);
            let (from, to) = interval(values.len(), 0.5);
            let end = |rank: Option<usize>| values.get(rank?.wrapping_sub(1)).copied();
            (f64::midpoint(values[low], values[high]), end(from).zip(end(to)))
        }
        OverRuns::Min => (values.first().copied().unwrap_or(f64::NAN), None),
        OverRuns::Max => (values.last().copied().unwrap_or(f64::NAN), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: f64 = f64::NAN;

    fn of(way: OverRuns, values: &[f64]) -> Values {
        over_runs(way, &values.iter().map(|value| vec![*value]).collect::<Vec<_>>())
    }

    #[test]
    fn an_undefined_run_does_not_invalidate_a_median_over_many() {
        let runs = [3.0, NO, 1.0, 2.0];
        let value = |way| (of(way, &runs).numbers[0], of(way, &runs).undefined);
        assert_eq!(value(OverRuns::Median), (2.0, 1));
        assert_eq!(value(OverRuns::Min), (1.0, 1));
        assert_eq!(value(OverRuns::Max), (3.0, 1));
        let mean = of(OverRuns::Mean, &runs);
        assert!(
            mean.numbers[0].is_nan() && mean.undefined == 0,
            "the mean of those that are defined is biased"
        );
        let half = of(OverRuns::Median, &[1.0, NO]);
        assert!(half.numbers[0].is_nan() && half.undefined == 0, "not more than half of the runs");
        let missing = over_runs(OverRuns::Median, &[vec![1.0, 5.0], vec![2.0], vec![3.0, 7.0]]);
        assert_eq!((missing.numbers, missing.undefined), (vec![2.0, 6.0], 1));
    }

    #[test]
    fn the_jackknife_of_a_mean_is_students_interval() {
        let runs = [1.0, 2.0, 3.0, 4.0, 5.0];
        let without = |left: f64| vec![(runs.iter().sum::<f64>() - left) / 4.0];
        let ends = jackknife(&[3.0], &runs.map(without));
        let (low, high) = ends[0].expect("an interval");
        assert!((low - 1.036_757).abs() < 1e-5 && (high - 4.963_243).abs() < 1e-5);
        assert_eq!(jackknife(&[3.0], &[vec![3.0], vec![NO]]), [None]);
        assert_eq!(jackknife(&[3.0], &[vec![3.0], vec![3.0]]), [None], "it does not vary");
    }

    #[test]
    fn a_mean_has_students_interval_and_a_median_that_of_order_statistics() {
        let mean = of(OverRuns::Mean, &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let (low, high) = mean.ends[0].expect("an interval");
        assert!((low - 1.036_757).abs() < 1e-5 && (high - 4.963_243).abs() < 1e-5);
        let ten: Vec<f64> = (1..=10u32).map(f64::from).collect();
        let median = of(OverRuns::Median, &ten);
        assert_eq!((median.numbers[0], median.ends[0]), (5.5, Some((2.0, 9.0))));
        assert_eq!(of(OverRuns::Median, &ten[..5]).ends, [None], "too few");
        assert_eq!(of(OverRuns::Max, &ten).ends, [None]);
        assert_eq!(of(OverRuns::Mean, &[2.0, 2.0]).ends, [None], "it does not vary");
    }
}
