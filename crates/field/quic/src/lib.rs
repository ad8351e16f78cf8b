//! A packet host for QUIC stacks: turns the congestion hooks of a stack into the events of a [`firstflight::Controller`].
//!
//! QUIC stacks (noq, quinn, quiche, s2n-quic and others) report nearly the same facts to their congestion controllers: a packet was sent,
//! packets were acknowledged, packets were lost, the MTU changed. [`Host`] takes these facts and keeps the contract of
//! [`firstflight::interface`], column "a packet host": offsets, rounds, loss episodes by transmission time, delivery-rate samples, RTT
//! samples, the handshake, idle times and wake-ups. An adapter for a stack forwards its hooks and reads the plan.
//!
//! ```
//! use firstflight::{Bytes, Span, Time};
//! use firstflight_quic::{AckEnd, Choice, Host, Limit, PacketSent, Permit, Settings};
//!
//! let controller = Choice::named("hystart++")?.build(firstflight_quic::DRIVEN)?;
//! let at = |millis| Time::ZERO + Span::from_millis(millis);
//! let mut host = Host::new(controller, Settings::default(), at(0));
//!
//! // The handshake: its packets are sent within the initial window, and its first ACK gives the first RTT sample.
//! assert_eq!(host.window(), Bytes::new(12_000));
//! host.on_packet_sent(at(0), PacketSent { number: Some(0), bytes: 1_200 });
//! host.on_packet_acked(at(40), PacketSent { number: Some(0), bytes: 1_200 }, at(0));
//! host.on_ack_end(at(40), AckEnd { in_flight: None, app_limited: false });
//!
//! // A stack with a clock requests each transmission.
//! assert_eq!(host.before_send(at(41), 1_200), Permit::Now);
//! host.on_packet_sent(at(41), PacketSent { number: Some(0), bytes: 1_200 });
//! host.set_limit(Limit::Window);
//! # Ok::<(), firstflight_quic::ChoiceError>(())
//! ```
//!
//! # The handshake
//!
//! QUIC's handshake runs under congestion control, and its packet numbers repeat in three spaces. The handshake is over, for a controller,
//! with the first ACK. Packets that were sent before are the handshake's: they have no event, and neither their acknowledgements nor their
//! round-trip times are reported later. A client's Finished follows the first ACK. It is recognised if packet numbers begin anew after it, and has
//! no event either. After that a packet is identified by its number, its transmission time and its size together.
//!
//! # Limits
//!
//! - A stack that gives no clock before it sends lets one packet escape after an idle time, and an adapter whose stack reports batches one
//!   batch: [`Host::on_packet_sent`] then asks the restart policy. [`Host::before_send`] has no such limit.
//! - Losses of handshake packets are not reported as congestion. [`firstflight::Event::Established`] has `syn_lost` only if the stack reports
//!   a loss before the first ACK.
//! - A client's Finished counts as data if it follows data (0-RTT), or if another call comes before the packet that would show it.
//! - In the handshake [`Host::before_send`] answers [`Permit::Now`]. The caller compares its bytes in flight with [`Host::window`].
//! - The peer's `max_ack_delay` is assumed to be 25 ms unless [`Settings`] or [`Host::set_max_ack_delay`] say otherwise.
//! - A wake-up that no one calls [`Host::wake_up`] for comes with the next event.
//! - A datagram larger than the MTU is a probe of the path MTU (RFC 9000 section 14.4), and is left out: its loss is no congestion.
#![no_std]

extern crate alloc;

mod blueprint;
mod choice;
mod episodes;
mod exit_report;
mod host;
mod in_flight;
mod observer;
mod permit;
mod rate_sampler;
mod reports;
mod round_trips;
mod settings;
mod stage;

pub use blueprint::Blueprint;
pub use choice::{Choice, ChoiceError, DRIVEN};
pub use exit_report::ExitReport;
pub use host::{AnyHost, Host};
pub use observer::Observer;
pub use permit::{Limit, Permit};
pub use reports::{AckEnd, PacketSent};
pub use settings::Settings;

/// The examples in `README.md`, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
