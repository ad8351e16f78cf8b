//! Probabilities of the simulator from decimal fractions.

use firstflight_sim::Probability;

use crate::quantity::Decimal;

/// The integer that represents a probability of one.
pub(crate) const PARTS: u64 = 1_000_000_000_000_000;

/// Returns the loss probability with a resolution of one part in 10^15.
pub fn probability(loss: Decimal) -> Probability {
    Probability::ratio(loss.times(PARTS).unwrap_or(PARTS), PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::fraction;

    #[test]
    fn a_loss_probability_keeps_its_decimals() {
        let of = |text| probability(fraction(text).expect("a fraction"));
        assert_eq!(of("2%"), Probability::ratio(1, 50));
        assert_eq!(of("0"), Probability::NEVER);
        assert_eq!(of("0.0001%"), Probability::from_ppm(1));
    }
}
