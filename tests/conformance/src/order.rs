//! The order of the calls: the start of the connection, the clock, and the values in each path that must come from the previous plan.

use firstflight::{Call, Event, Origin, TraceRecord};

use crate::before::Before;
use crate::breach::Breaches;
use crate::law::Law;

/// The progress of the connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Stage {
    #[default]
    Nothing,
    Begun,
    Established,
}

#[derive(Debug, Default)]
pub(super) struct Order {
    stage: Stage,
}

impl Order {
    pub(super) fn check_record(
        &mut self,
        record: &TraceRecord,
        before: Option<&Before>,
        breaches: &mut Breaches,
    ) {
        self.stages(record, breaches);
        let Some(Before { path, plan }) = before else { return };
        let now = &record.path;
        if now.now < path.now {
            let (is, was) = (now.now.nanos(), path.now.nanos());
            breaches.add(Law::Time, format!("the instant is {is} ns; it was {was} ns before"));
        }
        if now.cwnd != plan.window {
            let (is, was) = (now.cwnd.get(), plan.window.get());
            breaches.add(Law::Cwnd, format!("cwnd is {is} B; the window of the plan before is {was} B"));
        }
        if now.wake != plan.wake {
            let [is, was] =
                [now.wake, plan.wake].map(|at| at.map_or("none".to_owned(), |at| at.nanos().to_string()));
            breaches.add(Law::Wake, format!("wake is {is}; that of the plan before is {was}"));
        }
        let (is, was) = (now.mss.get(), path.mss.get());
        match (matches!(event(record), Some(Event::MssChanged)), is == was) {
            (true, true) => breaches.add(Law::MssChanged, format!("mss is {is} B, as before")),
            (false, false) => {
                breaches.add(
                    Law::MssChanged,
                    format!("mss is {is} B; it was {was} B and no call says that it changed"),
                );
            }
            (true, false) | (false, true) => {}
        }
    }

    fn stages(&mut self, record: &TraceRecord, breaches: &mut Breaches) {
        let event = event(record);
        let fresh = matches!(event, Some(Event::Begin(Origin::Fresh)));
        if (self.stage == Stage::Nothing) != fresh {
            let what =
                if fresh { "`begin fresh` is said again" } else { "the first call is not `begin fresh`" };
            breaches.add(Law::Begin, what.to_owned());
        }
        self.stage = self.stage.max(Stage::Begun);
        match event {
            Some(Event::Begin(origin @ (Origin::AfterIdle { .. } | Origin::AfterTimeout { .. }))) => {
                let what = format!("{origin:?} is said by the host; the controller begins so by itself");
                breaches.add(Law::Begin, what);
            }
            Some(Event::Established { .. }) => {
                if self.stage == Stage::Established {
                    breaches.add(Law::Established, "it is said again".to_owned());
                }
                self.stage = Stage::Established;
            }
            Some(Event::Sent(_) | Event::Acked(_) | Event::Lost(_) | Event::TimedOut { .. })
                if self.stage < Stage::Established =>
            {
                breaches.add(Law::Established, "data is reported before it".to_owned());
                // This breach is reported only once.
                self.stage = Stage::Established;
            }
            _ => {}
        }
    }
}

/// Returns the event of a call, if it has one.
pub(super) fn event(record: &TraceRecord) -> Option<Event<'_>> {
    match &record.call {
        Call::On(heard) => Some(heard.event()),
        Call::NewData | Call::Plan => None,
    }
}
