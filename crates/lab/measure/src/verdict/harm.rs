//! The note on the harm that results do to others.

use super::judged::Judged;
use crate::result::SchemeResult;

/// The harm below which the verdict does not mention it, in bytes for each byte carried.
const SAYS: f64 = 0.5;

/// The waste below which the verdict does not mention it, in bytes for each byte carried.
const WASTES: f64 = 0.1;

/// Returns the note on harm: the bytes that others delivered less for each byte that a flow carried. It names the result with the smallest
/// harm, the best result, and the result with the largest harm. `None` if no result harms others much, or if no result has the field.
pub(super) fn note(ranked: &[SchemeResult], best: &SchemeResult) -> Option<String> {
    let known = |result| Some((result, Judged::of(result).number("harm_per_byte")?));
    let harms: Vec<(&SchemeResult, f64)> = ranked.iter().filter_map(known).collect();
    let less = |one: &&(&SchemeResult, f64), other: &&(&SchemeResult, f64)| one.1.total_cmp(&other.1);
    let (minimum, maximum) = (harms.iter().min_by(less)?, harms.iter().max_by(less)?);
    if maximum.1 < SAYS {
        return None;
    }
    let best = harms.iter().find(|(result, _)| std::ptr::eq(*result, best));
    let mut said: Vec<(&str, f64)> = Vec::new();
    for (result, harm) in std::iter::once(minimum).chain(best).chain([maximum]) {
        if !said.iter().any(|(name, _)| *name == result.name) {
            said.push((&result.name, *harm));
        }
    }
    let costs: Vec<String> = said.iter().map(|(name, harm)| format!("{name} {harm:.1}")).collect();
    Some(format!("bytes that others lose per byte carried: {}{}.", costs.join(", "), waste(maximum.1)))
}

/// Returns the clause on how much of the largest harm is waste.
fn waste(harm: f64) -> String {
    let beyond = harm - 1.0;
    if beyond < WASTES { String::new() } else { format!(" ({beyond:.1} wasted)") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HarmFields, Row};

    fn results(harms: &[(&str, f64)]) -> Vec<SchemeResult> {
        let result = |(name, harm): &(&str, f64)| {
            let harm = HarmFields { harm_per_byte: Some(Some(*harm)), ..HarmFields::UNDEFINED };
            SchemeResult { name: (*name).to_owned(), rows: vec![Row { harm, ..Row::default() }], ideal: None }
        };
        harms.iter().map(result).collect()
    }

    #[test]
    fn the_minimum_the_best_and_the_maximum_are_said_once_each() {
        let ranked = results(&[("leap", 1.9), ("bbr", 4.7), ("hystart++", 1.0)]);
        let note = |ranked: &[SchemeResult]| note(ranked, &ranked[0]).expect("harm");
        assert_eq!(
            note(&ranked),
            "bytes that others lose per byte carried: hystart++ 1.0, leap 1.9, bbr 4.7 (3.7 wasted)."
        );
        assert_eq!(
            note(&ranked[..2]),
            "bytes that others lose per byte carried: leap 1.9, bbr 4.7 (3.7 wasted)."
        );
        assert_eq!(note(&results(&[("paced", 0.96)])), "bytes that others lose per byte carried: paced 1.0.");
    }

    #[test]
    fn nothing_is_said_where_others_lose_nothing() {
        let ranked = results(&[("leap", 0.01), ("bbr", -0.4)]);
        assert_eq!(note(&ranked, &ranked[0]), None);
        assert_eq!(note(&[], &ranked[0]), None);
    }
}
