//! A share of a sweep, which `--shard` gives to a process.

use firstflight_scenario::quantity;

use crate::failure::{Failure, Place};

/// The maximum number of shards of a sweep.
pub(super) const MAX_SHARDS: u64 = 1_000_000;

/// The parts that this process races: those whose number modulo `of` is `index`.
pub(super) struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    pub(super) fn parse(text: Option<&str>, arguments: &[String]) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self { index: 0, of: 1 }) };
        let number = |text: &str| quantity::count(text).ok().filter(|number| *number <= MAX_SHARDS);
        let read = text.split_once('/').and_then(|(index, of)| Some((number(index)?, number(of)?)));
        match read {
            Some((index, of)) if index <= of => Ok(Self { index: index - 1, of }),
            _ => Err(Failure::usage(format!(
                "--shard: `{text}` is not allowed; I/N is, with I from 1 to N, as in `2/8`"
            ))
            .at(Place::value(arguments, "--shard", text))),
        }
    }

    pub(super) fn has(&self, part: u64) -> bool {
        part % self.of == self.index
    }

    pub(super) fn describe(&self) -> String {
        if self.of == 1 { String::new() } else { format!(" (shard {}/{})", self.index + 1, self.of) }
    }
}
