//! The same arrivals at a port, by a clock of the test.

use std::collections::BTreeMap;

use firstflight::{Span, Time};
use firstflight_sim::{Arriving, Departure, Dropped, Outcome, Port, PortSpec};
use rand_core::Rng;
use rand_pcg::Pcg64;

use super::log::{END, Fate, Name};

/// When the port is polled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asking {
    /// At the times that the port reports.
    Promptly,
    /// Up to 5 ms later.
    Late,
    /// Before each packet enters, and after.
    AroundEachPacket,
    /// After the last arrival.
    AtTheEnd,
    /// At the times that the port reports, with a clock that read one year when the port was created.
    OnAnotherClock,
}

const YEAR: u64 = 365 * 24 * 3_600 * 1_000_000_000;

struct Replay {
    port: Port<Name>,
    start: u64,
    fates: BTreeMap<Name, Fate>,
    /// Time of the last poll of the port.
    asked: Time,
}

/// Returns the fates of these packets.
pub(crate) fn replay(
    spec: &PortSpec,
    seed: u64,
    arrivals: &[(Time, Arriving<Name>)],
    asking: Asking,
) -> BTreeMap<Name, Fate> {
    let start = if asking == Asking::OnAnotherClock { YEAR } else { 0 };
    let spec = PortSpec { start: Time::from_nanos(start), ..spec.clone() };
    let port = Port::new(&spec, seed).expect("a possible port");
    let mut replay = Replay { port, start, fates: BTreeMap::new(), asked: Time::ZERO };
    let mut late = Pcg64::new(1, 1);
    for (at, packet) in arrivals {
        let now = at.after_nanos(start);
        match asking {
            Asking::Promptly | Asking::OnAnotherClock => replay.ask_until(now, || Span::ZERO),
            Asking::Late => replay.ask_until(now, || Span::from_nanos(late.next_u64() % 5_000_000)),
            Asking::AroundEachPacket => replay.ask(now),
            Asking::AtTheEnd => {}
        }
        if let Err(dropped) = replay.port.enter(now, *packet) {
            replay.note(Outcome::Dropped(dropped));
        }
        if asking == Asking::AroundEachPacket {
            replay.ask(now);
        }
    }
    replay.ask(END.after_nanos(start + 10_000_000_000));
    assert_eq!((replay.port.inside(), replay.port.next_event()), (0, None));
    replay.fates
}

impl Replay {
    /// Polls with this lateness after each event of the port, as far as that is before `now`.
    fn ask_until(&mut self, now: Time, mut late: impl FnMut() -> Span) {
        while let Some(at) = self.port.next_event() {
            let asks = at.max(self.asked) + late();
            if asks >= now {
                return;
            }
            self.ask(asks);
        }
    }

    fn ask(&mut self, now: Time) {
        self.asked = now;
        while let Some(outcome) = self.port.event(now) {
            self.note(outcome);
        }
    }

    fn note(&mut self, outcome: Outcome<Name>) {
        let by_start = |at: Time| Time::from_nanos(at.nanos() - self.start);
        let (name, fate) = match outcome {
            Outcome::Left(Departure { payload, at, ecn, marked, quick_start, .. }) => {
                (payload, Fate::Left { at: by_start(at), ecn, marked, quick_start })
            }
            Outcome::Dropped(Dropped { payload, at, cause }) => {
                (payload, Fate::Dropped { at: by_start(at), cause })
            }
        };
        assert!(self.fates.insert(name, fate).is_none(), "packet {name:?} twice");
    }
}
