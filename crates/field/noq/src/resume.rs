//! Careful Resume (RFC 9959) around any controller of noq.
//!
//! A connection saves the capacity of its path in a [`Store`]. A later connection to the same remote endpoint starts as
//! usual. Once its initial window is acknowledged without congestion, and the RTT agrees with the saved one, its window
//! jumps to half of the saved window, paced over a round trip. Congestion before every packet of the jump is
//! acknowledged reduces the window to half of `PipeSize`, the bytes known to be delivered, and deletes the saved values.
//!
//! ```no_run
//! # use std::{net::IpAddr, sync::Arc, time::SystemTime};
//! # use firstflight_noq::resume::{Key, Resume, Store};
//! # use noq_proto::{ClientConfig, TransportConfig, congestion::CubicConfig};
//! # fn open(store: &Arc<Store>, config: &mut ClientConfig, base: &TransportConfig, address: IpAddr, now: SystemTime) {
//! let key = Key::to_server(address, "example.org");
//! config.transport_config(Resume::new(CubicConfig::default(), Arc::clone(store), key, now).transport(base));
//! # }
//! ```
//!
//! A server does this with `Key::to_client(incoming.remote_address().ip())` and `Incoming::accept_with`. The controller
//! saves by itself, once per round trip in which the application was not the limit; nothing has to be called at close.
//! [`Store::load`] and [`Store::save`] keep a store over a restart.
//!
//! # The controller inside
//!
//! noq's trait has no setter of a window. Acknowledgements that did not happen would correct the window of CUBIC, but
//! mislead a controller that measures the delivery rate. The controller inside therefore receives every event. It grows by
//! the acknowledgements of the jump as by any others, and the wrapper decides which window is reported:
//!
//! - Reconnaissance: the inner window. Unvalidated: the jump. Validating: the flight at its entry, plus the growth of the
//!   inner window since.
//! - After validation the wrapper's window is a floor, until the inner window reaches it, or until the controller inside
//!   lowers its window without congestion, as BBR does in Drain. Congestion reduces the floor by the factor by which the
//!   controller inside reduces its window, or by RFC 9002's half if it does not reduce.
//! - Safe Retreat: half of `PipeSize`, without growth. The controller inside receives the acknowledgements as limited by
//!   the application, and does not grow either. Then slow start to half of `PipeSize` (ssthresh), or to the inner window.
//!
//! A jump of at most twice the inner window is left out: slow start sends as much in that round trip.
//!
//! # Firstflight's schemes
//!
//! `Resume` is for controllers that know nothing of earlier connections: noq's CUBIC, NewReno and BBR, and others of its
//! trait. Firstflight's schemes `careful-resume` and `leap-saved` have the jump inside, where slow start knows of it and
//! its threshold is set exactly. Do not wrap these two: both would jump.
//!
//! # Limits
//!
//! - The trait has no method by which BBR discards the rates that it measures in a retreat, which the RFC's appendix
//!   requires.
//! - Loss recovery is noq's, and a spurious loss does not undo a retreat.
//! - The initial window counts as acknowledged when as many bytes are acknowledged, those of the handshake included.
//! - noq calls no timer of a controller: the end of a round trip in the Unvalidated Phase is found at the next packet.
//! - The text followed is draft-ietf-tsvwg-careful-resume-24, which became RFC 9959.

mod controller;
mod factory;
mod file;
mod observer;
mod phases;
mod saved;
mod store;

pub use controller::ResumeController;
pub use factory::Resume;
pub use file::{FileError, MAX_FILE};
pub use observer::{MIN_INITIAL_WINDOWS, Observer};
pub use phases::{Outcome, Phase, Phases};
pub use saved::{Key, MAX_NAME, MAX_RTT, MAX_WINDOW, Saved};
pub use store::{CAPACITY, Claim, LIFETIME, Store};
