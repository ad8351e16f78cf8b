//! Splits a script into tokens (google/packetdrill `lexer.l`). Of several possible tokens, the longest is used.

use crate::problem::Problem;

/// A token, and the line in which it begins.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) line: usize,
}

/// The kinds of tokens.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    /// `--name`, at the start of a script.
    Option(String),
    /// A number with a decimal point, in millionths. The script language uses these numbers only for times.
    Micros {
        value: i64,
        text: String,
    },
    Integer(i64),
    Hexadecimal(i64),
    Word(String),
    Text(String),
    /// A shell command between back quotes. It is interpreted, never executed.
    Command(String),
    /// Code between `%{` and `}%`.
    Code(String),
    /// An IPv4 or IPv6 address. It occurs only in unsupported constructs.
    Address(String),
    Ellipsis,
    Sign(char),
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Option(name) => write!(f, "`--{name}`"),
            Self::Micros { text, .. } => write!(f, "`{text}`"),
            Self::Integer(value) => write!(f, "`{value}`"),
            Self::Hexadecimal(value) => write!(f, "`{value:#x}`"),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Text(_) => write!(f, "a string"),
            Self::Command(_) => write!(f, "a command in back quotes"),
            Self::Code(_) => write!(f, "code"),
            Self::Address(text) => write!(f, "the address `{text}`"),
            Self::Ellipsis => write!(f, "`...`"),
            Self::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

/// Splits a script into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Option<Token>, Problem> {
        self.skip_blanks()?;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let line = self.line;
        let kind = match first {
            '`' => Kind::Command(self.delimited(1, "`", "back quote")?.to_owned()),
            '"' => Kind::Text(self.delimited(1, "\"", "quotation mark")?.to_owned()),
            '%' if self.rest.starts_with("%{") => Kind::Code(self.delimited(2, "}%", "`%{`")?.to_owned()),
            _ => self.plain(first)?,
        };
        Ok(Some(Token { kind, line }))
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) -> Result<(), Problem> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.take(blank);
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                let end = self.rest[2..].find("*/");
                let Some(end) = end else {
                    return Err(Problem::unreadable(self.line, "a comment that does not end"));
                };
                self.take(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    /// Returns the text between an opening mark of `width` bytes and `close`. Outside code, a backslash escapes the next character, as in
    /// `lexer.l`.
    fn delimited(&mut self, width: usize, close: &str, name: &str) -> Result<&'a str, Problem> {
        let line = self.line;
        let body = &self.rest[width..];
        let mut end = None;
        let mut escaped = false;
        for (at, sign) in body.char_indices() {
            if escaped {
                escaped = false;
            } else if sign == '\\' && width == 1 {
                escaped = true;
            } else if body[at..].starts_with(close) {
                end = Some(at);
                break;
            }
        }
        let Some(end) = end else {
            return Err(Problem::unreadable(line, format!("a {name} that is not closed")));
        };
        self.take(width + end + close.len());
        Ok(&body[..end])
    }

    fn plain(&mut self, first: char) -> Result<Kind, Problem> {
        let rest = self.rest;
        if rest.starts_with("...") {
            self.take(3);
            return Ok(Kind::Ellipsis);
        }
        if let Some(name) =
            rest.strip_prefix("--").map(|after| leading(after, is_word)).filter(|n| !n.is_empty())
        {
            self.take(2 + name.len());
            return Ok(Kind::Option(name.to_owned()));
        }
        if let Some(text) = address(rest) {
            self.take(text.len());
            return Ok(Kind::Address(text.to_owned()));
        }
        let number = number(rest);
        let word = leading(rest, is_word);
        let hexadecimal = word.strip_prefix("0x").filter(|digits| !digits.is_empty());
        if let Some(digits) = hexadecimal.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            let value = i64::from_str_radix(digits, 16);
            self.take(word.len());
            return value.map(Kind::Hexadecimal).map_err(|_| self.too_large(word));
        }
        if !number.is_empty() && number.len() >= word.len() {
            self.take(number.len());
            return if number.contains('.') {
                let value = micros(number).ok_or_else(|| self.too_large(number))?;
                Ok(Kind::Micros { value, text: number.to_owned() })
            } else {
                number.parse().map(Kind::Integer).map_err(|_| self.too_large(number))
            };
        }
        if !word.is_empty() {
            self.take(word.len());
            return Ok(Kind::Word(word.to_owned()));
        }
        self.take(first.len_utf8());
        Ok(Kind::Sign(first))
    }

    fn too_large(&self, text: &str) -> Problem {
        Problem::unreadable(self.line, format!("the number `{text}` is too large"))
    }

    fn take(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn leading(text: &str, accepts: impl Fn(u8) -> bool) -> &str {
    &text[..text.bytes().take_while(|byte| accepts(*byte)).count()]
}

/// Returns a number at the beginning of `text`: `-?[0-9]*[.][0-9]+` or `-?[0-9]+`; empty if there is none.
fn number(text: &str) -> &str {
    let sign = usize::from(text.starts_with('-'));
    let whole = leading(&text[sign..], |byte| byte.is_ascii_digit()).len();
    let point = sign + whole;
    let after =
        text[point..].strip_prefix('.').map_or("", |after| leading(after, |byte| byte.is_ascii_digit()));
    if !after.is_empty() {
        &text[..point + 1 + after.len()]
    } else if whole > 0 {
        &text[..point]
    } else {
        ""
    }
}

/// Returns an IPv4 address, or an IPv6 address with `::`, at the beginning of `text`.
fn address(text: &str) -> Option<&str> {
    let four = leading(text, |byte| byte.is_ascii_digit() || byte == b'.');
    let parts: Vec<&str> = four.split('.').collect();
    if parts.len() == 4 && parts.iter().all(|part| !part.is_empty()) {
        return Some(four);
    }
    let six = leading(text, |byte| byte.is_ascii_hexdigit() || byte == b':');
    (six.contains("::") || six.matches(':').count() == 7).then_some(six)
}

/// Converts a decimal number of seconds to microseconds. Digits after the sixth are dropped, as in packetdrill.
fn micros(text: &str) -> Option<i64> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = text.split_once('.')?;
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: i64 = format!("{fraction:0<6}")[..6].parse().ok()?;
    let value = whole.checked_mul(1_000_000)?.checked_add(fraction)?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).expect("readable").into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn a_time_range_is_two_numbers_with_signs() {
        let number = |text: &str, value| Kind::Micros { value, text: text.to_owned() };
        assert_eq!(
            kinds("+.1~+.105"),
            [
                Kind::Sign('+'),
                number(".1", 100_000),
                Kind::Sign('~'),
                Kind::Sign('+'),
                number(".105", 105_000)
            ]
        );
    }

    #[test]
    fn a_blocking_call_has_an_ellipsis_between_its_times() {
        assert_eq!(kinds("0...0.2 f")[..2], [Kind::Integer(0), Kind::Ellipsis]);
    }

    #[test]
    fn a_token_knows_the_line_that_it_begins_in() {
        let lines: Vec<usize> =
            tokens("a // b\n/* c\n */ `d\ne` f").expect("readable").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 3, 4]);
    }

    #[test]
    fn an_unclosed_token_is_reported_with_its_opening_line() {
        for text in ["\n`a", "\n\"a", "\n%{ a", "\n/* a"] {
            assert_eq!(tokens(text).expect_err("not closed").line, 2, "{text}");
        }
    }
}
