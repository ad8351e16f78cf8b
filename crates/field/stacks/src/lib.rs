//! QUIC stacks as hosts of the simulator: real clients and servers of noq and quinn, in virtual time.
//!
//! [`QuicStacks`] gives a race its hosts. The client opens the connection and sends one stream, as the sender of a TCP flow does: the run's
//! time zero is its first packet, and the transfer is complete when the server has the last byte. Handshake, streams, ACKs, loss recovery,
//! pacing and controllers are the stacks' own.
//!
//! # Determinism
//! TLS draws keys from the system, so a null session replaces it: packets are not encrypted, but have tags of 16 bytes, and the flights of the
//! handshake have the estimated sizes of TLS 1.3 with a chain of two certificates. Random generators, connection IDs and tokens are seeded. One
//! exception is outside this crate: the BBR controllers of both stacks seed a generator from the system, for their choices after start-up
//! (when to probe for bandwidth again).

mod chosen;
mod frames;
mod handshake;
mod in_order;
mod instants;
mod noq;
mod quinn;
mod seen;

use std::sync::Arc;

use firstflight_scenario::{QuicStack, StackOrder, Stacks};
use firstflight_sim::MakeHosts;

/// IP and UDP headers of a datagram, in bytes (IPv4).
pub const HEADERS: u32 = 28;

/// The minimum UDP payload of a QUIC path (RFC 9000 section 14).
const MIN_PAYLOAD: u32 = 1_200;

/// The stacks of this crate.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuicStacks;

impl Stacks for QuicStacks {
    fn hosts(&self, order: &StackOrder<'_>) -> Result<Arc<dyn MakeHosts>, String> {
        let payload = order.packet.saturating_sub(HEADERS);
        if payload < MIN_PAYLOAD {
            return Err(format!(
                "packets of {} bytes are too small for QUIC; an MSS that makes them {} bytes or more is wanted",
                order.packet,
                MIN_PAYLOAD + HEADERS
            ));
        }
        let payload = u16::try_from(payload).unwrap_or(u16::MAX);
        Ok(match order.stack {
            QuicStack::Noq => Arc::new(noq::Hosts::new(order, payload)?),
            QuicStack::Quinn => Arc::new(quinn::Hosts::new(order, payload)?),
        })
    }

    fn headers(&self) -> u32 {
        HEADERS
    }
}
