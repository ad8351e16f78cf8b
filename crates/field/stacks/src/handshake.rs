//! The handshake of the null session: messages with about the sizes of TLS 1.3, without cryptography.
//!
//! The messages carry the transport parameters, and the rest is zeros. The sizes are estimates for X25519, a chain of two ECDSA certificates
//! and SHA-256; no TLS library was measured. A transfer depends on them through the number of packets in a flight: a client's first packet is
//! padded, the server's flight takes three packets, and a client's Finished fits one.

/// Size in bytes of a `ClientHello`, without the transport parameters.
const CLIENT_HELLO: usize = 280;
/// Size in bytes of a `ServerHello`.
const SERVER_HELLO: usize = 122;
/// Size in bytes of `EncryptedExtensions`, `Certificate`, `CertificateVerify` and `Finished`, without the transport parameters.
const SERVER_FLIGHT: usize = 2_750;
/// Size in bytes of a client's `Finished`.
const FINISHED: usize = 36;
/// Bytes in front of each message: its length, and that of its parameters.
const PREFIX: usize = 4;

/// The next step of a handshake's writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Nothing is to be written now.
    Nothing,
    /// A message was written, and the keys remain.
    Wrote,
    /// The keys of the next level follow, possibly after a message.
    Keys,
}

/// One side of a handshake.
#[derive(Debug)]
pub(crate) struct Handshake {
    is_client: bool,
    /// The encoded transport parameters of this side.
    own: Vec<u8>,
    /// Bytes received that are not yet a whole message.
    pending: Vec<u8>,
    /// Whole messages received.
    received: u8,
    /// Steps written.
    written: u8,
    /// The encoded transport parameters of the peer.
    peer: Option<Vec<u8>>,
}

impl Handshake {
    pub(crate) fn new(is_client: bool, own: Vec<u8>) -> Self {
        Self { is_client, own, pending: Vec::new(), received: 0, written: 0, peer: None }
    }

    /// Returns whether messages are still awaited. A client awaits two, a server awaits two.
    pub(crate) const fn is_under_way(&self) -> bool {
        self.received < 2
    }

    /// Returns the encoded transport parameters of the peer, once they have arrived.
    pub(crate) fn peer(&self) -> Option<&[u8]> {
        self.peer.as_deref()
    }

    /// Takes received bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        while let [a, b, c, d, rest @ ..] = &*self.pending {
            let (length, own) =
                (usize::from(u16::from_be_bytes([*a, *b])), usize::from(u16::from_be_bytes([*c, *d])));
            let Some(body) = rest.get(..length) else { return };
            if let Some(parameters) = body.get(..own).filter(|_| own > 0) {
                self.peer = Some(parameters.to_vec());
            }
            self.received = self.received.saturating_add(1);
            self.pending.drain(..PREFIX + length);
        }
    }

    /// Writes what is due to `out`.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> Step {
        let step = match (self.is_client, self.written) {
            (true, 0) => {
                message(out, &self.own, CLIENT_HELLO);
                Step::Wrote
            }
            (true, 1) if self.received >= 1 => Step::Keys,
            (true, 2) if self.received >= 2 => {
                message(out, &[], FINISHED);
                Step::Keys
            }
            (false, 0) if self.received >= 1 => {
                message(out, &[], SERVER_HELLO);
                Step::Keys
            }
            (false, 1) => {
                message(out, &self.own, SERVER_FLIGHT);
                Step::Keys
            }
            _ => return Step::Nothing,
        };
        self.written += 1;
        step
    }
}

/// Writes a message with these parameters and `size` bytes besides.
fn message(out: &mut Vec<u8>, parameters: &[u8], size: usize) {
    let length = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX).to_be_bytes();
    let rest = size.saturating_sub(PREFIX);
    out.extend_from_slice(&length(parameters.len() + rest));
    out.extend_from_slice(&length(parameters.len()));
    out.extend_from_slice(parameters);
    out.resize(out.len() + rest, 0);
}

/// Hashes `data` into every byte of `out` (FNV-1a). It replaces a stack's keyed hash, because a simulation has no attacker.
pub(crate) fn hash_into(data: &[u8], out: &mut [u8]) {
    let hash = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    for (place, byte) in out.iter_mut().enumerate() {
        *byte = hash.to_be_bytes()[place % 8].wrapping_add(u8::try_from(place / 8).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand_over(from: &mut Handshake, to: &mut Handshake) -> (usize, usize) {
        let (mut bytes, mut keys) = (0, 0);
        loop {
            let mut out = Vec::new();
            match from.write(&mut out) {
                Step::Nothing => return (bytes, keys),
                Step::Keys => keys += 1,
                Step::Wrote => {}
            }
            bytes += out.len();
            // In pieces, as packets bring it.
            out.chunks(700).for_each(|piece| to.read(piece));
        }
    }

    #[test]
    fn both_sides_learn_the_others_parameters_in_one_round_trip() {
        let (mut client, mut server) =
            (Handshake::new(true, vec![1; 60]), Handshake::new(false, vec![2; 70]));
        assert_eq!(hand_over(&mut client, &mut server), (CLIENT_HELLO + 60, 0));
        assert_eq!(hand_over(&mut server, &mut client), (SERVER_HELLO + SERVER_FLIGHT + 70, 2));
        assert_eq!(hand_over(&mut client, &mut server), (FINISHED, 2));
        assert!(!client.is_under_way() && !server.is_under_way());
        assert_eq!((client.peer(), server.peer()), (Some(&[2; 70][..]), Some(&[1; 60][..])));
    }
}
