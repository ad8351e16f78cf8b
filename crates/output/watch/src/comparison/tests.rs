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
    let told = compared(&rows(200, 50, 20, 1), &rows(300, 30, 2, 1));
    assert_eq!((told.sides[0].starts, told.sides[1].starts, told.drawn), (200, 300, Drawn::Connections));
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
        of(&compared(&rows(300, 30, 2, 1), &rows(200, 50, 20, 1)), "overshoot, mean").verdict,
        "worse"
    );
}

/// The interval of the mean of `count` values has the theoretical width: 3.92 standard errors.
#[test]
fn a_95_percent_interval_matches_the_width_of_a_normal_mean() {
    let told = compared(&rows(900, 30, 0, 1), &rows(900, 30, 0, 1));
    let [low, high] = of(&told, "overshoot, mean").interval.expect("enough of them");
    // 0, 1 and 2 are equally frequent: the variance is 2/3.
    let width = 3.92 * (2.0 * 2.0 / 3.0 / 900.0_f64).sqrt();
    assert!(((high - low) / width - 1.0).abs() < 0.08, "{low} to {high}, {width}");
}

/// All connections to a prefix have the same value, so many of them give no more information than one.
#[test]
fn prefixes_are_drawn_whole_where_there_are_several() {
    let rows = |prefixes: usize, shift: usize| -> Vec<Record> {
        let mut all = rows(3_000, 30, 0, prefixes);
        for (at, row) in all.iter_mut().enumerate() {
            row.insert("overshoot_segments".into(), ((at % 30 + shift) % 3).into());
        }
        all
    };
    let width = |told: &Comparison| {
        let [low, high] = of(told, "overshoot, mean").interval.expect("enough of them");
        high - low
    };
    let by_connection = compared(&rows(1, 0), &rows(1, 1));
    let by_prefix = compared(&rows(30, 0), &rows(30, 1));
    assert_eq!((by_connection.drawn, by_prefix.drawn), (Drawn::Connections, Drawn::Prefixes));
    assert!(by_prefix.matched_by_prefix);
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
    let told = compared(&rows(9, 50, 20, 1), &rows(300, 30, 2, 1));
    let window = of(&told, "exit window, median");
    assert_eq!((window.first_count, window.interval, window.verdict), (9, None, "unknown"));
    assert!(told.headline[0].ends_with("nothing can be said."), "{:?}", told.headline);
    assert_eq!(compared(&[], &[]).sides[0].starts, 0);
    let other = vec![json!({ "scheme": "paced" }).as_object().expect("an object").clone()];
    assert_eq!(check(&other).expect_err("a race's row").missing, "exit_cause");
    assert_eq!((check(&[]), check(&rows(1, 1, 1, 1))), (Ok(()), Ok(())));
    let mut doubtful = rows(20, 50, 20, 1);
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
            "vantage": "sender", "retransmitted_segments": u64::from(chance.uniform() < 0.5), "data_segments_sent": 100,
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

/// Returns a transfer of 300 kB that takes `time` seconds.
fn transfer(time: f64, rtt: f64, prefix: &str, retransmitted: u64) -> Record {
    let value = json!({
        "exit_cause": "flat", "exit_flight_bytes": 30_000, "mss_bytes": 1_448, "bytes_acked": 300_000,
        "transfer_bytes": 300_000, "transfer_s": time, "handshake_rtt_s": rtt, "prefix": prefix,
        "retransmitted_segments": retransmitted, "data_segments_sent": 207,
    });
    value.as_object().expect("an object").clone()
}

/// Each prefix, or each peer of one prefix, has its own path, and a group that it is assigned to.
#[test]
fn groups_that_are_assigned_by_prefix_or_peer_differ_by_chance_once_in_ten_at_most() {
    for (is_peer, few) in [(false, 12), (true, 6)] {
        let mut wrong = 0;
        for seed in 0..20 {
            let mut chance = Chance(seed);
            let mut groups = [Vec::new(), Vec::new()];
            for unit in 0..3 * few {
                let path = 0.3 * chance.normal();
                for _ in 0..5 {
                    let time = 0.3 * (path + 0.3 * chance.normal()).exp();
                    let place = if is_peer { 0 } else { unit };
                    let mut row = transfer(time, 0.02, &format!("10.0.{place}.0/24"), 0);
                    row.insert("to".into(), format!("10.0.{place}.{unit}:443").into());
                    groups[usize::from(unit % 3 == 0)].push(row);
                }
            }
            let told = compared(&groups[0], &groups[1]);
            assert_eq!(told.drawn, if is_peer { Drawn::Peers } else { Drawn::Prefixes });
            assert!(told.headline[0].starts_with("Transfers of 100 kB to 1 MB"), "{:?}", told.headline);
            wrong += u32::from(told.headline[0].contains(" end "));
        }
        assert!(wrong <= 2, "{wrong} of 20 with {few} units");
    }
}

#[test]
fn fewer_than_five_prefixes_have_no_sentence() {
    let mut chance = Chance(3);
    let mut group = |factor: f64, prefixes: usize| -> Vec<Record> {
        let time = |chance: &mut Chance| factor * (0.1 * chance.normal()).exp();
        (0..200)
            .map(|at| transfer(time(&mut chance), 0.02, &format!("10.0.{}.0/24", at % prefixes), 1))
            .collect()
    };
    let told = compared(&group(1.0, 3), &group(0.5, 3));
    assert_eq!(
        told.headline[0],
        "Transfers of 100 kB to 1 MB: too few destinations to tell, 3 prefixes in a group."
    );
    let told = compared(&group(1.0, 5), &group(0.5, 5));
    assert!(told.headline[0].ends_with(" % sooner."), "{:?}", told.headline);
}

/// Users of the second group lose patience, and only its fast transfers complete.
#[test]
fn transfers_cut_short_are_no_gain() {
    let mut chance = Chance(4);
    let mut group = |factor: f64, patience: f64| -> Vec<Record> {
        let mut row = || {
            let time = factor * (0.3 * chance.normal()).exp();
            let mut row = transfer(time, 0.02, "10.0.0.0/24", 1);
            if time > patience {
                row.insert("transfer_bytes".into(), Value::Null);
                row.insert("transfer_s".into(), Value::Null);
                row.insert("bytes_acked".into(), 20_000.into());
            }
            row
        };
        (0..200).map(|_| row()).collect()
    };
    let told = compared(&group(1.0, 100.0), &group(1.3, 1.2));
    assert!(
        told.headline.iter().all(|line| line.contains("cut short") && !line.contains("sooner")),
        "{told:?}"
    );
    let share = of(&told, "cut short, share");
    assert!(share.verdict == "worse" && share.second > Some(0.4), "{share:?}");
    let told = compared(&group(1.0, 1.5), &group(0.7, 1.05));
    assert!(
        told.headline[0].contains(" % sooner; but ") && told.headline[0].contains("cut short"),
        "{told:?}"
    );
    // Connections that go on, and those seen elsewhere, are not cut short.
    let mut open = group(1.0, 0.5);
    for (at, row) in open.iter_mut().enumerate() {
        let (field, value) =
            if at % 2 == 0 { ("is_open", true.into()) } else { ("vantage", "receiver".into()) };
        row.insert(field.into(), value);
    }
    assert_eq!(of(&compared(&open, &open), "cut short, share").first_count, 0);
}

#[test]
fn a_measure_of_one_prefix_has_no_verdict() {
    let mut chance = Chance(5);
    let mut group = |reached: f64| -> Vec<Record> {
        let row = |at: usize| {
            let time = (0.3 * chance.normal()).exp();
            let mut row = transfer(time, 0.02, &format!("10.0.{}.0/24", at % 25), 1);
            if at.is_multiple_of(25) {
                row.insert("time_to_90pct_s".into(), (reached * time).into());
            }
            row
        };
        (0..300).map(row).collect()
    };
    let told = compared(&group(1.0), &group(2.0));
    let reached = of(&told, "time to 90 %, median");
    assert_eq!((reached.first_count, reached.interval, reached.verdict), (12, None, "unknown"));
}

#[test]
fn other_round_trips_and_sizes_are_not_called_a_difference() {
    let mut chance = Chance(6);
    for (rtt, bytes) in [(0.06, 300_000.0), (0.039, 300_000.0), (0.034, 340_000.0)] {
        let mut group = |rtt: f64, bytes: f64| -> Vec<Record> {
            let mut row = || {
                let time = rtt * bytes / 30_000.0 * (0.2 * chance.normal()).exp();
                let mut row = transfer(time, rtt, "10.0.0.0/24", 1);
                row.insert("transfer_bytes".into(), (bytes * (0.99 + 0.02 * chance.uniform())).into());
                row
            };
            (0..300).map(|_| row()).collect()
        };
        let told = compared(&group(0.034, 300_000.0), &group(rtt, bytes));
        assert!(!told.headline.iter().any(|line| line.contains(" end ")), "{:?}", told.headline);
    }
}

#[test]
fn few_retransmissions_are_no_large_factor_with_a_small_interval() {
    let mut chance = Chance(7);
    let mut group = |count: usize| -> Vec<Record> {
        let row = |at| transfer((0.2 * chance.normal()).exp(), 0.034, "10.0.0.0/24", u64::from(at < count));
        (0..1000).map(row).collect()
    };
    let said = |told: &Comparison| told.headline.last().expect("a sentence").clone();
    // Both numbers vary: with 20 and 60 of them, and two sentences, the interval of the quotient is 1.7 to 5.3.
    let told = said(&compared(&group(20), &group(60)));
    let ends: Vec<f64> = told.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(told.ends_with(" % more segments are retransmitted.") && ends.len() == 2, "{told}");
    assert!((40.0..100.0).contains(&ends[0]) && (350.0..600.0).contains(&ends[1]), "{told}");
    // Five may have been none.
    let told = said(&compared(&group(5), &group(40)));
    assert!(told.contains("0.019 % instead of 0.0024 %: 0.02 ± 0.01 percentage points"), "{told}");
    assert!(told.ends_with(" percentage points more segments are retransmitted."), "{told}");
    let told = said(&compared(&group(0), &group(4)));
    assert!(told.ends_with("too few to tell."), "{told}");
    let told = said(&compared(&group(0), &group(40)));
    assert!(told.contains("0.019 % instead of 0 %: 0.0"), "{told}");
}

#[test]
fn equal_values_are_not_called_a_difference() {
    let group = |count: usize| -> Vec<Record> {
        (0..count).map(|_| transfer(0.3, 0.034, "10.0.0.0/24", 1)).collect()
    };
    let told = compared(&group(17), &group(23));
    assert!(told.headline.iter().all(|line| line.contains("no difference")), "{:?}", told.headline);
    assert!(!told.headline.iter().any(|line| line.contains("-0.00")), "{:?}", told.headline);
    assert!(
        told.outcomes.iter().all(|one| one.verdict == "same" || one.first_count == 0),
        "{:?}",
        told.outcomes
    );
}
