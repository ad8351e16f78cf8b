//! Slow start that counts bytes beside the rows of a path, so that a score does not credit to a scheme what counting gains.

use firstflight_measure::{Goal, Row, SchemeResult, SuCounts};
use firstflight_scenario::{Scenario, SchemeChoice};
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::how::How;
use crate::race::race;
use crate::reference::{beside as references, silent};

/// Slow start that counts bytes over a row's path, with the row's seed and the scheme's options of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// 1 if it was raced, for a start-up of the path counted more than ACKs; else 0.
    pub bytes_raced: u8,
    /// Its cost; `None` if it was given up, or not raced.
    pub bytes_cost: Option<f64>,
}

/// What stands beside each of a path's rows, which are ordered by scheme and seed. Without a transfer of a size, and where no
/// start-up counts more than ACKs, nothing is raced.
///
/// # Errors
/// As [`race`].
pub(super) fn beside(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    rows: &[Row],
    how: &How<'_>,
) -> Result<Vec<Beside>, RunError> {
    let is_sized = matches!(scenario.contest().goal, Goal::Transfer { .. });
    let counts_more = rows.iter().any(|row| SuCounts::of(&row.su_counts) > SuCounts::Acks);
    if !is_sized || !counts_more {
        return Ok(vec![Beside::default(); rows.len()]);
    }
    let of_schemes = rows.chunks(scenario.runs.max(1) as usize);
    let results: Vec<SchemeResult> = choices
        .iter()
        .zip(of_schemes.clone())
        .map(|(choice, rows)| SchemeResult {
            name: choice.name().to_owned(),
            rows: rows.to_vec(),
            ideal: None,
        })
        .collect();
    let how = How { jobs: Some(1), ..silent(how) };
    let references = references(
        (scenario, choices),
        results.iter().map(|result| result.name.clone()).collect(),
        |name| results.iter().find(|result| result.name == name).cloned(),
        |slow_start| Ok(race(scenario, &[slow_start], &how)?.pop()),
    )?;
    let of = |choice: &SchemeChoice, row: &Row| {
        let own =
            references.iter().find(|reference| reference.of.iter().any(|name| name == choice.name()))?;
        let same = own.result.rows.iter().find(|other| other.seed == row.seed)?;
        Some(Beside { bytes_raced: 1, bytes_cost: same.cost.flatten() })
    };
    let beside = choices
        .iter()
        .zip(of_schemes)
        .flat_map(|(choice, rows)| rows.iter().map(move |row| (choice, row)).collect::<Vec<_>>());
    Ok(beside.map(|(choice, row)| of(choice, row).unwrap_or_default()).collect())
}
