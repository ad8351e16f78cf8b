//! HyStart++ (RFC 9406).

use crate::host::{Host, Script, Set};
use crate::pipe::Pipe;

const RTT: u64 = 100_000;
/// 100 ms and an eighth.
const RISEN: u64 = 112_500;

const HYSTART: Set = Set {
    name: "",
    spec: "RFC 9406 section 4.2",
    says: "",
    tolerance: 0.0,
    scheme: "hystart++",
    law: "reno",
    initial: 10,
    ssthresh: None,
    counts_bytes: true,
    paces: false,
    parameters: &[("l", 8)],
};

/// Returns the scripts.
pub(super) fn all() -> Vec<Script> {
    vec![
        threshold(
            "threshold-low",
            "MIN_RTT_THRESH: a rise of less than 4 ms is none",
            16_000,
            [19_999, 23_999],
        ),
        threshold(
            "threshold-eighth",
            "Between the limits a rise of an eighth counts",
            RTT,
            [112_499, 126_561],
        ),
        threshold("threshold-high", "MAX_RTT_THRESH: a rise of 16 ms is enough", 200_000, [215_999, 231_999]),
        seven_samples(),
        one_low_sample(),
        css_growth(),
        css_rounds(),
        css_resume(),
        css_equal_delay(),
        css_again(),
        l_limit(),
        unlimited(),
        css_loss(),
        css_threshold(),
        after_timeout(),
    ]
}

/// Returns a host whose first round is over, with twenty packets in flight.
fn open(set: Set, rtt: u64) -> Host {
    let mut host = Host::new(set);
    host.established(rtt, false);
    host.fill();
    host.round(1, rtt);
    host
}

/// Acknowledges eight packets, of which the last makes the eighth sample, with a note.
fn eight(host: &mut Host, delay: u64, note: &str) {
    for _ in 0..7 {
        host.ack_oldest(1, delay);
    }
    host.note(note);
    host.ack_oldest(1, delay);
}

/// Returns a host in CSS, which began with the eighth sample of the second round, and has finished this round.
fn in_css(set: Set) -> Host {
    let mut host = open(set, RTT);
    let left = host.flying().len() - 8;
    eight(&mut host, RISEN, "the eighth sample: CSS begins");
    for _ in 0..left {
        host.ack_oldest(1, RISEN);
    }
    host
}

fn threshold(name: &'static str, says: &'static str, rtt: u64, [short, enough]: [u64; 2]) -> Script {
    let mut host = open(Set { name, spec: "RFC 9406 sections 4.2 and 4.3", says, ..HYSTART }, rtt);
    host.note("a round whose delay is a microsecond below the threshold");
    host.round(1, short);
    host.note("a round whose delay is at the threshold");
    eight(&mut host, enough, "the eighth sample: CSS begins, after the growth of this ACK");
    for _ in 0..4 {
        host.ack_oldest(1, enough);
    }
    host.end()
}

fn seven_samples() -> Script {
    let set = Set {
        name: "seven-samples",
        spec: "RFC 9406 sections 4.2 and 4.3",
        says: "N_RTT_SAMPLE: seven samples of a round are not enough",
        ..HYSTART
    };
    let mut host = open(set, RTT);
    host.note("a round of twenty packets with seven ACKs, whose delay has risen");
    host.round(3, 130_000);
    host.note("slow start goes on: the whole ACK counts");
    host.ack_oldest(1, 130_000);
    host.ack_oldest(1, 130_000);
    host.end()
}

fn one_low_sample() -> Script {
    let set = Set {
        name: "one-low-sample",
        says: "The minimum of a round decides: one low sample keeps slow start",
        ..HYSTART
    };
    let mut host = open(set, RTT);
    host.ack_oldest(1, 112_499);
    for _ in 0..19 {
        host.ack_oldest(1, 150_000);
    }
    host.note("slow start goes on: the whole ACK counts");
    host.ack_oldest(1, 150_000);
    host.end()
}

fn css_growth() -> Script {
    let mut host = in_css(Set {
        name: "css-growth",
        spec: "RFC 9406 sections 4.2 and 4.3",
        says: "CSS_GROWTH_DIVISOR: in CSS the window grows by a quarter of the bytes acknowledged",
        ..HYSTART
    });
    host.round(2, RISEN);
    host.end()
}

fn css_rounds() -> Script {
    let mut host = in_css(Set {
        name: "css-rounds",
        spec: "RFC 9406 sections 4.2 and 4.3",
        says: "CSS_ROUNDS: five rounds of CSS, the one in which it began included, end slow start with ssthresh = cwnd",
        ..HYSTART
    });
    while host.is_starting() {
        host.round(4, 120_000);
    }
    host.end()
}

fn css_resume() -> Script {
    let mut host = in_css(Set {
        name: "css-resume",
        says: "If the delay of a round in CSS falls below the delay at its beginning, slow start resumes",
        ..HYSTART
    });
    eight(&mut host, 112_499, "the eighth sample: slow start resumes with the next ACK");
    for _ in 0..4 {
        host.ack_oldest(1, 112_499);
    }
    host.end()
}

fn css_equal_delay() -> Script {
    let mut host = in_css(Set {
        name: "css-equal-delay",
        says: "A delay equal to the one at the beginning of CSS is not below it: CSS goes on",
        ..HYSTART
    });
    eight(&mut host, RISEN, "the eighth sample: CSS goes on");
    for _ in 0..4 {
        host.ack_oldest(1, RISEN);
    }
    host.end()
}

fn css_again() -> Script {
    let mut host = in_css(Set {
        name: "css-again",
        says: "After slow start has resumed, a new rise begins CSS with all its rounds",
        ..HYSTART
    });
    host.note("slow start resumes in this round, at the eighth sample");
    host.round(4, 100_000);
    host.note("the delay rises again by an eighth: CSS begins at the eighth sample");
    host.round(4, RISEN);
    while host.is_starting() {
        host.round(16, 120_000);
    }
    host.end()
}

fn l_limit() -> Script {
    let mut host = open(
        Set {
            name: "l-limit",
            spec: "RFC 9406 sections 4.2 and 4.3",
            says: "L = 8: an ACK of twelve packets counts for eight, and in CSS for two",
            ..HYSTART
        },
        RTT,
    );
    host.note("twelve packets count for eight");
    host.ack_oldest(12, RTT);
    host.note("eight packets count for eight");
    host.ack_oldest(8, RTT);
    eight(&mut host, RISEN, "the eighth sample: CSS begins");
    host.note("twelve packets count for eight, of which a quarter is added");
    host.ack_oldest(12, RISEN);
    host.end()
}

fn unlimited() -> Script {
    let mut host = Host::new(Set {
        name: "unlimited",
        spec: "RFC 9406 section 4.3",
        says: "L is infinite for a sender that paces: an ACK of twelve packets counts for twelve",
        scheme: "hystart++:paced=yes",
        parameters: &[],
        ..HYSTART
    });
    host.established(RTT, false);
    let mut path = Pipe::new(500, 99_500);
    path.every = 12;
    path.run(&mut host, |host| host.sent() >= 60);
    host.end()
}

fn css_loss() -> Script {
    let mut host = in_css(Set {
        name: "css-loss",
        says: "A loss in CSS ends slow start with the reduction of the avoidance law",
        ..HYSTART
    });
    let flying = host.flying();
    host.at(host.sent_at(flying[3]) + RISEN);
    host.ack(&flying[1..4]);
    host.lose(&flying[..1]);
    host.end()
}

fn css_threshold() -> Script {
    let mut host = in_css(Set {
        name: "css-threshold",
        spec: "RFC 9406 section 4.1",
        says: "CSS ends at ssthresh, as slow start does",
        ssthresh: Some(32),
        ..HYSTART
    });
    host.round(1, RISEN);
    host.end()
}

fn after_timeout() -> Script {
    let mut host = open(
        Set {
            name: "after-timeout",
            spec: "RFC 9406 section 4.3",
            says: "HyStart++ is in the first slow start only: a rise after a timeout does not slow growth",
            counts_bytes: false,
            ..HYSTART
        },
        RTT,
    );
    host.round(1, RTT);
    host.at(host.now() + 1_000_000);
    host.note("40 packets are in flight: ssthresh is 20 packets");
    host.time_out(false);
    host.fill();
    host.round(1, RTT);
    host.round(1, RTT);
    host.round(1, RTT);
    host.note("a round of eight samples whose delay has risen");
    host.round(1, 150_000);
    host.note("slow start up to ssthresh");
    host.round(1, 150_000);
    host.end()
}
