//! The order of a race's results.

use std::cmp::Ordering;

use super::judged::{EQUAL, Judged};
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;

/// Orders results best first.
///
/// With rounds, the order is by the mean elapsed time of a reply after an idle time. With a size, it is by cost (completion time over the
/// ideal completion time), or by completion time if there is no ideal; unfinished results come last, by throughput. Otherwise the order is
/// by throughput, but results within 1 % of the best throughput count as equal: they are ordered by su-loss (less first), then by
/// throughput. The remaining results are grouped and ordered in the same way. Results equal in all of these keep their order.
pub fn rank(contest: &Contest, results: &mut Vec<SchemeResult>) {
    match contest.goal {
        Goal::Rounds => results.sort_by(|a, b| {
            let elapsed = |result| Judged::of(result).whole("elapsed_s");
            none_last(elapsed(a), elapsed(b))
        }),
        Goal::Transfer { .. } => results.sort_by(|a, b| {
            let (a, b) = (Judged::of(a), Judged::of(b));
            none_last(a.cost.or(a.fct), b.cost.or(b.fct)).then(b.throughput.total_cmp(&a.throughput))
        }),
        Goal::Duration => {
            let throughput = |result: &SchemeResult| Judged::of(result).throughput;
            results.sort_by(|a, b| throughput(b).total_cmp(&throughput(a)));
            let mut rest = results.as_mut_slice();
            while let Some(best) = rest.first().map(throughput) {
                let equals = rest.partition_point(|result| throughput(result) >= best * (1.0 - EQUAL)).max(1);
                let (group, after) = rest.split_at_mut(equals);
                group.sort_by(|a, b| none_last(Judged::of(a).su_loss, Judged::of(b).su_loss));
                rest = after;
            }
        }
    }
}

fn none_last(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}
