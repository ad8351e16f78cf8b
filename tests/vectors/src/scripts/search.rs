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
    vec![
        keeps_up(),
        exit(),
        threshold_below(),
        threshold_above(),
        delivered(),
        missed_bins(),
        app_limited(),
        loss(),
        after_timeout(),
    ]
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
        says: "Slow start ends when the deliveries of a window are far below what was sent an RTT before",
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

/// The microseconds that the bottleneck needs for a packet in `threshold-below`: one bin is 25 to 26 % behind.
const BELOW: u64 = 1_089;
/// The same in `threshold-above`: the first bin that is 26 % behind is less than 27 % behind.
const ABOVE: u64 = 1_096;

fn threshold_below() -> Script {
    gradual(
        Set {
            name: "threshold-below",
            says: "Deliveries that are 25 to 26 % behind do not end slow start; a later bin does",
            ..SEARCH
        },
        BELOW,
    )
}

fn threshold_above() -> Script {
    gradual(
        Set {
            name: "threshold-above",
            says: "Deliveries that are 26 to 27 % behind end slow start",
            ..SEARCH
        },
        ABOVE,
    )
}

/// Returns a slow start over a path whose bottleneck needs this many microseconds for a packet. Deliveries fall behind little by little.
fn gradual(set: Set, packet: u64) -> Script {
    let mut host = open(Set { initial: 2, ..set });
    let mut path = Pipe::new(packet, RTT - packet);
    path.every = 2;
    path.run(&mut host, |host| !host.is_starting());
    host.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of steps until slow start ends.
    fn steps(packet: u64, scheme: &'static str) -> usize {
        gradual(Set { scheme, ..SEARCH }, packet).vector.steps.len()
    }

    #[test]
    fn a_threshold_of_25_or_of_27_percent_ends_slow_start_at_another_step() {
        let wanted = [BELOW, ABOVE].map(|packet| steps(packet, "search"));
        let low = [BELOW, ABOVE].map(|packet| steps(packet, "search:threshold=25%"));
        let high = [BELOW, ABOVE].map(|packet| steps(packet, "search:threshold=27%"));
        assert!(low[0] < wanted[0] && high[1] > wanted[1], "{low:?} {wanted:?} {high:?}");
    }
}
