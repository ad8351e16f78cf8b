//! SEARCH (draft-chung-ccwg-search-09).

use crate::host::{Host, Script, Set};
use crate::pipe::Pipe;

const RTT: u64 = 50_000;

const SEARCH: Set = Set {
    name: "",
    spec: "draft-chung-ccwg-search-09 section 3.2",
    says: "",
    tolerance: 0.0,
    scheme: "search",
    law: "reno",
    initial: 10,
    ssthresh: None,
    counts_bytes: true,
    paces: false,
    parameters: &[],
};

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![keeps_up(), exit(), delivered(), missed_bins(), app_limited(), loss(), after_timeout()]
}

fn open(set: Set) -> Host {
    let mut host = Host::new(set);
    host.established(RTT, false);
    host
}

/// Returns a path whose bottleneck needs 2 ms for a packet, in an RTT of 50 ms: 25 packets are its product.
fn path() -> Pipe {
    let mut path = Pipe::new(2_000, 48_000);
    path.every = 2;
    path
}

fn keeps_up() -> Script {
    let mut host = open(Set {
        name: "keeps-up",
        says: "While deliveries keep up with transmissions, SEARCH is slow start",
        initial: 2,
        ..SEARCH
    });
    host.fill();
    for every in [1, 2, 2, 4, 8, 16, 32, 64] {
        host.round(every, RTT);
    }
    host.end()
}

fn exit() -> Script {
    let mut host = open(Set {
        name: "exit",
        says: "Slow start ends when the deliveries of a window are 26 % below what was sent an RTT before",
        ..SEARCH
    });
    path().run(&mut host, |host| !host.is_starting());
    host.end()
}

fn delivered() -> Script {
    let mut host = open(Set {
        name: "exit-delivered",
        says: "With the reduction, the window is what was delivered in one initial RTT",
        scheme: "search:window=delivered",
        parameters: &[("reduces_to_delivered", 1)],
        ..SEARCH
    });
    path().run(&mut host, |host| !host.is_starting());
    host.end()
}

fn missed_bins() -> Script {
    let mut host = open(Set {
        name: "missed-bins",
        says: "After more than a window of missed bins the measurement begins anew: no exit for a window and an RTT",
        initial: 2,
        ..SEARCH
    });
    host.fill();
    for every in [1, 2, 2, 4] {
        host.round(every, RTT);
    }
    host.note("no ACK came for 300 ms, more than ten bins of 17.5 ms: nothing is compared");
    host.round(8, 300_000);
    for every in [16, 32] {
        host.round(every, RTT);
    }
    host.end()
}

fn app_limited() -> Script {
    let mut host = open(Set {
        name: "app-limited",
        says: "Bins that the application left empty do not count: no exit, although deliveries fall",
        initial: 2,
        ..SEARCH
    });
    host.fill();
    for every in [1, 2, 2, 4, 8] {
        host.round(every, RTT);
    }
    host.app_limited(true);
    for _ in 0..6 {
        let flying = host.flying();
        host.at(host.now() + RTT);
        host.ack(&flying);
        host.send(4);
    }
    host.end()
}

fn loss() -> Script {
    let mut host = open(Set {
        name: "loss",
        says: "A loss ends slow start with the reduction of the avoidance law",
        ..SEARCH
    });
    let mut path = path();
    path.lost.insert(30);
    path.run(&mut host, |host| !host.is_starting());
    host.end()
}

fn after_timeout() -> Script {
    let mut host = open(Set {
        name: "after-timeout",
        says: "After a timeout SEARCH is off: the slow start up to ssthresh is not ended by deliveries",
        ..SEARCH
    });
    host.fill();
    host.round(2, RTT);
    host.round(4, RTT);
    host.at(host.now() + 1_000_000);
    host.time_out(false);
    path().run(&mut host, |host| !host.is_starting());
    host.end()
}
