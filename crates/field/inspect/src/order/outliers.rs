//! Corrects packets with a wrong time among packets whose order is right.

use crate::clock::DISORDER;

/// Number of packets examined before the point at which times go back.
pub(super) const CONTEXT: usize = 16;

/// Reciprocal of the maximum share of packets with a wrong time.
const ONE_IN: usize = 8;
/// Number of packets with a wrong time that is accepted whatever their share.
const FEW: usize = 8;
/// Minimum error of a wrong time, as a multiple of the time between the packets around it. A smaller error may result from a clock that was
/// set.
const TIMES: u64 = 4;

/// Returns the indices of a longest non-decreasing subsequence of `times`.
fn straight(times: &[u64]) -> Vec<usize> {
    // For each length, the index at which the subsequence of this length with the smallest last time ends.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(times.len());
    for (at, time) in times.iter().enumerate() {
        let length = ends.partition_point(|end| times[*end] <= *time);
        previous.push(length.checked_sub(1).map(|last| ends[last]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut places: Vec<usize> = std::iter::successors(ends.last().copied(), |at| previous[*at]).collect();
    places.reverse();
    places
}

/// Returns the times with the wrong ones corrected: each is replaced by the next right time. Unless `is_end` is true, the list ends with
/// the last right time. Returns `None` if too many times are wrong, or if it is not clear which are wrong. In these cases the clock was
/// set.
pub(super) fn corrected(times: &[u64], is_end: bool) -> Option<Vec<u64>> {
    let right = straight(times);
    let (first, last) = (*right.first()?, *right.last()?);
    let wrong = times.len() - right.len();
    let has_end = last + 1 == times.len() || !is_end;
    if first > 0 || !has_end || wrong > FEW.max(times.len() / ONE_IN) {
        return None;
    }
    let mut corrected = times[..=last].to_vec();
    for pair in right.windows(2) {
        let (before, after) = (times[pair[0]], times[pair[1]]);
        let between = pair[0] + 1..pair[1];
        let off = |time: &u64| if *time > after { *time - after } else { before.saturating_sub(*time) };
        let wrong = times[between.clone()].iter().map(off);
        let is_by_little = wrong.clone().all(|off| off <= DISORDER);
        if !is_by_little && wrong.clone().any(|off| off / TIMES < after - before) {
            return None;
        }
        corrected[between].fill(after);
    }
    Some(corrected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn packets_stamped_ahead_or_behind_are_found_wherever_they_are() {
        let right: Vec<u64> = (100..140).map(|at| at * MS).collect();
        for off in [-90_i64, -20, -5, 5, 20, 500, 3_000_000] {
            for places in [&[17][..], &[17, 18], &[17, 19, 25], &[38]] {
                let mut times = right.clone();
                for place in places {
                    times[*place] = times[*place].saturating_add_signed(off * MS.cast_signed());
                }
                let told = corrected(&times, false).expect("few are wrong");
                for (at, (told, right)) in told.iter().zip(&right).enumerate() {
                    assert!(
                        told == right || places.contains(&at) && told.abs_diff(*right) <= 3 * MS,
                        "{off} {at}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_clock_that_is_set_is_no_wrong_time() {
        for back in [15, 20, 100, 3_600_000] {
            let mut times: Vec<u64> = (4_000_100..4_000_180).map(|at| at * MS).collect();
            times[40..].iter_mut().for_each(|time| *time -= back * MS);
            assert_eq!(corrected(&times, true), None, "{back}");
        }
        // No packet follows that would show which time is wrong.
        assert_eq!(corrected(&[5, 6, 7, 8, 1], true), None);
    }

    proptest! {
        #[test]
        fn kept_times_are_the_longest_nondecreasing_subsequence(times in prop::collection::vec(0_u64..30, 1..40)) {
            let places = straight(&times);
            prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1] && times[pair[0]] <= times[pair[1]]));
            // Computes the longest length with the quadratic algorithm.
            let mut longest = vec![1; times.len()];
            for at in 0..times.len() {
                for before in (0..at).filter(|before| times[*before] <= times[at]) {
                    longest[at] = longest[at].max(longest[before] + 1);
                }
            }
            prop_assert_eq!(places.len(), longest.into_iter().max().unwrap());
        }
    }
}
