//! Calls that a host makes once for each cause: wake-ups, answers to requests, timeouts, marks and undos.

use firstflight::{Advice, Ask, Event, Rate, TraceRecord};

use crate::before::Before;
use crate::breach::Breaches;
use crate::law::Law;
use crate::order::event;

#[derive(Debug, Default)]
pub(super) struct Asks {
    /// The request that the host has answered, as long as the plan still contains it.
    answered: Option<Ask>,
    /// The rate of a granted Quick-Start request whose answer has not arrived.
    requested: Option<Rate>,
    /// Whether a reduction may be undone.
    undoable: bool,
    /// Whether a timeout was reported since an ACK last advanced the cumulative acknowledgement.
    timed_out: bool,
    /// The number of the first packet sent after the last ECN mark. It is cleared when this packet or a later one is acknowledged.
    marked_before: Option<u64>,
}

impl Asks {
    /// Checks a call. `next` is the number of the next packet to be sent, which [`super::packets`] counts.
    pub(super) fn check_record(
        &mut self,
        record: &TraceRecord,
        before: Option<&Before>,
        next: u64,
        breaches: &mut Breaches,
    ) {
        match event(record) {
            Some(Event::Woken) => {
                let due = before.and_then(|before| before.plan.wake);
                let now = record.path.now.nanos();
                match due {
                    None => breaches.add(Law::Woken, "the earlier plan requests no wake-up".to_owned()),
                    Some(at) if at > record.path.now => {
                        let at = at.nanos();
                        breaches.add(Law::Woken, format!("it is said at {now} ns; it is due at {at} ns"));
                    }
                    Some(_) => {}
                }
            }
            Some(Event::Asked(done)) => self.asked(done, before, breaches),
            Some(Event::Advice(advice)) => self.advice(&advice, breaches),
            Some(Event::Acked(ack)) => {
                self.timed_out &= ack.advanced.is_zero();
                if let Some(first) = self.marked_before
                    && (ack.packets.iter().any(|packet| packet.packet >= first) || ack.packets.is_empty())
                {
                    self.marked_before = None;
                }
            }

            // If the send time of a lost or marked packet is known, the controller itself can decide which reduction the loss or mark
            // belongs to.
            Some(Event::Lost(_) | Event::Marked { sent_at: Some(_) }) => self.undoable = true,
            Some(Event::Marked { sent_at: None }) => {
                if let Some(first) = self.marked_before {
                    let what = format!(
                        "no packet from number {first} on, where the earlier mark was reported, is acknowledged"
                    );
                    breaches.add(Law::Marked, what);
                }
                self.marked_before = Some(next);
                self.undoable = true;
            }
            Some(Event::TimedOut { repeated }) => self.timed_out(repeated, record, breaches),
            Some(Event::SpuriousLoss) => self.undo(breaches),
            _ => {}
        }
        if self.answered != record.plan.ask {
            self.answered = None;
        }
    }

    fn undo(&mut self, breaches: &mut Breaches) {
        if !core::mem::take(&mut self.undoable) {
            let what = "no loss, mark or timeout was reported since the beginning or the previous undo";
            breaches.add(Law::SpuriousLoss, what.to_owned());
        }
    }

    fn asked(&mut self, done: bool, before: Option<&Before>, breaches: &mut Breaches) {
        let ask = before.and_then(|before| before.plan.ask);
        match ask {
            None => breaches.add(Law::Asked, "the earlier plan requests nothing".to_owned()),
            Some(ask) if self.answered == Some(ask) => {
                breaches.add(Law::Asked, "the ask was answered before".to_owned());
            }
            Some(_) => {}
        }
        if let Some(Ask::QuickStart { rate }) = ask {
            self.requested = done.then_some(rate);
        }
        self.answered = ask;
    }

    fn advice(&mut self, advice: &Advice, breaches: &mut Breaches) {
        if matches!(advice, Advice::Window { .. }) {
            breaches.add(Law::Advice, "a window is a scheme's advice to another, not a host's".to_owned());
        }
        let Advice::QuickStart { approved } = *advice else { return };
        match (self.requested.take(), approved) {
            (None, _) => {
                breaches.add(Law::Advice, "no request was granted, or it has its answer".to_owned());
            }
            (Some(asked), Some(approved)) if approved > asked => {
                let (approved, asked) = (approved.bps(), asked.bps());
                let what = format!("{approved} bit/s are approved; {asked} bit/s were asked for");
                breaches.add(Law::Advice, what);
            }
            (Some(_), _) => {}
        }
    }

    fn timed_out(&mut self, repeated: bool, record: &TraceRecord, breaches: &mut Breaches) {
        if record.path.nxt <= record.path.una {
            breaches.add(Law::TimedOut, "nothing is in flight".to_owned());
        }
        let before = core::mem::replace(&mut self.timed_out, true);
        if repeated != before {
            let what = if repeated {
                "it is said as repeated; no timeout came before it, or an ACK has advanced since"
            } else {
                "it is said as the first; a timeout came before it and no ACK has advanced since"
            };
            breaches.add(Law::TimedOut, what.to_owned());
        }
        self.undoable = true;
    }
}
