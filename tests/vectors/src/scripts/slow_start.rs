//! Slow start (RFC 5681, RFC 6928, RFC 9002) and limited slow start (RFC 3742).

use crate::host::{Host, Script, Set};

const RTT: u64 = 100_000;

const SLOW_START: Set = Set {
    name: "",
    spec: "RFC 5681 section 3.1",
    says: "",
    tolerance: 0.0,
    scheme: "slow-start",
    law: "reno",
    initial: 4,
    ssthresh: None,
    counts_bytes: false,
    paces: false,
    parameters: &[],
};

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![
        initial_window(),
        doubling(),
        delayed_acks(),
        bytes_counted(),
        threshold(),
        loss(),
        mark(),
        timeout(),
        repeated_timeout(),
        spurious_loss(),
        lost_handshake(),
        unused_window(),
        idle(),
        limited(),
    ]
}

/// Returns a host with the first window in flight.
fn open(set: Set) -> Host {
    let mut host = Host::new(set);
    host.established(RTT, false);
    host.fill();
    host
}

fn initial_window() -> Script {
    let mut host = open(Set {
        name: "initial-window",
        spec: "RFC 6928 section 2",
        says: "A new connection sends ten packets",
        initial: 10,
        ..SLOW_START
    });
    host.ack_oldest(1, RTT);
    host.end()
}

fn doubling() -> Script {
    let mut host = open(Set {
        name: "doubling",
        says: "Each ACK of a packet widens the window by a packet, so the window doubles in an RTT",
        ..SLOW_START
    });
    host.round(1, RTT);
    host.round(1, RTT);
    host.round(1, RTT);
    host.end()
}

fn delayed_acks() -> Script {
    let mut host = open(Set {
        name: "delayed-acks",
        says: "An ACK of two packets widens the window by one: cwnd += min(N, SMSS)",
        ..SLOW_START
    });
    host.round(2, RTT);
    host.round(2, RTT);
    host.end()
}

fn bytes_counted() -> Script {
    let mut host = open(Set {
        name: "bytes-counted",
        spec: "RFC 9002 section 7.3.1",
        says: "With byte counting an ACK widens the window by all bytes that it acknowledges",
        counts_bytes: true,
        ..SLOW_START
    });
    host.round(2, RTT);
    host.round(3, RTT);
    host.end()
}

fn threshold() -> Script {
    let mut host = open(Set {
        name: "threshold",
        says: "Slow start ends when the window reaches ssthresh",
        ssthresh: Some(10),
        ..SLOW_START
    });
    host.round(1, RTT);
    host.ack_oldest(1, RTT);
    host.note("the window is at ssthresh: congestion avoidance begins");
    host.ack_oldest(1, RTT);
    host.end()
}

/// Loses the oldest packet in flight: the next three are acknowledged, by one ACK each. The window is full before the loss.
fn lose_oldest(host: &mut Host, note: &str) {
    let flying = host.flying();
    host.at(host.sent_at(flying[0]) + RTT);
    host.ack(&flying[1..2]);
    host.fill();
    host.ack(&flying[2..3]);
    host.fill();
    host.ack(&flying[3..4]);
    host.fill();
    host.note(note);
    host.lose(&flying[..1]);
}

fn loss() -> Script {
    let mut host = open(Set {
        name: "loss",
        spec: "RFC 5681 section 3.1, equation 4; RFC 9002 section 7.3.2",
        says: "A loss halves: ssthresh and cwnd are half of the window, which is full when the loss is found",
        ..SLOW_START
    });
    host.round(1, RTT);
    lose_oldest(&mut host, "half of the window, and of the bytes in flight with the lost packet");
    let flying = host.flying();
    host.note("no growth before a packet is acknowledged that was sent after the loss");
    host.ack(&flying[..1]);
    host.end()
}

fn mark() -> Script {
    let mut host = open(Set {
        name: "mark",
        spec: "RFC 3168 section 6.1.2",
        says: "A congestion mark is answered as a loss",
        ..SLOW_START
    });
    host.round(1, RTT);
    let sent_at = host.sent_at(host.flying()[0]);
    host.ack_oldest(1, RTT);
    host.mark(sent_at);
    host.end()
}

fn timeout() -> Script {
    let mut host = open(Set {
        name: "timeout",
        spec: "RFC 5681 section 3.1, equation 4",
        says: "A timeout: ssthresh is half of the bytes in flight, and slow start begins again from one packet",
        ..SLOW_START
    });
    host.round(1, RTT);
    host.round(1, RTT);
    host.at(host.now() + 1_000_000);
    host.note("16 packets are in flight: ssthresh is 8 packets");
    host.time_out(false);
    host.fill();
    host.round(1, RTT);
    host.round(1, RTT);
    host.note("the window of 4 packets grows to ssthresh");
    host.round(1, RTT);
    host.end()
}

fn repeated_timeout() -> Script {
    let mut host = open(Set {
        name: "repeated-timeout",
        says: "A second timeout of one packet keeps ssthresh",
        ..SLOW_START
    });
    host.round(1, RTT);
    host.round(1, RTT);
    host.at(host.now() + 1_000_000);
    host.time_out(false);
    host.fill();
    host.at(host.now() + 2_000_000);
    host.note("one packet is in flight, and ssthresh stays at 8 packets");
    host.time_out(true);
    host.fill();
    host.round(1, RTT);
    host.end()
}

fn spurious_loss() -> Script {
    let mut host = open(Set {
        name: "spurious-loss",
        spec: "RFC 4015 section 3",
        says: "If a loss proves spurious, the window from before the reduction is restored and slow start goes on",
        ..SLOW_START
    });
    host.round(1, RTT);
    lose_oldest(&mut host, "a packet seems lost");
    host.at(host.now() + 1_000);
    host.note("the packet was late, and not lost");
    host.spurious();
    host.end()
}

fn lost_handshake() -> Script {
    let mut host = Host::new(Set {
        name: "lost-handshake",
        says: "If a packet of the handshake was lost, the initial window is one packet",
        ..SLOW_START
    });
    host.established(1_100_000, true);
    host.fill();
    host.round(1, RTT);
    host.end()
}

fn unused_window() -> Script {
    let mut host = Host::new(Set {
        name: "unused-window",
        spec: "RFC 9002 section 7.8, draft-ietf-ccwg-ratelimited-increase",
        says: "A window of which the application uses less than a half does not grow",
        initial: 10,
        ..SLOW_START
    });
    host.established(RTT, false);
    host.app_limited(true);
    for _ in 0..3 {
        host.send(3);
        let flying = host.flying();
        host.at(host.now() + RTT);
        for number in flying {
            host.ack(&[number]);
        }
    }
    host.end()
}

fn idle() -> Script {
    let mut host = open(Set {
        name: "idle",
        spec: "RFC 5681 section 4.1",
        says: "After an idle time above the RTO the window is at most the initial window; ssthresh stays",
        ssthresh: Some(64),
        ..SLOW_START
    });
    host.round(1, RTT);
    let flying = host.flying();
    host.at(host.now() + RTT);
    for number in flying {
        host.ack(&[number]);
    }
    host.at(host.now() + 3_000_000);
    host.note("the restart window: min(IW, cwnd)");
    host.new_data();
    host.fill();
    host.ack_oldest(1, RTT);
    host.ack_oldest(1, RTT);
    host.end()
}

fn limited() -> Script {
    let mut host = open(Set {
        name: "limited",
        spec: "RFC 3742 section 2",
        says: "Above max_ssthresh the window grows by MSS / K for each ACK, K = int(cwnd / (max_ssthresh / 2))",
        scheme: "limited:max-ssthresh=8",
        parameters: &[("max_ssthresh_bytes", 9_600)],
        ..SLOW_START
    });
    host.round(1, RTT);
    host.round(1, RTT);
    host.round(1, RTT);
    host.round(1, RTT);
    host.end()
}
