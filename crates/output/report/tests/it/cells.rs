//! A mean, the half-width of its interval, and its number of runs: three numbers that are distinct in every table.

use firstflight_export::{Record, csv, records};
use firstflight_report::{Report, TableStyle, html, table};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A mean over some or all runs, and the half-width of its interval if it has one.
#[derive(Clone, Copy, Debug)]
struct Mean {
    value: f64,
    half: Option<f64>,
    had: u64,
    runs: u64,
}

fn mean() -> impl Strategy<Value = Mean> {
    let half = prop_oneof![Just(Some(0.0)), (0.01..1e3).prop_map(Some), Just(None)];
    (0.1..1e4, half, 2_u64..100)
        .prop_flat_map(|(value, half, runs)| (1..=runs).prop_map(move |had| Mean { value, half, had, runs }))
}

/// A row whose completion time is this mean.
fn row(mean: &Mean) -> Value {
    let Mean { value, half, had, runs } = mean;
    json!({"scheme": "vegas", "fct_s": value, "fct_s_ci95": half, "fct_s_runs": had, "runs": runs})
}

fn rows(means: &[Mean]) -> Vec<Record> {
    records(&means.iter().map(row).collect::<Vec<_>>()).expect("objects")
}

/// The numbers that a reader sees in a cell: the mean, the half-width of its interval, and its runs of all runs.
type Read = (f64, Option<f64>, Option<(u64, u64)>);

fn read(cell: &str) -> Option<Read> {
    let (cell, of) = match cell.split_once(", ") {
        Some((cell, of)) => {
            let (had, runs) = of.split_once('/')?;
            (cell, Some((had.parse().ok()?, runs.parse().ok()?)))
        }
        None => (cell, None),
    };
    let (value, half) = match cell.split_once('±') {
        Some((value, half)) => (value, Some(half.parse().ok()?)),
        None => (cell, None),
    };
    Some((value.trim_end().parse().ok()?, half, of))
}

fn check(cell: &str, mean: &Mean) {
    let (value, half, of) = read(cell).unwrap_or_else(|| panic!("`{cell}` of {mean:?}"));
    assert!((value / mean.value - 1.0).abs() < 0.006, "`{cell}` of {mean:?}");
    match (half, mean.half) {
        (Some(shown), Some(half)) => assert!((shown - half).abs() <= half * 0.06, "`{cell}` of {mean:?}"),
        (None, half) => {
            assert!(half.is_none_or(|half| half > 0.0 && half < mean.value), "`{cell}` of {mean:?}");
        }
        (Some(_), None) => panic!("`{cell}` of {mean:?}"),
    }
    assert_eq!(of, (mean.had < mean.runs).then_some((mean.had, mean.runs)), "`{cell}` of {mean:?}");
}

/// Returns the text of the first cell with a number in each row of the page's first table.
fn cells_of_page(page: &str) -> Vec<String> {
    let body = page.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next()).expect("a table");
    let text = |cell: &str| {
        let pieces = cell.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
        let text = pieces.collect::<String>().replace("&#x2f;", "/");
        let words: Vec<&str> = text.split_whitespace().collect();
        // For a mean without an interval, the number of runs is on a separate line below.
        match words[..] {
            [value, of] if of.contains('/') => format!("{value}, {of}"),
            _ => words.join(" "),
        }
    };
    let number = |row: &str| {
        let cells = row.split("<td").skip(1).map(|cell| text(&format!("<td{cell}")));
        cells.into_iter().find(|cell| cell.starts_with(|c: char| c.is_ascii_digit())).expect("a number")
    };
    body.split("<tr>").skip(1).map(number).collect()
}

/// Returns the text of the completion time's cell in each line of the terminal's table.
fn cells_of_terminal(text: &str) -> Vec<String> {
    let cell = |line: &str| {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells
            .into_iter()
            .find(|cell| cell.starts_with(|c: char| c.is_ascii_digit()))
            .expect("a number")
            .to_owned()
    };
    text.lines().skip(2).map(cell).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn mean_interval_and_run_count_read_as_three_numbers_in_every_table(
        means in proptest::collection::vec(mean(), 1..60)
    ) {
        let rows = rows(&means);
        let terminal = cells_of_terminal(&table::render(&rows, "", &TableStyle::default()));
        let page = html::render(&Report { rows: rows.clone(), ..Report::default() }).expect("a page");
        let page = cells_of_page(&page);
        prop_assert_eq!((terminal.len(), page.len()), (means.len(), means.len()));
        for ((mean, terminal), page) in means.iter().zip(&terminal).zip(&page) {
            check(terminal, mean);
            check(page, mean);
        }
        // In the CSV each number has its own column.
        let bytes = csv::to_bytes(&rows).expect("CSV");
        let text = String::from_utf8(bytes).expect("UTF-8");
        prop_assert_eq!(text.lines().next(), Some("scheme,fct_s,fct_s_ci95,fct_s_runs,runs"));
        for (mean, line) in means.iter().zip(text.lines().skip(1)) {
            let half = mean.half.map_or_else(String::new, |half| half.to_string());
            let cells: Vec<&str> = line.split(',').collect();
            prop_assert_eq!(cells[1].parse::<f64>().ok(), Some(mean.value));
            prop_assert_eq!(cells[2].parse::<f64>().ok(), half.parse().ok());
            prop_assert_eq!(cells[3..].join("/"), format!("{}/{}", mean.had, mean.runs));
        }
    }
}
