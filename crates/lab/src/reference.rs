//! Slow start that counts bytes, raced beside results that owe something to counting them.

use firstflight_measure::{Reference, SchemeResult, wants_reference};
use firstflight_scenario::{Scenario, SchemeChoice};

use crate::error::RunError;
use crate::how::How;
use crate::race::race;

/// The references of a race: for each result that wants one, slow start that counts bytes with that scheme's options of the
/// path, over the same path with the same seeds. A slow start of the race that did that is taken as it is; without results
/// that want one nothing runs.
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
    let mut wanted: Vec<(SchemeChoice, Vec<String>)> = Vec::new();
    for name in wants_reference(&scenario.contest(), results) {
        let Some(choice) = choices.iter().find(|choice| choice.name() == name) else { continue };
        let slow_start = choice.slow_start_counting_bytes();
        match wanted.iter_mut().find(|(other, _)| is_same(scenario, other, &slow_start)) {
            Some((_, names)) => names.push(name),
            None => wanted.push((slow_start, vec![name])),
        }
    }
    let silent = How { record: None, progress: &|_, _, _| {}, tap: &|_, _| Ok(None), ..*how };
    let raced = |(slow_start, of): (SchemeChoice, Vec<String>)| {
        let there = choices.iter().find(|choice| is_same(scenario, choice, &slow_start));
        let there = there.and_then(|there| results.iter().find(|result| result.name == there.name()));
        let result = match there {
            Some(result) => Some(result.clone()),
            None => race(scenario, &[slow_start], &silent)?.pop(),
        };
        Ok(result.map(|result| Reference { of, result }))
    };
    wanted.into_iter().filter_map(|one| raced(one).transpose()).collect()
}

/// Whether two choices make the same runs.
fn is_same(scenario: &Scenario, one: &SchemeChoice, other: &SchemeChoice) -> bool {
    one.entry.name == other.entry.name && scenario.for_scheme(one) == scenario.for_scheme(other)
}
