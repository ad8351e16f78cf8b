//! Evaluates the closed-form models with parameters given as texts.

use firstflight_model::{Cell, Model, Settings};

/// Returns the rows of a model for these parameters.
pub(crate) fn rows(model: &Model, given: &[(String, String)]) -> Result<Vec<Vec<Cell>>, String> {
    let wrong = |error: firstflight_model::ModelError| format!("model.{}: {error}", model.name);
    let mut settings = Settings::of(model.parameters).map_err(wrong)?;
    for (name, text) in given {
        settings.set(name, text).map_err(wrong)?;
    }
    model.evaluate(&settings).map(|(_, rows)| rows).map_err(wrong)
}
