//! Wraps text for people to the terminal's width. Lines break between words, but never between a number and its unit.

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// A word wider than this many columns, for example a scheme with many parameters, may break after its commas.
const LONG_WORD: usize = 40;

/// A space at which no line is broken.
const NO_BREAK: char = '\u{a0}';

/// Breaks text into lines of at most `width` terminal columns. Without a width the text is unchanged. Continuation lines start `hang`
/// columns to the right of their line's indent.
///
/// A number stays with the next word if that may be its unit. A word wider than the line is not broken, so that people can copy it.
pub fn fold(text: &str, width: Option<usize>, hang: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.split('\n').map(|line| fold_line(line, width, hang).join("\n")).collect::<Vec<_>>().join("\n")
}

/// Returns the lines into which one line of text is wrapped.
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

/// Puts a no-break space between each number and the next word, if that word may be its unit.
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

/// Checks whether the word ends with a number: `53`, `1,234`, `(0.390±0.055`, `7/10`.
fn is_number(word: &str) -> bool {
    let inner = |c: char| c.is_ascii_digit() || "(<>~≈+-–±×.,/".contains(c);
    word.ends_with(|c: char| c.is_ascii_digit()) && word.chars().all(inner)
}

/// Checks whether the word may be the unit of the number before it, or the noun that the number counts.
fn is_unit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || "%×°".contains(c))
}

/// Splits a line into words at spaces. Long words are also split after commas.
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
    fn folded_lines_are_indented_relative_to_the_first_line() {
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
