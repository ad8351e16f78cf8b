//! HyStart of Linux (`net/ipv4/tcp_cubic.c`).

use crate::host::{Host, Script, Set};

const RTT: u64 = 40_000;

const LINUX: Set = Set {
    name: "",
    spec: "Linux net/ipv4/tcp_cubic.c, 6.14: hystart_update",
    says: "",
    tolerance: 0.0,
    scheme: "hystart-linux",
    law: "cubic",
    initial: 10,
    ssthresh: None,
    counts_bytes: true,
    paces: false,
    parameters: &[],
};

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![train(), gap(), delay(), eight_samples(), low_window()]
}

fn open(set: Set) -> Host {
    let mut host = Host::new(set);
    host.established(RTT, false);
    host.fill();
    host
}

fn train() -> Script {
    let mut host = open(Set {
        name: "train",
        says: "ACKs at most 2 ms apart that go on for half of the minimum RTT and the cushion of 1 ms end slow start",
        ..LINUX
    });
    host.round(1, RTT);
    // The packets of a bottleneck that sends one each 1.5 ms.
    let start = host.now() + RTT;
    for number in host.flying() {
        if host.is_starting() {
            host.at(start + (number - 10) * 1_500);
            host.ack(&[number]);
            host.fill();
        }
    }
    host.end()
}

fn gap() -> Script {
    let mut host = open(Set { name: "gap", says: "ACKs more than 2 ms apart are no train", ..LINUX });
    host.round(1, RTT);
    let start = host.now() + RTT;
    // The first sample of the round is the minimum RTT, so the delay test does not fire.
    for number in host.flying() {
        host.at(start + (number - 10) * 2_001);
        host.ack(&[number]);
        host.fill();
    }
    host.end()
}

fn delay() -> Script {
    let mut host = open(Set {
        name: "delay",
        says: "From the ninth sample on, a round whose minimum RTT is 5 ms (an eighth, at least 4 ms) above the minimum ends slow start",
        ..LINUX
    });
    host.round(1, RTT);
    host.note("45 ms is not above the threshold");
    host.round(1, 45_000);
    host.note("45.001 ms is: the ninth ACK of this round ends slow start");
    host.round(1, 45_001);
    host.end()
}

fn eight_samples() -> Script {
    let mut host =
        open(Set { name: "eight-samples", says: "Eight samples of a round are not enough", ..LINUX });
    host.round(1, RTT);
    host.note("twenty packets with seven ACKs");
    host.round(3, 60_000);
    host.end()
}

fn low_window() -> Script {
    let mut host =
        open(Set { name: "low-window", says: "Below 16 packets nothing is tested", initial: 2, ..LINUX });
    host.round(1, RTT);
    host.round(1, 60_000);
    host.note("the window is below 16 packets: the delay of this round ends nothing");
    host.round(1, 80_000);
    host.end()
}
