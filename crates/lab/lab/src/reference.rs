//! Byte-counting slow start, raced as a reference for results that gain from counting bytes.

use firstflight_measure::{
    PopulationResult, Reference, SchemeResult, populations_want_reference, wants_reference,
};
use firstflight_scenario::{Scenario, SchemeChoice};

use crate::error::RunError;
use crate::populations::populations;
use crate::race::race;
use crate::run_settings::How;

/// Returns the references of a race. For each result that needs one, the reference is byte-counting slow start with that scheme's path
/// options, over the same path with the same seeds. If a slow start in the race made the same runs, its result is used. Nothing is run if
/// no result needs a reference, or if clients of rounds have their own schemes.
///
/// `how` is the race's own. Its recorder and its observers do not receive these runs.
///
/// # Errors
/// Fails as [`race`] does.
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
        |slow_start| last(race(scenario, std::slice::from_ref(slow_start), &silent(how))?, slow_start),
    )
}

/// Returns the references of populations, as [`references`] does for a race. They are populations of the same flows. A script in which
/// every flow has its own scheme has no reference.
///
/// # Errors
/// Fails as [`populations`] does.
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
        // A scheme's own population has its result before that of the mixed population.
        |name| results.iter().find(|result| result.name == name).cloned(),
        |slow_start| {
            let alone = std::slice::from_ref(slow_start);
            last(populations(&unmixed, alone, false, &silent(how))?, slow_start)
        },
    )
}

/// The avoidance law under which schemes are ranked again if their laws differ. It is the default of races.
const ONE_LAW: &str = "cubic";

/// Returns the results of the race with one avoidance law for all schemes, with that law. `None` if all results have one law, or if the law
/// of a scheme cannot be replaced: it is set as a parameter, or the controller is a QUIC stack's own.
///
/// # Errors
/// Fails as [`race`] does.
pub fn under_one_law(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    results: &[SchemeResult],
    how: &How<'_>,
) -> Result<Option<(&'static str, Vec<SchemeResult>)>, RunError> {
    let mut laws = results.iter().filter_map(|result| Some(result.rows.first()?.avoidance.as_str()));
    let first = laws.next();
    let differ = laws.any(|law| Some(law) != first);
    let is_set = |choice: &SchemeChoice| {
        choice.own_controller().is_some()
            || choice.params().split(',').any(|one| one.starts_with("avoidance="))
    };
    if !differ || scenario.has_client_script() || choices.iter().any(is_set) {
        return Ok(None);
    }
    let alike = Scenario { avoidance: Some(ONE_LAW), ..scenario.clone() };
    Ok(Some((ONE_LAW, race(&alike, choices, &silent(how))?)))
}

/// Copies the settings of a race without its recorders, observers, slots and progress reports.
pub(crate) fn silent<'a>(how: &How<'a>) -> How<'a> {
    How {
        record: None,
        record_further: None,
        progress: &|_, _, _| {},
        tap: &|_, _| Ok(None),
        client_tap: None,
        flow_tap: None,
        record_flow: None,
        slots: None,
        ..*how
    }
}

/// Returns the result of byte-counting slow start for each of `names`, with that scheme's options. Names with equal options share one
/// result: that of a choice in `there` which makes the same runs, or else the result of `run`.
pub(crate) fn beside<R>(
    (scenario, choices): (&Scenario, &[SchemeChoice]),
    names: Vec<String>,
    there: impl Fn(&str) -> Option<R>,
    run: impl Fn(&SchemeChoice) -> Result<R, RunError>,
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
            Some(result) => result,
            None => run(&slow_start)?,
        };
        Ok(Reference { of, result })
    };
    wanted.into_iter().map(result).collect()
}

/// Returns the result of the single choice that was run.
///
/// # Errors
/// Fails with [`RunError::NoRun`] if there is no result.
pub(crate) fn last<R>(mut results: Vec<R>, choice: &SchemeChoice) -> Result<R, RunError> {
    results.pop().ok_or_else(|| RunError::NoRun(choice.name().to_owned()))
}

/// Checks whether two choices make the same runs.
fn is_same(scenario: &Scenario, one: &SchemeChoice, other: &SchemeChoice) -> bool {
    one.entry.name == other.entry.name && scenario.for_scheme(one) == scenario.for_scheme(other)
}
