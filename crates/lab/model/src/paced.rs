//! The packet-train gap model, and Paced Start's search in this model: Hu and Steenkiste 2003, sections 3.2.1 and 3.2.3, Figure 5 and Table
//! 2.
//!
//! A train is sent with the gap `g_s` over a bottleneck that sends a packet in `g_B` and has a share `α` of its rate available. A train
//! that is faster than the available rate arrives with the gap `g_d = F(g_s) = g_B + (1 - α) g_s`. A slower train keeps its gap. The search
//! looks for the gap `g* = g_B / α`. Paced Start's tree tests gaps and exits with one of five ([`Exit`]).
//!
//! Table 2 is correct to its rounding. Its last column is the quotient `(1/α) / g`, the sent rate over the available rate, although the
//! header looks like a product. Cases 1 to 5 follow no single rule. Case 1 exits with a gap that was not tested, case 2 with the arrival
//! gap, cases 3 and 4 with the arrival gap of the previous, congested train, and case 5 with twice the last arrival gap. One congested
//! train would be enough to solve for α ([`Train::solved_share`]), but the paper does not use this.

use super::error::{ModelError, positive, positive_share};

/// A bottleneck that a train crosses, and the share of its capacity that is available.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Train {
    /// The gap at capacity (`g_B`), in any unit. The gaps in results have the same unit.
    pub capacity_gap: f64,
    /// The share of the capacity that is available (`α`), above 0, at most 1.
    pub available: f64,
}

/// The result of Paced Start's search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// The exit's case in Table 2, from 1 to 5.
    pub case: u32,
    /// The gap at the exit.
    pub gap: f64,
    /// The rate of the exit gap divided by the available rate: `(g_B / α) / gap`.
    pub sent_over_available: f64,
    /// The number of trains sent, including the packet pair.
    pub trains: u32,
}

/// A row of Table 2, in units of `g_B`, with exact bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The case, from 1 to 5.
    pub case: u32,
    /// The minimum available share (`α`). The bound is inclusive in cases 1 to 4 and exclusive in case 5.
    pub least_available: f64,
    /// The maximum available share. The bound is exclusive except in case 1, where it is 1.
    pub most_available: f64,
    /// The exit gap as a formula in `α`, with `G = 3 - 2α`.
    pub formula: &'static str,
    /// The exit gap at the maximum share.
    pub gap_at_most: f64,
    /// The exit gap at the minimum share.
    pub gap_at_least: f64,
    /// The sent rate over the available rate at the maximum share.
    pub ratio_at_most: f64,
    /// The sent rate over the available rate at the minimum share; `None` if that share is 0, where the ratio has no bound.
    pub ratio_at_least: Option<f64>,
    /// The number of trains sent, including the packet pair.
    pub trains: u32,
}

impl Train {
    /// Makes a bottleneck.
    ///
    /// # Errors
    /// A gap that is not above 0, or a share that is not above 0 or is above 1.
    pub fn new(capacity_gap: f64, available: f64) -> Result<Self, ModelError> {
        positive("capacity-gap", capacity_gap)?;
        positive_share("available", available)?;
        Ok(Self { capacity_gap, available })
    }

    /// Returns `g* = g_B / α`, the gap of the available rate and the fixed point of `F`.
    pub fn ideal_gap(&self) -> f64 {
        self.capacity_gap / self.available
    }

    /// Returns whether a train with this gap is faster than the available rate.
    pub fn is_congested(&self, source_gap: f64) -> bool {
        source_gap * self.available < self.capacity_gap
    }

    /// Returns the gap with which a train arrives: `F(g_s)` if the train is congested, otherwise `g_s` (section 3.2.3).
    pub fn destination_gap(&self, source_gap: f64) -> f64 {
        if self.is_congested(source_gap) {
            self.capacity_gap + (1.0 - self.available) * source_gap
        } else {
            source_gap
        }
    }

    /// Returns `α` as one congested train shows it: `1 - (g_d - g_B) / g_s`.
    pub fn solved_share(&self, source_gap: f64, destination_gap: f64) -> f64 {
        1.0 - (destination_gap - self.capacity_gap) / source_gap
    }

    /// Returns the result of Paced Start's search (Figure 5) with exact gaps.
    pub fn exit(&self) -> Exit {
        let unit = self.capacity_gap;
        // Node A of the tree applies rule 1 after the packet pair.
        let tested = 2.0 * unit;
        let (case, gap, trains) = if self.is_congested(tested) {
            self.slower(self.destination_gap(tested))
        } else {
            // Node B applies rule 2, halfway in rate.
            let tested = halfway(tested, unit);
            if self.is_congested(tested) {
                (2, self.destination_gap(tested), 3)
            } else {
                (1, halfway(tested, unit), 3)
            }
        };
        Exit { case, gap, sent_over_available: self.ideal_gap() / gap, trains }
    }

    /// Evaluates nodes C and D of the tree, after a congested first train that arrived with the gap `arrived`. Returns case, gap and
    /// trains.
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

/// Returns the gap of the rate halfway between the rates of two gaps.
fn halfway(a: f64, b: f64) -> f64 {
    2.0 / (1.0 / a + 1.0 / b)
}

/// Returns Table 2, with the bounds that follow from the model.
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

/// The exit gaps in units of `g_B`, as functions of `α`. `G^n` is `G(g) = F(2 g)`, applied `n` times to 1.
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

    /// Returns `F(2 g)` for this gap.
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
