//! The sender of a full window: the processing of an ACK, the segments sent for it, and the host's calls then.

use std::hint::black_box;

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::{
    Bytes, Cause, Controller, Event, Exit, Path, PathEstimate, Plan, Span, Startup, Step, Time,
};
use firstflight_tcp::{Endpoint, Recovery, SackBlock, Segment};
use gungraun::prelude::*;

use crate::ACKS;
use crate::line::{INITIAL, Line, MSS, Shape};

/// Maximum window field of a SYN, in packets: those sent before the first scaled window arrives.
const UNSCALED: u64 = 65;

/// A start-up that ends with the handshake and leaves a window of this many bytes to Reno.
#[derive(Clone, Debug)]
pub(crate) struct Filled(Bytes);

impl Startup for Filled {
    fn on(&mut self, event: &Event<'_>, _: &Path) -> Step {
        let learned = PathEstimate { window: self.0, ssthresh: Some(self.0), rate: None };
        match event {
            Event::Established { .. } => Step::Exit(Exit { cause: Cause::Resumed, learned }),
            _ => Step::Stay,
        }
    }

    fn plan(&self, _: &Path) -> Plan {
        Plan::ack_clocked(self.0, None)
    }
}

pub(crate) type Client = Endpoint<Filled, Rfc5681, Reno>;

/// Senders, and the ACKs that each of them receives.
pub(crate) type Work = Vec<(Client, Vec<(Time, Segment)>)>;

/// The ACKs that are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Nothing is lost: each ACK acknowledges a packet, for which another is sent.
    Open,
    /// Every second packet of a window is lost: each ACK carries a SACKed segment and shows one lost. Starts after four fifths of the
    /// SACKs, where the pipe has fallen so far that each ACK releases a retransmission.
    Sacks,
    /// The retransmissions of half a window arrive: each ACK acknowledges one and the SACKed segment beyond it. Starts after three tenths
    /// of the window are acknowledged.
    Repair,
}

/// A sender at a moment, and the ACKs that it receives from then on.
pub(crate) struct Heard {
    client: Client,
    /// A twentieth of the window, and at most [`ACKS`].
    pub(crate) acks: Vec<(Time, Segment)>,
    /// SACKed packets: the first and the last packet of every block that came first in an ACK.
    pub(crate) blocks: Vec<SackBlock>,
    /// Data in flight, in stream offsets.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
}

/// Returns a twentieth of the window in ACKs, repeated to [`ACKS`] of them; or [`ACKS`] consecutive ones.
pub(crate) fn work(recovery: Recovery, window: u64, moment: Moment) -> Work {
    let Heard { client, acks, .. } = heard(recovery, window, moment);
    let count = acks.len();
    vec![(client, acks); ACKS / count]
}

/// Returns a sender with this window at this moment.
pub(crate) fn heard(recovery: Recovery, window: u64, moment: Moment) -> Heard {
    let first = UNSCALED.min(window);
    let lossy = if moment == Moment::Open { (0, 0) } else { (first, first + window) };
    let shape = Shape {
        round_trip: Span::from_millis(20) + Span::from_micros(2 * window),
        packet_time: Span::from_micros(1),
        queue: Span::MAX,
        lossy,
    };
    let filled = Filled(Bytes::new(window * u64::from(MSS)));
    let controller = Controller::new(filled, Rfc5681::new(INITIAL), Reno::new());
    let mut line = Line::new(recovery, controller, shape);
    // The window that may be lossy was sent, and nothing of it has arrived.
    while line.client.snapshot().nxt < (first + window) * u64::from(MSS) {
        line.step();
    }
    let mut acks_to_come = window * 4 / 10;
    let mut blocks = Vec::new();
    let repaired = (first + window * 3 / 10) * u64::from(MSS);
    loop {
        let reached = match moment {
            Moment::Open | Moment::Sacks => acks_to_come == 0,
            Moment::Repair => line.client.snapshot().una >= repaired,
        };
        if reached {
            break;
        }
        let ack = line.step();
        acks_to_come = acks_to_come.saturating_sub(u64::from(ack.is_some()));
        let newest = ack.and_then(|(_, ack)| ack.sack_blocks().first().copied());
        if let Some(SackBlock { start, end }) = newest {
            let one = u32::from(MSS);
            blocks.extend([SackBlock { start, end: start + one }, SackBlock { start: end - one, end }]);
        }
    }
    let count = usize::try_from(window / 20).map_or(ACKS, |part| part.min(ACKS));
    let client = line.client.clone();
    let (una, nxt) = (client.snapshot().una, client.snapshot().nxt);
    let mut heard = Vec::with_capacity(count);
    while heard.len() < count {
        heard.extend(line.step());
    }
    Heard { client, acks: heard, blocks, una, nxt }
}

pub(crate) fn on_ack(mut work: Work) -> Work {
    for (client, acks) in &mut work {
        for (now, ack) in acks {
            client.on_segment(*now, ack);
            while let Some(transmit) = client.poll_transmit(*now) {
                black_box(transmit);
            }
            while let Some(event) = client.poll_event() {
                black_box(event);
            }
            black_box(client.next_timer());
        }
    }
    work
}

// The last windows take long to fill under Valgrind: `make test` leaves `w1e6` out, `make baseline` does not.
macro_rules! windows {
    ($name:ident, $recovery:ident, $moment:ident) => {
        #[library_benchmark]
        #[bench::w1e2(work(Recovery::$recovery, 100, Moment::$moment))]
        #[bench::w1e3(work(Recovery::$recovery, 1_000, Moment::$moment))]
        #[bench::w1e4(work(Recovery::$recovery, 10_000, Moment::$moment))]
        #[bench::w1e5(work(Recovery::$recovery, 100_000, Moment::$moment))]
        #[bench::w1e6(work(Recovery::$recovery, 1_000_000, Moment::$moment))]
        fn $name(work: Work) -> Work {
            on_ack(work)
        }
    };
}

windows!(rack, Rack, Open);
windows!(rack_sacks, Rack, Sacks);
windows!(rack_repair, Rack, Repair);
windows!(rfc6675, Sack, Open);
windows!(rfc6675_sacks, Sack, Sacks);
windows!(rfc6675_repair, Sack, Repair);
