//! The order of populations, best first, and the verdict on them.

use std::collections::BTreeMap;

use super::claims::{Better, Claim, credit_notes, owing};
use super::credit::{COUNT_ALIKE, Reference};
use super::lag::{Lag, Measure, undecided};
use super::laws::{laws_differ, option};
use super::luck;
use super::words::{help, listed, noted, percent, whole};
use crate::change::{Change, Scale};
use crate::evidence::SuCounts;
use crate::population_row::PopulationRow;
use crate::result::PopulationResult;
use crate::row::ALONE;
use crate::show::rounded_rate;

/// Orders results best first, by the mean throughput of a flow. Results of unmixed populations come before those of the mixed one.
pub fn rank_populations(results: &mut [PopulationResult]) {
    results.sort_by(|a, b| {
        let throughput = |result| number(result, MEAN).unwrap_or(0.0);
        is_unmixed(b).cmp(&is_unmixed(a)).then(throughput(b).total_cmp(&throughput(a)))
    });
}

/// Returns the names of the results of unmixed populations that must be compared with byte-counting slow start ([`crate::owing`]).
pub fn populations_want_reference(results: &[PopulationResult]) -> Vec<String> {
    let unmixed: Vec<&PopulationResult> = results.iter().filter(|result| is_unmixed(result)).collect();
    owing(Better::More, &claims(&unmixed)).into_iter().map(str::to_owned).collect()
}

/// Returns the verdict on ranked results of populations of `flows` flows, from their numbers only, with a line for each note. It compares
/// populations whose flows all have one scheme. The best is that of a scheme that needs no help beyond the sender. `references` are results
/// of byte-counting slow start in these populations ([`populations_want_reference`]).
pub fn population_verdict(
    flows: u32,
    ranked: &[PopulationResult],
    references: &[Reference<PopulationResult>],
) -> String {
    let unmixed: Vec<&PopulationResult> = ranked.iter().take_while(|result| is_unmixed(result)).collect();
    let alone: Vec<&PopulationResult> =
        unmixed.iter().copied().filter(|result| deploy(result) == ALONE).collect();
    let field = if alone.is_empty() { &unmixed } else { &alone };
    let all_ranked = ranked;
    let Some(first) = field.first().copied().or(ranked.first()) else {
        return "No run was finished.".to_owned();
    };
    if number(first, "flows") == Some(0.0) {
        return format!("No flow was measured: {}.", says(flows, first));
    }
    if unmixed.is_empty() {
        return format!("{}.", says_each(flows, ranked));
    }
    if unmixed.len() < 2 {
        return format!("{}.", says(flows, first));
    }
    // The best is compared with each other result, as in a race (`Pairs::comparisons`).
    let comparisons = unmixed.len() as u64 - 1;
    let doubt = |result: &PopulationResult| may_be_chance(first, result, comparisons);
    let is_other = |result: &&&PopulationResult| !are_alike(first, result);
    let others: Vec<(&str, Lag)> = field
        .iter()
        .filter(is_other)
        .filter_map(|result| Some((result.name.as_str(), doubt(result)?)))
        .collect();
    let bests = best_helped(&unmixed, first);
    let helped: Vec<String> = bests
        .iter()
        .map(|best| {
            let kind = help(deploy(best));
            let gains = number(best, MEAN) > number(first, MEAN);
            let chance =
                may_be_chance(best, first, comparisons).filter(|_| gains).map_or_else(String::new, |lag| {
                    format!(
                        ", which {} runs do not distinguish from chance ({})",
                        best.rows.len(),
                        lag.would()
                    )
                });
            let is_several = kind.contains(" and ");
            let lead = if gains {
                format!("with {kind},")
            } else if are_alike(first, best) {
                format!("{kind} {} nothing:", ["changes", "change"][usize::from(is_several)])
            } else {
                format!("{kind} {} no gain:", ["shows", "show"][usize::from(is_several)])
            };
            format!("{lead} {}{chance}.", says_alike(flows, best, &unmixed))
        })
        .collect();
    let last = field.last().filter(|last| is_other(last) && doubt(last).is_none());
    let worst = last.map_or_else(String::new, |last| format!(" Worst: {}.", says_alike(flows, last, field)));
    let undecided = undecided(first.rows.len(), &first.name, &others, comparisons);
    let one_run = (first.rows.len() == 1).then(|| luck::ONE_RUN.to_owned());
    let here = if one_run.is_some() { " in this run" } else { "" };
    let ranked: Vec<_> = unmixed.iter().copied().map(governs).collect();
    let laws = laws_differ(governs(first).0, &ranked, option);
    let by = format!("by a flow's throughput{here}, each scheme by itself");
    let is_all = alone.is_empty() || alone.len() == unmixed.len();
    let no_best = unmixed.iter().all(|result| deploy(result) == deploy(first) && are_alike(first, result));
    let lead = match (is_bytes_alone(first, references), is_all) {
        _ if no_best => format!("B{}", &by[1..]),
        (true, true) => format!("No scheme beats byte-counting slow start {by}"),
        (true, false) => format!("No scheme without help beats byte-counting slow start {by}"),
        (false, true) => format!("Best {by}"),
        (false, false) => format!("Best without help {by}"),
    };
    let headline = format!("{lead}: {}.{worst}", says_alike(flows, first, field));
    let credit = credit(&unmixed, references);
    let mixed = ranked_mixed(all_ranked);
    noted(
        &headline,
        one_run.into_iter().chain(helped).chain(undecided).chain(credit).chain(laws).chain(mixed),
    )
}

fn claims<'a>(results: &[&'a PopulationResult]) -> Vec<Claim<'a>> {
    let claim = |result: &&'a PopulationResult| Claim {
        name: &result.name,
        counts: result.rows.iter().map(|row| SuCounts::of(&row.su_counts)).max().unwrap_or_default(),
        never_left: result.rows.iter().all(|row| row.exited_flows == 0),
        deploy: deploy(result),
        number: number(result, MEAN),
    };
    results.iter().map(claim).collect()
}

/// Checks whether a result is no better than its reference, so that it owes its advantage over others to counting bytes.
fn is_bytes_alone(result: &PopulationResult, references: &[Reference<PopulationResult>]) -> bool {
    let own = references.iter().find(|reference| reference.of.contains(&result.name));
    own.is_some_and(|own| !Better::More.is_better(number(result, MEAN), number(&own.result, MEAN)))
}

/// Returns the notes on the gain of counting bytes; none without references.
fn credit(unmixed: &[&PopulationResult], references: &[Reference<PopulationResult>]) -> Vec<String> {
    let claims = claims(unmixed);
    let says = |reference: &Reference<PopulationResult>| {
        let of =
            |one: &&&PopulationResult| reference.of.contains(&one.name) && is_bytes_alone(one, references);
        let owing: Vec<&str> = unmixed.iter().filter(of).map(|one| one.name.as_str()).collect();
        let number = format!("a mean of {} per flow", rounded_rate(whole(number(&reference.result, MEAN)?)));
        Some(credit_notes(&owing, &claims, &number, COUNT_ALIKE))
    };
    references.iter().filter_map(says).flatten().collect()
}

/// Returns the best result of each kind of help that `first` does not need.
fn best_helped<'a>(unmixed: &[&'a PopulationResult], first: &PopulationResult) -> Vec<&'a PopulationResult> {
    let mut bests: Vec<&PopulationResult> = Vec::new();
    for result in unmixed.iter().filter(|result| ![ALONE, deploy(first)].contains(&deploy(result))) {
        if !bests.iter().any(|best| deploy(best) == deploy(result)) {
            bests.push(result);
        }
    }
    bests
}

/// Checks whether two populations have the same throughput and loss in every run. False if a run lacks one of these.
fn are_alike(one: &PopulationResult, other: &PopulationResult) -> bool {
    let runs = |result: &PopulationResult| -> BTreeMap<u64, _> {
        let numbers = |row: &PopulationRow| (row.throughput_mean_bps, row.loss, row.unfinished);
        result.rows.iter().map(|row| (row.seed, numbers(row))).collect()
    };
    let numbers = runs(one);
    numbers == runs(other) && numbers.values().all(|(throughput, ..)| throughput.is_some())
}

/// Returns the lag of another result behind the best, if it may be chance. A seed gives both populations the same flows.
fn may_be_chance(best: &PopulationResult, other: &PopulationResult, comparisons: u64) -> Option<Lag> {
    if best.rows.len().max(other.rows.len()) < 2 {
        return None;
    }
    let others: BTreeMap<u64, Option<f64>> =
        other.rows.iter().map(|row| (row.seed, row.throughput_mean_bps)).collect();
    let both = |row: &PopulationRow| Some((row.throughput_mean_bps?, others.get(&row.seed).copied()??));
    let pairs: Vec<(f64, f64)> = best.rows.iter().filter_map(both).collect();
    Lag::may_be_chance(Measure::Throughput, &pairs, comparisons)
}

/// Returns a note for each scheme whose flows also ran among those of the other schemes: how much its mean completion time, or without
/// sizes its mean throughput, and its loss differ from those of its flows alone.
fn ranked_mixed(ranked: &[PopulationResult]) -> Vec<String> {
    let is_mixed =
        |result: &&PopulationResult| result.rows.first().is_some_and(|row| row.population == "mixed");
    let note = |mixed: &PopulationResult| {
        let alone = ranked.iter().find(|one| is_unmixed(one) && one.name == mixed.name)?;
        let pairs = |of: fn(&PopulationRow) -> Option<f64>| -> Vec<(f64, f64)> {
            let partner =
                |row: &PopulationRow| alone.rows.iter().find(|one| one.seed == row.seed).and_then(of);
            mixed.rows.iter().filter_map(|row| Some((partner(row)?, of(row)?))).collect()
        };
        let times = Change::paired(&pairs(|row| row.fct_mean_s), Scale::Ratio, 1);
        let (what, change) = match times {
            Some(times) => ("mean completion time", times),
            None => {
                ("mean throughput", Change::paired(&pairs(|row| row.throughput_mean_bps), Scale::Ratio, 1)?)
            }
        };
        let signed = |share: f64| format!("{}{:.1} %", if share < 0.0 { "" } else { "+" }, 100.0 * share);
        let interval = change.interval.filter(|(low, high)| low.total_cmp(high).is_ne());
        let interval = interval
            .map_or_else(String::new, |(low, high)| format!(" (95 %: {} to {})", signed(low), signed(high)));
        let losses = pairs(|row| row.loss);
        let loss = Change::paired(&losses, Scale::Difference, 1).map_or_else(String::new, |loss| {
            format!(", loss {} instead of {}", percent(loss.after), percent(loss.before))
        });
        Some(format!(
            "{} among the others, compared with {0} alone: {what} {}{interval}{loss}.",
            mixed.name,
            signed(change.size)
        ))
    };
    ranked.iter().filter(is_mixed).filter_map(note).collect()
}

fn is_unmixed(result: &PopulationResult) -> bool {
    result.rows.first().is_some_and(|row| row.population == "only")
}

/// Returns the avoidance law of a result, and the parameters that were set.
fn governs(result: &PopulationResult) -> (&str, &str) {
    result.rows.first().map(|row| (row.avoidance.as_str(), row.params.as_str())).unwrap_or_default()
}

/// Returns the help that a result needs beyond its senders.
fn deploy(result: &PopulationResult) -> &str {
    match result.rows.first().map(|row| row.deploy.as_str()) {
        None | Some("") => ALONE,
        Some(deploy) => deploy,
    }
}

/// Describes each of the first few results if the scenario lists its flows one by one. They are not compared, because they run together.
fn says_each(flows: u32, ranked: &[PopulationResult]) -> String {
    const FEW: usize = 4;
    let mut said: Vec<String> = ranked
        .iter()
        .take(FEW)
        .map(|result| match result.rows.first().and_then(|row| row.population.strip_prefix("with ")) {
            Some(row) if row != result.name => format!("next to {row}, {}", says(flows, result)),
            _ => says(flows, result),
        })
        .collect();
    if ranked.len() > FEW {
        said.push(format!("{} more rows", ranked.len() - FEW));
    }
    said.join("; ")
}

fn says(flows: u32, result: &PopulationResult) -> String {
    says_alike(flows, result, &[])
}

/// Describes a result, with the names of the equal results of `among` that need the same class of help. Each name has its law.
fn says_alike(flows: u32, result: &PopulationResult, among: &[&PopulationResult]) -> String {
    let name = |result: &PopulationResult| match governs(result).0 {
        "" => result.name.clone(),
        law => format!("{} ({law})", result.name),
    };
    let is_like = |other: &&&PopulationResult| {
        !std::ptr::eq(**other, result) && deploy(other) == deploy(result) && are_alike(other, result)
    };
    let likes: Vec<String> = among.iter().filter(is_like).map(|other| name(other)).collect();
    let mut names = vec![name(result)];
    names.extend(likes);
    let alike = if names.len() > 1 { " alike" } else { "" };
    let names = listed(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let throughput = number(result, MEAN).map_or_else(
        || "no throughput".to_owned(),
        |bps| format!("a mean of {} per flow", rounded_rate(whole(bps))),
    );
    let loss = match number(result, "loss") {
        Some(loss) if loss > 0.0 => format!(", loss {}", percent(loss)),
        Some(_) => ", no loss".to_owned(),
        None => String::new(),
    };
    let unfinished = match number(result, "unfinished") {
        Some(flows) if flows > 0.0 => format!(", {flows} unfinished"),
        _ => String::new(),
    };
    let came = match number(result, "flows") {
        Some(came) if is_unmixed(result) && came < f64::from(flows) => {
            format!(", {came} of {flows} flows measured")
        }
        _ => String::new(),
    };
    format!("{names}{alike}, {throughput}{loss}{unfinished}{came}")
}

const MEAN: &str = "throughput_mean_bps";

fn number(result: &PopulationResult, field: &str) -> Option<f64> {
    result.object().get(field).and_then(serde_json::Value::as_f64)
}
