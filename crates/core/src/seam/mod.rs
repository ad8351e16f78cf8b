//! The seam: what a host tells a scheme, and what a scheme answers.
//!
//! Two functions, one event enum, one plan value. A host calls [`Startup::on`] for every event and then
//! [`Startup::plan`]; the plan says how much may be in flight and how packets leave. Both are total, pure and
//! never fail: with the same events a scheme makes the same plans in every habitat.
//!
//! Times of events are [`Path::now`]: the exact arrival for ACKs, the exact departure for [`Event::Sent`].
//! Windows count payload bytes; rates and gaps count IP bytes ([`Path::wire`] for a full segment).
//!
//! # What a stream host says, and what a packet host says
//!
//! A stream host numbers bytes and sends a lost byte again under its number (TCP). A packet host numbers packets and sends
//! lost data again in a new packet (QUIC, RFC 9002). The offsets of a packet host count the payload bytes of all packets
//! in the order in which they left, those that carry lost data again included.
//!
//! | Value | A stream host | A packet host |
//! |---|---|---|
//! | [`Path::nxt`] | SND.NXT | payload bytes of all packets sent |
//! | [`Path::una`] | SND.UNA | where the newest acknowledged packet ends; `nxt` when nothing is in flight |
//! | [`Path::flight`] | SND.NXT - SND.UNA (RFC 5681 `FlightSize`) | `bytes_in_flight` (RFC 9002 appendix B.2); of [`Event::Lost`] and [`Event::Marked`] what it was before the ACK that told of it, for a law halves that |
//! | [`Path::pipe`] | RFC 6675 `pipe` | `bytes_in_flight` |
//! | [`Path::min_rtt`] | the least of the connection | the same, or since persistent congestion (RFC 9002 section 5.2) |
//! | [`Path::recovering`] | SND.UNA is below the recovery point (RFC 6675 section 5) | the newest acknowledged packet left before the last reduction (RFC 9002 section 7.3.2); not after persistent congestion |
//! | [`Path::rto`] | RFC 6298 | the probe timeout (RFC 9002 section 6.2.1) |
//! | [`Ack::advanced`] | bytes by which SND.UNA moved | as [`Ack::bytes`] |
//! | [`Ack::sacked`], [`Delivered::selectively`] | of the SACK blocks | nothing, and no |
//! | [`Ack::segments`] | segments below the new SND.UNA | ack-eliciting packets newly acknowledged |
//! | [`Ack::duplicate`] | RFC 5681 section 2, or RFC 6675 | no |
//! | [`Loss::sent_at`], [`Event::Marked`] | unknown: `recovering` tells what an episode answers | when the newest of the packets left; of a mark, the newest packet that the ACK acknowledged |
//! | [`Loss::persistent`] | no: it says [`Event::TimedOut`] | RFC 9002 section 7.6.2 |
//! | [`Event::TimedOut`] | at each retransmission timeout | never: a probe timeout is no congestion |
//! | [`Sent::packet`] | transmissions, counted from zero | packets that the controller was told of, counted from zero: packet numbers of QUIC may skip |
//! | [`Ack::packets`] | in order of sequence | in the order in which they left: the ranges of a QUIC ACK go the other way |
//! | [`Sent::retransmission`] | sent before under this number | no |
//! | a round trip ends | with the first ACK above what was SND.NXT at its begin | with the first ACK of a packet sent after its begin |
//! | idle | SND.UNA = SND.NXT, and nothing sent for longer than the RTO | nothing in flight, and nothing sent for longer than the PTO |
//!
//! A host that shakes hands under congestion control (QUIC) says [`Event::Established`] when the handshake is over, and counts
//! `una` and `nxt` from there. Data before that (QUIC's 0-RTT, TCP Fast Open) has no event yet. Until then the plan is [`Pacing::Hold`], which holds application data only:
//! what the handshake sends leaves within [`Plan::window`], the initial window, and is not told. [`Event::Established`] says
//! whether any of it was lost.

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
    /// What the scheme minds, for hosts that would rather not say the rest. The default, everything, is always right.
    const HEARS: Hears<Self> = Hears::ALL;

    /// Hears one event. After `Done` the scheme is not called again until the next [`Event::Begin`].
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step;

    /// What to do now. Asked after every event; must not depend on how often it is asked.
    fn plan(&self, path: &Path) -> Plan;

    /// A restart policy hears one event while a start-up or law governs, before that hears it: for policies that
    /// restart from what they measured before (rate-based pacing), or that say what a window used in part is still
    /// worth (RFC 2861 section 3): what this returns, if it is less than the window in force, takes its place. A
    /// start-up scheme never does either.
    fn overhear(&mut self, _event: &Event<'_>, _path: &Path) -> Option<Learned> {
        None
    }
}

/// A congestion-avoidance law: hears the same events once start-up is over.
///
/// At the first loss or mark of an episode, and at a timeout, the law reduces its window; the reduced window
/// is the target that the host's recovery steers to. A law that keeps its window keeps it then too.
pub trait Avoidance: Clone {
    /// What the law minds, for hosts that would rather not say the rest. The default, everything, is always right.
    const HEARS: Hears<Self> = Hears::ALL;

    /// Takes over from a start-up that left with `exit`. For an exit by [`Cause::Loss`], [`Cause::Mark`] or
    /// [`Cause::Timeout`] this is also the law's response to that congestion, unless the scheme itself
    /// answered with a threshold ([`Learned::ssthresh`]).
    fn enter(&mut self, exit: &Exit, path: &Path);

    /// Hears one event while it governs.
    fn on(&mut self, event: &Event<'_>, path: &Path);

    /// What to do now.
    fn plan(&self, path: &Path) -> Plan;

    /// The connection goes on over another path, by a start-up: what was learnt of the old one is forgotten (RFC 9000
    /// section 9.4), and the law is as one that has not taken over yet.
    fn forget_path(&mut self);

    /// Hears one event while a start-up or restart governs, before that hears it: for laws that measure the
    /// path all the time (Westwood's rate, BBR's bandwidth). Nothing that it changes governs yet.
    fn overhear(&mut self, _event: &Event<'_>, _path: &Path) {}
}
