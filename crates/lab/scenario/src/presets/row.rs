//! A row of the tables of presets.

use std::iter;

/// A path with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name: the source, then the path.
    pub name: &'static str,
    /// Further names.
    pub aliases: &'static [&'static str],
    /// The path in words.
    pub title: &'static str,
    /// The publication that has the figures.
    pub source: &'static Source,
    /// The name of the path in its source.
    pub entry: &'static str,
    /// The bottleneck's queue as the source states it: a time, as in `50 ms`, or a number, as in `14 packets`; empty if the source states
    /// none.
    pub queue: &'static str,
    /// The keys of the path, each with its text.
    pub words: &'static [(&'static str, &'static str)],
    /// Notes on this path, each a sentence or two. The notes of the source apply as well.
    pub notes: &'static [&'static str],
}

/// A publication that has the figures of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The program or test bed that uses the paths.
    pub name: &'static str,
    /// The address of the repository or the page.
    pub address: &'static str,
    /// The file, or the place of the figures on the page.
    pub file: &'static str,
    /// The commit from which the figures were read; empty if there is none.
    pub commit: &'static str,
    /// The licence of the publication. Only figures are taken from it.
    pub licence: &'static str,
    /// Notes on all its paths: how its figures became keys.
    pub notes: &'static [&'static str],
}

impl Preset {
    /// Returns the name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Returns the text of a key; `None` if the preset does not set it.
    pub fn word(&self, key: &str) -> Option<&'static str> {
        self.words.iter().find(|(name, _)| *name == key).map(|(_, text)| *text)
    }

    /// Returns the notes on this path, and then those on all paths of its source.
    pub fn all_notes(&self) -> impl Iterator<Item = &'static str> {
        self.notes.iter().chain(self.source.notes).copied()
    }
}
