//! Firstflight: how a TCP or QUIC connection starts, and how it restarts after idling.
//!
//! A start-up scheme is a deterministic state machine: [`Event`]s in, a [`Plan`] out. A scheme has no clock, socket,
//! timer, random source or log. One scheme can therefore race others in a simulator, drive real bytes in user space,
//! and be the reference for a kernel implementation, unchanged.
//!
//! A host embeds the library in four steps:
//!
//! 1. build a [`Controller`] from a start-up scheme, a restart policy and an avoidance law;
//! 2. hand it every [`Event`] together with the [`Path`] as the host sees it at that instant;
//! 3. after each event ask for the [`Plan`] and execute it: window, pacing, tag, wake-up;
//! 4. let a [`Pacer`] say when the next packet may leave.
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
//! The module [`seam`] has a table of what each value means for a host with a stream of bytes (TCP) and for a host
//! with packet numbers (QUIC).
//!
//! The crate is `no_std`, allocates nothing and uses no floating point. The feature `alloc` adds `TraceRecord`, for hosts
//! that keep traces. With `alloc`, large schemes that are chosen by name ([`registry`]) live in boxes, and so do the
//! parts of a [`Controller`] that are seldom there: the copy for undo, and notes that nobody has taken.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod avoidance;
pub mod brief;
mod compact;
mod controller;
mod eligible_rate;
mod evidence;
mod hears;
mod judge;
mod large;
mod micros;
mod pacer;
mod rate_code;
pub mod registry;
pub mod restart;
pub mod schemes;
pub mod seam;
#[cfg(feature = "alloc")]
mod trace_record;
mod units;
mod vegas;
mod wide;

pub use controller::{Controller, Note, Phase};
pub use hears::Hears;
pub use judge::{Judge, Lead};
pub use pacer::Pacer;
pub use rate_code::RateCode;
pub use seam::{
    Ack, Advice, Ask, Avoidance, Cause, Delivered, Event, Exit, Learned, Loss, LostPacket, Origin, Pacing,
    Path, Plan, RttSample, SendLimit, Sent, Startup, Step, Tag,
};
#[cfg(feature = "alloc")]
pub use trace_record::{Call, Judged, OwnedEvent, TraceRecord};
pub use units::{Bytes, Rate, Span, Time};
