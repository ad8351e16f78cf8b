//! What a comparison says, in sentences.

use crate::comparison::{Changed, Comparison, Standing};
use crate::matching::Basis;
use crate::table::form;

/// The maximum number of schemes, or of numbers of a scheme, that a sentence names.
const NAMED: usize = 4;

/// Returns the sentences of a comparison, one on each line: what became worse, what became better, and the limits of the comparison.
pub fn sentences(comparison: &Comparison) -> String {
    let mut lines = vec![verdict(comparison)];
    lines.push(basis(comparison));
    lines.extend(undefined(comparison));
    lines.extend(notes(comparison));
    lines.join("\n")
}

/// Returns the worst standing of a comparison: worse, if any number is; otherwise better, moved, may be chance, or equal.
pub fn standing(comparison: &Comparison) -> Standing {
    const ORDER: [Standing; 8] = [
        Standing::Worse,
        Standing::Better,
        Standing::Moved,
        Standing::OnePair,
        Standing::Unclear,
        Standing::PartlyEqual,
        Standing::Undefined,
        Standing::Equal,
    ];
    let has = |standing: &&Standing| comparison.numbers.iter().any(|number| number.standing() == **standing);
    ORDER.iter().find(has).copied().unwrap_or(Standing::Equal)
}

fn verdict(comparison: &Comparison) -> String {
    let schemes = comparison.schemes();
    let with = |standing: Standing| -> Vec<String> {
        let of = |scheme: &&str| {
            let numbers: Vec<String> =
                comparison.of(scheme).filter(|number| number.standing() == standing).map(phrase).collect();
            (!numbers.is_empty()).then(|| format!("{scheme} ({})", few(&numbers)))
        };
        schemes.iter().filter_map(of).collect()
    };
    let mut parts = Vec::new();
    for (standing, word) in [
        (Standing::Worse, "Worse"),
        (Standing::Better, "Better"),
        (Standing::Moved, "Moved, for better or worse"),
        (Standing::OnePair, "Differs in the one pair that there is"),
    ] {
        let schemes = with(standing);
        if !schemes.is_empty() {
            parts.push(format!("{word}: {}.", few(&schemes)));
        }
    }
    let with_standing =
        |standing| comparison.numbers.iter().filter(|number| number.standing() == standing).count();
    let (equal, unclear) = (with_standing(Standing::Equal), with_standing(Standing::Unclear));
    let partly = with_standing(Standing::PartlyEqual);
    let numbers = |numbers: usize| count(numbers, "number", "numbers");
    let are = |count: usize| format!("{} {}", numbers(count), if count == 1 { "is" } else { "are" });
    if parts.is_empty() && unclear + partly == 0 {
        let are = if equal == 1 { "is" } else { "are" };
        return format!("Nothing changed: {} {are} equal in all pairs.", numbers(equal));
    }
    if parts.is_empty() {
        parts.push("No number changed significantly.".to_owned());
    }
    if unclear > 0 {
        let differ = if unclear == 1 { "differs" } else { "differ" };
        parts.push(format!("{} {differ} in some pairs, which may be chance.", numbers(unclear)));
    }
    if partly > 0 {
        parts.push(format!("{} equal in all pairs, but not defined in the same runs.", are(partly)));
    }
    if equal > 0 {
        parts.push(format!("{} {} equal.", numbers(equal), if equal == 1 { "is" } else { "are" }));
    }
    parts.join(" ")
}

/// Describes a number's change: `cost +3.1 %, +2.8 to +3.4`.
fn phrase(number: &Changed) -> String {
    let Some(change) = &number.change else { return number.field.clone() };
    let (size, interval) = form(&number.field, change);
    let interval = interval.map_or_else(String::new, |interval| format!(", {interval}"));
    format!("{} {size}{interval}", number.field)
}

/// Joins phrases, and counts those beyond [`NAMED`].
fn few(phrases: &[String]) -> String {
    match phrases.split_at_checked(NAMED) {
        Some((some, more)) if !more.is_empty() => format!("{}; {} more", some.join("; "), more.len()),
        _ => phrases.join("; "),
    }
}

/// Describes runs that lost or gained a number, such as transfers that no longer finish.
fn undefined(comparison: &Comparison) -> Option<String> {
    let of = |number: &Changed| {
        let [before, after] = number.only;
        (before + after > 0).then(|| {
            format!("{} of {} ({before} only before, {after} only after)", number.field, number.scheme)
        })
    };
    let said: Vec<String> = comparison.numbers.iter().filter_map(of).collect();
    (!said.is_empty()).then(|| {
        format!("note: matched runs without a pair, because one side lacks the number: {}.", few(&said))
    })
}

fn count(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

fn basis(comparison: &Comparison) -> String {
    let Comparison { paths, units, numbers, .. } = comparison;
    let matched = match comparison.basis {
        Basis::Seeds if *paths > 1 => format!(
            "Each run is compared with the run of the same path and seed, on {}; {} {} independent.",
            count(*paths, "path", "paths"),
            count(*units, "draw", "draws"),
            if *units == 1 { "is" } else { "are" }
        ),
        Basis::Seeds => {
            format!("Each run is compared with the run of the same seed: {}.", count(*units, "pair", "pairs"))
        }
        Basis::Paths => format!(
            "The seeds differ, so the means of {} are compared, path by path.",
            count(*paths, "path", "paths")
        ),
        Basis::Unpaired => "No run has a partner, so both sides are compared as samples (Welch).".to_owned(),
        Basis::Scores => {
            "A score has no runs, so its numbers are compared without intervals; give the folders of the sweeps for intervals.".to_owned()
        }
        Basis::Means => {
            "The rows are means, so both means are compared (Welch); rows of --each-run are compared in pairs.".to_owned()
        }
    };
    let many = numbers.len();
    let together = if many > 1 {
        format!(" The 95 % intervals hold together, for all {many} numbers.")
    } else {
        String::new()
    };
    format!("note: {matched}{together}")
}

/// Returns the probability of two samples of these sizes that do not overlap, if both come from one distribution (the rank-sum test).
fn rarest(before: usize, after: usize) -> f64 {
    // 1 over the number of ways to choose the smaller sample.
    let (few, all) = (before.min(after), before + after);
    let choices = (0..few).map(|taken| real(all - taken) / real(few - taken)).product::<f64>();
    2.0 / choices
}

#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
fn real(count: usize) -> f64 {
    count as f64
}

/// Returns the smallest number of pairs with which a change can be significant for so many comparisons: that for which pairs that all
/// changed in one direction are rare enough.
fn needed(comparisons: usize) -> usize {
    let mut pairs = 1;
    let mut share = 1.0;
    #[expect(clippy::cast_precision_loss, reason = "comparisons are far below 2^53")]
    while share * comparisons as f64 > 0.05 {
        pairs += 1;
        share /= 2.0;
    }
    pairs
}

fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let (needed, is_paired) =
        (needed(comparison.comparisons), matches!(comparison.basis, Basis::Seeds | Basis::Paths));
    let [before, after] = comparison.samples;
    if comparison.basis == Basis::Unpaired && rarest(before, after) * real(comparison.comparisons) > 0.05 {
        notes.push(format!(
            "note: {before} and {after} runs cannot make a change of one of {} significant. --numbers compares fewer.",
            count(comparison.comparisons, "number", "numbers")
        ));
    }
    if comparison.is_mixed {
        notes.push(
            "note: the rows of another scheme are matched in another way, because it has other rows."
                .to_owned(),
        );
    }
    if is_paired && comparison.units < needed {
        notes.push(format!(
            "note: {} cannot make a change of one of {} significant; at least {needed} pairs can. --numbers compares fewer.",
            count(comparison.units, "pair", "pairs"),
            count(comparison.comparisons, "number", "numbers")
        ));
    }
    if comparison.by_name {
        notes.push(
            "note: paths are matched by their numbers, whatever their scenarios are (--by-name).".to_owned(),
        );
    }
    let [before, after] = comparison.left_out;
    if before + after > 0 {
        notes.push(format!("note: without a partner: {before} rows before, {after} rows after."));
    }
    for (names, when) in comparison.only.iter().zip(["before", "after"]) {
        if !names.is_empty() {
            notes.push(format!("note: only {when}: {}.", few(names)));
        }
    }
    let [before, after] = &comparison.programs;
    if before != after && !(before.is_empty() || after.is_empty()) {
        let (before, after) = (before.join(" and "), after.join(" and "));
        notes.push(format!("note: before raced by version {before}; after by version {after}."));
    }
    let [before, after] = &comparison.sources;
    if before != after {
        let of = |sources: &[String]| {
            if sources.is_empty() { "none".to_owned() } else { sources.join(" and ") }
        };
        notes.push(format!(
            "note: the sources of your own schemes differ: {} before, {} after.",
            of(before),
            of(after)
        ));
    }
    notes
}
