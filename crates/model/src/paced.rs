//! The packet-train gap model, and Paced Start's search in it: Hu and Steenkiste 2003, sections 3.2.1 and 3.2.3, Figure 5
//! and Table 2.
//!
//! A train is sent with the gap `g_s` over a bottleneck that sends a packet in `g_B`, with a share `α` of its rate
//! available. A train that is faster than `α` arrives with `g_d = F(g_s) = g_B + (1 - α) g_s`; a slower one keeps its
//! gap. The gap to find is `g* = g_B / α`. Paced Start's tree tests gaps and leaves with one of five ([`Exit`]).
//!
//! Table 2 holds to its rounding. Its last column is the quotient `(1/α) / g`, sent over available; the header reads as
//! a product. Cases 1 to 5 follow no single rule: 1 leaves with a gap not tested, 2 with the gap of arrival, 3 and 4
//! with the gap of arrival of the congested train before, 5 with twice the last. One congested train would be enough
//! to solve for α ([`Train::solved_share`]), which the paper does not use.

use super::error::{ModelError, positive, positive_share};

/// A bottleneck, and the share of its capacity that is available.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Train {
    /// The gap at capacity (`g_B`), in any unit. Gaps in the answers have that unit.
    pub capacity_gap: f64,
    /// The share of the capacity that is available (`α`), above 0, at most 1.
    pub available: f64,
}

/// The exit of Paced Start's search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// The exit's case in Table 2, from 1 to 5.
    pub case: u32,
    /// The gap at the exit.
    pub gap: f64,
    /// The rate of that gap over the available rate: `(g_B / α) / gap`.
    pub sent_over_available: f64,
    /// Trains sent, the pair included.
    pub trains: u32,
}

/// A row of Table 2, in units of `g_B`, with its bounds exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The case, from 1 to 5.
    pub case: u32,
    /// The least available share (`α`), inclusive in cases 1 to 4 and exclusive in case 5.
    pub least_available: f64,
    /// The largest available share, exclusive except in case 1, where it is 1.
    pub most_available: f64,
    /// The exit gap as a formula in `α`, with `G = 3 - 2α`.
    pub formula: &'static str,
    /// The exit gap at the largest share.
    pub gap_at_most: f64,
    /// The exit gap at the least share.
    pub gap_at_least: f64,
    /// Sent over available at the largest share.
    pub ratio_at_most: f64,
    /// Sent over available at the least share; `None` at a share of 0, where it has no bound.
    pub ratio_at_least: Option<f64>,
    /// Trains sent, the pair included.
    pub trains: u32,
}

impl Train {
    /// A bottleneck.
    ///
    /// # Errors
    /// A gap that is not above 0, or a share that is not above 0 or is above 1.
    pub fn new(capacity_gap: f64, available: f64) -> Result<Self, ModelError> {
        positive("capacity-gap", capacity_gap)?;
        positive_share("available", available)?;
        Ok(Self { capacity_gap, available })
    }

    /// `g* = g_B / α`: the gap of the available rate, and the fixed point of `F`.
    pub fn ideal_gap(&self) -> f64 {
        self.capacity_gap / self.available
    }

    /// Whether a train with this gap is faster than the available rate.
    pub fn is_congested(&self, source_gap: f64) -> bool {
        source_gap * self.available < self.capacity_gap
    }

    /// Section 3.2.3: the gap with which a train arrives, `F(g_s)` if it is congested.
    pub fn destination_gap(&self, source_gap: f64) -> f64 {
        if self.is_congested(source_gap) {
            self.capacity_gap + (1.0 - self.available) * source_gap
        } else {
            source_gap
        }
    }

    /// The model solved for `α`, from one congested train: `1 - (g_d - g_B) / g_s`.
    pub fn solved_share(&self, source_gap: f64, destination_gap: f64) -> f64 {
        1.0 - (destination_gap - self.capacity_gap) / source_gap
    }

    /// Paced Start's search (Figure 5) over exact gaps.
    pub fn exit(&self) -> Exit {
        let unit = self.capacity_gap;
        // A: rule 1 from the pair.
        let tested = 2.0 * unit;
        let (case, gap, trains) = if self.is_congested(tested) {
            self.slower(self.destination_gap(tested))
        } else {
            // B: rule 2, halfway in rate.
            let tested = halfway(tested, unit);
            if self.is_congested(tested) {
                (2, self.destination_gap(tested), 3)
            } else {
                (1, halfway(tested, unit), 3)
            }
        };
        Exit { case, gap, sent_over_available: self.ideal_gap() / gap, trains }
    }

    /// Nodes C and D, after a congested first train that arrived with `arrived`.
    fn slower(&self, arrived: f64) -> (u32, f64, u32) {
        let tested = 2.0 * arrived;
        if !self.is_congested(tested) {
            return (3, arrived, 3);
        }
        let arrived = self.destination_gap(tested);
        let tested = 2.0 * arrived;
        if !self.is_congested(tested) {
            return (4, arrived, 4);
        }
        (5, 2.0 * self.destination_gap(tested), 4)
    }
}

/// The gap of the rate halfway between those of two gaps.
fn halfway(a: f64, b: f64) -> f64 {
    2.0 / (1.0 / a + 1.0 / b)
}

/// Table 2, with the bounds that follow from the model.
pub fn table_2() -> [Case; 5] {
    let third = share_where(|share| 2.0 * cases::third(share) * share - 1.0);
    let fourth = share_where(|share| 2.0 * cases::fourth(share) * share - 1.0);
    let row = |case, (least, most), formula, gap: fn(f64) -> f64, trains| {
        let ratio = |share: f64| 1.0 / share / gap(share);
        Case {
            case,
            least_available: least,
            most_available: most,
            formula,
            gap_at_most: gap(most),
            gap_at_least: gap(least),
            ratio_at_most: ratio(most),
            ratio_at_least: (least > 0.0).then(|| ratio(least)),
            trains,
        }
    };
    [
        row(1, (0.75, 1.0), "8/7", cases::first, 3),
        row(2, (0.5, 0.75), "F(4/3)", cases::second, 3),
        row(3, (third, 0.5), "G", cases::third, 3),
        row(4, (fourth, third), "G^2", cases::fourth, 4),
        row(5, (0.0, fourth), "2 G^3", cases::fifth, 4),
    ]
}

/// The exit gaps over `g_B`, as functions of `α`; `G^n` is `G` applied `n` times, `G(g) = F(2 g)`, to 1.
mod cases {
    pub(super) fn first(_: f64) -> f64 {
        8.0 / 7.0
    }

    pub(super) fn second(share: f64) -> f64 {
        1.0 + (1.0 - share) * 4.0 / 3.0
    }

    pub(super) fn third(share: f64) -> f64 {
        twice_through(1.0, share)
    }

    pub(super) fn fourth(share: f64) -> f64 {
        twice_through(third(share), share)
    }

    pub(super) fn fifth(share: f64) -> f64 {
        2.0 * twice_through(fourth(share), share)
    }

    /// `F(2 g)`.
    fn twice_through(gap: f64, share: f64) -> f64 {
        1.0 + (1.0 - share) * 2.0 * gap
    }
}

/// Finds, by bisection, the share from 0 to a half at which an increasing function crosses zero.
fn share_where(is_zero: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 0.5);
    // The ends of the interval meet within the precision of a double.
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if is_zero(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
