//! The search for the gap (Paced Start, section 3.2.1 and Figure 5): a binary search over the rate of a train,
//! written as the tree that the paper unrolls.
//!
//! With `g_B` = 1 the tested gaps are, for F(g) = 1 + (1 - α) g and G(g) = F(2g):
//!
//! | node | tested gap | not congested        | congested              |
//! |------|------------|----------------------|------------------------|
//! | A    | 2          | go to B              | go to C, `g_d` = G       |
//! | B    | 4/3        | leave with 8/7       | leave with `g_d` = F(4/3)|
//! | C    | 2 G        | leave with G         | go to D, `g_d` = G²      |
//! | D    | 2 G²       | leave with G²        | leave with 2 `g_d` = 2 G³|

/// A gap in nanoseconds. 32 bits hold up to 4.29 s, a packet of 1500 bytes at 2.8 kbit/s; longer gaps saturate.
pub(super) type Gap = u32;

/// The node of the tree that the search is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Node {
    A,
    B,
    C,
    D,
}

/// The branch of the tree after a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Branch {
    /// Test this gap at this node.
    Test(Node, Gap),
    /// The gap is found.
    Leave(Gap),
}

/// The measurement of a train.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Measured {
    /// The mean gap between the train's transmissions (`g_s`).
    pub(super) source: Gap,
    /// The mean gap of the train's ACKs (`g_d`).
    pub(super) destination: Gap,
    /// Whether the train was faster than the bandwidth available.
    pub(super) congested: bool,
}

impl Node {
    /// Returns the branch after a train with the intended gap `tested`; `capacity` is `g_B`.
    pub(super) fn branch(self, tested: Gap, capacity: Gap, train: Measured) -> Branch {
        let Measured { source, destination, congested } = train;
        let twice = destination.saturating_mul(2);
        match (self, congested) {
            // Section 3.2.1, rule 1: 2 g_d rather than 2 g_s uses the newest and longest train.
            (Self::A, true) => Branch::Test(Self::C, twice),
            (Self::C, true) => Branch::Test(Self::D, twice),
            // Rule 2: halfway in rate to the upper bound.
            (Self::A, false) => Branch::Test(Self::B, halfway(source, capacity)),
            (Self::B, false) => Branch::Leave(halfway(source, capacity)),
            (Self::B, true) => Branch::Leave(destination),
            // Table 2, cases 3 and 4: the arrival gap of the previous, congested train; this train tested its double.
            (Self::C | Self::D, false) => Branch::Leave(tested / 2),
            (Self::D, true) => Branch::Leave(twice),
        }
    }
}

/// Returns the gap of the rate halfway between the rates of two gaps: 1/g = (1/a + 1/b) / 2.
fn halfway(a: Gap, b: Gap) -> Gap {
    let (product, sum) = (u64::from(a) * u64::from(b), u64::from(a) + u64::from(b));
    // Twice the product may not fit 64 bits; twice the quotient and twice the remainder do.
    let (quotient, rest) = (product / sum.max(1), product % sum.max(1));
    let gap = 2 * quotient + (2 * rest + sum / 2) / sum.max(1);
    Gap::try_from(gap).unwrap_or(Gap::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn halfway_is_that_of_exact_arithmetic(a: Gap, b: Gap, shift in 0..Gap::BITS) {
            let (a, wide_b) = (a >> shift, u128::from(b));
            let (product, sum) = (u128::from(a) * wide_b, u128::from(a) + wide_b);
            let exact = (2 * product + sum / 2) / sum.max(1);
            prop_assert_eq!(u128::from(halfway(a, b)), exact.min(u128::from(Gap::MAX)));
        }
    }

    const UNIT: Gap = 80_000;

    /// Walks the tree under the paper's model, section 3.2.3: a train is congested if its gap is below `g_B` / α, and
    /// then arrives with `g_d` = `g_B` + (1 - α) `g_s`. α is in thousandths. Returns the gap over `g_B`, and the
    /// number of trains.
    fn leave(alpha: u32) -> (f64, u32) {
        let (mut node, mut gap) = (Node::A, 2 * UNIT);
        for trains in 1..=3 {
            let congested = gap * alpha < UNIT * 1_000;
            let arrives = UNIT + u32::try_from(u64::from(gap) * u64::from(1_000 - alpha) / 1_000).unwrap();
            let destination = if congested { arrives } else { gap };
            match node.branch(gap, UNIT, Measured { source: gap, destination, congested }) {
                Branch::Test(next, tested) => (node, gap) = (next, tested),
                Branch::Leave(found) => return (f64::from(found) / f64::from(UNIT), trains),
            }
        }
        unreachable!("the tree has three levels");
    }

    fn assert_leaves(alpha: u32, expected: f64, trains: u32) {
        let (found, took) = leave(alpha);
        assert!((found - expected).abs() < 1e-3, "α = {alpha}/1000: {found}, not {expected}");
        assert_eq!(took, trains, "α = {alpha}/1000");
    }

    #[test]
    fn table_2_case_1_leaves_with_eight_sevenths() {
        assert_leaves(990, 8.0 / 7.0, 2);
        assert_leaves(751, 8.0 / 7.0, 2);
    }

    #[test]
    fn table_2_case_2_leaves_with_the_gap_of_arrival() {
        assert_leaves(749, 7.0 / 3.0 - 4.0 * 0.749 / 3.0, 2);
        assert_leaves(600, 1.5333, 2);
        assert_leaves(501, 7.0 / 3.0 - 4.0 * 0.501 / 3.0, 2);
    }

    #[test]
    fn table_2_case_3_exits_with_the_previous_congested_train_gap() {
        assert_leaves(499, 3.0 - 2.0 * 0.499, 2);
        assert_leaves(300, 2.4, 2);
        assert_leaves(192, 3.0 - 2.0 * 0.192, 2);
    }

    #[test]
    fn table_2_case_4_needs_one_train_more() {
        let square = |a: f64| 1.0 + 2.0 * (1.0 - a) * (3.0 - 2.0 * a);
        assert_leaves(190, square(0.190), 3);
        assert_leaves(100, 6.04, 3);
        assert_leaves(81, square(0.081), 3);
    }

    #[test]
    fn table_2_case_5_leaves_with_twice_the_last_gap_of_arrival() {
        let cube = |a: f64| 1.0 + 2.0 * (1.0 - a) * (1.0 + 2.0 * (1.0 - a) * (3.0 - 2.0 * a));
        assert_leaves(80, 2.0 * cube(0.080), 3);
        assert_leaves(40, 27.369, 3);
    }

    #[test]
    fn halfway_is_in_rate_not_in_gap() {
        assert_eq!(halfway(2 * UNIT, UNIT), 106_667);
        assert_eq!(halfway(Gap::MAX, Gap::MAX), Gap::MAX);
        assert_eq!(halfway(0, 0), 0);
    }
}
