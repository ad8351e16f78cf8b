//! One reduction for two reasons: a loss that did not happen, and a mark that did.

use firstflight::Note;
use firstflight_tcp::{Config, Ecn, Flags, Happening, Segment};

use crate::connection::DELAY;
use crate::line::{Line, Verdict, config, millis};

/// Of a transfer in which a segment may be late enough to be sent again and another may be marked: how many reductions stand
/// at the end, how many were undone, and how often CWR was said.
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
    let reductions = |what: &Happening| matches!(what, Happening::Control(Note::Reduced { .. }));
    let all = line.happenings.iter().filter(|(_, what)| reductions(what)).count();
    let undone = line.client.stats().undone;
    (all - usize::try_from(undone).expect("few"), undone, answers)
}

/// RFC 3168 section 6.1.2: a mark is answered as a loss is, once a window. Where the loss turns out to be none, the mark remains.
#[test]
fn a_mark_that_a_reduction_answered_too_keeps_it() {
    for as_linux in [false, true] {
        for timestamps in [false, true] {
            let config = Config { ecn: true, as_linux, timestamps, ..config() };
            let (standing, undone, answers) = outcome(&config, true, None);
            assert_eq!((standing, undone), (0, 1), "{as_linux} {timestamps}: nothing was lost");
            assert!(answers <= 1);
            // Before the repair began, while it goes on, and after it.
            for mark in [35, 60, 90] {
                let told = format!("{as_linux} {timestamps} {mark}");
                assert_eq!(outcome(&config, false, Some(mark)), (1, 0, 1), "{told}");
                let (standing, undone, answers) = outcome(&config, true, Some(mark));
                assert!(
                    standing == 1 && undone <= 1 && answers >= 1,
                    "{told}: {standing} {undone} {answers}"
                );
            }
        }
    }
}
