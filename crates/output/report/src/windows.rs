//! A separate table for the windows of rows. It has a line for each window of each row.

use firstflight_measure::WINDOW_FIELDS;

use crate::grid::{ALWAYS, Cells, Column, Grid};
use firstflight_export::record::{self, Record, number, text};

/// Renders the table of the windows for a terminal of `width` columns; empty if the records have no windows. Means of several runs are
/// shown without their confidence intervals, which are in the exports.
pub fn windows_table(records: &[Record], width: Option<usize>) -> String {
    let [utilisation, goodput, dropped] = WINDOW_FIELDS;
    let windows: Vec<Measured<'_>> = records
        .first()
        .into_iter()
        .flat_map(Record::keys)
        .filter_map(|field| Measured::of(field.strip_prefix(utilisation)?.strip_prefix('_')?))
        .collect();
    if windows.is_empty() {
        return String::new();
    }
    let of_all = |cell: &dyn Fn(&Record, &Measured<'_>) -> String| {
        records.iter().flat_map(|record| windows.iter().map(move |window| cell(record, window))).collect()
    };
    let column = |field: &str, head: [&str; 2], cells, texts: Vec<String>| Column {
        field: field.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells,
        rank: ALWAYS,
        texts,
    };
    let scaled = |stem: &'static str, unit: f64, digits: usize| {
        move |record: &Record, window: &Measured<'_>| {
            let value = number(record, &format!("{stem}_{}", window.suffix));
            value.map_or_else(|| "-".to_owned(), |value| format!("{:.digits$}", value / unit))
        }
    };
    let is_population = records.iter().any(|record| record.contains_key("population"));
    let mut columns =
        vec![column("scheme", ["scheme", ""], Cells::Names, of_all(&|record, _| record::name(record)))];
    if is_population {
        let flows = of_all(&|record, _| text(record, "population").to_owned());
        columns.push(column("population", ["flows", ""], Cells::Words, flows));
    }
    columns.extend([
        column("window", ["window", ""], Cells::Words, of_all(&|_, window| window.window.clone())),
        column(utilisation, ["utilisation", "%"], Cells::Numbers, of_all(&scaled(utilisation, 0.01, 2))),
        column(goodput, ["goodput", "Mbit/s"], Cells::Numbers, of_all(&scaled(goodput, 1e6, 2))),
        column(dropped, ["dropped", "p"], Cells::Numbers, of_all(&scaled(dropped, 1.0, 0))),
    ]);
    let place = columns.len() - 3;
    let about = if windows.iter().any(|window| window.link.is_some()) {
        let names = of_all(&|_, window| window.link.clone().unwrap_or_else(|| "bottleneck".to_owned()));
        columns.insert(place, column("link", ["link", ""], Cells::Words, names));
        "In windows, all traffic of the link; the goodput is the row's own, or of a named link that of all its flows"
    } else {
        "In windows, all traffic of the bottleneck; its goodput is the row's own"
    };
    format!("\n{about}:\n{}", Grid::new(columns, width).plain(width))
}

/// The window and the link that a line of the table describes.
struct Measured<'a> {
    /// The last part of the fields' names, which names the window and the link.
    suffix: &'a str,
    /// The window as the user wrote it.
    window: String,
    /// The link as the user wrote it; `None` for the bottleneck.
    link: Option<String>,
}

impl<'a> Measured<'a> {
    /// Reads the last part of a field's name: `10s_70s`, `10s_70s_reverse_1`, `10s_70s_from_0_3`. `None` if it has another form.
    fn of(suffix: &'a str) -> Option<Self> {
        let parts: Vec<&str> = suffix.split('_').collect();
        let (from, until, link) = match parts.as_slice() {
            [from, until] => (from, until, None),
            [from, until, way @ ("forward" | "reverse"), hop] => (from, until, Some(format!("{way}:{hop}"))),
            [from, until, way @ ("from" | "to"), router, place] => {
                (from, until, Some(format!("{way}:{router}/{place}")))
            }
            _ => return None,
        };
        Some(Self { suffix, window: format!("{from}..{until}"), link })
    }
}

#[cfg(test)]
mod tests {
    use firstflight_measure::{LinkFields, Row, SchemeResult, WindowFields, Windows};

    use super::*;
    use firstflight_export::records;

    #[test]
    fn windows_table_has_a_line_per_window_and_dashes_for_undefined_values() {
        let window = |suffix: &str, utilisation| WindowFields {
            suffix: suffix.to_owned(),
            utilisation,
            goodput_bps: Some(1_234_567.0),
            dropped_packets: Some(7),
            links: Vec::new(),
        };
        let windows = Windows(vec![window("10s_70s", Some(0.5)), window("0s_1s", None)]);
        let row =
            |scheme: &str| Row { scheme: scheme.to_owned(), windows: windows.clone(), ..Row::default() };
        let table = windows_table(&records(&[row("paced"), row("hystart")]).unwrap(), None);
        assert_eq!(table.matches("10s..70s").count(), 2, "{table}");
        assert!(table.contains("50.00") && table.contains("1.23") && table.contains('-'), "{table}");
        assert_eq!(windows_table(&records(&[Row::default()]).unwrap(), None), "");
    }

    #[test]
    fn a_named_link_has_its_own_line_and_means_one_per_window() {
        let link =
            LinkFields { suffix: "from_0_3".to_owned(), utilisation: Some(0.25), ..LinkFields::default() };
        let window = |utilisation| WindowFields {
            suffix: "0s_1s".to_owned(),
            utilisation,
            links: vec![link.clone()],
            ..WindowFields::default()
        };
        let row = |utilisation| Row { windows: Windows(vec![window(utilisation)]), ..Row::default() };
        let runs = SchemeResult {
            name: "paced".to_owned(),
            rows: vec![row(Some(0.5)), row(Some(0.75)), row(None)],
            ideal: None,
        };
        let table = windows_table(&[runs.object_with_spread()], None);
        assert_eq!(table.matches("0s..1s").count(), 2, "{table}");
        assert!(table.contains("bottleneck") && table.contains("62.50"), "{table}");
        assert!(table.contains("from:0/3") && table.contains("25.00"), "{table}");
    }
}
