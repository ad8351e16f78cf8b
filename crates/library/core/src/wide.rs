//! Products of two 64-bit numbers, which take up to 128 bits, and their quotients.
//!
//! Two implementations have the same interface and give the same bits. `native` uses the compiler's 128-bit integers and overflow checks:
//! one or two instructions each on a 64-bit processor. `portable` uses 64-bit arithmetic only. BPF needs it, because a BPF processor
//! multiplies and divides 64 bits at most and a BPF program cannot call the compiler's library (`__multi3`, `__udivti3`) for more. The
//! compilation target selects one; tests compare the two. No other module computes in 128 bits or checks a 64-bit product for overflow.
//!
//! A division by zero divides by one, as everywhere in this crate. Results that do not fit saturate.

#[cfg(not(target_arch = "bpf"))]
mod native;
#[cfg(any(target_arch = "bpf", test))]
mod portable;

#[cfg(not(target_arch = "bpf"))]
pub(crate) use native::{Wide, product};
#[cfg(target_arch = "bpf")]
pub(crate) use portable::{Wide, product};

#[cfg(not(target_arch = "bpf"))]
use native::{exact, long_mul_div, long_mul_div_up};
#[cfg(target_arch = "bpf")]
use portable::{exact, long_mul_div, long_mul_div_up};

/// Returns `one × other / divisor`, rounded down.
#[inline]
pub(crate) fn mul_div(one: u64, other: u64, divisor: u64) -> u64 {
    match exact(one, other) {
        Some(product) => product / divisor.max(1),
        None => long_mul_div(one, other, divisor),
    }
}

/// Returns `one × other / divisor`, rounded up.
#[inline]
pub(crate) fn mul_div_up(one: u64, other: u64, divisor: u64) -> u64 {
    match exact(one, other) {
        Some(product) => product.div_ceil(divisor.max(1)),
        None => long_mul_div_up(one, other, divisor),
    }
}

#[cfg(test)]
mod tests {
    use super::{mul_div, mul_div_up, native, portable};
    use proptest::prelude::*;

    const EDGES: [u64; 15] = [
        0,
        1,
        2,
        3,
        0x7FFF_FFFF,
        0x8000_0000,
        0xFFFF_FFFF,
        0x1_0000_0000,
        0x1_0000_0001,
        8_000_000_000,
        0x7FFF_FFFF_FFFF_FFFF,
        0x8000_0000_0000_0000,
        0xFFFF_FFFF_0000_0000,
        u64::MAX - 1,
        u64::MAX,
    ];

    /// Generates numbers of every length in bits, with emphasis on those where digits and carries change.
    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![
            3 => (any::<u64>(), 0..u64::BITS).prop_map(|(bits, shift)| bits >> shift),
            1 => proptest::sample::select(&EDGES),
            1 => (proptest::sample::select(&EDGES), 0..3u64).prop_map(|(edge, off)| edge.wrapping_sub(off)),
        ]
    }

    fn parts(wide: native::Wide) -> (u64, u64) {
        let (high, low) = wide.halves();
        assert_eq!(wide.capped(), if high == 0 { low } else { u64::MAX });
        (high, low)
    }

    fn portable_parts(wide: portable::Wide) -> (u64, u64) {
        let (high, low) = wide.halves();
        assert_eq!(wide.capped(), if high == 0 { low } else { u64::MAX });
        (high, low)
    }

    fn compare(a: u64, b: u64, c: u64, d: u64) {
        assert_eq!(native::product(a, b), portable::product(a, b), "{a} * {b}");
        assert_eq!(native::exact(a, b), portable::exact(a, b), "{a} * {b}");
        assert_eq!(native::long_mul_div(a, b, c), portable::long_mul_div(a, b, c), "{a} * {b} / {c}");
        assert_eq!(native::long_mul_div_up(a, b, c), portable::long_mul_div_up(a, b, c), "{a} * {b} / {c}");
        assert_eq!(mul_div(a, b, c), native::long_mul_div(a, b, c), "{a} * {b} / {c}");
        assert_eq!(mul_div_up(a, b, c), native::long_mul_div_up(a, b, c), "{a} * {b} / {c}");

        let (one, other) = (native::Wide::product(a, b), native::Wide::product(c, d));
        let (same, as_other) = (portable::Wide::product(a, b), portable::Wide::product(c, d));
        assert_eq!(parts(one), portable_parts(same), "{a} * {b}");
        assert_eq!(one.cmp(&other), same.cmp(&as_other), "{a} * {b} against {c} * {d}");
        assert_eq!(parts(one.plus(other)), portable_parts(same.plus(as_other)), "{a} * {b} + {c} * {d}");
        assert_eq!(parts(one.times(c)), portable_parts(same.times(c)), "{a} * {b} * {c}");
        assert_eq!(parts(one.over(c)), portable_parts(same.over(c)), "{a} * {b} / {c}");
        assert_eq!(parts(one.plus(other).over(d)), portable_parts(same.plus(as_other).over(d)));
    }

    #[test]
    fn both_implementations_give_the_same_bits_at_every_edge() {
        for a in EDGES {
            for b in EDGES {
                for c in EDGES {
                    for d in EDGES {
                        compare(a, b, c, d);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn both_implementations_give_the_same_bits(a in number(), b in number(), c in number(), d in number()) {
            compare(a, b, c, d);
        }

        /// The divisor takes the place of a product's factor, so quotients lie next to whole numbers.
        #[test]
        fn quotients_next_to_whole_numbers_are_exact(q in number(), d in number()) {
            let d = d.max(1);
            let whole = portable::Wide::product(q, d);
            prop_assert_eq!(whole.over(d).halves(), (0, q));
            let just_below_the_next = whole.plus(portable::Wide::product(d - 1, 1));
            prop_assert_eq!(just_below_the_next.over(d).halves(), (0, q));
        }
    }

    #[test]
    fn a_quotient_by_zero_is_one_by_one() {
        assert_eq!(mul_div(6, 7, 0), 42);
        assert_eq!(mul_div_up(6, 7, 0), 42);
        assert_eq!(native::Wide::product(6, 7).over(0).capped(), 42);
    }
}
