//! The prober. It sends trains and computes the estimates.

use crate::{Span, Time};

use crate::probe::control::{Control, Faulty, Setting};
use crate::probe::estimate::{Ending, Estimate};
use crate::probe::measured::{Log, Measured, Verdict};
use crate::probe::search::{Search, Sums};

/// Time to wait for a train's packets before the first RTT is known.
const FIRST_PATIENCE: Span = Span::from_secs(1);
/// Minimum time to wait for a train's packets: Linux's minimum RTO.
const MIN_PATIENCE: Span = Span::from_millis(200);
/// Number of consecutive trains with too few gaps after which a probe ends.
const MAX_VOIDS: u16 = 2;

/// A train to send. The first packet is sent at once. Each further packet starts `gap` after the start of the previous one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Train {
    /// The train's number, counted from zero. Two plans with the same number mean the same train, which is sent only once.
    pub number: u16,
    /// Number of packets.
    pub packets: u16,
    /// The gap between the starts of two packets. Zero means back to back.
    pub gap: Span,
}

/// Instructions to the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The train to send, unless it has been sent already. `None` after the end of the probe.
    pub train: Option<Train>,
    /// Time at which the host must report [`Event::Woken`] if no other event occurs before.
    pub wake: Option<Time>,
}

/// Events that the host reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A packet of a train was sent now.
    Sent {
        /// The train's number.
        train: u16,
        /// The packet's index in the train, counted from zero.
        packet: u16,
    },
    /// The host learned that a packet of a train arrived.
    Arrived {
        /// The train's number.
        train: u16,
        /// The packet's index in the train, counted from zero.
        packet: u16,
        /// Arrival time of the packet by the receiver's clock. If the receiver reports no time, the arrival time of the packet's ACK. Only
        /// differences of these times are used.
        at: Time,
    },
    /// The time of [`Plan::wake`] was reached.
    Woken,
}

/// A running probe.
#[derive(Clone, Debug)]
pub struct Prober {
    setting: Setting,
    log: Log,
    train: Train,
    wake: Option<Time>,
    longest_rtt: Option<Span>,
    /// The search for the turning point. `None` until a burst has measured the capacity.
    search: Option<Search>,
    /// The gap at the rate of the capacity, `g_B` of Hu and Steenkiste: the time that the bottleneck needs for one packet.
    capacity: Option<Span>,
    /// Combined result of the trains with the present gap.
    sums: Sums,
    /// Number of trains sent with the present gap.
    repeats: u16,
    voids: u16,
    estimate: Estimate,
}

impl Prober {
    /// Creates a probe that has sent nothing.
    ///
    /// # Errors
    /// If the setting is impossible.
    pub fn new(setting: Setting) -> Result<Self, Faulty> {
        setting.check()?;
        Ok(Self {
            setting,
            log: Log::default(),
            train: Train { number: 0, packets: setting.packets, gap: Span::ZERO },
            wake: None,
            longest_rtt: None,
            search: None,
            capacity: None,
            sums: Sums::default(),
            repeats: 0,
            voids: 0,
            estimate: Estimate::default(),
        })
    }

    /// Returns the setting.
    pub const fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Returns the current instructions to the host.
    pub const fn plan(&self) -> Plan {
        match self.estimate.ending {
            Some(_) => Plan { train: None, wake: None },
            None => Plan { train: Some(self.train), wake: self.wake },
        }
    }

    /// Returns the results so far.
    pub const fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// Processes an event at `now`. Returns the result of a train, if the event ends one.
    pub fn on(&mut self, event: &Event, now: Time) -> Option<Measured> {
        if self.estimate.ending.is_some() {
            return None;
        }
        let is_whole = |log: &Log| log.sent >= self.train.packets;
        match *event {
            Event::Sent { train, packet } if train == self.train.number && packet < self.train.packets => {
                self.log.left(packet, now);
                if is_whole(&self.log) {
                    self.wake = Some(now + self.patience());
                }
                (is_whole(&self.log) && self.log.arrived >= self.train.packets).then(|| self.over())
            }
            Event::Arrived { train, packet, at } if train == self.train.number => {
                let rtt = now.since(self.log.came(packet, at)?);
                self.longest_rtt = self.longest_rtt.max(Some(rtt));
                if is_whole(&self.log) && packet + 1 == self.train.packets {
                    // Missing packets are lost, or were reordered and arrive soon.
                    let soon = now + self.longest_rtt.unwrap_or_default() / 4;
                    self.wake = Time::earlier(self.wake, Some(soon));
                }
                (is_whole(&self.log) && self.log.arrived >= self.train.packets).then(|| self.over())
            }
            Event::Woken if self.wake.is_some_and(|wake| wake <= now) => Some(self.over()),
            _ => None,
        }
    }

    fn patience(&self) -> Span {
        self.longest_rtt.map_or(FIRST_PATIENCE, |rtt| (rtt * 2).max(MIN_PATIENCE))
    }

    /// Judges the current train and starts the next one.
    fn over(&mut self) -> Measured {
        let mut measured = self.measured();
        let estimate = &mut self.estimate;
        estimate.trains = estimate.trains.saturating_add(1);
        estimate.packets += u32::from(measured.packets);
        estimate.lost += u32::from(measured.lost);
        measured.verdict = self.judge(&measured);
        self.voids = if measured.verdict == Verdict::Void { self.voids + 1 } else { 0 };
        self.conclude();
        if self.estimate.ending.is_none() {
            self.train.number = self.train.number.wrapping_add(1);
            self.train.gap = self.search.map_or(Span::ZERO, |search| search.gap);
        }
        self.log = Log::default();
        self.wake = None;
        measured
    }

    fn measured(&self) -> Measured {
        let add = |(gaps, left, came): (u16, Span, Span), (one, other): (Span, Span)| {
            (gaps + 1, left + one, came + other)
        };
        let (gaps, departures, arrivals) = self.log.gaps().fold((0, Span::ZERO, Span::ZERO), add);
        Measured {
            train: self.train.number,
            asked: self.train.gap,
            began: self.log.began(),
            packets: self.log.sent,
            lost: self.log.sent - self.log.arrived,
            gaps,
            departures,
            arrivals,
            verdict: Verdict::Void,
        }
    }

    fn judge(&mut self, measured: &Measured) -> Verdict {
        if measured.gaps < self.train.packets / 2 || measured.gaps == 0 {
            return Verdict::Void;
        }
        if self.search.is_none() {
            return self.judge_burst(measured);
        }
        self.add(measured);
        self.repeats += 1;
        if self.repeats < self.setting.repeats {
            return Verdict::Open;
        }
        let sums = core::mem::take(&mut self.sums);
        self.repeats = 0;
        let equal = self.search.as_mut().is_some_and(|search| search.take(sums));
        if equal { Verdict::Equal } else { Verdict::Congested }
    }

    /// Judges a burst, which measures the capacity. If bursts are repeated, the minimum of their gaps is used.
    fn judge_burst(&mut self, measured: &Measured) -> Verdict {
        let Some(capacity) = self.log.capacity_gap() else { return Verdict::Void };
        let capacity = self.capacity.map_or(capacity, |known| known.min(capacity));
        self.capacity = Some(capacity);
        self.add(measured);
        self.repeats += 1;
        if self.repeats >= self.setting.repeats {
            let burst = core::mem::take(&mut self.sums).arrival();
            self.repeats = 0;
            self.search = Some(Search::after(self.setting, capacity, burst));
        }
        Verdict::Burst
    }

    fn add(&mut self, measured: &Measured) {
        let Some(capacity) = self.capacity else { return };
        let sums = &mut self.sums;
        sums.gaps += u64::from(measured.gaps);
        sums.departures += measured.departures;
        sums.arrivals += measured.arrivals;
        // For IGI, a gap that does not exceed `g_B` or the source gap has not increased, so it shows no other traffic.
        let source = measured.source_gap().unwrap_or_default();
        let min = capacity.max(source) + self.setting.slack;
        let increased = self.log.gaps().map(|(_, came)| came).filter(|came| *came > min);
        sums.increased += increased.fold(Span::ZERO, |sum, came| sum + (came - capacity));
    }

    /// Updates the estimate. Ends the probe if it is complete.
    fn conclude(&mut self) {
        let wire = self.setting.wire;
        let estimate = &mut self.estimate;
        estimate.capacity = self.capacity.and_then(|gap| wire.per(gap));
        if let Some(search) = &self.search {
            let rate = |sums: &Sums, sum: Span| (wire * sums.gaps).per(sum);
            let turning = search.turning.as_ref();
            estimate.source_gap = turning.map(Sums::source);
            estimate.arrival_gap = turning.map(Sums::arrival);
            estimate.ptr = turning.and_then(|sums| rate(sums, sums.arrivals));
            estimate.igi = turning.zip(estimate.capacity).map(|(sums, capacity)| {
                let other = sums.arrivals - sums.increased.min(sums.arrivals);
                capacity.scale(other.nanos(), sums.arrivals.nanos())
            });
            let equal = turning.filter(|sums| search.is_equal(sums));
            estimate.low = equal.and_then(|sums| Some(search.surely(sums, rate(sums, sums.departures)?)));
            let high = search.congested.as_ref().and_then(|sums| rate(sums, sums.departures));
            estimate.high = Some(high).flatten().into_iter().chain(estimate.capacity).min();
        }
        estimate.ending = match &self.search {
            Some(search) if search.done && matches!(self.setting.control, Control::Gap(_)) => {
                Some(Ending::Tested)
            }
            Some(search) if search.done && search.turning.is_some() => Some(Ending::Turned),
            Some(search) if search.done => Some(Ending::Trains),
            _ if self.voids >= MAX_VOIDS => Some(Ending::Void),
            _ if estimate.trains >= self.setting.most_trains => Some(Ending::Trains),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests;
