//! Suggestions for unknown words: one rule for options, keys, commands, schemes and values.

mod elsewhere;

use std::cmp::Reverse;

pub use elsewhere::{COMMANDS, LAWS, OPTIONS, QUEUES, RECEIVERS, RECOVERIES, SCHEMES, TRAFFIC};

/// Words of other programs and papers. Each group of words comes with the text that means the same here, in which the names of this program
/// are in backquotes.
pub type Elsewhere = &'static [(&'static [&'static str], &'static str)];

/// Returns the advice for `word`, as a clause of an error. A word of another program has a fixed answer. For a word close to a
/// known word, the clause asks whether the known word is meant. `None` if no known word is close.
pub fn meant<'a>(
    word: &str,
    elsewhere: Elsewhere,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let folded = folded(word);
    let is_it = |(words, _): &&(&[&str], &str)| words.contains(&folded.as_str());
    match elsewhere.iter().find(is_it) {
        Some((_, here)) => Some(format!("write {here}")),
        None => closest(word, known).map(|near| format!("is `{near}` meant?")),
    }
}

/// Returns the advice for `word` among names that are under headings. `headings` has pairs of a heading and a name under it. If
/// the word is a heading or the first part of names, the answer lists these names. Otherwise the answer is the closest name, or else the
/// names that contain the word's parts. A long list shows the first names and the number of the others.
pub fn meant_under<'a>(word: &str, headings: &[(String, &'a str)], known: &[&'a str]) -> Option<String> {
    let folded = folded(word);
    let begun = format!("{folded}-");
    let under = headings.iter().filter(|(heading, _)| self::folded(heading) == folded).map(|(_, name)| *name);
    let under = unique(under);
    if !under.is_empty() {
        return Some(write_one_of(&under));
    }
    let begins = unique(known.iter().copied().filter(|name| self::folded(name).starts_with(&begun)));
    if !begins.is_empty() {
        return Some(write_one_of(&begins));
    }
    let all = known.iter().copied().chain(headings.iter().map(|(heading, _)| heading.as_str()));
    if let Some(near) = closest(word, all) {
        let name = headings.iter().find(|(heading, _)| heading == near).map_or(near, |(_, name)| name);
        return Some(format!("is `{name}` meant?"));
    }
    let headed = headings.iter().filter(|(heading, _)| has_parts(heading, &folded)).map(|(_, name)| *name);
    let within = unique(known.iter().copied().filter(|name| has_parts(name, &folded)).chain(headed));
    (!within.is_empty()).then(|| write_one_of(&within))
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    names.for_each(|name| {
        if !all.contains(&name) {
            all.push(name);
        }
    });
    all
}

/// Returns the clause that lists the names to write.
fn write_one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().take(MAX_ANSWERS).map(|name| format!("`{name}`")).collect();
    match (names.len().saturating_sub(MAX_ANSWERS), quoted.as_slice()) {
        (0, [most @ .., last]) if !most.is_empty() => format!("write {} or {last}", most.join(", ")),
        (0, only) => format!("write {}", only.concat()),
        (1, some) => format!("write {} or `{}`", some.join(", "), names[MAX_ANSWERS]),
        (more, some) => format!("write {} or one of {more} more like these", some.join(", ")),
    }
}

/// Checks whether each part of `word` is the beginning of a part of `name`, in the same order. Parts are separated by characters such as
/// `-`. False if the word has fewer than three letters.
fn has_parts(name: &str, word: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let is_part = |part: &&str| !part.is_empty();
        text.split(|letter: char| !letter.is_alphanumeric()).filter(is_part).map(str::to_lowercase).collect()
    };
    let mut of_name = parts(name).into_iter();
    let of_word = parts(word);
    word.chars().count() >= MIN_WORD
        && !of_word.is_empty()
        && of_word.iter().all(|part| of_name.any(|one| one.starts_with(part.as_str())))
}

/// Minimum number of letters of a word that is searched for within names.
const MIN_WORD: usize = 3;

/// Maximum number of names in an answer.
const MAX_ANSWERS: usize = 4;

/// Applies [`meant`] to options of the command line, whose names begin with dashes. An answer for a word of another program is used only if
/// its first name is in `known`, because each command has its own options.
pub fn meant_option<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    let answer = meant(word, OPTIONS, known.clone())?;
    let first = answer.split('`').nth(1).unwrap_or_default();
    if !known.clone().into_iter().any(|name| name == first) {
        return closest(word, known).map(|near| format!("is `--{near}` meant?"));
    }
    let part = |(index, part): (usize, &str)| {
        if index % 2 == 1 { format!("`--{part}`") } else { part.to_owned() }
    };
    Some(answer.split('`').enumerate().map(part).collect())
}

/// Returns the known word closest to `word`. `None` if none is close enough: at most a third of the letters may differ, but at least one
/// letter always may. Two swapped neighbours count as one difference. Upper and lower case do not differ, nor do `_` and `-`. Of several
/// equally close words, the one that shares the longest beginning with `word` is chosen.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    let most = (word.chars().count() / 3).max(1);
    let far = |candidate: &str| strsim::osa_distance(&word, &folded(candidate));
    let same = |candidate: &str| word.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
    let near = known.into_iter().map(|candidate| (far(candidate), Reverse(same(candidate)), candidate));
    let (distance, _, best) = near.min()?;
    (distance <= most).then_some(best)
}

/// Returns the word in lower case, with `-` for `_` and for spaces.
pub(crate) fn folded(word: &str) -> String {
    word.trim().to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;
    use crate::{keywords, parse_choices};
    use firstflight::registry::Registry;

    #[test]
    fn a_near_miss_is_suggested_and_a_far_one_is_not() {
        let known = ["rate", "rtt", "queue", "reverse-rate", "schemes"];
        assert_eq!(closest("rat", known), Some("rate"));
        assert_eq!(closest("rtte", known), Some("rtt"), "`rate` is as close and begins otherwise");
        assert_eq!(closest("quue", known), Some("queue"));
        assert_eq!(closest("RATE", known), Some("rate"));
        assert_eq!(closest("reverse_rate", known), Some("reverse-rate"));
        assert_eq!(closest("rtae", known), Some("rate"), "two letters changed places");
        assert_eq!(closest("scheme", known), Some("schemes"));
        assert_eq!(closest("bandwidth", known), None);
        assert_eq!(closest("path", known), None);
    }

    #[test]
    fn an_option_from_elsewhere_is_told_the_one_here() {
        let known = || keys::names().chain(["schemes", "report", "jobs"]);
        for (word, here) in [
            ("bandwidth", "write `--rate`"),
            ("BW", "write `--rate`"),
            ("initcwnd", "write `--iw`"),
            ("buffer", "write `--queue`"),
            ("loss_rate", "write `--loss`"),
            ("latency", "write `--rtt`, which is both ways: twice a delay of one way"),
            ("cc", "write `--schemes` for the start-up, `--avoidance` for the law after it"),
            ("scheme", "is `--schemes` meant?"),
        ] {
            assert_eq!(meant_option(word, known()).as_deref(), Some(here), "{word}");
        }
        assert_eq!(meant_option("bandwidth", ["json", "report"]), None, "a command without a rate");
        assert_eq!(meant_option("zzzzzzzz", known()), None);
    }

    #[test]
    fn a_heading_is_answered_with_the_name_that_stands_under_it() {
        let headings = [
            ("FCT", "fct_s"),
            ("time to 90 %", "time_to_90pct_s"),
            ("median", "a_median"),
            ("median", "b_median"),
        ]
        .map(|(heading, name)| (heading.to_owned(), name));
        let known = ["fct_s", "time_to_90pct_s", "a_median", "b_median", "rate_bps", "rate_low", "loss"];
        for (word, answer) in [
            ("fct", "write `fct_s`"),
            ("FCT", "write `fct_s`"),
            ("Time to 90 %", "write `time_to_90pct_s`"),
            ("time_to_90_%", "write `time_to_90pct_s`"),
            ("median", "write `a_median` or `b_median`"),
            ("rate", "write `rate_bps` or `rate_low`"),
            ("los", "is `loss` meant?"),
            ("medain", "is `a_median` meant?"),
        ] {
            assert_eq!(meant_under(word, &headings, &known).as_deref(), Some(answer), "{word}");
        }
        assert_eq!(meant_under("zzzzzzzz", &headings, &known), None);
        assert_eq!(meant_under("--", &headings, &known), None);
        // The word is found within names if their parts begin with the word's parts, in order.
        for (word, answer) in [
            ("90 %", "write `time_to_90pct_s`"),
            ("time 90pct", "write `time_to_90pct_s`"),
            ("med", "write `a_median` or `b_median`"),
        ] {
            assert_eq!(meant_under(word, &headings, &known).as_deref(), Some(answer), "{word}");
        }
        assert_eq!(meant_under("90pct time", &headings, &known), None);
        // A long list shows the first names, and the number of the others.
        let many = ["of_a", "of_b", "of_c", "of_d", "of_e", "of_f", "of_g"];
        let said = |known: &[&str]| meant_under("of", &[], known).expect("an answer");
        assert_eq!(said(&many[..5]), "write `of_a`, `of_b`, `of_c`, `of_d` or `of_e`");
        assert_eq!(said(&many), "write `of_a`, `of_b`, `of_c`, `of_d` or one of 3 more like these");
    }

    /// Returns all names in backquotes in the answers of a table.
    fn names(table: Elsewhere) -> impl Iterator<Item = &'static str> {
        table.iter().flat_map(|(_, here)| here.split('`').skip(1).step_by(2))
    }

    #[test]
    fn every_suggestion_is_valid_and_foreign_words_are_not_accepted_here() {
        let of_the_command =
            ["schemes", "jobs", "report", "json", "csv", "figure", "pcap", "parquet", "events", "qlog"];
        for name in names(OPTIONS) {
            assert!(keys::key(name).is_some() || of_the_command.contains(&name), "{name}");
        }
        for name in names(SCHEMES) {
            parse_choices(name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(QUEUES) {
            crate::bottleneck::queue(name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(TRAFFIC) {
            keywords::cross(Registry::builtin(), name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(RECOVERIES) {
            keywords::recovery(name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(RECEIVERS) {
            keywords::ack(name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(LAWS) {
            keywords::avoidance(Registry::builtin(), name).unwrap_or_else(|error| panic!("{error}"));
        }
        for (words, _) in OPTIONS {
            assert!(words.iter().all(|word| keys::key(word).is_none() && folded(word) == *word), "{words:?}");
        }
        for (words, _) in SCHEMES {
            assert!(words.iter().all(|word| parse_choices(word).is_err()), "{words:?}");
        }
    }
}
