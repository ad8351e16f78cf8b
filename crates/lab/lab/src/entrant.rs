//! A scheme of a race, with the values that an earlier connection saved for it.

use std::sync::{Mutex, PoisonError};

use firstflight_scenario::{Scenario, SchemeChoice};

use crate::error::RunError;
use crate::saved_path::resumed;

/// A scheme of a race. The values that an earlier connection saved are computed before the scheme's first run, and all its runs use them.
pub(crate) struct Entrant {
    choice: SchemeChoice,
    ready: Mutex<Option<SchemeChoice>>,
}

impl Entrant {
    /// Returns one entrant for each scheme.
    pub(crate) fn all(choices: &[SchemeChoice]) -> Vec<Self> {
        choices.iter().map(|choice| Self { choice: choice.clone(), ready: Mutex::default() }).collect()
    }

    /// Returns the scheme with the saved values.
    ///
    /// # Errors
    /// Fails as [`crate::run()`] does.
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
