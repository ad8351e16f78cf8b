//! How the command fails: one line of what and where, a caret under the place, and an exit code.

use std::fmt;

use firstflight_report::prose;

use crate::excerpt;

/// The exit codes other than 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// What was to be checked does not hold.
    Check = 1,
    /// The command line or an input is wrong, or an output cannot be opened.
    Usage = 2,
    /// Writing failed midway.
    Write = 3,
    /// The user interrupted.
    Interrupted = 130,
}

/// Why the command stops.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    message: String,
    place: Option<Place>,
}

/// Where in the input the fault is: one line of it, and the columns to point at.
#[derive(Debug)]
pub(crate) struct Place {
    /// File, line and column; empty for the command line.
    pub(crate) name: String,
    /// The line itself.
    pub(crate) line: String,
    /// Characters before the fault.
    pub(crate) column: usize,
    /// Characters of the fault.
    pub(crate) width: usize,
}

impl Failure {
    /// A wrong command line or input.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Code::Usage, message)
    }

    /// A check that failed.
    pub(crate) fn check(message: impl fmt::Display) -> Self {
        Self::new(Code::Check, message)
    }

    /// Writing that failed midway.
    pub(crate) fn write(message: impl fmt::Display) -> Self {
        Self::new(Code::Write, message)
    }

    /// The user's interrupt.
    pub(crate) fn interrupted(message: impl fmt::Display) -> Self {
        Self::new(Code::Interrupted, message)
    }

    fn new(code: Code, message: impl fmt::Display) -> Self {
        Self { code, message: one_line(&message.to_string()), place: None }
    }

    /// Points at the fault.
    pub(crate) fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }

    /// The failure as it is said on a terminal of this width: its line broken between words, and of the place what fits.
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

    /// What the process ends with.
    pub(crate) fn code(&self) -> Code {
        self.code
    }
}

/// `error: message`, and the place if it is known.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(None))
    }
}

/// What stands before the line with the fault.
const MARGIN: &str = "  | ";

impl Place {
    /// The first argument that is `needle`, or contains it, as a place on the command line.
    pub(crate) fn argument(arguments: &[String], needle: &str) -> Option<Self> {
        let exact = arguments.iter().position(|argument| argument == needle);
        let index = exact.or_else(|| arguments.iter().position(|argument| argument.contains(needle)))?;
        Self::in_argument(arguments, index, needle)
    }

    /// The value of `option`, or `part` of it; the option itself if there is no such part. Of an option that is given several
    /// times, the first value that has the part.
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

    /// Of an option whose values are lists with `;`, the `number`-th entry of all of them, from one; or `part` of it, if it has that.
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

    /// What stands in an argument from a byte on, so many characters.
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
        // What stands last is the fault: `--queue=queue`.
        let inside = if part.is_empty() { None } else { argument.rfind(part) }?;
        Some(Self::within(arguments, index, inside, part.chars().count()))
    }

    /// The bytes `from..to` of `text`, the contents of the file `name`.
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

    /// The line of the TOML `text`, the contents of the file `name`, that sets `key`.
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

/// Joins the lines of a text, so that an error is one line whatever text it quotes.
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
    fn of_an_option_given_twice_the_value_at_fault_is_pointed_at() {
        let arguments = ["race", "--flow", "size=1kB", "--flow", "end=x"].map(str::to_owned);
        let under = |part| Place::value(&arguments, "--flow", part).map(|place| place.column);
        assert_eq!((under("1kB"), under("x"), under("none of them")), (Some(17), Some(32), Some(5)));
    }

    #[test]
    fn the_entry_of_a_list_is_counted_over_all_values_of_its_option() {
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
    fn what_controls_a_terminal_is_shown_by_its_escape_wherever_it_stands() {
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
