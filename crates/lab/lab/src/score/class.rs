//! Classes of paths by their properties.

use firstflight::registry;

use crate::sweep::{Bottleneck, PathFacts, share_bps};

/// Returns the classes of a path, each as (axis, place of the class on the axis, class in words). The first is the class of all paths.
pub(super) fn classes(path: &PathFacts) -> Vec<(&'static str, usize, String)> {
    const RATES: Steps = &[
        (10e6, "under 10 Mbit/s"),
        (100e6, "10-100 Mbit/s"),
        (1e9, "0.1-1 Gbit/s"),
        (MORE, "1 Gbit/s and more"),
    ];
    const RTTS: Steps =
        &[(0.01, "under 10 ms"), (0.05, "10-50 ms"), (0.2, "50-200 ms"), (MORE, "200 ms and more")];
    const BDPS: Steps = &[
        (10.0, "under 10 packets"),
        (100.0, "10-100"),
        (1e3, "100-1000"),
        (1e4, "1000-10,000"),
        (MORE, "10,000 and more"),
    ];
    const QUEUES: Steps = &[(0.25, "under 0.25 BDP"), (1.0, "0.25-1 BDP"), (MORE, "1 BDP and more")];
    const SIZES: Steps = &[
        (0.1, "under 0.1 BDP"),
        (1.0, "0.1-1 BDP"),
        (10.0, "1-10 BDP"),
        (100.0, "10-100 BDP"),
        (MORE, "100 BDP and more"),
    ];
    const SHARES: Steps = &[(0.3, "under 30 %"), (0.6, "30-60 %"), (MORE, "60 % and more")];
    const LOSSES: Steps = &[
        (f64::MIN_POSITIVE, "none"),
        (0.000_1, "under 0.01 %"),
        (0.001, "0.01-0.1 %"),
        (MORE, "0.1 % and more"),
    ];
    const JITTERS: Steps =
        &[(f64::MIN_POSITIVE, "none"), (1e-4, "under 0.1 ms"), (1e-3, "0.1-1 ms"), (MORE, "1 ms and more")];
    // The axis is the forward rate over the reverse rate. With 40-byte ACKs of 1500-byte packets, an ACK for each packet needs 1/37 of the
    // forward rate, and an ACK for every two packets needs 1/75.
    const WAYS_BACK: Steps = &[
        (10.0, "a tenth of the rate or more"),
        (37.0, "a tenth to a 37th"),
        (75.0, "a 37th to a 75th"),
        (MORE, "under a 75th"),
    ];
    let bdp_bytes = path.path_rate_bps * path.path_rtt_s / 8.0;
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
    let size = path.path_size_bytes.unwrap_or(0) as f64 / bdp_bytes;
    // A queue is declared in bandwidth-delay products and rounded to whole bytes.
    let (queue, queue_end) = (path.path_queue_bdp * bdp_bytes, |end| end * bdp_bytes - 0.5);
    let axes = [
        ("all", (0, "all paths".to_owned())),
        ("rate", by_rate(path, RATES, path.path_rate_bps, &exact)),
        ("base RTT", class(RTTS, path.path_rtt_s, &exact)),
        ("BDP", by_rate(path, BDPS, path.path_bdp_packets, &exact)),
        ("queue", by_rate(path, QUEUES, queue, &queue_end)),
        ("size", by_rate(path, SIZES, size, &exact)),
        ("loss", class(LOSSES, path.path_loss, &exact)),
        ("cross traffic", cross(path, SHARES)),
        ("neighbour's law", law(path)),
        ("receiver", receiver(path)),
        ("queue kind", queue_kind(path)),
        ("jitter", class(JITTERS, path.path_jitter_s, &exact)),
        ("ACK aggregation", aggregation(path)),
        ("departures", departures(path)),
        ("return path", class(WAYS_BACK, 1.0 / path.path_reverse_share, &exact)),
    ];
    axes.into_iter().map(|(axis, (rank, class))| (axis, rank, class)).collect()
}

/// The upper ends of classes, exclusive, each with the words for the class below it.
type Steps = &'static [(f64, &'static str)];

const MORE: f64 = f64::INFINITY;

/// Returns the class of a value.
fn class(steps: Steps, value: f64, end: &dyn Fn(f64) -> f64) -> (usize, String) {
    let rank = rank(steps, value, end);
    (rank, steps[rank].1.to_owned())
}

/// Returns the class of a value that depends on the bottleneck's rate, if that rate is constant.
fn by_rate(path: &PathFacts, steps: Steps, value: f64, end: &dyn Fn(f64) -> f64) -> (usize, String) {
    match path.bottleneck() {
        Bottleneck::Constant => class(steps, value, end),
        Bottleneck::Trace => (steps.len(), "along a trace".to_owned()),
        Bottleneck::Policer => (steps.len() + 1, "at a policer".to_owned()),
    }
}

/// Returns the place of the class of a value. `end` returns the value of a path that is declared exactly at an end of a class, with the
/// value's own rounding. A path at an end, and every path that rounds to the same number, is therefore in the upper class. The tolerance of
/// 10^-9 covers the rounding of doubles; values declared or drawn in four digits differ by more.
fn rank(steps: Steps, value: f64, end: &dyn Fn(f64) -> f64) -> usize {
    let above = value * (1.0 + 1e-9);
    steps.iter().position(|(below, _)| above < end(*below)).unwrap_or(steps.len() - 1)
}

/// Returns the upper end of a class without rounding.
fn exact(end: f64) -> f64 {
    end
}

/// The receivers' ACK policies, in the order of their classes.
pub(super) const ACKS: [&str; 5] = ["every", "delayed", "linux", "freebsd", "windows-xp"];

fn receiver(path: &PathFacts) -> (usize, String) {
    let rank = ACKS.iter().position(|name| *name == path.path_ack).unwrap_or(ACKS.len());
    (rank, path.path_ack.clone())
}

/// Checks whether a sweep may leave this axis at its default on all paths. If all do, the axis is left out of the sweep's score.
pub(super) fn may_be_unused(axis: &str) -> bool {
    ["neighbour's law", "queue kind", "jitter", "ACK aggregation", "departures", "return path"]
        .contains(&axis)
}

/// The kinds of queue, in the order of their classes.
pub(super) const QUEUE_KINDS: [&str; 5] = ["drop-tail", "red", "codel", "fq-codel", "pie"];

fn queue_kind(path: &PathFacts) -> (usize, String) {
    let kind = &path.path_queue_kind;
    let rank = QUEUE_KINDS.iter().position(|name| name == kind).unwrap_or(QUEUE_KINDS.len());
    (rank, kind.clone())
}

/// Returns the class of a path by its batches of ACKs: their time or their number of ACKs.
fn aggregation(path: &PathFacts) -> (usize, String) {
    const TIMES: Steps = &[(0.003, "under 3 ms"), (MORE, "3 ms and more")];
    const NUMBERS: Steps = &[(10.0, "under 10 ACKs"), (MORE, "10 ACKs and more")];
    match (path.path_ack_batch_s, path.path_ack_batch_packets) {
        (Some(time), _) => {
            let (rank, class) = class(TIMES, time, &exact);
            (1 + rank, class)
        }
        (None, Some(number)) => {
            let (rank, class) = class(NUMBERS, number, &exact);
            (1 + TIMES.len() + rank, class)
        }
        (None, None) => (0, "none".to_owned()),
    }
}

/// Returns the class of a path by the timing of the sender's packets: its timer, and whether it sends bursts.
fn departures(path: &PathFacts) -> (usize, String) {
    const TIMERS: Steps = &[
        (f64::MIN_POSITIVE, "exact"),
        (0.001, "by a timer under 1 ms"),
        (MORE, "by a timer of 1 ms and more"),
    ];
    let (timer, words) = class(TIMERS, path.path_pacing_timer_s, &exact);
    match (path.path_gso_bytes, timer) {
        (0, _) => (timer, words),
        (_, 0) => (TIMERS.len(), "in bursts".to_owned()),
        (_, _) => (TIMERS.len() + timer, format!("in bursts, {words}")),
    }
}

/// The kinds of cross traffic, in the order of their classes. A path with several entries is in the class `several`.
pub(super) const CROSSES: [&str; 8] = ["none", "tcp", "onoff", "poisson", "web", "cbr", "users", "several"];

/// Returns the class of a path by its kind of cross traffic. Traffic of a constant rate is classed by its share of the rate.
fn cross(path: &PathFacts, shares: Steps) -> (usize, String) {
    match (path.path_cross.as_str(), path.path_cross_share) {
        ("none", _) => (0, "none".to_owned()),
        ("cbr", Some(share)) => {
            // The rate was declared as a share and rounded to four digits.
            let rate = path.path_rate_bps;
            let rank = rank(shares, share * rate, &|end| share_bps(rate, end));
            (1 + rank, format!("cbr {}", shares[rank].1))
        }
        (kind, _) => {
            let rank = CROSSES.iter().position(|other| *other == kind).unwrap_or(CROSSES.len());
            (1 + shares.len() + rank, kind.to_owned())
        }
    }
}

/// Returns the class of the avoidance law of bulk flows next to the path.
fn law(path: &PathFacts) -> (usize, String) {
    let Some(law) = &path.path_cross_law else { return (0, "no bulk flows of one law".to_owned()) };
    let known = registry::laws();
    (1 + known.iter().position(|entry| entry.name == law).unwrap_or(known.len()), law.clone())
}

#[cfg(test)]
mod tests;
