//! Text for people, in lines of a terminal: broken between words, and never between a number and its unit.

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// A word wider than this many columns, such as a scheme with many parameters, may break behind its commas.
const LONG_WORD: usize = 40;

/// A space at which no line ends.
const NO_BREAK: char = '\u{a0}';

/// The text with its lines broken so that none is wider than `width` columns; as it is without a width. What follows of a
/// line begins as far to the right as the line did, and `hang` columns farther.
///
/// A number stays with the word behind it. A word that is wider than the line is whole, so that it can be copied.
pub fn fold(text: &str, width: Option<usize>, hang: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.split('\n').map(|line| fold_line(line, width, hang).join("\n")).collect::<Vec<_>>().join("\n")
}

/// The lines of a line of text.
pub(crate) fn fold_line(line: &str, width: usize, hang: usize) -> Vec<String> {
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    let (first, later) = (" ".repeat(indent), " ".repeat(indent + hang));
    let options = Options::new(width)
        .initial_indent(&first)
        .subsequent_indent(&later)
        .break_words(false)
        .word_separator(WordSeparator::Custom(words_of))
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let words = joined(words);
    textwrap::wrap(&words, options).into_iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// The text with a space without a break behind every number that a word follows.
pub(crate) fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        out.push_str(word);
        if let Some(next) = words.peek() {
            out.push(if is_number(word) && is_unit(next) { NO_BREAK } else { ' ' });
        }
    }
    out
}

/// Whether the word is a number and nothing follows it, such as `53`, `1,234`, `(0.390±0.055` and `7/10`.
fn is_number(word: &str) -> bool {
    let inner = |c: char| c.is_ascii_digit() || "(<>~≈+-–±×.,/".contains(c);
    word.ends_with(|c: char| c.is_ascii_digit()) && word.chars().all(inner)
}

/// Whether the word may be the unit of a number before it, or what it counts.
fn is_unit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || "%×°".contains(c))
}

/// Words end at spaces, long ones also behind a comma.
fn words_of(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let pieces = WordSeparator::AsciiSpace.find_words(line).flat_map(|word| {
        if word.width <= LONG_WORD {
            return vec![word];
        }
        let mut pieces: Vec<Word<'_>> = word.word.split_inclusive(',').map(Word::from).collect();
        if let Some(last) = pieces.last_mut() {
            last.whitespace = word.whitespace;
        }
        pieces
    });
    Box::new(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_number_stays_with_its_unit() {
        let text = "paced needs 53 % more than the ideal of 1.25 s, in 7 of 10 runs";
        for width in 10..60 {
            for line in fold(text, Some(width), 0).lines() {
                assert!(!line.ends_with(|c: char| c.is_ascii_digit()), "{width}: {line}");
            }
        }
        assert_eq!(fold("it took 53 %", Some(10), 0), "it took\n53 %");
        assert_eq!(fold("it took 53 %", Some(12), 0), "it took 53 %");
    }

    #[test]
    fn without_a_width_nothing_is_broken_and_lines_stay_lines() {
        let text = "a b\n\n  c d\n";
        assert_eq!(fold(text, None, 2), text);
        assert_eq!(fold(text, Some(80), 2), text);
    }

    #[test]
    fn what_follows_hangs_from_where_the_line_began() {
        assert_eq!(fold("note: one two", Some(9), 6), "note: one\n      two");
        assert_eq!(fold("  one two", Some(6), 2), "  one\n    two");
    }

    #[test]
    fn a_long_word_breaks_behind_its_commas_and_gains_nothing() {
        let name = "paced:profile=paper,train=8,first=4,least=16,most=1000";
        let folded = fold(name, Some(30), 0);
        assert_eq!(folded, "paced:profile=paper,train=8,\nfirst=4,least=16,most=1000");
        assert_eq!(fold("a https://example", Some(10), 0), "a\nhttps://example", "a short one is whole");
    }

    proptest! {
        #[test]
        fn folding_changes_nothing_but_where_lines_end(
            text in "[a-z0-9,.%±é提]{1,9}( [a-z0-9,.%±é提]{1,9}){0,20}", width in 24_usize..100
        ) {
            let folded = fold(&text, Some(width), 0);
            prop_assert_eq!(folded.replace('\n', " "), text);
            prop_assert!(folded.lines().all(|line| line.width() <= width), "{}", folded);
        }
    }
}
