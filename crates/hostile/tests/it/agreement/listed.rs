//! Classes of races in which `inspect` is known to differ from the record, told by what was run and by the record alone.

use super::compare::rtt_at;
use super::draw::Drawn;
use super::record::Record;

/// The class of a race for a statement; `None` if nothing explains a difference there.
pub(crate) fn class(what: &str, drawn: &Drawn, record: &Record, mss: u64) -> Option<&'static str> {
    let is = |key: &str, values: &[&str]| drawn.set(key).is_some_and(|text| values.contains(&text));
    let has = |key: &str| drawn.set(key).is_some();
    let window = record.exit.map_or(0, |exit| exit.cwnd);
    let is_small = record.exit.is_some() && window < FEW * mss;
    let scheme = drawn.scheme();
    let classes: &[(bool, &'static str)] = match what {
        "exit" => &[
            (scheme == "bbr", "BBR, which need not leave for its losses"),
            (scheme == "paced", "paced start, whose trains need not grow"),
            (scheme == "quick-start", "Quick-Start, which begins anew behind a loss of what it was granted"),
            (has("rounds") || has("app"), "an application that pauses, within start-up"),
            (
                starts_above_threshold(record),
                "a threshold at or below the initial window, and avoidance from then on",
            ),
            (has_no_sack(drawn), "recovery without SACK, whose flight is not known"),
            (is("avoidance", &["westwood"]), "Westwood, whose flight a loss hardly lowers"),
            (is_small, "a window of fewer than sixteen segments at the exit"),
        ],
        "flight at the exit" => &[
            (scheme == "vegas", "Vegas, whose flight stops two rounds before it leaves"),
            (has("app"), "an application that pauses, within start-up"),
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

/// Whether start-up was over before the first acknowledgement.
fn starts_above_threshold(record: &Record) -> bool {
    record.exit.zip(record.first_ack).is_some_and(|(exit, first)| exit.at <= first)
}

fn has_no_sack(drawn: &Drawn) -> bool {
    matches!(drawn.set("recovery"), Some("newreno" | "reno"))
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
