//! The order of populations, best first, and their one-line verdict.

use std::collections::BTreeMap;

use super::{doubt_of, listed, whole};
use crate::result::PopulationResult;
use crate::show::rounded_rate;
use crate::student::mean_and_half;

/// Orders results best first, by the mean over flows of a flow's throughput. Results of unmixed populations come before
/// those of the mixed one.
pub fn rank_populations(results: &mut [PopulationResult]) {
    results.sort_by(|a, b| {
        let throughput = |result| number(result, MEAN).unwrap_or(0.0);
        is_alone(b).cmp(&is_alone(a)).then(throughput(b).total_cmp(&throughput(a)))
    });
}

/// The verdict on ranked results of populations of `flows` flows, in one line, from their numbers only.
pub fn population_verdict(flows: u32, ranked: &[PopulationResult]) -> String {
    let [first, rest @ ..] = ranked else { return "No run was finished.".to_owned() };
    if number(first, "flows") == Some(0.0) {
        return format!("No flow was measured: {}.", says(flows, first));
    }
    let alone: Vec<&PopulationResult> = rest.iter().take_while(|result| is_alone(result)).collect();
    let Some(last) = alone.last() else { return format!("{}.", says(flows, first)) };
    let schemes = alone.len() as u64 + 1;
    let comparisons = schemes * (schemes - 1) / 2;
    let is_doubtful = |result: &&&PopulationResult| may_be_chance(first, result, comparisons);
    let doubtful: Vec<&str> = alone.iter().filter(is_doubtful).map(|result| result.name.as_str()).collect();
    let behind = if is_doubtful(&last) { String::new() } else { format!("; last {}", says(flows, last)) };
    let doubt = if doubtful.is_empty() {
        String::new()
    } else {
        doubt_of(doubtful.len(), &listed(&doubtful), comparisons)
    };
    format!("Best by a flow's throughput, each alone: {}{behind}{doubt}.", says(flows, first))
}

/// Whether the difference between two results may be chance. It may if the confidence interval of the differences contains
/// zero, or if there is no interval. Both populations have the same flows for a seed.
fn may_be_chance(best: &PopulationResult, other: &PopulationResult, comparisons: u64) -> bool {
    if best.rows.len().max(other.rows.len()) < 2 {
        return false;
    }
    let others: BTreeMap<u64, Option<f64>> =
        other.rows.iter().map(|row| (row.seed, row.throughput_mean_bps)).collect();
    let less = |row: &crate::population_row::PopulationRow| {
        Some(row.throughput_mean_bps? - others.get(&row.seed).copied()??)
    };
    let differences: Vec<f64> = best.rows.iter().filter_map(less).collect();
    match mean_and_half(&differences, comparisons) {
        Some((mean, Some(half))) => mean <= half,
        _ => true,
    }
}

fn is_alone(result: &PopulationResult) -> bool {
    result.rows.first().is_some_and(|row| row.population == "only")
}

fn says(flows: u32, result: &PopulationResult) -> String {
    let throughput = number(result, MEAN)
        .map_or_else(|| "no throughput".to_owned(), |bps| format!("a mean of {}", rounded_rate(whole(bps))));
    let loss =
        number(result, "loss").map_or_else(String::new, |loss| format!(", loss {:.3} %", loss * 100.0));
    let unfinished = match number(result, "unfinished") {
        Some(flows) if flows > 0.0 => format!(", {flows} unfinished"),
        _ => String::new(),
    };
    let came = match number(result, "flows") {
        Some(came) if is_alone(result) && came < f64::from(flows) => {
            format!(", of {flows} flows {came} came")
        }
        _ => String::new(),
    };
    format!("{}: {throughput} a flow{loss}{unfinished}{came}", result.name.as_str())
}

const MEAN: &str = "throughput_mean_bps";

fn number(result: &PopulationResult, field: &str) -> Option<f64> {
    result.object().get(field).and_then(serde_json::Value::as_f64)
}
