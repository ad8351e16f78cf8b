//! The results of figures for a session: tables and texts.

use firstflight_export::{Record, RecordError};
use firstflight_papers::{
    Figure, FigureResult, claim_records, figure_records, paper_title, plot_records, series_records, show,
    value_records,
};
use firstflight_report::table::Selected;
use serde_json::Value;

use super::asked::AskedFor;
use crate::failure::Failure;
use crate::session;

/// The columns of the list that people see in a session: heads and fields.
const LISTED: &[(&str, &str)] = &[
    ("name", "name"),
    ("title", "title"),
    ("figure", "figure"),
    ("holds", "holds"),
    ("does not hold", "does_not_hold"),
    ("unsettled", "unsettled"),
    ("not testable", "not_testable"),
];

/// The columns of the claims that people see in a session.
const CLAIMED: &[(&str, &str)] = &[
    ("status", "status"),
    ("claim", "says"),
    ("expected", "expected"),
    ("measured", "result"),
    ("recorded", "recorded"),
];

/// Returns the cells of these columns.
fn cells(records: &[Record], columns: &[(&str, &str)]) -> Selected {
    let cell = |record: &Record, field: &str| match record.get(field) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(value) => value.to_string(),
    };
    let is_number =
        |field: &str| records.first().is_some_and(|record| record.get(field).is_some_and(Value::is_number));
    Selected {
        heads: columns.iter().map(|(head, _)| (*head).to_owned()).collect(),
        is_numbers: columns.iter().map(|(_, field)| is_number(field)).collect(),
        rows: records
            .iter()
            .map(|record| columns.iter().map(|(_, field)| cell(record, field)).collect())
            .collect(),
    }
}

/// Gives the session the list of figures.
///
/// # Errors
/// Fails only if the rows have a defect, which is a bug.
pub(super) fn list(figures: &[&Figure]) -> Result<(), Failure> {
    let rows = figure_records(figures).map_err(Failure::write)?;
    session::selected(|| cells(&rows, LISTED));
    session::table("rows", || rows);
    Ok(())
}

/// Gives the session the values, curves over time, plots and claims of the figures. The verdict has the numbers of claims with each status.
///
/// # Errors
/// Fails only if the rows have a defect, which is a bug.
pub(super) fn results(asked: &AskedFor<'_>, results: &[FigureResult]) -> Result<(), Failure> {
    if session::current().is_none() {
        return Ok(());
    }
    let of = |records: fn(&Figure, &FigureResult) -> Result<Vec<Record>, RecordError>| {
        let each = asked.figures().zip(results).map(|(figure, result)| records(figure, result));
        each.collect::<Result<Vec<_>, _>>().map(|each| each.concat()).map_err(Failure::write)
    };
    let tables = [
        ("rows", of(value_records)?),
        ("series", of(series_records)?),
        ("plots", of(|figure, _| plot_records(figure))?),
        ("claims", of(claim_records)?),
    ];
    session::selected(|| cells(&tables[3].1, CLAIMED));
    for (name, records) in tables {
        session::table(name, || records);
    }
    let title = |figure: &Figure| {
        format!(
            "{}. {}, {}, section {}",
            figure.title,
            paper_title(&figure.paper),
            figure.figure,
            figure.section
        )
    };
    session::text("title", || asked.figures().map(title).collect::<Vec<_>>().join("\n"));
    let statuses = results.iter().flat_map(|result| &result.claims).map(|claim| (claim.status, claim.own));
    session::text("verdict", || show::counts(&statuses.collect::<Vec<_>>()));
    Ok(())
}
