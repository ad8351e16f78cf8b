//! SHA-256 of what passes (FIPS 180-4).

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// Bytes that are read at a time.
pub(crate) const CHUNK: usize = 64 << 10;

/// The SHA-256 of the bytes so far.
#[derive(Clone, Default)]
pub(crate) struct Hash(Sha256);

impl Hash {
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// In 64 hexadecimal digits.
    pub(crate) fn text(&self) -> String {
        let bytes = self.0.clone().finalize();
        bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing into a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Of the next `length` bytes; less if there are not so many. Returns how many there were.
    pub(crate) fn read(&mut self, from: &mut impl Read, length: u64) -> io::Result<u64> {
        let mut chunk = vec![0; CHUNK];
        let mut from = from.take(length);
        let mut there = 0;
        loop {
            match from.read(&mut chunk)? {
                0 => return Ok(there),
                read => {
                    self.take(chunk.get(..read).unwrap_or_default());
                    there += read as u64;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        let mut hash = Hash::default();
        hash.take(b"abc");
        assert_eq!(hash.text(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_prefix_is_hashed_alone() {
        let mut hash = Hash::default();
        assert_eq!(hash.read(&mut &b"abcdef"[..], 3).unwrap(), 3);
        assert_eq!(hash.text(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.read(&mut &b""[..], 3).unwrap(), 0);
    }
}
