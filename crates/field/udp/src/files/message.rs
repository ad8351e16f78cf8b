//! The lines of the protocol (docs/guide/transfer.md): a verb and words separated by single spaces, in ASCII, ended by a line feed.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::files::error::TransferError;

/// The maximum number of bytes of a line, line feed included.
pub(crate) const LONGEST: usize = 8 << 10;

/// The characters of a name that are percent-encoded.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'\x7f');

/// A line of the protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// The client requests a file. It has the first `have` bytes, whose SHA-256 is `hash`.
    Get { path: String, have: u64, hash: String },
    /// The client queries the server's part of a file of `length` bytes.
    Ask { path: String, length: u64 },
    /// The server has the first `have` bytes, whose SHA-256 is `hash`.
    Have { have: u64, hash: String },
    /// The client requests the contents of a folder; of the served folder itself if there is no path.
    List { path: Option<String> },
    /// A folder in a listing.
    Folder { name: String },
    /// A file of `length` bytes in a listing.
    File { name: String, length: u64 },
    /// The listing is complete.
    Listed,
    /// The client sends a file of `length` bytes to the server, beginning at `from`.
    Put { path: String, length: u64, from: u64 },
    /// The server sends a file of `length` bytes, beginning at `from`.
    Data { length: u64, from: u64 },
    /// The SHA-256 of the whole file.
    End { hash: String },
    /// The receiver has the whole file under its name.
    Done { hash: String },
    /// The next line takes some time, because the existing part is being read.
    Wait,
    /// The request is refused, with the reason.
    No { why: String },
}

impl Message {
    /// Returns the text of the line, including its line feed.
    pub(crate) fn line(&self) -> String {
        let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
        match self {
            Self::Get { path, have, hash } => format!("GET {} {have} {hash}\n", escaped(path)),
            Self::Ask { path, length } => format!("ASK {} {length}\n", escaped(path)),
            Self::Have { have, hash } => format!("HAVE {have} {hash}\n"),
            Self::List { path: None } => "LIST\n".to_owned(),
            Self::List { path: Some(path) } => format!("LIST {}\n", escaped(path)),
            Self::Folder { name } => format!("FOLDER {}\n", escaped(name)),
            Self::File { name, length } => format!("FILE {} {length}\n", escaped(name)),
            Self::Listed => "LISTED\n".to_owned(),
            Self::Put { path, length, from } => format!("PUT {} {length} {from}\n", escaped(path)),
            Self::Data { length, from } => format!("DATA {length} {from}\n"),
            Self::End { hash } => format!("END {hash}\n"),
            Self::Done { hash } => format!("DONE {hash}\n"),
            Self::Wait => "WAIT\n".to_owned(),
            Self::No { why } => format!("NO {}\n", escaped(&why.chars().take(500).collect::<String>())),
        }
    }

    /// Reads a line. `line` has no line feed.
    pub(crate) fn read(line: &[u8]) -> Result<Self, TransferError> {
        let text = std::str::from_utf8(line).ok().filter(|text| text.len() < LONGEST);
        text.and_then(Self::parse).ok_or_else(|| Self::unexpected(line))
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
            ["LIST"] => Some(Self::List { path: None }),
            ["LIST", path] => Some(Self::List { path: Some(text(path)?) }),
            ["FOLDER", name] => Some(Self::Folder { name: text(name)? }),
            ["FILE", name, length] => Some(Self::File { name: text(name)?, length: number(length)? }),
            ["LISTED"] => Some(Self::Listed),
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

    /// Returns the error for a line that arrived in place of an expected one: the refusal that it contains, or that it is unexpected.
    pub(crate) fn instead_of(self, expected: &'static str) -> TransferError {
        match self {
            Self::No { why } => TransferError::Refused(why),
            other => TransferError::Protocol(other.line().trim_end().to_owned(), expected),
        }
    }

    /// Returns the error for bytes that are not a line of the protocol.
    pub(crate) fn unexpected(line: &[u8]) -> TransferError {
        let start = line.get(..line.len().min(40)).unwrap_or_default();
        TransferError::Protocol(String::from_utf8_lossy(start).into_owned(), "a line of the protocol")
    }
}

/// Reads a number of digits only, without a sign or leading zeros.
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
        let line = Message::Get { path: "a b/ü%".to_owned(), have: 7, hash: hash() }.line();
        assert_eq!(line, format!("GET a%20b/%C3%BC%25 7 {}\n", hash()));
    }

    #[test]
    fn malformed_lines_are_refused() {
        for wrong in ["GET a 1", "GET a +1 x", "DATA 01 0", "DATA 1  0", "END 00", "", "no line"] {
            let error = Message::read(wrong.as_bytes()).unwrap_err();
            assert!(matches!(error, TransferError::Protocol(..)), "{wrong}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_line_is_read_as_it_was_written(path in "\\PC{1,40}", one: u64, other: u64, why in "\\PC{0,80}") {
            for message in [
                Message::Get { path: path.clone(), have: one, hash: hash() },
                Message::Ask { path: path.clone(), length: one },
                Message::Put { path: path.clone(), length: one, from: other },
                Message::List { path: Some(path.clone()) },
                Message::List { path: None },
                Message::Folder { name: path.clone() },
                Message::File { name: path.clone(), length: other },
                Message::Listed,
                Message::Have { have: one, hash: hash() },
                Message::Data { length: one, from: other },
                Message::End { hash: hash() },
                Message::Done { hash: hash() },
                Message::No { why: why.clone() },
            ] {
                let line = message.line();
                prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
                prop_assert_eq!(Message::read(line.trim_end_matches('\n').as_bytes()).unwrap(), message);
            }
        }

        #[test]
        fn bytes_of_any_kind_are_a_line_or_an_error(bytes: Vec<u8>) {
            let _ = Message::read(&bytes);
        }
    }
}
