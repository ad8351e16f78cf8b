//! The windows of rows as a table of their own: a row for each window of each row.

use firstflight_measure::WINDOW_FIELDS;

use crate::grid::{ALWAYS, Cells, Column, Grid};
use crate::record::{self, Record, number, text};

/// The table of the windows, for a terminal of `width` columns; empty if the records have no windows. Means of several runs
/// stand without their intervals, which the exports have.
pub fn windows_table(records: &[Record], width: Option<usize>) -> String {
    let [utilisation, goodput, dropped] = WINDOW_FIELDS;
    let windows: Vec<&str> = records
        .first()
        .into_iter()
        .flat_map(Record::keys)
        .filter_map(|field| field.strip_prefix(utilisation)?.strip_prefix('_'))
        .filter(|suffix| records[0].contains_key(&format!("{goodput}_{suffix}")))
        .collect();
    if windows.is_empty() {
        return String::new();
    }
    let of_all = |cell: &dyn Fn(&Record, &str) -> String| {
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
        move |record: &Record, window: &str| {
            let value = number(record, &format!("{stem}_{window}"));
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
        column("window", ["window", ""], Cells::Words, of_all(&|_, window| window.replace('_', ".."))),
        column(utilisation, ["utilisation", "%"], Cells::Numbers, of_all(&scaled(utilisation, 0.01, 2))),
        column(goodput, ["goodput", "Mbit/s"], Cells::Numbers, of_all(&scaled(goodput, 1e6, 2))),
        column(dropped, ["dropped", "p"], Cells::Numbers, of_all(&scaled(dropped, 1.0, 0))),
    ]);
    format!(
        "\nIn windows, all traffic of the bottleneck; its goodput is the row's own:\n{}",
        Grid::new(columns, width).plain(width)
    )
}

#[cfg(test)]
mod tests {
    use firstflight_measure::{Row, WindowFields, Windows};

    use super::*;
    use crate::records;

    #[test]
    fn each_window_of_each_row_has_a_line_and_what_is_undefined_a_dash() {
        let window = |suffix: &str, utilisation| WindowFields {
            suffix: suffix.to_owned(),
            utilisation,
            goodput_bps: Some(1_234_567.0),
            dropped_packets: Some(7),
        };
        let windows = Windows(vec![window("10s_70s", Some(0.5)), window("0s_1s", None)]);
        let row =
            |scheme: &str| Row { scheme: scheme.to_owned(), windows: windows.clone(), ..Row::default() };
        let table = windows_table(&records(&[row("paced"), row("hystart")]).unwrap(), None);
        assert_eq!(table.matches("10s..70s").count(), 2, "{table}");
        assert!(table.contains("50.00") && table.contains("1.23") && table.contains('-'), "{table}");
        assert_eq!(windows_table(&records(&[Row::default()]).unwrap(), None), "");
    }
}
