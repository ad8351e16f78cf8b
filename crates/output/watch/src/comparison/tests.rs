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
            "transfer_bytes": 100_000,
            "transfer_s": 0.3,
            "congestion_control": if at.is_multiple_of(2) { "cubic" } else { "reno" },
            "prefix": format!("10.0.{}.0/24", at % prefixes),
        });
        value.as_object().expect("an object").clone()
    };
    (0..count).map(row).collect()
}

fn compared(first: &[Record], second: &[Record]) -> Comparison {
    let all = [first, second].map(|rows| rows.iter().collect::<Vec<_>>());
    Comparison::new(&all[0], &all[1])
}

fn of<'a>(told: &'a Comparison, name: &str) -> &'a Change {
    told.changes.iter().find(|change| change.measure == name).expect("it is compared")
}

#[test]
fn a_change_has_an_interval_about_it_and_a_verdict() {
    let told = compared(&rows(200, 50, 20, 2), &rows(300, 30, 2, 2));
    assert_eq!((told.sides[0].starts, told.sides[1].starts, told.drawn_by_prefix), (200, 300, false));
    assert_eq!(
        told.sides[0].congestion_controls,
        BTreeMap::from([("cubic".into(), 100), ("reno".into(), 100)])
    );
    let overshoot = of(&told, "overshoot, mean");
    let difference = overshoot.difference.expect("both have it");
    let [low, high] = overshoot.interval.expect("enough of them");
    assert!((difference + 18.0).abs() < 0.1 && low < difference && difference < high, "{overshoot:?}");
    assert!(high - low < 0.6 && overshoot.verdict == "better", "{overshoot:?}");
    let again = of(&told, "retransmitted, share");
    assert!(
        (again.first.unwrap() - 0.2).abs() < 1e-9 && (again.second.unwrap() - 0.02).abs() < 1e-9,
        "{again:?}"
    );
    let window = of(&told, "exit window, median");
    assert_eq!((window.difference, window.verdict), (Some(-20.0), "lower"));
    // No row has a rate, and both sides have the same share of losses.
    assert_eq!(
        (of(&told, "rate at exit, median").first, of(&told, "rate at exit, median").verdict),
        (None, "unknown")
    );
    let loss = of(&told, "exit by loss");
    assert!((loss.first.unwrap() - 0.25).abs() < 1e-9 && loss.verdict == "same", "{loss:?}");
    assert_eq!(
        of(&compared(&rows(300, 30, 2, 2), &rows(200, 50, 20, 2)), "overshoot, mean").verdict,
        "worse"
    );
}

/// The interval of the mean of `count` values has the theoretical width: 3.92 standard errors.
#[test]
fn a_95_percent_interval_matches_the_width_of_a_normal_mean() {
    let told = compared(&rows(900, 30, 0, 2), &rows(900, 30, 0, 2));
    let [low, high] = of(&told, "overshoot, mean").interval.expect("enough of them");
    // 0, 1 and 2 are equally frequent: the variance is 2/3.
    let width = 3.92 * (2.0 * 2.0 / 3.0 / 900.0_f64).sqrt();
    assert!(((high - low) / width - 1.0).abs() < 0.08, "{low} to {high}, {width}");
}

/// All connections to a prefix have the same value, so many of them give no more information than one.
#[test]
fn prefixes_are_drawn_whole_where_there_are_enough() {
    let rows = |prefixes: usize, shift: usize| -> Vec<Record> {
        let mut all = rows(3_000, 30, 0, prefixes);
        for (at, row) in all.iter_mut().enumerate() {
            row.insert("overshoot_segments".into(), ((at % prefixes + shift) % 3).into());
        }
        all
    };
    let width = |told: &Comparison| {
        let [low, high] = of(told, "overshoot, mean").interval.expect("enough of them");
        high - low
    };
    let by_connection = compared(&rows(18, 0), &rows(18, 1));
    let by_prefix = compared(&rows(30, 0), &rows(30, 1));
    assert!(!by_connection.drawn_by_prefix && by_prefix.drawn_by_prefix && by_prefix.matched_by_prefix);
    assert!(
        width(&by_prefix) > 5.0 * width(&by_connection),
        "{} {}",
        width(&by_prefix),
        width(&by_connection)
    );
    // If the paths differ and the groups do not, the paths make no difference: both groups draw the same ones.
    let same = compared(&rows(30, 0), &rows(30, 0));
    assert!(width(&same) < 1e-9, "{}", width(&same));
}

#[test]
fn few_start_ups_have_no_interval_and_other_rows_are_refused() {
    let told = compared(&rows(9, 50, 20, 2), &rows(300, 30, 2, 2));
    let window = of(&told, "exit window, median");
    assert_eq!((window.first_count, window.interval, window.verdict), (9, None, "unknown"));
    assert!(told.headline[0].ends_with("nothing can be said."), "{:?}", told.headline);
    assert_eq!(compared(&[], &[]).sides[0].starts, 0);
    let other = vec![json!({ "scheme": "paced" }).as_object().expect("an object").clone()];
    assert_eq!(check(&other).expect_err("a race's row").missing, "exit_cause");
    assert_eq!((check(&[]), check(&rows(1, 1, 1, 1))), (Ok(()), Ok(())));
    let mut doubtful = rows(20, 50, 20, 2);
    doubtful[0].insert("facts_lost".into(), 1.into());
    let told = compared(&doubtful, &doubtful);
    assert_eq!((told.sides[0].starts, told.sides[0].doubtful), (19, 1));
}

/// A source of uniform numbers from 0 to 1, and of normal ones.
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 40).unwrap_or(0)) / f64::from(1 << 24)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Returns transfers whose completion time is proportional to the size and to the round trip, times `factor`, times a chance of some 20 %.
/// The share `far` has a round trip of 160 ms instead of 20 ms.
fn transfers(chance: &mut Chance, count: usize, factor: f64, far: f64, sizes: &[u32]) -> Vec<Record> {
    let row = |at: usize| {
        let rtt = if chance.uniform() < far { 0.16 } else { 0.02 };
        let bytes = sizes[at % sizes.len()];
        let time = rtt * (f64::from(bytes) / 15_000.0 + 1.0).log2() * factor * (0.2 * chance.normal()).exp();
        let value = json!({
            "exit_cause": "flat", "exit_flight_bytes": 30_000, "mss_bytes": 1_000, "bytes_acked": bytes,
            "transfer_bytes": bytes, "transfer_s": time, "handshake_rtt_s": rtt, "prefix": "10.0.0.0/24",
            "retransmitted_segments": u64::from(chance.uniform() < 0.5), "data_segments_sent": 100,
        });
        value.as_object().expect("an object").clone()
    };
    (0..count).map(row).collect()
}

#[test]
fn the_headline_says_sooner_later_or_that_nothing_is_shown() {
    let mut chance = Chance(1);
    let sizes = [100_000, 2_000_000];
    let base = transfers(&mut chance, 400, 1.0, 0.3, &sizes);
    let sooner = compared(&base, &transfers(&mut chance, 400, 0.85, 0.3, &sizes));
    let is_sooner = |line: &String| line.starts_with("Transfers of ") && line.ends_with(" % sooner.");
    assert!(
        sooner.headline.len() == 3 && sooner.headline[..2].iter().all(is_sooner),
        "{:?}",
        sooner.headline
    );
    assert!(sooner.headline[0].contains("of 100 kB to 1 MB end 1"), "{:?}", sooner.headline);
    let later = compared(&base, &transfers(&mut chance, 400, 1.2, 0.3, &sizes));
    assert!(later.headline[1].starts_with("Transfers of 1 to 10 MB end "), "{:?}", later.headline);
    assert!(later.headline[1].ends_with(" % later."), "{:?}", later.headline);
    let completion = later.outcomes.iter().find(|one| one.measure == "completion").expect("compared");
    assert_eq!((completion.verdict, completion.first_count), ("worse", 200));
    let same = compared(&base, &transfers(&mut chance, 400, 1.0, 0.3, &sizes));
    let is_none = |line: &String| line.contains(": no difference can be shown, between ");
    assert!(same.headline.iter().all(is_none), "{:?}", same.headline);
}

/// After a change of the paths, and of the mixture of sizes, the times differ threefold; those of like transfers do not.
#[test]
fn other_paths_and_other_sizes_are_no_difference_of_the_groups() {
    let mut chance = Chance(2);
    let near = transfers(&mut chance, 600, 1.0, 0.1, &[100_000, 100_000, 800_000]);
    let far = transfers(&mut chance, 600, 1.0, 0.8, &[100_000, 800_000, 800_000]);
    let told = compared(&near, &far);
    let completion = told.outcomes.iter().find(|one| one.measure == "completion").expect("compared");
    assert!(completion.change.expect("both").abs() < 0.05 && completion.verdict == "same", "{completion:?}");
    let better = transfers(&mut chance, 600, 0.8, 0.8, &[100_000, 800_000, 800_000]);
    let told = compared(&near, &better);
    let completion = told.outcomes.iter().find(|one| one.measure == "completion").expect("compared");
    assert!(
        (completion.change.expect("both") + 0.2).abs() < 0.05 && completion.verdict == "better",
        "{completion:?}"
    );
}
