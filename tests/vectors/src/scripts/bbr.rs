//! Startup and Drain of BBR (draft-ietf-ccwg-bbr).

use crate::host::{Host, Script, Set};
use crate::pipe::Pipe;

const RTT: u64 = 40_000;

const BBR: Set = Set {
    name: "",
    spec: "draft-ietf-ccwg-bbr",
    says: "",
    tolerance: 0.01,
    scheme: "bbr",
    law: "bbr",
    initial: 4,
    ssthresh: None,
    counts_bytes: true,
    paces: true,
    parameters: &[],
};

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![plateau(), drain_time(), loss(), app_limited(), timeout()]
}

/// Returns a host after a handshake of 40 ms, and a path whose bottleneck needs 4 ms for a packet: 300 kB/s, and a product of ten packets.
fn open(set: Set) -> (Host, Pipe) {
    let mut host = Host::new(set);
    host.established(RTT, false);
    (host, Pipe::new(4_000, 36_000))
}

/// Returns whether Drain has begun: the pacing rate is below that of the bottleneck.
fn drains(host: &Host) -> bool {
    host.sent() > 20 && host.pacing().is_some_and(|rate| rate < 250_000)
}

fn plateau() -> Script {
    let (mut host, mut path) = open(Set {
        name: "plateau",
        spec: "draft-ietf-ccwg-bbr, sections Startup and Drain",
        says: "Startup paces at 2.77 times the bandwidth, ends after three rounds without a quarter more, and Drain paces at half until \
               one product is in flight",
        ..BBR
    });
    path.run(&mut host, drains);
    host.note("Drain");
    path.run(&mut host, |host| !host.is_starting());
    host.end()
}

fn drain_time() -> Script {
    let (mut host, mut path) = open(Set {
        name: "drain-time",
        spec: "draft-ietf-ccwg-bbr, section Drain",
        says: "If more than one product stays in flight, because the path has become slower, Drain ends after three rounds",
        ..BBR
    });
    path.run(&mut host, drains);
    host.note("Drain; the path is a third as fast from here on");
    path.change_rate(host.now(), 12_000);
    path.run(&mut host, |host| !host.is_starting());
    host.end()
}

fn loss() -> Script {
    let (mut host, mut path) = open(Set {
        name: "loss",
        spec: "draft-ietf-ccwg-bbr, section Exiting Startup Based on Packet Loss",
        says: "A round in recovery in which more than 2 % are lost, in six ranges or more, ends Startup",
        ..BBR
    });
    path.lost.extend((12..60).step_by(3));
    path.run(&mut host, |host| !host.is_starting());
    host.end()
}

fn app_limited() -> Script {
    let (mut host, _) = open(Set {
        name: "app-limited",
        spec: "draft-ietf-ccwg-bbr, section Estimating When Startup has Filled the Pipe",
        says: "Rounds that the application limits do not end Startup",
        ..BBR
    });
    host.app_limited(true);
    for _ in 0..8 {
        host.send(1);
        host.at(host.now() + 10_000);
        host.send(1);
        let flying = host.flying();
        host.at(host.now() + RTT);
        host.ack(&flying);
        host.at(host.now() + 10_000);
    }
    host.end()
}

fn timeout() -> Script {
    let (mut host, mut path) = open(Set {
        name: "timeout",
        spec: "draft-ietf-ccwg-bbr, section Modulating cwnd in Loss Recovery",
        says: "A timeout in Startup: the window is one packet, the model stays, and Startup goes on",
        ..BBR
    });
    path.run(&mut host, |host| host.sent() >= 10);
    host.at(host.now() + 1_000_000);
    host.time_out(false);
    host.at(host.now() + 10_000);
    Pipe::new(4_000, 36_000).run(&mut host, |host| host.sent() >= 16);
    host.end()
}
