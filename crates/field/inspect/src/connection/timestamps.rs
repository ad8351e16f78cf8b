//! Serializes a field of a type from another crate: [`Timestamps`] as two numbers.

use firstflight_tcp::Timestamps;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
pub(super) fn serialize<S: Serializer>(
    timestamps: &Option<Timestamps>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    timestamps.map(|Timestamps { value, echo }| (value, echo)).serialize(serializer)
}

pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<Timestamps>, D::Error> {
    let pair = Option::<(u32, u32)>::deserialize(deserializer)?;
    Ok(pair.map(|(value, echo)| Timestamps { value, echo }))
}
