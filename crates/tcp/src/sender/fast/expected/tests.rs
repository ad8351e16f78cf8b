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

/// Which scheme and law a host has.
#[derive(Clone, Copy, Debug)]
enum Parts {
    /// Suss paces some rounds, so that plans with a rate and plans without take turns.
    SussAndCubic,
    /// Those that mind nothing of an ACK but what it may widen.
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

/// What a network does with the segments that enter it, in order and from the beginning again: in some spells of sixty all
/// pass, in others some are dropped, late or twice there.
#[derive(Clone, Copy, Debug)]
struct Fates([u8; 32]);

impl Fates {
    /// How long the segment `number` takes, for each time that it arrives.
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

/// Both applications: what they write at first, and on every hundredth segment that left; whether the client closes behind
/// what it wrote first.
#[derive(Clone, Copy, Debug)]
struct Writes {
    client: u64,
    server: u64,
    closes: bool,
}

const ALL_AT_ONCE: Writes = Writes { client: 3_000_000, server: 0, closes: false };

/// All that left, and both senders' states after each event.
type Course = (Vec<(Time, bool, Segment)>, Vec<[String; 2]>);

/// What of a sender's state anything may come of.
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

/// What leaves next, if anything does, and whether nothing else may; by the way of repairs where there is one, if `expects`.
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

/// The course of a transfer of half a second, and the client at its end.
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

    /// Where hardly anything else happens than that segments are dropped, late or twice there.
    #[test]
    fn both_ways_lead_to_the_same_state_in_one_repair_after_the_other(
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
fn of_a_transfer_without_loss_all_acks_of_data_are_expected() {
    let config = Config { ack_policy: AckPolicy::Every, ..Config::default() };
    let (_, client) = transfer(&config, Parts::SussAndCubic, Fates([255; 32]), ALL_AT_ONCE, true);
    let (expected, acknowledged) =
        (client.sender().counters.expected_acks, client.sender().una() / u64::from(config.mss));
    assert!(acknowledged > 1_000 && expected == acknowledged, "{expected} of {acknowledged}");
}

#[test]
fn of_the_acks_of_a_repair_nearly_all_take_its_shorter_way() {
    let config = Config { ack_policy: AckPolicy::Every, ..Config::default() };
    // Of sixty segments in a spell every fourth is dropped, and none in the others.
    let mut fates = [240; 32];
    fates.iter_mut().step_by(4).for_each(|fate| *fate = 0);
    (0..32).filter(|spell| *spell != 7).for_each(|spell| fates[spell] |= 1);
    let ((_, states), client) = transfer(&config, Parts::SlowStartAndReno, Fates(fates), ALL_AT_ONCE, true);
    let client_repairs = |states: &[String; 2]| states[0].contains("recovering: true");
    let within = states.windows(2).filter(|pair| pair.iter().all(client_repairs) && pair[0][0] != pair[1][0]);
    let (shorter, all) = (client.sender().counters.repair_acks, within.count() as u64);
    assert!(shorter > 100 && shorter * 20 >= all * 19, "{shorter} of {all}");
}
