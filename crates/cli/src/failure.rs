//! Failures of the command. A failure has one line with the fault and its place, a caret under the place, and an exit code.

use std::fmt;

use firstflight_lab::RunError;
use firstflight_report::prose;

use crate::excerpt;

/// The exit codes of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// A claim or condition that was to be checked does not hold.
    Check = 1,
    /// The command line or an input is wrong, or an output cannot be opened.
    Usage = 2,
    /// Writing failed midway.
    Write = 3,
    /// The user interrupted.
    Interrupted = 130,
}

/// The reason why the command stops.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    message: String,
    place: Option<Place>,
}

/// The place of a fault in the input: one line, and the columns to mark.
#[derive(Debug)]
pub(crate) struct Place {
    /// The file, the line number and the column; empty for the command line.
    pub(crate) name: String,
    /// The text of the line.
    pub(crate) line: String,
    /// The number of characters before the fault.
    pub(crate) column: usize,
    /// The number of characters of the fault.
    pub(crate) width: usize,
}

impl Failure {
    /// Returns the failure for a wrong command line or input.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Code::Usage, message)
    }

    /// Returns the failure for a check that found a fault.
    pub(crate) fn check(message: impl fmt::Display) -> Self {
        Self::new(Code::Check, message)
    }

    /// Returns the failure for an output that failed midway.
    pub(crate) fn write(message: impl fmt::Display) -> Self {
        Self::new(Code::Write, message)
    }

    /// Returns the failure for the user's interrupt.
    pub(crate) fn interrupted(message: impl fmt::Display) -> Self {
        Self::new(Code::Interrupted, message)
    }

    /// Returns the failure of a run: a write failure if a log could not be written, or else a fault in the input.
    pub(crate) fn run(error: RunError) -> Self {
        match error {
            RunError::Tap(_) => Self::write(error),
            RunError::Interrupted => Self::interrupted(error),
            _ => Self::usage(error),
        }
    }

    fn new(code: Code, message: impl fmt::Display) -> Self {
        Self { code, message: one_line(&message.to_string()), place: None }
    }

    /// Adds the place of the fault, if it is known.
    pub(crate) fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }

    /// Formats the failure for a terminal of this width: the message wrapped between words, and the part of the place that fits.
    pub(crate) fn shown(&self, width: Option<usize>) -> String {
        let mut out = prose::fold(&format!("error: {}\n", self.message), width, 2);
        let Some(place) = &self.place else { return out };
        if !place.name.is_empty() {
            out = out + " --> " + &excerpt::message(&place.name) + "\n";
        }
        let room = width.map(|width| width.saturating_sub(MARGIN.len()));
        let (line, column, width) = excerpt::around(&place.line, place.column, place.width, room);
        out + &format!("{MARGIN}{line}\n{MARGIN}{}{}\n", " ".repeat(column), "^".repeat(width.max(1)))
    }

    /// Returns the exit code of the process.
    pub(crate) fn code(&self) -> Code {
        self.code
    }
}

/// Shows `error: message`, and the place if it is known.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(None))
    }
}

/// The margin before the line with the fault.
const MARGIN: &str = "  | ";

impl Place {
    /// Finds the first argument that is `needle`, or contains it, as a place on the command line.
    pub(crate) fn argument(arguments: &[String], needle: &str) -> Option<Self> {
        let exact = arguments.iter().position(|argument| argument == needle);
        let index = exact.or_else(|| arguments.iter().position(|argument| argument.contains(needle)))?;
        Self::in_argument(arguments, index, needle)
    }

    /// Returns the place of the value of `option`, or of `part` of it. If there is no such part, returns the place of the option. If the
    /// option is given several times, the first value that has the part is used.
    pub(crate) fn value(arguments: &[String], option: &str, part: &str) -> Option<Self> {
        let with_value = format!("{option}=");
        let given = || {
            let is_it = |argument: &str| argument == option || argument.starts_with(&with_value);
            arguments.iter().enumerate().filter(move |(_, argument)| is_it(argument)).map(|(index, _)| index)
        };
        let value = |index: usize| if arguments[index] == option { index + 1 } else { index };
        let first = given().next()?;
        given()
            .find_map(|index| Self::in_argument(arguments, value(index), part))
            .or_else(|| Self::in_argument(arguments, first, option))
    }

    /// Returns the place of the `number`-th entry of an option, or of `part` in that entry, if the entry has it. Entries are separated by
    /// `;`, and are counted from one over all values of the option.
    pub(crate) fn entry(arguments: &[String], option: &str, number: usize, part: &str) -> Option<Self> {
        let with_value = format!("{option}=");
        let value = |(index, argument): (usize, &String)| {
            if argument == option {
                return Some((index + 1, 0));
            }
            argument.starts_with(&with_value).then_some((index, with_value.len()))
        };
        let values = arguments.iter().enumerate().filter_map(value);
        let mut entries = values.flat_map(|(index, from)| {
            let text = arguments.get(index).and_then(|argument| argument.get(from..)).unwrap_or_default();
            let mut start = from;
            text.split(';').map(move |entry| {
                let at = start;
                start += entry.len() + 1;
                (index, at, entry)
            })
        });
        let (index, at, entry) = entries.nth(number.checked_sub(1)?)?;
        let inside = if part.is_empty() { None } else { entry.rfind(part) };
        let (from, shown) = inside.map_or((at, entry), |inside| (at + inside, part));
        Some(Self::within(arguments, index, from, shown.chars().count()))
    }

    /// Returns the place of `width` characters of an argument, which start at a byte offset.
    fn within(arguments: &[String], index: usize, from: usize, width: usize) -> Self {
        let before: usize = arguments[..index].iter().map(|argument| argument.chars().count() + 1).sum();
        Self {
            name: String::new(),
            line: arguments.join(" "),
            column: before + arguments[index][..from].chars().count(),
            width,
        }
    }

    fn in_argument(arguments: &[String], index: usize, part: &str) -> Option<Self> {
        let argument = arguments.get(index)?;
        // The last occurrence of the part is the fault, as in `--queue=queue`.
        let inside = if part.is_empty() { None } else { argument.rfind(part) }?;
        Some(Self::within(arguments, index, inside, part.chars().count()))
    }

    /// Returns the place of the bytes `from..to` of `text`, the contents of the file `name`.
    pub(crate) fn text(name: &str, text: &str, from: usize, to: usize) -> Option<Self> {
        let before = text.get(..from)?;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let column = before[start..].chars().count();
        let width =
            text.get(from..to).map_or(1, |fault| fault.lines().next().unwrap_or_default().chars().count());
        let number = before.matches('\n').count() + 1;
        Some(Self { name: format!("{name}:{number}:{}", column + 1), line: line.to_owned(), column, width })
    }

    /// Returns the place of the line that sets `key` in the TOML `text`, the contents of the file `name`.
    pub(crate) fn key(name: &str, text: &str, key: &str) -> Option<Self> {
        let mut from = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_start();
            if bare.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('=')) {
                let start = from + line.len() - bare.len();
                return Self::text(name, text, start, start + bare.trim_end().len());
            }
            from += line.len();
        }
        None
    }
}

/// Joins the lines of a text, so that an error is one line even if it quotes several.
fn one_line(text: &str) -> String {
    excerpt::message(
        &text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_argument() {
        let arguments = ["firstflight", "race", "--rate=0mbit"].map(str::to_owned);
        let failure = Failure::usage("zero").at(Place::argument(&arguments, "0mbit"));
        assert_eq!(
            failure.to_string(),
            "error: zero\n  | firstflight race --rate=0mbit\n  |                         ^^^^^\n"
        );
    }

    #[test]
    fn a_repeated_option_is_marked_at_the_value_at_fault() {
        let arguments = ["race", "--flow", "size=1kB", "--flow", "end=x"].map(str::to_owned);
        let under = |part| Place::value(&arguments, "--flow", part).map(|place| place.column);
        assert_eq!((under("1kB"), under("x"), under("none of them")), (Some(17), Some(32), Some(5)));
    }

    #[test]
    fn list_entries_are_counted_over_all_values_of_their_option() {
        let arguments = ["race", "--flow", "a=1;b=1", "--flow=b=1,c"].map(str::to_owned);
        let under = |number, part| {
            Place::entry(&arguments, "--flow", number, part).map(|place| (place.column, place.width))
        };
        assert_eq!(
            [under(1, "1"), under(2, "1"), under(3, "1")],
            [Some((14, 1)), Some((18, 1)), Some((29, 1))]
        );
        assert_eq!((under(2, "none of it"), under(3, "")), (Some((16, 3)), Some((27, 5))));
        assert_eq!((under(4, ""), under(0, "")), (None, None));
        assert!(Place::entry(&arguments, "--cross", 1, "").is_none());
    }

    #[test]
    fn the_caret_stands_under_the_text_of_a_file() {
        let failure = Failure::usage("zero").at(Place::text("a.toml", "rtt = 1\nrate = \"0\"\n", 15, 18));
        assert_eq!(failure.to_string(), "error: zero\n --> a.toml:2:8\n  | rate = \"0\"\n  |        ^^^\n");
    }

    #[test]
    fn a_span_outside_the_text_or_inside_a_character_is_no_place() {
        assert!(Place::text("a.toml", "é", 1, 2).is_none());
        assert!(Place::text("a.toml", "", 5, 6).is_none());
        assert!(Place::text("a.toml", "", 0, 6).is_some());
    }

    #[test]
    fn a_key_is_found_in_the_line_that_sets_it() {
        let text = "# queue = 1\nqueue-not = 1\n  queue = \"1B\"\n";
        let failure = Failure::usage("small").at(Place::key("a.toml", text, "queue"));
        assert_eq!(
            failure.to_string(),
            "error: small\n --> a.toml:3:3\n  |   queue = \"1B\"\n  |   ^^^^^^^^^^^^\n"
        );
        assert!(Place::key("a.toml", text, "rate").is_none());
    }

    #[test]
    fn an_error_is_one_line_whatever_it_quotes() {
        assert_eq!(Failure::usage("a\n  b\n").to_string(), "error: a b\n");
        assert_eq!(Failure::usage("a\u{1b}[2J").to_string(), "error: a\\u{1b}[2J\n");
    }

    #[test]
    fn control_characters_are_escaped_in_arguments_file_names_and_lines() {
        let arguments = ["firstflight", "race", "--rate=\u{1b}]0;x\u{7}"].map(str::to_owned);
        let failure = Failure::usage("no").at(Place::value(&arguments, "--rate", "\u{1b}]0;x\u{7}"));
        let caret = " ".repeat(24) + &"^".repeat(15);
        let line = "firstflight race --rate=\\u{1b}]0;x\\u{7}";
        assert_eq!(failure.to_string(), format!("error: no\n  | {line}\n  | {caret}\n"));
        let failure = Failure::usage("no").at(Place::text("a\n\u{1b}", "x\u{1b} = 1\n", 5, 6));
        assert_eq!(
            failure.to_string(),
            "error: no\n --> a\\n\\u{1b}:1:6\n  | x\\u{1b} = 1\n  |           ^\n"
        );
    }
}
