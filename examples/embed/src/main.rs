//! A controller in a stack with packet numbers: docs/guide/embedding.md explains it.

use std::collections::VecDeque;

use firstflight::{Span, Time};
use firstflight_quic::{AckEnd, Choice, DRIVEN, Host, Limit, PacketSent, Permit, Settings};

/// Payload of a packet in bytes. The toy path passes one packet a millisecond, and drops what its queue of 60 packets cannot hold.
const SIZE: u64 = 1_200;
const QUEUE: u64 = 60;
const ONE_WAY: Span = Span::from_millis(25);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let controller = Choice::named("hystart++")?.law("cubic")?.build(DRIVEN)?;
    let mut now = Time::ZERO;
    let mut host = Host::new(controller, Settings::default(), now);
    // Packets that arrive, and when their ACK does. The first is the handshake's.
    let mut arrivals: VecDeque<(Time, PacketSent, Time)> = VecDeque::new();
    let mut in_flight: VecDeque<(PacketSent, Time)> = VecDeque::new();
    let (mut free_at, mut number, mut left, mut printed) = (now, 0, 3_000_u64, None);
    while left > 0 || !arrivals.is_empty() {
        let mut next_send = None;
        while left > 0 && (host.is_established() || number == 0) {
            let permit = if number == 0 { Permit::Now } else { host.before_send(now, SIZE) };
            match permit {
                Permit::Now => {}
                Permit::At(at) => {
                    next_send = Some(at);
                    host.set_limit(Limit::Pacing);
                    break;
                }
                Permit::WindowFull | Permit::Held => {
                    host.set_limit(Limit::Window);
                    break;
                }
            }
            let packet = PacketSent { number: Some(number), bytes: SIZE };
            host.on_packet_sent(now, packet); // Here your stack sends the packet.
            in_flight.push_back((packet, now));
            (number, left) = (number + 1, left - 1);
            let waits = free_at.since(now).nanos() / 1_000_000;
            if waits < QUEUE {
                free_at = free_at.max(now) + Span::from_millis(1);
                arrivals.push_back((free_at + ONE_WAY + ONE_WAY, packet, now));
            }
        }
        // Here your stack waits: for an ACK, for its pacing timer, for the wake-up of the plan.
        let ack_at = arrivals.front().map(|(at, ..)| *at);
        let Some(at) = [ack_at, next_send, host.plan().wake].into_iter().flatten().min() else { break };
        now = at.max(now);
        host.wake_up(now);
        if ack_at != Some(now) {
            continue;
        }
        let (_, acked, sent_at) = arrivals.pop_front().expect("an ACK is due");
        host.on_packet_acked(now, acked, sent_at);
        // Packets three below the acknowledged one are lost (RFC 9002 section 6.1.1), and their data is sent in new packets.
        let lost: Vec<_> =
            in_flight.iter().filter(|(p, _)| p.number.map(|n| n + 3) <= acked.number).copied().collect();
        in_flight.retain(|(p, _)| *p != acked && p.number.map(|n| n + 3) > acked.number);
        host.on_ack_end(now, AckEnd { in_flight: None, app_limited: left == 0 });
        for (packet, sent_at) in &lost {
            host.on_packet_lost(number_of(packet), packet.bytes, Some(*sent_at));
        }
        if !lost.is_empty() {
            left += lost.len() as u64;
            host.on_loss(now, false);
        }
        if host.exit().copied() != printed {
            printed = host.exit().copied();
            let report = printed.expect("an exit that is new");
            println!("{:?}: {} at {}", report.at, report.exit.cause.name(), report.window.get());
        }
    }
    println!("{now:?}: everything is acknowledged");
    Ok(())
}

fn number_of(packet: &PacketSent) -> u64 {
    packet.number.expect("this stack numbers its packets")
}
