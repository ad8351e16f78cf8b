//! A key that both endpoints have, and the sealing of datagrams with this key.
//!
//! A sealed datagram is a nonce of 24 bytes, the segment encrypted by XChaCha20-Poly1305 (RFC 8439 with the nonce of
//! draft-irtf-cfrg-xchacha), and a tag of 16 bytes. Each direction has a separate key, derived by HKDF-SHA256 (RFC 5869). The nonce
//! consists of 16 random bytes, which the socket generates when it is bound, and a counter of 8 bytes. The first bit of the counter is the
//! direction. A socket rejects datagrams that have its own 16 bytes, so that a datagram reflected to its sender has no effect.

use std::fmt;
use std::io;

use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305};
use hkdf::Hkdf;
use sha2::Sha256;

/// Bytes of the nonce before the encrypted segment.
const NONCE: usize = 24;
/// Bytes of the nonce that are random.
const SALT: usize = 16;
/// Bytes of the tag after the encrypted segment.
const TAG: usize = 16;
/// The bytes by which a sealed datagram is longer than its segment.
pub(crate) const OVERHEAD: u16 = 40;
/// The bit of the counter that shows which end sent a datagram.
const OPENER: u64 = 1 << 63;

/// A secret of 32 bytes that both endpoints have ([`Options::key`](crate::Options::key)).
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Makes a key of these bytes, which must be secret and unpredictable.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads a key from 64 hexadecimal digits, which may be surrounded by white space. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().as_bytes();
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let mut key = [0; 32];
        if digits.len() != 2 * key.len() {
            return None;
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(key))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Seals and opens the datagrams of a socket.
pub(crate) struct Seals {
    opener: XChaCha20Poly1305,
    acceptor: XChaCha20Poly1305,
    salt: [u8; SALT],
    count: u64,
}

impl Seals {
    /// # Errors
    /// The system has no randomness.
    pub(crate) fn new(key: &Key) -> io::Result<Self> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt).map_err(io::Error::from)?;
        let of = |end: &str| {
            let mut own = [0; 32];
            // It fails for longer keys alone.
            let _ =
                Hkdf::<Sha256>::new(None, &key.0).expand(format!("firstflight 1 {end}").as_bytes(), &mut own);
            XChaCha20Poly1305::new(&own.into())
        };
        Ok(Self { opener: of("opener"), acceptor: of("acceptor"), salt, count: 0 })
    }

    /// Appends the nonce of a new datagram to `out`. `opens` is whether the sender is the endpoint that opens the connection. The caller
    /// then appends the segment.
    pub(crate) fn begin(&mut self, opens: bool, out: &mut Vec<u8>) {
        self.count = (self.count + 1) & !OPENER;
        out.extend_from_slice(&self.salt);
        out.extend_from_slice(&(self.count | if opens { OPENER } else { 0 }).to_be_bytes());
    }

    /// Seals the datagram from `start` to the end of `out`. Returns `false` if it cannot be sealed.
    pub(crate) fn seal(&self, start: usize, out: &mut Vec<u8>) -> bool {
        let Some((nonce, segment)) = out.get_mut(start..).and_then(<[u8]>::split_first_chunk_mut::<NONCE>)
        else {
            return false;
        };
        let cipher = self.of(nonce);
        let Ok(tag) = cipher.encrypt_inout_detached(&(*nonce).into(), &[], InOutBuf::from(segment)) else {
            return false;
        };
        out.extend_from_slice(&tag);
        true
    }

    /// Opens a datagram in place. Returns whether the endpoint that opens the connection sent it, and its segment. `None` if the datagram
    /// was not sealed with the key, or if this socket sealed it.
    pub(crate) fn open<'a>(&self, datagram: &'a mut [u8]) -> Option<(bool, &'a [u8])> {
        let (nonce, rest) = datagram.split_first_chunk_mut::<NONCE>()?;
        if nonce.starts_with(&self.salt) {
            return None;
        }
        let (segment, tag) = rest.split_last_chunk_mut::<TAG>()?;
        let opened = self.of(nonce).decrypt_inout_detached(
            &(*nonce).into(),
            &[],
            InOutBuf::from(&mut *segment),
            &(*tag).into(),
        );
        opened.ok().map(|()| (is_of_opener(nonce), &*segment))
    }

    fn of(&self, nonce: &[u8; NONCE]) -> &XChaCha20Poly1305 {
        if is_of_opener(nonce) { &self.opener } else { &self.acceptor }
    }
}

fn is_of_opener(nonce: &[u8; NONCE]) -> bool {
    nonce[SALT] & 0x80 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(seals: &mut Seals, opens: bool, text: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        seals.begin(opens, &mut out);
        out.extend_from_slice(text);
        assert!(seals.seal(6, &mut out));
        out.split_off(6)
    }

    #[test]
    fn a_datagram_opens_with_its_key_alone_and_unchanged() {
        let key = Key::new([7; 32]);
        let [mut one, other] = [0; 2].map(|_| Seals::new(&key).unwrap());
        for opens in [true, false] {
            let datagram = sealed(&mut one, opens, b"a segment");
            assert_eq!(datagram.len(), 9 + usize::from(OVERHEAD));
            assert_eq!(other.open(&mut datagram.clone()), Some((opens, &b"a segment"[..])));
            for bit in 0..datagram.len() * 8 {
                let mut changed = datagram.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(other.open(&mut changed), None, "bit {bit}");
            }
            for length in 0..datagram.len() {
                assert_eq!(other.open(&mut datagram[..length].to_vec()), None);
            }
            assert_eq!(Seals::new(&Key::new([8; 32])).unwrap().open(&mut datagram.clone()), None);
        }
    }

    #[test]
    fn no_two_datagrams_of_a_key_have_the_same_nonce() {
        let key = Key::new([7; 32]);
        let mut seals = [0; 2].map(|_| Seals::new(&key).unwrap());
        let nonces: std::collections::BTreeSet<_> =
            (0..1_000).map(|n| sealed(&mut seals[n % 2], n % 3 == 0, b"x")[..NONCE].to_vec()).collect();
        assert_eq!(nonces.len(), 1_000);
    }

    /// The test vector of draft-irtf-cfrg-xchacha-03, appendix A.3.1, so that other programs can interoperate.
    #[test]
    fn the_cipher_is_the_one_of_the_draft() {
        let bytes = |text: &str| -> Vec<u8> {
            (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
        };
        let key: [u8; 32] = std::array::from_fn(|at| 0x80 + u8::try_from(at).unwrap());
        let nonce: [u8; 24] = std::array::from_fn(|at| 0x40 + u8::try_from(at).unwrap());
        let mut text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.".to_vec();
        let aad = bytes("50515253c0c1c2c3c4c5c6c7");
        let cipher = XChaCha20Poly1305::new(&key.into());
        let tag = cipher.encrypt_inout_detached(&nonce.into(), &aad, InOutBuf::from(&mut text[..])).unwrap();
        assert_eq!(text[..16], bytes("bd6d179d3e83d43b9576579493c0e939"));
        assert_eq!(tag[..], bytes("c0875924c1c7987947deafd8780acf49"));
    }

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        let digits = "0123456789abcdefABCDEF0123456789".repeat(2);
        assert_eq!(Key::parse(&format!(" {digits}\n")).unwrap().0[..3], [0x01, 0x23, 0x45]);
        for wrong in
            ["", &digits[1..], &format!("{digits}0"), &digits.replace('f', "g"), &digits.replace('f', "ü")]
        {
            assert!(Key::parse(wrong).is_none(), "{wrong}");
        }
        assert_eq!(format!("{:?}", Key::new([1; 32])), "Key(..)");
    }
}
