//! Trace records: each call that a host makes, with the answer of the controller. Any controller with the same parts
//! can replay them.

use alloc::vec::Vec;

use crate::controller::{Controller, Note};
use crate::interface::{Ack, Avoidance, Delivered, Event, Loss, LostPacket, Path, Plan, Startup};
use crate::units::Bytes;

/// One call of a host, and its result.
#[derive(Clone, Debug)]
pub struct TraceRecord {
    /// The function that was called.
    pub call: Call,
    /// The connection at the call.
    pub path: Path,
    /// The plan after the call.
    pub plan: Plan,
    /// Actions of the controller at the call.
    pub notes: Vec<Note>,
    /// The values that the controller filled in at an ACK or a loss, if the recorder captured them.
    pub judged: Option<Judged>,
}

/// The values that a controller fills in before a scheme gets an ACK or a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judged {
    /// The values at an ACK.
    Acked {
        /// Whether a round trip ended with the ACK ([`Ack::round_ended`]).
        round_ended: bool,
        /// New data sent in the round trip that ended ([`Ack::round_sent`]).
        round_sent: Bytes,
        /// Bytes by which the ACK may widen a window ([`Ack::growth`]).
        growth: Bytes,
    },
    /// The value at a loss.
    Lost {
        /// Whether the loss opens an episode ([`Loss::opens_episode`]).
        opens_episode: bool,
    },
}

impl Judged {
    /// Returns the filled-in values of `event`, as a scheme gets it; `None` for an event without any.
    pub fn of(event: &Event<'_>) -> Option<Self> {
        match *event {
            Event::Acked(Ack { round_ended, round_sent, growth, .. }) => {
                Some(Self::Acked { round_ended, round_sent, growth })
            }
            Event::Lost(Loss { opens_episode, .. }) => Some(Self::Lost { opens_episode }),
            _ => None,
        }
    }
}

/// A call of a host.
#[derive(Clone, Debug)]
pub enum Call {
    /// The host reported an event by [`Controller::on`].
    On(OwnedEvent),
    /// The host called [`Controller::before_new_data`], and a restart began.
    NewData,
    /// The host called [`Controller::plan`] alone, because a value on which a plan may depend had changed.
    Plan,
}

/// An event that owns its packets, where [`Event`] borrows them.
#[derive(Clone, Debug)]
pub struct OwnedEvent {
    /// The event without its lists of packets, which are in the fields below.
    event: Event<'static>,
    delivered: Vec<Delivered>,
    newest: Option<Delivered>,
    lost: Vec<LostPacket>,
}

impl OwnedEvent {
    /// Returns a copy of `event`.
    pub fn new(event: &Event<'_>) -> Self {
        let mut delivered = Vec::new();
        let mut lost = Vec::new();
        let mut newest = None;
        let event = match *event {
            Event::Begin(origin) => Event::Begin(origin),
            Event::Established { rtt, syn_lost } => Event::Established { rtt, syn_lost },
            Event::Sent(sent) => Event::Sent(sent),
            Event::Acked(ack) => {
                delivered.extend_from_slice(ack.packets);
                newest = ack.newest.copied();
                Event::Acked(Ack { packets: &[], newest: None, ..ack })
            }
            Event::Lost(found) => {
                lost.extend_from_slice(found.packets);
                Event::Lost(Loss { packets: &[], ..found })
            }
            Event::Marked { sent_at } => Event::Marked { sent_at },
            Event::TimedOut { repeated } => Event::TimedOut { repeated },
            Event::SpuriousLoss => Event::SpuriousLoss,
            Event::Asked(done) => Event::Asked(done),
            Event::Advice(advice) => Event::Advice(advice),
            Event::TrainCut(tag) => Event::TrainCut(tag),
            Event::Woken => Event::Woken,
            Event::MssChanged => Event::MssChanged,
        };
        Self { event, delivered, newest, lost }
    }

    /// Returns the event.
    pub fn event(&self) -> Event<'_> {
        match self.event {
            Event::Acked(ack) => {
                Event::Acked(Ack { packets: &self.delivered, newest: self.newest.as_ref(), ..ack })
            }
            Event::Lost(found) => Event::Lost(Loss { packets: &self.lost, ..found }),
            other => other,
        }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Controller<S, R, A> {
    /// Repeats a recorded call on this controller. Returns the plan after the call and the notes of the call.
    pub fn replay(&mut self, call: &Call, path: &Path) -> (Plan, Vec<Note>) {
        match call {
            Call::On(heard) => self.on(&heard.event(), path),
            Call::NewData => {
                self.before_new_data(path);
            }
            Call::Plan => {}
        }
        let plan = self.plan(path);
        (plan, core::iter::from_fn(|| self.take_note()).collect())
    }
}
