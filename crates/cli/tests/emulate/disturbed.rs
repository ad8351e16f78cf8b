//! The log of a run that a signal, an I/O error or a full disk disturbs at a call on files.

use firstflight_capture::Reader;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;

use crate::common::{folder, stderr, text};
use crate::inject::{DISTURBANCES, disturbed, is_large, library};
use crate::machine::can_run;
use crate::setting::emulate;

/// Returns the number of packets of a complete capture; `None` for any other file.
fn packets(log: &Path) -> Option<u64> {
    let bytes = fs::read(log).ok()?;
    let mut capture = Reader::new(&bytes[..]).ok()?;
    let mut count = 0;
    while capture.next_frame().ok()?.is_some() {
        count += 1;
    }
    capture.cut().is_none().then_some(count)
}

/// Checks whether a run ended without error. On a busy machine the path may be late, which is no fault of the log.
fn ended_well(output: &Output) -> bool {
    output.status.success()
        || (output.status.code() == Some(1) && stderr(output).contains("the run is invalid"))
}

#[test]
fn the_log_of_a_disturbed_run_is_whole_or_what_was_there() {
    const TEST: &str = "disturbed::the_log_of_a_disturbed_run_is_whole_or_what_was_there";
    if !can_run(TEST, &["ping"]) || library().is_none() {
        return;
    }
    let place = folder("emulate-disturbed");
    let log = place.join("log.pcapng");
    let run = |at: usize, what: &str| {
        fs::write(&log, "older").expect("a file");
        let path = ["--rate", "20mbit", "--log", text(&log)];
        let commands = ["--", "ping", "-q", "-c", "2", "-i", "0.01", "{B}", "--", "true"];
        disturbed(emulate(&[&path[..], &commands].concat()), &place, (at, what)).expect("a library")
    };
    let (undisturbed, calls) = run(0, "");
    assert!(ended_well(&undisturbed), "{}", stderr(&undisturbed));
    let whole = packets(&log).expect("a capture");
    assert!(whole >= 8 && calls > 5, "{whole} packets, {calls} calls");
    for call in 0..calls {
        // Without FIRSTFLIGHT_INJECT each disturbance runs once, each at a different call.
        let of_call = DISTURBANCES.iter().enumerate().filter(|(at, _)| is_large() || at * calls / 5 == call);
        for (_, what) in of_call {
            let (output, _) = run(call, what);
            let of = format!("{what} at call {call}: {}", stderr(&output));
            let is_old = fs::read(&log).expect("a file") == b"older";
            match (output.status.code(), *what) {
                _ if ended_well(&output) => assert_eq!(packets(&log), Some(whole), "{of}"),
                // The log of what was run.
                (Some(130), "INT" | "TERM") => assert!(is_old || packets(&log).is_some(), "{of}"),
                (Some(2 | 3), "EIO" | "ENOSPC") => assert!(is_old, "{of}"),
                (None, "KILL") => {
                    assert_eq!(output.status.signal(), Some(9));
                    assert!(is_old || packets(&log) == Some(whole), "{of}");
                }
                (code, _) => panic!("it ended with {code:?}: {of}"),
            }
            let (again, _) = run(usize::MAX, "");
            assert!(ended_well(&again), "{of}, again: {}", stderr(&again));
            assert_eq!(packets(&log), Some(whole), "{of}, again");
            assert_eq!(fs::read_dir(&place).expect("a folder").count(), 1, "{of}: a hidden file stays");
        }
    }
}
