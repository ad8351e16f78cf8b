//! The runs of one scheme as one object: means with their confidence intervals.

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::evidence::SuCounts;
use crate::result::{PopulationResult, ProbeResult, SchemeResult};
use crate::student::mean_and_ci95;

impl SchemeResult {
    /// Returns one object for the scheme. With one run the object is the row. With more, every number is the mean over the runs in which it
    /// is defined, and `<field>_ci95` is half the width of its 95 % confidence interval by Student's t. `<field>_runs` is the number of
    /// runs in which the field is defined, if that is not all of them. `runs` is the number of runs, and `seed` is the first seed.
    /// Su-throughput is the mean over the runs with a su-time; if no run has one, it is the mean over all runs, in which it describes the
    /// whole flow. An exit cause that differs between runs is `mixed`, and `exit_causes` has the count of each cause. The end of the
    /// longest wait is also `mixed` if it differs, without counts. The growth class of start-up is the highest of any run.
    pub fn object(&self) -> Map<String, Value> {
        joined(&self.rows, false)
    }

    /// Returns [`SchemeResult::object`] with the spread of several runs. `<field>_min`, `_median`, `_p95`, `_p99` and `_max` are the
    /// minimum, the median, the 95th and 99th percentile and the maximum over the runs in which the field is defined ([`spread_at`]).
    pub fn object_with_spread(&self) -> Map<String, Value> {
        joined(&self.rows, true)
    }
}

impl PopulationResult {
    /// Returns one object for the scheme, alone or mixed with others, in the form of [`SchemeResult::object`].
    pub fn object(&self) -> Map<String, Value> {
        joined(&self.rows, false)
    }

    /// Returns [`PopulationResult::object`] with the spread, as [`SchemeResult::object_with_spread`] does.
    pub fn object_with_spread(&self) -> Map<String, Value> {
        joined(&self.rows, true)
    }
}

impl ProbeResult {
    /// Returns one object for all probings, in the form of [`SchemeResult::object`]. If the endings of the runs differ, the ending is
    /// `mixed` and `endings` has the count of each.
    pub fn object(&self) -> Map<String, Value> {
        joined(&self.rows, false)
    }

    /// Returns [`ProbeResult::object`] with the spread, as [`SchemeResult::object_with_spread`] does.
    pub fn object_with_spread(&self) -> Map<String, Value> {
        joined(&self.rows, true)
    }
}

fn joined<T: Serialize>(rows: &[T], spread: bool) -> Map<String, Value> {
    let rows: Vec<Map<String, Value>> = rows.iter().map(fields).collect();
    match rows.as_slice() {
        [] => Map::new(),
        [row] => row.clone(),
        [first, ..] => many(first, &rows, spread),
    }
}

fn fields<T: Serialize>(row: &T) -> Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Fields that have one value in all runs, or that show the first run's value.
const NAMES: [&str; 16] = [
    "search",
    "scheme",
    "label",
    "params",
    "population",
    "avoidance",
    "recovery",
    "stack",
    "restart",
    "deploy",
    "exit_cause",
    "ideal_kind",
    "seed",
    "version",
    "scenario_hash",
    "source_hash",
];

fn many(first: &Map<String, Value>, rows: &[Map<String, Value>], spread: bool) -> Map<String, Value> {
    let mut object = Map::new();
    for (field, value) in first {
        match field.as_str() {
            "exit_cause" => causes(&mut object, ("exit_cause", "exit_causes"), rows),
            "longest_wait_end" => {
                let is_alike = rows.iter().all(|row| row.get(field) == Some(value));
                object.insert(field.clone(), if is_alike { value.clone() } else { Value::from("mixed") });
            }
            "ending" => causes(&mut object, ("ending", "endings"), rows),
            "su_counts" => {
                let said = rows.iter().filter_map(|row| row.get("su_counts")?.as_str()).map(SuCounts::of);
                object.insert(field.clone(), said.max().unwrap_or_default().name().into());
            }
            "seed" => {
                object.insert("runs".to_owned(), Value::from(rows.len()));
                object.insert(field.clone(), value.clone());
            }
            name if NAMES.contains(&name) => {
                object.insert(field.clone(), value.clone());
            }
            _ => mean(&mut object, field, rows, spread),
        }
    }
    object
}

/// Fields whose meaning changes if another field is undefined, each with that other field.
const OTHERWISE: [(&str, &str); 1] = [("su_throughput_bps", "su_time_s")];

fn mean(object: &mut Map<String, Value>, field: &str, rows: &[Map<String, Value>], spread: bool) {
    let has = |row: &Map<String, Value>, field: &str| row.get(field).is_some_and(|value| !value.is_null());
    let needed = OTHERWISE.iter().find(|(name, _)| *name == field).map(|(_, needed)| *needed);
    let needed = needed.filter(|needed| rows.iter().any(|row| has(row, needed)));
    let alike = rows.iter().filter(|row| needed.is_none_or(|needed| has(row, needed)));
    let values: Vec<f64> = alike.filter_map(|row| row.get(field)?.as_f64()).collect();
    let (mean, half) = mean_and_ci95(&values).map_or((None, None), |(mean, half)| (Some(mean), half));
    object.insert(field.to_owned(), number(mean));
    object.insert(format!("{field}_ci95"), number(half));
    if values.len() < rows.len() {
        object.insert(format!("{field}_runs"), Value::from(values.len()));
    }
    if spread {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        for (suffix, rank) in SPREAD {
            object.insert(format!("{field}{suffix}"), number(spread_at(&values, rank)));
        }
    }
}

/// The fields of a spread: each suffix with its rank, in thousandths of the runs.
pub const SPREAD: [(&str, u32); 5] =
    [("_min", 0), ("_median", 500), ("_p95", 950), ("_p99", 990), ("_max", 1000)];

/// Returns the value at a rank of [`SPREAD`]; `None` without values. The values are sorted. The median of an even number of values is the
/// mean of the middle two. Another rank is the smallest value that at least this share of the values do not exceed.
pub fn spread_at(sorted: &[f64], rank: u32) -> Option<f64> {
    let middle = sorted.len() / 2;
    if rank == 500 && sorted.len().is_multiple_of(2) {
        return Some(f64::midpoint(*sorted.get(middle.checked_sub(1)?)?, *sorted.get(middle)?));
    }
    let place = (sorted.len() * rank as usize).div_ceil(1000).max(1);
    sorted.get(place - 1).copied()
}

fn causes(object: &mut Map<String, Value>, (field, counted): (&str, &str), rows: &[Map<String, Value>]) {
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for cause in rows.iter().filter_map(|row| row.get(field)?.as_str()) {
        *counts.entry(cause).or_default() += 1;
    }
    let single = counts.keys().next().filter(|_| counts.len() == 1).copied();
    object.insert(field.to_owned(), Value::from(single.unwrap_or("mixed")));
    let counts = counts.into_iter().map(|(cause, count)| (cause.to_owned(), Value::from(count)));
    object.insert(counted.to_owned(), Value::Object(counts.collect()));
}

fn number(value: Option<f64>) -> Value {
    value.and_then(Number::from_f64).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    fn result(rows: Vec<Row>) -> SchemeResult {
        SchemeResult { name: "slow-start".to_owned(), rows, ideal: None }
    }

    fn rows() -> Vec<Row> {
        let row = |throughput_bps, su_time_s, timeouts, cause: &str, seed| Row {
            throughput_bps,
            su_time_s,
            timeouts,
            exit_cause: cause.to_owned(),
            seed,
            ..Row::default()
        };
        vec![row(1.0, Some(4.0), 0, "loss", 5), row(2.0, None, 1, "delay", 6), row(3.0, None, 1, "loss", 7)]
    }

    #[test]
    fn one_run_is_its_row() {
        let row = rows().remove(0);
        assert_eq!(result(vec![row.clone()]).object(), fields(&row));
    }

    #[test]
    fn many_runs_are_means_beside_their_intervals() {
        let object = result(rows()).object();
        let number = |field: &str| object[field].as_f64().expect(field);
        assert!((number("throughput_bps") - 2.0).abs() < 1e-12);
        // The standard error is 1 / sqrt(3), and t with two degrees of freedom is 4.302653.
        assert!((number("throughput_bps_ci95") - 2.484_138).abs() < 1e-5);
        assert!((number("timeouts") - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((&object["runs"], &object["seed"]), (&Value::from(3), &Value::from(5)));
        let keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let place = |key| keys.iter().position(|found| *found == key).expect(key);
        assert_eq!(place("throughput_bps") + 1, place("throughput_bps_ci95"));
        assert!(!keys.contains(&"throughput_bps_runs"));
    }

    #[test]
    fn a_spread_is_minimum_median_and_maximum_of_runs_with_values() {
        let object = result(rows()).object_with_spread();
        let number = |field: &str| object[field].as_f64();
        assert_eq!(
            SPREAD.map(|(end, _)| number(&format!("throughput_bps{end}"))),
            [Some(1.0), Some(2.0), Some(3.0), Some(3.0), Some(3.0)]
        );
        assert_eq!(SPREAD.map(|(end, _)| number(&format!("su_time_s{end}"))), [Some(4.0); 5]);
        assert_eq!(SPREAD.map(|(end, _)| number(&format!("exit_time_s{end}"))), [None; 5]);
        let two = result(rows().split_off(1)).object_with_spread();
        assert_eq!(two["throughput_bps_median"], Value::from(2.5), "between the two in the middle");
        let mut plain = result(rows()).object_with_spread();
        plain.retain(|field, _| !SPREAD.iter().any(|(end, _)| field.ends_with(end)));
        assert_eq!(plain, result(rows()).object());
        assert_eq!(
            result(rows().split_off(2)).object_with_spread(),
            fields(&rows()[2]),
            "one run is its row"
        );
    }

    #[test]
    fn a_percentile_is_the_smallest_value_that_its_share_does_not_exceed() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        let at = |rank| spread_at(&values, rank);
        assert_eq!([at(0), at(500), at(950), at(990), at(1000)], [1.0, 100.5, 190.0, 198.0, 200.0].map(Some));
        assert_eq!(spread_at(&[], 500), None);
        assert_eq!(spread_at(&[3.0], 990), Some(3.0));
    }

    #[test]
    fn the_fields_of_windows_are_the_rows_own_and_have_means() {
        let row = |utilisation| {
            let window = crate::WindowFields {
                suffix: "10s_70s".to_owned(),
                utilisation,
                goodput_bps: Some(5.0),
                dropped_packets: Some(3),
                links: Vec::new(),
            };
            Row { windows: crate::Windows(vec![window]), ..Row::default() }
        };
        let one = result(vec![row(Some(0.5))]).object();
        assert_eq!((&one["utilisation_10s_70s"], &one["dropped_packets_10s_70s"]), (&0.5.into(), &3.into()));
        let two = result(vec![row(Some(0.5)), row(None)]).object();
        assert_eq!((&two["utilisation_10s_70s"], &two["utilisation_10s_70s_runs"]), (&0.5.into(), &1.into()));
        assert_eq!(two["goodput_bps_10s_70s_ci95"], Value::from(0.0));
    }

    #[test]
    fn values_undefined_in_some_runs_carry_their_defined_run_count() {
        let object = result(rows()).object();
        assert_eq!(object["su_time_s"], Value::from(4.0));
        assert_eq!(object["su_time_s_ci95"], Value::Null);
        assert_eq!(object["su_time_s_runs"], Value::from(1));
        assert_eq!((&object["exit_time_s"], &object["exit_time_s_runs"]), (&Value::Null, &Value::from(0)));
    }

    #[test]
    fn mean_su_throughput_covers_runs_with_su_time_if_any() {
        let row = |su_time_s, bps| Row { su_time_s, su_throughput_bps: Some(bps), ..Row::default() };
        // Without a su-time, su-throughput is the in-order throughput of the whole flow.
        let some = result(vec![row(Some(1.0), 2.0), row(None, 90.0), row(Some(1.5), 4.0)]).object();
        assert_eq!((&some["su_throughput_bps"], &some["su_throughput_bps_runs"]), (&3.0.into(), &2.into()));
        let none = result(vec![row(None, 90.0), row(None, 92.0)]).object();
        assert_eq!(none["su_throughput_bps"], Value::from(91.0));
        assert!(!none.contains_key("su_throughput_bps_runs"));
        let all = result(vec![row(Some(1.0), 2.0), row(Some(1.5), 4.0)]).object();
        assert!(!all.contains_key("su_throughput_bps_runs"));
    }

    #[test]
    fn causes_that_differ_are_mixed_and_counted() {
        let object = result(rows()).object();
        assert_eq!(object["exit_cause"], "mixed");
        assert_eq!(object["exit_causes"], serde_json::json!({ "delay": 1, "loss": 2 }));
        let same = result(rows().into_iter().filter(|row| row.exit_cause == "loss").collect()).object();
        assert_eq!(same["exit_cause"], "loss");
    }
}
