//! Firstflight: how a TCP or QUIC connection starts, and how it restarts after idling.
//!
//! A start-up scheme is a deterministic state machine: [`Event`]s in, a [`Plan`] out. A scheme has no clock, socket,
//! timer, random source or log. The same scheme can therefore run unchanged in a simulator, on real connections in
//! user space, and as the reference for a kernel implementation.
//!
//! A host embeds the library in four steps:
//!
//! 1. build a [`Controller`] from a start-up scheme, a restart policy and an avoidance law;
//! 2. pass it every [`Event`] together with the [`Path`] as the host sees it at that instant;
//! 3. after each event read the [`Plan`] and execute it: window, pacing, tag, wake-up;
//! 4. let a [`Pacer`] decide when the next packet may be sent.
//!
//! ```
//! use firstflight::avoidance::Reno;
//! use firstflight::restart::Rfc5681;
//! use firstflight::schemes::{HyStartPlus, Initial};
//! use firstflight::{Bytes, Controller, Event, Origin, Pacer, Pacing, Path, Span, Time};
//!
//! let path = Path::new(Time::ZERO, Bytes::new(1_460), Bytes::new(1_500));
//! let initial = Initial { segments: 10, ssthresh: None };
//! let mut controller = Controller::new(HyStartPlus::new(initial), Rfc5681::new(initial), Reno::new()); // 1
//! controller.on(&Event::Begin(Origin::Fresh), &path); // 2
//! assert_eq!(controller.plan(&path).pacing, Pacing::Hold, "the handshake comes first"); // 3
//!
//! controller.on(&Event::Established { rtt: Some(Span::from_millis(50)), syn_lost: false }, &path);
//! let plan = controller.plan(&path);
//! assert_eq!(plan.window, Bytes::new(14_600), "ten segments");
//!
//! let mut pacer = Pacer::new();
//! pacer.adopt(&plan); // 4
//! assert!(pacer.ready_at(path.wire, false).is_some_and(|at| at <= path.now), "the first packet may leave");
//! ```
//!
//! The module [`interface`] lists the meaning of each value for a host with a byte stream (TCP) and for a host with packet
//! numbers (QUIC).
//!
//! The crate is `no_std`, allocates nothing and uses no floating point. The feature `alloc` adds `TraceRecord`, for
//! hosts that keep traces. With `alloc`, large schemes that are chosen by name ([`registry`]) are boxed, and so are
//! the parts of a [`Controller`] that are seldom present: the copy for undo, and notes that the host has not taken.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod avoidance;
mod bbr;
mod controller;
mod eligible_rate;
mod evidence;
pub mod fast_events;
mod interest;
pub mod interface;
mod maybe_box;
mod pacer;
pub mod probe;
mod rate_code;
pub mod registry;
pub mod restart;
mod round_tracker;
pub mod schemes;
#[cfg(feature = "alloc")]
mod trace_record;
mod u32_bytes;
mod u32_micros;
mod units;
mod vegas;
mod verifier;
mod wide;

pub use controller::{Controller, Note, Phase};
pub use interest::Interest;
pub use interface::{
    Ack, Advice, Ask, Avoidance, Cause, Delivered, Event, Exit, Loss, LostPacket, Origin, Pacing, Path,
    PathEstimate, Plan, RttSample, SendLimit, Sent, Startup, Step, Tag,
};
pub use pacer::Pacer;
pub use rate_code::RateCode;
pub use round_tracker::{FullMargin, RoundTracker};
#[cfg(feature = "alloc")]
pub use trace_record::{Call, Judged, OwnedEvent, TraceRecord};
pub use units::{Bytes, Rate, Span, Time};

/// The examples in `README.md`, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
