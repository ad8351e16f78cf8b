//! SHA-256 of a stream of bytes (FIPS 180-4).

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// The SHA-256 of the bytes so far.
#[derive(Clone, Default)]
pub(crate) struct Hash(Sha256);

impl Hash {
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash in 64 hexadecimal digits.
    pub(crate) fn text(&self) -> String {
        let bytes = self.0.clone().finalize();
        bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing into a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Reads and hashes the next bytes of a file: at most `left`, and at most as many as fit in `room`. Returns their number.
    pub(crate) fn read(&mut self, from: &mut impl Read, left: u64, room: &mut [u8]) -> io::Result<u64> {
        let wanted = usize::try_from(left).map_or(room.len(), |left| left.min(room.len()));
        let room = room.get_mut(..wanted).unwrap_or_default();
        let read = from.read(room)?;
        self.take(room.get(..read).unwrap_or_default());
        Ok(read as u64)
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
        let (mut hash, mut room) = (Hash::default(), [0; 2]);
        let mut file = &b"abcdef"[..];
        assert_eq!(hash.read(&mut file, 3, &mut room).unwrap(), 2);
        assert_eq!(hash.read(&mut file, 1, &mut room).unwrap(), 1);
        assert_eq!(hash.text(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.read(&mut &b""[..], 3, &mut room).unwrap(), 0);
    }
}
