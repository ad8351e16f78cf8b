//! Connections of sockets become start-ups, groups and metrics.

use firstflight_inspect::{Departure, Hearing, Opening};
use firstflight_tcp::Flags;
use firstflight_watch::{
    COLUMNS, Groups, Numbers, Opened, Prefixes, Start, Totals, Watcher, columns, openmetrics, record,
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
    Numbers { cwnd, ssthresh, state }
}

/// Rounds of `sizes` segments, 40 ms each, by a socket whose window is `cwnd` and whose threshold becomes finite with the last round.
fn rounds(watcher: &mut Watcher, id: u64, sizes: &[u32], law: &str) -> Option<Start> {
    let (mut at, mut next, mut una) = (101 * MS, 1, 1);
    let opened = Opened { opening: opening("203.0.113.77:5000"), namespace: 4, cookie: 7 + id, law };
    assert_eq!(watcher.opened(id, numbers(10, INFINITE, 0), &Opened { law: "bbr", ..opened }), None);
    // The program chooses its own before it sends.
    watcher.named(id, 0, law);
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
    watcher.closed(id, numbers(5, 7, 0), 0, "cubic", 3)
}

#[test]
fn a_start_up_has_what_a_capture_tells_and_what_the_kernel_knows() {
    let mut watcher = Watcher::new(Prefixes::default());
    let sizes = [10, 20, 40, 80, 80, 80, 80, 80, 80];
    let start = rounds(&mut watcher, 1, &sizes, "ff_hystart").expect("it sent data");
    assert_eq!((start.socket, start.namespace, start.found.connection), (8, 4, 1));
    assert_eq!((start.prefix.as_str(), start.congestion_control.as_str()), ("203.0.113.0/24", "ff_hystart"));
    assert_eq!(start.congestion_control_later.as_deref(), Some("cubic"));
    assert_eq!((start.found.exit_cause, start.is_open), (Some("flat"), false));
    assert_eq!(start.found.exit_flight_bytes, Some(80 * u64::from(MSS)));
    // The kernel left when its threshold became finite, with the window that it had before.
    assert_eq!(start.kernel_exit_cwnd_segments, Some(80));
    assert_eq!((start.kernel_exit_ssthresh_segments, start.kernel_exit_state), (Some(40), Some("recovery")));
    // No end of it left, so that the last numbers are told.
    assert_eq!((start.cwnd_segments, start.ssthresh_segments), (5, Some(7)));
    assert_eq!(start.kernel_retransmitted_segments, Some(3));
    // 80 segments were acknowledged in the round in which the flight came to 80.
    let rate = start.exit_rate_bps.expect("the round is whole");
    let round = &start.found.rounds[usize::try_from(start.found.exit_round.unwrap()).unwrap() - 1];
    let acked = f64::from(u32::try_from(round.acks).unwrap()) * round.segments_per_ack.unwrap();
    assert!((rate - acked * f64::from(MSS) * 8.0 / round.length_s.unwrap()).abs() < 1.0, "{rate}");
    assert!((8e6..25e6).contains(&rate), "{rate}");
}

#[test]
fn a_connection_without_data_has_no_start_up_and_an_open_one_is_told_in_the_end() {
    let mut watcher = Watcher::new(Prefixes::default());
    let open = |watcher: &mut Watcher, id| {
        let opened =
            Opened { opening: opening("[2001:db8:1:2::3]:80"), namespace: 4, cookie: id, law: "reno" };
        watcher.opened(id, numbers(10, INFINITE, 0), &opened)
    };
    (1..=3).for_each(|id| assert_eq!(open(&mut watcher, id), None));
    // An end without data.
    watcher.sent(
        1,
        numbers(10, INFINITE, 0),
        0,
        &Departure { at: 101 * MS, seq: 1, end: 2, flags: Flags::FIN.0 },
    );
    assert_eq!(watcher.closed(1, numbers(10, INFINITE, 0), 0, "reno", 0), None);
    watcher.sent(2, numbers(10, 20, 0), 5, &Departure { at: 101 * MS, seq: 1, end: 101, flags: 0 });
    assert_eq!((watcher.silent(), watcher.open_now(), watcher.opened_so_far()), (1, 2, 3));
    // A socket that nobody saw open.
    watcher.sent(9, numbers(10, 20, 0), 0, &Departure { at: 101 * MS, seq: 1, end: 101, flags: 0 });
    assert_eq!(watcher.unknown_facts(), 1);
    let rest = watcher.finish();
    assert_eq!(rest.len(), 1, "the third sent nothing");
    assert_eq!((rest[0].is_open, rest[0].facts_lost, rest[0].found.exit_cause), (true, 5, None));
    assert_eq!(rest[0].prefix, "2001:db8:1::/48");
    // The window when the end left, and not what the kernel made of it as it left.
    assert_eq!(open(&mut watcher, 4), None);
    watcher.sent(
        4,
        numbers(30, 20, 0),
        0,
        &Departure { at: 101 * MS, seq: 1, end: 102, flags: Flags::FIN.0 },
    );
    let ended = watcher.closed(4, numbers(15, 20, 0), 0, "reno", 0).unwrap();
    assert_eq!((ended.cwnd_segments, ended.ssthresh_segments), (30, Some(20)));
    // Its window never reached the threshold.
    assert_eq!((rest[0].ssthresh_segments, rest[0].kernel_exit_state), (Some(20), Some("open")));
    assert_eq!(watcher.open_now(), 0);
}

#[test]
fn what_found_no_room_is_counted_with_its_connection() {
    let mut watcher = Watcher::new(Prefixes::default());
    let open = |watcher: &mut Watcher| {
        let opened = Opened { opening: opening("203.0.113.77:5000"), namespace: 4, cookie: 7, law: "reno" };
        watcher.opened(1, numbers(10, INFINITE, 0), &opened)
    };
    let send = |watcher: &mut Watcher, lost| {
        let data = Departure { at: 101 * MS, seq: 1, end: 101, flags: 0 };
        watcher.sent(1, numbers(10, INFINITE, 0), lost, &data);
    };
    // The kernel's own sum at the end has also what no fact told.
    assert_eq!(open(&mut watcher), None);
    send(&mut watcher, 2);
    watcher.named(1, 3, "cubic");
    let ended = watcher.closed(1, numbers(10, INFINITE, 0), 6, "cubic", 0).expect("it sent data");
    assert_eq!((ended.facts_lost, ended.is_open), (6, false));
    // A socket's memory is used again, and the fact of its end never came.
    assert_eq!(open(&mut watcher), None);
    send(&mut watcher, 0);
    watcher.named(1, 0, "cubic");
    let replaced = open(&mut watcher).expect("it sent data");
    assert_eq!((replaced.facts_lost, replaced.is_open, watcher.open_now()), (1, true, 1));
    send(&mut watcher, 2);
    watcher.named(1, 3, "cubic");
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
    assert_eq!(groups.iter().map(|(_, group)| group.starts).sum::<u64>(), 1_500);
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
