mod credit;
mod deploy;
mod populations;
mod runs;

use super::*;
use crate::row::Row;

/// Returns the verdict of a race without references.
fn verdict(contest: &Contest, ranked: &[SchemeResult]) -> String {
    super::verdict(contest, ranked, &[])
}

fn results(rows: &[(&str, f64, f64, Option<f64>)]) -> Vec<SchemeResult> {
    let result = |(label, mbps, su_loss, cost): &(&str, f64, f64, Option<f64>)| {
        let row = Row {
            throughput_bps: mbps * 1e6,
            su_loss: Some(*su_loss),
            su_time_s: Some(0.329),
            fct_s: Some(cost.map(|cost| cost / 2.0)),
            cost: Some(*cost),
            ideal_kind: "exact".to_owned(),
            ..Row::default()
        };
        SchemeResult { name: (*label).to_owned(), rows: vec![row], ideal: None }
    };
    rows.iter().map(result).collect()
}

fn order(contest: &Contest, rows: &[(&str, f64, f64, Option<f64>)]) -> Vec<String> {
    let mut results = results(rows);
    rank(contest, &mut results);
    results.iter().map(|result| result.name.clone()).collect()
}

/// The built-in path leaves 60 Mbit/s, and 960 of 1000 bytes are payload.
const THROUGHPUT: Contest = Contest { goal: Goal::Duration, payload_bps: Some(57.6e6), seeded: false };

fn sized() -> Contest {
    Contest { goal: Goal::Transfer { ip_bytes: 1_042_000 }, payload_bps: None, seeded: false }
}

#[test]
fn a_short_time_is_not_said_to_be_none() {
    let said = [2.0, 0.9996, 0.999, 0.1, 0.0996, 0.044, 0.0013, 0.000_999_7, 0.000_074_9].map(span);
    let wanted =
        ["2.00 s", "1.00 s", "999 ms", "100 ms", "100 ms", "44.0 ms", "1.30 ms", "1.00 ms", "74.9 µs"];
    assert_eq!(said, wanted);
}

#[test]
fn without_a_size_throughput_decides_and_su_loss_among_equals() {
    let rows = [
        ("slow", 40.0, 0.0, None),
        ("lossy", 57.2, 0.16, None),
        ("clean", 57.0, 0.0, None),
        ("behind", 56.0, 0.0, None),
    ];
    assert_eq!(order(&THROUGHPUT, &rows), ["clean", "lossy", "behind", "slow"]);
}

#[test]
fn with_a_size_cost_decides_and_the_unfinished_come_last() {
    let rows = [("never", 9.0, 0.0, None), ("b", 1.0, 0.0, Some(2.0)), ("a", 0.5, 0.3, Some(1.5))];
    assert_eq!(order(&sized(), &rows), ["a", "b", "never"]);
}

#[test]
fn a_timer_that_determines_a_completion_time_is_named() {
    let mut rows = results(&[("a", 1.0, 0.0, Some(0.4)), ("b", 1.0, 0.0, Some(0.42))]);
    let wait = |rows: &mut [SchemeResult], of: usize, wait: f64, end: &str| {
        rows[of].rows[0].longest_wait_s = Some(Some(wait));
        rows[of].rows[0].longest_wait_end = Some(Some(end.to_owned()));
    };
    wait(&mut rows, 0, 0.099, "delayed-ack");
    wait(&mut rows, 1, 0.106, "delayed-ack");
    let said = verdict(&sized(), &rows);
    let one = "\nnote: b waited 106 ms of the completion time for the receiver's delayed-ACK timer.";
    assert!(said.ends_with(one), "{said}");
    wait(&mut rows, 0, 0.1, "delayed-ack");
    let said = verdict(&sized(), &rows);
    assert!(said.contains("note: every scheme waited up to 106 ms of the completion time for "), "{said}");
    wait(&mut rows, 0, 0.1, "timeout");
    let said = verdict(&sized(), &rows);
    assert!(
        said.contains("note: a waited 100 ms of the completion time for the retransmission timeout."),
        "{said}"
    );
    wait(&mut rows, 0, 0.01, "delayed-ack");
    rows[0].rows[0].waited_s = Some(Some(0.15));
    let said = verdict(&sized(), &rows);
    let many = "\nnote: a waited 150 ms of the completion time for timers, up to 10.0 ms at a time.";
    assert!(said.ends_with(many), "{said}");
    // Waits for the application are not attributed to a timer.
    wait(&mut rows, 1, 0.106, "application");
    wait(&mut rows, 0, 0.01, "application");
    assert!(!verdict(&sized(), &rows).contains("waited"), "{}", verdict(&sized(), &rows));
}

#[test]
fn aborted_connections_are_named_in_the_verdict() {
    let mut rows =
        results(&[("one", 9.0, 0.0, Some(2.0)), ("two", 1.0, 0.0, None), ("three", 0.5, 0.3, None)]);
    rows[1].rows[0].aborted_s = Some(127.0);
    let said = verdict(&sized(), &rows);
    assert!(
        said.ends_with("\nnote: a connection of two was aborted, because the peer no longer answered."),
        "{said}"
    );
    rows[2].rows[0].aborted_s = Some(923.4);
    let said = verdict(&sized(), &rows);
    assert!(
        said.ends_with(
            "\nnote: connections of two and three were aborted, because the peer no longer answered."
        ),
        "{said}"
    );
}

#[test]
fn the_verdict_is_a_line_of_the_numbers_and_notes() {
    let rows = results(&[("clean", 57.0, 0.0, None), ("lossy", 57.2, 0.16, None)]);
    assert_eq!(
        verdict(&THROUGHPUT, &rows),
        "Best by throughput, within 1 % by su-loss: clean, 57.00 Mbit/s (99.0 % of the available rate), \
         start-up 329 ms with no su-loss. Highest su-loss: lossy, 57.20 Mbit/s with su-loss 16.0 %."
    );
    let rows = results(&[("a", 1.0, 0.0, Some(1.5)), ("b", 1.0, 0.0, Some(3.25)), ("c", 1.0, 0.0, None)]);
    assert_eq!(
        verdict(&sized(), &rows[..2]),
        "Best by cost: a, 750 ms, 1.50 x ideal. Worst: b, 1.62 s, 3.25 x."
    );
    assert!(verdict(&sized(), &rows).ends_with("\nnote: c did not finish within the limit."));
    assert_eq!(verdict(&sized(), &[]), "No run was finished.");
}

#[test]
fn a_low_throughput_is_not_said_to_be_none() {
    let rows = results(&[("slow", 0.0248, 0.0, None)]);
    let says = verdict(&THROUGHPUT, &rows);
    assert!(says.starts_with("slow, 24.80 kbit/s ("), "{says}");
}

#[test]
fn completion_time_decides_in_the_absence_of_an_ideal() {
    let mut rows =
        results(&[("slow", 1.0, 0.0, Some(46.0)), ("fast", 9.0, 0.0, Some(9.0)), ("never", 9.0, 0.0, None)]);
    for result in &mut rows {
        result.rows[0].cost = Some(None);
    }
    rank(&sized(), &mut rows);
    assert_eq!(rows.iter().map(|result| result.name.as_str()).collect::<Vec<_>>(), ["fast", "slow", "never"]);
    assert_eq!(
        verdict(&sized(), &rows[..2]),
        "Best by completion time: fast, 4.50 s. Worst: slow, 23.00 s.\n\
         note: the ideal is undefined, because others may take the whole rate."
    );
}

#[test]
fn with_rounds_the_elapsed_time_after_an_idle_time_decides() {
    let contest = rounds();
    let mut rows = results(&[("slow", 9.0, 0.0, None), ("cut", 9.0, 0.0, None), ("fast", 1.0, 0.0, None)]);
    for (result, elapsed, drops) in [(0, Some(2.0), 0.0), (1, None, 0.0), (2, Some(0.5), 1.25)] {
        let row = &mut rows[result].rows[0];
        (row.elapsed_s, row.drops) = (Some(elapsed), Some(Some(drops)));
    }
    rank(&contest, &mut rows);
    let names: Vec<&str> = rows.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["fast", "slow", "cut"]);
    assert_eq!(
        verdict(&contest, &rows[..2]),
        "Best by elapsed time after an idle time: fast, 500 ms with 1.25 packets dropped per reply. \
         Worst: slow, 2.00 s with nothing dropped."
    );
    assert!(verdict(&contest, &rows).ends_with("\nnote: cut did not finish within the limit."));
}

/// Returns a result with these completion times, one for each seed.
fn timed(label: &str, times: &[Option<f64>]) -> SchemeResult {
    let mut result = results(&[(label, 1.0, 0.0, None)]).remove(0);
    let row = result.rows[0].clone();
    let of = |(seed, time): (u64, &Option<f64>)| Row {
        seed,
        fct_s: Some(*time),
        cost: Some(time.map(|time| time / 2.0)),
        elapsed_s: Some(*time),
        drops: Some(Some(0.0)),
        ..row.clone()
    };
    result.rows = (1..).zip(times).map(of).collect();
    result
}

/// If seeds have different ideals, the smallest mean time may not be the smallest mean cost. The best is chosen by the number that the
/// verdict names.
#[test]
fn the_best_by_cost_is_not_called_the_soonest() {
    let mut sooner = timed("sooner", &[Some(1.0), Some(4.0)]);
    let cheaper = timed("cheaper", &[Some(1.1), Some(4.0)]);
    sooner.rows[1].cost = Some(Some(3.0));
    let mut ranked = vec![sooner, cheaper];
    rank(&sized(), &mut ranked);
    assert!(
        verdict(&sized(), &ranked).starts_with("Best by cost: cheaper, 2.55 s, "),
        "{:?}",
        verdict(&sized(), &ranked)
    );
}

fn rounds() -> Contest {
    Contest { goal: Goal::Rounds, payload_bps: None, seeded: false }
}

#[test]
fn schemes_are_compared_seed_by_seed() {
    // The seeds differ by far more than the schemes. The intervals of the means overlap; the interval of the difference excludes zero.
    let a = timed("a", &[Some(1.0), Some(5.0), Some(9.0)]);
    let b = timed("b", &[Some(1.1), Some(5.11), Some(9.1)]);
    let line = verdict(&sized(), &[a.clone(), b]);
    assert!(line.ends_with(". Worst: b, 5.10 s, 2.55 x."), "{line}");
    let b = timed("b", &[Some(0.9), Some(5.11), Some(9.1)]);
    assert_eq!(
        verdict(&sized(), &[a.clone(), b.clone()]),
        "Best by cost: a, 5.00 s, 2.50 x ideal.\n\
         note: 3 runs do not decide between a and b (0.7 % more cost in the mean; at least 5 would, about 43 if further runs are like these).\n\
         note: the interval of the difference seed by seed (95 %) contains zero; the numbers of runs are right in nine cases of ten."
    );
    // With three schemes, the best is compared with two others.
    let c = timed("c", &[Some(1.9), Some(6.0), Some(9.1)]);
    let line = verdict(&sized(), &[a, b, c]);
    assert!(
        line.ends_with(
            "\nnote: 3 runs do not decide between a and b (0.7 % more cost in the mean; at least 7 would, about 56 if further runs are like these) or c (13 %; at least 4).\nnote: the intervals of the differences seed by seed (95 %, for 2 comparisons together) contain zero; the numbers of runs are right in nine cases of ten."
        ),
        "{line}"
    );
}

#[test]
fn the_more_schemes_race_the_wider_is_the_interval_of_a_difference() {
    let a = timed("a", &[Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
    let b = timed("b", &[Some(1.1), Some(2.22), Some(3.1), Some(4.22)]);
    let (far, farther) = (timed("c", &[Some(90.0); 4]), timed("d", &[Some(99.0); 4]));
    assert!(!verdict(&sized(), &[a.clone(), b.clone()]).contains("do not decide"));
    let line = verdict(&sized(), &[a, b, far, farther]);
    assert!(line.contains("decide between a and b (") && line.contains("for 3 comparisons"), "{line}");
}

#[test]
fn only_seeds_that_both_have_are_compared() {
    let a = timed("a", &[Some(1.0), Some(5.0), Some(9.0)]);
    let mut b = timed("b", &[Some(1.1), Some(5.1), Some(9.1)]);
    b.rows.remove(0);
    assert!(!verdict(&sized(), &[a.clone(), b.clone()]).contains("do not decide"));
    b.rows.remove(0);
    let line = verdict(&sized(), &[a, b]);
    assert!(
        line.ends_with("a and b (1.1 % more cost in the mean; one run in common)."),
        "one pair tells nothing: {line}"
    );
}

#[test]
fn without_a_size_su_loss_tells_apart_those_within_one_per_cent() {
    let of = |label: &str, runs: [(f64, f64); 3]| {
        let mut result = results(&[(label, 0.0, 0.0, None)]).remove(0);
        let row = result.rows[0].clone();
        let run = |(seed, (mbps, su_loss))| Row {
            seed,
            throughput_bps: mbps * 1e6,
            su_loss: Some(su_loss),
            ..row.clone()
        };
        result.rows = (1..).zip(runs).map(run).collect();
        result
    };
    let clean = of("clean", [(57.0, 0.0), (57.1, 0.0), (56.9, 0.0)]);
    let lossy = of("lossy", [(57.2, 0.16), (56.9, 0.17), (57.1, 0.16)]);
    assert!(!verdict(&THROUGHPUT, &[clean.clone(), lossy]).contains("do not decide"));
    let once = of("once", [(57.2, 0.16), (56.9, 0.0), (57.1, 0.0)]);
    let line = verdict(&THROUGHPUT, &[clean.clone(), once]);
    assert!(
        line.contains("clean and once (su-loss 5.33 % against none in the mean; at least 5 would, about 19 if further runs are like these)")
            && line.contains("for 2 comparisons"),
        "{line}"
    );
    let slow = of("slow", [(50.0, 0.0), (50.1, 0.0), (49.9, 0.0)]);
    assert!(!verdict(&THROUGHPUT, &[clean.clone(), slow]).contains("do not decide"));
    let slow = of("slow", [(50.0, 0.0), (59.1, 0.0), (49.9, 0.0)]);
    assert!(verdict(&THROUGHPUT, &[clean, slow]).contains("decide between clean and slow ("));
}

#[test]
fn partially_finished_schemes_are_named_and_not_compared() {
    let all = timed("all", &[Some(3.0), Some(5.0), Some(4.0)]);
    let two = timed("two", &[Some(1.0), Some(5.5), None]);
    let one = timed("one", &[None, Some(0.5), None]);
    let none = timed("none", &[None; 3]);
    let mut ranked = vec![none.clone(), one.clone(), two.clone(), all];
    rank(&sized(), &mut ranked);
    assert_eq!(ranked[0].name, "all");
    let line = verdict(&sized(), &ranked);
    for says in ["one finished 1 of 3 runs", "two 2 of 3", "none did not finish within the limit"] {
        assert!(line.contains(says), "{says}: {line}");
    }
    assert!(line.starts_with("Best by cost: all, 4.00 s") && !line.contains("decide"), "{line}");
    assert!(
        verdict(&rounds(), &ranked)
            .contains("note: one finished 1 of 3 runs, two 2 of 3; none did not finish")
    );
    assert_eq!(
        verdict(&sized(), &[two, one, none.clone()]),
        "No scheme finished every transfer within the limit: two finished 2 of 3 runs, one 1 of 3; \
         none did not finish within the limit."
    );
    let line = verdict(&sized(), &[none]);
    assert!(line.starts_with("No scheme finished every transfer within the limit.\n"), "{line}");
}

#[test]
fn a_start_up_that_ended_in_some_runs_says_in_how_many() {
    let mut result = timed("a", &[Some(1.0); 3]);
    result.rows[0].su_time_s = None;
    let line = verdict(&THROUGHPUT, &[result]);
    assert!(line.contains("start-up 329 ms in 2 of 3 runs with no su-loss"), "{line}");
}

#[test]
fn identical_schemes_are_reported_as_alike() {
    for runs in [1, 3] {
        let [a, b, c, d] = [("a", 0.25), ("b", 0.25), ("c", 3.0), ("d", 3.0)]
            .map(|(label, time)| timed(label, &[Some(time); 3][..runs]));
        let verdict = |contest: &Contest, ranked: &[SchemeResult]| {
            verdict(contest, ranked)
                .replace("\nnote: the seed changes nothing on this path; one run is enough.", "")
        };
        assert_eq!(
            verdict(&sized(), &[a.clone(), b.clone()]),
            "By cost: a and b alike, 250 ms, 0.12 x ideal."
        );
        assert_eq!(
            verdict(&sized(), &[a.clone(), b.clone(), c.clone(), d]),
            "Best by cost: a and b alike, 250 ms, 0.12 x ideal. Worst: c and d alike, 3.00 s, 1.50 x."
        );
        assert_eq!(
            verdict(&rounds(), &[a.clone(), b.clone(), c]),
            "Best by elapsed time after an idle time: a and b alike, 250 ms with nothing dropped. \
             Worst: c, 3.00 s with nothing dropped."
        );
        let line = verdict(&THROUGHPUT, &[a, b]);
        assert!(
            line.starts_with("By throughput, within 1 % by su-loss: a and b alike, 1.000 Mbit/s"),
            "{line}"
        );
    }
}
