//! What a word that is not known may have meant: one rule for options, keys, commands, schemes and values.

mod elsewhere;

use std::cmp::Reverse;

pub use elsewhere::{COMMANDS, LAWS, OPTIONS, QUEUES, RECEIVERS, RECOVERIES, SCHEMES, TRAFFIC};

/// Words of other programs and papers, and what says the same here: the names of this program stand in backquotes.
pub type Elsewhere = &'static [(&'static [&'static str], &'static str)];

/// What to write instead of `word`, as a clause of an error: words from elsewhere have an answer of their own, and a word
/// that is nearly a known one is asked about. `None` if nothing is near.
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

/// [`meant`] among names that stand under headings: each heading beside its name. A word that is a heading, or that names begin
/// with, is answered with those names, and one that is within names with those; else the nearest is asked about. Of many names
/// the first are said, and how many more there are.
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

/// The clause that says what to write.
fn write_one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().take(MOST_ANSWERS).map(|name| format!("`{name}`")).collect();
    match (names.len().saturating_sub(MOST_ANSWERS), quoted.as_slice()) {
        (0, [most @ .., last]) if !most.is_empty() => format!("write {} or {last}", most.join(", ")),
        (0, only) => format!("write {}", only.concat()),
        (1, some) => format!("write {} or `{}`", some.join(", "), names[MOST_ANSWERS]),
        (more, some) => format!("write {} or one of {more} more like these", some.join(", ")),
    }
}

/// Whether the parts of a name, between its dashes, begin with those of a word that has at least three letters, in the same order.
fn has_parts(name: &str, word: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let is_part = |part: &&str| !part.is_empty();
        text.split(|letter: char| !letter.is_alphanumeric()).filter(is_part).map(str::to_lowercase).collect()
    };
    let mut of_name = parts(name).into_iter();
    let of_word = parts(word);
    word.chars().count() >= LEAST_WORD
        && !of_word.is_empty()
        && of_word.iter().all(|part| of_name.any(|one| one.starts_with(part.as_str())))
}

/// The letters of the shortest word that is looked for within names.
const LEAST_WORD: usize = 3;

/// The most names of an answer.
const MOST_ANSWERS: usize = 4;

/// [`meant`] on the command line, where names have dashes. A name from elsewhere is answered only if the first name of the
/// answer is a known one: each command has options of its own.
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

/// The known word closest to `word`, if one is close enough to have been meant: at most a third of the letters differ, and at
/// least one may. Two neighbours that changed places are one difference; case, and `_` for `-`, are none. Of words as close as
/// each other it is the one that begins like `word` for longest.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    let most = (word.chars().count() / 3).max(1);
    let far = |candidate: &str| strsim::osa_distance(&word, &folded(candidate));
    let same = |candidate: &str| word.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
    let near = known.into_iter().map(|candidate| (far(candidate), Reverse(same(candidate)), candidate));
    let (distance, _, best) = near.min()?;
    (distance <= most).then_some(best)
}

/// The word in lower case, with `-` for `_` and for spaces.
pub(crate) fn folded(word: &str) -> String {
    word.trim().to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;
    use crate::{parse_choices, words};
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
        // Within names: by what their parts begin with, in order.
        for (word, answer) in [
            ("90 %", "write `time_to_90pct_s`"),
            ("time 90pct", "write `time_to_90pct_s`"),
            ("med", "write `a_median` or `b_median`"),
        ] {
            assert_eq!(meant_under(word, &headings, &known).as_deref(), Some(answer), "{word}");
        }
        assert_eq!(meant_under("90pct time", &headings, &known), None);
        // Of many the first, and how many more.
        let many = ["of_a", "of_b", "of_c", "of_d", "of_e", "of_f", "of_g"];
        let said = |known: &[&str]| meant_under("of", &[], known).expect("an answer");
        assert_eq!(said(&many[..5]), "write `of_a`, `of_b`, `of_c`, `of_d` or `of_e`");
        assert_eq!(said(&many), "write `of_a`, `of_b`, `of_c`, `of_d` or one of 3 more like these");
    }

    /// The names in backquotes of every answer of a table.
    fn names(table: Elsewhere) -> impl Iterator<Item = &'static str> {
        table.iter().flat_map(|(_, here)| here.split('`').skip(1).step_by(2))
    }

    #[test]
    fn every_answer_is_something_that_can_be_written_and_no_word_from_elsewhere_is_one_of_here() {
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
            words::cross(Registry::builtin(), name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(RECOVERIES) {
            words::recovery(name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(RECEIVERS) {
            words::ack(name).unwrap_or_else(|error| panic!("{error}"));
        }
        for name in names(LAWS) {
            words::avoidance(Registry::builtin(), name).unwrap_or_else(|error| panic!("{error}"));
        }
        for (words, _) in OPTIONS {
            assert!(words.iter().all(|word| keys::key(word).is_none() && folded(word) == *word), "{words:?}");
        }
        for (words, _) in SCHEMES {
            assert!(words.iter().all(|word| parse_choices(word).is_err()), "{words:?}");
        }
    }
}
