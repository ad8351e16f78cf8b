use std::collections::BTreeMap;

use firstflight::avoidance::{Cubic, Reno};
use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart, Suss};
use firstflight::{Controller, Span, Time};
use proptest::prelude::*;

use crate::config::{AckPolicy, Config, Recovery};
use crate::sender::Sender;
use crate::{Endpoint, RepairSegment, Role, Segment};

type Host = Endpoint<AnyScheme, AnyRestart, AnyLaw>;

/// The scheme and the avoidance law of a host.
#[derive(Clone, Copy, Debug)]
enum Parts {
    /// Suss paces some rounds, so plans alternate between a pacing rate and none.
    SussAndCubic,
    /// A scheme and a law that use only the window growth of an ACK.
    SlowStartAndReno,
}

fn endpoint(role: Role, config: &Config, parts: Parts) -> Host {
    let initial = Initial { segments: 10, ssthresh: None };
    let (scheme, law) = match parts {
        Parts::SussAndCubic => (Suss::new(initial).into(), Cubic::new().into()),
        Parts::SlowStartAndReno => (SlowStart::new(initial).into(), Reno::new().into()),
    };
    Endpoint::new(role, config, Controller::new(scheme, Rfc5681::new(initial).into(), law))
}

/// The fates of the segments that enter the network, repeated cyclically. In some periods of sixty segments all arrive; in others some
/// are dropped, late or duplicated.
#[derive(Clone, Copy, Debug)]
struct Fates([u8; 32]);

impl Fates {
    /// Returns one delay for each arrival of segment `number`; none if it is dropped.
    fn delays(&self, number: usize) -> impl Iterator<Item = Span> + use<> {
        let spell = self.0[number / 60 % self.0.len()];
        let fate = self.0[number % self.0.len()];
        let once = Span::from_micros(10_000 + u64::from(fate / 16) * 10);
        let [first, second] = match fate % 16 {
            _ if !spell.is_multiple_of(4) => [Some(Span::from_micros(10_000)), None],
            0 => [None, None],
            1 => [Some(once * 3), None],
            2 => [Some(once), Some(once * 2)],
            _ => [Some(once), None],
        };
        first.into_iter().chain(second)
    }
}

/// The bytes that each application writes at first and on every hundredth sent segment, and whether the client closes after its first
/// write.
#[derive(Clone, Copy, Debug)]
struct Writes {
    client: u64,
    server: u64,
    closes: bool,
}

const ALL_AT_ONCE: Writes = Writes { client: 3_000_000, server: 0, closes: false };

/// All sent segments, and the states of both senders after each event.
type Course = (Vec<(Time, bool, Segment)>, Vec<[String; 2]>);

/// Returns those parts of a sender's state that may influence later behaviour.
fn state(host: &Host, now: Time) -> String {
    let sender: &Sender<_, _, _> = host.sender();
    let timers = [
        sender.timeouts().0,
        sender.timeouts().1,
        sender.recovery.reorder_at,
        sender.persist.timer(),
        sender.timers.pace_at,
    ];
    let counters = (sender.recovery.dupacks, sender.recovery.extra, sender.user_timeout);
    let rack = (sender.rack.newest, sender.rack.rtt, sender.rack.fack);
    let (path, rate, snapshot) = (sender.path(now), sender.packets.rate, host.snapshot());
    let marks = (sender.ecn.is_cwr_due(), sender.undo.armed, sender.activity.is_idle_served(), host.stats());
    format!("{path:?} {snapshot:?} {timers:?} {counters:?} {rack:?} {rate:?} {marks:?}")
}

/// Sends the next segment, if there is one. If `expects`, uses the fast path of a repair when possible. Returns whether nothing else may be
/// sent.
fn leaves(host: &mut Host, now: Time, place: &mut Segment, expects: bool) -> Option<bool> {
    if expects && host.fast().is_repairing() {
        match host.fast().repair_segment(now, place) {
            RepairSegment::Leaves(sent, ip_length) => {
                assert_eq!((sent.bytes.get(), ip_length), (u64::from(place.len), place.ip_length()));
                return Some(false);
            }
            RepairSegment::Nothing => return None,
            RepairSegment::Other => {}
        }
    }
    host.fast().transmit_into(now, place).map(|departure| departure.last)
}

/// Simulates a transfer of half a second. Returns its segments and states, and the client at its end.
fn transfer(config: &Config, parts: Parts, fates: Fates, writes: Writes, expects: bool) -> (Course, Host) {
    let (mut client, mut server) =
        (endpoint(Role::Client, config, parts), endpoint(Role::Server, config, parts));
    client.expect_acks(expects);
    server.expect_acks(expects);
    client.open(Time::ZERO);
    client.write(writes.client);
    server.write(writes.server);
    if writes.closes {
        client.shut();
    }
    let (mut network, mut log, mut states) = (BTreeMap::new(), Vec::new(), Vec::new());
    let (mut now, mut entered) = (Time::ZERO, 0);
    while now < Time::ZERO + Span::from_millis(500) && log.len() < 4_000 {
        for (from_client, endpoint) in [(true, &mut client), (false, &mut server)] {
            let mut segment = Segment::default();
            while let Some(last) = leaves(endpoint, now, &mut segment, expects) {
                assert!(!last || endpoint.clone().poll_transmit(now).is_none(), "nothing else may leave");
                log.push((now, from_client, segment));
                for (copy, delay) in fates.delays(log.len()).enumerate() {
                    entered += 1;
                    network.insert((now + delay, entered, copy), (from_client, segment));
                }
                if log.len().is_multiple_of(100) {
                    endpoint.write(if from_client { writes.client } else { writes.server });
                    endpoint.read(u64::MAX);
                } else if last {
                    break;
                }
            }
        }
        states.push([&client, &server].map(|host| state(host, now)));
        let timer = Time::earlier(client.next_timer(), server.next_timer());
        let arrival = network.first_key_value().map(|((at, ..), _)| *at);
        let Some(next) = Time::earlier(timer, arrival) else { break };
        now = now.max(next);
        if arrival.is_some_and(|at| at <= now) {
            let (_, (from_client, segment)) = network.pop_first().expect("there is one");
            let receiver = if from_client { &mut server } else { &mut client };
            receiver.on_segment(now, &segment);
        } else {
            client.on_timer(now);
            server.on_timer(now);
        }
    }
    ((log, states), client)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_shorter_way_and_the_longer_way_lead_to_the_same_state(
        fates: [u8; 32],
        parts in prop::sample::select(vec![Parts::SussAndCubic, Parts::SlowStartAndReno]),
        recovery in prop::sample::select(vec![Recovery::Rack, Recovery::Sack, Recovery::NewReno, Recovery::Ns2Sack1]),
        policy in prop::sample::select(vec![AckPolicy::Every, AckPolicy::Delayed, AckPolicy::Linux]),
        (timestamps, ecn, reads_at_once) in any::<(bool, bool, bool)>(),
        min_rto in prop::sample::select(vec![Span::from_millis(5), Span::from_secs(1)]),
        receive_buffer in prop::sample::select(vec![20_000, 200_000, 1 << 30]),
        client in prop::sample::select(vec![700, 40_000, 3_000_000]),
        server in prop::sample::select(vec![0, 0, 900, 100_000]),
        closes: bool,
    ) {
        let config = Config {
            recovery,
            ack_policy: policy,
            timestamps,
            ecn,
            reads_at_once,
            min_rto,
            receive_buffer,
            ..Config::default()
        };
        let writes = Writes { client, server, closes };
        let (short, _) = transfer(&config, parts, Fates(fates), writes, true);
        let (long, client) = transfer(&config, parts, Fates(fates), writes, false);
        prop_assert_eq!((client.sender().counters.expected_acks, client.sender().counters.repair_acks), (0, 0));
        prop_assert_eq!(short, long);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Transfers in which the network only drops, delays or duplicates segments.
    #[test]
    fn short_and_long_paths_reach_the_same_state_in_repairs(
        fates in prop::array::uniform32(prop_oneof![
            6 => prop::sample::select(vec![4u8, 8, 12]),
            1 => Just(0u8),
            1 => (0u8..16).prop_map(|late| 16 * late + 1),
            1 => (0u8..16).prop_map(|late| 16 * late + 2),
        ]),
        policy in prop::sample::select(vec![AckPolicy::Every, AckPolicy::Delayed]),
        closes: bool,
    ) {
        let config = Config { ack_policy: policy, ..Config::default() };
        let writes = Writes { closes, ..ALL_AT_ONCE };
        let (short, _) = transfer(&config, Parts::SlowStartAndReno, Fates(fates), writes, true);
        let (long, _) = transfer(&config, Parts::SlowStartAndReno, Fates(fates), writes, false);
        prop_assert_eq!(short, long);
    }
}

#[test]
fn all_data_acks_of_a_lossless_transfer_are_expected() {
    let config = Config { ack_policy: AckPolicy::Every, ..Config::default() };
    let (_, client) = transfer(&config, Parts::SussAndCubic, Fates([255; 32]), ALL_AT_ONCE, true);
    let (expected, acknowledged) =
        (client.sender().counters.expected_acks, client.sender().una() / u64::from(config.mss));
    assert!(acknowledged > 1_000 && expected == acknowledged, "{expected} of {acknowledged}");
}

#[test]
fn nearly_all_acks_of_a_repair_use_the_short_path() {
    let config = Config { ack_policy: AckPolicy::Every, ..Config::default() };
    // In one of the periods of sixty segments every fourth is dropped; in the others none.
    let mut fates = [240; 32];
    fates.iter_mut().step_by(4).for_each(|fate| *fate = 0);
    (0..32).filter(|spell| *spell != 7).for_each(|spell| fates[spell] |= 1);
    let ((_, states), client) = transfer(&config, Parts::SlowStartAndReno, Fates(fates), ALL_AT_ONCE, true);
    let client_repairs = |states: &[String; 2]| states[0].contains("recovering: true");
    let within = states.windows(2).filter(|pair| pair.iter().all(client_repairs) && pair[0][0] != pair[1][0]);
    let (shorter, all) = (client.sender().counters.repair_acks, within.count() as u64);
    assert!(shorter > 100 && shorter * 20 >= all * 19, "{shorter} of {all}");
}
