//! Quick-Start against the closed-form model of its analysis (Scharf 2007, equations 1 to 6), on an empty path.

use firstflight_lab::{How, race};
use firstflight_measure::Row;
use firstflight_scenario::{Options, Scenario, parse_choices};

/// The path of the model: 10 Mbit/s, 100 ms, a queue that cannot overflow, segments of 1460 bytes, an initial window
/// of three.
const PATH: [(&str, &str); 6] = [
    ("rate", "10mbit"),
    ("rtt", "100ms"),
    ("queue", "10MB"),
    ("mss", "1460"),
    ("iw", "3p"),
    ("cross", "none"),
];
const ASKING: &str = "quick-start:request=5.12mbit";

fn run(schemes: &str, options: &[(&str, &str)]) -> Vec<Row> {
    let mut set = Options::default();
    for (key, text) in PATH.iter().chain(options) {
        set.set(key, text).expect(text);
    }
    let scenario = Scenario::resolve(&set).expect("a scenario");
    let choices = parse_choices(schemes).expect(schemes);
    let results = race(&scenario, &choices, &How::default()).expect("a race");
    results.into_iter().flat_map(|result| result.rows).collect()
}

fn fct(row: &Row) -> f64 {
    row.fct_s.flatten().expect("a transfer that ends")
}

/// Transfer times of slow start and of Quick-Start.
fn times(size: u64, ack: &str) -> (f64, f64) {
    let size = format!("{size}B");
    let rows = run(&format!("slow-start,{ASKING}"), &[("size", &size), ("ack", ack)]);
    assert!(rows.iter().all(|row| row.packets_lost == 0 && row.timeouts == 0), "nothing can be lost");
    (fct(&rows[0]), fct(&rows[1]))
}

const TAU: f64 = 0.1;
/// Payload bytes a second at 10 and at 5.12 Mbit/s.
const R: f64 = 1_460.0 / 1_500.0 * 10e6 / 8.0;
const Q: f64 = 1_460.0 / 1_500.0 * 5.12e6 / 8.0;
const SEGMENT: f64 = 1_460.0;
const INITIAL: f64 = 3.0;

/// Equations 1 to 4 and 6, an ACK for every `b` segments.
fn slow_start(size: f64, b: f64) -> f64 {
    let gamma = 1.0 + 1.0 / b;
    let log = |x: f64| libm::log(x) / libm::log(gamma);
    let pipe = R * TAU / SEGMENT + 1.0;
    let fills = libm::ceil(log(pipe / INITIAL)) + 1.0;
    let rounds = libm::ceil(log(libm::ceil(size / SEGMENT) * (gamma - 1.0) / INITIAL + 1.0));
    let whole = (fills.min(rounds) - 1.0).max(0.0);
    let sent = INITIAL * (libm::pow(gamma, whole) - 1.0) / (gamma - 1.0);
    TAU + TAU / 2.0 + (TAU + SEGMENT / R) * whole + (size - SEGMENT * sent) / R
}

/// Equations 5 and 6.
fn quick_start(size: f64) -> f64 {
    let then = if size < Q * TAU { size / Q } else { TAU + (size - Q * TAU) / R };
    TAU + TAU / 2.0 + then
}

fn assert_near(what: &str, found: f64, wanted: f64, share: f64) {
    let off = found / wanted - 1.0;
    assert!(off.abs() <= share, "{what}: {found:.4} s is {:+.2} % off {wanted:.4} s", off * 100.0);
}

const SIZES: [u32; 16] = [
    10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 62_000, 64_000, 70_000, 80_000, 100_000, 250_000,
    500_000, 1_000_000, 5_000_000, 10_000_000,
];

#[test]
fn transfer_times_match_the_model_within_1_5_percent_with_ack_every() {
    for size in SIZES {
        let (plain, asking) = times(u64::from(size), "every");
        let size = f64::from(size);
        assert_near(&format!("slow start, {size} B"), plain, slow_start(size, 1.0), 0.015);
        assert_near(&format!("Quick-Start, {size} B"), asking, quick_start(size), 0.015);
    }
}

#[test]
fn transfers_within_the_initial_window_take_equal_time_with_quick_start() {
    for size in [1, 1_460, 3_000, 4_380] {
        let (plain, asking) = times(size, "every");
        assert_eq!(plain.to_bits(), asking.to_bits(), "{size} B");
    }
    let (plain, asking) = times(4_381, "every");
    assert!(asking < plain, "one byte more is worth asking for");
}

#[test]
fn with_delayed_acks_quick_start_is_within_a_tenth_of_the_model() {
    for size in SIZES {
        let (_, asking) = times(u64::from(size), "delayed");
        assert_near(&format!("Quick-Start, {size} B"), asking, quick_start(f64::from(size)), 0.1);
    }
}

/// Another program's transfer times on this path, with delayed ACKs: ns-2's, slow start and Quick-Start.
const NS_2: [(u64, f64, f64); 4] =
    [(10_000, 0.355, 0.166), (100_000, 0.784, 0.296), (1_000_000, 1.671, 1.053), (10_000_000, 9.069, 8.451)];

#[test]
fn with_delayed_acks_both_are_within_a_hundredth_of_ns_2() {
    for (size, plain_there, asking_there) in NS_2 {
        let (plain, asking) = times(size, "delayed");
        assert_near(&format!("slow start, {size} B"), plain, plain_there, 0.01);
        assert_near(&format!("Quick-Start, {size} B"), asking, asking_there, 0.01);
    }
}

/// Segment by segment the time grows by one transmission, and where a round begins by about one RTT.
#[test]
fn slow_start_shows_the_models_steps_with_either_kind_of_ack() {
    for (ack, b) in [("every", 1.0), ("delayed", 2.0)] {
        let steps = |time: &dyn Fn(u32) -> f64| {
            let times: Vec<f64> = (1..=80).map(|segments| time(segments * 1_460)).collect();
            times.windows(2).filter(|pair| pair[1] - pair[0] > TAU / 2.0).count()
        };
        let found = steps(&|size| times(u64::from(size), ack).0);
        let wanted = steps(&|size| slow_start(f64::from(size), b));
        assert!(found.abs_diff(wanted) <= 1, "{ack}: {found} steps, the model has {wanted}");
        assert!(ack != "every" || found == wanted, "{found} steps, the model has {wanted}");
    }
}

#[test]
fn a_hop_that_does_not_take_part_leaves_slow_start() {
    for hops in ["none", "1"] {
        let rows =
            run(&format!("slow-start,{ASKING}"), &[("size", "250kB"), ("ack", "every"), ("qs-hops", hops)]);
        assert_eq!(rows[1].granted_rate_bps, None, "{hops}");
        // The SYN is 8 bytes longer, and the report takes a separate packet.
        assert!((fct(&rows[1]) - fct(&rows[0])).abs() < 1e-4, "{hops}");
    }
    let both = run(ASKING, &[("size", "250kB"), ("ack", "every"), ("qs-hops", "2")]);
    assert_eq!(both[0].granted_rate_bps, Some(5.12e6));
}

#[test]
fn a_router_lowers_what_is_too_much() {
    let rows = run("quick-start:request=40mbit", &[("size", "1MB"), ("ack", "every")]);
    // 95 % of 10 Mbit/s.
    assert_eq!(rows[0].granted_rate_bps, Some(5.12e6));
    let crossed = run("quick-start:request=40mbit", &[("size", "1MB"), ("ack", "every"), ("cross", "6mbit")]);
    assert_eq!(crossed[0].granted_rate_bps, Some(2.56e6));
}

#[test]
fn the_rate_that_served_is_stated_with_the_exit() {
    let rows = run(ASKING, &[("size", "1MB"), ("ack", "every")]);
    assert_eq!(rows[0].exit_cause, "threshold");
    assert_eq!(rows[0].exit_rate_bps, Some(5.12e6));
    // Twice the 42 segments that 5.12 Mbit/s fill in 100 ms.
    assert_eq!(rows[0].exit_cwnd_packets, Some(84.0));
}

#[test]
fn the_default_request_fits_the_built_in_path() {
    let choices = parse_choices("quick-start").expect("a scheme");
    let results = race(&Scenario::default(), &choices, &How::default()).expect("a race");
    let row = &results[0].rows[0];
    // 95 - 40 Mbit/s are left: 40.96 Mbit/s is the highest rate below that.
    assert_eq!(row.granted_rate_bps, Some(40.96e6));
    assert_eq!((row.su_loss, row.timeouts), (Some(0.0), 0));
}

#[test]
fn loss_at_the_approved_rate_can_exit_start_up_and_transfers_complete() {
    let rows = run(ASKING, &[("size", "1MB"), ("loss", "5%"), ("runs", "20")]);
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|row| fct(row) < 60.0), "every transfer ends");
    assert!(rows.iter().any(|row| row.exit_cause == "loss" && row.granted_rate_bps.is_some()));
}

#[test]
fn a_router_on_a_rate_trace_approves_the_currently_available_rate() {
    let granted = |steps: &str, rate: &str| {
        let path = [("rate", rate), ("rate-trace", steps), ("rtt", "80ms"), ("access-rate", "1gbit")];
        run("quick-start", &[&path[..], &[("size", "500kB")]].concat())[0].granted_rate_bps
    };
    // 95 % of 2 Mbit/s hold 1.28, although the trace later reaches a hundred.
    assert_eq!(granted("0s=2mbit,100s=100mbit", "100mbit"), Some(1.28e6));
    // 95 % of 50 Mbit/s hold the requested 40.96, whatever `rate` says.
    assert_eq!(granted("0s=50mbit", "1mbit"), Some(40.96e6));
    // In an outage no rate is free; the SYN continues when the outage is over.
    assert_eq!(granted("0s=0mbit,300ms=50mbit", "50mbit"), None);
}
