//! The answers of a model: its rows of results, each with its inputs.

use firstflight_model::{Row, Settings};

/// One row of results, with its inputs.
pub(super) struct Answer {
    pub(super) settings: Settings,
    pub(super) row: Row,
}

/// Returns a model's results as answers.
pub(super) fn rows(answers: Vec<(Settings, Vec<Row>)>) -> Vec<Answer> {
    let each = |(settings, rows): (Settings, Vec<Row>)| {
        rows.into_iter().map(move |row| Answer { settings: settings.clone(), row })
    };
    answers.into_iter().flat_map(each).collect()
}
