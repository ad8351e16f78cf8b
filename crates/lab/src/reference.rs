//! Slow start that counts bytes, raced beside results that owe something to counting them.

use firstflight_measure::{
    PopulationResult, Reference, SchemeResult, populations_want_reference, wants_reference,
};
use firstflight_scenario::{Scenario, SchemeChoice};

use crate::error::RunError;
use crate::how::How;
use crate::populations::populations;
use crate::race::race;

/// The references of a race: for each result that wants one, slow start that counts bytes with that scheme's options of the
/// path, over the same path with the same seeds. A slow start of the race that did that is taken as it is; without results
/// that want one nothing runs. Clients of rounds that each have their own scheme have none.
///
/// `how` is that of the race. Neither its recorder nor its taps hear of these runs.
///
/// # Errors
/// As [`race`].
pub fn references(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    results: &[SchemeResult],
    how: &How<'_>,
) -> Result<Vec<Reference>, RunError> {
    if scenario.has_client_script() {
        return Ok(Vec::new());
    }
    beside(
        (scenario, choices),
        wants_reference(&scenario.contest(), results),
        |name| results.iter().find(|result| result.name == name).cloned(),
        |slow_start| Ok(race(scenario, &[slow_start], &silent(how))?.pop()),
    )
}

/// The references of populations, as [`references`] of a race: populations of the same flows. A script whose flows all have
/// their own scheme has none.
///
/// # Errors
/// As [`populations`].
pub fn population_references(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    results: &[PopulationResult],
    how: &How<'_>,
) -> Result<Vec<Reference<PopulationResult>>, RunError> {
    if !scenario.script.is_empty() && !scenario.has_row_scheme() {
        return Ok(Vec::new());
    }
    let mut unmixed = scenario.clone();
    if let Some(population) = &mut unmixed.population {
        population.mixed = false;
    }
    beside(
        (scenario, choices),
        populations_want_reference(results),
        // Those of a scheme by itself are before those of the mix.
        |name| results.iter().find(|result| result.name == name).cloned(),
        |slow_start| Ok(populations(&unmixed, &[slow_start], false, &silent(how))?.pop()),
    )
}

/// Settings with which nobody hears of a run.
pub(crate) fn silent<'a>(how: &How<'a>) -> How<'a> {
    How {
        record: None,
        progress: &|_, _, _| {},
        tap: &|_, _| Ok(None),
        client_tap: None,
        flow_tap: None,
        record_flow: None,
        slots: None,
        ..*how
    }
}

/// For each of these names slow start that counts bytes with that scheme's options, once for all that have the same: the result
/// `there` of a choice that makes the same runs, or what `run` makes.
pub(crate) fn beside<R>(
    (scenario, choices): (&Scenario, &[SchemeChoice]),
    names: Vec<String>,
    there: impl Fn(&str) -> Option<R>,
    run: impl Fn(SchemeChoice) -> Result<Option<R>, RunError>,
) -> Result<Vec<Reference<R>>, RunError> {
    let mut wanted: Vec<(SchemeChoice, Vec<String>)> = Vec::new();
    for name in names {
        let Some(choice) = choices.iter().find(|choice| choice.name() == name) else { continue };
        let slow_start = choice.slow_start_counting_bytes();
        match wanted.iter_mut().find(|(other, _)| is_same(scenario, other, &slow_start)) {
            Some((_, names)) => names.push(name),
            None => wanted.push((slow_start, vec![name])),
        }
    }
    let result = |(slow_start, of): (SchemeChoice, Vec<String>)| {
        let same = choices.iter().find(|choice| is_same(scenario, choice, &slow_start));
        let result = match same.and_then(|same| there(same.name())) {
            Some(result) => Some(result),
            None => run(slow_start)?,
        };
        Ok(result.map(|result| Reference { of, result }))
    };
    wanted.into_iter().filter_map(|one| result(one).transpose()).collect()
}

/// Whether two choices make the same runs.
fn is_same(scenario: &Scenario, one: &SchemeChoice, other: &SchemeChoice) -> bool {
    one.entry.name == other.entry.name && scenario.for_scheme(one) == scenario.for_scheme(other)
}
