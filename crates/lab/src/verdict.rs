//! The order of a table, best first, and its one-line verdict.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::race::SchemeResult;
use crate::scenario::{Goal, Scenario};
use crate::words::Cross;

/// Throughputs within this much of the best of their group count as equal.
const EQUAL: f64 = 0.01;

/// Orders results best first.
///
/// With rounds: by the mean elapsed time of a reply after an idle time. With a size: by cost (completion time over the ideal), or by
/// completion time where there is no ideal; what did not finish comes last, by throughput. Without:
/// by throughput, where those within 1 % of the best count as equal and stand by su-loss (less first), then by
/// throughput; then the same among the rest. What is equal in all keeps its order.
pub fn rank(scenario: &Scenario, results: &mut Vec<SchemeResult>) {
    match scenario.goal {
        _ if scenario.rounds.is_some() => results.sort_by(|a, b| {
            let elapsed = |result| Judged::of(result).whole("elapsed_s");
            none_last(elapsed(a), elapsed(b))
        }),
        Goal::Size(_) => results.sort_by(|a, b| {
            let (a, b) = (Judged::of(a), Judged::of(b));
            none_last(a.cost.or(a.fct), b.cost.or(b.fct)).then(b.throughput.total_cmp(&a.throughput))
        }),
        Goal::Duration(_) => {
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

/// The numbers that decide.
struct Judged {
    object: Map<String, Value>,
    throughput: f64,
    su_loss: Option<f64>,
    cost: Option<f64>,
    /// There may be a completion time without a cost: beside others who take all of the rate there is no ideal.
    fct: Option<f64>,
}

impl Judged {
    fn of(result: &SchemeResult) -> Self {
        let object = result.object();
        let number = |field: &str| object.get(field).and_then(Value::as_f64);
        let (throughput, su_loss) = (number("throughput_bps").unwrap_or(0.0), number("su_loss"));
        let mut judged = Self { throughput, su_loss, cost: None, fct: None, object };
        (judged.cost, judged.fct) = (judged.whole("cost"), judged.whole("fct_s"));
        judged
    }

    /// A number that every run has: a mean over the runs that finished says nothing of those that did not.
    fn whole(&self, field: &str) -> Option<f64> {
        self.number(field).filter(|_| !self.object.contains_key(&format!("{field}_runs")))
    }

    fn number(&self, field: &str) -> Option<f64> {
        self.object.get(field).and_then(Value::as_f64)
    }
}

/// The verdict on ranked results, in one line made of their numbers only.
pub fn verdict(scenario: &Scenario, ranked: &[SchemeResult]) -> String {
    let [first, rest @ ..] = ranked else { return "No run was finished.".to_owned() };
    let best = Judged::of(first);
    let name = first.choice.name();
    match scenario.goal {
        _ if scenario.rounds.is_some() => by_elapsed(name, &best, rest),
        Goal::Size(_) => by_cost(name, &best, rest),
        Goal::Duration(_) => by_throughput(scenario, name, &best, rest),
    }
}

fn by_elapsed(name: &str, best: &Judged, rest: &[SchemeResult]) -> String {
    let Some(elapsed) = best.whole("elapsed_s") else {
        return "Nobody finished every reply within the limit.".to_owned();
    };
    let drops = |judged: &Judged| match judged.number("drops") {
        Some(drops) if drops > 0.0 => format!("{drops:.2} packets dropped a reply"),
        _ => "nothing dropped".to_owned(),
    };
    let lead = if rest.is_empty() { "" } else { "Best by elapsed time after an idle time: " };
    let last = rest.last().map_or_else(String::new, |last| {
        let (name, judged) = (last.choice.name(), Judged::of(last));
        match judged.whole("elapsed_s") {
            Some(_) if overlap(best, &judged, "elapsed_s") => String::new(),
            Some(elapsed) => format!("; last is {name}, {} with {}", span(elapsed), drops(&judged)),
            None => format!("; {name} did not finish within the limit"),
        }
    });
    let doubt = doubt(best, rest, "elapsed_s");
    format!("{lead}{name}, {} with {}{last}{doubt}.", span(elapsed), drops(best))
}

fn by_cost(name: &str, best: &Judged, rest: &[SchemeResult]) -> String {
    if best.cost.or(best.fct).is_none() {
        return "No scheme finished every transfer within the limit.".to_owned();
    }
    let lead = if rest.is_empty() { "" } else { "Best by completion time: " };
    let fair = best.object.get("ideal_kind").and_then(Value::as_str) == Some("fair-share");
    let ideal = if fair { "ideal of a fair share" } else { "ideal" };
    let last = rest.last().map_or_else(String::new, |last| {
        let (name, judged) = (last.choice.name(), Judged::of(last));
        match (judged.cost, judged.fct) {
            (_, Some(_)) if overlap(best, &judged, "fct_s") => String::new(),
            (Some(cost), _) => format!("; last is {name}, {}, {cost:.2} times", fct(&judged)),
            (None, Some(_)) => format!("; last is {name}, {}", fct(&judged)),
            (None, None) => format!("; {name} did not finish within the limit"),
        }
    });
    let doubt = doubt(best, rest, "fct_s");
    let times = match best.cost {
        Some(cost) => format!("{cost:.2} times the {ideal}"),
        None => "with no ideal to compare with: others may take all of the rate".to_owned(),
    };
    format!("{lead}{name}, {}, {times}{last}{doubt}.", fct(best))
}

fn by_throughput(scenario: &Scenario, name: &str, best: &Judged, rest: &[SchemeResult]) -> String {
    let lead = if rest.is_empty() { "" } else { "Best by throughput, within 1 % by su-loss: " };
    let share =
        share(scenario, best).map_or_else(String::new, |share| format!(" ({share} of what is available)"));
    let start_up = match best.number("su_time_s") {
        Some(time) => format!("start-up {}", span(time)),
        None => "no end of start-up".to_owned(),
    };
    let losses = rest.iter().map(|result| (Judged::of(result).su_loss.unwrap_or(0.0), result));
    let heaviest = losses.max_by(|a, b| a.0.total_cmp(&b.0));
    let heavier = heaviest.filter(|(loss, _)| *loss > best.su_loss.unwrap_or(0.0));
    let other = heavier.map_or_else(String::new, |(_, result)| {
        let (other, judged) = (result.choice.name(), Judged::of(result));
        format!("; {other} reaches {:.1} Mbit/s with {}", judged.throughput / 1e6, su_loss(&judged))
    });
    let doubt = doubt(best, rest, "throughput_bps");
    let mbps = best.throughput / 1e6;
    format!("{lead}{name}, {mbps:.1} Mbit/s{share}, {start_up} with {}{other}{doubt}.", su_loss(best))
}

/// Payload throughput over what of the available rate can be payload; only where nobody shares it.
#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn share(scenario: &Scenario, best: &Judged) -> Option<String> {
    let unresponsive = match scenario.cross {
        Cross::None => 0,
        Cross::Cbr(rate) => rate.bps(),
        Cross::Tcp(_) | Cross::OnOff { .. } | Cross::Poisson { .. } | Cross::Web(_) => return None,
    };
    if scenario.rate_trace.is_some() || scenario.policer.is_some() {
        return None;
    }
    let left = scenario.rate.bps().saturating_sub(unresponsive).min(scenario.access_rate.bps());
    let payload = left as f64 * f64::from(scenario.mss) / f64::from(scenario.packet());
    (payload > 0.0).then(|| percent(best.throughput / payload))
}

/// With several runs, who of those behind may be as good.
fn doubt(best: &Judged, rest: &[SchemeResult], field: &str) -> String {
    let close = rest.iter().filter(|result| overlap(best, &Judged::of(result), field));
    let names: Vec<&str> = close.map(|result| result.choice.name()).collect();
    let (names, verb) = match names.as_slice() {
        [] => return String::new(),
        [one] => ((*one).to_owned(), "is"),
        [most @ .., last] => (format!("{} and {last}", most.join(", ")), "are"),
    };
    format!("; {names} {verb} not clearly behind, their 95 % intervals overlap")
}

/// Whether the two's 95 % intervals of this field overlap. They have one where every run has the number.
fn overlap(one: &Judged, other: &Judged, field: &str) -> bool {
    let interval = |judged: &Judged| Some((judged.whole(field)?, judged.number(&format!("{field}_ci95"))?));
    match (interval(one), interval(other)) {
        (Some((a, half_a)), Some((b, half_b))) => (a - b).abs() <= half_a + half_b,
        _ => false,
    }
}

fn su_loss(judged: &Judged) -> String {
    match judged.su_loss {
        Some(loss) if loss > 0.0 => format!("su-loss {}", percent(loss)),
        Some(_) => "no su-loss".to_owned(),
        None => "no data sent".to_owned(),
    }
}

fn fct(judged: &Judged) -> String {
    judged.number("fct_s").map_or_else(String::new, span)
}

fn span(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// Three digits of a percentage, so that little is not shown as nothing.
fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent {
        p if p >= 10.0 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        _ => "under 0.01 %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rounds, Row, parse_choices};
    use firstflight::Bytes;

    fn results(rows: &[(&str, f64, f64, Option<f64>)]) -> Vec<SchemeResult> {
        let result = |(label, mbps, su_loss, cost): &(&str, f64, f64, Option<f64>)| {
            let choice = parse_choices(&format!("slow-start:as={label}")).expect("a scheme").remove(0);
            let row = Row {
                throughput_bps: mbps * 1e6,
                su_loss: Some(*su_loss),
                su_time_s: Some(0.329),
                fct_s: Some(cost.map(|cost| cost / 2.0)),
                cost: Some(*cost),
                ideal_kind: "exact".to_owned(),
                ..Row::default()
            };
            SchemeResult { choice, rows: vec![row], ideal: None }
        };
        rows.iter().map(result).collect()
    }

    fn order(scenario: &Scenario, rows: &[(&str, f64, f64, Option<f64>)]) -> Vec<String> {
        let mut results = results(rows);
        rank(scenario, &mut results);
        results.iter().map(|result| result.choice.name().to_owned()).collect()
    }

    fn sized() -> Scenario {
        Scenario { goal: Goal::Size(Bytes::new(1_000_000)), ..Scenario::default() }
    }

    #[test]
    fn without_a_size_throughput_decides_and_su_loss_among_equals() {
        let rows = [
            ("slow", 40.0, 0.0, None),
            ("lossy", 57.2, 0.16, None),
            ("clean", 57.0, 0.0, None),
            ("behind", 56.0, 0.0, None),
        ];
        assert_eq!(order(&Scenario::default(), &rows), ["clean", "lossy", "behind", "slow"]);
    }

    #[test]
    fn with_a_size_cost_decides_and_the_unfinished_come_last() {
        let rows = [("never", 9.0, 0.0, None), ("b", 1.0, 0.0, Some(2.0)), ("a", 0.5, 0.3, Some(1.5))];
        assert_eq!(order(&sized(), &rows), ["a", "b", "never"]);
    }

    #[test]
    fn the_verdict_is_one_line_of_the_numbers() {
        let rows = results(&[("clean", 57.0, 0.0, None), ("lossy", 57.2, 0.16, None)]);
        assert_eq!(
            verdict(&Scenario::default(), &rows),
            "Best by throughput, within 1 % by su-loss: clean, 57.0 Mbit/s (99.0 % of what is available), \
             start-up 329 ms with no su-loss; lossy reaches 57.2 Mbit/s with su-loss 16.0 %."
        );
        let rows = results(&[("a", 1.0, 0.0, Some(1.5)), ("b", 1.0, 0.0, Some(3.25)), ("c", 1.0, 0.0, None)]);
        assert_eq!(
            verdict(&sized(), &rows[..2]),
            "Best by completion time: a, 750 ms, 1.50 times the ideal; last is b, 1.62 s, 3.25 times."
        );
        assert!(verdict(&sized(), &rows).ends_with("; c did not finish within the limit."));
        assert_eq!(verdict(&sized(), &[]), "No run was finished.");
    }

    #[test]
    fn without_an_ideal_completion_time_decides_and_what_finished_is_said_to_have() {
        let mut rows = results(&[
            ("slow", 1.0, 0.0, Some(46.0)),
            ("fast", 9.0, 0.0, Some(9.0)),
            ("never", 9.0, 0.0, None),
        ]);
        for result in &mut rows {
            result.rows[0].cost = Some(None);
        }
        rank(&sized(), &mut rows);
        assert_eq!(
            rows.iter().map(|result| result.choice.name()).collect::<Vec<_>>(),
            ["fast", "slow", "never"]
        );
        assert_eq!(
            verdict(&sized(), &rows[..2]),
            "Best by completion time: fast, 4.50 s, with no ideal to compare with: others may take all of the rate; \
             last is slow, 23.00 s."
        );
    }

    #[test]
    fn with_rounds_the_elapsed_time_after_an_idle_time_decides() {
        let rounds = Rounds { count: 2, idle: firstflight::Span::from_secs(9), spread: None, clients: 1 };
        let scenario = Scenario { rounds: Some(rounds), ..sized() };
        let mut rows =
            results(&[("slow", 9.0, 0.0, None), ("cut", 9.0, 0.0, None), ("fast", 1.0, 0.0, None)]);
        for (result, elapsed, drops) in [(0, Some(2.0), 0.0), (1, None, 0.0), (2, Some(0.5), 1.25)] {
            let row = &mut rows[result].rows[0];
            (row.elapsed_s, row.drops) = (Some(elapsed), Some(Some(drops)));
        }
        rank(&scenario, &mut rows);
        let names: Vec<&str> = rows.iter().map(|result| result.choice.name()).collect();
        assert_eq!(names, ["fast", "slow", "cut"]);
        assert_eq!(
            verdict(&scenario, &rows[..2]),
            "Best by elapsed time after an idle time: fast, 500 ms with 1.25 packets dropped a reply; \
             last is slow, 2.00 s with nothing dropped."
        );
        assert!(verdict(&scenario, &rows).ends_with("; cut did not finish within the limit."));
    }

    /// A result of three runs: this throughput in Mbit/s, and this completion time in seconds, with one less and one more
    /// by `step`.
    fn many(label: &str, mean: f64, step: f64) -> SchemeResult {
        let mut result = results(&[(label, 0.0, 0.0, None)]).remove(0);
        let row = result.rows[0].clone();
        let of = |value: f64| Row {
            throughput_bps: value * 1e6,
            fct_s: Some(Some(value)),
            cost: Some(Some(value / 2.0)),
            elapsed_s: Some(Some(value)),
            drops: Some(Some(0.0)),
            ..row.clone()
        };
        result.rows = [mean, mean - step, mean + step].map(of).to_vec();
        result
    }

    #[test]
    fn overlapping_intervals_are_said() {
        let close = [many("a", 57.0, 1.0), many("b", 56.5, 1.0)];
        let line = verdict(&Scenario::default(), &close);
        assert!(line.ends_with("; b is not clearly behind, their 95 % intervals overlap."), "{line}");
        let apart = [many("a", 57.1, 0.1), many("b", 30.1, 0.1)];
        assert!(!verdict(&Scenario::default(), &apart).contains("intervals"));
    }

    #[test]
    fn all_whose_intervals_overlap_the_bests_are_named_wherever_they_stand() {
        let ranked = [many("a", 57.0, 1.0), many("b", 50.0, 0.1), many("c", 56.0, 1.0)];
        let line = verdict(&Scenario::default(), &ranked);
        assert!(line.ends_with("; c is not clearly behind, their 95 % intervals overlap."), "{line}");
        let ranked = [many("a", 57.0, 1.0), many("b", 56.5, 1.0), many("c", 56.0, 1.0), many("d", 55.5, 1.0)];
        let line = verdict(&Scenario::default(), &ranked);
        assert!(
            line.ends_with("; b, c and d are not clearly behind, their 95 % intervals overlap."),
            "{line}"
        );
        let line = verdict(&Scenario::default(), &ranked[..3]);
        assert!(line.ends_with("; b and c are not clearly behind, their 95 % intervals overlap."), "{line}");
    }

    #[test]
    fn nobody_is_last_who_may_be_as_good_as_the_best() {
        let ranked = [many("a", 2.0, 0.1), many("b", 2.1, 0.1)];
        assert_eq!(
            verdict(&sized(), &ranked),
            "Best by completion time: a, 2.00 s, 1.00 times the ideal; \
             b is not clearly behind, their 95 % intervals overlap."
        );
        let ranked = [many("a", 2.0, 0.1), many("b", 2.1, 0.1), many("c", 9.0, 0.1)];
        let line = verdict(&sized(), &ranked);
        assert!(line.contains("; last is c, 9.00 s, 4.50 times; b is not clearly behind"), "{line}");
        let rounds = Rounds { count: 2, idle: firstflight::Span::from_secs(9), spread: None, clients: 1 };
        let scenario = Scenario { rounds: Some(rounds), ..sized() };
        let line = verdict(&scenario, &ranked[..2]);
        assert!(!line.contains("last is") && line.contains("; b is not clearly behind"), "{line}");
        assert!(verdict(&scenario, &ranked).contains("; last is c, 9.00 s with nothing dropped; b is not"));
    }
}
