//! Firstflight's start-up schemes as congestion controllers of [noq](https://docs.rs/noq).
//!
//! ```
//! use std::sync::Arc;
//!
//! use firstflight_noq::{Choice, Factory};
//! use noq_proto::TransportConfig;
//!
//! let choice = Choice::named("leap")?.law("cubic")?.initial_window(20);
//! let factory = Factory::new(&choice)?.on_exit(|exit| println!("start-up is over: {exit:?}"));
//! let mut transport = TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//! # Ok::<(), firstflight_noq::ChoiceError>(())
//! ```
//!
//! A scheme whose type is known at compile time needs no name:
//!
//! ```
//! use firstflight::avoidance::Cubic;
//! use firstflight::restart::Rfc5681;
//! use firstflight::schemes::{HyStartPlus, Initial};
//! use firstflight::Controller;
//! use firstflight_noq::Factory;
//!
//! let initial = Initial { segments: 10, ssthresh: None };
//! Factory::of(Controller::new(HyStartPlus::new(initial), Rfc5681::new(initial), Cubic::new()));
//! ```
//!
//! # How a plan is carried out
//!
//! | Plan | noq |
//! |---|---|
//! | ACK clock | `window()`, and a pacing rate of 16 Gbit/s, at which noq's pacer holds nothing back that a path carries |
//! | a rate | `metrics().pacing_rate`: the rate at which noq's bucket earns the last packet until [`firstflight::Pacer`] releases the next |
//! | a train | as a rate, with a `send_quantum` of one packet; after the last packet `window()` blocks |
//! | hold | `window()` blocks |
//!
//! noq's token bucket saves credit while nothing is sent: for ten packets or 2 ms, whichever is more (256 packets at most), but never for
//! more than 10 ms (one packet is always allowed). To send the first packets after a pause at the rate too, the controller reports a rate of
//! one packet in 10 ms from the ACK after which the application was the limit to the next packet: at this rate the bucket holds one packet.
//! The first packet may therefore wait for up to 10 ms after the previous one. On paths with a minimum RTT below 10 ms the controller does
//! this only for trains.
//!
//! # Limits
//!
//! - noq reads the window without a clock. After an idle time one packet is sent before the restart policy takes over.
//! - noq's bucket counts whole bytes whenever it is polled. Between ACKs gaps are exact within a microsecond. Each ACK during a gap delays the
//!   next packet by less than the time of a byte (0.8 us at 12 Mbit/s); of a train the packet after that is on schedule again.
//! - A rate of noq is at most 16 Gbit/s.
//! - A wake-up of a scheme comes with the next packet or ACK.
//! - noq gives a controller no address: rates count headers of IPv4 unless [`Factory::headers`] says otherwise.
//! - noq clones the controller for a rebinding of the same IP address, and builds a new one for another address. The clone knows of no packet
//!   in flight.
//! - noq reports the peer's `max_ack_delay` only if the ACK frequency extension changes it: 25 ms is assumed unless
//!   [`Factory::max_ack_delay`] says otherwise.
//! - ECN marks come as one report for an ACK, without a count.

mod controller;
mod factory;
mod pacing;
pub mod resume;

pub use controller::FirstflightController;
pub use factory::{Factory, OFFERS, OFFERS_IN_VIRTUAL_TIME};
pub use firstflight_quic::{AnyHost, Blueprint, Choice, ChoiceError, ExitReport, Host, Observer};

/// The examples in `README.md`, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
