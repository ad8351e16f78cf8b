//! Reads scripts by recursive descent (google/packetdrill `parser.y`).

mod call;
mod packet;

use crate::lexer::{self, Kind, Token};
use crate::problem::Problem;
use crate::syntax::{Action, Event, Script, ScriptOption, When};

/// Reads a script.
pub(crate) fn parse(text: &str) -> Result<Script, Problem> {
    let tokens = lexer::tokens(text)?;
    let last = text.lines().count().max(1);
    let mut parser = Parser { tokens, next: 0, last_line: last, depth: 0 };
    let options = parser.options()?;
    parser.define(&options)?;
    let mut events = Vec::new();
    while parser.peek().is_some() {
        events.push(parser.event()?);
    }
    let begins = events.iter().find(|event| event.when != When::Aside);
    match begins {
        None => Err(Problem::unreadable(last, "a script without events")),
        Some(event) if !matches!(event.when, When::At(0) | When::After(0)) => {
            Err(Problem::unreadable(event.line, "the first event must be at time 0"))
        }
        Some(_) => Ok(Script { options, events }),
    }
}

/// Maximum duration of a script in microseconds. It is about a century, so that no time overflows.
pub(crate) const LONGEST: i64 = 3_000_000_000_000_000;
/// Maximum nesting of a call's arguments.
const DEEPEST: usize = 32;

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    last_line: usize,
    depth: usize,
}

impl Parser {
    fn options(&mut self) -> Result<Vec<ScriptOption>, Problem> {
        let mut options = Vec::new();
        while let Some(Kind::Option(name)) = self.peek().cloned() {
            let line = self.line();
            self.next += 1;
            let mut value = String::new();
            if self.accept('=') {
                value = self.option_value()?;
                if self.accept('=') {
                    value = format!("{value}={}", self.option_value()?);
                }
            }
            options.push(ScriptOption { name, value, line });
        }
        Ok(options)
    }

    fn option_value(&mut self) -> Result<String, Problem> {
        let value = match self.peek() {
            Some(Kind::Word(text) | Kind::Address(text) | Kind::Micros { text, .. }) => text.clone(),
            Some(Kind::Text(text)) => format!("\"{text}\""),
            Some(Kind::Command(text)) => format!("`{text}`"),
            Some(Kind::Integer(value)) => value.to_string(),
            Some(Kind::Hexadecimal(value)) => format!("{value:#x}"),
            _ => return Err(self.expected("the option's value")),
        };
        self.next += 1;
        Ok(value)
    }

    /// Replaces every occurrence of a name by its value, for `--define=NAME=value`.
    fn define(&mut self, options: &[ScriptOption]) -> Result<(), Problem> {
        for option in options.iter().filter(|option| option.name == "define") {
            let Some((name, value)) = option.value.split_once('=') else {
                return Err(Problem::unreadable(option.line, "`--define` wants NAME=value"));
            };
            let inside = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
            let kind = match (inside('"'), inside('`')) {
                (Some(text), _) => Kind::Text(text.to_owned()),
                (None, Some(text)) => Kind::Command(text.to_owned()),
                (None, None) => Kind::Word(value.to_owned()),
            };
            for token in &mut self.tokens[self.next..] {
                if token.kind == Kind::Word(name.to_owned()) {
                    token.kind = kind.clone();
                }
            }
        }
        Ok(())
    }

    fn event(&mut self) -> Result<Event, Problem> {
        let line = self.line();
        if let Some(Kind::Command(text)) = self.peek().cloned() {
            self.next += 1;
            return Ok(Event { line, when: When::Aside, action: Action::Command(text) });
        }
        let when = self.when()?;
        let action = self.action(when)?;
        let ranged = matches!(when, When::Any | When::Between(..) | When::Within(..));
        if ranged && !matches!(action, Action::Outbound(_)) {
            let what = "only an outbound packet can have a time range or `*`";
            return Err(Problem::unreadable(line, what));
        }
        Ok(Event { line, when, action })
    }

    fn when(&mut self) -> Result<When, Problem> {
        let line = self.line();
        if self.accept('*') {
            return Ok(When::Any);
        }
        let relative = self.accept('+');
        let start = self.time()?;
        if !self.accept('~') {
            return Ok(if relative { When::After(start) } else { When::At(start) });
        }
        if relative {
            self.expect('+')?;
        }
        let end = self.time()?;
        if end < start {
            return Err(Problem::unreadable(line, "the time range is backwards"));
        }
        Ok(if relative { When::Within(start, end) } else { When::Between(start, end) })
    }

    /// Reads a time in seconds. Returns microseconds.
    fn time(&mut self) -> Result<i64, Problem> {
        let micros = match self.peek() {
            Some(Kind::Micros { value, .. }) => Some(*value),
            Some(Kind::Integer(value)) => value.checked_mul(1_000_000),
            _ => return Err(self.expected("a time")),
        };
        let micros = micros.filter(|micros| (0..=LONGEST).contains(micros));
        let Some(micros) = micros else {
            return Err(Problem::unreadable(self.line(), "a time out of range"));
        };
        self.next += 1;
        Ok(micros)
    }

    fn action(&mut self, when: When) -> Result<Action, Problem> {
        match self.peek().cloned() {
            Some(Kind::Sign('<')) => {
                self.next += 1;
                Ok(Action::Inbound(self.packet(false)?))
            }
            Some(Kind::Sign('>')) => {
                self.next += 1;
                Ok(Action::Outbound(self.packet(true)?))
            }
            Some(Kind::Command(text)) => {
                self.next += 1;
                Ok(Action::Command(text))
            }
            Some(Kind::Code(text)) => {
                self.next += 1;
                Ok(Action::Code(text))
            }
            Some(Kind::Word(_) | Kind::Ellipsis) => Ok(Action::Call(self.call(when)?)),
            _ => Err(self.expected("a packet, a system call, a command or code")),
        }
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.next).map_or(self.last_line, |token| token.line)
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Kind::Sign(sign));
        self.next += usize::from(found);
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Word(found)) if found == word);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: char) -> Result<(), Problem> {
        if self.accept(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Reads an integer of the type `T`.
    fn number<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, Problem> {
        let Some(&(Kind::Integer(value) | Kind::Hexadecimal(value))) = self.peek() else {
            return Err(self.expected(what));
        };
        let number = T::try_from(value)
            .map_err(|_| Problem::unreadable(self.line(), format!("{what} out of range: {value}")))?;
        self.next += 1;
        Ok(number)
    }

    fn expected(&self, what: &str) -> Problem {
        let found = self.peek().map_or_else(|| "the end of the script".to_owned(), ToString::to_string);
        Problem::unreadable(self.line(), format!("expected {what}, found {found}"))
    }
}

#[cfg(test)]
mod tests;
