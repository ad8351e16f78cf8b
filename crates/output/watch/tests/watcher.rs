//! Connections of sockets become start-ups, groups and metrics.

use firstflight_inspect::{Departure, Hearing, Opening};
use firstflight_tcp::Flags;
use firstflight_watch::{
    COLUMNS, Closed, Groups, Numbers, Opened, Prefixes, Start, Totals, Watcher, columns, openmetrics, record,
};

const MS: u64 = 1_000_000;
const MSS: u32 = 1_448;
const INFINITE: u32 = 0x7fff_ffff;

fn opening(remote: &str) -> Opening {
    Opening {
        at: 100 * MS,
        local: "10.0.0.1:80".parse().unwrap(),
        remote: remote.parse().unwrap(),
        is_opener: false,
        round_trip: Some(40 * MS),
        first: [1, 1],
        mss: 1_448,
        sack: true,
        timestamps: true,
        scales: Some([7, 7]),
        window: 1 << 20,
        ecn: false,
    }
}

fn numbers(cwnd: u32, ssthresh: u32, state: u8) -> Numbers {
    Numbers { cwnd, ssthresh, state, at: 0 }
}

fn closed(lost: u32, law: &str, retransmitted: u32) -> Closed<'_> {
    Closed { lost, law, retransmitted, data_segments: 552, seen_segments: 549 }
}

/// Sends rounds of `sizes` segments, 40 ms each, by a socket whose window is `cwnd` and whose threshold becomes finite with the last round.
fn rounds(watcher: &mut Watcher, id: u64, sizes: &[u32], law: &str) -> Option<Start> {
    let (mut at, mut next, mut una) = (101 * MS, 1, 1);
    let opened = Opened {
        opening: opening("203.0.113.77:5000"),
        namespace: 4,
        cookie: 7 + id,
        law,
        retransmitted: 1,
        data_segments: 2,
    };
    assert_eq!(watcher.opened(id, numbers(10, INFINITE, 0), &Opened { law: "bbr", ..opened }), None);
    // The program chooses its own congestion control before it sends.
    watcher.named(id, numbers(10, INFINITE, 0), 0, law);
    for (round, size) in sizes.iter().enumerate() {
        let is_last = round + 1 == sizes.len();
        let now = if is_last { numbers(*size / 2, *size / 2, 3) } else { numbers(*size, INFINITE, 0) };
        for _ in 0..*size {
            let end = next + MSS;
            watcher.sent(id, now, 0, &Departure { at, seq: next, end, flags: Flags::ACK.0 });
            (at, next) = (at + 10_000, end);
        }
        at += 40 * MS;
        for _ in 0..*size {
            una += MSS;
            let hearing = Hearing { at, ack: una, window: 60_000, flags: Flags::ACK.0, options: &[] };
            watcher.heard(id, now, 0, &hearing);
            at += 100_000;
        }
    }
    watcher.closed(id, numbers(5, 7, 0), &closed(0, "cubic", 3))
}

#[test]
fn a_start_up_combines_capture_findings_with_kernel_values() {
    let mut watcher = Watcher::new(Prefixes::default());
    let sizes = [10, 20, 40, 80, 80, 80, 80, 80, 80];
    let start = rounds(&mut watcher, 1, &sizes, "ff_hystart").expect("it sent data");
    assert_eq!((start.socket, start.namespace, start.found.connection), (8, 4, 1));
    assert_eq!((start.prefix.as_str(), start.congestion_control.as_str()), ("203.0.113.0/24", "ff_hystart"));
    assert_eq!(start.congestion_control_later.as_deref(), Some("cubic"));
    assert_eq!((start.found.exit_cause, start.is_open), (Some("flat"), false));
    assert_eq!(start.found.exit_flight_bytes, Some(80 * u64::from(MSS)));
    // The kernel's exit is when its threshold became finite, with the window before that.
    assert_eq!(start.kernel_exit_cwnd_segments, Some(80));
    assert_eq!((start.kernel_exit_ssthresh_segments, start.kernel_exit_state), (Some(40), Some("recovery")));
    // No FIN was sent, so the last numbers are reported.
    assert_eq!((start.cwnd_segments, start.ssthresh_segments), (5, Some(7)));
    assert_eq!(start.kernel_retransmitted_segments, Some(3));
    // 552 segments, of which two left before the handshake ended, and 549 were seen.
    assert_eq!(start.unseen_segments, Some(1));
    // All is acknowledged: the time in which data was outstanding, without the pauses of the program.
    assert_eq!(start.found.transfer_bytes, Some(550 * u64::from(MSS)));
    let transfer = start.found.transfer_s.expect("all is acknowledged");
    assert!((0.41..0.43).contains(&transfer), "{transfer}");
    // The 70th segment is the last of the third round.
    let early = start.found.time_to_100kb_s.expect("that much was sent");
    assert!((0.12..0.13).contains(&early) && start.found.time_to_1mb_s.is_none(), "{early}");
    // 80 segments are delivered in the 48.8 ms from the first acknowledgement of a round to that of the next: 40 ms of propagation, a
    // segment every 10 µs, then an acknowledgement every 100 µs.
    let rate = start.exit_rate_bps.expect("the round is whole");
    assert!((8e6..25e6).contains(&rate), "{rate}");
}

/// BBR's start-up ends when Drain begins, which sets the threshold. What the packets look like is no matter.
#[test]
fn the_exit_of_bbr_is_the_drain_that_the_kernel_reports() {
    let mut watcher = Watcher::new(Prefixes::default());
    let start = rounds(&mut watcher, 1, &[10, 20, 40, 80, 80, 80, 80, 80, 80], "bbr").expect("it sent data");
    assert_eq!((start.found.exit_cause, start.found.exit_round), (Some("drain"), Some(9)), "{start:?}");
    assert_eq!(start.kernel_exit_cwnd_segments, Some(80));
    // Without a threshold it never ended.
    let opened = Opened {
        opening: opening("203.0.113.77:5000"),
        namespace: 4,
        cookie: 7,
        law: "bbr",
        retransmitted: 0,
        data_segments: 0,
    };
    assert_eq!(watcher.opened(2, numbers(10, INFINITE, 0), &opened), None);
    for at in 0..9 {
        let seq = 1 + at * 10 * MSS;
        let at = (101 + 40 * u64::from(at)) * MS;
        watcher.sent(
            2,
            numbers(10, INFINITE, 0),
            0,
            &Departure { at, seq, end: seq + 10 * MSS, flags: Flags::ACK.0 },
        );
        let hearing = Hearing {
            at: at + 39 * MS,
            ack: seq + 10 * MSS,
            window: 60_000,
            flags: Flags::ACK.0,
            options: &[],
        };
        watcher.heard(2, numbers(10, INFINITE, 0), 0, &hearing);
    }
    let start = watcher.closed(2, numbers(10, INFINITE, 0), &closed(0, "bbr", 0)).expect("it sent data");
    assert_eq!(start.found.exit_cause, Some("none"), "{start:?}");
}

/// Returns the congestion controls of a connection that sends `bytes` under each of these, and whose threshold becomes finite before the
/// last.
fn governed(sent: &[(&str, u32)]) -> (String, Option<String>) {
    let mut watcher = Watcher::new(Prefixes::default());
    let opened = Opened {
        opening: opening("203.0.113.77:5000"),
        namespace: 4,
        cookie: 7,
        law: sent[0].0,
        retransmitted: 0,
        data_segments: 0,
    };
    assert_eq!(watcher.opened(1, numbers(10, INFINITE, 0), &opened), None);
    let (mut next, mut at, mut last) = (1, 101 * MS, numbers(10, INFINITE, 0));
    for (place, (law, bytes)) in sent.iter().enumerate() {
        last.ssthresh = if place + 1 == sent.len() { 20 } else { INFINITE };
        watcher.named(1, last, 0, law);
        let end = next + bytes;
        watcher.sent(1, last, 0, &Departure { at, seq: next, end, flags: Flags::ACK.0 });
        (next, at) = (end, at + MS);
    }
    let start = watcher.closed(1, last, &closed(0, sent[sent.len() - 1].0, 0)).expect("it sent data");
    (start.congestion_control, start.congestion_control_later)
}

#[test]
fn the_congestion_control_is_the_one_that_governed_start_up() {
    let one = |law: &str, later: Option<&str>| (law.to_owned(), later.map(str::to_owned));
    // Segments of 1424 bytes never fill an MSS of 1448, as with MPTCP.
    assert_eq!(
        governed(&[("ff_slow_start", 14_240), ("cubic", 1_000_000)]),
        one("ff_slow_start", Some("cubic"))
    );
    // A program sends a greeting and then chooses.
    assert_eq!(governed(&[("cubic", 200), ("bbr", 500_000), ("bbr", 1)]), one("bbr", None));
    assert_eq!(governed(&[("cubic", 200), ("ff_suss", 50_000), ("cubic", 1)]), one("ff_suss", Some("cubic")));
    // A scheme hands over to BBR, whose threshold is still infinite, when its start-up has ended early.
    assert_eq!(governed(&[("ff_suss", 20_000), ("bbr", 500_000), ("bbr", 1)]), one("ff_suss", Some("bbr")));
    assert_eq!(governed(&[("reno", 1_000)]), one("reno", None));
}

/// Returns the payload of the first transfer of a program that pauses between two answers. Acknowledgements take `delay` milliseconds.
fn first_transfer(delay: u64, pause: u64) -> Option<u64> {
    let mut watcher = Watcher::new(Prefixes::default());
    let opened = Opened {
        opening: opening("203.0.113.77:5000"),
        namespace: 4,
        cookie: 7,
        law: "reno",
        retransmitted: 0,
        data_segments: 0,
    };
    let now = numbers(10, INFINITE, 0);
    assert_eq!(watcher.opened(1, now, &opened), None);
    let (mut at, mut next) = (101 * MS, 1);
    for round in 0..10 {
        at += if round == 5 { pause * MS } else { 0 };
        watcher.sent(1, now, 0, &Departure { at, seq: next, end: next + MSS, flags: Flags::ACK.0 });
        (at, next) = (at + delay * MS, next + MSS);
        let hearing = Hearing { at, ack: next, window: 60_000, flags: Flags::ACK.0, options: &[] };
        watcher.heard(1, now, 0, &hearing);
    }
    watcher.closed(1, now, &closed(0, "reno", 0)).expect("it sent data").found.transfer_bytes
}

#[test]
fn the_first_transfer_ends_by_the_pause_of_the_program_and_not_by_the_queue() {
    let segments = [(50, 100), (600, 100), (50, 500), (600, 500)]
        .map(|(delay, pause)| first_transfer(delay, pause).map(|bytes| bytes / u64::from(MSS)));
    assert_eq!(segments, [Some(10), Some(10), Some(5), Some(5)]);
}

#[test]
fn retransmissions_that_no_fact_told_are_counted() {
    let mut watcher = Watcher::new(Prefixes::default());
    let opened = Opened {
        opening: opening("203.0.113.77:5000"),
        namespace: 4,
        cookie: 7,
        law: "reno",
        retransmitted: 1,
        data_segments: 0,
    };
    assert_eq!(watcher.opened(1, numbers(10, INFINITE, 0), &opened), None);
    let mut send = |at, seq, end, flags| {
        watcher.sent(1, numbers(10, INFINITE, 0), 0, &Departure { at, seq, end, flags });
    };
    send(101 * MS, 1, 1 + MSS, Flags::ACK.0);
    send(301 * MS, 1, 1 + MSS, Flags::ACK.0);
    for at in [302, 602] {
        send(at * MS, 1 + MSS, 2 + MSS, Flags::FIN.0);
    }
    // The SYN-ACK, the segment, its FIN, and two others.
    let start = watcher.closed(1, numbers(10, INFINITE, 0), &closed(0, "reno", 5)).expect("it sent data");
    assert_eq!((start.found.retransmitted_segments, start.unseen_retransmissions), (Some(1), Some(2)));
}

#[test]
fn dataless_connections_have_no_start_up_and_open_ones_are_reported_finally() {
    let mut watcher = Watcher::new(Prefixes::default());
    let open = |watcher: &mut Watcher, id| {
        let opened = Opened {
            opening: opening("[2001:db8:1:2::3]:80"),
            namespace: 4,
            cookie: id,
            law: "reno",
            retransmitted: 0,
            data_segments: 0,
        };
        watcher.opened(id, numbers(10, INFINITE, 0), &opened)
    };
    (1..=3).for_each(|id| assert_eq!(open(&mut watcher, id), None));
    // A FIN without data.
    watcher.sent(
        1,
        numbers(10, INFINITE, 0),
        0,
        &Departure { at: 101 * MS, seq: 1, end: 2, flags: Flags::FIN.0 },
    );
    assert_eq!(watcher.closed(1, numbers(10, INFINITE, 0), &closed(0, "reno", 0)), None);
    watcher.sent(2, numbers(10, 20, 0), 5, &Departure { at: 101 * MS, seq: 1, end: 101, flags: 0 });
    assert_eq!((watcher.silent(), watcher.open_now(), watcher.opened_so_far()), (1, 2, 3));
    // A socket whose opening was not reported.
    watcher.sent(9, numbers(10, 20, 0), 0, &Departure { at: 101 * MS, seq: 1, end: 101, flags: 0 });
    assert_eq!(watcher.unknown_facts(), 1);
    let rest = watcher.finish();
    assert_eq!(rest.len(), 1, "the third sent nothing");
    assert_eq!((rest[0].is_open, rest[0].facts_lost, rest[0].found.exit_cause), (true, 5, None));
    assert_eq!(rest[0].prefix, "2001:db8:1::/48");
    // The window when the FIN was sent, not the kernel's window after that.
    assert_eq!(open(&mut watcher, 4), None);
    watcher.sent(
        4,
        numbers(30, 20, 0),
        0,
        &Departure { at: 101 * MS, seq: 1, end: 102, flags: Flags::FIN.0 },
    );
    let ended = watcher.closed(4, numbers(15, 20, 0), &closed(0, "reno", 0)).unwrap();
    assert_eq!((ended.cwnd_segments, ended.ssthresh_segments), (30, Some(20)));
    // Its window never reached the threshold.
    assert_eq!((rest[0].ssthresh_segments, rest[0].kernel_exit_state), (Some(20), Some("open")));
    assert_eq!(watcher.open_now(), 0);
}

#[test]
fn facts_lost_for_lack_of_room_are_counted_per_connection() {
    let mut watcher = Watcher::new(Prefixes::default());
    let open = |watcher: &mut Watcher| {
        let opened = Opened {
            opening: opening("203.0.113.77:5000"),
            namespace: 4,
            cookie: 7,
            law: "reno",
            retransmitted: 0,
            data_segments: 0,
        };
        watcher.opened(1, numbers(10, INFINITE, 0), &opened)
    };
    let send = |watcher: &mut Watcher, lost| {
        let data = Departure { at: 101 * MS, seq: 1, end: 101, flags: 0 };
        watcher.sent(1, numbers(10, INFINITE, 0), lost, &data);
    };
    // The kernel's sum at the end includes lost facts that no other fact reported.
    assert_eq!(open(&mut watcher), None);
    send(&mut watcher, 2);
    watcher.named(1, numbers(10, INFINITE, 0), 3, "cubic");
    let ended = watcher.closed(1, numbers(10, INFINITE, 0), &closed(6, "cubic", 0)).expect("it sent data");
    assert_eq!((ended.facts_lost, ended.is_open), (6, false));
    // A socket's memory is reused, and the fact of its closing never arrived.
    assert_eq!(open(&mut watcher), None);
    send(&mut watcher, 0);
    watcher.named(1, numbers(10, INFINITE, 0), 0, "cubic");
    let replaced = open(&mut watcher).expect("it sent data");
    assert_eq!((replaced.facts_lost, replaced.is_open, watcher.open_now()), (1, true, 1));
    send(&mut watcher, 2);
    watcher.named(1, numbers(10, INFINITE, 0), 3, "cubic");
    assert_eq!(watcher.finish()[0].facts_lost, 5);
}

#[test]
fn prefixes_are_two_lengths() {
    let prefixes: Prefixes = "32/0".parse().unwrap();
    assert_eq!(prefixes.of("192.0.2.9".parse().unwrap()), "192.0.2.9/32");
    assert_eq!(prefixes.of("2001:db8::1".parse().unwrap()), "::/0");
    assert_eq!("0/128".parse::<Prefixes>().unwrap().of("192.0.2.9".parse().unwrap()), "0.0.0.0/0");
    for refused in ["24", "33/48", "24/129", "24/48/1", "", "a/b", "-1/48"] {
        let why = refused.parse::<Prefixes>().expect_err(refused);
        assert!(why.contains("such as 24/48"), "{why}");
    }
}

#[test]
fn groups_are_metrics_that_end_as_the_format_wants() {
    let mut watcher = Watcher::new(Prefixes::default());
    let mut groups = Groups::default();
    for (id, law) in [(1, "cubic"), (2, "cubic"), (3, "ba\"d\\")] {
        let start = rounds(&mut watcher, id, &[10, 20, 40, 40, 40, 40, 40], law).unwrap();
        groups.add(&start);
    }
    let text = openmetrics(&groups, &Totals { open: 1, opened: 4, facts_lost: 9 });
    assert!(text.ends_with("\n# EOF\n") && text.contains("firstflight_facts_lost_total 9\n"), "{text}");
    let wanted = "firstflight_start_ups_total{prefix=\"203.0.113.0/24\",congestion_control=\"cubic\",exit_cause=\"flat\"} 2\n";
    assert!(text.contains(wanted), "{text}");
    assert!(text.contains("congestion_control=\"ba\\\"d\\\\\""), "{text}");
    assert!(text.contains("congestion_control=\"cubic\",quantile=\"0.5\"} 40\n"), "{text}");
    // 230 segments of 1,448 bytes take seven rounds of 40 ms, and 0.11 ms each.
    let of_cubic = "congestion_control=\"cubic\",transfer=\"100 kB-1 MB\"";
    let of = |rest: &str| format!("firstflight_transfer_seconds_{rest}");
    for wanted in [
        of(&format!("bucket{{{of_cubic},le=\"0.3\"}} 0\n")),
        of(&format!("bucket{{{of_cubic},le=\"0.5\"}} 2\n")),
        of(&format!("bucket{{{of_cubic},le=\"+Inf\"}} 2\n")),
        of(&format!("count{{{of_cubic}}} 2\n")),
    ] {
        assert!(text.contains(&wanted), "{wanted}{text}");
    }
    // Counters go on after a restart; quantiles do not.
    let saved = serde_json::to_string(&groups.kept()).unwrap();
    let resumed = Groups::resumed(serde_json::from_str(&saved).unwrap());
    let again = openmetrics(&resumed, &Totals::default());
    let counters = |text: &str| -> Vec<String> {
        let is_it =
            |line: &&str| line.contains("_total{") || line.contains("_bucket{") || line.contains("_sum{");
        text.lines().filter(is_it).map(str::to_owned).collect()
    };
    assert!(counters(&text).len() > 100 && counters(&text) == counters(&again), "{again}");
    // Every sample belongs to the family above it.
    let mut family = String::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap().to_owned();
        } else if !line.starts_with('#') {
            assert!(line.starts_with(&family), "{line} in {family}");
        }
    }
}

#[test]
fn more_destinations_than_there_are_groups_are_counted_together() {
    let mut groups = Groups::default();
    for at in 0..1_500 {
        groups.add(&Start { prefix: format!("10.{}.{}.0/24", at / 256, at % 256), ..Start::default() });
    }
    assert!(groups.iter().count() <= 1_001);
    assert_eq!(groups.iter().map(|(_, group)| group.counters.starts).sum::<u64>(), 1_500);
    assert_eq!(groups.largest()[0].0.0, "other");
}

#[test]
fn every_field_of_a_row_is_a_column() {
    let mut start = Start { socket: 1, ..Start::default() };
    let row = record(&mut start).unwrap();
    let known: Vec<&str> = columns().map(|column| column.name).collect();
    for field in row.keys().filter(|field| !["rounds", "idle_restarts"].contains(&field.as_str())) {
        assert!(known.contains(&field.as_str()), "{field}");
    }
    assert!(COLUMNS.iter().all(|column| row.contains_key(column.name)));
}
