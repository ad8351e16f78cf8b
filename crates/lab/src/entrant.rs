//! A scheme of a race, with the values that an earlier connection saved for it.

use std::sync::{Mutex, PoisonError};

use firstflight_scenario::{Scenario, SchemeChoice};

use crate::error::RunError;
use crate::saved::resumed;

/// A scheme of a race. The saved values are computed when its first run is due, and serve all its runs.
pub(crate) struct Entrant {
    choice: SchemeChoice,
    ready: Mutex<Option<SchemeChoice>>,
}

impl Entrant {
    /// An entrant for each of these schemes.
    pub(crate) fn all(choices: &[SchemeChoice]) -> Vec<Self> {
        choices.iter().map(|choice| Self { choice: choice.clone(), ready: Mutex::default() }).collect()
    }

    /// The scheme with the saved values.
    ///
    /// # Errors
    /// As [`crate::run()`].
    pub(crate) fn ready(
        &self,
        scenario: &Scenario,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<SchemeChoice, RunError> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(choice) = &*ready {
            return Ok(choice.clone());
        }
        Ok(ready.insert(resumed(scenario, &self.choice, interrupted)?).clone())
    }
}
