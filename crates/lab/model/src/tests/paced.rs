use proptest::prelude::*;

use super::assert_decimals;
use crate::Train;
use crate::paced::table_2;

fn train(available: f64) -> Train {
    Train::new(1.0, available).unwrap()
}

#[test]
fn table_2_is_that_of_the_paper_to_its_digits() {
    // The values are as printed: case, range of α, range of the ratio, trains.
    let printed = [
        (1, 0.75, 1.0, 0.9, 1.2, 3),
        (2, 0.5, 0.75, 1.0, 1.2, 3),
        (3, 0.19, 0.5, 1.0, 2.0, 3),
        (4, 0.08, 0.19, 1.0, 2.0, 4),
    ];
    for (row, (case, least, most, low, high, trains)) in table_2().iter().zip(printed) {
        assert_eq!((row.case, row.trains), (case, trains));
        assert_decimals(row.least_available, least, 2, &format!("case {case}, α from"));
        assert_decimals(row.most_available, most, 2, &format!("case {case}, α to"));
        assert_decimals(row.ratio_at_most, low, 1, &format!("case {case}, ratio from"));
        assert_decimals(row.ratio_at_least.unwrap(), high, 1, &format!("case {case}, ratio to"));
    }
    let last = &table_2()[4];
    assert_decimals(last.most_available, 0.08, 2, "case 5, α to");
    assert_decimals(last.ratio_at_most, 0.5, 1, "case 5, ratio from");
    assert_eq!((last.case, last.trains, last.ratio_at_least), (5, 4, None), "case 5 has no upper bound");
}

#[test]
fn the_bounds_of_table_2_are_those_of_the_model() {
    let [first, second, third, fourth, fifth] = table_2();
    assert_decimals(third.least_available, (3.0 - 5f64.sqrt()) / 4.0, 12, "3|4");
    let root = fourth.least_available;
    assert_decimals(root, 0.080_357, 6, "4|5");
    assert_decimals(8.0 * root.powi(3) - 20.0 * root.powi(2) + 14.0 * root, 1.0, 12, "the cubic");
    for (row, most, least) in
        [(&first, 0.875, 1.1667), (&second, 1.0, 1.2), (&third, 1.0, 2.0), (&fourth, 1.0, 2.0)]
    {
        assert_decimals(row.ratio_at_most, most, 4, &format!("case {}, upper α", row.case));
        assert_decimals(row.ratio_at_least.unwrap(), least, 4, &format!("case {}, lower α", row.case));
    }
    assert_decimals(fifth.ratio_at_most, 0.5, 4, "case 5, upper α");
    assert_decimals(fifth.gap_at_least, 30.0, 9, "case 5, nothing available");
}

#[test]
fn the_gap_tree_leaves_as_the_test_vectors_say() {
    let f = train(0.6);
    // F(2) = 1.8 is less than 2. A train that is not congested keeps its gap.
    assert!(!f.is_congested(2.0));
    assert_decimals(f.destination_gap(2.0), 2.0, 12, "the gap of a train that is not congested");
    assert_decimals(f.destination_gap(4.0 / 3.0), 1.5333, 4, "F(4/3)");
    assert_decimals(f.ideal_gap(), 1.6667, 4, "g*");
    for (available, case, gap, ratio) in [
        (0.99, 1, 1.143, 0.884),
        (0.751, 1, 1.143, 1.165),
        (0.749, 2, 1.335, 1.000),
        (0.6, 2, 1.533, 1.087),
        (0.501, 2, 1.665, 1.199),
        (0.499, 3, 2.002, 1.001),
        (0.3, 3, 2.4, 1.389),
        (0.1, 4, 6.04, 1.656),
        (0.04, 5, 27.369, 0.913),
    ] {
        let exit = train(available).exit();
        assert_eq!(exit.case, case, "α = {available}");
        assert_decimals(exit.gap, gap, 3, &format!("gap at α = {available}"));
        assert_decimals(exit.sent_over_available, ratio, 3, &format!("ratio at α = {available}"));
    }
    assert_decimals(train(0.01).exit().sent_over_available, 3.41, 2, "ratio at α = .01");
    assert_decimals(train(0.001).exit().sent_over_available, 33.4, 1, "ratio at α = .001");
}

#[test]
fn the_fill_window_of_the_papers_path_is_652_packets() {
    let exit = Train::new(80e-6, 0.6).unwrap().exit();
    assert_decimals(exit.gap * 1e6, 122.7, 1, "gap in µs");
    assert_decimals((0.08 / exit.gap).floor(), 652.0, 0, "RTT / g");
}

#[test]
fn each_side_of_a_bound_is_its_own_case() {
    for row in table_2() {
        if row.case > 1 {
            assert_eq!(train(row.most_available - 1e-9).exit().case, row.case);
        }
        if row.least_available > 0.0 {
            assert_eq!(train(row.least_available + 1e-9).exit().case, row.case);
        }
    }
}

#[test]
fn invalid_available_shares_and_gaps_are_refused_by_name() {
    for available in [0.0, -0.1, 1.1, f64::NAN] {
        assert_eq!(Train::new(1.0, available).unwrap_err().parameter(), "available");
    }
    for gap in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Train::new(gap, 0.5).unwrap_err().parameter(), "capacity-gap");
    }
}

proptest! {
    #[test]
    fn the_exit_is_that_of_its_row_in_table_2(available in 0.001f64..1.0) {
        let exit = train(available).exit();
        let row = table_2()[exit.case as usize - 1];
        prop_assert!(available >= row.least_available - 1e-9 && available <= row.most_available + 1e-9);
        prop_assert_eq!(exit.trains, row.trains);
        let (low, high) = (row.gap_at_most - 1e-9, row.gap_at_least + 1e-9);
        prop_assert!((low..=high).contains(&exit.gap), "{exit:?}, not within {row:?}");
        if let Some(most) = row.ratio_at_least {
            let range = row.ratio_at_most.min(most) - 1e-9..=row.ratio_at_most.max(most) + 1e-9;
            prop_assert!(range.contains(&exit.sent_over_available), "{exit:?}, not within {row:?}");
        }
    }

    #[test]
    fn a_congested_train_arrives_between_its_own_gap_and_the_ideal(available in 0.01f64..1.0, part in 0.01f64..0.99) {
        let train = train(available);
        let source = train.ideal_gap() * part;
        let arrives = train.destination_gap(source);
        prop_assert!(source < arrives && arrives < train.ideal_gap() + 1e-9);
        prop_assert!((train.solved_share(source, arrives) - available).abs() < 1e-9, "one train solves for α");
    }

    #[test]
    fn the_unit_of_time_does_not_matter(available in 0.01f64..1.0, unit in 1e-9f64..10.0) {
        let (one, other) = (train(available).exit(), Train::new(unit, available).unwrap().exit());
        prop_assert_eq!(one.case, other.case);
        prop_assert!((other.gap / unit / one.gap - 1.0).abs() < 1e-9);
    }
}
