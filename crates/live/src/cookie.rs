//! Secrets, initial sequence numbers (RFC 6528), and the cookie by which a server keeps nothing of a peer whose address is not
//! proved.
//!
//! The cookie is a TCP option of the kind for experiments (RFC 6994), 20 bytes: what the server must remember of the SYN, and a
//! keyed hash of that, of the addresses and of the client's initial sequence number. The SYN-ACK has it, and the client's first
//! ACK brings it back.

use core::num::NonZeroU16;
use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use firstflight::{Span, Time};
use firstflight_tcp::{Flags, Segment};
use siphasher::sip::SipHasher24;

/// The kind for experiments (RFC 4727), the length, and the experiment's number (RFC 6994), which is not registered.
const HEAD: [u8; 4] = [253, 20, 0xF1, 0x57];
/// Bytes of the option: a multiple of a word.
pub(crate) const LENGTH: usize = 20;
/// Bytes of what the cookie remembers.
const FACTS: usize = 8;
/// For how long a cookie is good.
const LIFETIME: Span = Span::from_secs(60);
/// The part of the time that a cookie holds: microseconds, modulo 2^40.
const MICROS: u64 = (1 << 40) - 1;

/// The two ends of a connection, as one of them sees them: the key of its table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ends {
    /// Where the peer's datagrams come from: its UDP address, or over a TUN its IP address and TCP port.
    pub(crate) peer: SocketAddr,
    /// The peer's TCP port.
    pub(crate) theirs: u16,
    /// Our TCP port.
    pub(crate) ours: u16,
}

/// A cookie as it stands in a segment.
pub(crate) type Cookie = [u8; LENGTH];

/// What a server needs of a SYN to make the connection when the cookie comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Remembered {
    /// When the SYN-ACK left.
    pub(crate) at: Time,
    /// The payload of a full segment, which both ends and the path allow.
    pub(crate) mss: u16,
    /// What the SYN offered.
    pub(crate) offers: Offers,
}

/// What a SYN offers besides its MSS.
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

    /// In a byte: the scale in the low half, fifteen for none.
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
    /// The SYN again, to which `ack` is the answer to the answer.
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
    /// Fresh ones from the system.
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

    /// The initial sequence number of a connection at an instant: RFC 6528 section 3, a clock of four microseconds and a keyed
    /// hash of the ends.
    pub(crate) fn sequence(&self, ends: &Ends, at: Time) -> u32 {
        let clock = at.nanos() / 4_000;
        low(clock.wrapping_add(hash(&self.sequence, ends, &[])))
    }

    /// A number that nobody else can guess, for the `n`th connection.
    pub(crate) fn number(&self, n: u64) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.other);
        hasher.write_u64(n);
        hasher.finish()
    }

    /// The cookie for a SYN with this sequence number.
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

    /// What was remembered, if the cookie is one of this host for these ends and this SYN, and is not too old.
    pub(crate) fn check(&self, now: Time, ends: &Ends, syn: u32, cookie: &Cookie) -> Option<Remembered> {
        let mut micros = [0; 8];
        micros[3..].copy_from_slice(&cookie[7..12]);
        let age = (now.nanos() / 1_000).wrapping_sub(u64::from_be_bytes(micros)) & MICROS;
        let age = Span::from_micros(age);
        // The clock that made the cookie had nanoseconds.
        let at = Time::from_nanos(now.nanos() / 1_000 * 1_000) - age;
        (age <= LIFETIME && self.seal(ends, syn, cookie, at) == cookie[12..]).then(|| Remembered {
            at,
            mss: u16::from_be_bytes([cookie[4], cookie[5]]),
            offers: Offers::from_byte(cookie[6]),
        })
    }

    /// The keyed hash. Of the instant it has all bits, so that no cookie is good again when those that a cookie holds come again.
    fn seal(&self, ends: &Ends, syn: u32, cookie: &Cookie, at: Time) -> [u8; 8] {
        let mut bytes = [0; FACTS + 12];
        bytes[..FACTS].copy_from_slice(&cookie[4..12]);
        bytes[FACTS..FACTS + 4].copy_from_slice(&syn.to_be_bytes());
        bytes[FACTS + 4..].copy_from_slice(&(at.nanos() / 1_000).to_be_bytes());
        hash(&self.cookie, ends, &bytes).to_be_bytes()
    }
}

/// The cookie among the options of a segment.
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

/// The cookies that were used already, so that a replayed one makes no second connection. It has a fixed size: of the cookies
/// whose hashes have the same low bits it knows the newest.
#[derive(Debug)]
pub(crate) struct Used(Box<[[u64; Self::NEWEST]]>);

impl Used {
    /// 128 KiB in all: enough for a minute's cookies, of ten thousand connections.
    const ROWS: usize = 1 << 11;
    const NEWEST: usize = 8;

    pub(crate) fn new() -> Self {
        Self(vec![[0; Self::NEWEST]; Self::ROWS].into_boxed_slice())
    }

    /// Whether the cookie was used, as far as is known.
    pub(crate) fn has(&self, cookie: &Cookie) -> bool {
        let (row, seal) = Self::place(cookie);
        self.0[row].contains(&seal)
    }

    /// The cookie is used.
    pub(crate) fn add(&mut self, cookie: &Cookie) {
        let (row, seal) = Self::place(cookie);
        self.0[row].rotate_right(1);
        self.0[row][0] = seal;
    }

    fn place(cookie: &Cookie) -> (usize, u64) {
        let seal = u64::from_be_bytes(*cookie.last_chunk().unwrap_or(&[0; 8]));
        (usize::from(low_half(seal)) % Self::ROWS, seal)
    }
}

fn low(number: u64) -> u32 {
    u32::try_from(number & 0xFFFF_FFFF).unwrap_or(0)
}

fn low_half(number: u64) -> u16 {
    u16::try_from(number & 0xFFFF).unwrap_or(0)
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
        // Past a wrap of its microseconds.
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
    fn a_cookie_is_used_once() {
        let secrets = Secrets::new().unwrap();
        let mut used = Used::new();
        let cookie = secrets.cookie(&ENDS, 99, &remembered(Time::ZERO));
        assert!(!used.has(&cookie));
        used.add(&cookie);
        assert!(used.has(&cookie));
    }

    #[test]
    fn initial_sequence_numbers_go_by_a_clock_of_four_microseconds_and_differ_by_peer() {
        let secrets = Secrets::new().unwrap();
        let (at, later) = (Time::from_nanos(1_000_000_000), Time::from_nanos(1_000_400_000));
        assert_eq!(secrets.sequence(&ENDS, later).wrapping_sub(secrets.sequence(&ENDS, at)), 100);
        let others = (0..100).map(|port| secrets.sequence(&Ends { theirs: port, ..ENDS }, at));
        let distinct: std::collections::BTreeSet<u32> = others.collect();
        assert_eq!(distinct.len(), 100);
    }
}
