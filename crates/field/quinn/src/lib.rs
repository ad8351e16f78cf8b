//! Firstflight's start-up schemes as congestion controllers of [quinn](https://docs.rs/quinn).
//!
//! ```
//! use std::sync::Arc;
//!
//! use firstflight_quinn::{Choice, Factory};
//! use quinn_proto::TransportConfig;
//!
//! let choice = Choice::named("hystart")?.law("cubic")?.initial_window(20);
//! let factory = Factory::new(&choice)?.on_exit(|exit| println!("start-up is over: {exit:?}"));
//! let mut transport = TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//!
//! let refused = Factory::named("leap").unwrap_err();
//! assert_eq!(refused.to_string(), "leap needs pacing at a rate, which quinn 0.11 cannot give");
//! # Ok::<(), firstflight_quinn::ChoiceError>(())
//! ```
//!
//! # Limits
//!
//! quinn 0.11 lets a controller set the window and nothing else. Schemes that pace, send trains or hold data back are refused by name.
//!
//! - quinn paces by itself, at 1.25 windows an RTT in bursts of ten packets or 2 ms. A scheme that expects the bursts of an ACK clock sees
//!   smoother arrivals.
//! - quinn reports transmissions as batches. The adapter divides a batch into full packets and a rest. A batch that only acknowledges
//!   counts as in flight until quinn's own count corrects that, with the next ACK. Of 1000 such batches the older half is dropped.
//! - After an idle time one batch is sent before the restart policy takes over.
//! - quinn gives no packet numbers with an ACK, lists no lost packets, and reports no spurious loss. Lost packets are the oldest in flight.
//! - quinn sends only while a whole packet and one byte fit the window, so the adapter gives it a byte more.
//! - quinn reports the loss of a packet of the handshake like any other. After the first ACK it may be charged to data.
//! - quinn reports no `max_ack_delay` of the peer: 25 ms is assumed unless [`Factory::max_ack_delay`] says otherwise.
//! - A wake-up of a scheme comes with the next packet or ACK.
//! - quinn gives a controller no address: rates count headers of IPv4 unless [`Factory::headers`] says otherwise.

mod controller;
mod factory;

pub use controller::FirstflightController;
pub use factory::{Factory, OFFERS};
pub use firstflight_quic::{AnyHost, Blueprint, Choice, ChoiceError, ExitReport, Host, Observer};

/// The examples in `README.md`, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
