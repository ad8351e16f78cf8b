//! The simulator's own record of a run, and its captures.

use std::sync::{Arc, Mutex};

use firstflight::{Note, Phase, Time};
use firstflight_capture::{End, Interface, SegmentWriter, Sighting};
use firstflight_inspect::{Found, inspect};
use firstflight_lab::run;
use firstflight_measure::{ExitSeen, Tap};
use firstflight_scenario::{Scenario, SchemeChoice};
use firstflight_tcp::{EndpointEvent, Flags, Role, Segment, Snapshot, Transmit};

/// Enough for every header and option.
const SNAP: u32 = 128;

/// The sender's state after an event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct State {
    pub(crate) at: u64,
    pub(crate) cwnd: u64,
    pub(crate) flight: u64,
    /// The newest RTT, once there is one.
    pub(crate) rtt: Option<u64>,
}

/// A data packet sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) is_again: bool,
}

/// The simulator's own record. Times are nanoseconds since the beginning of the simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) sends: Vec<Departure>,
    pub(crate) states: Vec<State>,
    /// The arrival time at the sender of the first ACK of data.
    pub(crate) first_ack: Option<u64>,
    pub(crate) timeouts: u64,
    /// The first exit from start-up that stands, and the bytes in flight at that exit.
    pub(crate) exit: Option<ExitSeen>,
    pub(crate) exit_flight: u64,
    /// Exits that were undone or taken back.
    pub(crate) has_undone: bool,
    /// All notes, to explain a difference.
    pub(crate) notes: Vec<(u64, Note)>,
}

/// A race's own record, and the results of `inspect` on its captures at the sender and at the receiver.
pub(crate) struct Raced {
    pub(crate) record: Record,
    pub(crate) at_sender: Found,
    pub(crate) at_receiver: Found,
}

/// Runs a race; `None` if no packet reached the receiver.
pub(crate) fn race(scenario: &Scenario, choice: &SchemeChoice) -> Result<Option<Raced>, String> {
    let seen = Arc::new(Mutex::new(Seen::new()));
    let tap = Box::new(Witness(Arc::clone(&seen)));
    let outcome = run(scenario, choice, scenario.seed, false, Some(tap), &|| false)
        .map_err(|error| error.to_string())?;
    let Seen { captures, mut record, .. } =
        Arc::into_inner(seen).ok_or("the tap is held")?.into_inner().map_err(|error| error.to_string())?;
    let evidence = &outcome.evidence;
    record.timeouts = evidence.timeouts.len() as u64;
    record.exit = evidence.exits.first().copied();
    record.exit_flight = record.exit.map_or(0, |exit| {
        let is_it = |note: &&(u64, Note)| {
            note.0 == exit.at && matches!(note.1, Note::Exited { phase: Phase::Startup, .. })
        };
        match record.notes.iter().find(is_it) {
            Some((_, Note::Exited { flight, .. })) => flight.get(),
            _ => 0,
        }
    });
    let [at_sender, at_receiver] = captures.map(|capture| {
        let bytes = capture.finish().expect("memory can be written");
        let inspection = inspect(&bytes[..], false).expect("a capture");
        inspection.senders.into_iter().next().map(|one| one.found)
    });
    let Some((at_sender, at_receiver)) = at_sender.zip(at_receiver) else { return Ok(None) };
    Ok(Some(Raced { record, at_sender, at_receiver }))
}

struct Seen {
    captures: [SegmentWriter<Vec<u8>>; 2],
    /// The number of packets that each host sent or received.
    numbers: u64,
    /// The sequence number of the sender's first byte.
    first_byte: u32,
    record: Record,
}

struct Witness(Arc<Mutex<Seen>>);

impl Seen {
    fn new() -> Self {
        let capture = |at, name| {
            let interface =
                Interface { at, name, description: "", snap_length: std::num::NonZeroU32::new(SNAP) };
            SegmentWriter::new(Vec::new(), &interface).expect("memory can be written")
        };
        Self {
            captures: [capture(End::Client, "client"), capture(End::Server, "server")],
            numbers: 0,
            first_byte: 0,
            record: Record::default(),
        }
    }

    fn add(&mut self, place: Role, from: Role, at: Time, segment: &Segment, offset: u64) {
        let from = if from == Role::Client { End::Client } else { End::Server };
        self.numbers += 1;
        let sighting = Sighting { at, flow: 0, from, number: self.numbers, segment, offset, comment: "" };
        let capture = &mut self.captures[usize::from(place == Role::Server)];
        capture.packet(&sighting).expect("a segment can be written");
    }
}

impl Tap for Witness {
    fn sent(&mut self, at: Time, role: Role, transmit: &Transmit, offset: u64) {
        let mut seen = self.0.lock().expect("no panic");
        seen.add(role, role, at, &transmit.segment, offset);
        if role == Role::Client && transmit.segment.len > 0 {
            let is_again = transmit.sent.is_some_and(|sent| sent.retransmission);
            seen.record.sends.push(Departure { at: at.nanos(), len: transmit.segment.len.into(), is_again });
        }
    }

    fn arrived(&mut self, at: Time, role: Role, segment: &Segment, offset: u64) {
        let mut seen = self.0.lock().expect("no panic");
        seen.add(role, role.other(), at, segment, offset);
        // The ACK of the SYN acknowledges no data.
        if role == Role::Client && !segment.flags.has(Flags::SYN) && seen.record.first_ack.is_none() {
            let is_of_data = segment.ack != seen.first_byte || segment.sack_count > 0;
            seen.record.first_ack = is_of_data.then_some(at.nanos());
        } else if role == Role::Client && segment.flags.has(Flags::SYN) {
            seen.first_byte = segment.ack;
        }
    }

    fn event(&mut self, at: Time, role: Role, event: &EndpointEvent) {
        if let (Role::Client, EndpointEvent::Control(note)) = (role, event) {
            let record = &mut self.0.lock().expect("no panic").record;
            record.notes.push((at.nanos(), *note));
            record.has_undone |= matches!(note, Note::Undone { exit: true } | Note::Continued);
        }
    }

    fn wants_state(&self) -> bool {
        true
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let record = &mut self.0.lock().expect("no panic").record;
        let flight = snapshot.nxt - snapshot.una;
        let rtt = snapshot.latest_rtt.map(firstflight::Span::nanos);
        let state = State { at: at.nanos(), cwnd: snapshot.cwnd.get(), flight, rtt };
        if record.states.last().is_none_or(|last| State { at: state.at, ..*last } != state) {
            record.states.push(state);
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
