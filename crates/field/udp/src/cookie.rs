//! Secrets, initial sequence numbers (RFC 6528), and cookies. With cookies, a server keeps no state of a peer before it has verified the
//! peer's address.
//!
//! The cookie is a TCP option of the experimental kind (RFC 6994), 20 bytes long. It holds the features of the SYN that the server must
//! remember. It also holds a keyed hash of these features, the addresses and the client's initial sequence number. The SYN-ACK carries the
//! cookie, and the client's first ACK returns it.

use core::num::NonZeroU16;
use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use firstflight::{Span, Time};
use firstflight_tcp::{Flags, Segment};
use siphasher::sip::SipHasher24;

/// The option kind for experiments (RFC 4727), the option's length, and the experiment ID (RFC 6994), which is not registered.
const HEAD: [u8; 4] = [253, 20, 0xF1, 0x57];
/// Bytes of the option: a multiple of the 4-byte words of the TCP header.
pub(crate) const LENGTH: usize = 20;
/// Bytes of the features that the cookie holds.
const FACTS: usize = 8;
/// The time after its issue for which a cookie may open a connection.
pub(crate) const LIFETIME: Span = Span::from_secs(60);
/// The part of the issue time that a cookie holds: microseconds, modulo 2^40.
const MICROS: u64 = (1 << 40) - 1;

/// The two endpoints of a connection as one side sees them. They are the key of the host's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ends {
    /// The source of the peer's datagrams: its UDP address, or over a TUN device its IP address and TCP port.
    pub(crate) peer: SocketAddr,
    /// The peer's TCP port.
    pub(crate) theirs: u16,
    /// This host's TCP port.
    pub(crate) ours: u16,
}

/// A cookie in its wire format.
pub(crate) type Cookie = [u8; LENGTH];

/// The features of a SYN that a server needs to make the connection when the client returns the cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Remembered {
    /// The time at which the SYN-ACK was sent.
    pub(crate) at: Time,
    /// The payload of a full segment that both ends and the path allow.
    pub(crate) mss: u16,
    /// The features that the SYN offered.
    pub(crate) offers: Offers,
}

/// The features that a SYN offers: window scale, SACK, timestamps, ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Offers {
    pub(crate) scale: Option<u8>,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    pub(crate) ecn: bool,
}

impl Offers {
    pub(crate) fn of(syn: &Segment) -> Self {
        Self {
            scale: syn.window_scale.map(|scale| scale.min(14)),
            sack: syn.sack_permitted,
            timestamps: syn.timestamps.is_some(),
            ecn: syn.flags.has(Flags::ECE.with(Flags::CWR)),
        }
    }

    /// Encodes the offers in one byte. The low half is the window scale, or 15 if there is none.
    fn byte(self) -> u8 {
        let flag = |on: bool, bit: u8| u8::from(on) << bit;
        self.scale.unwrap_or(15) | flag(self.sack, 4) | flag(self.timestamps, 5) | flag(self.ecn, 6)
    }

    fn from_byte(byte: u8) -> Self {
        let scale = byte & 15;
        let flag = |bit: u8| byte >> bit & 1 == 1;
        Self { scale: (scale < 15).then_some(scale), sack: flag(4), timestamps: flag(5), ecn: flag(6) }
    }
}

impl Remembered {
    /// Reconstructs the SYN of the handshake that `ack` completes.
    pub(crate) fn syn(&self, ack: &Segment) -> Segment {
        let ecn = if self.offers.ecn { Flags::ECE.with(Flags::CWR) } else { Flags::default() };
        Segment {
            seq: ack.seq.wrapping_sub(1),
            flags: Flags::SYN.with(ecn),
            window: ack.window,
            mss: NonZeroU16::new(self.mss),
            window_scale: self.offers.scale,
            sack_permitted: self.offers.sack,
            timestamps: ack.timestamps.filter(|_| self.offers.timestamps),
            ..Segment::default()
        }
    }
}

/// The secrets of a host.
#[derive(Clone)]
pub(crate) struct Secrets {
    sequence: [u8; 16],
    cookie: [u8; 16],
    other: [u8; 16],
}

impl Secrets {
    /// Generates new secrets from the system's random source.
    ///
    /// # Errors
    /// The system has no randomness.
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut secrets = Self { sequence: [0; 16], cookie: [0; 16], other: [0; 16] };
        for key in [&mut secrets.sequence, &mut secrets.cookie, &mut secrets.other] {
            getrandom::fill(key).map_err(std::io::Error::from)?;
        }
        Ok(secrets)
    }

    /// Returns the initial sequence number of a connection that is opened at `at`. It is the sum of a clock that ticks every four
    /// microseconds and a keyed hash of the endpoints (RFC 6528 section 3).
    pub(crate) fn sequence(&self, ends: &Ends, at: Time) -> u32 {
        let clock = at.nanos() / 4_000;
        low(clock.wrapping_add(hash(&self.sequence, ends, &[])))
    }

    /// Returns a number for the `n`th connection that no one else can guess.
    pub(crate) fn number(&self, n: u64) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.other);
        hasher.write_u64(n);
        hasher.finish()
    }

    /// Returns the cookie for a SYN with the sequence number `syn`.
    pub(crate) fn cookie(&self, ends: &Ends, syn: u32, what: &Remembered) -> Cookie {
        let mut cookie = [0; LENGTH];
        cookie[..4].copy_from_slice(&HEAD);
        cookie[4..6].copy_from_slice(&what.mss.to_be_bytes());
        cookie[6] = what.offers.byte();
        cookie[7..12].copy_from_slice(&((what.at.nanos() / 1_000) & MICROS).to_be_bytes()[3..]);
        let seal = self.seal(ends, syn, &cookie, what.at);
        cookie[12..].copy_from_slice(&seal);
        cookie
    }

    /// Returns the features in the cookie. `None` unless this host issued the cookie for these endpoints and this SYN, and the cookie has
    /// not expired.
    pub(crate) fn check(&self, now: Time, ends: &Ends, syn: u32, cookie: &Cookie) -> Option<Remembered> {
        let mut micros = [0; 8];
        micros[3..].copy_from_slice(&cookie[7..12]);
        let age = (now.nanos() / 1_000).wrapping_sub(u64::from_be_bytes(micros)) & MICROS;
        let age = Span::from_micros(age);
        // The clock that made the cookie counts nanoseconds, but the cookie holds whole microseconds.
        let at = Time::from_nanos(now.nanos() / 1_000 * 1_000) - age;
        (age <= LIFETIME && self.seal(ends, syn, cookie, at) == cookie[12..]).then(|| Remembered {
            at,
            mss: u16::from_be_bytes([cookie[4], cookie[5]]),
            offers: Offers::from_byte(cookie[6]),
        })
    }

    /// Returns the keyed hash of the cookie's content, endpoints and issue time. It covers all bits of the issue time, so that an old
    /// cookie stays invalid when the 40 bits in the cookie wrap around.
    fn seal(&self, ends: &Ends, syn: u32, cookie: &Cookie, at: Time) -> [u8; 8] {
        let mut bytes = [0; FACTS + 12];
        bytes[..FACTS].copy_from_slice(&cookie[4..12]);
        bytes[FACTS..FACTS + 4].copy_from_slice(&syn.to_be_bytes());
        bytes[FACTS + 4..].copy_from_slice(&(at.nanos() / 1_000).to_be_bytes());
        hash(&self.cookie, ends, &bytes).to_be_bytes()
    }
}

/// Returns the cookie among the options of a segment, if there is one.
pub(crate) fn find(options: &[u8]) -> Option<Cookie> {
    let mut rest = options;
    while let [kind, tail @ ..] = rest {
        match *kind {
            0 => return None,
            1 => rest = tail,
            _ => {
                let length = usize::from(*tail.first()?).max(2);
                let option = rest.get(..length)?;
                if option.starts_with(&HEAD) {
                    return option.try_into().ok();
                }
                rest = &rest[length..];
            }
        }
    }
    None
}

/// Returns the keyed hash of a cookie as a number.
pub(crate) fn seal_of(cookie: &Cookie) -> u64 {
    u64::from_be_bytes(*cookie.last_chunk().unwrap_or(&[0; 8]))
}

fn low(number: u64) -> u32 {
    u32::try_from(number & 0xFFFF_FFFF).unwrap_or(0)
}

fn hash(key: &[u8; 16], ends: &Ends, more: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new_with_key(key);
    match ends.peer.ip() {
        IpAddr::V4(ip) => hasher.write(&ip.octets()),
        IpAddr::V6(ip) => hasher.write(&ip.octets()),
    }
    for port in [ends.peer.port(), ends.theirs, ends.ours] {
        hasher.write(&port.to_be_bytes());
    }
    hasher.write(more);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: Ends =
        Ends { peer: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 5), theirs: 6, ours: 7 };
    const OFFERS: Offers = Offers { scale: Some(7), sack: true, timestamps: false, ecn: true };

    fn remembered(at: Time) -> Remembered {
        Remembered { at, mss: 1_452, offers: OFFERS }
    }

    #[test]
    fn a_cookie_gives_back_what_it_was_made_of() {
        let secrets = Secrets::new().unwrap();
        // The cookie's 40 bits of microseconds wrap around soon after this time.
        let at = Time::from_nanos((1 << 40) * 1_000 - 5_000_000);
        for offers in [OFFERS, Offers { scale: None, sack: false, timestamps: true, ecn: false }] {
            let what = Remembered { offers, ..remembered(at) };
            let cookie = secrets.cookie(&ENDS, 99, &what);
            assert_eq!(find(&[&[1, 1, 4, 2][..], &cookie].concat()), Some(cookie));
            assert_eq!(secrets.check(at + Span::from_millis(40), &ENDS, 99, &cookie), Some(what));
        }
    }

    #[test]
    fn a_cookie_is_good_for_a_minute_its_ends_and_its_syn() {
        let secrets = Secrets::new().unwrap();
        let at = Time::from_nanos(7_000_000);
        let cookie = secrets.cookie(&ENDS, 99, &remembered(at));
        assert!(secrets.check(at + LIFETIME, &ENDS, 99, &cookie).is_some());
        assert!(secrets.check(at + LIFETIME + Span::from_micros(1), &ENDS, 99, &cookie).is_none());
        assert!(secrets.check(at, &ENDS, 98, &cookie).is_none());
        assert!(secrets.check(at, &Ends { ours: 8, ..ENDS }, 99, &cookie).is_none());
        for bit in 32..LENGTH * 8 {
            let mut forged = cookie;
            forged[bit / 8] ^= 1 << (bit % 8);
            assert!(secrets.check(at, &ENDS, 99, &forged).is_none(), "bit {bit}");
        }
        assert!(Secrets::new().unwrap().check(at, &ENDS, 99, &cookie).is_none(), "of another host");
    }

    #[test]
    fn options_that_cannot_be_read_hold_no_cookie() {
        for options in
            [&[253][..], &[253, 0], &[253, 20, 0xF1, 0x57, 0], &[0, 253, 20, 0xF1, 0x57], &[9, 200]]
        {
            assert_eq!(find(options), None);
        }
    }

    #[test]
    fn initial_sequence_numbers_advance_every_four_microseconds_and_differ_by_peer() {
        let secrets = Secrets::new().unwrap();
        let (at, later) = (Time::from_nanos(1_000_000_000), Time::from_nanos(1_000_400_000));
        assert_eq!(secrets.sequence(&ENDS, later).wrapping_sub(secrets.sequence(&ENDS, at)), 100);
        let others = (0..100).map(|port| secrets.sequence(&Ends { theirs: port, ..ENDS }, at));
        let distinct: std::collections::BTreeSet<u32> = others.collect();
        assert_eq!(distinct.len(), 100);
    }
}
