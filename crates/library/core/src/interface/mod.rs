//! The interface between a host and a scheme: the events that a host reports to a scheme, and the plan with which the scheme answers.
//!
//! The interface is two functions, one event enum and one plan value. A host calls [`Startup::on`] for every event and then [`Startup::plan`].
//! The plan says how much may be in flight and how packets are sent. Both functions are deterministic and never fail: the same events
//! produce the same plans in every environment (simulator, user space, kernel).
//!
//! [`Path::now`] is the instant of an event: the exact arrival of an ACK, the exact transmission of a packet ([`Event::Sent`]). Windows
//! count payload bytes; rates and gaps count IP bytes ([`Path::wire`] for a full segment).
//!
//! # What a stream host says, and what a packet host says
//!
//! A stream host numbers bytes and retransmits a lost byte under its number (TCP). A packet host numbers packets and retransmits lost data
//! in a new packet (QUIC, RFC 9002). The offsets of a packet host count the payload bytes of all packets in order of transmission,
//! including packets that carry retransmitted data.
//!
//! | Value | A stream host | A packet host |
//! |---|---|---|
//! | [`Path::nxt`] | SND.NXT | payload bytes of all packets sent |
//! | [`Path::una`] | SND.UNA | where the newest acknowledged packet ends; `nxt` when nothing is in flight |
//! | [`Path::flight`] | SND.NXT - SND.UNA (RFC 5681 `FlightSize`) | `bytes_in_flight` (RFC 9002 appendix B.2); at [`Event::Lost`] and [`Event::Marked`] the value before the ACK that reported the loss or mark, because a law halves that value |
//! | [`Path::pipe`] | RFC 6675 `pipe` | `bytes_in_flight` |
//! | [`Path::min_rtt`] | the minimum of the connection | the minimum of the connection, or since persistent congestion (RFC 9002 section 5.2) |
//! | [`Path::recovering`] | SND.UNA is below the recovery point (RFC 6675 section 5) | the newest acknowledged packet was sent before the last reduction (RFC 9002 section 7.3.2); not after persistent congestion |
//! | [`Path::rto`] | RFC 6298 | the probe timeout (RFC 9002 section 6.2.1) |
//! | [`Ack::advanced`] | bytes by which SND.UNA moved | as [`Ack::bytes`] |
//! | [`Ack::sacked`], [`Delivered::selectively`] | the bytes that SACK blocks newly acknowledge | zero, and no |
//! | [`Ack::segments`] | segments below the new SND.UNA | ack-eliciting packets newly acknowledged |
//! | [`Ack::duplicate`] | RFC 5681 section 2, or RFC 6675 | no |
//! | [`Loss::sent_at`], [`Event::Marked`] | unknown: `recovering` says which losses belong to one episode | transmission time of the newest lost packet; for a mark, of the newest packet that the ACK acknowledged |
//! | [`Loss::persistent`] | no: a stream host reports [`Event::TimedOut`] | RFC 9002 section 7.6.2 |
//! | [`Event::TimedOut`] | at each retransmission timeout | never: a probe timeout is no congestion |
//! | [`Sent::packet`] | transmissions, counted from zero | packets of which the controller got [`Event::Sent`], counted from zero: QUIC's packet numbers may skip |
//! | [`Ack::packets`] | in order of sequence | in order of transmission: the ranges of a QUIC ACK are in reverse order |
//! | [`Sent::retransmission`] | the bytes were sent before | no |
//! | a round trip ends | with the first ACK above the SND.NXT at which the round trip began | with the first ACK of a packet sent after the round trip began |
//! | idle | SND.UNA = SND.NXT, and nothing sent for longer than the RTO | nothing in flight, and nothing sent for longer than the PTO |
//!
//! A host whose handshake is under congestion control (QUIC) reports [`Event::Established`] when the handshake is over, and counts `una`
//! and `nxt` from there. Data before that (QUIC's 0-RTT, TCP Fast Open) has no event yet. Until then the plan is [`Pacing::Hold`], which
//! holds application data only: packets of the handshake are sent within [`Plan::window`], the initial window, and have no [`Event::Sent`].
//! [`Event::Established`] says whether any of them was lost.

mod ack;
mod event;
mod exit;
mod loss;
mod path;
mod plan;
mod send_limit;

pub use ack::{Ack, Delivered, RttSample};
pub use event::{Advice, Event, Origin, Sent};
pub use exit::{Cause, Exit, PathEstimate, Step};
pub use loss::{Loss, LostPacket};
pub use path::Path;
pub use plan::{Ask, Pacing, Plan, Tag};
pub use send_limit::SendLimit;

use crate::interest::Interest;

/// A start-up scheme or restart policy: two functions.
///
/// ```
/// use firstflight::{Bytes, Cause, Event, Exit, PathEstimate, Path, Plan, Startup, Step};
///
/// /// Keeps one window for ever, and leaves at a loss.
/// #[derive(Clone, Debug)]
/// struct Fixed(Bytes);
///
/// impl Startup for Fixed {
///     fn on(&mut self, event: &Event<'_>, _path: &Path) -> Step {
///         let learned = PathEstimate { window: self.0, ..PathEstimate::default() };
///         match event {
///             Event::Lost(_) => Step::Exit(Exit { cause: Cause::Loss, learned }),
///             _ => Step::Stay,
///         }
///     }
///
///     fn plan(&self, _path: &Path) -> Plan {
///         Plan::ack_clocked(self.0, None)
///     }
/// }
/// ```
pub trait Startup: Clone {
    /// The events on which the scheme depends, for hosts that leave other events out. The default, all events, is always right.
    const INTEREST: Interest<Self> = Interest::ALL;

    /// Takes one event. After `Done` the scheme is not called again until the next [`Event::Begin`].
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step;

    /// Returns the plan for the host: window, pacing, tag and wake-up. The host calls this after every event; the answer must not depend on
    /// the number of calls.
    fn plan(&self, path: &Path) -> Plan;

    /// Shows a restart policy one event while a start-up or a law is active, before the active part gets the event. A policy uses this to
    /// measure what it will restart from (rate-based pacing), or to reduce a window that was used in part (RFC 2861 section 3): a returned
    /// window that is smaller than the window in force replaces it. A start-up scheme is never shown events here.
    fn observe(&mut self, _event: &Event<'_>, _path: &Path) -> Option<PathEstimate> {
        None
    }
}

/// A congestion-avoidance law, which handles the events once start-up is over.
///
/// At the first loss or mark of an episode, and at a timeout, the law reduces its window. The reduced window is the target of the host's
/// recovery. A law that never reduces keeps its window.
pub trait Avoidance: Clone {
    /// The events on which the law depends, for hosts that leave other events out. The default, all events, is always right.
    const INTEREST: Interest<Self> = Interest::ALL;

    /// Takes over from a start-up that exited with `exit`. After an exit by [`Cause::Loss`], [`Cause::Mark`] or [`Cause::Timeout`] the law
    /// must respond to that congestion here, unless the scheme already responded, with a threshold ([`PathEstimate::ssthresh`]).
    fn enter(&mut self, exit: &Exit, path: &Path);

    /// Handles one event while the law is active.
    fn on(&mut self, event: &Event<'_>, path: &Path);

    /// Returns the plan for the host: window, pacing, tag and wake-up.
    fn plan(&self, path: &Path) -> Plan;

    /// Forgets the old path: the connection continues over another path, with a start-up (RFC 9000 section 9.4). The law returns to its
    /// state before the first [`Avoidance::enter`].
    fn forget_path(&mut self);

    /// Shows the law one event while a start-up or restart is active, before the active part gets the event. Laws that always measure the
    /// path use this (Westwood's rate, BBR's bandwidth).
    fn observe(&mut self, _event: &Event<'_>, _path: &Path) {}
}
