//! Careful Resume (RFC 9959).

use crate::host::{Host, Script, Set};
use crate::pipe::Pipe;

const RTT: u64 = 100_000;

const RESUME: Set = Set {
    name: "",
    spec: "RFC 9959",
    says: "",
    tolerance: 0.001,
    scheme: "careful-resume:saved=96000B,rtt=100ms",
    law: "reno",
    initial: 10,
    ssthresh: None,
    counts_bytes: true,
    paces: true,
    parameters: &[("saved_cwnd_bytes", 96_000), ("saved_rtt_us", RTT)],
};

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![
        jump(),
        max_jump(),
        small(),
        shorter_path(),
        longer_path(),
        early_loss(),
        retreat(),
        retreat_by_mark(),
        little_data(),
    ]
}

fn open(set: Set) -> Host {
    let mut host = Host::new(set);
    host.established(RTT, false);
    host
}

/// Returns a path with 0.5 ms for a packet.
fn path() -> Pipe {
    Pipe::new(500, 99_500)
}

fn jump() -> Script {
    let mut host = open(Set {
        name: "jump",
        spec: "RFC 9959 sections 3.2 to 3.4",
        says: "When the initial window is acknowledged, the window jumps to half of saved_cwnd, paced over an RTT; slow start goes on \
               from the flight",
        ..RESUME
    });
    path().run(&mut host, |host| host.now() >= 420_000);
    host.end()
}

fn max_jump() -> Script {
    let mut host = open(Set {
        name: "max-jump",
        spec: "RFC 9959 section 3.3",
        says: "The jump is at most max_jump",
        scheme: "careful-resume:saved=96000B,rtt=100ms,max-jump=30000B",
        parameters: &[("max_jump_bytes", 30_000), ("saved_cwnd_bytes", 96_000), ("saved_rtt_us", RTT)],
        ..RESUME
    });
    path().run(&mut host, |host| host.now() >= 206_000);
    host.end()
}

fn small() -> Script {
    let mut host = open(Set {
        name: "no-gain",
        spec: "RFC 9959 section 3.3",
        says: "A jump that is not above the window is none: slow start goes on",
        scheme: "careful-resume:saved=36000B,rtt=100ms",
        parameters: &[("saved_cwnd_bytes", 36_000), ("saved_rtt_us", RTT)],
        ..RESUME
    });
    path().run(&mut host, |host| host.now() >= 206_000);
    host.end()
}

fn shorter_path() -> Script {
    let mut host = open(Set {
        name: "shorter-path",
        spec: "RFC 9959 section 3.2",
        says: "If the minimum RTT is at most half of saved_rtt, the path is another one: no jump",
        scheme: "careful-resume:saved=96000B,rtt=200ms",
        parameters: &[("saved_cwnd_bytes", 96_000), ("saved_rtt_us", 200_000)],
        ..RESUME
    });
    path().run(&mut host, |host| host.now() >= 206_000);
    host.end()
}

fn longer_path() -> Script {
    let mut host = open(Set {
        name: "longer-path",
        spec: "RFC 9959 section 4.2.1",
        says: "If the RTT is more than ten times saved_rtt, the path is another one: no jump",
        scheme: "careful-resume:saved=96000B,rtt=9ms",
        parameters: &[("saved_cwnd_bytes", 96_000), ("saved_rtt_us", 9_000)],
        ..RESUME
    });
    path().run(&mut host, |host| host.now() >= 206_000);
    host.end()
}

fn early_loss() -> Script {
    let mut host = open(Set {
        name: "early-loss",
        spec: "RFC 9959 section 3.2",
        says: "A loss in reconnaissance ends slow start, and the saved values are not used",
        ..RESUME
    });
    let mut path = path();
    path.lost.insert(2);
    path.run(&mut host, |host| host.now() >= 206_000);
    host.end()
}

fn retreat() -> Script {
    let mut host = open(Set {
        name: "retreat",
        spec: "RFC 9959 section 3.5",
        says: "A loss in the jump: the window is half of PipeSize until the jump is acknowledged; then ssthresh is half of PipeSize",
        ..RESUME
    });
    let mut path = path();
    path.lost.insert(24);
    path.run(&mut host, |host| !host.is_starting() || host.now() >= 600_000);
    host.end()
}

fn retreat_by_mark() -> Script {
    let mut host = open(Set {
        name: "retreat-by-mark",
        spec: "RFC 9959 section 3.5",
        says: "A congestion mark in the jump is answered as a loss",
        ..RESUME
    });
    path().run(&mut host, |host| host.now() >= 290_000);
    let sent_at = host.sent_at(host.flying()[0]);
    host.mark(sent_at);
    host.end()
}

fn little_data() -> Script {
    let mut host = open(Set {
        name: "little-data",
        spec: "RFC 9959 section 3.3",
        says: "If the application ends the jump early, the window is PipeSize and the saved values are dropped",
        ..RESUME
    });
    let mut path = path();
    path.data = Some(33);
    path.run(&mut host, |host| host.now() >= 404_000);
    host.end()
}
