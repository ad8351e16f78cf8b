//! The cookies that opened connections.

use std::collections::BTreeMap;

use firstflight::{Span, Time};

use crate::cookie::LIFETIME;
use crate::source::Source;

/// The unexpired cookies that have opened connections, so that each cookie opens only one connection. Their number is bounded. At the
/// maximum, the oldest cookie is forgotten. From then on every cookie that is as old or older is refused, so that a used cookie is never
/// accepted again.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// The cookies' sources, by time of issue and keyed hash of the cookie.
    known: BTreeMap<(Time, u64), Source>,
    /// Cookies issued at or before this time are refused.
    floor: Time,
}

impl Used {
    /// The maximum number of known cookies, which need 4 MB in total.
    pub(crate) const MOST: usize = 1 << 16;
    /// The maximum number of known cookies of one source. It prevents one source from making the host refuse the cookies of others.
    pub(crate) const MAX_OF_A_SOURCE: usize = Self::MOST / 4;

    /// Returns whether a cookie that was issued at `at` and has this keyed hash may open a connection.
    pub(crate) fn allows(&self, at: Time, seal: u64) -> bool {
        at > self.floor && !self.known.contains_key(&(at, seal))
    }

    /// Records that a cookie opened a connection. Returns the source of the cookie that was forgotten to make room, if any.
    pub(crate) fn add(&mut self, at: Time, seal: u64, source: Source) -> Option<Source> {
        self.known.insert((at, seal), source);
        if self.known.len() <= Self::MOST {
            return None;
        }
        let ((oldest, _), source) = self.known.pop_first()?;
        self.floor = self.floor.max(oldest);
        Some(source)
    }

    /// Forgets an expired cookie, if there is one. Returns its source.
    pub(crate) fn expire(&mut self, now: Time) -> Option<Source> {
        let (&(oldest, _), _) = self.known.first_key_value()?;
        // A cookie is kept a millisecond longer than its lifetime, because the cookie's clock counts microseconds.
        if now.since(oldest) <= LIFETIME + Span::from_millis(1) {
            return None;
        }
        self.known.pop_first().map(|(_, source)| source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn source() -> Source {
        Source::of(IpAddr::from([127, 0, 0, 1]))
    }

    fn at(micros: u64) -> Time {
        Time::from_nanos(1_000_000_000 + micros * 1_000)
    }

    #[test]
    fn a_cookie_works_once_however_many_others_are_used_after_it() {
        let mut used = Used::default();
        let many = u64::try_from(Used::MOST).unwrap();
        assert!(used.allows(at(7), 99));
        used.add(at(7), 99, source());
        for other in 0..3 * many {
            used.add(at(8 + other), other, source());
            assert!(other % 1_000 > 0 || !used.allows(at(7), 99), "after {other} others");
        }
        assert_eq!(used.known.len(), Used::MOST);
        // A cookie newer than the forgotten ones is still valid.
        assert!(used.allows(at(8 + 3 * many), 1));
        assert!(!used.allows(at(7 + 3 * many), 3 * many - 1));
        assert!(used.allows(at(7 + 3 * many), 1), "another of the same instant");
    }

    #[test]
    fn cookies_are_forgotten_when_they_are_too_old_to_open_anything() {
        let mut used = Used::default();
        used.add(at(0), 1, source());
        used.add(at(5_000_000), 2, source());
        assert_eq!(used.expire(at(60_000_000)), None);
        assert_eq!(used.expire(at(60_010_000)), Some(source()));
        assert_eq!(used.expire(at(60_010_000)), None);
        assert!(!used.allows(at(5_000_000), 2) && used.floor == Time::ZERO);
    }
}
