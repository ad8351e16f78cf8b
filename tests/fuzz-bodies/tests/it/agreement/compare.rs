//! Compares the results of `inspect` on a capture with the simulator's record.

use firstflight::Cause;
use firstflight_inspect::Found;
use firstflight_measure::ExitSeen;

use super::record::{Raced, Record, State};

/// The relation of a statement to the record.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Verdict {
    /// The statement agrees with the record.
    Agrees,
    /// `inspect` states nothing, for this reason.
    Undefined(String),
    /// The packets do not show the difference, for this reason.
    Nature(&'static str),
    /// The result differs from the record, in a race of a class in which that is known to happen.
    Listed(&'static str),
    /// The result differs from the record, and no class explains it.
    Wrong(&'static str),
}

use Verdict::{Agrees, Nature, Wrong};

/// A statement with its verdict.
pub(crate) type Judged = (&'static str, Verdict);

/// All statements of a race.
pub(crate) fn compare(raced: &Raced, mss: u64) -> Vec<Judged> {
    let Raced { record, at_sender, at_receiver } = raced;
    let (sent, again) =
        (record.sends.len() as u64, record.sends.iter().filter(|one| one.is_again).count() as u64);
    let mut all = vec![
        ("segments sent", equal(at_sender, "data_segments_sent", at_sender.data_segments_sent, sent)),
        (
            "segments retransmitted",
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
        ("exit, at the receiver", away.unwrap_or(Wrong("an exit is reported"))),
    ]);
    all
}

/// Returns the verdict on a number that is not reported; `None` if it is reported.
fn undefined(found: &Found, field: &str, is_reported: bool) -> Option<Verdict> {
    if is_reported {
        return None;
    }
    let why = found.undefined.get(field);
    Some(why.map_or(Wrong("undefined without a reason"), |why| Verdict::Undefined(why.clone())))
}

fn equal(found: &Found, field: &str, reported: Option<u64>, is: u64) -> Verdict {
    match reported {
        Some(reported) if reported == is => Agrees,
        Some(reported) if reported > is => Wrong("more timeouts than occurred"),
        Some(_) => Wrong("fewer timeouts than occurred"),
        None => undefined(found, field, false).unwrap_or(Agrees),
    }
}

/// A lower bound.
fn at_most(found: &Found, reported: Option<u64>, is: u64) -> Verdict {
    match reported {
        Some(reported) if reported < is => Nature("a lower bound below the count"),
        reported => equal(found, "timeouts_suspected", reported, is),
    }
}

/// Returns the number of new segments sent before the first ACK of data, except tail loss probes, which are beyond the window.
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
    let Some(reported) = found.initial_window_limit else {
        return undefined(found, "initial_window_limit", false).unwrap_or(Agrees);
    };
    let until = record.first_ack.unwrap_or(u64::MAX);
    // A retransmitted SYN may have reduced the initial window.
    let before = record.states.partition_point(|state| state.at < until);
    let window = record.states[..before].last().map_or(0, |state| state.cwnd);
    let last = record.sends.iter().take_while(|one| one.at < until).last().map_or(0, |one| one.at);
    let is_still_sending = until.saturating_sub(last) <= until.saturating_sub(record.sends[0].at) / 8;
    let sent: u64 =
        record.sends.iter().filter(|one| one.at < until && !one.is_again).map(|one| one.len).sum();
    let is_full = sent + mss > window;
    match (reported, is_full) {
        ("window", true) | ("application" | "receiver-window", false) => Agrees,
        ("application" | "receiver-window", true) => Nature("the congestion window was equally large"),
        ("window", false) if is_still_sending => Nature("pacing spread the flight over more than an RTT"),
        ("window", false) => Wrong("the window was larger"),
        _ => Wrong("the window was full"),
    }
}

/// Returns an observer's name of a cause.
pub(crate) fn seen_as(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "loss",
        Cause::Timeout => "timeout",
        Cause::Mark => "mark",
        Cause::AppLimited => "application",
        Cause::RateFlat => "drain",
        _ => "flat",
    }
}

/// Returns whether the cause reduces the window.
pub(crate) fn is_cut(cause: &str) -> bool {
    matches!(cause, "loss" | "timeout" | "mark")
}

/// Returns the time of the reported exit.
pub(crate) fn reported_at(found: &Found, record: &Record) -> Option<u64> {
    let first = record.sends.first()?.at;
    let seconds = found.exit_time_s?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "nanoseconds of hours")]
    Some(first + (seconds * 1e9).round() as u64)
}

/// Returns the sender's state at a time.
pub(crate) fn state_at(record: &Record, at: u64) -> State {
    let place = record.states.partition_point(|state| state.at <= at);
    record.states[place.saturating_sub(1)]
}

/// Returns the newest RTT at a time, or the first one.
pub(crate) fn rtt_at(record: &Record, at: u64) -> u64 {
    let first = || record.states.iter().find_map(|state| state.rtt);
    state_at(record, at).rtt.or_else(first).unwrap_or(0)
}

fn exit(found: &Found, record: &Record, mss: u64) -> Verdict {
    let Some(reported) = found.exit_cause else {
        return undefined(found, "exit_cause", false).unwrap_or(Agrees);
    };
    let is = record.exit;
    if reported == "none" {
        return match is {
            None => Agrees,
            Some(exit) if exit.cause == Cause::AppLimited => Nature(FOR_WANT),
            Some(exit) if is_late(record, exit.at) => Nature("the data ended within two RTTs of the exit"),
            Some(exit) if is_never_used(record, &exit) => {
                Nature("the application never used the window of the exit")
            }
            Some(_) => Wrong("no exit was reported"),
        };
    }
    let Some(at) = reported_at(found, record) else { return Wrong("a cause without a time") };
    let rtt = rtt_at(record, at).max(is.map_or(0, |exit| rtt_at(record, exit.at)));
    if let Some(exit) = is {
        let cause = seen_as(exit.cause);
        let is_same = reported == cause
            || !is_cut(reported)
                && !is_cut(cause)
                && reported != "receiver-window"
                && reported != "application";
        if is_same && at.abs_diff(exit.at) <= rtt {
            return Agrees;
        }
        if is_cut(reported) && !is_cut(cause) && (exit.at..=exit.at + 2 * rtt).contains(&at) {
            return Nature("a loss or a mark came within two RTTs after the exit");
        }
        if is_cut(reported) && is_cut(cause) && at.abs_diff(exit.at) <= rtt {
            return Wrong("another reduction at the same time");
        }
    }
    if is.is_some_and(|exit| exit.cause == Cause::AppLimited && exit.at <= at) {
        return Nature(FOR_WANT);
    }
    let before = is.is_none_or(|exit| at < exit.at);
    // The window now, and two RTTs later.
    let now = state_at(record, at);
    let later = state_at(record, at + 2 * rtt_at(record, at));
    let is_unused = later.cwnd >= later.flight + mss;
    match reported {
        "receiver-window" | "application" if is_unused => Agrees,
        "receiver-window" | "application" => Wrong("the window was full"),
        "flat" | "drain" if before && later.cwnd <= now.cwnd + now.cwnd * 3 / 16 + 3 * mss => {
            match is.map(|exit| is_cut(seen_as(exit.cause))) {
                Some(false) => Nature("the window was constant, and the exit came later"),
                Some(true) => Nature("the window was constant, and a loss or a mark came later"),
                None => Nature("the window was constant, and the sender never left start-up"),
            }
        }
        "flat" | "drain" if before => Wrong("flat before the exit"),
        "flat" | "drain" => Wrong("flat after the exit"),
        _ if before && record.has_undone => Nature("the exit was undone"),
        _ if before => Wrong("a reduction before the exit"),
        _ => Wrong("a reduction after the exit"),
    }
}

/// The sender ends start-up at an idle time or a trickle of data. In the packets, start-up continues after it.
const FOR_WANT: &str = "left for want of data";

/// Returns whether the flight stayed below seven eighths of the window after the exit.
fn is_never_used(record: &Record, exit: &ExitSeen) -> bool {
    record.states.iter().all(|state| state.at < exit.at || state.flight < exit.cwnd - exit.cwnd / 8)
}

/// Returns whether the last new data, or the last before a pause, was sent within two RTTs of `at`.
pub(crate) fn is_late(record: &Record, at: u64) -> bool {
    let rtt = rtt_at(record, at);
    let new = record.sends.iter().filter(|one| !one.is_again && one.at >= at).map(|one| one.at);
    let times: Vec<u64> = std::iter::once(at).chain(new).collect();
    // Nothing was in flight just before the next new data.
    let is_idle = |pair: &[u64]| pair[1] - pair[0] > rtt && state_at(record, pair[1] - 1).flight == 0;
    let paused = times.windows(2).position(|pair| pair[1] - pair[0] > 2 * rtt || is_idle(pair));
    times[paused.unwrap_or(times.len() - 1)] <= at + 2 * rtt
}

fn flight(found: &Found, record: &Record, mss: u64, exit: &Verdict) -> Verdict {
    let (Some(reported), Some(is)) = (found.exit_flight_bytes, record.exit) else {
        let nothing = "there is no exit".to_owned();
        return undefined(found, "exit_flight_bytes", found.exit_flight_bytes.is_some())
            .unwrap_or(Verdict::Undefined(nothing));
    };
    if *exit != Agrees || matches!(found.exit_cause, Some("receiver-window" | "application")) {
        return Verdict::Undefined("the exit does not agree".to_owned());
    }
    let close = |other: u64| reported.abs_diff(other) <= (other / 8).max(2 * mss);
    let now = reported_at(found, record).map_or(0, |at| state_at(record, at).cwnd);
    if close(is.cwnd) || close(record.exit_flight) || close(now) {
        Agrees
    } else {
        Wrong("off by more than an eighth")
    }
}
