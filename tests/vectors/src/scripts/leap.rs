//! Leap (docs/leap-spec.md).

use crate::host::{Host, MSS, Script, Set};
use crate::pipe::Pipe;

const RTT: u64 = 40_000;
/// The bottleneck sends a packet in this number of microseconds: 40 packets are the product.
const PACKET: u64 = 1_000;

const LEAP: Set = Set {
    name: "",
    spec: "leap-spec section 4.8",
    says: "",
    tolerance: 0.0,
    scheme: "leap",
    law: "reno",
    initial: 10,
    ssthresh: None,
    counts_bytes: true,
    paces: true,
    parameters: &[],
};

/// The profile `alone`.
const ALONE: Set = Set { scheme: "leap:profile=alone", parameters: &[("alone", 1)], ..LEAP };

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![
        clean(),
        clean_alone(),
        delayed_acks(),
        fraction(),
        fill(),
        drain(),
        drain_alone(),
        policer(),
        policed_whole(),
        short_queue(),
        short_queue_alone(),
        small_pipe(),
        held_acks(),
        uneven(),
        spaced_flight(),
        slow_train(),
        slow_trains(),
        window_unused(),
        few_instants(),
        starved_train(),
        searched_after_loss(),
        slow_search(),
        fill_stops(),
        rise_stops(),
        losses(),
        losses_share(),
        mark(),
        timeout(),
        saved(),
        saved_elsewhere(),
        handshake_lost(),
        idle(),
        two_packets(),
        four_instants(),
        lost_in_first(
            "one-lost",
            "One packet of the first flight is lost: the spread of the others leads to Probe",
            1,
        ),
        lost_in_first("two-lost", "Two packets of the first flight are lost: no train, and Fill", 2),
        policed_part(),
        faster("verified", "The fast train shows 1.15 times the rate, which confirms the rate", 870),
        faster("corrected", "The fast train shows 1.4 times the rate: Rise continues at that rate", 710),
    ]
}

/// Returns a host after its handshake, and a path with a product of 40 packets.
fn open(set: Set) -> (Host, Pipe) {
    let mut host = Host::new(set);
    host.established(RTT, false);
    (host, Pipe::new(PACKET, RTT - PACKET))
}

/// Runs the script until start-up ends. A script that does not end is an error.
fn ends((mut host, mut path): (Host, Pipe)) -> Script {
    path.run(&mut host, |host| !host.is_starting() || host.sent() > 2_000);
    assert!(!host.is_starting(), "start-up goes on");
    host.end()
}

fn clean() -> Script {
    ends(open(Set {
        name: "clean",
        says: "The spread gives the rate, the first train shows no other flow, and a train at 1.5 times the rate verifies it",
        ..LEAP
    }))
}

fn clean_alone() -> Script {
    ends(open(Set {
        name: "clean-alone",
        says: "Alone, Probe lasts until its verdict, and Rise fills the path at once",
        ..ALONE
    }))
}

fn delayed_acks() -> Script {
    let (host, mut path) = open(Set {
        name: "delayed-acks",
        says: "An ACK for every second packet gives half of the points",
        ..LEAP
    });
    path.every = 2;
    ends((host, path))
}

fn fraction() -> Script {
    let (host, path) = open(Set {
        name: "fraction",
        says: "The first train is paced at the fraction of the rate that the parameter states",
        scheme: "leap:fraction=50%",
        parameters: &[("fraction_ppm", 500_000)],
        ..LEAP
    });
    ends((host, path))
}

fn fill() -> Script {
    let (host, mut path) = open(Set {
        name: "fill",
        says: "Other flows use half of the rate: the delay of the first train grows, and Fill takes what is left",
        ..LEAP
    });
    path.left = 50;
    ends((host, path))
}

fn drain() -> Script {
    let (host, mut path) = open(Set {
        name: "drain",
        says: "Other flows use a fifth of the rate: the first train is below the rest, and Rise builds a queue, which Drain empties",
        ..LEAP
    });
    path.left = 80;
    ends((host, path))
}

fn drain_alone() -> Script {
    let (host, mut path) = open(Set {
        name: "drain-alone",
        says: "Alone, the delay that grows in Probe leads to Drain",
        ..ALONE
    });
    path.left = 50;
    ends((host, path))
}

fn policer() -> Script {
    let (host, mut path) = open(Set {
        name: "policer",
        says: "A policer drops a part of the first train and delays none: the rest of it gives the rate of Fill",
        ..LEAP
    });
    path.policer = Some((5_000, 22));
    ends((host, path))
}

fn policed_whole() -> Script {
    let (mut host, mut path) = open(Set {
        name: "policed-whole",
        says: "The whole first train is lost, and no packet was delayed: slow start from half of its window",
        ..LEAP
    });
    path.lost.extend(28..52);
    path.run(&mut host, |host| host.sent() >= 100);
    host.end()
}

fn short_queue() -> Script {
    let (host, mut path) = open(Set {
        name: "short-queue",
        says: "The first flight overflows a queue of four packets: no train, and Fill",
        ..LEAP
    });
    path.room = 4 * PACKET;
    ends((host, path))
}

fn short_queue_alone() -> Script {
    let (host, mut path) = open(Set {
        name: "short-queue-alone",
        says: "Alone, a first flight with losses leads to Probe",
        ..ALONE
    });
    path.room = 4 * PACKET;
    ends((host, path))
}

fn small_pipe() -> Script {
    let (host, _) = open(Set {
        name: "small-pipe",
        says: "The first flight is larger than the product: start-up ends at its last ACK",
        ..LEAP
    });
    ends((host, Pipe::new(8_000, RTT - 8_000)))
}

fn held_acks() -> Script {
    let (mut host, _) = open(Set {
        name: "held-acks",
        says: "All ACKs of the first flight arrive at one instant: a train at 4 times the rate of slow start searches",
        ..LEAP
    });
    held_path(6_000).run(&mut host, |host| host.sent() >= 420);
    host.end()
}

fn uneven() -> Script {
    let (mut host, _) = open(Set {
        name: "uneven",
        says: "The ACKs of the first flight arrive at two instants: an uneven spread, and a search",
        ..LEAP
    });
    held_path(5_000).run(&mut host, |host| host.sent() >= 420);
    host.end()
}

/// Returns a path with a product of 160 packets, as much room in its queue, and ACKs that are held back for up to this time.
fn held_path(held: u64) -> Pipe {
    let mut path = Pipe::new(250, RTT - 250);
    path.held = held;
    path.room = RTT;
    path
}

fn spaced_flight() -> Script {
    let (mut host, mut path) = open(Set {
        name: "spaced-flight",
        says: "The application spaced the first flight: no delay grows in Verify, and a faster train finds the bottleneck",
        ..ALONE
    });
    for packet in 0..10 {
        host.at(RTT + packet * 3 * PACKET);
        path.data = Some(1);
        path.send(&mut host);
    }
    path.data = None;
    ends((host, path))
}

fn slow_train() -> Script {
    let (mut host, mut path) = open(Set {
        name: "slow-train",
        says: "A fast train below nine tenths of its pace has no verdict: Rise begins anew",
        ..ALONE
    });
    path.max_flight = 24;
    path.run(&mut host, |host| host.sent() >= 180);
    host.note("from here on only the window limits the flight");
    path.max_flight = u64::MAX;
    ends((host, path))
}

fn slow_trains() -> Script {
    let (host, mut path) = open(Set {
        name: "slow-trains",
        says: "The third consecutive train below its pace ends start-up",
        ..ALONE
    });
    path.max_flight = 24;
    ends((host, path))
}

fn few_instants() -> Script {
    let (mut host, mut path) = open(Set {
        name: "few-instants",
        says: "The ACKs of the first train arrive at too few instants for a slope: slow start, paced",
        ..LEAP
    });
    path.run(&mut host, |host| host.sent() >= 24);
    path.held = 20_000;
    path.run(&mut host, |host| host.sent() >= 120);
    host.end()
}

fn starved_train() -> Script {
    let (mut host, mut path) = open(Set {
        name: "starved-train",
        spec: "leap-spec section 9, Application limits",
        says: "The application limits the first train, and no queue grows: slow start",
        ..LEAP
    });
    path.run(&mut host, |host| host.sent() >= 30);
    for _ in 0..40 {
        let (sent, wait) = (host.sent(), host.now() + 4 * PACKET);
        path.data = Some(1);
        path.run(&mut host, |host| host.sent() > sent && host.now() >= wait);
    }
    path.data = None;
    path.run(&mut host, |host| host.sent() >= 120);
    host.end()
}

fn searched_after_loss() -> Script {
    let (mut host, mut path) = open(Set {
        name: "searched-after-loss",
        says: "What remains of the first flight arrives at one instant: a train at twice its rate searches",
        ..LEAP
    });
    path.held = 30_000;
    path.room = 4 * PACKET;
    path.run(&mut host, |host| host.sent() >= 80);
    host.end()
}

fn slow_search() -> Script {
    let (mut host, mut path) = open(Set {
        name: "slow-search",
        says: "A train that searches below its pace is sent anew at the same factor",
        ..ALONE
    });
    path.held = 15_000;
    path.run(&mut host, |host| host.sent() >= 28);
    path.max_flight = 20;
    path.held = 1;
    path.run(&mut host, |host| host.sent() >= 150);
    host.end()
}

fn fill_stops() -> Script {
    let (mut host, _) = open(Set {
        name: "fill-stops",
        says: "The delay grows in Fill: start-up ends below its rate",
        ..LEAP
    });
    let mut path = Pipe::new(250, RTT - 250);
    path.left = 60;
    path.run(&mut host, |host| host.sent() >= 75);
    path.left = 20;
    ends((host, path))
}

fn rise_stops() -> Script {
    let (mut host, _) = open(Set {
        name: "rise-stops",
        says: "The delay grows in Rise before the bound is gone: start-up ends below the bound",
        ..LEAP
    });
    let mut path = Pipe::new(250, RTT - 250);
    path.run(&mut host, |host| host.sent() >= 65);
    path.left = 15;
    ends((host, path))
}

fn window_unused() -> Script {
    let (host, mut path) = open(Set {
        name: "window-unused",
        spec: "leap-spec section 4.8",
        says: "Half of the permitted window is in flight, so the bound of Rise does not grow: after two RTTs start-up ends",
        ..LEAP
    });
    path.max_flight = 24;
    ends((host, path))
}

fn losses() -> Script {
    let (host, mut path) = open(Set {
        name: "losses",
        says: "Four lost packets of a train do not end start-up, and the fifth does, with a threshold",
        ..LEAP
    });
    path.lost.extend((94..107).step_by(3));
    ends((host, path))
}

fn losses_share() -> Script {
    let (host, _) = open(Set {
        name: "losses-share",
        says: "Losses up to 3 % of the window do not end start-up, and more do",
        ..ALONE
    });
    let mut path = Pipe::new(200, RTT - 200);
    path.lost.extend((180..280).step_by(5));
    ends((host, path))
}

fn mark() -> Script {
    let (mut host, mut path) = open(Set {
        name: "mark",
        spec: "leap-spec section 9, ECN",
        says: "A mark ends start-up without a threshold, and the law answers",
        ..LEAP
    });
    path.run(&mut host, |host| host.sent() >= 60);
    let sent_at = host.sent_at(host.flying()[0]);
    host.mark(sent_at);
    host.end()
}

fn timeout() -> Script {
    let (mut host, mut path) = open(Set {
        name: "timeout",
        spec: "leap-spec section 9, Timeout",
        says: "A timeout ends start-up: the law answers, and slow start follows",
        ..LEAP
    });
    path.run(&mut host, |host| host.sent() >= 60);
    host.at(host.now() + 1_000_000);
    host.time_out(false);
    host.at(host.now() + 10_000);
    ends((host, Pipe::new(PACKET, RTT - PACKET)))
}

fn saved() -> Script {
    ends(open(Set {
        name: "saved",
        spec: "leap-spec section 7",
        says: "A quarter of the saved window is sent over the first RTT",
        scheme: "leap-saved:saved=96kB,rtt=40ms",
        parameters: &[("saved_min_rtt_us", RTT), ("saved_window_bytes", 80 * MSS)],
        ..LEAP
    }))
}

fn saved_elsewhere() -> Script {
    let (mut host, mut path) = open(Set {
        name: "saved-elsewhere",
        spec: "leap-spec section 7",
        says: "A saved RTT of twice the present one is of another path: the values are not used",
        scheme: "leap-saved:saved=96kB,rtt=80ms",
        parameters: &[("saved_min_rtt_us", 2 * RTT), ("saved_window_bytes", 80 * MSS)],
        ..LEAP
    });
    path.run(&mut host, |host| host.sent() >= 24);
    host.end()
}

fn handshake_lost() -> Script {
    let mut host = Host::new(Set {
        name: "handshake-lost",
        spec: "leap-spec section 4.9",
        says: "After a lost SYN it is slow start from one packet",
        ..LEAP
    });
    host.established(3 * RTT, true);
    Pipe::new(PACKET, RTT - PACKET).run(&mut host, |host| host.sent() >= 40);
    host.end()
}

fn idle() -> Script {
    let (mut host, mut path) = open(Set {
        name: "idle",
        spec: "leap-spec section 9, Idle restart",
        says: "An idle time ends leap: slow start from the initial window",
        ..LEAP
    });
    path.data = Some(120);
    path.run(&mut host, |host| host.sent() >= 120 && host.in_flight() == 0);
    host.at(host.now() + 1_500_000);
    host.new_data();
    path.data = None;
    path.run(&mut host, |host| host.sent() >= 150);
    host.end()
}

fn two_packets() -> Script {
    ends(open(Set {
        name: "two-packets",
        says: "An initial window of two packets has an uneven spread, which Probe takes as it is",
        initial: 2,
        ..LEAP
    }))
}

fn four_instants() -> Script {
    let (host, mut path) = open(Set {
        name: "four-instants",
        says: "Eight packets with an ACK for every second one have four instants: an even spread",
        initial: 8,
        ..LEAP
    });
    path.every = 2;
    ends((host, path))
}

fn lost_in_first(name: &'static str, says: &'static str, count: u64) -> Script {
    let (host, mut path) = open(Set { name, says, ..LEAP });
    path.lost.extend(5..5 + count);
    ends((host, path))
}

fn policed_part() -> Script {
    let (host, mut path) = open(Set {
        name: "policed-part",
        says: "Five of the 24 packets of the first train are lost and no packet is delayed: Fill at the share of the others",
        ..LEAP
    });
    path.lost.extend((28..52).step_by(5));
    ends((host, path))
}

/// Returns a start-up whose path becomes faster when the train of Verify begins.
fn faster(name: &'static str, says: &'static str, packet: u64) -> Script {
    let (mut host, mut path) = open(Set { name, says, ..LEAP });
    path.run(&mut host, |host| host.pacing().is_some_and(|rate| rate > 1_500_000));
    host.note("the path is faster from here on");
    path.change_rate(host.now(), packet);
    ends((host, path))
}
