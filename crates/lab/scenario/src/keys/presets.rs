//! The key that names a preset.

use super::row::{Heading, Key, row};
use crate::kind::Kind;
use crate::presets;

pub(super) const KEYS: &[Key] = &[Key {
    name: "path",
    kind: Kind::Text("NAME"),
    brief: "A path by name, from `firstflight paths` [none]",
    help: "A path by name, as `firstflight paths` lists them, such as quicly-lte: sets the keys of this path, each unless it is given too",
    default: Some("none"),
    examples: &["quicly-lte", "pantheon-korea-china"],
    real: true,
    place: 69,
    parse: |options, text| {
        options.preset = presets::read(text)?;
        Ok(())
    },
    // The canonical text has the keys of the path instead.
    show: |_| None,
    title: |path| path.origin.describe(),
    ..row(Heading::Path)
}];
