//! How what `inspect` says of a capture stands to the simulator's record.

use firstflight::Cause;
use firstflight_inspect::Found;
use firstflight_measure::ExitSeen;

use super::record::{Raced, Record, State};

/// How one statement stands to the record.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Verdict {
    /// It is what the record says.
    Agrees,
    /// Nothing is said, with this reason.
    Undefined(String),
    /// Packets do not carry the difference, with the reason.
    Nature(&'static str),
    /// It is not what the record says, in a race of a class in which that is known to happen.
    Listed(&'static str),
    /// It is not what the record says, and no class explains it.
    Wrong(&'static str),
}

use Verdict::{Agrees, Nature, Wrong};

/// What is compared, with the verdict.
pub(crate) type Judged = (&'static str, Verdict);

/// All statements of a race.
pub(crate) fn compare(raced: &Raced, mss: u64) -> Vec<Judged> {
    let Raced { record, at_sender, at_receiver } = raced;
    let (sent, again) =
        (record.sends.len() as u64, record.sends.iter().filter(|one| one.is_again).count() as u64);
    let mut all = vec![
        ("segments sent", equal(at_sender, "data_segments_sent", at_sender.data_segments_sent, sent)),
        (
            "segments sent again",
            equal(at_sender, "retransmitted_segments", at_sender.retransmitted_segments, again),
        ),
        ("timeouts", at_most(at_sender, at_sender.timeouts_suspected, record.timeouts)),
        ("initial window", initial_window(at_sender, record)),
        ("initial window's limit", window_limit(at_sender, record, mss)),
        ("exit", exit(at_sender, record, mss)),
    ];
    all.push(("flight at the exit", flight(at_sender, record, mss, &all[5].1)));
    let away = undefined(at_receiver, "exit_cause", at_receiver.exit_cause.is_some());
    all.extend([
        ("initial window, at the receiver", initial_window(at_receiver, record)),
        ("exit, at the receiver", away.unwrap_or(Wrong("something is said"))),
    ]);
    all
}

/// The verdict on a number that is not told; `None` if it is.
fn undefined(found: &Found, field: &str, is_told: bool) -> Option<Verdict> {
    if is_told {
        return None;
    }
    let why = found.undefined.get(field);
    Some(why.map_or(Wrong("undefined without a reason"), |why| Verdict::Undefined(why.clone())))
}

fn equal(found: &Found, field: &str, told: Option<u64>, is: u64) -> Verdict {
    match told {
        Some(told) if told == is => Agrees,
        Some(told) if told > is => Wrong("more than there were"),
        Some(_) => Wrong("fewer than there were"),
        None => undefined(found, field, false).unwrap_or(Agrees),
    }
}

/// A lower bound.
fn at_most(found: &Found, told: Option<u64>, is: u64) -> Verdict {
    match told {
        Some(told) if told < is => Nature("a lower bound, below it"),
        told => equal(found, "timeouts_suspected", told, is),
    }
}

/// What left before the first acknowledgement of data came, but for probes of the tail, which leave beyond the window.
pub(crate) fn first_flight(record: &Record) -> u64 {
    let until = record.first_ack.unwrap_or(u64::MAX);
    let before = record.states.partition_point(|state| state.at < until);
    let window = record.states[..before].iter().map(|state| state.cwnd).max().unwrap_or(u64::MAX);
    let within = record.sends.iter().filter(|one| one.at < until && !one.is_again).scan(0, |sent, one| {
        *sent += one.len;
        Some(*sent)
    });
    within.take_while(|sent| *sent <= window).count() as u64
}

fn initial_window(found: &Found, record: &Record) -> Verdict {
    equal(found, "initial_window_segments", found.initial_window_segments, first_flight(record))
}

fn window_limit(found: &Found, record: &Record, mss: u64) -> Verdict {
    let Some(told) = found.initial_window_limit else {
        return undefined(found, "initial_window_limit", false).unwrap_or(Agrees);
    };
    let until = record.first_ack.unwrap_or(u64::MAX);
    // A SYN that was sent again may have made it smaller than it was at first.
    let before = record.states.partition_point(|state| state.at < until);
    let window = record.states[..before].last().map_or(0, |state| state.cwnd);
    let last = record.sends.iter().take_while(|one| one.at < until).last().map_or(0, |one| one.at);
    let is_still_sending = until.saturating_sub(last) <= until.saturating_sub(record.sends[0].at) / 8;
    let sent: u64 =
        record.sends.iter().filter(|one| one.at < until && !one.is_again).map(|one| one.len).sum();
    let is_full = sent + mss > window;
    match (told, is_full) {
        ("window", true) | ("application" | "receiver-window", false) => Agrees,
        ("application" | "receiver-window", true) => Nature("the window was as large as that"),
        ("window", false) if is_still_sending => Nature("pacing spread it over more than the round trip"),
        ("window", false) => Wrong("the window was larger"),
        _ => Wrong("the window was full"),
    }
}

/// What an observer calls a cause.
pub(crate) fn seen_as(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "loss",
        Cause::Timeout => "timeout",
        Cause::Mark => "mark",
        Cause::App => "application",
        Cause::RateFlat => "drain",
        _ => "flat",
    }
}

/// Whether the cause lowers the window.
pub(crate) fn is_cut(cause: &str) -> bool {
    matches!(cause, "loss" | "timeout" | "mark")
}

/// The instant of the exit that is told.
pub(crate) fn told_at(found: &Found, record: &Record) -> Option<u64> {
    let first = record.sends.first()?.at;
    let seconds = found.exit_time_s?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "nanoseconds of hours")]
    Some(first + (seconds * 1e9).round() as u64)
}

/// What the sender was like at an instant.
pub(crate) fn state_at(record: &Record, at: u64) -> State {
    let place = record.states.partition_point(|state| state.at <= at);
    record.states[place.saturating_sub(1)]
}

/// The newest round trip at an instant, or the first one.
pub(crate) fn rtt_at(record: &Record, at: u64) -> u64 {
    let first = || record.states.iter().find_map(|state| state.rtt);
    state_at(record, at).rtt.or_else(first).unwrap_or(0)
}

fn exit(found: &Found, record: &Record, mss: u64) -> Verdict {
    let Some(told) = found.exit_cause else {
        return undefined(found, "exit_cause", false).unwrap_or(Agrees);
    };
    let is = record.exit;
    if told == "none" {
        return match is {
            None => Agrees,
            Some(exit) if exit.cause == Cause::App => Nature(FOR_WANT),
            Some(exit) if is_late(record, exit.at) => Nature("the data ended within two round trips of it"),
            Some(exit) if is_never_used(record, &exit) => {
                Nature("the application never used the window that was left with")
            }
            Some(_) => Wrong("none is told"),
        };
    }
    let Some(at) = told_at(found, record) else { return Wrong("a cause without a time") };
    let rtt = rtt_at(record, at).max(is.map_or(0, |exit| rtt_at(record, exit.at)));
    if let Some(exit) = is {
        let cause = seen_as(exit.cause);
        let is_same = told == cause
            || !is_cut(told) && !is_cut(cause) && told != "receiver-window" && told != "application";
        if is_same && at.abs_diff(exit.at) <= rtt {
            return Agrees;
        }
        if is_cut(told) && !is_cut(cause) && (exit.at..=exit.at + 2 * rtt).contains(&at) {
            return Nature("a loss or mark within two round trips behind it");
        }
        if is_cut(told) && is_cut(cause) && at.abs_diff(exit.at) <= rtt {
            return Wrong("another cut at the same time");
        }
    }
    if is.is_some_and(|exit| exit.cause == Cause::App && exit.at <= at) {
        return Nature(FOR_WANT);
    }
    let before = is.is_none_or(|exit| at < exit.at);
    // The window a round trip on, and two.
    let now = state_at(record, at);
    let later = state_at(record, at + 2 * rtt_at(record, at));
    let is_unused = later.cwnd >= later.flight + mss;
    match told {
        "receiver-window" | "application" if is_unused => Agrees,
        "receiver-window" | "application" => Wrong("the window was full"),
        "flat" | "drain" if before && later.cwnd <= now.cwnd + now.cwnd * 3 / 16 + 3 * mss => {
            match is.map(|exit| is_cut(seen_as(exit.cause))) {
                Some(false) => Nature("the window stood still before it was left for that"),
                Some(true) => Nature("the window stood still, and was left for a loss or a mark later"),
                None => Nature("the window stood still, and was never left"),
            }
        }
        "flat" | "drain" if before => Wrong("flat before the exit"),
        "flat" | "drain" => Wrong("flat after the exit"),
        _ if before && record.has_undone => Nature("an exit there was undone"),
        _ if before => Wrong("a cut before the exit"),
        _ => Wrong("a cut after the exit"),
    }
}

/// For a sender an idle time, or a trickle, ends start-up; in packets start-up goes on behind it.
const FOR_WANT: &str = "left for want of data";

/// Whether the flight stayed below seven eighths of the window from the exit on.
fn is_never_used(record: &Record, exit: &ExitSeen) -> bool {
    record.states.iter().all(|state| state.at < exit.at || state.flight < exit.cwnd - exit.cwnd / 8)
}

/// Whether hardly any data was left to send, or none until after a pause.
pub(crate) fn is_late(record: &Record, at: u64) -> bool {
    let rtt = rtt_at(record, at);
    let new = record.sends.iter().filter(|one| !one.is_again && one.at >= at).map(|one| one.at);
    let times: Vec<u64> = std::iter::once(at).chain(new).collect();
    // Nothing was in flight when more came.
    let is_idle = |pair: &[u64]| pair[1] - pair[0] > rtt && state_at(record, pair[1] - 1).flight == 0;
    let paused = times.windows(2).position(|pair| pair[1] - pair[0] > 2 * rtt || is_idle(pair));
    times[paused.unwrap_or(times.len() - 1)] <= at + 2 * rtt
}

fn flight(found: &Found, record: &Record, mss: u64, exit: &Verdict) -> Verdict {
    let (Some(told), Some(is)) = (found.exit_flight_bytes, record.exit) else {
        let nothing = "there is no exit".to_owned();
        return undefined(found, "exit_flight_bytes", found.exit_flight_bytes.is_some())
            .unwrap_or(Verdict::Undefined(nothing));
    };
    if *exit != Agrees || matches!(found.exit_cause, Some("receiver-window" | "application")) {
        return Verdict::Undefined("the exit does not agree".to_owned());
    }
    let close = |other: u64| told.abs_diff(other) <= (other / 8).max(2 * mss);
    let now = told_at(found, record).map_or(0, |at| state_at(record, at).cwnd);
    if close(is.cwnd) || close(record.exit_flight) || close(now) {
        Agrees
    } else {
        Wrong("more than an eighth off")
    }
}
