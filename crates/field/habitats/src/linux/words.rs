//! The arguments of the programs at the two ends, and the bytes that they send and check.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::time::Duration;

use firstflight::{Span, Time};
use firstflight_emulate::linux::INSIDE;
use firstflight_emulate::own_program;
use firstflight_lab::flow_start;
use firstflight_scenario::{Goal, Scenario};
use firstflight_wire::payload;

/// The port at which the receiver listens.
pub(crate) const PORT: u16 = 4_433;

/// The exit status of a sender that reached the limit. The command `timeout` has the same status.
pub(super) const OUT_OF_TIME: i32 = 124;

/// Returns a command that [`inside`](super::inside) executes.
pub(super) fn command(role: &str, words: impl IntoIterator<Item = String>) -> Vec<OsString> {
    let asked: [OsString; 2] = [INSIDE.into(), role.into()];
    own_program::here().into_iter().chain(asked).chain(words.into_iter().map(OsString::from)).collect()
}

/// Returns the bytes of the transfer; 0 for any other goal, which [`compare`](crate::compare()) does not accept.
pub(super) fn size(scenario: &Scenario) -> u64 {
    match scenario.goal {
        Goal::Size(size) => size.get(),
        Goal::Duration(_) => 0,
    }
}

/// Returns the time from the beginning of the run to the SYN. It is the same as in a race, so that cross traffic has the same phase.
pub(super) fn start(scenario: &Scenario) -> Span {
    flow_start(scenario).since(Time::ZERO)
}

/// Returns the argument that passes this time to the sender.
pub(super) fn start_word(scenario: &Scenario) -> String {
    format!("start={}", start(scenario).nanos())
}

/// Waits until the time at which the SYN must be sent.
pub(super) fn wait_for_start(words: &Words<'_>) -> Result<(), String> {
    std::thread::sleep(Duration::from_nanos(words.number("start")?));
    Ok(())
}

/// The arguments after the role, as text of the form `key=value`.
pub(super) struct Words<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    pub(super) fn new(words: &'a [OsString]) -> Result<Self, String> {
        let pair = |word: &'a OsString| word.to_str()?.split_once('=');
        let pairs =
            words.iter().map(|word| pair(word).ok_or_else(|| format!("{} is no pair", word.display())));
        Ok(Self { pairs: pairs.collect::<Result<_, _>>()? })
    }

    /// Returns the value of a key.
    pub(super) fn of(&self, key: &str) -> Result<&'a str, String> {
        let found = self.pairs.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| *value).ok_or_else(|| format!("{key} is missing"))
    }

    /// Returns the value of a key as a number.
    pub(super) fn number<T: std::str::FromStr>(&self, key: &str) -> Result<T, String> {
        self.of(key)?.parse().map_err(|_| format!("{key} is no number"))
    }

    /// Returns the keys that begin with `prefix`, without the prefix, and their values.
    pub(super) fn under(&self, prefix: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.pairs.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, *value)))
    }
}

/// Writes a stream of `size` bytes. Each byte is a function of its offset.
pub(super) fn write_all(to: impl Write, size: u64) -> Result<(), String> {
    write_part(to, 0, size)
}

/// Writes the part of the stream from offset `at` to `size`.
pub(super) fn write_part(mut to: impl Write, mut at: u64, size: u64) -> Result<(), String> {
    let mut buffer = vec![0; 64 << 10];
    while at < size {
        let left = usize::try_from(size - at).unwrap_or(usize::MAX);
        let piece = &mut buffer[..left.min(64 << 10)];
        payload::fill(at, piece);
        to.write_all(piece).map_err(|error| format!("after {at} bytes: {error}"))?;
        at += piece.len() as u64;
    }
    Ok(())
}

/// Reads a stream to its end, and checks that every byte is the function of its offset that [`write_all`] wrote.
pub(super) fn check_all(mut from: impl Read, size: u64) -> Result<(), String> {
    let (mut buffer, mut at) = (vec![0; 64 << 10], 0);
    loop {
        match from.read(&mut buffer).map_err(|error| format!("after {at} bytes: {error}"))? {
            0 if at == size => return Ok(()),
            0 => return Err(format!("{at} of {size} bytes arrived")),
            len => {
                let piece = buffer.get(..len).unwrap_or_default();
                if payload::first_difference(at, piece).is_some() {
                    return Err(format!("a wrong byte after {at}"));
                }
                at += len as u64;
            }
        }
    }
}
