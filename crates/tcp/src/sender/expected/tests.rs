use std::collections::BTreeMap;

use firstflight::avoidance::Cubic;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{HyStart, Initial};
use firstflight::{Controller, Span, Time};
use proptest::prelude::*;

use crate::config::{AckPolicy, Config, Recovery};
use crate::{Endpoint, Role, Segment, Snapshot};

type Client = Endpoint<HyStart, Rfc5681, Cubic>;

fn endpoint(role: Role, config: &Config) -> Client {
    let initial = Initial { segments: 10, ssthresh: None };
    let controller = Controller::new(HyStart::new(initial), Rfc5681::new(initial), Cubic::new());
    Endpoint::new(role, config, controller)
}

/// What a network does with the segments that enter it, in order and from the beginning again: by the low bits most pass,
/// some are dropped, late or twice there.
#[derive(Clone, Copy, Debug)]
struct Fates([u8; 32]);

impl Fates {
    /// How long the segment `number` takes, for each time that it arrives.
    fn delays(&self, number: usize) -> impl Iterator<Item = Span> + use<> {
        let fate = self.0[number % self.0.len()];
        let once = Span::from_micros(10_000 + u64::from(fate / 16) * 10);
        let [first, second] = match fate % 16 {
            0 => [None, None],
            1 => [Some(once * 3), None],
            2 => [Some(once), Some(once * 2)],
            _ => [Some(once), None],
        };
        first.into_iter().chain(second)
    }
}

/// All that left, and the client's state after each event.
type Course = (Vec<(Time, bool, Segment)>, Vec<Snapshot>);

/// The course of a transfer of half a second, and how many ACKs took the shorter way.
fn transfer(config: &Config, fates: Fates, expects: bool) -> (Course, u64) {
    let (mut client, mut server) = (endpoint(Role::Client, config), endpoint(Role::Server, config));
    client.expect_acks(expects);
    client.open(Time::ZERO);
    client.write(3_000_000);
    let (mut network, mut log, mut states) = (BTreeMap::new(), Vec::new(), Vec::new());
    let (mut now, mut entered) = (Time::ZERO, 0);
    while now < Time::ZERO + Span::from_millis(500) && log.len() < 4_000 {
        for (from_client, endpoint) in [(true, &mut client), (false, &mut server)] {
            while let Some(transmit) = endpoint.poll_transmit(now) {
                log.push((now, from_client, transmit.segment));
                for (copy, delay) in fates.delays(log.len()).enumerate() {
                    entered += 1;
                    network.insert((now + delay, entered, copy), (from_client, transmit.segment));
                }
            }
        }
        states.push(client.snapshot());
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
    ((log, states), client.expected_acks())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_shorter_way_and_the_longer_way_lead_to_the_same_state(
        fates: [u8; 32],
        recovery in prop::sample::select(vec![Recovery::Rack, Recovery::Sack, Recovery::NewReno, Recovery::Ns2Sack1]),
        policy in prop::sample::select(vec![AckPolicy::Every, AckPolicy::Delayed, AckPolicy::Linux]),
        timestamps: bool,
    ) {
        let config = Config { recovery, ack_policy: policy, timestamps, ..Config::default() };
        let (short, _) = transfer(&config, Fates(fates), true);
        let (long, expected) = transfer(&config, Fates(fates), false);
        prop_assert_eq!(expected, 0);
        prop_assert_eq!(short, long);
    }
}

#[test]
fn of_a_transfer_without_loss_all_acks_of_data_but_the_first_are_expected() {
    let config = Config { ack_policy: AckPolicy::Every, ..Config::default() };
    let ((_, states), expected) = transfer(&config, Fates([255; 32]), true);
    let acknowledged = states.last().expect("a state").una / u64::from(config.mss);
    assert!(acknowledged > 1_000 && expected + 1 == acknowledged, "{expected} of {acknowledged}");
}
