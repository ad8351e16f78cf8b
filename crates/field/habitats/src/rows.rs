//! The rows of the papers' figures that run on real packets: a run of each scheme, with the scenario's seed.

use firstflight_measure::{Recording, row};
use firstflight_scenario::{Cross, Scenario, SchemeChoice};
use serde_json::{Map, Value};

use crate::cell::Real;
use crate::hosting::Hosting;
use crate::real;

/// A row: its fields, in the order of its type.
type Row = Map<String, Value>;

/// Runs each scheme on UDP sockets over the scenario's path, or one probing if the scenario has one. Returns a row for each. `record`
/// receives the recording of each scheme, and the population, which is empty here.
///
/// # Errors
/// The reason why there are no rows, in one line.
pub fn on_sockets(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    record: &dyn Fn(&Recording, &str),
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Row>, String> {
    if scenario.probe.is_some() {
        let probed = real::probed(scenario, interrupted).map_err(|error| error.to_string())?;
        return Ok(vec![with_truth(counted(probed)?, scenario)]);
    }
    let mut rows = Vec::new();
    // With each seed the choices run one after the other, so that disturbances of the machine affect all of them equally.
    for choice in choices {
        let ran = real::on_sockets(scenario, choice, interrupted).map_err(|error| error.to_string())?;
        let evidence = counted(ran)?;
        record(&Recording { label: choice.name().to_owned(), ..evidence.recording.clone() }, "");
        match serde_json::to_value(row(&scenario.measured(choice, scenario.seed), &evidence)) {
            Ok(Value::Object(fields)) => rows.push(fields),
            Ok(_) => return Err("a result must be an object with named fields".to_owned()),
            Err(error) => return Err(format!("a result cannot be serialised: {error}")),
        }
    }
    Ok(rows)
}

/// Runs each scheme over the scenario's path in the TCP of this machine's kernel, after `hosting` has loaded the scheme. Returns a row for
/// each scheme and, for a population, also a row for each flow. `record` is called once for each scheme, with its recording and the value
/// of the column `population` (an empty text in a race).
///
/// # Errors
/// The reason why there are no rows, in one line.
pub fn in_kernel(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    hosting: &dyn Hosting,
    record: &dyn Fn(&Recording, &str),
    interrupted: &dyn Fn() -> bool,
) -> Result<(Vec<Row>, Vec<Row>), String> {
    let (mut rows, mut flows) = (Vec::new(), Vec::new());
    let population = if scenario.population.is_some() { "only" } else { "" };
    // With each seed the choices run one after the other, so that disturbances of the machine affect all of them equally.
    for choice in choices {
        let seen = real::in_kernel(scenario, choice, hosting, interrupted);
        let seen = counted(seen.map_err(|error| error.to_string())?)?;
        record(&seen.recording, population);
        rows.push(seen.row);
        flows.extend(seen.flows);
    }
    Ok((rows, flows))
}

/// Returns the result of a run; an error if the run is invalid.
fn counted<T>(ran: Real<T>) -> Result<T, String> {
    match ran {
        Real::Ran(value) => Ok(value),
        Real::Void => Err("a run stayed invalid: this machine is too busy for real packets".to_owned()),
        Real::Interrupted => Err("interrupted".to_owned()),
    }
}

/// Returns the row of a probing with the seed and the hash added. The true available rate is also added, if there is no cross traffic or
/// only traffic of constant rate.
fn with_truth(mut record: Row, scenario: &Scenario) -> Row {
    #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53 bit/s")]
    let truth = match scenario.cross {
        Cross::None => Some(scenario.rate.bps() as f64),
        Cross::Cbr(cross) => Some(scenario.rate.bps().saturating_sub(cross.bps()) as f64),
        _ => None,
    };
    let truth = truth.filter(|truth| *truth > 0.0);
    for (error, found) in [("ptr_error", "ptr_bps"), ("igi_error", "igi_bps")] {
        let found = record.get(found).and_then(Value::as_f64);
        let value = found.zip(truth).map(|(found, truth)| found / truth - 1.0);
        record.insert(error.to_owned(), value.map_or(Value::Null, Value::from));
    }
    record.insert("available_bps".to_owned(), truth.map_or(Value::Null, Value::from));
    record.insert("seed".to_owned(), scenario.seed.into());
    record.insert("scenario_hash".to_owned(), scenario.hash().into());
    record
}
