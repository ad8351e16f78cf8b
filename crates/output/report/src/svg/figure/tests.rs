use firstflight_measure::{Drop, PhaseSpan, State};

use super::*;
use crate::reference::BasePath;

const MS: u64 = 1_000_000;

/// Returns a flow that doubles its window every 100 ms from 10 to 640 packets, loses one packet and continues with half the window.
fn run(label: &str) -> Recording {
    let data = 1100 * MS;
    let state = |round: u64| State {
        at: data + round * 100 * MS,
        cwnd: (10_000 << round.min(6)) / (1 + round / 7),
        ssthresh: None,
        in_flight: 5000,
    };
    let span = |from: u64, to: u64, kind| PhaseSpan { from: from * MS, to: to * MS, kind };
    Recording {
        label: label.to_owned(),
        mss: 1000,
        syn_at: 1000 * MS,
        first_data_at: Some(data),
        ended_at: 2100 * MS,
        states: (0..10).map(state).collect(),
        queue: vec![(1000 * MS, 0), (1500 * MS, 40), (1800 * MS, 0)],
        phases: vec![
            span(1000, 1100, PhaseKind::Handshake),
            span(1100, 1750, PhaseKind::Startup),
            span(1750, 2100, PhaseKind::Avoidance),
        ],
        marks: vec![firstflight_measure::Mark {
            at: 1750 * MS,
            kind: "exit".into(),
            text: "start-up left by loss".into(),
        }],
        drops: vec![Drop { at: 1700 * MS, sent_at: 1690 * MS, offset: 0, len: 1000, by_queue: true }],
        available: vec![(0, 8_320_000)],
        ..Recording::default()
    }
}

fn report() -> Report {
    Report { title: "a path".into(), command: "firstflight race --x".into(), ..Report::default() }
}

const FRAME: Frame = Frame {
    path: BasePath { base_rtt: 100 * MS, packet: 1040 },
    until: None,
    is_one_run: false,
    overlays: false,
    sheet: Sheet::DEFAULT,
};

#[test]
fn an_exit_is_told_at_its_time_since_the_first_data_packet() {
    let svg = render(&report(), &[run("one")], &FRAME).unwrap();
    assert!(svg.contains(">0.650 s: exit by loss</text>"), "{svg}");
    assert!(svg.contains("firstflight race --x"), "the command is inside");
}

#[test]
fn the_legend_names_what_is_drawn_and_nothing_else() {
    let svg = render(&report(), &[run("one")], &FRAME).unwrap();
    for drawn in
        ["cwnd", "in flight", "available rate × base RTT", "dropped by a queue", ">start-up<", ">avoidance<"]
    {
        assert!(svg.contains(drawn), "{drawn}");
    }
    for absent in ["ssthresh", "lost at random", ">recovery<", ">after timeout<"] {
        assert!(!svg.contains(absent), "{absent}");
    }
}

#[test]
fn the_product_is_drawn_where_it_belongs_on_the_scale() {
    // 8.32 Mbit/s for 100 ms carry 104 kB, which is a hundred packets of 1040 bytes.
    let (report, run) = (report(), run("one"));
    let panel = Panel::new(&report, &run, &FRAME);
    assert_eq!(panel.products(u64::MAX / 2), [(0, 100.0), (2100 * MS, 100.0)]);
}

#[test]
fn a_figure_ends_where_it_is_told_to() {
    let frame = Frame { until: Some(590 * MS), ..FRAME };
    let svg = render(&report(), &[run("one")], &frame).unwrap();
    assert!(!svg.contains("exit by") && !svg.contains("dropped by a queue"), "{svg}");
    let whole = render(&report(), &[run("one")], &Frame { until: Some(3600 * 1000 * MS), ..FRAME }).unwrap();
    assert_eq!(whole, render(&report(), &[run("one")], &FRAME).unwrap(), "there is nothing after the run");
}

#[test]
fn six_flows_have_room_and_seven_are_refused() {
    let runs = |count: usize| (0..count).map(|n| run(&format!("flow {n}"))).collect::<Vec<_>>();
    assert!(render(&report(), &runs(6), &FRAME).unwrap().contains("flow 5"));
    assert_eq!(render(&report(), &runs(7), &FRAME), Err(FigureError::TooMany(7)));
}

#[test]
fn a_window_that_stays_low_on_the_scale_gets_decades() {
    let mut low = run("low");
    for state in &mut low.states {
        state.cwnd = 20_000;
    }
    let (report, runs) = (report(), [run("one"), low]);
    let panels: Vec<_> = runs.iter().map(|run| Panel::new(&report, run, &FRAME)).collect();
    assert!(scales(&panels, &FRAME, FINEST).window.logarithmic);
    assert!(!scales(&panels[..1], &FRAME, FINEST).window.logarithmic);
}

#[test]
fn a_crowded_run_is_thinned_until_the_figure_is_small() {
    let mut crowded = run("crowded");
    let wave = |n: u64| (n * 7919) % 1000;
    crowded.states = (0..200_000)
        .map(|n| State {
            at: 1100 * MS + n * 5000,
            cwnd: 1000 + wave(n) * 1000,
            ssthresh: Some(50_000),
            in_flight: wave(n + 1) * 1000,
        })
        .collect();
    crowded.queue = (0..200_000_u32).map(|n| (1100 * MS + u64::from(n) * 5000, n * 37 % 500)).collect();
    let svg = render(&report(), &vec![crowded; 6], &FRAME).unwrap();
    assert!(svg.len() <= LARGEST, "{}", svg.len());
}

#[test]
fn flow_descriptions_are_complete_and_within_the_figure_for_long_texts() {
    let label = "a-rather-long-label-of-a-scheme:request=5.12mbit,first=4";
    let mut one = run(label);
    one.marks[0].text = format!("start-up left by loss: {}RTT 59.4 ms", "cwnd 71.0 packets, ".repeat(9));
    let row = firstflight_measure::Row {
        scheme: "slow-start".into(),
        label: Some(label.into()),
        avoidance: "cubic-linux".into(),
        throughput_bps: 7_670_000.0,
        su_time_s: Some(0.2691),
        su_loss: Some(0.0941),
        fct_s: Some(Some(0.5226)),
        queue_peak_packets: 20,
        ..firstflight_measure::Row::default()
    };
    let report = Report { rows: firstflight_export::records(&[row]).unwrap(), ..report() };
    let svg = render(&report, &[one], &FRAME).unwrap();
    assert!(!svg.contains('…'), "{svg}");
    for words in [label, "queue peak 20 packets</text>", "su-loss 9.41 %", "RTT 59.4 ms</text>"] {
        assert!(svg.contains(words), "{words} in {svg}");
    }
    let height = svg.split_once("viewBox=\"0 0 760 ").unwrap().1.split('"').next().unwrap();
    assert!(svg.contains(&format!("height=\"{height}\"")), "{svg}");
}

#[test]
fn hostile_labels_stay_text_and_long_words_are_clipped() {
    let mut one = run("</text><script>alert(1)</script>");
    one.marks[0].text = "x".repeat(500);
    let svg = render(&report(), &[one], &FRAME).unwrap();
    assert!(!svg.contains("<script>") && svg.contains("…"), "{svg}");
}

#[test]
fn a_flow_that_never_sent_is_drawn_without_a_panic() {
    let nothing = Recording { label: "nothing".into(), ..Recording::default() };
    assert!(render(&report(), &[nothing], &FRAME).unwrap().contains("nothing"));
}

#[test]
fn an_overlay_has_each_flow_in_both_axes_and_its_exit() {
    let frame = Frame { overlays: true, ..FRAME };
    let svg = render(&report(), &[run("one"), run("two")], &frame).unwrap();
    for (colour, lines) in [("#0072b2", 3), ("#d55e00", 3)] {
        assert_eq!(
            svg.matches(&format!("stroke=\"{colour}\"")).count(),
            lines,
            "{colour}: legend, window, queue"
        );
        assert_eq!(svg.matches(&format!("r=\"3.6\" fill=\"{colour}\"")).count(), 1, "{colour}: the exit");
    }
    assert_eq!(svg.matches("window, packets").count(), 1);
}

#[test]
fn a_figure_has_the_size_and_font_of_its_sheet() {
    for overlays in [false, true] {
        let sheet = Sheet { width: 600.0, height: Some(700.0), font: 18.0 };
        let svg = render(&report(), &[run("one"), run("two")], &Frame { overlays, sheet, ..FRAME }).unwrap();
        assert!(svg.contains("viewBox=\"0 0 400 466.7\" width=\"600\" height=\"700\""), "{}", &svg[..200]);
    }
    let sheet = Sheet { height: Some(100.0), ..Sheet::DEFAULT };
    let low = render(&report(), &[run("one")], &Frame { sheet, ..FRAME });
    let Err(FigureError::TooLow(minimum)) = low else { panic!("{low:?}") };
    let sheet = Sheet { height: Some(f64::from(minimum)), ..Sheet::DEFAULT };
    assert!(render(&report(), &[run("one")], &Frame { sheet, ..FRAME }).is_ok());
}
