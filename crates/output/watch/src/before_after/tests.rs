use serde_json::json;

use super::*;

/// Returns `count` rows over `prefixes` prefixes. Windows are 10 to 19 segments plus `window`.
fn rows(count: usize, window: usize, overshoot: usize, prefixes: usize) -> Vec<Record> {
    let row = |at: usize| {
        let value = json!({
            "exit_cause": if at.is_multiple_of(4) { "loss" } else { "flat" },
            "exit_flight_bytes": (window + at % 10) * 1000,
            "mss_bytes": 1000,
            "overshoot_segments": overshoot + at % 3,
            "retransmitted_segments": overshoot,
            "data_segments_sent": 100,
            "bytes_acked": 100_000,
            "congestion_control": if at.is_multiple_of(2) { "cubic" } else { "reno" },
            "prefix": format!("10.0.{}.0/24", at % prefixes),
        });
        value.as_object().expect("an object").clone()
    };
    (0..count).map(row).collect()
}

fn of<'a>(told: &'a BeforeAfter, name: &str) -> &'a Change {
    told.changes.iter().find(|change| change.measure == name).expect("it is compared")
}

#[test]
fn a_change_has_an_interval_about_it_and_a_verdict() {
    let told = BeforeAfter::new(&rows(200, 50, 20, 2), &rows(300, 30, 2, 2)).expect("rows");
    assert_eq!((told.before.starts, told.after.starts, told.by_prefix), (200, 300, false));
    assert_eq!(
        told.before.congestion_controls,
        BTreeMap::from([("cubic".into(), 100), ("reno".into(), 100)])
    );
    let overshoot = of(&told, "overshoot, mean");
    let difference = overshoot.difference.expect("both have it");
    let [low, high] = overshoot.interval.expect("enough of them");
    assert!((difference + 18.0).abs() < 0.1 && low < difference && difference < high, "{overshoot:?}");
    assert!(high - low < 0.6 && overshoot.verdict == "better", "{overshoot:?}");
    assert_eq!(
        (of(&told, "sent again, share").before, of(&told, "sent again, share").after),
        (Some(0.2), Some(0.02))
    );
    let window = of(&told, "exit window, median");
    assert_eq!((window.difference, window.verdict), (Some(-20.0), "lower"));
    // No row has a rate, and both sides have the same share of losses.
    assert_eq!(
        (of(&told, "rate at exit, median").before, of(&told, "rate at exit, median").verdict),
        (None, "unknown")
    );
    let loss = of(&told, "exit by loss");
    assert_eq!((loss.before, loss.after, loss.verdict), (Some(0.25), Some(0.25), "same"));
    let again = BeforeAfter::new(&rows(300, 30, 2, 2), &rows(200, 50, 20, 2)).expect("rows");
    assert_eq!(of(&again, "overshoot, mean").verdict, "worse");
}

/// The interval of the mean of `count` values has the theoretical width: 3.92 standard errors.
#[test]
fn a_95_percent_interval_matches_the_width_of_a_normal_mean() {
    let told = BeforeAfter::new(&rows(900, 30, 0, 2), &rows(900, 30, 0, 2)).expect("rows");
    let [low, high] = of(&told, "overshoot, mean").interval.expect("enough of them");
    // 0, 1 and 2 are equally frequent: the variance is 2/3.
    let width = 3.92 * (2.0 * 2.0 / 3.0 / 900.0_f64).sqrt();
    assert!(((high - low) / width - 1.0).abs() < 0.08, "{low} to {high}, {width}");
}

/// All connections to a prefix have the same value, so many of them give no more information than one.
#[test]
fn prefixes_are_drawn_whole_where_there_are_enough() {
    let rows = |prefixes: usize| -> Vec<Record> {
        let mut all = rows(3_000, 30, 0, prefixes);
        for (at, row) in all.iter_mut().enumerate() {
            row.insert("overshoot_segments".into(), (at % prefixes % 3).into());
        }
        all
    };
    let width = |told: &BeforeAfter| {
        let [low, high] = of(told, "overshoot, mean").interval.expect("enough of them");
        high - low
    };
    let (few, many) = (rows(18), rows(30));
    let by_connection = BeforeAfter::new(&few, &few).expect("rows");
    let by_prefix = BeforeAfter::new(&many, &many).expect("rows");
    assert!(!by_connection.by_prefix && by_prefix.by_prefix);
    assert!(
        width(&by_prefix) > 5.0 * width(&by_connection),
        "{} {}",
        width(&by_prefix),
        width(&by_connection)
    );
}

#[test]
fn few_start_ups_have_no_interval_and_other_rows_are_refused() {
    let told = BeforeAfter::new(&rows(9, 50, 20, 2), &rows(300, 30, 2, 2)).expect("rows");
    let window = of(&told, "exit window, median");
    assert_eq!((window.before_count, window.interval, window.verdict), (9, None, "unknown"));
    assert_eq!(BeforeAfter::new(&[], &[]).expect("nothing is no error").before.starts, 0);
    let other = vec![json!({ "scheme": "paced" }).as_object().expect("an object").clone()];
    assert_eq!(BeforeAfter::new(&other, &[]).expect_err("a race's row").missing, "exit_cause");
    let mut doubtful = rows(20, 50, 20, 2);
    doubtful[0].insert("facts_lost".into(), 1.into());
    let told = BeforeAfter::new(&doubtful, &doubtful).expect("rows");
    assert_eq!((told.before.starts, told.before.doubtful), (19, 1));
}
