use super::*;
use firstflight_measure::interval;
use firstflight_scenario::{Options, Scenario};

fn facts(path: u64) -> PathFacts {
    let mut options = Options::default();
    for (key, value) in [("rate", "10mbit"), ("rtt", "80ms"), ("size", "1MB")] {
        options.set(key, value).expect(value);
    }
    PathFacts::of(path, &Scenario::resolve(&options).expect("a path"))
}

fn row(path: u64, scheme: &str, cost: Option<f64>) -> Judged {
    Judged {
        path: facts(path),
        draw: path,
        weight: 1.0,
        scheme: scheme.to_owned(),
        law: "reno".to_owned(),
        deploy: "alone".to_owned(),
        seed: 1,
        cost,
        fct_s: cost,
        counts: SuCounts::Either,
        never_left: false,
        beside: None,
        loss: Some(0.0),
        timeouts: 0.0,
        queue: Some(0.5),
        harm_during: None,
        harm_per_byte: None,
        fair: None,
        bound: None,
        early: None,
        rate_found: None,
        queue_loss: None,
    }
}

/// Returns a comparison of races with a weight of 1 each.
fn pairing(faster: u32, slower: u32, alike: u32) -> Pairing {
    let differ = usize::try_from(faster + slower).expect("small");
    let [faster, slower, alike] = [faster, slower, alike].map(f64::from);
    let squares = faster + slower;
    let smallest = if differ == 0 { 0.0 } else { 1.0 };
    Pairing { faster, slower, alike, squares, differ, smallest }
}

fn value(quantile: Quantile) -> Option<f64> {
    if let Quantile::Value { value, .. } = quantile { Some(value) } else { None }
}

#[test]
fn a_quantile_is_the_smallest_value_with_that_share_below_or_equal() {
    let of = |n: i32, q| value(quantile(&(1..=n).map(|x| Some(f64::from(x))).collect::<Vec<_>>(), q, false));
    assert_eq!(
        [of(1, 0.5), of(2, 0.5), of(3, 0.5), of(4, 0.5)],
        [Some(1.0), Some(1.0), Some(2.0), Some(2.0)]
    );
    assert_eq!(
        [of(10, 0.9), of(11, 0.9), of(100, 0.99), of(99, 0.99)],
        [Some(9.0), Some(10.0), Some(99.0), Some(99.0)]
    );
    assert_eq!(quantile(&[], 0.5, true), Quantile::Undefined);
}

#[test]
fn unfinished_runs_rank_worse_than_finished_ones_and_are_included() {
    let one = row(0, "a", None);
    let spread_of = |values: &[Option<f64>], intervals: &Intervals| {
        Spread::of(values.iter().map(|value| (*value, &one)).collect(), intervals)
    };
    let spread = spread_of(&[None, Some(3.0), None, Some(1.0)], &Intervals::None);
    assert_eq!((spread.of, value(spread.at[0])), (4, Some(3.0)));
    assert_eq!(spread.at[1..], [Quantile::Beyond { low: None }; 2]);
    // With six values, the minimum and the maximum are the ends of the median's interval.
    let spread = spread_of(&[None, Some(3.0), None, Some(1.0), None, None], &Intervals::Order);
    assert_eq!(spread.at[0], Quantile::Beyond { low: Some(1.0) });
}

#[test]
fn intervals_of_quantiles_are_the_published_ranks() {
    // David and Nagaraja's rule for medians at 95 %. The ends are the minimum and the maximum of 6 values, the 2nd and 8th of 9, and the
    // 40th and 61st of 100 (Conover, Practical Nonparametric Statistics, table A3).
    assert_eq!(interval(5, 0.5), (None, None));
    assert_eq!(interval(6, 0.5), (Some(1), Some(6)));
    assert_eq!(interval(9, 0.5), (Some(2), Some(8)));
    assert_eq!(interval(100, 0.5), (Some(40), Some(61)));
    // 0.99^n is below 2.5 % only from n = 368 on.
    assert_eq!((interval(367, 0.99).1, interval(368, 0.99).1), (None, Some(368)));
    assert_eq!(interval(0, 0.5), (None, None));
}

#[test]
fn sole_best_tied_best_and_unfinished_races_are_counted_separately() {
    let rows = [
        row(0, "a", Some(2.0)),
        row(0, "b", Some(2.01)),
        row(0, "c", None),
        row(1, "a", Some(2.0)),
        row(1, "b", Some(2.0)),
        row(1, "c", Some(3.0)),
        row(2, "a", None),
        row(2, "b", None),
        row(2, "c", None),
    ];
    let groups = score(&rows);
    let all = &groups[0];
    assert_eq!((all.axis, all.paths, all.races, all.nobody), ("all", 3, 3, 1.0));
    let record: Vec<_> = all
        .standings
        .iter()
        .map(|of| (of.scheme.as_str(), of.rows, of.unfinished, of.best_alone, of.best_tied, of.near_best))
        .collect();
    assert_eq!(
        record,
        [("a", 3, 1.0, 1.0, 1.0, 2.0), ("b", 3, 1.0, 0.0, 1.0, 2.0), ("c", 3, 2.0, 0.0, 0.0, 0.0)]
    );
    // A race that no scheme finished has no best cost. A race that one scheme did not finish has one.
    let c = &all.standings[2];
    assert_eq!(
        (c.regret.of, value(c.regret.at[0]), c.regret.at[1]),
        (2, Some(1.5), Quantile::Beyond { low: Some(1.5) })
    );
    let (most, few) = (Quantile::Beyond { low: None }, Quantile::Beyond { low: Some(3.0) });
    assert_eq!(c.cost.at, [most, few, most]);
    assert_eq!((c.harm_during.of, c.harm_during.at[0]), (0, Quantile::Undefined));
}

#[test]
fn every_path_is_in_one_class_of_each_axis() {
    let groups = score(&[row(0, "a", Some(1.0))]);
    let named: Vec<_> = groups.iter().map(|group| (group.axis, group.class.as_str())).collect();
    assert_eq!(
        named,
        [
            ("all", "all paths"),
            ("rate", "10-100 Mbit/s"),
            ("base RTT", "50-200 ms"),
            ("BDP", "10-100"),
            ("queue", "1 BDP and more"),
            ("size", "10-100 BDP"),
            ("loss", "none"),
            ("cross traffic", "none"),
            ("receiver", "delayed"),
        ]
    );
}

#[test]
fn intervals_are_given_only_where_a_row_is_a_path() {
    let one: Vec<_> = (0..10).map(|path| row(path, "a", Some(1.0))).collect();
    assert!(matches!(score(&one)[0].standings[0].cost.at[0], Quantile::Value { low: Some(_), .. }));
    let mut two = one.clone();
    two.extend(one.into_iter().map(|row| Judged { seed: 2, ..row }));
    assert!(matches!(score(&two)[0].standings[0].cost.at[0], Quantile::Value { low: None, high: None, .. }));
}

#[test]
fn a_distribution_lists_costs_in_order_and_counts_unfinished_runs() {
    let rows = [
        row(0, "a", Some(3.0)),
        row(0, "b", Some(1.5)),
        row(1, "a", Some(2.0)),
        row(1, "b", None),
        row(2, "a", None),
        row(2, "b", None),
    ];
    let [a, b] = distributions(&rows).try_into().expect("two schemes");
    let values = |of: &[Weighted]| of.iter().map(|one| one.value).collect::<Vec<_>>();
    assert_eq!((a.scheme.as_str(), values(&a.cost), a.rows), ("a", vec![2.0, 3.0], 3.0));
    // No scheme finished the third race, so it has no best cost to compare with.
    assert_eq!((values(&a.over_best), a.races), (vec![1.0, 2.0], 2.0));
    assert_eq!((values(&b.cost), values(&b.over_best), b.rows, b.races), (vec![1.5], vec![1.0], 3.0, 2.0));
    let shares =
        score(&rows)[0].standings.iter().map(|one| (one.cost.weight, one.regret.weight)).collect::<Vec<_>>();
    assert_eq!(shares, [(a.rows, a.races), (b.rows, b.races)], "as the quantiles have it");
}

#[test]
fn schemes_are_distinguished_by_the_sign_test_of_differing_races() {
    let is_significant =
        |faster, slower, comparisons| pairing(faster, slower, 1_000).is_significant(comparisons);
    // Binomial distribution with n = 20 and p = 0.5 (Conover, table A3): P(X <= 5) = 0.0207, P(X <= 6) = 0.0577.
    assert_eq!(
        [is_significant(5, 15, 1), is_significant(15, 5, 1), is_significant(6, 14, 1)],
        [true, true, false]
    );
    // P(X <= 3) = 0.0013, P(X <= 4) = 0.0059. Corrected for 14 comparisons, the first is still significant and the second is not.
    assert_eq!([is_significant(3, 17, 14), is_significant(4, 16, 14)], [true, false]);
    assert_eq!(
        [
            is_significant(0, 0, 1),
            is_significant(0, 5, 1),
            is_significant(0, 6, 1),
            is_significant(5_000, 5_000, 1)
        ],
        [false, false, true, false]
    );
}

#[test]
fn schemes_are_compared_with_the_first_per_race_and_unfinished_counts_slower() {
    let rows: Vec<_> = (0..20)
        .flat_map(|path| {
            let cost = 1.0 + f64::from(u32::try_from(path).unwrap());
            // `b` is always 1 % slower, `c` gave up in half of the races, and `d` ties in all races but one.
            let c = if path < 10 { Some(cost + 1.0) } else { None };
            let d = if path == 0 { cost + 1.0 } else { cost };
            [
                row(path, "a", Some(cost)),
                row(path, "b", Some(cost * 1.01)),
                row(path, "c", c),
                row(path, "d", Some(d)),
            ]
        })
        .collect();
    let all = &score(&rows)[0];
    let against = |at: usize| {
        let Pairing { faster, slower, alike, .. } = all.standings[at].against_first;
        (faster, slower, alike, all.differs_from_first(&all.standings[at]))
    };
    assert_eq!(all.by_cost()[0].scheme, "a");
    assert_eq!([against(0), against(1)], [(0.0, 0.0, 20.0, false), (0.0, 20.0, 0.0, true)]);
    assert_eq!([against(2), against(3)], [(0.0, 20.0, 0.0, true), (0.0, 1.0, 19.0, false)]);
    // The intervals of the medians of `a` and `b` overlap nevertheless.
    let ends = |at: usize| match all.standings[at].cost.at[0] {
        Quantile::Value { low: Some(low), high: Some(high), .. } => (low, high),
        _ => unreachable!("twenty rows have both"),
    };
    assert!(ends(1).0 < ends(0).1);
}

/// `b` has the smaller median because `a` is slow in two races of five. In the other three races `a` is faster.
#[test]
fn the_first_by_median_may_be_slower_more_often_and_is_flagged() {
    let rows: Vec<_> = (0..100)
        .flat_map(|path| {
            let (a, b) = match path % 5 {
                0 | 1 => (9.0, 3.0),
                2 => (3.5, 3.6),
                _ => (1.0, 1.5),
            };
            [row(path, "a", Some(a)), row(path, "b", Some(b)), row(path, "c", Some(b))]
        })
        .collect();
    let of = |rows: &[Judged]| {
        let all = score(rows).remove(0);
        let first = all.by_cost()[0].scheme.clone();
        (first, all.standings.iter().map(|one| all.beats_first(one)).collect::<Vec<_>>())
    };
    // 60 of 100 races are not significant, and 600 of 1000 are. Equal schemes do not beat each other.
    assert_eq!(of(&rows), ("b".to_owned(), vec![false; 3]));
    let more: Vec<_> = (0..1000)
        .flat_map(|path| {
            let of_it = rows.iter().filter(move |row| row.path.path == path % 100);
            of_it.map(move |row| Judged { path: facts(path), draw: path, ..row.clone() })
        })
        .collect();
    assert_eq!(of(&more), ("b".to_owned(), vec![true, false, false]));
}

#[test]
fn rows_below_ideal_or_beyond_fair_share_are_counted_per_scheme() {
    let beside = |path, cost, harm, fair| Judged { harm_during: Some(harm), fair, ..row(path, "a", cost) };
    let rows = [
        beside(0, Some(0.5), 0.51, Some(0.5)),
        beside(1, Some(1.0), 0.5, Some(0.5)),
        beside(2, None, 0.9, None),
        row(3, "a", Some(0.9)),
        Judged { law: "cubic".to_owned(), ..row(3, "b", Some(2.0)) },
        row(2, "b", None),
    ];
    let all = score(&rows).remove(0);
    let [a, b] = &all.standings[..] else { panic!("two schemes") };
    assert_eq!((a.under_ideal, a.beside_tcp, a.beyond_fair, a.law.as_deref()), (2.0, 2.0, 1.0, Some("reno")));
    assert_eq!((b.under_ideal, b.beside_tcp, b.beyond_fair, b.law.as_deref()), (0.0, 0.0, 0.0, None));
}

/// Forty races on twenty paths are twenty comparisons, because the runs of a path favour the same scheme.
#[test]
fn runs_of_a_path_are_averaged_before_paths_are_compared() {
    let runs = |costs: fn(u64) -> [(f64, f64); 2]| {
        let rows = (0..20).flat_map(|path| {
            let seeds = costs(path).into_iter().zip(1..);
            seeds.flat_map(move |((a, b), seed)| {
                [Judged { seed, ..row(path, "a", Some(a)) }, Judged { seed, ..row(path, "b", Some(b)) }]
            })
        });
        let all = score(&rows.collect::<Vec<_>>()).remove(0);
        let one = all.standings[1].clone();
        (one.against_first, one.draws_against_first, all.differs_from_first(&one))
    };
    let of = pairing;
    assert_eq!(runs(|_| [(1.0, 2.0), (1.0, 2.0)]), (of(0, 40, 0), of(0, 20, 0), true));
    // Fourteen of twenty paths are not significant, although 28 of forty independent races would be.
    let most = |path| if path < 14 { [(1.0, 2.0); 2] } else { [(1.0, 0.9); 2] };
    assert_eq!(runs(most), (of(12, 28, 0), of(6, 14, 0), false));
    assert!(of(12, 28, 0).is_significant(1));
    // The mean cost of a path decides, not the number of runs won. `b` has the smallest median, and `a` has the smallest mean on every
    // path.
    let rows = (0..20).flat_map(|path| {
        let of = |seed, scheme, cost| Judged { seed, ..row(path, scheme, Some(cost)) };
        [of(1, "a", 1.0), of(1, "b", 0.5), of(2, "a", 1.0), of(2, "b", 1.6)]
    });
    let a = score(&rows.collect::<Vec<_>>()).remove(0).standings.remove(0);
    assert_eq!((a.against_first, a.draws_against_first), (of(20, 20, 0), of(20, 0, 0)));
}

#[test]
fn a_path_with_an_unfinished_run_ranks_worse_than_one_without() {
    let rows = (0..20).flat_map(|path| {
        let of = |seed, scheme, cost| Judged { seed, ..row(path, scheme, cost) };
        [of(1, "a", Some(3.0)), of(2, "a", Some(3.0)), of(1, "b", Some(3.1)), of(2, "b", None)]
    });
    let all = score(&rows.collect::<Vec<_>>()).remove(0);
    let one = &all.standings[1];
    assert_eq!((one.draws_against_first.slower, all.differs_from_first(one)), (20.0, true));
}

/// The first scheme is chosen from the same rows, so this compares the luckiest scheme with the unluckiest.
#[test]
fn equal_schemes_differ_significantly_in_five_percent_of_sweeps_maximum() {
    const SWEEPS: usize = 200;
    let names: Vec<String> = (0..15).map(|scheme| format!("s{scheme}")).collect();
    let schemes: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut state = 0_u64;
    let mut draw = || {
        // The random numbers are those of SplitMix64 (Steele, Lea and Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((bits ^ (bits >> 31)) >> 32).expect("32 bits"))
    };
    let mut rows: Vec<_> =
        (0..100).flat_map(|path| names.iter().map(move |name| row(path, name, None))).collect();
    let mut record = 0;
    for _ in 0..SWEEPS {
        for row in &mut rows {
            row.cost = Some(1.0 + draw());
        }
        let all = group("all", String::new(), &rows.iter().collect::<Vec<_>>(), &schemes);
        record += usize::from(all.standings.iter().any(|one| all.differs_from_first(one)));
    }
    assert!(record <= SWEEPS / 20, "{record} of {SWEEPS}");
}

#[test]
fn unfinished_medians_rank_by_completed_runs_and_then_by_their_cost() {
    let rows: Vec<_> = (0..10)
        .flat_map(|path| {
            let ended = |until: u64, cost: f64| (path < until).then_some(cost);
            [
                row(path, "none", None),
                row(path, "two", ended(2, 1.0)),
                row(path, "slow four", ended(4, 3.0)),
                row(path, "four", ended(4, 2.0)),
                row(path, "all", Some(9.0)),
            ]
        })
        .collect();
    let all = &score(&rows)[0];
    let order: Vec<&str> = all.by_cost().into_iter().map(|one| one.scheme.as_str()).collect();
    assert_eq!(order, ["all", "four", "slow four", "two", "none"]);
    // The order of the rows does not affect which scheme is first.
    let rest: Vec<_> = rows.into_iter().filter(|row| row.scheme != "all").collect();
    let all = &score(&rest)[0];
    assert_eq!(all.by_cost()[0].scheme, "four");
    assert_eq!(all.standings[0].against_first, pairing(0, 4, 6));
}

/// A list makes several paths from one draw. These paths share all options except the listed one.
#[test]
fn races_sharing_a_draw_are_one_comparison_and_have_no_interval() {
    let of = |draw: u64, ack: &str, cost: f64, scheme: &str| {
        let path = 2 * draw + u64::from(ack == "linux");
        let row = row(path, scheme, Some(cost));
        Judged { draw, path: PathFacts { path_ack: ack.to_owned(), ..row.path.clone() }, ..row }
    };
    let rows: Vec<_> = (0..20)
        .flat_map(|draw| ["every", "linux"].map(|ack| [of(draw, ack, 1.0, "a"), of(draw, ack, 2.0, "b")]))
        .flatten()
        .collect();
    let groups = score(&rows);
    let record = |group: &Group| {
        let one = &group.standings[1];
        let has_interval = matches!(one.cost.at[0], Quantile::Value { low: Some(_), .. });
        (group.paths, group.draws, group.differs_from_first(one), has_interval)
    };
    assert_eq!(record(&groups[0]), (40, 20, true, false));
    let receivers: Vec<_> = groups.iter().filter(|group| group.axis == "receiver").map(record).collect();
    assert_eq!(receivers, [(20, 20, true, true); 2]);
}

#[test]
fn cost_over_bound_covers_bounded_rows_and_unfinished_ones_exceed_all_values() {
    let bounded = |path, cost, bound| Judged { bound, ..row(path, "a", cost) };
    let rows = [
        bounded(0, Some(1.26), Some(1.2)),
        bounded(1, Some(1.3), Some(1.2)),
        bounded(2, None, Some(1.5)),
        bounded(3, Some(9.0), None),
    ];
    let all = &score(&rows)[0];
    let one = &all.standings[0];
    assert_eq!((one.over_bound.of, one.near_bound), (3, 1.0));
    assert!((value(one.over_bound.at[0]).expect("a median") - 1.3 / 1.2).abs() < 1e-12);
    assert!(matches!(one.over_bound.at[1], Quantile::Beyond { .. }));
    assert_eq!((all.bound.of, value(all.bound.at[0]), value(all.bound.at[1])), (3, Some(1.2), Some(1.5)));
}

#[test]
fn a_found_rate_is_reported_by_its_excess_and_its_shortfall() {
    let rows: Vec<Judged> = [0.25, 0.5, 1.0, 2.0, 3.0]
        .into_iter()
        .zip(0..)
        .map(|(found, path)| Judged { rate_found: Some(found), ..row(path, "a", Some(2.0)) })
        .chain([row(5, "a", Some(2.0))])
        .collect();
    let one = &score(&rows)[0].standings[0];
    let at = |spread: &Spread| [value(spread.at[0]), value(spread.at[2])];
    assert_eq!((one.rate_over.of, at(&one.rate_over)), (5, [Some(1.0), Some(3.0)]));
    assert_eq!(at(&one.rate_under), [Some(1.0), Some(4.0)]);
}

#[test]
fn no_early_delivery_ranks_last_and_mean_loss_covers_senders_only() {
    let of =
        |path, early, loss| Judged { early: Some([early; 3]), queue_loss: loss, ..row(path, "a", Some(2.0)) };
    let one =
        &score(&[of(0, 1.5, Some(0.5)), of(1, f64::INFINITY, Some(0.1)), of(2, 1.0, None)])[0].standings[0];
    assert_eq!((value(one.early[0].at[0]), one.early[2].of), (Some(1.5), 3));
    assert!(matches!(one.early[1].at[1], Quantile::Beyond { .. }));
    assert!((one.queue_loss_mean.expect("two sent") - 0.3).abs() < 1e-12);
}

#[test]
fn an_axis_that_no_path_uses_has_no_class() {
    let of = |jitter: f64| {
        let mut rows = vec![row(0, "a", Some(2.0)), row(1, "a", Some(2.0))];
        rows[1].path.path_jitter_s = jitter;
        let groups = score(&rows);
        groups
            .iter()
            .filter(|group| group.axis == "jitter")
            .map(|group| group.class.clone())
            .collect::<Vec<_>>()
    };
    assert!(of(0.0).is_empty());
    assert_eq!(of(0.002), ["none", "1 ms and more"]);
}

/// The rows of path 0 have a weight of 3, as three paths that are alike have.
fn weighted(weight: f64) -> Vec<Judged> {
    let of = |path, scheme, cost| row(path, scheme, Some(cost));
    let mut rows = vec![
        of(0, "a", 1.0),
        of(0, "b", 3.0),
        of(1, "a", 4.0),
        of(1, "b", 2.0),
        of(2, "a", 6.0),
        of(2, "b", 5.0),
    ];
    for row in &mut rows {
        row.weight = if row.path.path == 0 { weight } else { 1.0 };
    }
    weigh(&mut rows);
    rows
}

#[test]
fn a_path_with_weight_three_counts_as_three_paths_in_each_share_and_quantile() {
    let all = &score(&weighted(3.0))[0];
    let a = &all.standings[0];
    assert_eq!((all.races, all.weight, a.rows, a.weight), (3, 3.0, 3, 3.0), "the mean weight is 1");
    let share = |part: f64| part / all.decided();
    assert!((share(a.best_alone) - 3.0 / 5.0).abs() < 1e-12, "{}", a.best_alone);
    assert!((share(all.standings[1].best_alone) - 2.0 / 5.0).abs() < 1e-12);
    assert_eq!(value(a.cost.at[0]), Some(1.0), "three of five weights are at 1");
    assert_eq!(value(a.fct_s.at[1]), Some(6.0));
    assert_eq!((all.by_cost()[0].scheme.as_str(), value(all.standings[1].cost.at[0])), ("a", Some(3.0)));
    let even = &score(&weighted(1.0))[0];
    assert_eq!((value(even.standings[0].cost.at[0]), even.standings[0].best_alone), (Some(4.0), 1.0));
}

#[test]
fn weights_that_are_equal_change_nothing() {
    let mut rows: Vec<_> =
        (0..40).flat_map(|path| [row(path, "a", Some(1.0)), row(path, "b", Some(2.0))]).collect();
    let without = score(&rows);
    for row in &mut rows {
        row.weight = 0.1;
    }
    weigh(&mut rows);
    assert_eq!(score(&rows), without);
}

#[test]
fn weighted_intervals_come_from_resampled_draws_and_contain_the_quantile() {
    let rows = |paths: u64| {
        let mut rows: Vec<_> = (0..paths)
            .map(|path| {
                let cost = 1.0 + f64::from(u32::try_from(path * 7 % paths).expect("small"));
                Judged { weight: if path % 2 == 0 { 1.0 } else { 2.0 }, ..row(path, "a", Some(cost)) }
            })
            .collect();
        weigh(&mut rows);
        rows
    };
    let median = |paths| score(&rows(paths))[0].standings[0].cost.at[0];
    let Quantile::Value { value, low: Some(low), high: Some(high) } = median(200) else {
        panic!("no interval")
    };
    // The standard error of a weighted median of 200 uniform values is near 200 × 0.5 × √(1.11 / 200) = 7.5, so the interval is near ±15.
    assert!(low < value && value < high && (18.0..45.0).contains(&(high - low)), "{low} {value} {high}");
    assert_eq!(median(200), median(200), "the same rows have the same interval");
    assert!(matches!(median(9), Quantile::Value { low: None, high: None, .. }), "nine draws are too few");
    // The 90th percentile of 30 values has three above it, which cannot show how far it may be.
    assert!(matches!(
        score(&rows(30))[0].standings[0].cost.at[1],
        Quantile::Value { low: None, high: None, .. }
    ));
}

#[test]
fn the_weighted_sign_test_needs_more_when_a_few_paths_have_most_of_the_weight() {
    let compared = |weights: &[f64]| {
        let mut pairing = Pairing::default();
        for weight in weights {
            pairing.add(Some(1.0), Some(2.0), *weight);
        }
        pairing
    };
    // Ten differences of one sign: z = Σ w / √Σ w². With equal weights it is √10 = 3.2, with one weight of 91 % near 1.1.
    assert!(compared(&[1.5; 10]).is_significant(1));
    let mut few = [0.1; 10];
    few[0] = 9.1;
    assert!(!compared(&few).is_significant(1));
    let six = compared(&[1.0; 6]).is_significant(1);
    assert!(six && !compared(&[1.0; 5]).is_significant(1), "without weights it is exact");
    // Weights that hardly differ give the same answers: five equal signs have a probability of 1/16.
    let near = |races: usize| compared(&[&[1.01][..], &vec![1.0; races - 1]].concat()).is_significant(1);
    assert_eq!([4, 5, 6, 20].map(near), [false, false, true, true]);
}
