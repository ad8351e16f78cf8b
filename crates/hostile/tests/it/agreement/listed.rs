//! Classes of races in which `inspect` differs from the record, by what happened in them, with why packets do not tell or the definitions
//! differ.

use firstflight::Note;
use firstflight_inspect::Found;

use super::compare::{is_cut, is_late, rtt_at, seen_as, state_at, told_at};
use super::draw::Drawn;
use super::record::Record;

/// The class of a race for a statement; `None` if nothing explains a difference there.
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
                "a loss or mark that is told and that the sender passed: it stayed in start-up, and its repairs, or the end of its data, hid that",
            ),
            (
                gave_nothing_up(record),
                "an exit by a loss or mark that left the window within an eighth of what it was: no packet shows it",
            ),
            (
                starts_above_threshold(record),
                "an exit before the first acknowledgement: no flight shows what bounds it before data is there to fill it",
            ),
            (
                left_before_a_pause(found, record),
                "an exit in the last round trips before the data ran out for a time, behind which the sender slow-starts again",
            ),
            (
                is_at_once(found, record),
                "a mark, a loss or a timeout within a round trip of the one told: one acknowledgement or silence tells of both",
            ),
            (
                held(found, record, mss),
                "a window that stood still for a round trip and then grew on, within start-up",
            ),
        ],
        "flight at the exit" => &[
            (scheme == "vegas", "Vegas, whose flight stops two rounds before it leaves"),
            (has("app"), "an application that pauses, within start-up"),
            (is_unfilled(record), "a paced window that was not yet filled when it was left"),
            (
                has("jitter") || has("ack-aggregation"),
                "ACKs out of order or in bunches: what they tell of at once is no longer in flight",
            ),
            (is_small, "a window of fewer than sixteen segments at the exit"),
        ],
        "initial window, at the receiver" => &[
            (has("jitter"), "jitter, which splits or joins rounds behind the path"),
            (has("ack-loss"), "lost ACKs: the receiver's came, and the sender heard a later one"),
            (
                is_spread(record),
                "a first round trip of data longer than the least by a quarter: packets that queue behind one another",
            ),
        ],
        _ => &[],
    };
    classes.iter().find(|(holds, _)| *holds).map(|(_, class)| *class)
}

/// Below so many segments a sixteenth of the flight is less than one.
const FEW: u64 = 16;

/// Whether less was in flight at the exit than seven eighths of the window, for pacing had not yet sent the rest.
fn is_unfilled(record: &Record) -> bool {
    record.exit.is_some_and(|exit| state_at(record, exit.at).flight < exit.cwnd - exit.cwnd / 8)
}

/// Whether start-up was over before the first acknowledgement.
fn starts_above_threshold(record: &Record) -> bool {
    record.exit.zip(record.first_ack).is_some_and(|(exit, first)| exit.at <= first)
}

/// Whether the told instant is that of a reduction behind which start-up went on.
fn passed_a_cut(found: &Found, record: &Record) -> bool {
    let Some(at) = told_at(found, record).filter(|_| found.exit_cause.is_some_and(is_cut)) else {
        return false;
    };
    let rtt = rtt_at(record, at);
    let is_near = |when: u64| when.abs_diff(at) <= rtt;
    let has_cut =
        record.notes.iter().any(|(when, note)| is_near(*when) && matches!(note, Note::Reduced { .. }));
    has_cut
        && record.exit.is_none_or(|exit| exit.at > at + rtt || exit.at > at && !is_cut(seen_as(exit.cause)))
}

/// Whether the exit was by a loss or a mark, and the window two round trips later still within an eighth of what it was.
fn gave_nothing_up(record: &Record) -> bool {
    record.exit.is_some_and(|exit| {
        let later = state_at(record, exit.at + 2 * rtt_at(record, exit.at));
        is_cut(seen_as(exit.cause)) && later.cwnd >= exit.cwnd - exit.cwnd / 8
    })
}

/// Whether hardly any data followed the exit until the sender had none left for a time, and more came behind that.
fn left_before_a_pause(found: &Found, record: &Record) -> bool {
    let both = record.exit.zip(told_at(found, record));
    both.is_some_and(|(exit, told)| told > exit.at && is_late(record, exit.at))
}

/// Whether both the exit and what is told of it are cuts, a round trip apart at most.
fn is_at_once(found: &Found, record: &Record) -> bool {
    let both = told_at(found, record).zip(record.exit);
    both.is_some_and(|(at, exit)| {
        let is_near = at.abs_diff(exit.at) <= rtt_at(record, at).max(rtt_at(record, exit.at));
        is_near && is_cut(seen_as(exit.cause)) && found.exit_cause.is_some_and(is_cut)
    })
}

/// Whether the window grew by no more than a segment in some round trip of the three from the told end of growth on, which was before the exit.
fn held(found: &Found, record: &Record, mss: u64) -> bool {
    let Some(at) = told_at(found, record).filter(|_| found.exit_cause == Some("flat")) else { return false };
    let rtt = rtt_at(record, at);
    let stands = |trip: u64| {
        let window = |trip: u64| state_at(record, at + trip * rtt).cwnd;
        window(trip + 1) <= window(trip) + mss
    };
    record.exit.is_none_or(|exit| at < exit.at) && (0..3).any(stands)
}

/// Whether packets queued behind one another in the first round: its round trip, or the time until its acknowledgement, exceeds the least
/// by a quarter.
fn is_spread(record: &Record) -> bool {
    let (Some(first), Some(sent)) = (record.first_ack, record.sends.first()) else { return false };
    let (least, round) =
        (record.states.iter().filter_map(|state| state.rtt).min(), first.saturating_sub(sent.at));
    let newest = rtt_at(record, first);
    least.is_some_and(|least| 4 * round >= 5 * least || 4 * newest >= 5 * least)
}
