//! Tail loss probes (RFC 8985 section 7): their times, and the meaning of their answers.

use firstflight::{Span, Time};
use firstflight_tcp::{Config, Ecn, Flags, Segment, Stack};

use super::connection::{DELAY, dropping};
use super::line::{Line, Verdict, config, millis};

fn line(config: &Config) -> Line {
    let mut line = Line::new(config, config, DELAY);
    line.client.open(line.now);
    line
}

fn pass(_: Time, _: bool, _: &Segment) -> Verdict {
    Verdict::Pass
}

/// RFC 8985 section 7.1: a sender that begins a recovery drops the probe.
#[test]
fn a_tail_of_several_losses_is_one_reduction() {
    for lost in [vec![8], vec![8, 9], vec![7, 8, 9], (290..300).collect()] {
        let mut line = line(&config());
        line.client.write(if lost.len() < 4 { 10_000 } else { 300_000 });
        line.run(millis(3_000), dropping(lost.clone()));
        assert_eq!((line.reductions(), line.client.stats().timeouts), (1, 0), "{lost:?}");
        line.client.write(20_000);
        line.run(millis(6_000), pass);
        assert_eq!(line.reductions(), 1, "{lost:?}");
    }
}

/// RFC 8985 section 7.4.2: a duplicate ACK is one without any other cause.
#[test]
fn a_window_update_is_no_duplicate_that_a_probe_made() {
    let slow = Config { receive_buffer: 60_000, reads_at_once: false, ..config() };
    let mut line = Line::new(&config(), &slow, DELAY);
    line.client.open(line.now);
    line.client.write(10_000);
    line.run(millis(1_000), dropping(vec![9]));
    assert_eq!((line.client.stats().probes, line.reductions()), (1, 0));
    line.server.read(10_000);
    line.run(millis(2_000), pass);
    line.client.write(3_000);
    line.run(millis(3_000), pass);
    assert_eq!(line.reductions(), 1, "the probe repaired a loss");
}

/// RFC 3168 section 6.1.2: the window is reduced once, and CWR reports it, for any cause of the reduction.
#[test]
fn a_reduction_for_what_a_probe_repaired_answers_marks() {
    let mut line = line(&Config { ecn: true, ..config() });
    line.client.write(10_000);
    line.run(millis(1_000), dropping(vec![9]));
    line.client.write(8_000);
    let (mut marked, mut answers) = (false, 0);
    for until in [3_000, 4_000] {
        line.run(millis(until), |_, from_client, segment| {
            answers += usize::from(from_client && segment.flags.has(Flags::CWR));
            if from_client && segment.seq == 12_001 && !core::mem::replace(&mut marked, true) {
                return Verdict::Change(Segment { ecn: Ecn::Ce, ..*segment });
            }
            Verdict::Pass
        });
        line.client.write(3_000);
    }
    assert_eq!((line.reductions(), answers), (1, 1));
}

/// RFC 3708 section 2: a duplicate counts if this reduction's repair caused it.
#[test]
fn a_probe_after_a_repair_keeps_nothing_of_it_to_be_undone() {
    let mut line = line(&config());
    line.client.write(40_000);
    line.run(millis(800), dropping(vec![20]));
    assert_eq!(line.reductions(), 1);
    // A late segment is probed for; its duplicate is reported at once.
    line.client.write(1_000);
    let mut late = false;
    line.run(millis(2_000), |_, from_client, segment| {
        let held = from_client && segment.seq == 40_001 && !core::mem::replace(&mut late, true);
        if held { Verdict::Delay(Span::from_millis(600)) } else { Verdict::Pass }
    });
    assert_eq!((line.client.stats().probes, line.client.stats().undone), (1, 0));
    for step in 1..20 {
        line.client.write(1_000);
        line.run(millis(2_000 + 500 * step), pass);
    }
    let probed = line.log.iter().rev().find(|(_, client, segment)| *client && segment.seq == 40_001);
    line.server.on_segment(line.now, &probed.expect("it was sent").2);
    line.run(millis(13_000), pass);
    assert_eq!(line.client.stats().undone, 0);
    assert!(line.client.snapshot().ssthresh.is_some(), "the loss was real");
}

/// RFC 8985 section 7.2: segments are counted, not bytes.
#[test]
fn a_probe_waits_for_a_delayed_ack_where_one_segment_is_out() {
    let after = |stack: Stack, writes: u32, bytes, fin| {
        let mut line = line(&Config { stack, min_rto: stack.min_rto(), ..config() });
        line.client.write(10_000);
        line.run(millis(2_000), pass);
        for _ in 0..writes {
            line.client.write(bytes);
            if fin {
                line.client.shut();
            }
            while line.client.poll_transmit(line.now).is_some() {}
        }
        line.client.next_timer().expect("a probe").since(line.now)
    };
    let (two, delayed) = (DELAY * 4, Span::from_millis(200));
    let tick = Span::from_millis(2);
    assert_eq!([after(Stack::Rfc, 1, 1_000, false), after(Stack::Rfc, 1, 1_000, true)], [two + delayed; 2]);
    // The timeout comes first here, and a probe no later.
    let timeout = DELAY * 2 + Span::from_millis(200);
    assert_eq!([after(Stack::Linux, 1, 1_000, false), after(Stack::Linux, 1, 1_000, true)], [timeout; 2]);
    assert_eq!([after(Stack::Rfc, 3, 100, false), after(Stack::Linux, 3, 100, false)], [two, two + tick]);
}

/// Linux `tcp_schedule_loss_probe` allows the minimum RTO for a delayed ACK, where RFC 8985 section 7.2 says 200 ms.
#[test]
fn a_single_segment_probe_in_linux_adds_the_minimum_rto() {
    let probed = |stack, least| {
        let config = Config { stack, min_rto: Span::from_millis(least), ..config() };
        let mut line = line(&config);
        line.client.open(line.now);
        line.client.write(1_000);
        let lose = |_: Time, client, segment: &Segment| {
            if client && segment.len > 0 { Verdict::Drop } else { Verdict::Pass }
        };
        line.run(millis(3_000), lose);
        line.data()[1].0.since(line.data()[0].0)
    };
    // The timeout bounds the probe.
    for (least, rfc, linux) in [(50, 300, 250), (200, 300, 300), (1_000, 400, 1_100)] {
        assert_eq!(probed(Stack::Rfc, least), Span::from_millis(rfc), "{least} ms");
        assert_eq!(probed(Stack::Linux, least), Span::from_millis(linux), "{least} ms");
    }
}
