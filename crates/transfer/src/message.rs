//! The lines of the protocol (docs/transfer.md): a verb and words apart by single spaces, in ASCII, ended by a line feed.

use std::io::{ErrorKind, Read, Write};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::error::TransferError;

/// The most bytes of a line, its end included.
const LONGEST: usize = 8 << 10;

/// What of a name is written as `%` and two digits.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'\x7f');

/// A line of the protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// The client wants a file, and has its first `have` bytes, whose SHA-256 is `hash`.
    Get { path: String, have: u64, hash: String },
    /// The client asks what the server has of a file of `length` bytes.
    Ask { path: String, length: u64 },
    /// The server has the first `have` bytes, whose SHA-256 is `hash`.
    Have { have: u64, hash: String },
    /// The client has a file of `length` bytes for the server, and begins at `from`.
    Put { path: String, length: u64, from: u64 },
    /// The sender begins at `from` of a file of `length` bytes.
    Data { length: u64, from: u64 },
    /// The SHA-256 of the whole file.
    End { hash: String },
    /// The receiver has the whole file under its name.
    Done { hash: String },
    /// The next line takes its time: what is there is being read.
    Wait,
    /// It does not come to it, and why.
    No { why: String },
}

impl Message {
    /// The line, with its end.
    pub(crate) fn line(&self) -> String {
        let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
        match self {
            Self::Get { path, have, hash } => format!("GET {} {have} {hash}\n", escaped(path)),
            Self::Ask { path, length } => format!("ASK {} {length}\n", escaped(path)),
            Self::Have { have, hash } => format!("HAVE {have} {hash}\n"),
            Self::Put { path, length, from } => format!("PUT {} {length} {from}\n", escaped(path)),
            Self::Data { length, from } => format!("DATA {length} {from}\n"),
            Self::End { hash } => format!("END {hash}\n"),
            Self::Done { hash } => format!("DONE {hash}\n"),
            Self::Wait => "WAIT\n".to_owned(),
            Self::No { why } => format!("NO {}\n", escaped(&why.chars().take(500).collect::<String>())),
        }
    }

    pub(crate) fn write(&self, to: &mut impl Write) -> Result<(), TransferError> {
        to.write_all(self.line().as_bytes()).and_then(|()| to.flush()).map_err(TransferError::Connection)
    }

    /// Reads a line, and nothing behind it, however long the peer says to wait. `None` where the peer ended before it said anything.
    pub(crate) fn read(from: &mut impl Read) -> Result<Option<Self>, TransferError> {
        loop {
            match Self::read_one(from)? {
                Some(Self::Wait) => {}
                read => return Ok(read),
            }
        }
    }

    fn read_one(from: &mut impl Read) -> Result<Option<Self>, TransferError> {
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            match from.read(&mut byte) {
                Ok(0) if line.is_empty() => return Ok(None),
                Ok(0) => return Err(unexpected(&line)),
                Ok(_) if byte == *b"\n" => break,
                Ok(_) => line.push(byte[0]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TransferError::Connection(error)),
            }
            if line.len() >= LONGEST {
                return Err(unexpected(&line));
            }
        }
        let text = std::str::from_utf8(&line).ok();
        text.and_then(Self::parse).map(Some).ok_or_else(|| unexpected(&line))
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let text = |word: &str| Some(percent_decode_str(word).decode_utf8().ok()?.into_owned());
        match *words.as_slice() {
            ["GET", path, have, hash] => {
                Some(Self::Get { path: text(path)?, have: number(have)?, hash: digest(hash)? })
            }
            ["ASK", path, length] => Some(Self::Ask { path: text(path)?, length: number(length)? }),
            ["HAVE", have, hash] => Some(Self::Have { have: number(have)?, hash: digest(hash)? }),
            ["PUT", path, length, from] => {
                Some(Self::Put { path: text(path)?, length: number(length)?, from: number(from)? })
            }
            ["DATA", length, from] => Some(Self::Data { length: number(length)?, from: number(from)? }),
            ["END", hash] => Some(Self::End { hash: digest(hash)? }),
            ["DONE", hash] => Some(Self::Done { hash: digest(hash)? }),
            ["WAIT"] => Some(Self::Wait),
            ["NO", why] => Some(Self::No { why: text(why)? }),
            _ => None,
        }
    }

    /// The line as an error: a refusal, or what was not expected.
    pub(crate) fn instead_of(self, expected: &'static str) -> TransferError {
        match self {
            Self::No { why } => TransferError::Refused(printable(&why)),
            other => TransferError::Protocol(printable(other.line().trim_end()), expected),
        }
    }
}

fn unexpected(line: &[u8]) -> TransferError {
    let start = line.get(..line.len().min(40)).unwrap_or_default();
    TransferError::Protocol(printable(&String::from_utf8_lossy(start)), "a line of the protocol")
}

/// What a peer said, without what would control a terminal.
fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// Digits alone, without a sign or zeros in front.
fn number(word: &str) -> Option<u64> {
    let is_plain = word == "0" || !word.starts_with('0');
    (is_plain && word.bytes().all(|byte| byte.is_ascii_digit())).then(|| word.parse().ok())?
}

fn digest(word: &str) -> Option<String> {
    let is_hash = word.len() == 64 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hash() -> String {
        "0123456789abcdef".repeat(4)
    }

    #[test]
    fn lines_stand_as_the_page_has_them() {
        let mut line = Vec::new();
        Message::Get { path: "a b/ü%".to_owned(), have: 7, hash: hash() }.write(&mut line).unwrap();
        assert_eq!(line, format!("GET a%20b/%C3%BC%25 7 {}\n", hash()).as_bytes());
    }

    #[test]
    fn what_is_no_line_is_refused_and_never_read_beyond() {
        for wrong in ["GET a 1\n", "GET a +1 x\n", "DATA 01 0\n", "DATA 1  0\n", "END 00\n", "\n", "no line"]
        {
            let error = Message::read(&mut wrong.as_bytes()).unwrap_err();
            assert!(matches!(error, TransferError::Protocol(..)), "{wrong}: {error}");
        }
        let endless = vec![b'x'; LONGEST + 1];
        let mut rest = &endless[..];
        assert!(Message::read(&mut rest).is_err());
        assert!(Message::read(&mut &b""[..]).unwrap().is_none());
        let mut two = &b"WAIT\nWAIT\nDATA 3 0\nabc"[..];
        assert_eq!(Message::read(&mut two).unwrap(), Some(Message::Data { length: 3, from: 0 }));
        assert_eq!(two, b"abc");
    }

    #[test]
    fn a_reason_cannot_control_the_terminal() {
        let error = Message::No { why: "a\u{1b}[2J".to_owned() }.instead_of("a file");
        assert_eq!(error.to_string(), "refused by the peer: a\\u{1b}[2J");
    }

    proptest! {
        #[test]
        fn a_line_is_read_as_it_was_written(path in "\\PC{1,40}", one: u64, other: u64, why in "\\PC{0,80}") {
            for message in [
                Message::Get { path: path.clone(), have: one, hash: hash() },
                Message::Ask { path: path.clone(), length: one },
                Message::Put { path: path.clone(), length: one, from: other },
                Message::Have { have: one, hash: hash() },
                Message::Data { length: one, from: other },
                Message::End { hash: hash() },
                Message::Done { hash: hash() },
                Message::No { why: why.clone() },
            ] {
                let mut line = Vec::new();
                message.write(&mut line).unwrap();
                prop_assert_eq!(Message::read(&mut line.as_slice()).unwrap(), Some(message));
            }
        }

        #[test]
        fn bytes_of_any_kind_are_a_line_or_an_error(bytes: Vec<u8>) {
            let _ = Message::read(&mut bytes.as_slice());
        }
    }
}
