//! The search for the turning point: from what a gap showed to the next gap.

use firstflight::{Rate, Span};

use crate::control::{Control, Setting};

/// The greatest gap. Products of two gaps stay within 64 bits.
pub(crate) const GREATEST: Span = Span::from_nanos(1 << 31);

/// The least rate that [`Control::Bracket`] tries is this part of the capacity. Trains of less take long, and other traffic that
/// leaves so little room leaves none.
const LEAST_SHARE: u64 = 50;

/// What the trains of one gap showed together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sums {
    /// Counted gaps.
    pub(crate) gaps: u64,
    /// Their sum at departure.
    pub(crate) departures: Span,
    /// Their sum at arrival.
    pub(crate) arrivals: Span,
    /// Of the increased gaps, the sum of what they exceed `g_B` by.
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

/// Where a search is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    setting: Setting,
    /// `g_B`.
    capacity: Span,
    /// The greatest gap that was congested, with what it showed.
    pub(crate) congested: Option<Sums>,
    /// The turning point so far: the least gap that stayed equal, or of the program's control the first of a row.
    pub(crate) turning: Option<Sums>,
    /// Gaps in a row that stayed equal.
    equal: u16,
    /// The gap of the next train.
    pub(crate) gap: Span,
    /// The greatest gap that is tried.
    greatest: Span,
    /// By what a gap of the program's control grows.
    step: Span,
    pub(crate) done: bool,
}

impl Search {
    /// The search after a burst, which showed `g_B` and arrived with the mean gap `burst`.
    pub(crate) fn after(setting: Setting, capacity: Span, burst: Span) -> Self {
        let (gap, step) = match setting.control {
            // Half of the capacity, as Paced Start begins.
            Control::Bracket => (capacity * 2, Span::ZERO),
            Control::Paper => (capacity / 2, capacity / 8),
            Control::Program => (burst.scale(3, 4), burst / 4),
            Control::Gap(gap) => (gap, Span::ZERO),
        };
        // A gap of the capacity that is too short to grow by would keep the search where it is.
        let step = step.max(Span::from_nanos(1));
        let greatest = match setting.control {
            Control::Bracket => (capacity * LEAST_SHARE).min(GREATEST),
            _ => GREATEST,
        };
        let gap = gap.min(greatest);
        Self { greatest, setting, capacity, congested: None, turning: None, equal: 0, gap, step, done: false }
    }

    /// Whether a gap stayed as it was.
    pub(crate) fn is_equal(&self, sums: &Sums) -> bool {
        let grown = sums.grown();
        grown <= self.setting.slack * sums.gaps || grown < self.tolerated(sums)
    }

    /// What the gaps together may grow by within the tolerance.
    fn tolerated(&self, sums: &Sums) -> Span {
        let of = match self.setting.control {
            Control::Paper => sums.arrivals.max(sums.departures),
            Control::Program => Span::ZERO,
            Control::Bracket | Control::Gap(_) => self.capacity * sums.gaps,
        };
        of.scale(u64::from(self.setting.tolerance_ppm), 1_000_000)
    }

    /// What is left of a rate that was sent and arrived unchanged, if its gaps grew by all that is tolerated: a gap that
    /// grows by a share of `g_B` is of a rate that exceeds the bandwidth available by that share.
    pub(crate) fn surely(&self, sums: &Sums, rate: Rate) -> Rate {
        let grown = self.tolerated(sums).max(self.setting.slack * sums.gaps);
        let capacity = self.capacity * sums.gaps;
        rate.scale((capacity - grown).nanos(), capacity.nanos())
    }

    /// Takes what a gap showed, and chooses the next or is done. Gives whether the gap stayed equal.
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
        // The greatest gap is tried, once.
        self.done |= source >= self.greatest;
        self.gap = self.gap.min(self.greatest);
        equal
    }

    /// Keeps the bounds of the turning point.
    fn keep(&mut self, sums: Sums, equal: bool) {
        if !equal {
            if self.congested.is_none_or(|known| known.source() < sums.source()) {
                self.congested = Some(sums);
            }
            // A longer gap is congested: what stayed equal before was chance.
            self.turning = self.turning.filter(|turning| turning.source() > sums.source());
        } else if self.turning.is_none_or(|known| sums.source() < known.source()) {
            self.turning = Some(sums);
        }
    }

    /// Chooses a gap between the bounds, unless they are within the tolerance of each other.
    fn narrow(&mut self, tried: Span) {
        let below = self.congested.map_or(self.capacity, |sums| sums.source()).max(self.capacity);
        let wider = |gap: Span, times: u64| {
            gap + gap.scale(u64::from(self.setting.tolerance_ppm).saturating_mul(times), 1_000_000)
        };
        let predicted = self.congested.and_then(|sums| self.turning_by(&sums));
        let Some(above) = self.turning.map(|sums| sums.source()) else {
            // Cross traffic that fills the link: Paced Start doubles the gap of arrival.
            let doubled = self.congested.map_or(tried, |sums| sums.arrival()) * 2;
            self.gap = predicted.unwrap_or(doubled).clamp(wider(tried, 1), (tried * 8).max(doubled));
            return;
        };
        if wider(below, 1) >= above {
            self.done = true;
            return;
        }
        // One tolerance less, then two, four …: most predictions are near.
        let nearer = |times: u64| {
            above.scale(1_000_000, 1_000_000 + u64::from(self.setting.tolerance_ppm).saturating_mul(times))
        };
        let steps = 1 << u32::from(self.equal.saturating_sub(1)).min(6);
        let gap = match (predicted, self.congested) {
            (Some(predicted), _) if wider(predicted, 1) < above => predicted,
            (_, Some(_)) if self.equal > 0 => nearer(steps),
            // The middle of the two rates.
            _ => (below * 2).scale(above.nanos(), (below + above).nanos()),
        };
        let middle = (below * 2).scale(above.nanos(), (below + above).nanos());
        self.gap = if gap > below && gap < above { gap } else { middle };
    }

    /// The turning point by `g_d = g_B + (1 - α) g_s`: `g_B / α`. `None` if other traffic fills the link.
    fn turning_by(&self, sums: &Sums) -> Option<Span> {
        let (source, arrival) = (sums.source(), sums.arrival());
        let left = (source + self.capacity) - arrival;
        (!left.is_zero()).then(|| self.capacity.scale(source.nanos(), left.nanos()))
    }
}
