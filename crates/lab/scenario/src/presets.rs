//! Presets: paths that others published, as keys and their texts, each with its source.
//!
//! The key `path` names a preset. The preset then has the effect of its words, and any other key that is set replaces them. The scenario is
//! the scenario of the words: a preset adds nothing to the canonical text or the hash.

mod emulators;
mod figures;
mod pantheon;
mod picoquic;
mod quicly;
mod row;
mod web;

pub use figures::Figures;
pub use row::{Preset, Source};

use crate::quantity::{QuantityError, Why, refuse};
use crate::suggest::closest;

/// The tables of presets, one for each kind of source.
const TABLES: [&[Preset]; 5] =
    [quicly::PRESETS, web::PRESETS, emulators::PRESETS, pantheon::PRESETS, picoquic::PRESETS];

/// Returns all presets, in the order in which they are listed. Presets of one source are consecutive.
pub fn presets() -> impl Iterator<Item = &'static Preset> + Clone {
    TABLES.into_iter().flatten()
}

/// Returns the preset that has this name or alias.
pub fn preset(name: &str) -> Option<&'static Preset> {
    presets().find(|preset| preset.names().any(|own| own == name))
}

/// Returns the advice for a name that no preset has, as a clause of an error.
pub fn advice(name: &str) -> String {
    match closest(name, presets().flat_map(Preset::names)) {
        Some(near) => format!("is `{near}` meant? `firstflight paths` lists all"),
        None => "`firstflight paths` lists all".to_owned(),
    }
}

/// Reads the name of a preset, or `none`.
///
/// # Errors
/// An unknown name, with the closest one.
pub(crate) fn read(text: &str) -> Result<Option<&'static Preset>, QuantityError> {
    match text.trim() {
        "none" => Ok(None),
        name => preset(name).map(Some).ok_or_else(|| refuse(name, Why::UnknownWord, advice(name))),
    }
}

/// The name of the preset whose words a scenario has, for titles. It is no part of the path: all values are equal, so that a scenario equals
/// the scenario of the written words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    pub(crate) preset: Option<&'static str>,
    pub(crate) is_changed: bool,
}

impl Origin {
    /// Returns the name, if there is a preset.
    pub const fn name(self) -> Option<&'static str> {
        self.preset
    }

    /// Returns the preset in words, for titles.
    pub(crate) fn describe(self) -> Option<String> {
        let changes = if self.is_changed { " with changes" } else { "" };
        Some(format!("path {}{changes}", self.preset?))
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}
