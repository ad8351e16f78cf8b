//! The rate available to the flow over time, and the bytes that such a rate carries.

/// Steps of a rate: (from when in nanoseconds, IP bits per second), in order of time.
pub type Steps = [(u64, u64)];

/// The rate at `at`. Before the first step it is the first step's rate; it is `None` without any step.
///
/// `available(t)` is the least over the links of (rate − offered rate of unresponsive traffic) / (1 + responsive
/// cross flows active at t), as in docs/exports.md.
pub fn rate_at(steps: &Steps, at: u64) -> Option<u64> {
    let begun = steps.iter().rev().find(|(from, _)| *from <= at);
    begun.or(steps.first()).map(|(_, bps)| *bps)
}

/// Bits that the rate carries from `from` to `to`, times 10^9.
pub fn carried(steps: &Steps, from: u64, to: u64) -> u128 {
    pieces(steps, from)
        .map(|(start, end, bps)| {
            let span = to.min(end).saturating_sub(start.min(to));
            u128::from(span) * u128::from(bps)
        })
        .sum()
}

/// The first instant by which the rate carries `bytes` from `from` on, rounded up to a whole nanosecond; `None` if it never
/// does.
pub fn carried_by(steps: &Steps, from: u64, bytes: u64) -> Option<u64> {
    let mut left = u128::from(bytes) * 8_000_000_000;
    for (start, end, bps) in pieces(steps, from) {
        let here = u128::from(end - start) * u128::from(bps);
        if here >= left {
            let span = left.div_ceil(u128::from(bps.max(1)));
            return start.checked_add(u64::try_from(span).ok()?);
        }
        left -= here;
    }
    None
}

/// The steps from `from` on as (start, end, rate).
fn pieces(steps: &Steps, from: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([u64::MAX]);
    steps.iter().zip(ends).enumerate().filter_map(move |(index, (&(at, bps), end))| {
        // The first step's rate also holds before it.
        let start = if index == 0 { from } else { at.max(from) };
        (start < end).then_some((start, end, bps))
    })
}

/// Adds a step to `value` at `at`, unless the value is already `value`.
pub(crate) fn step<T: PartialEq>(steps: &mut Vec<(u64, T)>, at: u64, value: T) {
    match steps.last_mut() {
        Some(last) if last.0 == at => last.1 = value,
        Some(last) if last.1 == value => {}
        _ => steps.push((at, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Gbit/s is a byte a nanosecond.
    const STEPS: [(u64, u64); 3] = [(0, 8_000_000_000), (100, 4_000_000_000), (200, 0)];

    #[test]
    fn a_rate_holds_from_its_step_to_the_next() {
        assert_eq!(rate_at(&STEPS, 99), Some(8_000_000_000));
        assert_eq!(rate_at(&STEPS, 100), Some(4_000_000_000));
        assert_eq!(rate_at(&[(50, 7)], 10), Some(7));
        assert_eq!(rate_at(&[], 10), None);
    }

    #[test]
    fn what_is_carried_is_the_integral() {
        let bytes = |from, to| carried(&STEPS, from, to) / 8_000_000_000;
        assert_eq!(bytes(0, 100), 100);
        assert_eq!(bytes(50, 150), 75);
        assert_eq!(bytes(150, 1_000_000), 25);
        assert_eq!(bytes(300, 200), 0);
    }

    #[test]
    fn carrying_takes_until_the_integral_reaches_the_size() {
        assert_eq!(carried_by(&STEPS, 0, 100), Some(100));
        assert_eq!(carried_by(&STEPS, 50, 75), Some(150));
        assert_eq!(carried_by(&STEPS, 150, 25), Some(200));
        assert_eq!(carried_by(&STEPS, 150, 26), None);
        // Rounded up: a third of a nanosecond is one.
        assert_eq!(carried_by(&[(0, 24_000_000_000)], 10, 1), Some(11));
    }
}
