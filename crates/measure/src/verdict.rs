//! The order of a table, best first, and its one-line verdict.

use std::cmp::Ordering;

use serde_json::Value;

use self::judged::{EQUAL, Judged};
use self::pairs::Pairs;
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;
use crate::show::rounded_rate;

mod judged;
mod pairs;
mod populations;

pub use populations::{population_verdict, rank_populations};

/// Orders results best first.
///
/// With rounds, the order is by the mean elapsed time of a reply after an idle time. With a size, it is by cost (completion
/// time over the ideal), or by completion time if there is no ideal; unfinished results come last, by throughput. Otherwise
/// it is by throughput. Results within 1 % of the best throughput count as equal and are ordered by su-loss (less first),
/// then by throughput; the remaining ones are ordered in the same way. Results equal in all of these keep their order.
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

/// The verdict on ranked results, in one line, from their numbers only.
pub fn verdict(contest: &Contest, ranked: &[SchemeResult]) -> String {
    let Some(first) = ranked.first() else { return "No run was finished.".to_owned() };
    let standing = Standing { pairs: Pairs::new(contest, ranked), first, best: Judged::of(first), ranked };
    let says = match contest.goal {
        Goal::Rounds => standing.by_elapsed(),
        Goal::Transfer { .. } => standing.by_cost(),
        Goal::Duration => standing.by_throughput(contest),
    };
    says + &standing.aborted()
}

/// Ranked results with the first of them singled out.
struct Standing<'a> {
    pairs: Pairs,
    first: &'a SchemeResult,
    best: Judged,
    ranked: &'a [SchemeResult],
}

impl Standing<'_> {
    fn by_elapsed(&self) -> String {
        let Some(elapsed) = self.best.whole("elapsed_s") else {
            return self.nobody("Nobody finished every reply within the limit", "elapsed_s");
        };
        let drops = |judged: &Judged| match judged.number("drops") {
            Some(drops) if drops > 0.0 => {
                format!("{drops:.2} packets dropped a reply{}", judged.some("drops"))
            }
            _ => "nothing dropped".to_owned(),
        };
        let says = |judged: &Judged| {
            let elapsed = judged.number("elapsed_s").map_or_else(String::new, span);
            format!("{elapsed} with {}", drops(judged))
        };
        let (winners, behind) =
            (self.winners("elapsed time after an idle time"), self.behind("elapsed_s", &says));
        format!("{winners}, {} with {}{behind}.", span(elapsed), drops(&self.best))
    }

    fn by_cost(&self) -> String {
        let best = &self.best;
        if best.cost.or(best.fct).is_none() {
            return self.nobody("No scheme finished every transfer within the limit", "fct_s");
        }
        let fair = best.object.get("ideal_kind").and_then(Value::as_str) == Some("fair-share");
        let ideal = if fair { "ideal of a fair share" } else { "ideal" };
        let says = |judged: &Judged| match judged.cost {
            Some(cost) => format!("{}, {cost:.2} times", fct(judged)),
            None => fct(judged),
        };
        let times = match best.cost {
            Some(cost) => format!("{cost:.2} times the {ideal}"),
            None => "with no ideal to compare with: others may take all of the rate".to_owned(),
        };
        let by = if best.cost.is_some() { "cost" } else { "completion time" };
        let (winners, behind) = (self.winners(by), self.behind("fct_s", &says));
        format!("{winners}, {}, {times}{behind}.", fct(best))
    }

    fn by_throughput(&self, contest: &Contest) -> String {
        let best = &self.best;
        let share =
            share(contest, best).map_or_else(String::new, |share| format!(" ({share} of what is available)"));
        let start_up = match best.number("su_time_s") {
            Some(time) => format!("start-up {}{}", span(time), best.some("su_time_s")),
            None => "no end of start-up".to_owned(),
        };
        let losses = self.ranked.iter().map(|result| (Judged::of(result).su_loss.unwrap_or(0.0), result));
        let heaviest = losses.max_by(|a, b| a.0.total_cmp(&b.0));
        let heavier = heaviest.filter(|(loss, _)| *loss > best.su_loss.unwrap_or(0.0));
        let other = heavier.map_or_else(String::new, |(_, result)| {
            let (others, judged) = (self.alike(result), Judged::of(result));
            let reach = if others.len() > 1 { "reach" } else { "reaches" };
            format!(
                "; {} {reach} {} with {}",
                listed(&others),
                rounded_rate(whole(judged.throughput)),
                su_loss(&judged)
            )
        });
        let (winners, doubt) =
            (self.winners("throughput, within 1 % by su-loss"), self.doubt("throughput_bps"));
        let throughput = rounded_rate(whole(best.throughput));
        format!("{winners}, {throughput}{share}, {start_up} with {}{other}{doubt}.", su_loss(best))
    }

    /// The names of this result and of all that equal it in every run, in the order of the table.
    fn alike(&self, to: &SchemeResult) -> Vec<&str> {
        let is_like = |result: &&SchemeResult| std::ptr::eq(*result, to) || self.pairs.alike(result, to);
        self.ranked.iter().filter(is_like).map(|result| result.name.as_str()).collect()
    }

    /// The best result and its deciding number. There is no best among results that are equal in every run.
    fn winners(&self, what: &str) -> String {
        let names = self.alike(self.first);
        let lead = match (names.len(), self.ranked.len()) {
            (_, 1) => String::new(),
            (alike, all) if alike == all => format!("By {what}: "),
            _ => format!("Best by {what}: "),
        };
        lead + &named(&names)
    }

    /// The results whose connections were aborted.
    fn aborted(&self) -> String {
        let aborted = |result: &&SchemeResult| Judged::of(result).runs("aborted_s").0 > 0;
        let names: Vec<&str> =
            self.ranked.iter().filter(aborted).map(|result| result.name.as_str()).collect();
        let connections = if names.len() > 1 { "Connections" } else { "A connection" };
        let were = if names.len() > 1 { "were" } else { "was" };
        if names.is_empty() {
            return String::new();
        }
        format!(" {connections} of {} {were} aborted, for nothing was answered any more.", listed(&names))
    }

    /// The sentence for a field that no result has in all runs: which results have it in some.
    fn nobody(&self, says: &str, field: &str) -> String {
        let some = self.ranked.iter().any(|result| Judged::of(result).runs(field).0 > 0);
        if some { format!("{says}: {}.", self.unfinished(field)) } else { format!("{says}.") }
    }

    /// The results that lack the field in some or all runs; empty if there are none.
    fn unfinished(&self, field: &str) -> String {
        let (mut some, mut none) = (Vec::new(), Vec::new());
        for result in self.ranked {
            match (result.name.as_str(), Judged::of(result).runs(field)) {
                (name, (0, _)) => none.push(name),
                (_, (had, runs)) if had == runs => {}
                (name, (had, runs)) => {
                    let finished = if some.is_empty() { "finished " } else { "" };
                    let unit = if some.is_empty() { " runs" } else { "" };
                    some.push(format!("{name} {finished}{had} of {runs}{unit}"));
                }
            }
        }
        let some = some.join(", ");
        let end = if none.is_empty() { "" } else { " did not finish within the limit" };
        let none = listed(&none) + end;
        let between = if some.is_empty() || none.is_empty() { "" } else { "; " };
        format!("{some}{between}{none}")
    }

    /// The results that did not finish, or the last result if all did; and those whose lag may be chance.
    fn behind(&self, field: &str, says: &dyn Fn(&Judged) -> String) -> String {
        let unfinished = self.unfinished(field);
        let doubt = self.doubt(field);
        if !unfinished.is_empty() {
            return format!("; {unfinished}{doubt}");
        }
        let is_behind = |last: &&SchemeResult| {
            !self.pairs.alike(self.first, last) && !self.pairs.doubtful(self.first, last)
        };
        let last = self.ranked[1..].last().filter(is_behind).map_or_else(String::new, |last| {
            let names = self.alike(last);
            let are = if names.len() > 1 { "are" } else { "is" };
            format!("; last {are} {}, {}", named(&names), says(&Judged::of(last)))
        });
        last + &doubt
    }

    /// With several runs, the results that have the field in all runs and may be as good as the best.
    fn doubt(&self, field: &str) -> String {
        let is_close = |result: &&SchemeResult| {
            Judged::of(result).whole(field).is_some()
                && !self.pairs.alike(self.first, result)
                && self.pairs.doubtful(self.first, result)
        };
        let names: Vec<&str> =
            self.ranked[1..].iter().filter(is_close).map(|result| result.name.as_str()).collect();
        if names.is_empty() {
            return String::new();
        }
        doubt_of(names.len(), &listed(&names), self.pairs.comparisons)
    }
}

/// The clause about results whose lag behind the best may be chance.
fn doubt_of(count: usize, names: &str, comparisons: u64) -> String {
    let together = match comparisons {
        1 => String::new(),
        comparisons => format!(", for {comparisons} comparisons together"),
    };
    let (verb, intervals, hold) = match count {
        1 => ("is", "the interval of its difference", "holds"),
        _ => ("are", "the intervals of their differences", "hold"),
    };
    format!("; {names} {verb} not clearly behind: {intervals} seed by seed (95 %{together}) {hold} zero")
}

/// Names, with their common part written once.
fn named(names: &[&str]) -> String {
    listed(names) + if names.len() > 1 { " alike" } else { "" }
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Payload throughput over the payload share of the available rate; `None` if other traffic shares the path.
fn share(contest: &Contest, best: &Judged) -> Option<String> {
    let payload = contest.payload_bps.filter(|payload| *payload > 0.0)?;
    Some(percent(best.throughput / payload))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate above zero")]
fn whole(bps: f64) -> u64 {
    bps as u64
}

fn su_loss(judged: &Judged) -> String {
    match judged.su_loss {
        Some(loss) if loss > 0.0 => format!("su-loss {}{}", percent(loss), judged.some("su_loss")),
        Some(_) => "no su-loss".to_owned(),
        None => "no data sent".to_owned(),
    }
}

fn fct(judged: &Judged) -> String {
    judged.number("fct_s").map_or_else(String::new, span)
}

/// A time with at least three digits, so that small values do not appear as zero.
fn span(seconds: f64) -> String {
    match seconds {
        s if s >= 0.9995 => format!("{s:.2} s"),
        s if s >= 0.0995 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.009_95 => format!("{:.1} ms", s * 1e3),
        s if s >= 0.000_999_5 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}

/// A percentage with three digits, so that small values do not appear as zero.
fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent {
        p if p >= 10.0 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        _ => "under 0.01 %".to_owned(),
    }
}

#[cfg(test)]
mod tests;
