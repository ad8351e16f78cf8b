//! Bursty loss: the Gilbert-Elliott model with the parameters and the order of steps of Linux's netem.

use crate::packet::LinkId;
use crate::quantity::Probability;
use crate::random::{Purpose, Stream};

/// Loss by a chain of two states, good and bad, which begins in the good state. The chain belongs to the link: a burst loses consecutive
/// packets of any flow.
///
/// The order of steps is that of `loss_gilb_ell` in Linux's `net/sched/sch_netem.c`: for each packet a first draw decides whether the chain
/// changes its state, and a second one decides by the state before that change whether the packet is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossBursts {
    /// Probability of a change from good to bad, per packet: netem's `p`.
    pub to_bad: Probability,
    /// Probability of a change from bad to good, per packet: netem's `r`.
    pub to_good: Probability,
    /// Probability of a loss in the bad state: netem's `1-h`.
    pub in_bad: Probability,
    /// Probability of a loss in the good state: netem's `1-k`.
    pub in_good: Probability,
}

impl LossBursts {
    /// Returns whether no packet is ever lost.
    pub(crate) const fn is_never(self) -> bool {
        self.in_good.is_never() && (self.in_bad.is_never() || self.to_bad.is_never())
    }
}

/// The chain of a link at work.
#[derive(Clone, Debug)]
pub(crate) struct BurstChain {
    bursts: LossBursts,
    is_bad: bool,
    stream: Stream,
}

impl BurstChain {
    /// Returns the chain of a link in the good state.
    pub(crate) fn new(bursts: LossBursts, id: LinkId, seed: u64) -> Self {
        Self { bursts, is_bad: false, stream: Stream::new(seed, Purpose::LossBursts, id.0, 0) }
    }

    /// Draws whether the next packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        let LossBursts { to_bad, to_good, in_bad, in_good } = self.bursts;
        let (leaves, loss) = if self.is_bad { (to_good, in_bad) } else { (to_bad, in_good) };
        self.is_bad ^= leaves.covers(self.stream.bits());
        loss.covers(self.stream.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn percent(share: f64) -> Probability {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a million")]
        Probability::from_ppm((share * 1e6).round() as u32)
    }

    fn bursts([to_bad, to_good, in_bad, in_good]: [f64; 4]) -> LossBursts {
        LossBursts {
            to_bad: percent(to_bad),
            to_good: percent(to_good),
            in_bad: percent(in_bad),
            in_good: percent(in_good),
        }
    }

    /// Returns the share of packets that the model loses in the long run, and the mean number of consecutive losses.
    fn formula([p, r, bad, good]: [f64; 4]) -> (f64, f64) {
        let (in_bad, in_good) = (p / (p + r), r / (p + r));
        let loss = in_bad * bad + in_good * good;
        let next = |stay: f64, own: f64, other: f64| stay * own + (1.0 - stay) * other;
        let two = in_bad * bad * next(1.0 - r, bad, good) + in_good * good * next(1.0 - p, good, bad);
        (loss, loss / (loss - two))
    }

    /// Returns the share of `packets` packets that a chain loses, and the mean number of consecutive losses.
    fn measured(bursts: LossBursts, packets: u32, seed: u64) -> (f64, f64) {
        let mut chain = BurstChain::new(bursts, LinkId(0), seed);
        let (mut lost, mut begun, mut before) = (0u32, 0u32, false);
        for _ in 0..packets {
            let now = chain.loses();
            lost += u32::from(now);
            begun += u32::from(now && !before);
            before = now;
        }
        (f64::from(lost) / f64::from(packets), f64::from(lost) / f64::from(begun.max(1)))
    }

    #[test]
    fn of_a_million_packets_the_chain_loses_what_the_formula_says_in_bursts_of_its_length() {
        for shares in
            [[0.05, 0.5, 1.0, 0.0], [0.1, 0.2, 1.0, 0.0], [0.2, 0.4, 0.7, 0.05], [0.08, 0.6, 0.9, 0.1]]
        {
            let (loss, length) = formula(shares);
            let (share, mean) = measured(bursts(shares), 1_000_000, 1);
            let off = [share / loss - 1.0, mean / length - 1.0];
            assert!(off.iter().all(|off| off.abs() < 0.01), "{shares:?}: {off:?}");
        }
    }

    #[test]
    fn the_formula_of_the_simple_gilbert_model_has_bursts_of_one_over_r() {
        let (loss, length) = formula([0.01, 0.25, 1.0, 0.0]);
        assert!((loss - 0.01 / 0.26).abs() < 1e-12 && (length - 4.0).abs() < 1e-12);
    }

    #[test]
    fn the_state_before_the_change_decides_on_the_loss() {
        // The chain changes its state with each packet. The first packet is of the good state.
        let mut chain = BurstChain::new(bursts([1.0, 1.0, 1.0, 0.0]), LinkId(0), 7);
        let lost: Vec<bool> = (0..6).map(|_| chain.loses()).collect();
        assert_eq!(lost, [false, true, false, true, false, true]);
    }

    #[test]
    fn a_model_without_loss_in_any_reachable_state_loses_nothing() {
        for (shares, never) in [
            ([0.0, 0.5, 1.0, 0.0], true),
            ([0.5, 0.5, 0.0, 0.0], true),
            ([0.5, 0.5, 0.0, 0.1], false),
            ([0.5, 0.5, 0.1, 0.0], false),
        ] {
            assert_eq!(bursts(shares).is_never(), never, "{shares:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn loss_and_burst_length_are_near_the_formula_for_any_parameters(
            p in 0.05f64..0.9,
            r in 0.1f64..0.9,
            bad in 0.3f64..1.0,
            good in 0.0f64..0.2,
            seed in 0u64..1_000,
        ) {
            let shares = [p, r, bad, good].map(|share| (share * 1e6).round() / 1e6);
            let (loss, length) = formula(shares);
            let (lost, mean) = measured(bursts(shares), 200_000, seed);
            prop_assert!((lost / loss - 1.0).abs() < 0.05 && (mean / length - 1.0).abs() < 0.05, "{shares:?}");
        }
    }
}
