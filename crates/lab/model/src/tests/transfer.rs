use proptest::prelude::*;

use super::assert_decimals;
use crate::{SmallTransfers, Transfer};

const REQUEST: f64 = 5.12e6;

fn of_size(size: f64) -> Transfer {
    Transfer { size, ..Transfer::default() }
}

fn slow(transfer: &Transfer) -> f64 {
    transfer.slow_start().unwrap().transfer
}

fn quick(transfer: &Transfer) -> f64 {
    transfer.quick_start(REQUEST, SmallTransfers::Ask).unwrap().transfer
}

#[test]
fn equations_1_to_4_give_the_worked_values_of_the_reference_case() {
    let time = Transfer::default().slow_start().unwrap();
    assert_decimals(time.payload_rate, 1_216_667.0, 0, "R");
    assert_decimals(time.pipe, 84.333, 3, "P");
    assert_eq!((time.filling_round, time.rounds, time.whole_rounds), (10, 9, 8));
    assert_decimals(time.segments_in_rounds, 147.773, 3, "M(8)");
    assert_decimals(time.sojourn, 0.88775, 5, "eq. 1");
    assert_decimals(time.transfer, 0.98775, 5, "eq. 6");
}

#[test]
fn equations_5_and_6_give_the_worked_values_of_the_reference_case() {
    let time = Transfer::default().quick_start(REQUEST, SmallTransfers::Ask).unwrap();
    assert_decimals(time.paced_rate, 622_933.0, 0, "Q");
    assert_decimals(time.paced_bytes, 62_293.0, 0, "the kink of Figure 3 is at Q τ, not at 64 kB");
    assert_decimals(time.sojourn, 0.30428, 5, "eq. 5");
    assert_decimals(time.transfer, 0.40428, 5, "eq. 6");
    assert_decimals(time.improvement, 2.443, 3, "η");
    assert_decimals(time.window, 42.67, 2, "q τ / MTU");
    assert_decimals(time.gap * 1e3, 2.344, 3, "gap in ms");
}

#[test]
fn the_curves_of_figures_3_and_4_pass_through_the_worked_points() {
    for (size, slow_start, quick_start, improvement) in [
        (3e3, 0.1525, 0.1548, 0.98),
        (10e3, 0.2558, 0.1661, 1.54),
        (30e3, 0.4612, 0.1982, 2.33),
        (64e3, 0.6611, 0.2514, 2.63),
        (100e3, 0.7646, 0.2810, 2.72),
        (500e3, 1.2022, 0.6098, 1.97),
        (1e6, 1.6131, 1.0207, 1.58),
        (5e6, 4.9008, 4.3084, 1.14),
        (10e6, 9.0104, 8.4180, 1.07),
    ] {
        let transfer = of_size(size);
        assert_decimals(slow(&transfer), slow_start, 4, &format!("T_SS of {size}"));
        assert_decimals(quick(&transfer), quick_start, 4, &format!("T_QS of {size}"));
        assert_decimals(slow(&transfer) / quick(&transfer), improvement, 2, &format!("η of {size}"));
    }
}

/// Returns the largest gain over all sizes, and the size at which it occurs. The sizes are one byte more than a whole number of segments,
/// because a round begins there.
fn best(base: Transfer, gain: impl Fn(&Transfer) -> f64) -> (f64, f64) {
    let sizes = (1..300).map(|segments| f64::from(segments) * base.mss + 1.0);
    let gains = sizes.map(|size| (gain(&Transfer { size, ..base }), size));
    gains.fold((0.0, 0.0), |best, one| if one.0 > best.0 { one } else { best })
}

#[test]
fn the_largest_improvement_of_figure_4_grows_with_the_round_trip_time() {
    // Each row has the maximum over all sizes, its size, and the maximum over a coarser grid, computed independently.
    for (rtt, largest, size, on_grid) in [
        (0.01, 1.3168, 20_441.0, 1.31),
        (0.05, 2.2594, 56_941.0, 2.26),
        (0.1, 2.7701, 90_521.0, 2.77),
        (0.2, 3.3837, 90_521.0, 3.38),
        (0.5, 4.3669, 140_161.0, 4.34),
    ] {
        let (found, at) =
            best(Transfer { rtt, ..Transfer::default() }, |transfer| slow(transfer) / quick(transfer));
        assert_decimals(found, largest, 4, &format!("{rtt} s"));
        assert_decimals(at, size, 0, &format!("size at {rtt} s"));
        assert!((found / on_grid - 1.0).abs() < 0.01, "{rtt} s");
    }
}

#[test]
fn equation_13_gives_the_response_times_of_figure_14() {
    let linux = Transfer { mss: 1452.0, segments_per_ack: 1.0, ..Transfer::default() };
    let time = linux.quick_start(REQUEST, SmallTransfers::Ask).unwrap();
    assert_decimals(linux.slow_start().unwrap().response, 0.7010, 4, "slow start");
    assert_decimals(time.response, 0.3554, 4, "Quick-Start");
    assert_decimals(time.response_improvement, 1.97, 2, "gain");
    let gain = |transfer: &Transfer| {
        transfer.quick_start(REQUEST, SmallTransfers::Ask).unwrap().response_improvement
    };
    let (largest, at) = best(linux, gain);
    assert_decimals(largest, 2.7047, 4, "largest gain");
    assert_decimals(at, 30_493.0, 0, "where");
    let size = 10f64.powf(4.5);
    assert_decimals(gain(&Transfer { size, ..linux }), 2.68, 2, "gain at 32 kB, ten sizes a decade");
}

#[test]
fn a_window_filling_the_pipe_at_once_has_no_slow_start_rounds() {
    // P/w is 0.36 here, for which equation 2 as printed gives κ = -1.
    let transfer = Transfer { rate: 1e6, rtt: 1e-3, ..Transfer::default() };
    let time = transfer.slow_start().unwrap();
    assert_decimals(time.pipe / 3.0, 0.36, 2, "P/w");
    assert_eq!((time.filling_round, time.whole_rounds), (1, 0));
    assert_decimals(time.sojourn, 0.0005 + 250_000.0 / time.payload_rate, 9, "the path is the limit at once");
}

#[test]
fn rounds_at_powers_of_two_are_exact_without_delayed_acks() {
    // With an initial window of one, M(ν) = 2^ν - 1 segments.
    for rounds in 1..20 {
        let segments = f64::from((1 << rounds) - 1);
        let base = Transfer {
            rate: 1e15,
            mss: 1000.0,
            initial_window: 1.0,
            segments_per_ack: 1.0,
            ..Transfer::default()
        };
        let whole = Transfer { size: segments * 1000.0, ..base };
        assert_eq!(whole.slow_start().unwrap().rounds, rounds);
        let more = Transfer { size: segments * 1000.0 + 1.0, ..base };
        assert_eq!(more.slow_start().unwrap().rounds, rounds + 1);
    }
}

#[test]
fn transfers_within_the_initial_window_optionally_use_slow_start() {
    let fits = of_size(3.0 * 1460.0);
    let time = fits.quick_start(REQUEST, SmallTransfers::SlowStart).unwrap();
    assert!(!time.asked);
    assert_decimals(time.transfer, slow(&fits), 12, "slow start's time");
    let over = of_size(3.0 * 1460.0 + 1.0);
    assert!(over.quick_start(REQUEST, SmallTransfers::SlowStart).unwrap().asked);
}

#[test]
fn invalid_arguments_are_refused_by_name() {
    let base = Transfer::default();
    for (name, transfer) in [
        ("size", of_size(0.0)),
        ("size", of_size(-1.0)),
        ("rate", Transfer { rate: f64::NAN, ..base }),
        ("rate", Transfer { rate: -1e6, ..base }),
        ("rtt", Transfer { rtt: f64::INFINITY, ..base }),
        ("rtt", Transfer { rtt: 0.0, ..base }),
        ("mss", Transfer { mss: 1501.0, ..base }),
        ("packet", Transfer { packet: f64::NAN, ..base }),
        ("iw", Transfer { initial_window: 0.5, ..base }),
        ("segments-per-ack", Transfer { segments_per_ack: 0.5, ..base }),
        ("segments-per-ack", Transfer { segments_per_ack: 1e9, ..base }),
    ] {
        let error = transfer.slow_start().unwrap_err();
        assert_eq!(error.parameter(), name, "{error}");
        assert!(error.to_string().starts_with(name) && !error.to_string().contains('\n'), "{error}");
    }
    for request in [0.0, -1.0, f64::NAN, f64::INFINITY, 10e6 + 1.0] {
        let error = base.quick_start(request, SmallTransfers::Ask).unwrap_err();
        assert_eq!(error.parameter(), "request", "{error}");
    }
    assert!(base.quick_start(10e6, SmallTransfers::Ask).is_ok(), "the path's own rate can be granted");
}

prop_compose! {
    fn any_transfer()(
        size in 1.0f64..1e9,
        rate in 1e4f64..1e11,
        rtt in 1e-4f64..2.0,
        window in 1u32..50,
        segments_per_ack in 1u32..5,
    ) -> Transfer {
        let (initial_window, segments_per_ack) = (f64::from(window), f64::from(segments_per_ack));
        Transfer { size, rate, rtt, initial_window, segments_per_ack, ..Transfer::default() }
    }
}

proptest! {
    #[test]
    fn rounds_by_their_definition_are_those_of_the_logarithms(transfer in any_transfer()) {
        let time = transfer.slow_start().unwrap();
        let gamma = 1.0 + 1.0 / transfer.segments_per_ack;
        let log = |x: f64| x.ln() / gamma.ln();
        let kappa = log(time.pipe / transfer.initial_window);
        let segments = (transfer.size / transfer.mss).ceil();
        let nu = log(segments * (gamma - 1.0) / transfer.initial_window + 1.0);
        // If the value is within a rounding error of a whole number, both results are right.
        let clear = |x: f64| (x - x.round()).abs() > 1e-9;
        prop_assume!(clear(kappa) && clear(nu));
        let near = |rounds: u32, expected: f64| (f64::from(rounds) - expected).abs() < 0.5;
        prop_assert!(near(time.filling_round, (kappa.ceil() + 1.0).max(1.0)));
        prop_assert!(near(time.rounds, nu.ceil()));
    }

    #[test]
    fn no_transfer_beats_the_handshake_and_the_link(transfer in any_transfer(), share in 0.001f64..1.0) {
        // Equation 1 counts the last round in full segments, so its time may be short by one segment's time.
        let time = transfer.slow_start().unwrap();
        let least = 1.5 * transfer.rtt + transfer.size / time.payload_rate;
        let slack = least * 1e-9;
        prop_assert!(time.transfer >= least - transfer.mss / time.payload_rate - slack);
        let quick = transfer.quick_start(transfer.rate * share, SmallTransfers::Ask).unwrap();
        prop_assert!(quick.transfer >= least - slack, "{} < {least}", quick.transfer);
    }

    #[test]
    fn more_bytes_take_no_less_time(transfer in any_transfer(), more in 1.0f64..3.0, share in 0.001f64..1.0) {
        let larger = Transfer { size: transfer.size * more, ..transfer };
        let ask = |transfer: &Transfer| {
            transfer.quick_start(transfer.rate * share, SmallTransfers::Ask).unwrap().transfer
        };
        prop_assert!(slow(&larger) >= slow(&transfer) * (1.0 - 1e-9));
        prop_assert!(ask(&larger) >= ask(&transfer) * (1.0 - 1e-9));
    }

    #[test]
    fn a_faster_path_takes_no_more_time(transfer in any_transfer(), more in 1.0f64..3.0) {
        let faster = Transfer { rate: transfer.rate * more, ..transfer };
        prop_assert!(slow(&faster) <= slow(&transfer) * (1.0 + 1e-9));
    }

    #[test]
    fn a_longer_path_takes_more_time(transfer in any_transfer(), more in 1.0f64..3.0) {
        let longer = Transfer { rtt: transfer.rtt * more, ..transfer };
        prop_assert!(slow(&longer) >= slow(&transfer) * (1.0 - 1e-9));
    }

    #[test]
    fn a_higher_approved_rate_takes_no_more_time(transfer in any_transfer(), a in 0.001f64..1.0, b in 0.001f64..1.0) {
        let ask = |share: f64| {
            transfer.quick_start(transfer.rate * share, SmallTransfers::Ask).unwrap().transfer
        };
        prop_assert!(ask(a.max(b)) <= ask(a.min(b)) * (1.0 + 1e-9));
    }

    #[test]
    fn a_larger_initial_window_takes_no_more_time(transfer in any_transfer(), more in 0u32..50) {
        let larger = Transfer { initial_window: transfer.initial_window + f64::from(more), ..transfer };
        prop_assert!(slow(&larger) <= slow(&transfer) * (1.0 + 1e-9) + transfer.mss / larger.slow_start().unwrap().payload_rate);
    }
}
