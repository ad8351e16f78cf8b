use super::*;
use crate::html::drawing::{Drawing, LARGEST};
use crate::html::merged::Merged;
use crate::html::vlq::decode;
use crate::report::Report;
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

/// Passes the run to `tell` as a page of coarse resolution has it.
fn drawn(run: &Recording, tell: impl Fn(&Flow<'_>)) {
    tell(&Traces::new(run, None).flow(100));
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
    let merged = Merged::new(&report);
    let drawing = Drawing::new(&report, &merged, 100);
    let ticks: Vec<f64> = drawing.flows.iter().map(|flow| flow.run.tick).collect();
    assert_eq!(ticks.iter().map(|tick| format!("{tick:e}")).collect::<Vec<_>>(), ["1e-6", "1e-5"]);
    let sent = drawing.flows.iter().map(|flow| points(&flow.run.sends)[0].0);
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
fn the_queue_at_the_departure_of_the_syn_is_retained() {
    drawn(&run(), |flow| assert_eq!(points(&flow.queue), [(0, 3), (45_000, 2)]));
}

#[test]
fn plot_windows_cover_six_rtts_start_up_and_the_whole_run() {
    // The first data is at 100 ms, and the round trip is 100 ms. Start-up ends at 2 s; a fifth of that is added.
    assert_eq!(Traces::new(&run(), None).windows.ends, [700_000, 2_400_000, 10_000_000]);
    let mut marked = run();
    marked.marks.push(Mark { at: 1_005_000_000, kind: "su-end".into(), text: String::new() });
    assert_eq!(Traces::new(&marked, None).windows.ends[1], 1_200_000);
    let empty = Recording { label: "x".into(), ..Recording::default() };
    let windows = Traces::new(&empty, None).windows.ends;
    assert!(windows[0] >= 1 && windows.is_sorted());
}

/// Returns a run that is idle from 0.5 s to 3 s after the SYN and again until 8 s. It does not leave start-up.
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
fn start_up_ends_at_an_idle_time_and_restarts_have_own_windows() {
    let windows = Traces::new(&idling(), None).windows;
    // The last ACK before the first idle time arrives at 0.5 s. Apart from a margin of a twentieth, no restart's window contains idle time.
    assert_eq!(windows.ends, [700_000, 1_050_000, 10_000_000]);
    assert_eq!(windows.restarts, [[2_990_000, 3_210_000], [7_995_000, 8_105_000]]);
    let regions = Traces::new(&idling(), None).regions;
    assert_eq!(regions, [700_000, 1_050_000, 2_990_000, 3_210_000, 7_995_000, 8_105_000, 10_000_000]);
}

#[test]
fn a_restart_governed_by_the_law_at_once_spans_several_round_trips() {
    let mut run = idling();
    let ms = 1_000_000;
    run.phases.push(PhaseSpan { from: 405 * ms, to: run.ended_at, kind: PhaseKind::Avoidance });
    run.acks.push((9_905 * ms, 4));
    assert_eq!(Traces::new(&run, None).windows.restarts[1], [7_970_000, 8_630_000]);
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
    let flow = Traces::new(&run, None);
    assert_eq!(flow.marks.len(), MAX_MARKS);
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
    let merged = Merged::new(&report);
    let json = Drawing::json(&report, &merged).unwrap();
    assert!(json.len() <= LARGEST, "{}", json.len());
    assert!(json.len() > LARGEST * 3 / 5, "the room is used: {}", json.len());
    let finest = serde_json::to_string(&Drawing::new(&report, &merged, FINEST)).unwrap();
    assert!(finest.len() > LARGEST, "there was something to thin: {}", finest.len());
}

#[test]
fn the_page_has_the_bandwidth_delay_product_that_the_figure_draws() {
    let path = BasePath { base_rtt: 100_000_000, packet: 1040 };
    let mut run = run();
    run.available = vec![(0, 8_320_000), (1_005_000_000, 4_160_000)];
    let drawn = Traces::new(&run, Some(&path));
    // The product is in thousandths of a packet, up to the end of the run.
    assert_eq!(points(&drawn.flow(100).product), [(0, 100_000), (1_000_000, 50_000), (10_000_000, 50_000)]);
    let figure: Vec<_> =
        path.products(&run, u64::MAX).iter().map(|&(_, packets)| thousandths(packets)).collect();
    assert_eq!(figure, [100_000, 50_000, 50_000]);
    assert_eq!(Traces::new(&run, None).flow(100).product.n, 0, "a capture has none");
}
