//! Byte-counting slow start raced next to the rows of a path, so that a score does not credit a scheme with the gain of counting bytes.

use firstflight_measure::{Goal, Row, SchemeResult, SuCounts, columns};
use firstflight_scenario::{Scenario, SchemeChoice};
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::race::race;
use crate::reference::{beside as references, last, silent};
use crate::run_settings::How;

columns! {
    /// The result of byte-counting slow start over a row's path, with the row's seed and the scheme's path options.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Beside {
        pub bytes_raced: u8 = ["1"]
            "1 if slow start that counts bytes was raced over the path, with the row's seed and the scheme's options of the \
             path, for a start-up of this path counted more than ACKs; else 0.";
        pub bytes_cost: Option<f64> = ["1"]
            "The cost of that slow start. Undefined if it was given up, or not raced.";
    }
}

impl Beside {
    /// The fields of a path over which byte-counting slow start was not raced.
    pub const NOT_RACED: Self = Self { bytes_raced: 0, bytes_cost: None };
}

/// Returns the result of byte-counting slow start for each of a path's rows, which are ordered by scheme and seed. It is not raced if the
/// path has no transfer of a size, or if no start-up counts more than ACKs.
///
/// # Errors
/// Fails as [`race`] does.
pub(super) fn beside(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    rows: &[Row],
    how: &How<'_>,
) -> Result<Vec<Beside>, RunError> {
    let is_sized = matches!(scenario.contest().goal, Goal::Transfer { .. });
    let counts_more = rows.iter().any(|row| SuCounts::of(&row.su_counts) > SuCounts::Acks);
    if !is_sized || !counts_more {
        return Ok(vec![Beside::NOT_RACED; rows.len()]);
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
        |slow_start| last(race(scenario, std::slice::from_ref(slow_start), &how)?, slow_start),
    )?;
    let of = |choice: &SchemeChoice, row: &Row| {
        let lacks = || RunError::NoRun(choice.slow_start_counting_bytes().name().to_owned());
        let own = references.iter().find(|reference| reference.of.iter().any(|name| name == choice.name()));
        let rows = &own.ok_or_else(lacks)?.result.rows;
        let same = rows.iter().find(|other| other.seed == row.seed).ok_or_else(lacks)?;
        Ok(Beside { bytes_raced: 1, bytes_cost: same.cost.flatten() })
    };
    let beside = choices
        .iter()
        .zip(of_schemes)
        .flat_map(|(choice, rows)| rows.iter().map(move |row| (choice, row)).collect::<Vec<_>>());
    beside.map(|(choice, row)| of(choice, row)).collect()
}
