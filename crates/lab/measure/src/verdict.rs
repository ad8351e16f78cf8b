//! The order of a race's results, best first, and the verdict in words.

use serde_json::Value;

use self::credit::Credit;
use self::judged::{Judged, deploy};
use self::pairs::Pairs;
use self::words::{named, percent, span, su_loss, whole};
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;
use crate::row::ALONE;
use crate::show::rounded_rate;

mod claims;
mod credit;
mod harm;
mod judged;
mod lag;
mod laws;
mod luck;
mod pairs;
mod populations;
mod ranking;
mod wait;
mod words;

pub use claims::{Better, Claim, credit_notes, owing};
pub use credit::{Reference, wants_reference};
pub use laws::{laws_differ, ranked_under};
pub use populations::{population_verdict, populations_want_reference, rank_populations};
pub use ranking::rank;
pub use words::{help, listed, noted};

/// Returns the verdict on ranked results, from their numbers only: a line with the best scheme among those that need no help beyond the
/// sender, and one line for each note ([`noted`]). The notes say whether one run decides nothing, what help gains, and what the runs do
/// not decide. `references` are results of byte-counting slow start in this race ([`wants_reference`]).
pub fn verdict(contest: &Contest, ranked: &[SchemeResult], references: &[Reference]) -> String {
    let alone: Vec<&SchemeResult> = ranked.iter().filter(|result| deploy(result) == ALONE).collect();
    let field = if alone.is_empty() { ranked.iter().collect() } else { alone };
    let Some(&first) = field.first() else { return "No run was finished.".to_owned() };
    let standing = Standing {
        contest,
        pairs: Pairs::new(contest, ranked),
        credit: Credit { contest, ranked, references },
        first,
        best: Judged::of(first),
        field,
        ranked,
    };
    let (headline, notes) = match contest.goal {
        Goal::Rounds => standing.by_elapsed(),
        Goal::Transfer { .. } => standing.by_cost(),
        Goal::Duration => standing.by_throughput(),
    };
    let one_run = luck::is_chance(contest, ranked).then(|| luck::ONE_RUN.to_owned());
    let notes = one_run
        .into_iter()
        .chain(notes)
        .chain(standing.undecided())
        .chain(standing.credit.notes())
        .chain(standing.laws())
        .chain(luck::note(contest, ranked))
        .chain(wait::notes(ranked))
        .chain(harm::note(ranked, first))
        .chain(standing.aborted());
    noted(&headline, notes)
}

/// The singular and the plural of a verb.
const TAKES: [&str; 2] = ["takes", "take"];
const REACHES: [&str; 2] = ["reaches", "reach"];

/// Ranked results, with the best one that can be deployed alone.
struct Standing<'a> {
    contest: &'a Contest,
    pairs: Pairs,
    credit: Credit<'a>,
    /// The results that compete for the first place: those that can be deployed alone, or all if none can be.
    field: Vec<&'a SchemeResult>,
    first: &'a SchemeResult,
    best: Judged,
    ranked: &'a [SchemeResult],
}

/// The headline of a verdict, and its notes on help and on unfinished results.
type Said = (String, Vec<String>);

impl Standing<'_> {
    fn by_elapsed(&self) -> Said {
        let says = |judged: &Judged| {
            let drops = match judged.number("drops") {
                Some(drops) if drops > 0.0 => {
                    format!("{drops:.2} packets dropped per reply{}", judged.some("drops"))
                }
                _ => "nothing dropped".to_owned(),
            };
            let elapsed = judged.number("elapsed_s").map_or_else(String::new, span);
            format!("{elapsed} with {drops}")
        };
        let helped = self.helped(TAKES, &says);
        if self.best.whole("elapsed_s").is_none() {
            return self.nobody("finished every reply", "elapsed_s", helped);
        }
        let best = format!("{}, {}.", self.winners("elapsed time after an idle time"), says(&self.best));
        self.with_worst(best, helped, "elapsed_s", &says)
    }

    fn by_cost(&self) -> Said {
        let best = &self.best;
        let says = |judged: &Judged| match judged.cost {
            Some(cost) => format!("{}, {cost:.2} x", fct(judged)),
            None => fct(judged),
        };
        let mut notes = self.helped(TAKES, &fct);
        if best.cost.or(best.fct).is_none() {
            return self.nobody("finished every transfer", "fct_s", notes);
        }
        let fair = best.object.get("ideal_kind").and_then(Value::as_str) == Some("fair-share");
        let (by, times) = match best.cost {
            Some(cost) if fair => ("cost", format!(", {cost:.2} x fair-share ideal")),
            Some(cost) => ("cost", format!(", {cost:.2} x ideal")),
            None => ("completion time", String::new()),
        };
        match best.cost {
            Some(cost) if fair && cost < 0.995 => {
                notes.push(format!("{} took more than a fair share.", named(&[self.first])));
            }
            Some(_) => {}
            None => notes.push("the ideal is undefined, because others may take the whole rate.".to_owned()),
        }
        self.with_worst(format!("{}, {}{times}.", self.winners(by), fct(best)), notes, "fct_s", &says)
    }

    fn by_throughput(&self) -> Said {
        let best = &self.best;
        let share = share(self.contest, best)
            .map_or_else(String::new, |share| format!(" ({share} of the available rate)"));
        let start_up = match best.number("su_time_s") {
            Some(time) => format!("start-up {}{}", span(time), best.some("su_time_s")),
            None => "no end of start-up".to_owned(),
        };
        let helped = self.helped(REACHES, &|judged| {
            format!("{} with {}", rounded_rate(whole(judged.throughput)), su_loss(judged))
        });
        let other = self.heavier().map_or_else(String::new, |result| {
            let (others, judged) = (self.alike(result), Judged::of(result));
            let others: Vec<&str> = others.iter().map(|result| result.name.as_str()).collect();
            format!(
                " Highest su-loss: {}, {} with {}.",
                listed(&others),
                rounded_rate(whole(judged.throughput)),
                su_loss(&judged)
            )
        });
        let winners = self.winners("throughput, within 1 % by su-loss");
        let throughput = rounded_rate(whole(best.throughput));
        (format!("{winners}, {throughput}{share}, {start_up} with {}.{other}", su_loss(best)), helped)
    }

    /// Returns the result with the highest su-loss; `None` if it does not exceed the best's, or if the verdict names the result as one with
    /// help.
    fn heavier(&self) -> Option<&SchemeResult> {
        let loss = |result: &SchemeResult| Judged::of(result).su_loss.unwrap_or(0.0);
        let heaviest = self.ranked.iter().max_by(|a, b| loss(a).total_cmp(&loss(b)))?;
        let is_named = self.best_helped().iter().any(|one| std::ptr::eq(*one, heaviest));
        (loss(heaviest) > loss(self.first) && !is_named).then_some(heaviest)
    }

    /// Returns this result and all results that equal it in every run and need the same class of help, in the order of the table.
    fn alike(&self, to: &SchemeResult) -> Vec<&SchemeResult> {
        let is_like = |result: &&SchemeResult| {
            std::ptr::eq(*result, to) || deploy(result) == deploy(to) && self.pairs.alike(result, to)
        };
        self.ranked.iter().filter(is_like).collect()
    }

    /// Describes the best results and the number that decides. No result is called best if all results are equal in every run, or if the
    /// winners gain only by counting bytes.
    fn winners(&self, what: &str) -> String {
        let winners = self.alike(self.first);
        let here = if luck::is_chance(self.contest, self.ranked) { " in this run" } else { "" };
        let what = format!("{what}{here}");
        let without_help = if self.field.len() < self.ranked.len() { "without help " } else { "" };
        let lead = match (winners.len(), self.ranked.len()) {
            (_, 1) => String::new(),
            (alike, all) if alike == all => format!("By {what}: "),
            _ if winners.iter().all(|winner| self.credit.is_bytes_alone(winner)) => {
                format!("No scheme {without_help}beats byte-counting slow start by {what}: ")
            }
            _ => format!("Best {without_help}by {what}: "),
        };
        let with = match deploy(self.first) {
            ALONE => String::new(),
            deploy => format!(", with {}", help(deploy)),
        };
        lead + &named(&winners) + &with
    }

    /// Returns the best result of each kind of help that the first result does not need, best first.
    fn best_helped(&self) -> Vec<&SchemeResult> {
        let mut bests: Vec<&SchemeResult> = Vec::new();
        let with_help = self.ranked.iter().filter(|result| deploy(result) != deploy(self.first));
        for result in with_help.filter(|result| deploy(result) != ALONE) {
            if !bests.iter().any(|best| deploy(best) == deploy(result)) {
                bests.push(result);
            }
        }
        bests
    }

    /// Returns a note on what each kind of help from beyond the sender adds. A kind is left out if its best result did not finish in every
    /// run.
    fn helped(&self, verbs: [&str; 2], says: &dyn Fn(&Judged) -> String) -> Vec<String> {
        let is_whole = |result: &&SchemeResult| pairs::mean_of(self.contest, result).is_some();
        let place = |of: &SchemeResult| self.ranked.iter().position(|result| std::ptr::eq(result, of));
        let says = |best: &SchemeResult| {
            let (alike, kind) = (self.alike(best), help(deploy(best)));
            let verb = verbs[usize::from(alike.len() > 1)];
            let does = format!("{} {verb} {}", named(&alike), says(&Judged::of(best)));
            let is_several = kind.contains(" and ");
            if self.pairs.alike(self.first, best) {
                return format!("{kind} {} nothing: {does}.", ["changes", "change"][usize::from(is_several)]);
            }
            if place(best) > place(self.first) {
                return format!("{kind} {} no gain: {does}.", ["shows", "show"][usize::from(is_several)]);
            }
            let doubt = self.pairs.doubt(best, self.first).map_or_else(String::new, |lag| {
                format!(", which {} runs do not distinguish from chance ({})", best.rows.len(), lag.would())
            });
            format!("with {kind}, {does}{doubt}.")
        };
        self.best_helped().into_iter().filter(is_whole).map(says).collect()
    }

    /// Returns the note on results whose connections were aborted.
    fn aborted(&self) -> Option<String> {
        let aborted = |result: &&SchemeResult| Judged::of(result).runs("aborted_s").0 > 0;
        let names: Vec<&str> =
            self.ranked.iter().filter(aborted).map(|result| result.name.as_str()).collect();
        let connections = if names.len() > 1 { "connections" } else { "a connection" };
        let were = if names.len() > 1 { "were" } else { "was" };
        (!names.is_empty()).then(|| {
            format!(
                "{connections} of {} {were} aborted, because the peer no longer answered.",
                listed(&names)
            )
        })
    }

    /// Returns what is said if the best result lacks `field` in some run: which results lack it, and what help does.
    fn nobody(&self, did: &str, field: &str, helped: Vec<String>) -> Said {
        let some = self.ranked.iter().any(|result| Judged::of(result).runs(field).0 > 0);
        let which = if some { format!(": {}", self.unfinished(field)) } else { String::new() };
        let who = if helped.is_empty() { "No scheme" } else { "No scheme without help" };
        (format!("{who} {did} within the limit{which}."), helped)
    }

    /// Describes the results that lack the field in some or all runs; empty if there are none.
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

    /// Adds the last result to the headline `best` or, if some results did not finish, a note on these.
    fn with_worst(
        &self,
        best: String,
        mut notes: Vec<String>,
        field: &str,
        says: &dyn Fn(&Judged) -> String,
    ) -> Said {
        let unfinished = self.unfinished(field);
        if !unfinished.is_empty() {
            notes.push(unfinished + ".");
            return (best, notes);
        }
        let worst = self.last().map_or_else(String::new, |last| {
            format!(" Worst: {}, {}.", named(&self.alike(last)), says(&Judged::of(last)))
        });
        (best + &worst, notes)
    }

    /// Returns the last result; `None` if it is not clearly behind the best, or if the verdict names it already.
    fn last(&self) -> Option<&SchemeResult> {
        let is_named = |last: &SchemeResult| {
            std::ptr::eq(last, self.first) || self.best_helped().iter().any(|best| std::ptr::eq(*best, last))
        };
        let is_behind = |last: &SchemeResult| {
            !self.pairs.alike(self.first, last) && self.pairs.doubt(self.first, last).is_none()
        };
        self.ranked.last().filter(|last| !is_named(last) && is_behind(last))
    }

    /// Returns the note on laws that differ among the ranked results; `None` if no result left start-up, because then no law was used.
    fn laws(&self) -> Option<String> {
        if self.ranked.iter().all(credit::never_left) {
            return None;
        }
        let ranked: Vec<_> = self.ranked.iter().map(governs).collect();
        laws_differ(words::law(self.first), &ranked, laws::option)
    }

    /// Returns the notes on the results that these runs do not distinguish from the best.
    fn undecided(&self) -> Vec<String> {
        let doubts = self.doubts();
        let others: Vec<_> =
            doubts.into_iter().map(|(result, doubt)| (result.name.as_str(), doubt)).collect();
        lag::undecided(self.first.rows.len(), &self.first.name, &others, self.pairs.comparisons)
    }

    /// Returns the results that may be as good as the best and have the deciding number in all runs. Empty with a single run. Only results
    /// that compete for the first place are included.
    fn doubts(&self) -> Vec<(&SchemeResult, lag::Lag)> {
        let is_whole = |result: &SchemeResult| pairs::mean_of(self.contest, result).is_some();
        let mut others = Vec::new();
        for &result in self.field.iter().skip(1).filter(|result| is_whole(result) && is_whole(self.first)) {
            let doubt = self.pairs.doubt(self.first, result);
            let doubt = doubt.filter(|_| !self.pairs.alike(self.first, result));
            others.extend(doubt.map(|doubt| (result, doubt)));
        }
        others
    }
}

/// Returns the avoidance law of a result, and the parameters that were set.
fn governs(result: &SchemeResult) -> (&str, &str) {
    result.rows.first().map(|row| (row.avoidance.as_str(), row.params.as_str())).unwrap_or_default()
}

/// Returns the payload throughput over the payload rate that the path could carry; `None` if other traffic shares the path.
fn share(contest: &Contest, best: &Judged) -> Option<String> {
    let payload = contest.payload_bps.filter(|payload| *payload > 0.0)?;
    Some(percent(best.throughput / payload))
}

fn fct(judged: &Judged) -> String {
    judged.number("fct_s").map_or_else(String::new, span)
}

#[cfg(test)]
mod tests;
