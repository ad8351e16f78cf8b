//! SHA-256 of what passes (FIPS 180-4).

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::TransferError;

/// Bytes that are read at a time.
pub(crate) const CHUNK: usize = 64 << 10;

/// Bytes that are hashed before who waits for it is told to wait on: less than a second's work.
const PATIENCE: u64 = 16 << 20;

/// Tells who waits for a hash to wait on.
pub(crate) type Wait<'a> = &'a mut dyn FnMut() -> Result<(), TransferError>;

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

    /// Of the next `length` bytes of the file at `path`; less if there are not so many. Returns how many there were. Whoever waits
    /// for it hears `wait` now and then.
    pub(crate) fn read(
        &mut self,
        (from, path): (&mut impl Read, &Path),
        length: u64,
        wait: Wait<'_>,
    ) -> Result<u64, TransferError> {
        let mut chunk = vec![0; CHUNK];
        let mut from = from.take(length);
        let mut there = 0;
        let mut told = 0;
        loop {
            match from.read(&mut chunk).map_err(TransferError::at(path))? {
                0 => return Ok(there),
                read => {
                    self.take(chunk.get(..read).unwrap_or_default());
                    there += read as u64;
                }
            }
            if there - told >= PATIENCE {
                wait()?;
                told = there;
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
        let nobody = &mut || panic!("nobody waits");
        assert_eq!(hash.read((&mut &b"abcdef"[..], Path::new("")), 3, nobody).unwrap(), 3);
        assert_eq!(hash.text(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.read((&mut &b""[..], Path::new("")), 3, nobody).unwrap(), 0);
    }

    #[test]
    fn who_waits_for_a_long_hash_is_told_to_wait_on() {
        let (mut told, length) = (0, 5 * PATIENCE / 2);
        let mut count = || {
            told += 1;
            Ok(())
        };
        let mut zeros = std::io::repeat(0);
        Hash::default().read((&mut zeros, Path::new("")), length, &mut count).unwrap();
        assert_eq!(told, 2);
        let mut gone = || Err(TransferError::Silent);
        Hash::default().read((&mut zeros, Path::new("")), length, &mut gone).unwrap_err();
    }
}
