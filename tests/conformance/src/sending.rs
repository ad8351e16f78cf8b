//! Checks the packets that the host sent against the plan at that time.

use firstflight::{
    Bytes, Call, Event, Origin, Pacer, Pacing, Path, Plan, Rate, Sent, Span, Time, TraceRecord,
};

use crate::before::Before;
use crate::breach::Breaches;
use crate::law::Law;
use crate::order::event;

/// The number of segments beyond the window that limited transmit sends for the first duplicate ACKs (RFC 3042).
const LIMITED_TRANSMIT: u64 = 2;

#[derive(Debug, Default)]
pub(super) struct Sending {
    /// The pacer. It counts the packets of a train and computes when each is due.
    pacer: Pacer,
    bucket: Bucket,
    /// The number of duplicate ACKs since an ACK last advanced.
    duplicates: u64,
    /// Whether a packet that may be a tail loss probe was sent, and no acknowledgement has arrived since.
    probing: bool,
    /// The time of the first of two probes (RFC 9002 section 6.2.4).
    probed_at: Option<Time>,
    /// The time at which the retransmission timer is due. The timer counts from the last advance of the cumulative ACK or, if there is
    /// none, from the first packet in flight.
    timeout: Option<Time>,
    /// Whether `new-data` was called since the last packet was sent.
    restarted: bool,
}

impl Sending {
    pub(super) fn check_record(
        &mut self,
        record: &TraceRecord,
        before: Option<&Before>,
        breaches: &mut Breaches,
    ) {
        let path = &record.path;
        match event(record) {
            Some(Event::Sent(sent)) => {
                if let Some(before) = before {
                    self.sent(&sent, path, &before.plan, breaches);
                }
            }
            Some(Event::Acked(ack)) => {
                self.duplicates =
                    if ack.advanced.is_zero() { self.duplicates + u64::from(ack.duplicate) } else { 0 };
                if !ack.advanced.is_zero() {
                    self.timeout = Some(path.now + path.rto);
                }
                self.probing &= ack.advanced.is_zero() && ack.bytes.is_zero();
            }
            Some(Event::TimedOut { .. } | Event::Begin(Origin::PathChange)) => {
                self.duplicates = 0;
                self.probing = false;
            }
            Some(Event::TrainCut(tag)) => {
                let left = self.pacer.train_left();
                let of = before.map(|before| before.plan.tag);
                if left == 0 || of != Some(tag) {
                    let of = of.map_or(0, |tag| tag.0);
                    let what = format!(
                        "train {} is cut; of train {of}, which the plan is for, {left} packets are to leave",
                        tag.0
                    );
                    breaches.add(Law::TrainCut, what);
                }
                self.pacer.cut_train();
            }
            _ => {}
        }
        if matches!(record.call, Call::NewData) {
            self.new_data(path, breaches);
        }
        self.pacer.adopt(&record.plan);
        self.bucket.adopt(&record.plan, path.now);
    }

    fn new_data(&mut self, path: &Path, breaches: &mut Breaches) {
        self.restarted = true;
        let idle = path.last_sent.map_or(Span::ZERO, |at| path.now.since(at));
        if !path.flight.is_zero() || path.nxt != path.una || idle <= path.rto {
            let (flight, idle, rto) = (path.flight.get(), idle.nanos(), path.rto.nanos());
            let what =
                format!("{flight} B are in flight, and nothing left for {idle} ns; the timeout is {rto} ns");
            breaches.add(Law::NewData, what);
        }
    }

    fn sent(&mut self, sent: &Sent, path: &Path, plan: &Plan, breaches: &mut Breaches) {
        let Sent { packet, bytes, tag, retransmission, .. } = *sent;
        let number = packet;
        if tag != plan.tag {
            let (is, was) = (tag.0, plan.tag.0);
            breaches
                .add(Law::Tag, format!("packet {number} leaves with tag {is}; that of the plan is {was}"));
        }
        let fresh = !retransmission && !bytes.is_zero();
        if fresh {
            self.fresh(sent, path, plan, breaches);
        }
        let faults: Vec<_> = [self.beyond_the_window(sent, path, plan), self.off_the_clock(sent, path, plan)]
            .into_iter()
            .flatten()
            .collect();
        if !faults.is_empty() {
            let second = self.probed_at == Some(path.now);
            let probes = second || self.is_quiet(path);
            self.probed_at = Some(path.now).filter(|_| probes && !second);
            self.probing = true;
            for (law, what) in faults.into_iter().filter(|_| !probes) {
                breaches.add(law, what);
            }
        }
        let wire = bytes + (path.wire - path.mss);
        if matches!(plan.pacing, Pacing::Train { .. }) {
            self.pacer.sent(path.now, wire);
        }
        self.bucket.sent(path.now, wire);
        if path.nxt == path.una {
            self.timeout = Some(path.now + path.rto);
        }
        self.restarted = false;
    }

    fn fresh(&self, sent: &Sent, path: &Path, plan: &Plan, breaches: &mut Breaches) {
        let (number, bytes) = (sent.packet, sent.bytes.get());
        if let Some(backlog) = path.backlog
            && sent.bytes > backlog
        {
            let ready = backlog.get();
            breaches
                .add(Law::Backlog, format!("packet {number} has {bytes} B; {ready} B are ready to be sent"));
        }
        if plan.pacing == Pacing::Hold {
            breaches.add(Law::Hold, format!("packet {number} leaves with new data; the plan is to hold"));
        }
        let idle = path.last_sent.map_or(Span::ZERO, |at| path.now.since(at));
        if path.nxt == path.una && path.flight.is_zero() && idle > path.rto && !self.restarted {
            let (idle, rto) = (idle.nanos(), path.rto.nanos());
            let what =
                format!("packet {number} leaves after {idle} ns without `new-data`; the timeout is {rto} ns");
            breaches.add(Law::Idle, what);
        }
    }

    /// Returns whether a tail loss probe may be sent regardless of the window and the clock (RFC 8985 section 7.3, RFC 9002 section 6.2.4).
    /// Data must be outstanding. A probe is then allowed in two cases: if no packet was sent for an RTT, or if a timeout is due and no
    /// probe was sent since an ACK.
    fn is_quiet(&self, path: &Path) -> bool {
        let for_long = |at: Option<Time>, long: Span| at.is_none_or(|at| path.now.since(at) >= long);
        let least = Span::from_nanos(1);
        let due = self.timeout.is_some_and(|at| at <= path.now);
        path.nxt > path.una
            && for_long(path.last_received, least)
            && (for_long(path.last_sent, path.srtt.unwrap_or(least))
                || !self.probing && due && for_long(path.last_sent, least))
    }

    fn beyond_the_window(&self, sent: &Sent, path: &Path, plan: &Plan) -> Option<(Law, String)> {
        let extra = path.mss * self.duplicates.min(LIMITED_TRANSMIT);
        let free = sent.retransmission || sent.bytes.is_zero() || path.recovering || path.pipe.is_zero();
        let fits = path.pipe + sent.bytes <= plan.window + extra;
        (!free && !fits).then(|| {
            let [bytes, pipe, window, extra] = [sent.bytes, path.pipe, plan.window, extra].map(Bytes::get);
            let number = sent.packet;
            let what = format!("packet {number} has {bytes} B, and the pipe is {pipe} B; the window is {window} B and {extra} B more");
            (Law::Window, what)
        })
    }

    fn off_the_clock(&self, sent: &Sent, path: &Path, plan: &Plan) -> Option<(Law, String)> {
        let number = sent.packet;
        if sent.bytes.is_zero() {
            return None;
        }
        let wire = sent.bytes + (path.wire - path.mss);
        match plan.pacing {
            Pacing::Train { .. } => match self.pacer.ready_at(wire, sent.retransmission) {
                Some(at) if at <= path.now => None,
                Some(at) => {
                    let (now, at) = (path.now.nanos(), at.nanos());
                    Some((Law::Train, format!("packet {number} leaves at {now} ns; it is due at {at} ns")))
                }
                None => {
                    let (left, tag) = (self.pacer.train_left(), plan.tag.0);
                    let what = if sent.retransmission { "is retransmitted" } else { "leaves with new data" };
                    Some((
                        Law::Train,
                        format!("packet {number} {what}; {left} packets of train {tag} are to leave"),
                    ))
                }
            },
            Pacing::Rate { .. } if !sent.retransmission => {
                let at = self.bucket.ready_at(wire).filter(|at| *at > path.now)?;
                let (now, at) = (path.now.nanos(), at.nanos());
                Some((
                    Law::Rate,
                    format!("packet {number} leaves at {now} ns; at the rate it is due at {at} ns"),
                ))
            }
            Pacing::Rate { .. } | Pacing::AckClock | Pacing::Hold => None,
        }
    }
}

/// A leaky bucket with the loosest meaning of a plan. When the rate changes, the debt stays constant either in bytes or in time,
/// whichever gives the shorter wait.
#[derive(Debug, Default)]
struct Bucket {
    paced: Option<(Rate, Bytes)>,
    due: Time,
}

impl Bucket {
    fn adopt(&mut self, plan: &Plan, now: Time) {
        let Pacing::Rate { rate, burst } = plan.pacing else {
            *self = Self::default();
            return;
        };
        match self.paced {
            None => self.due = Time::ZERO,
            Some((before, _)) if rate > before => {
                let owed = self.due.since(now);
                let less = u128::from(owed.nanos()) * u128::from(before.bps()) / u128::from(rate.bps());
                let less = Span::from_nanos(u64::try_from(less).unwrap_or(u64::MAX));
                self.due = if owed.is_zero() { self.due } else { now + less };
            }
            Some(_) => {}
        }
        self.paced = Some((rate, burst));
    }

    /// Returns the time at which a packet of `wire` IP bytes may be sent.
    fn ready_at(&self, wire: Bytes) -> Option<Time> {
        let (rate, burst) = self.paced?;
        Some(self.due - (rate.time_for(burst) - rate.time_for(wire)))
    }

    fn sent(&mut self, now: Time, wire: Bytes) {
        if let Some((rate, _)) = self.paced {
            self.due = self.due.max(now) + rate.time_for(wire);
        }
    }
}
