//! Reading a whole file that a person wrote.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The largest file that is read, in bytes. A file written by hand is far smaller, and a file of this size fits in memory.
const LARGEST: u64 = 16_000_000;

/// Reads the text of a file, without the byte order mark that some editors write at the start. If a device or a pipe does not end, reading
/// stops at the limit with an error.
///
/// # Errors
/// The system's error, text that is not UTF-8, or more than 16 MB.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_text_up_to(path, LARGEST)
}

/// Reads the text of a file as [`read_text`] does, up to `largest` bytes.
///
/// # Errors
/// The system's error, text that is not UTF-8, or more bytes.
pub(crate) fn read_text_up_to(path: &Path, largest: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        let message = format!("it is larger than {} MB", largest / 1_000_000);
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    let text =
        str::from_utf8(&bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = read_text(Path::new("/dev/zero")).expect_err("endless");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::FileTooLarge, "it is larger than 16 MB")
        );
    }

    #[test]
    fn a_byte_order_mark_is_ignored() {
        let file = std::env::temp_dir().join(format!("firstflight-marked-{}.txt", std::process::id()));
        for (bytes, text) in
            [(&b"\xef\xbb\xbf0s 20mbit"[..], "0s 20mbit"), (b"\xef\xbb\xbf", ""), (b"a", "a")]
        {
            std::fs::write(&file, bytes).expect("written");
            assert_eq!(read_text(&file).expect("text"), text);
        }
        std::fs::remove_file(&file).expect("ours");
    }

    #[test]
    fn non_utf8_files_are_refused_and_text_is_read_completely() {
        let path = std::env::temp_dir().join(format!("firstflight-reading-{}", std::process::id()));
        std::fs::write(&path, b"\xff").expect("a file");
        assert_eq!(read_text(&path).expect_err("no text").to_string(), "it is not UTF-8 text");
        std::fs::write(&path, "a\nb").expect("a file");
        assert_eq!(read_text(&path).expect("text"), "a\nb");
        std::fs::remove_file(&path).expect("the file");
    }
}
