//! CUBIC (RFC 9438): from slow start into its growth.

use crate::host::{Host, Script, Set};

const RTT: u64 = 100_000;

const CUBIC: Set = Set {
    name: "",
    spec: "RFC 9438",
    says: "",
    tolerance: 0.002,
    scheme: "slow-start",
    law: "cubic",
    initial: 10,
    ssthresh: None,
    counts_bytes: true,
    paces: false,
    parameters: &[],
};

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![after_threshold(), concave(), fast_convergence(), friendly(), mark(), timeout()]
}

fn open(set: Set, rtt: u64) -> Host {
    let mut host = Host::new(set);
    host.established(rtt, false);
    host.fill();
    host
}

/// Delivers the window in four ACKs, `rounds` times.
fn rounds(host: &mut Host, rounds: usize, rtt: u64) {
    for _ in 0..rounds {
        let mut left = host.flying().len();
        let every = left.div_ceil(4);
        while left > 0 {
            let count = every.min(left);
            left -= count;
            host.ack_oldest(count, rtt);
        }
    }
}

/// Loses the oldest packet, and recovers.
fn lose(host: &mut Host, rtt: u64) {
    let flying = host.flying();
    host.at(host.sent_at(flying[0]) + rtt);
    host.ack(&flying[1..4]);
    host.lose(&flying[..1]);
    host.fill();
    while !host.flying().is_empty() && host.flying()[0] <= flying[flying.len() - 1] {
        let old = host.flying().iter().filter(|number| **number <= flying[flying.len() - 1]).count();
        host.ack_oldest(old.min(8), rtt);
    }
}

fn after_threshold() -> Script {
    let mut host = open(
        Set {
            name: "after-threshold",
            spec: "RFC 9438 section 4.10",
            says: "After a slow start without a loss K is 0 and W_max the window: the window grows along the convex part",
            ssthresh: Some(40),
            ..CUBIC
        },
        RTT,
    );
    host.round(5, RTT);
    host.round(5, RTT);
    rounds(&mut host, 12, RTT);
    host.end()
}

fn concave() -> Script {
    let mut host = open(
        Set {
            name: "concave",
            spec: "RFC 9438 sections 4.2 to 4.6",
            says: "A loss: cwnd is 0.7 of the flight, W_max the window before; the window rises towards W_max, reached after K, and beyond",
            ..CUBIC
        },
        RTT,
    );
    host.round(10, RTT);
    host.round(10, RTT);
    lose(&mut host, RTT);
    rounds(&mut host, 42, RTT);
    host.end()
}

fn fast_convergence() -> Script {
    let mut host = open(
        Set {
            name: "fast-convergence",
            spec: "RFC 9438 section 4.7",
            says: "A second loss below W_max: W_max is 0.85 of the window",
            ..CUBIC
        },
        RTT,
    );
    for _ in 0..3 {
        host.round(10, RTT);
    }
    lose(&mut host, RTT);
    rounds(&mut host, 4, RTT);
    lose(&mut host, RTT);
    rounds(&mut host, 30, RTT);
    host.end()
}

fn friendly() -> Script {
    let mut host = open(
        Set {
            name: "reno-friendly",
            spec: "RFC 9438 section 4.3",
            says: "With a short RTT the window is W_est, Reno's window with alpha = 9/17",
            ..CUBIC
        },
        5_000,
    );
    host.round(2, 5_000);
    lose(&mut host, 5_000);
    rounds(&mut host, 30, 5_000);
    host.end()
}

fn mark() -> Script {
    let mut host = open(
        Set {
            name: "mark",
            spec: "RFC 9438 section 4.6",
            says: "A congestion mark is answered as a loss",
            ..CUBIC
        },
        RTT,
    );
    host.round(2, RTT);
    let sent_at = host.sent_at(host.flying()[0]);
    host.ack_oldest(1, RTT);
    host.mark(sent_at);
    host.end()
}

fn timeout() -> Script {
    let mut host = open(
        Set {
            name: "timeout",
            spec: "RFC 9438 section 4.8",
            says: "A timeout: ssthresh is 0.7 of the flight, the window one packet; the stage after slow start begins with K = 0",
            ..CUBIC
        },
        RTT,
    );
    host.round(2, RTT);
    host.at(host.now() + 1_000_000);
    host.time_out(false);
    host.fill();
    for _ in 0..5 {
        host.round(1, RTT);
    }
    rounds(&mut host, 8, RTT);
    host.end()
}
