use super::*;
use crate::html::vlq::decode;
use firstflight_measure::{Mark, PhaseSpan, Send, State};

fn run() -> Recording {
    let ms = 1_000_000;
    Recording {
        label: "x".into(),
        mss: 1000,
        syn_at: 5 * ms,
        first_data_at: Some(105 * ms),
        ended_at: 10_005 * ms,
        sends: vec![
            Send { at: 105 * ms, offset: 0, len: 1000, retransmission: false },
            Send { at: 305 * ms, offset: 0, len: 1000, retransmission: true },
        ],
        states: vec![
            State { at: 105 * ms, cwnd: 10_000, ssthresh: None, in_flight: 1000 },
            State { at: 205 * ms, cwnd: 10_000, ssthresh: Some(5000), in_flight: 0 },
        ],
        rtts: vec![(205 * ms, 100 * ms)],
        queue: vec![(0, 1), (2 * ms, 3), (50 * ms, 2)],
        phases: vec![
            PhaseSpan { from: 5 * ms, to: 105 * ms, kind: PhaseKind::Handshake },
            PhaseSpan { from: 105 * ms, to: 2005 * ms, kind: PhaseKind::Startup },
            PhaseSpan { from: 2005 * ms, to: 10_005 * ms, kind: PhaseKind::Avoidance },
        ],
        ..Recording::default()
    }
}

/// The run as a coarse page has it.
fn drawn(run: &Recording, tell: impl Fn(&Flow<'_>)) {
    tell(&Drawn::new(run, None).flow(100));
}

fn report(runs: &[Recording]) -> Report {
    Report { drawn: runs.iter().map(|run| Drawn::new(run, None)).collect(), ..Report::default() }
}

fn points(trace: &Trace) -> Vec<(i64, i64)> {
    decode(&trace.x).into_iter().zip(decode(&trace.y)).collect()
}

#[test]
fn times_count_from_the_syn_in_a_tick_that_is_fine_enough() {
    drawn(&run(), |flow| {
        assert!((flow.tick - 1e-6).abs() < 1e-18);
        assert_eq!(flow.first_data, Some(100_000));
        assert_eq!(points(&flow.sends), [(100_000, 1000)]);
        assert_eq!(points(&flow.retransmissions), [(300_000, 1000)]);
    });
}

#[test]
fn a_short_run_beside_a_long_one_keeps_its_finer_tick() {
    let mut long = run();
    long.ended_at = 100_005_000_000;
    let report = report(&[run(), long]);
    let drawing = Drawing::new(&report, 100);
    let ticks: Vec<f64> = drawing.flows.iter().map(|flow| flow.tick).collect();
    assert_eq!(ticks.iter().map(|tick| format!("{tick:e}")).collect::<Vec<_>>(), ["1e-6", "1e-5"]);
    let sent = drawing.flows.iter().map(|flow| points(&flow.sends)[0].0);
    assert_eq!(sent.collect::<Vec<_>>(), [100_000, 10_000]);
}

#[test]
fn a_threshold_that_is_not_set_is_a_gap() {
    drawn(&run(), |flow| assert_eq!(points(&flow.ssthresh), [(100_000, -1), (200_000, 5000)]));
}

#[test]
fn a_round_trip_is_in_microseconds_and_a_window_in_bytes() {
    drawn(&run(), |flow| {
        assert_eq!(points(&flow.rtt), [(200_000, 100_000)]);
        assert_eq!(points(&flow.cwnd), [(100_000, 10_000), (200_000, 10_000)]);
    });
}

#[test]
fn what_stood_in_the_queue_when_the_syn_left_is_kept() {
    drawn(&run(), |flow| assert_eq!(points(&flow.queue), [(0, 3), (45_000, 2)]));
}

#[test]
fn the_windows_end_at_six_round_trips_past_start_up_and_at_the_end() {
    // First data at 100 ms, round trip 100 ms; start-up over at 2 s and a fifth more.
    assert_eq!(Drawn::new(&run(), None).windows.ends, [700_000, 2_400_000, 10_000_000]);
    let mut marked = run();
    marked.marks.push(Mark { at: 1_005_000_000, kind: "su-end".into(), text: String::new() });
    assert_eq!(Drawn::new(&marked, None).windows.ends[1], 1_200_000);
    let empty = Recording { label: "x".into(), ..Recording::default() };
    let windows = Drawn::new(&empty, None).windows.ends;
    assert!(windows[0] >= 1 && windows.is_sorted());
}

/// A run that is idle from 0.5 s until 3 s after the SYN and again until 8 s, and never leaves start-up otherwise.
fn idling() -> Recording {
    let mut run = run();
    let ms = 1_000_000;
    let send = |at: u64| Send { at: (at + 5) * ms, offset: 0, len: 1000, retransmission: false };
    run.sends = [100, 200, 300, 400, 3000, 3100, 8000].map(send).to_vec();
    run.acks = [(500, 1), (3200, 2), (8100, 3)].map(|(at, offset)| ((at + 5) * ms, offset)).to_vec();
    run.phases.retain(|span| span.kind != PhaseKind::Avoidance);
    for at in [3000, 8000] {
        run.marks.push(Mark { at: (at + 5) * ms, kind: "restart".into(), text: String::new() });
    }
    run
}

#[test]
fn start_up_ends_where_an_idle_time_interrupts_it_and_each_restart_has_a_window_of_its_own() {
    let windows = Drawn::new(&idling(), None).windows;
    // What was last heard came at 0.5 s; nothing of the idle times, but for a margin of a twentieth, is in a window.
    assert_eq!(windows.ends, [700_000, 1_050_000, 10_000_000]);
    assert_eq!(windows.restarts, [[2_990_000, 3_210_000], [7_995_000, 8_105_000]]);
    let regions = Drawn::new(&idling(), None).regions;
    assert_eq!(regions, [700_000, 1_050_000, 2_990_000, 3_210_000, 7_995_000, 8_105_000, 10_000_000]);
}

#[test]
fn a_restart_whose_law_governs_at_once_is_as_long_as_some_round_trips() {
    let mut run = idling();
    let ms = 1_000_000;
    run.phases.push(PhaseSpan { from: 405 * ms, to: run.ended_at, kind: PhaseKind::Avoidance });
    run.acks.push((9_905 * ms, 4));
    assert_eq!(Drawn::new(&run, None).windows.restarts[1], [7_970_000, 8_630_000]);
}

#[test]
fn among_too_many_marks_every_exit_stays_and_the_rest_is_counted() {
    let mut run = run();
    for at in 0..1000 {
        run.marks.push(Mark {
            at: at * 1_000_000 + 5_000_000,
            kind: "reduction".into(),
            text: String::new(),
        });
    }
    run.marks.push(Mark { at: 9_000_000_000, kind: "exit".into(), text: "loss".into() });
    let flow = Drawn::new(&run, None);
    assert_eq!(flow.marks.len(), MOST_MARKS);
    assert_eq!(flow.marks_left_out, 601);
    assert_eq!(flow.marks.last().unwrap().1, "exit");
}

#[test]
fn a_crowded_run_is_thinned_until_it_fits() {
    let mut run = run();
    run.queue = (0..300_000_u64)
        .map(|at| (5_000_000 + at * 33_333, u32::try_from(at * 7919 % 1000).unwrap()))
        .collect();
    let report = report(&vec![run; 24]);
    let json = Drawing::json(&report).unwrap();
    assert!(json.len() <= LARGEST, "{}", json.len());
    assert!(json.len() > LARGEST * 3 / 5, "the room is used: {}", json.len());
    let finest = serde_json::to_string(&Drawing::new(&report, FINEST)).unwrap();
    assert!(finest.len() > LARGEST, "there was something to thin: {}", finest.len());
}

#[test]
fn the_page_has_the_bandwidth_delay_product_that_the_figure_draws() {
    let path = BasePath { base_rtt: 100_000_000, packet: 1040 };
    let mut run = run();
    run.available = vec![(0, 8_320_000), (1_005_000_000, 4_160_000)];
    let drawn = Drawn::new(&run, Some(&path));
    // In thousandths of a packet, to where the run ends.
    assert_eq!(points(&drawn.flow(100).product), [(0, 100_000), (1_000_000, 50_000), (10_000_000, 50_000)]);
    let figure: Vec<_> =
        path.products(&run, u64::MAX).iter().map(|&(_, packets)| thousandths(packets)).collect();
    assert_eq!(figure, [100_000, 50_000, 50_000]);
    assert_eq!(Drawn::new(&run, None).flow(100).product.n, 0, "a capture has none");
}
