//! One reduction for two causes: a loss that did not happen, and a mark that did.

use firstflight::Span;
use firstflight_tcp::{Config, Ecn, Flags, Segment, Stack};

use super::connection::DELAY;
use super::line::{Line, Verdict, config, millis};

/// Runs a transfer in which a segment may be late enough to be retransmitted and another may be marked. Returns how many reductions remain
/// at the end, how many were undone, and how many segments carried CWR.
fn outcome(config: &Config, late: bool, mark: Option<u32>) -> (usize, u64, usize) {
    let mut line = Line::new(config, config, DELAY);
    line.client.open(line.now);
    line.client.write(400_000);
    let (mut data, mut answers) = (0, 0);
    line.run(millis(6_000), |_, from_client, segment| {
        if !from_client || segment.len == 0 {
            return Verdict::Pass;
        }
        data += 1;
        answers += usize::from(segment.flags.has(Flags::CWR));
        match data {
            41 if late => Verdict::Delay(DELAY * 3 / 2),
            number if Some(number) == mark => Verdict::Change(Segment { ecn: Ecn::Ce, ..*segment }),
            _ => Verdict::Pass,
        }
    });
    assert_eq!(line.server.stats().received, 400_000);
    (status(&line), line.client.stats().undone, answers)
}

/// Returns how many reductions were not undone.
fn status(line: &Line) -> usize {
    line.reductions() - usize::try_from(line.client.stats().undone).expect("few")
}

/// RFC 3168 section 6.1.2: a mark is answered like a loss, once per window. If the loss is spurious, the mark still counts.
#[test]
fn a_mark_that_a_reduction_answered_too_keeps_it() {
    for stack in [Stack::Rfc, Stack::Linux] {
        for timestamps in [false, true] {
            let config = Config { ecn: true, stack, timestamps, ..config() };
            let (status, undone, answers) = outcome(&config, true, None);
            assert_eq!((status, undone), (0, 1), "{stack:?} {timestamps}: nothing was lost");
            assert!(answers <= 1);
            // Before the repair began, while it goes on, and after it.
            for mark in [35, 60, 90] {
                let told = format!("{stack:?} {timestamps} {mark}");
                assert_eq!(outcome(&config, false, Some(mark)), (1, 0, 1), "{told}");
                let (status, undone, answers) = outcome(&config, true, Some(mark));
                assert!(status == 1 && undone <= 1 && answers >= 1, "{told}: {status} {undone} {answers}");
            }
        }
    }
}

/// The mark came first, and the loss after it was spurious: there is no reduction to undo but the mark's.
#[test]
fn undoing_a_loss_leaves_the_reduction_for_a_mark() {
    for stack in [Stack::Rfc, Stack::Linux] {
        for timestamps in [false, true] {
            let config = Config { ecn: true, stack, timestamps, ..config() };
            for late in (34..140).step_by(3) {
                for by in [30, 60, 75, 110] {
                    let mut line = Line::new(&config, &config, DELAY);
                    line.client.open(line.now);
                    line.client.write(400_000);
                    let mut data = 0;
                    line.run(millis(6_000), |_, from_client, segment| {
                        data += u32::from(from_client && segment.len > 0);
                        match data {
                            _ if !from_client || segment.len == 0 => Verdict::Pass,
                            number if number == late => Verdict::Delay(Span::from_millis(by)),
                            33 => Verdict::Change(Segment { ecn: Ecn::Ce, ..*segment }),
                            _ => Verdict::Pass,
                        }
                    });
                    assert!(status(&line) >= 1, "{stack:?} {timestamps}: {late} late by {by} ms");
                }
            }
        }
    }
}

/// RFC 5682 finds that a timeout was spurious. The window is a separate question: a mark keeps it reduced, and causes no retransmission.
#[test]
fn a_spurious_timeout_is_seen_through_though_a_mark_keeps_its_reduction() {
    for stack in [Stack::Rfc, Stack::Linux] {
        for timestamps in [false, true] {
            let [without, with] = [false, true].map(|mark| {
                let host = Config { ecn: true, stack, timestamps, ..config() };
                let mut line = Line::new(&host, &host, DELAY);
                line.client.open(line.now);
                line.client.write(400_000);
                line.run(millis(10_000), |now, from_client, segment| {
                    // The return path delivers nothing until 3 s.
                    if !from_client && segment.ack > 30_001 && now < millis(3_000) {
                        Verdict::Delay(millis(3_000).since(now))
                    } else if from_client && segment.seq == 31_001 && mark && segment.ecn != Ecn::NotCapable {
                        Verdict::Change(Segment { ecn: Ecn::Ce, ..*segment })
                    } else {
                        Verdict::Pass
                    }
                });
                assert_eq!(line.server.stats().received, 400_000);
                assert_eq!(status(&line), usize::from(mark), "{stack:?} {timestamps}");
                line.client.stats().retransmissions
            });
            assert!(with <= without, "{stack:?} {timestamps}: {with} for {without}");
            // Without timestamps, and without new data first as Linux sends it, retransmissions run ahead of the answers.
            assert!(without <= 4 || stack == Stack::Rfc && !timestamps, "{stack:?} {timestamps}: {without}");
        }
    }
}
