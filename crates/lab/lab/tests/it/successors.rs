//! Races of the schemes of the last years: what must hold of whole results.

use firstflight_lab::{How, race};
use firstflight_measure::Row;
use firstflight_scenario::{Options, Scenario, parse_choices};

fn rows(options: &[(&str, &str)], schemes: &str) -> Vec<Row> {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    let scenario = Scenario::resolve(&set).expect("a scenario");
    let choices = parse_choices(schemes).expect(schemes);
    let results = race(&scenario, &choices, &How::default()).expect("a race");
    results.into_iter().flat_map(|result| result.rows).collect()
}

const PATH: [(&str, &str); 4] =
    [("rate", "100mbit"), ("rtt", "80ms"), ("size", "10MB"), ("avoidance", "own")];

fn seconds(row: &Row) -> f64 {
    row.fct_s.flatten().expect("finished")
}

#[test]
fn careful_resume_reports_its_saved_values_and_they_reproduce_the_row() {
    let options = [&PATH[..], &[("runs", "2")]].concat();
    let found = rows(&options, "careful-resume");
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].params, found[1].params, "one earlier connection serves all runs");
    assert!(
        found[0].params.starts_with("saved=") && found[0].params.contains(",rtt=80."),
        "{}",
        found[0].params
    );
    let again = rows(&options, &format!("careful-resume:{}", found[0].params));
    assert_eq!(again, found);
}

#[test]
fn explicit_careful_resume_values_are_kept() {
    let row = &rows(&PATH, "careful-resume:saved=100kB")[0];
    assert!(row.params.starts_with("saved=100kB,rtt=80."), "{}", row.params);
    let row = &rows(&PATH, "careful-resume:saved=100kB,rtt=1s")[0];
    assert_eq!(row.params, "saved=100kB,rtt=1s");
}

#[test]
fn careful_resume_takes_under_80_percent_of_the_slow_start_time() {
    let rows = rows(&PATH, "slow-start,careful-resume");
    assert!(seconds(&rows[1]) < 0.8 * seconds(&rows[0]), "{} {}", seconds(&rows[1]), seconds(&rows[0]));
}

/// The paper's claim: over 20 % shorter below 5 MB and above 50 ms.
#[test]
fn suss_shortens_transfers_by_a_fifth_where_its_paper_says_so() {
    for (rate, rtt, size) in
        [("100mbit", "80ms", "2MB"), ("1gbit", "150ms", "5MB"), ("50mbit", "100ms", "1MB")]
    {
        let path = [("rate", rate), ("rtt", rtt), ("size", size), ("ack", "every")];
        let rows = rows(&path, "hystart-linux,suss");
        let gain = 1.0 - seconds(&rows[1]) / seconds(&rows[0]);
        assert!(gain > 0.2, "{rate} {rtt} {size}: {gain}");
        assert_eq!(rows[1].packets_lost, 0);
    }
}

#[test]
fn search_leaves_before_the_loss_where_the_queue_is_deep() {
    let path = [&PATH[..2], &[PATH[3], ("size", "30MB"), ("queue", "4bdp")]].concat();
    let rows = rows(&path, "slow-start,search");
    assert_eq!((rows[0].exit_cause.as_str(), rows[1].exit_cause.as_str()), ("loss", "rate-flat"));
    assert!(rows[0].packets_lost > 0);
    assert_eq!(rows[1].packets_lost, 0);
}

#[test]
fn bbr_finds_the_path_rate_and_exits_after_draining_its_queue() {
    let path = [&PATH[..2], &[PATH[3], ("size", "30MB")]].concat();
    let row = &rows(&path, "bbr")[0];
    assert_eq!((row.exit_cause.as_str(), row.avoidance.as_str()), ("rate-flat", "bbr"));
    let rate = row.exit_rate_bps.expect("a rate");
    assert!((0.97e8..1.03e8).contains(&rate), "{rate}");
    // Start-up ends with the first packet after the drain.
    let (start_up, exit) = (row.su_time_s.expect("ended"), row.exit_time_s.expect("left"));
    assert!((0.0..0.005).contains(&(start_up - exit)), "{start_up} {exit}");
}

#[test]
fn adaptive_start_fills_the_path_without_a_loss() {
    let row = &rows(&PATH, "adaptive")[0];
    assert_eq!((row.packets_lost, row.exit_cause.as_str(), row.avoidance.as_str()), (0, "none", "westwood"));
    // 12 to 15 round trips.
    let filled = row.time_to_90pct_s.expect("filled") / 0.08;
    assert!((12.0..=15.0).contains(&filled), "{filled}");
}
