//! Splits code into statements and tokens.

/// A token of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Word {
    Integer(i64),
    Float(f64),
    Text(String),
    Name(String),
    /// An operator or a bracket.
    Sign(&'static str),
}

/// A statement: its tokens, its text, and the number of its line, where the first line of the snippet is zero.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) words: Vec<Word>,
    pub(super) text: String,
    pub(super) line: usize,
}

/// Operators and brackets, the longest first.
const SIGNS: [&str; 39] = [
    ":", "[", "]", "**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "<", ">", "=", "(", ")", ",", "&", "|", "^",
    "~", ".",
];

/// Splits a snippet into statements.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, (usize, String)> {
    let mut statements = Vec::new();
    let (mut words, mut begins, mut line, mut depth, mut begins_line) = (Vec::new(), 0, 0, 0_usize, 0);
    let mut at = 0;
    let mut end = |words: &mut Vec<Word>, from: usize, to: usize, line: usize| {
        if !words.is_empty() {
            let text = text[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
            statements.push(Statement { words: std::mem::take(words), text, line });
        }
    };
    while let Some(first) = text[at..].chars().next() {
        if words.is_empty() {
            (begins, begins_line) = (at, line);
        }
        match first {
            '\n' | ';' => {
                if depth == 0 || first == ';' {
                    end(&mut words, begins, at, begins_line);
                }
                line += usize::from(first == '\n');
                at += 1;
            }
            ' ' | '\t' | '\r' => at += 1,
            '\\' if text[at + 1..].starts_with('\n') => {
                line += 1;
                at += 2;
            }
            '#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            '\'' | '"' => {
                let (word, length) =
                    string(&text[at..], first).ok_or((line, "a string that is not closed".to_owned()))?;
                line += text[at..at + length].matches('\n').count();
                words.push(Word::Text(word));
                at += length;
            }
            _ => {
                let (word, length) = plain(&text[at..]).map_err(|what| (line, what))?;
                depth = match word {
                    Word::Sign("(") => depth + 1,
                    Word::Sign(")") => depth.saturating_sub(1),
                    _ => depth,
                };
                words.push(word);
                at += length;
            }
        }
    }
    end(&mut words, begins, text.len(), begins_line);
    Ok(statements)
}

fn string(text: &str, quote: char) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if escaped {
            out.push(if letter == 'n' { '\n' } else { letter });
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == quote {
            return Some((out, at + 1));
        } else {
            out.push(letter);
        }
    }
    None
}

fn plain(text: &str) -> Result<(Word, usize), String> {
    let wordy = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let word = &text[..wordy];
    if word.starts_with(|first: char| first.is_ascii_digit()) {
        return number(text, word);
    }
    if !word.is_empty() {
        return Ok((Word::Name(word.to_owned()), wordy));
    }
    let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign));
    let unknown = || format!("`{}` in code", text.chars().next().unwrap_or(' '));
    sign.map(|sign| (Word::Sign(sign), sign.len())).ok_or_else(unknown)
}

fn number(text: &str, word: &str) -> Result<(Word, usize), String> {
    let wrong = || format!("the number `{word}`");
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return i64::from_str_radix(digits, 16)
            .map(|value| (Word::Integer(value), word.len()))
            .map_err(|_| wrong());
    }
    let after = text[word.len()..]
        .strip_prefix('.')
        .map(|after| after.bytes().take_while(u8::is_ascii_digit).count());
    if let Some(digits) = after {
        let length = word.len() + 1 + digits;
        return text[..length].parse().map(|value| (Word::Float(value), length)).map_err(|_| wrong());
    }
    word.parse().map(|value| (Word::Integer(value), word.len())).map_err(|_| wrong())
}
