//! Numbers as a text prints them: whether a measured value is that number, and whether a text has it.

/// A list of printed numbers, such as `0.046`, `22,684`, `13 %`, `0.81, 0.92` or `undefined`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed(Vec<String>);

/// The text that describes the syntax of printed numbers.
pub(crate) const WANTED: &str =
    "numbers as `why` prints them are, such as `0.046`, `22,684`, `13 %`, `undefined`, or `0.81, 0.92`";

impl Printed {
    /// Reads numbers that are separated by a comma and a blank; `None` if one is not a number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let all: Vec<String> = text.split(", ").map(|one| one.trim().to_owned()).collect();
        all.iter().all(|one| one == UNDEFINED || plain(one).is_some()).then_some(Self(all))
    }

    /// Returns the first of the numbers that the text does not have as a separate number.
    pub(crate) fn missing_in(&self, text: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|one| !has(text, one))
    }

    /// Checks whether the values, rounded to the printed digits, are these numbers. A printed `0` is exactly zero.
    pub fn is(&self, values: &[f64]) -> bool {
        let is_one = |(printed, value): (&String, &f64)| match plain(printed) {
            None => !value.is_finite(),
            Some((digits, share)) => {
                let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
                let rounded = format!("{:.decimals$}", value * if share { 100.0 } else { 1.0 });
                let is_none = digits == "0" && *value != 0.0;
                value.is_finite() && !is_none && rounded.parse::<f64>() == digits.parse()
            }
        };
        self.0.len() == values.len() && self.0.iter().zip(values).all(is_one)
    }

    /// Returns the numbers as the file has them.
    pub fn text(&self) -> String {
        self.0.join(", ")
    }
}

/// The text for a value that is undefined.
const UNDEFINED: &str = "undefined";

/// Returns the digits of a number without the commas between thousands, and whether it is in per cent.
fn plain(text: &str) -> Option<(String, bool)> {
    let without = text.strip_suffix('%').map(str::trim_end);
    let number = without.unwrap_or(text);
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let mut thousands = whole.split(',').skip(1);
    let digits = number.replace(',', "");
    let is_number = thousands.all(|three| three.len() == 3)
        && !rest.contains(',')
        && digits.chars().all(|one| one.is_ascii_digit() || "-.".contains(one))
        && digits.parse::<f64>().is_ok();
    is_number.then_some((digits, without.is_some()))
}

/// Checks whether a text has these words, which are not part of a longer number.
pub(crate) fn has(text: &str, words: &str) -> bool {
    let is_within = |mark: Option<char>, beyond: Option<char>| match mark {
        Some('.' | ',') => beyond.is_some_and(|beyond| beyond.is_ascii_digit()),
        mark => mark.is_some_and(|mark| mark.is_ascii_digit()),
    };
    let is_digit = |one: Option<char>| one.is_some_and(|one| one.is_ascii_digit());
    text.match_indices(words).any(|(at, _)| {
        let (mut before, mut after) = (text[..at].chars().rev(), text[at + words.len()..].chars());
        let starts = !is_digit(words.chars().next()) || !is_within(before.next(), before.next());
        starts && (!is_digit(words.chars().last()) || !is_within(after.next(), after.next()))
    })
}

/// Checks whether the output of a command has these words, or a number that rounds to their digits.
pub fn prints(output: &str, words: &str) -> bool {
    let numbers = output.split(|one: char| !one.is_ascii_digit() && !"-.".contains(one));
    let mut numbers = numbers.filter_map(|one| one.trim_end_matches('.').parse().ok());
    let is_printed = |printed: Printed| numbers.any(|number| printed.is(&[number]));
    has(output, words) || Printed::parse(words).filter(|_| !words.ends_with('%')).is_some_and(is_printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_printed_number_if_it_rounds_to_its_digits() {
        let is = |text: &str, values: &[f64]| Printed::parse(text).expect(text).is(values);
        assert!(is("0.046", &[0.045_51]) && !is("0.046", &[0.0466]));
        assert!(is(".046", &[0.046]) && is("43", &[43.4]) && is("22,684", &[22684.0]));
        assert!(is("13 %", &[0.1349]) && is("13%", &[0.13]) && !is("13 %", &[13.0]));
        assert!(
            !is("0", &[-0.2])
                && is("0", &[0.0])
                && is("0.0", &[0.04])
                && is("-0.12", &[-0.12])
                && is("0.10", &[0.0996])
        );
        assert!(is("0.81, 0.92", &[0.81, 0.92]) && !is("0.81, 0.92", &[0.81]));
        assert!(is("undefined", &[f64::NAN]) && !is("0", &[f64::NAN]) && !is("undefined", &[1.0]));
        for text in ["", "about 3", "1e3", "0.81,", "--", "%", "0.1 s"] {
            assert_eq!(Printed::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_in_a_text_is_no_part_of_another_one() {
        assert!(has("it is 0.04.", "0.04") && has("of 4, 5 and .046", "4") && has("(0.4)", "0.4"));
        assert!(!has("it is 0.046", "0.04") && !has("it is 14", "4") && !has("it is 4.5", "4"));
        assert!(!has("1,768 lost", "768") && !has("1,768 lost", "1") && has("1,768 lost", "1,768"));
        let list = Printed::parse("0.4, 0.5").expect("numbers");
        assert_eq!((list.missing_in("0.5 and 0.4"), list.missing_in("0.4 alone")), (None, Some("0.5")));
        assert!(prints("lost 22684", "22,684") && prints("22,684", "22,684") && !prints("226841", "22,684"));
        assert!(
            prints("104.64 in all.", "104.6") && !prints("104.66", "104.6") && prints("it is 13 %.", "13 %")
        );
        assert!(prints("exit: loss.", "loss") && !prints("exit: rate", "loss"));
    }
}
