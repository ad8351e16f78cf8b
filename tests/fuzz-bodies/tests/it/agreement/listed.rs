//! Classes of races in which `inspect` differs from the record. A class is defined by events in the race, and has the reason: packets do
//! not show the event, or the definitions differ.

use firstflight::Note;
use firstflight_inspect::Found;

use super::compare::{is_cut, is_late, reported_at, rtt_at, seen_as, state_at};
use super::draw::Drawn;
use super::record::Record;

/// Returns the class of a race for a statement; `None` if no class explains a difference.
pub(crate) fn class(
    what: &str,
    drawn: &Drawn,
    found: &Found,
    record: &Record,
    mss: u64,
) -> Option<&'static str> {
    let has = |key: &str| drawn.set(key).is_some();
    let window = record.exit.map_or(0, |exit| exit.cwnd);
    let is_small = record.exit.is_some() && window < FEW * mss;
    let scheme = drawn.scheme();
    let classes: &[(bool, &'static str)] = match what {
        "exit" => &[
            (
                passed_a_cut(found, record),
                "the sender ignored the reported loss or mark and stayed in start-up",
            ),
            (
                gave_nothing_up(record),
                "the sender left by a loss or mark and gave up less than an eighth of its window",
            ),
            (starts_above_threshold(record), "the sender left before the first acknowledgement"),
            (
                left_before_a_pause(found, record),
                "the sender left in the last RTTs before its data ran out, and slow-started again after that",
            ),
            (is_at_once(found, record), "a mark, a loss or a timeout came within an RTT of the reported one"),
            (held(found, record, mss), "the window was constant for an RTT and then continued to grow"),
        ],
        "flight at the exit" => &[
            (scheme == "vegas", "Vegas, whose flight stops growing two rounds before the exit"),
            (has("app"), "an application that pauses within start-up"),
            (is_unfilled(record), "a paced window that was not yet filled at the exit"),
            (has("jitter") || has("ack-aggregation"), "ACKs out of order or aggregated"),
            (is_small, "a window of fewer than sixteen segments at the exit"),
        ],
        "initial window, at the receiver" => &[
            (has("jitter"), "jitter, which splits or joins rounds on the path"),
            (has("ack-loss"), "lost ACKs: the sender received a later one"),
            (
                is_spread(record),
                "a first RTT of data longer than the minimum by a quarter, because packets queue behind each other",
            ),
        ],
        _ => &[],
    };
    classes.iter().find(|(holds, _)| *holds).map(|(_, class)| *class)
}

/// The number of segments below which a sixteenth of the flight is less than a segment.
const FEW: u64 = 16;

/// Returns whether less than seven eighths of the window was in flight at the exit, because pacing had not yet sent the rest.
fn is_unfilled(record: &Record) -> bool {
    record.exit.is_some_and(|exit| state_at(record, exit.at).flight < exit.cwnd - exit.cwnd / 8)
}

/// Returns whether start-up was over before the first acknowledgement.
fn starts_above_threshold(record: &Record) -> bool {
    record.exit.zip(record.first_ack).is_some_and(|(exit, first)| exit.at <= first)
}

/// Returns whether the reported exit is a reduction after which start-up continued.
fn passed_a_cut(found: &Found, record: &Record) -> bool {
    let Some(at) = reported_at(found, record).filter(|_| found.exit_cause.is_some_and(is_cut)) else {
        return false;
    };
    let rtt = rtt_at(record, at);
    let is_near = |when: u64| when.abs_diff(at) <= rtt;
    let has_cut =
        record.notes.iter().any(|(when, note)| is_near(*when) && matches!(note, Note::Reduced { .. }));
    has_cut
        && record.exit.is_none_or(|exit| exit.at > at + rtt || exit.at > at && !is_cut(seen_as(exit.cause)))
}

/// Returns whether the exit was by a loss or a mark, and the window two RTTs after it was still within an eighth of its value at the exit.
fn gave_nothing_up(record: &Record) -> bool {
    record.exit.is_some_and(|exit| {
        let later = state_at(record, exit.at + 2 * rtt_at(record, exit.at));
        is_cut(seen_as(exit.cause)) && later.cwnd >= exit.cwnd - exit.cwnd / 8
    })
}

/// Returns whether hardly any data followed the exit until the sender ran out of data for a time, and more came after that.
fn left_before_a_pause(found: &Found, record: &Record) -> bool {
    let both = record.exit.zip(reported_at(found, record));
    both.is_some_and(|(exit, reported)| reported > exit.at && is_late(record, exit.at))
}

/// Returns whether both the exit and the reported exit are cuts, at most an RTT apart.
fn is_at_once(found: &Found, record: &Record) -> bool {
    let both = reported_at(found, record).zip(record.exit);
    both.is_some_and(|(at, exit)| {
        let is_near = at.abs_diff(exit.at) <= rtt_at(record, at).max(rtt_at(record, exit.at));
        is_near && is_cut(seen_as(exit.cause)) && found.exit_cause.is_some_and(is_cut)
    })
}

/// Returns whether the window grew by at most a segment in one of the three RTTs from the reported end of growth, which was before the
/// exit.
fn held(found: &Found, record: &Record, mss: u64) -> bool {
    let Some(at) = reported_at(found, record).filter(|_| found.exit_cause == Some("flat")) else {
        return false;
    };
    let rtt = rtt_at(record, at);
    let stands = |trip: u64| {
        let window = |trip: u64| state_at(record, at + trip * rtt).cwnd;
        window(trip + 1) <= window(trip) + mss
    };
    record.exit.is_none_or(|exit| at < exit.at) && (0..3).any(stands)
}

/// Returns whether packets queued behind one another in the first round: its RTT, or the time until its ACK, exceeds the minimum RTT by a
/// quarter.
fn is_spread(record: &Record) -> bool {
    let (Some(first), Some(sent)) = (record.first_ack, record.sends.first()) else { return false };
    let (least, round) =
        (record.states.iter().filter_map(|state| state.rtt).min(), first.saturating_sub(sent.at));
    let newest = rtt_at(record, first);
    least.is_some_and(|least| 4 * round >= 5 * least || 4 * newest >= 5 * least)
}
