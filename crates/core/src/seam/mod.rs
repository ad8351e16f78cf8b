//! The seam: the events that a host reports to a scheme, and the plan with which the scheme answers.
//!
//! The seam is two functions, one event enum and one plan value. A host calls [`Startup::on`] for every event and
//! then [`Startup::plan`]. The plan says how much may be in flight and how packets leave. Both functions are total,
//! pure and never fail: the same events make the same plans in every habitat.
//!
//! [`Path::now`] is the instant of an event: the exact arrival of an ACK, the exact departure of a packet
//! ([`Event::Sent`]). Windows count payload bytes; rates and gaps count IP bytes ([`Path::wire`] for a full segment).
//!
//! # What a stream host says, and what a packet host says
//!
//! A stream host numbers bytes and sends a lost byte again under its number (TCP). A packet host numbers packets and
//! sends lost data again in a new packet (QUIC, RFC 9002). The offsets of a packet host count the payload bytes of
//! all packets in the order in which the packets left. Packets that carry lost data again count too.
//!
//! | Value | A stream host | A packet host |
//! |---|---|---|
//! | [`Path::nxt`] | SND.NXT | payload bytes of all packets sent |
//! | [`Path::una`] | SND.UNA | where the newest acknowledged packet ends; `nxt` when nothing is in flight |
//! | [`Path::flight`] | SND.NXT - SND.UNA (RFC 5681 `FlightSize`) | `bytes_in_flight` (RFC 9002 appendix B.2); at [`Event::Lost`] and [`Event::Marked`] the value before the ACK that reported the loss or mark, because a law halves that value |
//! | [`Path::pipe`] | RFC 6675 `pipe` | `bytes_in_flight` |
//! | [`Path::min_rtt`] | the least of the connection | the same, or since persistent congestion (RFC 9002 section 5.2) |
//! | [`Path::recovering`] | SND.UNA is below the recovery point (RFC 6675 section 5) | the newest acknowledged packet left before the last reduction (RFC 9002 section 7.3.2); not after persistent congestion |
//! | [`Path::rto`] | RFC 6298 | the probe timeout (RFC 9002 section 6.2.1) |
//! | [`Ack::advanced`] | bytes by which SND.UNA moved | as [`Ack::bytes`] |
//! | [`Ack::sacked`], [`Delivered::selectively`] | the bytes that SACK blocks newly acknowledge | zero, and no |
//! | [`Ack::segments`] | segments below the new SND.UNA | ack-eliciting packets newly acknowledged |
//! | [`Ack::duplicate`] | RFC 5681 section 2, or RFC 6675 | no |
//! | [`Loss::sent_at`], [`Event::Marked`] | unknown: `recovering` says which losses belong to one episode | when the newest of the lost packets left; for a mark, when the newest packet left that the ACK acknowledged |
//! | [`Loss::persistent`] | no: a stream host says [`Event::TimedOut`] | RFC 9002 section 7.6.2 |
//! | [`Event::TimedOut`] | at each retransmission timeout | never: a probe timeout is no congestion |
//! | [`Sent::packet`] | transmissions, counted from zero | packets of which the controller got [`Event::Sent`], counted from zero: QUIC's packet numbers may skip |
//! | [`Ack::packets`] | in order of sequence | in the order in which the packets left: the ranges of a QUIC ACK go the other way |
//! | [`Sent::retransmission`] | the bytes were sent before | no |
//! | a round trip ends | with the first ACK above the SND.NXT of the round trip's begin | with the first ACK of a packet sent after the round trip began |
//! | idle | SND.UNA = SND.NXT, and nothing sent for longer than the RTO | nothing in flight, and nothing sent for longer than the PTO |
//!
//! A host whose handshake is under congestion control (QUIC) says [`Event::Established`] when the handshake is over,
//! and counts `una` and `nxt` from there. Data before that (QUIC's 0-RTT, TCP Fast Open) has no event yet. Until then
//! the plan is [`Pacing::Hold`], which holds application data only: packets of the handshake leave within
//! [`Plan::window`], the initial window, and have no [`Event::Sent`]. [`Event::Established`] says whether any of them
//! was lost.

mod ack;
mod event;
mod exit;
mod loss;
mod path;
mod plan;

pub use ack::{Ack, Delivered, RttSample};
pub use event::{Advice, Event, Origin, Sent};
pub use exit::{Cause, Exit, Learned, Step};
pub use loss::{Loss, LostPacket};
pub use path::{Path, SendLimit};
pub use plan::{Ask, Pacing, Plan, Tag};

use crate::hears::Hears;

/// A start-up or restart scheme: two functions.
///
/// ```
/// use firstflight::{Bytes, Cause, Event, Exit, Learned, Path, Plan, Startup, Step};
///
/// /// Keeps one window for ever, and leaves at a loss.
/// #[derive(Clone, Debug)]
/// struct Fixed(Bytes);
///
/// impl Startup for Fixed {
///     fn on(&mut self, event: &Event<'_>, _path: &Path) -> Step {
///         let learned = Learned { window: self.0, ..Learned::default() };
///         match event {
///             Event::Lost(_) => Step::Done(Exit { cause: Cause::Loss, learned }),
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
    /// What the scheme depends on, for hosts that leave other events out. The default, everything, is always right.
    const HEARS: Hears<Self> = Hears::ALL;

    /// Takes one event. After `Done` the scheme is not called again until the next [`Event::Begin`].
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step;

    /// What the host should do from now on. The host asks after every event; the answer must not depend on how often
    /// it asks.
    fn plan(&self, path: &Path) -> Plan;

    /// Shows a restart policy one event while a start-up or a law governs, before the governing part gets the event.
    /// A policy uses this to measure what it will restart from (rate-based pacing), or to say what a window that was
    /// used in part is still worth (RFC 2861 section 3): a returned window that is smaller than the window in force
    /// replaces it. A start-up scheme is never shown events here.
    fn overhear(&mut self, _event: &Event<'_>, _path: &Path) -> Option<Learned> {
        None
    }
}

/// A congestion-avoidance law: takes the events once start-up is over.
///
/// At the first loss or mark of an episode, and at a timeout, the law reduces its window. The reduced window is the
/// target that the host's recovery steers to. A law that never reduces keeps its window then too.
pub trait Avoidance: Clone {
    /// What the law depends on, for hosts that leave other events out. The default, everything, is always right.
    const HEARS: Hears<Self> = Hears::ALL;

    /// Takes over from a start-up that left with `exit`. An exit by [`Cause::Loss`], [`Cause::Mark`] or
    /// [`Cause::Timeout`] asks the law to answer that congestion here, unless the scheme answered already, with a
    /// threshold ([`Learned::ssthresh`]).
    fn enter(&mut self, exit: &Exit, path: &Path);

    /// Takes one event while the law governs.
    fn on(&mut self, event: &Event<'_>, path: &Path);

    /// What the host should do from now on.
    fn plan(&self, path: &Path) -> Plan;

    /// Forgets the old path: the connection goes on over another path, with a start-up (RFC 9000 section 9.4). The
    /// law is again as before its first [`Avoidance::enter`].
    fn forget_path(&mut self);

    /// Shows the law one event while a start-up or restart governs, before the governing part gets the event: for
    /// laws that measure the path all the time (Westwood's rate, BBR's bandwidth). The law does not govern yet.
    fn overhear(&mut self, _event: &Event<'_>, _path: &Path) {}
}
