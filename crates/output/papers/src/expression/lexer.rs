//! The tokens of an expression.

use super::ExpressionError;

/// A token of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A number with its unit, as text.
    Number(String),
    /// A name, which may contain dots and dashes.
    Name(String),
    /// The text between brackets.
    Bracketed(String),
    /// Text between quotes.
    Quoted(String),
    /// An operator or a punctuation mark.
    Mark(&'static str),
}

/// The operators and punctuation marks, the longer ones first.
const MARKS: [&str; 17] =
    ["<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "(", ")", ",", "&", "|", "%"];

/// Splits a text into tokens, each with its range of bytes.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize, usize)>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let (token, length) = if first.is_ascii_digit() || first == '.' {
            let length = number(rest);
            (Token::Number(rest[..length].to_owned()), length)
        } else if first.is_ascii_alphabetic() {
            let length = name(rest);
            (Token::Name(rest[..length].to_owned()), length)
        } else if first == '[' {
            let inside = closed(rest, ']', at)?;
            (Token::Bracketed(inside.trim().to_owned()), inside.len() + 2)
        } else if first == '"' || first == '\'' {
            let inside = closed(rest, first, at)?;
            (Token::Quoted(inside.to_owned()), inside.len() + 2)
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (Token::Mark(mark), mark.len())
        } else {
            let message = format!("`{first}` has no meaning in an expression");
            return Err(ExpressionError { message, from: at, to: at + first.len_utf8() });
        };
        tokens.push((token, at, at + length));
        at += length;
    }
    Ok(tokens)
}

/// Returns the text between the first character and `end`.
fn closed(rest: &str, end: char, at: usize) -> Result<&str, ExpressionError> {
    rest[1..].find(end).map(|length| &rest[1..=length]).ok_or_else(|| ExpressionError {
        message: format!("`{}` is not closed; `{end}` is wanted", &rest[..1]),
        from: at,
        to: at + 1,
    })
}

/// Returns the length of a number with its unit: `1e-3`, `45mbit`, `50%`. Zero if the text is not a number, such as `tcp:4`.
fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while bytes.get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') {
        at += 1;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            at += 1 + sign;
        }
    }
    while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
        at += 1;
    }
    at + usize::from(bytes.get(at) == Some(&b'%'))
}

/// Returns the length of a name. A dash or a dot belongs to the name if a letter or a digit follows.
fn name(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut at = 0;
    while is_word(at) || (matches!(bytes.get(at), Some(b'-' | b'.')) && is_word(at + 1)) {
        at += 1;
    }
    at
}
