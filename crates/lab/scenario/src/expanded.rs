//! Options with the words of their preset, and the words as text.

use std::borrow::Cow;

use crate::keys::{Key, key, keys};
use crate::options::Options;
use crate::overlay::conflicts;
use crate::presets::{Origin, Preset};
use crate::scenario::quote;

impl Options {
    /// Returns these options with the words of their preset, if they have one. A word is left out if its key is set, or if it and a key that
    /// is set exclude each other, as a `rate-trace` and a `rate` do.
    pub fn expanded(&self) -> Cow<'_, Self> {
        let Some(preset) = self.preset else { return Cow::Borrowed(self) };
        let mut all = self.clone();
        let is_set = |key: &&Key| self.given(key.name).is_some_and(|text| !key.is_off(text));
        let is_left_out = |word: &Key| {
            self.given(word.name).is_some() || keys().filter(is_set).any(|other| conflicts(other, word))
        };
        let words = || preset.words.iter().filter_map(|(name, text)| Some((key(name)?, *text)));
        let is_changed = words().any(|(key, text)| is_left_out(key) && self.given(key.name) != Some(text));
        all.plain.origin = Origin { preset: Some(preset.name), is_changed };
        for (key, text) in words().filter(|(key, _)| !is_left_out(key)) {
            // A test reads every word of every preset.
            let read = (key.parse)(&mut all, text);
            debug_assert!(read.is_ok(), "{}: {} = {text}", preset.name, key.name);
            all.remember(key.name, text);
        }
        Cow::Owned(all)
    }
}

impl Preset {
    /// Returns the words as options of a command line.
    pub fn command_line(&self) -> String {
        let option = |(key, text): &(&str, &str)| format!("--{key} {}", quote(text));
        self.words.iter().map(option).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests;
