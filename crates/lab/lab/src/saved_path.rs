//! The values that an earlier connection over the path saved for Careful Resume (RFC 9959 section 3.1).

use firstflight::Bytes;
use firstflight::registry::Value;
use firstflight_scenario::{SAVED_RTT, SAVED_WINDOW, Scenario, SchemeChoice};

use crate::error::RunError;
use crate::observe::{Last, Recent, Watching};
use crate::run::run_watched;

/// Returns the choice with the values that an earlier connection saved, if it resumes and its values are not set. Other choices are
/// returned unchanged. The earlier connection is slow start over the path, with the choice's options. Its seed follows the race's last
/// seed. One earlier connection serves all runs, so that every row has the same values.
///
/// # Errors
/// Fails as [`crate::run()`] does.
pub fn resumed(
    scenario: &Scenario,
    choice: &SchemeChoice,
    interrupted: &dyn Fn() -> bool,
) -> Result<SchemeChoice, RunError> {
    let mut choice = choice.clone();
    if !choice.lacks_saved() {
        return Ok(choice);
    }
    let seed = scenario.seed.wrapping_add(u64::from(scenario.runs));
    let earlier = choice.slow_start_instead();
    let last_of = |recent: Recent| {
        let watching = Watching { recent: Some(recent), ..Watching::default() };
        let outcome = run_watched(scenario, &earlier, seed, watching, interrupted)?;
        Ok::<_, RunError>(outcome.recent.map_or(Last::Nothing, |recent| recent.last()))
    };
    let last = match last_of(Recent::default())? {
        // Repeats the run, and remembers all transmissions after that instant.
        Last::Forgotten(from) => last_of(Recent::all_from(from))?,
        last => last,
    };
    if let Last::Acked(window, rtt) = last {
        choice.set_default(SAVED_WINDOW, Value::Bytes(Bytes::new(window)));
        choice.set_default(SAVED_RTT, Value::Span(rtt));
    }
    Ok(choice)
}
