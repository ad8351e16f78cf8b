//! A client and a server of each stack, with a wire of 20 ms between them.

use std::collections::VecDeque;

use firstflight::{Span, Time};
use firstflight_scenario::{QuicStack, StackController, StackOrder, Stacks};
use firstflight_sim::FlowId;
use firstflight_stacks::QuicStacks;
use firstflight_tcp::Ecn;

const DELAY: Span = Span::from_millis(20);
const TOTAL: u64 = 200_000;

/// A datagram that was sent: when, from which side, its stream bytes, and its content.
type Sent = (Time, usize, u16, Vec<u8>);

/// Runs a transfer over the wire. Returns the datagrams and the time of the last byte.
fn transfer(stack: QuicStack, name: &'static str, seed: u64) -> (Vec<Sent>, Time) {
    let order = StackOrder { stack, controller: StackController::Own(name), packet: 1_500 };
    let mut hosts = QuicStacks.hosts(&order).expect("hosts").make(seed, FlowId(0), Some(TOTAL));
    let (mut sent, mut wire, mut now) = (Vec::new(), VecDeque::new(), Time::ZERO);
    for _ in 0..10_000 {
        for (side, host) in hosts.iter_mut().enumerate() {
            let mut datagram = Vec::new();
            while let Some(carried) = host.poll_transmit(now, &mut datagram) {
                sent.push((now, side, carried.len, datagram.clone()));
                wire.push_back((now + DELAY, 1 - side, std::mem::take(&mut datagram)));
            }
        }
        if hosts[1].delivered() == TOTAL {
            return (sent, now);
        }
        let timers = hosts.each_mut().map(|host| host.next_timer());
        let arrival = wire.front().map(|(at, ..)| *at);
        let next = timers.into_iter().chain([arrival]).flatten().min().expect("something is to come");
        now = now.max(next);
        while let Some((_, to, datagram)) = wire.pop_front_if(|(at, ..)| *at <= now) {
            hosts[to].receive(now, &datagram, Ecn::NotCapable);
        }
        for host in &mut hosts {
            if host.next_timer().is_some_and(|due| due <= now) {
                host.on_timer(now);
            }
        }
        assert!(hosts.iter().all(|host| !host.has_failed()), "{stack:?} {name}");
    }
    panic!("{stack:?} {name}: the transfer does not end");
}

const CONTROLLERS: [(QuicStack, &str); 6] = [
    (QuicStack::Noq, "cubic"),
    (QuicStack::Noq, "newreno"),
    (QuicStack::Noq, "bbr3"),
    (QuicStack::Quinn, "cubic"),
    (QuicStack::Quinn, "newreno"),
    (QuicStack::Quinn, "bbr"),
];

/// Returns when the first stream data left, and the sizes of the server's datagrams at the instant of its first.
fn beginning(stack: QuicStack, name: &'static str) -> (Time, Vec<usize>) {
    let (sent, _) = transfer(stack, name, 1);
    let first = sent.iter().find(|(_, _, len, _)| *len > 0).expect("data");
    let flight = sent.iter().filter(|(at, side, ..)| *side == 1 && *at == Time::ZERO + DELAY);
    (first.0, flight.map(|(.., datagram)| datagram.len()).collect())
}

#[test]
fn data_of_quinn_leaves_after_a_server_flight_of_three_packets() {
    for name in ["cubic", "newreno", "bbr"] {
        let (first, flight) = beginning(QuicStack::Quinn, name);
        assert_eq!(first, Time::ZERO + DELAY * 2, "{name}: {flight:?}");
        assert_eq!(flight.len(), 3, "{name}: {flight:?}");
        assert!((3_000..=3_600).contains(&flight.iter().sum::<usize>()), "{name}: {flight:?}");
    }
}

/// noq paces the flight at its initial window over its initial RTT of 333 ms, with bursts of 10 ms at most, which is one packet.
#[test]
fn noq_paces_the_servers_flight_and_needs_another_round_trip() {
    for name in ["cubic", "newreno"] {
        let (first, flight) = beginning(QuicStack::Noq, name);
        assert_eq!((first, flight.len()), (Time::ZERO + DELAY * 4, 1), "{name}: {flight:?}");
    }
}

#[test]
fn datagrams_are_equal_to_the_byte_for_equal_seeds() {
    for (stack, name) in CONTROLLERS {
        let first = transfer(stack, name, 7);
        assert_eq!(first, transfer(stack, name, 7), "{stack:?} {name}");
        assert!(first.0.iter().all(|(.., datagram)| datagram.len() <= 1_472), "{stack:?} {name}");
    }
}

#[test]
fn a_small_packet_and_an_unknown_controller_are_refused() {
    let order =
        |name, packet| StackOrder { stack: QuicStack::Quinn, controller: StackController::Own(name), packet };
    let refused = |name, packet| QuicStacks.hosts(&order(name, packet)).expect_err("refused");
    assert!(refused("cubic", 1_227).contains("1228 bytes or more"));
    assert!(
        refused("bbr3", 1_500)
            .contains("quinn has no controller `bbr3`; it has `cubic`, `newreno` and `bbr`")
    );
}
