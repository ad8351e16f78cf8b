use unicode_width::UnicodeWidthStr;

use super::*;
use firstflight_export::records;
use firstflight_measure::Row;
use serde_json::{Value, json};

fn rows() -> Vec<Row> {
    let paced = Row {
        scheme: "paced".into(),
        avoidance: "reno".into(),
        throughput_bps: 59.94e6,
        su_time_s: Some(0.712),
        su_loss: Some(0.0),
        exit_cause: "dispersion".into(),
        exit_time_s: Some(0.5),
        exit_rate_bps: Some(60.2e6),
        exit_cwnd_over_bdp: Some(1.02),
        queue_peak_packets: 212,
        ..Row::default()
    };
    let slow_start = Row {
        scheme: "slow-start".into(),
        throughput_bps: 59.3e6,
        su_time_s: Some(1.42),
        su_loss: Some(0.1421),
        timeouts: 1,
        exit_cause: "loss".into(),
        exit_time_s: Some(0.9),
        exit_rate_bps: None,
        harm_during_lost_packets: -3,
        queue_peak_packets: 1000,
        ..paced.clone()
    };
    vec![paced, slow_start]
}

/// Returns the style for a terminal of this width without colours.
fn wide(width: usize) -> TableStyle {
    TableStyle { width: Some(width), ..TableStyle::default() }
}

fn plain(rows: &[Row]) -> String {
    render(&records(rows).unwrap(), "paced wins.", &TableStyle::default())
}

#[test]
fn cells_are_in_the_unit_of_their_head() {
    let text = plain(&rows());
    let lines: Vec<&str> = text.lines().collect();
    let words: Vec<&str> = lines[3].split_whitespace().collect();
    assert_eq!(
        words,
        [
            "slow-start",
            "reno",
            "59.3",
            "1.42",
            "14.2",
            "1",
            "loss",
            "@",
            "0.900",
            "1.02",
            "-",
            "0",
            "-",
            "1000",
            "-3"
        ]
    );
    assert_eq!(*lines.last().unwrap(), "paced wins.");
}

#[test]
fn an_exit_that_not_all_runs_had_says_how_many_did() {
    let shown = |cause: &str, causes: Value, at: Option<f64>| {
        let row = json!({"scheme": "vegas", "exit_cause": cause, "exit_causes": causes, "exit_time_s": at, "runs": 20});
        render(&records(&[row]).unwrap(), "", &TableStyle::default())
    };
    for (cause, causes, at, cell) in [
        ("mixed", json!({"loss": 1, "none": 19}), Some(0.471), " loss 1/20 @ 0.471 "),
        ("mixed", json!({"delay": 4, "loss": 8, "none": 8}), Some(0.471), " mixed 12/20 @ 0.471 "),
        ("mixed", json!({"delay": 12, "loss": 8}), Some(0.471), " mixed @ 0.471 "),
        ("loss", json!({"loss": 20}), Some(0.471), " loss @ 0.471 "),
        ("none", json!({"none": 20}), None, " none "),
    ] {
        let text = shown(cause, causes, at);
        assert!(text.contains(cell), "{cell}: {text}");
    }
}

#[test]
fn the_order_is_that_of_the_rows() {
    let mut rows = rows();
    rows.reverse();
    let text = plain(&rows);
    assert!(text.find("slow-start").unwrap() < text.find("paced").unwrap());
}

#[test]
fn a_table_of_bulk_flows_fits_a_terminal_of_120_columns() {
    let text = plain(&rows());
    assert!(text.lines().all(|line| line.width() <= 120), "{text}");
    assert!(!text.contains("FCT") && !text.contains("cost"), "no size, no completion time");
}

#[test]
fn a_size_brings_completion_time_ideal_and_cost() {
    let sized = |row: Row| Row {
        fct_s: Some(Some(0.412)),
        ideal_fct_s: Some(Some(0.2)),
        cost: Some(Some(2.06)),
        ..row
    };
    let mut rows: Vec<Row> = rows().into_iter().map(sized).collect();
    rows[1].fct_s = Some(None);
    let text = plain(&rows);
    for head in ["FCT", "ideal", "cost"] {
        assert!(text.contains(head), "{text}");
    }
    let unfinished: Vec<&str> = text.lines().nth(3).unwrap().split_whitespace().collect();
    assert_eq!(&unfinished[..5], ["slow-start", "reno", "-", "0.200", "2.06"]);
}

#[test]
fn every_column_lines_up_even_with_wide_letters() {
    let mut rows = rows();
    rows[0].label = Some("提速方案".into());
    let text = plain(&rows);
    let lines: Vec<&str> = text.lines().collect();
    let before = |line: &str, mark: &str| line[..line.find(mark).unwrap()].width();
    assert_eq!(before(lines[2], "reno"), before(lines[3], "reno"), "{text}");
    assert_eq!(before(lines[2], "dispersion"), before(lines[3], "loss"), "{text}");
}

#[test]
fn nothing_is_coloured_unless_asked() {
    let records = records(&rows()).unwrap();
    assert!(!render(&records, "v", &TableStyle::default()).contains('\u{1b}'));
    let coloured = render(&records, "v", &TableStyle { colour: true, ..TableStyle::default() });
    assert!(coloured.contains("\u{1b}[31m"), "a timeout is red");
    assert!(coloured.contains("\u{1b}[32m"), "the best is green");
}

#[test]
fn a_narrow_terminal_loses_the_least_telling_columns_and_is_told() {
    let records = records(&rows()).unwrap();
    let text = render(&records, "", &wide(80));
    let note = text.split_once("Not shown for want of width: ").unwrap().1;
    let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        note.ends_with("queue_peak_packets, harm_during_lost_packets; --wide shows all, --columns chooses."),
        "{text}"
    );
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    assert!(text.contains("throughput") && text.contains("exit cause"));
    let tiny = render(&records, "", &wide(10));
    assert!(tiny.contains("throughput"), "what matters stays");
}

#[test]
fn a_mean_shows_its_confidence_interval() {
    let mut record = records(&rows()).unwrap().remove(0);
    record.insert("runs".into(), 5.into());
    record.insert("throughput_bps_ci95".into(), 412_345.0.into());
    record.insert("timeouts".into(), 0.4.into());
    record.insert("timeouts_ci95".into(), 0.68.into());
    record.insert("su_time_s_ci95".into(), 0.000_02.into());
    let text = render(&[record], "", &TableStyle::default());
    assert!(text.contains("59.9±0.41"), "{text}");
    assert!(text.contains("0.400±0.68"), "a mean of counts is not a whole number: {text}");
    assert!(text.contains(" 0.712 "), "an interval within the last digit says nothing: {text}");
    assert!(text.contains(" 212 "), "counts that agree stay whole: {text}");
}

#[test]
fn a_mean_of_some_runs_says_of_how_many() {
    let row = json!({"scheme": "vegas", "fct_s": 0.39, "fct_s_ci95": 0.055, "fct_s_runs": 7, "su_time_s": 0.2,
        "su_time_s_ci95": null, "su_time_s_runs": 1, "timeouts": 0.5, "timeouts_ci95": 0.2, "timeouts_runs": 9,
        "harm_during_lost_packets": 3, "harm_during_lost_packets_ci95": 0.0, "harm_during_lost_packets_runs": 2,
        "exit_rate_bps": null, "exit_rate_bps_ci95": null, "exit_rate_bps_runs": 0, "runs": 10});
    let text = render(&[row.as_object().unwrap().clone()], "", &TableStyle::default());
    for cell in [" 0.390±0.055, 7/10 ", " 0.200, 1/10 ", " 0.500±0.20, 9/10 ", " +3±0, 2/10"] {
        assert!(text.contains(cell), "{cell}: {text}");
    }
    assert!(!text.contains("0/10"), "what no run has is a dash: {text}");
}

#[test]
fn runs_that_gave_the_same_have_an_interval_of_nought() {
    let row = json!({"scheme": "vegas", "throughput_bps": 2e6, "throughput_bps_ci95": 0.0, "timeouts": 1.0,
        "timeouts_ci95": 0.0, "runs": 10});
    let text = render(&[row.as_object().unwrap().clone()], "", &TableStyle::default());
    assert!(text.contains(" 2.00±0 ") && text.contains(" 1±0 "), "{text}");
}

#[test]
fn long_labels_are_shortened_and_listed_in_full_with_escapes_shown() {
    let mut rows = rows();
    let label = "x".repeat(60);
    rows[0].label = Some(format!("\u{1b}[2J{label}"));
    let text = render(&records(&rows).unwrap(), "", &wide(100));
    assert!(!text.contains('\u{1b}'));
    assert!(text.contains("xx…xx") && text.contains(&label), "{text}");
    assert!(plain(&rows).lines().nth(2).unwrap().contains(&label), "where there is no width it is whole");
}

#[test]
fn chosen_columns_are_shown_in_order_after_the_name_at_any_width() {
    let chosen = |fields: &[&str]| {
        let columns = Columns::Chosen(fields.iter().map(|field| (*field).to_owned()).collect());
        let style = TableStyle { width: Some(20), columns, ..TableStyle::default() };
        render(&records(&rows()).unwrap(), "", &style)
    };
    let text = chosen(&["timeouts", "throughput_bps", "retransmissions", "scheme"]);
    let words = |at: usize| text.lines().nth(at).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(words(0), ["scheme", "time-", "throughput", "retransmissions"]);
    assert_eq!(words(3), ["slow-start", "1", "59.3", "0"]);
    assert_eq!(text.lines().count(), 4);
}

#[test]
fn a_long_name_makes_room_for_chosen_columns() {
    let mut rows = rows();
    rows[0].label = Some("y".repeat(60));
    let columns = Columns::Chosen(vec!["throughput_bps".to_owned(), "exit_cause".to_owned()]);
    let style = TableStyle { columns, ..wide(80) };
    let text = render(&records(&rows).unwrap(), "", &style);
    assert!(text.lines().all(|line| line.width() <= 80) && text.contains('…'), "{text}");
}

#[test]
fn every_field_of_a_kind_of_rows_can_be_chosen() {
    for rows in [Rows::Race, Rows::Population, Rows::Captures] {
        for field in rows.fields() {
            assert!(!views::chosen(&[], &[field.to_owned()]).is_empty(), "{field}");
        }
    }
}

#[test]
fn no_rows_is_a_table_of_heads() {
    let text = render(&[], "", &TableStyle::default());
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn undefined_values_with_a_reason_have_a_footnote() {
    use firstflight_inspect::{Found, Inspected};

    let lacking = |why: &str| {
        let undefined = [("exit_cause", why.to_owned()), ("later_rate_bps", "too short".to_owned())].into();
        Inspected { found: Found { undefined, ..Found::default() }, drawn: None }
    };
    let senders = [lacking("seen elsewhere"), lacking("no handshake")];
    let records = crate::inspected::labelled(None, &senders).unwrap();
    let text = render(&records, "", &TableStyle::default());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].contains("-¹") && lines[2].contains("-²"), "{text}");
    assert!(lines[3].contains("-³") && lines[3].contains("-²"), "{text}");
    assert_eq!(lines[4..], ["¹ seen elsewhere", "² too short", "³ no handshake"], "{text}");
    // An undefined number has no footnote if its column is not shown.
    let narrow = render(&records, "", &wide(60));
    assert!(!narrow.contains("too short") && narrow.contains("\n² no handshake\n"), "{narrow}");
}
