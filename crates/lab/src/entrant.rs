//! A scheme of a race, and what an earlier connection saved for it.

use std::sync::{Mutex, PoisonError};

use firstflight_scenario::{Scenario, SchemeChoice};

use crate::error::RunError;
use crate::saved::resumed;

/// A scheme of a race. What an earlier connection saved is found out when its first run is due, and serves all of them.
pub(crate) struct Entrant {
    choice: SchemeChoice,
    ready: Mutex<Option<SchemeChoice>>,
}

impl Entrant {
    /// Each of these schemes.
    pub(crate) fn all(choices: &[SchemeChoice]) -> Vec<Self> {
        choices.iter().map(|choice| Self { choice: choice.clone(), ready: Mutex::default() }).collect()
    }

    /// The scheme with what was saved.
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
