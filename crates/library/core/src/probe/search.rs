//! The search for the turning point: chooses the next gap from the result of the last gap.

use crate::{Rate, Span};

use crate::probe::control::{Control, Setting};

/// The maximum gap. With this limit, products of two gaps stay within 64 bits.
pub(crate) const GREATEST: Span = Span::from_nanos(1 << 31);

/// [`Control::Bracket`] tries no rate below the capacity divided by this number. Trains at lower rates take long, and if other traffic
/// leaves less room than this, there is practically no available bandwidth.
const MIN_SHARE: u64 = 50;

/// Combined result of the trains of one gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sums {
    /// Number of counted gaps.
    pub(crate) gaps: u64,
    /// Sum of the counted gaps at the sender.
    pub(crate) departures: Span,
    /// Sum of the counted gaps at the receiver.
    pub(crate) arrivals: Span,
    /// Sum of `gap - g_B` over the increased gaps.
    pub(crate) increased: Span,
}

impl Sums {
    pub(crate) fn source(&self) -> Span {
        self.departures / self.gaps
    }

    pub(crate) fn arrival(&self) -> Span {
        self.arrivals / self.gaps
    }

    fn grown(&self) -> Span {
        self.arrivals - self.departures
    }
}

/// State of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    setting: Setting,
    /// The gap `g_B` at the rate of the capacity.
    capacity: Span,
    /// Result of the largest congested gap.
    pub(crate) congested: Option<Sums>,
    /// Result at the turning point so far. It is the smallest equal gap or, with [`Control::Program`], the first of consecutive equal gaps.
    pub(crate) turning: Option<Sums>,
    /// Number of consecutive equal gaps.
    equal: u16,
    /// The gap of the next train.
    pub(crate) gap: Span,
    /// The largest gap to try.
    greatest: Span,
    /// Step by which [`Control::Paper`] and [`Control::Program`] increase the gap.
    step: Span,
    pub(crate) done: bool,
}

impl Search {
    /// Creates the search after a burst. The burst measured the gap `g_B` (`capacity`), and its mean gap at the receiver is `burst`.
    pub(crate) fn after(setting: Setting, capacity: Span, burst: Span) -> Self {
        let (gap, step) = match setting.control {
            // The first rate is half of the capacity, as in Paced Start.
            Control::Bracket => (capacity * 2, Span::ZERO),
            Control::Paper => (capacity / 2, capacity / 8),
            Control::Program => (burst.scale(3, 4), burst / 4),
            Control::Gap(gap) => (gap, Span::ZERO),
        };
        // `g_B` can be so short that the step is zero. The search would then not advance.
        let step = step.max(Span::from_nanos(1));
        let greatest = match setting.control {
            Control::Bracket => (capacity * MIN_SHARE).min(GREATEST),
            _ => GREATEST,
        };
        let gap = gap.min(greatest);
        Self { greatest, setting, capacity, congested: None, turning: None, equal: 0, gap, step, done: false }
    }

    /// Checks whether the gaps at the receiver equal those at the sender, within the slack or the tolerance.
    pub(crate) fn is_equal(&self, sums: &Sums) -> bool {
        let grown = sums.grown();
        grown <= self.setting.slack * sums.gaps || grown < self.tolerated(sums)
    }

    /// Returns the tolerance for the growth of all gaps together.
    fn tolerated(&self, sums: &Sums) -> Span {
        let of = match self.setting.control {
            Control::Paper => sums.arrivals.max(sums.departures),
            Control::Program => Span::ZERO,
            Control::Bracket | Control::Gap(_) => self.capacity * sums.gaps,
        };
        of.scale(u64::from(self.setting.tolerance_ppm), 1_000_000)
    }

    /// Returns the rate that is certainly available after an equal train sent at `rate`, whose gaps may have grown by the whole tolerance.
    /// If gaps grow by a share of `g_B`, the sending rate exceeds the available bandwidth by this share of the capacity.
    pub(crate) fn surely(&self, sums: &Sums, rate: Rate) -> Rate {
        let grown = self.tolerated(sums).max(self.setting.slack * sums.gaps);
        let capacity = self.capacity * sums.gaps;
        rate.scale((capacity - grown).nanos(), capacity.nanos())
    }

    /// Processes the result of a gap, and chooses the next gap or ends the search. Returns whether the gap stayed equal.
    pub(crate) fn take(&mut self, sums: Sums) -> bool {
        let equal = self.is_equal(&sums);
        let source = sums.source();
        match self.setting.control {
            Control::Gap(_) => {
                self.turning = Some(sums);
                self.congested = (!equal).then_some(sums);
                self.done = true;
            }
            Control::Paper => {
                self.keep(sums, equal);
                self.done = equal;
                self.gap += self.step;
            }
            Control::Program => {
                if equal {
                    self.equal += 1;
                    self.turning = self.turning.or(Some(sums));
                } else {
                    (self.turning, self.equal) = (None, 0);
                    self.congested = Some(sums);
                }
                self.done = self.equal >= 2;
                self.gap += self.step;
            }
            Control::Bracket => {
                self.equal = if equal { self.equal.saturating_add(1) } else { 0 };
                self.keep(sums, equal);
                self.narrow(source);
            }
        }
        // The largest gap is tried only once.
        self.done |= source >= self.greatest;
        self.gap = self.gap.min(self.greatest);
        equal
    }

    /// Updates the largest congested gap and the smallest equal gap, which bound the turning point.
    fn keep(&mut self, sums: Sums, equal: bool) {
        if !equal {
            if self.congested.is_none_or(|known| known.source() < sums.source()) {
                self.congested = Some(sums);
            }
            // If a longer gap is congested, the earlier equal gap was chance.
            self.turning = self.turning.filter(|turning| turning.source() > sums.source());
        } else if self.turning.is_none_or(|known| sums.source() < known.source()) {
            self.turning = Some(sums);
        }
    }

    /// Chooses a gap between the two bounds. Ends the search if the bounds differ by less than the tolerance.
    fn narrow(&mut self, tried: Span) {
        let below = self.congested.map_or(self.capacity, |sums| sums.source()).max(self.capacity);
        let wider = |gap: Span, times: u64| {
            gap + gap.scale(u64::from(self.setting.tolerance_ppm).saturating_mul(times), 1_000_000)
        };
        let predicted = self.congested.and_then(|sums| self.turning_by(&sums));
        let Some(above) = self.turning.map(|sums| sums.source()) else {
            // Other traffic fills the link. In this case Paced Start doubles the gap at the receiver.
            let doubled = self.congested.map_or(tried, |sums| sums.arrival()) * 2;
            self.gap = predicted.unwrap_or(doubled).clamp(wider(tried, 1), (tried * 8).max(doubled));
            return;
        };
        if wider(below, 1) >= above {
            self.done = true;
            return;
        }
        // Tries a gap that is smaller by one tolerance, then by two, four and so on, because most predictions are close.
        let nearer = |times: u64| {
            above.scale(1_000_000, 1_000_000 + u64::from(self.setting.tolerance_ppm).saturating_mul(times))
        };
        let steps = 1 << u32::from(self.equal.saturating_sub(1)).min(6);
        let gap = match (predicted, self.congested) {
            (Some(predicted), _) if wider(predicted, 1) < above => predicted,
            (_, Some(_)) if self.equal > 0 => nearer(steps),
            // The gap of the mean of the two rates.
            _ => (below * 2).scale(above.nanos(), (below + above).nanos()),
        };
        let middle = (below * 2).scale(above.nanos(), (below + above).nanos());
        self.gap = if gap > below && gap < above { gap } else { middle };
    }

    /// Returns the turning point `g_B / α`, with α from `g_d = g_B + (1 - α) g_s`. Returns `None` if other traffic fills the link.
    fn turning_by(&self, sums: &Sums) -> Option<Span> {
        let (source, arrival) = (sums.source(), sums.arrival());
        let left = (source + self.capacity) - arrival;
        (!left.is_zero()).then(|| self.capacity.scale(source.nanos(), left.nanos()))
    }
}
