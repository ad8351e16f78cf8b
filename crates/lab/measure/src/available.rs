//! The rate available to the flow over time, and the bytes that this rate carries.

/// Steps of a rate, in order of time. Each step has its start in nanoseconds and a rate in IP bits per second.
pub type Steps = [(u64, u64)];

/// Returns the rate at `at`. Before the first step this is the first step's rate. `None` if there are no steps.
///
/// `available(t)` is the minimum over the links of (rate − offered rate of unresponsive traffic) / (1 + responsive cross flows active at
/// t), as in docs/reference/exports.md.
pub fn rate_at(steps: &Steps, at: u64) -> Option<u64> {
    let begun = steps.iter().rev().find(|(from, _)| *from <= at);
    begun.or(steps.first()).map(|(_, bps)| *bps)
}

/// Returns the bits that the rate carries from `from` to `to`, times 10^9.
pub fn carried(steps: &Steps, from: u64, to: u64) -> u128 {
    pieces(steps, from)
        .map(|(start, end, bps)| {
            let span = to.min(end).saturating_sub(start.min(to));
            u128::from(span) * u128::from(bps)
        })
        .sum()
}

/// Returns the first instant by which the rate carries `bytes` from `from` on, rounded up to a whole nanosecond; `None` if it never does.
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

/// Returns the steps from `from` on, each as (start, end, rate).
fn pieces(steps: &Steps, from: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([u64::MAX]);
    steps.iter().zip(ends).enumerate().filter_map(move |(index, (&(at, bps), end))| {
        // The first step's rate also holds before it.
        let start = if index == 0 { from } else { at.max(from) };
        (start < end).then_some((start, end, bps))
    })
}

/// Adds a step to `value` at `at`. Adds nothing if the newest step already has this value.
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

    /// The rates are in bits per second: 8 Gbit/s is a byte per nanosecond.
    const STEPS: [(u64, u64); 3] = [(0, 8_000_000_000), (100, 4_000_000_000), (200, 0)];

    #[test]
    fn a_rate_holds_from_its_step_to_the_next() {
        assert_eq!(rate_at(&STEPS, 99), Some(8_000_000_000));
        assert_eq!(rate_at(&STEPS, 100), Some(4_000_000_000));
        assert_eq!(rate_at(&[(50, 7)], 10), Some(7));
        assert_eq!(rate_at(&[], 10), None);
    }

    #[test]
    fn carried_bytes_are_the_integral_of_the_rate() {
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
        // 24 Gbit/s takes a third of a nanosecond per byte, which is rounded up to a whole nanosecond.
        assert_eq!(carried_by(&[(0, 24_000_000_000)], 10, 1), Some(11));
    }
}
