//! Tests of comparisons that few runs do not decide, of the number of runs that would decide, and of the effect of the seed.

use super::lag::Measure::{Cost, SuLoss, Throughput, Time};
use super::*;

const DRAWN: Contest = Contest { goal: Goal::Transfer { ip_bytes: 1 }, payload_bps: None, seeded: true };

#[test]
fn a_scheme_far_behind_in_the_mean_is_described_by_its_factor() {
    let a = timed("a", &[Some(1.0), Some(1.1), Some(0.9)]);
    let b = timed("b", &[Some(1.0), Some(11.0), Some(1.2)]);
    assert_eq!(
        verdict(&DRAWN, &[a, b]),
        "Best by cost: a, 1.00 s, 0.50 x ideal.\n\
         note: 3 runs do not decide between a and b (4.4 times the cost in the mean; at least 4 would, about 14 if further runs are like these).\n\
         note: the interval of the difference seed by seed (95 %) contains zero; the numbers of runs are right in nine cases of ten."
    );
}

#[test]
fn every_measure_says_its_lag_in_its_own_words() {
    let of = |measure, means: (f64, f64)| {
        let pairs = [(means.0 - 0.5, means.1 + 0.5), (means.0 + 0.5, means.1 - 0.5)];
        let lag = lag::Lag::may_be_chance(measure, &pairs, 1).expect("two runs that differ tell nothing");
        let said = lag::undecided(2, "a", &[("b", lag)], 1).concat();
        said.split(['(', ';']).nth(1).map(str::to_owned).expect("a bracket")
    };
    assert_eq!(of(Cost, (1.0, 1.2)), "20 % more cost in the mean");
    assert_eq!(of(Time, (1.0, 1.05)), "5.0 % longer in the mean");
    assert_eq!(of(Time, (1.0, 2.5)), "2.5 times as long in the mean");
    assert_eq!(of(Throughput, (10.0, 9.9)), "1.0 % less in the mean");
    assert_eq!(of(SuLoss, (0.5, 0.75)), "su-loss 75.0 % against 50.0 % in the mean");
}

#[test]
fn undecided_runs_suggest_a_minimum_if_few_and_a_range_if_many() {
    let said = |count: u32| {
        let a: Vec<_> = (0..count).map(|_| Some(1.0)).collect();
        let b: Vec<_> = (0..count).map(|seed| Some(if seed % 2 == 0 { 0.5 } else { 1.6 })).collect();
        let line = verdict(&DRAWN, &[timed("a", &a), timed("b", &b)]);
        line.split_once("in the mean; ").map(|(_, rest)| rest.to_owned()).unwrap_or(line)
    };
    assert_eq!(
        said(6),
        "at least 10 would, about 570 if further runs are like these).\nnote: the interval of the difference seed by seed \
         (95 %) contains zero; the numbers of runs are right in nine cases of ten."
    );
    let many = said(400);
    assert!(many.starts_with("400 to 56,000 would)."), "{many}");
}

#[test]
fn the_suggested_run_count_decides_if_further_runs_are_alike() {
    let race = |count: u32| {
        let a: Vec<_> = (0..count).map(|_| Some(1.0)).collect();
        let b: Vec<_> = (0..count).map(|seed| Some(if seed % 2 == 0 { 0.85 } else { 1.25 })).collect();
        verdict(&DRAWN, &[timed("a", &a), timed("b", &b)])
    };
    let said = race(4);
    let more: u32 = said
        .split("would, about ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
        .expect(&said);
    assert!(
        more > 4 && race(more / 2).contains("do not decide") && !race(more + 10).contains("do not decide"),
        "{said}"
    );
}

#[test]
fn one_run_where_the_seed_changes_runs_decides_nothing() {
    let two = [timed("a", &[Some(1.0)]), timed("b", &[Some(2.0)])];
    let line = verdict(&DRAWN, &two);
    assert_eq!(
        line,
        "Best by cost in this run: a, 1.00 s, 0.50 x ideal. Worst: b, 2.00 s, 1.00 x.\n\
         note: one run decides nothing, because results depend on the seed; --runs 10 compares schemes seed by seed."
    );
    assert!(!verdict(&sized(), &two).contains("decides nothing"), "the seed changes nothing there");
    assert!(!verdict(&DRAWN, &two[..1]).contains("decides nothing"), "nothing is compared");
}

#[test]
fn runs_that_cannot_differ_and_runs_that_did_not_are_distinguished() {
    let same = [timed("a", &[Some(1.0); 3]), timed("b", &[Some(2.0); 3])];
    assert!(
        verdict(&sized(), &same)
            .ends_with("\nnote: the seed changes nothing on this path; one run is enough.")
    );
    assert!(verdict(&DRAWN, &same).ends_with("\nnote: all 3 runs of each scheme gave the same result."));
    let differ = [timed("a", &[Some(1.0), Some(1.1), Some(1.0)]), timed("b", &[Some(2.0); 3])];
    for contest in [DRAWN, sized()] {
        let line = verdict(&contest, &differ);
        assert!(!line.contains("seed changes") && !line.contains("gave the same"), "{line}");
    }
}

#[test]
fn run_counts_have_two_digits_and_ranges_are_rounded_outwards() {
    let counts = [2, 12, 99, 100, 101, 1_234, 10_001, 123_456];
    assert_eq!(counts.map(words::at_most), ["2", "12", "99", "100", "110", "1,300", "11,000", "130,000"]);
    assert_eq!(counts.map(words::at_least), ["2", "12", "99", "100", "100", "1,200", "10,000", "120,000"]);
}
